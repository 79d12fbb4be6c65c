"""Known ways to get a KV cache wrong: what each is called, and why it is wrong."""

from kvviz.text.base import Text

# What a number can be about
OF_TOKEN = Text("one more token", "トークン 1 個")
OF_TOKEN_AVERAGE = Text("one token, averaged over the request", "トークン 1 個（リクエスト全体の平均）")
OF_REQUEST = Text("one request", "1 リクエスト")
OF_REQUEST_COUNTED = Text(
    "what {engine} counts one request as, on one GPU", "{engine} が GPU 1 基で 1 リクエストとして計上する量"
)
OF_REQUEST_HELD = Text(
    "what one request occupies while it decodes, on one GPU", "1 リクエストがデコード中に GPU 1 基で占める量"
)
OF_REQUEST_ALL_GPUS = Text(
    "one request on all {gpus} GPUs together, copies included",
    "1 リクエストの、GPU {gpus} 基すべての合計（複製を含む）",
)
OF_LOAD = Text("all {requests} {requests:request|requests} together", "{requests} リクエストの合計")
OF_LOAD_COUNTED = Text(
    "what {engine} counts for all {requests} {requests:request|requests}, on one GPU",
    "{engine} が GPU 1 基で {requests} リクエスト分として計上する量",
)
OF_POOL = Text(
    "the pool {engine} sets aside at start on one GPU, whatever the load",
    "{engine} が負荷に関わらず起動時に GPU 1 基で確保するプール",
)
OF_CARD = Text(
    "all that {engine} takes of one GPU, weights and pool: what nvidia-smi shows",
    "{engine} が GPU 1 基で占める全体（重みとプール）。nvidia-smi に表示される値",
)
OF_WEIGHTS = Text("the weights alone, without any cache", "キャッシュを含まない重みだけの量")

# Heads and widths
HIDDEN_OVER_HEADS = Text("hidden size ÷ heads in place of head_dim", "head_dim の代わりに隠れ層の次元 ÷ ヘッド数")
HIDDEN_OVER_HEADS_WHY = Text(
    "{hidden} ÷ {heads} = {derived}, but the config gives a head size of its own: {head_dim}.",
    "{hidden} ÷ {heads} = {derived} ですが、config にはヘッドの次元 {head_dim} が明記されています。",
)
MHA = Text("attention heads in place of KV heads (MHA)", "KV ヘッド数の代わりにアテンションのヘッド数（MHA）")
MHA_WHY = Text(
    "Only the {kv_heads} KV heads are stored; the {heads} query heads share them.",
    "保存されるのは {kv_heads} 個の KV ヘッドだけで、{heads} 個のクエリヘッドがそれを共有します。",
)
HIDDEN_WIDTH = Text("hidden size as the width of K and V", "K と V の幅に隠れ層の次元")
HIDDEN_WIDTH_WHY = Text(
    "K and V are not {hidden} wide: each layer stores its KV heads or a latent, which is narrower.",
    "K と V の幅は {hidden} ではありません。各レイヤーが保存するのは、より狭い KV ヘッドか潜在ベクトルです。",
)
NO_TWO = Text("the factor 2 missing", "係数 2 の欠落")
NO_TWO_WHY = Text("Keys and values are both stored.", "K と V の両方が保存されます。")
EXTRA_TWO = Text("a factor 2 too many", "余分な係数 2")
EXTRA_TWO_WHY = Text(
    "Keys and values are two already; nothing else doubles them.",
    "2 は K と V の分であり、ほかに 2 倍になる要因はありません。",
)

# Latents
MLA_EXPANDED = Text("latents expanded into heads", "潜在ベクトルをヘッドに展開")
MLA_EXPANDED_WHY = Text(
    "MLA stores one latent per token and layer, not the keys and values of {heads} heads. Old engine versions did.",
    "MLA が保存するのは各レイヤーで 1 トークンにつき 1 本の潜在ベクトルで、{heads} ヘッド分の K と V ではありません"
    "（古い版のエンジンは展開していました）。",
)
MLA_ROPE_HEADS = Text("latents as heads of the rotary width", "潜在ベクトルを RoPE の幅のヘッドとして計算")
MLA_ROPE_HEADS_WHY = Text(
    "The head_dim that libraries report for MLA is its rotary part; times {heads} heads it means nothing.",
    "MLA でライブラリーが返す head_dim は RoPE の部分で、{heads} ヘッドを掛けても意味がありません。",
)
MLA_TWICE = Text("the latent counted twice", "潜在ベクトルを 2 回計上")
MLA_TWICE_WHY = Text(
    "The value is a slice of the latent: it is stored once, not as K and V.",
    "V は潜在ベクトルの一部なので、K と V の 2 つではなく 1 回だけ保存されます。",
)
NO_INDEXER = Text("indexer keys left out", "インデクサーのキーの計上漏れ")
NO_INDEXER_WHY = Text(
    "Sparse attention keeps one small key per token besides.",
    "スパースアテンションは、トークンごとに小さなキーも保存します。",
)
INDEXER_WIDE = Text("indexer keys in 16 bits", "インデクサーのキーを 16 ビットで計算")
INDEXER_WIDE_WHY = Text(
    "They are stored in fp8 with a scale, whatever the cache type.",
    "キャッシュの型に関わらず、スケール付きの fp8 で保存されます。",
)

# Element types
WIDTH_WHY = Text(
    "The cache is {dtype} here: {stored} B a value. The type of the weights does not change it.",
    "ここでのキャッシュは {dtype}（1 値 {stored} B）です。重みの型では変わりません。",
)
FP32 = Text("FP32 (4 B a value)", "FP32（1 値 4 B）")
SIXTEEN = Text("16 bits (2 B a value)", "16 ビット（1 値 2 B）")
EIGHT = Text("8 bits (1 B), the weights' type", "8 ビット（1 値 1 B、重みの型）")
FOUR = Text("4 bits (½ B), the weights' type", "4 ビット（1 値 ½ B、重みの型）")
MXFP4 = Text("MXFP4 (17/32 B), the weights' type", "MXFP4（1 値 17/32 B、重みの型）")
BITS = Text("bits taken for bytes (8 B a value)", "ビットをバイトとして計算（1 値 8 B）")
NO_SCALES = Text("scales forgotten", "スケールの計上漏れ")
NO_SCALES_WHY = Text(
    "{dtype} keeps scales, or a part in 16 bits, beside its values.",
    "{dtype} は値のほかに、スケールや 16 ビットの部分を保存します。",
)

# Which layers, how much of each
WINDOWS_IGNORED = Text("windows ignored", "ウィンドウの無視")
WINDOWS_IGNORED_WHY = Text(
    "Layers with a window or chunks keep {limit} tokens at most, not all {tokens}.",
    "ウィンドウやチャンクのレイヤーが保持するのは最大 {limit} トークンで、{tokens} 全部ではありません。",
)
WINDOWS_DROPPED = Text("layers with a window left out", "ウィンドウのあるレイヤーの計上漏れ")
WINDOWS_DROPPED_WHY = Text(
    "They keep {limit} tokens: little at this length, not nothing.",
    "{limit} トークンは保持します。この長さでは少量でも、ゼロではありません。",
)
ALL_WINDOWED = Text("a window in every layer", "全レイヤーにウィンドウがあるとみなす")
ALL_WINDOWED_WHY = Text(
    "Some layers attend to everything and keep all {tokens} tokens.",
    "全体を参照するレイヤーがあり、{tokens} トークンすべてを保持します。",
)
NOT_COMPRESSED = Text("compression ignored", "圧縮の無視")
NOT_COMPRESSED_WHY = Text(
    "Compressed layers keep one record for several tokens, not one for each.",
    "圧縮するレイヤーは、複数のトークンをまとめて 1 レコードで保存します。",
)
STATES_IGNORED = Text("fixed states left out", "固定長の状態の計上漏れ")
STATES_IGNORED_WHY = Text(
    "Recurrent layers keep a state per request, whatever its length.",
    "再帰型のレイヤーは、長さに関わらずリクエストごとに状態を保持します。",
)
ALL_LAYERS = Text("all {layers} {layers:layer|layers} counted", "全 {layers} レイヤーを計上")
ALL_LAYERS_WHY = Text(
    "Only {storing} of them store keys and values for every token.",
    "トークンごとに K と V を保存するのは {storing} レイヤーだけです。",
)
TEXTBOOK = Text("one geometry for every layer", "全レイヤーを同じ形とみなす")
TEXTBOOK_WHY = Text(
    "2 × layers × num_key_value_heads × head_dim holds only where all layers are alike; here they are not.",
    "2 × レイヤー数 × num_key_value_heads × head_dim は、全レイヤーが同じ形のときだけ成り立ちます。",
)

# Lengths, requests, GPUs, and what is no cache
MAX_LENGTH = Text("the model's longest context", "モデルの最大コンテキスト長で計算")
MAX_LENGTH_WHY = Text(
    "It is for {maximum} tokens; this request has {tokens}.",
    "{maximum} トークンの値です。このリクエストは {tokens} トークンです。",
)
NO_OUTPUT = Text("the answer's tokens left out", "出力トークンの計上漏れ")
NO_OUTPUT_WHY = Text(
    "The cache holds input and output: {tokens} tokens, not {input}.",
    "キャッシュには入力と出力が残ります（{input} ではなく {tokens} トークン）。",
)
SUMMED = Text("summed over all requests", "全リクエストの合計")
SUMMED_WHY = Text("It is all {requests} together, not one.", "1 件ではなく {requests} 件の合計です。")
BATCH_OF_ONE = Text("a batch of one", "バッチサイズ 1 で計算")
BATCH_OF_ONE_WHY = Text(
    "Each of the {requests} {requests:request|requests} in flight holds a cache of its own.",
    "同時に処理する {requests} 件が、それぞれ自分のキャッシュを持ちます。",
)
TIMES_GPUS = Text("multiplied by the GPUs", "GPU の数を乗算")
TIMES_GPUS_WHY = Text(
    "The {gpus} GPUs share the cache; not each holds all of it.",
    "{gpus} 基の GPU はキャッシュを分担します。それぞれが全体を持つわけではありません。",
)
DIVIDED = Text("divided by the GPUs", "GPU の数で除算")
DIVIDED_WHY = Text(
    "Something is copied to each of the {gpus} GPUs: a latent, or a KV head where there are fewer of them.",
    "潜在ベクトルや、GPU より少ない KV ヘッドなど、{gpus} 基の GPU に複製されるものがあります。",
)
WEIGHTS_INCLUDED = Text("weights included", "重みを含む")
WEIGHTS_INCLUDED_WHY = Text(
    "{weights} of it are the model's weights, which are there once.",
    "うち {weights} はモデルの重みで、リクエストの数に関わらず 1 回分です。",
)
RULE_OF_THUMB = Text("a rule of thumb: weights × 1.2", "経験則（重み × 1.2）")
RULE_OF_THUMB_WHY = Text(
    "The cache does not follow from the weights ({weights}): layers, KV heads, length and requests make it.",
    "キャッシュは重み（{weights}）からは決まりません。レイヤー、KV ヘッド、長さ、リクエスト数で決まります。",
)
FIFTH_OF_WEIGHTS = Text("a rule of thumb: a fifth of the weights", "経験則（重みの 5 分の 1）")
UNIT_MIXED = Text(
    "And {real} was written as {said}: that is another {percent}%.",
    "さらに {real} が {said} と書かれています（差は {percent}%）。",
)

NEGATIVE = Text(
    "“{shown}” is negative, which no memory is. Write the amount without a sign.",
    "「{shown}」は負の数です。メモリ量は符号を付けずに入力してください。",
)
OUT_OF_RANGE = Text(
    "“{shown}” is no amount that a cache could have. Write one from 1 byte to 1,000,000 TB, like 40 GB.",
    "「{shown}」はキャッシュとしてあり得ない量です。40 GB のように、1 バイトから 1,000,000 TB までで入力してください。",
)
NOT_A_NUMBER = Text(
    "No amount of memory in “{shown}”. Write it like 40 GB, 20–40 GB, 39 GiB, 2.5 GB per user or 1.2 MB/token.",
    "「{shown}」にメモリ量が見つかりません。40 GB、20～40 GB、39 GiB、2.5 GB/ユーザー、1.2 MB/トークンのように"
    "入力してください。",
)
