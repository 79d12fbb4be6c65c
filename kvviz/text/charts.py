"""What the charts and the tables under them say."""

from kvviz.text.base import Text

# Counts.
REQUESTS = Text(en="{requests} {requests:request|requests}", ja="{requests} 件")
REQUEST = Text(en="1 request", ja="1 件")
TOKENS = Text(en="{tokens} tokens", ja="{tokens} トークン")
TOKEN = Text(en="1 token", ja="1 トークン")

# Table headings.
PART = Text(en="Part", ja="内訳")
BYTES = Text(en="Bytes", ja="バイト")
GIB = Text(en="GiB", ja="GiB")
BASIS_HEADING = Text(en="Basis", ja="根拠")
SOURCE = Text(en="Source", ja="出典")
TOKENS_HEADING = Text(en="Tokens each", ja="1 件のトークン数")
REQUESTS_HEADING = Text(en="Requests", ja="リクエスト数")
ROOM_GIB = Text(en="Room, GiB", ja="容量 GiB")
WEIGHTS_GIB = Text(en="Weights, GiB", ja="重み GiB")
FITS = Text(en="Fit", ja="収まるか")
LAYERS = Text(en="Layers", ja="レイヤー")
KIND = Text(en="Kind", ja="種類")
COUNT = Text(en="Count", ja="レイヤー数")
BYTES_EACH = Text(en="Bytes per layer", ja="1 レイヤーのバイト")
GIB_SUM = Text(en="GiB in all", ja="合計 GiB")

BASIS = {
    "exact": Text(en="exact", ja="計算値"),
    "measured": Text(en="measured", ja="実測"),
    "assumed": Text(en="assumed", ja="推定"),
    "estimated": Text(en="estimated", ja="推定"),
}
"""The words of the JSON object, and ``estimated`` for what follows from terms that are not all exact."""
YES = Text(en="yes", ja="はい")
NO = Text(en="no", ja="いいえ")

# The ledger: one GPU's memory.
WEIGHTS = Text(en="Weights", ja="重み")
WEIGHTS_THAT_FIT = Text(en="Weights that fit", ja="収まる重み")
WEIGHTS_OVER = Text(en="Weights too large by", ja="重みの超過")
ACTIVATIONS = Text(en="Activations", ja="アクティベーション")
ENGINE = Text(en="Engine", ja="エンジン")
GRAPHS = Text(en="CUDA graphs", ja="CUDA グラフ")
NON_TORCH = Text(en="Outside PyTorch", ja="PyTorch 以外")
RUN_TIME_SHORT = Text(en="Run time short", ja="実行時メモリの不足")
OUTSIDE = Text(en="Outside the fraction", ja="エンジンが使わない領域")
OUT_OF_REACH = Text(en="Out of reach", ja="使えない領域")
HIDDEN = Text(en="Not seen by programs", ja="見えない領域")
CACHE_NEEDED = Text(en="Cache needed", ja="必要なキャッシュ")
CACHE_THAT_FITS = Text(en="Cache that fits", ja="収まるキャッシュ")
KEPT_FREE = Text(en="Kept free", ja="空けておく分")
CACHE_SPARE = Text(en="Cache spare", ja="キャッシュの余り")
CACHE_SHORT = Text(en="Cache short", ja="キャッシュの不足")
REMAINDER = Text(en="Less than a block", ja="1 ブロック未満の端数")
REMAINDER_AND_NULL = Text(en="Null block and rest", ja="null ブロックと端数")

CARD = Text(en="{device}: {bytes}", ja="{device}：{bytes}")
ASSUMED = Text(en="{bytes} (assumed)", ja="{bytes}（推定）")
SHORT = Text(en="{need} needed, {short} short", ja="必要 {need}、不足 {short}")
SHORT_WITH_CACHE = Text(en="{short} short, {cache} of it for the cache", ja="不足 {short}（うちキャッシュ {cache}）")
NOT_TO_SCALE = Text(en="not to scale", ja="長さは省略表示")

NEED_WORKING = Text(en="{requests} × {request}", ja="{requests} 件 × {request}")
NEED_WORKING_SHARED = Text(en="{shared} shared + {requests} × {own}", ja="共有 {shared} + {requests} 件 × {own}")
NEEDED_SOURCE = Text(
    en="{working} ({tokens} each), as the engine counts",
    ja="{working}（各 {tokens}、エンジンの数え方）",
)
THAT_FITS_SOURCE = Text(
    en="Of {need} needed ({working}), what the pool holds",
    ja="必要な {need}（{working}）のうちプールに入る分",
)
KEPT_FREE_SOURCE = Text(
    en="{share} of the pool of {pool}, in whole blocks",
    ja="プール {pool} の {share}（ブロック単位に切り上げ）",
)
KEPT_FREE_SOURCE_BYTES = Text(en="{share} of the pool of {pool}", ja="プール {pool} の {share}")
SPARE_SOURCE_KEPT_BYTES = Text(
    en="Pool of {pool} − {kept} kept free − needed", ja="プール {pool} − 空けておく {kept} − 必要量"
)
SPARE_SOURCE_BYTES = Text(en="Pool of {pool} − needed", ja="プール {pool} − 必要量")
BLOCKS = Text(en="{blocks} {blocks:block|blocks}", ja="{blocks} ブロック")
BLOCKS_WITH_NULL = Text(
    en="{blocks} {blocks:block|blocks}, 1 null",
    ja="{blocks} ブロック、うち null 1 個",
)
SPARE_SOURCE_KEPT = Text(
    en="Pool of {pool} ({blocks}) − {kept} kept free − needed",
    ja="プール {pool}（{blocks}）− 空けておく {kept} − 必要量",
)
SHORT_SOURCE_KEPT = Text(
    en="Needed {need} − (pool of {pool} − {kept} kept free)",
    ja="必要量 {need} −（プール {pool} − 空けておく {kept}）",
)
SPARE_SOURCE = Text(
    en="Pool of {pool} ({blocks}) − needed",
    ja="プール {pool}（{blocks}）− 必要量",
)
SHORT_SOURCE = Text(en="Needed {need} − pool of {pool}", ja="必要量 {need} − プール {pool}")
THAT_FIT_SOURCE = Text(en="Of {whole}, what fits", ja="{whole} のうち収まる分")
WEIGHTS_OVER_SOURCE = Text(
    en="What the engine's {share} cannot hold beside the other parts",
    ja="エンジンの枠 {share} に、ほかの内訳と合わせて収まらない分",
)
RUN_TIME_SHORT_SOURCE = Text(
    en="What the engine's {share} cannot hold beside the weights",
    ja="エンジンの枠 {share} に、重みと合わせて収まらない分",
)
REMAINDER_SOURCE = Text(
    en="Left over: the pool is whole blocks of {block}",
    ja="余り：プールは {block} のブロック単位",
)
REMAINDER_AND_NULL_SOURCE = Text(
    en="The block that no request is given, and less than a block of {block}",
    ja="リクエストに渡されないブロックと、{block} のブロック未満の余り",
)
OUTSIDE_SOURCE = Text(
    en="{total} that programs see − the engine's memory fraction of {fraction}",
    ja="プログラムから見える {total} − エンジンの枠（メモリ使用率 {fraction}）",
)

LEDGER_ALT = Text(
    en="Memory of one {device}, {total}: {parts}. {verdict}",
    ja="{device} 1 基のメモリ {total} の内訳：{parts}。{verdict}",
)
PART_BYTES = Text(en="{label} {bytes}", ja="{label} {bytes}")
PART_IN_BRACKETS = Text(en="{part} ({more})", ja="{part}（{more}）")
PART_SEPARATOR = Text(en=", ", ja="、")
VERDICT_SPARE = Text(
    en="Cache needed for {requests} of {tokens}: {need}; {spare} stay free.",
    ja="{tokens}のリクエスト {requests}にはキャッシュ {need} が必要で、{spare} が余ります。",
)
VERDICT_SHORT = Text(
    en="Cache needed for {requests} of {tokens}: {need}; the pool is {pool}: {short} short.",
    ja="{tokens}のリクエスト {requests}にはキャッシュ {need} が必要ですが、プールは {pool} で、{short} 不足します。",
)
VERDICT_WEIGHTS = Text(
    en="The weights are larger than the engine's share. {short} short in all, {need} of it for the cache.",
    ja="重みがエンジンの枠を超えています。全部で {short} 不足し、うち {need} はキャッシュの分です。",
)
VERDICT_NO_ROOM = Text(
    en="Weights and run time leave no room for a cache. {short} short in all, {need} of it for the cache.",
    ja="重みと実行時メモリだけで、キャッシュの余地がありません。"
    "全部で {short} 不足し、うち {need} はキャッシュの分です。",
)
VERDICT_HELD = Text(
    en="While all of them decode they hold {held}.",
    ja="すべてがデコード中のときの保持量は {held} です。",
)
VERDICT_SHARED = Text(
    en="{shared} of it are shared by all requests and counted once.",
    ja="そのうち {shared} は全リクエストで共有し、1 回だけ数えます。",
)
POOL_KEPT = Text(en="{pool} ({kept} of it kept free)", ja="{pool}（うち {kept} は空けておく分）")
VERDICT_ROOM = Text(en="The pool for the cache is {pool}.", ja="キャッシュ用のプールは {pool} です。")

# Growth: cache against length.
GROWTH_TITLE = Text(en="Cache on one GPU, {unit}", ja="GPU 1 基のキャッシュ（{unit}）")
GROWTH_TITLE_CONTENT = Text(en="Cache content, whole model, {unit}", ja="実データ量、モデル全体（{unit}）")
GROWTH_TITLE_LOG = Text(en="Cache on one GPU, logarithmic", ja="GPU 1 基のキャッシュ（対数目盛）")
GROWTH_TITLE_CONTENT_LOG = Text(en="Cache content, whole model, logarithmic", ja="実データ量、モデル全体（対数目盛）")
TOKENS_AXIS = Text(en="Tokens per request (input + output)", ja="リクエストあたりのトークン数（入力 + 出力）")
HERE = Text(en="You are here:<br>{tokens}", ja="現在の設定：<br>{tokens}")
HERE_ABOVE = Text(
    en="You are here:<br>{tokens}<br>{bytes},<br>above the chart", ja="現在の設定：<br>{tokens}<br>{bytes}（範囲外）"
)
FIT_UNTIL = Text(en="{requests}: up to {tokens}", ja="{requests}：{tokens}まで")
FIT_MODEL = Text(en="{requests}: up to the model's {tokens}", ja="{requests}：モデルの最大 {tokens}まで")
FIT_ALWAYS = Text(en="{requests}: fit at any length", ja="{requests}：長さによらず収まる")
FIT_NEVER = Text(en="{requests}: do not fit", ja="{requests}：収まらない")
ONE_FITS_ALWAYS = Text(en="1 request: fits at any length", ja="1 件：長さによらず収まる")
ONE_FITS_NEVER = Text(en="1 request: does not fit", ja="1 件：収まらない")
CAPACITY = Text(en="Room for the cache: {bytes}", ja="キャッシュの容量：{bytes}")
CAPACITY_KEPT = Text(
    en="Room for the cache: {bytes}<br>({kept} more are kept free)",
    ja="キャッシュの容量：{bytes}<br>（ほかに {kept} を空けておく）",
)
TYPICAL = Text(en="Typical length: {tokens}", ja="典型的な長さ：{tokens}")
TYPICAL_FIT = Text(en="Typical length: {tokens} ({fit} fit)", ja="典型的な長さ：{tokens}（{fit} 件収まる）")
WEIGHTS_LINE = Text(en="Weights: {bytes}", ja="重み：{bytes}")
WEIGHTS_PASSED = Text(
    en="Weights: {bytes}<br>(cache of {requests} is larger from {tokens})",
    ja="重み：{bytes}<br>（{requests}のキャッシュは {tokens}で超過）",
)
WEIGHTS_PASSED_ALWAYS = Text(
    en="Weights: {bytes}<br>(cache of {requests} is larger at any length)",
    ja="重み：{bytes}<br>（{requests}のキャッシュは長さによらず超過）",
)
WEIGHTS_OFF = Text(en="Weights: {bytes} (above the chart)", ja="重み：{bytes}（グラフの範囲外）")
BEYOND = Text(en="Beyond the model's {tokens}", ja="モデルの最大 {tokens}を超える範囲")
HOVER_TOKENS = Text(en="tokens", ja="トークン")

GROWTH_ALT = Text(
    en="Cache on one GPU against tokens per request. {here} of {tokens}: {bytes}.",
    ja="リクエストあたりのトークン数に対する GPU 1 基のキャッシュ。{tokens}では {here}で {bytes} です。",
)
GROWTH_ALT_CONTENT = Text(
    en="Cache content of the whole model against tokens per request. {here} of {tokens}: {bytes}.",
    ja="リクエストあたりのトークン数に対するモデル全体の実データ量。{tokens}では {here}で {bytes} です。",
)
GROWTH_ALT_CAPACITY = Text(
    en="There is room for {bytes}: {crossings}.",
    ja="容量は {bytes} です。収まる範囲：{crossings}。",
)
GROWTH_ALT_WEIGHTS = Text(en="The weights take {bytes}.", ja="重みは {bytes} です。")

# The frontier: context against concurrency.
FRONTIER_TITLE = Text(en="Requests in flight, over all GPUs", ja="同時リクエスト数（全 GPU の合計）")
FRONTIER_SHARES = Text(en="Cache per GPU, share of {bytes}", ja="GPU あたりのキャッシュ（{bytes} に対する割合）")
FRONTIER = Text(en="Most that fit", ja="収まる上限")
MODEL_MAXIMUM = Text(en="Model's max:<br>{tokens}", ja="モデル最大：<br>{tokens}")
HERE_REQUESTS = Text(
    en="You are here:<br>{requests} × {tokens}<br>({fit} fit)",
    ja="現在の設定：<br>{requests} 件 × {tokens}<br>（{fit} 件収まる）",
)
FIT_AT_ONCE = Text(en="Fit at once", ja="同時に収まる件数")
NEED_GIB = Text(en="{requests}, GiB per GPU", ja="{requests}、GPU あたり GiB")
SHARE_OF_ROOM = Text(en="{requests}, % of the room", ja="{requests}、容量に対する %")
FRONTIER_ALT = Text(
    en="How many requests fit at once, against tokens per request: {counts}. {here} of {tokens} take {bytes} of the "
    "{room} per GPU; {fit} fit.",
    ja="リクエストあたりのトークン数に対する、同時に収まるリクエスト数：{counts}。"
    "各 {tokens}の {here}は GPU あたりの容量 {room} に対し {bytes} で、収まるのは {fit} 件です。",
)
FRONTIER_ALT_COUNT = Text(en="{fit} at {tokens}", ja="{tokens}で {fit} 件")

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
    "H": Text(en="Compressed {ratio}:1", ja="圧縮アテンション {ratio}:1"),
    "h": Text(en="Compressed {ratio}:1", ja="圧縮アテンション {ratio}:1"),
    ".": Text(en="Stores nothing", ja="何も保存しない"),
}
SHORT_KINDS = {
    "f": Text(en="full", ja="フル"),
    "F": Text(en="full with indexer", ja="フル + インデクサー"),
    "l": Text(en="latent", ja="潜在"),
    "L": Text(en="latent with indexer", ja="潜在 + インデクサー"),
    "w": Text(en="window", ja="ウィンドウ"),
    "c": Text(en="chunked", ja="チャンク"),
    "s": Text(en="fixed state", ja="固定長の状態"),
    "b": Text(en="fixed state with full", ja="固定長の状態 + フル"),
    "x": Text(en="cross", ja="クロス"),
    "X": Text(en="full and cross", ja="フル + クロス"),
    "H": Text(en="compressed", ja="圧縮"),
    "h": Text(en="compressed", ja="圧縮"),
    ".": Text(en="storing nothing", ja="保存なし"),
}
"""The kinds where a line must do; two compressed ones are one."""
SHORT_COUNT = Text(en="{count} {kind}", ja="{kind} {count}")
LAYER_COUNTS = Text(en="{count} {count:layer|layers}: {kinds}", ja="{count} レイヤー：{kinds}")
WINDOW_TOKENS = Text(en="last {tokens}", ja="直近 {tokens}")
CHUNK_TOKENS = Text(en="chunks of {tokens}", ja="{tokens}のチャンク")
CROSS_TOKENS = Text(en="encoder: {tokens}", ja="エンコーダー {tokens}")
RATIO = Text(en="1 record per {tokens}", ja="{tokens}ごとに 1 レコード")
LAYER = Text(en="Layer {layer}", ja="レイヤー {layer}")
LAYER_RANGE = Text(en="{first}–{last}", ja="{first}–{last}")
LAYER_TITLE = Text(en="{layer}: {kind}, {bytes}", ja="{layer}：{kind}、{bytes}")
KIND_DETAIL = Text(en="{kind}, {detail}", ja="{kind}、{detail}")
KIND_COUNT = Text(en="{count} × {kind}", ja="{kind} × {count}")
EACH = Text(en="{bytes} each", ja="1 レイヤー {bytes}")
EACH_RANGE = Text(en="{least} to {most} each", ja="1 レイヤー {least}～{most}")
STRIP_TITLE = Text(en="One sequence of {tokens}, layer by layer", ja="{tokens}の 1 系列、レイヤー別")
STRIP_SCALE = Text(en="Height of a frame: {bytes}.", ja="枠の高さは {bytes}。")
STRIP_WIDE = Text(en="Wide cells grow in proportion to the tokens.", ja="幅の広いセルはトークン数に比例して増えます。")
STRIP_ALT = Text(
    en="Layers: {count}, at {tokens}: {kinds}.",
    ja="{tokens}時の {count} レイヤー：{kinds}。",
)
