from dataclasses import dataclass
from kvviz.core.errors import KvvizError
class TraceError(KvvizError):
    pass
@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    prompt_tokens: int
    output_tokens: int
    arrival_step: int = 0
    block_ids: tuple[int, ...] = ()
