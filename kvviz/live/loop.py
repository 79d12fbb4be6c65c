"""Generating token by token and measuring at rest: the one loop, whatever the model, the cache and the device."""

import inspect
from collections.abc import Callable, Iterator
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from kvviz.core.errors import KvvizError
from kvviz.live.measure import cache_storages, probe
from kvviz.live.model import Loaded, device_name, too_large, versions
from kvviz.live.paged import PagedPool
from kvviz.live.prediction import encoder_tokens, predict
from kvviz.live.request import LiveRequest, check_length, check_reserved
from kvviz.live.sample import Ended, Sample, Started
from kvviz.text import LANGUAGES, Message
from kvviz.text import live as text

if TYPE_CHECKING:
    import torch
    import transformers

_REPLACED: Final = "\ufffd"
"""What a tokenizer writes for half a character."""


def run(
    loaded: Loaded,
    request: LiveRequest,
    *,
    max_tokens: int,
    max_seconds: float,
    cancelled: Callable[[], bool] = lambda: False,
) -> Iterator[Started | Sample | Ended]:
    """One run: how it begins, a sample after the prompt and after every step, how it ended. Raises KvvizError.

    The cache is given back by the time ``Ended`` is told, and also where the caller goes no further.
    """
    import torch

    steps = _Steps(loaded, request, max_tokens)
    yield steps.started
    probed = probe(loaded.device)
    begun = perf_counter()
    stopped = "tokens"
    try:
        for number in range(request.new_tokens):
            if cancelled():
                stopped = "cancelled"
                break
            if perf_counter() - begun > max_seconds:
                stopped = "seconds"
                break
            probed.begin()
            step_begun = perf_counter()
            with torch.inference_mode():
                steps.take()
            probed.end()
            seconds = round(perf_counter() - step_begun, 6)
            remembered, counters = cache_storages(steps.cache)
            tokens = steps.prompt_tokens + number
            yield Sample(
                tokens=tokens,
                new_tokens=number + 1,
                predicted_bytes=None if steps.prediction is None else steps.prediction(tokens),
                measured_bytes=sum(remembered),
                used_bytes=steps.used_bytes(),
                counter_bytes=sum(counters),
                rounding_bytes=probed.rounding((*remembered, *counters)),
                seconds=seconds,
                text=steps.piece(),
                memory=probed.memory(),
            )
    finally:
        lasted = perf_counter() - begun
        steps.let_go()
        probed.give_back()
    yield Ended(stopped=stopped, seconds=lasted, after=probed.memory())


class _Steps:
    """The state between two steps: what the model is fed next, and its cache."""

    def __init__(self, loaded: Loaded, request: LiveRequest, max_tokens: int) -> None:
        import torch

        self._loaded, model = loaded, loaded.model
        ids = _prompt(loaded, request)
        self.prompt_tokens = len(ids)
        check_length(self.prompt_tokens + request.new_tokens, max_tokens)
        check_reserved(request.reserve_tokens, self.prompt_tokens + request.new_tokens)
        self._all = torch.tensor([ids] * request.batch, device=loaded.device)
        self._next = self._all
        self._told = ""
        takes = inspect.signature(model.forward).parameters
        self._cache_name = next((n for n in ("cache", "past_key_values") if n in takes), "cache_params")
        self._more: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in takes else {}
        self._is_pair = bool(model.config.is_encoder_decoder)
        self._ids_name = "decoder_input_ids" if self._is_pair else "input_ids"
        self._never = _end_tokens(model)
        architecture = loaded.architecture
        encoder = 0 if isinstance(architecture, KvvizError) else encoder_tokens(architecture)
        longest = max(request.reserve_tokens, self.prompt_tokens + request.new_tokens)
        self.prediction, why = _prediction(loaded, request, self.prompt_tokens, longest)
        predicted = None
        if self.prediction is not None:
            lengths = range(self.prompt_tokens, self.prompt_tokens + request.new_tokens)
            predicted = tuple(self.prediction(n) for n in lengths)
            _must_fit(loaded, max(predicted))
        if self._is_pair:
            self._more["encoder_outputs"] = _encode(model, loaded.device, request.batch, encoder)
        self._pool: PagedPool | None = None
        if request.cache == "paged":
            self._pool = PagedPool(model, ids, batch=request.batch, longest_tokens=longest)
            self.cache: Any = self._pool.tensor
        else:
            self.cache = _cache(model, request.cache, longest)
        self.started = Started(
            model=loaded.name,
            random_weights=bool(loaded.why_random),
            why_random=loaded.why_random,
            device=device_name(loaded.device),
            dtype=loaded.dtype,
            cache=request.cache,
            batch=request.batch,
            layers=model.config.get_text_config(decoder=True).num_hidden_layers,
            parameters=loaded.parameters,
            weights_bytes=loaded.weights_bytes,
            prompt_tokens=self.prompt_tokens,
            new_tokens=request.new_tokens,
            encoder_tokens=encoder,
            predicted_bytes=predicted,
            why_not_predicted=None if why is None else {lang: why.message(lang) for lang in LANGUAGES},
            load_s=loaded.load_s,
            before_load=loaded.before_load,
            after_load=loaded.after_load,
            versions=versions(),
        )

    def take(self) -> None:
        """One step: the prompt first, then one token of each sequence; without a cache all of them, every time."""
        import torch

        if self._pool is not None:
            following = torch.tensor(self._pool.step(), device=self._loaded.device)
            self._all = torch.cat([self._all, following[:, None]], dim=-1)
            return
        kept = {self._cache_name: self.cache, "use_cache": True} if self.cache is not None else {"use_cache": False}
        fed = self._next if self.cache is not None else self._all
        logits = self._loaded.model(**{self._ids_name: fed}, **self._more, **kept).logits[:, -1]
        if self._never:  # an answer that ends early would measure nothing
            logits[:, self._never] = float("-inf")
        self._next = logits.argmax(-1, keepdim=True)
        self._all = torch.cat([self._all, self._next], dim=-1)

    def piece(self) -> str:
        """What the last token adds to the first sequence's text; nothing until a character is whole."""
        if self._loaded.tokenizer is None:
            return ""
        said: str = self._loaded.tokenizer.decode(self._all[0, self.prompt_tokens :], skip_special_tokens=True)
        if said.endswith(_REPLACED):
            return ""
        new, self._told = said[len(self._told) :], said
        return new

    def used_bytes(self) -> int | None:
        """Of a pool: what is handed out."""
        return None if self._pool is None else self._pool.used_bytes()

    def let_go(self) -> None:
        """Hold no tensor any more."""
        if self._pool is not None:
            self._pool.close()
        self.cache = None
        self._all = self._next = None
        self._more = {}


def _prompt(loaded: Loaded, request: LiveRequest) -> list[int]:
    """Token ids; without a tokenizer any will do, since what a cache takes does not depend on them."""
    if loaded.tokenizer is None:
        tokens = request.prompt_tokens or max(1, len(request.prompt.split()))
        known: int = loaded.model.config.get_text_config(decoder=True).vocab_size
        return [1 + (7 * n) % max(1, known - 1) for n in range(tokens)]
    words = request.prompt or " "
    if loaded.tokenizer.chat_template:  # a model that was taught to answer
        said = [{"role": "user", "content": words}]
        words = loaded.tokenizer.apply_chat_template(said, tokenize=False, add_generation_prompt=True)
    ids: list[int] = loaded.tokenizer(words).input_ids or [0]
    if request.prompt_tokens:
        ids = (ids * (request.prompt_tokens // len(ids) + 1))[: request.prompt_tokens]
    return ids


def _prediction(
    loaded: Loaded, request: LiveRequest, prompt_tokens: int, longest_tokens: int
) -> tuple[Callable[[int], int] | None, KvvizError | None]:
    """Or why there is none: a run can be measured all the same."""
    if isinstance(loaded.architecture, KvvizError):
        return None, loaded.architecture
    try:
        predicted = predict(
            loaded.architecture,
            cache=request.cache,
            dtype=loaded.dtype,
            prompt_tokens=prompt_tokens,
            longest_tokens=longest_tokens,
            batch=request.batch,
        )
    except KvvizError as error:
        if error.code == "scenario":  # not this cache for this model: Transformers would refuse it too
            raise
        return None, error
    return predicted, None


def _must_fit(loaded: Loaded, needed: int) -> None:
    """Said before the run: where the kernel ends a process for want of memory, nothing can be caught."""
    free = probe(loaded.device).memory().free_bytes
    if free is not None and needed > free:
        raise too_large(loaded.name, needed, free)


def _end_tokens(model: "transformers.PreTrainedModel") -> list[int]:
    ends = getattr(model.generation_config, "eos_token_id", None)
    ends = model.config.get_text_config(decoder=True).eos_token_id if ends is None else ends
    return [] if ends is None else [e for e in (ends if isinstance(ends, list) else [ends]) if e is not None]


def _cache(model: "transformers.PreTrainedModel", kind: str, longest_tokens: int) -> "transformers.Cache | None":
    import transformers

    config = model.config.get_text_config(decoder=True)
    if kind == "none":
        return None
    if kind == "static":
        own = transformers.StaticCache(config=config, max_cache_len=longest_tokens)
    elif kind == "fp8":
        own = transformers.QuantizedCache("fp8", config)
    elif kind in ("int4", "int2"):
        try:
            own = transformers.QuantizedCache("quanto", config, nbits=int(kind[-1]))
        except ImportError:
            values = {"bits": kind[-1], "package": "optimum-quanto"}
            raise KvvizError(Message(text.NO_BACK_END, values), code="no-back-end") from None
    else:
        own = transformers.DynamicCache(config=config)
    if not model.config.is_encoder_decoder:
        return own
    return transformers.EncoderDecoderCache(own, transformers.DynamicCache(config=config))


def _encode(
    model: "transformers.PreTrainedModel", device: "torch.device", batch: int, tokens: int
) -> "transformers.utils.ModelOutput":
    """What an encoder makes of an input of the length that the config says; of what, does not matter."""
    import torch

    encoder = model.get_encoder()
    with torch.inference_mode():
        if encoder.main_input_name == "input_features":  # frames of sound, two for a token of the output
            shape = (batch, model.config.num_mel_bins, 2 * tokens)
            return encoder(torch.zeros(shape, dtype=model.dtype, device=device))
        return encoder(torch.ones((batch, tokens), dtype=torch.long, device=device))
