"""Some rows of a tiled nest, in tiles that read both sides where they lie: so the nest may be the first of a series of nests
(`schedule/templates/series.py`).

Others would pack, or copy, the columns anew for each of the series' blocks of rows; and folds of so many elements take longer
than their results take through memory. In: a tiled nest, and which way suits the sizes of a launch. Out: the functions that a
series calls for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.templates.tile.launch import steps, time_of
from accel.backends.llvm.templates.tile.layout import Layout
from accel.backends.llvm.templates.tile.small.blocks import Columns
from accel.backends.llvm.templates.tile.small.direct import END_ROW, FIRST_ROW, some_rows
from accel.backends.llvm.templates.tile.ways.choice import FIRST, Code, most_elements
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import Stream

_FUNCTION = Stream("tile: function of rows", I64)
"""A word of the frame: the address of what runs rows in tiles, or 0."""

UNSUITED = 4
"""What `@<nest>_ready` gives where such tiles do not suit the sizes."""


class RowsInTiles:
    """Some rows of a tiled nest at a time, for a series of nests, by tiles that pack and copy nothing."""

    def __init__(
        self,
        text: NestText,
        layout: Layout,
        applies: Callable[[Levels], str],
        found: Callable[[Levels], tuple[str, str]],
    ) -> None:
        """applies: whether there is enough to do for tiles. found: the numbers of a way's code, and of its function."""
        self._text = text
        self._layout = layout
        self._applies = applies
        self._found = found
        for stream in (_FUNCTION, FIRST_ROW, END_ROW):
            text.frame.stream(stream.name)

    def time(self, levels: Levels) -> str:
        """About the nanoseconds of all rows, a double."""
        return time_of(levels, self._text, steps(levels, self._layout.tile))

    def write(self) -> None:
        """Two functions among the nest's own.

        `@<nest>_ready(frame)`, before any rows, on the thread that called: gives 0, `UNSUITED` if the sizes want other tiles or
        templates, 1 if the program is to begin again, 2 if a Python exception is set. `@<nest>_rows(frame, low, high,
        each)` then runs rows on any thread; `each`: iterations of `@<nest>_body` that are a row, if steps are few.
        """
        late = Late(f"{self._text.name}_some", len(Columns) * (most_elements(self._layout) + 1), self._functions)
        self._text.late.append(late)
        self._text.routines += [late.found(), self._ready(late), self._rows()]

    def _ready(self, late: Late) -> Routine:
        routine = Routine(f"i64 @{self._text.name}_ready(ptr %frame)", hot=False)
        code, levels = routine.code, Levels(self._text, routine, "ret i64 1")
        for stream in (_FUNCTION, FIRST_ROW, END_ROW):
            levels.view.keep(stream.name, I64, "0")
        few = code.emit(f"xor i1 {self._applies(levels)}, true")
        routine.leave(few, "i64 0")
        code_number, function = self._found(levels)
        in_tiles = code.emit(f"icmp eq i64 {code_number}, {[*Code].index(Code.TILE)}")
        in_place = code.emit(f"icmp ne i64 {function}, {FIRST}")
        copied = code.emit(f"icmp eq i64 {code.emit(f'urem i64 {function}, {len(Columns)}')}, {Columns.COPIED.value}")
        for condition in (in_tiles, in_place, code.emit(f"xor i1 {copied}, true")):
            routine.leave(code.emit(f"xor i1 {condition}, true"), f"i64 {UNSUITED}")
        # Where there are too many such functions, what serves all sizes comes instead, and says that it does not: see `Late`.
        address = late.address(routine, function)
        ended = code.emit(f"call i64 {address}(ptr %frame)")
        routine.leave(code.emit(f"icmp ne i64 {ended}, 0"), f"i64 {UNSUITED}")
        levels.view.keep(_FUNCTION.name, I64, code.emit(f"ptrtoint ptr {address} to i64"))
        code.line("ret i64 0")
        levels.memory.close()
        return routine

    def _rows(self) -> Routine:
        name = self._text.name
        routine = Routine(f"void @{name}_rows(ptr %frame, i64 %low, i64 %high, i64 %each)", hot=False)
        code, view = routine.code, FrameView(routine, self._text.frame)
        function = view.stream(_FUNCTION)
        few, many, after = routine.label(), routine.label(), routine.label()
        routine.branch(code.emit(f"icmp eq i64 {function}, 0"), few, many)
        routine.place(few)
        low, high = (code.emit(f"mul i64 %{row}, %each") for row in ("low", "high"))
        code.line(f"call void @{name}_body(ptr %frame, ptr null, i64 {low}, i64 {high})")
        routine.jump(after)
        routine.place(many)
        view.keep(FIRST_ROW.name, I64, "%low")
        view.keep(END_ROW.name, I64, "%high")
        code.emit(f"call i64 {code.emit(f'inttoptr i64 {function} to ptr')}(ptr %frame)")
        routine.jump(after)
        routine.place(after)
        code.line("ret void")
        return routine

    def _functions(self, number: int) -> Sequence[Routine]:
        name = f"{self._text.name}_some"
        if number == FIRST:
            routine = Routine(f"i64 @{name}(ptr %frame)", hot=False)
            routine.code.line(f"ret i64 {UNSUITED}")
            return [routine]
        count, columns = divmod(number, len(Columns))
        return some_rows(name, self._text, self._layout, count, Columns(columns))
