"""Sentences about GPUs: what of their memory a program cannot use, and how that is known."""

from kvviz.text.base import Text

HIDDEN_MEASURED = Text(
    en="A public start-up log of this GPU: programs see {seen} GiB.",
    ja="この GPU の公開起動ログでは、プログラムから見えるのは {seen} GiB です。",
)
HIDDEN_LIKE = Text(
    en="As on {like}; logs of others show 0.4 to 0.6 GiB.",
    ja="{like} と同じと仮定しています（ほかの GPU のログでは 0.4～0.6 GiB）。",
)
HIDDEN_RADEON = Text(
    en="As in a public log of a 24 GB Radeon: less than 0.02 GiB.",
    ja="24 GB の Radeon の公開ログ（差は 0.02 GiB 未満）と同じと仮定しています。",
)
METAL_SHARE = Text(
    en="Metal's default limit: about {percent}% of this much unified memory. iogpu.wired_limit_mb raises it.",
    ja="Metal の既定の上限は、この容量のユニファイドメモリの約 {percent}% です。"
    "iogpu.wired_limit_mb で引き上げられます。",
)
SHARED = Text(
    en="What the operating system and other programs hold is not known: nothing is taken off for them.",
    ja="OS やほかのプログラムの使用量は不明なため、差し引いていません。",
)
MEMORY_REPORTED = Text(en="as the driver reports it", ja="ドライバーの報告値")
MEMORY_TYPED = Text(
    en="as you gave it (GB read as GiB)",
    ja="指定された値（GB は GiB として読みます）",
)
MEMORY_NOMINAL = Text(en="the vendor's figure, taken as GiB", ja="ベンダーの公称値（GiB とみなした値）")
MEMORY_OF_SLICE = Text(en="a share of what the whole GPU reports", ja="GPU 全体の報告値から求めた値")
NOMINAL_SLICE = Text(
    en="Memory of the slice: worked out from what the whole GPU reports, not confirmed on a slice.",
    ja="スライスのメモリは GPU 全体の報告値から求めた値で、スライス上では確認していません。",
)
TYPED = Text(
    en="The GPU's memory is taken to be {gib} GiB: GB is read as GiB, as cards are sold.",
    ja="GPU のメモリを {gib} GiB とみなしています（GB も、製品の表記に合わせて GiB として読みます）。",
)
NOMINAL = Text(
    en="Nominal: from the vendor's data, not confirmed by what a driver reports.",
    ja="公称値です。ベンダーの資料によるもので、ドライバーの報告値では確認していません。",
)
