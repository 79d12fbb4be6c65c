"""What could be changed: what it is called, what it gives, what it costs."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

# Labels
MAX_MODEL_LEN = Text("Max model length {tokens}", "最大コンテキスト長 {tokens}")
BATCHED_TOKENS = Text("{tokens} batched tokens", "バッチあたり {tokens} トークン")
MEMORY_FRACTION = Text("Memory fraction {fraction}", "メモリ使用率 {fraction}")
KV_DTYPE = Text("{dtype} cache", "{dtype} キャッシュ")
SPOKEN_DTYPES: Final[Mapping[str, str]] = {
    "fp8_per_token_head": "FP8 per-head",
    "int8_per_token_head": "INT8",
    "int4_per_token_head": "INT4",
    "fp8_ds_mla": "FP8 MLA",
    "nvfp4_ds_mla": "NVFP4",
}
"""Cache types whose name is no word; the others are said in capitals."""
WEIGHT_DTYPE = Text("{dtype} weights", "{dtype} の重み")
ONE_ENGINE = Text("One engine over {tp} GPUs", "GPU {tp} 基で 1 つのエンジン")
ENGINES = Text("{engines} engines of {tp} GPUs", "{tp} 基ずつのエンジン {engines} 個")
ENGINES_OF_ONE = Text("{engines} engines of one GPU", "1 基ずつのエンジン {engines} 個")
GPUS = Text("{gpus} GPUs", "GPU {gpus} 基")
GPUS_ENGINES = Text("{gpus} GPUs, {engines} engines", "GPU {gpus} 基、エンジン {engines} 個")
GPU = Text("{gpus} × {gpu}", "{gpus} × {gpu}")
CONTEXT = Text("At most {tokens} tokens", "最長 {tokens} トークン")
SEQUENCES = Text("{sequences} at a time", "同時 {sequences} 件まで")
KV_HEADS = Text("A model with {heads} KV heads", "KV ヘッドが {heads} 個のモデル")
KV_HEAD = Text("A model with {heads} KV head", "KV ヘッドが {heads} 個だけのモデル")
SOLVES = Text("{what} → {fit} ✓", "{what} → {fit} 件 ✓")
SOLVES_ITSELF = Text("{what} ✓", "{what} ✓")
AT_A_COST = Text("{what} ({cost})", "{what}（{cost}）")
QUALITY_RISK = Text("quality risk", "品質に注意")
MAYBE_SLOWER = Text("may be slower", "遅い場合あり")
OTHER_CHECKPOINT = Text("other checkpoint", "別の重みが必要")
SHORT_COSTS: Final[Mapping[str, Text]] = {
    "fp8_per_token_head": MAYBE_SLOWER,
    "int8_per_token_head": MAYBE_SLOWER,
    "int4_per_token_head": QUALITY_RISK,
    "nvfp4": QUALITY_RISK,
    "nvfp4_ds_mla": QUALITY_RISK,
}
"""What a button says of a cache type that is not the usual one to try first."""
NEARER = Text("{what} → {fit} of {needed}", "{what} → {needed} 件中 {fit} 件")

# Effects
BYTES_CHANGE = Text("{before} → {after} a request on each GPU", "各 GPU で 1 リクエスト {before} → {after}")
BYTES_SAME = Text("{after} a request on each GPU as before", "各 GPU で 1 リクエスト {after} のまま")
EFFECT = Text("{bytes}; {fit} → {then} at once.", "{bytes}、同時 {fit} → {then} 件です。")
WEIGHTS_EFFECT = Text(
    "Cache unchanged by one byte; {more} more {more:request|requests} because the weights shrank by {saved} on "
    "each GPU.",
    "キャッシュは 1 バイトも変わりません。重みが各 GPU で {saved} 減るため、{more} 件多く入ります。",
)
WEIGHTS_EFFECT_ONE = Text(
    "Cache unchanged by one byte; {more} more request because the weights shrank by {saved} on each GPU.",
    "キャッシュは 1 バイトも変わりません。重みが各 GPU で {saved} 減るため、{more} 件多く入ります。",
)

# Costs
LENGTH_COST = Text(
    "Longer requests than the longest one you entered are refused.",
    "入力した最長のリクエストより長いものは拒否されます。",
)
BATCHED_COST = Text(
    "Long prompts are read in smaller steps, so their first token comes later.",
    "長いプロンプトを小刻みに処理するため、最初のトークンが遅くなります。",
)
FRACTION_COST = Text(
    "Only {outside} of each GPU stays outside the engine: running out of memory becomes likelier, "
    "and nothing else should run there.",
    "各 GPU でエンジンの外に残るのは {outside} だけです。メモリ不足が起こりやすくなり、他の処理とは共用できません。",
)
KV_DTYPE_COST = Text(
    "Fewer bits for keys and values: long texts may lose quality. Test with your own.",
    "K と V のビット数が減り、長文で品質が下がることがあります。自分のデータで確かめてください。",
)
KV_DTYPE_COSTS: Final[Mapping[str, Text]] = {
    "bf16": Text(
        "Half the bits, which is what models are usually served with.",
        "ビット数は半分ですが、通常の運用で使われる型です。",
    ),
    "fp16": Text(
        "Half the bits, which is what models are usually served with.",
        "ビット数は半分ですが、通常の運用で使われる型です。",
    ),
    "fp8": Text(
        "8 bits for keys and values, without scales unless the checkpoint brings them: "
        "long texts may lose quality. Test with your own.",
        "K と V が 8 ビットになり、チェックポイントにスケールがなければ補正なしで丸められます。"
        "長文で品質が下がることがあるため、自分のデータで確かめてください。",
    ),
    "fp8_per_token_head": Text(
        "8 bits with a scale for each vector. Only vLLM's Triton kernel reads it, which may be slower. Test both.",
        "ベクトルごとのスケールを持つ 8 ビットです。"
        "読めるのは vLLM の Triton カーネルだけで、遅くなることがあります。品質と速度を確かめてください。",
    ),
    "int8_per_token_head": Text(
        "8 bits with a scale for each vector. Only vLLM's Triton kernel reads it, which may be slower. Test both.",
        "ベクトルごとのスケールを持つ 8 ビットです。"
        "読めるのは vLLM の Triton カーネルだけで、遅くなることがあります。品質と速度を確かめてください。",
    ),
    "int4_per_token_head": Text(
        "4 bits: a loss of quality is likelier than with 8. "
        "Only vLLM's Triton kernel reads it, which may be slower. Test both.",
        "4 ビットのため、8 ビットより品質が下がりやすくなります。"
        "読めるのは vLLM の Triton カーネルだけで、遅くなることがあります。品質と速度を確かめてください。",
    ),
    "nvfp4": Text(
        "4 bits with block scales: a loss of quality is likelier than with 8. Test with your own texts.",
        "ブロックごとのスケールを持つ 4 ビットで、8 ビットより品質が下がりやすくなります。"
        "自分のデータで確かめてください。",
    ),
    "nvfp4_ds_mla": Text(
        "4 bits with block scales: a loss of quality is likelier than with 8. Test with your own texts.",
        "ブロックごとのスケールを持つ 4 ビットで、8 ビットより品質が下がりやすくなります。"
        "自分のデータで確かめてください。",
    ),
}
WEIGHTS_COST = Text(
    "Takes another checkpoint, published or made so, and may lose quality. An estimate until you have its size.",
    "その型で公開または変換したチェックポイントが必要で、品質が下がることがあります。"
    "実際の大きさがわかるまでは推定です。",
)
ONE_ENGINE_COST = Text(
    "The GPUs exchange data in every layer, and one engine is all there is.",
    "レイヤーごとに GPU 間の通信が入り、動くエンジンは 1 つになります。",
)
ENGINES_COST = Text(
    "Requests must be shared out among the engines, each with its own weights and cache, "
    "and the longest request must fit one of them.",
    "リクエストの振り分けが必要です。重みとキャッシュはエンジンごとに持ち、"
    "最長のリクエストは 1 つのエンジンに収まる必要があります。",
)
GPUS_COST = Text(
    "{more} more {more:GPU|GPUs} to pay for, and data to exchange in every layer.",
    "GPU の費用が {more} 基分増え、レイヤーごとに GPU 間の通信が入ります。",
)
GPUS_ENGINES_COST = Text(
    "{more} more {more:GPU|GPUs} to pay for. Requests must be shared out; each engine has its own weights and cache.",
    "GPU の費用が {more} 基分増え、リクエストの振り分けが必要です。エンジンごとに重みとキャッシュを持ちます。",
)
GPU_COST = Text("Another GPU to buy or rent.", "別の GPU を購入または借用する必要があります。")
GPUS_OTHER_COST = Text("Other GPUs to buy or rent.", "別の GPU を複数、購入または借用する必要があります。")
INPUT_COST = Text(
    "Prompts get {cut} tokens shorter, which leaves less room for retrieved passages and history.",
    "プロンプトが {cut} トークン短くなり、検索した文書や履歴を入れる余地が減ります。",
)
PASSAGES_COST = Text(
    "{cut} {cut:passage|passages} fewer in each prompt.",
    "各プロンプトに入れる文書が {cut} 件減ります。",
)
OUTPUT_COST = Text(
    "Answers are cut {cut} tokens earlier.",
    "回答が {cut} トークン早く打ち切られます。",
)
SEQUENCES_COST = Text(
    "At the busiest moment {waiting} {waiting:request|requests} {waiting:waits|wait} in the queue for their "
    "first token.",
    "ピーク時には {waiting} 件が最初のトークンまで順番を待ちます。",
)
KV_HEADS_COST = Text(
    "Another model, trained with fewer KV heads: its quality is its own. Its weights are taken to be as large.",
    "KV ヘッドを減らして学習した別のモデルで、品質も別物です。重みの大きさは同じとみなしています。",
)

# Speed
FLOOR = Text(
    "At least {ms} ms a decode step, if every weight is read: {weights} of weights and {cache} of cache "
    "({requests} {requests:request|requests} at full length{once}) at {bandwidth} GB/s. A floor, not a "
    "prediction{mixture}",
    "デコード 1 ステップは、重みをすべて読むなら最短でも {ms} ms です（重み {weights} と"
    "最長の {requests} 件分{once}のキャッシュ {cache} を {bandwidth} GB/s で読む時間）。"
    "予測ではなく下限です{mixture}",
)
FLOOR_SPARSE = Text(
    "At least {ms} ms a decode step, if every weight is read: {weights} of weights and {cache} of indexer keys "
    "({requests} {requests:request|requests} at full length{once}) at {bandwidth} GB/s, without the part of the "
    "cache that sparse "
    "attention picks. A floor, not a prediction{mixture}",
    "デコード 1 ステップは、重みをすべて読むなら最短でも {ms} ms です（重み {weights} と"
    "最長の {requests} 件分{once}のインデクサーキー {cache} を {bandwidth} GB/s で読む時間で、"
    "スパースアテンションが選ぶ分は含みません）。予測ではなく下限です{mixture}",
)
MIXTURE = Text(
    "; mixture-of-experts models read fewer weights while few requests run.",
    "。MoE モデルは同時リクエストが少ないと一部の重みしか読みません。",
)
DENSE = Text(".", "。")
SHARED_ONCE = Text(", the {shared} tokens they share once", "（共通の {shared} トークンは 1 回）")
