"""Series: nests that follow each other and run together, some rows at a time, so that these stay in cache from one to the next.

In: a loop program. Out: its series. The outermost loops of a series' nests have the same extents, carry nothing, and of what
those before it made a nest reads only rows of its own number: so these can be made just before. Softmax and normalisations of
rows are series of folds and maps, which then read memory once. On threads the first nest may run in tiles, as products do: what
folds the rows of distances reads them from cache.
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
    View,
    Within,
    Write,
)
from accel.labelled.array import Array, Extent
from accel.labelled.programs import loaded
from accel.labelled.scalar import Function, Load, Variable, While
from accel.schedule.nodes import Series
from accel.schedule.templates.blocks import blocks
from accel.schedule.templates.column_scans import column_scans
from accel.schedule.templates.columns import columns
from accel.schedule.templates.rows import on_threads
from accel.schedule.templates.tile import Tile, tile
from accel.support.dataclass import dataclass

Row: TypeAlias = "tuple[Extent, ...]"
"""How long the rows of a nest are, as a product, where all nests of a series must have rows of one length; else nothing."""

Rows: TypeAlias = Mapping[int, Row]
"""How a nest may run by rows: by how many of its outermost loops number them. Nothing if it does not."""

ByRows: TypeAlias = Callable[[Nest, bool], Rows]
"""Which nests run by rows; the flag says whether the nest is the first one of a series."""


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
            found += _series(draft, program)
            draft = _Draft(by_rows)
            if nest is not None and draft.against(nest) is None:
                draft.add(nest)
        found += _series(draft, program)
    return tuple(found)


def _series(draft: _Draft, program: Program) -> Iterator[Series]:
    """One series of nests that may be one, if that is worth it: some array has rows that several of them visit. Behind a nest
    that may only be the first there is one of the others, for launches whose sizes do not suit that nest."""
    nests = draft.nests
    if len(nests) < 2:
        return
    yield from _worth_it(draft, program)
    if not draft.by_rows(nests[0], False):
        others = _Draft(draft.by_rows)
        for nest in nests[1:]:
            others.add(nest)
        yield from _series(others, program)


def _worth_it(draft: _Draft, program: Program) -> Iterator[Series]:
    nests = draft.nests
    outer = min(draft.ways)
    every = [rows(nest, outer) for nest in nests]
    whole = {array for found in every for array, by_rows in found.items() if not by_rows}
    arrays = sorted({array for found in every for array in found} - whole, key=lambda array: (array.label, array.leaf))
    if not any(len(array.shape) > outer and sum(array in found for found in every) > 1 for array in arrays):
        return
    needed = _needed(program, nests)
    made = {output.array for nest in nests for output in nest.outputs}
    passed = [array for array in arrays if array in made and array not in needed and len(array.shape) > outer]
    yield Series(tuple(nests), _extents(nests[0], outer), tuple(arrays), tuple(passed))


def verify_series(series: Series, by_rows: ByRows) -> None:
    """Raises `AccelInternalError` unless the nests may run together, and what is passed is made before it is read."""
    outer = len(series.extents)

    def as_here(nest: Nest, first: bool) -> Rows:
        return {number: row for number, row in by_rows(nest, first).items() if number == outer}

    draft, reason = _Draft(as_here), None
    for nest in series.nests:
        reason = reason or draft.against(nest)
        draft.add(nest)
    if reason is None and not set(series.passed) <= set(series.rows):
        reason = "what is passed is not visited by rows"
    if reason is not None:
        raise AccelInternalError(f"a series of {', '.join(f'%{nest.label}' for nest in series.nests)}: {reason}")


@dataclass(frozen=True, slots=True)
class _Way:
    """How nests may be a series: how long their rows are, and what they made, each with whether it is visited by rows."""

    row: Row
    made: Mapping[Array, bool]


class _Draft:
    """Nests that follow each other and may be a series, in one way or several: by how many of their loops number rows."""

    def __init__(self, by_rows: ByRows) -> None:
        self.nests: list[Nest] = []
        self.ways: dict[int, _Way] = {}
        self.by_rows = by_rows
        self._visited: set[Array] = set()

    def against(self, nest: Nest) -> str | None:
        """Why a nest may not be the next one; None if it may."""
        found = self._rows_of(nest) if _may_wait(nest) else {}
        if any(output.array in self._visited for output in nest.outputs):
            return f"%{nest.label} makes what is needed before"
        reasons = [self._against(nest, outer, row) for outer, row in found.items()]
        return None if None in reasons else next(iter(reasons), f"%{nest.label} does not run by rows")

    def _against(self, nest: Nest, outer: int, row: Row) -> str | None:
        """The same where so many loops number rows."""
        if not self.nests:
            return None if _is_numbered(nest, outer) else f"%{nest.label} does not run by rows"
        way = self.ways.get(outer)
        if way is None:
            return f"%{nest.label} does not run by rows of the others"
        if row and way.row and row != way.row:
            return f"%{nest.label} has rows of another length"
        if not _is_numbered(nest, outer) or _extents(nest, outer) != _extents(self.nests[0], outer):
            return f"%{nest.label} has other rows"
        for array, by_rows in rows(nest, outer).items():
            if array in way.made and not (by_rows and way.made[array]):
                return f"%{nest.label} needs other rows of %{array.label}"
        return None

    def add(self, nest: Nest) -> None:
        """The next nest."""
        found = {outer: row for outer, row in self._rows_of(nest).items() if self._against(nest, outer, row) is None}
        self.ways = {outer: self._with(nest, outer, row) for outer, row in found.items()}
        self._visited.update(rows(nest, 1))
        self.nests.append(nest)

    def _rows_of(self, nest: Nest) -> Rows:
        return self.by_rows(nest, not self.nests)

    def _with(self, nest: Nest, outer: int, row: Row) -> _Way:
        old, found = self.ways.get(outer, _Way((), {})), rows(nest, outer)
        made = {output.array: found.get(output.array, False) for output in nest.outputs}
        return _Way(old.row or row, {**old.made, **made})


def _extents(nest: Nest, outer: int) -> tuple[Extent, ...]:
    """Those of so many outermost loops."""
    extents = [level.loop.extent for level in mentions.levels(nest) if level.loop is not None]
    return tuple(extent for extent in extents[:outer] if isinstance(extent, Extent))


def _is_numbered(nest: Nest, outer: int) -> bool:
    """Whether so many outermost loops number rows upwards, and how many there are is known."""
    every = mentions.loops(nest)[:outer]
    return len(_extents(nest, outer)) == outer and all(loop.direction is LoopDirection.UP for loop in every)


def _may_wait(nest: Nest) -> bool:
    """Whether nothing of a nest need be known before others run, and it does not look for interrupts meanwhile."""
    loop = nest.body.loop
    if loop is None or loop.states or nest.body.after or nest.counts or nest.in_place:
        return False
    inner = (s for function in mentions.functions(nest) for s in mentions.function_statements(function))
    return not any(isinstance(statement, While) for statement in inner)


def on_processor(nest: Nest, first: bool) -> Rows:
    """By rows as threads run them: no template suits the nest that visits more than one row at a time. The first one may run in
    tiles of some rows."""
    in_tiles = tile(nest)
    if in_tiles is not None:
        return {1: ()} if first and on_threads(nest) and tiles_of_rows(in_tiles) else {}
    alone = on_threads(nest) and not any(suited(nest) for suited in (columns, column_scans, blocks))
    return {1: ()} if alone else {}


def tiles_of_rows(found: Tile) -> bool:
    """Whether the rows of tiles are those of the nest's outermost loop: there are no loops around."""
    return not found.batch


def rows(nest: Nest, outer: int) -> Mapping[Array, bool]:
    """For each array that the nest reads or writes, whether the indices of the outermost loops, so many, always stand in its
    first dimensions."""
    found: dict[Array, bool] = {}
    for array, own in _accesses(nest, outer):
        found[array] = found.get(array, True) and own
    return found


def _accesses(nest: Nest, outer: int) -> Iterator[tuple[Array, bool]]:
    every = mentions.loops(nest)[:outer]
    own: dict[Operand, int] = {loop.index: depth for depth, loop in enumerate(every)}
    for statement in mentions.statements(nest):
        if isinstance(statement, Remap):
            pairs = zip(statement.outs, statement.arguments, strict=True)
            own.update((out, own[argument]) for out, argument in pairs if argument in own)

    def is_own(index: Sequence[Operand]) -> bool:
        return [own.get(each) for each in index[:outer]] == list(range(outer))

    for state in mentions.states(nest):
        yield from ((array, False) for array in loaded(state.merge))
    for statement in mentions.statements(nest):
        match statement:
            case Read(array=array, index=index) | Write(array=array, index=index):
                yield array, is_own(index)
            case OneToOne(function=function, arguments=arguments) | OneToMaybe(function=function, arguments=arguments):
                yield from _loads(function, [own.get(a) for a in arguments], outer)
            case Scatter(arrays=arrays, combine=combine):
                yield from ((array, False) for array in (*arrays, *loaded(combine)))
            case Remap() | Within():
                pass
            case _:
                yield from ()


def _loads(function: Function, own: Sequence[int | None], outer: int) -> Iterator[tuple[Array, bool]]:
    """The arrays that a function loads from; `own`: of which loop of a row's number its arguments are the index, if of any."""
    rows_of = dict(zip(function.parameters, own, strict=True))
    for statement in mentions.function_statements(function):
        if isinstance(statement, Load):
            found = [rows_of.get(each) if isinstance(each, Variable) else None for each in statement.index[:outer]]
            yield statement.array, found == list(range(outer))


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
