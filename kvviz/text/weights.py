"""Sentences about the weights: where a number comes from, and why there is none."""

from kvviz.text.base import Text

COUNTED = Text(
    en="{parameters} parameters counted from config.json with Transformers {version}, {layout}.",
    ja="config.json から Transformers {version} で数えたパラメーター {parameters} 個（{layout}）です。",
)
COUNTED_WITHOUT_MTP = Text(
    en="{parameters} parameters counted from config.json with Transformers {version}, {layout}. Its prediction (MTP) "
    "layers, which are loaded for speculative decoding only, are left out.",
    ja="config.json から Transformers {version} で数えたパラメーター {parameters} 個（{layout}）です。"
    "投機的デコードのときだけ読み込まれる予測（MTP）レイヤーは含みません。",
)
WITH_DRAFT = Text(
    en="{source} With {bytes} for {layers} prediction (MTP) {layers:layer|layers} of the draft, taken to be like the "
    "model's last layer.",
    ja="{source} ドラフトの予測（MTP）レイヤー {layers} 層の {bytes} を含みます"
    "（モデルの最後のレイヤーと同じ大きさと仮定）。",
)
COUNTED_FROM_DOUBTFUL = Text(
    en="{parameters} parameters counted from config.json with Transformers {version}, {layout}. The bundled file may "
    "not be the published one.",
    ja="config.json から Transformers {version} で数えたパラメーター {parameters} 個（{layout}）です。"
    "同梱のファイルは公開されているものと異なる可能性があります。",
)
PUBLISHED = Text(
    en="{parameters} parameters as the publisher states, {layout}.",
    ja="公開元の示すパラメーター {parameters} 個（{layout}）です。",
)
FROM_HUB = Text(
    en="{parameters} parameters in the model's safetensors files as the Hub counts them, {layout}.",
    ja="Hub が safetensors ファイルから集計したパラメーター {parameters} 個（{layout}）です。",
)
IMPLAUSIBLE = Text(
    en="The Hub lists {size} of weights, far less than a model of this config.json has ({least} at the very least), so "
    "they are not believed. Enter the size in GiB.",
    ja="Hub にある重みは {size} で、この config.json のモデルの下限 {least} に届かないため、使いません。"
    "大きさを GiB で入力してください。",
)
AS_STORED = Text(en="stored as published: {stored}, the rest 16-bit", ja="公開時の形式：{stored}、残りは 16 ビット")
AT_16_BIT = Text(en="16 bits each", ja="各 16 ビット")
AT_16_BIT_FROM_32 = Text(
    en="published in 32 bits and loaded in 16, as engines do",
    ja="32 ビットで公開、エンジンの既定どおり 16 ビットで読み込み",
)
AT_32_BIT = Text(en="32 bits each", ja="各 32 ビット")
WHAT_IF = Text(
    en="if the linear layers were {dtype} with its scales and the rest 16-bit",
    ja="線形層を {dtype}（スケールを含む）、残りを 16 ビットとした場合",
)
GGUF = Text(
    en="if it were a GGUF file of type {dtype}, {bits} bits each as in that of Llama 3.1 8B",
    ja="GGUF ファイルの {dtype} とした場合（Llama 3.1 8B と同じ各 {bits} ビット）",
)
TYPED = Text(en="As you entered it.", ja="入力された値です。")

UNKNOWN_DTYPE = Text(
    en='There is no weight type "{shown}". Use one of: {known}.',
    ja="重みの型「{shown}」はありません。使えるのは次のとおりです：{known}。",
)
NOT_A_SIZE = Text(
    en="Weights must be more than 0 GiB. Enter the size of the whole model.",
    ja="重みは 0 GiB より大きい値にしてください。モデル全体の大きさを入力します。",
)

NOT_IN_TABLE = Text(
    en="The weights are counted for the bundled models only. Enter their size in GiB.",
    ja="重みは同梱のモデルについてだけ数えてあります。大きさを GiB で入力してください。",
)
REASONS = {
    "no-class": Text(
        en="Transformers {version} has no model class {detail}, so the weights cannot be counted. "
        "Enter their size in GiB.",
        ja="Transformers {version} にモデルクラス {detail} がないため、重みを数えられません。"
        "大きさを GiB で入力してください。",
    ),
    "no-architecture": Text(
        en="This config.json names no model class, so the weights cannot be counted. Enter their size in GiB.",
        ja="この config.json にはモデルクラスの名前がないため、重みを数えられません。大きさを GiB で入力してください。",
    ),
    "other-fields": Text(
        en="The file ({detail}) writes its sizes in other fields than that class in Transformers {version} reads, "
        "so the weights cannot be counted. Enter their size in GiB.",
        ja="このファイル（{detail}）は、Transformers {version} の同名クラスとは別のフィールドに大きさを書いているため、"
        "重みを数えられません。大きさを GiB で入力してください。",
    ),
    "incomplete": Text(
        en="The bundled config.json leaves out {detail}, so the weights cannot be counted. Enter their size in GiB.",
        ja="同梱の config.json には {detail} がないため、重みを数えられません。大きさを GiB で入力してください。",
    ),
    "refused": Text(
        en="Transformers {version} cannot build a model from this config.json, so the weights cannot be counted. "
        "Enter their size in GiB.",
        ja="この config.json からは Transformers {version} でモデルを組み立てられないため、重みを数えられません。"
        "大きさを GiB で入力してください。",
    ),
    "layout-unknown": Text(
        en="The checkpoint is quantised in part, and which layers is not known here. Enter the size in GiB, "
        "or choose a weight type to see what it would take.",
        ja="このチェックポイントは一部のレイヤーだけ量子化されており、どのレイヤーかがここでは分かりません。"
        "大きさを GiB で入力するか、重みの型を選んで試算してください。",
    ),
    "linear-unknown": Text(
        en="How many of the weights are linear layers is not known for this model: "
        "only the published type, bf16, fp16 and fp32 can be computed. Enter the size in GiB.",
        ja="このモデルでは線形層の重みの数が分からないため、計算できるのは公開時の型、bf16、fp16、fp32 だけです。"
        "大きさを GiB で入力してください。",
    ),
}

# One GPU's share
SPLIT_EVENLY = Text(
    "{source} Assumed to be split evenly over {gpus} GPUs.",
    "{source} {gpus} 基の GPU に均等に分かれると仮定しています。",
)
SPLIT_COUNTED = Text(
    "{source} Of {gpus} GPUs the fullest is assumed to keep, of its layers, {attention} of attention and embeddings, "
    "{head} of lm_head and {rest} of the rest; whole, what engines copy: a KV head at least, and the matrices of "
    "latent attention that compress.",
    "{source} {gpus} 基の GPU のうち最も多く持つ GPU が、担当するレイヤーについて、"
    "アテンションと埋め込みの {attention}、lm_head の {head}、残りの {rest} を持つと仮定しています。"
    "エンジンが複製するもの（少なくとも 1 つの KV ヘッド、潜在アテンションの圧縮行列）は全体を数えます。",
)
SPLIT_COUNTED_EXPERTS = Text(
    "{source} Of {gpus} GPUs the fullest is assumed to keep, of its layers, {attention} of attention and embeddings, "
    "{experts} of the experts, {head} of lm_head and {rest} of the rest; whole, what engines copy: a KV head at least, "
    "the matrices of latent attention that compress, indexers and routers.",
    "{source} {gpus} 基の GPU のうち最も多く持つ GPU が、担当するレイヤーについて、"
    "アテンションと埋め込みの {attention}、エキスパートの {experts}、lm_head の {head}、残りの {rest} を持つと"
    "仮定しています。エンジンが複製するもの（少なくとも 1 つの KV ヘッド、潜在アテンションの圧縮行列、"
    "インデクサー、ルーター）は全体を数えます。",
)
ALL = Text("all", "すべて")
