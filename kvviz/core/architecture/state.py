"""Layers with a fixed state a sequence: Mamba, gated delta rule, KDA, linear attention, short convolution, RWKV.

Shapes as in vLLM ``model_executor/layers/mamba/mamba_utils.py:154-330``. A state dtype of ``model`` is the model's own
16-bit type.
"""

from kvviz.core.architecture.attention import (
    HIDDEN_NAMES,
    LIST_NAMES,
    Kind,
    choose,
    head_dim,
    kv_heads,
    layer_count,
    listed_kinds,
    query_heads,
    read_attention,
    read_heads,
)
from kvviz.core.architecture.fields import MAX_LAYERS, Fields, shown
from kvviz.core.architecture.latent import is_latent, latent_cache
from kvviz.core.cache import FullAttention, Layer, RecurrentState, StateDtype
from kvviz.text import config as texts

PATTERN_LETTERS: dict[str, Kind] = {"M": "state", "*": "full", "-": "none", "E": "none"}
"""Nemotron-H: Mamba, attention, MLP, experts."""

DTYPE_OWNERS = {
    "NemotronHForCausalLM",
    "NemotronHPuzzleForCausalLM",
    "NemotronH_Nano_VL_V2",
    "Qwen3_5ForCausalLM",
    "Qwen3_5ForConditionalGeneration",
    "Qwen3_5MoeForCausalLM",
    "Qwen3_5MoeForConditionalGeneration",
    "ColQwen3_5",
}
"""Classes for which vLLM takes the recurrent dtype from the file; not every wrapper around them
(``model_executor/models/config.py``, MODELS_CONFIG_MAP)."""


def _hidden(text: Fields) -> int:
    return text.need(*HIDDEN_NAMES, term="hidden_size", stand_in=0)


def _kernel(text: Fields, *names: str) -> int:
    """Past inputs a convolution keeps: its kernel less the input it is at."""
    return text.need(*names, term="conv_kernel", high=1024) - 1


def _expanded(text: Fields, *names: str) -> int:
    """``expand x hidden size``: the mixer's width."""
    expand = text.need(*names, term="state_expand", high=1024)
    hidden = _hidden(text)
    return text.derive("state_width", expand * hidden, f"{names[0]} * hidden_size = {expand} * {hidden}")


def _hybrid(text: Fields, kinds: tuple[Kind, ...], state: RecurrentState | None) -> tuple[Layer, ...]:
    """Attention and state layers as ``kinds`` says; attention fields are read only where a layer has attention."""
    has_attention = any(kind not in ("state", "none") for kind in kinds)
    if has_attention and is_latent(text):
        cache = latent_cache(text)
        attention: list[Layer] = [(cache,) if kind == "full" else () for kind in kinds]
    elif has_attention:
        heads = read_heads(text, kinds)
        attention = [heads.layer(kind) for kind in kinds]
    else:
        attention = [()] * len(kinds)
    states: Layer = () if state is None else (state,)
    return tuple(
        (*layer, *states) if kind in ("state", "both") else layer for layer, kind in zip(attention, kinds, strict=True)
    )


def _every(layers: int, interval: int, offset: int = -1) -> tuple[Kind, ...]:
    """Attention where ``i % interval`` is the offset (the last of each group by default), states elsewhere."""
    return choose("full", (i % interval == offset % interval for i in range(layers)), "state")


def _any_state(kinds: tuple[Kind, ...]) -> bool:
    return "state" in kinds or "both" in kinds


# --- Mamba ---------------------------------------------------------------------------------------------------------


def _mamba1(width: int, state_size: int, columns: int) -> RecurrentState:
    return RecurrentState(
        mixer="mamba1", conv_channels=width, conv_columns=columns, heads=width, values_per_head=state_size
    )


def read_mamba(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Mamba, Falcon-Mamba: ``intermediate_size`` is the width, whatever ``expand`` says."""
    width = text.find("intermediate_size", term="state_width") or _expanded(text, "expand")
    state = _mamba1(width, text.need("state_size"), _kernel(text, "conv_kernel"))
    return ((state,),) * layer_count(text)


def read_mamba2(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Mamba-2, every layer a state."""
    state_size = text.need("state_size")
    heads = text.need("num_heads", term="state_heads")
    state = RecurrentState(
        mixer="mamba2",
        conv_channels=_expanded(text, "expand"),
        conv_groups=text.need("n_groups", term="state_groups"),
        conv_channels_per_group=2 * state_size,
        conv_columns=_kernel(text, "conv_kernel"),
        heads=heads,
        values_per_head=text.need("head_dim", term="state_head_dim") * state_size,
    )
    return ((state,),) * layer_count(text)


def read_jamba(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Jamba: attention every ``attn_layer_period`` layers, Mamba-1 elsewhere."""
    layers = layer_count(text)
    kinds = listed_kinds(text, layers, "state", "full")
    if kinds is None:
        period = text.need("attn_layer_period", high=MAX_LAYERS)
        kinds = _every(layers, period, text.need("attn_layer_offset", low=0, high=MAX_LAYERS))
    state = _mamba1(_expanded(text, "mamba_expand"), text.need("mamba_d_state"), _kernel(text, "mamba_d_conv"))
    return _hybrid(text, kinds, state)


def read_nemotron_h(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Nemotron-H: a pattern of letters or words; MLP and expert layers keep nothing."""
    kinds = _nemotron_kinds(text)
    state = None
    if _any_state(kinds):
        state_size = text.need("ssm_state_size", "mamba_state_dim", "mamba_d_state", term="state_size")
        heads = text.need("mamba_num_heads", term="state_heads")
        dim = text.need("mamba_head_dim", term="state_head_dim")
        state = RecurrentState(
            mixer="mamba2",
            conv_channels=text.derive(
                "state_width", heads * dim, f"mamba_num_heads * mamba_head_dim = {heads} * {dim}"
            ),
            conv_groups=text.need("n_groups", "mamba_num_groups", "mamba_n_groups", term="state_groups"),
            conv_channels_per_group=2 * state_size,
            conv_columns=_kernel(text, "conv_kernel", "mamba_d_conv"),
            heads=heads,
            values_per_head=dim * state_size,
            recurrent_dtype=_recurrent_dtype(text, root, "mamba_ssm_cache_dtype", silent="fp32"),
        )
    return _hybrid(text, kinds, state)


def _nemotron_kinds(text: Fields) -> tuple[Kind, ...]:
    # The last Nemotron-3 files give no count: the list is the count.
    layers = layer_count(text) if text.has("num_hidden_layers") else 0
    pattern = text.word("hybrid_override_pattern")
    if pattern is None:
        kinds = listed_kinds(text, layers, "state", "full", "none")
        if kinds is None:
            text.missing("hybrid_override_pattern", *LIST_NAMES)
            return ()
    else:
        letters = text.words("hybrid_override_pattern", length=layers) or ()
        for index, letter in enumerate(letters):
            if letter not in PATTERN_LETTERS:
                text.problem(texts.NOT_A_KIND, "hybrid_override_pattern", index, value=shown(letter))
        kinds = tuple(PATTERN_LETTERS.get(letter, "none") for letter in letters)
    if not layers:
        text.derive("layers", len(kinds), "entries of the layer pattern")
    return kinds


def read_granite_hybrid(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Granite 4 Hybrid, Bamba, Falcon-H1: Mamba-2 beside or between attention layers."""
    layers = layer_count(text)
    kinds = _granite_kinds(text, layers)
    return _hybrid(text, kinds, _granite_state(text) if _any_state(kinds) else None)


def _granite_kinds(text: Fields, layers: int) -> tuple[Kind, ...]:
    kinds = listed_kinds(text, layers, "state", "full", "both")
    if kinds is not None:
        return kinds
    if text.model_type == "falcon_h1":
        return choose("both", (True for _ in range(layers)))
    full = _layer_numbers(text, "attn_layer_indices", layers) or ()
    return choose("full", (i in full for i in range(layers)), "state")


def _granite_state(text: Fields) -> RecurrentState:
    heads = text.need("mamba_n_heads", term="state_heads", stand_in=0)
    state_size = text.need("mamba_d_state", term="state_size")
    auto = text.value("mamba_d_head") == "auto"
    dim = None if auto else text.find("mamba_d_head", term="state_head_dim")
    if text.model_type == "falcon_h1":
        dim = dim or text.need("mamba_d_head", term="state_head_dim")
        width = text.find("mamba_d_ssm", term="state_width") or text.derive(
            "state_width", heads * dim, f"mamba_n_heads * mamba_d_head = {heads} * {dim}"
        )
    else:
        width = _expanded(text, "mamba_expand")
        dim = dim or text.divide("state_head_dim", width, heads, "state_width // mamba_n_heads", "mamba_n_heads")
    return RecurrentState(
        mixer="mamba2",
        conv_channels=width,
        conv_groups=text.need("mamba_n_groups", term="state_groups"),
        conv_channels_per_group=2 * state_size,
        conv_columns=_kernel(text, "mamba_d_conv"),
        heads=heads,
        values_per_head=dim * state_size,
    )


def read_zamba(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Zamba, Zamba 2: Mamba in every layer; each hybrid layer adds a cache, though the attention weights are shared."""
    layers = layer_count(text)
    kinds = _zamba_kinds(text, layers)
    if text.model_type == "zamba":
        width = _expanded(text, "mamba_expand")
        state = _mamba1(width, text.need("mamba_d_state"), _kernel(text, "mamba_d_conv"))
    else:
        width = _expanded(text, "mamba_expand", "expansion_factor")
        state_size = text.need("mamba_d_state", "state_size", term="state_size")
        dim = text.need("mamba_headdim", term="state_head_dim", stand_in=0)
        heads = text.find("n_mamba_heads", term="state_heads") or text.divide(
            "state_heads", width, dim, "state_width // mamba_headdim", "mamba_headdim"
        )
        state = RecurrentState(
            mixer="mamba2",
            conv_channels=width,
            conv_groups=text.need("mamba_ngroups", term="state_groups"),
            conv_channels_per_group=2 * state_size,
            conv_columns=_kernel(text, "mamba_d_conv", "conv_dimension"),
            heads=heads,
            values_per_head=dim * state_size,
        )
    heads = query_heads(text)
    how = "2 * hidden_size // num_attention_heads"
    own_dim = text.find("attention_head_dim", term="head_dim") or text.divide(
        "head_dim", 2 * _hidden(text), heads, how, "num_attention_heads"
    )
    cache = FullAttention(kv_heads=kv_heads(text, heads), key_dim=own_dim, value_dim=own_dim)
    return tuple((cache, state) if kind == "both" else (state,) for kind in kinds)


def _zamba_kinds(text: Fields, layers: int) -> tuple[Kind, ...]:
    kinds = listed_kinds(text, layers, "state", "both")
    if kinds is not None:
        return kinds
    listed = _layer_numbers(text, "hybrid_layer_ids", layers)
    if listed is None:
        period = text.need("attn_layer_period", high=MAX_LAYERS)
        offset = text.need("attn_layer_offset", low=0, high=MAX_LAYERS)
        listed = (2, *(i + 3 for i in range(layers - 3) if i % period == offset))
    return choose("both", (i in listed for i in range(layers)), "state")


def read_plamo2(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """PLaMo 2: attention once per ``mamba_step`` layers, in the middle of the step."""
    layers = layer_count(text)
    step = text.need("mamba_step", high=MAX_LAYERS)
    kinds = _every(layers, step, step // 2)
    if 0 < layers <= step // 2:
        kinds = choose("full", (i == layers - 1 for i in range(layers)), "state")
    heads = text.need("mamba_num_heads", term="state_heads")
    dim = text.need("hidden_size_per_head", term="state_head_dim")
    state = RecurrentState(
        mixer="mamba2",
        conv_channels=text.derive("state_width", heads * dim, "mamba_num_heads * hidden_size_per_head"),
        conv_columns=_kernel(text, "mamba_d_conv"),
        heads=heads,
        values_per_head=dim * text.need("mamba_d_state", term="state_size"),
    )
    return _hybrid(text, kinds, state)


def read_phi4flash(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """SambaY: Mamba-1 and windows in turn for the first half, one full cache, and layers that reuse it."""
    layers = layer_count(text)
    half = layers // 2
    state = _mamba1(_expanded(text, "mamba_expand"), text.need("mamba_d_state"), _kernel(text, "mamba_d_conv"))
    kinds: list[Kind] = []
    for i in range(layers):
        if i > half + 1:
            kinds.append("none")
        elif i % 2 == 0:
            kinds.append("state")
        else:
            kinds.append("window" if i < half else "full")
    text.note("shared-layers", texts.SHARED_LAYERS, count=kinds.count("none"))
    return _hybrid(text, tuple(kinds), state)


# --- Linear attention ----------------------------------------------------------------------------------------------


def read_gated_delta(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Gated DeltaNet beside attention: Qwen3-Next, Qwen3.5, OLMo hybrid."""
    layers = layer_count(text)
    kinds = listed_kinds(text, layers, "state", "full")
    if kinds is None:
        kinds = _every(layers, text.need("full_attention_interval", high=MAX_LAYERS))
    return _hybrid(text, kinds, _gated_delta_state(text, root) if _any_state(kinds) else None)


def _gated_delta_state(text: Fields, root: Fields) -> RecurrentState:
    key_heads = text.find("linear_num_key_heads", term="state_key_heads")
    value_heads = text.find("linear_num_value_heads", term="state_heads")
    if key_heads is None or value_heads is None:  # OLMo hybrid: the query heads
        key_heads = key_heads or query_heads(text)
        value_heads = value_heads or query_heads(text)
    key_dim = text.find("linear_key_head_dim", term="state_key_dim") or text.derive(
        "state_key_dim", 3 * _hidden(text) // (4 * (key_heads or 1)), "3/4 * hidden_size / linear_num_key_heads"
    )
    value_dim = text.find("linear_value_head_dim", term="state_value_dim") or text.derive(
        "state_value_dim", 2 * key_dim, "2 * linear_key_head_dim"
    )
    return RecurrentState(
        mixer="gated_delta",
        conv_channels=2 * key_dim * key_heads + value_dim * value_heads,
        conv_columns=_kernel(text, "linear_conv_kernel_dim"),
        heads=value_heads,
        values_per_head=value_dim * key_dim,
        recurrent_dtype=_recurrent_dtype(text, root, "mamba_ssm_dtype", silent="model"),
    )


def read_kimi_linear(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Kimi Delta Attention; ``full_attn_layers`` counts from 1."""
    layers = layer_count(text)
    linear = text.part("linear_attn_config")
    if linear is None:  # as transformers 5 writes it
        kinds = listed_kinds(text, layers, "state", "full")
        if kinds is None:
            text.missing("linear_attn_config", "layer_types")
            return ()
        heads, dim = text.need("linear_num_heads", term="state_heads"), text.need("linear_head_dim")
        columns = _kernel(text, "linear_conv_kernel_dim")
        return _hybrid(text, kinds, _kda_state(heads=heads, dim=dim, columns=columns, bounded=False))
    full = _layer_numbers(linear, "full_attn_layers", layers, first=1)
    states = _layer_numbers(linear, "kda_layers", layers, first=1)
    if full is None and states is None:
        linear.missing("full_attn_layers", "kda_layers")
    elif full is None:
        full = tuple(set(range(1, layers + 1)) - set(states or ()))
    elif layers and states is not None and set(states) != set(range(1, layers + 1)) - set(full):
        linear.problem(texts.NOT_COMPLEMENTARY, "kda_layers")
    kinds = choose("full", (i in (full or ()) for i in range(1, layers + 1)), "state")
    state = _kda_state(
        heads=linear.need("num_heads", term="state_heads"),
        dim=linear.need("head_dim", term="state_head_dim"),
        columns=_kernel(linear, "short_conv_kernel_size"),
        bounded=linear.has("gate_lower_bound"),
    )
    return _hybrid(text, kinds, state)


def _kda_state(*, heads: int, dim: int, columns: int, bounded: bool) -> RecurrentState:
    return RecurrentState(
        mixer="kda",
        conv_channels=3 * heads * dim,
        conv_columns=columns,
        heads=heads,
        values_per_head=dim * dim,
        recurrent_dtype="fp32",
        flash_kda=bounded,
    )


def read_minimax(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """MiniMax-Text-01, M1: ``attn_type_list``, 0 linear and 1 softmax."""
    layers = layer_count(text)
    kinds = listed_kinds(text, layers, "state", "full")
    if kinds is None:
        listed = text.numbers("attn_type_list", length=layers, high=1)
        if listed is None:
            text.missing("attn_type_list", "layer_types")
            return ()
        kinds = choose("full", (bool(softmax) for softmax in listed), "state")
    return _hybrid(text, kinds, _linear_state(text))


def read_bailing(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Ling and Ring: softmax or latent attention closes each group of layers, linear attention (or KDA) fills it."""
    layers = layer_count(text)
    kinds = listed_kinds(text, layers, "state", "full")
    kda = text.has("short_conv_kernel_size", "kda_lower_bound")
    if kinds is None:
        group = text.need("layer_group_size", high=MAX_LAYERS)
        # The last, incomplete group is softmax throughout, but linear where lightning stands beside latent attention
        # (vLLM bailing_moe_linear.py:68, bailing_moe_v3.py:131).
        tail = layers - layers % group if kda or not is_latent(text) else layers
        kinds = choose("full", ((i + 1) % group == 0 or i >= tail for i in range(layers)), "state")
    if kda:
        heads = query_heads(text)
        state = _kda_state(
            heads=heads,
            dim=head_dim(text, heads),
            columns=_kernel(text, "short_conv_kernel_size"),
            bounded=text.has("kda_lower_bound"),
        )
    else:
        state = _linear_state(text)
    return _hybrid(text, kinds, state)


def _linear_state(text: Fields) -> RecurrentState:
    """One ``head_dim x head_dim`` matrix per query head."""
    heads = query_heads(text)
    return RecurrentState(mixer="linear", heads=heads, values_per_head=head_dim(text, heads) ** 2)


# --- Convolutions, RWKV --------------------------------------------------------------------------------------------


def read_lfm2(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """LFM2: short convolutions between attention layers."""
    layers = layer_count(text)
    kinds = listed_kinds(text, layers, "state", "full")
    if kinds is None:
        full = _layer_numbers(text, "full_attn_idxs", layers)
        if full is None:
            text.missing("layer_types", "full_attn_idxs")
        kinds = choose("full", (i in (full or ()) for i in range(layers)), "state")
    state = RecurrentState(
        mixer="short_conv",
        conv_channels=text.find("conv_dim", term="conv_channels") or _hidden(text),
        conv_columns=_kernel(text, "conv_L_cache"),
    )
    return _hybrid(text, kinds, state)


def read_rwkv(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """RWKV 5 to 7: two shifted rows and one ``head_size x head_size`` matrix a head, in fp32."""
    hidden = _hidden(text)
    head_size = text.need("head_size", "head_dim", term="state_head_dim", stand_in=0)
    where = text.named("head_size", "head_dim")
    state = RecurrentState(
        mixer="rwkv",
        conv_channels=hidden,
        conv_columns=2,
        heads=text.divide("state_heads", hidden, head_size, "hidden_size // head_size", where),
        values_per_head=head_size * head_size,
        conv_dtype="fp32",
        recurrent_dtype="fp32",
    )
    return ((state,),) * layer_count(text)


def read_rwkv4(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """RWKV 4: two shifted rows, and numerator, denominator and exponent of the running mean, in fp32."""
    hidden = _hidden(text)
    state = RecurrentState(
        mixer="rwkv",
        conv_channels=hidden,
        conv_columns=2,
        heads=text.find("attention_hidden_size", term="state_heads") or hidden,
        values_per_head=3,
        conv_dtype="fp32",
        recurrent_dtype="fp32",
    )
    return ((state,),) * layer_count(text)


def read_yuan(text: Fields, root: Fields) -> tuple[Layer, ...]:
    """Yuan 2: plain attention, and a local filter that keeps two hidden rows a layer."""
    rows = RecurrentState(mixer="local_filter", conv_channels=_hidden(text), conv_columns=2)
    return tuple((*layer, rows) for layer in read_attention(text))


# --- Small readers -------------------------------------------------------------------------------------------------


def _layer_numbers(text: Fields, name: str, layers: int, *, first: int = 0) -> tuple[int, ...] | None:
    """Layer numbers, each of which must exist."""
    numbers = text.numbers(name, low=first, high=MAX_LAYERS)
    for index, number in enumerate(numbers or ()):
        if layers and number >= layers + first:
            text.problem(texts.OUTSIDE_LAYERS, name, index, value=number, layers=layers)
    return numbers


def _recurrent_dtype(text: Fields, root: Fields, name: str, *, silent: StateDtype) -> StateDtype:
    """The recurrent state's dtype as the file gives it, where vLLM reads it."""
    names = root.value("architectures")
    owner = names[0] if isinstance(names, list) and names and isinstance(names[0], str) else ""
    if owner and owner not in DTYPE_OWNERS:
        return "model"
    word = text.word(name, term="state_dtype")
    if word is None:
        if silent == "model" and text.model_type.startswith("qwen3_5"):
            text.note("state-dtype-silent", texts.STATE_DTYPE_SILENT, field=name)
        return silent
    if word.removeprefix("torch.") in ("float32", "fp32", "float"):
        return "fp32"
    if word.removeprefix("torch.") not in ("bfloat16", "float16", "bf16", "fp16", "half", "auto"):
        text.problem(texts.NOT_A_KIND, name, value=shown(word))
    return "model"
