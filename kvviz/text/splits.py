"""Ways to share a model out over GPUs."""

from kvviz.text.base import Text

TITLE = Text("Ways to use these {gpus} GPUs", "{gpus} 基の GPU の使い方")
SPLIT = Text("Split", "分け方")
AT_ONCE = Text("At once", "同時に収まる数")
PER_GPU = Text("Per request, per GPU", "1 件あたり（各 GPU）")
COPIES = Text("Copies", "複製")
WEIGHTS = Text("Weights per GPU", "重み（各 GPU）")
NO_COPIES = Text("none", "なし")
TIMES = Text("{copies}×", "{copies} 重")
THIS_ONE = Text("{split} (this one)", "{split}（現在）")
DOES_NOT_START = Text("does not start", "起動しない")
USE = Text("{split} → {fit}", "{split} → {fit} 件")
ATTENTION_DP = Text("attention DP {groups}", "アテンション DP {groups}")
COST = Text(
    "By how many requests fit. Speed is another matter: fewer GPUs an engine take longer for each token, pipeline "
    "stages wait for each other, and several engines need something that shares requests out.",
    "収まる件数の順です。速度は別の問題で、1 エンジンの GPU が少ないほど 1 トークンに時間がかかり、"
    "パイプラインのステージには待ちが生じ、複数のエンジンにはリクエストの振り分けが必要です。",
)
MORE = Text("{count} more ways hold no more than these.", "ほかの {count} 通りで収まる数は、これらを超えません。")
