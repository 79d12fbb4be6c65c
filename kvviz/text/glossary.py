"""The field's terms in both languages: the one table that fixes what a term is called.

A test holds every other text to it.
"""

from dataclasses import dataclass
from typing import Final

from kvviz.text.base import Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A term as both languages call it."""

    name: Text
    reading: str
    """How the Japanese is read, in kana; empty where it is written in kana anyway."""
    meaning: Text
    said: str
    """Regular expression of the English words, wherever they stand in a text."""
    japanese: tuple[str, ...]
    """What the Japanese text then has: one of these."""


TERMS: Final[tuple[Term, ...]] = (
    Term(
        name=Text("KV cache", "KV キャッシュ"),
        reading="ケーブイキャッシュ",
        meaning=Text("keys and values of the tokens already processed", "処理済みのトークンの K と V を保存したもの"),
        said=r"KV caches?",
        japanese=("KV キャッシュ",),
    ),
    Term(
        name=Text("Token", "トークン"),
        reading="",
        meaning=Text("the piece of text that a model reads and writes", "モデルが読み書きする文の単位"),
        said=r"tokens?",
        japanese=("トークン",),
    ),
    Term(
        name=Text("Attention", "アテンション"),
        reading="",
        meaning=Text(
            "how a token weighs all earlier ones: its query against their keys, then their values",
            "クエリと過去の K を照合し、V を重み付けして取り込むしくみ",
        ),
        said=r"attention",
        japanese=("アテンション",),
    ),
    Term(
        name=Text("Keys and values", "K と V"),
        reading="ケーとブイ",
        meaning=Text(
            "what a token leaves for later ones: keys to be found by, values to be read",
            "トークンが後のトークンのために残す、照合用のキー（K）と取り込まれるバリュー（V）",
        ),
        said=r"keys? and values?|K and V",
        japanese=("K と V", "K、V", "K や V"),
    ),
    Term(
        name=Text("Layer", "レイヤー"),
        reading="",
        meaning=Text(
            "one of the model's stages; each has a cache of its own", "モデルの段の 1 つで、それぞれがキャッシュを持つ"
        ),
        said=r"layers?",
        japanese=("レイヤー", "層"),
    ),
    Term(
        name=Text("Query head", "クエリヘッド"),
        reading="",
        meaning=Text(
            "one of the parallel lookups in a layer; nothing of it is kept",
            "レイヤー内で並列に行う照合の単位で、保存されない",
        ),
        said=r"query heads?",
        japanese=("クエリヘッド",),
    ),
    Term(
        name=Text("KV head", "KV ヘッド"),
        reading="ケーブイヘッド",
        meaning=Text("a set of keys and values that query heads read", "クエリヘッドが参照する K と V の組"),
        said=r"KV heads?",
        japanese=("KV ヘッド",),
    ),
    Term(
        name=Text("Head size", "ヘッドの次元"),
        reading="ヘッドのじげん",
        meaning=Text("numbers in one key or value of a head", "1 つのヘッドの K や V の要素数"),
        said=r"head (?:size|dimension)s?",
        japanese=("ヘッドの次元",),
    ),
    Term(
        name=Text("Bytes per value", "値 1 個のバイト数"),
        reading="あたいいっこのバイトすう",
        meaning=Text("of one number in a key or value: 2 in 16 bits", "K や V の要素 1 個の大きさで、16 ビットなら 2"),
        said=r"bytes per value",
        japanese=("値 1 個のバイト数",),
    ),
    Term(
        name=Text("Formula", "計算式"),
        reading="けいさんしき",
        meaning=Text(
            "the product that a cache takes: layers, KV heads, head size and so on",
            "レイヤー数、KV ヘッド数、ヘッドの次元などを掛けてキャッシュの量を出す式",
        ),
        said=r"formulas?",
        japanese=("計算", "式"),
    ),
    Term(
        name=Text("MHA", "MHA"),
        reading="エムエイチエー",
        meaning=Text(
            "multi-head attention: every query head has keys and values of its own",
            "マルチヘッドアテンション。クエリヘッドごとに K と V を持つ",
        ),
        said=r"MHA",
        japanese=("MHA",),
    ),
    Term(
        name=Text("GQA", "GQA"),
        reading="ジーキューエー",
        meaning=Text(
            "grouped-query attention: groups of query heads share a KV head",
            "グループクエリアテンション。クエリヘッドのグループが 1 つの KV ヘッドを共有する",
        ),
        said=r"GQA",
        japanese=("GQA",),
    ),
    Term(
        name=Text("MQA", "MQA"),
        reading="エムキューエー",
        meaning=Text(
            "multi-query attention: all query heads share one KV head",
            "マルチクエリアテンション。全クエリヘッドが 1 つの KV ヘッドを共有する",
        ),
        said=r"MQA",
        japanese=("MQA",),
    ),
    Term(
        name=Text("Shared heads", "ヘッド共有"),
        reading="ヘッドきょうゆう",
        meaning=Text("several query heads read one KV head", "複数のクエリヘッドが 1 つの KV ヘッドを参照すること"),
        said=r"shared heads",
        japanese=("ヘッド共有",),
    ),
    Term(
        name=Text("Latent", "潜在ベクトル"),
        reading="せんざいベクトル",
        meaning=Text(
            "one compressed vector a token, in place of keys and values (MLA)",
            "K と V の代わりに保存する、圧縮した 1 本のベクトル（MLA）",
        ),
        said=r"latents?",
        japanese=("潜在",),
    ),
    Term(
        name=Text("Sliding window", "スライディングウィンドウ"),
        reading="",
        meaning=Text(
            "a layer that looks back only so far, and keeps only so much",
            "直近の一定数のトークンだけを見て、その分だけ保存するレイヤー",
        ),
        said=r"windows?",
        japanese=("ウィンドウ",),
    ),
    Term(
        name=Text("State", "状態"),
        reading="じょうたい",
        meaning=Text(
            "a summary of fixed size that linear or recurrent layers keep",
            "線形・再帰型のレイヤーが持つ一定の大きさの要約",
        ),
        said=r"states",
        japanese=("状態",),
    ),
    Term(
        name=Text("Context length", "コンテキスト長"),
        reading="コンテキストちょう",
        meaning=Text("input and output tokens of a request together", "リクエストの入力と出力を合わせたトークン数"),
        said=r"context length",
        japanese=("コンテキスト長",),
    ),
    Term(
        name=Text("Request", "リクエスト"),
        reading="",
        meaning=Text("one prompt and its answer", "1 つの入力とその回答"),
        said=r"requests?",
        japanese=("リクエスト", "件", "同時"),
    ),
    Term(
        name=Text("Sequence", "系列"),
        reading="けいれつ",
        meaning=Text("the tokens of one request in order", "1 件のリクエストのトークンの並び"),
        said=r"sequences?",
        japanese=("系列",),
    ),
    Term(
        name=Text("Prefill", "プリフィル"),
        reading="",
        meaning=Text(
            "the prompt is processed, many tokens in parallel", "プロンプトの多数のトークンを並列に処理する段階"
        ),
        said=r"prefill",
        japanese=("プリフィル",),
    ),
    Term(
        name=Text("Decode", "デコード"),
        reading="",
        meaning=Text("the answer is written, one token a step", "回答を 1 ステップに 1 トークンずつ生成する段階"),
        said=r"decod(?:e|es|ing)",
        japanese=("デコード",),
    ),
    Term(
        name=Text("Block", "ブロック"),
        reading="",
        meaning=Text(
            "a fixed number of slots, the unit in which memory is given out",
            "決まった数のスロットからなる、割り当ての単位",
        ),
        said=r"blocks?",
        japanese=("ブロック",),
    ),
    Term(
        name=Text("Slot", "スロット"),
        reading="",
        meaning=Text("the place of one token in a block", "ブロック内の 1 トークン分の場所"),
        said=r"slots?",
        japanese=("スロット",),
    ),
    Term(
        name=Text("Block table", "ブロックテーブル"),
        reading="",
        meaning=Text("which blocks a request has, in order", "リクエストのブロックを順に並べた表"),
        said=r"block tables?",
        japanese=("ブロックテーブル", "テーブル"),
    ),
    Term(
        name=Text("Pool", "プール"),
        reading="",
        meaning=Text("what an engine sets aside for caches at start", "エンジンが起動時にキャッシュ用に確保する領域"),
        said=r"pools?",
        japanese=("プール",),
    ),
    Term(
        name=Text("Memory fraction", "メモリ使用率"),
        reading="メモリしようりつ",
        meaning=Text(
            "how much of the GPU memory an engine takes for itself", "エンジンが GPU メモリのうち自分用に確保する割合"
        ),
        said=r"memory fractions?",
        japanese=("メモリ使用率",),
    ),
    Term(
        name=Text("Fragmentation", "断片化"),
        reading="だんぺんか",
        meaning=Text(
            "memory that cannot be used: set aside and not filled (internal), or free in holes too small for a request "
            "(external)",
            "使えないメモリ。確保されたまま埋まらない部分（内部）と、空いていても小さすぎてリクエストが入らない隙間（外部）",
        ),
        said=r"fragmentation",
        japanese=("断片化",),
    ),
    Term(
        name=Text("Prefix caching", "プレフィックスキャッシュ"),
        reading="",
        meaning=Text(
            "blocks of an equal beginning are found again", "先頭が同じリクエストのブロックを再利用するしくみ"
        ),
        said=r"prefix(?:es)?",
        japanese=("プレフィックス",),
    ),
    Term(
        name=Text("Eviction", "追い出し"),
        reading="おいだし",
        meaning=Text("a kept block that nobody uses is given away", "使われていない保存済みブロックを明け渡すこと"),
        said=r"evictions?",
        japanese=("追い出し",),
    ),
    Term(
        name=Text("Preemption", "プリエンプション"),
        reading="",
        meaning=Text(
            "a running request loses its blocks and waits again", "実行中のリクエストがブロックを失い、待ちに戻ること"
        ),
        said=r"preemptions?",
        japanese=("プリエンプション",),
    ),
    Term(
        name=Text("Weights", "重み"),
        reading="おもみ",
        meaning=Text("the model's own numbers, the same for all requests", "モデル自体の数値で、全リクエストに共通"),
        said=r"weights",
        japanese=("重み",),
    ),
    Term(
        name=Text("Activations", "アクティベーション"),
        reading="",
        meaning=Text("what a step needs in passing and gives back", "1 ステップの間だけ必要な中間結果"),
        said=r"activations?",
        japanese=("アクティベーション",),
    ),
    Term(
        name=Text("Quantisation", "量子化"),
        reading="りょうしか",
        meaning=Text("fewer bits for each number", "1 つの数値のビット数を減らすこと"),
        said=r"quantis(?:ed|es|ing|ation|e)",
        japanese=("量子化",),
    ),
    Term(
        name=Text("Training", "学習"),
        reading="がくしゅう",
        meaning=Text(
            "how a model comes to its weights; the number of KV heads is fixed before it, by the architecture, and "
            "only further training changes it",
            "重みを決める工程。KV ヘッド数はその前にアーキテクチャで決まり、変えるには追加学習が必要",
        ),
        said=r"train(?:ed|ing|s)?",
        japanese=("学習",),
    ),
    Term(
        name=Text("Bundled", "同梱"),
        reading="どうこん",
        meaning=Text("comes with kvviz and needs no network", "kvviz に含まれ、ネットワークなしで使えること"),
        said=r"bundled",
        japanese=("同梱",),
    ),
    Term(
        name=Text("Throughput", "スループット"),
        reading="",
        meaning=Text("tokens or requests in a second, over all", "全体で 1 秒あたりに処理するトークン数やリクエスト数"),
        said=r"throughput",
        japanese=("スループット",),
    ),
    Term(
        name=Text("Tensor parallelism", "テンソル並列"),
        reading="テンソルへいれつ",
        meaning=Text("every layer is split over several GPUs", "各レイヤーを複数の GPU に分けること"),
        said=r"tensor[ -]parallel(?:ism)?",
        japanese=("テンソル並列",),
    ),
)
