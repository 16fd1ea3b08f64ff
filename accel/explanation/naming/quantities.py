"""Numbers of things in words: `1 cluster`, `40,976 bytes`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ONE: Mapping[str, str] = MappingProxyType(
    {
        "bytes": "byte",
        "clusters": "cluster",
        "edges": "edge",
        "elements": "element",
        "intermediates": "intermediate",
        "loops": "loop",
        "pairs of accesses": "pair of accesses",
        "reads": "read",
        "reads and writes": "read or write",
        "stored arrays": "stored array",
    }
)
"""What one of several things is called; what is not here has one form."""


def counted(number: int, things: str) -> str:
    """The number with its thing, which is named as several are: `counted(1, "loops")` is `1 loop`."""
    return f"{number:,} {_ONE.get(things, things) if number == 1 else things}"
