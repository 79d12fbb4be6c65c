"""Sentences of the log check: what it asks, what agrees, and what each cause means."""

from kvviz.text.base import Text

NOTHING_TO_PREDICT = Text(
    en="There is no rule for this engine's cache of such a model.",
    ja="このモデルのキャッシュについて、このエンジンの規則がありません。",
)
TYPE_UNKNOWN = Text(
    en="The log names a cache type that kvviz has no size for; choose one of {choices}.",
    ja="ログのキャッシュの型の大きさが不明です。次から選んでください: {choices}",
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
        ja="メモリは 1 つの GPU の値、トークン数は最も少ない GPU の値です（最大 1.5 % の差）。",
    ),
    "cpu_swap_blocks": Text(
        en="The bytes of a block follow from the CPU blocks: 4 GiB of swap space over one block.",
        ja="ブロックの大きさは CPU ブロック数（スワップ領域 4 GiB ÷ ブロック）から求めました。",
    ),
    "tokens_over_length": Text(
        en="No bytes are printed: the concurrency is the pool's tokens over the longest request.",
        ja="バイト数の出力がなく、同時実行数はプールのトークン数 ÷ 最大長です。",
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
        en="The pool is the engine's share of the GPU less weights, memory outside PyTorch, activations and graphs.",
        ja="プールは、GPU のうちエンジンの割り当てから、重み、PyTorch 以外、アクティベーション、"
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
