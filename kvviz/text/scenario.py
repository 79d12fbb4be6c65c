"""Sentences about settings: what is wrong with a value, and what became of a link's values."""

from kvviz.text.base import Text

WHOLE = Text(
    en="{field}: give a whole number from {low} to {high}, not “{shown}”.",
    ja="{field}: {low}～{high} の整数を指定してください（入力値：「{shown}」）。",
)
NUMBER = Text(
    en="{field}: give a number from {low} to {high}, not “{shown}”.",
    ja="{field}: {low}～{high} の数値を指定してください（入力値：「{shown}」）。",
)
TOKENS = Text(
    en="“{shown}” is not a number of tokens. Write it as 131072, 131,072 or 128k (k = 1,024).",
    ja="「{shown}」はトークン数として読み取れません。131072、131,072、128k（k = 1,024）のように入力してください。",
)
CHOICE = Text(
    en="{field}: choose one of {choices}, not “{shown}”.",
    ja="{field}: {choices} のいずれかを選んでください（入力値：「{shown}」）。",
)
MODEL = Text(
    en="model: give a Hub id such as Qwen/Qwen3-8B, or a name of up to {limit} letters, digits, spaces and"
    " . _ - + / ( ), not “{shown}”.",
    ja="model: Qwen/Qwen3-8B のような Hub の ID か、{limit} 文字以内の名前（文字、数字、空白、. _ - + / ( )）を"
    "指定してください（入力値：「{shown}」）。",
)
GPU = Text(
    en="gpu: give a GPU id such as h100-80gb, or leave it empty for no GPU, not “{shown}”.",
    ja="gpu: h100-80gb のような GPU の ID を指定するか、GPU なしの場合は空にしてください（入力値：「{shown}」）。",
)
REVISION = Text(
    en="revision: give a revision of up to {limit} letters, digits and . _ : / + -, not “{shown}”.",
    ja="revision: {limit} 文字以内のリビジョン（英数字と . _ : / + -）を指定してください（入力値：「{shown}」）。",
)
CONFIG = Text(
    en="config: this is not a config as a kvviz link carries it (at most {limit} characters of base64url).",
    ja="config: kvviz のリンクに入っている形式の設定ではありません（base64url で {limit} 文字以内）。",
)
NO_TOKENS = Text(
    en="input: a request needs at least one token, but input and output are both 0.",
    ja="input: リクエストには 1 トークン以上が必要ですが、入力と出力がどちらも 0 です。",
)
TOO_MANY_TOKENS = Text(
    en="{field}: input (with its passages) and output are {tokens} tokens together; at most {high} can be asked for.",
    ja="{field}: 入力（検索文書を含む）と出力の合計が {tokens} トークンです。{high} 以下にしてください。",
)
BELOW_TOKENS = Text(
    en="max_model_len: {shown} is shorter than the longest request of {tokens} tokens; the engine would refuse it.",
    ja="max_model_len: {shown} は最長のリクエスト（{tokens} トークン）より短いため、エンジンが受け付けません。",
)
TOO_MANY_USERS = Text(
    en="users: these would have {requests} {requests:request|requests} in flight; at most {high} can be asked for.",
    ja="users: 同時リクエスト数が {requests} 件になります。{high} 件以下になるようにしてください。",
)
MORE_SHARED_THAN_INPUT = Text(
    en="shared_tokens: {shown} is more than the whole input of {input} tokens; give at most that.",
    ja="shared_tokens: {shown} は入力全体（{input} トークン）を超えています。それ以下にしてください。",
)
TYPICAL_BELOW_SHARED = Text(
    en="typical: a typical request of {tokens} tokens would be no longer than the {shared} tokens that all requests"
    " share; give a larger share.",
    ja="typical: 典型的なリクエスト（{tokens} トークン）が、全リクエストに共通の {shared} トークン以下になります。"
    "割合を大きくしてください。",
)
SPLIT = Text(
    en="{field}: {shown} does not divide the number of GPUs, {gpus}; it can be {choices}.",
    ja="{field}: {gpus} 基の GPU は {shown} 基ずつに分けられません。{choices} から選んでください。",
)
SPLIT_LEAVES = Text(
    en="{field}: {shown} engines of {each} {each:GPU|GPUs} are not all of the {gpus}; it can be {choices}.",
    ja="{field}: {each} 基ずつのエンジン {shown} 個では {gpus} 基の GPU が余ります。{choices} にしてください。",
)
UNKNOWN_FIELD = Text(
    en="“{shown}”: kvviz has no setting of this name; it was left out.",
    ja="「{shown}」という設定はありません。無視しました。",
)
NOT_A_SCENARIO = Text(
    en="“{shown}” is not a set of settings; the defaults are used.",
    ja="「{shown}」は設定の一覧として読み取れません。既定値を使います。",
)
REPEATED = Text(
    en="{field}: given more than once; the last value counts, “{shown}”.",
    ja="{field}: 複数回指定されています。最後の値「{shown}」を使います。",
)
NEWER = Text(
    en="v: this link was made by another version of kvviz (“{shown}”, this one writes {version}); it is read as far as"
    " it is understood.",
    ja="v: このリンクは別のバージョンの kvviz で作られています（「{shown}」、このバージョンは {version}）。"
    "理解できる範囲で読み取ります。",
)
USED_INSTEAD = Text(en="{why} Used instead: {used}.", ja="{why}代わりに {used} を使います。")
EMPTY = Text(en="nothing", ja="空の値")
