"""Packs of a tiled nest: what one side needs, computed once and laid out as tiles read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from accel.ast.tree.types import I64, ScalarType
from accel.backends.llvm.emit.asked import ask_to_write
from accel.backends.llvm.emit.lanes.transpose import interleaved, shuffled
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.templates.tile.ahead import LINES_AHEAD, ROWS_AHEAD, ask, matrices
from accel.backends.llvm.templates.tile.digit_rows import DigitRows, Place
from accel.backends.llvm.templates.tile.layout import Layout, Panel, Parameters, Word
from accel.backends.llvm.templates.tile.odd import OddFloats
from accel.backends.llvm.text.code import memory_type
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.errors import AccelInternalError
from accel.ir.nodes import ManyToOne

TOGETHER = 16
"""Entries of the table of places that are written at once."""


def places(name: str, order_lanes: int) -> Routine:
    """Fills a table: where in a panel each of `count` elements stands, by lanes with reversed bits, then by steps.

    `more` entries follow, all with the place of the last element, and room for `TOGETHER`. Returns which lanes have a step that
    others lack: a bit for each, in the order of places.
    """
    routine = Routine(f"i64 @{name}(ptr %table, i64 %count, i64 %log, i64 %steps, i64 %more)", hot=False)
    code, longer = routine.code, routine.slot("i64")
    routine.store("i64", "0", longer)
    mask = code.emit(f"sub i64 {code.emit('shl i64 1, %log')}, 1")

    def entry(number: str) -> str:
        return code.emit(f"getelementptr i32, ptr %table, i64 {number}")

    # What has more elements than lanes has all lanes of the order: each entry follows from the one so many before.
    period = max(TOGETHER, order_lanes)
    with routine.count("0", routine.least("%count", str(period))) as element:
        lane = reversed_lane(routine, code.emit(f"and i64 {element}, {mask}"), "%log")
        step = code.emit(f"lshr i64 {element}, %log")
        place = code.emit(f"add i64 {code.emit(f'mul i64 {lane}, %steps')}, {step}")
        routine.store("i32", code.emit(f"trunc i64 {place} to i32"), entry(element))
    vector, further = f"<{TOGETHER} x i32>", f"splat (i32 {period // order_lanes})"
    with routine.count(str(period), "%count", TOGETHER) as element:
        before = code.emit(f"load {vector}, ptr {entry(code.emit(f'sub i64 {element}, {period}'))}, align 4")
        code.line(f"store {vector} {code.emit(f'add {vector} {before}, {further}')}, ptr {entry(element)}, align 4")
    last = routine.load("i32", entry(code.emit("sub i64 %count, 1")))
    with routine.count("%count", code.emit("add i64 %count, %more")) as element:
        routine.store("i32", last, entry(element))
    with routine.count("0", code.emit(f"and i64 %count, {mask}")) as lane:
        bit = code.emit(f"shl i64 1, {reversed_lane(routine, lane, '%log')}")
        routine.store("i64", code.emit(f"or i64 {routine.load('i64', longer)}, {bit}"), longer)
    code.line(f"ret i64 {routine.load('i64', longer)}")
    return routine


def reversed_lane(routine: Routine, lane: str, log: str) -> str:
    """The lane whose bits, of which there are `log`, are those of `lane` in reverse."""
    code = routine.code
    reverse = code.call("llvm.bitreverse.i64", "i64", ["i64"], [f"i64 {lane}"])
    shift = code.emit(f"sub i64 63, {log}")
    # Two shifts, since one by all 64 bits is not defined.
    return code.emit(f"lshr i64 {code.emit(f'lshr i64 {reverse}, 1')}, {shift}")


class Packing:
    """`@<name>(frame, parameters, low, high)`: panels low .. high-1 of the part at hand."""

    def __init__(self, name: str, layout: Layout, panel: Panel, words: tuple[Word, Word, Word], frame: Frame) -> None:
        """`words`: where the pack stands, the first row or column of the part, how many there are."""
        self.routine = Routine(f"void @{name}(ptr %frame, ptr %parameters, i64 %low, i64 %high)")
        self._layout = layout
        self._panel = panel
        self._parameters = Parameters(self.routine, "%parameters")
        self._writer = Writer(self.routine.code, layout.lanes)
        self._memory = Memory(FrameView(self.routine, frame), self._writer, "ret void", None)
        pack, first, count = words
        self._pack = self._parameters.pack(pack)
        self._first, self._total = self._parameters.get(first), self._parameters.get(count)
        self._batch = self._parameters.batch(layout.tile)
        self._places = self._parameters.pack(Word.PLACES)
        self._start, self._count = self._parameters.get(Word.FIRST), self._parameters.get(Word.COUNT)
        self._own = DigitRows(self._memory, panel.side.loop, panel.side.own)
        self._fold = DigitRows(self._memory, layout.tile.fold, panel.side.of_fold)
        self._odd = OddFloats(self.routine, self._writer, layout.plain.allowed if layout.plain else None)
        sizes = [read.array.element.bytes for read in matrices(layout.tile, panel.side)]
        self._line = LINE // max(sizes, default=LINE)
        self._log, self._steps = self._parameters.get(Word.LOG), self._parameters.get(Word.STEPS)
        positions = self.routine.code.emit(f"shl i64 {self._steps}, {self._log}")
        self._size = self.routine.code.emit(f"mul i64 {positions}, {panel.bytes}")

    def write(self) -> Routine:
        """The whole function."""
        routine, code, panel = self.routine, self.routine.code, self._panel
        with routine.count("%low", "%high") as number:
            begin = code.emit(f"mul i64 {number}, {panel.width}")
            here = code.emit(f"getelementptr i8, ptr {self._pack}, i64 {code.emit(f'mul i64 {number}, {self._size}')}")
            valid = routine.least(code.emit(f"sub i64 {self._total}, {begin}"), str(panel.width))
            first = code.emit(f"add i64 {self._first}, {begin}")
            self._panel_at(here, first, valid)
            self._fill(here)
        self._odd.close(self._parameters)
        code.line("ret void")
        self._memory.close()
        return routine

    def _panel_at(self, here: str, first: str, valid: str) -> None:
        """A panel: along the fold, or across, where memory is read so; where it is read along both, whose rows are longer."""
        side, routine = self._panel.side, self.routine
        if not side.by_extents:
            (self._along_fold if side.along_fold else self._across)(here, first, valid)
            return
        words = self._parameters
        own, fold = self._own.inner or self._total, self._fold.inner or words.get(Word.COUNT)
        along, across, after = routine.label(), routine.label(), routine.label()
        routine.branch(routine.code.emit(f"icmp sgt i64 {fold}, {own}"), along, across)
        for label, pack in ((along, self._along_fold), (across, self._across)):
            routine.place(label)
            pack(here, first, valid)
            routine.jump(after)
        routine.place(after)

    def _fill(self, here: str) -> None:
        """Zeros for lanes without elements, where others have one: a tile takes all of them, and leaves out what they give."""
        routine, code = self.routine, self.routine.code
        single = code.emit(f"icmp eq i64 {self._steps}, 1")
        lanes = code.emit(f"select i1 {single}, i64 {code.emit(f'shl i64 1, {self._log}')}, i64 {self._count}")
        with routine.count(self._count, lanes) as lane:
            offset = code.emit(f"mul i64 {reversed_lane(routine, lane, self._log)}, {self._panel.bytes}")
            address = code.emit(f"getelementptr i8, ptr {here}, i64 {offset}")
            code.line(f"store <{self._panel.bytes} x i8> zeroinitializer, ptr {address}, align 1")

    def _across(self, here: str, first: str, valid: str) -> None:
        """Element after element, rows or columns in lanes: all of a panel that fills its room, else those that there are."""
        if self._panel.side.own is not None:
            self._pieces_across(here, first, valid)
            return
        if self._panel.width < self._panel.room:
            self._elements(here, first, valid)
            return
        routine = self.routine
        whole, part, after = routine.label(), routine.label(), routine.label()
        routine.branch(routine.code.emit(f"icmp eq i64 {valid}, {self._panel.room}"), whole, part)
        for label, there in ((whole, None), (part, valid)):
            routine.place(label)
            self._elements(here, first, there)
            routine.jump(after)
        routine.place(after)

    def _elements(self, here: str, first: str, there: str | None) -> None:
        """All elements of the fold, of so many rows or columns; of all without a mask."""
        with (
            self._element(here) as (target, fold),
            self.routine.count("0", str(self._panel.width), self._layout.lanes) as begin,
        ):
            self._vector(target, first, begin, fold, there)

    @contextmanager
    def _element(self, here: str) -> Iterator[tuple[str, Place]]:
        """Each element of the fold: where in the panel it stands, and its place among all."""
        code = self.routine.code
        with self._fold.pieces(self._start, self._count) as piece, self.routine.count("0", piece.length) as step:
            element = code.emit(f"add i64 {piece.begin}, {step}")
            self._ask_behind(here, element, 1)
            yield self._place(here, element), self._fold.after(piece.first, step)

    def _vector(self, target: str, first: str, begin: str, fold: Place, there: str | None) -> None:
        """A vector of rows, or columns, from this one of the panel on, of which so many are there."""
        code, panel, lanes = self.routine.code, self._panel, self._layout.lanes
        begin = code.hidden(begin, "i64")
        index, mask = code.emit(f"add i64 {first}, {begin}"), None
        if there is not None:
            mask = self._writer.first_lanes(code.emit(f"sub i64 {there}, {begin}"))
        behind = code.emit(f"add i64 {fold.position}, {ROWS_AHEAD}")
        for column in range(0, min(lanes, panel.width), self._line):
            self._ask(code.emit(f"add i64 {index}, {column}"), behind)
        room = None if panel.room >= lanes else self._writer.first_lanes(str(panel.room))
        self._store(target, begin, {**self._own.along(Place(index, ())), **self._fold.at(fold)}, mask, room)

    def _store(self, target: str, begin: str, made: dict[str, Value], mask: str | None, room: str | None) -> None:
        """What is made of rows, or columns, where the mask is set, to where the panel has these, as far as there is room."""
        code, side = self.routine.code, self._panel.side
        for stream, offset, value in zip(side.streams, self._panel.offsets, self._computed(made, mask), strict=True):
            at = code.emit(f"add i64 {code.emit(f'mul i64 {begin}, {stream.type.bytes}')}, {offset}")
            address = code.emit(f"getelementptr i8, ptr {target}, i64 {at}")
            self._odd.look(stream.type, self._writer.every(value), mask)
            self._memory.store_vector(stream.type, value, address, room)

    def _pieces_across(self, here: str, first: str, valid: str) -> None:
        """Element after element, of each a vector for every piece of a row that the panel has."""
        routine, code, panel = self.routine, self.routine.code, self._panel
        with routine.when(code.emit(f"icmp slt i64 {valid}, {panel.width}")):
            self._clear(here)
        count, tables = routine.slot("i64"), [routine.slot("i64", panel.width) for _ in range(2 + self._own.words)]
        routine.store("i64", "0", count)
        with self._own.pieces(first, valid) as piece, routine.count("0", piece.length, self._layout.lanes) as step:
            number = routine.load("i64", count)
            begin, place = code.emit(f"add i64 {piece.begin}, {step}"), self._own.after(piece.first, step)
            length = code.emit(f"sub i64 {piece.length}, {step}")
            for table, value in zip(tables, (begin, length, place.position, *place.digits), strict=True):
                routine.store("i64", value, routine.offset(table, number))
            routine.store("i64", code.emit(f"add i64 {number}, 1"), count)
        pieces = routine.load("i64", count)
        with self._element(here) as (target, fold), routine.count("0", pieces) as number:
            begin, length, position, *digits = (routine.load("i64", routine.offset(table, number)) for table in tables)
            mask = self._writer.first_lanes(length)
            made = {**self._own.along(Place(position, digits)), **self._fold.at(fold)}
            self._store(target, begin, made, mask, mask)

    def _clear(self, here: str) -> None:
        """Zeros in all of a panel."""
        code = self.routine.code
        code.declare("void", "llvm.memset.p0.i64", "ptr, i8, i64, i1")
        code.line(f"call void @llvm.memset.p0.i64(ptr {here}, i8 0, i64 {self._size}, i1 false)")

    def _place(self, here: str, element: str) -> str:
        """Where in a panel the element of the fold stands."""
        routine, code = self.routine, self.routine.code
        place = routine.load("i32", code.emit(f"getelementptr i32, ptr {self._places}, i64 {element}"))
        offset = code.emit(f"mul i64 {code.emit(f'zext i32 {place} to i64')}, {self._panel.bytes}")
        return code.emit(f"getelementptr i8, ptr {here}, i64 {offset}")

    def _along_fold(self, here: str, first: str, valid: str) -> None:
        """Vectors of elements of some rows, or columns, at once, transposed in registers."""
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        side = min(self._panel.room, lanes)
        buffers = [
            routine.slot(f"[{side} x {self._vector_type(stream.type)}]", align=64)
            for stream in self._panel.side.streams
        ]
        rows = self._rows(first, code.emit(f"sub i64 {valid}, 1"))
        with self._elements_along() as (element, fold, there):
            self._ask_behind(here, element, lanes)
            with routine.count("0", str(self._panel.width), side) as group:
                with routine.count("0", str(side)) as row:
                    self._row(rows(code.emit(f"add i64 {group}, {row}")), fold, there, row, buffers)
                targets = [self._place(here, code.emit(f"add i64 {element}, {lane}")) for lane in range(lanes)]
                for stream, offset, buffer in zip(self._panel.side.streams, self._panel.offsets, buffers, strict=True):
                    begin = code.emit(f"add i64 {code.emit(f'mul i64 {group}, {stream.type.bytes}')}, {offset}")
                    self._square(stream.type, buffer, targets, begin)

    def _rows(self, first: str, last: str) -> Callable[[str], Place]:
        """Gives the place of a panel's row, or column, by its number; where there is no such row, that of the last one."""
        routine, code = self.routine, self.routine.code
        if self._panel.side.own is None:
            return lambda number: Place(code.emit(f"add i64 {first}, {routine.least(number, last)}"), ())
        tables = [routine.slot("i64", self._panel.room) for _ in range(self._own.words)]
        with routine.count("0", str(self._panel.room)) as number:
            place = self._own.place(code.emit(f"add i64 {first}, {routine.least(number, last)}"))
            for table, value in zip(tables, (place.position, *place.digits), strict=True):
                routine.store("i64", value, routine.offset(table, number))

        def found(number: str) -> Place:
            position, *digits = (routine.load("i64", routine.offset(table, number)) for table in tables)
            return Place(position, digits)

        return found

    @contextmanager
    def _elements_along(self) -> Iterator[tuple[str, Place, str]]:
        """Vectors of the fold's elements: the first one, its place among all, and how many are there, if less than all lanes.

        What lies behind these in a vector is written, too, but to where the elements that follow go later.
        """
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        if self._panel.side.of_fold is not None:
            with self._fold.pieces(self._start, self._count) as piece, routine.count("0", piece.length, lanes) as step:
                there = code.emit(f"sub i64 {piece.length}, {step}")
                yield code.emit(f"add i64 {piece.begin}, {step}"), self._fold.after(piece.first, step), there
            return
        latest = code.emit(f"sub i64 {self._count}, {lanes}")
        whole = code.emit(f"icmp sge i64 {latest}, 0")
        with routine.count("0", self._count, lanes) as position:
            # The last vector begins earlier rather than end behind the elements.
            element = code.emit(f"select i1 {whole}, i64 {routine.least(position, latest)}, i64 0")
            yield element, Place(code.emit(f"add i64 {self._start}, {element}"), ()), self._count

    def _row(self, row: Place, fold: Place, there: str, number: str, buffers: Sequence[str]) -> None:
        """A vector of a row's elements, into the buffers: from a place on, all lanes, or as many as are there."""
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        self._ask(row.position, code.emit(f"add i64 {fold.position}, {LINES_AHEAD * self._line}"))
        every, part, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"icmp sge i64 {there}, {lanes}"), every, part)
        for label, count in ((every, None), (part, there)):
            routine.place(label)
            mask = None if count is None else self._writer.first_lanes(count)
            made = self._computed({**self._own.at(row), **self._fold.along(fold)}, mask)
            for stream, buffer, value in zip(self._panel.side.streams, buffers, made, strict=True):
                type_ = self._vector_type(stream.type)
                address = code.emit(f"getelementptr {type_}, ptr {buffer}, i64 {number}")
                vector = self._writer.every(value)
                self._odd.look(stream.type, vector, mask)
                routine.store(type_, vector, address)
            routine.jump(after)
        routine.place(after)

    def _square(self, kind: ScalarType, buffer: str, targets: Sequence[str], begin: str) -> None:
        """Stores one element of all rows at each target.

        Behind the last element the table of places has that one's again, so that it is what is stored last there.
        """
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        side, type_ = min(self._panel.room, lanes), self._vector_type(kind)
        rows = [
            routine.load(type_, code.emit(f"getelementptr {type_}, ptr {buffer}, i64 {row}")) for row in range(side)
        ]
        turned = interleaved(code, type_, lanes, rows)
        for lane, target in reversed([*enumerate(targets)]):
            part = range(lane - lane % side, lane - lane % side + side)
            vector = turned[lane % side]
            text = vector if side == lanes else shuffled(code, type_, vector, "poison", part)
            address = code.emit(f"getelementptr i8, ptr {target}, i64 {begin}")
            code.line(f"store <{side} x {memory_type(kind)}> {text}, ptr {address}, align {kind.bytes}")

    def _vector_type(self, kind: ScalarType) -> str:
        return self._writer.code.vector(memory_type(kind))

    def _ask_behind(self, here: str, element: str, count: int) -> None:
        """Asks for as many elements of the panel behind this one as are written to this one now. Elements of a panel do not
        stand in the order in which they come, so all of it has been asked for before it is written."""
        code, size = self.routine.code, self._panel.bytes
        offset = code.emit(f"add i64 {self._size}, {code.emit(f'mul i64 {element}, {size}')}")
        ask_to_write(code, code.emit(f"getelementptr i8, ptr {here}, i64 {offset}"), count * size)

    def _ask(self, index: str, fold: str) -> None:
        """Asks for what is read where the side's loop and the fold's are there; behind the last element, in the next panel."""
        code = self.routine.code
        end = code.emit(f"add i64 {self._start}, {self._count}")
        is_next = code.emit(f"icmp sge i64 {fold}, {end}")
        following = code.emit(f"add i64 {index}, {self._panel.width}")
        index = code.emit(f"select i1 {is_next}, i64 {following}, i64 {index}")
        fold = code.emit(f"select i1 {is_next}, i64 {code.emit(f'sub i64 {fold}, {self._count}')}, i64 {fold}")
        side, tile = self._panel.side, self._layout.tile
        here: dict[str, Value] = {side.loop.index.name: Uniform(index, I64), tile.fold.index.name: Uniform(fold, I64)}
        ask(self._memory, tile, side, {**self._batch, **here})

    def _computed(self, indices: dict[str, Value], mask: str | None) -> list[Value]:
        """The side's streams where its loop and the fold's, and those for which they stand, have these indices."""
        side = self._panel.side
        streams = Streams(self._memory, {**self._batch, **indices})
        statements = Statements(self._writer, self._memory, streams, no_step)
        known = [each.digits.statement for each in (side.own, side.of_fold) if each is not None]
        for statement in side.statements:
            if statement not in known:
                statements.masked(statement, mask)
        return streams.values(side.streams)


def no_step(statement: ManyToOne, values: Sequence[Value], mask: str | None) -> tuple[Sequence[Value], Sequence[Value]]:
    """For statements among which there is no step."""
    raise AccelInternalError(f"{statement.state} is stepped in tiles")
