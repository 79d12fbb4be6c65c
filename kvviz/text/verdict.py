"""The answer in one sentence: a head with the number, then the rest of it."""

from kvviz.text.base import Text

# How the two come together where they stand on one line
SENTENCE = Text("{head} {rest}", "{head}。{rest}")

# The head
FIT_ONE = Text("It fits", "収まります")
FIT_ALL = Text("All {needed} fit at once", "{needed} 件すべてが同時に収まります")
FIT_SOME = Text("{fit} of {needed} fit at once", "同時に収まるのは {needed} 件中 {fit} 件です")
FIT_NONE = Text("Not even one of {needed} fits", "{needed} 件のうち 1 件も収まりません")
FIT_HELD = Text(
    "{needed} fit unless many long prompts arrive together",
    "長いプロンプトが同時に多数届かなければ {needed} 件収まります",
)
# The same where an engine runs fewer at once than have room, unless it is told to run more
FIT_ALL_RUN = Text(
    "All {needed} fit in memory; {most} run at once by default",
    "全 {needed} 件がメモリに収まり、既定の同時処理は {most} 件です",
)
FIT_SOME_RUN = Text(
    "{fit} of {needed} fit in memory; {most} run at once by default",
    "メモリに収まるのは {needed} 件中 {fit} 件、既定の同時処理は {most} 件です",
)
FIT_HELD_RUN = Text(
    "{needed} fit in memory unless many long prompts arrive together; {most} run at once by default",
    "長いプロンプトが同時に多数届かなければ {needed} 件がメモリに収まり、既定の同時処理は {most} 件です",
)
ANSWER_WHERE = Text(
    "on {gpus} × {gpu}{engines}, {needed:one request of|every request at} {tokens} tokens, {engine}.",
    "{gpus} × {gpu}{engines}、{needed:1 件の|各}リクエスト {tokens} トークン、{engine}。",
)
ENGINES = Text(" ({count} engines of {tp})", "（{tp} 基ずつのエンジン {count} 個）")
GROUPS = Text(" (attention in {count} groups of {tp})", "（アテンションは {tp} 基ずつの {count} グループ）")
GROUPS_OF_ONE = Text(" (attention on each GPU apart)", "（アテンションは GPU ごとに別）")
SHORT = Text("**{bytes} short** per GPU.", "GPU あたり **{bytes} 不足**しています。")
SPARE = Text("**{bytes} to spare** per GPU.", "GPU あたり **{bytes} の余裕**があります。")
NO_MORE_SLOTS = Text(
    "**{most} {most:slot|slots} {most:is|are} the most** that one server has; memory is enough, {bytes} to "
    "spare per GPU.",
    "1 つのサーバーの**スロットは {most} 個まで**です。メモリは足りており、GPU あたり {bytes} の余裕があります。",
)
CERTAIN = Text(
    "**{fit} are certain**: when all arrive at full length, {bytes} are missing per GPU.",
    "**確実なのは {fit} 件**です。全件が同時に最長で届くと、GPU あたり {bytes} 不足します。",
)
WEIGHTS_TOO_LARGE = Text("The weights alone do not fit", "重みだけでメモリを超えます")
NO_ROOM = Text(
    "Weights and run time leave no room for a cache", "重みと実行時メモリだけで、キャッシュの余地がありません"
)
NO_START = Text("{engine} would not start", "{engine} は起動できません")
NO_START_REST = Text(
    "on {gpus} × {gpu}: one request of {tokens} tokens needs {need}, more than the {pool} left for the cache.",
    "{gpus} × {gpu} では、{tokens} トークンの 1 リクエストに {need} 必要ですが、キャッシュに残るのは {pool} です。",
)
NEED = Text("{bytes} of KV cache", "KV キャッシュ {bytes}")
NO_WEIGHTS = Text(
    "for {needed} {needed:request|requests} at {tokens} tokens. "
    "Type the weights, which are not known, below the GPU to see how many fit.",
    "{tokens} トークンのリクエスト {needed} 件分です。重みが不明なため、GPU の下に入力すると収まる件数がわかります。",
)
CHOOSE_GPU = Text(
    "for {needed} {needed:request|requests} at {tokens} tokens. Choose a GPU to see how many fit.",
    "{tokens} トークンのリクエスト {needed} 件分です。GPU を選ぶと収まる件数がわかります。",
)
NO_PLAN = Text(
    "for {needed} {needed:request|requests} at {tokens} tokens: content only, without what an engine sets aside.",
    "{tokens} トークンのリクエスト {needed} 件分の実データ量です。エンジンの確保量は含みません。",
)
