"""Tiles: what arrays that run across the lanes hold for a block of iterations, transposed, on the stack.

A tile's last dimension is the lanes' axis, the one before it the axis along which the array's elements are adjacent, those
before are other axes of the block with which it changes. Room before and behind the lanes lets groups of rows overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import product

from accel.ast.tree.types import I64, ScalarType
from accel.backends.llvm.emit.lanes.transpose import PIECE, rows_at_once, strips, transposed_rows
from accel.backends.llvm.emit.values import Uniform
from accel.backends.llvm.loops.nest import Levels
from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.text.code import memory_type
from accel.ir.nodes import For
from accel.schedule.templates.blocks import Across
from accel.support.dataclass import dataclass

FEW_ROWS = 8
"""Ways of a first cache, as of AMD's first generation. With sixteen rows of 16 KB each line was fetched four times there."""

ASKED = 256
"""Bytes of the next block that are asked for with each row that is computed, where blocks are long: half of it, or more."""

FARTHEST = 2
"""Elements from one to the next of a row from which tiles are filled, as of the parts of complex numbers."""

SLACK = 48
"""Elements before and behind the lanes' axis of a tile."""


def room(kind: ScalarType, lanes: int) -> int:
    """The size of a tile along its lanes, at least `lanes`, with which its rows are an odd number of lines apart, so that they
    lie in all sets of a cache."""
    lines = -(-(lanes + 2 * SLACK) * kind.bytes // LINE) | 1
    return lines * LINE // kind.bytes - 2 * SLACK


@dataclass(frozen=True, slots=True)
class Piece:
    """Iterations low .. high-1 of a loop."""

    low: str
    high: str


class Tile:
    """The tile of one read in one function, for blocks of `lanes` and `axes`; `most` says how large they become.

    long: whether blocks read long pieces of rows. Then no more than eight of these are loaded side by side, since of lines that
    lie a power of two apart a first cache keeps no more; and with each row that is computed `ASKED` is asked for ahead.
    """

    def __init__(
        self,
        levels: Levels,
        across: Across,
        lanes: For,
        axes: Sequence[For],
        most: Mapping[str, int],
        *,
        long: bool = False,
    ) -> None:
        self._levels = levels
        self._across = across
        self._lanes = lanes
        self._others = [axis for axis in axes if axis != across.axis and across.changes_with(axis)]
        self._dimensions = [*self._others, across.axis]
        self._pitch = most[lanes.index.name] + 2 * SLACK
        self._most = [most[axis.index.name] for axis in self._dimensions]
        self._kind = across.read.array.element
        self._apart = max(1, levels.view.frame.step(across.read.array))
        assert self._apart <= FARTHEST, "elements that lie farther apart are copied first"
        self._bytes = self._apart * self._kind.bytes
        self._size = -self._bytes if across.back else self._bytes
        self._long = long
        self._rows = rows_at_once(self._kind)
        if long and PIECE // self._kind.bytes <= FEW_ROWS:
            self._rows = min(self._rows, FEW_ROWS)
        count = self._pitch
        for size in self._most:
            count *= size
        self._ahead: tuple[str, str] | None = None
        # The room before the first row's lanes is the slack behind those of a row before, of which there is none.
        start = levels.routine.slot(f"[{count} x {memory_type(self._kind)}]", align=64)
        self._start = start

    def row(self, at: Mapping[str, str]) -> str:
        """The address of the first lane's element of a row: `at` are the axes' iterations, from the block's first one on."""
        code, place = self._levels.routine.code, "0"
        for axis, most in zip(self._dimensions, self._most, strict=True):
            place = code.emit(f"mul i64 {place}, {most}") if place != "0" else place
            place = code.emit(f"add i64 {place}, {at[axis.index.name]}")
        words = code.emit(f"add i64 {code.emit(f'mul i64 {place}, {self._pitch}')}, {SLACK}")
        return self._element(self._start, words)

    def _element(self, pointer: str, place: str) -> str:
        return self._levels.routine.code.emit(f"getelementptr {memory_type(self._kind)}, ptr {pointer}, i64 {place}")

    def fill(self, pieces: Mapping[str, Piece], high: str | None = None) -> None:
        """Loads a block's elements, of lanes up to `high`, if that is given; leaves the function if one is out of bounds.

        The other loops' indices are in scope.
        """
        made = self._levels.streams.made
        outside = dict(made)
        with iterations(self._levels, self._others, pieces) as at:
            self._fill(pieces[self._lanes.index.name], pieces[self._across.axis.index.name], at, high)
        made.clear()
        made.update(outside)

    def _fill(self, piece: Piece, along: Piece, at: Mapping[str, str], high: str | None) -> None:
        routine, code = self._levels.routine, self._levels.routine.code
        count, lanes = self._rows, Piece(piece.low, high or piece.high)
        latest = code.emit(f"sub i64 {lanes.high}, {count}")
        origin, step = self._origin(lanes, along, count)
        if not self._others:
            extent = code.emit(f"sub i64 {along.high}, {along.low}")
            far = code.emit(f"mul i64 {extent}, {self._size}")
            if self._long:
                far = self._to_next(piece, along, far, step, self._size)
            self._ahead = code.emit(f"getelementptr i8, ptr {origin}, i64 {far}"), step
        tile = self.row({**at, self._across.axis.index.name: "0"})
        with routine.count(lanes.low, lanes.high, count) as position:
            # The last group begins earlier rather than end behind the lanes.
            first = code.emit(f"sub i64 {routine.least(position, latest)}, {lanes.low}")
            row = code.emit(f"getelementptr i8, ptr {origin}, i64 {code.emit(f'mul i64 {first}, {step}')}")
            column = self._element(tile, first)
            self._strips(row, step, column, code.emit(f"sub i64 {along.high}, {along.low}"))

    def _origin(self, lanes: Piece, along: Piece, count: int) -> tuple[str, str]:
        """The address of a block's first element, and the bytes from a lane to the next; `count` of these are loaded at once.
        Leaves the function if an index is out of bounds."""
        routine, code = self._levels.routine, self._levels.routine.code
        if self._across.checked:
            self._check(routine.least(lanes.low, code.emit(f"sub i64 {lanes.high}, {count}")), lanes, along)
        return self._address(lanes.low, along.low), self._step_of_lanes()

    def _to_next(self, lanes: Piece, along: Piece, far: str, step: str, size: int) -> str:
        """The bytes to the next block: behind the last one along the tile's own axis, the first of the next lanes."""
        code = self._levels.routine.code
        is_last = code.emit(f"icmp eq i64 {along.high}, {self._levels.extent(self._across.axis)}")
        rows = code.emit(f"mul i64 {code.emit(f'sub i64 {lanes.high}, {lanes.low}')}, {step}")
        first = code.emit(f"sub i64 {rows}, {code.emit(f'mul i64 {along.low}, {size}')}")
        return code.emit(f"select i1 {is_last}, i64 {first}, i64 {far}")

    def ask_ahead(self, turn: str) -> None:
        """Asks for what the lanes' iteration `turn` of the block reads in the next block along the tile's own axis.

        Between rows that are computed: so memory is read while it is written. Only where there are no other axes.
        """
        if self._ahead is None:
            return
        code, (behind, step) = self._levels.routine.code, self._ahead
        length = self._most[-1] * self._bytes
        if self._long:
            part = min(length, ASKED)
            first = code.emit(f"mul i64 {turn}, {part}")
            behind = code.emit(f"getelementptr i8, ptr {behind}, i64 {code.emit(f'and i64 {first}, {length - 1}')}")
            turn, length = code.emit(f"udiv i64 {first}, {length}"), part
        row = code.emit(f"getelementptr i8, ptr {behind}, i64 {code.emit(f'mul i64 {turn}, {step}')}")
        code.declare("void", "llvm.prefetch.p0", "ptr, i32, i32, i32")
        for line in range(0, length, LINE):
            address = code.emit(f"getelementptr i8, ptr {row}, i64 {line}")
            code.line(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 2, i32 1)")

    def _strips(self, row: str, step: str, column: str, extent: str) -> None:
        """A group of rows: `row` is the address of the first, `column` where its first element goes."""

        def strip(position: str, width: int) -> None:
            self._strip(row, step, column, position, width)

        strips(self._levels.routine, self._kind, "0", extent, strip)

    def _strip(self, row: str, step: str, column: str, position: str, width: int) -> None:
        """Elements position .. position + width - 1 of a group of rows."""
        code, kind, count = self._levels.routine.code, memory_type(self._kind), self._rows
        offset = code.emit(f"mul i64 {position}, {self._size}")
        if self._across.back and width > 1:
            offset = code.emit(f"add i64 {offset}, {(width - 1) * self._size}")
        start = code.emit(f"getelementptr i8, ptr {row}, i64 {offset}")
        vectors = transposed_rows(code, self._kind, self._addresses(start, step, count), width, self._apart)
        place = code.emit(f"mul i64 {position}, {self._pitch}")
        for vector in reversed(vectors) if self._across.back else vectors:
            target = self._element(column, place)
            code.line(f"store <{count} x {kind}> {vector}, ptr {target}, align {self._kind.bytes}")
            place = code.emit(f"add i64 {place}, {self._pitch}")

    def _addresses(self, start: str, step: str, count: int) -> list[str]:
        """`count` addresses, `step` bytes from each other: four of them from each base, as processors address memory."""
        code, found = self._levels.routine.code, []
        steps = [code.emit(f"mul i64 {step}, {number}") for number in range(1, 5)]
        for _ in range(0, count, 4):
            found.append(start)
            found += [code.emit(f"getelementptr i8, ptr {start}, i64 {each}") for each in steps[:3]]
            start = code.emit(f"getelementptr i8, ptr {start}, i64 {steps[3]}")
        return found

    def _step_of_lanes(self) -> str:
        """The bytes between an iteration of the lanes' loop and the next: an i64."""
        code, array, total = self._levels.routine.code, self._across.read.array, "0"
        for dimension, steps in enumerate(self._across.steps):
            over = steps.over(self._lanes.index)
            if over:
                part = code.emit(f"mul i64 {self._levels.view.stride(array, dimension)}, {over}")
                total = code.emit(f"add i64 {total}, {part}")
        return total

    def _check(self, first: str, lanes: Piece, along: Piece) -> None:
        """Indices step evenly, so that those of a whole block are in bounds if those of its corners are."""
        code = self._levels.routine.code
        ends = [code.emit(f"sub i64 {piece.high}, 1") for piece in (lanes, along)]
        for lane, place in product((first, ends[0]), (along.low, ends[1])):
            self._make_index(lane, place)

    def _address(self, lane: str, place: str) -> str:
        self._make_index(lane, place)
        read = self._across.read
        return self._levels.memory.address(read.array, self._levels.streams.values(read.index))

    def _make_index(self, lane: str, place: str) -> None:
        made = self._levels.streams.made
        made[self._lanes.index.name] = Uniform(lane, I64)
        made[self._across.axis.index.name] = Uniform(place, I64)
        self._levels.statements(self._across.index)


@contextmanager
def iterations(levels: Levels, loops: Sequence[For], pieces: Mapping[str, Piece]) -> Iterator[dict[str, str]]:
    """Around what runs in every iteration of the pieces of some loops: how far each is from its piece's first one."""
    if not loops:
        yield {}
        return
    loop, piece = loops[0], pieces[loops[0].index.name]
    with levels.routine.count(piece.low, piece.high) as index:
        levels.streams.made[loop.index.name] = Uniform(index, I64)
        with iterations(levels, loops[1:], pieces) as inner:
            yield {loop.index.name: levels.routine.code.emit(f"sub i64 {index}, {piece.low}"), **inner}
