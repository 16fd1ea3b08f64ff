"""Series: nests that follow each other and run together, some rows at a time, so that these stay in cache from one to the next.

In: a loop program. Out: its series. The outermost loops of a series' nests have the same extent, carry nothing, and of what
those before it made a nest reads only rows of its own number: so these can be made just before. Softmax and normalisations of
rows are series of folds and maps, which then read memory once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias, assert_never

from accel.errors import AccelInternalError
from accel.ir import mentions
from accel.ir.nodes import (
    Branch,
    HostCall,
    HostSizes,
    Launch,
    LoopDirection,
    Nest,
    OneToMaybe,
    OneToOne,
    Operand,
    Program,
    Read,
    Remap,
    Repeat,
    Require,
    Scatter,
    Sort,
    Step,
    Stream,
    View,
    Within,
    Write,
)
from accel.labelled.array import Array, Extent
from accel.labelled.programs import loaded
from accel.labelled.scalar import Function, Load, While
from accel.schedule.nodes import Series
from accel.schedule.templates.blocks import blocks
from accel.schedule.templates.column_scans import column_scans
from accel.schedule.templates.columns import columns
from accel.schedule.templates.rows import on_threads
from accel.schedule.templates.tile import tile

Row: TypeAlias = "tuple[Extent, ...]"
"""How long the rows of a nest are, as a product, where all nests of a series must have rows of one length; else nothing."""

ByRows: TypeAlias = Callable[[Nest], "Row | None"]
"""Which nests run by rows: None for those that do not."""


def program_series(program: Program, by_rows: ByRows) -> tuple[Series, ...]:
    """All series of a program, in order, made of those of its nests that run by rows."""
    found: list[Series] = []
    for part in mentions.programs(program):
        draft = _Draft(by_rows)
        for step in part.steps:
            nest = step.nest if isinstance(step, Launch) else None
            if nest is not None and draft.against(nest) is None:
                draft.add(nest)
                continue
            found += _series(draft.nests, program)
            draft = _Draft(by_rows)
            if nest is not None and draft.against(nest) is None:
                draft.add(nest)
        found += _series(draft.nests, program)
    return tuple(found)


def _series(nests: Sequence[Nest], program: Program) -> Iterator[Series]:
    """One series of nests that may be one, if that is worth it: some array has rows that several of them visit."""
    extent = _extent(nests[0]) if len(nests) > 1 else None
    if not isinstance(extent, Extent):
        return
    every = [rows(nest) for nest in nests]
    whole = {array for found in every for array, by_rows in found.items() if not by_rows}
    arrays = sorted({array for found in every for array in found} - whole, key=lambda array: (array.label, array.leaf))
    if not any(len(array.shape) > 1 and sum(array in found for found in every) > 1 for array in arrays):
        return
    needed = _needed(program, nests)
    made = {output.array for nest in nests for output in nest.outputs}
    passed = [array for array in arrays if array in made and array not in needed and len(array.shape) > 1]
    yield Series(tuple(nests), extent, tuple(arrays), tuple(passed))


def verify_series(series: Series, by_rows: ByRows) -> None:
    """Raises `AccelInternalError` unless the nests may run together, and what is passed is made before it is read."""
    draft, reason = _Draft(by_rows), None
    for nest in series.nests:
        reason = reason or draft.against(nest)
        draft.add(nest)
    if reason is None and not set(series.passed) <= set(series.rows):
        reason = "what is passed is not visited by rows"
    if reason is not None:
        raise AccelInternalError(f"a series of {', '.join(f'%{nest.label}' for nest in series.nests)}: {reason}")


class _Draft:
    """Nests that follow each other and may be a series."""

    def __init__(self, by_rows: ByRows) -> None:
        self.nests: list[Nest] = []
        self._by_rows = by_rows
        self._row: Row = ()
        self._made: dict[Array, bool] = {}
        self._visited: set[Array] = set()

    def against(self, nest: Nest) -> str | None:
        """Why a nest may not be the next one; None if it may."""
        row = self._by_rows(nest) if _may_wait(nest) else None
        if row is None:
            return f"%{nest.label} does not run by rows"
        if row and self._row and row != self._row:
            return f"%{nest.label} has rows of another length"
        if self.nests and _extent(nest) != _extent(self.nests[0]):
            return f"%{nest.label} has other rows"
        for array, by_rows in rows(nest).items():
            if array in self._made and not (by_rows and self._made[array]):
                return f"%{nest.label} needs other rows of %{array.label}"
        if any(output.array in self._visited for output in nest.outputs):
            return f"%{nest.label} makes what is needed before"
        return None

    def add(self, nest: Nest) -> None:
        """The next nest."""
        found = rows(nest)
        self._row = self._row or self._by_rows(nest) or ()
        self._made.update((output.array, found.get(output.array, False)) for output in nest.outputs)
        self._visited.update(found)
        self.nests.append(nest)


def _extent(nest: Nest) -> Operand | None:
    return None if nest.body.loop is None else nest.body.loop.extent


def _may_wait(nest: Nest) -> bool:
    """Whether nothing of a nest need be known before others run, and it does not look for interrupts meanwhile."""
    loop = nest.body.loop
    if loop is None or loop.states or nest.body.after or nest.counts or nest.in_place:
        return False
    if loop.direction is not LoopDirection.UP or not isinstance(loop.extent, Extent):
        return False
    inner = (s for function in mentions.functions(nest) for s in mentions.function_statements(function))
    return not any(isinstance(statement, While) for statement in inner)


def on_processor(nest: Nest) -> Row | None:
    """By rows as threads run them: no template suits the nest that visits more than one row at a time."""
    alone = on_threads(nest) and not any(suited(nest) for suited in (tile, columns, column_scans, blocks))
    return () if alone else None


def rows(nest: Nest) -> Mapping[Array, bool]:
    """For each array that the nest reads or writes, whether the outermost loop's index always stands in its first dimension."""
    found: dict[Array, bool] = {}
    for array, own in _accesses(nest):
        found[array] = found.get(array, True) and own
    return found


def _accesses(nest: Nest) -> Iterator[tuple[Array, bool]]:
    assert nest.body.loop is not None
    own: set[Operand] = {nest.body.loop.index}
    for statement in mentions.statements(nest):
        if isinstance(statement, Remap):
            pairs = zip(statement.outs, statement.arguments, strict=True)
            own.update(out for out, argument in pairs if argument in own)

    def is_own(index: Sequence[Operand]) -> bool:
        return bool(index) and index[0] in own

    for state in mentions.states(nest):
        yield from ((array, False) for array in loaded(state.merge))
    for statement in mentions.statements(nest):
        match statement:
            case Read(array=array, index=index) | Write(array=array, index=index):
                yield array, is_own(index)
            case OneToOne(function=function, arguments=arguments) | OneToMaybe(function=function, arguments=arguments):
                yield from _loads(function, [isinstance(a, Stream) and a in own for a in arguments])
            case Scatter(arrays=arrays, combine=combine):
                yield from ((array, False) for array in (*arrays, *loaded(combine)))
            case Remap() | Within():
                pass
            case _:
                yield from ()


def _loads(function: Function, own: Sequence[bool]) -> Iterator[tuple[Array, bool]]:
    """The arrays that a function loads from; `own`: which of its arguments are the outermost loop's index."""
    rows_of = {parameter for parameter, is_own in zip(function.parameters, own, strict=True) if is_own}
    for statement in mentions.function_statements(function):
        if isinstance(statement, Load):
            yield statement.array, bool(statement.index) and statement.index[0] in rows_of


def _needed(program: Program, nests: Sequence[Nest]) -> frozenset[Array]:
    """The arrays that a program needs elsewhere than in some nests."""
    parts = list(mentions.programs(program))
    found = {array for part in parts for array in part.results}
    for part in parts:
        for step in part.steps:
            if not (isinstance(step, Launch) and step.nest in nests):
                found |= _read(step)
    return frozenset(found)


def _read(step: Step) -> frozenset[Array]:
    match step:
        case Launch(nest):
            return mentions.arrays(nest)
        case View(sources=sources) | Sort(sources=sources) | HostCall(sources=sources) | Repeat(initial=sources):
            return frozenset(sources)
        case HostSizes(function=function):
            return loaded(function)
        case Branch(condition=condition):
            return frozenset((condition,))
        case Require():
            return frozenset()
        case _:
            assert_never(step)
