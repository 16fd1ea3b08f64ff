"""Nests made of a nest: with some statements in place of others, and without states; what nests that follow each other share.

In: a nest, and what changes in it. Out: nests of the same loops. Statements that stay are the same objects, so that slices by
identity hold for what was made, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64, ScalarType
from accel.errors import AccelInternalError
from accel.ir import mentions
from accel.ir.nodes import For, Level, LoopBody, LoopDirection, Nest, OneToOne, Operand, Output, State, Stream, Write
from accel.ir.slices import needed_for
from accel.ir.text import nest_text, statement_text
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Block, Compute, Constant, Function, Variable, constant
from accel.schedule.templates.slices import part_of
from accel.support.dataclass import dataclass

MAXIMUM = Function(
    (Variable(0, I64), Variable(1, I64)),
    Block((Compute(Variable(2, I64), Operator.MAX, (Variable(0, I64), Variable(1, I64))),), (Variable(2, I64),)),
)
EQUAL = Function(
    (Variable(0, I64), Variable(1, I64)),
    Block((Compute(Variable(2, BOOL), Operator.EQ, (Variable(0, I64), Variable(1, I64))),), (Variable(2, BOOL),)),
)
NOT = Function(
    (Variable(0, BOOL),), Block((Compute(Variable(1, BOOL), Operator.NOT, (Variable(0, BOOL),)),), (Variable(1, BOOL),))
)

ANY_EXTENT = Extent(None, 1)
"""Of arrays of one dimension in which as many elements stand as are counted: what is asked for is there."""


@dataclass(frozen=True, slots=True)
class Change:
    """What becomes of a nest.

    statements: in place of others, by identity. without: the names of states that go. states: that the outermost loop has
    besides. before, after: what stands first outside of the loops, and first behind them. around_innermost: what stands last
    before the innermost loop. behind_innermost: what stands first behind it.
    """

    statements: Mapping[int, Sequence[LoopBody]]
    without: frozenset[str] = frozenset()
    states: tuple[State, ...] = ()
    before: tuple[LoopBody, ...] = ()
    after: tuple[LoopBody, ...] = ()
    around_innermost: tuple[LoopBody, ...] = ()
    behind_innermost: Sequence[LoopBody] = ()


def changed(nest: Nest, change: Change) -> Nest:
    """The nest with the change; its outputs are what it then writes."""

    def each(some: Iterable[LoopBody]) -> tuple[LoopBody, ...]:
        return tuple(new for old in some for new in change.statements.get(id(old), (old,)))

    inner: Level | None = None
    levels = list(mentions.levels(nest))
    for depth in reversed(range(len(levels))):
        loop = levels[depth].loop
        if loop is not None:
            assert inner is not None
            kept = tuple(state for state in loop.states if state.name not in change.without)
            loop = replace(loop, states=(*kept, *(change.states if depth == 0 else ())), body=inner)
        last, first = (change.around_innermost, change.behind_innermost) if depth == len(levels) - 2 else ((), ())
        inner = Level((*each(levels[depth].before), *last), loop, (*first, *each(levels[depth].after)))
    assert inner is not None
    body = Level((*change.before, *inner.before), inner.loop, (*change.after, *inner.after))
    return with_outputs(Nest(nest.label, body, nest.outputs, nest.in_place, nest.counts))


def with_outputs(nest: Nest) -> Nest:
    """The nest with an output for whatever it writes that shares no buffer."""
    known = {output.array: output for output in nest.outputs}
    shared = {new for _, new in nest.in_place}
    written = dict.fromkeys(
        s.array for s in mentions.statements(nest) if isinstance(s, Write) and s.array not in shared
    )
    made = (known.get(array) or Output(array, tuple((extent,) for extent in array.shape)) for array in written)
    return replace(nest, outputs=tuple(made))


def slice_for(nest: Nest, roots: Sequence[LoopBody | State]) -> Nest:
    """What some statements of a nest need, and they themselves; without loops if no statement is left inside of these."""
    part = part_of(nest, needed_for(nest, roots))
    levels = list(mentions.levels(part))
    if len(levels) > 1 and not any(level.before or level.after for level in levels[1:]):
        return replace(part, body=Level(part.body.before, None, part.body.after))
    return part


@dataclass(slots=True)
class Made:
    """Arrays that live from one of the nests to another; each has room for as many elements as a product of extents."""

    label: int
    rooms: dict[Array, tuple[Extent, ...]] = field(default_factory=dict)

    def array(self, kind: ScalarType, shape: tuple[Extent, ...], room: tuple[Extent, ...] | None = None) -> Array:
        """A new one, with room for `room`, or as much as its shape says."""
        made = Array(self.label, FIRST_LEAF + len(self.rooms), kind, shape)
        self.rooms[made] = shape if room is None else room
        return made


FIRST_LEAF = 1000
"""Leaves of a label from here on are no component of what the user's operation makes."""


def filled(array: Array, value: Constant) -> Nest:
    """A nest that fills an array."""
    loops = [Stream(f"t{depth}", I64) for depth in range(len(array.shape))]
    level = Level((Write(array, tuple(loops), value),), None, ())
    for index, extent in zip(reversed(loops), reversed(array.shape), strict=True):
        level = Level((), For(index, extent, LoopDirection.UP, (), level), ())
    return with_outputs(Nest(array.label, level, (), (), ()))


class _Integers:
    """A function of some integers, as it is written."""

    def __init__(self, count: int) -> None:
        self.values = [Variable(number, I64) for number in range(count)]
        self._statements: list[Compute] = []

    def computed(self, operator: Operator, left: Variable | Constant, right: Variable | Constant) -> Variable:
        """The result of one more statement."""
        out = Variable(len(self.values) + len(self._statements), I64)
        self._statements.append(Compute(out, operator, (left, right)))
        return out

    def function(self, result: Variable | Constant) -> Function:
        """All of it."""
        return Function(tuple(self.values), Block(tuple(self._statements), (result,)))


def linear(out: Stream, index: Sequence[Operand], extents: Sequence[Operand], plus: int = 0) -> OneToOne:
    """`out` := the row-major position of an index among such extents, plus a number."""
    of = _Integers(2 * len(index))
    first, sizes = of.values[: len(index)], of.values[len(index) :]
    place: Variable | Constant = constant(I64, plus)
    if index:
        place = first[0]
        for each, size in zip(first[1:], sizes[1:], strict=True):
            place = of.computed(Operator.ADD, of.computed(Operator.MUL, place, size), each)
        if plus:
            place = of.computed(Operator.ADD, place, constant(I64, plus))
    return OneToOne((out,), of.function(place), (*index, *extents))


def at_most(out: Stream, summands: Sequence[Operand], limit: Sequence[Operand]) -> OneToOne:
    """`out` := the sum of some numbers, or, if that is less, the product of others."""
    of = _Integers(len(summands) + len(limit))
    total: Variable | Constant = constant(I64, 0)
    for each in of.values[: len(summands)]:
        total = of.computed(Operator.ADD, total, each)
    most: Variable | Constant = constant(I64, 1)
    for each in of.values[len(summands) :]:
        most = of.computed(Operator.MUL, most, each)
    return OneToOne((out,), of.function(of.computed(Operator.MIN, total, most)), (*summands, *limit))


def around(nest: Nest, statement: LoopBody) -> list[For]:
    """The loops around a statement, outermost first."""
    loops: list[For] = []
    for level in mentions.levels(nest):
        if any(each is statement for each in (*level.before, *level.after)):
            return loops
        assert level.loop is not None
        loops.append(level.loop)
    raise AccelInternalError(f"{statement_text(statement)} stands in another nest than\n{nest_text(nest)}")


def extents(loops: Sequence[For]) -> tuple[Extent, ...] | None:
    """How often each of some loops runs, if they run upwards and that is known at launch."""
    found = []
    for loop in loops:
        size = Extent(None, int(loop.extent.value)) if isinstance(loop.extent, Constant) else loop.extent
        if loop.direction is not LoopDirection.UP or not isinstance(size, Extent):
            return None
        found.append(size)
    return tuple(found)
