"""Transformers' own paged cache: the pool of its continuous batching, stepped by hand so that it is at rest in between.

What is called here is not public: read from 5.24 (``generation/continuous_batching/continuous_api.py:1081-1222``).
"""

from typing import TYPE_CHECKING, Any

from kvviz.core.errors import KvvizError
from kvviz.engines.transformers import paged_blocks
from kvviz.live.prediction import PAGE_TOKENS
from kvviz.text import Message
from kvviz.text import live as text

if TYPE_CHECKING:
    import torch
    import transformers


class PagedPool:
    """A pool that holds the whole run, and the requests in it: one for each sequence."""

    def __init__(
        self, model: "transformers.PreTrainedModel", ids: list[int], *, batch: int, longest_tokens: int
    ) -> None:
        import transformers

        self._batch = batch
        endless = longest_tokens + 1  # a request that is done gives its blocks back
        try:
            self._manager = model.init_continuous_batching(
                transformers.GenerationConfig(do_sample=False, eos_token_id=-1, max_new_tokens=endless),
                transformers.ContinuousBatchingConfig(
                    page_size=PAGE_TOKENS,
                    num_blocks=paged_blocks(longest_tokens, batch, block_tokens=PAGE_TOKENS),
                    max_batch_tokens=len(ids) * batch,  # the prompts are handled in one step
                    allow_block_sharing=False,  # all sequences are alike, and shall be counted all the same
                    use_async_batching=False,
                    use_cuda_graph=False,
                    auto_switch_to_flash=False,
                ),
            )
            self._processor = self._manager._create_batch_processor()
        except AttributeError as error:
            values = {"version": transformers.__version__}
            raise KvvizError(Message(text.NO_PAGED, values), code="no-paged") from error
        self._manager.batch_processor = self._processor
        self._manager.current_batch = 0
        for number in range(batch):
            self._manager.add_request(ids, request_id=str(number), max_new_tokens=endless, streaming=True)
        self.tensor: torch.Tensor = self._processor.cache.cache_tensor

    def step(self) -> list[int]:
        """The next token of every sequence."""
        self._manager._generation_loop_body(self._processor, bootstrapping=False)
        said: dict[str, Any] = {}
        while len(said) < self._batch:
            output = self._manager.get_result(timeout=1)
            if output is None or output.error is not None:
                raise RuntimeError(output.error if output else "a step gave no token")
            said[output.request_id] = output.generated_tokens[-1]
        return [said[str(number)] for number in range(self._batch)]

    def used_bytes(self) -> int:
        """Of the pool: what is handed out to sequences."""
        cache = self._processor.cache
        return int(cache.num_sectors * cache.bytes_per_sector - cache.compute_free_capacity(relative=False))

    def close(self) -> None:
        """Let go of the pool."""
        self._manager.destroy()
        del self._manager, self._processor, self.tensor
