"""The reference evaluator of schedules: a nest in the order in which its schedule visits it. Slow, sequential, complete.

In: a schedule, and the arrays and sizes of a call. Out: the arrays that the nest makes, the same bits as in its own order, and
how many partial results of each fold were kept at once. What stands before a loop runs when it is known for which iterations
around it, what stands after it once the last of its own is done; what lies between is kept. What is packed is computed once,
what the columns of a row share once for each row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import prod

import numpy as np

from accel.ast.meaning.semantics import Value
from accel.ir import flow, mentions
from accel.ir.meaning.nest_run import Accumulated, Body, Combine, Run, Running
from accel.ir.mentions import loops
from accel.ir.nodes import Level, LoopBody, LoopDirection, ManyToOne, OneToOne, State, Stream
from accel.labelled.array import Extent
from accel.labelled.meaning.environment import Environment
from accel.labelled.meaning.order import lanes
from accel.labelled.meaning.products import steps
from accel.labelled.scalar import Constant
from accel.schedule.axes import dependence
from accel.schedule.legality import lanes_are_runs
from accel.schedule.meaning.tree import Steps, Tree, Unordered
from accel.schedule.nodes import Axis, Carried, Line, Loop, Margin, Parameter, Part, Piece, Role, Schedule, Size
from accel.schedule.splitting import inside
from accel.support.dataclass import dataclass

Numbers = tuple[int, ...]
"""Which iteration of each loop, outermost first, counted as they run in the nest."""


def run_scheduled(schedule: Schedule, environment: Environment, parameters: Mapping[str, int]) -> Mapping[str, int]:
    """Run a nest whose arrays are allocated; gives for each fold how many partial results were kept at once at most.

    Raises `AccelIndexError` and `AccelValueError` as the nest does; where several checks fail, of the first that is visited.
    """
    visit = _Visit(schedule, environment, parameters)
    visit.all()
    return visit.kept


@dataclass(slots=True)
class _Scope:
    """A level in one iteration of the loops around it: its streams and states; iterations of its own loop that are not done."""

    streams: dict[str, Value]
    states: dict[str, Accumulated]
    extent: int = 0
    remaining: int = 0


class _Visit(Body):
    def __init__(self, schedule: Schedule, environment: Environment, parameters: Mapping[str, int]) -> None:
        lines = () if schedule.shared is None else schedule.shared.lines
        environment.arrays.update(
            {line.array: np.empty(environment.shape(line.array.shape), line.array.element.dtype) for line in lines}
        )
        super().__init__(schedule.visited, environment)
        self._schedule, self._parameters = schedule, parameters
        self._levels: list[Level] = list(mentions.levels(schedule.visited))
        self._loops = loops(schedule.nest)
        self._carried: dict[str, Carried] = {each.state.name: each for each in schedule.carried}
        pieces = list(enumerate(schedule.pieces))
        self._ends = [(axis, 1 + max(at for at, piece in pieces if piece.axis == axis)) for axis in schedule.axes]
        """By axis, how many pieces there are up to its last one."""
        self._scopes: dict[Numbers, _Scope] = {}
        self._left: set[Numbers] = set()
        self._numbers: Numbers = ()
        self._packs = _packed(schedule)
        self._inside = self._inner(schedule.inside)
        self._lines = lines
        self._functions.update(
            {id(line.element.function): environment.function(line.element.function) for line in lines}
        )
        self._rows: dict[Numbers, Sequence[Sequence[Value]]] = {}
        self._memory: dict[tuple[int, Numbers], Mapping[str, Value]] = {}
        self.kept: dict[str, int] = {}
        self._now: dict[str, int] = {}
        self._parts: dict[int, int] = {}

    def _inner(self, margins: Sequence[Margin]) -> Level | None:
        """The innermost level as it runs within margins."""
        if not margins:
            return None
        level = self._levels[-1]
        made = inside.statements(self._schedule.visited, margins)
        functions = [each.function for each in made if isinstance(each, OneToOne)]
        self._functions.update({id(function): self._environment.function(function) for function in functions})
        return Level(made[: len(level.before)], None, made[len(level.before) :])

    def _level(self, numbers: Numbers) -> Level:
        """The level in an iteration of the loops around it."""
        level, scope = self._levels[len(numbers)], self._scopes[numbers]
        if self._inside is None or level.loop is not None:
            return level
        for margin in self._schedule.inside:
            loop = self._loops[margin.depth]
            size = self._size(Loop(margin.depth, loop.index, loop.extent, loop.direction), numbers)
            if not margin.low <= scope.streams[loop.index.name] < size - margin.high:
                return level
        return self._inside

    def all(self) -> None:
        """Visit every iteration, in the order of the pieces; then what has none inside."""
        self._touch(())
        self._pieces(0, dict.fromkeys(self._schedule.axes, 0), ())
        self._rest(())

    # The order of the visit.

    def _pieces(self, at: int, places: Mapping[Axis, int], outside: Numbers) -> None:
        """All iterations of the pieces from `at` on: as deep as there are pieces.

        places: where the pieces outside are, on each axis. outside: the iterations of the outermost loops that these fix.
        """
        numbers = self._fixed(at, places, outside)
        self._touch(numbers)
        if at == len(self._schedule.pieces) or numbers in self._left:
            return
        piece = self._schedule.pieces[at]
        extent = prod(self._size(loop, self._around(loop, places, numbers)) for loop in piece.axis.loops)
        stride, place = prod(map(self._number, piece.inside)), places[piece.axis]
        for number in self._order(piece, -(-(extent - place) // stride)):
            self._pieces(at + 1, {**places, piece.axis: place + number * stride}, numbers)

    def _fixed(self, at: int, places: Mapping[Axis, int], outside: Numbers) -> Numbers:
        """The iterations of the outermost loops, all of whose pieces stand before `at`."""
        for axis, end in self._ends:
            if axis.loops[0].depth < len(outside):
                continue
            if end > at:
                break
            outside = (*outside, *self._iteration(axis, places[axis], outside))
        return outside

    def _iteration(self, axis: Axis, place: int, outside: Numbers) -> Numbers:
        """That of each loop of an axis at a place of the visit."""
        extents = [self._size(loop, outside) for loop in axis.loops]
        return _digits(prod(extents) - 1 - place if axis.reverse else place, extents)

    def _around(self, loop: Loop, places: Mapping[Axis, int], outside: Numbers) -> Numbers:
        """An iteration of the loops around one whose extent is found out there: of those that are not fixed yet, on which it
        does not depend, the first of the part at hand."""
        if not isinstance(loop.extent, Stream):
            return outside
        for axis in self._schedule.axes:
            if len(outside) <= axis.loops[0].depth < loop.depth:
                outside = (*outside, *self._iteration(axis, places[axis], outside))
        return outside

    def _order(self, piece: Piece, most: int) -> Iterable[int]:
        """The iterations of a piece, at `most` so many: as numbered, but lanes outside of steps by their reversed bits."""
        if piece.size is None:
            return range(most)
        count, every = self._number(piece.size), self._schedule.of(piece.axis)
        steps = [at for at, each in enumerate(every) if each.part is Part.STEP]
        if piece.part is not Part.LANE or every.index(piece) > steps[0] or count == 1:
            return range(min(count, most))
        if lanes_are_runs(self._schedule, piece.axis):
            return range(min(count, most))
        bits = count.bit_length() - 1
        reversed_bits = (int(f"{number:0{bits}b}"[::-1], 2) for number in range(count))
        return (number for number in reversed_bits if number < most)

    def _number(self, size: Size) -> int:
        return self._parameters[size.name] // size.over if isinstance(size, Parameter) else size

    def _size(self, loop: Loop, numbers: Numbers) -> int:
        if isinstance(loop.extent, Stream):
            around = numbers[: loop.depth]
            self._touch(around)
            scope = self._scopes.get(around)
            return 0 if scope is None else int(scope.streams[loop.extent.name])  # of what is left nothing is to come
        return self._known_size(loop.extent)

    def _known_size(self, extent: Extent | Constant) -> int:
        return int(extent.value) if isinstance(extent, Constant) else self._environment.shape((extent,))[0]

    # Levels in one iteration of the loops around them.

    def _rest(self, numbers: Numbers) -> None:
        """What no iteration led to: levels whose loops have none inside."""
        if numbers in self._left:
            return
        self._touch(numbers)
        scope = self._scopes.get(numbers)
        for number in range(scope.extent if scope is not None else 0):
            self._rest((*numbers, number))

    def _touch(self, numbers: Numbers) -> None:
        """Enter the levels around an iteration of the loops outside, unless that is done."""
        for depth in range(len(numbers) + 1):
            outer = numbers[:depth]
            if outer not in self._scopes and outer not in self._left:
                self._enter(outer)

    def _enter(self, numbers: Numbers) -> None:
        depth = len(numbers)
        level = self._levels[depth]
        around = self._scopes[numbers[:-1]] if numbers else _Scope({}, {})
        scope = self._scopes[numbers] = _Scope(dict(around.streams), dict(around.states))
        if depth:
            loop = self._loops[depth - 1]
            up = loop.direction is LoopDirection.UP
            scope.streams[loop.index.name] = numbers[-1] if up else around.extent - 1 - numbers[-1]
        self._within(numbers)
        if level.loop is None and self._lines:
            self._read_lines(numbers[:-1])
        self.statements(self._level(numbers).before)
        if level.loop is not None:
            scope.extent = scope.remaining = self.extent(level.loop)
            scope.states.update({s.name: self._begun(s, scope.extent) for s in level.loop.states if self.exists(s)})
        if not scope.remaining:
            self._leave(numbers)

    def _leave(self, numbers: Numbers) -> None:
        level, scope = self._levels[len(numbers)], self._scopes[numbers]
        self._within(numbers)
        for state in level.loop.states if level.loop is not None else ():
            if state.name in scope.states:
                self._note(state.name, 0)
                self.finish(state)
        self.statements(self._level(numbers).after)
        del self._scopes[numbers]
        self._left.add(numbers)
        if numbers:
            around = self._scopes[numbers[:-1]]
            around.remaining -= 1
            if not around.remaining:
                self._leave(numbers[:-1])

    def _read_lines(self, row: Numbers) -> None:
        """The lines are those of this row, which are made when one of its columns is visited first."""
        if row not in self._rows:
            self._rows[row] = [list(self._values(line)) for line in self._lines]
        for line, values in zip(self._lines, self._rows[row], strict=True):
            self._environment.arrays[line.array][:] = values

    def _values(self, line: Line) -> Iterator[Value]:
        """A line, where its row's loops are; the index of its columns is left as it was."""
        index, (out,) = self._loops[-1].index.name, line.element.outs
        column = self.streams[index]
        for each in range(*self._environment.shape(line.array.shape)):
            self.streams[index] = each
            super().statements([line.element])
            yield self.streams.pop(out.name)
        self.streams[index] = column

    def _within(self, numbers: Numbers) -> None:
        """Statements run in this scope from here on."""
        scope = self._scopes[numbers]
        self._numbers, self.streams, self.states = numbers, scope.streams, scope.states

    # States and packs.

    def _begun(self, state: State, extent: int) -> Accumulated:
        """The state before its first element; of elements that are not numbered it keeps all."""
        combine, seed = self.begin(state)
        each = self._carried[state.name]
        if state.running:
            return Running(combine, seed)
        if each.role is Role.EXACT:
            return Unordered(combine, seed)
        extents = [loop.extent for loop in self._loops[each.first + 1 : each.last + 1]]
        # What the loops around have found out is known here.
        known = [extent, *(self._known_size(size) for size in extents if not isinstance(size, Stream))]
        prefix = None if each.step.when is None else flow.prefixes(self._loops[each.last]).get(each.step.when.name)
        within = None if prefix is None else prefix.count
        if not each.numbered or len(known) <= len(extents) or isinstance(within, Stream):
            return self.folded(state)
        count = prod(known)
        if prefix is not None and within is not None:
            count = max(0, count - prefix.first) if prefix.first else min(count, self._known_size(within))

        def number() -> int:
            return _place(self._numbers[each.first : each.last + 1], known)

        return Tree(
            self._steps(state, combine), seed, count, lanes(state.types), number, commutes=state.monoid.commutes
        )

    def _steps(self, state: State, combine: Combine) -> Steps:
        """How elements become partial results, and these join."""
        if not state.products:
            return Steps(lambda element: element, combine, combine)
        found = steps(state.merge, state.monoid, state.types, state.products)
        first, following = self._environment.function(found.first), self._environment.function(found.following)
        return Steps(first, lambda partial, element: following((*partial, *element)), combine)

    def _note(self, state: str, parts: int) -> None:
        """The state that the name now refers to has so many partial results."""
        held = self.states[state]
        self._now[state] = self._now.get(state, 0) + parts - self._parts.pop(id(held), 0)
        self._parts[id(held)] = parts
        self.kept[state] = max(self.kept.get(state, 0), self._now[state])

    def prepared(self, statement: LoopBody) -> Run:
        """What runs a statement whose guard holds; of a state that is stepped, the partial results are counted."""
        run = super().prepared(statement)
        if not isinstance(statement, ManyToOne):
            return run
        state = statement.state

        def counted() -> None:
            run()
            held = self.states[state]
            self._note(state, held.parts if isinstance(held, Tree | Unordered) else 1)

        return counted

    def statements(self, statements: Sequence[LoopBody]) -> None:
        """Some statements of one level, in order; what was packed is there."""
        for statement in statements:
            depths = self._packs.get(id(statement))
            if depths is None:
                super().statements([statement])
                continue
            place = id(statement), tuple(self._numbers[depth] for depth in depths)
            if place not in self._memory:
                super().statements([statement])
                names = [stream.name for stream in flow.made(statement)]
                self._memory[place] = {name: self.streams[name] for name in names if name in self.streams}
            self.streams.update(self._memory[place])


def _packed(schedule: Schedule) -> Mapping[int, Numbers]:
    """The statements that make what is packed, by identity, and the depths of the loops on which they depend."""
    found = dependence(schedule.nest)
    packed = {stream for pack in schedule.packs for stream in pack.streams}
    return {
        id(statement): tuple(sorted(found[stream.name]))
        for statement in mentions.statements(schedule.nest)
        for stream in flow.made(statement)
        if stream in packed
    }


def _digits(place: int, extents: Sequence[int]) -> Numbers:
    """The place as one number for each extent."""
    digits: list[int] = []
    for extent in reversed(extents):
        place, digit = divmod(place, extent)
        digits.append(digit)
    return tuple(reversed(digits))


def _place(digits: Numbers, extents: Sequence[int]) -> int:
    """The other way round."""
    place = 0
    for digit, extent in zip(digits, extents, strict=True):
        place = place * extent + digit
    return place
