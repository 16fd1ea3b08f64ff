"""One step of the checker's derivation, as the rules of [vB24 Fig. 2] have it: two premises and a conclusion."""

from __future__ import annotations

from collections.abc import Iterable

from accel.ilp.legality.checker import Merged, Signature
from accel.labelled.array import Array


def merge(first: Signature, second: Signature, kept: Iterable[Array]) -> Signature | None:
    """`first >> second`, or None where no rule applies; then nothing was changed."""
    merged = Merged(first)
    if merged.add(second, kept):
        return merged.signature
    assert merged.signature == first
    return None
