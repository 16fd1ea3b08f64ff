"""Folds of short rows, some rows at a time: tiles are filled with them, transposed, and every lane folds a row.

What rows come to may be folded in turn: then each lane steps an accumulator of the rows' loop, as lanes of a vector loop do.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.lanes.transpose import rows_at_once
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.chunks import fold_in_chunks, leave_if_failed
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.loops.schedule import note_streaming
from accel.backends.llvm.machine.processor import REGISTER_BYTES
from accel.backends.llvm.states.accumulators import Tools
from accel.backends.llvm.states.outer_folds import OuterFolds
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.states.row_folds import RowFold
from accel.backends.llvm.states.row_places import RowPlace
from accel.backends.llvm.templates.launch import launch
from accel.backends.llvm.templates.tiles import Piece, Tile
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import ManyToOne, Write
from accel.schedule.templates.short_rows import ShortRows

TYPICAL = 16
"""Elements of a row, where their number is not known: it decides how many rows a thread takes at once."""


class RowLoops:
    """One nest with lanes across its rows: an `Alternative` to them."""

    def __init__(self, text: NestText, rows: ShortRows) -> None:
        self._text = text
        self._rows = rows
        self._lanes = _lanes(rows)
        self._least = max(rows_at_once(each.read.array.element) for each in rows.across)
        self._group = max(self._lanes, self._least)

    def applies(self, levels: Levels) -> str:
        """Whether rows are short, but not empty, and there are enough of them side by side: an i1."""
        code = levels.routine.code
        row, count = levels.extent(self._rows.fold), levels.extent(self._rows.lanes)
        short = code.emit(f"icmp ult i64 {code.emit(f'sub i64 {row}, 1')}, {self._rows.longest}")
        return code.emit(f"and i1 {short}, {code.emit(f'icmp sge i64 {count}, {self._least}')}")

    def run(self, levels: Levels) -> None:
        """All rows."""
        if self._rows.lanes.states:
            name = f"{self._text.name}_short_rows"
            self._text.routines.append(self._body(name))
            fold_in_chunks(self._text, levels, self._rows.lanes, name, self._group)
            return
        code, parts, elements = levels.routine.code, "1", levels.extent(self._rows.fold)
        for loop in self._rows.loops:
            extent = levels.extent(loop)
            elements = code.emit(f"mul i64 {elements}, {extent}")
            some = code.parts(extent, str(self._group)) if loop == self._rows.lanes else extent
            parts = code.emit(f"mul i64 {parts}, {some}")
        self._text.routines.append(self._routine())
        note_streaming(self._text, levels, elements, 1)
        launch(self._text, levels, f"@{self._text.name}_short_rows", parts, elements, self._group * TYPICAL)

    def _body(self, name: str) -> Routine:
        """`@<name>_body(frame, records, low, high)`: some rows, from the first of a block on, for the records."""
        routine = Routine(f"void @{name}_body(ptr %frame, ptr %records, i64 %low, i64 %high)")
        levels, code = Levels(self._text, routine, "ret void"), routine.code
        folds, length = self._folds(levels), levels.extent(self._rows.fold)
        with folds.outer.blocks("%low", "%high") as (start, end), routine.count(start, end, self._group) as low:
            folds.fill(Piece(low, routine.least(code.emit(f"add i64 {low}, {self._group}"), end)), length, start)
        code.line("ret void")
        levels.memory.close()
        return routine

    def _folds(self, levels: Levels) -> _Folds:
        rows = self._rows
        most = {rows.lanes.index.name: self._group, rows.fold.index.name: rows.longest}
        tiles = [Tile(levels, each, rows.lanes, [rows.fold], most) for each in rows.across]
        return _Folds(levels, rows, tiles, self._lanes, [self._text.records[s.name] for s in rows.lanes.states])

    def _routine(self) -> Routine:
        """`@<name>_short_rows(frame, low, high)`: some of the groups of rows."""
        routine = Routine(f"void @{self._text.name}_short_rows(ptr %frame, i64 %low, i64 %high)")
        levels, rows, code = Levels(self._text, routine, "ret void"), self._rows, routine.code
        leave_if_failed(levels.view)
        extents = [levels.extent(loop) for loop in rows.loops]
        groups, length = code.parts(extents[-1], str(self._group)), levels.extent(rows.fold)
        folds = self._folds(levels)
        with routine.count("%low", "%high") as number:
            *outer, group = code.indices(number, [*extents[:-1], groups])
            for loop, index in zip(rows.loops[:-1], outer, strict=True):
                levels.streams.made[loop.index.name] = Uniform(index, I64)
            low = code.emit(f"mul i64 {group}, {self._group}")
            piece = Piece(low, routine.least(code.emit(f"add i64 {low}, {self._group}"), extents[-1]))
            folds.fill(piece, length)
        code.line("ret void")
        levels.memory.close()
        return routine


def _lanes(rows: ShortRows) -> int:
    """As many as fill a vector register with the widest elements that move."""
    widths = [each.read.array.element.bytes for each in rows.across]
    widths += [final.type.bytes for s in (*rows.fold.states, *rows.lanes.states) for final in s.finals]
    widths += [statement.array.element.bytes for statement in rows.after if isinstance(statement, Write)]
    return max(8, min(32, REGISTER_BYTES // max(widths)))


class _Folds:
    """The rows of a group, folded in lanes. outer: the records of the states of the rows' own loop, from `%records` on."""

    def __init__(
        self,
        levels: Levels,
        rows: ShortRows,
        tiles: Sequence[Tile],
        lanes: int,
        outer: Sequence[Record],
    ) -> None:
        self._levels = levels
        self._rows = rows
        self._tiles = tiles
        self._writer = Writer(levels.routine.code, lanes)
        self._memory = levels.memory.with_writer(self._writer)
        self._functions = Functions(self._writer, self._memory)
        self._folds = {
            state.name: RowPlace(levels.routine, self._writer, state)
            if state.name in rows.places
            else RowFold(levels.routine, self._writer, self._functions, state, rows.longest)
            for state in rows.fold.states
        }
        tools = Tools(levels.routine, self._writer, self._functions)
        self.outer = OuterFolds(tools, outer, "%records")

    def fill(self, piece: Piece, length: str, start: str = "0") -> None:
        """All rows of a group, each of that length; the last vector under a mask if there are fewer rows than lanes. `start`:
        the row with which a block of the order begins."""
        for tile in self._tiles:
            tile.fill({self._rows.lanes.index.name: piece, self._rows.fold.index.name: Piece("0", length)})
        routine, code, lanes = self._levels.routine, self._levels.routine.code, self._writer.lanes
        position = routine.slot("i64")
        routine.store("i64", piece.low, position)
        with routine.advance(position, code.emit(f"sub i64 {piece.high}, {lanes - 1}"), lanes) as at:
            self._vector(piece, at, length, None, start)
        rest = routine.load("i64", position)
        with routine.when(code.emit(f"icmp slt i64 {rest}, {piece.high}")):
            mask = self._writer.first_lanes(code.emit(f"sub i64 {piece.high}, {rest}"))
            self._vector(piece, rest, length, mask, start)

    def _vector(self, piece: Piece, at: str, length: str, mask: str | None, start: str) -> None:
        rows, made = self._rows, dict(self._levels.streams.made)
        made[rows.lanes.index.name] = Progression(at, 1)
        streams = Streams(self._memory, made)

        def step(
            statement: ManyToOne, values: Sequence[Value], active: str | None
        ) -> tuple[Sequence[Value], Sequence[Value]]:
            if statement.state in self.outer:
                return self.outer.step(statement.state, values, active, at, start)
            # Lanes that are not active fold whatever stands there; nobody sees it.
            self._folds[statement.state].step(values, self._writer.one(made[rows.fold.index.name]))
            return (), ()

        statements = Statements(self._writer, self._memory, streams, step)
        for statement in rows.before:
            statements.masked(statement, mask)
        for fold in self._folds.values():
            fold.begin()
        outside = dict(made)
        with self._levels.routine.count("0", length) as number:
            made[rows.fold.index.name] = Uniform(number, I64)
            self._load_tiles(made, number, piece, at)
            for statement in rows.steps:
                statements.masked(statement, mask)
        made.clear()
        made.update(outside)
        for state in rows.fold.states:
            total = self._folds[state.name].total(length)
            if state.initial is not None:
                total = self._functions.apply(state.merge, [*streams.values(state.initial), *total], None)
            streams.bind(state.finals, total)
        for statement in rows.after:
            statements.masked(statement, mask)

    def _load_tiles(self, made: dict[str, Value], number: str, piece: Piece, at: str) -> None:
        """The elements of that number."""
        code = self._levels.routine.code
        place = code.emit(f"sub i64 {at}, {piece.low}")
        for across, tile in zip(self._rows.across, self._tiles, strict=True):
            kind = across.read.array.element
            row = tile.row({across.axis.index.name: number})
            address = code.emit(f"getelementptr i8, ptr {row}, i64 {code.emit(f'mul i64 {place}, {kind.bytes}')}")
            made[across.read.out.name] = self._memory.load_vector(kind, address, None)
