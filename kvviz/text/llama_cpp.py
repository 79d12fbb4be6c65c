"""What llama.cpp does with a cache, and what to watch out for."""

from kvviz.text.base import Text

# Why it does not run
NOT_IN_ENGINE = Text("llama.cpp has no {model} architecture.", "llama.cpp に {model} のアーキテクチャはありません。")
ENCODER_DECODER = Text(
    "llama.cpp does not run {model}: T5 is the only encoder-decoder family it has.",
    "llama.cpp は {model} を実行できません。対応するエンコーダー・デコーダーモデルは T5 系だけです。",
)
ONLY_A_FORK = Text(
    "llama.cpp itself does not run {model}; Ollama's own version of it did.",
    "llama.cpp 本体は {model} を実行できません。Ollama 独自の版だけが対応していました。",
)
NO_CACHE = Text(
    "No layer of {model} stores anything, so there is no cache to set aside.",
    "{model} にはキャッシュを保持するレイヤーがないため、確保するものがありません。",
)

# Settings that cannot be
DTYPE_OF_ANOTHER_ENGINE = Text(
    "llama.cpp has no {dtype} cache: use one of {choices}.",
    "llama.cpp に {dtype} のキャッシュはありません。{choices} から選んでください。",
)
ROW_DOES_NOT_DIVIDE = Text(
    "{dtype} stores values {values} at a time, and a row of this model has {row}: use one of {choices}.",
    "{dtype} は値を {values} 個ずつ保持しますが、このモデルの 1 行は {row} 個です。{choices} から選んでください。",
)
NEEDS_FLASH_ATTENTION = Text(
    "A {dtype} cache of values needs flash attention: leave it on, or use one of {choices}.",
    "値のキャッシュを {dtype} にするにはフラッシュアテンションが必要です。有効のままにするか、"
    "{choices} から選んでください。",
)
LATENT_NEEDS_ONE_TYPE = Text(
    "llama.cpp takes one type for keys and values of a latent cache: set both to {dtype}.",
    "潜在ベクトルのキャッシュでは、K と V に同じ型しか使えません。両方を {dtype} にしてください。",
)
EXPANSION_UNKNOWN = Text(
    "The config does not say how large expanded heads are: choose the version that stores the latent.",
    "展開したヘッドの大きさが config にありません。潜在ベクトルのまま保持する版を選んでください。",
)
TOO_MANY_GPUS = Text(
    "{gpus} GPUs are more than the {layers} {layers:layer|layers} there are to share out: use 1 to {layers}.",
    "{gpus} 基の GPU に対して、割り振るレイヤーは {layers} しかありません。1～{layers} から選んでください。",
)
SPLIT_DOES_NOT_MATCH = Text(
    "The tensor split has {entries} parts for {gpus} GPUs: give one positive number for each GPU.",
    "{gpus} 基の GPU に対し、分割の比率が {entries} 個です。GPU ごとに正の数を 1 つずつ指定してください。",
)
LAYERS_OUT_OF_RANGE = Text(
    "{layers} {layers:layer|layers} on the GPU cannot be: use 0 to {most} (all of them and the output layer).",
    "GPU に置くレイヤーを {layers} にはできません。0～{most}（全レイヤーと出力層）から選んでください。",
)

# Memory
COMPUTE_BUFFER = Text(
    "Estimate: {ubatch} tokens of logits and hidden values in fp32. It meets logs of dense models with flash attention "
    "to within some MiB; without it, and for states and experts, the buffer is larger. The log says its real size "
    '("compute buffer size").',
    "推定です。{ubatch} トークン分のロジットと隠れ状態を fp32 で数えています。フラッシュアテンションを使う"
    "密なモデルのログとは数 MiB の差で一致しますが、使わない場合や、状態・エキスパートを持つモデルではこれより"
    "大きくなります。実際の値はログの compute buffer size で確認できます。",
)
COMPUTE_BUFFER_UNKNOWN = Text(
    "The compute buffer is not known, as the config gives no vocabulary or width: it is counted as nothing. Read "
    '"compute buffer size" in a log and enter it.',
    "config に語彙数か隠れ層の次元がないため compute buffer は不明で、0 として数えています。"
    "ログの compute buffer size を入力してください。",
)
ENTERED = Text("As you entered it.", "入力された値です。")
MARGIN = Text(
    "What llama.cpp's own --fit leaves free on each GPU by default; driver and libraries live in it.",
    "llama.cpp の --fit が各 GPU に既定で残す量です。ドライバとライブラリの分がここに入ります。",
)

# Notes
LAYER_SPLIT = Text(
    "Whole layers are shared out over {gpus} GPUs in equal parts: llama.cpp goes by free memory, which is taken to be "
    "equal. The fullest GPU decides.",
    "レイヤーを丸ごと {gpus} 基の GPU に均等に割り振ります。llama.cpp は空きメモリに応じて割り振るため、"
    "空きが等しいと仮定しています。最も多く置かれる GPU で判定します。",
)
