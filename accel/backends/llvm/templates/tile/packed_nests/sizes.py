"""How much memory a tiled nest takes, and how much of it is packed at a time: code for the launch."""

from __future__ import annotations

from accel.backends.llvm.templates.tile.layout import Layout, Panel
from accel.backends.llvm.text.code import Code
from accel.labelled.meaning.order import BLOCK

PART_ROWS = (320, 80)
"""Panels of rows that are packed at a time: of folds of one block, of longer ones."""

PART_COLUMN_BYTES = (1 << 14, 1 << 12)
"""Bytes of a row of the columns that are packed at a time, likewise."""


class Sizes:
    """Sizes of the packs of one nest."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def lanes(self, code: Code, count: str) -> tuple[str, str]:
        """The bits of the number of lanes that a block of so many elements needs, and the steps of the longest."""
        less = code.emit(f"sub i64 {count}, 1")
        zeros = code.call("llvm.ctlz.i64", "i64", ["i64", "i1"], [f"i64 {less}", "i1 false"])
        bits = code.emit(f"sub i64 64, {zeros}")
        most = self._layout.tile.order_lanes.bit_length() - 1
        fewer = code.emit(f"icmp slt i64 {bits}, {most}")
        log = code.emit(f"select i1 {fewer}, i64 {bits}, i64 {most}")
        over = code.emit(f"sub i64 {code.emit(f'shl i64 1, {log}')}, 1")
        return log, code.emit(f"lshr i64 {code.emit(f'add i64 {count}, {over}')}, {log}")

    def rest(self, code: Code, count: str) -> str:
        """Elements of the last block."""
        blocks = code.parts(count, str(BLOCK))
        before = code.emit(f"mul i64 {code.emit(f'sub i64 {blocks}, 1')}, {BLOCK}")
        return code.emit(f"sub i64 {count}, {before}")

    def positions(self, code: Code, count: str) -> str:
        """Of a panel: those of a block, or of all elements if they are fewer."""
        few = code.emit(f"icmp slt i64 {count}, {BLOCK}")
        least = code.emit(f"select i1 {few}, i64 {count}, i64 {BLOCK}")
        log, steps = self.lanes(code, least)
        return code.emit(f"shl i64 {steps}, {log}")

    def part_panels(self) -> tuple[int, int]:
        """Panels of columns that are packed at a time: of folds of one block, of longer ones."""
        one, several = PART_COLUMN_BYTES
        return max(1, one // self._layout.column_panel.bytes), max(1, several // self._layout.column_panel.bytes)

    def part(self, code: Code, several: str, panels: tuple[int, int], width: int) -> str:
        """Rows or columns that are packed at a time; `several`: whether there are several blocks."""
        return code.emit(f"select i1 {several}, i64 {panels[1] * width}, i64 {panels[0] * width}")

    def row_bytes(self, code: Code, rows: str, count: str) -> str:
        """Of the pack of rows."""
        return self._pack_bytes(code, rows, count, PART_ROWS[0], self._layout.row_panel)

    def column_bytes(self, code: Code, columns: str, count: str) -> str:
        """Of the pack of columns."""
        return self._pack_bytes(code, columns, count, self.part_panels()[0], self._layout.column_panel)

    def _pack_bytes(self, code: Code, extent: str, count: str, most: int, panel: Panel) -> str:
        panels = code.parts(extent, str(panel.width))
        few = code.emit(f"icmp slt i64 {panels}, {most}")
        held = code.emit(f"select i1 {few}, i64 {panels}, i64 {most}")
        positions = code.emit(f"mul i64 {self.positions(code, count)}, {panel.bytes}")
        size = code.emit(f"mul i64 {held}, {positions}")
        # Panels of rows may be read a vector beyond their end.
        return code.emit(f"and i64 {code.emit(f'add i64 {size}, 191')}, -64")

    def level_bytes(self, code: Code, rows: str, columns: str, count: str) -> str:
        """A tile for each level of the counter of blocks, of which there is none for one block."""
        blocks = code.parts(count, str(BLOCK))
        zeros = code.call("llvm.ctlz.i64", "i64", ["i64", "i1"], [f"i64 {blocks}", "i1 false"])
        levels = code.emit(f"sub i64 64, {zeros}")
        several = code.emit(f"icmp sgt i64 {blocks}, 1")
        levels = code.emit(f"select i1 {several}, i64 {levels}, i64 0")
        tiles = PART_ROWS[1] * self.part_panels()[1]
        return code.emit(f"mul i64 {levels}, {tiles * self._layout.bytes}")
