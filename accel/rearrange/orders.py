"""All orders of a nest that its rules lead to: by adjacent exchanges, as [Ber] section 4 enumerates them.

In: a nest, blocks by axis. Out: orders, each once, each with a shortest list of exchanges behind its subdivisions. Pieces
of one axis keep their order, so n pieces of which p, q, … belong together have n!/(p! q! …) orders.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

from accel.errors import AccelRearrangeError
from accel.rearrange.nest import LinearNest
from accel.rearrange.rules import Order, Piece, exchange, own_order, subdivide
from accel.support.shown import shown


def orders(nest: LinearNest, blocks: Mapping[str, Sequence[int]], *, free: bool) -> tuple[Order, ...]:
    """The nest's own order, subdivided, and what exchanges make of it: nearest first. Illegal exchanges are left out."""
    first = subdivided(nest, blocks)
    found: dict[tuple[Piece, ...], Order] = {first.pieces: first}
    pending = deque([first])
    while pending:
        order = pending.popleft()
        for depth in range(len(order.pieces) - 1):
            try:
                other = exchange(nest, order, depth, free=free)
            except AccelRearrangeError:
                continue
            if other.pieces not in found:
                found[other.pieces] = other
                pending.append(other)
    return tuple(found.values())


def subdivided(nest: LinearNest, blocks: Mapping[str, Sequence[int]]) -> Order:
    """The nest's own order with axes subdivided, by letter or name; several blocks of one axis are nested, largest first."""
    order = own_order(nest)
    for axis, sizes in blocks.items():
        depth = next((d for d, piece in enumerate(order.pieces) if axis in (piece.axis.letter, piece.axis.name)), None)
        if depth is None:
            known = ", ".join(f"{each.letter} ({each.name})" for each in nest.axes)
            raise AccelRearrangeError(
                f"there is no axis {shown(axis)} to subdivide", nest.where, hint=f"the axes are {known}"
            )
        for size in sizes:
            order = subdivide(order, depth, size)
            depth += 1
    return order
