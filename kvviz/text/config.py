"""What the config reader says: problems, and notes beside a layout."""

from kvviz.text.base import Text

# --- Headlines of errors -------------------------------------------------------------------------------------------

EMPTY = Text(
    en="There is no config.json here. Paste the whole file, from its first {{ to its last }}.",
    ja="config.json の内容がありません。最初の {{ から最後の }} まで、ファイル全体を貼り付けてください。",
)
TOO_LARGE = Text(
    en="This is {size} bytes; a config.json is at most {limit}. Paste only the model's config.json.",
    ja=(
        "{size} バイトあります。config.json は {limit} バイトまでです。モデルの config.json だけを貼り付けてください。"
    ),
)
NOT_UTF8 = Text(
    en="This file is not UTF-8 text. Use the model's config.json.",
    ja="UTF-8 のテキストではありません。モデルの config.json を使ってください。",
)
NOT_JSON = Text(
    en="This is not JSON: check line {line}, column {column}.",
    ja="JSON として読めません。{line} 行 {column} 桁を確認してください。",
)
TRAILING_COMMA = Text(
    en="This is not JSON: remove the comma before the closing bracket in line {line}, column {column}.",
    ja="JSON として読めません。{line} 行 {column} 桁の閉じ括弧の前のコンマを削除してください。",
)
WEB_PAGE = Text(
    en="This is a web page. Copy the contents of the file itself (on the Hub, its “raw” view).",
    ja="これは Web ページです。ファイルの中身（Hub では「raw」の表示）をコピーしてください。",
)
NUMBER_TOO_LONG = Text(
    en="A number in this file has more digits than any config.json needs. Check the file.",
    ja="桁数が多すぎる数値があります。ファイルを確認してください。",
)
TOO_DEEP = Text(
    en="This JSON is nested too deeply for a config.json (at most {limit} levels).",
    ja="config.json としては入れ子が深すぎます（{limit} 段まで）。",
)
NOT_AN_OBJECT_FILE = Text(
    en="A config.json is one JSON object {{...}}; this is {kind}.",
    ja="config.json は 1 つの JSON オブジェクト {{...}} です。これは{kind}です。",
)
CANNOT_READ = Text(
    en="This config.json cannot be read. Correct the fields below.",
    ja="この config.json は読み取れません。次の項目を直してください。",
)
CANNOT_READ_OF = Text(
    en="The config.json of {name} cannot be read. Correct the fields below.",
    ja="{name} の config.json は読み取れません。次の項目を直してください。",
)
UNKNOWN_ARCHITECTURE = Text(
    en="kvviz has no rules for {architecture}, so it gives no number.",
    ja="{architecture} の規則がないため、kvviz は数値を示しません。",
)
NO_ARCHITECTURE = Text(
    en="this file (no model_type, no architectures)",
    ja="このファイル（model_type も architectures もなし）",
)

# --- Kinds of JSON values ------------------------------------------------------------------------------------------

AN_OBJECT = Text(en="an object", ja="オブジェクト")
A_LIST = Text(en="a list", ja="リスト")
A_STRING = Text(en="a string", ja="文字列")
A_NUMBER = Text(en="a number", ja="数値")
A_BOOLEAN = Text(en="true or false", ja="真偽値")
A_NULL = Text(en="null", ja="null")

# --- Problems, one field each --------------------------------------------------------------------------------------

AND_MORE = Text(en="{where} and {more} more", ja="{where} ほか {more} か所")
NOT_UNDERSTOOD = Text(en="field not understood", ja="解釈できない項目")
MISSING = Text(en="missing: one of {names} is needed", ja="必要な項目がありません：{names} のいずれか")
NOT_AN_INTEGER = Text(en="must be a whole number, not {kind}", ja="整数でなければなりません（{kind}です）")
NOT_WHOLE = Text(en="must be a whole number, not {value}", ja="整数でなければなりません（{value} です）")
NOT_FINITE = Text(en="{value} is not a finite number", ja="{value} は有限の数ではありません")
OUT_OF_BOUNDS = Text(
    en="must be between {low} and {high}, not {value}", ja="{low} 以上 {high} 以下でなければなりません（{value} です）"
)
NOT_A_FLAG = Text(en="must be true or false, not {kind}", ja="true か false でなければなりません（{kind}です）")
NOT_A_STRING = Text(en="must be a string, not {kind}", ja="文字列でなければなりません（{kind}です）")
NOT_A_LIST = Text(en="must be a list, not {kind}", ja="リストでなければなりません（{kind}です）")
NOT_AN_OBJECT = Text(en="must be an object, not {kind}", ja="オブジェクトでなければなりません（{kind}です）")
WRONG_LENGTH = Text(
    en="must have one entry per layer: {expected}, not {found}",
    ja="レイヤーごとに 1 つ必要です：{expected} 個（{found} 個あります）",
)
NOT_A_KIND = Text(en="{value} is not a value that kvviz knows here", ja="{value} は kvviz が知らない値です")
NO_WINDOW = Text(
    en="some layers keep only a window or chunk, but its length is not given",
    ja="ウィンドウまたはチャンクだけを保持するレイヤーがありますが、その長さの指定がありません",
)
NOT_THESE_RULES = Text(
    en="kvviz has no rule for a {value} layer in {architecture}",
    ja="kvviz の {architecture} の規則に {value} のレイヤーはありません",
)
NOT_SHARED = Text(
    en="{heads} query heads cannot share {kv_heads} KV heads evenly",
    ja="クエリヘッド {heads} 個を KV ヘッド {kv_heads} 個に等分できません",
)
OTHER_CLASS = Text(
    en="files of {architecture} do not count their layers here: this is another model of the same name",
    ja="{architecture} のファイルはここにレイヤーの数を書きません。同じ名前の別のモデルです",
)
NOT_DIVISIBLE = Text(
    en="{value} must be a multiple of {divisor}",
    ja="{value} は {divisor} の倍数でなければなりません",
)
OUTSIDE_LAYERS = Text(
    en="layer {value} does not exist: the model has {layers} {layers:layer|layers}",
    ja="レイヤー {value} はありません：レイヤーの数は {layers} です",
)

# --- Notes beside a layout -----------------------------------------------------------------------------------------

CLASS_DEFAULTS = Text(
    en=(
        "This file leaves {fields} to the model class; the class defaults are used. Check them against the "
        "published model."
    ),
    ja=(
        "このファイルは {fields} をモデルのクラスに任せているため、クラスの既定値を使いました。"
        "公開モデルの値と一致するか確認してください。"
    ),
)
DRAFT_LAYERS = Text(
    en="Draft (MTP) layers in this file: {count}. Not counted: each one that runs adds its own cache.",
    ja=(
        "このファイルのドラフト（MTP）レイヤーは {count} レイヤーです。計算に含めていません。"
        "動かす場合は 1 レイヤーごとにキャッシュが増えます。"
    ),
)
WINDOW_NOT_A_LIMIT = Text(
    en="The window of {window} tokens is no limit: the model's maximum is {longest} tokens, so every token is kept.",
    ja=(
        "ウィンドウ {window} トークンは制限になりません。モデルの最大長は {longest} トークンで、"
        "全トークンを保持します。"
    ),
)
KEYS_AS_VALUES = Text(
    en="Full layers use keys as values, but engines store both halves, so this saves nothing.",
    ja="フルアテンションのレイヤーは K を V としても使いますが、エンジンは両方を保存するため、節約にはなりません。",
)
SHARED_LAYERS = Text(
    en="{count} {count:layer|layers} {count:reuses|reuse} another layer's cache and {count:stores|store} nothing.",
    ja="{count} レイヤーは他のレイヤーのキャッシュを使い、自分では何も保存しません。",
)
SHARED_LAYERS_ALLOCATED = Text(
    en="{count} {count:layer|layers} {count:reuses|reuse} another layer's cache and {count:stores|store} nothing. "
    "SGLang allocates their buffers all the same.",
    ja="{count} レイヤーは他のレイヤーのキャッシュを使い、自分では何も保存しません。"
    "SGLang はそのバッファも確保します。",
)
MEDIA_TOKENS = Text(
    en="Images and audio become ordinary tokens: count them in the input length.",
    ja="画像や音声は通常のトークンになります。入力トークン数に含めてください。",
)
KV_SCHEME = Text(
    en="The checkpoint asks for a cache in {dtype} ({path}).",
    ja="チェックポイントは {dtype} のキャッシュを指定しています（{path}）。",
)
KV_SCHEME_NOT_READ = Text(
    en=(
        "{path} describes a quantized cache, but not in the form that is read for this quantization method: the cache "
        "is counted in the model's type."
    ),
    ja=(
        "{path} は量子化したキャッシュを指していますが、この量子化方式で読み取られる形ではないため、"
        "キャッシュはモデルの型として数えています。"
    ),
)
NOT_COMPLEMENTARY = Text(
    en="must list exactly the layers that full_attn_layers does not",
    ja="full_attn_layers にないレイヤーを過不足なく挙げなければなりません",
)
LATENT_EXPANDED = Text(
    en="The content is the latent's. The engine stores this model's expanded heads instead, which take many times "
    "more.",
    ja="実データ量は潜在ベクトルの大きさです。エンジンはこのモデルでは展開したヘッドを保存し、何倍も必要になります。",
)
PACKED_CACHE = Text(
    en="The engine packs this model's cache in a layout of its own (fp8 with scales), whatever cache type is chosen.",
    ja="エンジンはこのモデルのキャッシュを、型の指定によらず専用の形式（スケール付き fp8）で保存します。",
)
STATE_DTYPE_SILENT = Text(
    en=(
        "The file does not give {field}, so the state is counted in the model's type. Published siblings say float32: "
        "the file may be reduced."
    ),
    ja=(
        "{field} の指定がないため、状態をモデルの型で数えています。"
        "公開されている同系列のモデルは float32 なので、項目が省かれている可能性があります。"
    ),
)
ENCODER_TOKENS = Text(
    en="The encoder's output is counted at {tokens} tokens per request, whatever the decoder's length.",
    ja="エンコーダーの出力は、デコーダーの長さによらず 1 リクエストあたり {tokens} トークンとして数えています。",
)
ONE_IMAGE = Text(
    en="One image per request is counted: {tokens} tokens in the cross-attention layers.",
    ja="1 リクエストにつき画像 1 枚、クロスアテンションのレイヤーに {tokens} トークンとして数えています。",
)

# --- Cache types ---------------------------------------------------------------------------------------------------

DTYPE_UNKNOWN = Text(
    "{name} is no known cache type: use one of {choices}.",
    "{name} というキャッシュの型はありません。{choices} から選んでください。",
)
DTYPE_F16 = Text(
    en="llama.cpp keeps the cache in f16 unless told otherwise, whatever the model's type.",
    ja="llama.cpp は指定がなければ、モデルの型によらずキャッシュを f16 で保持します。",
)

# --- Layers that a person describes ----------------------------------------------------------------------------------

LAYERS_ENTERED = Text(
    en="These layers are as somebody described them; kvviz has no rules of its own for this architecture.",
    ja="レイヤーは入力されたとおりです。このアーキテクチャの規則は kvviz にありません。",
)
NOT_A_KIND_OF_LAYER = Text(
    en='"{value}" is no kind of layer: use one of {kinds}',
    ja="「{value}」という種類のレイヤーはありません：{kinds} から選んでください",
)
