"""The review page: assumptions with their badges, two scenarios in dispute, somebody else's number."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

PAGE = Text("Review", "レビュー")

# Assumptions
ASSUMPTIONS = Text("What it rests on", "前提")
ASSUMPTION = Text("Assumption", "前提")
VALUE = Text("Value", "値")
BASIS = Text("Why, or by default", "理由・既定値")
BADGES: Final[Mapping[str, Text]] = {
    "changed": Text("changed", "変更"),
    "default": Text("default", "既定"),
}
DEFAULT_IS = Text("default: {value}", "既定値：{value}")
GPUS = Text("Number of GPUs", "GPU の数")
PER_GPU = Text("{bytes} per GPU", "GPU あたり {bytes}")

# Buttons and links
OPEN_SIZING = Text("Open in Sizing", "サイジングで開く")
OPEN_B = Text("Open B in Sizing", "B をサイジングで開く")
CHALLENGE = Text("Challenge this", "異議を唱える")
WITHDRAW = Text("Back to A", "A に戻す")
REVIEW_LINK = Text(
    "For a reviewer: the answer with its assumptions, to be challenged.",
    "レビュー用：結果を前提とともに示し、異議を唱えられます。",
)

# The dispute
IS_A = Text("A, as shared", "A（共有された設定）")
IS_B = Text("B, as changed", "B（変更後の設定）")
EDIT_B = Text("B: change what you doubt", "B：疑問のある設定を変更")
NOTHING_DIFFERS = Text(
    "B is still the same as A. Change a setting: the difference is explained here, step by step.",
    "B はまだ A と同じです。設定を変えると、差がここに段階的に示されます。",
)
DIFFERENCE = Text("From A to B", "A から B まで")
STEP = Text("Step", "変更点")
CHANGE = Text("{name}: {before} → {after}", "{name}：{before} → {after}")
EACH_REQUEST = Text("One request", "1 リクエスト")
POOL = Text("Pool", "プール")
AT_ONCE = Text("At once", "同時に収まる数")
DELTA = Text("Difference", "差")
NO_CHANGE = Text("±0", "±0")
NO_EFFECT = Text("Without effect: {changes}", "影響なし：{changes}")
SEPARATOR = Text("; ", "、")
ADDS_UP = Text(
    "One setting at a time, in a fixed order; the steps add up exactly. In another order single steps may weigh "
    "otherwise, the whole does not.",
    "設定を決まった順に 1 つずつ変えています。各段階の和は全体の差と正確に一致します。"
    "順序を変えると段階ごとの値は変わり得ますが、全体は変わりません。",
)
TOGETHER = Text("Settings in one step work only together.", "1 段階にまとめた設定は、合わせて変えないと動きません。")
BYTES_ONLY = Text(
    "Without a GPU, or without known weights, only bytes can be compared.",
    "GPU が未選択か重みが不明なため、バイト数だけを比較します。",
)
SHARE = Text("Link to this dispute: A and B, for a colleague to open", "この議論のリンク（A と B の両方を含みます）")
A_FAILS = Text("A cannot be answered: {why}", "A に答えられません：{why}")

# Somebody else's number
THEIR_NUMBER = Text("Where does their number come from?", "その数値はどこから？")
NUMBER = Text("A number from another tool or document", "ほかのツールや文書の数値")
NUMBER_PLACEHOLDER = Text("20–40 GB", "20～40 GB")
NUMBER_HELP = Text(
    "For this scenario: 40 GB, 20–40 GB, 39 GiB, 2.5 GB per user, 1.2 MB/token.",
    "このシナリオに対する数値です。40 GB、20～40 GB、39 GiB、2.5 GB/ユーザー、1.2 MB/トークンのように入力します。",
)
READ = Text("Read as {amount}{per}", "読み取った値：{amount}{per}")
RANGE = Text("{low}–{high}", "{low}～{high}")
GB_OR_GIB = Text("{amount} GB or GiB", "{amount} GB または GiB")
PER: Final[Mapping[str, Text]] = {
    "token": Text(" per token", "（トークンあたり）"),
    "request": Text(" per request", "（リクエストあたり）"),
    "load": Text(" in total", "（合計）"),
}
FOR_SCENARIO = Text(
    "{model}, {tokens} tokens, {requests} {requests:request|requests} at once, {dtype} cache",
    "{model}、{tokens} トークン、同時 {requests} 件、{dtype} キャッシュ",
)
RIGHT_HERE = Text("Right here: **{content}** for one request.", "正しくは、1 リクエストで **{content}** です。")
RIGHT_LOAD = Text(
    "Right here: **{content}** for one request, **{load}** for all {requests}.",
    "正しくは、1 リクエストで **{content}**、{requests} 件で **{load}** です。",
)
RIGHT_TOKEN = Text("Right here: **{bytes}** for one more token.", "正しくは、トークン 1 個につき **{bytes}** です。")
FINDING = Text(
    "**{how}** gives **{gives}** for {what}; right is {right}. {why}",
    "**{how}**：{what}で **{gives}** になります（正しくは {right}）。{why}",
)
IS_RIGHT = Text("**No mistake**, if {what} is meant: {gives}.", "{what}であれば **正しい値** です（{gives}）。")
PLUS = Text(" + ", " + ")
LOW_END = Text("{amount}, the lower end", "下限 {amount}")
HIGH_END = Text("{amount}, the upper end", "上限 {amount}")
SPANS = Text("The whole range in one way, for one request", "範囲全体を 1 通りで説明（1 リクエスト）")
SPAN = Text("**{how}**, at {low} to {high} tokens", "**{how}**、{low}～{high} トークン")
SPAN_RIGHT = Text("no mistake, but other lengths", "誤りなし（長さだけが異なる）")
NONE = Text(
    "None of the known mistakes, alone or in pairs, comes to {amount} ({tried} numbers compared). It may be for "
    "another length, model or number of requests: ask what it was reckoned for.",
    "既知の誤りは、単独でも 2 つの組み合わせでも {amount} になりません（{tried} 通りを比較）。"
    "長さ、モデル、リクエスト数が異なる可能性があります。何についての数値か確認してください。",
)
CANDIDATES = Text(
    "A match is no proof: {tried} numbers were compared, to the last printed digit or within 3%.",
    "一致は証明ではありません。{tried} 通りの値を、表記の最終桁まで、または 3% 以内で比較しました。",
)
