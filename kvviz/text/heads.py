"""The Shared heads page: who shares which heads, what it costs, and what other kinds of layers keep."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

PAGE = Text("Shared heads (GQA)", "ヘッド共有（GQA）")
TAB_HEADS = Text("Shared heads", "ヘッド共有")
TAB_LAYERS = Text("Other kinds of layer", "他の種類のレイヤー")

# --- presets ---------------------------------------------------------------------------------------------------------

PRESETS_LABEL = Text("Examples", "例")
PRESETS: Final[Mapping[str, Text]] = {
    "pair": Text("Qwen-7B against Qwen2.5-7B", "Qwen-7B と Qwen2.5-7B"),
    "mha": Text("Llama-2-7B (MHA)", "Llama-2-7B（MHA）"),
    "gqa": Text("Llama-3.1-8B (GQA)", "Llama-3.1-8B（GQA）"),
    "mqa": Text("SantaCoder (MQA)", "SantaCoder（MQA）"),
    "mla": Text("DeepSeek-V3 (MLA)", "DeepSeek-V3（MLA）"),
    "windows": Text("Gemma-3 (windows)", "Gemma-3（ウィンドウ）"),
    "states": Text("Qwen3-Next (states)", "Qwen3-Next（状態）"),
}
SETTINGS = Text("Model, GPUs and lengths", "モデル、GPU、長さ")

# --- the headline ----------------------------------------------------------------------------------------------------

HEAD_MHA = Text(
    "{model}: each of {queries} query heads has a KV head of its own (MHA)",
    "{model}：クエリヘッド {queries} 個が KV ヘッドを 1 個ずつ専有（MHA）",
)
HEAD_GQA = Text(
    "{model}: {queries} query heads share {heads} KV heads (GQA), {ratio} of the cache of MHA",
    "{model}：クエリヘッド {queries} 個が KV ヘッド {heads} 個を共有（GQA）、キャッシュは MHA の {ratio}",
)
HEAD_MQA = Text(
    "{model}: all {queries} query heads share one KV head (MQA), {ratio} of the cache of MHA",
    "{model}：クエリヘッド {queries} 個すべてが 1 個の KV ヘッドを共有（MQA）、キャッシュは MHA の {ratio}",
)
HEAD_MIXED = Text(
    "{model}: its layers share in different ways, {ratio} of the cache of MHA",
    "{model}：共有のしかたがレイヤーごとに違い、キャッシュは MHA の {ratio}",
)
HEAD_WHAT_IF = Text(
    "What if {model} had {heads} ({kind})? {times} the cache it really has",
    "もし {model} の {heads}だったら（{kind}）：キャッシュは実際の {times}",
)
KV_HEADS = Text("{count} KV heads", "KV ヘッドが {count} 個")
KV_HEAD = Text("1 KV head", "KV ヘッドが 1 個だけ")
COUNT = Text("{count} KV heads", "KV ヘッド {count} 個")
COUNT_ONE = Text("1 KV head", "KV ヘッド 1 個")
TIMES = Text("{factor}×", "{factor} 倍")
OF_WHOLE = Text("{fraction} of", "{fraction}")
DECIMAL = Text("{ratio}", "{ratio} 倍")

# --- the control -----------------------------------------------------------------------------------------------------

SLIDER = Text("KV heads for {queries} query heads", "クエリヘッド {queries} 個に対する KV ヘッド数")
SLIDER_HELP = Text(
    "Every number by which the query heads can be divided evenly, from MHA (one each) through GQA to MQA (one for all)."
    " The arrow keys move it.",
    "クエリヘッドを等分できるすべての数です。MHA（1 個ずつ）から GQA を経て MQA（全体で 1 個）まであり、"
    "矢印キーでも動かせます。",
)
REAL = Text("The real model", "実際のモデル")
WHAT_IF = Text("What-if: not the real model", "仮定：実際のモデルではありません")
WHAT_IF_NOTE = Text(
    "The same model with other KV heads in every layer that has any, weights taken to be as large. The number is part"
    " of the architecture, fixed before training: only further training changes it, never the engine.",
    "ヘッドを持つすべてのレイヤーの KV ヘッド数だけを変えたもので、重みの大きさは同じとみなしています。"
    "この数はアーキテクチャの一部で、学習の前に決まります。変えるには追加学習が必要で、"
    "推論エンジンの設定では変えられません。",
)
BACK = Text("Back to the real model ({heads})", "実際のモデル（{heads}）に戻す")

# --- the numbers -----------------------------------------------------------------------------------------------------

RATIO = Text("Cache against MHA", "MHA との比")
RATIO_BESIDE = Text("{heads} KV heads for {queries} query heads", "クエリヘッド {queries} 個に KV ヘッド {heads} 個")
RATIO_BESIDE_ONE = Text("1 KV head for {queries} query heads", "クエリヘッド {queries} 個に KV ヘッド 1 個")
RATIO_BESIDE_MIXED = Text("by the bytes of one request", "1 リクエストのバイト数の比")
PER_TOKEN = Text("Bytes per token", "1 トークンあたり")
PER_TOKEN_BESIDE = Text("MHA {mha}, MQA {mqa}", "MHA なら {mha}、MQA なら {mqa}")
PER_TOKEN_LIMITED = Text("while every window has room; {after} beyond", "ウィンドウに空きがある間。超えた後は {after}")
PER_REQUEST = Text("One request", "1 リクエスト")
PER_REQUEST_BESIDE = Text("{tokens}; MHA {mha}, MQA {mqa}", "{tokens}。MHA なら {mha}、MQA なら {mqa}")
AT_ONCE = Text("Requests at once", "同時に収まる数")
AT_ONCE_BESIDE = Text("on {gpus} × {gpu}; MHA {mha}, MQA {mqa}", "{gpus} × {gpu}。MHA なら {mha}、MQA なら {mqa}")
AT_ONCE_UNKNOWN = Text("needs a GPU and known weights", "GPU と重みの大きさが必要")
UNKNOWN = Text("–", "–")
WORKING = Text("Per token, {what}: {formula}", "1 トークンあたり、{what}：{formula}")
WORKING_AT_ONCE = Text("Requests at once: {formula} = {count}", "同時に収まる数：{formula} = {count}")

# --- the drawing -----------------------------------------------------------------------------------------------------

LEGEND_QUERIES = Text(
    "{count} query heads: used once, never stored", "クエリヘッド {count} 個：一度使うだけで保存しない"
)
LEGEND_KV = Text(
    "{count} KV heads: K and V stored for every token", "KV ヘッド {count} 個：トークンごとに K と V を保存"
)
LEGEND_KV_ONE = Text("1 KV head: K and V stored for every token", "KV ヘッド 1 個：トークンごとに K と V を保存")
STORED = Text("Stored: {heads} of MHA's {queries}", "保存する数：MHA の {queries} 個に対して {heads} 個")
GROUP = Text("KV head {head}: query heads {first}–{last}", "KV ヘッド {head}：クエリヘッド {first}～{last}")
GROUP_ONE = Text("KV head {head}: query head {first}", "KV ヘッド {head}：クエリヘッド {first}")
LAYERS: Final[Mapping[str, Text]] = {
    "full": Text("{layers} {layers:layer|layers} of full attention", "フルアテンション {layers} レイヤー"),
    "window": Text(
        "{layers} {layers:layer|layers} with a sliding window", "スライディングウィンドウ {layers} レイヤー"
    ),
    "chunk": Text("{layers} {layers:layer|layers} with chunks", "チャンクアテンション {layers} レイヤー"),
    "cross": Text("{layers} {layers:layer|layers} of cross-attention", "クロスアテンション {layers} レイヤー"),
}
OTHER_LAYERS = Text("{layers} {layers:layer|layers} without KV heads", "KV ヘッドのない {layers} レイヤー")
WHICH_LAYERS = Text("In {layers}.", "対象：{layers}。")
SEPARATOR = Text(", ", "、")
ALT = Text(
    "{queries} query heads share {heads}: {each} to each, {ratio} of what MHA stores.",
    "クエリヘッド {queries} 個が KV ヘッド {heads} 個を共有：1 個あたり {each} 個、保存量は MHA の {ratio} です。",
)
ALT_LAYERS = Text("{layers}: {said}", "{layers}：{said}")

# --- the table -------------------------------------------------------------------------------------------------------

COLUMN_HEADS = Text("KV heads", "KV ヘッド数")
COLUMN_KIND = Text("Kind", "種類")
COLUMN_EACH = Text("Query heads each", "1 個あたりのクエリヘッド")
COLUMN_RATIO = Text("Against MHA", "MHA 比")
COLUMN_TOKEN = Text("Bytes per token", "1 トークンのバイト")
COLUMN_REQUEST = Text("One request, bytes", "1 リクエストのバイト")
COLUMN_AT_ONCE = Text("At once", "同時に収まる数")
THIS_MODEL = Text("{heads} (this model)", "{heads}（このモデル）")
MIXED = Text("mixed", "混在")

# --- beside it -------------------------------------------------------------------------------------------------------

NOT_SHARED_PARTS = Text(
    "The bytes do not shrink in step with the heads: indexer keys are kept once, whatever the sharing.",
    "インデクサーのキーは共有に関係なく 1 組なので、バイト数はヘッド数どおりには減りません。",
)
NO_MORE_FIT = Text(
    "On each GPU that is as many as with {heads}, so no more fit than with {heads}.",
    "各 GPU が持つ数は {heads} 個のときと変わらないため、収まる件数は {heads} 個のときと同じです。",
)
NOT_SHARED_STATES = Text(
    "States are not shared: {states} of every request, whatever the number of KV heads. K and V alone are {ratio} of "
    "those of MHA.",
    "状態は共有されません。KV ヘッド数に関係なく、1 リクエストごとに {states} です。"
    "K と V だけなら MHA の {ratio} です。",
)
MIXED_NOTE = Text(
    "As made: {groups}. The slider gives every one of these layers the same number.",
    "実際の構成：{groups}。スライダーを動かすと、これらのレイヤーすべてが同じ数になります。",
)
MIXED_GROUP = Text("{heads} KV heads in {layers}", "{layers}に KV ヘッド {heads} 個")
PAIR = Text(
    "**{times}×:** {more} stores {more_bytes} a token, {less} {less_bytes}. {more_formula} against {less_formula}.",
    "**{times} 倍** です。1 トークンあたり {more} は {more_bytes}、{less} は {less_bytes} を保存します。"
    "計算は {more_formula} と {less_formula} です。",
)
OPEN_OTHER = Text("Open {model}", "{model} を開く")

# Where nothing is shared.
NOT_SHARED: Final[Mapping[str, Text]] = {
    "latent": Text(
        "{model} has no KV heads to share: each layer stores one latent a token, from which the keys and values of all"
        " query heads are made (MLA).",
        "{model} には共有する KV ヘッドがありません。各レイヤーがトークンごとに潜在ベクトルを 1 つ保存し、"
        "全クエリヘッドの K と V をそこから復元します（MLA）。",
    ),
    "compressed": Text(
        "{model} has no KV heads to share: all query heads read the same records, each of which stands for several"
        " tokens.",
        "{model} には共有する KV ヘッドがありません。複数のトークンをまとめたレコードを全クエリヘッドが読みます。",
    ),
    "states": Text(
        "{model} has no KV heads to share: its layers keep a fixed state instead of keys and values.",
        "{model} には共有する KV ヘッドがありません。各レイヤーは K と V の代わりに固定長の状態を保持します。",
    ),
    "unknown": Text(
        "The config of {model} does not say how many query heads its KV heads serve, so nothing is drawn here.",
        "{model} の config からは KV ヘッドに対するクエリヘッドの数が分からないため、ここには何も描きません。",
    ),
    "differing": Text(
        "The layers of {model} have different numbers of query heads, so there is no one sharing to draw here.",
        "{model} はレイヤーごとにクエリヘッド数が違うため、1 つの共有のしかたとして描けません。",
    ),
}
SEE_LAYERS = Text(
    "What its layers keep instead: second tab.", "レイヤーが代わりに何を保持するかは 2 番目のタブで見られます。"
)
LATENT = Text(
    "**{times}× fewer values:** a token's latent has {latent} ({rank} + {rope} for its position) a layer; keys and"
    " values of all {heads} heads would be {apart}.",
    "**値の数は 1/{times}** です。1 トークンの潜在ベクトルはレイヤーごとに {latent} 個（{rank} + 位置用 {rope}）です。"
    "{heads} 個のヘッドの K と V をそのまま保存すると {apart} 個になります。",
)

# --- quality ---------------------------------------------------------------------------------------------------------

QUALITY = Text("What it does to quality", "品質への影響")
QUALITY_ROWS: Final[tuple[tuple[str, Text, tuple[tuple[str, str], ...]], ...]] = (
    (
        "MHA",
        Text(
            "Most memory; the baseline that the others are compared with.",
            "メモリは最大で、ほかの方式を比べる基準です。",
        ),
        (("Vaswani et al. 2017", "https://arxiv.org/abs/1706.03762"),),
    ),
    (
        "GQA",
        Text(
            "Reported: MHA models, trained a little further as GQA, come close to MHA in quality and to MQA in speed.",
            "報告：MHA のモデルを GQA にして少し追加学習すると、MHA に近い品質と MQA に近い速度になります。",
        ),
        (("Ainslie et al. 2023", "https://arxiv.org/abs/2305.13245"),),
    ),
    (
        "MQA",
        Text(
            "Least memory. Reported: minor degradation (2019); the GQA paper names degradation as its reason for GQA.",
            "メモリは最小です。報告：わずかな品質低下（2019 年）。GQA の論文はこの低下を GQA の動機に挙げています。",
        ),
        (
            ("Shazeer 2019", "https://arxiv.org/abs/1911.02150"),
            ("Ainslie et al. 2023", "https://arxiv.org/abs/2305.13245"),
        ),
    ),
    (
        "MLA",
        Text(
            "Reported by its makers: better than MHA, with a latent instead of heads.",
            "開発元の報告：ヘッドの代わりに潜在ベクトルを使い、MHA を上回ります。",
        ),
        (("DeepSeek-AI 2024", "https://arxiv.org/abs/2405.04434"),),
    ),
)
QUALITY_CAVEAT = Text(
    "kvviz measures memory, not quality: these are the authors' own findings on their own models.",
    "kvviz が扱うのはメモリで、品質は測りません。上は各論文の著者が自分のモデルで得た結果です。",
)
NOT_THE_FLOOR = Text(
    "1/{common} is not the floor: {count} of the {all} bundled configs with KV heads share more, {models} different "
    "models. {examples}.",
    "1/{common} は下限ではありません。KV ヘッドを持つ同梱の config {all} 件のうち {count} 件（{models} モデル）は、"
    "さらに多く共有しています。{examples}。",
)
FLOOR_EXAMPLE = Text("1/{each}: {models}", "1/{each}：{models}")
FLOOR_MORE = Text("{models} and {more} more", "{models} ほか {more} モデル")

# --- other kinds of layer --------------------------------------------------------------------------------------------

VIEW = Text("Show", "表示")
VIEWS: Final[Mapping[str, Text]] = {
    "example": Text("Every kind ({tokens} tokens)", "全種類（{tokens} トークン）"),
    "model": Text("This model ({tokens})", "このモデル（{tokens}）"),
}
KEPT_EXAMPLE = Text(
    "At the end, after {tokens} tokens, one layer each: {parts}",
    "最後（{tokens} トークン後）の 1 レイヤーあたりの保持量：{parts}",
)
KEPT_MODEL = Text(
    "{model} keeps {bytes} at the end, after {tokens} tokens: {parts}",
    "{model} は最後（{tokens} トークン後）に {bytes} を保持：{parts}",
)
KEPT_PART = Text("{kind} {bytes}", "{kind} {bytes}")
KEPT_PART_LAYERS = Text("{layers} × {kind} {bytes}", "{kind} {bytes} × {layers} レイヤー")
ABOUT: Final[Mapping[str, Text]] = {
    "f": Text("keeps K and V of every token", "全トークンの K と V を保持"),
    "F": Text(
        "keeps K and V of every token, and a small key to choose by", "全トークンの K と V、選択用の小さなキーを保持"
    ),
    "l": Text("one latent a token for all heads", "全ヘッド共通の潜在ベクトルをトークンごとに 1 つ"),
    "L": Text(
        "one latent a token for all heads, and a small key to choose by",
        "1 トークンに潜在ベクトル 1 本と、選択用の小さなキー",
    ),
    "w": Text("the oldest token leaves with each new one", "新しいトークンが入るたびに最も古いものを捨てる"),
    "c": Text("starts anew with each chunk", "チャンクごとに新しく始める"),
    "s": Text("folds every token into a state of fixed size", "全トークンを固定長の状態に畳み込む"),
    "b": Text("a fixed state, and K and V of every token", "固定長の状態と、全トークンの K と V"),
    "x": Text("K and V of the image or input, computed once", "画像や入力の K と V を最初に一度だけ計算"),
    "X": Text("K and V of every token, and of the input once", "全トークンの K と V と、入力の K と V"),
    "H": Text("a window, and one record for several tokens", "ウィンドウと、数トークンごとのレコード"),
    "h": Text("a window, and one record for several tokens", "ウィンドウと、数トークンごとのレコード"),
    ".": Text("nothing", "何も保持しない"),
}
LIKE = Text("as in {model}", "例：{model}")
LIKE_TOKENS = Text("as in {model}, there {limit} tokens", "例：{model}、実際は {limit} トークン")
IN_LAYERS = Text("{layers} {layers:layer|layers}", "{layers} レイヤー")
EXAMPLE_NOTE = Text(
    "Windows, chunks and the encoder are cut to {limit} tokens so that they fit here. Full, windowed, chunked and"
    " cross-attention have the heads of {full}.",
    "ここに収まるよう、ウィンドウ、チャンク、エンコーダーは {limit} トークンに短縮しています。"
    "フル、ウィンドウ、チャンク、クロスの各アテンションのヘッドは {full} のものです。",
)
BREAK_EVEN = Text(
    "A state costs as much as {tokens} tokens of a full layer, and from then on no more.",
    "状態 1 つはフルアテンションのレイヤー {tokens} トークン分に相当し、それ以降は増えません。",
)
CHUNK_NOTE = Text(
    "A chunk's bytes are those of its fullest moment: the space stays set aside when the next chunk begins.",
    "チャンクのバイト数は最も埋まったときの量です。次のチャンクが始まっても場所は確保されたままです。",
)
SCALE_NOTE = Text(
    "Height: bytes per token. The box on the left is kept whole, whatever the length, and is not to scale.",
    "高さは 1 トークンあたりのバイト数です。左の箱は長さによらず丸ごと保持される分で、縮尺は異なります。",
)
LEFT_OUT = Text(
    "{count} more kinds of layers are not drawn.", "ほかに {count} 種類のレイヤーがありますが省略しました。"
)
CELL = Text("{first}–{last}: {bytes}", "{first}～{last}：{bytes}")
PART_SEPARATOR = Text("; ", "、")
COLUMN_TOKENS = Text("Tokens", "トークン数")
COLUMN_MODEL = Text("Whole model", "モデル全体")

PLAYER: Final[Mapping[str, Text]] = {
    "label": Text("What each kind of layer keeps, token by token", "レイヤーの種類ごとの保持内容（トークン順）"),
    "play": Text("Play", "再生"),
    "pause": Text("Pause", "一時停止"),
    "again": Text("Again", "もう一度"),
    "back": Text("One step back", "1 ステップ戻る"),
    "forward": Text("One step on", "1 ステップ進む"),
    "scrub": Text("Tokens that have arrived", "届いたトークン"),
    "step": Text("{tokens} of {end} tokens", "{end} トークン中 {tokens}"),
    "kept": Text("{kept} of {tokens} tokens kept", "{tokens} トークン中 {kept} を保持"),
    "fixed": Text("no token kept by itself", "トークン単位では保持なし"),
    "lane": Text("{title}. {kept}, {bytes}.", "{title}。{kept}、{bytes}。"),
    "from": Text("{kept} ({first}–{last})", "{kept}（{first}～{last}）"),
    "total": Text("Whole model: {bytes}", "モデル全体：{bytes}"),
    "now": Text("{step}. {lanes}", "{step}。{lanes}"),
    "legend_kept": Text("kept", "保持"),
    "legend_dropped": Text("seen, not kept", "処理済み（保持せず）"),
    "legend_state": Text("fixed size", "固定長"),
    "calm": Text("Reduced motion: one step a second.", "動きを減らす設定のため、1 秒に 1 ステップです。"),
}
FIXED: Final[Mapping[str, Text]] = {"state": Text("state", "状態"), "cross": Text("input", "入力")}

LINK = Text(
    "Opens this model with this number of KV heads, this tab and this step.",
    "このモデル、KV ヘッド数、タブ、ステップがそのまま開きます。",
)
NO_SUCH = Text(
    "{name}: {shown} is not possible here, so it is left out.", "{name}：{shown} はここでは使えないため無視しました。"
)
