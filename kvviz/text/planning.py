"""What is said of engines and their budgets, whichever engine it is."""

from kvviz.text.base import Text

NOT_OF_THIS_ENGINE = Text(
    "{field}: {engine} has no such setting; leave it as it is by default.",
    "{field}: {engine} にこの設定はありません。既定値のままにしてください。",
)
NOT_APART = Text(
    "This engine has no term of its own for it: it lies outside the memory fraction.",
    "このエンジンでは独立した項がなく、メモリ使用率の外に含まれます。",
)
NOT_KNOWN = Text(
    "Not known and not taken off: enter what you measured.",
    "不明のため差し引いていません。実測値を入力してください。",
)
NOT_ON_APPLE = Text(
    "{engine} has no rules here for {gpu}: choose llama.cpp or Transformers as the engine.",
    "{gpu} での {engine} の規則はありません。エンジンに llama.cpp か Transformers を選んでください。",
)
