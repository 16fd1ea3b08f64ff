"""What a nest reads and writes, counted as the papers count (docs/ir.md; [vB20 Fig. 12]).

A pass is counted for every distinct (array, order) of a nest. In the nest's own order it is one over the array; at an index
that is mapped, or that a scalar function computes, one over the iterations of the loops around it, or of one element if it is
the same in all of them. A scatter counts a read and a write of its destination, unless that was filled with a constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from accel.ir.flow import made, operands
from accel.ir.mentions import function_statements, levels, loops, statements
from accel.ir.nodes import (
    For,
    Guard,
    Launch,
    Level,
    LoopBody,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Operand,
    Program,
    Read,
    Remap,
    Scatter,
    Stream,
    Within,
    Write,
)
from accel.labelled import scalar
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Constant, Function, Variable
from accel.labelled.scalar_text import extent_text
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Access:
    """One pass of a nest over `array`, of as many elements as the product of `extents`."""

    array: Array
    extents: tuple[Extent, ...]

    @property
    def size(self) -> str:
        """`n0`, `n0+1`, `n0*n1`, `16`; `1` for a single element."""
        return size_text(self.extents)


@dataclass(frozen=True, slots=True)
class Traffic:
    """The passes of one nest."""

    reads: tuple[Access, ...]
    writes: tuple[Access, ...]


def size_text(extents: Iterable[Extent]) -> str:
    """A product of extents as text; constants are multiplied out in front."""
    constant, parts = 1, []
    for extent in extents:
        if extent.variable is None:
            constant *= extent.offset
        else:
            parts.append(extent_text(extent))
    if len(parts) > 1 or (parts and constant != 1):
        parts = [part if part.isalnum() else f"({part})" for part in parts]
    return "*".join(([str(constant)] if constant != 1 or not parts else []) + parts)


def is_loop(nest: Nest) -> bool:
    """Whether a nest runs over at least one dimension."""
    return nest.body.loop is not None


def fills(program: Program) -> frozenset[Array]:
    """The arrays that nests of this program fill with one constant."""
    return frozenset(
        each.array
        for step in program.steps
        if isinstance(step, Launch)
        for each in statements(step.nest)
        if isinstance(each, Write) and isinstance(each.value, Constant) and each.when is None
    )


def traffic(nest: Nest, filled: frozenset[Array] = frozenset()) -> Traffic:
    """The passes of a nest, in order of its statements. `filled`: the arrays that hold one constant before it."""
    walk = _Walk(loops(nest))
    for extents, statement in _placed(nest):
        walk.visit(statement, extents)
    for extents, merge in _merges(nest):
        walk.loads(merge, frozenset(merge.parameters), extents)
    targets = tuple(Access(new, new.shape) for old, new in nest.in_place if old not in filled)
    reads = tuple(Access(array, extents) for (array, _), extents in walk.reads.items())
    writes = tuple(Access(each.array, each.array.shape) for _, each in _placed(nest) if isinstance(each, Write))
    return Traffic(reads + targets, writes + targets)


def _placed(nest: Nest) -> list[tuple[tuple[Extent, ...], LoopBody]]:
    """Statements in the order in which they run, each with the extents of the loops around it."""
    before: list[tuple[tuple[Extent, ...], LoopBody]] = []
    after: list[tuple[tuple[Extent, ...], LoopBody]] = []
    extents: tuple[Extent, ...] = ()
    divided = _divided(nest)
    level: Level | None = nest.body
    while level is not None:
        before += [(extents, statement) for statement in level.before]
        after = [(extents, statement) for statement in level.after] + after
        if level.loop is not None:
            extents = _inside(extents, level.loop, divided)
        level = level.loop.body if level.loop is not None else None
    return before + after


def _divided(nest: Nest) -> Mapping[str, Extent]:
    """What segments divide, by the streams that say how long each is, or how often the loop of an exclusive scan runs."""
    checks = [each for each in statements(nest) if isinstance(each, Remap) and each.segment is not None]
    found = {each.outs[-1].name: Extent(each.bounds[0].variable, each.bounds[0].offset - 1) for each in checks}
    for each in statements(nest):
        match each:
            case OneToOne(outs=(out,), arguments=(Stream(name), Constant())) if name in found:
                found[out.name] = found[name]
            case _:
                pass
    return found


def _inside(extents: tuple[Extent, ...], loop: For, divided: Mapping[str, Extent]) -> tuple[Extent, ...]:
    """The extents with those of one more loop: over segments and the elements of each, as of one loop over all elements."""
    if isinstance(loop.extent, Extent):
        return (*extents, loop.extent)
    if isinstance(loop.extent, Stream) and loop.extent.name in divided:
        return (*extents[:-1], divided[loop.extent.name])
    return extents


def _merges(nest: Nest) -> Iterator[tuple[tuple[Extent, ...], Function]]:
    """How states are combined, each with the extents of the loops in which it may be stepped."""
    extents: tuple[Extent, ...] = ()
    divided = _divided(nest)
    for level in levels(nest):
        if level.loop is not None:
            extents = _inside(extents, level.loop, divided)
            yield from ((extents, state.merge) for state in level.loop.states)


class _Walk:
    """Finds out which streams are the same in all iterations, and what is read.

    Loop indices and what states hold differ; so does what is made of something that differs.
    """

    def __init__(self, loops: Sequence[For]) -> None:
        self._same: set[str] = set()
        self._loops = loops
        self._indices = {loop.index.name: depth for depth, loop in enumerate(loops)}
        self._shorter: dict[str, tuple[Extent, ...]] = {}
        self.reads: dict[tuple[Array, str], tuple[Extent, ...]] = {}

    def visit(self, statement: LoopBody, extents: tuple[Extent, ...]) -> None:
        """A statement inside of loops of those extents."""
        extents = self._under(statement.when, extents)
        used = [operand for operand in operands(statement) if isinstance(operand, Stream)]
        same = not extents or all(stream.name in self._same for stream in used)
        match statement:
            case OneToOne(outs=(out,), arguments=(Stream(name), Constant())) if name in self._indices:
                self._indices[out.name] = self._indices[name]  # a shorter array's index in a longer loop
            case OneToOne(function=function, arguments=arguments) | OneToMaybe(function=function, arguments=arguments):
                pairs = zip(function.parameters, arguments, strict=True)
                self.loads(function, frozenset(p for p, a in pairs if self._differs(a)), extents)
            case Scatter(combine=combine):
                self.loads(combine, frozenset(combine.parameters), extents)
            case Read(out=out, array=array, index=index):
                self.reads[array, out.name] = (
                    () if same else array.shape if self._is_own(array, index, extents) else extents
                )
            case Within(out, index, count=count):
                depth = self._indices[index.name]
                fewer = (*extents[:depth], count, *extents[depth + 1 :]) if isinstance(count, Extent) else extents
                self._shorter[out.name] = fewer
            case Remap() | ManyToOne() | Write():
                pass
            case _:
                assert_never(statement)
        if isinstance(statement, OneToMaybe):
            self._shorter[statement.out.name] = extents
        if same and not isinstance(statement, ManyToOne):
            self._same.update(stream.name for stream in made(statement))

    def _under(self, guard: Guard, extents: tuple[Extent, ...]) -> tuple[Extent, ...]:
        """The iterations of loops of those extents in which a guard holds, but for filters."""
        fewer = () if guard is None else self._shorter.get(guard.name, ())
        return fewer + extents[len(fewer) :]

    def _is_own(self, array: Array, index: Sequence[Operand], extents: tuple[Extent, ...]) -> bool:
        """Whether the loops visit an array in its own order: loop d counts through its dimension d, and there are no more."""
        if len(array.shape) != len(extents):
            return False  # replicated: read again in every turn of the loops within
        places = [self._indices.get(operand.name) for operand in index if isinstance(operand, Stream)]
        if places != list(range(len(array.shape))):
            return False
        return all(_covers(loop.extent, extent) for loop, extent in zip(self._loops, array.shape, strict=False))

    def _differs(self, operand: Operand) -> bool:
        return isinstance(operand, Stream) and operand.name not in self._same

    def loads(self, function: Function, differing: frozenset[Variable], extents: tuple[Extent, ...]) -> None:
        """The arrays that a scalar function indexes: once for each iteration, or once if the index is always the same."""
        differing = _spread(function, differing)
        for statement in function_statements(function):
            if isinstance(statement, scalar.Load):
                varies = not differing.isdisjoint(_variables(statement.index))
                known = self.reads.setdefault((statement.array, ""), ())
                if varies and len(known) < len(extents):
                    self.reads[statement.array, ""] = extents


def _covers(loop: Operand, extent: Extent) -> bool:
    """Whether a loop visits all of a dimension: it may be longer, by an exclusive scan's one, but not shorter."""
    return isinstance(loop, Extent) and loop.variable == extent.variable and loop.offset >= extent.offset


def _variables(some: Iterable[scalar.Operand]) -> frozenset[Variable]:
    return frozenset(operand for operand in some if isinstance(operand, Variable))


def _spread(function: Function, differing: frozenset[Variable]) -> frozenset[Variable]:
    """All variables of a function that differ between calls, given the parameters that do."""
    found = set(differing)
    while True:
        before = len(found)
        for statement in function_statements(function):
            match statement:
                case scalar.Compute(out, _, arguments) | scalar.Load(out, _, arguments):
                    if not found.isdisjoint(_variables(arguments)):
                        found.add(out)
                case scalar.If(outs, condition, then, orelse):
                    if not found.isdisjoint(_variables((condition, *then.results, *orelse.results))):
                        found.update(outs)
                case scalar.While(outs, parameters):
                    found.update(outs, parameters)  # a scalar loop: taken to differ
                case _:
                    assert_never(statement)
        if len(found) == before:
            return frozenset(found)
