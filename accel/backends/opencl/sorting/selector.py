"""Launches the kernels that find the first elements of long rows on a device (`selection.py`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from accel.ast.tree.types import U32, ScalarType
from accel.backends.opencl.machine.devices import GROUP_ITEMS as GROUP
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.opencl.sorting.kernels import Argument, Kernels
from accel.backends.opencl.sorting.selection import AT_ONCE, ROUND_BITS, ROUND_VALUES, kept_type, selection
from accel.backends.opencl.sorting.text import ROW
from accel.backends.sorting import are_few
from accel.support.dataclass import dataclass

GROUPS = 2048
"""Groups that occupy a GPU."""

FEWEST, MOST = 2 * AT_ONCE, 32 * AT_ONCE
"""Elements of a work-item: more are worth what a group leaves of its counts, fewer occupy more groups."""

LEAST_ROOM = 256
"""Elements that may be kept of a row, at least."""

Sort: TypeAlias = Callable[[Sequence[tuple[Held, ScalarType]], tuple[int, ...], bool, bool, int | None], Held]


def selects(shape: tuple[int, ...], first: int) -> bool:
    """Whether so few of each row are asked for that selecting them takes less than sorting all."""
    return shape[-1] > ROW and are_few(shape, first)


def room_of(n: int, first: int) -> int:
    """How many elements of a row are kept and sorted. What a round of a long row costs would sort many."""
    return min(max(LEAST_ROOM, 2 * first, n // ROUND_VALUES), n)


@dataclass(frozen=True, slots=True)
class Round:
    """Bits of keys, or of places, that extend bounds: from `shift` on, below `above`."""

    shift: int
    above: int
    of_places: bool


def rounds(bits: int, n: int) -> Iterator[Round]:
    """Those of keys of so many bits, and then of places below n."""
    for of_places, above in ((False, bits), (True, (n - 1).bit_length())):
        for end in range(above, 0, -ROUND_BITS):
            yield Round(max(end - ROUND_BITS, 0), end, of_places)


def select(
    kernels: Kernels,
    memory: Memory,
    sort: Sort,
    key: tuple[Held, ScalarType],
    rows: int,
    n: int,
    first: int,
    descending: bool,
    result: Held,
) -> None:
    """Fill the first elements of each row of `result`, i64, with where the first elements of so many rows stand, in order.

    `sort` sorts what is kept. Nobody waits. Raises `MemoryError`.
    """
    (source, kind), take = key, memory.take
    room, word = room_of(n, first), kept_type(kind)
    key_bounds, kept_keys = (take(count * word.bytes) for count in (rows, rows * room))
    place_bounds, wanted, kept, bins, places = (
        take(count * U32.bytes) for count in (rows, rows, rows, rows * ROUND_VALUES, rows * room)
    )
    each = -(-rows * n // (GROUPS * GROUP))
    each = -(-min(max(each, FEWEST), MOST) // AT_ONCE) * AT_ONCE
    chunks = -(-n // (each * GROUP))
    built = kernels.made(("selection", kind, descending), lambda: selection(kind, descending))
    taken = built.take()
    bounds: list[Argument] = [key_bounds, place_bounds]
    last = (1 << (n - 1).bit_length()) - 1
    most = rows * max(room, ROUND_VALUES)
    begun = [*bounds, wanted, kept, bins, kept_keys, places, rows, room, first, last]
    kernels.launch(taken["begin"], -(-most // GROUP), GROUP, begun)
    for each_round in rounds(8 * kind.bytes, n):
        bits = [each_round.shift, each_round.above, int(each_round.of_places)]
        counted = [source, *bounds, wanted, bins, n, chunks, each, *bits]
        kernels.launch(taken["tally"], rows * chunks, each * GROUP, counted)
        kernels.launch(taken["bound"], rows, GROUP, [*bounds, wanted, bins, first, room, *bits])
    found = [source, *bounds, kept, kept_keys, places, n, chunks, each, room]
    kernels.launch(taken["keep"], rows * chunks, each * GROUP, found)
    order = sort([(kept_keys, word), (places, U32)], (rows, room), True, False, None)
    kernels.launch(taken["give"], -(-rows * first // GROUP), GROUP, [order, places, result, rows, n, room, first])
    built.give(taken)
