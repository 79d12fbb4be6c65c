"""What is said of engines and their budgets, whichever engine it is."""

from kvviz.text.base import Text

NOT_OF_THIS_ENGINE = Text(
    "{field}: {engine} has no such setting; leave it as it is by default.",
    "{field}: {engine} にこの設定はありません。既定値のままにしてください。",
)
PP_TOO_LARGE = Text(
    "Pipeline parallel {pp} is more than the {layers} {layers:layer|layers} there are to share out: use one of "
    "{sizes}.",
    "パイプライン並列数 {pp} に対して、割り振るレイヤーは {layers} しかありません。{sizes} から選んでください。",
)
NOTHING_ELSE = Text(
    "This cannot be used, and for this model no other value goes together with the other settings: change those.",
    "この値は使えません。ほかの設定との組み合わせで、このモデルに使える値はありません。ほかの設定を変えてください。",
)
NOT_APART = Text(
    "This engine has no term of its own for it: it lies outside the memory fraction.",
    "このエンジンでは独立した項がなく、メモリ使用率の外に含まれます。",
)
NOT_KNOWN = Text(
    "Not known and not taken off: enter what you measured.",
    "不明のため差し引いていません。実測値を入力してください。",
)
NOT_ON_GPU = Text(
    "{engine} has no rules here for {gpu}: choose another engine ({engines}).",
    "{gpu} での {engine} の規則はありません。別のエンジン（{engines}）を選んでください。",
)
NVIDIA_ONLY = Text(
    "{engine} runs on NVIDIA GPUs only, not on {gpu}: choose another engine ({engines}).",
    "{engine} は NVIDIA の GPU 専用で、{gpu} では動きません。別のエンジン（{engines}）を選んでください。",
)
