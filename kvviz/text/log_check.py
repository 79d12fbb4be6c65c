"""Sentences of the log check: what it asks, what agrees, and what each cause means."""

from kvviz.text.base import Text

NOTHING_TO_PREDICT = Text(
    en="There is no rule for this engine's cache of such a model.",
    ja="このモデルのキャッシュについて、このエンジンの規則がありません。",
)
ASKED = {
    "model": Text(en="the model (its config.json)", ja="モデル（config.json）"),
    "tp": Text(en="the tensor-parallel size", ja="テンソル並列数"),
    "element": Text(en="the cache type", ja="キャッシュの型"),
    "n_ctx": Text(en="the context of all slots (-c)", ja="全スロットのコンテキスト（-c）"),
    "max_model_len": Text(en="the longest request", ja="リクエストの最大長"),
}

CAUSES = {
    "windows_ignored": Text(
        en="Layers with a window keep every token: the hybrid cache manager is off, or this version or model has no"
        " rule for windows.",
        ja="ウィンドウのある層も全トークンを保持しています（ハイブリッドキャッシュマネージャーが無効か、"
        "このバージョンやモデルにはウィンドウの規則がありません）。",
    ),
    "iswa_cells": Text(
        en="Layers with a window have cells for the window of every slot and one batch, rounded up.",
        ja="ウィンドウのある層は、全スロットのウィンドウと 1 バッチ分のセルを持ちます（切り上げ）。",
    ),
    "swa_full": Text(
        en="Layers with a window have cells for the whole context (--swa-full).",
        ja="ウィンドウのある層も、コンテキスト全体のセルを持ちます（--swa-full）。",
    ),
    "swa_full_difference": Text(
        en="The figure is what windows save over --swa-full.",
        ja="--swa-full に対してウィンドウで節約された量です。",
    ),
    "split_slots": Text(
        en="Every slot has its own part of the context, and windows of its own.",
        ja="スロットごとにコンテキストを分け、ウィンドウもそれぞれ持ちます。",
    ),
    "kv_plus_recurrent_f32": Text(
        en="Beside the attention cells there is one f32 state for each slot.",
        ja="アテンションのセルに加え、スロットごとに f32 の状態が 1 つあります。",
    ),
    "recurrent_f32": Text(
        en="Only f32 states are stored, one for each slot, whatever the context.",
        ja="保持するのはスロットごとの f32 の状態だけで、コンテキスト長によりません。",
    ),
    "encoder_cache_allocated": Text(
        en="The engine gave an encoder a full cache, although nothing is decoded with it.",
        ja="何も生成しないエンコーダーに、キャッシュ全体が割り当てられています。",
    ),
    "f32_cache": Text(en="Keys and values are kept in f32.", ja="K と V が f32 で保持されています。"),
    "cross_cache_f32": Text(
        en="Cross attention for the image is kept in f32, of a fixed size.",
        ja="画像のクロスアテンションは、固定サイズの f32 で保持されます。",
    ),
    "mla_latent": Text(
        en="One latent for each token and layer is stored, whole on every GPU.",
        ja="トークンと層ごとに潜在ベクトルを 1 つ、どの GPU にも丸ごと保持します。",
    ),
    "mla_latent_plus_v_copy": Text(
        en="Besides the latent, a second copy of it is stored as the values.",
        ja="潜在ベクトルに加え、その複製が V として保持されています。",
    ),
    "mla_expanded": Text(
        en="The latent is expanded: keys and values of all heads are stored.",
        ja="潜在ベクトルを展開し、全ヘッドの K と V を保持しています。",
    ),
    "k_row_only": Text(en="Only keys are stored.", ja="K だけが保持されます。"),
    "replicated_heads": Text(
        en="There are more GPUs than KV heads: each keeps one whole head, so heads are copied.",
        ja="GPU の数が KV ヘッドより多いため、各 GPU が 1 ヘッドを丸ごと持ち、重複しています。",
    ),
    "min_over_ranks": Text(
        en="The memory is one GPU's, the tokens are those of the GPU with the least: up to 1.5% apart.",
        ja="メモリは 1 つの GPU の値、トークン数は最も少ない GPU の値です（最大 1.5% の差）。",
    ),
    "cpu_swap_blocks": Text(
        en="The bytes of a block follow from the CPU blocks: 4 GiB of swap space over one block.",
        ja="ブロックの大きさは CPU ブロック数（スワップ領域 4 GiB ÷ ブロック）から求めました。",
    ),
    "tokens_over_length": Text(
        en="No bytes are printed: the concurrency is the pool's tokens over the longest request, for any model with"
        " equal layers.",
        ja="バイト数の出力がなく、同時実行数はプールのトークン数 ÷ 最大長です（全層が同じモデルなら共通）。",
    ),
    "tokens_line_is_groups": Text(
        en="“GPU KV cache size” is one cache group's share of the blocks, not what fits: go by the concurrency.",
        ja="「GPU KV cache size」は 1 つのキャッシュグループの取り分で、収まる量ではありません。"
        "同時実行数を見てください。",
    ),
    "concurrency_times_len": Text(
        en="“GPU KV cache size” is the concurrency times the longest request, so it changes with --max-model-len.",
        ja="「GPU KV cache size」は同時実行数 × 最大長で、--max-model-len によって変わります。",
    ),
    "window_plus_one_block": Text(
        en="All layers have a window: a request counts its blocks and one more.",
        ja="全層がウィンドウを持ち、1 リクエストは必要なブロックに 1 つ加えて数えられます。",
    ),
    "encoder_depth": Text(
        en="The cache is as deep as the encoder, not as the decoder.",
        ja="キャッシュの層数が、デコーダーではなくエンコーダーの層数になっています。",
    ),
    "pp_whole_model_need": Text(
        en="The need of all pipeline stages was compared with the memory of one.",
        ja="全パイプラインステージの必要量を、1 ステージのメモリと比べています。",
    ),
    "budget_only": Text(
        en="The pool is the memory fraction of the GPU less weights, memory outside PyTorch, activations and graphs.",
        ja="プールは、GPU のうちエンジンのメモリ使用率の分から、重み、PyTorch 以外、アクティベーション、"
        "グラフを引いた残りです。",
    ),
    "free_memory_difference": Text(
        en="No pool size is printed: it follows from the free memory before and after, less the table of requests.",
        ja="プールの大きさの出力がなく、前後の空きメモリの差からリクエスト表を引いて求めました。",
    ),
    "free_memory_fraction": Text(
        en="The blocks are a fraction of the free memory.", ja="ブロック数は、空きメモリの一定割合です。"
    ),
    "sglang_swa_pool": Text(
        en="Windows have a pool of their own: each line is about one of two pools.",
        ja="ウィンドウ用のプールが別にあり、各行は 2 つのプールの一方の値です。",
    ),
    "fp8_cache": Text(
        en="The cache is in fp8, which the log does not say.", ja="キャッシュが fp8 です（ログに記載なし）。"
    ),
}

AGREES = Text(
    en="{engine} reported what is predicted, to the last printed digit (independent figures: {count}).",
    ja="{engine} の報告は、出力された桁まで予測どおりです（互いに独立な値：{count} 個）。",
)
AGREES_IF = Text(
    en="{engine} reported what is predicted, to the last printed digit, if {assumed} (independent figures: {count}).",
    ja="{assumed}とすれば、{engine} の報告は、出力された桁まで予測どおりです（互いに独立な値：{count} 個）。",
)
TAKES = Text(
    en="Taken from the log, not predicted: {inputs}; the predictions follow it.",
    ja="予測せずログから取ったもの：{inputs}。予測はこれに従います。",
)
TAKES_POOL = Text(
    en="the memory for the cache, {value}, and within its rounding the blocks that come closest",
    ja="キャッシュに使える量 {value}（その丸めの範囲で、最も近いブロック数）",
)
TAKES_TOKENS = Text(en="the tokens of the pool", ja="プールのトークン数")
DEPENDENT = Text(
    en="{independent} of the {count} figures {independent:is|are} independent; the others follow from"
    " {independent:it|them}.",
    ja="{count} 個の値のうち独立なものは {independent} 個で、ほかはそこから決まります。",
)
EXPLAINED = Text(
    en="{engine} reported something else than is predicted from the log, and this explains every figure.",
    ja="{engine} の報告はログからの予測と異なりますが、次のことですべての値を説明できます。",
)
DIFFERS = Text(
    en="{differ} of {count} figures are not what is predicted for {model}, and no known cause explains them all. Is it"
    " this model, and are the settings those of the log?",
    ja="{count} 個の値のうち {differ} 個が {model} の予測と異なり、既知の原因では説明できません。"
    "モデルと設定がログと同じか確認してください。",
)
DIFFERS_TERMS = Text(
    en="{differ} of {count} figures are not what the log's own terms come to.",
    ja="{count} 個の値のうち {differ} 個が、ログにある内訳から計算した値と異なります。",
)
READ = Text(en="{engine} was read.", ja="{engine} のログを読み取りました。")
NEEDS = Text(
    en="To predict its figures, kvviz needs what the log does not say: {asked}.",
    ja="予測には、ログにない次の情報が必要です：{asked}。",
)
NOT_BUNDLED = Text(
    en="The model it names, {model}, is not bundled: choose the model or give its config.json.",
    ja="ログにあるモデル {model} は同梱されていません。モデルを選ぶか、config.json を指定してください。",
)
NOTHING_COMPARED = Text(
    en="{engine} was read, but none of its figures is one that can be predicted.",
    ja="{engine} のログを読み取りましたが、予測できる値がありません。",
)
NOTHING_COMPARED_FOR = Text(
    en="{engine} was read, but none of its figures is one that can be predicted for {model}.",
    ja="{engine} のログを読み取りましたが、{model} について予測できる値がありません。",
)
THIS_MODEL = Text(en="this model", ja="このモデル")
UNCERTAIN = Text(
    en="The log does not say {asked}: give it to be certain.", ja="ログに{asked}がありません。指定すると確実です。"
)

ASSUMED = {
    "prefix_caching_on": Text(en="prefix caching is on", ja="プレフィックスキャッシュがオン"),
    "prefix_caching_off": Text(en="prefix caching is off", ja="プレフィックスキャッシュがオフ"),
    "draft_tokens": Text(en="{value} tokens are drafted at once", ja="ドラフトのトークンが {value} 個"),
    "draft_layers": Text(en="a draft adds {value} {value:layer|layers}", ja="ドラフトの層が {value} 層"),
    "batched_tokens": Text(en="a step has {value} tokens", ja="1 ステップが {value} トークン"),
    "ubatch_tokens": Text(en="a batch (-ub) has {value} tokens", ja="バッチ（-ub）が {value} トークン"),
    "pad_tokens": Text(en="cells are rounded up to {value}", ja="セル数の切り上げ単位が {value}"),
    "rollback_states": Text(en="each state has {value} copies", ja="状態の複製が {value} 個"),
    "unified_on": Text(en="slots share one cache", ja="スロットが 1 つのキャッシュを共有"),
    "unified_off": Text(en="every slot has a part of its own", ja="スロットごとにキャッシュを分割"),
    "kv_dtype": Text(en="the cache type is {value}", ja="キャッシュの型が {value}"),
    "version": Text(en="the rules are those of vLLM {value}", ja="vLLM {value} の規則"),
    "tp": Text(en="the tensor-parallel size is {value}", ja="テンソル並列数が {value}"),
    "dp": Text(en="the figures are one engine's", ja="1 エンジン分の値"),
    "gpu": Text(en="the GPU's kernels keep no further states", ja="GPU のカーネルが余分な状態を持たない"),
    "gpu_b200": Text(en="the GPU is a Blackwell one", ja="GPU が Blackwell"),
    "block_tokens": Text(en="a block has {value} tokens", ja="ブロックが {value} トークン"),
}
AND = Text(en=" and ", ja="、")
COMMA = Text(en=", ", ja="、")

FIGURE = Text(en="Figure", ja="値")
REPORTED = Text(en="Reported", ja="報告")
PREDICTED = Text(en="Predicted", ja="予測")
WITHOUT = Text(en="Without the cause", ja="原因を考慮しない予測")
RESIDUAL = Text(en="Difference", ja="差")
ROUNDING = Text(en="Rounding", ja="丸め")
NO_DIFFERENCE = Text(en="0", ja="0")
FIGURES = {
    "bytes_per_token": Text(en="Bytes per token", ja="トークンあたりのバイト数"),
    "block_tokens": Text(en="Tokens per block", ja="ブロックあたりのトークン数"),
    "gpu_blocks": Text(en="GPU blocks", ja="GPU ブロック"),
    "cpu_blocks": Text(en="CPU blocks", ja="CPU ブロック"),
    "blocks": Text(en="Blocks", ja="ブロック"),
    "tokens_line": Text(en="“GPU KV cache size”, tokens", ja="「GPU KV cache size」のトークン数"),
    "kv_tokens": Text(en="Tokens in the pool", ja="プールのトークン数"),
    "max_concurrency": Text(en="Maximum concurrency", ja="最大同時実行数"),
    "capacity_tokens_at_max_len": Text(en="Concurrency × length, tokens", ja="同時実行数 × 最大長（トークン）"),
    "needed_bytes": Text(en="Needed for one request", ja="1 リクエストに必要な量"),
    "estimated_max_len": Text(en="Longest request that fits", ja="収まる最大長"),
    "available_kv_bytes_per_gpu": Text(en="Available for the cache", ja="キャッシュに使える量"),
    "kv_bytes_per_gpu": Text(en="Cache on one GPU", ja="GPU 1 基のキャッシュ"),
    "k_bytes_per_gpu": Text(en="K on one GPU", ja="GPU 1 基の K"),
    "v_bytes_per_gpu": Text(en="V on one GPU", ja="GPU 1 基の V"),
    "free_after_pools_bytes_per_gpu": Text(en="Free after the pools", ja="プール確保後の空き"),
    "full_bytes_per_token": Text(en="Full pool, bytes per token", ja="全トークン用プールのトークンあたり"),
    "full_pool_bytes_per_gpu": Text(en="Full pool", ja="全トークン用プール"),
    "window_bytes_per_token": Text(en="Sliding pool, bytes per token", ja="ウィンドウ用プールのトークンあたり"),
    "window_pool_bytes_per_gpu": Text(en="Sliding pool", ja="ウィンドウ用プール"),
    "pools_bytes_per_gpu": Text(en="Both pools", ja="両プールの合計"),
    "state_bytes_per_gpu": Text(en="States on one GPU", ja="GPU 1 基の状態"),
    "kv_bytes_total": Text(en="Cache, all devices", ja="キャッシュ（全デバイス）"),
    "k_bytes": Text(en="K", ja="K"),
    "v_bytes": Text(en="V", ja="V"),
    "full_bytes": Text(en="Layers without a window", ja="ウィンドウのない層"),
    "full_cells": Text(en="Their cells", ja="そのセル数"),
    "window_bytes": Text(en="Layers with a window", ja="ウィンドウのある層"),
    "window_cells": Text(en="Cells of the window", ja="ウィンドウのセル数"),
    "self_attention_bytes": Text(en="Self attention", ja="セルフアテンション"),
    "cross_attention_bytes": Text(en="Cross attention", ja="クロスアテンション"),
    "state_bytes_total": Text(en="States", ja="状態"),
    "state_bytes_per_slot": Text(en="States of one slot", ja="スロットあたりの状態"),
    "context_bytes_total": Text(en="Caches and states at exit", ja="終了時のキャッシュと状態"),
    "layers": Text(en="Layers of the model", ja="モデルの層数"),
    "kv_layers": Text(en="Layers with a cache", ja="キャッシュを持つ層数"),
    "kv_heads": Text(en="KV heads", ja="KV ヘッド数"),
    "head_dim": Text(en="Size of a key", ja="K の次元"),
    "value_dim": Text(en="Size of a value", ja="V の次元"),
    "weights_gib_per_gpu": Text(en="Weights on one GPU", ja="GPU 1 基の重み"),
    "activation_bytes_per_gpu": Text(en="Activations", ja="アクティベーション"),
    "non_torch_bytes_per_gpu": Text(en="Outside PyTorch", ja="PyTorch 以外"),
    "graph_bytes_per_gpu": Text(en="CUDA graphs", ja="CUDA グラフ"),
    "max_model_len": Text(en="Longest request, tokens", ja="最大長（トークン）"),
    "n_ctx": Text(en="Context of all slots, tokens", ja="全スロットのコンテキスト（トークン）"),
    "slots": Text(en="Slots", ja="スロット"),
    "total_bytes": Text(en="GPU memory", ja="GPU メモリ"),
    "free_bytes": Text(en="Free before the pool", ja="プール確保前の空き"),
    "utilization": Text(en="GPU memory utilization", ja="GPU メモリ使用率"),
    "needed_for_tokens": Text(en="Length that did not fit, tokens", ja="収まらなかった長さ（トークン）"),
    "available_kv_bytes": Text(en="Available for it", ja="それに使える量"),
    "fraction_of_free": Text(en="Share of the free memory", ja="空きメモリに対する割合"),
    "tp": Text(en="Tensor-parallel size", ja="テンソル並列数"),
    "pp": Text(en="Pipeline stages", ja="パイプライン段数"),
    "element": Text(en="Cache type", ja="キャッシュの型"),
    "version": Text(en="Version", ja="バージョン"),
}

PAGE = Text(en="Check a log", ja="ログ照合")
INTRO = Text(
    en="Paste what an engine prints at start, and see it beside the prediction: vLLM, SGLang, llama.cpp (ollama,"
    " LM Studio) or TensorRT-LLM. It stays in this session: nothing of it is stored or goes into a link.",
    ja="エンジンの起動時の出力を貼り付けると、予測と照合します（vLLM、SGLang、llama.cpp、ollama、LM Studio、"
    "TensorRT-LLM）。内容はこのセッションだけで使われ、保存されず、リンクにも含まれません。",
)
LOG = Text(en="Start-up log", ja="起動ログ")
LOG_PLACEHOLDER = Text(
    en="From the engine's first line until it is ready",
    ja="エンジンの最初の行から起動完了まで",
)
UPLOAD = Text(en="Or a file (up to 5 MB)", ja="またはファイル（5 MB まで）")
FILE_READ = Text(en="Read: {name}", ja="読み取ったファイル：{name}")
EXAMPLE = Text(en="Try a log of {engine}", ja="{engine} のログを試す")
EXAMPLE_SOURCE = Text(en="This example is from a public report: {source}", ja="この例の出典（公開の報告）：{source}")
CLEAR = Text(en="Clear", ja="消去")
MODEL = Text(en="Model", ja="モデル")
MODEL_PLACEHOLDER = Text(en="The model of this log", ja="このログのモデル")
MODEL_HELP = Text(
    en="A bundled model, or owner/name of one on the Hub. A quantised build has the cache of the model it was made"
    " from.",
    ja="同梱モデル、または Hub のモデル（owner/name）。量子化版のキャッシュは元のモデルと同じです。",
)
CONFIG = Text(en="Or its config.json", ja="または config.json")
FROM_LOG = Text(en="layers as the log lists them", ja="レイヤーはログの記載による")
PREDICTED_FOR = Text(en="Predicted for {model}", ja="予測の対象：{model}")
STORED_AUTO = Text(en="cache type auto, the model's own: {type}", ja="キャッシュの型 auto（モデルの型：{type}）")
STORED_IN = Text(en="cache in {type}", ja="キャッシュの型 {type}")
NEEDS_REST = Text(
    en="To predict the rest, kvviz needs what the log does not say: {asked}.",
    ja="ほかの値の予測には、ログにない次の情報が必要です：{asked}。",
)
TP = Text(en="Tensor-parallel size", ja="テンソル並列数")
KV_TYPE = Text(en="KV cache type", ja="KV キャッシュの型")
CONTEXT = Text(en="Context of all slots (-c)", ja="全スロットのコンテキスト（-c）")
OTHERWISE = Text(en="Another model or other settings", ja="別のモデルや設定で照合")
SAID = Text(en="What else the log says", ja="そのほかにログにある値")
WHY = Text(en="What the engine did", ja="エンジンの動作")
TAKEN = Text(
    en="Sizing can take the log's settings; they are then settings like others, also in its link.",
    ja="ログの設定をサイジングに取り込めます（取り込むと通常の設定となり、リンクにも含まれます）。",
)
TAKEN_MEASURED = Text(
    en="Sizing can take the log's settings and what it measured instead of estimates ({terms}); they are then settings"
    " like others, also in its link.",
    ja="ログの設定と、推定値の代わりになる実測値（{terms}）をサイジングに取り込めます"
    "（取り込むと通常の設定となり、リンクにも含まれます）。",
)
TAKEN_POOL = Text(
    en="What it does not say of the GPU is set so that the cache has the log's {value}.",
    ja="ログにない GPU メモリの内訳は、キャッシュの量がログの {value} になるように設定されます。",
)
NOT_TAKEN = Text(en="Not taken over: {missing}.", ja="取り込まれないもの：{missing}。")
MISSING = {
    "model": Text(en="the model", ja="モデル"),
    "no_model": Text(en="the model (not in the log)", ja="モデル（ログに記載なし）"),
    "no_gpu": Text(en="the GPU (not in the log)", ja="GPU（ログに記載なし）"),
    "gpu": Text(en="the GPU's memory", ja="GPU のメモリ量"),
    "split": Text(en="how the GPUs are shared out", ja="GPU の分け方"),
    "settings": Text(en="settings that Sizing cannot have together", ja="サイジングで同時に指定できない設定"),
    "terms": Text(en="the measured terms", ja="内訳の実測値"),
    "length": Text(en="the longest request", ja="リクエストの最大長"),
    "no_length": Text(en="the longest request (not in the log)", ja="リクエストの最大長（ログに記載なし）"),
    "kv_dtype": Text(en="the cache type", ja="キャッシュの型"),
    "v_dtype": Text(en="a cache type of the values' own", ja="V だけのキャッシュの型"),
    "full_windows": Text(en="windows at full length", ja="全トークンを保持するウィンドウ"),
    "draft_tokens": Text(en="the tokens of a draft", ja="ドラフトのトークン数"),
    "latent": Text(en="how latents are stored", ja="潜在ベクトルの保持方法"),
    "depth": Text(en="a cache as deep as the encoder", ja="エンコーダーの層数のキャッシュ"),
    "plan": Text(en="this engine's rules for this model", ja="このモデルについてのエンジンの規則"),
    "kernels": Text(en="the GPU's kernels", ja="GPU のカーネル"),
    "rollback_states": Text(en="copies of the states", ja="状態の複製"),
    "pad_tokens": Text(en="what cells are rounded up to", ja="セル数の切り上げ単位"),
    "pool": Text(
        en="the memory for the cache (the weights leave less of Sizing's GPU)",
        ja="キャッシュに使える量（サイジングの GPU では、重みを除くと足りません）",
    ),
    "no_budget": Text(
        en="the memory for the cache (Sizing has no GPU or knows no weights)",
        ja="キャッシュに使える量（サイジングで GPU が未選択か、重みが不明です）",
    ),
    "no_pool": Text(en="the memory for the cache (not in the log)", ja="キャッシュに使える量（ログに記載なし）"),
}
MEASURED_TERMS = {
    "weights_gib": Text(en="weights {value} GiB over all GPUs", ja="重み {value} GiB（全 GPU）"),
    "activations_gib": Text(en="activations {value} GiB", ja="アクティベーション {value} GiB"),
    "non_torch_gib": Text(en="outside PyTorch {value} GiB", ja="PyTorch 以外 {value} GiB"),
    "graphs_gib": Text(en="CUDA graphs {value} GiB", ja="CUDA グラフ {value} GiB"),
}
USE_MEASURED = Text(en="Use the log's settings on Sizing", ja="このログの設定でサイジング")
SETTINGS_OF_LOG = Text(en="the log's settings", ja="ログの設定")
