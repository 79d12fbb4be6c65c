"""What SGLang does with a cache, and where the terms of its budget come from."""

from kvviz.text.base import Text

# Why there is no plan
NOT_WORKED_OUT = Text(
    "How SGLang {version} packs the caches of {model} into its pools is not worked out here: content only.",
    "SGLang {version} が {model} のキャッシュをプールに割り当てる方法は未対応のため、実データ量だけを示します。",
)
STATES_NOT_RUN = Text(
    "SGLang {version} keeps no recurrent states for {model}.",
    "SGLang {version} は {model} の再帰状態を扱えません。",
)
HEADS_DIFFER = Text(
    "SGLang {version} runs no {model} whose layers differ in KV heads.",
    "SGLang {version} は、レイヤーごとに KV ヘッド数が異なる {model} を実行できません。",
)
NO_CACHE = Text(
    "No layer of {model} stores anything, so there is no cache to set aside.",
    "{model} にはキャッシュを保持するレイヤーがないため、確保するものがありません。",
)

# What a class decides
CLASS_BY_TYPE = Text(
    "SGLang {version} decides by a model's class whether windows have a pool of their own and how many state slots a "
    "request takes. This file names none that it knows, so the class of its model type {type} is used: {class}.",
    "SGLang {version} では、ウィンドウを専用のプールに置くか、1 リクエストが状態スロットをいくつ使うかが"
    "モデルのクラスで決まります。このファイルには SGLang の知るクラス名がないため、"
    "モデルタイプ {type} のクラス {class} として計算しています。",
)
CLASS_UNKNOWN = Text(
    "SGLang decides by a model's class whether windows have a pool of their own and how many state slots a request "
    "takes, and no class is known here: windows are counted at full length, and 3 state slots a request.",
    "SGLang では、ウィンドウを専用のプールに置くか、1 リクエストが状態スロットをいくつ使うかがモデルのクラスで"
    "決まりますが、ここではクラスが不明です。ウィンドウは全長、状態スロットは 1 リクエストあたり 3 個として"
    "計算しています。",
)
DTYPE_DEFAULT = Text(
    "SGLang {version} sets this type for this architecture on this GPU.",
    "SGLang {version} は、この GPU でこのアーキテクチャにこの型を設定します。",
)

# Settings that cannot be
DTYPE_OF_ANOTHER_ENGINE = Text(
    "SGLang has no {dtype} form of this cache: use one of {choices}.",
    "このキャッシュに {dtype} の形式は SGLang にありません。{choices} から選んでください。",
)
TP_DOES_NOT_DIVIDE = Text(
    "The heads of this model cannot be split over {tp} GPUs: use tensor parallel {sizes}.",
    "このモデルのヘッドは {tp} 基の GPU に分割できません。テンソル並列数は {sizes} から選んでください。",
)
DP_DOES_NOT_DIVIDE = Text(
    "Data-parallel attention over {dp} groups does not divide tensor parallel {tp}: use one of {sizes}.",
    "テンソル並列数 {tp} は、データ並列アテンションの {dp} グループに分けられません。{sizes} から選んでください。",
)
PP_TOO_LARGE = Text(
    "{pp} pipeline stages are more than the {layers} {layers:layer|layers} there are: use 1 to {layers}.",
    "パイプラインは {pp} 段ですが、レイヤーは {layers} しかありません。1～{layers} から選んでください。",
)
PAGE_TOO_SMALL = Text(
    "A page has at least one token; {page} was given.",
    "ページは 1 トークン以上です。指定された値は {page} です。",
)
FRACTION_OUT_OF_RANGE = Text(
    "{name} must lie above 0 and not above {most}; {value} was given.",
    "{name} は 0 より大きく {most} 以下にしてください。指定された値は {value} です。",
)

# Where the terms of the budget come from
BEFORE_LOAD = Text(
    "Taken before the weights are loaded (CUDA context and libraries): one SGLang log on an H200, used for every GPU.",
    "重みを読み込む前に使われる量です（CUDA コンテキストとライブラリ）。"
    "H200 での SGLang のログ 1 件の値を、すべての GPU に使っています。",
)
SLACK = Text(
    "Left for activations and CUDA graphs: {share} of the memory free before loading (1 - mem_fraction_static).",
    "アクティベーションと CUDA グラフのために残す量です（読み込み前の空きメモリの {share}。1 - mem_fraction_static）。",
)
MULTIMODAL = Text(
    "Kept for images and sound, which are handled after the pool is sized (SGLANG_VLM_CACHE_SIZE_MB).",
    "画像や音声のために残す量です。プールの大きさを決めた後に使われます（SGLANG_VLM_CACHE_SIZE_MB）。",
)
MULTIMODAL_IN_GPU = Text(
    "Kept for images, which SGLang moves through GPU memory for this model on a large Hopper GPU "
    "(SGLANG_MM_FEATURE_CACHE_MB).",
    "画像のために残す量です。大きな Hopper の GPU では、SGLang はこのモデルの画像を GPU メモリ経由で渡します"
    "（SGLANG_MM_FEATURE_CACHE_MB）。",
)
ENTERED = Text("As you entered it.", "入力された値です。")
