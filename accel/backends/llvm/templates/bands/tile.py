"""The tile of one read for two bands of a block, which take turns: the rows of one are read while the other one's are filled.

With each group of lanes that is filled as much of the next block is asked for, in long pieces of rows, into the second cache:
processors find out what comes next in long pieces only. Rows that begin with lines are loaded line by line; of others halves of
lines are, fewer of which are parts of two.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from accel.backends.llvm.loops.nest import Levels
from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.tiles import Piece, Tile, room
from accel.ir.nodes import For
from accel.schedule.templates.blocks import Across
from accel.support.dataclass import dataclass

AT_ONCE = 16
"""The most elements of a row that are transposed at once: they fill half of the registers."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Of blocks: lanes, and iterations of the other axis; the rows of a band; the lanes of a group."""

    lanes: int
    along: int
    height: int
    group: int


class BandTile(Tile):
    """The tile of one read for two bands, which take turns."""

    def __init__(self, levels: Levels, across: Across, lanes: For, axis: For, shape: Shape, vector: int) -> None:
        """`vector`: lanes of a vector of results, by which rows may be longer than blocks."""
        kind = across.read.array.element
        most = {
            lanes.index.name: room(kind, shape.lanes + shape.lanes // 2 + vector),
            axis.index.name: 2 * shape.height,
        }
        super().__init__(levels, across, lanes, [axis], most)
        self._shape = shape
        self._wide = min(AT_ONCE, LINE // kind.bytes, shape.height)
        self._run = shape.along * self._bytes

    def row(self, at: Mapping[str, str]) -> str:
        """The address of the first lane's element of a row of a block, of which the tile has the last two bands'."""
        name, code = self._across.axis.index.name, self._levels.routine.code
        place = code.emit(f"add i64 {at[name]}, {self._before}")
        return super().row({name: code.emit(f"and i64 {place}, {2 * self._shape.height - 1}")})

    def begin(self, lanes: Piece, along: Piece, following: str, before: str) -> None:
        """Finds a block, and what is read next. Other lanes follow from `following` on; bands begin `before` rows before it.
        Leaves the function if an index is out of bounds."""
        code, size = self._levels.routine.code, self._size
        self._block = self._origin(lanes, along, self._shape.group)
        self._before = before
        width = code.emit(f"sub i64 {lanes.high}, {lanes.low}")
        self._latest = code.emit(f"sub i64 {width}, {self._shape.group}")
        self._groups = code.parts(width, str(self._shape.group))
        origin, step = self._block
        address = code.emit(
            f"sub i64 {code.emit(f'ptrtoint ptr {origin} to i64')}, {code.emit(f'mul i64 {before}, {size}')}"
        )
        odd = code.emit(f"and i64 {code.emit(f'or i64 {address}, {step}')}, {LINE - 1}")
        self._in_lines = code.emit(f"icmp eq i64 {odd}, 0")
        far = self._far(Piece(lanes.low, following), along, step)
        extent = code.emit(f"sub i64 {along.high}, {along.low}")
        self._is_long = code.emit(f"icmp sge i64 {extent}, {self._shape.along - self._shape.height}")
        self._is_several = code.emit(f"icmp sgt i64 {extent}, {self._shape.height}")
        self._next = code.emit(f"getelementptr i8, ptr {origin}, i64 {far}")

    def _far(self, lanes: Piece, along: Piece, step: str) -> str:
        """The bytes from a block to the next one, whose order is that of `loops.py`."""
        code = self._levels.routine.code
        run = code.emit(f"mul i64 {code.emit(f'sub i64 {along.high}, {along.low}')}, {self._size}")
        if host().processor.reads_on:
            far = self._to_next(lanes, along, run, step, self._size)
        else:
            is_last = code.emit(f"icmp eq i64 {lanes.high}, {self._levels.extent(self._lanes)}")
            lane = code.emit(f"select i1 {is_last}, i64 0, i64 {lanes.high}")
            rows = code.emit(f"mul i64 {code.emit(f'sub i64 {lane}, {lanes.low}')}, {step}")
            far = code.emit(f"add i64 {rows}, {code.emit(f'select i1 {is_last}, i64 {run}, i64 0')}")
        return code.emit(f"sub i64 {far}, {self._run + self._size}") if self._across.back else far

    def fill_group(self, place: str, first: str, extent: str, group: str) -> None:
        """A group of lanes of `extent` rows of the block from `first` on, in the band at `place`; asks for as much of the next
        block."""
        routine, code, shape = self._levels.routine, self._levels.routine.code, self._shape
        behind = self._ask(place, first, group)
        origin, step = self._block
        # The last group begins earlier rather than end behind the lanes.
        at = routine.least(code.emit(f"mul i64 {group}, {shape.group}"), self._latest)
        column = self._element(self.row({self._across.axis.index.name: first}), at)
        offset = code.emit(f"mul i64 {at}, {step}")
        offset = code.emit(f"add i64 {offset}, {code.emit(f'mul i64 {first}, {self._size}')}")
        row = code.emit(f"getelementptr i8, ptr {origin}, i64 {offset}")
        whole, part, after = routine.label(), routine.label(), routine.label()
        is_whole = code.emit(f"icmp eq i64 {extent}, {shape.height}")
        routine.branch(is_whole, whole, part)
        routine.place(part)
        for each, target in self._squares(row, step, column):
            self._strips(each, step, target, extent)
        routine.jump(after)
        routine.place(whole)
        wide = self._wide * self._kind.bytes
        if wide == LINE:
            lines, halves = routine.label(), routine.label()
            routine.branch(self._in_lines, lines, halves)
            routine.place(lines)
            self._band(row, step, column, self._wide)
            routine.jump(after)
            routine.place(halves)
        self._prefetch(behind)
        self._band(row, step, column, self._wide // 2 if wide == LINE else self._wide)
        routine.jump(after)
        routine.place(after)

    def _band(self, row: str, step: str, column: str, width: int) -> None:
        """A group of lanes of a whole band, so many elements of each row at once."""
        for each, target in self._squares(row, step, column):
            for position in range(0, self._shape.height, width):
                self._strip(each, step, target, str(position), width)

    def _squares(self, row: str, step: str, column: str) -> Iterator[tuple[str, str]]:
        """The rows of a group that are transposed together: where the first one is, and where it goes."""
        code = self._levels.routine.code
        for rows in range(0, self._shape.group, self._rows):
            offset = code.emit(f"mul i64 {step}, {rows}")
            yield code.emit(f"getelementptr i8, ptr {row}, i64 {offset}"), self._element(column, str(rows))

    def _ask(self, place: str, first: str, group: str) -> str:
        """Asks for lines of the next block: with all groups of all bands for its rows, one after the other; of short rows for
        what is read of this one. One band is memory that a processor expects. Gives what stands behind, where rows end that
        begin within a line."""
        code, shape, (_, step) = self._levels.routine.code, self._shape, self._block
        share = shape.group * shape.height * self._bytes
        turn = code.emit(f"mul i64 {place}, {self._groups}")
        turn = code.emit(f"add i64 {turn}, {code.emit(f'mul i64 {group}, {shape.height}')}")
        done = code.emit(f"mul i64 {turn}, {shape.group * self._bytes}")
        far = code.emit(f"mul i64 {code.emit(f'udiv i64 {done}, {self._run}')}, {step}")
        far = code.emit(f"add i64 {far}, {code.emit(f'and i64 {done}, {self._run - 1}')}")
        here = code.emit(f"mul i64 {code.emit(f'mul i64 {group}, {shape.group}')}, {step}")
        here = code.emit(f"add i64 {here}, {code.emit(f'mul i64 {first}, {self._size}')}")
        offset = code.emit(f"select i1 {self._is_long}, i64 {far}, i64 {here}")
        start = code.emit(f"getelementptr i8, ptr {self._next}, i64 {offset}")
        apart = code.emit(f"mul i64 {step}, {max(1, shape.group * LINE // share)}")
        apart = code.emit(f"select i1 {self._is_long}, i64 {LINE}, i64 {apart}")
        with self._levels.routine.when(self._is_several):
            for address in self._addresses(start, apart, share // LINE):
                self._prefetch(address)
        return code.emit(f"getelementptr i8, ptr {start}, i64 {share}")

    def _prefetch(self, address: str) -> None:
        """Asks for a line to come into the second cache."""
        code = self._levels.routine.code
        code.declare("void", "llvm.prefetch.p0", "ptr, i32, i32, i32")
        code.line(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 2, i32 1)")
