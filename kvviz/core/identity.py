"""A cache key that is the object itself: an architecture holds hundreds of specs, too many to hash on every call."""

from typing import Generic, TypeVar

T = TypeVar("T")


class ByIdentity(Generic[T]):
    """``value``, compared by identity. A cache that keeps the key keeps the value too, so no id is used twice."""

    __slots__ = ("value",)

    def __init__(self, value: T) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ByIdentity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
