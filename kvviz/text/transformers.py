"""What Transformers does with a cache, and what to watch out for."""

from kvviz.text.base import Text

# Why there is no plan
NOT_WORKED_OUT = Text(
    "How Transformers {version} keeps the cache of {model} is not worked out here: content only.",
    "Transformers {version} が {model} のキャッシュを保持する方法は未対応のため、実データ量だけを示します。",
)
NO_CACHE = Text(
    "No layer of {model} stores anything, so there is no cache to set aside.",
    "{model} にはキャッシュを保持するレイヤーがないため、確保するものがありません。",
)

# Settings that cannot be
DTYPE_OF_ANOTHER_ENGINE = Text(
    "Transformers has no {dtype} cache: use one of {choices}.",
    "Transformers に {dtype} のキャッシュはありません。{choices} から選んでください。",
)
TP_DOES_NOT_DIVIDE = Text(
    "The heads of this model cannot be split over {tp} GPUs: use tensor parallel {sizes}.",
    "このモデルのヘッドは {tp} 基の GPU に分割できません。テンソル並列数は {sizes} から選んでください。",
)
TP_WITH_STATES = Text(
    "How states are split over {tp} GPUs is not worked out here: use tensor parallel 1.",
    "状態を {tp} 基の GPU に分割する方法は未対応です。テンソル並列数を 1 にしてください。",
)
PP_TOO_LARGE = Text(
    "{pp} GPUs are more than the {layers} {layers:layer|layers} there are to share out: use 1 to {layers}.",
    "{pp} 基の GPU に対して、割り振るレイヤーは {layers} しかありません。1～{layers} から選んでください。",
)
QUANTISED_ONLY_FULL = Text(
    "QuantizedCache takes layers of full attention only, which this model has not alone: use another cache.",
    "QuantizedCache は全アテンションのレイヤーだけのモデルに限られ、このモデルでは使えません。"
    "ほかのキャッシュを選んでください。",
)
QUANTISED_GROUPS = Text(
    "QuantizedCache takes values {group} at a time, and a token of this model has {row}: use another cache.",
    "QuantizedCache は値を {group} 個ずつ量子化しますが、このモデルの 1 トークンは {row} 個です。"
    "ほかのキャッシュを選んでください。",
)
QUANTISED_BITS = Text(
    "QuantizedCache stores {choices} bits a value; {bits} were given.",
    "QuantizedCache の 1 値あたりのビット数は {choices} です。指定された値は {bits} です。",
)
PAGED_ONLY_ALIKE = Text(
    "The paged cache is worked out for models whose layers are all alike and full attention: choose another cache.",
    "ページ化キャッシュに対応しているのは、全レイヤーが同じ形の全アテンションであるモデルに限ります。"
    "ほかのキャッシュを選んでください。",
)
EXPANSION_UNKNOWN = Text(
    "The config does not say how large expanded heads are: choose the version that stores the latent.",
    "展開したヘッドの大きさが config にありません。潜在ベクトルのまま保持する版を選んでください。",
)
ENTERED = Text("As you entered it.", "入力された値です。")
