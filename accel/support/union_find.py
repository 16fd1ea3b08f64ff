"""Disjoint sets that are united step by step."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


class UnionFind(Generic[T]):
    """Sets of items, each with one of them as its representative; what was never united is a set by itself."""

    def __init__(self) -> None:
        self._parent: dict[T, T] = {}

    def find(self, item: T) -> T:
        """The representative of the set that `item` is in. Halves the way there."""
        parent = self._parent
        while (above := parent.get(item, item)) != item:
            parent[item] = parent.get(above, above)
            item = above
        return item

    def unite(self, item: T, other: T) -> bool:
        """Make one set of theirs, with the representative of `other`; gives whether they were two."""
        first, second = self.find(item), self.find(other)
        self._parent[first] = second
        return first != second
