"""What engines do with a cache, and what to watch out for."""

from kvviz.text.base import Text

# Why there is no plan
NOT_WORKED_OUT = Text(
    "vLLM {engine} runs {model}, but how it packs these compressed caches into one pool is not worked out here: "
    "content only.",
    "vLLM {engine} は {model} を実行できますが、この圧縮キャッシュを 1 つのプールに詰める方法は未対応のため、"
    "実データ量だけを示します。",
)
REMOVED = Text(
    "vLLM {engine} no longer runs {model}; {version} was the last version that did.",
    "vLLM {engine} は {model} を実行できません。対応していた最後のバージョンは {version} です。",
)
ENCODER_DECODER = Text(
    "vLLM {engine} does not run {model}: Whisper is the only encoder-decoder model it has of its own.",
    "vLLM {engine} は {model} を実行できません。本体で対応するエンコーダー・デコーダーモデルは Whisper だけです。",
)
NEVER = Text("vLLM {engine} does not run {model}.", "vLLM {engine} は {model} を実行できません。")
V0_NOT_WORKED_OUT = Text(
    "How vLLM's V0 engine kept the cache of {model} is not worked out here (it has cross attention, or no attention "
    "at all): content only.",
    "vLLM の V0 エンジンが {model} のキャッシュをどう保持したかは未対応のため、実データ量だけを示します"
    "（クロスアテンションを持つモデルと、アテンションのないモデル）。",
)
NO_CACHE = Text(
    "No layer of {model} stores anything, so there is no cache to set aside.",
    "{model} にはキャッシュを保持するレイヤーがないため、確保するものがありません。",
)
PAGES_DIFFER = Text(
    "vLLM {engine} cannot start a model with these layers: their pages cannot be made equal.",
    "vLLM {engine} はこのレイヤーの組み合わせを起動できません。ページの大きさを揃えられないためです。",
)

# Settings that cannot be
TP_DOES_NOT_DIVIDE = Text(
    "The heads of this model cannot be split over {tp} GPUs: use tensor parallel {sizes}.",
    "このモデルのヘッドは {tp} 基の GPU に分割できません。テンソル並列数は {sizes} から選んでください。",
)
PP_TOO_LARGE = Text(
    "Pipeline parallel {pp} is more than the {layers} {layers:layer|layers} there are to share out: use 1 to {layers}.",
    "パイプライン並列数 {pp} に対して、割り振るレイヤーは {layers} しかありません。1～{layers} から選んでください。",
)
PP_EMPTY_STAGE = Text(
    "With pipeline parallel {pp}, one stage would have no layer that keeps a cache, and vLLM would not start: use "
    "one of {sizes}.",
    "パイプライン並列数 {pp} では、キャッシュを持つレイヤーのないステージができるため、vLLM は起動しません。"
    "{sizes} から選んでください。",
)
PP_NOT_SUPPORTED = Text(
    "vLLM has no pipeline parallelism for {model}: set it to 1.",
    "vLLM は {model} のパイプライン並列に対応していません。1 にしてください。",
)
DCP_WINDOWS = Text(
    "vLLM has no decode context parallelism for layers with windows or chunks: set it to 1.",
    "ウィンドウやチャンクのレイヤーには、vLLM のデコードコンテキスト並列を使えません。1 にしてください。",
)
DCP_NOTHING_TO_SPLIT = Text(
    "Decode context parallelism splits tokens, and no layer of this model keeps any by the token: set it to 1.",
    "デコードコンテキスト並列はトークンを分割しますが、このモデルにはトークンごとに保持するレイヤーがありません。"
    "1 にしてください。",
)
DCP_OLD = Text(
    "vLLM's V0 engine has no decode context parallelism: set it to 1.",
    "vLLM の V0 エンジンにデコードコンテキスト並列はありません。1 にしてください。",
)
DCP_LATENT = Text(
    "Decode context parallel {dcp} must divide tensor parallel {tp}: use one of {sizes}.",
    "デコードコンテキスト並列数 {dcp} は、テンソル並列数 {tp} の約数でなければなりません。{sizes} から選んでください。",
)
DCP_HEADS = Text(
    "Decode context parallel {dcp} cannot be: it takes the place of copies of KV heads (each of {heads}, at tensor "
    "parallel {tp}, kept {copies}×), and must divide both {tp} and the query heads per KV head: use one of {sizes}.",
    "デコードコンテキスト並列数を {dcp} にはできません。KV ヘッドの複製（テンソル並列数 {tp} では {heads} 個が各 "
    "{copies} 重）の代わりに使うもので、{tp} と KV ヘッドあたりのクエリヘッド数の両方の約数でなければなりません。"
    "{sizes} から選んでください。",
)
NEEDS_HYBRID_MANAGER = Text(
    "vLLM does not start this model with --disable-hybrid-kv-cache-manager: its layers cannot be made of one kind. "
    "Leave windows as they are.",
    "このモデルのレイヤーは 1 種類に揃えられないため、vLLM は --disable-hybrid-kv-cache-manager では起動しません。"
    "ウィンドウの設定を元に戻してください。",
)
NO_DRAFT_LAYER = Text(
    "This model has no attention layer that a draft layer could be like: set draft layers to 0.",
    "ドラフト用レイヤーの手本になるアテンションのレイヤーがこのモデルにはありません。0 にしてください。",
)
UNKNOWN_VERSION = Text(
    "There are no rules for vLLM {version}: use one of {versions}.",
    "vLLM {version} の規則はありません。{versions} から選んでください。",
)
BACKEND_NOT_HERE = Text(
    "Attention backend {backend} does not run this model's cache on this GPU: use one of {choices}.",
    "アテンションバックエンド {backend} は、この GPU ではこのモデルのキャッシュに使えません。"
    "{choices} から選んでください。",
)
BLOCKS_CUT = Text(
    "vLLM does not start this model over {tp} GPUs: its weights are quantised in blocks of {block}, which the split "
    "would cut. Use tensor parallel {sizes}.",
    "vLLM はこのモデルを {tp} 基の GPU では起動できません。重みが {block} 個単位のブロックで量子化されており、"
    "分割するとブロックが途中で切れるためです。テンソル並列数は {sizes} から選んでください。",
)
EXPERT_PARALLEL = Text(
    "Split over {tp} GPUs, vLLM starts this model only with --enable-expert-parallel, which keeps experts whole: their "
    "weights are quantised in blocks that a cut through each expert would break.",
    "{tp} 基の GPU に分割する場合、vLLM は --enable-expert-parallel を付けないと起動しません。"
    "エキスパートの重みがブロック単位で量子化されており、各エキスパートを分割するとブロックが途中で切れるためです。",
)
GPUS_DO_NOT_DIVIDE = Text(
    "The heads of this model cannot be split over {gpus} GPUs: set the number of GPUs to one of {sizes}, or set a "
    "tensor-parallel size.",
    "このモデルのヘッドは {gpus} 基の GPU に分割できません。GPU の数を {sizes} から選ぶか、"
    "テンソル並列数を指定してください。",
)
BLOCK_NOT_MULTIPLE = Text(
    "Block size {block} does not run here: use a multiple of {kernel}.",
    "ブロックサイズ {block} は使えません。{kernel} の倍数にしてください。",
)
DTYPE_NOT_FOR_LATENT = Text(
    "vLLM has no {dtype} form of a latent (MLA) cache: use one of {choices}.",
    "潜在ベクトル（MLA）のキャッシュに {dtype} の形式は vLLM にありません。{choices} から選んでください。",
)
DTYPE_ONLY_FOR_SPARSE = Text(
    "{dtype} is a layout for sparse latent (MLA) caches, which this model has not: use one of {choices}.",
    "{dtype} はスパースアテンションの潜在ベクトル（MLA）のキャッシュ専用で、このモデルでは使えません。"
    "{choices} から選んでください。",
)
DTYPE_NOT_ON_GPU = Text(
    "vLLM has no kernel for a {dtype} cache on this GPU: use one of {choices}.",
    "この GPU 向けに {dtype} のキャッシュを扱うカーネルは vLLM にありません。{choices} から選んでください。",
)
DTYPE_DOES_NOT_DIVIDE = Text(
    "{dtype} quantises {values} values together, and this model has vectors of {dim}: use one of {choices}.",
    "{dtype} は {values} 個の値をまとめて量子化しますが、このモデルのベクトルは {dim} 個です。"
    "{choices} から選んでください。",
)
ROW_DOES_NOT_DIVIDE = Text(
    "{dtype} quantises {values} values together, and this model has rows of {row}: choose another type.",
    "{dtype} は {values} 個の値をまとめて量子化しますが、このモデルの行は {row} 個です。ほかの型を選んでください。",
)
UNKNOWN_GPU = Text(
    "Unknown GPU {gpu}: use an id such as h100-80gb, or own-48gib for any GPU with that much memory.",
    "GPU {gpu} は登録されていません。h100-80gb などの ID か、メモリ容量による own-48gib の形で指定してください。",
)

# Where the terms of the budget come from
STATES_APART = Text(
    "{source} Besides {states}: vLLM's V0 engine kept the states of {sequences} {sequences:request|requests} "
    "(--max-num-seqs) outside the "
    "pool.",
    "{source} ほかに {states}：vLLM の V0 エンジンは、{sequences} リクエスト分（--max-num-seqs）の状態を"
    "プールの外に持ちました。",
)
ACTIVATIONS_FITTED = Text(
    "Two values fitted on {count} measured starts of vLLM 0.11 on H100, worst error {error}, and used for 0.33: "
    "sampling {sequences} {sequences:request|requests} over the vocabulary, and the hidden states of {batched} "
    "batched tokens. Encoders "
    "of images or sound are not in it.",
    "H100 での vLLM 0.11 の起動 {count} 件の実測に 2 つの係数を当てはめ（最大誤差 {error}）、0.33 に使った推定です。"
    "語彙全体にわたる {sequences} リクエストのサンプリングと、{batched} トークンの隠れ状態から成ります。"
    "画像や音声のエンコーダーは含みません。",
)
ACTIVATIONS_LARGEST = Text(
    "The config does not give vocabulary and width, so this is the largest of {count} measured starts of vLLM 0.11 "
    "on H100, used for 0.33.",
    "config に語彙数と隠れ層の次元がないため、H100 での vLLM 0.11 の起動 {count} 件の実測の最大値を "
    "0.33 に使っています。",
)
GRAPHS_LARGEST = Text(
    "Largest change while CUDA graphs were captured in {count} measured starts of vLLM 0.11 on H100 ({low} to {high}), "
    "used for 0.33.",
    "H100 での vLLM 0.11 の起動 {count} 件で CUDA グラフ取得中に増えた量の最大値（{low}～{high}）を、"
    "0.33 に使った推定です。",
)
NON_TORCH_SINGLE = Text(
    "Mean of {count} measured starts of vLLM 0.11 on one H100, worst error {error}, used for 0.33.",
    "H100 1 基での vLLM 0.11 の起動 {count} 件の平均（最大誤差 {error}）を、0.33 に使った推定です。",
)
EXTRAPOLATED = Text(
    "{source} Extrapolated: this GPU or its batch settings were not measured.",
    "{source}この GPU またはバッチの設定は実測していないため、外挿した値です。",
)
NON_TORCH_PARALLEL = Text(
    "One measured start of vLLM 0.11 on {measured} × H100, used for 0.33; other sizes are assumed to need the same.",
    "H100 {measured} 基での vLLM 0.11 の起動 1 件の実測を、0.33 に使った推定です。"
    "ほかの並列数でも同じと仮定しています。",
)
ENTERED = Text("As you entered it.", "入力された値です。")

# Notes
BEYOND_MODEL = Text(
    "{tokens} tokens are beyond this model's own maximum of {maximum}: vLLM refuses that length unless it is told "
    "to ignore the limit, and quality is not known there.",
    "{tokens} トークンは、このモデルの最大長 {maximum} を超えています。上限を無視する指定をしない限り "
    "vLLM は受け付けず、品質も保証されません。",
)
BEYOND_MODEL_ELSEWHERE = Text(
    "{tokens} tokens are beyond this model's own maximum of {maximum}: quality is not known there.",
    "{tokens} トークンは、このモデルの最大長 {maximum} を超えています。品質は保証されません。",
)
STARTUP_FAILS_ELSEWHERE = Text(
    "{engine} would not start: one request of {length} tokens needs {need}, and {pool} is left for the cache.",
    "{engine} は起動できません。{length} トークンの 1 リクエストに {need} が必要ですが、"
    "キャッシュに残るのは {pool} です。",
)
STARTUP_FAILS = Text(
    "vLLM would stop at start-up: one request at the max model length of {length} needs {need}, and the pool of {pool} "
    "must have one block more than that.",
    "vLLM は起動時に停止します。最大モデル長 {length} の 1 リクエストに {need} が必要で、プール（{pool}）には"
    "それより 1 ブロック多く必要です。",
)
MAX_TOKENS_BEYOND_MODEL = Text(
    "The pool would hold one request of {tokens} tokens; this model's own maximum is {maximum}.",
    "プールには {tokens} トークンの 1 リクエストが入りますが、このモデルの最大長は {maximum} です。",
)
MORE_THAN_RUN_GROUP = Text(
    "Requests for one data-parallel group: {sequences}. vLLM runs at most {most} at once in each unless --max-num-seqs "
    "is raised; the others wait.",
    "データ並列の 1 グループあたりのリクエスト数は {sequences} です。vLLM が各グループで同時に処理するのは "
    "--max-num-seqs を上げない限り {most} 件までで、残りは待ち行列に入ります。",
)
SLOTS_LIMIT = Text(
    "A llama.cpp server has {most} {most:slot|slots} at most, however much memory there is: of {requests} "
    "{requests:request|requests} "
    "the others wait.",
    "llama.cpp のサーバーのスロットは、メモリに余裕があっても {most} 個までです。{requests} 件のうち残りは待ち行列に"
    "入ります。",
)
SLOTS_LIMIT_ENGINES = Text(
    "A llama.cpp server has {most} {most:slot|slots} at most, however much memory there is; {engines} of them "
    "have {fit}, and of "
    "{requests} {requests:request|requests} the others wait.",
    "llama.cpp のサーバーのスロットは、メモリに余裕があっても {most} 個までです。{engines} 個で {fit} 個となり、"
    "{requests} 件のうち残りは待ち行列に入ります。",
)
MORE_THAN_RUN = Text(
    "Requests for one engine: {sequences}. vLLM runs at most {most} at once here unless --max-num-seqs is raised; "
    "the others wait.",
    "1 エンジンあたりのリクエスト数は {sequences} です。vLLM がここで同時に処理するのは --max-num-seqs を"
    "上げない限り {most} 件までで、残りは待ち行列に入ります。",
)
MORE_THAN_RUNNING = Text(
    "Requests for one engine: {sequences}. SGLang runs at most {most} at once here unless --max-running-requests is "
    "raised; the others wait.",
    "1 エンジンあたりのリクエスト数は {sequences} です。SGLang がここで同時に処理するのは --max-running-requests を"
    "上げない限り {most} 件までで、残りは待ち行列に入ります。",
)
NOT_TAKEN_OFF = Text(
    "{what} not known and not taken off, so fewer may fit: measure and enter it (under More settings on the page, "
    "--activations-gib and --non-torch-gib on the command line).",
    "{what}は不明なため差し引いていません。実際に収まるのはこれより少ない可能性があります。実測値を入力してください"
    "（ページでは詳細設定、コマンドラインでは --activations-gib と --non-torch-gib）。",
)
ACTIVATIONS_AND_ENGINE = Text(
    "Activations and the engine's own memory are", "アクティベーションとエンジン自体の使用メモリ"
)
ACTIVATIONS = Text("The memory of activations is", "アクティベーションのメモリ")
ENGINE_MEMORY = Text("The engine's own memory is", "エンジン自体の使用メモリ")
WEIGHTS_DO_NOT_FIT = Text(
    "The weights alone do not fit: {weights} a GPU, and the engine may use {requested}.",
    "重みだけで収まりません。GPU あたり {weights} に対し、エンジンが使えるのは {requested} です。",
)
NO_ROOM = Text(
    "No memory is left for the cache: weights and run time need {need} a GPU, and the engine may use {requested}.",
    "キャッシュに使えるメモリが残りません。重みと実行時の分で GPU あたり {need} が必要ですが、エンジンが使えるのは "
    "{requested} です。",
)
WEIGHTS_UNKNOWN = Text(
    "The weights of this model are not known, so there is no budget: give them (below the GPU on the page, "
    "--weights-gib on the command line) to see how many requests fit.",
    "このモデルの重みが不明なため、収まる件数は計算できません。重みを入力してください"
    "（ページでは GPU の下、コマンドラインでは --weights-gib）。",
)
WEIGHTS_ARE_NOT_CACHE = Text(
    "{weights} weights do not make the cache {weights}: it is stored as {cache}.",
    "重みが {weights} でも、キャッシュは {weights} になりません。キャッシュは {cache} で保持します。",
)
NO_BF16 = Text(
    "This GPU has no bf16: vLLM runs this bf16 model in fp16 and warns of it in its log. With --dtype bfloat16 it "
    "would not start.",
    "この GPU には bf16 がないため、vLLM はこの bf16 のモデルを fp16 で実行し、ログに警告を出します。"
    "--dtype bfloat16 を指定すると起動しません。",
)
ONLY_FP32 = Text(
    "This GPU has no bf16, and vLLM takes fp16 to be unstable for this architecture, so it runs the model in fp32. "
    "16-bit weights then take twice what is counted here: enter their size.",
    "この GPU には bf16 がなく、このアーキテクチャには fp16 が不安定とみなされるため、"
    "vLLM はモデルを fp32 で実行します。16 ビットの重みはここで数えた量の 2 倍になるため、大きさを入力してください。",
)
STORED_AS = Text(
    "{engine} stores this {chosen} cache as {stored}, a record of its own for sparse attention.",
    "{engine} は、この {chosen} のキャッシュをスパースアテンション専用の形式 {stored} で保持します。",
)
HEADS_COPIED = Text(
    "Tensor parallel over {tp} GPUs is more than there are KV heads ({heads}): each head is kept {copies} times, and "
    "bytes per GPU stop falling.",
    "{tp} 基の GPU に対して KV ヘッドは {heads} 個です。各ヘッドが {copies} 重に置かれ、"
    "GPU あたりの量はこれ以上減りません。",
)
LATENT_COPIED = Text(
    "Tensor parallel does not split a latent cache: every one of the {tp} GPUs keeps all of it.",
    "潜在ベクトルのキャッシュはテンソル並列では分割されず、{tp} 基の GPU すべてが全体を保持します。",
)
LATENT_COPIED_DCP = Text(
    "Tensor parallel does not split a latent cache; decode context parallel {dcp} shares out its tokens, so that {tp} "
    "GPUs keep it {copies} times.",
    "潜在ベクトルのキャッシュはテンソル並列では分割されません。デコードコンテキスト並列 {dcp} でトークンを分けるため、"
    "{tp} 基の GPU に {copies} 重に置かれます。",
)
WINDOWS_RESERVE = Text(
    "Windows are counted with {in_flight} tokens in flight: {counted} a request at admission, {held} while it decodes.",
    "ウィンドウは先行スケジュールの {in_flight} トークンを含めて計上されます。受け入れ時は 1 リクエスト {counted}、"
    "デコード中は {held} です。",
)
CHUNKS_RESERVE = Text(
    "Chunks are counted with {in_flight} tokens in flight: {counted} a request at admission, {held} while it decodes.",
    "チャンクは先行スケジュールの {in_flight} トークンを含めて計上されます。受け入れ時は 1 リクエスト {counted}、"
    "デコード中は {held} です。",
)
CHUNKS_WITH_DRAFT = Text(
    "vLLM keeps chunked layers at full length beside a draft.",
    "ドラフトがあると、vLLM はチャンクのあるレイヤーも全長で保持します。",
)
DRAFT_TOKENS_ASSUMED = Text(
    "The draft is assumed to propose 1 token at once; each more takes another state of every request. Set draft tokens "
    "to num_speculative_tokens.",
    "ドラフトが一度に提案するのは 1 トークンと仮定しています。"
    "1 トークン増えるごとに、各リクエストの状態が 1 つ増えます。"
    "ドラフトのトークン数に num_speculative_tokens の値を入れてください。",
)
DRAFT_LAYERS_IN_PART = Text(
    "Of {count} draft (MTP) layers in this file {counted} {counted:is|are} counted: each further one that runs adds "
    "its own cache.",
    "このファイルのドラフト（MTP）レイヤー {count} 層のうち、{counted} 層を計算に含めています。"
    "それ以上動かす場合は 1 レイヤーごとにキャッシュが増えます。",
)
DRAFT_WEIGHTS = Text(
    "The draft's own weights are not known and not counted: enter the weights of both together in GiB.",
    "ドラフト自身の重みは不明なため、計算に含めていません。両方を合わせた重みを GiB で入力してください。",
)
COARSE_BLOCKS = Text(
    "State pages make blocks of {block} tokens here, so a request's last block and prefix hits are that coarse.",
    "状態のページに合わせてブロックが {block} トークンになるため、リクエストの最後のブロックもプレフィックスの再利用も"
    "この単位になります。",
)
PASSAGES = Text(
    "The longest input is {total} tokens: {input} and {passages} retrieved {passages:passage|passages} of {each} each.",
    "最長の入力は {total} トークンです（{input} に、検索文書 {passages} 件 × {each} を加えた値）。",
)
FROM_USERS = Text(
    "{requests} {requests:request|requests} in flight come from the users: {formula}, rounded up. That is the "
    "average while all of them "
    "are at work; bursts go above it.",
    "同時リクエスト数 {requests} 件は利用者数から求めました（{formula}、端数切り上げ）。"
    "全員が利用しているときの平均で、集中すればこれを超えます。",
)
FROM_USERS_INSTEAD = Text(
    "{said} The number of requests given, {sequences}, is not used.",
    "{said}指定されたリクエスト数 {sequences} は使いません。",
)
HEADROOM = Text(
    "{share} of the pool is kept free ({kept} of {pool} per GPU): what fits is counted on the rest.",
    "プールの {share}（GPU あたり {pool} のうち {kept}）を空けておき、収まる件数は残りで数えます。",
)
TYPICAL = Text(
    "At a typical length of {tokens} tokens ({share} of the longest) {fit} {fit:request|requests} "
    "{fit:fits|fit} at once; the verdict goes by "
    "the longest.",
    "典型的な長さ {tokens} トークン（最長の {share}）なら、同時に {fit} 件が収まります。"
    "判定は最長のリクエストで行います。",
)
SHARED = Text(
    "Of the {shared} tokens that all requests begin with, {held} are counted once per engine ({bytes} per GPU): whole "
    "blocks, and never the last token of a prompt. "
    "Windows, chunks and states are not shared. This relies on prefix cache hits: exactly the same tokens "
    "from the very first.",
    "全リクエストに共通する先頭の {shared} トークンのうち {held} トークンは、エンジンごとに 1 回だけ数えます"
    "（ブロック単位で GPU あたり {bytes}。プロンプトの最後のトークンは含みません）。ウィンドウ、チャンク、"
    "状態は共有されません。"
    "先頭から完全に一致し、プレフィックスキャッシュに当たることが前提です。",
)
SHARED_WITHOUT = Text(
    "{said} Without hits {fit} {fit:request|requests} {fit:fits|fit}.",
    "{said}当たらなければ、収まるのは {fit} 件です。",
)
SHARED_NOTHING = Text(
    "Sharing {shared} tokens saves nothing here: only whole blocks of layers that keep every token are shared, and "
    "there is none.",
    "共通の {shared} トークンによる節約はありません。"
    "共有されるのは全トークンを保持するレイヤーの満杯のブロックだけで、ここには 1 つもありません。",
)

# Why auto is the type it is
DTYPE_OF_ANOTHER_ENGINE = Text(
    "vLLM stores no {dtype} cache ({engines} does), so this is the content only.",
    "vLLM には {dtype} のキャッシュがないため（{engines} の型です）、実データ量だけを示します。",
)
DTYPE_CHOSEN = Text("As chosen.", "指定された型です。")
DTYPE_FROM_SCHEME = Text(
    "The checkpoint asks for this cache type ({path}).",
    "チェックポイントがこの型のキャッシュを指定しています（{path}）。",
)
DTYPE_FROM_MODEL = Text(
    "The model computes in this type ({path}); the type of its weights plays no part.",
    "モデルの計算の型（{path}）に従います。重みの型は関係しません。",
)
DTYPE_FROM_FP32 = Text(
    "The model is stored in fp32, which the engine runs in {dtype}.",
    "モデルは fp32 で保存されていますが、エンジンは {dtype} で実行します。",
)
DTYPE_NO_BF16 = Text(
    "The model computes in bf16, which this GPU lacks: vLLM runs it in {dtype}.",
    "モデルの計算の型は bf16 ですが、この GPU にはないため、vLLM は {dtype} で実行します。",
)
DTYPE_NO_FP16 = Text(
    "vLLM takes fp16 to be unstable for this architecture and runs it in {dtype}.",
    "vLLM は、このアーキテクチャには fp16 が不安定とみなし、{dtype} で実行します。",
)
DTYPE_NOT_GIVEN = Text(
    "The config names no type; bf16 is assumed.", "config に型の指定がないため、bf16 と仮定しています。"
)
DTYPE_PACKED = Text(
    "This architecture packs its cache into fp8 records of its own, whatever the setting.",
    "このアーキテクチャは、設定にかかわらず独自の fp8 形式でキャッシュを保持します。",
)
DTYPE_ENGINE_DEFAULT = Text(
    "vLLM {version} sets this type for this architecture on this GPU.",
    "vLLM {version} は、この GPU でこのアーキテクチャにこの型を設定します。",
)
