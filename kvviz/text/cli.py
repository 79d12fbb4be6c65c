"""The command line: help, labels and the answer."""

from kvviz.text.base import Text

DESCRIPTION = Text(
    en="How much memory a language model's KV cache takes, and why.",
    ja="言語モデルの KV キャッシュに必要なメモリと、その理由を計算します。",
)
SIZE = Text(en="size the cache of one model", ja="1 つのモデルのキャッシュを見積もる")
MODELS = Text(en="list the bundled models", ja="同梱モデルの一覧")
CHECK_LOG = Text(en="compare an engine's start-up log with what is predicted", ja="エンジンの起動ログを予測と照合する")
LOG_FILE = Text(
    en="the log as text, of vLLM, SGLang, llama.cpp (ollama, LM Studio) or TensorRT-LLM; - reads standard input",
    ja="vLLM、SGLang、llama.cpp（ollama、LM Studio）、TensorRT-LLM のログ。- は標準入力",
)
LOG_MODEL = Text(
    en="Hub id of a bundled model or a config.json, where the log does not name one",
    ja="同梱モデルの Hub ID または config.json（ログに記載がない場合）",
)
LOG_SETTINGS = {
    "tp": Text(en="tensor-parallel size, where the log does not say it", ja="テンソル並列数（ログにない場合）"),
    "kv_dtype": Text(en="KV cache type, where the log does not say it", ja="KV キャッシュの型（ログにない場合）"),
    "n_ctx": Text(
        en="llama.cpp: context of all slots (-c), where the log does not say it",
        ja="llama.cpp の全スロットのコンテキスト（-c、ログにない場合）",
    ),
}
LOG_UNREADABLE = Text(en="{file} cannot be read: {why}.", ja="{file} を読み取れません（{why}）。")
GPUS = Text(en="list the known GPUs", ja="登録済みの GPU の一覧")
GPU_QUERY = Text(en="words that the GPU's name must hold", ja="GPU の名前に含まれる語")
QUERY = Text(en="words that the model's id must hold", ja="モデルの ID に含まれる語")
REPORT = Text(
    en="also write a report for a design review: FILE.html to print, or FILE.md",
    ja="設計レビュー用のレポートもファイルに書き出す（印刷できる .html、または .md）",
)
REPORT_KIND = Text(
    en="--report: {file} must end in .html or .md.", ja="--report: {file} は .html か .md で終わる必要があります。"
)
REPORT_NOT_WRITTEN = Text(en="{file} cannot be written: {why}.", ja="{file} に書き込めません（{why}）。")
JSON = Text(en="print one JSON object", ja="JSON オブジェクトを 1 つ出力")
LANG = Text(en="language of the output", ja="出力の言語")
FLAGS = {
    "model": Text(
        en="Hub id of a bundled model, or the path of a config.json or of a directory that holds one; - reads one from"
        " standard input",
        ja="同梱モデルの Hub ID、または config.json（それを含むディレクトリも可）のパス。- は標準入力",
    ),
    "revision": Text(
        en="revision the config is expected to have; a note says where it differs",
        ja="想定する設定のリビジョン。異なれば注記に表示",
    ),
    "config": Text(en="a config as a kvviz link carries it", ja="kvviz のリンクに含まれる形式の設定"),
    "gpu": Text(
        en="GPU by its id or name (kvviz gpus lists them), or its memory, as in 48gib; without it there is no budget",
        ja="GPU の ID か名前（一覧は kvviz gpus）、または 48gib のようなメモリ容量。なければ容量は計算しない",
    ),
    "gpus": Text(en="how many GPUs; as many as --tp where only that is given", ja="GPU の数。--tp だけならその数"),
    "input": Text(en="prompt tokens of the longest request", ja="最長のリクエストの入力トークン"),
    "output": Text(en="generated tokens of the longest request", ja="最長のリクエストの出力トークン"),
    "passages": Text(en="retrieved passages added to that prompt", ja="その入力に加える検索文書の数"),
    "passage_tokens": Text(en="tokens of one passage", ja="検索文書 1 件のトークン数"),
    "sequences": Text(en="requests in flight at peak", ja="ピーク時の同時リクエスト数"),
    "users": Text(
        en="people at work at once, where you do not know the requests; then --sequences is not used",
        ja="同時に利用する人数（リクエスト数が不明な場合）。指定すると --sequences は使わない",
    ),
    "seconds_between": Text(
        en="a person's pause between an answer and the next question, in seconds; with --users",
        ja="回答から次の質問までの間隔（秒）。--users とともに使用",
    ),
    "answer_s": Text(
        en="how long an answer takes, in seconds; with --users", ja="1 回の回答にかかる秒数。--users とともに使用"
    ),
    "kv_dtype": Text(en="KV cache type", ja="KV キャッシュの型"),
    "weight_dtype": Text(en="weight type", ja="重みの型"),
    "weights_gib": Text(en="weights of the whole model in GiB, where you know better", ja="モデル全体の重み（GiB）"),
    "engine": Text(en="engine", ja="エンジン"),
    "engine_version": Text(en="an older version of the engine", ja="エンジンの旧バージョン"),
    "memory_fraction": Text(
        en="memory fraction the engine may use, of what its own setting is a fraction of",
        ja="エンジンのメモリ使用率（何に対する割合かはエンジンの設定による）",
    ),
    "block_tokens": Text(en="tokens per block", ja="ブロックあたりのトークン数"),
    "batched_tokens": Text(en="vLLM --max-num-batched-tokens", ja="vLLM の --max-num-batched-tokens"),
    "in_flight_tokens": Text(en="tokens scheduled ahead", ja="先行スケジュールのトークン数"),
    "max_model_len": Text(en="vLLM --max-model-len", ja="vLLM の --max-model-len"),
    "tp": Text(en="tensor-parallel size", ja="テンソル並列数"),
    "pp": Text(en="pipeline-parallel size", ja="パイプライン並列数"),
    "dp": Text(
        en="engines side by side; with --attention-dp on, groups inside an engine",
        ja="並べて動かすエンジンの数（--attention-dp on ではエンジン内のグループ数）",
    ),
    "attention_dp": Text(
        en="attention not split: each group of GPUs does that of its own requests",
        ja="アテンションを分割せず、GPU のグループごとに別のリクエストを処理する",
    ),
    "dcp": Text(
        en="decode-context-parallel size: a request's tokens shared out over so many of the tp GPUs",
        ja="デコードコンテキスト並列数（1 リクエストのトークンを tp のうち何基の GPU に分けるか）",
    ),
    "prefix_caching": Text(en="prefix caching", ja="プレフィックスキャッシュ"),
    "full_windows": Text(
        en="keep every token in layers with a window (vLLM --disable-hybrid-kv-cache-manager, llama.cpp --swa-full)",
        ja="ウィンドウのある層でも全トークンを保持する"
        "（vLLM の --disable-hybrid-kv-cache-manager、llama.cpp の --swa-full）",
    ),
    "draft_layers": Text(
        en="layers that a draft (MTP, EAGLE) adds to the cache", ja="ドラフト（MTP、EAGLE）がキャッシュに加える層の数"
    ),
    "draft_tokens": Text(
        en="tokens that a draft proposes at once, a state kept for each (vLLM num_speculative_tokens; assumed: 1)",
        ja="ドラフトが一度に提案し、状態がその数だけ増えるトークン数（vLLM の num_speculative_tokens、仮定値 1）",
    ),
    "v_dtype": Text(
        en="type of the values where they are stored apart (llama.cpp -ctv)",
        ja="V の型（llama.cpp の -ctv のように K と別に選べる場合）",
    ),
    "unified": Text(
        en="slots draw on one pool (llama.cpp --kv-unified)",
        ja="スロットが 1 つのプールを共有する（llama.cpp の --kv-unified）",
    ),
    "headroom": Text(en="share of the pool to keep free", ja="プールのうち空けておく割合"),
    "typical": Text(
        en="a typical request's length as a share of the longest", ja="典型的なリクエストの長さ（最長に対する割合）"
    ),
    "shared_tokens": Text(
        en="tokens that all requests begin with, such as a system prompt (prefix caching)",
        ja="システムプロンプトなど、全リクエストに共通する先頭のトークン数（プレフィックスキャッシュ）",
    ),
    "activations_gib": Text(
        en="activations as your engine's log has them, GiB per GPU",
        ja="エンジンのログにあるアクティベーション（GPU あたり GiB）",
    ),
    "non_torch_gib": Text(
        en="memory outside PyTorch as your engine's log has it, GiB per GPU",
        ja="エンジンのログにある PyTorch 以外のメモリ（GPU あたり GiB）",
    ),
    "graphs_gib": Text(
        en="CUDA graphs as your engine's log has them, GiB per GPU",
        ja="エンジンのログにある CUDA グラフ（GPU あたり GiB）",
    ),
}
TOKENS = Text(
    en="KV tokens of one sequence, instead of --input and --output",
    ja="1 系列の KV トークン数（--input と --output の代わり）",
)
ONE_OF = Text(en="{help}: {choices}", ja="{help}：{choices}")
DEFAULT = Text(en="{help} (default: {value})", ja="{help}（既定値：{value}）")

BOTH_LENGTHS = Text(
    en="--tokens is input, passages and output together; give either --tokens or these.",
    ja="--tokens は入力、検索文書、出力の合計です。--tokens か、これらのどちらかを指定してください。",
)
USAGE = Text(en="{why}; see kvviz {command}--help.", ja="{why}（kvviz {command}--help を参照）。")
NO_MATCH = Text(en="No bundled model matches “{query}”.", ja="「{query}」に一致する同梱モデルはありません。")
NO_GPU_MATCH = Text(en="No known GPU matches “{query}”.", ja="「{query}」に一致する GPU は登録されていません。")
UNKNOWN_GPU = Text(
    en="no known GPU is called “{gpu}”; kvviz gpus [QUERY] lists them, and a size such as 48gib stands for any other.",
    ja="「{gpu}」という GPU は登録されていません。一覧は kvviz gpus [QUERY] で見られます。"
    "ほかの GPU は 48gib のようにメモリ容量で指定できます。",
)
SEVERAL_GPUS = Text(
    en="“{gpu}” may be one of several GPUs: {ids}; kvviz gpus [QUERY] lists more about them.",
    ja="「{gpu}」に当てはまる GPU が複数あります：{ids}（詳細は kvviz gpus [QUERY]）。",
)

JSON_MEANS = Text(
    en="With --json: content_bytes is one sequence in the chosen cache type before any split (fp8 on sparse latent"
    " attention is a packed record whose size depends on the generation of the GPU); engine is null where this version"
    " of it does not run the model or has no such cache type, budget where there is no GPU, no engine figure or no"
    " weights; max_tokens is what the pool holds, and a note says where the model's own maximum is less; revision is of"
    " the whole file, with --config of the fields it carries.",
    ja="--json の内容：content_bytes は選んだ型のキャッシュの 1 系列分で、GPU に分ける前の値です"
    "（スパースアテンションの潜在ベクトルの fp8 は専用の形式で、大きさは GPU の世代によります）。"
    "engine は、このバージョンがモデルを実行できないかその型のキャッシュを持たない場合に null です。"
    "budget は、GPU、エンジンの値、重みのいずれかがなければ null です。"
    "max_tokens はプールに入る長さで、モデルの最大長のほうが短ければ注記に示します。"
    "revision はファイル全体のもので、--config では含まれる項目のものです。",
)
NOT_WRITTEN = Text(en="The answer cannot be written: {why}.", ja="結果を出力できません（{why}）。")

NOT_STARTED = Text(
    en="{engine} would not start on {gpus}: one request at the max model length of {length} tokens needs {need} per"
    " GPU, and the pool of {pool} must have one block more. By the pool's size alone, {counted} of {needed} at {tokens}"
    " tokens.",
    ja="{engine} は {gpus} では起動しません。最大モデル長 {length} トークンの 1 リクエストに GPU あたり {need} が"
    "必要で、プール（{pool}）にはそれより 1 ブロック多く必要です。プールの大きさだけでは、{tokens} トークンで"
    " {needed} 件中 {counted} 件です。",
)
FIT_ONE = Text(
    en="The request fits on {gpus} at {tokens} tokens ({engine}). {counted} would fit; {bytes} per GPU to spare.",
    ja="{gpus} にリクエストが収まります（{tokens} トークン、{engine}）。最大 {counted} 件、"
    "GPU あたりの余裕は {bytes} です。",
)
FIT_YES = Text(
    en="All {needed} {needed:request|requests} {needed:fits|fit} at once on {gpus}, each at {tokens} tokens "
    "({engine}). {counted} would fit;"
    " {bytes} per GPU to spare.",
    ja="{gpus} に {needed} 件すべてが同時に収まります（各 {tokens} トークン、{engine}）。最大 {counted} 件、"
    "GPU あたりの余裕は {bytes} です。",
)
FIT_HELD = Text(
    en="All {needed} {needed:request|requests} {needed:fits|fit} on {gpus} at {tokens} tokens each, unless many "
    "long prompts arrive together"
    " ({engine}): {counted} are certain, {held} fit while decoding.",
    ja="長いプロンプトが重ならなければ、{gpus} に {needed} 件すべてが収まります（各 {tokens} トークン、{engine}）。"
    "確実なのは {counted} 件、デコード中は {held} 件です。",
)
FIT_NO = Text(
    en="{counted} of {needed} {needed:request|requests} {needed:fits|fit} at once on {gpus}, each at {tokens} "
    "tokens ({engine})."
    " {bytes} per GPU short.",
    ja="{gpus} に同時に収まるのは {needed} 件中 {counted} 件です（各 {tokens} トークン、{engine}）。"
    "GPU あたり {bytes} 不足しています。",
)
RUNS_FEWER = Text(
    en="{said} {engine} runs {most} of them at once by default.",
    ja="{said}{engine} が既定で同時に処理するのは {most} 件までです。",
)
FIT_YES_MEMORY = Text(
    en="All {needed} {needed:request|requests} {needed:fits|fit} in memory on {gpus}, each at {tokens} tokens "
    "({engine}). {counted} would fit;"
    " {bytes} per GPU to spare.",
    ja="{gpus} のメモリに {needed} 件すべてが収まります（各 {tokens} トークン、{engine}）。最大 {counted} 件、"
    "GPU あたりの余裕は {bytes} です。",
)
FIT_NO_MEMORY = Text(
    en="{counted} of {needed} {needed:request|requests} {needed:fits|fit} in memory on {gpus}, each at {tokens} "
    "tokens ({engine})."
    " {bytes} per GPU short.",
    ja="{gpus} のメモリに収まるのは {needed} 件中 {counted} 件です（各 {tokens} トークン、{engine}）。"
    "GPU あたり {bytes} 不足しています。",
)
FIT_SLOTS = Text(
    en="{counted} of {needed} {needed:request|requests} at once on {gpus}, each at {tokens} tokens ({engine}): "
    "there are no more slots."
    " {bytes} per GPU to spare.",
    ja="{gpus} で同時に処理できるのはスロット数の上限により {needed} 件中 {counted} 件です"
    "（各 {tokens} トークン、{engine}）。GPU あたり {bytes} の余裕があります。",
)
NO_ROOM = Text(
    en="No request fits on {gpus}, not at {tokens} tokens nor at fewer: weights and engine alone are {bytes} per GPU"
    " too large.",
    ja="{gpus} には、{tokens} トークンでもそれ以下でも 1 件も収まりません。"
    "重みとエンジンだけで、GPU あたり {bytes} 超過しています。",
)
NO_BUDGET = Text(
    en="One request of {tokens} tokens keeps {content} of KV cache.",
    ja="{tokens} トークンの 1 リクエストの KV キャッシュは {content} です。",
)
NO_BUDGET_COUNTED = Text(
    en="One request of {tokens} tokens keeps {content} of KV cache; {engine} counts it as {counted} per GPU.",
    ja="{tokens} トークンの 1 リクエストの KV キャッシュは {content} です。"
    "{engine} は GPU あたり {counted} と数えます。",
)

MODEL = Text(en="Model", ja="モデル")
LAYERS = Text(en="Layers", ja="レイヤー")
KV_TYPE = Text(en="KV cache type", ja="KV キャッシュの型")
CONTENT = Text(en="Content", ja="実データ量")
CONTENT_NOTE = Text(
    en="one request, before any split ({growing} B per token{more})",
    ja="1 リクエスト、GPU に分ける前（トークンあたり {growing} B{more}）",
)
AND_WINDOWS = Text(en=" + {bytes} B up to {limit}", ja=" + {limit} まで {bytes} B")
AND_STATE = Text(en=" + {bytes} state", ja=" + 状態 {bytes}")
AND_CROSS = Text(en=" + {bytes} cross-attention", ja=" + クロスアテンション {bytes}")
RESERVATION = Text(en="Reservation", ja="確保量")
RESERVATION_NOTE = Text(
    en="what {engine} counts one request as, per GPU (blocks of the pool: {blocks})",
    ja="{engine} が 1 リクエストとして数える量、GPU あたり（プールのブロック {blocks} 個）",
)
COUNTED_NOTE = Text(
    en="what {engine} takes for one request, on the fullest GPU", ja="{engine} が最も埋まる GPU で 1 リクエストに取る量"
)
ROOM_NOTE = Text(
    en="what {engine} has for caches, on the fullest GPU", ja="{engine} が最も埋まる GPU でキャッシュに使える量"
)
HELD = Text(en="Held", ja="保持量")
HELD_NOTE = Text(en="what it occupies while it decodes, per GPU", ja="デコード中に占める量、GPU あたり")
POOL = Text(en="Pool", ja="プール")
POOL_NOTE = Text(
    en="what {engine} allocates at start, per GPU (blocks: {blocks})",
    ja="{engine} が起動時に割り当てる量、GPU あたり（ブロック {blocks} 個）",
)
LOG = Text(en="Start-up log", ja="起動ログ")
LOG_LINE = Text(
    en="GPU KV cache size: {tokens} tokens, Maximum concurrency for {length} tokens per request: {concurrency}x",
    ja="「GPU KV cache size: {tokens} tokens, Maximum concurrency for {length} tokens per request: {concurrency}x」",
)
DEVICE = Text(en="GPU memory", ja="GPU メモリ")
HIDDEN = Text(en="not seen by programs", ja="見えない領域")
OUTSIDE = Text(en="outside the fraction", ja="エンジンが使わない領域")
OUTSIDE_NOTE = Text(en="never touched (memory fraction {fraction})", ja="使われない（メモリ使用率 {fraction}）")
WEIGHTS = Text(en="weights", ja="重み")
ACTIVATIONS = Text(en="activations", ja="アクティベーション")
GRAPHS = Text(en="CUDA graphs", ja="CUDA グラフ")
NON_TORCH = Text(en="outside PyTorch", ja="PyTorch 以外")
LEFT = Text(en="left for the cache", ja="キャッシュに残る量")
KEPT_FREE = Text(en="kept free", ja="空けておく量")
KEPT_FREE_NOTE = Text(en="of the pool (headroom {headroom})", ja="プールのうち（割合 {headroom}）")
BASIS = {
    "exact": Text(en="exact: {source}", ja="計算値：{source}"),
    "measured": Text(en="measured: {source}", ja="実測：{source}"),
    "assumed": Text(en="assumed: {source}", ja="推定：{source}"),
}
NOTES = Text(en="Notes", ja="注記")
