"""A loop program as a flat list: steps, jumps and assignments, and when arrays are no longer needed.

In: an `ir.Program`. Out: `Linear`. Branches and loops become jumps to marks, so what follows never recurses on the program.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeGuard, Union, assert_never

from accel.ir import mentions
from accel.ir.copies import Copy, copied
from accel.ir.nodes import Branch, HostCall, HostSizes, Launch, Program, Repeat, Require, Sort, Step, View
from accel.labelled.array import Array
from accel.labelled.programs import loaded
from accel.schedule.nodes import Series
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Enter:
    """From here to the mark `end`, items may run not at all or many times. Does nothing."""

    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A place to jump to."""

    number: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Go on at a mark."""

    mark: int


@dataclass(frozen=True, slots=True)
class JumpUnless:
    """Go on at a mark unless the rank-0 bool array is true."""

    condition: Array
    mark: int


@dataclass(frozen=True, slots=True)
class Assign:
    """`targets := sources`, all at once; binds the size variables in the targets' shapes."""

    targets: tuple[Array, ...]
    sources: tuple[Array, ...]


@dataclass(frozen=True, slots=True)
class Drop:
    """The arrays have had their last use: what no other array shares is free again."""

    arrays: tuple[Array, ...]


Item: TypeAlias = Union[Launch, View, Sort, HostCall, HostSizes, Require, Enter, Mark, Jump, JumpUnless, Assign, Drop]


def linear(program: Program) -> list[Item]:
    """The program's items in order, with a `Drop` after the last use of every array that is neither given nor a result."""
    items = list(_flatten(program))
    drops = _drops(items, program)
    result: list[Item] = []
    for position, item in enumerate(items):
        result.append(item)
        if position in drops:
            result.append(drops[position])
    return result


def _flatten(program: Program) -> Iterator[Item]:
    work: list[Step | Item] = list(reversed(program.steps))
    marks = 0
    while work:
        item = work.pop()
        match item:
            case Branch(condition, then, orelse, arrays):
                other, end = marks, marks + 1
                marks += 2
                expanded: list[Step | Item] = [
                    Enter(end), JumpUnless(condition, other), *then.steps, Assign(arrays, then.results), Jump(end),
                    Mark(other), *orelse.steps, Assign(arrays, orelse.results), Mark(end),
                ]  # fmt: skip
                work += reversed(expanded)
            case Repeat(condition, body, initial, arrays):
                again, end = marks, marks + 1
                marks += 2
                asked = tuple(leaf for parameter in condition.parameters for leaf in parameter)
                state = tuple(leaf for parameter in body.parameters for leaf in parameter)
                expanded = [
                    Assign(arrays, initial), Enter(end), Mark(again), Assign(asked, arrays), *condition.steps,
                    JumpUnless(condition.results[0], end), Assign(state, arrays), Drop(arrays), *body.steps,
                    Assign(arrays, body.results), Jump(again), Mark(end),
                ]  # fmt: skip
                work += reversed(expanded)
            case _:
                yield item


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """The items from `start` to before `end` that are a series of launches. `dropped`: what is dropped between them."""

    series: Series
    start: int
    end: int
    dropped: tuple[Array, ...]


def series_parts(items: Sequence[Item], series: Iterable[Series]) -> Iterator[Part]:
    """Where series stand among the items."""
    at = {item.nest.label: position for position, item in enumerate(items) if isinstance(item, Launch)}
    for each in series:
        start, end = at[each.nests[0].label], at[each.nests[-1].label] + 1
        drops = (item for item in items[start:end] if isinstance(item, Drop))
        yield Part(each, start, end, tuple(array for drop in drops for array in drop.arrays))


def copies(items: Sequence[Item]) -> Mapping[int, Copy]:
    """Launches that only copy an array which is dropped then, by position.

    If nothing else refers to its buffer, the buffer itself does as well. Nothing does whose memory another array views.
    """
    others = viewed(items)
    found: dict[int, Copy] = {}
    for position, (item, after) in enumerate(pairwise(items)):
        if isinstance(item, Launch) and isinstance(after, Drop):
            copy = copied(item.nest)
            if copy is not None and copy.source not in others and copy.source in after.arrays:
                found[position] = copy
    return found


def dropped_behind(items: Sequence[Item], position: int) -> frozenset[Array]:
    """What is dropped right behind an item."""
    after = items[position + 1] if position + 1 < len(items) else None
    return frozenset(after.arrays) if isinstance(after, Drop) else frozenset()


def moves(items: Sequence[Item]) -> Mapping[int, Assign]:
    """Those of them of which it is known that nothing else refers to the buffer, and what does as well."""
    made: set[Array] = set()
    shared: set[Array] = set()
    for item in items:
        if isinstance(item, Launch):
            made.update(output.array for output in item.nest.outputs)
            shared.update(array for pair in item.nest.in_place for array in pair)
        elif isinstance(item, View | Assign):
            shared |= _mentions(item)
    return {
        position: Assign((copy.target,), (copy.source,))
        for position, copy in copies(items).items()
        if copy.source in made - shared
    }


Plain: TypeAlias = Union[Launch, View, Assign, Drop]
"""An item by which the host decides nothing and, unless a nest finds out an extent, finds out nothing."""


def is_plain(item: Item) -> TypeGuard[Plain]:
    """Whether all that the item does is to launch a nest that finds out no extent, or to pass arrays on."""
    return isinstance(item, View | Assign | Drop) or (isinstance(item, Launch) and not item.nest.counts)


def stretches(items: Sequence[Item]) -> Mapping[int, int]:
    """Where items follow each other that are plain, as many as there are, among them a launch: beginnings and ends."""
    found: dict[int, int] = {}
    start = 0
    for end, item in enumerate((*items, None)):
        if item is None or not is_plain(item):
            if any(isinstance(each, Launch) for each in items[start:end]):
                found[start] = end
            start = end + 1
    return found


def _shared(item: Item) -> list[tuple[Array, Array]]:
    """Pairs of arrays of which the first has the second one's buffer once the item has run."""
    match item:
        case Assign(targets, sources):
            return list(zip(targets, sources, strict=True))
        case Launch(nest):
            return [(new, old) for old, new in nest.in_place]
        case _:
            return []


def closure(some: Iterable[Array], pairs: Sequence[tuple[Array, Array]]) -> set[Array]:
    """Arrays, and those that may have the buffers of some of them: the first ones of pairs."""
    found = set(some)
    before = 0
    while before != len(found):
        before = len(found)
        found.update(new for new, old in pairs if old in found)
    return found


def viewed(items: Sequence[Item]) -> set[Array]:
    """Arrays whose memory may be that of an array with another shape."""
    views = [array for item in items if isinstance(item, View) for array in (*item.arrays, *item.sources)]
    return closure(views, [pair for item in items for pair in _shared(item)])


def arrays(items: Iterable[Item]) -> frozenset[Array]:
    """All arrays that some items read or make."""
    return frozenset().union(*map(_mentions, items))


def _mentions(item: Item) -> frozenset[Array]:
    match item:
        case Launch(nest):
            return mentions.arrays(nest) | {count.array for count in nest.counts}
        case View(arrays, sources) | Assign(arrays, sources):
            return frozenset(arrays + sources)
        case HostCall(arrays, _, sources):
            return frozenset(arrays + sources)
        case Sort(array, sources):
            return frozenset((array, *sources))
        case HostSizes(_, function):
            return loaded(function)
        case JumpUnless(condition):
            return frozenset((condition,))
        case Require() | Enter() | Mark() | Jump() | Drop():
            return frozenset()
        case _:
            assert_never(item)


def _regions(items: list[Item]) -> list[tuple[int, int, int]]:
    """For every position the innermost region around it: (start, end, position of the `Enter` of the next outer region).

    Outside of all regions start and end are -1, which no array's lifetime reaches into.
    """
    ends = {item.number: position for position, item in enumerate(items) if isinstance(item, Mark)}
    stack = [(-1, -1, -1)]
    around = []
    for position, item in enumerate(items):
        while len(stack) > 1 and stack[-1][1] < position:
            stack.pop()
        around.append(stack[-1])
        if isinstance(item, Enter):
            stack.append((position, ends[item.end], position))
    return around


def _drops(items: list[Item], program: Program) -> dict[int, Drop]:
    first: dict[Array, int] = {}
    last: dict[Array, int] = {}
    for position, item in enumerate(items):
        for array in _mentions(item):
            first.setdefault(array, position)
            last[array] = position
    given = {leaf for parameter in program.parameters for leaf in parameter}
    kept = given | set(program.results)
    around = _regions(items)
    dying: dict[int, list[Array]] = {}
    for array, position in last.items():
        if array in kept:
            continue
        # What was made outside of a region but used last inside of it is needed until the region's end.
        start, end, enter = around[position]
        while first[array] < start:
            position = end
            start, end, enter = around[enter]
        dying.setdefault(position, []).append(array)
    return {
        position: Drop(tuple(sorted(arrays, key=lambda a: (a.label, a.leaf)))) for position, arrays in dying.items()
    }
