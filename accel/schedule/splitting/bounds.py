"""Bounds that are known once extents are: what is loaded at sums of loops' indices, without a check for each element.

A function that loads `ys[j, k]` or `xs[i + k]` checks each index, unless it is proved that no loop is longer than the array
allows. But what such an index is at least and at most is known before anything runs, and all iterations do run. In: a nest.
Out: the same without these checks, and what has to hold of extents for that; where it does not hold, the nest is an error at
one of its own checks. In nests that run in tiles or blocks, loads at the indices of loops alone are reads then: to what looks
for factors, or for what runs across, it does not matter how an index was written.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import assert_never

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.ir import mentions
from accel.ir.indices import arguments, extent_of
from accel.ir.mentions import pruned
from accel.ir.nodes import For, Level, LoopBody, Nest, OneToOne, Read, Remap, Stream
from accel.ir.passes.digits import digits
from accel.labelled import scalar
from accel.labelled.array import Extent, Shape
from accel.labelled.scalar import Block, Compute, Constant, Function, Load, Variable
from accel.labelled.scalars.ranges import LIMITS, ONE, ZERO, Linear
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Bound:
    """`less` is at most `more`, unless one of the loops around has no iterations; `around`: how many these have."""

    less: Linear
    more: Linear
    around: tuple[Extent, ...]


@dataclass(frozen=True, slots=True)
class _Sum:
    """`fixed`, and multiples of loops' indices."""

    fixed: Linear
    moving: Mapping[Stream, int] = field(default_factory=dict)

    def plus(self, other: _Sum, factor: int = 1) -> _Sum:
        """`self + factor * other`."""
        moving = dict(self.moving)
        for index, step in other.moving.items():
            moving[index] = moving.get(index, 0) + factor * step
        return _Sum(self.fixed.plus(other.fixed.times(factor)), moving)


def without_checks(nest: Nest, *, reads: bool) -> tuple[Nest, tuple[Bound, ...]]:
    """The nest without such checks, and its bounds. reads: whether what is loaded at the indices of loops alone becomes
    reads. A nest that finds out sizes is left as it is."""
    if nest.counts:
        return nest, ()
    found = _Checks(reads)
    levels: list[Level] = []
    for level in mentions.levels(nest):
        parts = [tuple(new for each in some for new in found.without(each)) for some in (level.before, level.after)]
        levels.append(Level(parts[0], level.loop, parts[1]))
        if level.loop is not None:
            found.enter(level.loop)
    body = levels.pop()
    for level in reversed(levels):
        assert level.loop is not None, "only the innermost level has no loop"
        body = replace(level, loop=replace(level.loop, body=body))
    return replace(nest, body=body), found.bounds


class _Checks:
    """What is found on the way from the outermost level to the innermost."""

    def __init__(self, reads: bool) -> None:
        self._reads = reads
        self._extents: dict[Stream, Extent] = {}
        self._digits: dict[Stream, Extent] = {}
        """Of what one loop stands for: each of their indices comes with each other."""
        self._depth = 0
        self._sums: dict[str, _Sum] = {}
        self._rooms: dict[tuple[Linear, tuple[Extent, ...]], int] = {}

    @property
    def bounds(self) -> tuple[Bound, ...]:
        """Each once; of those that differ by a number the one that leaves least room."""
        return tuple([_bound(rest.plus(Linear(number)), around) for (rest, around), number in self._rooms.items()])

    def enter(self, loop: For) -> None:
        """The statements of this loop are next."""
        self._depth += 1
        if (extent := extent_of(loop)) is not None:
            self._extents[loop.index] = extent
            self._sums[loop.index.name] = _Sum(ZERO, {loop.index: 1})

    def without(self, statement: LoopBody) -> Iterator[LoopBody]:
        """What becomes of a statement: its reads, then what is left of it."""
        always = len(self._extents) == self._depth
        if always and isinstance(statement, Remap) and statement.when is None and self._is_inside(statement):
            same = tuple(Variable(number, I64) for number in range(len(statement.arguments)))
            yield OneToOne(statement.outs, Function(same, Block((), same)), statement.arguments)
            return
        if not always or not isinstance(statement, OneToOne) or statement.when is not None:
            yield statement
            return
        self._divided(statement)
        function, reads = statement.function, dict[Variable, Read]()
        sums = {
            p: self._sums[a.name] for p, a in arguments(statement) if isinstance(a, Stream) and a.name in self._sums
        }
        indices = {p: a for p, a in arguments(statement) if a in self._extents or a in self._digits}
        kept: list[scalar.Statement] = []
        for each in function.body.statements:
            if isinstance(each, Compute) and (computed := self._computed(each, sums)) is not None:
                sums[each.out] = computed
            if not isinstance(each, Load) or not self._is_in_bounds(each, sums):
                kept.append(each)
                continue
            place = tuple(
                indices[operand] for operand in each.index if isinstance(operand, Variable) and operand in indices
            )
            if self._reads and len(place) == len(each.index):
                reads[each.out] = Read(
                    Stream(f"{statement.outs[0].name}_r{len(reads)}", each.out.type), each.array, place
                )
            else:
                kept.append(replace(each, inside=True))
        for out, result in zip(statement.outs, function.body.results, strict=True):
            if isinstance(result, Variable) and result in sums:
                self._sums[out.name] = sums[result]
        if not kept and [*reads] == [*function.body.results]:
            yield from (replace(read, out=out) for read, out in zip(reads.values(), statement.outs, strict=True))
            return
        yield from reads.values()
        called = Function((*function.parameters, *reads), Block(tuple(kept), function.body.results))
        given = (*statement.arguments, *(read.out for read in reads.values()))
        yield OneToOne(statement.outs, *(pruned(called, given) if reads else (called, given)))

    def _divided(self, statement: OneToOne) -> None:
        """Notes the digits that a statement finds of a loop's index."""
        for index in self._extents:
            if (found := digits(statement, index)) is not None:
                self._digits.update(zip(found.streams, found.extents, strict=True))
                self._sums.update({stream.name: _Sum(ZERO, {stream: 1}) for stream in found.streams})

    def _is_in_bounds(self, load: Load, sums: Mapping[Variable, _Sum]) -> bool:
        """Whether a load is in bounds if bounds of extents hold, which are noted."""
        if not load.index:
            return False
        places = [_operand(each, sums) for each in load.index]
        known = [place for place in places if place is not None]
        if len(known) < len(places):
            return False
        if not load.inside:
            self._note_all(known, load.array.shape)
        return True

    def _is_inside(self, statement: Remap) -> bool:
        """Whether a gather's index is in bounds if bounds of extents hold, which are noted. Packs of loops that one stands for
        are asked only: what else gathers checks whole vectors by their ends."""
        places = [self._sums.get(each.name) for each in statement.arguments if isinstance(each, Stream)]
        known = [place for place in places if place is not None]
        if not self._digits or statement.segment is not None or len(known) < len(statement.arguments):
            return False
        self._note_all(known, statement.bounds)
        self._sums.update(zip((out.name for out in statement.outs), known, strict=True))
        return True

    def _note_all(self, places: Sequence[_Sum], shape: Shape) -> None:
        """Notes that an index lies in a shape."""
        for place, extent in zip(places, shape, strict=True):
            self._note(self._end(place, -1))
            self._note(Linear.of(extent).plus(ONE, -1).plus(self._end(place, 1), -1))

    def _end(self, number: _Sum, sign: int) -> Linear:
        """The greatest value of a sum; the least one if the sign is negative."""
        found = number.fixed
        for index, step in number.moving.items():
            if step * sign > 0:
                extent = self._digits.get(index) or self._extents[index]
                found = found.plus(Linear.of(extent).plus(ONE, -1).times(step))
        return found

    def _note(self, room: Linear) -> None:
        """What must not be negative; nothing if it cannot be, since where loops run they have an iteration at least."""
        around = tuple(self._extents.values())
        least = {extent.variable: max(0, 1 - extent.offset) for extent in (*around, *self._digits.values())}
        sure = room.constant + sum(times * least.get(variable, 0) for variable, times in room.terms)
        if sure >= 0 and all(times > 0 for _, times in room.terms):
            return
        rest = room.plus(Linear(room.constant), -1)
        self._rooms[rest, around] = min(room.constant, self._rooms.get((rest, around), room.constant))

    def _computed(self, statement: Compute, sums: Mapping[Variable, _Sum]) -> _Sum | None:
        """What an operation gives, if it is such a sum that does not wrap around."""
        if statement.out.type is not I64:
            return None
        given = [_operand(each, sums) for each in statement.arguments]
        found: _Sum | None = None
        match statement.operator, given:
            case Operator.ADD, [_Sum() as left, _Sum() as right]:
                found = left.plus(right)
            case Operator.SUB, [_Sum() as left, _Sum() as right]:
                found = left.plus(right, -1)
            case Operator.NEG, [_Sum() as number]:
                found = _Sum(ZERO).plus(number, -1)
            case Operator.MUL, [_Sum() as left, _Sum() as right]:
                for factor, number in ((left, right), (right, left)):
                    if not factor.moving and not factor.fixed.terms:
                        found = _Sum(ZERO).plus(number, factor.fixed.constant)
            case _:
                pass
        small = found is not None and all(map(_is_small, (self._end(found, -1), self._end(found, 1))))
        return found if small else None


def _operand(operand: scalar.Operand, sums: Mapping[Variable, _Sum]) -> _Sum | None:
    match operand:
        case Variable():
            return sums.get(operand)
        case Constant():
            number = Linear(int(operand.value)) if operand.type is I64 else None
            return _Sum(number) if number is not None and _is_small(number) else None
        case Extent():
            return _Sum(Linear.of(operand))
        case _:
            assert_never(operand)


def _is_small(number: Linear) -> bool:
    """Whether it is far from the ends of what integers count, as of `Limits`."""
    return abs(number.constant) <= LIMITS.constant and sum(abs(times) for _, times in number.terms) <= LIMITS.times


def _bound(room: Linear, around: tuple[Extent, ...]) -> Bound:
    """That so much room is not negative, with nothing negative on either side."""
    less = Linear(max(0, -room.constant), frozenset((size, -times) for size, times in room.terms if times < 0))
    return Bound(less, room.plus(less), around)
