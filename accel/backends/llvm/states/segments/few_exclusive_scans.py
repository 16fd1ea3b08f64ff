"""Exclusive scans of segments of a few elements, some segments at a time, which make one result more than each has.

In: segments, as many as there are lanes, none of which has more than `FEWEST` elements, and a loop over the elements of each
that asks for nothing of the segment but where its elements and results are. Out: the elements are scanned as one row
(`few_scans.py`). Then each segment puts its seed and what stands behind it into a row of results: as many as the longest would
have, of which the next segment writes over what is too much. What is done with results runs in that row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64, ScalarType
from accel.backends.llvm.emit.values import Progression, Value
from accel.backends.llvm.states.segments.few_scans import Row, only_scans
from accel.backends.llvm.states.segments.few_segments import FEWEST, FewSegments
from accel.backends.llvm.states.segments.group import SegmentGroup, no_step, segment_of, statements_of
from accel.backends.llvm.text.code import memory_type, to_memory
from accel.ir import flow
from accel.ir.nodes import (
    For,
    LoopBody,
    LoopDirection,
    ManyToOne,
    OneToOne,
    Operand,
    Read,
    Remap,
    State,
    Stream,
    Within,
    Write,
)
from accel.labelled.scalar import Compute, constant
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class _Rows:
    """What is done with the elements of segments, which stand at `place`, and with the results, at `target`."""

    place: Stream
    target: Stream
    elements: tuple[LoopBody, ...]
    results: tuple[LoopBody, ...]


def in_two_rows(loop: For) -> bool:
    """Whether a loop over segments only scans each, and what is done with elements and results depends on nothing else."""
    return _rows(loop) is not None


def _rows(loop: For) -> _Rows | None:
    inner = loop.body.loop
    found = segment_of(loop)
    if inner is None or found is None or not only_scans(loop):
        return None
    segment, more = found
    start, _, count = segment.outs
    down = inner.direction is LoopDirection.DOWN
    inside = statements_of(inner)
    keeps = [s for s in inside if isinstance(s, Within)]
    if more != 1 or len(keeps) != 1 or keeps[0] != Within(keeps[0].out, inner.index, int(down), count):
        return None
    keep = keeps[0].out
    one_less = (constant(I64, -1),) if down else ()
    places = [s for s in inside if s.when == keep and _adds(s, (start, inner.index, *one_less))]
    targets = [s for s in inside if s.when is None and _adds(s, (start, loop.index, inner.index))]
    if len(places) != 1 or len(targets) != 1:
        return None
    (place,), (target,) = (flow.made(s) for s in (places[0], targets[0]))
    elements = [s for s in inside if s.when == keep and s != places[0]]
    results = [s for s in inside if s.when != keep and s not in (keeps[0], targets[0])]
    steps = [s for s in elements if isinstance(s, ManyToOne)]
    befores = {stream.name for step in steps for stream in step.before}
    around = _names(flow.made(s) for s in loop.body.before) | {loop.index.name, inner.index.name}
    apart = _names(flow.made(s) for s in elements) - befores | {place.name, keep.name}
    seeds = _names(flow.state_needs(state) for state in inner.states)
    by_elements = _names(flow.needed(replace(s, when=None)) for s in elements)
    by_results = _names(flow.needed(s) for s in results)
    if by_elements & (around | befores | {target.name} | _names(flow.made(s) for s in results)) or seeds & around:
        return None
    if by_results & (around | apart) or any(step.after for step in steps):
        return None
    if not all(isinstance(s, OneToOne | Remap | Read | Write) and s.when is None for s in results):
        return None
    if not all(isinstance(s, OneToOne | Remap | Read | Write | ManyToOne) for s in elements):
        return None
    if any(state.initial is None for state in inner.states):
        return None
    scanned = [
        replace(s, before=(), when=None) if isinstance(s, ManyToOne) else replace(s, when=None) for s in elements
    ]
    return _Rows(place, target, tuple(scanned), tuple(results))


def _names(streams: Iterable[Iterable[Stream]]) -> set[str]:
    return {stream.name for some in streams for stream in some}


def _adds(statement: LoopBody, arguments: tuple[Operand, ...]) -> bool:
    """Whether a statement does nothing but add these up."""
    if not isinstance(statement, OneToOne) or statement.arguments != arguments:
        return False
    body, left = statement.function.body, set(statement.function.parameters)
    for compute in body.statements:
        if not isinstance(compute, Compute) or compute.operator is not Operator.ADD:
            return False
        if len(set(compute.arguments)) != 2 or not left.issuperset(compute.arguments):
            return False
        left = left.difference(compute.arguments) | {compute.out}
    return set(body.results) == left and len(left) == 1


def write(segments: FewSegments) -> None:
    """The scans of segments that have begun, and what is made of elements and results."""
    segments.finish_before()
    rows = _rows(segments.group.loop)
    assert rows is not None, "there are rows of elements and of results"
    row = Row(segments)
    kept = {state.name: _Results(segments.group, state) for state in segments.group.inner.states}
    with row.registers(rows.place) as (made, mask, masks, turn):

        def step(
            statement: ManyToOne, values: Sequence[Value], active: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            _, after = row.scans[statement.state].step(values, masks)
            kept[statement.state].keep(after, turn)
            return (), ()

        statements = segments.group.statements(made, step)
        for statement in rows.elements:
            statements.masked(statement, mask)
    for state in kept.values():
        state.spread(row.begins)
    _write_results(segments, rows, kept, row.down)


def _write_results(segments: FewSegments, rows: _Rows, kept: dict[str, _Results], down: bool) -> None:
    """What is done with results, a register of them at a time."""
    group, code, lanes = segments.group, segments.group.routine.code, segments.group.lanes
    at = segments.made[group.loop.index.name]
    assert isinstance(at, Progression), "segments are counted"
    count = code.emit(f"add i64 {segments.ends[-1]}, {lanes}")
    first = code.emit(f"add i64 {segments.first}, {at.base}")
    if down:
        first = code.emit(f"sub i64 {code.emit(f'add i64 {first}, {count}')}, 1")
    operation, stride = ("sub", -1) if down else ("add", 1)
    steps = [s for s in statements_of(group.inner) if isinstance(s, ManyToOne)]
    with group.routine.count("0", count, lanes) as turn:
        mask = group.writer.first_lanes(code.emit(f"sub i64 {count}, {turn}"))
        made = dict(segments.made)
        made[rows.target.name] = Progression(code.emit(f"{operation} i64 {first}, {turn}"), stride)
        for step in steps:
            for stream, value in zip(step.before, kept[step.state].load(turn), strict=False):
                made[stream.name] = value
        statements = group.statements(made, no_step)
        for statement in rows.results:
            statements.masked(statement, mask)


class _Results:
    """What a state is before each element and behind the last one, of all segments, in memory: leaf by leaf."""

    def __init__(self, group: SegmentGroup, state: State) -> None:
        self._group, self._state = group, state
        self._initial = group.outside().values(state.initial or ())
        self._kinds = [final.type for final in state.finals]
        # A register is stored at each multiple of its length, and FEWEST elements behind each seed.
        elements, results = (FEWEST + 1) * group.lanes, (FEWEST + 2) * group.lanes + FEWEST
        self._behind, self._all = (
            [group.routine.slot(memory_type(kind), count, align=64) for kind in self._kinds]
            for count in (elements, results)
        )

    def keep(self, after: Sequence[Value], turn: str) -> None:
        """A register of what the state is behind elements."""
        for kind, slot, value in zip(self._kinds, self._behind, after, strict=True):
            self._group.memory.store_vector(kind, value, self._address(kind, slot, turn), None)

    def spread(self, begins: Sequence[str]) -> None:
        """Results of all segments, of which these say behind how many elements each begins, in the order of visits."""
        code = self._group.routine.code
        leaves = zip(self._kinds, self._behind, self._all, self._initial, strict=True)
        for kind, behind, results, initial in leaves:
            piece, seed = f"<{FEWEST} x {memory_type(kind)}>", to_memory(code, kind, self._group.writer.one(initial))
            for number, begin in enumerate(begins):
                found = code.emit(f"load {piece}, ptr {self._address(kind, behind, begin)}, align {kind.bytes}")
                there = self._address(kind, results, code.emit(f"add i64 {begin}, {number}"))
                code.line(f"store {memory_type(kind)} {seed}, ptr {there}, align {kind.bytes}")
                next_ = self._address(kind, there, "1")
                code.line(f"store {piece} {found}, ptr {next_}, align {kind.bytes}")

    def load(self, turn: str) -> list[Value]:
        """A register of results."""
        memory = self._group.memory
        pairs = zip(self._kinds, self._all, strict=True)
        return [memory.load_vector(kind, self._address(kind, slot, turn), None) for kind, slot in pairs]

    def _address(self, kind: ScalarType, slot: str, place: str) -> str:
        return self._group.routine.code.emit(f"getelementptr {memory_type(kind)}, ptr {slot}, i64 {place}")
