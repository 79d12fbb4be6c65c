"""Layers described by hand, for architectures that kvviz has no rules for."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

DESCRIBE = Text("Describe the layers of {name} yourself", "{name} のレイヤーを自分で入力する")
CHANGE = Text("Change the described layers", "入力したレイヤーを変更する")
UNDERSTOOD = Text(
    "Started from what a plain decoder's fields would mean. Check every row against the model's own code: whether a "
    "layer keeps every token, only a window, a latent or a state decides the answer.",
    "一般的なデコーダーとして読んだ値から始めています。全トークンを保持するか、ウィンドウ、潜在ベクトル、状態だけかで"
    "結果が決まるため、各行をモデルの実装で確認してください。",
)
NOTHING_UNDERSTOOD = Text(
    "Nothing could be taken from the file: the row below is only an example.",
    "ファイルから読み取れた値はありません。次の行は例です。",
)
UNTIL_THEN = Text("Until they are used, the answer is for {model}.", "使うまでは、{model} の結果を表示します。")
ADD = Text("Add a row", "行を追加")
REMOVE = Text("Remove row {row}", "行 {row} を削除")
USE = Text("Use these layers", "このレイヤーを使う")
ROW = Text("Row {row}, {field}: {why}", "行 {row} の{field}：{why}")
NEEDED = Text("fill in a number", "数値を入力してください")
TOO_MANY_ROWS = Text(
    "At most {most} rows fit into a link: put alike layers together.",
    "行は {most} 行までです。同じレイヤーは 1 行にまとめてください。",
)
NAME = Text("described layers", "入力したレイヤー")

FIELDS: Final[Mapping[str, Text]] = {
    "count": Text("Layers", "レイヤー数"),
    "kind": Text("Kind", "種類"),
    "kv_heads": Text("KV heads", "KV ヘッド数"),
    "heads": Text("Heads", "ヘッド数"),
    "key_dim": Text("Key size", "K の次元"),
    "value_dim": Text("Value size", "V の次元"),
    "window_tokens": Text("Window", "ウィンドウ"),
    "latent_dim": Text("Latent size", "潜在ベクトルの次元"),
    "rope_dim": Text("Rotary size", "RoPE の次元"),
}
KINDS: Final[Mapping[str, Text]] = {
    "full": Text("every token", "全トークン"),
    "window": Text("window", "ウィンドウ"),
    "chunk": Text("chunk", "チャンク"),
    "latent": Text("latent (MLA)", "潜在ベクトル（MLA）"),
    "state": Text("state", "状態"),
    "none": Text("nothing", "保持なし"),
}
