"""The Compare page."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

PAGE = Text("Compare", "比較")
TAB_SCENARIOS = Text("Scenarios", "シナリオ")
TAB_MODELS = Text("Every model", "全モデル")

# The matrix
MATRIX = Text("Requests at once: models against GPUs", "同時に収まる数：モデルと GPU")
NEED = Text(
    "Needed: **{requests} at once, {tokens} tokens each** on {engine}, as on the Sizing page. A press on a number "
    "opens it there.",
    "必要数：**同時 {requests} 件、各 {tokens} トークン**（{engine}、サイジングのページの設定）。"
    "セルを押すとそのページで開きます。",
)
CHOOSE = Text("Choose models and GPUs", "モデルと GPU を選ぶ")
MODELS = Text("Models", "モデル")
DEVICES = Text("GPUs", "GPU")
COUNTS = Text("How many", "GPU の数")
MODEL = Text("Model", "モデル")
COLUMN = Text("{count} × {gpu}", "{count} × {gpu}")
LEGEND = Text(
    "✓ all fit · ◐ fit only while all decode · ✗ too few · – not possible, see below",
    "✓ 全件収まる · ◐ 全件がデコード中なら収まる · ✗ 足りない · – 不可（下の説明を参照）",
)
NOTHING_CHOSEN = Text(
    "Choose models, GPUs and how many first.",
    "先にモデル、GPU、GPU の数を選んでください。",
)
SHORT_WHY: Final[Mapping[str, Text]] = {
    "weights": Text("✗ none", "✗ なし"),
    "unknown-weights": Text("– unknown", "– 不明"),
    "no-plan": Text("– no count", "– 計算なし"),
    "no-gpu": Text("– no GPU", "– GPU なし"),
    "split": Text("– split", "– 分割不可"),
    "kv-type": Text("– KV type", "– KV の型"),
    "impossible": Text("– not possible", "– 不可"),
}
"""In a cell that has no number."""
LONG_WHY: Final[Mapping[str, Text]] = {
    "weights": Text("The weights leave no room for a cache.", "重みだけで、キャッシュの余地がありません。"),
    "unknown-weights": Text(
        "The weights are not known: type them on the Sizing page.",
        "重みが不明です。サイジングのページで入力してください。",
    ),
    "no-gpu": Text("No GPU is chosen.", "GPU が選ばれていません。"),
    "no-plan": Text("This engine does not run the model.", "このエンジンはこのモデルを実行しません。"),
}
RUNS_FEWER = Text(
    "Some of these numbers are room in memory only: by default {engine} runs {most} at once.",
    "一部はメモリに収まるだけの数です。{engine} が既定で同時に処理するのは {most} 件までです。",
)
FROM_TO = Text("{least} to {most}", "{least}～{most}")
MORE_REASONS = Text("… and {count} more", "… ほか {count} 件")
REASON = Text("**{cell}** ({models}): {why}", "**{cell}**（{models}）：{why}")
REASON_PLAIN = Text("{cell} ({models}): {why}", "{cell}（{models}）：{why}")

# Side by side
SIDE_BY_SIDE = Text("Scenarios side by side", "シナリオの比較")
ADD = Text("Add the Sizing page's scenario", "サイジングのページのシナリオを追加")
ENGINES = Text("Under all five engines", "5 つのエンジンで比べる")
TYPES = Text("KV types: {types}", "KV の型：{types}")
UNDO = Text("Undo", "元に戻す")
FULL = Text("Six scenarios is the most: remove one to add another.", "最大 6 件です。追加するには 1 件外してください。")
ALREADY = Text("That scenario is here already, as number {number}.", "同じシナリオが {number} 番にあります。")
REPLACE = Text(
    "Put the Sizing page's scenario in place of {number}",
    "{number} 番をサイジングのページのシナリオに置き換える",
)
EDIT = Text("Edit {number}", "{number} を編集")
EDIT_HELP = Text("Opens it on the Sizing page.", "サイジングのページで開きます。")
REMOVE = Text("Remove {number}", "{number} を外す")
CHANGE_SET = Text("Edit or remove", "編集・削除")
LINK_HELP = Text(
    "Opens exactly this: the matrix, every scenario and what is explained.",
    "表、すべてのシナリオ、理由の説明を含み、同じ画面が開きます。",
)
OPEN = Text("Open this comparison in kvviz", "この比較を kvviz で開く")
SAVE_MARKDOWN = Text("Markdown", "Markdown")
ON_BASIS = Text("{value}, {basis}. {source}", "{value}（{basis}）。{source}")
PER_GPU = Text(
    "Spare, reserved, pool and weights are those of one GPU; content is the whole model's.",
    "余裕・不足、確保量、プール、重みは GPU 1 基の値、実データ量はモデル全体の値です。",
)
SAME_BELOW = Text(
    "Rows that differ come first; from “{first}” on they are the same.",
    "異なる行が上にあります。「{first}」以降は全シナリオで同じです。",
)
CANNOT = Text("Scenario {number}: {why}", "シナリオ {number}：{why}")
UNKNOWN_IN_LINK = Text(
    "The link's “{shown}” is not known here and was left out.",
    "リンクの「{shown}」は見つからないため、除きました。",
)

# Rows of the table
ROW = Text("Scenario", "シナリオ")
ROW_MODEL = Text("Model", "モデル")
ROW_ENGINE = Text("Engine", "エンジン")
ROW_GPU = Text("GPU", "GPU")
ROW_SPLIT = Text("GPUs per engine", "エンジンの GPU 数")
ROW_DTYPE = Text("KV cache type", "KV キャッシュの型")
ROW_TOKENS = Text("Tokens each", "1 件のトークン数")
ROW_REQUESTS = Text("Requests at peak", "同時リクエスト数")
ROW_CONTENT = Text("Content per request", "1 件の実データ量")
ROW_RESERVED = Text("Reserved per request", "1 件の確保量")
ROW_POOL = Text("Pool", "プール")
ROW_WEIGHTS = Text("Weights", "重み")
ROW_FIT = Text("At once", "同時に収まる数")
ROW_IN_MEMORY = Text("Fit in memory", "メモリに収まる数")
ROW_RUN = Text("Run at once by default", "既定の同時処理数")
ROW_SPARE = Text("Spare or short", "余裕・不足")
NO_GPU = Text("none", "なし")

# The chart
CHART = Text("KV cache needed against context", "コンテキスト長と必要な KV キャッシュ")
CHART_TITLE = Text("Needed on one GPU, {unit}", "GPU 1 基の必要量（{unit}）")
CHART_TITLE_LOG = Text("Needed on one GPU, logarithmic", "GPU 1 基の必要量（対数）")
LINE = Text("{number} · {name}", "{number} · {name}")
LINE_CONTENT = Text("{number} · {name} (content, whole model)", "{number} · {name}（実データ量、モデル全体）")
HERE = Text("here: the scenario's own length", "シナリオの長さ")
BEYOND_POOL = Text("dotted: more than its pool holds", "点線：プールに入らない範囲")
CHART_ALT = Text(
    "KV cache needed against context length. {lines}.", "コンテキスト長に対する必要な KV キャッシュ。{lines}。"
)
CHART_ALT_LINE = Text(
    "{number}, {name}: {bytes} for {requests} at {tokens}",
    "{number}、{name}：{tokens}、{requests} で {bytes}",
)
HOVER = Text("{number}: %{{customdata}}", "{number}：%{{customdata}}")

# Why different
WHY = Text("Why a request takes more in one than in the other", "1 件の量が異なる理由")
WHICH = Text("Two to explain", "説明する 2 件")
PAIR = Text("{one} against {other}", "{one} と {other}")
TIMES = Text(
    "A request of scenario {one} takes **{ratio} times** what one of scenario {other} does: {one_bytes} against "
    "{other_bytes}{counted}.",
    "シナリオ {one} の 1 リクエストは、シナリオ {other} の **{ratio} 倍**です"
    "（{one_bytes} と {other_bytes}、{counted}）。",
)
EQUAL = Text(
    "A request takes the same in both: {one_bytes}{counted}.",
    "1 リクエストの量は同じです（{one_bytes}、{counted}）。",
)
COUNTED = Text(", as the engine counts on one GPU", "GPU 1 基でのエンジンの計上")
CONTENT_ONLY = Text(", content of the whole model", "モデル全体の実データ量")
NO_RATIO = Text(
    "One of the two keeps nothing for a request, so there is no ratio.",
    "どちらかが 1 件のために何も保持しないため、比がありません。",
)
ONE_ONLY = Text("Two scenarios are needed to explain a difference.", "差の説明には 2 件のシナリオが必要です。")
FACTOR = Text("Factor", "要因")
TIMES_COLUMN = Text("Times", "倍率")
PRODUCT = Text("**Product, exactly the ratio**", "**積（比と厳密に一致）**")
SAME_FACTORS = Text("The same in both: {names}.", "両方で同じ：{names}。")
LAYERS_STORING = Text("Layers that keep tokens", "トークンを保持する層")
LAYERS_ANY = Text("Layers that keep anything", "何かを保持する層")
KV_HEADS = Text("KV heads", "KV ヘッド")
HEAD_SIZE = Text("Head size, K + V", "ヘッドの次元（K + V）")
VALUES = Text("Values of a token in a layer", "1 層の 1 トークンの値の数")
VALUE_BYTES = Text("Bytes per value", "値 1 個のバイト数")
CONTEXT = Text("Tokens of a request", "1 件のトークン数")
KEPT = Text("Share of the tokens that is kept (windows)", "保持するトークンの割合（ウィンドウ）")
FIXED = Text("States and encoder output on top", "状態とエンコーダー出力の上乗せ")
BYTES_IN_LAYER = Text("Bytes of a request in a layer", "1 層の 1 件のバイト数")
ENGINE_ADDS = Text("What the engine adds (blocks, windows in flight)", "エンジンの上乗せ（ブロック、先行分）")
GPU_SHARE = Text("Share on the fullest GPU, copies included", "最も埋まる GPU の分担（複製を含む）")
ENGINE_AND_SPLIT = Text("What the engine adds, and its split over GPUs", "エンジンの上乗せと GPU への分割")

# Every model
MODELS_INTRO = Text(
    "One request of {tokens} tokens: what its cache holds, against the size of the model. Each in its own cache type, "
    "whole model, before any engine. {count} bundled models; {without} whose parameters are not known are left out.",
    "{tokens} トークンの 1 リクエストの実データ量と、モデルの大きさです。キャッシュの型はモデルごとの既定、"
    "エンジンの確保分を含まないモデル全体の値です。"
    "同梱の {count} モデル（パラメーター数が不明な {without} 件を除く）。",
)
PARAMETERS = Text("Parameters", "パラメーター数")
CONTENT_TITLE = Text("KV cache of one request, logarithmic", "1 リクエストの KV キャッシュ（対数）")
CHOSEN = Text("in your comparison", "比較中のモデル")
KINDS: Final[Mapping[str, Text]] = {
    "full": Text("full attention", "フルアテンション"),
    "windows": Text("with windows", "ウィンドウあり"),
    "latent": Text("latents (MLA), records", "潜在ベクトル（MLA）など"),
    "states": Text("with states", "状態あり"),
    "fixed": Text("states alone", "状態のみ"),
}
KIND = Text("Kind", "種類")
GROWS = Text("Bytes per further token", "1 トークンごとの増分バイト")
CONTENT = Text("One request", "1 リクエスト")
MODELS_ALT = Text(
    "Models by parameters and KV cache of one request of {tokens}: from {least} ({least_bytes}) to {most} "
    "({most_bytes}).",
    "パラメーター数と 1 リクエスト（{tokens}）の KV キャッシュ。最小は {least}（{least_bytes}）、"
    "最大は {most}（{most_bytes}）です。",
)
