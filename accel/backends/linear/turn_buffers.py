"""Loops whose turns only launch nests: which memory each launch reads and writes, turn by turn, until that comes again.

In: a program's items. Out: for each such loop its `Turns`. What a turn makes cannot lie where something lies that is still to
be read, so a state moves between two places or three, and after a few turns each is again where it was before. Whoever knows
that takes the memory once, and has every launch of these few turns ready before the first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import field
from typing import TypeAlias

from accel.ast.tree.types import ScalarType
from accel.backends.linear.items import Assign, Drop, Item, JumpUnless, Mark, copies, moves
from accel.backends.linear.loops import Loop, launching
from accel.ir.copies import Copy
from accel.ir.nodes import HostSizes, Launch, Nest, Output, Require
from accel.labelled.array import Array, Extent, Shape, SizeVariable
from accel.support.dataclass import dataclass

MOST_TURNS = 12
"""Turns until places come again, at most."""

MOST_LAUNCHES = 32
"""Launches in these turns, at most: each has code of its own."""


@dataclass(frozen=True, slots=True)
class Given:
    """The buffer of a state before the first turn, by the state's number. It is only read."""

    state: int


Place: TypeAlias = "Given | int"
"""Where an array's elements lie: a number is one of the loop's own buffers."""


@dataclass(frozen=True, slots=True)
class Started:
    """A launch, with the places of those of its arrays that the loop's turns change."""

    nest: Nest
    places: Mapping[Array, Place]


@dataclass(frozen=True, slots=True)
class Turn:
    """states: where the loop's states are before it. asking: what finds out whether there is this turn, which then stands at
    `condition`."""

    states: tuple[Place, ...]
    asking: tuple[Started, ...]
    condition: Place
    launches: tuple[Started, ...]


@dataclass(frozen=True, slots=True)
class Turns:
    """The first turns of a loop. After the last of them places are as they are before turn `again`.

    arrays: the states, before and after the loop. end: the mark behind it. kinds: the elements and shapes of the loop's own
    buffers. adopted: those that begin as copies of what states were before the first turn, or are that itself, and the nests
    that copy. sizes: what variables of the turns' shapes are, as long as these pairs of extents are `equal`; one that a nest
    finds out is another only where the program ends with an error.
    """

    arrays: tuple[Array, ...]
    end: int
    turns: tuple[Turn, ...]
    again: int
    kinds: tuple[tuple[ScalarType, Shape], ...]
    adopted: Mapping[int, tuple[Given, Copy, Nest]]
    sizes: tuple[tuple[SizeVariable, Extent], ...]
    equal: tuple[tuple[Extent, Extent], ...]

    @property
    def nests(self) -> frozenset[Nest]:
        """All that turns launch."""
        return frozenset(each.nest for turn in self.turns for each in turn.asking + turn.launches)


def turn_buffers(items: Sequence[Item], apart: Set[Array], extents: Mapping[HostSizes, Nest]) -> Mapping[int, Turns]:
    """The loops of that kind, by the positions of the marks at which their turns begin.

    `apart`: what is not made by a launch of its own: results that take an argument's memory, and what nests of series make.
    `extents`: the nests that compute extents.
    """
    found = {loop.begin: _turns(items, loop, apart, extents) for loop in launching(items)}
    return {begin: turns for begin, turns in found.items() if turns is not None}


class _Irregular(Exception):
    """A turn that views an array, or whose buffers are not the loop's own."""


@dataclass(slots=True)
class _Places:
    """What is known while the items of turns are followed."""

    items: Sequence[Item]
    moved: Mapping[int, Assign]
    copied: Mapping[int, Copy]
    apart: Set[Array]
    extents: Mapping[HostSizes, Nest]
    now: dict[Array, Place] = field(default_factory=dict)
    kinds: list[tuple[ScalarType, Shape]] = field(default_factory=list)
    adopted: dict[int, tuple[Given, Copy, Nest]] = field(default_factory=dict)

    def turn(self, span: range, states: tuple[Array, ...]) -> Turn:
        """One turn, from where the states are now."""
        before = tuple([self.now[state] for state in states])
        asked: tuple[Place, tuple[Started, ...]] | None = None
        launches: list[Started] = []
        for position in span:
            match self.items[position]:
                case Assign(targets, sources):
                    self._assign(targets, sources)
                case Drop(arrays):
                    for array in arrays:
                        self.now.pop(array, None)
                case JumpUnless(condition) if condition in self.now:
                    asked = self.now[condition], tuple(launches)
                    launches = []
                case Launch() if position in self.moved:
                    self._assign(self.moved[position].targets, self.moved[position].sources)
                case Launch(nest):
                    copy = self.copied.get(position)
                    if copy is None or not self._taken_over(copy, nest):
                        launches.append(self._launch(nest))
                case HostSizes() as sizes:
                    launches.append(self._computed(self.extents[sizes]))
                case Require():
                    pass  # `_sizes` asks for it
                case _:
                    raise _Irregular
        assert asked is not None, "a loop asks whether there is another turn"
        self.now = {state: self.now[state] for state in states}
        place, asking = asked
        return Turn(before, asking, place, tuple(launches))

    def _assign(self, targets: Sequence[Array], sources: Sequence[Array]) -> None:
        """All at once. An array from outside of the loop stays where it is, so it cannot be a state."""
        pairs = list(zip(targets, sources, strict=True))
        if any(source not in self.now for _, source in pairs):
            raise _Irregular
        self.now.update([(target, self.now[source]) for target, source in pairs])

    def _taken_over(self, copy: Copy, nest: Nest) -> bool:
        """Whether a copy is no launch, since nothing else needs what it copies."""
        place = self.now.get(copy.source)
        if place is None or any(found == place for array, found in self.now.items() if array != copy.source):
            return False
        if isinstance(place, Given):
            self._require_own(nest.outputs)
            own = self._new(copy.target)
            self.adopted[own] = (place, copy, nest)
            place = own
        self.now[copy.target] = place
        return True

    def _launch(self, nest: Nest) -> Started:
        self._require_own(nest.outputs)
        if nest.counts:
            raise _Irregular
        for old, new in nest.in_place:
            place = self.now.get(old)
            if not isinstance(place, int) or new in self.apart:
                raise _Irregular
            self.now[new] = place
        for output in nest.outputs:
            self.now[output.array] = self._free(output.array)
        return Started(nest, dict(self.now))

    def _computed(self, nest: Nest) -> Started:
        """A launch that finds out extents, which nothing needs any more then."""
        before = dict(self.now)
        for output in nest.outputs:
            self.now[output.array] = self._free(output.array)
        started = Started(nest, dict(self.now))
        self.now = before
        return started

    def _require_own(self, outputs: Sequence[Output]) -> None:
        for output in outputs:
            if not output.is_whole or output.array in self.apart:
                raise _Irregular

    def _free(self, array: Array) -> int:
        """A buffer for an array, in which nothing is that is needed."""
        used = set(self.now.values())
        kind = (array.element, array.shape)
        for number, each in enumerate(self.kinds):
            if each == kind and number not in used:
                return number
        return self._new(array)

    def _new(self, array: Array) -> int:
        self.kinds.append((array.element, array.shape))
        return len(self.kinds) - 1


def _turns(items: Sequence[Item], loop: Loop, apart: Set[Array], extents: Mapping[HostSizes, Nest]) -> Turns | None:
    """The turns of the loop of these items, if they are regular."""
    end = items[loop.end]
    first = next((each for each in _assignments(items, loop.turn)), None)
    if not isinstance(end, Mark) or first is None:
        return None
    states = first.sources
    places = _Places(items, moves(items), copies(items), apart, extents)
    places.now = {state: Given(number) for number, state in enumerate(states)}
    turns: list[Turn] = []
    known: dict[tuple[Place, ...], int] = {}
    try:
        sizes, equal = _sizes([items[position] for position in loop.turn], states)
        while (before := tuple([places.now[state] for state in states])) not in known:
            known[before] = len(turns)
            turns.append(places.turn(loop.turn, states))
            if len(turns) > MOST_TURNS or sum(len(turn.asking + turn.launches) for turn in turns) > MOST_LAUNCHES:
                return None
    except _Irregular:
        return None
    return Turns(states, end.number, tuple(turns), known[before], tuple(places.kinds), places.adopted, sizes, equal)


def _sizes(
    turn: Sequence[Item], states: Sequence[Array]
) -> tuple[tuple[tuple[SizeVariable, Extent], ...], tuple[tuple[Extent, Extent], ...]]:
    """What variables of a turn's shapes are if no turn changes shapes, and which extents are to be equal then."""
    computed = {variable for item in turn if isinstance(item, HostSizes) for variable in item.variables}
    required = [pair for item in turn if isinstance(item, Require) for pair in zip(item.left, item.right, strict=True)]
    sizes: dict[SizeVariable, Extent] = {}
    equal: list[tuple[Extent, Extent]] = []
    for one, other in required:
        for extent, found in ((one, other), (other, one)):
            if extent.variable in computed - sizes.keys() and found.variable not in computed:
                assert extent.variable is not None
                sizes[extent.variable] = Extent(found.variable, found.offset - extent.offset)
                break
        else:
            equal.append((one, other))
    if computed - sizes.keys():
        raise _Irregular
    known = {extent.variable for state in states for extent in state.shape}
    assigned: dict[SizeVariable, Extent] = {}
    for item in turn:
        pairs = zip(item.targets, item.sources, strict=True) if isinstance(item, Assign) else ()
        for extent, found in (each for new, old in pairs for each in zip(new.shape, old.shape, strict=True)):
            if extent.variable is None or extent.variable in known or extent.variable in assigned:
                equal.append((extent, found))
            else:
                assigned[extent.variable] = Extent(found.variable, found.offset - extent.offset)
    return (*assigned.items(), *sizes.items()), tuple([each for each in dict.fromkeys(equal) if each[0] != each[1]])


def _assignments(items: Sequence[Item], span: range) -> Iterator[Assign]:
    """The first assignment of a turn is of the states to what asks whether there is another turn."""
    return (each for position in span if isinstance(each := items[position], Assign))
