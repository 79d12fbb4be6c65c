"""The report for a design review: its question, its headings, and what it says for those who do not know the cache."""

from kvviz.text.base import Text

KIND = Text("KV cache design review", "KV キャッシュの設計レビュー")
TITLE = Text("KV cache of {model}", "{model} の KV キャッシュ")

# The question
QUESTION = Text(
    "Do {requests} requests of {tokens} tokens fit at once with {model} on {gpus} × {gpu}, under {engine}?",
    "{gpus} × {gpu} の {engine} で {model} を動かすとき、各 {tokens} トークンのリクエスト {requests} 件は同時に"
    "収まりますか？",
)
QUESTION_ONE = Text(
    "Does a request of {tokens} tokens fit with {model} on {gpus} × {gpu}, under {engine}?",
    "{gpus} × {gpu} の {engine} で {model} を動かすとき、{tokens} トークンのリクエスト 1 件は収まりますか？",
)
QUESTION_NO_GPU = Text(
    "How much KV cache do {requests} requests of {tokens} tokens need with {model}, under {engine}?",
    "{engine} で {model} を動かすとき、各 {tokens} トークンのリクエスト {requests} 件に KV キャッシュは"
    "どれだけ必要ですか？",
)
QUESTION_NO_GPU_ONE = Text(
    "How much KV cache does a request of {tokens} tokens need with {model}, under {engine}?",
    "{engine} で {model} を動かすとき、{tokens} トークンのリクエスト 1 件に KV キャッシュはどれだけ必要ですか？",
)
AT_ONCE = Text(
    "Fit at once: {counted} by the engine's count, {held} in steady decode.",
    "同時に収まる数：エンジンの計上で {counted} 件、定常デコード時は {held} 件。",
)

IN_MEMORY = Text(
    "Fit in memory: {counted} by the engine's count, {held} in steady decode. Run at once by default: {run}.",
    "メモリに収まる数：エンジンの計上で {counted} 件、定常デコード時は {held} 件。既定で同時に処理するのは {run} 件。",
)

# For those who do not know the cache
BRIEFLY = Text("The KV cache in 30 seconds", "30 秒でわかる KV キャッシュ")
WHAT_IT_IS = Text(
    "To write its next token a model looks back at all the earlier ones. The KV cache keeps their keys and values, "
    "so that each is computed once.",
    "モデルは次のトークンを書くたびに、それまでの全トークンを参照します。"
    "KV キャッシュは各トークンの K と V を保存し、計算を 1 回で済ませます。",
)
WITHOUT_IT = Text(
    "Without it, the whole text would be computed again for every new token.",
    "なければ、新しいトークンのたびに全文を計算し直すことになります。",
)
GROWS_WITH = Text(
    "It grows with the tokens of a request and with the requests at once: here {token} a token, {request} a request "
    "of {tokens} tokens.",
    "リクエストのトークン数と同時リクエスト数が増えるほど大きくなります。"
    "ここでは 1 トークンあたり {token}、{tokens} トークンの 1 リクエストで {request} です。",
)
GROWS_UP_TO = Text(
    "It grows with the tokens of a request, where layers have no limit, and with the requests at once: here {request} "
    "a request of {tokens} tokens.",
    "上限のないレイヤーではトークン数とともに、また同時リクエスト数とともに増えます。"
    "ここでは {tokens} トークンの 1 リクエストで {request} です。",
)
EXCEEDS = Text(
    "It can exceed the weights, and here it does: {cache} for these requests, {weights} of weights, on each GPU.",
    "重みより大きくなることもあります。"
    "ここでも各 GPU で、このリクエストのキャッシュ {cache} が重み {weights} を上回ります。",
)
CAN_EXCEED = Text(
    "It can exceed the weights; here it does not: {cache} for these requests, {weights} of weights, on each GPU.",
    "重みより大きくなることもあります。"
    "ここでは各 GPU で、このリクエストのキャッシュは {cache}、重みは {weights} です。",
)
MAY_EXCEED = Text("It can exceed the weights.", "重みより大きくなることもあります。")
LEVERS = Text(
    "What makes it smaller is of two kinds. Fewer bytes: shared KV heads or a latent (GQA, MLA), a smaller cache type, "
    "a shorter context. Less waste: paging, shared prefixes.",
    "減らす手段は 2 種類です。バイト数を減らすものは、KV ヘッドの共有や潜在ベクトル（GQA、MLA）、小さい型のキャッシュ、"
    "短いコンテキスト。無駄を減らすものは、ページングとプレフィックスの共有です。",
)

# Sections
SYMBOLS = Text(
    "How to read it: 2 (K and V) × layers × KV heads × head size × bytes per value, for each token kept.",
    "式の読み方：2（K と V）× レイヤー数 × KV ヘッド数 × ヘッドの次元 × 値 1 個のバイト数、"
    "これが保持する 1 トークンあたりの量です。",
)
FIELDS = Text("Read from the config", "config から読んだ値")
HELPS = Text("What would help", "改善案")
ASSUMPTIONS = Text("Assumptions", "前提")
CHANGED = Text("Changed from the default", "既定から変更した設定")
ESTIMATES = Text("Assumed or measured, not exact", "推定または実測による値")
LEFT_AS_DEFAULT = Text("Left at the default", "既定のままの設定")
NOTHING_CHANGED = Text("Nothing was changed.", "変更した設定はありません。")
SEE_ASSUMPTIONS = Text("see Assumptions", "「前提」を参照")
NOTHING_ESTIMATED = Text("Nothing was assumed or measured.", "推定による値はありません。")
WITH_REASON = Text("{setting}. {reason}", "{setting}。{reason}")
WARNINGS = Text("Warnings and notes", "注意と注記")
NO_WARNINGS = Text("None.", "ありません。")

# Where it comes from
ORIGIN = Text("Where this comes from", "このレポートについて")
DATE = Text("Date", "日付")
UTC = Text("{day} (UTC)", "{day}（UTC）")
LINK = Text("Link", "リンク")
OPEN = Text("Open this answer in kvviz", "この結果を kvviz で開く")
NO_LINK = Text("none: the web address of kvviz is not known here", "なし（kvviz の Web アドレスが不明）")
MADE_BY = Text("Made by", "作成")
RULES = Text("Rules read from", "規則の出典")
CONFIG = Text("Config", "config")
UNITS = Text("Units", "単位")
GIB_IS = Text("1 GiB = 2³⁰ bytes", "1 GiB = 2³⁰ バイト")

# Files
SAVE_HTML = Text("Report (HTML, to print)", "レポート（HTML、印刷用）")
SAVE_MARKDOWN = Text("Report (Markdown)", "レポート（Markdown）")
