"""Sentences about the Hugging Face Hub: what went wrong there, and where a size of weights comes from."""

from kvviz.text.base import Text

OFFER = Text(
    en="Or choose a bundled model, or paste config.json.",
    ja="同梱のモデルを選ぶか、config.json を貼り付けることもできます。",
)
WITH_OFFER = Text(en="{what} {offer}", ja="{what}{offer}")

# --- What was typed or pasted --------------------------------------------------------------------------------------

NOT_AN_ID = Text(
    en="This is not the name of a model on the Hub. Write owner/name, owner/name@revision, or paste the address of the"
    " model's page.",
    ja="Hub のモデル名として読み取れません。owner/name、owner/name@revision、"
    "またはモデルページの URL を入力してください。",
)
OTHER_SITE = Text(
    en="{host} is not the Hugging Face Hub. Paste the address of a model's page on {hub}.",
    ja="{host} は Hugging Face Hub ではありません。{hub} のモデルページの URL を貼り付けてください。",
)
NOT_A_MODEL = Text(
    en="This address leads to a page of the Hub that is not a model's. Paste the address of a model's page.",
    ja="この URL は Hub のモデルページではありません。モデルページの URL を貼り付けてください。",
)
TOKEN_UNREADABLE = Text(
    en="This is not an access token. Copy it again from the token settings of your Hugging Face account.",
    ja="アクセストークンとして読み取れません。Hugging Face アカウントのトークン設定からコピーし直してください。",
)

# --- What the Hub answered -----------------------------------------------------------------------------------------

NOT_FOUND = Text(
    en="The Hub has no model {model}. Check the spelling.",
    ja="Hub に {model} というモデルはありません。つづりを確認してください。",
)
NOT_FOUND_OR_PRIVATE = Text(
    en="The Hub shows no public model {model}. Check the spelling; a private model needs an access token.",
    ja="{model} という公開モデルは Hub に見つかりません。つづりを確認してください。"
    "非公開モデルにはアクセストークンが必要です。",
)
GATED = Text(
    en="{model} is gated: accept its terms on its page, then enter an access token of your account.",
    ja="{model} は利用申請が必要なモデルです。モデルページで規約に同意し、アクセストークンを入力してください。",
)
GATED_FOR_YOU = Text(
    en="{model} is gated, and the account of this token has no access yet. Ask for it on the model's page.",
    ja="{model} は利用申請が必要なモデルで、このトークンのアカウントにはまだ権限がありません。"
    "モデルページで申請してください。",
)
TOKEN_REFUSED = Text(
    en="The Hub does not accept this access token. Check that it is complete, valid and may read {model}.",
    ja="このアクセストークンは Hub に受け付けられませんでした。"
    "途中で切れていないか、有効か、{model} の読み取り権限があるかを確認してください。",
)
FORBIDDEN = Text(
    en="The Hub does not let {model} be read (403). An access token with the right to read it may help.",
    ja="{model} の読み取りは Hub に許可されませんでした（403）。読み取り権限のあるアクセストークンを試してください。",
)
DISABLED = Text(
    en="The Hub has disabled access to {model}.",
    ja="{model} へのアクセスは Hub によって停止されています。",
)
NO_CONFIG = Text(
    en="{model} has no config.json at {revision}. Files for llama.cpp (GGUF) often have none: try the model they were"
    " made from.",
    ja="{model} の {revision} に config.json がありません。llama.cpp 用（GGUF）のリポジトリにはないことが多いため、"
    "変換元のモデルを試してください。",
)
BAD_REVISION = Text(
    en="{model} has no revision {revision}. Use a branch, a tag or a commit of this model.",
    ja="{model} に {revision} というリビジョンはありません。このモデルのブランチ、タグ、コミットを指定してください。",
)
RATE_LIMITED = Text(
    en="The Hub takes no more requests from this server for now. Try again in {seconds} s.",
    ja="このサーバーからのリクエストは Hub の上限に達しました。{seconds} 秒後にもう一度試してください。",
)
RATE_LIMITED_FOR_A_WHILE = Text(
    en="The Hub takes no more requests from this server for now. Try again in a few minutes.",
    ja="このサーバーからのリクエストは Hub の上限に達しました。数分後にもう一度試してください。",
)
DOWN = Text(
    en="The Hub has trouble at the moment (HTTP {status}). Try again later.",
    ja="Hub で障害が起きています（HTTP {status}）。時間をおいて試してください。",
)
REFUSED = Text(
    en="The Hub refused the request (HTTP {status}).",
    ja="リクエストは Hub に拒否されました（HTTP {status}）。",
)
UNREACHABLE = Text(
    en="This server cannot reach the Hub, or the connection broke. Check its network.",
    ja="このサーバーから Hub に接続できないか、接続が途中で切れました。ネットワークを確認してください。",
)
OFFLINE = Text(
    en="This server is set to stay offline (HF_HUB_OFFLINE), so the Hub is not asked.",
    ja="このサーバーはオフライン設定（HF_HUB_OFFLINE）のため、Hub には接続しません。",
)
BUSY = Text(
    en="Many are asking the Hub through this server just now. Try again.",
    ja="現在、このサーバーから Hub への問い合わせが混み合っています。もう一度試してください。",
)
BAD_ENDPOINT = Text(
    en="The setting HF_ENDPOINT of this server is not an address such as https://huggingface.co, so the Hub is not"
    " asked.",
    ja="このサーバーの設定 HF_ENDPOINT が https://huggingface.co のような URL ではないため、Hub には接続しません。",
)
TIMEOUT = Text(
    en="The Hub did not answer within {seconds} s. Try again.",
    ja="Hub から {seconds} 秒以内に応答がありませんでした。もう一度試してください。",
)
TOO_LARGE = Text(
    en="The Hub's answer is larger than {limit} bytes, which no config.json is.",
    ja="Hub からの応答が config.json の上限の {limit} バイトを超えています。",
)
NOT_JSON = Text(
    en="The config.json of {model} cannot be read. {why}",
    ja="{model} の config.json を読み取れません。{why}",
)
ANSWER_NOT_UNDERSTOOD = Text(
    en="The Hub's answer is not what was asked for.",
    ja="Hub からの応答が想定した形式ではありません。",
)
HTML = Text(
    en="A web page came back in place of the Hub's answer. A proxy or a sign-in page may stand between this server and"
    " the Hub.",
    ja="Hub の応答の代わりに Web ページが返ってきました。プロキシやログインページを経由している可能性があります。",
)
REDIRECTED_AWAY = Text(
    en="The Hub sends this request on to another site ({host}), which is not followed.",
    ja="Hub から別のサイト（{host}）へ転送されましたが、転送先には接続しません。",
)
REDIRECTED_ROUND = Text(
    en="The Hub sends this request on again and again.",
    ja="Hub の転送が繰り返され、終わりません。",
)

# --- Weights -------------------------------------------------------------------------------------------------------

FROM_TENSORS = Text(
    en="Tensors in the model's safetensors files as the Hub counts them: {tensors}.",
    ja="Hub が集計した safetensors ファイルのテンソルです：{tensors}。",
)
FROM_TENSORS_AT_16_BIT = Text(
    en="Tensors in the model's safetensors files as the Hub counts them: {tensors}. Those of 32 bits count as 16, as"
    " engines load them.",
    ja="Hub が集計した safetensors ファイルのテンソルです：{tensors}。"
    "32 ビットのものは、エンジンの既定どおり 16 ビットとして数えています。",
)
FROM_FILES = Text(
    en="Size of the model's safetensors files as stored on the Hub ({count}), their headers included.",
    ja="Hub に保存された safetensors ファイル（{count} 個）の大きさです。ヘッダーを含みます。",
)
NO_SAFETENSORS = Text(
    en="The Hub lists no safetensors weights for this model. Enter their size in GiB.",
    ja="このモデルの safetensors 形式の重みは Hub にありません。大きさを GiB で入力してください。",
)
WHICH_FILES = Text(
    en="Which of the repository's safetensors files are the model's weights is not clear. Enter their size in GiB.",
    ja="どの safetensors ファイルがモデルの重みかを判別できません。大きさを GiB で入力してください。",
)
WEIGHTS_NOT_ASKED = Text(
    en="The size of the weights could not be read from the Hub. Enter it in GiB. ({why})",
    ja="重みの大きさを Hub から読み取れませんでした。GiB で入力してください。（{why}）",
)
