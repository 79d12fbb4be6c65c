"""What the Workshop page and its sheets of paper say: an hour in ten steps, for people who never saw a KV cache."""

from collections.abc import Mapping
from typing import Final

from kvviz.text.base import Text

PAGE = Text("Workshop", "ワークショップ")

# --- around a step ---------------------------------------------------------------------------------------------------

INTRO = Text(
    "{minutes} minutes, {steps} steps. Guess first, then look: a wrong guess is what makes the answer stay.",
    "{minutes} 分、{steps} ステップです。先に予想して、それから答えを見ます。外れた予想ほど、記憶に残ります。",
)
WHERE = Text("Step {number} of {steps}", "ステップ {number} / {steps}")
CLOCK = Text("minute {begin} to {end} of {all}", "{begin}～{end} 分（全 {all} 分）")
MINUTES = Text("{minutes} min", "{minutes} 分")
STEPS = Text("Step", "ステップ")
PREVIOUS = Text("Back", "前へ")
NEXT = Text("Next", "次へ")
YOUR_GUESS = Text("Your guess", "予想")
GUESS_IN = Text("Your guess in {unit}", "予想（{unit}）")
ONE_OF_SEVERAL = Text("Question {number}: {question}", "問 {number}：{question}")
REVEAL = Text("Show the answer", "答えを見る")
HIDE = Text("Hide the answer", "答えを隠す")
GUESS_FIRST = Text(
    "Guess first: any number or choice will do. Press again to look without a guess.",
    "先に予想しましょう。だいたいで構いません。もう一度押すと、予想なしで答えが出ます。",
)
NOT_A_NUMBER = Text(
    "“{shown}” is no number: type one such as {example}.",
    "「{shown}」は数として読めません。{example} のように入力してください。",
)
NOT_MORE_THAN_ZERO = Text(
    "“{shown}”: the answer is more than 0. Type a number such as {example}.",
    "「{shown}」：答えは 0 より大きい数です。{example} のように入力してください。",
)
WORKING = Text("Working", "計算")
NEW_TAB = Text("Opens in another tab; your guesses stay here.", "別のタブで開きます。予想はこのページに残ります。")
TEACHER = Text("Notes for the teacher", "先生用のメモ")
NOTES: Final[Mapping[str, Text]] = {
    "wrong": Text("Usual wrong answer", "よくある間違い"),
    "say": Text("Say", "伝えること"),
    "show": Text("Show", "見せるもの"),
}
OPEN_HERE = Text("Link and QR code", "リンクと QR コード")
LINK = Text("The link opens this step in this language.", "このステップが、この言語で開きます。")
LINK_LOCAL = Text(
    "This address works on this machine only. For phones, open the page by the address that other machines use.",
    "このアドレスはこのマシンでしか使えません。スマートフォンで使うには、"
    "ほかの機器から見えるアドレスでこのページを開いてください。",
)
PRINT = Text("Sheets to print (A4)", "印刷用シート（A4）")
PRINT_HELP = Text(
    "Open the file in a browser and print it. The answers are on a sheet of their own.",
    "ファイルをブラウザーで開いて印刷します。解答は別のシートです。",
)
WORKSHEET = Text("Worksheet", "ワークシート")
ANSWER_KEY = Text("Answer key", "解答")
RESET = Text("Start over", "最初からやり直す")
RESET_HELP = Text("Forgets all guesses.", "予想をすべて消します。")
RESET_AGAIN = Text(
    "Press again to start over: {count} {count:guess|guesses} will be forgotten.",
    "もう一度押すと、{count} 問の予想を消して最初に戻ります。",
)
NO_SUCH_STEP = Text(
    "The link asks for step {shown}; there are steps 1 to {steps}. Step 1 is shown.",
    "リンクのステップ {shown} はありません（1～{steps}）。ステップ 1 を表示します。",
)
SCORE = Text(
    "On this visit you have seen {seen} of {all} answers; {right} of your guesses were right or close.",
    "ここまでに {all} 問中 {seen} 問の答えを見て、そのうち {right} 問が正解または近い予想でした。",
)

TRUE = Text("true", "正しい")
FALSE = Text("false", "誤り")

# --- how far off -----------------------------------------------------------------------------------------------------

GUESSED = Text("your guess: {guess}", "予想：{guess}")
NO_GUESS = Text("no guess", "予想なし")
EXACT = Text("Exactly right!", "ぴったりです。")
CLOSE = Text("Very close.", "とても近い予想です。")
ONE_OFF = Text("Only one off.", "惜しい、1 つ違いです。")
TOO_MUCH = Text("{times} times too much. Now it will stay in mind.", "答えの {times} 倍です。これで忘れません。")
TOO_LITTLE = Text(
    "The answer is {times} times that. Now it will stay in mind.", "答えは予想の {times} 倍です。これで忘れません。"
)
FAR_TOO_MUCH = Text(
    "More than {times} times too much. Now it will stay in mind.", "答えの {times} 倍を超えています。これで忘れません。"
)
FAR_TOO_LITTLE = Text(
    "The answer is more than {times} times that. Now it will stay in mind.",
    "答えは予想の {times} 倍を超えます。これで忘れません。",
)
ZERO = Text("It is not nothing.", "0 ではありません。")
RIGHT = Text("Right!", "正解です。")
NOT_RIGHT = Text("Not quite.", "残念、違います。")
TIMES = Text("{times} times", "{times} 倍")

# --- the steps -------------------------------------------------------------------------------------------------------
# One mapping for each part of a step; the values of a step are filled into all of its parts.

TITLES: Final[Mapping[str, Text]] = {
    "hook": Text("What one page of text takes", "文章 1 ページのメモリ"),
    "why": Text("Why a cache?", "なぜキャッシュを使う？"),
    "speed": Text("{fewer} times, or {times} times?", "{fewer} 倍？ {times} 倍？"),
    "formula": Text("The formula on paper", "紙の上の計算式"),
    "heads": Text("Shared heads: {mha}, {made}, {mqa}", "ヘッド共有：{mha}、{made}、{mqa}"),
    "blocks": Text("On squared paper: {requests} requests", "方眼紙に {requests} 件を描く"),
    "prefix": Text("Date first, date last", "日付は先頭か、末尾か"),
    "live": Text("Does the formula hold?", "計算式は本当に合う？"),
    "fix": Text("Find the cheapest fix", "いちばん安い対策を探す"),
    "quiz": Text("True or false?", "正しい？ 誤り？"),
}

DO: Final[Mapping[str, Text]] = {
    "hook": Text(
        "Scan the QR code to open the workshop on your phone. Then guess. Nobody can know this yet.",
        "QR コードを読み取り、スマートフォンでワークショップを開きます。それから予想します。まだ知らなくて大丈夫です。",
    ),
    "why": Text(
        "{tokens} people line up, one for each token, and one more at every step. Without notes, the whole row works"
        " again each time. With notes (the cache), only the new person works.",
        "{tokens} 人が順に列に並びます。1 人が 1 トークンで、ステップごとに 1 人増えます。"
        "メモなしでは、列の全員が毎回計算し直します。メモ（キャッシュ）ありでは、新しい 1 人だけが計算します。",
    ),
    "speed": Text(
        "Counted in the same way, {tokens} tokens take {with_cache} computations with the cache and {without} without:"
        " {fewer} times fewer.",
        "同じように数えると、{tokens} トークンの計算は {without} 回から {with_cache} 回になり、{fewer} 分の 1 です。",
    ),
    "formula": Text(
        "Paper and pencil. Bytes per token = 2 (K and V) × layers × KV heads × head size × bytes per value."
        " The table is from the model's config.json. One value takes {value_bytes} bytes ({dtype}).",
        "紙と鉛筆を使います。1 トークンのバイト数 = 2（K と V）× レイヤー数 × KV ヘッド数 × ヘッドの次元"
        " × 値 1 個のバイト数。表はモデルの config.json の値です。値 1 個は {value_bytes} バイト（{dtype}）です。",
    ),
    "heads": Text(
        "The model looks at the text with {mha} query heads. In groups of {group} they share {made} KV heads (GQA); one"
        " request takes {bytes}. What if each had a KV head of its own (MHA), or all shared one (MQA)?",
        "モデルは {mha} 個のクエリヘッドで文章を見ます。{group} 個ずつが KV ヘッドを 1 個共有し、"
        "KV ヘッドは {made} 個です（GQA）。今は 1 件 {bytes} です。"
        "クエリヘッドごとに 1 個（MHA）や、全クエリヘッドで 1 個（MQA）ならどうでしょうか。",
    ),
    "blocks": Text(
        "Take {pool} squares; one square is one token. Draw the requests in two ways. **Contiguous**: {longest} squares"
        " in a row for each; who finds no room waits. **Paged**: as many blocks of {block} squares as the input needs.",
        "マス {pool} 個を使います。1 マスが 1 トークンです。リクエストを 2 通りに書き込みます。"
        "**連続領域**：1 件に、続いた {longest} マスを取ります。入らなければ待ちます。"
        "**ページ方式**：{block} マスのブロックを、入力に必要な数だけ取ります。",
    ),
    "prefix": Text(
        "Three people ask a shop's assistant. Their prompts begin with the same instructions, so the notes are shared:"
        " {hit} of {tokens} tokens are found in the cache. Now each prompt also says the date, and it is another day"
        " for each.",
        "3 人が店員役の AI に質問します。プロンプトの先頭は同じ指示なので、メモを共有できます"
        "（{tokens} トークン中 {hit} トークンがヒット）。ここに日付を足します。3 人の日付は 1 日ずつ違います。",
    ),
    "live": Text(
        "{model}, a small model, wrote {new} tokens, and its cache was measured after each of them. Phones show that"
        " run, recorded on {day}; the teacher can start a live one.",
        "小さなモデル {model} が {new} トークンを書き、1 トークンごとにキャッシュを実測しました。"
        "スマートフォンで見るのは {day} の記録です。先生はその場で実行できます。",
    ),
    "fix": Text(
        "{requests} requests of {tokens} tokens are needed, and {fit} fit on {gpus} × {gpu}. Which change makes all of"
        " them fit at the lowest price? Guess, try it on Sizing, and paste the link into this step, which checks"
        " it.",
        "{tokens} トークンのリクエストが {requests} 件必要ですが、{gpus} × {gpu} に収まるのは {fit} 件です。"
        "全部を収める変更で、いちばん安いものはどれでしょうか。予想し、「サイジング」で試して、"
        "リンクをこのステップに貼り付けます。判定はこのページに出ます。",
    ),
    "quiz": Text(
        "Thumbs up or thumbs down, all at once. Then open the proofs.",
        "全員同時に、親指を上か下に向けます。それから根拠を開きます。",
    ),
}

SO: Final[Mapping[str, Text]] = {
    "hook": Text(
        "The text itself, as one number of {number_bytes} bytes a token, takes {text}: the notes are {times} times as"
        " large. {memory} of memory hold {pages} such pages.",
        "文章そのものは、1 トークンを {number_bytes} バイトの番号にすると {text} です。"
        "メモはその {times} 倍の大きさです。"
        "{memory} のメモリに入るのは {pages} ページ分です。",
    ),
    "why": Text(
        "For {many} tokens it is {many_without} against {many_with}. Old notes can be kept because a token looks only"
        " back: what comes later never changes them.",
        "{many} トークンでは {many_without} 回と {many_with} 回です。トークンは前だけを見ます。"
        "後から何が来ても前のメモは変わらないので、残しておけます。",
    ),
    "speed": Text(
        "Without a cache, the tokens of a step are computed side by side. With it, a step computes one token, and still"
        " waits for memory to deliver the whole model. The cache saves computation; what remains is waiting.",
        "キャッシュなしでは、1 ステップの全トークンを並べて同時に計算します。"
        "キャッシュありで計算するのは 1 トークンですが、毎回モデル全体をメモリから読みます。"
        "減るのは計算で、残るのは読み出しを待つ時間です。",
    ),
    "formula": Text(
        "{requests} such requests take {cache}: more than the model's weights ({weights}). Always count input and"
        " output together, and the busiest moment.",
        "{requests} 件では {cache} になり、モデルの重み（{weights}）を超えます。"
        "入力と出力は必ず合計し、件数はいちばん混む時で見積もります。",
    ),
    "heads": Text(
        "Memory follows the number of KV heads. But that number belongs to the architecture, fixed before training:"
        " only further training changes it, never the engine.",
        "メモリは KV ヘッド数に比例します。ただし、この数はアーキテクチャの一部で、学習の前に決まります。"
        "変えるには追加学習が必要で、推論エンジンの設定では変えられません。",
    ),
    "blocks": Text(
        "When they begin, {wasted} of the contiguous memory is set aside for nothing; of the paged memory,"
        " {wasted_paged}. No token got smaller: the waste is gone. The price: where no block is left, a"
        " request gives up its own and starts over (here {times} {times:time|times}).",
        "開始時、連続領域の {wasted} は、取っただけで最後まで使いません。ページ方式では {wasted_paged} です。"
        "トークンが小さくなったのではなく、無駄が減りました。"
        "その代わり、ブロックが足りなくなると 1 件がブロックを手放してやり直します（ここでは {times} 回）。",
    ),
    "prefix": Text(
        "A note depends on all that stands before it. One different token at the head, and everything after it is new."
        " So: what never changes goes first, what changes goes last.",
        "メモの内容は、その前にある全部で決まります。先頭が 1 トークン違えば、後ろはすべて別のメモです。"
        "変わらないものを先に、変わるものを後に置きます。",
    ),
    "live": Text(
        "The cache is no estimate: config.json tells it to the byte. Estimates are for the rest, such as activations.",
        "キャッシュは推定ではなく、config.json から 1 バイトまで計算できます。"
        "推定になるのは、アクティベーションなど、ほかの部分です。",
    ),
    "fix": Text(
        "{decoy}: the decoy. Not one byte of cache less, only {saved} more room for it: {decoy_fit} of {requests},"
        " close but not enough.",
        "{decoy}は、ひっかけです。キャッシュは 1 バイトも減りません。場所が {saved} 空くだけで、"
        "{requests} 件中 {decoy_fit} 件までです。惜しいですが、足りません。",
    ),
    "quiz": Text(
        "There are two kinds of levers. Fewer bytes: shared heads, a smaller type, shorter text. Less waste: blocks,"
        " shared beginnings.",
        "対策は 2 種類です。バイトを減らす（ヘッド共有、小さな型、短い文章）。無駄を減らす（ブロック、先頭の共有）。",
    ),
}

WRONG: Final[Mapping[str, Text]] = {
    "hook": Text("“About as large as the text: a few KiB.”", "「文章と同じくらいで、数 KiB」"),
    "why": Text("{tokens} × {tokens} = {square}.", "{tokens} × {tokens} = {square} 回。"),
    "speed": Text("“{fewer} times”, from the count of computations.", "計算の回数から「{fewer} 倍」。"),
    "formula": Text(
        "Hidden size ÷ heads = {derived} as the head size: {too_small} times too small. Or 1 byte a value, because the"
        " weights are FP8.",
        "隠れ層の次元 ÷ ヘッド数 = {derived} をヘッドの次元とし、結果が {too_small} 分の 1 になる。"
        "重みが FP8 なので値 1 個を 1 バイトとする。",
    ),
    "heads": Text("“The number of KV heads is a setting.”", "「KV ヘッド数は設定で変えられる」"),
    "blocks": Text(
        "“Paging makes the cache smaller.” Or giving out blocks for the output at once.",
        "「ページ方式でキャッシュが小さくなる」。出力の分のブロックまで最初に取る。",
    ),
    "prefix": Text("“Only the date is computed again.”", "「計算し直すのは日付の分だけ」"),
    "live": Text("“About 10%, like any estimate.”", "「見積もりだから 10% くらいは外れる」"),
    "fix": Text(
        "{decoy}, “because everything gets smaller”. Or a second GPU at once.",
        "「全部が小さくなる」と、{decoy}を選ぶ。すぐに GPU を増やす。",
    ),
    "quiz": Text(
        "“It saves memory”: many web pages say so.", "「メモリの節約」。多くの Web ページにそう書かれている。"
    ),
}

SAY: Final[Mapping[str, Text]] = {
    "hook": Text(
        "The model does not keep the text. It keeps notes on every token, in every layer. Step 4 counts them.",
        "モデルが残すのは文章ではなく、全レイヤーの、全トークンのメモです。計算はステップ 4 で行います。",
    ),
    "why": Text(
        "A notebook: write the notes of each word once and look them up, instead of reading the book again from"
        " page 1.",
        "ノートと同じです。単語のメモを 1 度だけ書き、次からは見るだけです。本を 1 ページ目から読み直しません。",
    ),
    "speed": Text(
        "A crowd that works side by side is quick. One person who fetches a whole library for each word is not.",
        "大勢が並んで計算すれば速く終わります。1 人でも、1 語ごとに図書館中の本を運べば時間がかかります。",
    ),
    "formula": Text(
        "Every factor is a field of config.json. The type of the weights is not among them.",
        "どの値も config.json の項目です。重みの型は計算式に入りません。",
    ),
    "heads": Text(
        "The query heads stay; what they look up is shared. Quality is reported to suffer hardly with GQA, slightly"
        " with MQA.",
        "クエリヘッドは減らず、見るメモを共有します。"
        "品質の低下は、GQA ではほとんどなく、MQA では少しあると報告されています。",
    ),
    "blocks": Text(
        "Nobody knows how long an answer will be, so contiguous memory must prepare for the longest.",
        "答えの長さは先に分かりません。だから連続領域は、最長の場合に備えるしかありません。",
    ),
    "prefix": Text(
        "Like page numbers: put a sheet in front, and every number after it changes.",
        "ページ番号と同じです。先頭に 1 枚入れると、後ろの番号がすべて変わります。",
    ),
    "live": Text(
        "It is arithmetic with whole numbers: so many numbers, of so many bytes each.",
        "整数の計算です。「数が何個」と「1 個何バイト」を掛けるだけです。",
    ),
    "fix": Text(
        "Weights and cache have a setting each. And a cache of half the size is not free: long texts may lose quality."
        " Test it.",
        "重みとキャッシュの設定は別です。キャッシュを半分にすると、長い文章で品質が落ちることがあります。必ず試します。",
    ),
    "quiz": Text(
        "Whoever is unsure opens the proof and compares two numbers.", "迷ったら根拠を開き、2 つの数を見比べます。"
    ),
}

SHOW: Final[Mapping[str, Text]] = {
    "hook": Text(
        "The QR code: zoom the browser in until the last row can scan it. Before the answer, the guesses on the board,"
        " from the smallest to the largest.",
        "QR コード。いちばん後ろの席から読み取れるまで、ブラウザーを拡大します。"
        "答えの前に、予想を小さい順に黒板に書きます。",
    ),
    "why": Text(
        "Play it: whoever works claps. Count the claps.", "実際に並びます。計算する人が手をたたき、回数を数えます。"
    ),
    "speed": Text("The chart of seconds at the end of Measured live.", "「実測」の最後にある、時間のグラフ。"),
    "formula": Text(
        "On Sizing, the tab “Why this number”: the same factors, each with its field.",
        "「サイジング」の「数値の理由」タブ。同じ値が、項目名とともに並びます。",
    ),
    "heads": Text(
        "On Shared heads, the way from a KV head for each query head (MHA) to one for all (MQA).",
        "「ヘッド共有」で、クエリヘッド 1 個に KV ヘッド 1 個（MHA）から、全クエリヘッドで 1 個（MQA）まで。",
    ),
    "blocks": Text(
        "The race from step 0. Then step 2, where a request loses its blocks.",
        "ステップ 0 からの競争。次に、1 件がブロックを手放すステップ 2。",
    ),
    "prefix": Text(
        "On Shared prefixes: date first, then last. Then somebody changes one letter.",
        "「プレフィックス共有」で、日付を先頭、次に末尾へ。最後に、誰かが 1 文字だけ変えます。",
    ),
    "live": Text(
        "With PyTorch on this machine, a live run: the points fall on the line. Else the recorded run.",
        "このマシンに PyTorch があれば、その場の実行。点が線の上に並びます。なければ記録。",
    ),
    "fix": Text(
        "No link reaches you: three people read out, or show on their phones, what they changed.",
        "リンクは先生には届きません。3 人に、変えた設定を読み上げてもらうか、スマートフォンで見せてもらいます。",
    ),
    "quiz": Text("The proof of what most people got wrong.", "いちばん間違いの多かった問いの根拠。"),
}

# --- questions and working -------------------------------------------------------------------------------------------

PAGE_ASK = Text(
    "A chat model, {model}, reads one page of text: {tokens} tokens. To answer, it keeps notes on every token in"
    " memory: the KV cache. How many MiB does it take?",
    "チャットのモデル {model} が、1 ページの文章（{tokens} トークン）を読みます。答えるために、全トークンのメモを"
    "メモリに残します。これが KV キャッシュです。何 MiB になるでしょうか？",
)
PAGE_LINK = Text("Sizing: this page of text", "サイジング：この 1 ページ")

WITHOUT_ASK = Text(
    "Without notes: how many times does somebody work in all, until {tokens} people stand in line?",
    "メモなしでは、{tokens} 人がそろうまでに、計算は全部で何回でしょうか？",
)
WITH_ASK = Text("And with notes?", "メモありでは、全部で何回でしょうか？")
WITHOUT_TRAP = Text(
    "{tokens} × {tokens} would be the whole row at every step. At first it is short.",
    "{tokens} × {tokens} は、毎回全員がいる場合です。はじめは列が短いので、もっと少なくなります。",
)
WHY_LINK = Text("Learn: why a cache", "学ぶ：なぜキャッシュを使うのか")

FASTER_ASK = Text(
    "How many times faster were the {tokens} tokens in an experiment that is often quoted?",
    "よく引用される実験では、{tokens} トークンの生成は何倍速くなったでしょうか？",
)
FASTER_TRAP = Text(
    "That is how many computations are saved. Time is something else.",
    "それは計算の回数の比です。時間の比とは違います。",
)
QUOTED = Text(
    "Quoted: {without} s ÷ {with_cache} s = {times} (conditions not stated)",
    "引用値：{without} 秒 ÷ {with_cache} 秒 = {times}（条件の記載なし）",
)
OURS = Text(
    "Recorded in this app, {tokens} tokens: {without} s ÷ {with_cache} s = {times}, with {fewer} times fewer"
    " computations",
    "このアプリの記録、{tokens} トークン：{without} 秒 ÷ {with_cache} 秒 = {times}（計算は {fewer} 分の 1）",
)
SPEED_LINK = Text(
    "Measured live: its last chart, seconds with a cache and without", "実測：最後のグラフ、キャッシュの有無と時間"
)

FIELD = Text("Field", "項目")
VALUE = Text("Value", "値")
HEAD_ASK = Text("Which head size goes into the formula?", "計算式に入れるヘッドの次元は、いくつでしょうか？")
TOKEN_ASK = Text(
    "How many KiB does one token take? (1 KiB = 1,024 bytes)", "1 トークンは何 KiB でしょうか？（1 KiB = 1,024 バイト）"
)
REQUEST_ASK = Text(
    "How many GiB does a request of {input} + {output} = {tokens} tokens take?",
    "{input} + {output} = {tokens} トークンのリクエスト 1 件は、何 GiB でしょうか？",
)
HEAD_TRAP = Text(
    "{hidden} ÷ {heads} = {derived} is the trap: where the config has head_dim, that counts.",
    "{hidden} ÷ {heads} = {derived} は落とし穴です。config に head_dim があれば、その値を使います。",
)
ALL_HEADS_TRAP = Text(
    "That is with {heads} heads. Only the {kv_heads} KV heads are kept.",
    "それはヘッド {heads} 個の場合です。残すのは KV ヘッド {kv_heads} 個の分だけです。",
)
HALF_TRAP = Text(
    "Half is missing: both K and V are kept, at {bytes} bytes a value.",
    "半分足りません。K と V の両方を、値 1 個 {bytes} バイトで残します。",
)
WORKED_LINK = Text("Sizing: the worked example", "サイジング：この例題")

MHA_ASK = Text(
    "With {heads} KV heads (MHA): how many GiB does a request take?",
    "KV ヘッド {heads} 個（MHA）なら、1 件は何 GiB でしょうか？",
)
MQA_ASK = Text("With one KV head (MQA): how many MiB?", "KV ヘッド 1 個（MQA）なら、1 件は何 MiB でしょうか？")
MQA_FIT_ASK = Text(
    "Now, {fit} requests fit on the GPU. With one KV head, how many?",
    "今、GPU に収まるのは {fit} 件です。KV ヘッド 1 個なら、何件でしょうか？",
)
MQA_FIT_TRAP = Text(
    "{fit} × {times}: very good. What was left over is filled now as well.",
    "{fit} × {times} ですね。よい計算です。余っていた場所にも入るので、もう少し増えます。",
)
KV_HEADS = Text("KV heads", "KV ヘッド")
ONE_TOKEN = Text("One token", "1 トークン")
ONE_REQUEST = Text("One request", "1 件")
FIT_AT_ONCE = Text("Fit at once", "収まる件数")
HEADS_LINK = Text("Shared heads: this model", "ヘッド共有：このモデル")

REQUEST = Text("Request", "リクエスト")
INPUT = Text("Input tokens", "入力トークン")
OUTPUT = Text("Output tokens", "出力トークン")
CONTIGUOUS_ASK = Text("Contiguous: how many can begin?", "連続領域：何件が始められますか？")
PAGED_ASK = Text("Paged: how many can begin?", "ページ方式：何件が始められますか？")
SERVED_ASK = Text(
    "When the paged side has served all, how many has the contiguous side served?",
    "ページ方式が全件を終えた時、連続領域は何件を終えているでしょうか？",
)
CONTIGUOUS_WORKING = Text("Contiguous: {formula}", "連続領域：{formula}")
PAGED_WORKING = Text(
    "Paged: {formula} blocks; there are {pool} ÷ {block} = {blocks}",
    "ページ方式：{formula} ブロック（全部で {pool} ÷ {block} = {blocks}）",
)
WASTED_WORKING = Text(
    "Contiguous, set aside and never written: {formula}; {share}. An answer's last token is not written: no token after"
    " it looks back.",
    "連続領域で、取ったのに書き込まないマス：{formula}、{share}。"
    "答えの最後のトークンは、後に続くトークンがないので書き込みません。",
)
SERVED_WORKING = Text(
    "Played by the app: paged is done in step {step}, contiguous in step {other}",
    "アプリで再生：ページ方式はステップ {step}、連続領域はステップ {other} で完了",
)
BLOCKS_LINK = Text("Blocks: play the race", "ブロック割り当て：競争を再生")

DATE_FIRST_ASK = Text("The date at the very beginning: what is found?", "日付を先頭に置くと、ヒットはどうなりますか？")
DATE_LAST_ASK = Text("The date at the very end: what is found?", "日付を末尾に置くと、ヒットはどうなりますか？")
FOUND_NONE = Text("nothing", "0 になる")
FOUND_LESS = Text("less than before", "減る")
FOUND_SAME = Text("as much as before", "変わらない")
FOUND = Text("{choice}: {hit} of {tokens} tokens", "{choice}（{tokens} トークン中 {hit}）")
DATE_FIRST_LINK = Text("Shared prefixes: date first", "プレフィックス共有：日付を先頭に")
DATE_LAST_LINK = Text("Shared prefixes: date last", "プレフィックス共有：日付を末尾に")

RESIDUAL_ASK = Text(
    "At worst, how far was the measured cache from the formula?",
    "計算式と実測の差は、最大でどれくらいだったでしょうか？",
)
RESIDUAL_ZERO = Text("0 bytes", "0 バイト")
RESIDUAL_ONE = Text("up to 1%", "1% まで")
RESIDUAL_TEN = Text("up to 10%", "10% まで")
RESIDUAL_MORE = Text("more", "それ以上")
RESIDUAL = Text("{choice}, in all {steps} steps", "{choice}（{steps} ステップすべて）")
TOKENS_KEPT = Text(
    "Tokens in the cache: {prompt} of the prompt + {new} written − 1 = {tokens}. The last one is not kept: no token"
    " after it looks back.",
    "キャッシュのトークン：プロンプトの {prompt} + 書いた {new} − 1 = {tokens}。"
    "最後の 1 個は、後に続くトークンがないので残しません。",
)
MEASURED = Text("Measured: {bytes} B", "実測：{bytes} B")
LIVE_LINK = Text("Measured live: the recorded run", "実測：記録した実行")

FIX_ASK = Text("Your pick, before you try", "試す前の予想")
FIX_CHANGE = Text("Change", "変更")
FIX_FIT = Text("Fit at once", "収まる件数")
FIX_COST = Text("Price", "代償")
FIX_CELL = Text("{name}: {value}", "{name}：{value}")
FIX_OF = Text("{fit} of {requests}", "{requests} 件中 {fit}")
FIX_ENOUGH = Text("{fit} ✓", "{fit} ✓")
FIX_ANSWER = Text("{fix}: {fit} fit", "{fix}（{fit} 件）")
FIX_PASTE = Text("The link of your answer", "答えのリンク")
FIX_PASTE_HELP = Text(
    "On Sizing, copy the page's address, or the link under Share.",
    "「サイジング」でページのアドレス、または「共有と書き出し」のリンクをコピーします。",
)
FIX_NO_LINK = Text(
    "This is no link of the Sizing page. Copy the whole address.",
    "「サイジング」のリンクではありません。アドレス全体をコピーしてください。",
)
FIX_OTHER = Text(
    "This changes the question. Keep {model}, {requests} requests and {tokens} tokens each.",
    "問題が変わっています。{model}、{requests} 件、各 {tokens} トークンのままにしてください。",
)
FIX_ASKED = Text(
    "Well tried, but this changes what is asked: {changes}. Set it back, and change how the model is served.",
    "よい試みですが、問題の条件が変わっています：{changes}。元に戻して、モデルの動かし方を変えてみましょう。",
)
FIX_MEASURED = Text(
    "Well tried, but that is a measured figure and no setting: {changes}. Typing another one makes nothing smaller."
    " Clear it, and change a setting.",
    "よい試みですが、それは実測値で、設定ではありません：{changes}。値を書き換えても、実際のメモリは減りません。"
    "空欄に戻して、設定を変えてみましょう。",
)
FIX_REJECTED = Text(
    "The link has a value that cannot be used. {why}",
    "リンクに使えない値があります。{why}",
)
FIX_UNCHANGED = Text(
    "Nothing is changed yet: {fit} of {requests} fit.", "まだ何も変わっていません（{requests} 件中 {fit} 件）。"
)
FIX_NOT_YET = Text(
    "Not yet: {fit} of {requests} fit. Changed: {changes}.",
    "まだ足りません（{requests} 件中 {fit} 件）。変更点：{changes}。",
)
FIX_UNKNOWN = Text(
    "With these settings nobody knows how many fit. Changed: {changes}.",
    "この設定では、何件収まるか分かりません。変更点：{changes}。",
)
FIX_HARDWARE = Text(
    "All fit (there is room for {fit}), but hardware costs money: a setting is enough. Changed: {changes}.",
    "全部収まります（{fit} 件まで）。ただしハードウェアの費用がかかります。設定だけでもできます。変更点：{changes}。",
)
FIX_FITS = Text(
    "All fit (there is room for {fit}) on the same hardware, but it can be done more simply. Changed: {changes}.",
    "同じハードウェアで全部収まります（{fit} 件まで）。もっと簡単な方法もあります。変更点：{changes}。",
)
FIX_FOUND = Text(
    "That is it: all fit (there is room for {fit}), with one setting. Changed: {changes}.",
    "正解です。設定 1 つで全部収まります（{fit} 件まで）。変更点：{changes}。",
)
FIX_FEWER_BITS = Text(
    "As far as memory goes, that is it: all fit (there is room for {fit}), with one setting. But {bits} bits a value"
    " may cost quality: test it first. Changed: {changes}.",
    "メモリの点では正解です。設定 1 つで全部収まります（{fit} 件まで）。ただし値 1 個が {bits} ビットでは"
    "品質が落ちることがあります。必ず試します。変更点：{changes}。",
)
FIX_SETTING = Text("{name} = {value}", "{name} = {value}")
FIX_SETTINGS = Text("{first}, {rest}", "{first}、{rest}")

MEMORY_ASK = Text("The KV cache saves GPU memory.", "KV キャッシュは GPU メモリを節約する。")
MEMORY_WHY = Text(
    "It saves computation and costs memory: {bytes} after {tokens} tokens in the recorded run.",
    "節約するのは計算です。メモリは使います（記録した実行では {tokens} トークンで {bytes}）。",
)
WEIGHTS_ASK = Text("{decoy} make the KV cache smaller.", "{decoy}にすると、KV キャッシュも小さくなる。")
WEIGHTS_WHY = Text(
    "A request's cache takes {before} before the weights change, and {after} after. The cache has a setting of its"
    " own.",
    "1 件のキャッシュは、重みを変える前が {before}、変えた後も {after} です。キャッシュには別の設定があります。",
)
SWAPPED_ASK = Text(
    "A token of the answer takes as much cache as a token of the question.",
    "答えの 1 トークンは、質問の 1 トークンと同じだけキャッシュを使う。",
)
SWAPPED_WHY = Text(
    "{input} + {output} tokens take {bytes}, and so do {output} + {input}: {other}.",
    "{input} + {output} トークンで {bytes}、逆の {output} + {input} でも {other} です。",
)
GROWS_ASK = Text(
    "In every model, twice the text takes twice the cache.", "どのモデルでも、文章が 2 倍ならキャッシュも 2 倍になる。"
)
GROWS_WHY = Text(
    "Most layers of {model} keep no more than a window: {short} at {tokens} tokens, {long} at {double}.",
    "{model} の多くのレイヤーは、ウィンドウの分しか残しません。"
    "{tokens} トークンで {short}、{double} トークンで {long} です。",
)
SMALLER_ASK = Text(
    "PagedAttention makes each token smaller.", "PagedAttention は、1 トークンのキャッシュを小さくする。"
)
SMALLER_WHY = Text(
    "A token takes one slot on both sides. What shrinks is the waste, from {before} to {after}.",
    "どちらも 1 トークンは 1 スロットです。減るのは無駄で、{before} が {after} になります。",
)
KEEPS_ASK = Text(
    "With the date at the end, the shared instructions are still found.",
    "日付を末尾に置けば、共通の指示はヒットしたままである。",
)
KEEPS_WHY = Text(
    "{last} tokens are found with the date last, {first} with the date first.",
    "ヒットは、日付が末尾なら {last} トークン、先頭なら {first} トークンです。",
)
PROOF = Text("Proof", "根拠")

# --- sheets ----------------------------------------------------------------------------------------------------------

SHEET_TITLE = Text("KV cache in {minutes} minutes: {sheet}", "{minutes} 分で分かる KV キャッシュ：{sheet}")
SHEET_LABEL = Text("{name}:", "{name}：")
SHEET_NAME = Text("Name", "名前")
SHEET_DATE = Text("Date", "日付")
SHEET_GUESS = Text("Guess", "予想")
SHEET_ANSWER = Text("Answer", "答え")
SHEET_CONTIGUOUS = Text("Contiguous", "連続領域")
SHEET_PAGED = Text("Paged (blocks have thick lines)", "ページ方式（太線がブロック）")
SHEET_LEGEND = Text(
    "Grey: holds a token of that request. White with a number: set aside. Empty: free.",
    "灰色：そのリクエストのトークンが入ったマス。番号だけのマス：取ってあるだけ。空白：空き。",
)
SHEET_GRID = Text("{title}: {requests}", "{title}：{requests}")
SHEET_REQUEST = Text("request {request} has {count}", "リクエスト {request} が {count}")
SHEET_EMPTY = Text("{count} empty squares", "空白の {count} マス")
SHEET_MADE_BY = Text(
    "kvviz {version}. 1 KiB = 1,024 bytes, 1 MiB = 1,024 KiB, 1 GiB = 1,024 MiB.",
    "kvviz {version}。1 KiB = 1,024 バイト、1 MiB = 1,024 KiB、1 GiB = 1,024 MiB。",
)
