"""Running states in work-groups: scans and filters of all, or of rows. A group scans a block in its local memory.

In: a nest, and what the device can. Out: the ways to run it, the best first; none if groups do not serve.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accel.ast.tree.operators import Operator
from accel.ir.nodes import Nest, Stream
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR, lanes
from accel.labelled.scalar import Constant
from accel.schedule.legality import against_carrying, carriers, stands_alone
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Carried, Kind, Schedule, Template
from accel.schedule.rules import carry, kind, named, original, subdivide
from accel.schedule.templates.work_items import flattened, is_shared_out, own_states

STRETCHES = (1024, 512, 256)
"""Elements that a group scans at once, a vector for each of its work-items: the most that fit into its memory."""

STRETCH_BYTES = 24 * 1024
"""Of local memory that what is scanned at once takes. OpenCL promises 32 KB."""

TALLIED_BYTES = 8 * 1024
"""The same where a whole block is tallied at once: with more, fewer groups would run beside each other."""

MOST_ITEMS = STRETCHES[0] // SCAN_VECTOR
"""Work-items of a group."""

TALLYING_ITEMS = 2 * MOST_ITEMS
"""The same on a GPU, where a whole block is tallied at once."""


def chains(nest: Nest, machine: WorkItems) -> Iterator[tuple[Schedule, ...]]:
    """Those of a nest whose outermost loops carry running states, or carry nothing around loops that do: rows, which groups
    scan where they are long, and a work-item each where they are short."""
    whole = flattened(original(nest), 0)
    if not is_shared_out(whole, machine):
        return
    if own_states(whole, 0):
        chained = group_chain(whole, 0)
        yield from () if chained is None else ((chained,),)
        return
    rows = flattened(whole, 1)
    if len(rows.pieces) > 1 and stands_alone(nest.body) and (chained := group_chain(rows, 1)) is not None:
        yield (chained,)
        yield (named(kind(whole, 0, Kind.PARALLEL), Template.ITEMS),)


def group_chain(schedule: Schedule, at: int) -> Schedule | None:
    """The running states of piece `at` in blocks, each of which a group scans stretch by stretch; None if it cannot.

    What runs steps once in each iteration, so that work-items find the elements; what else is folded may be numbered by
    iterations, or is exact.
    """
    piece = schedule.pieces[at]
    states = carriers(schedule, piece.axis)
    innermost = piece.axis.loops[-1].depth
    found_out = any(isinstance(loop.extent, Stream) for loop in piece.axis.loops)
    if found_out or against_carrying(schedule, piece, BLOCK) is not None:
        return None
    if any(each.last != innermost and not (each.state.monoid.exact and not each.state.running) for each in states):
        return None
    if any(not each.numbered and not each.state.monoid.exact for each in states):
        return None
    if (size := _stretch(states)) is None:
        return None
    schedule = subdivide(carry(schedule, at, BLOCK), at + 1, size)
    if at:
        schedule = kind(schedule, 0, Kind.PARALLEL)
    return named(kind(kind(schedule, at, Kind.PARALLEL), at + 2, Kind.ITEM), Template.GROUP_CHAIN)


def items_of(stretch: int, most: int = MOST_ITEMS) -> int:
    """The work-items of a group that scans so many elements at once: at most so many where that is a whole block."""
    return min(stretch // SCAN_VECTOR, most if stretch == BLOCK else MOST_ITEMS)


def is_tally(each: Carried) -> bool:
    """Whether a running state counts some of the elements, and is read before them alone, as the positions of a filter are."""
    step, operators = each.step, each.state.monoid.operators
    one = [isinstance(value, Constant) and value.type.is_integer and value.value == 1 for value in step.values]
    some = each.state.running and step.when is not None and not step.after
    return some and operators == (Operator.ADD,) and one == [True]


def _stretch(states: Sequence[Carried]) -> int | None:
    """How many elements are scanned at once: a block where all is tallied; None if local memory has no room for any."""
    if all(is_tally(each) for each in states if each.state.running) and _bytes(states, BLOCK) <= TALLIED_BYTES:
        return BLOCK
    return next((stretch for stretch in STRETCHES if _bytes(states, stretch) <= STRETCH_BYTES), None)


def _bytes(states: Sequence[Carried], stretch: int) -> int:
    return sum(stretch_bytes(each, stretch) for each in states)


def stretch_bytes(each: Carried, stretch: int) -> int:
    """Of local memory that a state takes, at most, while a stretch is scanned."""
    state, items = each.state, items_of(stretch)
    value = max(kind.bytes for kind in state.types) * len(state.types)
    if is_tally(each):
        rows = stretch // items
        return stretch + 4 * (items + 2 * rows + 1)
    if state.running:
        return (stretch + 2 * items) * value
    if state.monoid.exact:
        return items * (value + 1)
    element = max(kind.bytes for kind in state.element) * len(state.element)
    return stretch * element + lanes(state.types) * (value + 1)
