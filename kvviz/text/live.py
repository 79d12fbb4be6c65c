"""Running a small model and measuring its cache: settings, states, and what can go wrong."""

from kvviz.text.base import Text

# What is missing
NOT_INSTALLED = Text(
    "Live runs need PyTorch and Transformers, which are not installed: run {command} and start again.",
    "実測には PyTorch と Transformers が必要ですが、インストールされていません。"
    "{command} を実行して起動し直してください。",
)
SWITCHED_OFF = Text(
    "Whoever runs this app has switched live runs off: the recorded run is shown.",
    "このアプリの運用者が実測を無効にしています。記録済みの実行結果を表示します。",
)
NO_CUDA = Text(
    "PyTorch sees no CUDA device here: run on the CPU, or install a build of PyTorch for this GPU's driver.",
    "PyTorch から CUDA デバイスが見えません。CPU で実行するか、この GPU のドライバーに合う PyTorch を入れてください。",
)
NO_BACK_END = Text(
    "A cache of {bits} bits needs {package}: run pip install {package}, or choose another cache.",
    "{bits} ビットのキャッシュには {package} が必要です。pip install {package} を実行するか、"
    "ほかのキャッシュを選んでください。",
)

NO_PAGED = Text(
    "Transformers {version} does not offer its paged cache in the way it is measured here: choose another cache.",
    "Transformers {version} のページ化キャッシュは、ここでの方法では実測できません。ほかのキャッシュを選んでください。",
)

# Settings
NOT_A_NUMBER = Text(
    "{field}: {given} is not a number; give a whole number from {low} to {high}.",
    "{field}: {given} は数値ではありません。{low}～{high} の整数を指定してください。",
)
EMPTY = Text(
    "{field}: is empty; give a whole number from {low} to {high}.",
    "{field}: 空欄です。{low}～{high} の整数を指定してください。",
)
OUT_OF_BOUNDS = Text(
    "{field}: {given} is out of bounds; give a whole number from {low} to {high}.",
    "{field}: {given} は範囲外です。{low}～{high} の整数を指定してください。",
)
RESERVED_TOO_SHORT = Text(
    "{field}: {given} is less than the {needed} tokens of prompt and answer; reserve at least so many, or 0 for as many"
    " as the run needs.",
    "{field}: {given} は、入力と出力の合計 {needed} トークンより短い値です。{needed} 以上か、実行と同じ長さにする"
    " 0 を指定してください。",
)
NOTHING_RESERVED = Text(
    "{field}: a {cache} cache reserves nothing; use the cache static or paged, or leave this out.",
    "{field}: キャッシュ {cache} は領域を確保しません。static か paged にするか、この指定を外してください。",
)
TOO_MANY_TOKENS = Text(
    "{tokens} tokens in all are more than the {limit} that a run may have here: shorten the prompt or the answer.",
    "合計 {tokens} トークンは、ここでの上限 {limit} を超えています。入力か出力を短くしてください。",
)
PROMPT_TOO_LONG = Text(
    "The prompt has {characters} characters, more than the {limit} that a run takes: shorten it.",
    "入力文が {characters} 文字あり、上限の {limit} 文字を超えています。短くしてください。",
)
NO_SUCH_CHOICE = Text(
    "{field}: there is no {given}; use one of {choices}.",
    "{field}: {given} はありません。{choices} から選んでください。",
)
NOT_ALLOWED = Text(
    "{model} is not among the models that may be run here: {choices}.",
    "{model} は、ここで実行できるモデルではありません。実行できるのは {choices} です。",
)
NOT_FALSE_OR_TRUE = Text(
    "{field}: {given} is neither on nor off; use on or off.",
    "{field}: {given} は on でも off でもありません。on か off を指定してください。",
)

# Models
NO_SUCH_MODEL = Text(
    "There is no model {model}: give a folder with a config.json, a .gguf file, or an id such as owner/name.",
    "モデル {model} が見つかりません。config.json のあるフォルダー、.gguf ファイル、または owner/name の形の ID を"
    "指定してください。",
)
NO_SUCH_PLACE = Text(
    "There is no folder or file {path}: give a folder with a config.json, a .gguf file, or an id such as owner/name.",
    "フォルダーやファイル {path} はありません。config.json のあるフォルダー、.gguf ファイル、または"
    " owner/name の形の ID を指定してください。",
)
NO_MODEL_THERE = Text(
    "{path} is neither a folder with a config.json nor a .gguf file: give one of them, or an id such as owner/name.",
    "{path} は、config.json のあるフォルダーでも .gguf ファイルでもありません。そのどちらか、または"
    " owner/name の形の ID を指定してください。",
)
CANNOT_BUILD = Text(
    "Transformers {version} cannot load {model}: choose another model; the log of the app has the details.",
    "Transformers {version} では {model} を読み込めません。ほかのモデルを選んでください。"
    "詳しくはアプリのログを確認してください。",
)
DISK_FULL = Text(
    "{model} was not loaded: there is no space left on the disk for its files.",
    "{model} を読み込めませんでした。ファイルを保存するディスクに空きがありません。",
)
RANDOM_NO_HUB = Text(
    "The Hub cannot be reached, so this is the real architecture of {model} with random weights: its text means"
    " nothing, and its cache is exactly as large.",
    "Hub に接続できないため、{model} の実際の構造に乱数の重みを入れて実行しています。"
    "生成される文に意味はありませんが、キャッシュの大きさはまったく同じです。",
)
RANDOM_NO_WEIGHTS = Text(
    "{model} comes without weights, so this runs with random weights: its text means nothing, its cache is exactly as"
    " large.",
    "{model} には重みがないため、乱数を使っています。"
    "生成される文に意味はありませんが、キャッシュの大きさはまったく同じです。",
)
WHY_RANDOM = {"no-hub": RANDOM_NO_HUB, "no-weights": RANDOM_NO_WEIGHTS}
TOO_LARGE = Text(
    "{model} needs {needed} of memory and {free} is free: choose a smaller model, or fewer tokens.",
    "{model} には {needed} のメモリが必要ですが、空きは {free} です。"
    "より小さなモデルか、より短い長さを選んでください。",
)

# What can happen to a run
OUT_OF_MEMORY = Text(
    "Out of memory after {tokens} tokens; what the run held was given back. Use fewer tokens, a smaller batch, or a"
    " smaller type.",
    "{tokens} トークンでメモリが不足しました。この実行が使っていたメモリは解放済みです。"
    "トークン数かバッチを減らすか、小さい型を選んでください。",
)
WORKER_ENDED = Text(
    "The process that runs models ended ({how}), most likely for want of memory: the next run starts a new one.",
    "モデルを実行するプロセスが終了しました（{how}）。メモリ不足の可能性があります。次の実行では新しいプロセスを起動します。",
)
BUG = Text(
    "The run failed for a reason nobody expected ({why}); the log of the app has the details.",
    "予期しない理由で実行に失敗しました（{why}）。詳しくはアプリのログを確認してください。",
)
QUEUE_FULL = Text(
    "{waiting} runs are waiting already: try again in a few minutes.",
    "すでに {waiting} 件の実行が待機しています。数分後にもう一度お試しください。",
)
TOOK_TOO_LONG = Text(
    "The run did not end within {seconds} s and was stopped: use fewer tokens or a smaller model.",
    "実行が {seconds} 秒以内に終わらなかったため停止しました。トークン数を減らすか、より小さなモデルを選んでください。",
)
NOT_A_RECORDING = Text(
    "{path} is not a recording of kvviz live: {why}.",
    "{path} は kvviz live の記録ではありません（{why}）。",
)

# The command
SUMMARY_OF_COMMAND = Text(
    "run a small model and measure its cache beside the prediction",
    "小さなモデルを実行し、予測とともにキャッシュを実測",
)
FLAGS = {
    "model": Text(
        "a folder with a config.json, a .gguf file, or a Hub id; a small model where none is given",
        "config.json のあるフォルダー、.gguf ファイル、または Hub の ID。指定しなければ小さなモデル",
    ),
    "tokens": Text("tokens to generate", "生成するトークン数"),
    "prompt": Text("text to go on from", "続きを生成する元の文"),
    "prompt_tokens": Text(
        "repeat or cut the prompt to so many tokens; 0: as it is",
        "入力を繰り返すか切り詰めて、このトークン数にします。0 ならそのまま",
    ),
    "device": Text("device to run on", "実行するデバイス"),
    "dtype": Text("type of weights and cache", "重みとキャッシュの型"),
    "batch": Text("sequences at once", "同時に生成する系列の数"),
    "cache": Text("kind of cache", "キャッシュの種類"),
    "reserve_tokens": Text(
        "tokens a static cache or a paged pool is made for; 0: as long as the run",
        "静的キャッシュやページ化プールを確保するトークン数。0 なら実行と同じ長さ",
    ),
    "seconds": Text("seconds after which the run ends", "実行を打ち切る秒数"),
}
JSON_MEANS = Text(
    "--json prints samples, one after the prompt and one after every further token, and a summary. predicted_bytes:"
    " what the layers say the cache holds; measured_bytes: the storages behind its tensors, each once; residual_bytes:"
    " the difference; counter_bytes: whole numbers the cache keeps beside, in neither.",
    "--json は、入力の処理後と 1 トークンごとの samples と、summary を出力します。predicted_bytes: レイヤーから計算した"
    "キャッシュの大きさ。measured_bytes: テンソルが実際に占める領域（重複を除く）。residual_bytes: その差。"
    "counter_bytes: キャッシュが別に持つ整数（どちらにも含まれません）。",
)
LOADED = Text(
    "{model}, {layers} {layers:layer|layers}, {dtype}, on {device}; {cache} cache, {prompt} prompt tokens, "
    "batch {batch}",
    "{model}、{layers} レイヤー、{dtype}、デバイス {device}、キャッシュ {cache}、"
    "入力 {prompt} トークン、バッチ {batch}",
)
COLUMNS = (
    Text("tokens", "トークン"),
    Text("predicted B", "予測 (B)"),
    Text("measured B", "実測 (B)"),
    Text("residual B", "差 (B)"),
    Text("ms/token", "ミリ秒/トークン"),
)
NOT_PREDICTED = Text("not predicted", "予測なし")
RESIDUAL = Text(
    "Residual {bytes} B: {measured} measured, {predicted} predicted; {speed} tokens/s.",
    "差は {bytes} B です。実測 {measured}、予測 {predicted}、{speed} トークン/秒。",
)
ONLY_MEASURED = Text(
    "{measured} measured; {why} {speed} tokens/s.",
    "実測 {measured}。{why} {speed} トークン/秒。",
)
ROUNDING = Text(
    "The allocator rounds the cache up by {bytes} B.",
    "アロケーターの切り上げにより、キャッシュはさらに {bytes} B を占めます。",
)
STOPPED = {
    "seconds": Text(
        "Stopped after {seconds} s and {done} of {all} tokens.",
        "{seconds} 秒、{all} トークン中 {done} トークンで打ち切りました。",
    ),
    "cancelled": Text(
        "Stopped on request after {done} of {all} tokens.",
        "要求により、{all} トークン中 {done} トークンで停止しました。",
    ),
}
