"""Requests over time: what is wrong with a trace or a pool, and how a simulation is reported."""

from kvviz.text.base import Text

# --- pools -----------------------------------------------------------------------------------------------------------

OUT_OF_BOUNDS = Text(
    en="{field}: give a whole number from {low} to {high}, not {shown}.",
    ja="{field}：{low}～{high} の整数を指定してください（入力値：{shown}）。",
)
BLOCK_OVER_POOL = Text(
    en="A block of {block} {block:token|tokens} is larger than the pool of {pool}; make the pool larger or the block"
    " smaller.",
    ja="{block} トークンのブロックは {pool} トークンのプールに入りません。"
    "プールを大きくするか、ブロックを小さくしてください。",
)
NO_GROUP = Text(
    en="A paged pool needs at least one group of layers; give one window, or none for full attention.",
    ja="ページ方式のプールにはレイヤーのグループが 1 つ以上必要です。"
    "ウィンドウを 1 つ指定するか、フルアテンションにしてください。",
)
CACHING_OR_WINDOWS = Text(
    en="Prefix caching is simulated for full attention only; leave out the windows or the caching.",
    ja="プレフィックスキャッシュのシミュレーションはフルアテンションだけに対応しています。"
    "ウィンドウかキャッシュのどちらかを外してください。",
)

# --- traces ----------------------------------------------------------------------------------------------------------

NOT_IN_ORDER = Text(
    en="Request {index} arrives before the one in front of it; sort the requests by arrival.",
    ja="リクエスト {index} が前のリクエストより先に到着しています。到着順に並べてください。",
)
UNREADABLE = Text(
    en="The trace {path} cannot be read: {why}. Give a CSV, JSON or JSONL file, or one of {names}.",
    ja="トレース {path} を読み込めません（{why}）。"
    "CSV、JSON、JSONL のファイルか、{names} のいずれかを指定してください。",
)
NOT_TEXT = Text(
    en="The trace {name} is not UTF-8 text; save it as CSV, JSON or JSONL in UTF-8.",
    ja="トレース {name} は UTF-8 のテキストではありません。CSV、JSON、JSONL を UTF-8 で保存してください。",
)
EMPTY = Text(
    en="The trace {name} has no requests; give at least one.",
    ja="トレース {name} にリクエストがありません。1 件以上必要です。",
)
NO_COLUMN = Text(
    en="The CSV has no column {columns}; its first line must name prompt_tokens and output_tokens.",
    ja="CSV に列 {columns} がありません。1 行目に prompt_tokens と output_tokens が必要です。",
)
SHORT_ROW = Text(
    en="Line {line} has fewer values than the {columns} columns of the first line.",
    ja="{line} 行目の値が、1 行目の列数（{columns}）より少なくなっています。",
)
NOT_CSV = Text(
    en="Line {line} is not a line of CSV; check its quotation marks.",
    ja="{line} 行目を CSV として読み取れません。引用符を確認してください。",
)
LONG_LINE = Text(
    en="Line {line} is too long to be a request; check the line ends of the file.",
    ja="{line} 行目が長すぎます。ファイルの改行を確認してください。",
)
TOO_MANY_ROWS = Text(
    en="The trace has more than {limit} {limit:request|requests}; cut it.",
    ja="トレースのリクエストが {limit} 件を超えています。短くしてください。",
)
NOT_A_COUNT = Text(
    en="Line {line}: {field} must be a whole number from 0 to {high}, not “{shown}”.",
    ja="{line} 行目：{field} は 0～{high} の整数で指定してください（入力値：「{shown}」）。",
)
NOT_A_TIME = Text(
    en="Line {line}: {field} must be a time that is not negative, not “{shown}”.",
    ja="{line} 行目：{field} は 0 以上の時刻で指定してください（入力値：「{shown}」）。",
)
NOT_IDS = Text(
    en="Line {line}: hash_ids must be a list of whole numbers.",
    ja="{line} 行目：hash_ids は整数のリストで指定してください。",
)
NOT_JSON = Text(
    en="Line {line} is not a request in JSON; give one object a line, or one object with a list of requests.",
    ja="{line} 行目を JSON のリクエストとして読み取れません。"
    "1 行に 1 つのオブジェクトか、requests のリストを持つ 1 つのオブジェクトを指定してください。",
)
NO_REQUESTS_LIST = Text(
    en='The JSON has no list of requests; write it as {{"requests": [...]}}.',
    ja='JSON に requests のリストがありません。{{"requests": [...]}} の形式で指定してください。',
)
NO_TIMES = Text(
    en="The trace {name} does not say when requests arrive; let all wait from the start (saturated).",
    ja="トレース {name} に到着時刻がありません。全件が最初から待つ設定（saturated）にしてください。",
)
NO_IDS = Text(
    en="The trace has no block ids, so nothing is known about shared prefixes; use one with hash_ids.",
    ja="トレースにブロックの ID がないため、プレフィックスの共有が分かりません。hash_ids を含むものを使ってください。",
)
IDS_NOT_BLOCKS = Text(
    en="The trace's ids stand for {ids} {ids:token|tokens} each; with caching the block, now {block}, must divide"
    " that.",
    ja="トレースの ID は 1 つで {ids} トークンを表します。"
    "キャッシュを使う場合、ブロック（現在 {block}）はその約数にしてください。",
)
IDS_DO_NOT_FIT = Text(
    en="Request {number} has {ids} {ids:id|ids} for {tokens} prompt {tokens:token|tokens}: they cannot stand for {size}"
    " {size:token|tokens} each. Give the block size the trace was recorded with (--block-tokens).",
    ja="リクエスト {number} はプロンプト {tokens} トークンに ID が {ids} 個あり、1 個 {size} トークンとは合いません。"
    "トレースを記録したときのブロックサイズを --block-tokens で指定してください。",
)
CAPACITY = Text(
    en="The cache must hold at least one block; give a whole number above 0, or inf.",
    ja="キャッシュには 1 ブロック以上が必要です。1 以上の整数か inf を指定してください。",
)

# --- the command line ------------------------------------------------------------------------------------------------

SIMULATE = Text(
    en="serve the requests of a trace from one pool, step by step",
    ja="トレースのリクエストを 1 つのプールで順に処理する",
)
PREFIX = Text(
    en="how much of a trace's prompts a prefix cache finds", ja="プレフィックスキャッシュがプロンプトに当たる割合"
)
TRACE = Text(
    en="CSV (prompt_tokens, output_tokens, t_s), JSON or JSONL file, or a bundled trace: {names}",
    ja="CSV（prompt_tokens、output_tokens、t_s）、JSON、JSONL のファイル、または同梱のトレース：{names}",
)
ALLOCATOR = Text(en="how memory is given out", ja="メモリの割り当て方")
RESERVE = Text(
    en="contiguous: what is set aside for a request (default: max)",
    ja="contiguous：1 リクエストに確保する量（既定値：max）",
)
PLACE = Text(en="contiguous: where it is placed (default: buddy)", ja="contiguous：配置の方法（既定値：buddy）")
BLOCK_TOKENS = Text(en="paged: tokens per block (default: 16)", ja="paged：ブロックあたりのトークン数（既定値：16）")
POOL_TOKENS = Text(en="size of the pool in tokens", ja="プールの大きさ（トークン）")
POOL_BLOCKS = Text(en="size of the pool in blocks", ja="プールの大きさ（ブロック）")
MAX_TOKENS = Text(
    en="contiguous: length a request may reach, with --reserve max and pow2",
    ja="contiguous：1 リクエストの最大長（--reserve max と pow2）",
)
ARRIVAL = Text(
    en="saturated: all requests wait from the start; trace: they come when the trace says (default: trace where it"
    " counts in steps, else saturated)",
    ja="saturated：全件が最初から待ちます。trace：トレースの時刻に到着する"
    "（既定値：トレースがステップ単位なら trace、ほかは saturated）",
)
STEP_S = Text(
    en="seconds a step takes, with --arrival trace (default: 0.05)",
    ja="1 ステップの秒数。--arrival trace とともに使用（既定値：0.05）",
)
CACHING = Text(en="paged: prefix caching", ja="paged：プレフィックスキャッシュ")
WATERMARK = Text(
    en="paged: blocks that stay free when a request is admitted (default: 0)",
    ja="paged：リクエストの開始時に空けておくブロック数（既定値：0）",
)
UNHASHED_FIRST = Text(
    en="paged: freed blocks without a cached content are used next, as in vLLM 0.12 and later",
    ja="paged：内容を残さないブロックを先に再利用する（vLLM 0.12 以降）",
)
WINDOWS = Text(
    en="paged: groups of layers with blocks of their own, such as full,1024,1024 (attention windows in tokens)",
    ja="paged：ブロックを別々に持つレイヤーのグループ。例：full,1024,1024（ウィンドウのトークン数）",
)
STEPS = Text(
    en="print every step, and with --json the events too; a request is in memory up to and in the step that finishes"
    " it",
    ja="ステップごとの行を出力（--json ではイベントも）。リクエストは終了したステップまでメモリに残る",
)
CAPACITY_BLOCKS = Text(en="blocks the cache holds, or inf", ja="キャッシュに入るブロック数。無制限は inf")
ID_TOKENS = Text(
    en="tokens that an id stands for, where the trace does not say (default: 512)",
    ja="1 つの ID が表すトークン数。トレースから分からない場合に使用（既定値：512）",
)
ORDER = Text(
    en="fwd: the beginning of a prompt is dropped first; rev: its end, as engines do (default: fwd)",
    ja="fwd：プロンプトの先頭から捨てます。rev：末尾から捨てる（エンジンと同じ。既定値：fwd）",
)
CACHE = Text(
    en="what is kept: the prompt, or all with the answer (default: prompt)",
    ja="残すもの：prompt はプロンプトだけ、all は出力も含む（既定値：prompt）",
)
NEEDS_MAX_TOKENS = Text(
    en="--max-tokens is needed with --reserve {reserve}: how long a request may become.",
    ja="--reserve {reserve} には --max-tokens（1 リクエストの最大長）が必要です。",
)
NOT_WHOLE = Text(
    en="{flag}: give a whole number from {low} to {high}, not “{shown}”.",
    ja="{flag}：{low}～{high} の整数を指定してください（入力値：「{shown}」）。",
)
NOT_SECONDS = Text(
    en="{flag}: give a number of seconds above 0, not “{shown}”.",
    ja="{flag}：0 より大きい秒数を指定してください（入力値：「{shown}」）。",
)
NOT_WINDOWS = Text(
    en="--windows: give full or a number of tokens for each group, with commas, not “{shown}”.",
    ja="--windows：グループごとに full かトークン数をコンマ区切りで指定してください（入力値：「{shown}」）。",
)

SERVED = Text(
    en="{requests} {requests:request|requests} served in {steps} {steps:step|steps}; up to {peak} at once, {mean} on"
    " average while others waited.",
    ja="{requests} 件を {steps} ステップで処理しました。同時に最大 {peak} 件、待ちがある間は平均 {mean} 件です。",
)
SERVED_AT_ONCE = Text(
    en="{requests} {requests:request|requests} served in {steps} {steps:step|steps}; up to {peak} at once.",
    ja="{requests} 件を {steps} ステップで処理しました。同時に最大 {peak} 件です。",
)
NEVER = Text(
    en="Never admitted, because they do not fit into the empty pool or become longer than what is set aside: {count}"
    " (in"
    " the trace, number {first}).",
    ja="空のプールにも入らないか、確保量より長くなるため、開始できないリクエスト：{count} 件"
    "（トレースの {first} 番目）。",
)
NEVER_PAGED = Text(
    en="Never admitted, because they do not fit into the empty pool: {count} (in the trace, number {first}).",
    ja="空のプールにも入らず、開始できないリクエスト：{count} 件（トレースの {first} 番目）。",
)
NOT_RESUMED = Text(
    en="Given up after a preemption, because with what they had generated they no longer fit into the empty pool beside"
    " the {watermark} {watermark:block|blocks} that must stay free: {count} (in the trace, number {first}).",
    ja="プリエンプション後、生成済みの分を含めると空のプール（常に空けておく {watermark} ブロックを除く）にも"
    "入らなくなり、打ち切ったリクエスト：{count} 件（トレースの {first} 番目）。",
)
NOTHING_TO_DO = Text(
    en="Left out, because they have no prompt or ask for no output: {count}.",
    ja="プロンプトか出力が 0 トークンのため、除外したリクエスト：{count} 件。",
)
NEVER_WAITED = Text(
    en="No request ever had to wait after a step's admissions, so there are no shares: they are measured while some"
    " do.",
    ja="待ちのあるステップがなかったため、割合はありません（割合は待ちがある間に測ります）。",
)
TOKEN = Text(en="tokens", ja="トークン")
RESERVED = Text(en="reserved", ja="予約済み")
INTERNAL = Text(en="internal", ja="内部断片化")
EXTERNAL = Text(en="external", ja="外部断片化")
TOKEN_NOTE = Text(en="written", ja="書き込み済み")
RESERVED_NOTE = Text(en="will still be written", ja="これから書き込まれる")
INTERNAL_NOTE = Text(en="set aside, never written", ja="確保されたが書き込まれない")
EXTERNAL_NOTE = Text(en="free, or lost between requests", ja="空き、または断片化による損失")
PREEMPTIONS = Text(en="preemptions", ja="プリエンプション")
PREEMPTIONS_NOTE = Text(en="{tokens} {tokens:token|tokens} computed again", ja="{tokens} トークンを再計算")
HITS = Text(en="prefix hits", ja="プレフィックスヒット")
HITS_NOTE = Text(
    en="of {tokens} prompt {tokens:token|tokens}; {evictions} {evictions:eviction|evictions}",
    ja="プロンプト {tokens} トークンのうち。追い出し {evictions} 回",
)
RATIOS = {
    "block": Text(en="blocks", ja="ブロック"),
    "full": Text(en="full blocks", ja="満杯のブロック"),
    "token": Text(en="prompt tokens", ja="プロンプトのトークン"),
    "vllm": Text(en="prompt tokens, as vLLM counts", ja="プロンプトのトークン（vLLM の数え方）"),
    "request": Text(en="mean of the requests", ja="リクエストの平均"),
}
EVICTIONS = Text(en="evictions", ja="追い出し")
