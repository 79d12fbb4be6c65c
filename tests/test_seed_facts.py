"""What two introductions to the KV cache say, and what they lack: each of the 38 facts can be pointed at on a page.

A row says where a fact stands and what is to be read there, in both languages. The numbers are written out from the
facts, never worked out by the code that is tested, and all phrases of a row stand in one paragraph, table row or label:
a page with another number or another statement does not pass. ``tests/data/SOURCES.md`` says where the facts come from.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from kvviz.text import LANGUAGES, Lang, Text
from kvviz.text import sizing as tabs
from kvviz.ui.show import PARTED
from tests.ui.page import open_page, opened

ROOT = Path(__file__).resolve().parents[1]

Query = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One place where a fact can be read."""

    page: str
    query: Query = ()
    """Of the scenario, beside the language."""
    opened: Text | str = ""
    """A tab of Sizing by its name, or the key of a panel that is opened."""
    en: tuple[str, ...]
    ja: tuple[str, ...]


def learn(en: str | tuple[str, ...], ja: str | tuple[str, ...]) -> Look:
    return Look(page="learn", en=_tuple(en), ja=_tuple(ja))


def sizing(en: str | tuple[str, ...], ja: str | tuple[str, ...], *, tab: Text | str = "", **query: str) -> Look:
    return Look(page="sizing", query=tuple(query.items()), opened=tab, en=_tuple(en), ja=_tuple(ja))


def on(page: str, en: str | tuple[str, ...], ja: str | tuple[str, ...], *, opened: str = "", **query: str) -> Look:
    return Look(page=page, query=tuple(query.items()), opened=opened, en=_tuple(en), ja=_tuple(ja))


def _tuple(phrases: str | tuple[str, ...]) -> tuple[str, ...]:
    return (phrases,) if isinstance(phrases, str) else phrases


BF16 = {"model": "Qwen/Qwen3-32B"}
LLAMA = {"model": "meta-llama/Llama-3.1-70B-Instruct", "gpus": "4", "input": "31744", "sequences": "1"}
R1 = {"model": "deepseek-ai/DeepSeek-R1", "gpu": "h200", "gpus": "8"}

FACTS: dict[str, tuple[Look, ...]] = {
    # --- definitions and arithmetic ----------------------------------------------------------------------------------
    "S1": (
        learn(
            ("keeps the keys and values of all tokens already processed", "the work of one token, not of the whole"),
            ("処理済みのトークンの K と V を保存", "計算は 1 トークン分で済み"),
        ),
    ),
    "S2": (
        learn("= 2 × 64 × 8 × 128 × 2 = 262,144 B = 256 KiB", "= 2 × 64 × 8 × 128 × 2 = 262,144 B = 256 KiB"),
        learn("1 request of 4,096 tokens | 1.07 GB | 1 GiB", "4,096 トークンのリクエスト 1 件 | 1.07 GB | 1 GiB"),
        learn("16 at the same time | 17.2 GB | 16 GiB", "同時に 16 件 | 17.2 GB | 16 GiB"),
        learn("50 at the same time | 53.7 GB | 50 GiB", "同時に 50 件 | 53.7 GB | 50 GiB"),
        learn("50 of 16,384 tokens | 215 GB | 200 GiB", "16,384 トークンのリクエスト 50 件 | 215 GB | 200 GiB"),
        learn("Weights of a 30B model in FP8 | 30 GB | 27.9 GiB", "30B モデルの FP8 の重み | 30 GB | 27.9 GiB"),
        learn(
            ("no longer true", "one B300 holds it", "215 GB"),
            ("過去の話です", "B300 なら", "1 基に収まります", "215 GB"),
        ),
        sizing(
            ("2 × 64 × 8 × 128 × 2 B = 262,144 B", "4,096", "1 GiB (1,073,741,824 B)"),
            ("2 × 64 × 8 × 128 × 2 B = 262,144 B", "4,096", "1 GiB (1,073,741,824 B)"),
            tab=tabs.WHY,
        ),
        sizing("All 50 fit at once", "50 件すべてが同時に収まります", gpu="b300", input="15360"),
    ),
    "S3": (
        learn(
            ("5,120 ÷ 64 = 80", "its head_dim is 128", "1.6× too small", "in 49 of the 168 bundled configs"),
            ("5,120 ÷ 64 = 80", "head_dim は 128", "正しい値の 1/1.6", "同梱の config 168 件のうち 49 件"),
        ),
        learn(
            ("num_hidden_layers", "num_key_value_heads", "the engine's KV cache type setting", "not from the type of"),
            ("num_hidden_layers", "num_key_value_heads", "重みの型ではなく、エンジンの KV キャッシュの型の設定"),
        ),
        sizing("Head size | 128 | $.head_dim", "ヘッドの次元 | 128 | $.head_dim", tab=tabs.WHY),
        sizing(
            ("5,120 ÷ 64 = 80", "1.6 times too small"),
            ("5,120 ÷ 64 = 80", "正しい値の 1/1.6"),
            tab=tabs.WHY,
        ),
    ),
    "S4": (
        learn(
            ("input plus output", "3,072 input and 1,024 output tokens is 4,096"),
            ("入力と出力の和", "入力 3,072、出力 1,024", "4,096 トークン"),
        ),
        sizing("3,072 + 1,024 = 4,096 tokens", "3,072 + 1,024 = 4,096 トークン"),
    ),
    "S5": (
        learn(
            (
                "peak, not the average",
                "behind a window are freed",
                "preemption frees early",
                "keeps blocks after the end",
            ),
            (
                "平均ではなくピーク",
                "ウィンドウの外に出たブロックは実行中に解放",
                "プリエンプション",
                "終了後もブロックを残します",
            ),
        ),
        learn(
            ("users × answer seconds ÷ (answer + reading seconds)", "200 × 15 s ÷ (15 s + 45 s) = 50 requests"),
            ("ユーザー数 × 回答の秒数 ÷（回答 + 読む時間の秒数）", "200 × 15 s ÷ (15 s + 45 s) = 平均 50 件"),
        ),
        sizing(
            "200 × 15 s ÷ (15 s + 45 s) = 50 requests in flight",
            "200 × 15 s ÷ (15 s + 45 s) = 同時 50 件",
            users="200",
            answer_s="15",
            seconds_between="45",
        ),
    ),
    "S6": (
        learn(
            ("10 passages of 512 tokens, 3,072 input tokens become 8,192", "before RAG does not hold after it"),
            ("512 トークンの文書を 10 件", "入力 3,072 トークンが 8,192 に", "入れた後には成り立ちません"),
        ),
        sizing(
            ("8,192 tokens", "3,072 and 10 retrieved passages of 512 each"),
            ("8,192 トークン", "3,072 に、検索文書 10 件 × 512"),
            passages="10",
            passage_tokens="512",
        ),
    ),
    "S7": (
        learn(
            ("nvidia-smi shows is not the need", "takes 72.8 GiB", "however few requests run"),
            ("nvidia-smi の表示は必要量ではありません", "72.8 GiB を起動時に確保"),
        ),
        sizing(
            ("nvidia-smi will show about 72.8 GiB", "needs 5 GiB of a pool of 34.7 GiB"),
            ("nvidia-smi の使用量は約 72.8 GiB", "プール 34.7 GiB のうち 5 GiB"),
            sequences="5",
        ),
        # what is reserved beside what is needed, on a machine that runs a model
        on("live", "reserved at its longest (StaticCache)", "最長の長さを先に確保（StaticCache）"),
    ),
    "S8": (
        learn(
            ("32 requests of 4,096 tokens take more than the 31.97 GiB of weights",),
            ("4,096 トークンのリクエスト 32 件で、重みの 31.97 GiB を超えます",),
        ),
        sizing(
            "From 32 requests of 4,096 tokens on, their cache is larger than the weights (31.97 GiB per GPU)",
            "4,096 トークンのリクエストが 32 件以上になると、キャッシュが重み（GPU あたり 31.97 GiB）を超えます",
        ),
    ),
    # --- levers ------------------------------------------------------------------------------------------------------
    "S9": (
        learn(
            (
                "2 MiB a token with 64 KV heads (MHA)",
                "256 KiB with 8 (GQA, 1/8)",
                "32 KiB with 1 (MQA)",
                "down to 1/32",
            ),
            ("KV ヘッド 64 個（MHA）で 2 MiB", "8 個（GQA、1/8）で 256 KiB", "1 個（MQA）で 32 KiB", "1/32"),
        ),
        learn(
            ("Reported", "almost no loss of quality with GQA", "a slight one with MQA"),
            ("GQA の品質低下はほぼなく", "MQA はわずかにある", "報告されています"),
        ),
        on(
            "heads",
            "64 query heads share 8 KV heads (GQA), 1/8 of the cache of MHA",
            "クエリヘッド 64 個が KV ヘッド 8 個を共有（GQA）、キャッシュは MHA の 1/8",
        ),
        on("heads", "MHA 2 MiB, MQA 32 KiB", "MHA なら 2 MiB、MQA なら 32 KiB"),
        on("heads", ("1/8 is not the floor", "1/32", "1/16"), ("1/8 は下限ではありません", "1/32", "1/16")),
    ),
    "S10": (
        learn(
            ("FP8 instead of 16 bits: 1 GiB → 512 MiB a request", "INT8 and INT4 go further"),
            ("16 ビットから FP8 で、1 件 1 GiB → 512 MiB", "INT8 や INT4"),
        ),
        sizing(
            ("FP8 cache", "1 GiB → 512 MiB a request", "34 → 69 at once", "long texts may lose quality"),
            ("FP8 キャッシュ", "1 GiB → 512 MiB", "34 → 69 件", "長文で品質が下がることがある"),
            tab=tabs.WHAT_IF,
        ),
        # 8 bits and an FP32 scale for each vector of 128: 528 and not 512 MiB; 4 bits: 272 and not 256
        sizing(
            ("INT8 cache", "1 GiB → 528 MiB", "a scale for each vector"),
            ("INT8 キャッシュ", "1 GiB → 528 MiB", "ベクトルごとのスケール"),
            tab=tabs.WHAT_IF,
        ),
    ),
    "S11": (
        learn(
            ("At most 2,048 instead of 4,096 tokens", "1 GiB → 512 MiB", "(linear)"),
            ("最長 4,096 → 2,048 トークン", "1 GiB → 512 MiB", "（比例）"),
        ),
        learn("RAG can pack fewer passages into a prompt", "RAG でプロンプトに入れられる文書が減ります"),
        sizing(
            ("At most 2,832 tokens", "1 GiB → 708 MiB", "less room for retrieved passages and history"),
            ("最長 2,832 トークン", "1 GiB → 708 MiB", "検索した文書や履歴を入れる余地が減ります"),
            tab=tabs.WHAT_IF,
        ),
    ),
    "S12": (
        learn(
            ("Not by one byte: the two settings are independent",),
            ("1 バイトも変わりません", "2 つは独立した設定です"),
        ),
        learn("it changes the cache by 0 bytes", "キャッシュの変化は 0 バイト"),
        learn(
            ("BitsAndBytesConfig(load_in_8bit=True)", "is wrong: it quantises the weights"),
            ("BitsAndBytesConfig(load_in_8bit=True)", "誤りで、量子化されるのは重みです"),
        ),
        sizing(
            ("FP8 weights | 34", "Cache unchanged by one byte; 29 more requests"),
            ("FP8 の重み | 34", "キャッシュは 1 バイトも変わりません", "29 件多く"),
            tab=tabs.WHAT_IF,
            **BF16,
        ),
    ),
    "S13": (
        learn(
            (
                "Blocks of 16 tokens on demand",
                "2–4× the throughput at the same latency",
                "30.4 against 13.6 / 9.8 / 7.0",
            ),
            (
                "16 トークンのブロック",
                "同じレイテンシで 2～4 倍のスループット",
                "30.4 件（比較対象は 13.6 / 9.8 / 7.0 件）",
            ),
        ),
        on(
            "blocks",
            ("2–4 times the throughput at the same latency, not so many times the requests", "vLLM 30.4", "7.0"),
            ("リクエスト数ではなく、同じレイテンシでのスループットが 2～4 倍", "vLLM 30.4", "7.0"),
            opened="blocks_research",
        ),
        on(
            "blocks",
            "By step 7, paged memory has served 6 of 6 requests; contiguous memory 3",
            "ステップ 7 までに 6 件中、ページ方式は 6 件、連続領域は 3 件を処理",
        ),
    ),
    "S14": (
        learn(
            ("exact match from the first token, in whole blocks", "a date or name at the head defeats it"),
            ("先頭のトークンからの完全一致がブロック単位で必要", "日付や名前が先頭にあると効かず"),
        ),
        learn(("after the system prompt it does not", "less than a block saves nothing"), "1 ブロックに満たない"),
        on(
            "prefixes",
            "None of the 153 prompt tokens is found",
            "153 トークン中、ヒットなし",
            prefix_try="date-first",
        ),
        on(
            "prefixes",
            "64 of 153 prompt tokens are found",
            "153 トークン中 64 トークンがヒット",
            prefix_try="date-last",
        ),
    ),
    # --- speed -------------------------------------------------------------------------------------------------------
    "S15": (
        learn(
            ("total grows with n², with one it grows with n", "still reads every earlier key in each step"),
            ("キャッシュなしでは n² に、ありでは n に比例", "毎ステップ過去の K をすべて読みます"),
        ),
        learn(
            ("at 1,000 tokens 500,500 without a cache, a curve that bends upwards, and 1,000 with one",),
            ("1,000 トークンで、キャッシュなしは 500,500 回（上に曲がる曲線）、ありは 1,000 回",),
        ),
        on("live", "Fewer tokens computed | 169× | 500×", "計算トークンの削減比 | 169 倍 | 500 倍"),
    ),
    "S16": (
        learn(
            ("1,000 tokens with Transformers took 11.9 s with the cache and 56.2 s without, 4.7×", "quoted"),
            ("1,000 トークンの生成がキャッシュありで 11.9 秒、なしで 56.2 秒、4.7 倍", "引用値"),
        ),
        on(
            "live",
            "With a cache | 28.5 s, 95 ms/token | 11.9 s, 12 ms/token",
            "キャッシュあり | 28.5 秒（95 ms/トークン） | 11.9 秒（12 ms/トークン）",
        ),
        on("live", "Faster | 5.4× | 4.7×", "速度比 | 5.4 倍 | 4.7 倍"),
    ),
    "S17": (
        learn("“The KV cache saves GPU memory.”", "「KV キャッシュは GPU メモリを節約する」"),
        learn(
            "It saves computation and costs memory: 1 GiB for one request of 4,096 tokens",
            ("節約するのは計算で、メモリは余分に使います", "リクエスト 1 件で 1 GiB"),
        ),
    ),
    "S18": (
        on(
            "live",
            ("use_cache=False", "for experiments like this one only", "that nobody left it off"),
            ("use_cache=False", "実験のためだけの設定", "無効のままになっていないか"),
        ),
    ),
    # --- systems named -----------------------------------------------------------------------------------------------
    "S19": (
        learn(
            ("generate of Transformers keeps a cache by default (use_cache=True)",),
            ("Transformers の generate は既定でキャッシュを使います（use_cache=True）",),
        ),
        on(
            "live",
            ("grows with the tokens (DynamicCache)", "Transformers 5.24.0"),
            ("トークンとともに増加（DynamicCache）", "Transformers 5.24.0"),
        ),
        on(
            "live",
            "Residual 0 B: measured equals predicted in all 300 steps",
            "差 0 B：300 ステップすべてで実測と予測が一致",
        ),
    ),
    "S20": (
        sizing(
            "vllm serve Qwen/Qwen3-32B-FP8 --max-model-len 4096 --gpu-memory-utilization 0.9",
            "vllm serve Qwen/Qwen3-32B-FP8 --max-model-len 4096 --gpu-memory-utilization 0.9",
            tab=tabs.LAUNCH,
            memory_fraction="0.9",
        ),
        sizing(("33 of 50 fit", "vLLM 0.33"), ("50 件中 33 件", "vLLM 0.33"), tab=tabs.LAUNCH, memory_fraction="0.9"),
    ),
    "S21": (
        sizing(
            ("40 of 50 fit", "4,096 tokens, TensorRT-LLM."),
            ("50 件中 40 件", "4,096 トークン、TensorRT-LLM。"),
            engine="tensorrt-llm",
        ),
    ),
    "S22": (
        learn(
            ('cache_implementation="quantized"', '"nbits": 4'),
            ('cache_implementation="quantized"', '"nbits": 4'),
        ),
        sizing(
            ("INT4 cache", "1 GiB → 272 MiB", "a loss of quality is likelier than with 8"),
            ("INT4 キャッシュ", "1 GiB → 272 MiB", "8 ビットより品質が下がりやすく"),
            tab=tabs.WHAT_IF,
        ),
        on("live", ("Kind of cache", "quantised, fp8"), ("キャッシュの種類", "量子化、fp8")),
    ),
    "S23": (
        learn(
            (
                "each GPU keeps its own KV heads and nothing is moved",
                "512 MiB a request on each of 2",
                "a latent is copied",
            ),
            ("GPU ごとに自分の KV ヘッドを持ち、移動はありません", "1 件 512 MiB", "潜在ベクトルは複製されます"),
        ),
        sizing(
            ("TP 2 (this one) | 71 | 512 MiB | none",),
            ("TP 2（現在） | 71 | 512 MiB | なし",),
            tab=tabs.WHAT_IF,
            gpus="2",
            **BF16,
        ),
        sizing(
            ("TP 8 (this one) | 162 | 274 MiB | 8×",),
            ("TP 8（現在） | 162 | 274 MiB | 8 重",),
            tab=tabs.WHAT_IF,
            **R1,
        ),
    ),
    "S24": (
        learn(
            (
                "all three can be used together",
                "Prompt caching is the stored KV of a prefix underneath, billed per token",
            ),
            ("3 つを併用できます", "保存されたプレフィックスの K と V", "トークン単位で課金"),
        ),
        learn(
            ("Prompt caching, at the provider of an API", "automatic, or on a mark in the request"),
            ("プロンプトキャッシュ（API 事業者の側）", "自動、またはリクエストで指定"),
        ),
        learn(
            ("Embedding cache, in the application", "RAG"),
            ("埋め込みキャッシュ（アプリケーション）", "RAG"),
        ),
    ),
    "S25": (
        learn(
            (
                "as old as the Transformer (2017)",
                "GPT-2's first published code (2019) has it",
                "how the memory is managed",
            ),
            ("Transformer（2017 年）", "GPT-2 の最初の公開コード（2019 年）", "新しいのはメモリの管理方法"),
        ),
    ),
    "S26": (
        learn(("Long generation", "output counts like the input"), ("長文の生成", "出力も入力と同じように")),
        learn("Chat with its history, streamed", "履歴を持つチャット（ストリーミング）"),
        learn(
            ("RAG | retrieved passages multiply the input | 15",), ("RAG | 検索した文書が入力を何倍にもします | 15",)
        ),
        learn(("Self-hosted serving", "34"), ("自社での運用", "34")),
    ),
    "S27": (
        learn(
            (
                "327,680 B a token: 9.77 GiB at 32,000 tokens, 10 GiB (10.7 GB) at 32,768",
                "FP32 (21.5 GB)",
                "MHA at 8,192 to 16,384 tokens",
                "Llama 3 70B stops at 8,192 tokens; 3.1 reaches 131,072",
            ),
            (
                "1 トークン 327,680 B で、32,000 トークンで 9.77 GiB、32,768 トークンで 10 GiB（10.7 GB）",
                "FP32（21.5 GB）",
                "8,192～16,384 トークン",
                "Llama 3 70B は 8,192 トークンまで",
                "131,072 まで扱えるのは 3.1",
            ),
        ),
        learn("“Llama 3 70B at 32K takes 20–40 GB per request.”", "「Llama 3 70B は 32K で 1 件 20～40 GB」"),
        on(
            "review",
            ("Right here: 10 GiB (10.7 GB) for one request",),
            ("正しくは、1 リクエストで 10 GiB (10.7 GB) です",),
            claim="20–40 GB",
            **LLAMA,
        ),
        on(
            "review",
            "FP32 (4 B a value) gives 20 GiB (21.5 GB)",
            "FP32（1 値 4 B）：1 リクエストで 20 GiB (21.5 GB)",
            claim="20–40 GB",
            **LLAMA,
        ),
    ),
    # --- added -------------------------------------------------------------------------------------------------------
    "S28": (
        learn("In 30 seconds", "30 秒でわかる要点"),
        learn(
            ("Without it every step repeats all earlier work",),
            ("なければ、ステップごとにそれまでの計算を繰り返します",),
        ),
        learn(
            ("grows with layers, KV heads, head size, bytes per value, context length and requests in flight",),
            ("レイヤー数、KV ヘッド数、ヘッドの次元、値 1 個のバイト数、コンテキスト長、同時リクエスト数",),
        ),
        learn(
            "It can exceed the weights: here from 32 such requests on",
            "この例では 32 件から重み（31.97 GiB）を上回ります",
        ),
        learn(
            (
                "Four levers of two kinds.",
                "GQA, MLA",
                "KV quantisation",
                "capped context",
                "paging, and shared prefixes",
            ),
            (
                "2 種類、4 つ",
                "GQA、MLA",
                "キャッシュの量子化",
                "コンテキスト長の制限",
                "ページング、プレフィックスの共有",
            ),
        ),
    ),
    "S29": (
        learn(
            ("a token looks only back, never ahead (causality)", "its key and value stay valid"),
            ("自分より前のトークンだけを参照し、後のトークンは参照しません（因果性）", "そのまま使い続けられます"),
        ),
        learn("each query is used once", ("クエリ", "1 回だけ使われます")),
    ),
    "S30": (
        # 46 with windows or states, and one with chunks
        learn(
            (
                "holds for layers of full attention",
                "Windows stop growing",
                "chunks begin anew, and states never grow: 47 of the 168",
                "46 windows or states",
            ),
            (
                "フルアテンションのレイヤー",
                "途中で増えなくなり",
                "状態の大きさは一定",
                "config 168 件のうち 47 件",
                "ウィンドウまたは状態は 46 件",
            ),
        ),
        sizing(
            ("No single rate per token holds for this model", "416 MiB", "80 KiB per token"),
            ("1 トークンあたりの値だけでは表せません", "416 MiB", "1 トークンあたり 80 KiB"),
            model="google/gemma-3-27b-it",
            gpu="h200",
            input="130048",
        ),
    ),
    "S31": (
        # 30.5 GiB less of weights on two H200: about a sixth more; on one H100 the weights were nearly all there is
        learn(
            (
                "on 2 × H200, 183 → 212 requests of 4,096 tokens (+16%)",
                "on 1 × H100, 5 → 34",
                "61 GiB of BF16 weights leave 5.66 GiB for the cache, and FP8 weights 34.7 GiB",
            ),
            (
                "H200 2 基では 4,096 トークンのリクエストが 183 → 212 件（+16%）",
                "H100 1 基では",
                "5.66 GiB",
                "34.7 GiB",
                "5 → 34 件",
            ),
        ),
        sizing(("FP8 weights | 34",), ("FP8 の重み | 34",), tab=tabs.WHAT_IF, **BF16),
    ),
    "S32": (
        learn("Token computations, n tokens | n(n+1)/2 | n", "トークンの計算、n トークン | n(n+1)/2 | n"),
        learn("Token computations, 8 tokens | 36 | 8", "トークンの計算、8 トークン | 36 | 8"),
        learn("Token computations, 1,000 tokens | 500,500 | 1,000", "トークンの計算、1,000 トークン | 500,500 | 1,000"),
        learn(("≈ n³/3 | n(n+1)/2 ≈ n²/2",), ("≈ n³/3 | n(n+1)/2 ≈ n²/2",)),
        # 1² + 2² + … + 1,000² and 1 + 2 + … + 1,000
        learn("1,000 tokens | 333,833,500 | 500,500", "1,000 トークン | 333,833,500 | 500,500"),
        learn(
            ("Why only 4.7×, with 500 times fewer token computations?", "in parallel", "waits for memory"),
            ("約 500 分の 1 なのに、なぜ 4.7 倍なのか", "並列に計算", "メモリから届くのを待ちます"),
        ),
        learn("After step 8: 36 against 8 token computations", "ステップ 8 までのトークンの計算は 36 回と 8 回"),
        on(
            "live",
            ("Why 500 times fewer token computations give only about 5 times", "decoding waits for memory"),
            ("500 分の 1 でも、速度は約 5 倍", "デコードはメモリを待っています"),
        ),
    ),
    "S33": (
        learn(
            ("write notes on each word once, and look them up", "reread the book"),
            ("単語ごとのメモを一度だけノートに書き", "最初から読み直す"),
        ),
        learn("the notebook is the KV cache", "ノートが KV キャッシュ"),
    ),
    "S34": (
        learn(
            "“2,000 tokens: 1 s with the cache, over a minute without.”",
            "「2,000 トークンの生成が、キャッシュありで 1 秒、なしで 1 分以上」",
        ),
        learn(
            ("More than 60× does not go with the 4.7× quoted for 1,000 tokens", "its conditions are not given"),
            ("60 倍以上という差は、1,000 トークンで 4.7 倍という引用値と合いません", "条件の記載がない引用値"),
        ),
    ),
    "S35": (
        learn(
            ("model.generate(", 'cache_implementation="quantized"', 'cache_config={"backend": "quanto", "nbits": 4}'),
            ("model.generate(", 'cache_implementation="quantized"', 'cache_config={"backend": "quanto", "nbits": 4}'),
        ),
    ),
    "S36": (learn("A one-off test on one machine does not need vLLM", "一度きりのテストに vLLM は不要です"),),
    "S37": (
        learn("Does vLLM reserve the maximum length for every request?", "vLLM は全リクエストに最大長を確保する？"),
        # 2 × 28 layers × 4 heads × 128 × 2 B, and 3,072 tokens of it: as measured in the question
        learn(
            ("57,344 B a token, 168 MiB for 3,072 tokens", "28 times"),
            ("57,344 B で、3,072 トークンで 168 MiB", "28 倍"),
        ),
        learn(("512 KiB a token", "128 KiB", "4 times"), ("512 KiB", "128 KiB", "4 倍")),
        learn("2017 | Transformer", "2017 | Transformer"),
        learn("2019 | MQA", "2019 | MQA"),
        learn("2023 | GQA", "2023 | GQA"),
        learn("2023 | PagedAttention", "2023 | PagedAttention"),
        learn("2024 | MLA", "2024 | DeepSeek-V2 の MLA"),
        learn("2025 | Hybrids", "2025 | ハイブリッド"),
        learn("Kwon et al. 2023, PagedAttention (SOSP '23)", "Kwon et al. 2023, PagedAttention (SOSP '23)"),
        learn(("KV cache | KV キャッシュ（ケーブイキャッシュ）",), ("KV cache | KV キャッシュ（ケーブイキャッシュ）",)),
    ),
    "S38": (
        learn(
            ("there is a floor", "At least 21.1 ms a decode step", "3,350 GB/s", "not a prediction"),
            ("時間に下限があります", "最短でも 21.1 ms", "3,350 GB/s", "予測ではなく下限です"),
        ),
        sizing(
            ("At least 21.1 ms a decode step", "34 GiB of cache", "3,350 GB/s"),
            ("最短でも 21.1 ms", "キャッシュ 34 GiB", "3,350 GB/s"),
        ),
    ),
}
"""By the fact's number."""


@cache
def shown(page: str, query: Query, folded: Text | str, lang: Lang) -> tuple[str, ...]:
    """What can be read on a page, element by element, without markup."""
    state: dict[str, object] = {}
    if isinstance(folded, Text):
        state["tabs"] = folded(lang)
    elif folded:
        state[folded] = True
    app = opened(open_page(page, state, lang=lang, **dict(query)), "popover")
    return tuple(re.sub(r"\s+", " ", plain(element)) for element in elements(app))


def elements(app: AppTest) -> Iterator[str]:
    """Paragraphs, rows of tables, labels, and what charts and drawings say to those who cannot see them."""
    for kind in ("markdown", "caption", "header", "subheader", "code", "warning", "info"):
        for element in getattr(app, kind):
            # of a list each item is a statement of its own
            yield from re.split(r"\n(?=- )", element.value)
    for table in app.table:
        for row in table.value.itertuples(index=False):
            yield " | ".join(str(cell) for cell in row)
    for metric in app.metric:
        yield f"{metric.label}: {metric.value}"
    for panel in app.expander:
        yield panel.label
    for choice in app.selectbox:
        yield f"{choice.label}: {', '.join(choice.options)}"
    for chart in app.get("plotly_chart"):
        yield chart.proto.alt


def plain(markdown: str) -> str:
    """The words alone."""
    without_links = re.sub(r"\]\((?:[^()]|\([^()]*\))*\)", "", markdown.replace(PARTED, ""))
    without_links = without_links.replace("[", "").replace("]", "")
    return re.sub(r"\\(.)", r"\1", without_links.replace("**", "").replace("`", ""))


def test_there_are_all_38() -> None:
    assert list(FACTS) == [f"S{number}" for number in range(1, 39)]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("fact", FACTS)
def test_the_fact_can_be_pointed_at(fact: str, lang: Lang) -> None:
    for look in FACTS[fact]:
        read = shown(look.page, look.query, look.opened, lang)
        phrases = look.en if lang == "en" else look.ja
        if not any(all(phrase in element for phrase in phrases) for element in read):
            missing = [phrase for phrase in phrases if not any(phrase in element for element in read)]
            pytest.fail(f"{look.page} {dict(look.query)}: not in one element: {phrases}; nowhere: {missing}")
