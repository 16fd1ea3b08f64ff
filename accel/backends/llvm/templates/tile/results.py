"""What follows a tile: blocks of elements join in a binary counter; once all are there, what depends on the results runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.templates.tile.layout import Layout, Parameters, Word
from accel.backends.llvm.templates.tile.packs import no_step
from accel.backends.llvm.templates.tile.strips import load, saved, store
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.routine import Routine
from accel.schedule.templates.tile import Tile


def joined(name: str, layout: Layout, frame: Frame) -> Routine:
    """`@<name>(frame, parameters, tile, i, j)`: the block of the tile of these panels joins those before it.

    What waits stands in levels, which have a place for each tile. After the last block all that waits joins into the tile.
    """
    routine = Routine(f"void @{name}(ptr %frame, ptr %parameters, ptr noalias %tile, i64 %i, i64 %j)", hot=False)
    code, words = routine.code, Parameters(routine, "%parameters")
    first, distance = _first_place(routine, words, layout)
    writer = Writer(code, layout.lanes)
    memory = Memory(FrameView(routine, frame), writer, "ret void", None)
    functions = Functions(writer, memory)
    last = code.emit(f"icmp ne i64 {words.get(Word.LAST)}, 0")
    rest, level = routine.slot("i64"), routine.slot("ptr")
    routine.store("i64", words.get(Word.BLOCK), rest)
    routine.store("ptr", first, level)
    head, look, join, skip, wait, after = (routine.label() for _ in range(6))

    def there(place: str, offsets: Sequence[int]) -> list[str]:
        return [code.emit(f"getelementptr i8, ptr {place}, i64 {offset}") for offset in offsets]

    routine.jump(head)
    routine.place(head)
    bits, place = routine.load("i64", rest), routine.load("ptr", level)
    odd = code.emit(f"trunc i64 {bits} to i1")
    routine.branch(odd, join, look)
    routine.place(look)
    # The block waits at the first level where nobody does; after the last one the others join all the same.
    more = code.emit(f"and i1 {last}, {code.emit(f'icmp ne i64 {bits}, 0')}")
    routine.branch(more, skip, wait)
    routine.place(join)
    for state, _, _, offsets in saved(layout, layout.whole):
        left, right = there(place, offsets), there("%tile", offsets)
        merged = functions.apply(
            state.merge, [*load(writer, state, left, routine), *load(writer, state, right, routine)], None
        )
        store(writer, state, merged, right, routine)
    routine.jump(skip)
    routine.place(skip)
    routine.store("i64", code.emit(f"lshr i64 {bits}, 1"), rest)
    routine.store("ptr", code.emit(f"getelementptr i8, ptr {place}, i64 {distance}"), level)
    routine.jump(head)
    routine.place(wait)
    with routine.when(code.emit(f"xor i1 {last}, true")):
        for state, _, _, offsets in saved(layout, layout.whole):
            target, source = there(place, offsets), there("%tile", offsets)
            store(writer, state, load(writer, state, source, routine), target, routine)
    routine.jump(after)
    routine.place(after)
    code.line("ret void")
    return routine


def _first_place(routine: Routine, words: Parameters, layout: Layout) -> tuple[str, str]:
    """Where results of the tile wait in the first level, and how far the next level is."""
    code = routine.code
    row_panels, column_panels = (
        code.parts(words.get(word), str(width))
        for word, width in ((Word.ROWS, layout.rows), (Word.COLUMNS, layout.columns))
    )
    distance = code.emit(f"mul i64 {code.emit(f'mul i64 {row_panels}, {column_panels}')}, {layout.bytes}")
    number = code.emit(f"add i64 {code.emit(f'mul i64 %i, {column_panels}')}, %j")
    offset = code.emit(f"mul i64 {number}, {layout.bytes}")
    return code.emit(f"getelementptr i8, ptr {words.pack(Word.LEVELS)}, i64 {offset}"), distance


class Finish:
    """`@<name>(frame, parameters, tile, row, rows, column, columns)`: what depends on the results, for a whole tile or part."""

    def __init__(self, name: str, layout: Layout, frame: Frame) -> None:
        where = "i64 %row, i64 %rows, i64 %column, i64 %columns"
        self.routine = Routine(f"void @{name}(ptr %frame, ptr %parameters, ptr noalias %tile, {where})")
        self._layout = layout
        self._writer = Writer(self.routine.code, layout.lanes)
        self._memory = Memory(FrameView(self.routine, frame), self._writer, "ret void", None)

    def write(self) -> Routine:
        """The whole function."""
        routine, code, lanes = self.routine, self.routine.code, self._layout.lanes
        batch = Parameters(routine, "%parameters").batch(self._layout.tile)
        whole = code.emit(f"and i64 %columns, {-lanes}")
        with routine.count("0", "%rows") as row:
            index = Uniform(code.emit(f"add i64 %row, {row}"), I64)
            made: dict[str, Value] = {**batch, self._layout.tile.rows.loop.index.name: index}
            start = code.emit(f"mul i64 {row}, {self._layout.columns}")
            with routine.count("0", whole, lanes) as column:
                self._vector(made, start, column, None)
            rest = code.emit(f"sub i64 %columns, {whole}")
            with routine.when(code.emit(f"icmp sgt i64 {rest}, 0")):
                self._vector(made, start, whole, self._writer.first_lanes(rest))
        code.line("ret void")
        self._memory.close()
        return routine

    def _vector(self, made: dict[str, Value], start: str, column: str, mask: str | None) -> None:
        """A vector of a row whose first element in the tile has the number `start`."""
        code = self.routine.code
        element = code.emit(f"add i64 {start}, {column}")
        index = Progression(code.emit(f"add i64 %column, {column}"), 1)
        made = {**made, self._layout.tile.columns.loop.index.name: index}
        places = saved(self._layout, self._layout.whole)
        begins = {state.name: offsets for state, row, vector, offsets in places if row == vector == 0}
        folded = dict[str, Sequence[Value]]()
        for state in self._layout.states:
            addresses = []
            for final, begin in zip(state.finals, begins[state.name], strict=True):
                offset = code.emit(f"add i64 {code.emit(f'mul i64 {element}, {final.type.bytes}')}, {begin}")
                addresses.append(code.emit(f"getelementptr i8, ptr %tile, i64 {offset}"))
            folded[state.name] = load(self._writer, state, addresses, self.routine)
        finish(self._memory, self._writer, self._layout.tile, made, folded, mask)


def finish(
    memory: Memory,
    writer: Writer,
    tile: Tile,
    made: Mapping[str, Value],
    folded: Mapping[str, Sequence[Value]],
    mask: str | None,
) -> None:
    """What depends on the results, for one vector of a row; folded: what each state comes to without its seed."""
    streams, functions = Streams(memory, dict(made)), Functions(writer, memory)
    statements = Statements(writer, memory, streams, no_step)
    for statement in tile.around:
        statements.masked(statement, mask)
    for state in tile.fold.states:
        values = folded[state.name]
        if state.initial is not None:
            values = functions.apply(state.merge, [*streams.values(state.initial), *values], None)
        streams.bind(state.finals, values)
    for statement in tile.results:
        statements.masked(statement, mask)
