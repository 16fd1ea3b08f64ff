"""A fault: one replacement in one file, and the tests that must notice it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Fault:
    """`old`, which stands exactly once in `accel/<file>`, becomes `new`; then one of `tests`, quick ones, must fail."""

    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]
