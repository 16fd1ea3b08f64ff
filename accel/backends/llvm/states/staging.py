"""Folds behind filters, over several loops, and that do not commute, in vector code: elements are packed into a tile, full
tiles folded as blocks.

The order of folds counts the elements that were kept, over all loops that it folds, so lanes of a loop are not lanes of the
order; the lanes of a fold that does not commute are runs. A tile holds one block of 4096; `@<name>_tile` folds what stands in
it, or its first block, pushes the result, and moves what is behind to the front.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext

from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.lanes.packing import set_lanes
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.states.accumulators import Accumulator, OrderedFold, Tools, Unit
from accel.backends.llvm.states.pieces import Pieces, tiles_at
from accel.backends.llvm.states.records import TILE_SLACK, Record
from accel.backends.llvm.states.staged_runs import RunsFold
from accel.backends.llvm.text.code import memory_type
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.routine import Routine
from accel.labelled.meaning.order import BLOCK
from accel.labelled.meaning.order import lanes as order_lanes

_LANES = 16
"""Lanes of the loop over a tile; twice as many are half of the least order's."""


def _tiles(routine: Routine, record: Record, pointer: str) -> list[str]:
    """Where the leaves' tiles begin."""
    return tiles_at(routine, record.state.element, pointer, record.tiles)


def _element(routine: Routine, kind: str, tile: str, position: str) -> str:
    return routine.code.emit(f"getelementptr {kind}, ptr {tile}, i64 {position}")


class StagedFold(Accumulator):
    """A fold whose elements are the lanes of a mask; blocks are those of what is kept.

    `whole`: only lanes behind a loop's end are not set, so that the set ones are adjacent.
    """

    def __init__(self, tools: Tools, memory: Memory, record: Record, pointer: str, *, whole: bool) -> None:
        self._tools = tools
        self._memory = memory
        self._record = record
        self._pointer = pointer
        self._whole = whole
        self._count = tools.routine.slot("i64")

    def _counter(self) -> str:
        return self._tools.routine.offset(self._pointer, self._record.extra)

    def begin(self) -> None:
        """The tile goes on."""
        self._move(self._counter(), self._count)

    def _move(self, source: str, target: str) -> None:
        routine = self._tools.routine
        routine.store("i64", routine.load("i64", source), target)

    def step(self, values: Sequence[Value], mask: str | None, unit: Unit) -> tuple[Sequence[Value], Sequence[Value]]:
        """The lanes of the mask go to the tile's end; a full tile is folded."""
        routine, record, writer = self._tools.routine, self._record, self._tools.writer
        some = mask or writer.code.splat("i1", "true")
        count = routine.load("i64", self._count)
        tiles = _tiles(routine, record, self._pointer)
        for value, element, tile in zip(values, record.state.element, tiles, strict=True):
            place = _element(routine, memory_type(element), tile, count)
            # What is behind the set lanes is written again, or never read.
            self._memory.store_front(element, value, None if self._whole else some, place)
        taken = str(writer.lanes) if mask is None else set_lanes(writer.code, mask)
        more = routine.code.emit(f"add i64 {count}, {taken}")
        routine.store("i64", more, self._count)
        with routine.when(routine.code.emit(f"icmp sge i64 {more}, {BLOCK}")):
            self._move(self._count, self._counter())
            routine.code.line(f"call void @{record.name}_tile(ptr %frame, ptr {self._pointer})")
            self._move(self._counter(), self._count)
        return (), ()

    def end(self) -> None:
        """The record knows how far the tile is filled."""
        self._move(self._count, self._counter())


def tile_routine(record: Record) -> Routine:
    """`@<name>_tile(frame, record)`: at most a block of elements becomes one result."""
    routine = Routine(f"void @{record.name}_tile(ptr %frame, ptr %record)")
    code, writer = routine.code, Writer(routine.code, _LANES)
    memory = Memory(FrameView(routine, record.frame), writer, "ret void", record.sites)
    tools = Tools(routine, writer, Functions(writer, memory))
    counter = routine.offset("%record", record.extra)
    count = routine.load("i64", counter)
    present = routine.least(count, str(BLOCK))
    tiles = _tiles(routine, record, "%record")
    with Pieces(record).folding(routine) if record.has_pieces else nullcontext():
        if record.state.monoid.commutes:
            _fold_lanes(tools, memory, record, tiles, present)
        else:
            partial = routine.slot("i64", record.leaves)
            record.store(routine, RunsFold(tools, memory, record, tiles).fold(present), partial, 0)
            record.push(routine, "%record", partial)
    routine.store("i64", code.emit(f"sub i64 {count}, {present}"), counter)
    with routine.when(code.emit(f"icmp sgt i64 {count}, {present}")):
        for kind, tile in zip(record.state.element, tiles, strict=True):
            behind = _element(routine, memory_type(kind), tile, present)
            routine.copy(tile, behind, TILE_SLACK * kind.bytes)
    code.line("ret void")
    memory.close()
    return routine


def _fold_lanes(tools: Tools, memory: Memory, record: Record, tiles: Sequence[str], present: str) -> None:
    """What stands in the tiles, as a block of a fold that commutes."""
    routine, code, writer = tools.routine, tools.routine.code, tools.writer
    group = order_lanes(record.state.types) // _LANES
    fold = OrderedFold(tools, record, "%record", group)

    def step(position: str, number: int | None, mask: str | None) -> None:
        elements = [
            memory.load_vector(kind, _element(routine, memory_type(kind), tile, position), mask)
            for kind, tile in zip(record.state.element, tiles, strict=True)
        ]
        fold.step(elements, mask, Unit(position, number, "0"))

    fold.begin_block()
    place = routine.slot("i64")
    routine.store("i64", "0", place)
    with routine.advance(place, code.emit(f"sub i64 {present}, {group * _LANES - 1}"), group * _LANES) as first:
        for number in range(group):
            step(code.emit(f"add i64 {first}, {number * _LANES}") if number else first, number, None)
    fold.begin_tail()
    with routine.advance(place, code.emit(f"sub i64 {present}, {_LANES - 1}"), _LANES) as position:
        step(position, None, None)
    rest = routine.load("i64", place)
    with routine.when(code.emit(f"icmp slt i64 {rest}, {present}")):
        step(rest, None, writer.first_lanes(code.emit(f"sub i64 {present}, {rest}")))
    fold.end_tail()
    fold.end_block("0", present)
