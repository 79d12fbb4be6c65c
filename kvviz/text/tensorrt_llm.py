"""What TensorRT-LLM does with a cache, and what to watch out for."""

from kvviz.text.base import Text

# Why there is no plan
NOT_WORKED_OUT = Text(
    "How TensorRT-LLM stores the cache of {model} is not worked out here: content only.",
    "TensorRT-LLM による {model} のキャッシュの持ち方には未対応のため、実データ量だけを示します。",
)
NO_CACHE = Text(
    "No layer of {model} stores anything, so there is no cache to set aside.",
    "{model} にはキャッシュを保持するレイヤーがないため、確保するものがありません。",
)

# Settings that cannot be
DTYPE_OF_ANOTHER_ENGINE = Text(
    "TensorRT-LLM has no {dtype} cache: use one of {choices}.",
    "TensorRT-LLM に {dtype} のキャッシュはありません。{choices} から選んでください。",
)
DTYPE_DOES_NOT_DIVIDE = Text(
    "{dtype} quantises {values} values together, and this model has vectors of {dim}: use one of {choices}.",
    "{dtype} は {values} 個の値をまとめて量子化しますが、このモデルのベクトルは {dim} 個です。"
    "{choices} から選んでください。",
)
TP_DOES_NOT_DIVIDE = Text(
    "The query heads or states of this model cannot be split over {tp} GPUs: use tensor parallel {sizes}.",
    "このモデルのクエリヘッドまたは状態は {tp} 基の GPU に分割できません。"
    "テンソル並列数は {sizes} から選んでください。",
)
TOO_MANY_STAGES = Text(
    "{pp} pipeline stages are more than the {layers} {layers:layer|layers} there are: use 1 to {layers}.",
    "パイプライン並列 {pp} 段に対し、レイヤーは {layers} しかありません。1～{layers} から選んでください。",
)
FRACTION_OUT_OF_RANGE = Text(
    "The fraction of free memory must be above 0 and below 1, not {fraction}.",
    "空きメモリの割合は 0 より大きく 1 より小さい値にしてください（指定は {fraction}）。",
)

# Memory
RUNTIME = Text(
    "Assumed from the one public start that states all terms: a model of 6.5 GiB on an 80 GiB GPU left 70.48 of "
    '79.10 GiB, so 2.08 GiB went to anything but weights. Others differ: enter what the log says ("available").',
    "内訳がすべて公開されている 1 件の起動からの仮定です（80 GiB の GPU で 6.5 GiB のモデルを起動し、79.10 GiB 中 "
    "70.48 GiB が空き、重み以外に 2.08 GiB）。実際の空きはログの available で確認し、入力してください。",
)
ENTERED = Text("As you entered it.", "入力された値です。")
FRACTION = Text(
    "{fraction} of the memory that is still free after a trial run, not of the whole GPU.",
    "GPU 全体ではなく、試し実行のあとに空いているメモリの {fraction} です。",
)
