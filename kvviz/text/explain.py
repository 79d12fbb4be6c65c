"""Why this number: the working, line by line."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

# One line per kind of cache: what is multiplied. Formulas are the same in both languages.
FULL = Text("Full attention × {layers}", "フルアテンション × {layers} レイヤー")
WINDOW = Text("Window of {limit} tokens × {layers}", "ウィンドウ {limit} トークン × {layers} レイヤー")
WINDOW_WIDE = Text(
    "Window of {limit} tokens, which is no limit here × {layers}",
    "実質制限にならないウィンドウ {limit} トークン × {layers} レイヤー",
)
CHUNK = Text("Chunks of {limit} tokens × {layers}", "チャンク {limit} トークン × {layers} レイヤー")
LATENT = Text(
    "Latent attention (MLA), stored once × {layers}", "潜在アテンション（MLA、1 回だけ保存）× {layers} レイヤー"
)
INDEXER = Text("Indexer key × {layers}", "インデクサーのキー × {layers} レイヤー")
STATE = Text("Fixed state ({mixer}) × {layers}", "固定長の状態（{mixer}）× {layers} レイヤー")
CROSS = Text(
    "Cross-attention over {limit} encoder tokens × {layers}",
    "エンコーダー {limit} トークンへのクロスアテンション × {layers} レイヤー",
)
COMPRESSED = Text(
    "Compressed, one record per {ratio} tokens × {layers}",
    "圧縮（{ratio} トークンごとに 1 レコード）× {layers} レイヤー",
)
COMPRESSED_WINDOW = Text(
    "Packed window of {limit} tokens × {layers}", "圧縮ウィンドウ {limit} トークン × {layers} レイヤー"
)


COLUMN_WHAT = Text("What", "内訳")
COLUMN_FORMULA = Text("Formula", "計算式")
COLUMN_TOKENS = Text("× tokens kept", "× 保持トークン数")
ONCE = Text("once", "1 回")
COLUMN_BYTES = Text("Bytes", "バイト")
COLUMN_SIZE = Text("Size", "サイズ")

COLUMN_MEANING = Text("What it is", "意味")

COLUMN_TERM = Text("Number", "項目")
COLUMN_VALUE = Text("Value", "値")
COLUMN_ORIGIN = Text("Config field or origin", "config の項目・出典")
ORIGIN_DEFAULT = Text("default of {where}", "{where} の既定値")
ORIGIN_DERIVED = Text("computed: {where}", "計算：{where}")
TERMS: Final[Mapping[str, Text]] = {
    "layers": Text("Layers", "レイヤー数"),
    "layer_types": Text("Kinds of layers", "レイヤーの種類"),
    "attention_sublayers": Text("Attention in a layer", "レイヤー内のアテンション数"),
    "shared_layers": Text("Layers that share a cache", "キャッシュを共有するレイヤー数"),
    "draft_layers": Text("Draft layers", "ドラフト用レイヤー数"),
    "hidden_size": Text("Hidden size", "隠れ層の次元"),
    "vocab_size": Text("Vocabulary", "語彙数"),
    "max_context_tokens": Text("Longest context (tokens)", "最大コンテキスト長（トークン）"),
    "heads": Text("Query heads", "クエリヘッド数"),
    "kv_heads": Text("KV heads", "KV ヘッド数"),
    "layer_heads": Text("Heads, layer by layer", "レイヤー別のヘッド数"),
    "head_dim": Text("Head size", "ヘッドの次元"),
    "value_dim": Text("Value dimension", "V の次元"),
    "expanded_key_dim": Text("Key dimension, expanded", "展開後の K の次元"),
    "full_kv_heads": Text("KV heads, full attention", "KV ヘッド数（フルアテンション）"),
    "full_head_dim": Text("Head size, full attention", "ヘッドの次元（フルアテンション）"),
    "window_tokens": Text("Window (tokens)", "ウィンドウ（トークン）"),
    "window_pattern": Text("A full layer every", "フルアテンションの間隔"),
    "window_kv_heads": Text("KV heads, windows", "KV ヘッド数（ウィンドウ）"),
    "window_head_dim": Text("Head size, windows", "ヘッドの次元（ウィンドウ）"),
    "window_value_dim": Text("Value dimension, windows", "V の次元（ウィンドウ）"),
    "chunk_tokens": Text("Chunk (tokens)", "チャンク（トークン）"),
    "latent_dim": Text("Latent dimension", "潜在ベクトルの次元"),
    "rope_dim": Text("Rotary dimension", "RoPE の次元"),
    "index_key_dim": Text("Indexer key dimension", "インデクサーのキーの次元"),
    "encoder_tokens": Text("Encoder tokens", "エンコーダーのトークン数"),
    "conv_kernel": Text("Convolution width", "畳み込みの幅"),
    "conv_channels": Text("Convolution channels", "畳み込みのチャネル数"),
    "state_heads": Text("State heads", "状態のヘッド数"),
    "state_head_dim": Text("State head size", "状態のヘッドの次元"),
    "state_key_heads": Text("State key heads", "状態の K のヘッド数"),
    "state_key_dim": Text("State key dimension", "状態の K の次元"),
    "state_value_dim": Text("State value dimension", "状態の V の次元"),
    "state_width": Text("State width", "状態の幅"),
    "state_size": Text("State size", "状態のサイズ"),
    "state_expand": Text("State expansion", "状態の拡大率"),
    "state_groups": Text("State groups", "状態のグループ数"),
    "state_dtype": Text("State type", "状態のデータ型"),
}
"""What the numbers are called that a layout rests on; others go by the name of their config field."""

THREE = Text("Three numbers, and why they differ", "3 つの数値と、その違いの理由")
CONTENT = Text("Content", "実データ量")
CONTENT_WHY = Text(
    "What the state of one sequence of {tokens} tokens needs, over the whole model.",
    "{tokens} トークンの 1 系列の状態に必要な量です（モデル全体）。",
)
RESERVATION = Text("Reservation", "確保量")
RESERVATION_WHY = Text(
    "What {engine} counts one such request as on one GPU: {blocks} pool {blocks:block|blocks} of {block_bytes}.",
    "{engine} が GPU 1 基で 1 リクエストとして計上する量です。プールのブロック {blocks} 個、1 個 {block_bytes} です。",
)
RESERVATION_WHY_GROUPS = Text(
    "What {engine} counts one such request as on one GPU: "
    "pool blocks by group of layers: {blocks}, {block_bytes} each.",
    "{engine} が GPU 1 基で 1 リクエストとして計上する量です。"
    "プールのブロック {blocks} 個（レイヤーのグループごと）、1 個 {block_bytes} です。",
)
RESERVATION_SGLANG = Text(
    "What {engine} takes of its pools for one such request on the fullest GPU: whole pages of tokens, and state slots.",
    "{engine} が最も埋まる GPU で 1 リクエストのためにプールから取る量です（ページ単位のトークンと状態のスロット）。",
)
RESERVATION_TENSORRT_LLM = Text(
    "What {engine} takes for one such request on the fullest GPU: whole blocks in the pool of each window, and states.",
    "{engine} が最も埋まる GPU で 1 リクエストのために取る量です（ウィンドウごとのプールのブロックと状態）。",
)
RESERVATION_LLAMA_CPP = Text(
    "What {engine} allocates at start on the fullest GPU for one slot of that length, its cells rounded up.",
    "{engine} がこの長さの 1 スロットのために、最も埋まる GPU で起動時に確保する量です（セル数は切り上げ）。",
)
RESERVATION_TRANSFORMERS = Text(
    "The most that one such request takes at any moment on the fullest GPU in {engine}: a step that appends needs one "
    "layer twice.",
    "{engine} で 1 リクエストが最も埋まる GPU で一時的に占める最大の量です。"
    "追加の際に 1 レイヤー分が二重に必要になります。",
)
HELD = Text("Held", "保持量")
HELD_WHY = Text("What it occupies on one GPU while it decodes.", "デコード中に GPU 1 基で占める量です。")
HELD_BLOCKS = Text(
    "What it occupies on one GPU while it decodes, in whole blocks.",
    "デコード中に GPU 1 基で占める量です（ブロック単位）。",
)
HELD_PAGES = Text(
    "What it occupies on one GPU while it decodes, in whole pages.",
    "デコード中に GPU 1 基で占める量です（ページ単位）。",
)
POOL = Text("Pool", "プール")
POOL_ROOM_WHY = Text(
    "What {engine} has for caches on the fullest GPU, beside weights and everything else.",
    "{engine} が最も埋まる GPU で、重みなどを除いてキャッシュに使える量です。",
)
POOL_WHY = Text(
    "What {engine} allocates at start on each GPU, whatever the load: {blocks} {blocks:block|blocks}.",
    "{engine} が負荷に関わらず起動時に各 GPU で確保する量です（{blocks} ブロック）。",
)
DIFFER_EXACT = Text(
    "Reservation is content rounded up to whole blocks.",
    "確保量は、実データ量をブロック単位に切り上げたものです。",
)
DIFFER_WINDOWS = Text(
    "The engine counts windows with {in_flight} in-flight tokens on top; a decoding request holds far less.",
    "エンジンはウィンドウに先行スケジュールの {in_flight} トークンを加えて計上します。"
    "デコード中の保持量はずっと少なくなります。",
)
DIFFER_CHUNKS = Text(
    "The engine counts chunks with {in_flight} in-flight tokens on top; a decoding request holds far less.",
    "エンジンはチャンクに先行スケジュールの {in_flight} トークンを加えて計上します。"
    "デコード中の保持量はずっと少なくなります。",
)
DIFFER_FULL_LENGTH = Text(
    "Layers with a window or a chunk keep every token here; content counts only what they reach back to.",
    "ここではウィンドウやチャンクのあるレイヤーも全トークンを保持します。実データ量は、参照する範囲だけを数えたものです。",
)
DIFFER_STATE = Text(
    "States and attention share pages of one size, so blocks are {block_tokens} tokens, "
    "and states are padded and kept in copies.",
    "状態とアテンションはページの大きさを揃えるため、ブロックは {block_tokens} トークンになり、"
    "状態はパディングと複製を含みます。",
)
DIFFER_SPLIT = Text(
    "On {tp} GPUs each holds its share of {what}.",
    "{tp} 基の GPU ではそれぞれが{what}を分担します。",
)
DIFFER_SPLIT_SOME = Text(
    "On {tp} GPUs each holds its share of {what}; what cannot be split is copied.",
    "{tp} 基の GPU ではそれぞれが{what}を分担し、分割できないものは複製されます。",
)
DIFFER_COPIED = Text(
    "Nothing of this cache can be split: each of the {tp} GPUs keeps a copy of all of it.",
    "このキャッシュは分割できず、{tp} 基の GPU それぞれが全体の複製を保持します。",
)
DIFFER_TOKENS = Text(
    "Decode context parallel shares out the tokens: each GPU holds one in {dcp} of them.",
    "デコードコンテキスト並列でトークンを分けるため、各 GPU が保持するのは {dcp} 個に 1 個です。",
)
DIFFER_COPIES = Text(
    "Over the {tp} GPUs each token is kept {copies} times.",
    "{tp} 基の GPU 全体で、各トークンは {copies} 重に置かれます。",
)
SHARE_HEADS = Text("the KV heads", " KV ヘッド")
SHARE_STATES = Text("the states", "状態")
SHARE_BOTH = Text("the KV heads and the states", " KV ヘッドと状態")
