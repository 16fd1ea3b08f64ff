"""Tiles of products by groups of work-items, as `accel/schedule/templates/gpu/product_tiles.py` has them.

In: a nest, and the tile in it. Out: its kernel. A group fetches what rows and columns of its tile need for some elements of one
lane, waits, and combines them into 16 or 4 results of each work-item; when a lane is done, it joins the one that it waits for.
So a value for each level of the tree of lanes is kept of each result, in registers, and each element is read once for a tile.
Blocks follow each other in the same way; the values of their tree are touched once in a block, and need no registers.
"""

from __future__ import annotations

from accel.backends.opencl.code.kernel import Choice, Scaffold
from accel.backends.opencl.code.naming import stream_name
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.loops.flat import known
from accel.backends.opencl.loops.gpu.places import WAIT
from accel.backends.opencl.loops.gpu.products.tile_kernel import TileKernel, count, fetched
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.gpu.product_tiles import item_shape
from accel.schedule.templates.tile import Side, Tile

ENOUGH = 32
"""Rows and columns from which on tiles are worth it: half of one."""


LEVELS = 8
"""Of the tree of blocks: each result has a value for each."""

MOST_BLOCKS = (1 << LEVELS) - 1
"""Blocks of a fold, if elements have an order."""


def suits(found: Tile) -> tuple[Choice, ...]:
    """Where tiles serve: for enough rows and columns, and, if elements have an order, folds of not too many blocks."""
    wide = [Choice((known(side.loop.extent),), ENOUGH, below=False) for side in (found.rows, found.columns)]
    short = [Choice((known(found.fold.extent),), MOST_BLOCKS * BLOCK + 1, below=True)] if found.order_lanes > 1 else []
    return (*wide, *short)


def product_tiles(scaffold: Scaffold, found: Tile, when: tuple[Choice, ...]) -> None:
    """Add the kernel."""
    _Tiles(scaffold, found, item_shape(found)).add(when)


class _Tiles(TileKernel):
    @property
    def _edge(self) -> int:
        return self.shape.side * self.shape.rows

    def add(self, when: tuple[Choice, ...]) -> None:
        """Write it, and add it to the nest's kernels."""
        writer = self.writer
        for name, _, side, _ in self.sides:
            for number, stream in enumerate(fetched(side)):
                writer.line(f"__local {c_type(stream.type)} {name}{number}[{self._edge * self.shape.depth}];")
        self.place()
        self.body().statements(self.scaffold.nest.body.before)
        self._declare()
        if self.bits:
            self._blocks()
        else:
            writer.line("const position_t begin = 0, end = total;")
            self._lanes()
        self.results()
        self.scaffold.kernel("tiles", writer.text, self.items, group=self.shape.group, when=when)

    def _declare(self) -> None:
        """What a work-item keeps of its results."""
        for number, state in enumerate(self.states):
            shape = f"[{self.shape.rows}][{self.shape.columns}]"
            kept = "".join(f", level{bit}_{number}{shape}" for bit in range(self.bits))
            blocks = f", blocks{number}{shape}[{LEVELS}]" if self.bits else ""
            self.writer.line(f"{self.scaffold.types[state.name].name} own{number}{shape}{kept}{blocks};")

    def _blocks(self) -> None:
        """Those of the order, at least one; neighbours join as soon as both are there, and the others at last."""
        writer, types = self.writer, self.scaffold.types
        writer.line(f"const int blocks = max((int)((total + {BLOCK - 1}) / {BLOCK}), 1);")
        with writer.block("for (int block = 0; block < blocks; ++block)"):
            writer.line(
                f"const position_t begin = block * (position_t){BLOCK}, end = min(begin + (position_t){BLOCK}, total);"
            )
            self._lanes()
            with writer.block("if (blocks > 1)"), self.all_results():
                for number, state in enumerate(self.states):
                    own, kept = f"own{number}[r][c]", f"blocks{number}[r][c]"
                    writer.line("int level = 0;" if number == 0 else "level = 0;")
                    with writer.block("for (; block >> level & 1; ++level)"):
                        writer.line(f"{own} = {types[state.name].merge(f'{kept}[level]', own)};")
                    writer.line(f"{kept}[level] = {own};")
        with writer.block("if (blocks > 1)"), self.all_results():
            writer.line("int first = 0;")
            writer.line("while (!(blocks >> first & 1)) ++first;")
            for number, state in enumerate(self.states):
                own, kept = f"own{number}[r][c]", f"blocks{number}[r][c]"
                writer.line(f"{own} = {kept}[first];")
                with writer.block(f"for (int level = first + 1; level < {LEVELS}; ++level)"):
                    merged = types[state.name].merge(f"{kept}[level]", own)
                    writer.line(f"if (blocks >> level & 1) {own} = {merged};")

    def _lanes(self) -> None:
        """All lanes of a block, each after the one that it joins: a loop over two halves for each level of their tree."""
        writer, types = self.writer, self.scaffold.types
        for bit in range(self.bits):
            writer.open(f"for (int half{bit} = 0; half{bit} < 2; ++half{bit})")
        halves = " + ".join(f"half{bit} * {1 << bit}" for bit in range(self.bits))
        writer.line(f"const position_t lane = {halves or 0};")
        self._lane()
        for bit in reversed(range(self.bits)):
            with self.all_results():
                for number, state in enumerate(self.states):
                    own, kept = f"own{number}[r][c]", f"level{bit}_{number}[r][c]"
                    writer.line(f"if (half{bit}) {own} = {types[state.name].merge(kept, own)};")
                    writer.line(f"else {kept} = {own};")
            writer.close()

    def _lane(self) -> None:
        """The elements of one lane, some at a time."""
        writer, lanes, depth = self.writer, self.found.order_lanes, self.shape.depth
        with self.all_results():
            self.neutral()
        with writer.block(f"for (position_t from = begin + lane; from < end; from += {depth * lanes})"):
            for name, _, side, _ in self.sides:
                self._fetch(name, side)
            writer.line(WAIT)
            writer.line(f"const int stop = (int)min((position_t){depth}, (end - from + {lanes - 1}) / {lanes});")
            with writer.block("for (int step = 0; step < stop; ++step)"):
                self._step()
            writer.line(WAIT)

    def _fetch(self, name: str, side: Side) -> None:
        """What one side of the tile needs; neighbours fetch what neighbouring rows, or columns, need."""
        writer, fold = self.writer, self.found.fold
        index, element = stream_name(side.loop.index), stream_name(fold.index)
        with writer.block(f"for (int at = place; at < {self._edge * self.shape.depth}; at += {self.shape.group})"):
            writer.line(f"const position_t {index} = {name} + at % {self._edge};")
            writer.line(f"const position_t {element} = from + at / {self._edge} * {self.found.order_lanes};")
            with writer.block(f"if ({index} < {count(side.loop)} && {element} < end)"):
                self.body().statements(side.statements)
                for number, stream in enumerate(fetched(side)):
                    writer.line(f"{name}{number}[at] = {stream_name(stream)};")

    def _step(self) -> None:
        """One element of the lane for all results of this work-item."""
        writer, found = self.writer, self.found
        writer.line(f"const position_t {stream_name(found.fold.index)} = from + step * {found.order_lanes};")
        for name, mine, side, each in self.sides:
            for number, stream in enumerate(fetched(side)):
                writer.line(f"{c_type(stream.type)} {name}{number}_own[{each}];")
                with writer.block(f"for (int k = 0; k < {each}; ++k)"):
                    place = f"step * {self._edge} + k * {self.shape.side} + {mine}"
                    writer.line(f"{name}{number}_own[k] = {name}{number}[{place}];")
        self.combine()
