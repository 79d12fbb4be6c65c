"""Pitfalls of a sizing, each with the numbers of the one at hand."""

from kvviz.text.base import Text

ONE_RATE = Text(
    "No single rate per token holds for this model: a request costs {fixed} whatever its length (full windows, states) "
    "and {growing} per token. {average} per token, the average at {tokens} tokens, is too much for longer requests "
    "and too little for shorter ones.",
    "このモデルの量は 1 トークンあたりの値だけでは表せません。長さによらない {fixed}（満杯のウィンドウ、状態）に、"
    "1 トークンあたり {growing} が加わります。{tokens} トークンでの平均 {average} は、長いリクエストには過大、"
    "短いリクエストには過小です。",
)
ONLY_FIXED = Text(
    "From some length on a request takes {fixed} whatever its length: nothing grows with each further token.",
    "ある長さを超えると、1 リクエストは長さによらず {fixed} です。トークンが増えても増えません。",
)
TOKEN_LINE = Text(
    "vLLM will log a cache of {size} tokens. That is {concurrency} × {longest}, not a pool of tokens: with windows or "
    "states it changes with the max model length. Read the concurrency.",
    "vLLM はキャッシュを {size} トークンとログに出します。これは {concurrency} × {longest} で、"
    "プールのトークン数ではありません。ウィンドウや状態があると最大モデル長で変わるため、concurrency を見てください。",
)
TOKEN_LINE_OLD = Text(
    "vLLM {version} will log a cache of {size} tokens: one group's share of the blocks ({groups} groups), so not what "
    "requests can hold. Read the concurrency, {concurrency}.",
    "vLLM {version} はキャッシュを {size} トークンとログに出します。これは {groups} グループのうち 1 つの分で、"
    "リクエストが使える量ではありません。concurrency（{concurrency}）を見てください。",
)
WINDOW_IS_NO_LIMIT = Text(
    "The config names a window, and it is no shorter than the model's maximum of {maximum} tokens: it limits nothing, "
    "and every token is kept.",
    "config にウィンドウがありますが、モデルの最大長 {maximum} トークン以上なので制限にならず、"
    "全トークンを保持します。",
)
WINDOW_NOT_REACHED = Text(
    "Requests of {tokens} tokens end before the window of {window}: it saves nothing at this length.",
    "{tokens} トークンのリクエストは、ウィンドウ {window} に達する前に終わります。この長さでは節約になりません。",
)
WINDOWS_AT_FULL_LENGTH = Text(
    "{engine} keeps every token of these layers although the model has a window of {window}: {full} a request over all "
    "layers, where {content} would do.",
    "モデルには {window} トークンのウィンドウがありますが、{engine} は全トークンを保持します。"
    "全レイヤーで 1 リクエスト {full} となり、ウィンドウどおりなら {content} で済みます。",
)
MAX_ATTENTION_WINDOW = Text(
    "This holds with max_attention_window set as the model has it (see the launch command). Without it TensorRT-LLM "
    "keeps full length: {full} a request instead of {request}.",
    "max_attention_window をモデルのとおりに指定した場合の値です（「起動」を参照）。指定しないと TensorRT-LLM は"
    "全長を保持し、1 リクエストは {request} ではなく {full} になります。",
)
DCP_INSTEAD = Text(
    "Instead of copies, decode context parallel {dcp} shares out the tokens: {each} a request on each GPU "
    "instead of {now}.",
    "複製の代わりに、デコードコンテキスト並列 {dcp} でトークンを分けられます。"
    "1 リクエストは各 GPU で {now} ではなく {each} です。",
)
ATTENTION_DP_INSTEAD = Text(
    "With attention data parallel each GPU keeps only its own requests: {groups} pools of different requests instead "
    "of {copies} copies of the same. Attention weights are then on every GPU.",
    "アテンションのデータ並列では、各 GPU が自分のリクエストだけを保持します。同じ内容の {copies} 重の複製が、"
    "別々の {groups} 個のプールになります。アテンションの重みは各 GPU に置かれます。",
)
ACTIVATIONS = Text(
    "Activations are set to take {activations} a GPU, beside a pool of {pool}. {what}",
    "アクティベーションに GPU あたり {activations} が見込まれ、プールは {pool} です。{what}",
)
LESS_BATCHED = Text(
    "With --max-num-batched-tokens {tokens} it would be about {less}.",
    "--max-num-batched-tokens {tokens} なら約 {less} です。",
)
FEWER_SEQUENCES = Text(
    "With --max-num-seqs {sequences} it would be about {less}: most of it is sampling over the vocabulary.",
    "--max-num-seqs {sequences} なら約 {less} です。大半は語彙全体のサンプリングに使われます。",
)
NARROW_MARGIN = Text(
    "Memory fraction {fraction} leaves {outside} a GPU for all that is not profiled at start: other processes, "
    "fragmentation, libraries that load later. If the engine runs out of memory under load, lower it.",
    "メモリ使用率 {fraction} では、起動時に測られない分（ほかのプロセス、断片化、後から読み込まれるライブラリ）に"
    "残るのは GPU あたり {outside} です。負荷をかけてメモリ不足になる場合は下げてください。",
)
FRACTION_OF_FREE = Text(
    "{engine}'s {fraction} is a share of the memory that is free {when}, not of the whole card as vLLM's is: the same "
    "figure means another pool.",
    "{engine} の {fraction} は、{when}の空きメモリに対する割合です。GPU 全体に対する vLLM の割合とは異なり、"
    "同じ数値でもプールの大きさは変わります。",
)
BEFORE_LOADING = Text("before loading", "読み込み前")
AFTER_TRIAL = Text("after a trial run", "試行後")
AVERAGE = Text(
    "{requests} in flight is an average. With {users} {users:person|people} asking on their own, more than "
    "{burst} are in flight "
    "about 2% of the time (mean and two standard deviations), and {fit} fit.",
    "同時 {requests} 件は平均です。{users} 人がそれぞれ質問すると、時間の約 2% は {burst} 件を超えます"
    "（平均 + 標準偏差の 2 倍）。収まるのは {fit} 件です。",
)
EVERY_HEAD = Text(
    "Every one of the {heads} query heads has keys and values of its own (MHA). The same model with 8 KV heads (GQA) "
    "would take 1/{factor} of it: compare with such a sibling before looking for another cause.",
    "{heads} 個のクエリヘッドそれぞれが K と V を持ちます（MHA）。KV ヘッドが 8 個（GQA）なら 1/{factor} です。"
    "ほかの原因を探す前に、そのような同系モデルと比べてください。",
)
LLAMA_CPP_F16 = Text(
    "llama.cpp's cache is f16 whatever type the model has, unless -ctk and -ctv say otherwise: with q8_0 a request "
    "takes {q8} instead of {now}.",
    "llama.cpp のキャッシュは、-ctk と -ctv で変えない限り、モデルの型によらず f16 です。q8_0 なら 1 リクエストは "
    "{now} ではなく {q8} です。",
)
PUBLISHED_QUANTISED = Text(
    "This checkpoint's weights are quantised; its cache is not. It is stored as {cache}, and takes as much as with "
    "16-bit weights: {bytes} a request.",
    "このチェックポイントは重みだけが量子化されています。キャッシュは {cache} で保持し、重みが 16 ビットのときと同じ "
    "1 リクエスト {bytes} です。",
)
STATES_FIRST = Text(
    "A request takes {first} before its second token: prefix caching keeps several states, each in whole blocks. "
    "Without it {without}.",
    "1 リクエストは最初のトークンで {first} を使います。プレフィックスキャッシュが複数の状態をブロック単位で"
    "保持するためです。無効にすると {without} です。",
)
STATES_PER_SLOT = Text(
    "Each slot has a state of {state} from the start, used or not: {slots} {slots:slot|slots} "
    "{slots:takes|take} {total} on the fullest GPU.",
    "各スロットは、使うかどうかにかかわらず最初から {state} の状態を持ちます。{slots} スロットで、"
    "最も埋まる GPU では {total} です。",
)
NOT_RESERVED = Text(
    "A max model length of {longest} reserves nothing: a request takes blocks as its tokens arrive. It only decides "
    "whether the engine starts; {fit} is for requests of {tokens}.",
    "最大モデル長 {longest} の分が確保されるわけではありません。ブロックはトークンが届くたびに割り当てられます。"
    "起動できるかどうかだけに関わり、{fit} 件は {tokens} トークンのリクエストでの数です。",
)
RESERVED_NOT_NEEDED = Text(
    "nvidia-smi will show about {reserved} in use however few requests run, because the engine takes its pool at "
    "start. This load needs {need} of a pool of {pool}.",
    "エンジンは起動時にプールを確保するため、リクエストが少なくても nvidia-smi の使用量は約 {reserved} になります。"
    "この負荷に必要なのは、プール {pool} のうち {need} です。",
)
RESERVED_NOT_NEEDED_AMD = Text(
    "rocm-smi will show about {reserved} in use however few requests run, because the engine takes its pool at "
    "start. This load needs {need} of a pool of {pool}.",
    "エンジンは起動時にプールを確保するため、リクエストが少なくても rocm-smi の使用量は約 {reserved} になります。"
    "この負荷に必要なのは、プール {pool} のうち {need} です。",
)
PER_GPU = Text(
    "The figures of an engine's log are per GPU, and are never added up over the {gpus}: the tightest GPU decides for "
    "all of them.",
    "エンジンのログの値は GPU あたりです。{gpus} 基分を合計せず、最も余裕のない GPU で全体が決まります。",
)
UNEVEN_STAGES = Text(
    "The pipeline's stages are not alike: a request takes {most} on a GPU of the fullest stage and {least} on one of "
    "the emptiest, whose rest stays unused.",
    "パイプラインのステージは均等ではありません。1 リクエストは最も埋まるステージの GPU で {most}、"
    "最も空いたステージの GPU で {least} です。その差は使われません。",
)
EXPANDED = Text(
    "This version stores keys and values that it expands from the latents: {request} a request, {times} times the "
    "{content} that versions since then store.",
    "このバージョンは、潜在ベクトルから展開した K と V を保持します。1 リクエスト {request} で、"
    "以後のバージョンが保持する {content} の {times} 倍です。",
)
FULL_PRECISION = Text(
    "The cache is fp32 here: twice what it takes in 16 bits ({bytes} a request).",
    "ここではキャッシュが fp32 です。16 ビットのときの 2 倍です（1 リクエスト {bytes}）。",
)
HEAD_SIZE = Text(
    "The head size is {head}, as the config says. Hidden size ÷ heads ({hidden} ÷ {heads} = {derived}) would be {how}.",
    "ヘッドの次元は config のとおり {head} です。隠れ層の次元 ÷ ヘッド数（{hidden} ÷ {heads} = {derived}）では、"
    "{how}になります。",
)
TOO_SMALL = Text("{times} times too small", "正しい値の 1/{times} ")
TOO_LARGE = Text("{times} times too large", "正しい値の {times} 倍")
FRACTION_OF_OLD = Text(
    "Memory fraction {fraction} is vLLM's default since 0.21; up to 0.20 it was 0.90, which leaves {less} less a GPU.",
    "メモリ使用率 {fraction} は 0.21 以降の vLLM の既定値です。0.20 までは 0.90 で、GPU あたり {less} 少なくなります。",
)
WORST_CASE = Text(
    "Requests that all take the full {tokens} tokens at once are the worst case, which the number is for. At half "
    "that length {fit} fit.",
    "この件数は、全リクエストが同時に {tokens} トークンに達する最悪の場合の値です。半分の長さなら {fit} 件収まります。",
)
MORE = Text("{count} more to watch out for", "そのほかの注意点（{count} 件）")
