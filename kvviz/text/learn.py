"""The Learn page. Every number is a placeholder that ``kvviz.learn.facts`` fills."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

GROUP = Text("Learn", "学ぶ")
PAGE = Text("Learn", "学ぶ")
TITLE = Text("What a KV cache is, and what it costs", "KV キャッシュのしくみとメモリ")
CONTENTS = Text("On this page: {links}", "目次：{links}")
PAGES: Final[Mapping[str, Text]] = {
    "": Text("Sizing", "サイジング"),
    "review": Text("Where the number comes from", "その数値の出どころ"),
    "blocks": Text("Blocks", "ブロック割り当て"),
    "prefixes": Text("Shared prefixes", "プレフィックス共有"),
    "live": Text("Measured live", "実測"),
    "heads": Text("Shared heads", "ヘッド共有"),
    "compare": Text("Compare", "比較"),
}
"""What a link to a scenario says, by the page it opens."""

HEADINGS: Final[Mapping[str, Text]] = {
    "seconds": Text("In 30 seconds", "30 秒でわかる要点"),
    "notebook": Text("The notebook", "ノートのたとえ"),
    "why": Text("Why a cache, and why the past can be kept", "なぜキャッシュするのか、なぜ過去を残せるのか"),
    "formula": Text("The formula and its trap", "計算式と落とし穴"),
    "peak": Text("Peak and users", "ピークとユーザー数"),
    "levers": Text("What makes it smaller", "小さくする方法"),
    "misconceptions": Text("Misconceptions", "よくある誤解"),
    "where": Text("Where it matters, and where it does not", "重要になる場面、ならない場面"),
    "faq": Text("Questions people ask", "よくある質問"),
    "timeline": Text("Timeline", "年表"),
    "glossary": Text("Glossary", "用語集"),
    "sources": Text("Sources", "出典"),
}
"""By anchor, in the page's order."""
SHORT_HEADINGS: Final[Mapping[str, Text]] = {
    "seconds": Text("30 seconds", "30 秒で要点"),
    "notebook": Text("Notebook", "ノート"),
    "why": Text("Why a cache", "なぜキャッシュ"),
    "formula": Text("Formula", "計算式"),
    "peak": Text("Peak", "ピーク"),
    "levers": Text("Levers", "小さくする方法"),
    "misconceptions": Text("Misconceptions", "誤解"),
    "where": Text("Where it matters", "重要な場面"),
    "faq": Text("Questions", "質問"),
    "timeline": Text("Timeline", "年表"),
    "glossary": Text("Glossary", "用語集"),
    "sources": Text("Sources", "出典"),
}

# --- in 30 seconds ---------------------------------------------------------------------------------------------------

WHAT = Text(
    "**What it is.** A language model writes one token at a time. The KV cache keeps the keys and values of all tokens "
    "already processed, so that a new token costs the work of one token, not of the whole text again.",
    "**何か。** 言語モデルは 1 トークンずつ文を生成します。KV キャッシュは処理済みのトークンの K と V "
    "を保存しておく領域です。新しいトークンの計算は 1 トークン分で済み、全文をやり直す必要がありません。",
)
WITHOUT_IT = Text(
    "**Without it** every step repeats all earlier work: {short_without} token computations instead of {short_with} "
    "for {short} tokens, {long_without} instead of {long_with} for {long}.",
    "**なければ**、ステップごとにそれまでの計算を繰り返します。トークンの計算回数は、"
    "{short} トークンなら {short_with} 回が {short_without} 回に、"
    "{long} トークンなら {long_with} 回が {long_without} 回になります。",
)
GROWS_WITH = Text(
    "**It takes memory**, and grows with layers, KV heads, head size, bytes per value, context length and requests in "
    "flight. In {model}: {per_token} a token, {one_gib} for {tokens} tokens, {all_gib} for {requests} such requests.",
    "**メモリを使います。** レイヤー数、KV ヘッド数、ヘッドの次元、値 1 個のバイト数、コンテキスト長、"
    "同時リクエスト数に応じて増えます。{model} では 1 トークン {per_token}、{tokens} トークンで {one_gib}、"
    "それが {requests} 件で {all_gib} です。",
)
CAN_EXCEED = Text(
    "**It can exceed the weights**: here from {crossover} such requests on (weights {weights}).",
    "**重みを超えることもあります。** この例では {crossover} 件から重み（{weights}）を上回ります。",
)
FOUR_LEVERS = Text(
    "**Four levers of two kinds.** Fewer bytes: KV heads that are shared, or a latent (GQA, MLA); a smaller cache type "
    "(KV quantisation); a capped context is the blunt form. Less waste: paging, and shared prefixes.",
    "**小さくする手段は 2 種類、4 つです。** バイト数を減らす：KV ヘッドの共有や潜在ベクトル（GQA、MLA）、"
    "キャッシュの量子化（コンテキスト長の制限も同じ種類です）。無駄を減らす：ページング、プレフィックスの共有。",
)

# --- the notebook ----------------------------------------------------------------------------------------------------

NOTEBOOK = Text(
    "You read a long book, and after each page you are asked for one more sentence that follows from all of it. "
    "Without notes you would reread the book from page one each time. So you write notes on each word once, and look "
    "them up.",
    "長い本を読みながら、1 ページごとに「ここまでを踏まえた次の一文」を求められるとします。メモがなければ、"
    "そのたびに最初から読み直すことになります。そこで、単語ごとのメモを一度だけノートに書き、以後はそれを見返します。",
)
NOTEBOOK_IS = Text(
    "The notes are the keys and values, the notebook is the KV cache. It saves the rereading; in return it grows by a "
    "line with every word, and everyone you serve at the same time needs a notebook of their own.",
    "メモが K と V、ノートが KV キャッシュです。読み直しが不要になる代わりに、ノートは 1 単語ごとに 1 行増え、"
    "同時に応対する人数分のノートが必要になります。",
)

# --- why -------------------------------------------------------------------------------------------------------------

CAUSAL = Text(
    "**Why the past can be kept.** In these models a token looks only back, never ahead (causality). Nothing that "
    "comes later changes what was worked out for it, so its key and value stay valid.",
    "**過去を残せる理由。** これらのモデルでは、トークンは自分より前のトークンだけを参照し、"
    "後のトークンは参照しません（因果性）。後から何が続いても計算結果は変わらないため、"
    "K と V はそのまま使い続けられます。",
)
QUERIES = Text(
    "**Why not the query too?** A token's query is what it asks the earlier tokens, and each query is used once, in "
    "the token's own step. Keys and values are read again in every later step.",
    "**クエリを残さない理由。** クエリは、そのトークンが前のトークンに問い合わせるためのもので、"
    "自身のステップで 1 回だけ使われます。K と V は以後のすべてのステップで読まれます。",
)
STEP = Text("Step", "ステップ")
STEP_TITLE = Text("Recompute all, or reuse: {tokens} tokens, step by step", "毎回計算と再利用：{tokens} トークンの場合")
STEP_SAID = Text(
    "After step {step}: **{without} against {cached}** token computations. In this step recomputing takes "
    "{recomputed}; reusing takes {computed} and looks up {looked_up}.",
    "ステップ {step} までのトークンの計算は **{without} 回と {cached} 回** です。このステップでは、"
    "毎回計算すると {recomputed} 回、再利用なら {computed} 回で、{looked_up} 個は読み出すだけです。",
)
RECOMPUTE = Text("Recompute all", "毎回すべて計算")
REUSE = Text("Reuse", "再利用")
COMPUTED = Text("computed", "計算")
LOOKED_UP = Text("looked up", "読み出し")
PANEL_COUNT = Text("{count} computed", "計算 {count} 回")
STEPS_ALT = Text(
    "{tokens} tokens after step {step}: recomputing all takes {without} token computations, reusing {cached}.",
    "{tokens} トークンのステップ {step} まで：毎回計算すると {without} 回、再利用なら {cached} 回。",
)
COLUMN_STEP = Text("Step", "ステップ")
COLUMN_RECOMPUTED = Text("Recompute all", "毎回すべて計算")
COLUMN_RECOMPUTED_SUM = Text("so far", "ここまで")
COLUMN_COMPUTED = Text("Reuse", "再利用")
COLUMN_COMPUTED_SUM = Text("so far (reuse)", "ここまで（再利用）")
COLUMN_LOOKED_UP = Text("Looked up", "読み出し")

COUNTS_TITLE = Text("Counted exactly", "正確な比較")
COUNTED = Text("Counted", "数えるもの")
WITHOUT = Text("Without a cache", "キャッシュなし")
WITH = Text("With a cache", "キャッシュあり")
TOKEN_COMPUTATIONS = Text("Token computations", "トークンの計算")
COUNTED_READS = Text("Keys read by attention", "アテンションが読む K")
FOR_TOKENS = Text("{what}, {tokens} tokens", "{what}、{tokens} トークン")
IN_GENERAL = Text("{what}, n tokens", "{what}、n トークン")
COUNTS_NOTE = Text(
    "Without a cache the total grows with n², with one it grows with n. Attention itself still reads every earlier key "
    "in each step. A kernel that skips the masked half reads {long_reads_causal} keys (about n³/6) instead of "
    "{long_reads_without}.",
    "合計は、キャッシュなしでは n² に、ありでは n に比例します。"
    "アテンションはキャッシュがあっても毎ステップ過去の K をすべて読みます。マスクされる半分を省くカーネルなら、"
    "{long_reads_without} ではなく {long_reads_causal}（約 n³/6）です。",
)
CHART = Text("Token computations by tokens generated", "生成トークン数とトークンの計算回数")
CHART_AXIS = Text("Tokens generated", "生成トークン数")
CHART_ALT = Text(
    "Token computations by tokens generated: at {tokens} tokens {without} without a cache, a curve that bends upwards, "
    "and {cached} with one, a straight line near zero.",
    "生成トークン数とトークンの計算回数。{tokens} トークンで、キャッシュなしは {without} 回（上に曲がる曲線）、"
    "ありは {cached} 回（ゼロに近い直線）。",
)
CHART_LABEL = Text("{name}: {count}", "{name}：{count}")
COLUMN_TOKENS = Text("Tokens", "トークン")
QUOTED = Text(
    "**And in seconds?** An experiment that is quoted again and again: {long} tokens with Transformers took "
    "{quoted_with} s with the cache and {quoted_without} s without, {quoted_times}× (quoted; its conditions are not "
    "stated).",
    "**時間では？** よく引用される Transformers の実験では、{long} トークンの生成がキャッシュありで {quoted_with} 秒、"
    "なしで {quoted_without} 秒、{quoted_times} 倍の差でした（引用値、条件の記載なし）。",
)
WHY_ONLY = Text(
    "**Why only {quoted_times}×, with {fewer} times fewer token computations?** Recomputing handles all tokens of a "
    "step in parallel, for one reading of the weights. With a cache each step computes one token and still waits for "
    "memory to deliver the same weights.",
    "**トークンの計算が約 {fewer} 分の 1 なのに、なぜ {quoted_times} 倍なのか。** 毎回計算する場合は、"
    "重みを 1 回読むだけで全トークンを並列に計算できます。キャッシュがあると計算は 1 トークンだけですが、"
    "同じ重みがメモリから届くのを待ちます。",
)

# --- the formula -----------------------------------------------------------------------------------------------------

FORMULA = Text(
    "bytes per token = 2 (K and V) × layers × KV heads × head size × bytes per value",
    "1 トークンのバイト数 = 2（K と V）× レイヤー数 × KV ヘッド数 × ヘッドの次元 × 値 1 個のバイト数",
)
FORMULA_TOTAL = Text(
    "total = bytes per token × context length (input + output) × requests at the same time",
    "合計 = 1 トークンのバイト数 × コンテキスト長（入力 + 出力）× 同時リクエスト数",
)
WORKED = Text(
    "Worked example, {model}: {layers} layers, {kv_heads} KV heads, head size {head_dim}, 16-bit values (FP16 or "
    "BF16).",
    "計算例（{model}）：{layers} レイヤー、KV ヘッド {kv_heads} 個、ヘッドの次元 {head_dim}、"
    "16 ビットの値（FP16 または BF16）。",
)
WHAT_COLUMN = Text("What", "内容")
DECIMAL = Text("GB (10⁹)", "GB（10⁹）")
BINARY = Text("GiB (2³⁰)", "GiB（2³⁰）")
ONE_REQUEST = Text("1 request of {tokens} tokens", "{tokens} トークンのリクエスト 1 件")
SIXTEEN_REQUESTS = Text("{sixteen} at the same time", "同時に {sixteen} 件")
ALL_REQUESTS = Text("{requests} at the same time", "同時に {requests} 件")
ALL_LONG = Text("{requests} of {long_tokens} tokens", "{long_tokens} トークンのリクエスト {requests} 件")
ROUND_WEIGHTS = Text("Weights of a 30B model in FP8", "30B モデルの FP8 の重み")
BOTH_UNITS = Text(
    "Sources mostly write decimal GB; kvviz shows GiB everywhere else, in which this example comes out round. "
    "{requests} requests take more than the weights of a 30B model in FP8.",
    "資料の多くは十進の GB で書かれています。kvviz はほかの画面では GiB を使います（この例では切りのよい値です）。"
    "{requests} 件分は、30B モデルの FP8 の重みより大きくなります。",
)
NO_LONGER = Text(
    "That no single GPU holds {all_long_gb} of cache is no longer true: one {b300} holds it beside {b300_weights} of "
    "weights ({b300_fit} such requests).",
    "キャッシュ {all_long_gb} は 1 基の GPU に収まらない、というのは過去の話です。"
    "{b300} なら {b300_weights} の重みと合わせて 1 基に収まります（同時に {b300_fit} 件）。",
)
FIELDS = Text(
    "**Where to find the numbers.** In the model's config.json: `num_hidden_layers`, `num_key_value_heads`, `head_dim`."
    " The bytes per value come from the engine's KV cache type setting, not from the type of the weights.",
    "**数値の出どころ。** モデルの config.json の `num_hidden_layers`、`num_key_value_heads`、`head_dim` です。"
    "値 1 個のバイト数は重みの型ではなく、エンジンの KV キャッシュの型の設定で決まります。",
)
TRAP = Text(
    "**The trap: hidden size ÷ heads.** Use it only where there is no `head_dim`. {model} has {hidden} ÷ {query_heads} "
    "= {quotient}, but its `head_dim` is {head_dim}: the quotient makes the cache {too_small}× too small. The two "
    "differ in {differ} of the {models} bundled configs.",
    "**落とし穴：隠れ層の次元 ÷ ヘッド数。** `head_dim` がない場合にだけ使う式です。"
    "{model} では {hidden} ÷ {query_heads} = {quotient} ですが、`head_dim` は {head_dim} なので、"
    "商を使うとキャッシュは正しい値の 1/{too_small} になります。"
    "同梱の config {models} 件のうち {differ} 件で両者が異なります。",
)
PROPORTIONAL = Text(
    "**Not everything is proportional.** The formula holds for layers of full attention. Windows stop growing, chunks "
    "begin anew, and states never grow: {bounded} of the {models} bundled configs have such layers "
    "({windows_or_states} windows or states). {window_model} takes {window_short} at {window_short_tokens} tokens and "
    "{window_long} at {window_long_tokens}: {window_length_times} times the length, {window_times} times the cache.",
    "**すべてが比例するわけではありません。** この式が成り立つのはフルアテンションのレイヤーです。"
    "ウィンドウは途中で増えなくなり、チャンクは区切りごとに始め直し、状態の大きさは一定です。"
    "同梱の config {models} 件のうち {bounded} 件にそうしたレイヤーがあります"
    "（ウィンドウまたは状態は {windows_or_states} 件）。"
    "{window_model} は {window_short_tokens} トークンで {window_short}、"
    "{window_long_tokens} トークンで {window_long} です（長さ {window_length_times} 倍、キャッシュ {window_times} 倍）"
    "。",
)

# --- peak and users --------------------------------------------------------------------------------------------------

SUM = Text(
    "**Length is input plus output.** A request of {input} input and {output} output tokens is {tokens} tokens long at "
    "its end. Size for the longest request.",
    "**長さは入力と出力の和です。** 入力 {input}、出力 {output} トークンのリクエストは、"
    "最後には {tokens} トークンになります。最長のリクエストで見積もります。",
)
PEAK = Text(
    "**Size for the peak, not the average.** A request holds its cache until it ends. Three exceptions: blocks behind "
    "a window are freed while it runs, preemption frees early, and a prefix cache keeps blocks after the end.",
    "**平均ではなくピークで見積もります。** キャッシュはリクエストが終わるまで保持されます。例外は 3 つです。"
    "ウィンドウの外に出たブロックは実行中に解放され、プリエンプションは途中で解放し、"
    "プレフィックスキャッシュは終了後もブロックを残します。",
)
USERS = Text(
    "**Users are not requests in flight.** users × answer seconds ÷ (answer + reading seconds): {users_formula} = "
    "{users_requests} requests in flight on average.",
    "**ユーザー数と同時リクエスト数は別物です。** ユーザー数 × 回答の秒数 ÷（回答 + 読む時間の秒数）："
    "{users_formula} = 平均 {users_requests} 件です。",
)
RAG = Text(
    "**Retrieval (RAG) multiplies the input.** With {passages} passages of {passage_tokens} tokens, {input} input "
    "tokens become {rag_input}, and {rag_fit} requests fit instead of {fit}. A sizing done before RAG does not hold "
    "after it.",
    "**検索（RAG）は入力を何倍にもします。** {passage_tokens} トークンの文書を {passages} 件加えると、"
    "入力 {input} トークンが {rag_input} に、収まる件数が {fit} 件から {rag_fit} 件になります。"
    "RAG を入れる前の見積もりは、入れた後には成り立ちません。",
)
RESERVED = Text(
    "**What nvidia-smi shows is not the need.** vLLM takes {engine_share} of an {gpu} at start: its memory fraction "
    "{memory_fraction} of the {seen} that programs see (of {card} in all, {hidden_part} are the driver's). {pool} of "
    "that is the pool for caches, however few requests run.",
    "**nvidia-smi の表示は必要量ではありません。** {gpu} の {card} からドライバーの {hidden_part} を除いた {seen} "
    "がプログラムから見え、"
    "vLLM はメモリ使用率 {memory_fraction} の {engine_share} を起動時に確保します。"
    "重みなどを引いた {pool} がキャッシュ用のプールで、リクエストが少なくても変わりません。",
)
CROSSOVER = Text(
    "**From some load on the cache is the larger part**: {crossover} requests of {tokens} tokens take more than the "
    "{weights} of weights.",
    "**ある負荷からはキャッシュのほうが大きくなります。** {tokens} トークンのリクエスト {crossover} 件で、"
    "重みの {weights} を超えます。",
)
FLOOR = Text(
    "**Fitting is not speed.** Each decode step reads the weights and every resident cache once, so there is a floor. "
    "{floor}",
    "**収まることと速さは別です。** デコードの各ステップは、重みと保持中の全キャッシュを 1 回ずつ読むため、"
    "時間に下限があります。{floor}",
)

# --- levers ----------------------------------------------------------------------------------------------------------

PRICE = Text("Price: {price}", "代償：{price}")
KINDS: Final[Mapping[str, Text]] = {
    "heads": Text("Fewer bytes", "バイト数を減らす"),
    "blocks": Text("Less waste", "無駄を減らす"),
}
"""What begins with which lever."""
LEVERS: Final[Mapping[str, tuple[Text, Text, Text]]] = {
    "heads": (
        Text("Shared KV heads: MHA, GQA, MQA", "KV ヘッドの共有：MHA、GQA、MQA"),
        Text(
            "{mha} a token with {query_heads} KV heads (MHA), {per_token} with {kv_heads} (GQA, 1/{share}), {mqa} with "
            "1 (MQA). Bundled models go down to 1/{deepest_share} with GQA.",
            "1 トークンあたり、KV ヘッド {query_heads} 個（MHA）で {mha}、{kv_heads} 個（GQA、1/{share}）"
            "で {per_token}、1 個（MQA）で {mqa} です。同梱モデルの GQA には 1/{deepest_share} のものもあります。",
        ),
        Text(
            "Part of the architecture: fixed before training, changed only by further training, never by the engine. "
            "Reported: almost no loss of quality with GQA, a slight one with MQA.",
            "アーキテクチャの一部で、学習の前に決まります。変えるには追加学習が必要で、"
            "推論エンジンの設定では変えられません。"
            "GQA の品質低下はほぼなく、MQA はわずかにあると報告されています。",
        ),
    ),
    "latent": (
        Text("A latent instead of heads: MLA", "ヘッドの代わりに潜在ベクトル：MLA"),
        Text("{latent_model}: {latent_bytes} B a token.", "{latent_model} は 1 トークン {latent_bytes} B です。"),
        Text(
            "Part of the architecture, fixed before training; on several GPUs a latent is copied, not split.",
            "アーキテクチャの一部で、学習の前に決まります。複数の GPU では潜在ベクトルは分割されず、複製されます。",
        ),
    ),
    "fp8": (
        Text("A smaller cache type: KV quantisation", "キャッシュの型を小さく：KV キャッシュの量子化"),
        Text(
            "FP8 instead of 16 bits: {one_gib} → {fp8_one} a request, {fit} → {fp8_fit} at once. INT8 and INT4 go "
            "further, less their scales.",
            "16 ビットから FP8 で、1 件 {one_gib} → {fp8_one}、同時 {fit} → {fp8_fit} 件です。"
            "INT8 や INT4 もあります（スケールの分は増えます）。",
        ),
        Text(
            "Long texts may lose quality. Test with your own.",
            "長文で品質が下がることがあります。自分のデータで確かめてください。",
        ),
    ),
    "cap": (
        Text("A capped context", "コンテキスト長の制限"),
        Text(
            "At most {cap_tokens} instead of {tokens} tokens: {one_gib} → {cap_one} a request, {fit} → {cap_fit} at "
            "once (linear).",
            "最長 {tokens} → {cap_tokens} トークンで、1 件 {one_gib} → {cap_one}、同時 {fit} → {cap_fit} 件です（比例）"
            "。",
        ),
        Text("RAG can pack fewer passages into a prompt.", "RAG でプロンプトに入れられる文書が減ります。"),
    ),
    "blocks": (
        Text("Paging: PagedAttention", "ページング：PagedAttention"),
        Text(
            "Blocks of {block} tokens on demand instead of the maximum length set aside for each request. The paper: "
            "{paper_low}–{paper_high}× the throughput at the same latency; mean batch {paper_vllm} against "
            "{paper_oracle} / {paper_pow2} / {paper_max}.",
            "リクエストごとに最大長を確保せず、必要なときに {block} トークンのブロックを割り当てます。論文の値："
            "同じレイテンシで {paper_low}～{paper_high} 倍のスループット、"
            "平均バッチ {paper_vllm} 件（比較対象は {paper_oracle} / {paper_pow2} / {paper_max} 件）。",
        ),
        Text(
            "A block table to look up. Often told as 2–4 times the requests: the paper claims throughput.",
            "ブロックテーブルの参照が必要です。「リクエスト数が 2～4 倍」とも言われますが、"
            "論文の主張はスループットです。",
        ),
    ),
    "prefixes": (
        Text("Shared prefixes: prefix caching", "プレフィックスの共有：プレフィックスキャッシュ"),
        Text(
            "Requests with the same beginning share its blocks: system prompts, RAG over one document.",
            "先頭が同じリクエストは、その部分のブロックを共有します。システムプロンプトや同じ文書への RAG で有効です。",
        ),
        Text(
            "An exact match from the first token, in whole blocks: a date or name at the head defeats it, after the "
            "system prompt it does not; less than a block saves nothing.",
            "先頭のトークンからの完全一致がブロック単位で必要です。日付や名前が先頭にあると効かず、"
            "システムプロンプトの後なら効きます。1 ブロックに満たない共通部分では節約になりません。",
        ),
    ),
}
"""By scene: what it is called, what it does here, what it costs."""
WEIGHTS_LEVER = Text(
    "Quantising the **weights** is none of these: it changes the cache by {weights_change} bytes. With INT4 weights a "
    "request still takes {one_gib}; the room grows, {fit} → {int4_fit} at once.",
    "**重み**の量子化はここに含まれません。キャッシュの変化は {weights_change} バイトだからです。"
    "重みを INT4 にしても 1 件 {one_gib} のままで、空きが増えて同時 {fit} → {int4_fit} 件になります。",
)
SNIPPET = Text(
    "**The cache in 4 bits, in Transformers** (with the package optimum-quanto). "
    "`BitsAndBytesConfig(load_in_8bit=True)` is often shown for this, and is wrong: it quantises the weights.",
    "**Transformers でキャッシュを 4 ビットにする方法**（optimum-quanto が必要）。"
    "`BitsAndBytesConfig(load_in_8bit=True)` で説明されることがありますが誤りで、量子化されるのは重みです。",
)

# --- misconceptions --------------------------------------------------------------------------------------------------

MISCONCEPTIONS: Final[tuple[tuple[Text, Text, tuple[str, ...]], ...]] = (
    (
        Text("“8-bit weights make the cache smaller.”", "「重みを 8 ビットにするとキャッシュも小さくなる」"),
        Text(
            "Not by one byte: the two settings are independent. What changes is the room. Often little: on 2 × H200, "
            "{roomy_fit} → {roomy_fp8_fit} requests of {tokens} tokens (+{roomy_more}). Sometimes everything: on 1 × "
            "H100, {tight_fit} → {tight_fp8_fit}, because {tight_weights} of BF16 weights leave {tight_pool} for the "
            "cache, and FP8 weights {tight_fp8_pool}.",
            "1 バイトも変わりません。2 つは独立した設定です。変わるのは空きメモリです。わずかなことが多く、"
            "H200 2 基では {tokens} トークンのリクエストが {roomy_fit} → {roomy_fp8_fit} 件（+{roomy_more}）です。"
            "H100 1 基では、キャッシュに残る量が BF16 の重み {tight_weights} で {tight_pool}、"
            "FP8 の重みで {tight_fp8_pool} なので、{tight_fit} → {tight_fp8_fit} 件と大きく変わります。",
        ),
        ("roomy-fp8", "full-card-fp8"),
    ),
    (
        Text("“The KV cache saves GPU memory.”", "「KV キャッシュは GPU メモリを節約する」"),
        Text(
            "It saves computation and costs memory: {one_gib} for one request of {tokens} tokens here.",
            "節約するのは計算で、メモリは余分に使います。ここでは {tokens} トークンのリクエスト 1 件で {one_gib} です。"
            "",
        ),
        ("worked",),
    ),
    (
        Text(
            "“Llama 3 70B at 32K takes {claim_low}–{claim_high} GB per request.”",
            "「Llama 3 70B は 32K で 1 件 {claim_low}～{claim_high} GB」",
        ),
        Text(
            "With its {llama_heads} KV heads in FP16 it is {llama_per_token} B a token: {llama_round_gib} at "
            "{llama_round_tokens} tokens, {llama_gib} ({llama_gb}) at {llama_tokens}. The claim comes out with FP32 "
            "({llama_fp32_gb}), or as MHA at {llama_mha_short_tokens} to {llama_mha_long_tokens} tokens "
            "({llama_mha_short_gb} to {llama_mha_long_gb}). And Llama 3 70B stops at {llama_3_context} tokens; 3.1 "
            "reaches {llama_31_context}.",
            "KV ヘッド {llama_heads} 個の FP16 では 1 トークン {llama_per_token} B で、"
            "{llama_round_tokens} トークンで {llama_round_gib}、{llama_tokens} トークンで {llama_gib}（{llama_gb}）"
            "です。FP32（{llama_fp32_gb}）や、MHA として計算した {llama_mha_short_tokens}～{llama_mha_long_tokens} "
            "トークン（{llama_mha_short_gb}～{llama_mha_long_gb}）なら、その数値になります。"
            "なお Llama 3 70B は {llama_3_context} トークンまでで、{llama_31_context} まで扱えるのは 3.1 です。",
        ),
        ("claim",),
    ),
    (
        Text(
            "“{claim_tokens} tokens: {claim_with} s with the cache, over a minute without.”",
            "「{claim_tokens} トークンの生成が、キャッシュありで {claim_with} 秒、なしで 1 分以上」",
        ),
        Text(
            "More than {claim_times}× does not go with the {quoted_times}× quoted for {long} tokens. That figure is a "
            "quoted one too: its conditions are not given. Measure your own.",
            "{claim_times} 倍以上という差は、{long} トークンで {quoted_times} 倍という引用値と合いません。"
            "その値も条件の記載がない引用値です。自分の環境で測ってください。",
        ),
        ("live",),
    ),
    (
        Text("“The KV cache is a new technique.”", "「KV キャッシュは新しい技術である」"),
        Text(
            "The idea is as old as the Transformer (2017), and GPT-2's first published code (2019) has it. What is new "
            "is how the memory is managed.",
            "考え方は Transformer（2017 年）と同じくらい古く、GPT-2 の最初の公開コード（2019 年）にもあります。"
            "新しいのはメモリの管理方法です。",
        ),
        ("blocks",),
    ),
    (
        Text(
            "“Several GPUs must rebuild or synchronise the cache.”",
            "「複数 GPU ではキャッシュの再構築や同期が必要」",
        ),
        Text(
            "With tensor parallelism each GPU keeps its own KV heads and nothing is moved ({split_one} a request on "
            "each of {split_gpus} here); a latent is copied. Only serving that puts prefill and decode on different "
            "GPUs moves a cache.",
            "テンソル並列では GPU ごとに自分の KV ヘッドを持ち、"
            "移動はありません（ここでは GPU {split_gpus} 基のそれぞれで 1 件 {split_one}）。"
            "潜在ベクトルは複製されます。キャッシュを移すのは、プリフィルとデコードを別の GPU に分ける構成だけです。",
        ),
        ("split",),
    ),
)
"""Claim, what is true, and the scenes that show it."""
THREE_CACHES_CLAIM = Text(
    "“KV cache, prompt caching and embedding cache are the same thing, or rivals.”",
    "「KV キャッシュ、プロンプトキャッシュ、埋め込みキャッシュは同じもの、または競合するもの」",
)
THREE_CACHES = Text(
    "They work in different places, and all three can be used together. Prompt caching is the stored KV of a prefix "
    "underneath, billed per token.",
    "働く場所が異なり、3 つを併用できます。プロンプトキャッシュの中身は、保存されたプレフィックスの K と V で、"
    "トークン単位で課金されます。",
)
KIND = Text("Cache", "種類")
KEEPS = Text("Keeps", "保存するもの")
SAVES = Text("Saves", "節約するもの")
CACHES: Final[tuple[tuple[Text, Text, Text], ...]] = (
    (
        Text("KV cache, inside the engine", "KV キャッシュ（推論エンジンの内部）"),
        Text("K and V of every token of a running request", "実行中のリクエストの全トークンの K と V"),
        Text("computation in every step", "毎ステップの計算"),
    ),
    (
        Text("Prompt caching, at the provider of an API", "プロンプトキャッシュ（API 事業者の側）"),
        Text("K and V of a prompt's prefix, between requests", "プロンプトのプレフィックスの K と V（リクエスト間）"),
        Text(
            "price and time of repeated input; automatic, or on a mark in the request",
            "繰り返す入力の料金と時間（自動、またはリクエストで指定）",
        ),
    ),
    (
        Text("Embedding cache, in the application", "埋め込みキャッシュ（アプリケーション）"),
        Text("vectors of documents and search queries", "文書や検索語のベクトル"),
        Text("calls of the embedding model in RAG", "RAG での埋め込みモデルの呼び出し"),
    ),
)
"""What each is called and where it works, what it keeps, what it saves."""

# --- where it matters ------------------------------------------------------------------------------------------------

USE = Text("Use", "用途")
WHY_THERE = Text("Why the cache decides", "キャッシュが決め手になる理由")
FITS = Text("Fit on 1 × {gpu}", "収まる件数（{gpu}）")
USES: Final[Mapping[str, tuple[Text, Text]]] = {
    "generation": (
        Text("Long generation", "長文の生成"),
        Text("the output counts like the input", "出力も入力と同じように数えます"),
    ),
    "chat": (
        Text("Chat with its history, streamed", "履歴を持つチャット（ストリーミング）"),
        Text(
            "every turn brings the whole history again, and a person waits for the next token",
            "毎回すべての履歴を送り、利用者は次のトークンを待っています",
        ),
    ),
    "rag": (
        Text("RAG", "RAG"),
        Text("retrieved passages multiply the input", "検索した文書が入力を何倍にもします"),
    ),
    "serving": (
        Text("Self-hosted serving", "自社での運用"),
        Text("many requests at once share one card", "多数のリクエストが 1 基の GPU を分け合います"),
    ),
}
"""By scene."""
NOT_NEEDED = Text(
    "**When not to bother.** A one-off test on one machine does not need vLLM: `generate` of Transformers keeps a "
    "cache by default (`use_cache=True`). Models that only read a text, such as embedding models and classifiers, "
    "generate nothing and need no cache; some engines allocate one for them all the same.",
    "**気にしなくてよい場面。** 手元での一度きりのテストに vLLM は不要です。"
    "Transformers の `generate` は既定でキャッシュを使います（`use_cache=True`）。"
    "埋め込みや分類のように文を読むだけのモデルは生成をしないので、キャッシュは不要です"
    "（それでも確保するエンジンはあります）。",
)

# --- questions -------------------------------------------------------------------------------------------------------

FAQ: Final[tuple[tuple[Text, Text, tuple[str, ...]], ...]] = (
    (
        Text("My formula gives ten times what I measure. Why?", "計算値が実測の何倍にもなるのはなぜ？"),
        Text(
            "Mostly hidden size in place of KV heads × head size, bits in place of bytes, or the type of the weights "
            "in place of the cache's. Qwen2.5-7B-Instruct: 2 × {qwen_hidden} × {qwen_layers} × 8 = {qwen_wrong} is "
            "{qwen_times} times too much. Right is 2 × {qwen_layers} × {qwen_heads} × {qwen_dim} × 2 = "
            "{qwen_per_token} B a token, {qwen_one} for {qwen_tokens} tokens.",
            "多いのは、KV ヘッド数 × ヘッドの次元の代わりに隠れ層の次元、バイトの代わりにビット、"
            "キャッシュの型の代わりに重みの型を使う誤りです。"
            "Qwen2.5-7B-Instruct では 2 × {qwen_hidden} × {qwen_layers} × 8 = {qwen_wrong} は {qwen_times} "
            "倍大きすぎます。正しくは 2 × {qwen_layers} × {qwen_heads} × {qwen_dim} × 2 = {qwen_per_token} B で、"
            "{qwen_tokens} トークンで {qwen_one} です。",
        ),
        ("qwen2.5",),
    ),
    (
        Text("Do int4 weights shrink the cache?", "INT4 の重みでキャッシュも小さくなる？"),
        Text(
            "No. Two settings: smaller weights leave more room, the cache of a token stays {per_token}.",
            "いいえ。別々の設定です。重みが小さくなると空きが増えますが、"
            "1 トークンのキャッシュは {per_token} のままです。",
        ),
        ("int4",),
    ),
    (
        Text("A tiny model fills my whole GPU. A leak?", "小さなモデルが GPU を使い切るのは異常？"),
        Text(
            "No: the engine takes its memory fraction at start (here {memory_fraction} of the {seen} that programs "
            "see: {engine_share}) and serves requests from the pool that is left of it. Ask what your load needs, not "
            "what is in use.",
            "いいえ。エンジンが起動時に自分の枠（ここではプログラムから見える {seen} の"
            "メモリ使用率 {memory_fraction}、つまり {engine_share}）を確保し、"
            "その中のプールでリクエストを処理するためです。"
            "使用量ではなく、負荷に必要な量を見てください。",
        ),
        ("reserved",),
    ),
    (
        Text(
            "Why does the log say there is no room, or less than zero?",
            "ログに空きなし、負の値と出るのはなぜ？",
        ),
        Text(
            "The pool is what the memory fraction leaves: of a GPU of {card_total} programs see {card_seen}, of which "
            "{card_fraction} are {card_share}, and Qwen2.5-7B-Instruct in 4 bits has {card_weights} of weights. Raise "
            "the fraction, batch fewer tokens, or take smaller weights.",
            "プールは、エンジンの枠から重みなどを引いた残りです。"
            "{card_total} の GPU でプログラムから見えるのは {card_seen}、"
            "メモリ使用率 {card_fraction} では {card_share} で、"
            "4 ビットの Qwen2.5-7B-Instruct の重みは {card_weights} です。使用率を上げる、バッチのトークン数を減らす、"
            "重みを小さくする、のいずれかが必要です。",
        ),
        ("small-card",),
    ),
    (
        Text("Does vLLM reserve the maximum length for every request?", "vLLM は全リクエストに最大長を確保する？"),
        Text(
            "No, blocks are taken as tokens arrive. “Maximum concurrency” in the log is the guarantee when all are at "
            "full length: {fit} at {tokens} tokens here, {short_fit} at {short_tokens}.",
            "いいえ。ブロックはトークンが届くたびに割り当てられます。ログの Maximum concurrency は、"
            "全件が最長のときの保証です。ここでは {tokens} トークンなら {fit} 件、"
            "{short_tokens} トークンなら {short_fit} 件です。",
        ),
        ("worked", "short"),
    ),
    (
        Text("Can I add up the memory of two GPUs?", "2 基の GPU のメモリは合計できる？"),
        Text(
            "No. Every line of a log is per GPU: each holds its share of weights and heads ({split_one} a request on "
            "each of {split_gpus}), and the tightest one decides.",
            "できません。ログの値は GPU あたりです。それぞれが重みとヘッドを分担し（GPU {split_gpus} 基の各々で 1 件 "
            "{split_one}）、最も余裕のない GPU で決まります。",
        ),
        ("split",),
    ),
    (
        Text("Two 7–8B models: why does one hold so many more?", "同じ 7～8B で件数が違うのはなぜ？"),
        Text(
            "Compare the rates first: Llama-2-7B keeps every head ({old_rate} a token), Llama-3.1-8B shares them "
            "({new_rate}): {old_times} times.",
            "まず 1 トークンの量を比べてください。全ヘッドを持つ Llama-2-7B は {old_rate}、"
            "共有する Llama-3.1-8B は {new_rate} で、{old_times} 倍違います。",
        ),
        ("llama-2", "llama-3"),
    ),
    (
        Text(
            "Why does data parallel hold more than tensor parallel with DeepSeek?",
            "DeepSeek で、テンソル並列よりデータ並列のほうが多く収まるのはなぜ？",
        ),
        Text(
            "One latent cannot be split over heads: with tensor parallel {copies} GPUs hold the same tokens {copies} "
            "times ({copied_fit} requests). With attention data parallel each holds its own ({apart_fit}).",
            "1 つの潜在ベクトルはヘッドで分割できません。テンソル並列では {copies} 基が同じトークンを {copies} "
            "重に持ちます（{copied_fit} 件）。アテンションのデータ並列なら、"
            "それぞれが別のリクエストを持ちます（{apart_fit} 件）。",
        ),
        ("latent", "latent-dp"),
    ),
    (
        Text("Is there one rate per token for Gemma?", "Gemma も「1 トークンあたり」で計算できる？"),
        Text(
            "No: its windows stop growing. {window_short} at {window_short_tokens} tokens, {window_long} at "
            "{window_long_tokens}. Give the length with every number.",
            "いいえ。ウィンドウは途中で増えなくなります。{window_short_tokens} トークンで {window_short}、"
            "{window_long_tokens} トークンで {window_long} です。数値には必ず長さを添えてください。",
        ),
        ("windows-short", "windows"),
    ),
)
"""Question, answer, and the scenes that show it."""

SCENE_LABELS: Final[Mapping[str, Text]] = {
    "llama-2": Text("Llama-2-7B", "Llama-2-7B"),
    "llama-3": Text("Llama-3.1-8B", "Llama-3.1-8B"),
    "latent": Text("tensor parallel", "テンソル並列"),
    "latent-dp": Text("data parallel", "データ並列"),
    "windows-short": Text("short", "短い場合"),
    "windows": Text("long", "長い場合"),
    "worked": Text("long requests", "長いリクエスト"),
    "short": Text("short requests", "短いリクエスト"),
}
"""What tells scenes of one answer apart, where it is not the GPU."""

# --- timeline and sources --------------------------------------------------------------------------------------------

YEAR = Text("Year", "年")
EVENT = Text("What came", "できごと")
TIMELINE: Final[tuple[tuple[str, Text, str], ...]] = (
    (
        "2017",
        Text(
            "Transformer: attention with keys, values and queries",
            "Transformer：K、V、クエリによるアテンション",
        ),
        "transformer",
    ),
    ("2019", Text("GPT-2's published code keeps the past", "GPT-2 の公開コードが過去の K と V を保持"), "gpt-2"),
    ("2019", Text("MQA: one KV head for all query heads", "MQA：全クエリヘッドで 1 つの KV ヘッド"), "mqa"),
    (
        "2023",
        Text("GQA: groups of query heads share a KV head", "GQA：クエリヘッドのグループで KV ヘッドを共有"),
        "gqa",
    ),
    (
        "2023",
        Text("PagedAttention and vLLM: blocks on demand", "PagedAttention と vLLM：必要に応じたブロック割り当て"),
        "paged",
    ),
    (
        "2024",
        Text("MLA in DeepSeek-V2: a latent instead of heads", "DeepSeek-V2 の MLA：ヘッドの代わりに潜在ベクトル"),
        "mla",
    ),
    (
        "2025",
        Text(
            "Hybrids: few layers of full attention among windows or states",
            "ハイブリッド：ウィンドウや状態のレイヤーの間に少数のフルアテンション",
        ),
        "hybrids",
    ),
)
"""Year, what came, and its source below."""
SOURCES: Final[Mapping[str, tuple[str, str]]] = {
    "transformer": ("Vaswani et al. 2017, Attention Is All You Need", "https://arxiv.org/abs/1706.03762"),
    "gpt-2": ("OpenAI 2019, gpt-2/src/model.py", "https://github.com/openai/gpt-2"),
    "mqa": ("Shazeer 2019, Fast Transformer Decoding (MQA)", "https://arxiv.org/abs/1911.02150"),
    "gqa": ("Ainslie et al. 2023, GQA", "https://arxiv.org/abs/2305.13245"),
    "paged": ("Kwon et al. 2023, PagedAttention (SOSP '23)", "https://arxiv.org/abs/2309.06180"),
    "mla": ("DeepSeek-AI 2024, DeepSeek-V2 (MLA)", "https://arxiv.org/abs/2405.04434"),
    "hybrids": ("Qwen3-Next-80B-A3B-Instruct, config.json", "https://huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct"),
    "transformers": ("Transformers, cache strategies", "https://huggingface.co/docs/transformers/kv_cache"),
    "vllm": ("vLLM, automatic prefix caching", "https://docs.vllm.ai/en/latest/features/automatic_prefix_caching/"),
    "prompt-caching": (
        "Anthropic, Prompt caching",
        "https://platform.claude.com/docs/en/build-with-claude/prompt-caching",
    ),
}
"""Names as they are in every language, and addresses."""
SOURCES_SAID = Text(
    "The rules of each engine are read from its source, whose version stands at the foot of each page. Figures that "
    "are quoted from others are marked as quoted.",
    "各エンジンの規則はソースコードから読み取ったもので、バージョンは各ページの最下部にあります。"
    "他者の値を引用している箇所には、引用値と記しています。",
)
TERM = Text("Term", "用語")
TERM_JAPANESE = Text("Japanese (read as)", "日本語（読み）")
MEANING = Text("Meaning", "意味")
