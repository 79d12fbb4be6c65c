"""What the charts and the tables under them say."""

from kvviz.text.base import Text

# Table headings.
PART = Text(en="Part", ja="内訳")
BYTES = Text(en="Bytes", ja="バイト")
GIB = Text(en="GiB", ja="GiB")
BASIS_HEADING = Text(en="Basis", ja="根拠")
SOURCE = Text(en="Source", ja="出典")
TOKENS = Text(en="Tokens per request", ja="リクエストあたりのトークン数")
REQUESTS_HEADING = Text(en="Requests", ja="リクエスト数")
FITS = Text(en="Fit", ja="収まるか")
LAYERS = Text(en="Layers", ja="層")
KIND = Text(en="Kind", ja="種類")
COUNT = Text(en="Count", ja="層数")
BYTES_EACH = Text(en="Bytes per layer", ja="1 層のバイト")
GIB_SUM = Text(en="GiB in all", ja="合計 GiB")

BASIS = {
    "exact": Text(en="exact", ja="計算値"),
    "measured": Text(en="measured", ja="実測"),
    "assumed": Text(en="assumed", ja="仮定"),
}
YES = Text(en="yes", ja="はい")
NO = Text(en="no", ja="いいえ")

# The ledger: one GPU's memory.
WEIGHTS = Text(en="Weights", ja="重み")
WEIGHTS_THAT_FIT = Text(en="Weights that fit", ja="収まる重み")
ACTIVATIONS = Text(en="Activations (est.)", ja="活性化（推定）")
ENGINE = Text(en="Engine (est.)", ja="エンジン（推定）")
GRAPHS = Text(en="CUDA graphs (est.)", ja="CUDA グラフ（推定）")
NON_TORCH = Text(en="Outside PyTorch (est.)", ja="PyTorch の外（推定）")
OUTSIDE = Text(en="Left to others", ja="エンジンの枠外")
CACHE_NEEDED = Text(en="Cache needed", ja="必要なキャッシュ")
CACHE_SPARE = Text(en="Cache spare", ja="キャッシュの余り")
CACHE_SHORT = Text(en="Cache short", ja="キャッシュの不足")
WEIGHTS_OVER = Text(en="Weights too large by", ja="重みの超過")
REMAINDER = Text(en="Less than a block", ja="1 ブロック未満の端数")

CARD = Text(en="{device}: {bytes}", ja="{device}：{bytes}")
SHORT = Text(en="{bytes} short", ja="{bytes} 不足")
MEMORY_AXIS = Text(en="GiB on one GPU", ja="GPU 1 つのメモリ（GiB）")

NEEDED_SOURCE = Text(
    en="{requests} × {request} for requests of {tokens} tokens, as the engine counts them",
    ja="{tokens} トークンのリクエスト {requests} 件 × {request}（エンジンの数え方）",
)
NEEDED_ON_CARD_SOURCE = Text(
    en="What the pool holds of {need}: {requests} × {request} for requests of {tokens} tokens, "
    "as the engine counts them",
    ja="必要な {need} のうちプールに入る分。"
    "{tokens} トークンのリクエスト {requests} 件 × {request}（エンジンの数え方）",
)
SPARE_SOURCE = Text(
    en="Pool of {pool} ({blocks} blocks) minus what is needed",
    ja="プール {pool}（{blocks} ブロック）から必要量を引いた残り",
)
SHORT_SOURCE = Text(
    en="Needed {need}, minus the pool of {pool}",
    ja="必要量 {need} からプール {pool} を引いた不足分",
)
WEIGHTS_OVER_SOURCE = Text(
    en="What the weights need beyond the engine's share of the GPU, after its other parts",
    ja="エンジンの枠から他の内訳を引いた残りに、重みが収まらない分",
)
REMAINDER_SOURCE = Text(
    en="The pool is made of whole blocks of {block}",
    ja="プールは {block} のブロック単位で確保されます",
)
OUTSIDE_SOURCE = Text(
    en="{device}, less the engine's share of {fraction}",
    ja="{device} から、エンジンの枠（{fraction}）を引いた残り",
)

LEDGER_ALT = Text(
    en="Memory of one {device}, {total}: {parts}. {verdict}",
    ja="{device} 1 つのメモリ {total} の内訳：{parts}。{verdict}",
)
PART_BYTES = Text(en="{label} {bytes}", ja="{label} {bytes}")
PART_IN_BRACKETS = Text(en="{part} ({more})", ja="{part}（{more}）")
PART_SEPARATOR = Text(en=", ", ja="、")
VERDICT_SPARE = Text(
    en="{requests} requests of {tokens} tokens need {need} of cache; {spare} stay free.",
    ja="{tokens} トークンのリクエスト {requests} 件にはキャッシュ {need} が必要で、{spare} が余ります。",
)
VERDICT_SHORT = Text(
    en="{requests} requests of {tokens} tokens need {need} of cache; the pool is {pool}: {short} short.",
    ja="{tokens} トークンのリクエスト {requests} 件にはキャッシュ {need} が必要ですが、"
    "プールは {pool} で、{short} 不足します。",
)
VERDICT_WEIGHTS = Text(
    en="The weights leave no room for a cache: they are {over} too large.",
    ja="重みが {over} 超過し、キャッシュを置く余地がありません。",
)
VERDICT_HELD = Text(
    en="While all of them decode they hold {held}.",
    ja="すべてがデコード中のときの保持量は {held} です。",
)
VERDICT_ROOM = Text(en="The pool for the cache is {pool}.", ja="キャッシュ用のプールは {pool} です。")

# Growth: cache against length.
GROWTH_TITLE = Text(en="Cache on one GPU, GiB", ja="GPU 1 つのキャッシュ（GiB）")
GROWTH_TITLE_CONTENT = Text(en="Cache content, whole model, GiB", ja="キャッシュの中身、モデル全体（GiB）")
TOKENS_AXIS = Text(en="Tokens per request (input + output)", ja="リクエストあたりのトークン数（入力 + 出力）")
HERE = Text(en="You are here:<br>{tokens} tokens", ja="現在の設定：<br>{tokens} トークン")
REQUESTS = Text(en="{requests} requests", ja="{requests} 件")
REQUEST = Text(en="1 request", ja="1 件")
FIT_UNTIL = Text(en="{requests}: up to {tokens} tokens", ja="{requests}：{tokens} トークンまで")
FIT_MODEL = Text(
    en="{requests}: up to the model's {tokens} tokens", ja="{requests}：モデルの最大 {tokens} トークンまで"
)
FIT_ALWAYS = Text(en="{requests}: fit at any length", ja="{requests}：長さによらず収まる")
FIT_NEVER = Text(en="{requests}: do not fit", ja="{requests}：収まらない")
CAPACITY = Text(en="Room for the cache: {bytes}", ja="キャッシュの容量：{bytes}")
WEIGHTS_LINE = Text(en="Weights: {bytes}", ja="重み：{bytes}")
WEIGHTS_PASSED = Text(en="Weights: {bytes}, passed at {tokens} tokens", ja="重み：{bytes}（{tokens} トークンで上回る）")
WEIGHTS_OFF = Text(en="Weights: {bytes} (above the chart)", ja="重み：{bytes}（図の上）")
BEYOND = Text(en="Beyond the model's {tokens} tokens", ja="モデルの最大 {tokens} トークンを超える範囲")
HOVER_TOKENS = Text(en="tokens", ja="トークン")

GROWTH_ALT = Text(
    en="Cache on one GPU against tokens per request. At {tokens} tokens, {here} take {bytes}.",
    ja="リクエストあたりのトークン数に対する GPU 1 つのキャッシュ。{tokens} トークンでは {here}で {bytes} です。",
)
GROWTH_ALT_CONTENT = Text(
    en="Cache content of the whole model against tokens per request. At {tokens} tokens, {here} take {bytes}.",
    ja="リクエストあたりのトークン数に対するモデル全体のキャッシュの中身。"
    "{tokens} トークンでは {here}で {bytes} です。",
)
GROWTH_ALT_CAPACITY = Text(
    en="There is room for {bytes}: {crossings}.",
    ja="容量は {bytes} です。収まる範囲：{crossings}。",
)
GROWTH_ALT_WEIGHTS = Text(en="The weights take {bytes}.", ja="重みは {bytes} です。")

# The layer strip.
KINDS = {
    "f": Text(en="Full attention", ja="フルアテンション"),
    "F": Text(en="Full attention, indexer", ja="フルアテンション + インデクサー"),
    "l": Text(en="Latent attention (MLA)", ja="潜在アテンション（MLA）"),
    "L": Text(en="Latent attention, indexer", ja="潜在アテンション + インデクサー"),
    "w": Text(en="Sliding window", ja="スライディングウィンドウ"),
    "c": Text(en="Chunked attention", ja="チャンクアテンション"),
    "s": Text(en="Fixed state", ja="固定長の状態"),
    "b": Text(en="Fixed state, full attention", ja="固定長の状態 + フルアテンション"),
    "x": Text(en="Cross-attention", ja="クロスアテンション"),
    "X": Text(en="Full and cross-attention", ja="フルアテンション + クロスアテンション"),
    "H": Text(en="Compressed attention", ja="圧縮アテンション"),
    "h": Text(en="Compressed attention", ja="圧縮アテンション"),
    ".": Text(en="Stores nothing", ja="何も保存しない"),
}
WINDOW_TOKENS = Text(en="last {tokens} tokens", ja="直近 {tokens} トークン")
CHUNK_TOKENS = Text(en="chunks of {tokens} tokens", ja="{tokens} トークンのチャンク")
CROSS_TOKENS = Text(en="{tokens} encoder tokens", ja="エンコーダー {tokens} トークン")
RATIO = Text(en="1 record per {tokens} tokens", ja="{tokens} トークンごとに 1 レコード")
LAYER = Text(en="Layer {layer}", ja="層 {layer}")
LAYER_RANGE = Text(en="{first}–{last}", ja="{first}–{last}")
LAYER_TITLE = Text(en="{layer}: {kind}, {bytes}", ja="{layer}：{kind}、{bytes}")
KIND_DETAIL = Text(en="{kind}, {detail}", ja="{kind}、{detail}")
KIND_COUNT = Text(en="{count} × {kind}", ja="{kind} × {count}")
EACH = Text(en="{bytes} each", ja="1 層 {bytes}")
EACH_RANGE = Text(en="{least} to {most} each", ja="1 層 {least}～{most}")
STRIP_TITLE = Text(
    en="One sequence of {tokens} tokens, layer by layer", ja="{tokens} トークンの 1 系列、層ごとのキャッシュ"
)
STRIP_SCALE = Text(
    en="Full height: {bytes}. Wide cells grow with every token.",
    ja="満杯で {bytes} です。幅広の層はトークンごとに増えます。",
)
STRIP_ALT = Text(
    en="{count} layers at {tokens} tokens: {kinds}.",
    ja="{tokens} トークン時の {count} 層：{kinds}。",
)
