"""Who is reached from each operation over dependences, and who over a path with a pair that may not fuse [Kri Definition 18].

The second are never in one cluster with it: what such a path leads to comes after it, with a barrier between.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from accel.labelled.array import Label


def reach(
    order: Iterable[Label],
    bit: Mapping[Label, int],
    after: Callable[[Label], Iterable[Label]],
    may_fuse: Callable[[Label, Label], bool],
) -> tuple[dict[Label, int], dict[Label, int]]:
    """For each operation whom it reaches, and whom over a pair that may not fuse: sets of bits, of which u's is `bit[u]`.

    `order` has all that `after` gives for an operation before it.
    """
    reached: dict[Label, int] = {}
    apart: dict[Label, int] = {}
    for first in order:
        reached[first] = apart[first] = 0
        for second in after(first):
            beyond = bit[second] | reached[second]
            reached[first] |= beyond
            apart[first] |= apart[second] if may_fuse(first, second) else beyond
    return reached, apart
