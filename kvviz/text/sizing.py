"""The Sizing page."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

APP = Text("kvviz", "kvviz")
TAGLINE = Text(
    "How much memory a model's KV cache takes, and why",
    "モデルの KV キャッシュに必要なメモリと、その理由",
)
PAGE = Text("Sizing", "サイジング")
LANGUAGE = Text("Language", "言語")

# Controls
MODEL = Text("Model", "モデル")
MODEL_HELP = Text(
    "Type to search {count} bundled models, any owner/name or page address of the Hub, or words to search it for.",
    "同梱の {count} モデルから検索できます。Hub の owner/name やページの URL、検索語も入力できます。",
)
GPU = Text("GPU", "GPU")
NO_GPU = Text("no GPU yet", "GPU 未選択")
GPU_HELP = Text(
    "The common ones come first; type to search the rest, or a number of GiB for a GPU of your own.",
    "よく使われるものから並びます。入力すると検索でき、数字（GiB）を入力すると任意の GPU になります。",
)
GPUS = Text("How many", "GPU の数")
GPUS_HELP = Text(
    "One engine over all of them (tensor parallel) unless More settings says otherwise.",
    "詳細設定で変えない限り、全 GPU を 1 つのエンジン（テンソル並列）で使います。",
)
INPUT = Text("Input tokens", "入力トークン")
OUTPUT = Text("Output tokens", "出力トークン")
TOKENS_HELP = Text(
    "Of the longest request. 4096, 4,096 and 4k mean the same.",
    "最長のリクエストの値です。4096、4,096、4k は同じ意味です。",
)
TOKENS_SUM = Text(
    "Longest request: {input} + {output} = **{tokens} tokens**",
    "最長のリクエスト：{input} + {output} = **{tokens} トークン**",
)
SEQUENCES = Text("Requests at peak", "同時リクエスト数")
SEQUENCES_HELP = Text(
    "Requests in flight at the busiest moment. Each holds its cache until it ends.",
    "ピーク時に、同時に処理中のリクエスト数です。キャッシュはリクエストが終わるまで保持されます。",
)
KV_DTYPE = Text("KV cache type", "KV キャッシュの型")
KV_DTYPE_HELP = Text(
    "The type of cached keys and values, apart from the type of the weights. auto follows the model.",
    "キャッシュする K と V のデータ型です。重みのデータ型とは別の設定です。auto はモデルに従います。",
)
RESOLVED_TO = Text("auto is **{name}**: {reason}", "auto は **{name}** です。{reason}")
MORE = Text("More settings", "詳細設定")
MORE_CHANGED = Text("Changed: {names}", "変更：{names}")
WEIGHT_DTYPE = Text("Weight type", "重みのデータ型")
WEIGHT_DTYPE_HELP = Text(
    "What if the weights were stored in another type. The cache does not change by one byte; the room for it does.",
    "重みを別のデータ型で持つ場合の試算です。キャッシュは 1 バイトも変わらず、置ける余地だけが変わります。",
)
WEIGHTS_GIB = Text("Weights of the whole model (GiB)", "モデル全体の重み（GiB）")
WEIGHTS_GIB_HELP = Text(
    "Empty: as counted from the config. Type it where it is not known, or from your own log.",
    "空欄なら config から数えた値を使います。不明な場合や、手元のログの値を使う場合に入力してください。",
)
MEMORY_FRACTION = Text("Memory fraction", "メモリ使用率")
MEMORY_FRACTION_HELP = Text(
    "vLLM's --gpu-memory-utilization (of the whole card, 0.92), SGLang's --mem-fraction-static (of what is free before "
    "loading), TensorRT-LLM's fraction of what is free after a trial run (0.9). Empty: the engine's default.",
    "vLLM の --gpu-memory-utilization（GPU 全体に対する割合、0.92）、SGLang の --mem-fraction-static"
    "（読み込み前の空きに対する割合）、TensorRT-LLM の割合（試行後の空きに対する割合、0.9）です。"
    "空欄ならエンジンの既定値を使います。",
)
BLOCK_TOKENS = Text("Block size (tokens)", "ブロックサイズ（トークン）")
BLOCK_TOKENS_HELP = Text(
    "vLLM's --block-size. Empty: what vLLM picks for this model and GPU.",
    "vLLM の --block-size です。空欄なら、モデルと GPU に応じて vLLM が選ぶ値を使います。",
)
BATCHED_TOKENS = Text("Batched tokens", "バッチあたりのトークン数")
BATCHED_TOKENS_HELP = Text(
    "vLLM's --max-num-batched-tokens. It sets the activation peak, and how far windows reserve beyond themselves.",
    "vLLM の --max-num-batched-tokens です。"
    "アクティベーションのピークと、ウィンドウのレイヤーの余分な確保量が決まります。",
)
IN_FLIGHT_TOKENS = Text("In-flight tokens", "先行スケジュールのトークン数")
IN_FLIGHT_TOKENS_HELP = Text(
    "Tokens vLLM may schedule ahead: 2 × batched tokens with asynchronous scheduling, its default.",
    "vLLM が先行してスケジュールできるトークン数です。"
    "既定の非同期スケジューリングでは、バッチあたりのトークン数の 2 倍です。",
)
MAX_MODEL_LEN = Text("Max model length (tokens)", "最大コンテキスト長（max-model-len）")
MAX_MODEL_LEN_HELP = Text(
    "vLLM's --max-model-len. Empty: input + output.",
    "vLLM の --max-model-len です。空欄なら入力と出力の和です。",
)
TP = Text("Tensor parallel", "テンソル並列数")
TP_HELP = Text(
    "GPUs that share one model. Fewer than all of them: several engines side by side, each with its own cache.",
    "1 つのモデルを分け合う GPU の数です。全数より少なければ、独立したキャッシュを持つエンジンが並びます。",
)
GROUP_SIZE = Text("Size", "見積もる")
NOT_READ = Text(
    "No answer yet: {asked} could not be read here. Choose a model, paste its config.json, or try again.",
    "まだ答えはありません。{asked} をここでは読み取れませんでした。モデルを選ぶか、config.json を貼り付けるか、"
    "もう一度お試しください。",
)
GROUP_UNDERSTAND = Text("Understand", "しくみ")
PP = Text("Pipeline parallel", "パイプライン並列数")
PP_HELP = Text(
    "The layers are shared out over so many groups of GPUs; the fullest decides.",
    "レイヤーをいくつの GPU グループに分けるかです。最も埋まるグループで決まります。",
)
DP = Text("Data parallel", "データ並列数")
DP_HELP = Text(
    "Engines side by side, each with its own cache and requests. Empty: as many as the GPUs make.",
    "並べて動かすエンジンの数です。キャッシュとリクエストは別々です。空欄なら GPU の数から決まります。",
)
ATTENTION_DP = Text("Attention data parallel", "アテンションのデータ並列")
ATTENTION_DP_HELP = Text(
    "Each group of GPUs does the attention of its own requests: latents (MLA) are then not copied.",
    "GPU のグループごとに別のリクエストのアテンションを処理します。潜在ベクトル（MLA）が複製されません。",
)
DCP = Text("Decode context parallel", "デコードコンテキスト並列数")
DCP_HELP = Text(
    "vLLM's --decode-context-parallel-size: each request's tokens are shared out over so many of the tensor-parallel "
    "GPUs.",
    "vLLM の --decode-context-parallel-size です。"
    "1 リクエストのトークンを、テンソル並列の GPU のうちこの数に分けます。",
)
ENGINE = Text("Engine", "エンジン")
ENGINE_HELP = Text(
    "Engines set aside different amounts for the same request.",
    "同じリクエストでも、確保する量はエンジンごとに異なります。",
)
ENGINE_VERSION = Text("Engine version", "エンジンのバージョン")
ENGINE_VERSION_HELP = Text("Older versions whose rules differ.", "規則が異なる旧バージョンを選べます。")
PREFIX_CACHING = Text("Prefix caching", "プレフィックスキャッシュ")
PREFIX_CACHING_HELP = Text(
    "Off: nothing is shared, and hybrids keep fewer states per request.",
    "off では何も共有されず、ハイブリッドのモデルが 1 リクエストで持つ状態が減ります。",
)
FULL_WINDOWS = Text("Windows at full length", "ウィンドウ層も全長で保持")
FULL_WINDOWS_HELP = Text(
    "vLLM's --disable-hybrid-kv-cache-manager, llama.cpp's --swa-full: layers with a window keep every token.",
    "vLLM の --disable-hybrid-kv-cache-manager、llama.cpp の --swa-full です。"
    "ウィンドウのある層も全トークンを保持します。",
)
DRAFT_LAYERS = Text("Draft layers", "ドラフトの層数")
DRAFT_LAYERS_HELP = Text(
    "Layers that MTP or EAGLE adds to the cache, of the model's own kind.",
    "MTP や EAGLE がキャッシュに加える層の数です（モデルと同じ種類の層として計算）。",
)
DRAFT_TOKENS = Text("Draft tokens", "ドラフトのトークン数")
DRAFT_TOKENS_HELP = Text(
    "vLLM's num_speculative_tokens: tokens that a draft proposes at once. Models with recurrent states keep one for "
    "each. auto: 1 is assumed where there are draft layers.",
    "vLLM の num_speculative_tokens です。ドラフトが一度に提案するトークン数で、再帰状態を持つモデルは"
    "その数だけ状態を持ちます。auto では、ドラフトの層があれば 1 と仮定します。",
)
V_DTYPE = Text("Type of the values", "V の型")
V_DTYPE_HELP = Text("llama.cpp's -ctv; same: as the keys.", "llama.cpp の -ctv です。same なら K と同じ型です。")
UNIFIED = Text("Unified slots", "スロットの共有")
UNIFIED_HELP = Text(
    "llama.cpp's --kv-unified: slots draw on one pool of cells.",
    "llama.cpp の --kv-unified です。スロットが 1 つのセルのプールを共有します。",
)
AUTO = Text("auto", "auto")
RESET = Text("Reset these", "既定に戻す")
CHANGE = Text("Change: {summary}", "変更：{summary}")
SUMMARY = Text(
    "{model} · {gpus} · {tokens} {tokens:token|tokens} · {sequences} at once · KV {dtype}",
    "{model} · {gpus} · {tokens} トークン · 同時 {sequences} 件 · KV {dtype}",
)
NOT_BUNDLED = Text(
    "“{model}” is not bundled. Closest: {near}.",
    "「{model}」は同梱されていません。近い名前：{near}。",
)
NOTHING_FOUND = Text(
    "Neither a bundled model nor one on the Hub has “{words}” in its name.",
    "「{words}」を名前に含むモデルは、同梱モデルにも Hub にもありません。",
)
NO_SUCH_LANGUAGE = Text(
    "lang: kvviz speaks en and ja, not “{shown}”; {used} is used.",
    "lang: 使える言語は en と ja です（入力値：「{shown}」）。{used} を使います。",
)
STANDS_IN = Text(
    "{model} is shown, not {asked}.",
    "{asked} ではなく {model} について表示しています。",
)
STANDS_IN_BECAUSE = Text("{said} {why}", "{said}{why}")
TRY_AGAIN = Text("Try again", "もう一度試す")
STILL_NOT = Text("Asked again: still no answer.", "もう一度試しましたが、まだ取得できません。")
ORIGIN_BUNDLED = Text("Bundled config", "同梱の設定")
ORIGIN_PASTED = Text("Pasted config", "貼り付けた設定")
ORIGIN_HUB = Text("Hub, commit {revision}", "Hub、コミット {revision}")
ORIGIN_HUB_REVISION = Text("Hub, revision {revision}", "Hub、リビジョン {revision}")
SAME_COMMIT = Text(
    "{asked} is the commit that is shown already.",
    "{asked} は、表示中のものと同じコミットです。",
)
TIED = Text(
    "This model's output layer is its embeddings again. The files on the Hub may store them twice: an engine then loads"
    " up to {bytes} less.",
    "このモデルの出力層は埋め込みと同じ重みです。Hub のファイルに二重に保存されている場合、"
    "エンジンが読み込む重みは最大 {bytes} 少なくなります。",
)
SEQUENCES_UNUSED = Text(
    "sequences: {sequences} is not used; {users} {users:user|users} {users:has|have} {requests} "
    "{requests:request|requests} in flight.",
    "sequences: {sequences} は使いません。{users} ユーザーの同時リクエスト数は {requests} 件です。",
)
NO_SUCH_GPU = Text(
    "No known GPU is called “{typed}”. Choose one from the list, or type its memory: 48 GB.",
    "「{typed}」という GPU は登録されていません。一覧から選ぶか、48 GB のようにメモリ容量を入力してください。",
)
SEVERAL_GPUS = Text(
    "“{typed}” may be one of several GPUs: choose one.",
    "「{typed}」に当てはまる GPU が複数あります。1 つ選んでください。",
)
GPU_HITS = Text("Which GPU?", "どの GPU ですか？")
HUB_HITS = Text("On the Hub", "Hub の検索結果")
TOKEN = Text("Token for this model", "このモデルのトークン")
TOKEN_HELP = Text(
    "A Hub access token with read permission. It stays in this session: in no link, log or cache.",
    "読み取り権限のある Hub のアクセストークンです。このセッションでだけ使い、リンクやログ、キャッシュには残しません。",
)
READ_WITH_TOKEN = Text("Read with this token", "このトークンで読み込む")
NOTHING_NEAR = Text("none", "なし")
SEE_SETTINGS = Text(
    "Cannot be used, see the settings: {names}.",
    "使えない設定があります：{names}。",
)

# Paste config
PASTE = Text("Paste config.json", "config.json を貼り付け")
PASTE_BOX = Text("config.json of a model", "モデルの config.json")
PASTE_NAME = Text("Name to show", "表示名")
PASTE_DONE = Text("Read: {name}.", "読み込みました：{name}。")
PASTE_APPLY = Text("Use this config", "この config を使う")
PASTE_PRIVACY = Text(
    "It stays in this session. A link you share contains the fields it was computed from.",
    "このセッションの外には送られません。共有リンクには計算に使った項目が含まれます。",
)
PASTED_AS = Text("{name} (pasted)", "{name} (貼り付け)")
PASTED_NAME = Text("pasted config", "貼り付けた config")
PASTE_EMPTY = Text("Paste the text of a config.json first.", "先に config.json の内容を貼り付けてください。")

# Facts under the answer
FACT_AT_ONCE = Text("At once", "同時に収まる数")
FACT_IN_MEMORY = Text("Fit in memory", "メモリに収まる数")
FACT_RUN = Text("run at once by default: {most}", "既定の同時処理数 {most}")
FACT_AT_ONCE_HELP = Text(
    "Counted: what the engine is sure of when every request has this length. Held: what fits while all of them decode.",
    "計上：全リクエストがこの長さのときにエンジンが保証する数。保持：すべてがデコード中のときに収まる数。",
)
FACT_HELD = Text("held in decode: {held}", "デコード中は {held}")
FACT_REQUEST = Text("Per request", "1 リクエストあたり")
FACT_REQUEST_GPU = Text("Per request, per GPU", "1 件あたり（各 GPU）")
FACT_REQUEST_HELP = Text(
    "What the engine counts one request of this length as, on one GPU.",
    "この長さの 1 リクエストを、GPU 1 基でエンジンが計上する量です。",
)
FACT_CONTENT = Text("content {bytes}", "実データ量 {bytes}")
FACT_CONTENT_WHOLE = Text("content {bytes}, whole model", "実データ量 {bytes}（全体）")
FACT_SPARE = Text("Spare per GPU", "GPU あたりの余裕")
FACT_SHORT = Text("Short per GPU", "GPU あたりの不足")
FACT_LACKING_HELP = Text(
    "The counted need of one GPU minus what its pool can hold.",
    "GPU 1 基で計上される必要量から、プールで使える量を引いた値です。",
)
FACT_POOL = Text("pool {bytes}", "プール {bytes}")

# Sections
LEDGER = Text("One GPU's memory", "GPU 1 基あたりのメモリ")
GROWTH = Text("KV cache against context", "コンテキスト長と KV キャッシュ")
GROWTH_TAB = Text("Growth", "増え方")
FRONTIER = Text("What fits: context against requests", "収まる範囲：コンテキスト長とリクエスト数")
SCALES = Text("Growth, logarithmic", "増え方（対数）")
LAYERS = Text("Layers", "レイヤー")
WHY = Text("Why this number", "数値の理由")
AS_TABLE = Text("As a table", "表で見る")
LINK_HELP = Text(
    "Opens exactly this, with every setting written out. Embed it with &embed=true.",
    "すべての設定を含み、同じ結果が開きます。&embed=true を付けると埋め込めます。",
)
LINK_CONFIG = Text("The link contains the config you pasted.", "リンクには貼り付けた config が含まれます。")
LINK_REJECTED = Text("Some of the link could not be used.", "リンクの一部は使えませんでした。")
NOT_OF_THE_LINK = Text(
    "What follows is not what the link was about: it starts anew, with {model} and these settings.",
    "以下はリンクの内容ではありません。{model} と現在の設定で新しく始めています。",
)
USED_INSTEAD = Text("{value} is used until then.", "修正されるまでは {value} を使います。")
FOOTER = Text(
    "kvviz {version} · rules read from {engine} · 1 GiB = 2³⁰ bytes",
    "kvviz {version} · 規則の出典：{engine} · 1 GiB = 2³⁰ バイト",
)
FOOTER_WITHOUT = Text("kvviz {version} · 1 GiB = 2³⁰ bytes", "kvviz {version} · 1 GiB = 2³⁰ バイト")
NO_VARIABLE = Text(
    "{field}: there is no such variable; DEPLOY.md has the table of all.",
    "{field}: この変数はありません。使える変数は DEPLOY.md の表にあります。",
)
NO_COMMIT = Text(
    "{field}: is not a commit; give its 7 to 40 hexadecimal digits. Without them the version alone is named.",
    "{field}: コミットではありません。7～40 桁の 16 進数を指定してください。指定がなければバージョンだけを表示します。",
)
SOURCE_LINE = Text(
    "{model}, {gpus} × {gpu}, {tokens} tokens · [kvviz {version}]({link})",
    "{model}、{gpus} × {gpu}、{tokens} トークン · [kvviz {version}]({link})",
)

# Lengths and requests, from what people know
PASSAGES = Text("Retrieved passages", "検索文書の数")
PASSAGE_TOKENS = Text("Tokens each", "1 件のトークン数")
ADD_PASSAGES = Text("Add retrieved passages", "検索文書を加える")
PASSAGES_ADDED = Text("Retrieved: {passages} × {tokens}", "検索文書：{passages} × {tokens}")
PASSAGES_HELP = Text(
    "Retrieval (RAG) multiplies the input: a sizing done without it does not hold with it. 0: none.",
    "検索（RAG）を使うと入力が何倍にもなり、使わない前提の見積もりは成り立ちません。0 なら加えません。",
)
USERS = Text("Users", "ユーザー数")
ONLY_USERS = Text("I only know users", "ユーザー数しかわからない")
USERS_KNOWN = Text(
    "{users} {users:user|users} → {requests} {requests:request|requests}", "{users} ユーザー → {requests} 件"
)
USERS_HELP = Text(
    "People using it at the busiest time. Empty: the number of requests counts as typed.",
    "最も混む時間帯の利用者数です。空欄なら、入力した同時リクエスト数を使います。",
)
SECONDS_BETWEEN = Text("Seconds between answers", "回答の間隔（秒）")
SECONDS_BETWEEN_HELP = Text(
    "How long a person reads and thinks before asking again.",
    "利用者が読んで考え、次に質問するまでの時間です。",
)
ANSWER_S = Text("Seconds an answer takes", "回答にかかる時間（秒）")
ANSWER_S_HELP = Text("From question to last token.", "質問から最後のトークンまでの時間です。")
USERS_FORMULA = Text(
    "{formula} = **{requests} {requests:request|requests} in flight**", "{formula} = **同時 {requests} 件**"
)
HEADROOM = Text("Headroom (share to keep free)", "空けておく割合")
HEADROOM_HELP = Text("Share of the pool, 0 to 0.9.", "プールに対する割合です（0～0.9）。")
TYPICAL = Text("Typical length", "典型的な長さ")
TYPICAL_HELP = Text(
    "As a share of the longest, 0.01 to 1. The verdict goes by the longest all the same.",
    "最長に対する割合です（0.01～1）。判定は最長の長さで行います。",
)
SHARED_TOKENS = Text("Shared system prompt (tokens)", "共有システムプロンプト（トークン）")
SHARED_TOKENS_HELP = Text(
    "Tokens at the start that are the same in every request: prefix caching stores their whole blocks once.",
    "全リクエストの先頭で共通のトークン数です。プレフィックスキャッシュでは、共通のブロックを 1 回だけ保存します。",
)
ACTIVATIONS_GIB = Text("Measured activations (GiB)", "アクティベーションの実測値（GiB）")
GRAPHS_GIB = Text("Measured CUDA graphs (GiB)", "CUDA グラフの実測値（GiB）")
NON_TORCH_GIB = Text("Measured outside PyTorch (GiB)", "PyTorch 以外の実測値（GiB）")
MEASURED_HELP = Text(
    "Per GPU, from your own start-up log. Empty: the estimate.",
    "手元の起動ログにある GPU あたりの値です。空欄なら推定値を使います。",
)

CROSSOVER_ONE = Text(
    "One request of {tokens} tokens has a larger cache than the weights ({weights} GiB per GPU).",
    "{tokens} トークンのリクエストは、1 件でもキャッシュが重み（GPU あたり {weights} GiB）を超えます。",
)
CROSSOVER = Text(
    "From {requests} {requests:request|requests} of {tokens} tokens on, their cache is larger than the "
    "weights ({weights} GiB per GPU).",
    "{tokens} トークンのリクエストが {requests} 件以上になると、"
    "キャッシュが重み（GPU あたり {weights} GiB）を超えます。",
)

# Fixes, what if, launch, share
UNDO = Text("Undo: {what}", "元に戻す：{what}")
WHAT_IF = Text("What if", "変えてみる")
WHAT_IF_CHANGE = Text("Change", "変更")
WHAT_IF_FIT = Text("At once", "同時に収まる数")
WHAT_IF_EFFECT = Text("Effect", "効果")
WHAT_IF_COST = Text("Cost", "代償")
LAUNCH = Text("Launch", "起動")
NO_LAUNCH = Text(
    "This engine does not run this model, so there is no command.",
    "このエンジンはこのモデルを実行しないため、コマンドはありません。",
)
SHARE = Text("Share and export", "共有と書き出し")
EMBED = Text("Embed in another page", "別のページに埋め込む")
SAVE_JSON = Text("JSON", "JSON")
SAVE_CSV = Text("CSV", "CSV")

LABELS: Final[Mapping[str, Text]] = {
    "model": MODEL,
    "gpu": GPU,
    "gpus": GPUS,
    "input": INPUT,
    "output": OUTPUT,
    "sequences": SEQUENCES,
    "kv_dtype": KV_DTYPE,
    "weight_dtype": WEIGHT_DTYPE,
    "weights_gib": WEIGHTS_GIB,
    "memory_fraction": MEMORY_FRACTION,
    "block_tokens": BLOCK_TOKENS,
    "batched_tokens": BATCHED_TOKENS,
    "in_flight_tokens": IN_FLIGHT_TOKENS,
    "max_model_len": MAX_MODEL_LEN,
    "tp": TP,
    "pp": PP,
    "dp": DP,
    "attention_dp": ATTENTION_DP,
    "dcp": DCP,
    "engine": ENGINE,
    "engine_version": ENGINE_VERSION,
    "prefix_caching": PREFIX_CACHING,
    "full_windows": FULL_WINDOWS,
    "draft_layers": DRAFT_LAYERS,
    "draft_tokens": DRAFT_TOKENS,
    "v_dtype": V_DTYPE,
    "unified": UNIFIED,
    "passages": PASSAGES,
    "passage_tokens": PASSAGE_TOKENS,
    "users": USERS,
    "seconds_between": SECONDS_BETWEEN,
    "answer_s": ANSWER_S,
    "headroom": HEADROOM,
    "typical": TYPICAL,
    "shared_tokens": SHARED_TOKENS,
    "activations_gib": ACTIVATIONS_GIB,
    "graphs_gib": GRAPHS_GIB,
    "non_torch_gib": NON_TORCH_GIB,
}
"""What each setting is called beside its control."""
