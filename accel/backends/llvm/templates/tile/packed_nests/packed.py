"""A nest in tiles: both sides are packed, then all threads work on tiles, a chunk of rows of tiles at a time.

After Goto and van de Geijn, Anatomy of High-Performance Matrix Multiplication, ACM TOMS 34 (2008): a panel of columns stays in
the second cache while the panels of a chunk's rows pass by. One block of 4096 elements is the depth of a pack, since its
result is a whole part of the tree in which elements are combined.

Where a nest is a batch of small ones, each is packed and computed by one thread, in memory of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.tile.ahead import ask_for_results, asking
from accel.backends.llvm.templates.tile.kernel import Kernel
from accel.backends.llvm.templates.tile.launch import Launch, put_batch, shared
from accel.backends.llvm.templates.tile.layout import Layout, Panel, Parameters, Word
from accel.backends.llvm.templates.tile.packed_nests.batch import is_small, some_of_batch
from accel.backends.llvm.templates.tile.packed_nests.memory import NO_MEMORY, done, taken
from accel.backends.llvm.templates.tile.packed_nests.sizes import PART_ROWS, Sizes
from accel.backends.llvm.templates.tile.packs import Packing, places
from accel.backends.llvm.templates.tile.results import Finish, joined
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import THREADS
from accel.labelled.meaning.order import BLOCK
from accel.support.dataclass import dataclass

CHUNK_ROWS, CHUNK_COLUMNS = 20, 8
"""The most panels of a chunk, which takes some milliseconds."""

CHUNKS_OF_THREAD = 4

SLACK = 64
"""Room behind a table of places for as many entries as a vector has lanes."""


@dataclass(frozen=True, slots=True)
class _Depth:
    """What is folded: how many elements, in how many blocks, and whether these are several. Of whole blocks and of the last
    one: the table of where their elements stand, and how many lanes have a step more than others."""

    count: str
    blocks: str
    several: str
    tables: Sequence[str]
    longer: Sequence[str]


class Packed:
    """`@<name>(frame)`: all of a nest. Gives 0, `NO_MEMORY`, or 2 if the user interrupted.

    few: whether folds have as few elements as lanes so often that there is code for them.
    """

    def __init__(self, name: str, text: NestText, layout: Layout, *, few: bool) -> None:
        self._routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
        self._levels = Levels(text, self._routine, f"ret i64 {NO_MEMORY}")
        self._launch = Launch(self._levels, text, layout)
        self._text = text
        self._tile = layout.tile
        self._layout = layout
        self._sizes = Sizes(layout)
        self._name = name
        self._few = few
        self._memory = self._routine.slot("ptr")

    def routines(self) -> list[Routine]:
        """It and all functions that it calls."""
        self._run()
        return [self._routine, *self._functions()]

    def _run(self) -> None:
        """Packs and tiles, part by part; or each of a batch of small nests by one thread."""
        routine, code = self._routine, self._routine.code
        rows, columns, count = self._launch.extents
        tables = [routine.slot("i32", BLOCK + SLACK) for _ in range(2)]
        self._take_memory()
        blocks = code.parts(count, str(BLOCK))
        several = code.emit(f"icmp sgt i64 {blocks}, 1")
        depth = _Depth(count, blocks, several, tables, self._fill(tables))
        small, after = routine.label(), routine.label()
        if self._tile.batch:
            parts = routine.label()
            routine.branch(is_small(code, self._sizes, rows, columns, count), small, parts)
            routine.place(parts)
        self._parts(depth)
        if self._tile.batch:
            routine.jump(after)
            routine.place(small)
            self._whole(depth)
            routine.jump(after)
            routine.place(after)
        self._free()
        code.line("ret i64 0")
        self._levels.memory.close()

    def _take_memory(self) -> None:
        """For both packs and for what waits, one after the other, from a cache line on. Leaves if there is none."""
        routine, code, words = self._routine, self._routine.code, self._launch.words
        rows, columns, count = self._launch.extents
        size = self._sizes.row_bytes(code, rows, count)
        for more in (
            self._sizes.column_bytes(code, columns, count),
            self._sizes.level_bytes(code, rows, columns, count),
        ):
            size = code.emit(f"add i64 {size}, {more}")
        memory = taken(routine, code.emit(f"add i64 {size}, 256"))
        routine.leave(code.emit(f"icmp eq ptr {memory}, null"), f"i64 {NO_MEMORY}")
        routine.store("ptr", memory, self._memory)
        behind = code.emit(f"getelementptr i8, ptr {memory}, i64 63")
        start = code.emit(f"call ptr @llvm.ptrmask.p0.i64(ptr {behind}, i64 -64)")
        code.declare("ptr", "llvm.ptrmask.p0.i64", "ptr, i64")
        words.put(Word.ODD, "0")
        for word, size in (
            (Word.ROW_PACK, self._sizes.row_bytes(code, rows, count)),
            (Word.COLUMN_PACK, self._sizes.column_bytes(code, columns, count)),
            (Word.LEVELS, "0"),
        ):
            words.put(word, start, "ptr")
            start = code.emit(f"getelementptr i8, ptr {start}, i64 {size}")

    def _fill(self, tables: Sequence[str]) -> list[str]:
        """Fills the tables of places; gives how many lanes have a step more than others in each."""
        routine, code, count = self._routine, self._routine.code, self._launch.extents[2]
        lengths = routine.least(count, str(BLOCK)), self._sizes.rest(code, count)
        longer = []
        for table, length in zip(tables, lengths, strict=True):
            log, steps = self._sizes.lanes(code, length)
            arguments = f"ptr {table}, i64 {length}, i64 {log}, i64 {steps}, i64 {self._layout.lanes}"
            longer.append(code.emit(f"call i64 @{self._name}_places({arguments})"))
        return longer

    def _parts(self, depth: _Depth) -> None:
        """Each nest of a batch, part by part of its results: blocks of both sides are packed, then all tiles are computed."""
        routine, code, words = self._routine, self._routine.code, self._launch.words
        rows, columns, _ = self._launch.extents
        part_rows = self._sizes.part(code, depth.several, PART_ROWS, self._layout.rows)
        part_columns = self._sizes.part(code, depth.several, self._sizes.part_panels(), self._layout.columns)
        with self._batch(), routine.count("0", columns, part_columns) as column:
            words.put(Word.COLUMN, column)
            words.put(Word.COLUMNS, routine.least(code.emit(f"sub i64 {columns}, {column}"), part_columns))
            with routine.count("0", rows, part_rows) as row:
                words.put(Word.ROW, row)
                words.put(Word.ROWS, routine.least(code.emit(f"sub i64 {rows}, {row}"), part_rows))
                new = code.emit(f"or i1 {code.emit(f'icmp eq i64 {row}, 0')}, {depth.several}")
                with routine.count("0", depth.blocks) as block:
                    self._block(depth, block)
                    with routine.when(new):
                        panels = code.parts(words.get(Word.COLUMNS), str(self._layout.columns))
                        self._shared("pack_columns", panels, 1)
                    self._shared("pack_rows", code.parts(words.get(Word.ROWS), str(self._layout.rows)), 4)
                    self._chunks(words)

    def _whole(self, depth: _Depth) -> None:
        """Some nests of a batch at once, each of one block and one part."""
        rows, columns, _ = extents = self._launch.extents
        for word, value in ((Word.ROW, "0"), (Word.ROWS, rows), (Word.COLUMN, "0"), (Word.COLUMNS, columns)):
            self._launch.words.put(word, value)
        self._block(replace(depth, blocks="1"), "0")
        self._shared("batch", self._launch.total, self._launch.at_once(extents))

    def _block(self, depth: _Depth, block: str) -> None:
        """What is said of one block of elements."""
        words = self._launch.words
        routine = words.routine
        code = routine.code
        first = code.emit(f"mul i64 {block}, {BLOCK}")
        length = routine.least(code.emit(f"sub i64 {depth.count}, {first}"), str(BLOCK))
        log, steps = self._sizes.lanes(code, length)
        last = code.emit(f"icmp eq i64 {block}, {code.emit(f'sub i64 {depth.blocks}, 1')}")
        rest = code.emit(f"and i1 {last}, {code.emit(f'icmp sgt i64 {block}, 0')}")
        (table, last_table), (longer, last_longer) = depth.tables, depth.longer
        words.put(Word.PLACES, code.emit(f"select i1 {rest}, ptr {last_table}, ptr {table}"), "ptr")
        words.put(Word.LONGER, code.emit(f"select i1 {rest}, i64 {last_longer}, i64 {longer}"))
        said = {Word.FIRST: first, Word.COUNT: length, Word.LOG: log, Word.STEPS: steps, Word.BLOCK: block}
        for word, value in {**said, Word.LAST: code.emit(f"zext i1 {last} to i64")}.items():
            words.put(word, value)

    def _chunks(self, words: Parameters) -> None:
        """All tiles of the part, on all threads."""
        routine, code = self._routine, self._routine.code
        row_panels = code.parts(words.get(Word.ROWS), str(self._layout.rows))
        column_panels = code.parts(words.get(Word.COLUMNS), str(self._layout.columns))
        wanted = code.emit(f"mul i64 {routine.load('i64', self._levels.view.address(THREADS))}, {CHUNKS_OF_THREAD}")
        high, wide = routine.slot("i64"), routine.slot("i64")
        routine.store("i64", str(CHUNK_ROWS), high)
        routine.store("i64", str(CHUNK_COLUMNS), wide)

        def chunks() -> str:
            """With chunks as high and wide as the slots say."""
            down = code.parts(row_panels, routine.load("i64", high))
            return code.emit(f"mul i64 {down}, {code.parts(column_panels, routine.load('i64', wide))}")

        def few(size: str) -> str:
            fewer = code.emit(f"icmp slt i64 {chunks()}, {wanted}")
            return code.emit(f"and i1 {fewer}, {code.emit(f'icmp sgt i64 {size}, 1')}")

        for slot in (wide, high):
            routine.shift_while(slot, "lshr", few)
        words.put(Word.CHUNK_ROWS, routine.load("i64", high))
        words.put(Word.CHUNK_COLUMNS, routine.load("i64", wide))
        self._shared("chunks", chunks(), 1)

    def _shared(self, function: str, count: str, chunk: int | str) -> None:
        """Runs a function on all threads; frees the memory and leaves if the user interrupted."""
        stopped = self._launch.run(f"@{self._name}_{function}_shared", count, chunk)
        with self._routine.leaving(stopped, "i64 2"):
            self._free()

    def _free(self) -> None:
        done(self._routine, self._routine.load("ptr", self._memory))

    @contextmanager
    def _batch(self) -> Iterator[None]:
        """The loops around, as one; their indices are parameters."""
        with self._routine.count("0", self._launch.total) as number:
            put_batch(self._launch.words, number, [self._levels.own_extent(loop) for loop in self._tile.batch])
            yield

    # Functions.

    def _functions(self) -> list[Routine]:
        name, frame, words = self._name, self._text.frame, self._launch.size
        rows = (Word.ROW_PACK, Word.ROW, Word.ROWS)
        columns = (Word.COLUMN_PACK, Word.COLUMN, Word.COLUMNS)
        found = [
            places(f"{name}_places", self._tile.order_lanes),
            Packing(f"{name}_pack_rows", self._layout, self._layout.row_panel, rows, frame).write(),
            Packing(f"{name}_pack_columns", self._layout, self._layout.column_panel, columns, frame).write(),
            Kernel(f"{name}_kernel", self._layout, frame, few=self._few).write(),
            joined(f"{name}_join", self._layout, frame),
            Finish(f"{name}_finish", self._layout, frame).write(),
            self._some_chunks(),
        ]
        run = ["pack_rows", "pack_columns", "chunks"]
        if self._tile.batch:
            found += [some_of_batch(name, self._layout, words, frame), asking(f"{name}_ask", self._layout, frame)]
            run.append("batch")
        return [*found, *(shared(f"{name}_{function}_shared", f"{name}_{function}", frame) for function in run)]

    def _some_chunks(self) -> Routine:
        """`@<name>_chunks(frame, parameters, low, high)`: the tiles of some chunks."""
        routine = Routine(f"void @{self._name}_chunks(ptr %frame, ptr %parameters, i64 %low, i64 %high)")
        code, words, shape = routine.code, Parameters(routine, "%parameters"), self._layout
        memory = Memory(FrameView(routine, self._text.frame), Writer(code, 1), "ret void", None)
        row_panels = code.parts(words.get(Word.ROWS), str(shape.rows))
        column_panels = code.parts(words.get(Word.COLUMNS), str(shape.columns))
        high, wide = words.get(Word.CHUNK_ROWS), words.get(Word.CHUNK_COLUMNS)
        across = code.parts(column_panels, wide)
        counter = routine.slot(f"[{shape.bytes * (self._tile.order_lanes.bit_length() + 1)} x i8]", align=64)
        out = routine.slot(f"[{shape.bytes} x i8]", align=64)
        with routine.count("%low", "%high") as chunk:
            row = code.emit(f"mul i64 {code.emit(f'udiv i64 {chunk}, {across}')}, {high}")
            column = code.emit(f"mul i64 {code.emit(f'urem i64 {chunk}, {across}')}, {wide}")
            last_row = routine.least(code.emit(f"add i64 {row}, {high}"), row_panels)
            last_column = routine.least(code.emit(f"add i64 {column}, {wide}"), column_panels)
            with routine.count(column, last_column) as j, routine.count(row, last_row) as i:
                self._one_tile(memory, words, (i, j), (counter, out))
        code.line("ret void")
        memory.close()
        return routine

    def _one_tile(self, memory: Memory, words: Parameters, panels: tuple[str, str], room: tuple[str, str]) -> None:
        """The tile of two panels; `room`: for what waits to join, and for what the tile comes to."""
        routine, shape, (counter, out) = memory.routine, self._layout, room
        code = routine.code
        positions = code.emit(f"shl i64 {words.get(Word.STEPS)}, {words.get(Word.LOG)}")
        packs = []
        for word, panel, number in zip(
            (Word.ROW_PACK, Word.COLUMN_PACK), (shape.row_panel, shape.column_panel), panels, strict=True
        ):
            size = code.emit(f"mul i64 {positions}, {panel.bytes}")
            offset = code.emit(f"mul i64 {number}, {size}")
            packs.append(code.emit(f"getelementptr i8, ptr {words.pack(word)}, i64 {offset}"))
        (row, rows), (column, columns) = (
            self._edge(words, panel, number, first, total)
            for panel, number, first, total in (
                (shape.row_panel, panels[0], Word.ROW, Word.ROWS),
                (shape.column_panel, panels[1], Word.COLUMN, Word.COLUMNS),
            )
        )
        pointers = ", ".join(f"ptr {pointer}" for pointer in (*packs, counter, out))
        ask_for_results(memory, shape, row, rows, column)
        code.line(f"call void @{self._name}_kernel(ptr %frame, ptr %parameters, {pointers}, i64 {rows}, i64 {columns})")
        last = code.emit(f"icmp ne i64 {words.get(Word.LAST)}, 0")
        alone = code.emit(f"and i1 {last}, {code.emit(f'icmp eq i64 {words.get(Word.BLOCK)}, 0')}")
        with routine.when(code.emit(f"xor i1 {alone}, true")):
            code.declare("void", f"{self._name}_join", "ptr, ptr, ptr, i64, i64")
            arguments = f"ptr %frame, ptr %parameters, ptr {out}, i64 {panels[0]}, i64 {panels[1]}"
            code.line(f"call void @{self._name}_join({arguments})")
        with routine.when(last):
            code.line(
                f"call void @{self._name}_finish(ptr %frame, ptr %parameters, ptr {out}, "
                f"i64 {row}, i64 {rows}, i64 {column}, i64 {columns})"
            )

    def _edge(self, words: Parameters, panel: Panel, number: str, first: Word, total: Word) -> tuple[str, str]:
        """The first row, or column, of a panel of the part at hand, and how many it has."""
        code = words.routine.code
        begin = code.emit(f"mul i64 {number}, {panel.width}")
        rest = code.emit(f"sub i64 {words.get(total)}, {begin}")
        return code.emit(f"add i64 {words.get(first)}, {begin}"), words.routine.least(rest, str(panel.width))
