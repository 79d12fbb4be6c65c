"""The command that starts what was sized, and what to know before running it."""

from kvviz.text.base import Text

PLACEHOLDER = Text(
    "Replace {path} with the model's folder or its Hub id: only its config.json is known here.",
    "{path} をモデルのフォルダーまたは Hub の ID に置き換えてください。ここでわかるのは config.json の内容だけです。",
)
GGUF = Text(
    "Replace {path} with the model's GGUF file.",
    "{path} をモデルの GGUF ファイルに置き換えてください。",
)
OTHER_WEIGHTS = Text(
    "The answer assumes {dtype} weights: name a checkpoint that is stored so.",
    "この試算は {dtype} の重みを前提にしています。その型で保存したチェックポイントを指定してください。",
)
TYPED_WEIGHTS = Text(
    "The answer uses the size of the weights as you typed it: name the checkpoint it belongs to.",
    "この試算は入力された重みの大きさを使っています。それに対応するチェックポイントを指定してください。",
)
ONE_COMMAND = Text(
    "One command for all {gpus} GPUs: it starts {groups} data-parallel groups, shares the requests out among them, and "
    "every expert is on one GPU. --max-num-seqs counts for each group.",
    "1 つのコマンドで {gpus} 基すべてを使います。データ並列の {groups} グループが起動し、"
    "リクエストは自動で振り分けられ、各エキスパートは 1 基に置かれます。--max-num-seqs はグループごとの値です。",
)
ONE_GPU = Text("one GPU", "GPU 1 基")
GPUS = Text("{gpus} GPUs", "GPU {gpus} 基")
EACH_ENGINE = Text(
    "{engines} engines: run it once for each, on {gpus} of its own (CUDA_VISIBLE_DEVICES) and with its own --port, "
    "and share the requests out among them.",
    "エンジンは {engines} 個です。専用の {gpus}（CUDA_VISIBLE_DEVICES）と --port をそれぞれに指定して "
    "1 回ずつ起動し、リクエストを振り分けてください。",
)
EACH_ENGINE_AMD = Text(
    "{engines} engines: run it once for each, on {gpus} of its own (HIP_VISIBLE_DEVICES) and with its own --port, "
    "and share the requests out among them.",
    "エンジンは {engines} 個です。専用の {gpus}（HIP_VISIBLE_DEVICES）と --port をそれぞれに指定して "
    "1 回ずつ起動し、リクエストを振り分けてください。",
)
NO_START = Text(
    "It would stop at start: the longest request does not fit. See the fixes.",
    "最長のリクエストが収まらないため、起動時に停止します。対処を確認してください。",
)
SLOTS_LIMIT = Text(
    "-np {most} is the most that llama.cpp takes: of {asked} {asked:request|requests} the others wait.",
    "llama.cpp の -np は {most} までです。{asked} 件のうち残りは待ち行列に入ります。",
)
SLOTS_DO_NOT_FIT = Text(
    "The cache of all {slots} {slots:slot|slots} is allocated at start and does not fit: it would stop there. "
    "{fit} {fit:slot|slots} {fit:fits|fit}.",
    "{slots} スロット分のキャッシュは起動時にすべて確保されますが、収まらないため起動時に停止します。"
    "収まるのは {fit} スロットです。",
)
BEYOND_MODEL = Text(
    "{tokens} tokens are more than the {maximum} that the model's config.json allows: "
    "vLLM refuses unless VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 is set.",
    "{tokens} トークンは config.json が認める {maximum} を超えています。"
    "VLLM_ALLOW_LONG_MAX_MODEL_LEN=1 を設定しない限り vLLM は起動しません。",
)
MORE_SEQUENCES = Text(
    "Beyond vLLM's default of {default} {default:request|requests} at once: the activation peak grows, which "
    "the answer does not count.",
    "vLLM の既定の同時 {default} 件を超えるため、アクティベーションのピークがこの試算より大きくなります。",
)
IN_FLIGHT = Text(
    "The in-flight tokens you entered have no flag: vLLM derives them from the batched tokens.",
    "入力された先行スケジュールのトークン数に対応するオプションはなく、vLLM がバッチあたりのトークン数から決めます。",
)
FP32_CACHE = Text(
    "vLLM has an fp32 cache only where the whole model runs in fp32, so its weights double too.",
    "vLLM で fp32 のキャッシュを使えるのはモデル全体を fp32 で動かす場合だけで、重みも 2 倍になります。",
)
