"""What is shared and exported: the Markdown summary, the headings of the CSV file, embedding, the QR code."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

# What it rests on, in files and reports
SETTINGS = Text("Settings", "設定")
SETTING = Text("Setting", "設定")
VALUE = Text("Value", "値")
AUTO_IS = Text("auto → {value}", "auto（{value}）")
THE_REST = Text("Left at the default – {settings}.", "既定のまま – {settings}。")
ONE_SETTING = Text("{name}: {value}", "{name}：{value}")
SETTINGS_SEPARATOR = Text("; ", "、")
FROM_PASTED = Text(
    "The model is a config that was pasted; the link carries the fields that were read.",
    "モデルは貼り付けた config です。リンクには読み取った項目が含まれます。",
)
WORKING = Text("Working", "計算")
DEVICE = Text("GPU memory", "GPU メモリ")
LEFT = Text("Left for the cache", "キャッシュに残る量")
LEFT_SOURCE = Text("GPU memory − the other parts", "GPU メモリ − ほかの内訳")
KEPT_FREE = Text("Kept free", "空けておく量")
KEPT_FREE_SOURCE = Text("Headroom of {share} of the pool", "プールの {share}")
NEEDED = Text("Cache needed", "必要なキャッシュ")
NOT_MODELLED = Text("Not in these numbers", "この数値に含まないもの")
NOT_MODELLED_LINES = (
    Text("How fast answers come.", "応答の速さ。"),
    Text(
        "Requests over time: waiting, preemption, blocks of earlier requests that are found again.",
        "時間とともに変わるもの：待ち行列、プリエンプション、以前のリクエストのブロックの再利用。",
    ),
    Text(
        "LoRA adapters, and what encoders of images and sound need beside their weights.",
        "LoRA アダプターと、画像や音声のエンコーダーが重み以外に使うメモリ。",
    ),
    Text(
        "Other programs on the GPU; offloading to other memory.",
        "GPU 上のほかのプログラムと、ほかのメモリへの退避。",
    ),
)
NOT_MODELLED_OF: Final[Mapping[str, Text]] = {
    "vllm": Text(
        "Of vLLM: draft models of another kind than the model's own layers; context parallelism of the prefill; "
        "prefill and decoding on separate GPUs; cache types turboquant, octave, ultraquant and "
        "nvfp4_4over6; a pool of a given size (--kv-cache-memory-bytes).",
        "vLLM：モデルと異なる種類のドラフトモデル、プリフィルのコンテキスト並列、プリフィルとデコードの GPU の分離、"
        "キャッシュの型 turboquant など（octave、ultraquant、nvfp4_4over6）、"
        "プールの大きさの指定（--kv-cache-memory-bytes）。",
    ),
    "sglang": Text(
        "Of SGLang: draft models of another kind than the model's own layers; states kept for drafted tokens; context "
        "parallelism; prefill and decoding on separate GPUs; mxfp8 and fp4 caches; the pool for windows without the "
        "radix cache.",
        "SGLang：モデルと異なる種類のドラフトモデル、ドラフトのトークンのための状態、コンテキスト並列、"
        "プリフィルとデコードの GPU の分離、mxfp8 と fp4 のキャッシュ、"
        "radix cache を使わない場合のウィンドウ用プール。",
    ),
    "tensorrt-llm": Text(
        "Of TensorRT-LLM: draft layers and models; context parallelism; prefill and decoding on separate GPUs.",
        "TensorRT-LLM：ドラフトのレイヤーとモデル、コンテキスト並列、プリフィルとデコードの GPU の分離。",
    ),
    "llama.cpp": Text(
        "Of llama.cpp: draft models; layers left to the processor (-ngl); GPUs that share rows rather than layers "
        "(-sm row).",
        "llama.cpp：ドラフトモデル、CPU に残すレイヤー（-ngl）、レイヤー単位でない GPU 間の分割（-sm row）。",
    ),
    "transformers": Text(
        "Of Transformers: assistant models; layers that device_map leaves to the processor; caches of a fixed size, "
        "quantised ones (QuantizedCache, int4 and int2).",
        "Transformers：アシスタントモデル、device_map で CPU に残すレイヤー、固定サイズのキャッシュ、"
        "量子化したキャッシュ（QuantizedCache、int4 と int2）。",
    ),
}
"""What one engine could do besides, by its name in a scenario."""

# CSV file: its other headings are those of the tables under the charts
TABLE = Text("Table", "表")
ANSWER = Text("Answer", "結果")
MODEL_REVISION = Text("Revision of the config", "config のリビジョン")
VERSION = Text("kvviz version", "kvviz のバージョン")

# Embedding and the QR code
EMBED_TITLE = Text("KV cache of {model}, by kvviz", "{model} の KV キャッシュ（kvviz）")
NO_ADDRESS = Text(
    "This page does not know its own web address, so it cannot be embedded: open it by its http or https address.",
    "このページの Web アドレスが不明なため、埋め込めません。http または https のアドレスで開いてください。",
)
QR_TITLE = Text("QR code of the link to this answer", "この結果へのリンクの QR コード")
QR_TOO_LONG = Text(
    "The link has {length} bytes, more than the {most} a QR code holds: copy the link itself, or save the JSON file.",
    "リンクは {length} バイトで、QR コードの上限 {most} バイトを超えています。"
    "リンクをコピーするか、JSON ファイルを保存してください。",
)
