"""Engines that the operator attached: how they are reached, what they report, and what is predicted of them."""

from kvviz.text.base import Text

ATTACHED_NAMED = Text("Attached engines: {names}", "接続中のエンジン：{names}")

# --- what the operator set -------------------------------------------------------------------------------------------

NOT_NAME_AND_URL = Text(
    "KVVIZ_ENGINES: of its entries, {numbers} cannot be used: write each as name=URL, like"
    " first=http://10.0.0.5:8000, with http or https and nothing behind the path, and commas between entries.",
    "KVVIZ_ENGINES：{numbers} 番目は「名前=URL」の形ではないため使えません。first=http://10.0.0.5:8000 のように、"
    "http または https でパスまでを書き、複数あればカンマで区切ってください。",
)
NAME_TWICE = Text(
    "KVVIZ_ENGINES: of its entries, {numbers} cannot have the name of an earlier one; give each engine a"
    " name of its own.",
    "KVVIZ_ENGINES：{numbers} 番目の名前が、それより前のものと重複しています。エンジンごとに別の名前を付けてください。",
)
TOO_MANY = Text(
    "KVVIZ_ENGINES: {count} {count:entry|entries} beyond the first {limit} {count:is|are} not read; leave some out.",
    "KVVIZ_ENGINES：上限の {limit} 個を超えた {count} 個は読み込みません。減らしてください。",
)

# --- what went wrong -------------------------------------------------------------------------------------------------

UNREACHABLE = Text(
    "cannot be reached, or the connection broke: check that it runs and that this server may connect to it.",
    "接続できないか、接続が途中で切れました。エンジンが動いているか、このサーバーから接続できるかを確認してください。",
)
SLOW = Text(
    "did not answer within {seconds} s: it may be overloaded.",
    "{seconds} 秒以内に応答がありませんでした。過負荷の可能性があります。",
)
STATUS = Text("answered with HTTP {status}.", "HTTP {status} が返りました。")
TOO_LARGE = Text(
    "gave more than {limit} bytes, which is not read: check the URL.",
    "応答が上限の {limit} バイトを超えたため、読み取りを中止しました。URL を確認してください。",
)
WEB_PAGE = Text(
    "gave a web page: check the URL, and any proxy or sign-in page on the way.",
    "Web ページが返りました。URL と、途中のプロキシやログインページを確認してください。",
)
SENT_ELSEWHERE = Text(
    "sends the request on to another server, which is not followed: set the URL of the engine itself.",
    "別のサーバーへ転送されましたが、転送先には接続しません。エンジン自体の URL を設定してください。",
)
NOT_METRICS = Text(
    "gave metrics that cannot be read: a line is broken or cut.",
    "メトリクスを読み取れません。行が壊れているか、途中で切れています。",
)
UNKNOWN_METRICS = Text(
    "gives metrics of no engine known here: vLLM, SGLang and llama.cpp are read.",
    "対応していないエンジンのメトリクスです。読み取れるのは vLLM、SGLang、llama.cpp です。",
)
NO_METRICS = Text(
    "has no metrics: vLLM has them by itself, SGLang needs --enable-metrics, llama-server needs --metrics.",
    "メトリクスがありません。vLLM は既定で公開しますが、SGLang には --enable-metrics、"
    "llama-server には --metrics が必要です。",
)
PROBLEM = Text("{name} {problem}", "{name}：{problem}")
LAST_GOOD = Text("Below is the last sample, {age} old.", "以下は最後に取得したサンプル（{age}前）です。")
FIRST = Text("Asking …", "問い合わせ中…")

# --- one engine ------------------------------------------------------------------------------------------------------

AGE = Text("sample {age} old", "{age}前のサンプル")
SECONDS = Text("{seconds} s", "{seconds} 秒")
RANKS = Text("{count} data-parallel engines", "データ並列エンジン {count} 個")
MODEL_UNKNOWN = Text("model not reported", "モデルの報告なし")
USAGE = Text("Cache in use", "キャッシュ使用率")
RUNNING = Text("Running", "実行中")
WAITING = Text("Waiting", "待機中")
PREEMPTIONS = Text("Preemptions", "プリエンプション")
HITS = Text("Prefix hits", "プレフィックスヒット率")
HITS_LATELY = Text("Prefix hits, last {seconds} s", "プレフィックスヒット率（直近 {seconds} 秒）")
HITS_IN_ALL = Text("since start {fraction}", "起動以来 {fraction}")
HITS_SINCE_START = Text("Prefix hits since start", "プレフィックスヒット率（起動以来）")
HITS_HELP = Text(
    "Tokens found in the prefix cache, of all prompt tokens looked up. “–”: nothing was looked up, or it is not"
    " reported.",
    "プレフィックスキャッシュで見つかったトークンが、参照したプロンプト全体に占める割合です。"
    "「–」は、参照がなかったか、報告がないことを示します。",
)
PREEMPTIONS_HELP = Text(
    "Since the engine started: running requests that lost their blocks and were computed again.",
    "エンジンの起動以来の累計です。実行中にブロックを失い、計算をやり直したリクエストの数です。",
)
USAGE_HELP = Text(
    "Of the pool, as the engine counts it; over several engines, weighted with their capacities.",
    "プールに対する割合で、エンジン自身の集計です。複数のエンジンでは容量で加重した値です。",
)
RANK = Text("Engine", "エンジン")
CAPACITY = Text("Capacity (tokens)", "容量（トークン）")
TOTAL = Text("Total", "合計")
ALL_ENGINES = Text("All attached engines", "接続中の全エンジン")
ANSWERING = Text(
    "{count} of {all} {count:answers|answer}; only {count:it is|they are} counted",
    "{all} 個中 {count} 個が応答中。応答中のエンジンだけを集計",
)
ALL_ANSWER = Text("all {all} answer", "{all} 個すべてが応答中")
NONE_ANSWERS = Text("none of {all} answers", "{all} 個とも応答なし")
NO_TOTAL = Text(
    "{label}: no total, for want of a report by {names}.",
    "{label}：{names} の報告がないため、合計できません。",
)
NO_TOTAL_SHARE = Text(
    "{label}: no total, as the capacity of {names} is not reported.",
    "{label}：{names} の容量が報告されないため、全体の値を計算できません。",
)
NO_TOTAL_UNLIKE = Text(
    "{label}: no total, as tokens of different models are not of one size.",
    "{label}：モデルが異なるとトークンの大きさが異なるため、全体の値はありません。",
)
MORE_LINES = Text(
    "{count} more {count:line|lines} are not drawn; the figures are below.",
    "ほかの {count} 本は描いていません。値は下にあります。",
)
RESTARTED = Text(
    "The engine's counters went back: it was restarted.", "カウンターが戻りました。エンジンが再起動されています。"
)

# --- over time -------------------------------------------------------------------------------------------------------

CHART = Text("Cache in use (%), this session", "キャッシュ使用率（%）、このセッション")
CHART_AXIS = Text("Seconds ago", "何秒前か")
CHART_ALT = Text("Cache in use over time; now: {now}.", "キャッシュ使用率の推移。現在：{now}。")
CHART_NOW = Text("{name} {fraction}", "{name} {fraction}")
CHART_EMPTY = Text("No engine reports its usage now.", "使用率を報告しているエンジンはありません。")

# --- beside the prediction -------------------------------------------------------------------------------------------

BESIDE = Text("Predicted beside reported", "予測と報告の比較")
PREDICTED_FOR = Text(
    "Predicted for {model} · cache type {dtype} · rules of {engine}",
    "予測の対象：{model} · キャッシュの型 {dtype} · {engine} の規則",
)
RULES_NEAREST = Text(
    "The engine is {running}; of the releases whose rules are known here, {rules} is the nearest.",
    "エンジンは {running} です。規則が分かっている版のうち、最も近い {rules} の規則を使っています。",
)
FIGURE = Text("One engine", "エンジン 1 個あたり")
REPORTED = Text("Reported", "報告")
PREDICTED = Text("Predicted", "予測")
VALUE = Text("Value", "値")
ONLY_REPORTED = Text("{value} (reported)", "{value}（報告）")
WORKED_OUT = Text("{value} (worked out)", "{value}（計算）")
ALONE = Text("What has no counterpart:", "比較する相手のない値：")
DIFFERENCE = Text("Difference", "差")
FIGURES = {
    "block_tokens": Text("Tokens per block", "ブロックあたりのトークン数"),
    "blocks": Text("Blocks", "ブロック数"),
    "bytes_per_block": Text("Size of a block, all its GPUs", "ブロックの大きさ（全 GPU）"),
    "bytes_per_block_gpu": Text("Size of a block, one GPU", "ブロックの大きさ（GPU 1 台）"),
    "bytes_per_token_gpu": Text("Bytes per token, one GPU", "トークンあたりのバイト数（GPU 1 台）"),
    "tokens_from_blocks": Text("Capacity in tokens, from its blocks", "容量（トークン、報告されたブロックから）"),
    "tokens_on_gpu": Text("Capacity in tokens, on that GPU", "容量（トークン、その GPU で）"),
    "tokens": Text("Capacity in tokens", "容量（トークン）"),
    "window_tokens": Text("Capacity in tokens, windows", "容量（トークン、ウィンドウ用）"),
    "pool_bytes": Text("Size of the pool, all its GPUs", "プールの大きさ（全 GPU）"),
    "pool_bytes_gpu": Text("Size of the pool, one GPU", "プールの大きさ（GPU 1 台）"),
    "shared_pool_bytes": Text("Pool, if the slots share it", "プールの大きさ（スロット間で共有の場合）"),
    "own_pools_bytes": Text("Pool, if each slot has its own part", "プールの大きさ（スロットごとの場合）"),
    "requests": Text("Requests of {tokens} tokens that fit", "{tokens} トークンのリクエストの収容数"),
}
EQUAL = Text("0", "0")

WHICH_GPU = Text(
    "Which GPU it runs on is not reported, so its blocks cannot be predicted, only what they hold. With {model} and its"
    " GPUs on the Sizing page, they are.",
    "どの GPU で動いているかは報告されないため、ブロック数は予測できず、その中身だけを予測しています。"
    "サイジングページで {model} とその GPU を選ぶと、ブロック数も予測します。",
)
ON_GPU = Text(
    "For the GPUs of the Sizing page: {gpus}. The engine does not report its own.",
    "サイジングページの GPU（{gpus}）で予測しています。エンジンは自分の GPU を報告しません。",
)
FEWER_BLOCKS = Text(
    "Fewer than predicted: at its start the engine measured more activations, graphs or other processes than is"
    " estimated, or its GPUs are others.",
    "報告は予測より少なくなっています。起動時に測られたアクティベーション、グラフ、ほかのプロセスが見積もりより大きかったか、"
    "GPU が異なります。",
)
MORE_BLOCKS = Text(
    "More than predicted: the engine measured less activations or graphs than is estimated, or its GPUs are others.",
    "報告は予測より多くなっています。起動時に測られたアクティベーションやグラフが見積もりより小さかったか、"
    "GPU が異なります。",
)
TOKENS_DIFFER = Text(
    "The capacity does not follow from the blocks under these rules: another release, draft layers, or a model other"
    " than {model}.",
    "容量がこの規則ではブロック数と合いません。版が異なるか、ドラフト層があるか、{model} とは別のモデルです。",
)
BYTES_DIFFER = Text(
    "The bytes of the pool differ: another cache type, draft layers, or a model other than {model}.",
    "プールの大きさが異なります。キャッシュの型が違うか、ドラフト層があるか、{model} とは別のモデルです。",
)
SEVERAL_GROUPS = Text(
    "The layers of {model} are of several kinds: blocks × tokens per block is not the capacity; vLLM's own figure is.",
    "{model} は種類の異なるレイヤーを持つため、ブロック数 × ブロックあたりのトークン数は容量になりません。"
    "vLLM 自身の値が容量です。",
)
BLOCK_OF_SEVERAL = Text(
    "vLLM reports the smallest of several block sizes.", "vLLM は複数あるブロックの大きさのうち最小のものを報告します。"
)
BLOCKS_TOGETHER = Text(
    "vLLM reports the blocks of its {count} data-parallel engines together; one has its share.",
    "vLLM はデータ並列エンジン {count} 個のブロック数を合計で報告します。ここでは 1 個分に割っています。",
)
BLOCKS_UNEQUAL = Text(
    "vLLM reports {blocks} blocks for its {count} data-parallel engines together, which are not equal.",
    "vLLM はデータ並列エンジン {count} 個の合計 {blocks} ブロックを報告していますが、均等ではありません。",
)
DTYPE_ASSUMED = Text(
    "The cache type is not reported: {dtype} is assumed.", "キャッシュの型は報告されないため、{dtype} としています。"
)
DTYPE_UNKNOWN = Text(
    "The reported cache type {dtype} is not known here: the model's own is assumed.",
    "報告されたキャッシュの型 {dtype} は未対応のため、モデル本来の型としています。",
)
SLOTS_UNKNOWN = Text(
    "{slots} {slots:slot|slots} of {tokens} tokens each; whether they share one pool is not reported.",
    "{tokens} トークンのスロットが {slots} 個あります。1 つのプールを共有するかどうかは報告されません。",
)
LONGER_THAN_ALLOWED = Text(
    "The Sizing page's request of {tokens} tokens is longer than the {limit} that the engine takes.",
    "サイジングページのリクエスト（{tokens} トークン）は、エンジンの上限 {limit} を超えています。",
)
SPLIT_UNKNOWN = Text(
    "How many GPUs it is split over is not reported: bytes are those of all of them, without copies of KV heads.",
    "何台の GPU に分割されているかは報告されません。大きさは全 GPU の合計で、KV ヘッドの複製は含みません。",
)
NO_MODEL = Text(
    "The served model ({model}) is not among the bundled ones: only what is reported is shown.",
    "提供中のモデル（{model}）は同梱モデルにないため、報告された値だけを表示しています。",
)
NO_NAME = Text(
    "Which model is served is not reported: only what is reported is shown.",
    "提供中のモデルは報告されないため、報告された値だけを表示しています。",
)
READ_FROM_HUB = Text("Read {model} from the Hub", "{model} を Hub から読み取る")
USE_SIZING = Text("Predict with the Sizing page's model, {model}", "サイジングページのモデル（{model}）で予測する")
