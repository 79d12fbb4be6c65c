"""What the Measured live page says."""

from kvviz.text.base import Text

PAGE = Text("Measured live", "実測")

# --- which run -------------------------------------------------------------------------------------------------------

RECORDED = Text("Recorded run of {day}", "{day} に記録した実行")
RUNNING = Text("Live run", "実行中")
FAILED = Text("Live run that failed, as far as it went", "失敗した実行（途中まで）")
FINISHED = Text("Live run of this session", "このセッションの実行")
WHERE = Text(
    "{what} · {model} · {dtype} · {cache} · batch {batch} · on {device} · PyTorch {torch} · "
    "Transformers {transformers}",
    "{what} · {model} · {dtype} · {cache} · バッチ {batch} · デバイス {device} · PyTorch {torch} · "
    "Transformers {transformers}",
)
NONE_YET = Text("No figures yet", "まだ値がありません")
EQUAL = Text(
    "Residual 0 B: measured equals predicted in all {steps} {steps:step|steps}",
    "差 0 B：{steps} ステップすべてで実測と予測が一致",
)
EQUAL_PART = Text(
    "Residual 0 B: measured equals predicted in the first {steps} of {all} steps",
    "差 0 B：{all} ステップ中、最初の {steps} ステップすべてで実測と予測が一致",
)
ENDED_EARLY = {
    "cancelled": Text(
        "Stopped on request after {done} of {all} tokens.",
        "要求により、{all} トークン中 {done} トークンで停止しました。",
    ),
    "seconds": Text(
        "Time was up after {done} of {all} tokens.", "制限時間により、{all} トークン中 {done} トークンで終了しました。"
    ),
    "failed": Text("Failed after {done} of {all} tokens.", "{all} トークン中 {done} トークンで失敗しました。"),
}
DIFFERENT = Text(
    "Residual {bytes} B: measured and predicted differ",
    "差 {bytes} B：実測と予測が異なる",
)
NOT_PREDICTED = Text("Measured only: kvviz has no rule for this cache", "実測のみ：このキャッシュの予測規則なし")
NO_CACHE = Text("No cache: nothing is kept between steps", "キャッシュなし：ステップ間で何も保持しない")

# --- figures ---------------------------------------------------------------------------------------------------------

PREDICTED = Text("Predicted", "予測")
MEASURED = Text("Measured", "実測")
RESIDUAL = Text("Residual", "差")
SPEED = Text("Tokens/s", "トークン/秒")
UNKNOWN = Text("unknown", "不明")
CHART = Text("KV cache ({unit}) by tokens in the cache", "キャッシュ内のトークン数と KV キャッシュ（{unit}）")
TOKENS_AXIS = Text("Tokens in the cache, per sequence", "キャッシュ内のトークン数（1 系列）")
POINTS = Text("Measured tensors", "実測したテンソル")
CHART_ALT = Text(
    "KV cache by tokens: predicted as a line, measured as points; at {tokens} tokens {measured} B measured.",
    "トークン数ごとの KV キャッシュ。線は予測、点は実測。{tokens} トークンで実測 {measured} B。",
)
ROW_TOKENS = Text("Tokens", "トークン")
ROW_PREDICTED = Text("Predicted (B)", "予測 (B)")
ROW_MEASURED = Text("Measured (B)", "実測 (B)")
ROW_RESIDUAL = Text("Residual (B)", "差 (B)")
ROW_SECONDS = Text("Step (s)", "ステップ（秒）")
SAID = Text("Text of the first sequence", "1 系列目の文")
SAYS_NOTHING = Text("Nothing yet.", "まだありません。")
NO_TEXT = Text(
    "No text: the tokens of this run make no words, as where the model comes without a tokenizer.",
    "文はありません。トークナイザーがないモデルなどでは、トークンは文になりません。",
)
NO_WORDS = Text(
    "No text: the model's tokenizer is not here, so the tokens are numbers without words.",
    "トークナイザーがないため、トークンは番号のままで、文にはなりません。",
)

# --- the run ---------------------------------------------------------------------------------------------------------

START = Text("Start a live run", "実測を開始")
STOP = Text("Stop", "停止")
STATES = {
    "waiting": Text("Waiting: {position} before this run", "待機中：前に {position} 件"),
    "loading": Text("Loading the model …", "モデルを読み込み中…"),
    "running": Text("{done} of {all} tokens", "{done} / {all} トークン"),
}
NO_FIGURES_YET = Text(
    "The figures of this run appear here once its model is loaded.",
    "モデルの読み込み後、この実行の値をここに表示します。",
)
STOPPING = Text("Stopping after this step …", "このステップの後に停止します…")
STOPPED = Text("The run was stopped.", "実行を停止しました。")
FREED = Text("Free now: {free}.", "現在の空き：{free}。")
LEAVE = Text(
    "Runs on the machine that serves this page ({device}), one at a time. Leaving the page stops the run.",
    "このページのサーバー（{device}）で 1 件ずつ実行します。ページを離れると実行は停止します。",
)
DEVICES = {
    "auto": Text("its GPU if PyTorch sees one", "PyTorch が認識する GPU、なければ CPU"),
    "cpu": Text("CPU", "CPU"),
    "cuda": Text("GPU", "GPU"),
}
LINK = Text(
    "Opens this page with these settings; it starts no run, and no run is in it.",
    "この設定で同じ画面が開きます。実行は始まらず、実行結果も含まれません。",
)
PROMPT_NOT_IN_LINK = Text(
    "The prompt is too long for a link and is left out of it.",
    "入力文は長すぎてリンクに収まらないため、含まれていません。",
)
ENABLE = Text("This enables live runs:", "実測を有効にするコマンド：")
SETTINGS = Text("Settings", "設定")
MORE = Text("Cache: {cache}", "キャッシュ：{cache}")
MODEL = Text("Model", "モデル")
PROMPT = Text("Prompt", "入力文")
LABELS = {
    "prompt_tokens": Text("Prompt tokens", "入力トークン"),
    "new_tokens": Text("New tokens", "生成トークン"),
    "batch": Text("Batch", "バッチ"),
    "dtype": Text("Type", "型"),
    "cache": Text("Kind of cache", "キャッシュの種類"),
}
AS_IT_IS = Text("as it is", "そのまま")
HELP = {
    "prompt_tokens": Text(
        "The prompt is repeated or cut to so many tokens; empty: as it is. Prompt and answer: at most {limit}.",
        "入力文を繰り返すか切り詰めて、このトークン数にします。空欄ならそのまま。入力と出力の合計は {limit} までです。",
    ),
    "new_tokens": Text(
        "Prompt and answer: at most {limit} tokens. A run also ends after {seconds} s.",
        "入力と出力の合計は {limit} トークンまでです。{seconds} 秒経過した場合も終了します。",
    ),
    "dtype": Text(
        "Number format of weights and cache. bf16 and fp16 take 2 bytes per value, fp32 takes 4, so its cache is twice"
        " as large. bf16 has the range of fp32 with fewer digits; fp16 has more digits and a smaller range.",
        "重みとキャッシュの数値形式です。値 1 個のバイト数は bf16 と fp16 が 2、fp32 が 4 で、fp32 の"
        "キャッシュは 2 倍になります。bf16 は fp32 と同じ範囲を少ない桁数で表し、fp16 は桁数が多く範囲が狭い形式です。",
    ),
    "batch": Text("Sequences at once, all of the same prompt.", "同じ入力文から同時に生成する系列の数です。"),
}
CACHES = {
    "dynamic": Text("grows with the tokens (DynamicCache)", "トークンとともに増加（DynamicCache）"),
    "static": Text("reserved at its longest (StaticCache)", "最長の長さを先に確保（StaticCache）"),
    "paged": Text("paged pool (continuous batching)", "ページ化プール（continuous batching）"),
    "fp8": Text("quantised, fp8", "量子化、fp8"),
    "int4": Text("quantised, 4 bits", "量子化、4 ビット"),
    "int2": Text("quantised, 2 bits", "量子化、2 ビット"),
    "none": Text("no cache", "キャッシュなし"),
}

# --- memory ----------------------------------------------------------------------------------------------------------

MEMORY = Text("Where the memory is", "メモリの内訳")
HOLDER = Text("Part", "内訳")
HELD = Text("Bytes", "バイト")
SHORT = Text("Size", "サイズ")
OF_DEVICE = Text("Memory of {device}: {bytes}", "{device} のメモリ：{bytes}")
OF_CACHE = Text("The cache alone: {held} of {all} at the end", "キャッシュだけを拡大：{held}（終了時 {all}）")
TO_COME = Text("Cache to come", "今後の増加分")
MEMORY_ALT = Text("Memory of {device}: {parts}.", "{device} のメモリの内訳：{parts}。")
ON_CPU = Text(
    "On a CPU, the kernel tells the size of a whole process only: the activations of a step, what the C library's"
    " allocator rounds up, and what it holds in reserve are all in “Rest of the process”.",
    "CPU では、カーネルからプロセス全体のサイズしか得られません。ステップ中のアクティベーション、C ライブラリの"
    "アロケーターによる切り上げと余りは、すべて「プロセスの残り」に含まれます。",
)
HOLDERS = {
    "weights": Text("Weights", "重み"),
    "kv": Text("KV cache", "KV キャッシュ"),
    "rounding": Text("Allocator rounding (512 B granules)", "アロケーターの切り上げ（512 B 単位）"),
    "tensors": Text("Other tensors at rest", "静止時のその他のテンソル"),
    "process": Text("Rest of the process", "プロセスの残り"),
    "activations": Text("Activations, peak of a step", "アクティベーション（ステップ中の最大）"),
    "slack": Text("Allocator slack (2 MiB segments)", "アロケーターの余り（2 MiB 単位）"),
    "elsewhere": Text("Driver and others", "ドライバーなど"),
    "free": Text("Free", "空き"),
}
# --- time ------------------------------------------------------------------------------------------------------------

TIME = Text("With a cache and without one", "キャッシュの有無と時間")
SPEED_CHART = Text("Seconds in all by new tokens", "生成トークン数と合計時間（秒）")
NEW_TOKENS_AXIS = Text("New tokens, per sequence", "生成トークン数（1 系列）")
WITH = Text("with a cache", "キャッシュあり")
WITHOUT = Text("without a cache", "キャッシュなし")
SPEED_ALT = Text("Seconds in all by new tokens: {runs}.", "生成トークン数ごとの合計時間：{runs}。")
SPEED_RUN = Text("{name} {seconds} s at {tokens} tokens", "{name} {tokens} トークンで {seconds} 秒")
COLUMN_WHAT = Text("Figure", "項目")
NEW_TOKENS = Text("New tokens", "生成トークン")
SECONDS_WITH = Text("With a cache", "キャッシュあり")
SECONDS_WITHOUT = Text("Without a cache", "キャッシュなし")
SECONDS = Text("{seconds}\u00a0s, {each}\u00a0ms/token", "{seconds}\u00a0秒（{each}\u00a0ms/トークン）")
FASTER = Text("Faster", "速度比")
FEWER = Text("Fewer tokens computed", "計算トークンの削減比")
TIMES = Text("{times}×", "{times} 倍")
MEASURED_HERE = Text("Measured in this session", "このセッションで実測")
QUOTED = Text("Quoted (conditions not stated)", "引用値（条件の記載なし）")
WHY_ONLY = Text(
    "Why {fewer} times fewer token computations give only about {faster} times: without a cache, the tokens of a step"
    " are computed in parallel, for one reading of the weights; with one, each step computes one token and waits for"
    " memory to deliver the same weights. The cache saves computation; decoding waits for memory.",
    "計算するトークンが {fewer} 分の 1 でも、速度は約 {faster} 倍にとどまります。キャッシュなしでは、"
    "1 ステップの全トークンを重みの 1 回の読み出しで並列に計算します。キャッシュありでは 1 トークンだけを計算しますが、"
    "同じ重みの読み出しを待ちます。キャッシュが減らすのは計算であり、デコードはメモリを待っています。",
)
LEFT_OFF = Text(
    "Running without a cache (`use_cache=False`) is for experiments like this one only. Where generation is slow, "
    "check first that nobody left it off: `generate` has it on by default.",
    "キャッシュなし（`use_cache=False`）は、このような実験のためだけの設定です。生成が遅いときは、"
    "無効のままになっていないかをまず確認してください。`generate` の既定は有効です。",
)
FOR_A_PAIR = Text(
    "To measure both here, run the same settings a second time with the cache set to “no cache”.",
    "ここで両方を実測するには、同じ設定でキャッシュを「キャッシュなし」にして、もう一度実行してください。",
)
FOR_THE_OTHER = Text(
    "To measure both here, run the same settings a second time with a cache: the last run had none.",
    "ここで両方を実測するには、同じ設定でキャッシュを使って、もう一度実行してください。直前の実行はキャッシュなしでした。",
)

# --- runs of the session ---------------------------------------------------------------------------------------------

SHOWN = Text("Run shown", "表示する実行")
RUN_NAME = Text(
    "{number}: {model}, {dtype}, {cache}, batch {batch}", "{number}：{model}、{dtype}、{cache}、バッチ {batch}"
)
KEPT = Text("Runs of this session", "このセッションの実行")
SAVE_CSV = Text("Save samples (CSV)", "サンプルを保存 (CSV)")
SAVE_JSON = Text("Save recording (JSON)", "記録を保存 (JSON)")
COLUMN_RUN = Text("Run", "実行")
COLUMN_GENERATED = Text("New tokens", "生成トークン")
OF_ASKED = Text("{done} of {all}", "{done} / {all}")
