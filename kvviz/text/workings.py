"""The working behind a number: what its formula takes, and where each of that comes from."""

from kvviz.text.base import Text

OPEN = Text("Working", "計算")
GIVEN = Text("{name} **{value}** – {where}", "{name} **{value}**：{where}")
SETTING = Text("setting, {badge}", "設定（{badge}）")
A_SETTING = Text("setting", "設定")
FROM_LOG = Text("start-up log, or its default", "起動ログ、または既定値")
FROM_RUN = Text("the run", "実行した設定")
SOURCE = Text("Source: {source}", "出典：{source}")
LINES_OF = Text("{engine}, {file}", "{engine} の {file}")
POOL_IS = Text("Left for the cache: {formula}", "キャッシュに残る量：{formula}")
SEEN_IS = Text("What programs see of the GPU: {formula}", "GPU のうちプログラムから見える量：{formula}")
TAKEN_IS = Text("What the engine takes of that: {formula}", "そのうちエンジンが使う量：{formula}")
FORMULA_OF = Text("{what}: {formula}", "{what}：{formula}")
MADE_OF = Text("{count} × {each}", "{count} × {each}")
NULL_BLOCK = Text("Null block", "null ブロック")
NEVER_GIVEN = Text("one block that no request is given", "どのリクエストにも渡されないブロック")

# Shared prefixes
HIT_BLOCKS = Text("Blocks found again", "再利用されるブロック")
BLOCK = Text("Block (tokens)", "ブロック（トークン）")
ALL_TOKENS = Text("Tokens of all prompts", "全プロンプトのトークン")
FROM_PROMPTS = Text("the prompts above", "上のプロンプト")
COUNTED_BLOCKS = Text("Each prompt alone: {sum} = {blocks}.", "プロンプトごとに別々なら {sum} = {blocks} です。")
HIT_RULE = Text(
    "A block is found again only where all tokens before it are the same, and the last token of a prompt is computed "
    "anew.",
    "ブロックが再利用されるのは、それより前のトークンがすべて同じ場合だけです。プロンプトの最後のトークンは計算し直します。",
)

# Blocks
SERVED = Text(
    "Counted, not calculated: both sides are played step by step, a token of every running request a step.",
    "計算式ではなく、両方を 1 ステップずつ再生して数えた値です。"
    "1 ステップで、実行中の各リクエストが 1 トークン進みます。",
)
RESERVED_AT_ONCE = Text(
    "Contiguous: {formula} at once, where nothing is wasted", "連続領域：無駄がなければ同時に {formula}"
)
BLOCKS_OF_POOL = Text("Paged: {formula} blocks", "ページ方式：{formula} ブロック")
BLOCKS_OF_REQUEST = Text(
    "Paged: ⌈tokens ÷ {block}⌉ blocks a request", "ページ方式：1 件あたり ⌈トークン数 ÷ {block}⌉ ブロック"
)
PAPER = Text("the PagedAttention paper (SOSP'23)", "PagedAttention 論文（SOSP'23）")

# Measured live
PREDICTED = Text(
    "What the tensors of this model's cache must take at this length.",
    "この長さで、このモデルのキャッシュのテンソルが占めるはずのバイト数です。",
)
MEASURED = Text(
    "The bytes of the storages behind the cache's own tensors, each once.",
    "キャッシュ自身のテンソルの実体（ストレージ）のバイト数を、重複なく合計した値です。",
)
RESIDUAL = Text("Measured less predicted.", "実測から予測を引いた値です。")
SPEED = Text(
    "Tokens after the first, of one sequence, by the seconds of their steps.",
    "1 系列の 2 個目以降のトークン数を、そのステップの秒数で割った値です。",
)
TOKENS_KEPT = Text("Tokens in the cache", "キャッシュ内のトークン")
BATCH = Text("Sequences", "系列数")
CACHE_TYPE = Text("Type", "データ型")

# Check a log
CHECKED = Text(
    "Predicted from the model's config and the settings in the log; the working is that of one token in every layer of "
    "a kind.",
    "モデルの config とログの設定からの予測です。計算式は、種類ごとの全レイヤーの 1 トークン分です。",
)

# Compare
OF_SCENARIO = Text("Working of {number}", "{number} の計算")
