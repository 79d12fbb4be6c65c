"""What the Shared prefixes page says, and the prompts it opens with."""

from kvviz.text.base import Text

PAGE = Text("Shared prefixes", "プレフィックス共有")

# --- prompts ---------------------------------------------------------------------------------------------------------

SYSTEM = Text(
    en="You are the assistant of a bicycle shop. Answer in two short, polite sentences. If you are not quite certain"
    " about something, then say so.",
    ja="あなたは自転車店の店員です。短く二文で丁寧に答えてください。",
)
"""This and the others are cut into as many pieces in both languages, so that what is found is the same (a test)."""
QUESTIONS = (
    Text(en="Question: How do I mend a flat front tyre?", ja="問：パンクの直し方は？"),
    Text(en="Question: When do you open on Sunday?", ja="問：日曜の開店は？"),
    Text(en="Question: Which oil does a dry chain need?", ja="問：チェーンの油は？"),
)
RAG_SYSTEM = Text(
    en="Answer from the documents only. If they do not tell you, say so.", ja="文書だけをもとに答えてください。"
)
DOCUMENTS = (
    Text(
        en="Tyres: pump them up every two weeks and always before long rides. Badly worn tyres puncture easily.",
        ja="タイヤ：必ず二週間ごとに空気を入れます。",
    ),
    Text(
        en="Chain: oil it once a month and after every ride in heavy rain or snow.",
        ja="チェーン：月に一度、油をさします。",
    ),
)
DATE_LINE = Text(en="The date is {date}.", ja="本日は {date}。")

TRY = Text("Try", "試す")
TRIES = {
    "date-first": Text(en="Put today's date first", ja="今日の日付を先頭に"),
    "date-last": Text(en="Put it last", ja="今日の日付を末尾に"),
    "letter": Text(en="Change one letter in the system prompt", ja="システムプロンプトを 1 文字変更"),
    "rag-question": Text(en="RAG: same document, other question", ja="RAG：同じ文書、別の質問"),
    "rag-order": Text(en="RAG: other document order", ja="RAG：文書の順序を変更"),
}
TRIED = {
    "": Text(
        en="Three prompts with one system prompt; only the questions at the end differ.",
        ja="同じシステムプロンプトで、末尾の質問だけが異なる 3 つのプロンプトです。",
    ),
    "edited": Text(en="Your prompts, sent one after the other.", ja="入力したプロンプトを順に送った場合です。"),
    "date-first": Text(
        en="Sent on three days in a row: the date differs, and every hash from its block on covers it.",
        ja="3 日続けて送った場合です。日付が変わると、そのブロック以降のハッシュがすべて変わります。",
    ),
    "date-last": Text(
        en="The same three dates, but at the end: all that comes before them stays as it was.",
        ja="同じ 3 日分の日付を末尾に置くと、その前の部分は変わりません。",
    ),
    "letter": Text(
        en="One letter of prompt 2 is another: from its block on, every hash differs.",
        ja="プロンプト 2 の 1 文字を変えると、そのブロック以降のハッシュがすべて変わります。",
    ),
    "rag-question": Text(
        en="The document stands before the question, so that the question alone differs.",
        ja="文書を質問の前に置くと、異なるのは質問だけです。",
    ),
    "rag-order": Text(
        en="Prompt 2 has the same documents the other way round: the same words after another beginning are other"
        " blocks. Keep retrieved documents in a fixed order.",
        ja="プロンプト 2 は同じ文書を逆の順に並べています。同じ文でも、前にあるものが違えば別のブロックです。"
        "検索した文書は決まった順に並べてください。",
    ),
}
PROMPT = Text("Prompt {number}", "プロンプト {number}")
EDIT = Text("Edit the prompts · blocks of {block}", "プロンプトを編集 · ブロック {block}")
BLOCK = Text("Block (tokens)", "ブロック（トークン）")
BLOCK_HELP = Text(
    "From 1 to 128. vLLM's usual block has 16; small blocks are easier to see here.",
    "1～128 です。vLLM の通常のブロックは 16 トークンですが、ここでは小さいほうが見やすくなります。",
)
FOUND = Text(
    en="{hit} of {tokens} prompt {tokens:token|tokens} {hit:is|are} found and need not be computed",
    ja="{tokens} トークン中 {hit} トークンがヒット（計算不要）",
)
FOUND_NONE = Text(en="None of the {tokens} prompt {tokens:token|tokens} is found", ja="{tokens} トークン中、ヒットなし")
WHOLE_BLOCKS = Text(
    en="Hits come in whole blocks of {block} {block:token|tokens}, from the first token on: {hits} of {blocks}"
    " {blocks:block|blocks}.",
    ja="ヒットは先頭から {block} トークンのブロック単位です（{blocks} ブロック中 {hits} ブロック）。",
)
EMPTY = Text(
    en="All three prompts are empty; write something into one of them.",
    ja="3 つのプロンプトがすべて空です。いずれかに入力してください。",
)
TOO_LONG = Text(
    en="Prompt {number} has more than {limit} characters; only its beginning is used.",
    ja="プロンプト {number} は {limit} 文字を超えています。先頭の部分だけを使います。",
)
STAND_IN = Text(
    en="No tokenizer is at work here: a word, a number, a punctuation mark or a Japanese character stands in for a"
    " token. A real tokenizer cuts otherwise, so its blocks end elsewhere; the rule is the same. A hash covers its"
    " block's tokens and the hash before it; a block that is not full has none.",
    ja="ここではトークナイザーを使わず、単語、数、記号、日本語の 1 文字をそれぞれ 1 トークンとみなします。"
    "実際のトークナイザーでは区切りが変わり、ブロックの境目も変わりますが、規則は同じです。"
    "ハッシュはブロックのトークンと直前のハッシュから求めます。満杯でないブロックにはハッシュがありません。",
)

FACT_TOKENS = Text("Tokens saved", "節約したトークン")
FACT_TOKENS_BESIDE = Text(
    en="{share} of {tokens}; {computed} are computed", ja="{tokens} のうち {share}。計算は {computed}"
)
FACT_BLOCKS = Text("Blocks saved", "節約したブロック")
FACT_BLOCKS_BESIDE = Text(
    en="while all three run: {held} held instead of {blocks}", ja="3 件の実行中は {blocks} でなく {held} を保持"
)
FACT_WORK = Text("Prefill work saved", "節約したプリフィル")
FACT_WORK_BESIDE = Text(
    en="of the token computations; {pairs} of the attention's query-key pairs",
    ja="トークン計算の割合。アテンションのクエリと K の組では {pairs}",
)

FIRST_PROMPT = Text(
    en="**Prompt {number}** comes first: nothing is there to be found.",
    ja="**プロンプト {number}** は最初なので、ヒットしません。",
)
EMPTY_PROMPT = Text(en="**Prompt {number}** is empty.", ja="**プロンプト {number}** は空です。")
NOTHING_SHARED = Text(
    en="**Prompt {number}** begins like none before it: nothing is found.",
    ja="**プロンプト {number}** は先頭がどれとも異なり、ヒットしません。",
)
SHARED = Text(
    en="**Prompt {number}** begins like prompt {like} for {common} {common:token|tokens}{until}: {tokens} of them"
    " {tokens:is|are} found, in whole blocks{rest}.",
    ja="**プロンプト {number}** は先頭の {common} トークン{until}がプロンプト {like} と同じです。"
    "ブロック単位で {tokens} トークンがヒットします{rest}。",
)
SHARED_TOO_LITTLE = Text(
    en="**Prompt {number}** begins like prompt {like} for {common} {common:token|tokens}{until}, too few to fill a"
    " block: nothing is found.",
    ja="**プロンプト {number}** は先頭の {common} トークン{until}がプロンプト {like} と同じですが、"
    "ブロックに満たないためヒットしません。",
)
SHARED_BUT_LAST = Text(
    en="**Prompt {number}** begins like prompt {like} for all of its {common} {common:token|tokens}, a full block. But"
    " the last token of a prompt is always computed, and with it its block: nothing is found.",
    ja="**プロンプト {number}** は {common} トークンすべてがプロンプト {like} の先頭と同じで、ちょうど 1 ブロックです。"
    "ただし、プロンプトの最後のトークンは必ず計算し、それを含むブロックごと計算するため、ヒットしません。",
)
SHARED_UNTIL = Text(en=", up to “{differs}”", ja="（「{differs}」の前まで）")
SHARED_REST = Text(
    en="; the other {rest} {rest:fills|fill} no block and {rest:is|are} computed again",
    ja="。残り {rest} トークンはブロックに満たず、再計算します",
)
SHARED_REST_LAST = Text(
    en="; the other {rest} {rest:is|are} computed again, because the last token always is, and with it its block",
    ja="。最後のトークンは必ずブロックごと計算するため、残り {rest} トークンは再計算します",
)

STATES = {
    "hit": Text("hit", "ヒット"),
    "miss": Text("miss", "ミス"),
    "again": Text("again", "再計算"),
    "partial": Text("not full", "端数"),
}
STATE_MEANINGS = {
    "hit": Text("found in the cache", "キャッシュにある"),
    "miss": Text("computed", "計算する"),
    "again": Text(
        "known, but computed again with the last token, which always is",
        "既知だが、必ず計算する最後のトークンとともに再計算",
    ),
    "partial": Text("no hash, always computed", "満杯でなく、ハッシュなし、必ず計算"),
}
CHIP_TITLE = Text(
    en="Block {row}: {state}. Hash {hash}, block {number} of the pool.\n{tokens}",
    ja="ブロック {row}：{state}。ハッシュ {hash}、プールのブロック {number}。\n{tokens}",
)
LEGEND = Text(en="{sign} {state}: {meaning}", ja="{sign} {state}：{meaning}")
CHIPS_COUNT = Text(en="{hits} of {blocks} {blocks:block|blocks} found", ja="{blocks} ブロック中 {hits} がヒット")
CHIPS_ALT = Text(en="{prompt}: {states}", ja="{prompt}：{states}")
COLUMN_PROMPT = Text("Prompt", "プロンプト")
COLUMN_BLOCK = Text("Block", "ブロック")
COLUMN_STATE = Text("Result", "結果")
COLUMN_HASH = Text("Hash", "ハッシュ")
COLUMN_NUMBER = Text("Pool block", "プールのブロック")
COLUMN_TOKENS = Text("Tokens", "トークン")

# --- hit ratio against capacity --------------------------------------------------------------------------------------

CAPACITY_TITLE = Text("Hit ratio against cache capacity", "キャッシュ容量とヒット率")
TRACE = Text("Trace", "トレース")
CAPACITY = Text("Cache capacity (blocks of 512 tokens)", "キャッシュ容量（512 トークンのブロック数）")
CAPACITY_HELP = Text(
    "What kvviz prefix calls --capacity-blocks. The traces tell prompts in blocks of 512 tokens.",
    "kvviz prefix の --capacity-blocks と同じです。トレースのプロンプトは 512 トークンのブロック単位です。",
)
AT_CAPACITY = Text(
    en="{blocks} {blocks:block|blocks} ({tokens} {tokens:token|tokens}): **{full}** of the full prompt blocks are"
    " found; as vLLM"
    " counts, {vllm} of the prompt tokens. {evictions} {evictions:eviction|evictions}.",
    ja="{blocks} ブロック（{tokens} トークン）では、満杯のプロンプトブロックの **{full}** がヒットします。"
    "vLLM の数え方ではプロンプトのトークンの {vllm} です。追い出しは {evictions} 回です。",
)
WORKING = Text("Replaying the trace at {count} capacities", "{count} 通りの容量でトレースを再生中")
RATIO_AXIS = Text("Hit ratio (full blocks)", "ヒット率（満杯のブロック）")
CAPACITY_AXIS = Text("Cache capacity (tokens)", "キャッシュ容量（トークン）")
OURS = Text("Replayed here", "ここでの再生")
THEIRS = Text("Published (FAST '25, Fig. 9)", "論文の値（FAST '25 図 9）")
CHOSEN = Text("Chosen capacity", "選んだ容量")
POOL = Text("Pool of the Sizing scenario", "サイジングのシナリオのプール")
COLUMN_CAPACITY = Text("Capacity, tokens", "容量（トークン）")
COLUMN_BLOCKS = Text("Blocks of 512", "512 トークンのブロック数")
COLUMN_OURS = Text("Replayed, %", "再生 %")
COLUMN_THEIRS = Text("Published, %", "論文 %")
CURVE_ALT = Text(
    en="Hit ratio of full prompt blocks on {trace}, by capacity in tokens, replayed: {ours}. Published: {theirs}.",
    ja="{trace} の満杯のプロンプトブロックのヒット率（容量はトークン）。再生：{ours}。論文：{theirs}。",
)
CURVE_POINT = Text(en="{tokens}: {ratio}", ja="{tokens}：{ratio}")
CITED = Text(
    en="Trace and published figures: Mooncake, FAST '25 (read off its Fig. 9). The paper does not say how it counts"
    " blocks that are not full; counted in full blocks, ours differ by {low} to {high} points here.",
    ja="トレースと論文の値：Mooncake、FAST '25（図 9 から読み取り）。"
    "満杯でないブロックの数え方は論文に書かれていません。"
    "満杯のブロックで数えると、ここでの値との差は {low}～{high} ポイントです。",
)
POOL_NOTE = Text(
    en="The pool of the Sizing scenario ({gpus} × {gpu}) holds {tokens} {tokens:token|tokens} of requests.",
    ja="サイジングのシナリオ（{gpus} × {gpu}）のプールには、リクエストの {tokens} トークンが入ります。",
)

# --- what a shared system prompt saves -------------------------------------------------------------------------------

SAVES_TITLE = Text("What a shared system prompt saves", "共通のシステムプロンプトの効果")
SHARED_TOKENS = Text("Shared system prompt (tokens)", "共通のシステムプロンプト（トークン）")
SHARED_TOKENS_HELP = Text(
    "Tokens that all requests of the Sizing scenario begin with; up to its input of {input}.",
    "サイジングのシナリオの全リクエストに共通する先頭のトークン数です。入力の {input} までです。",
)
SAVES = Text(
    en="Requests at once: **{before} → {after}**. Of {input} input {input:token|tokens}, {held} ({bytes} on each GPU)"
    " {held:is|are} held once for all{rest}.",
    ja="同時実行 **{before} → {after}** 件：入力 {input} トークンのうち {held} トークン"
    "（GPU あたり {bytes}）を全リクエストで 1 つだけ持ちます{rest}。",
)
SAVES_REST = Text(
    en="; {left} more of the shared {shared} {left:is|are} each request's own, because only whole blocks are shared and"
    " never the last token of a prompt",
    ja="。共有されるのは満杯のブロックだけで、プロンプトの最後のトークンは含まないため、共通の {shared} トークンのうち"
    "残り {left} トークンはリクエストごとに持ちます",
)
SAVES_NONE = Text(
    en="Requests at once: **{before}**. Without a shared system prompt nothing is held in common.",
    ja="同時実行は **{before}** 件です。共通のシステムプロンプトがなければ、共有するものはありません。",
)
SAVES_NO_BLOCK = Text(
    en="Requests at once: **{before}**, with or without it: {shared} {shared:token fills|tokens fill} no whole block,"
    " and"
    " only whole blocks are shared.",
    ja="同時実行は変わらず **{before}** 件です。共有はブロック単位で、{shared} トークンでは 1 ブロックに足りません。",
)
SAVES_NOTHING = Text(
    en="Requests at once: **{before}**, with or without it: this model or engine shares nothing.",
    ja="同時実行は変わらず **{before}** 件です。このモデルとエンジンでは共有されません。",
)
SAVES_UNKNOWN = Text(
    en="How many requests fit is not known for this scenario; {bytes} on each GPU would be held once for all.",
    ja="このシナリオでは同時実行数が分かりません。GPU あたり {bytes} を全リクエストで 1 つだけ持ちます。",
)
SCENARIO = Text(
    en="{model} on {gpus} × {gpu}, {tokens} {tokens:token|tokens} a request, {engine}: [open in Sizing with this"
    " prompt]({link})",
    ja="{model}、{gpus} × {gpu}、1 件 {tokens} トークン、{engine}：[この設定でサイジングを開く]({link})",
)
SAVES_AXIS = Text("Requests at once", "同時実行数")
SAVES_X_AXIS = Text("Shared tokens", "共有トークン数")
SAVES_LINE = Text("Fit at once", "同時に入る件数")
SAVES_ASKED = Text("Asked for", "必要な件数")
SAVES_HERE = Text("This system prompt", "このシステムプロンプト")
COLUMN_SHARED = Text("Shared tokens", "共有トークン数")
COLUMN_FIT = Text("Fit at once", "同時に入る件数")
COLUMN_ONCE = Text("Held once, GiB", "共有分 GiB")
SAVES_ALT = Text(
    en="Requests that fit at once, by tokens of the shared system prompt: {points}. {asked} {asked:is|are} asked for.",
    ja="共通のシステムプロンプトのトークン数と同時に入る件数：{points}。必要なのは {asked} 件です。",
)
SAVES_POINT = Text(en="{tokens}: {fit}", ja="{tokens}：{fit}")

# --- messages --------------------------------------------------------------------------------------------------------

NOT_WHOLE = Text(
    en="{name}: give a whole number from {low} to {high}, not “{shown}”. {used} is used until then.",
    ja="{name}：{low}～{high} の整数を指定してください（入力値：「{shown}」）。修正されるまでは {used} を使います。",
)
NO_SUCH = Text(
    en="{name} in the link: “{shown}” is not known here and is left out.",
    ja="リンクの「{name}」：「{shown}」は使えないため、無視します。",
)
SHARE = Text("Share", "共有")
LINK_HELP = Text(
    "Opens exactly this: the prompts, the block size, the trace, the capacity and the Sizing scenario.",
    "プロンプト、ブロックサイズ、トレース、容量、サイジングのシナリオを含み、同じ画面が開きます。",
)
