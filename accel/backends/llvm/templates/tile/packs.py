"""Packs of a tiled nest: what one side needs, computed once and laid out as tiles read it."""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import I64, ScalarType
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.transpose import interleaved, shuffled
from accel.backends.llvm.emit.values import Progression, Uniform, Value, Writer
from accel.backends.llvm.templates.tile.ahead import LINE, LINES_AHEAD, ROWS_AHEAD, ask, matrices
from accel.backends.llvm.templates.tile.layout import Layout, Panel, Parameters, Word
from accel.backends.llvm.text.code import memory_type
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import ManyToOne


def places(name: str) -> Routine:
    """Fills a table: where in a panel each of `count` elements stands, by lanes with reversed bits, then by steps."""
    routine = Routine(f"void @{name}(ptr %table, i64 %count, i64 %log, i64 %steps)")
    code = routine.code
    one = code.emit("shl i64 1, %log")
    mask = code.emit(f"sub i64 {one}, 1")
    with routine.count("0", "%count") as element:
        lane = reversed_lane(routine, code.emit(f"and i64 {element}, {mask}"), "%log")
        step = code.emit(f"lshr i64 {element}, %log")
        place = code.emit(f"add i64 {code.emit(f'mul i64 {lane}, %steps')}, {step}")
        address = code.emit(f"getelementptr i32, ptr %table, i64 {element}")
        routine.store("i32", code.emit(f"trunc i64 {place} to i32"), address)
    code.line("ret void")
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
        sizes = [read.array.element.bytes for read in matrices(layout.tile, panel.side)]
        self._line = LINE // max(sizes, default=LINE)

    def write(self) -> Routine:
        """The whole function."""
        routine, code, panel = self.routine, self.routine.code, self._panel
        log, steps = self._parameters.get(Word.LOG), self._parameters.get(Word.STEPS)
        size = code.emit(f"mul i64 {code.emit(f'shl i64 {steps}, {log}')}, {panel.bytes}")
        with routine.count("%low", "%high") as number:
            begin = code.emit(f"mul i64 {number}, {panel.width}")
            here = code.emit(f"getelementptr i8, ptr {self._pack}, i64 {code.emit(f'mul i64 {number}, {size}')}")
            valid = routine.least(code.emit(f"sub i64 {self._total}, {begin}"), str(panel.width))
            first = code.emit(f"add i64 {self._first}, {begin}")
            if panel.side.along_fold:
                self._along_fold(here, first, valid)
            else:
                self._across(here, first, valid)
        code.line("ret void")
        self._memory.close()
        return routine

    def _across(self, here: str, first: str, valid: str) -> None:
        """Element after element, rows or columns in lanes: all of a whole panel, else those that there are."""
        routine, code = self.routine, self.routine.code
        whole, part, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"icmp eq i64 {valid}, {self._panel.room}"), whole, part)
        for label, count in ((whole, None), (part, valid)):
            routine.place(label)
            self._elements_across(here, first, count)
            routine.jump(after)
        routine.place(after)

    def _elements_across(self, here: str, first: str, valid: str | None) -> None:
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        begins = range(0, self._panel.width, lanes)
        masks = [
            None if valid is None else self._writer.first_lanes(code.emit(f"sub i64 {valid}, {begin}"))
            for begin in begins
        ]
        room = None if self._panel.room >= lanes else self._writer.first_lanes(str(self._panel.room))
        with routine.count("0", self._count) as element:
            target = self._place(here, element)
            fold = Uniform(code.emit(f"add i64 {self._start}, {element}"), I64)
            behind = code.emit(f"add i64 {fold.text}, {ROWS_AHEAD}")
            for begin in range(0, self._panel.width, self._line) if valid is None else ():
                self._ask(code.emit(f"add i64 {first}, {begin}"), behind)
            for begin, mask in zip(begins, masks, strict=True):
                made = self._computed(Progression(code.emit(f"add i64 {first}, {begin}"), 1), fold, mask)
                for stream, offset, value in zip(self._panel.side.streams, self._panel.offsets, made, strict=True):
                    at = offset + begin * stream.type.bytes
                    address = code.emit(f"getelementptr i8, ptr {target}, i64 {at}")
                    self._memory.store_vector(stream.type, value, address, room)

    def _place(self, here: str, element: str) -> str:
        """Where in a panel the element of the fold stands."""
        routine, code = self.routine, self.routine.code
        place = routine.load("i32", code.emit(f"getelementptr i32, ptr {self._places}, i64 {element}"))
        offset = code.emit(f"mul i64 {code.emit(f'zext i32 {place} to i64')}, {self._panel.bytes}")
        return code.emit(f"getelementptr i8, ptr {here}, i64 {offset}")

    def _along_fold(self, here: str, first: str, valid: str) -> None:
        """Some rows, or columns, at once, elements in lanes, transposed in registers."""
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        whole = code.emit(f"and i64 {self._count}, {-lanes}")
        with routine.count("0", whole, lanes) as element:
            self._squares(here, first, valid, element, None)
        rest = code.emit(f"sub i64 {self._count}, {whole}")
        with routine.when(code.emit(f"icmp sgt i64 {rest}, 0")):
            self._squares(here, first, valid, whole, rest)

    def _squares(self, here: str, first: str, valid: str, element: str, rest: str | None) -> None:
        """A vector of elements, or its first `rest`, of all rows of the panel."""
        code, lanes = self.routine.code, self._layout.lanes
        side = min(self._panel.room, lanes)
        mask = None if rest is None else self._writer.first_lanes(rest)
        start = Progression(code.emit(f"add i64 {self._start}, {element}"), 1)
        targets = [self._target(here, element, lane) for lane in range(lanes)]
        last = code.emit(f"sub i64 {valid}, 1")
        for group in range(0, self._panel.width, side):
            made = []
            for row in range(group, group + side):
                # Where there is no such row its place takes the last one's.
                there = code.emit(f"add i64 {first}, {self.routine.least(str(row), last)}")
                if rest is None:
                    self._ask(there, code.emit(f"add i64 {start.base}, {LINES_AHEAD * self._line}"))
                made.append(self._computed(Uniform(there, I64), start, mask))
            for number, (stream, offset) in enumerate(zip(self._panel.side.streams, self._panel.offsets, strict=True)):
                rows = [self._writer.every(values[number]) for values in made]
                self._square(stream.type, rows, targets, offset + group * stream.type.bytes, rest)

    def _target(self, here: str, element: str, lane: int) -> str:
        return self._place(here, self.routine.code.emit(f"add i64 {element}, {lane}"))

    def _square(
        self, kind: ScalarType, rows: Sequence[str], targets: Sequence[str], offset: int, rest: str | None
    ) -> None:
        """Stores one element of all rows at each target."""
        routine, code, lanes, side = self.routine, self.routine.code, self._layout.lanes, len(rows)
        type_, piece = self._writer.code.vector(memory_type(kind)), f"<{side} x {memory_type(kind)}>"
        turned = interleaved(code, type_, lanes, rows)
        for lane, target in enumerate(targets):
            vector = turned[lane % side]
            part = range(lane - lane % side, lane - lane % side + side)
            text = vector if side == lanes else shuffled(code, type_, vector, "poison", part)
            address = code.emit(f"getelementptr i8, ptr {target}, i64 {offset}")
            store = f"store {piece} {text}, ptr {address}, align {kind.bytes}"
            if rest is None:
                code.line(store)
                continue
            with routine.when(code.emit(f"icmp sgt i64 {rest}, {lane}")):
                code.line(store)

    def _ask(self, index: str, fold: str) -> None:
        """Asks for what is read where the side's loop and the fold's are there."""
        side, tile = self._panel.side, self._layout.tile
        here: dict[str, Value] = {side.loop.index.name: Uniform(index, I64), tile.fold.index.name: Uniform(fold, I64)}
        ask(self._memory, tile, side, {**self._batch, **here})

    def _computed(self, index: Value, fold: Value, mask: str | None) -> list[Value]:
        """The side's streams where its loop's index is `index` and the fold's is `fold`."""
        side = self._panel.side
        made = {**self._batch, side.loop.index.name: index, self._layout.tile.fold.index.name: fold}
        streams = Streams(self._memory, made)
        statements = Statements(self._writer, self._memory, streams, no_step)
        for statement in side.statements:
            statements.masked(statement, mask)
        return streams.values(side.streams)


def no_step(statement: ManyToOne, values: Sequence[Value], mask: str | None) -> tuple[Sequence[Value], Sequence[Value]]:
    """For statements among which there is no step."""
    raise AssertionError(f"{statement.state} is stepped in tiles")
