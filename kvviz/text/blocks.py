"""Blocks: the race of two ways to give out memory, in words."""

from kvviz.text.base import Text

PAGE = Text("Blocks (PagedAttention)", "ブロック割り当て（PagedAttention）")

# --- settings --------------------------------------------------------------------------------------------------------

LABELS = {
    "view": Text("Compare", "比較"),
    "trace": Text("Requests from", "リクエスト"),
    "first": Text("Number of requests", "リクエスト数"),
    "pool": Text("Pool (slots, one a token)", "プール（スロット = トークン）"),
    "block": Text("Block (slots)", "ブロック（スロット）"),
    "longest": Text("Longest request (tokens)", "最長のリクエスト（トークン）"),
    "reserve": Text("Contiguous memory reserves", "連続領域の確保量"),
    "place": Text("Placed", "配置"),
    "windows": Text("Groups of layers (windows)", "レイヤーのグループ（ウィンドウ）"),
    "seed": Text("Seed", "シード"),
    "prompt": Text("Mean prompt (tokens)", "平均プロンプト（トークン）"),
    "answer": Text("Mean output (tokens)", "平均出力（トークン）"),
}
HELP = {
    "first": Text("So many of the trace, from its beginning.", "トレースの先頭からの件数です。"),
    "pool": Text("Memory for the cache, the same on both sides.", "キャッシュ用のメモリです。左右とも同じ大きさです。"),
    "block": Text(
        "Paged memory is given out in blocks of so many slots. vLLM takes 16 by default.",
        "ページ方式はこの数のスロットを 1 ブロックとして割り当てます。vLLM の既定値は 16 です。",
    ),
    "longest": Text(
        "What contiguous memory sets aside for a request, whatever it will use. Made-up requests are no longer.",
        "連続領域では、実際の使用量にかかわらずこの長さを確保します。生成するリクエストの上限でもあります。",
    ),
    "windows": Text(
        "One entry a group of layers with blocks of its own: full, or the tokens of its attention window.",
        "ブロックを別々に持つグループごとに、full かアテンションウィンドウのトークン数を指定します。",
    ),
    "seed": Text("The same seed makes the same requests.", "同じシードからは同じリクエストができます。"),
}
VIEWS = {
    "race": Text("Contiguous and paged", "連続領域とページ方式"),
    "hybrid": Text("Hybrid: windows", "ハイブリッド：ウィンドウ"),
}
TRACES = {
    "teaching": Text("Teaching set", "教材"),
    "sharegpt": Text("ShareGPT, as in the paper", "ShareGPT（論文相当）"),
    "sharegpt-first-turn": Text("ShareGPT, first turns", "ShareGPT（最初の発話）"),
    "azure-conversation": Text("Azure 2023, conversation", "Azure 2023（会話）"),
    "azure-code": Text("Azure 2023, code", "Azure 2023（コード）"),
    "mooncake-conversation": Text("Mooncake, conversation", "Mooncake（会話）"),
    "mooncake-synthetic": Text("Mooncake, synthetic", "Mooncake（合成）"),
    "generated": Text("Made up from a seed", "シードから生成"),
    "own": Text("My own file", "自分のファイル"),
}
RESERVES = {
    "max": Text("the longest request (Max)", "最長のリクエスト（Max）"),
    "pow2": Text("up to a power of two (Pow2)", "2 のべき乗まで（Pow2）"),
    "oracle": Text("what it will use (Oracle)", "実際の使用量（Oracle）"),
}
PLACES = {
    "firstfit": Text("in the first hole", "先頭の空きに配置"),
    "buddy": Text("in chunks of powers of two (buddy)", "2 のべき乗単位（buddy）"),
}
SETTINGS = Text("Settings: requests, pool, block size, hybrid view", "設定：リクエスト、プール、ブロック、ハイブリッド")
UPLOAD = Text(
    "CSV (prompt_tokens, output_tokens), JSON or JSONL, up to {megabytes} MB",
    "CSV（prompt_tokens、output_tokens）、JSON、JSONL（{megabytes} MB まで）",
)
PLAYED = Text(
    "Playing {name}: {requests} {requests:request|requests}. A file that is not taken changes nothing; of a larger one,"
    " upload a part, or give it to kvviz simulate on your own machine.",
    "{name}（{requests} 件）を再生中です。受け付けられなかったファイルは反映されません。"
    "大きなファイルは一部をアップロードするか、手元で kvviz simulate に渡してください。",
)
NO_FILE = Text(
    "Upload a file of requests under Settings, of at most {megabytes} MB; a link never contains it. Until one is taken"
    " the teaching set is shown.",
    "「設定」から {megabytes} MB までのファイルをアップロードしてください（リンクには含まれません）。"
    "受け付けるまでは教材を表示します。",
)
STANDS_IN = Text("{why} The last usable settings are shown.", "{why}最後に使えた設定で表示しています。")
TAKE_POOL = Text("Take the pool of the Sizing scenario", "サイジングのプールを使う")
SCENARIO_POOL = Text(
    "{model} on {gpus} × {gpu}: {blocks} {blocks:block|blocks} of {block} {block:token|tokens} for requests ({slots}"
    " {slots:slot|slots}), {bytes} each.",
    "{model}、{gpus} × {gpu}：リクエスト用は {block} トークンのブロック {blocks} 個（{slots} スロット）、1 個"
    " {bytes}。",
)
NULL_BLOCK = Text(
    "vLLM's pool has one more, which it keeps empty (null block).",
    "vLLM のプールにはもう 1 個、常に空のブロック（null block）があります。",
)
HEADROOM_OFF = Text(
    "The scenario's headroom, {share} of the pool, is taken off.",
    "シナリオで空けておく分（プールの {share}）は除いています。",
)
SCENARIO_POOL_CUT = Text(
    "Only {blocks} {blocks:block|blocks} can be drawn; the button takes so many.",
    "描画できるのは {blocks} ブロックまでなので、その分を使います。",
)
NO_SCENARIO_POOL = Text(
    "The Sizing scenario has no pool of blocks; choose a GPU and vLLM there.",
    "サイジングのシナリオにブロックのプールがありません。GPU と vLLM を選んでください。",
)

WHOLE = Text(
    "{field}: give a whole number from {low} to {high}, not “{shown}”.",
    "{field}：{low}～{high} の整数を指定してください（入力値：「{shown}」）。",
)
NOT_A_CHOICE = Text(
    "{field}: choose one of {names}, not “{shown}”.",
    "{field}：{names} のいずれかを指定してください（入力値：「{shown}」）。",
)
NOT_GROUPS = Text(
    "Groups of layers: give full or a number of tokens for each, up to eight, with commas, not “{shown}”.",
    "レイヤーのグループ：full かトークン数をコンマ区切りで 8 個まで指定してください（入力値：「{shown}」）。",
)
TOO_MANY_BLOCKS = Text(
    "{blocks} {blocks:block is|blocks are} too many to draw; make the pool smaller or the blocks larger, at most"
    " {most}.",
    "{blocks} ブロックは描画できません。プールを小さくするかブロックを大きくして、{most} 個以下にしてください。",
)
NO_REQUESTS = Text("There are no requests; give at least one.", "リクエストがありません。1 件以上必要です。")

# --- the race --------------------------------------------------------------------------------------------------------

LANES = {
    "contiguous": Text("Contiguous", "連続領域"),
    "paged": Text("Paged", "ページ方式"),
    "ignored": Text("Windows ignored", "ウィンドウ無視"),
    "freed": Text("Windows freed", "ウィンドウ外を解放"),
}
GROUP_FULL = Text("{letter}: full attention", "{letter}：フルアテンション")
GROUP_WINDOW = Text("{letter}: window {tokens}", "{letter}：ウィンドウ {tokens}")
CLIMAX = {
    "race": Text(
        "By step {step}, paged memory has served {right} of {requests} {requests:request|requests}; contiguous"
        " memory\u00a0{left}.",
        "ステップ {step} までに {requests} 件中、ページ方式は {right} 件、連続領域は {left} 件を処理。",
    ),
    "hybrid": Text(
        "By step {step}, {right} of {requests} {requests:request is|requests are} served with blocks freed behind the"
        " windows; without,\u00a0{left}.",
        "ステップ {step} までに {requests} 件中、ウィンドウ外のブロックを解放すると {right} 件、"
        "しないと {left} 件を処理。",
    ),
}
AT_ONCE = Text(
    "No race: there is room for {requests} {requests:request|requests} at once on both sides.",
    "どちらのメモリにも {requests} 件が同時に入るため、差が出ません。",
)
AT_ONCE_TRY = Text(
    "To see a race, choose requests that fill the memory under Settings: ShareGPT, a larger number of them, or a"
    " smaller"
    " pool.",
    "差を見るには、「設定」で ShareGPT などメモリを埋めるリクエストを選ぶか、件数を増やすか、"
    "プールを小さくしてください。",
)
NOBODY = Text(
    "No request can be admitted: each needs more than the memory has, or than is set aside for it.",
    "どのリクエストもメモリか確保量に収まらず、開始できません。",
)
NOTHING_ASKED = Text(
    "Nothing to serve: no request has both a prompt and an output.",
    "プロンプトと出力の両方があるリクエストがなく、処理するものがありません。",
)
WHOSE = Text("{trace}, {requests} {requests:request|requests}.", "{trace}、{requests} 件。")
HOW_RESERVED = {
    "max": Text(
        "Both have {pool} {pool:slot|slots}, one for each token. Contiguous memory sets {longest} aside for every"
        " request, whatever"
        " it will use.",
        "どちらも {pool} スロット（1 スロット = 1 トークン）です。連続領域は、実際の使用量にかかわらず"
        " 1 件ごとに {longest} スロットを確保します。",
    ),
    "pow2": Text(
        "Both have {pool} {pool:slot|slots}, one for each token. Contiguous memory sets aside the output rounded up"
        " to a power of"
        " two, at most {longest} in all.",
        "どちらも {pool} スロット（1 スロット = 1 トークン）です。連続領域は、出力を 2 のべき乗に切り上げて"
        "確保します（合計 {longest} まで）。",
    ),
    "oracle": Text(
        "Both have {pool} {pool:slot|slots}, one for each token. Contiguous memory sets aside what each request will"
        " use, as if"
        " that were known.",
        "どちらも {pool} スロット（1 スロット = 1 トークン）です。連続領域は、"
        "各リクエストの使用量が事前に分かるものとしてその分を確保します。",
    ),
}
HOW_PAGED = Text(
    "Paged memory gives out blocks of {block} as tokens come.",
    "ページ方式は、トークンが増えるたびに {block} スロットのブロックを割り当てます。",
)
HOW_PREEMPTED = Text(
    "Where no block is left, the request admitted last gives up its blocks and waits at the head of the queue; it keeps"
    " the tokens it has generated, and their cache is computed again (preemptions: {times}, the first in step {step}).",
    "ブロックが足りなくなると、最後に開始したリクエストがブロックを手放し、待ち行列の先頭に戻ります。生成済みの"
    "トークンは残り、キャッシュだけを計算し直します（プリエンプション {times} 回、最初はステップ {step}）。",
)
HOW_HYBRID = Text(
    "Groups of layers ({windows}) share a pool of {pool} {pool:slot|slots} in blocks of {block}. On the left every"
    " group keeps"
    " every token; on the right a block that no later token looks back to is free again.",
    "レイヤーのグループ（{windows}）が、{pool} スロット（ブロック {block}）のプールを共有します。"
    "左はどのグループも全トークンを残し、右はウィンドウの外に出たブロックを解放します。",
)
_NEVER = Text(
    "{side}: {count} {count:request|requests} can never be admitted, because more is needed than the memory has.",
    "{side}：{count} 件はメモリに収まらないため、開始できません。",
)
NEVER = {
    "contiguous": Text(
        "{side}: {count} {count:request|requests} can never be admitted, because more is needed than the memory has, or"
        " than is set aside for a request.",
        "{side}：{count} 件はメモリか確保量に収まらないため、開始できません。",
    ),
    "paged": _NEVER,
    "ignored": _NEVER,
    "freed": _NEVER,
}
NOTHING = Text(
    "{count} {count:request|requests} left out: without a prompt or an output there is nothing to serve.",
    "プロンプトか出力が 0 トークンの {count} 件は、処理するものがないため除外しました。",
)
CUT = {
    "steps": Text(
        "The first {steps} {steps:step|steps} are shown: a page plays at most {most} (and {kilobytes} kB of events)."
        " The"
        " figures of the whole trace are under Research.",
        "再生できるのは {most} ステップ（イベント {kilobytes} kB）までのため、最初の {steps} ステップを表示しています。"
        "トレース全体の数値は「調査」にあります。",
    ),
    "bytes": Text(
        "The first {steps} {steps:step|steps} are shown: with them the page has the {kilobytes} kB of events that it"
        " plays at once (or {most} {most:step|steps}, where less happens). The figures of the whole trace are under"
        " Research.",
        "一度に再生できるイベントは {kilobytes} kB（最大 {most} ステップ）までのため、最初の {steps} ステップを"
        "表示しています。トレース全体の数値は「調査」にあります。",
    ),
}
STEP = Text("Step", "ステップ")
STEP_UNTIL = Text("{step} (until {last} only tokens are added)", "{step}（{last} まではトークンが増えるだけ）")
ROWS_LEFT = Text(
    "Steps {first} to {last} are left out here; kvviz simulate --steps prints all.",
    "ステップ {first}～{last} は省略しています。kvviz simulate --steps ですべて出力できます。",
)
ALL_SERVED = Text("Done: {served} served.", "終了。処理済み {served} 件。")
TOLD = Text(
    "{served} served; running: {running}; waiting: {waiting}.",
    "処理済み {served} 件。実行中：{running}。待ち：{waiting}。",
)
TOLD_PREEMPTED = Text("Lost all its blocks: {requests}.", "ブロックをすべて失った：{requests}。")
TOLD_FINISHED = Text("Finishing in this step: {requests}.", "このステップで終了：{requests}。")
TOLD_SHARES = Text(
    "Used {used}, reserved {reserved}, never written {internal}, free or lost {external}.",
    "使用 {used}、予約 {reserved}、無駄 {internal}、空き・断片化 {external}。",
)
NONE = Text("none", "なし")
NAMED = Text("{count:request|requests} {named}", "{count:リクエスト|リクエスト} {named}")
AND_MORE = Text("{named} and {more} more", "{named} ほか {more} 件")

# --- what the player says --------------------------------------------------------------------------------------------

PLAYER = {
    "label": Text("Two memories serve the same requests", "2 つのメモリで同じリクエストを処理"),
    "play": Text("Play", "再生"),
    "pause": Text("Pause", "一時停止"),
    "again": Text("Play again", "もう一度"),
    "back": Text("One step back", "1 ステップ戻る"),
    "forward": Text("One step on", "1 ステップ進む"),
    "scrub": Text("Step", "ステップ"),
    "speed": Text("Steps a second", "速度（ステップ/秒）"),
    "step": Text("Step {step} of {end}", "ステップ {step} / {end}"),
    "served": Text("served", "処理済み"),
    "done": Text("done in step {step}", "ステップ {step} で終了"),
    "running": Text("running {count}", "実行中 {count}"),
    "finishing": Text("running {count} ({finishing} finishing)", "実行中 {count}（うち終了 {finishing}）"),
    "queue": Text("waiting {count}", "待ち {count}"),
    "preemptions": Text("preemptions {count}", "プリエンプション {count}"),
    "lost": Text("preempted: {requests}", "プリエンプション：{requests}"),
    "last": Text("finishing in this step (✓): {requests}", "このステップで終了（✓）：{requests}"),
    "named": NAMED,
    "used": Text("Used", "使用"),
    "reserved": Text("Reserved", "予約"),
    "internal": Text("Never written", "無駄"),
    "external": Text("Free or lost", "空き・断片化"),
    "hole": Text("Largest hole {count}", "最大の空き {count}"),
    "table": Text("Block table of request", "ブロックテーブル：リクエスト"),
    "logical": Text("Logical block", "論理ブロック"),
    "slots": Text("slots {first}–{last}", "スロット {first}～{last}"),
    "physical": Text("block {block}", "ブロック {block}"),
    "filled": Text("{where} ({filled}/{all})", "{where} ({filled}/{all})"),
    "freed": Text("freed", "解放済み"),
    "unreserved": Text("–", "–"),
    "rows": Text("Block table of request {request}", "リクエスト {request} のブロックテーブル"),
    "more": Text(
        "Blocks {first}–{last} of {count} while it plays; all when it rests.",
        "再生中は {count} ブロックのうち {first}～{last} を表示します（停止中はすべて）。",
    ),
    "notrunning": Text(
        "Request {request} is not running in this step.",
        "リクエスト {request} はこのステップでは実行されていません。",
    ),
    "hint": Text(
        "Point at a block, or move over the memory with the arrow keys. ✓: served in this step, gone in the next.",
        "ブロックにカーソルを合わせるか、矢印キーで移動すると内容が表示されます。✓：このステップで終了し、"
        "次で消えます。",
    ),
    "free": Text("Block {block}: free.", "ブロック {block}：空き。"),
    "part": Text(
        "request {request}: {used} used, {reserved} reserved, {internal} never written",
        "リクエスト {request}：使用 {used}、予約 {reserved}、無駄 {internal}",
    ),
    "cell": Text("Block {block}: {parts}.", "ブロック {block}：{parts}。"),
    "of": Text("{part} (logical block {logical}{group})", "{part}（論理ブロック {logical}{group}）"),
    "separator": Text("; ", "、"),
    "now": Text(
        "{step}. {left}: {left_served} served, {left_running} running, {left_used} used. {right}: {right_served}"
        " served, {right_running} running, {right_used} used.",
        "{step}。{left}：処理済み {left_served} 件、実行中 {left_running} 件、使用 {left_used}。{right}：処理済み"
        " {right_served} 件、実行中 {right_running} 件、使用 {right_used}。",
    ),
    "calm": Text("Reduced motion: one step a second.", "動きを減らす設定のため、1 秒に 1 ステップです。"),
    "memory": Text("{side}: memory in {step}", "{side}：{step} のメモリ"),
}

SHARE = Text("Share", "共有")
LINK = Text(
    "Opens exactly this race at this step; a file of your own is never in it.",
    "このレースがこのステップで開きます。アップロードしたファイルは含まれません。",
)

# --- research --------------------------------------------------------------------------------------------------------

RESEARCH = Text("Research: the whole trace", "調査：トレース全体")
RESEARCH_INTRO = Text(
    "{requests} {requests:request|requests} ({tokens} {tokens:token|tokens}), all waiting from the start, on one memory"
    " after another: the pool of {pool} {pool:slot|slots}, other block sizes, other pools; contiguous memory placed"
    " as in"
    " the race, {place}. Takes some seconds.",
    "全件が最初から待つ {requests} 件（{tokens} トークン）を、{pool} スロットのプール、別のブロックサイズ、"
    "別のプールで順に処理します（連続領域の配置は上のレースと同じ「{place}」）。数秒かかります。",
)
RESEARCH_PART = Text(
    "The first {requests} of {of}: what one visitor may have simulated; kvviz simulate has no such limit.",
    "{of} 件のうち先頭の {requests} 件です（1 回に計算できる上限）。kvviz simulate にはこの上限がありません。",
)
PAPER_BATCHES = Text(
    "The PagedAttention paper claims {low}–{high} times the throughput at the same latency, not so many times the"
    " requests. Requests in a batch on average, in its Fig. 13a (OPT-13B, ShareGPT): vLLM {vllm}, Orca (Oracle) "
    "{oracle},"
    " Orca (Pow2) {pow2}, Orca (Max) {max}.",
    "PagedAttention 論文の主張は、リクエスト数ではなく、同じレイテンシでのスループットが {low}～{high} "
    "倍ということです。"
    "平均バッチのリクエスト数（図 13a、OPT-13B、ShareGPT）は、vLLM {vllm}、Orca (Oracle) {oracle}、"
    "Orca (Pow2) {pow2}、Orca (Max) {max} です。",
)
RUN = Text("Simulate", "シミュレーション")
CANCEL = Text("Cancel", "中止")
WORKING = Text("{percent} done", "{percent} 完了")
PLACED = {"firstfit": Text("first hole", "先頭の空き"), "buddy": Text("buddy", "buddy")}
SYSTEM_PLACED = Text("{system} ({place})", "{system}（{place}）")
SYSTEMS = {
    "max": Text("Contiguous, Max", "連続領域 Max"),
    "pow2": Text("Contiguous, Pow2", "連続領域 Pow2"),
    "oracle": Text("Contiguous, Oracle", "連続領域 Oracle"),
    "paged": Text("Paged", "ページ方式"),
}
SHARES = {
    "token": Text("used", "使用"),
    "reserved": Text("reserved", "予約"),
    "internal": Text("never written", "無駄"),
    "external": Text("free or lost", "空き・断片化"),
}
SHARES_TITLE = Text("Where the memory goes, while requests wait", "待ちがある間のメモリの内訳")
PAPER = Text("used, in the paper", "使用（論文）")
PAPER_CAPTION = Text(
    "◆: the share used in Fig. 2 of the PagedAttention paper (SOSP'23): Orca (Max) 20.4%, Orca (Pow2) 26.8%, Orca"
    " (Oracle) 38.2%, vLLM 96.3%. Pow2 is known to differ here: about 5 points more of the memory"
    " is free or lost than in the paper.",
    "◆ は PagedAttention 論文（SOSP'23）の図 2 にある使用率です：Orca (Max) 20.4%、Orca (Pow2) 26.8%、"
    "Orca (Oracle) 38.2%、vLLM 96.3%。Pow2 だけは差があり、ここでは空き・断片化が論文より約 5 ポイント多くなります。",
)
PAPER_ELSEWHERE = Text(
    "The paper's Fig. 2 is about ShareGPT in buddy chunks; choose that trace with its own settings to compare.",
    "論文の図 2 は ShareGPT、buddy 配置のものです。比べるには、そのトレースを付属の設定のまま選んでください。",
)
RUNNING_TITLE = Text("Requests in memory over time", "メモリ内のリクエスト数の推移")
STEPS_AXIS = Text("Step", "ステップ")
BLOCKS_TITLE = Text("Block size: memory used, and its price", "ブロックサイズ：使用率とその代償")
BLOCK_AXIS = Text("Tokens per block", "ブロックあたりのトークン数")
USED_LINE = Text("memory used (left)", "使用率（左）")
ENTRIES_LINE = Text("block table entries of a request (right)", "1 件のブロックテーブルの項目数（右）")
BLOCKS_CAPTION = Text(
    "Small blocks waste less, but a block table of {small} {small:token|tokens} a block has {entries}"
    " {entries:entry|entries} a request, which every attention kernel reads; large blocks also find less of a shared"
    " beginning, because hits come in whole blocks.",
    "小さなブロックほど無駄は減りますが、{small} トークンのブロックではテーブルが 1 件あたり {entries} 項目になり、"
    "アテンションのカーネルが毎回読みます。大きなブロックでは、ヒットがブロック単位のため、共有できる部分も減ります。",
)
NOT_MEASURED = Text(
    "No share for {sizes}: no request had to wait, and it is measured while some do.",
    "{sizes} では待ったリクエストがなく、使用率がありません（待ちがある間に測ります）。",
)
POOLS_TITLE = Text("Requests in memory against pool size", "プールの大きさとメモリ内のリクエスト数")
POOL_AXIS = Text("Slots of the pool", "プールのスロット数")
SYSTEM = Text("System", "方式")
MEAN_RUNNING = Text("Requests in memory", "メモリ内のリクエスト数")
PREEMPTIONS = Text("Preemptions", "プリエンプション")
STEPS = Text("Steps", "ステップ数")
PAPER_COLUMN = Text("Paper, used", "論文の使用率")
ENTRIES = Text("Table entries a request", "1 件のテーブル項目数")
AGAIN = Text("Shared tokens computed again", "再計算する共有トークン")
USED_COLUMN = Text("Used", "使用率")
SHARES_ALT = Text("Memory used while requests wait: {parts}.", "待ちがある間のメモリの使用率：{parts}。")
RUNNING_ALT = Text("Requests in memory, on average: {parts}.", "メモリ内のリクエスト数の平均：{parts}。")
BLOCKS_ALT = Text("Memory used by block size: {parts}.", "ブロックサイズごとの使用率：{parts}。")
POOLS_ALT = Text(
    "Requests in memory by pool, contiguous and paged: {parts}.",
    "プールごとのリクエスト数（連続領域、ページ方式）：{parts}。",
)
PART = Text("{name} {value}", "{name} {value}")
