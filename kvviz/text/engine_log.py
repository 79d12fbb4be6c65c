"""Sentences about pasted start-up logs."""

from kvviz.text.base import Text

NOTHING_FOUND = Text(
    en="No figure of a KV cache was found in this text. Looked for start-up lines of vLLM (“GPU KV cache size”,"
    " “# GPU blocks”, “Available KV cache memory”), SGLang (“KV Cache is allocated”, “max_total_num_tokens”),"
    " llama.cpp, ollama and LM Studio (“KV self size”, “KV buffer size”, “llama_kv_cache: size”) and TensorRT-LLM"
    " (“max tokens in paged KV cache”). Paste the log from the engine's first line on.",
    ja="KV キャッシュに関する値が見つかりませんでした。探したのは、vLLM（GPU KV cache size、# GPU blocks、"
    "Available KV cache memory）、SGLang（KV Cache is allocated、max_total_num_tokens）、"
    "llama.cpp、ollama、LM Studio（KV self size、KV buffer size、llama_kv_cache: size）、"
    "TensorRT-LLM（max tokens in paged KV cache）の起動ログの行です。"
    "エンジンの最初の行から貼り付けてください。",
)
ONLY_SETTINGS = Text(
    en="This looks like a log of {engine}, but the lines with the cache's size are missing. They come after the weights"
    " are loaded: paste the log up to there.",
    ja="{engine} のログのようですが、キャッシュの大きさを示す行がありません。"
    "重みの読み込み後に出力されるため、そこまでのログを貼り付けてください。",
)
EMPTY = Text(
    en="There is no text. Paste the start-up log of an engine.",
    ja="テキストがありません。エンジンの起動ログを貼り付けてください。",
)
TOO_LONG = Text(
    en="This text has {count} characters; logs of up to {limit} are read. Paste the part from the engine's first line"
    " until it is ready.",
    ja="このテキストは {count} 文字あります。読み取れるログは {limit} 文字までです。"
    "エンジンの最初の行から起動完了までの部分を貼り付けてください。",
)
TOO_MANY_LINES = Text(
    en="This text has {count} lines; logs of up to {limit} are read. Paste the part from the engine's first line until"
    " it is ready.",
    ja="このテキストは {count} 行あります。読み取れるログは {limit} 行までです。"
    "エンジンの最初の行から起動完了までの部分を貼り付けてください。",
)
TOO_MUCH = Text(
    en="This text takes too long to search for lines of an engine, so nothing of it was read. Paste the part from the"
    " engine's first line until it is ready.",
    ja="このテキストはエンジンの行の検索に時間がかかりすぎるため、どの部分も読み取っていません。"
    "エンジンの最初の行から起動完了までの部分を貼り付けてください。",
)
NOT_A_COUNT = Text(
    en="A count in this log (of tokens, blocks or layers) is not a whole number. Paste the log as the"
    " engine printed it.",
    ja="このログには、整数でない個数（トークン数、ブロック数、レイヤー数など）があります。"
    "エンジンの出力をそのまま貼り付けてください。",
)
