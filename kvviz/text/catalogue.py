"""Sentences about finding a model and where its config came from."""

from kvviz.text.base import Text

UNKNOWN_MODEL = Text(
    en="“{model}” is not one of the bundled models; give its config.json instead (a path on the command line, pasted on"
    " the page).",
    ja="「{model}」は同梱されていないモデルです。config.json を指定してください"
    "（コマンドラインではパス、ページでは貼り付け）。",
)
UNKNOWN_MODEL_NEAR = Text(
    en="“{model}” is not one of the bundled models; did you mean {near}? Or give its config.json (a path on the command"
    " line, pasted on the page).",
    ja="「{model}」は同梱されていないモデルです。{near} のことでしょうか。または config.json を指定してください"
    "（コマンドラインではパス、ページでは貼り付け）。",
)
NO_FILE = Text(en="There is no file {path}.", ja="ファイル {path} がありません。")
TOO_LARGE = Text(
    en="{path} is larger than {limit} bytes, which no config.json is. Give only the model's config.json.",
    ja="{path} は config.json の上限の {limit} バイトを超えています。モデルの config.json だけを指定してください。",
)
UNREADABLE = Text(en="{path} cannot be read: {why}.", ja="{path} を読み込めません（{why}）。")
DOUBTFUL = Text(
    en="The bundled config of this model comes from a doubtful source: {note}.",
    ja="このモデルの同梱設定は出典の確かさが低いものです（出典の注記：{note}）。",
)
REVISION_DIFFERS = Text(
    en="The bundled config has changed since this link was made ({linked}, now {current}): the numbers may differ.",
    ja="このリンクの作成後に同梱の設定が変わりました（{linked} → {current}）。数値が異なる可能性があります。",
)
REVISION_NOT_READ = Text(
    en="This is the bundled config of the model: its revision {linked} has not been read from the Hub. The numbers may"
    " differ.",
    ja="モデルの同梱設定による結果です。リビジョン {linked} は Hub から読み込めていません。"
    "数値が異なる可能性があります。",
)
REVISION_OF_FILE = Text(
    en="This config is not of the revision asked for ({linked}, but it is {current}): the numbers may differ.",
    ja="この設定は、指定されたリビジョンのものではありません（指定 {linked}、実際 {current}）。"
    "数値が異なる可能性があります。",
)
TOO_LARGE_FOR_LINK = Text(
    en="config: this config.json is too large for a link ({characters} characters when packed; at most {limit} fit).",
    ja="config: この config.json はリンクに収まりません（圧縮後 {characters} 文字、上限 {limit} 文字）。",
)
NOT_A_PACKED_CONFIG = Text(
    en="config: the config in this link cannot be read; it was cut off or changed. Ask for the link again, or paste the"
    " config.json.",
    ja="config: リンクに含まれる設定を読み取れません。途中で切れたか、書き換えられています。"
    "リンクを送り直してもらうか、config.json を貼り付けてください。",
)
WEIGHTS_AS_STORED_ONLY = Text(
    en="The weights are known as stored only; what they would take in {dtype} is not.",
    ja="重みは保存されている形式の大きさだけがわかります。{dtype} での大きさは不明です。",
)
SET_TOO_LARGE = Text(
    en="These scenarios take {characters} characters in a link; at most {limit} do."
    " Leave out one with a pasted config.",
    ja="これらのシナリオはリンクで {characters} 文字になり、上限の {limit} 文字を超えます。"
    "貼り付けた config を含むものを減らしてください。",
)
NOT_A_SET = Text(
    en="set: the link was cut off or changed on the way. Its scenarios, and whatever was cut off after them, are lost: "
    "ask for it again.",
    ja="set: リンクが途中で切れているか、書き換えられています。含まれていたシナリオと、それより後の内容は失われました。"
    "リンクを再度もらってください。",
)
PROMPTS_TOO_LARGE = Text(
    en="These prompts take {characters} characters in a link; at most {limit} do. Shorten them to share them.",
    ja="これらのプロンプトはリンクで {characters} 文字になり、上限の {limit} 文字を超えます。"
    "共有するには短くしてください。",
)
NOT_PROMPTS = Text(
    en="prompts: these are not prompts as a kvviz link carries them.",
    ja="prompts: kvviz のリンクに入っている形式のプロンプトではありません。",
)
