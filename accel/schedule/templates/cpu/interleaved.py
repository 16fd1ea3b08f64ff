"""Maps of rows of two to nine elements, such as points, pairs and pixels: a lane for each row, which has its elements.

In: a nest. Out: an `Interleaved`, or None; and the statements for a number of columns. Each column has its own, in which its
index is a number, so that what is chosen by that is decided; what columns share is computed once. What neighbouring rows come
to is put between each other in registers, which is the backend's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64, ScalarType
from accel.ir import flow, mentions
from accel.ir.indices import Indices, arguments
from accel.ir.nodes import For, LoopBody, Nest, OneToOne, Operand, Read, Remap, Stream, Write
from accel.ir.positions import merging
from accel.ir.work import element_work
from accel.labelled import programs, rewrite, scalar
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Block, Compute, Constant, Function, Load, Variable, constant
from accel.labelled.work import INSTRUCTIONS
from accel.schedule.flat import flat_loops
from accel.schedule.templates.cpu.divided import divided
from accel.schedule.templates.cpu.positions import extents
from accel.support.dataclass import dataclass

LEAST, MOST = 2, 4
"""Columns of the rows that are written so, if they choose nothing or their number is not known before the launch."""

MOST_KNOWN = 9
"""The same of columns whose number is known, of several loops as well: rotations have three times three. And of rows that read
one element in all columns, which else is gathered."""

LONGEST = 200
"""Instructions of a column, about: compilers take long for more."""

LONGEST_OF_ALL = 2 * LONGEST
"""The same of all columns that an index is divided into, or that read one element."""


@dataclass(frozen=True, slots=True)
class Interleaved:
    """How a nest runs with a row in each lane.

    lanes: the loop over rows. outer: the loops around it, outermost first. columns: those inside. statements: those of the
    innermost one. counts: how many columns there may be. rows: the arrays whose rows are as long as those of the nest. divided:
    whether `lanes` and `columns` stand for one loop of the nest; then `lanes` has that loop's extent, a multiple
    of the columns.
    """

    outer: tuple[For, ...]
    lanes: For
    columns: tuple[For, ...]
    statements: tuple[LoopBody, ...]
    counts: range
    rows: tuple[Array, ...] = ()
    divided: bool = False

    @property
    def loops(self) -> tuple[For, ...]:
        """All, outermost first."""
        return (*self.outer, self.lanes, *self.columns)


def interleaved(nest: Nest) -> Interleaved | None:
    """The nest in lanes of rows, if it is a map that chooses by columns, or reads components of rows."""
    *_, innermost = mentions.levels(nest)
    statements = (*innermost.before, *innermost.after)
    if any(mentions.states(nest)) or element_work(statements, INSTRUCTIONS) > LONGEST:
        return None
    if not all(isinstance(s, OneToOne | Remap | Read | Write) and s.when is None for s in statements):
        return None
    loops = flat_loops(nest)
    return _divided(nest, statements) if loops is None else _rows(nest, loops, statements) or _divided(nest, statements)


def _rows(nest: Nest, loops: Sequence[For], statements: tuple[LoopBody, ...]) -> Interleaved | None:
    """The same of loops of which the inner ones run over few columns."""
    first = _first_column(loops)
    own = [loop.index for loop in loops[first - 1 :]]
    written = [s for s in statements if isinstance(s, Write)]
    if any(list(s.index[-len(own) :]) != own or _mentions(s.index[: -len(own)], own) for s in written):
        return None
    light = element_work(statements, INSTRUCTIONS) * MOST_KNOWN <= LONGEST_OF_ALL
    repeated = light and any(_reads_at(statement, loops[first - 1].index) for statement in statements)
    counts = _counts(extents(loops[first:]), chosen=any(map(_chooses, statements)), repeated=repeated)
    if counts is None or merging(nest, loops) == 0:
        return None
    every = sorted(mentions.arrays(nest), key=lambda array: (array.label, array.leaf))
    known = extents(loops[first:])
    rows = tuple([a for a in every if len(a.shape) > len(known) and a.shape[-len(known) :] == known])
    return Interleaved(tuple(loops[: first - 1]), loops[first - 1], tuple(loops[first:]), statements, counts, rows)


def _first_column(loops: Sequence[For]) -> int:
    """The number of the first loop of columns: the innermost one, or of more if there are few columns in all."""
    first, known = len(loops) - 1, extents(loops)
    while first > 1 and all(extent.variable is None for extent in known[first - 1 :]):
        if prod(extent.offset for extent in known[first - 1 :]) > MOST_KNOWN:
            break
        first -= 1
    return first


def _counts(known: Sequence[Extent], *, chosen: bool, repeated: bool) -> range | None:
    """How many columns there may be, of loops of such extents; None if they are not to be written. `repeated`: all of a row
    read one element, in little work."""
    most = MOST_KNOWN if repeated else MOST
    if any(extent.variable is not None for extent in known):
        return range(LEAST, most + 1) if chosen or repeated else None
    count = prod(extent.offset for extent in known)
    return range(count, count + 1) if LEAST <= count <= (MOST_KNOWN if chosen else most) else None


def _divided(nest: Nest, statements: Sequence[LoopBody]) -> Interleaved | None:
    """The same of an innermost loop whose index is divided."""
    *around, _ = mentions.levels(nest)
    loops = mentions.loops(nest)
    if not loops or any(level.before or level.after for level in around):
        return None
    if not all(loop.counts_up for loop in loops):
        return None
    *outer, loop = loops
    places = tuple([each.index for each in loops])
    if any(s.index != places for s in statements if isinstance(s, Write)):
        return None
    found = divided(loop, statements, LEAST, MOST_KNOWN)
    if found is None:
        return None
    rows, columns, made = found
    (count,) = extents([columns])
    if element_work(statements, INSTRUCTIONS) * count.offset > LONGEST_OF_ALL:
        return None
    return Interleaved(tuple(outer), rows, (columns,), tuple(made), range(count.offset, count.offset + 1), divided=True)


def _mentions(some: Sequence[Operand], indices: Sequence[Stream]) -> bool:
    return any(operand in indices for operand in some)


def _reads_at(statement: LoopBody, index: Stream) -> bool:
    """Whether a statement reads an array whose innermost dimension this is the index of."""
    if isinstance(statement, Read):
        return statement.index[-1:] == (index,)
    if not isinstance(statement, OneToOne):
        return False
    places = {parameter for parameter, argument in arguments(statement) if argument == index}
    some = mentions.function_statements(statement.function)
    return any(isinstance(each, Load) and bool(each.index) and each.index[-1] in places for each in some)


def _chooses(statement: LoopBody) -> bool:
    """Whether a statement reads one component of rows, or compares or divides by so small a number."""
    if isinstance(statement, Read):
        return len(statement.index) > 1 and isinstance(statement.index[-1], Constant)
    if not isinstance(statement, OneToOne):
        return False
    return any(map(_chooses_inside, mentions.function_statements(statement.function)))


def _chooses_inside(statement: scalar.Statement) -> bool:
    match statement:
        case Load(index=index):
            return len(index) > 1 and isinstance(index[-1], Constant)
        case Compute(_, Operator.EQ | Operator.MOD | Operator.REM, (_, Constant() as number)):
            return number.type is I64 and abs(int(number.value)) <= MOST_KNOWN
        case _:
            return False


# The statements.


def side_by_side(found: Interleaved, count: int) -> tuple[LoopBody, ...]:
    """The statements of all columns, so many, at one iteration of the loops around. Each is written at a number."""
    text, least = _Columns(found, count), {len(found.loops) - 1: (0, count - 1)} if len(found.columns) == 1 else {}
    indices = Indices(found.loops, least)
    made = [each for statement in found.statements for each in text.of(statement)]
    return _live([indices.simplified(each) for each in made])


def _live(statements: Sequence[LoopBody]) -> tuple[LoopBody, ...]:
    """Without what nobody needs; checks stay."""
    needed, kept = set[Stream](), list[LoopBody]()
    for statement in reversed(statements):
        if isinstance(statement, Write | Remap) or any(stream in needed for stream in flow.made(statement)):
            needed.update(flow.needed(statement))
            kept.append(statement)
    return tuple(reversed(kept))


class _Columns:
    """Statements for so many columns: what each stream is in each of them."""

    def __init__(self, found: Interleaved, count: int) -> None:
        self._count = count
        (self._size, *_) = sizes = extents(found.columns)
        self._values: dict[Operand, list[Operand]] = {}
        after = 1
        for loop, size in reversed([*zip(found.columns, sizes, strict=True)]):
            inner = size.offset if size.variable is None else count
            self._values[loop.index] = [constant(I64, number // after % inner) for number in range(count)]
            after *= inner

    def of(self, statement: LoopBody) -> Iterator[LoopBody]:
        """What becomes of a statement: one, if it is the same in all columns; else one for each, or of a function one for all
        together."""
        outs = flow.made(statement)
        each = [self._in(statement, number) for number in range(self._count)]
        if all(one == each[0] for one in each) and not isinstance(statement, Write):
            self._values.update((out, [out] * self._count) for out in outs)
            yield statement
            return
        named = [[Stream(f"{out.name}_c{number}", out.type) for out in outs] for number in range(self._count)]
        for place, out in enumerate(outs):
            self._values[out] = [names[place] for names in named]
        if isinstance(statement, OneToOne):
            yield self._together(statement, [out for names in named for out in names])
            return
        for one, names in zip(each, named, strict=True):
            yield _making(one, names)

    def _in(self, statement: LoopBody, number: int) -> LoopBody:
        """The statement in a column."""
        return flow.substituted(statement, lambda operand: self._values.get(operand, [operand] * self._count)[number])

    def _together(self, statement: OneToOne, outs: Sequence[Stream]) -> OneToOne:
        """One function for all columns, of the streams that any of them is given."""
        given: dict[Stream, Variable] = {}
        statements, results = list[scalar.Statement](), list[scalar.Operand]()
        numbers = _Numbers(statement.function, self._size, self._count)
        for number in range(self._count):
            one = self._in(statement, number)
            for argument in flow.needed(one):
                if argument not in given:
                    given[argument] = numbers.another(argument.type)
            body = numbers.renamed(statement.function, [_operand(a, given) for a in flow.operands(one)])
            statements += body.statements
            results += body.results
        function = Function(tuple(given.values()), Block(tuple(statements), tuple(results)))
        return OneToOne(tuple(outs), function, tuple(given))


def _operand(argument: Operand, given: Mapping[Stream, Variable]) -> scalar.Operand:
    return given[argument] if isinstance(argument, Stream) else argument


def _making(statement: LoopBody, outs: Sequence[Stream]) -> LoopBody:
    match statement:
        case Read():
            return replace(statement, out=outs[0])
        case Remap():
            return replace(statement, outs=tuple(outs))
        case _:
            return statement


class _Numbers:
    """Variables that copies of a function bind, no two alike. `size`, an extent, is a number in them."""

    def __init__(self, function: Function, size: Extent, count: int) -> None:
        self._last = programs.highest_variable(function)
        self._size, self._count = size, count

    def another(self, kind: ScalarType) -> Variable:
        """One more."""
        self._last += 1
        return Variable(self._last, kind)

    def renamed(self, function: Function, arguments: Sequence[scalar.Operand]) -> Block:
        """The body of a copy, of these arguments."""
        known = dict(zip(function.parameters, arguments, strict=True))

        def operand(one: scalar.Operand) -> scalar.Operand:
            if isinstance(one, Extent) and one.variable is not None and one.variable == self._size.variable:
                return constant(I64, self._count + one.offset - self._size.offset)
            return known.get(one, one) if isinstance(one, Variable) else one

        def bound(variable: Variable) -> Variable:
            known[variable] = other = self.another(variable.type)
            return other

        return rewrite.block(function.body, operand, bound, lambda array: array)
