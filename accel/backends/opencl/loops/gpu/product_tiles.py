"""Tiles of products by groups of work-items, as `accel/schedule/templates/gpu/product_tiles.py` has them.

In: a nest, and the tile in it. Out: its kernel. A group fetches what rows and columns of its tile need for some elements of one
lane, waits, and combines them into 16 or 4 results of each work-item; when a lane is done, it joins the one that it waits for.
So a value for each level of the tree of lanes is kept of each result, in registers, and each element is read once for a tile.
Blocks follow each other in the same way; the values of their tree are touched once in a block, and need no registers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Choice, Scaffold
from accel.backends.opencl.code.naming import extent_text, stream_name
from accel.backends.opencl.code.spelling import c_type, constant
from accel.backends.opencl.code.states import Accumulator, Machine
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import divided, known
from accel.backends.opencl.loops.gpu.places import GROUP, WAIT
from accel.backends.opencl.loops.join import final
from accel.ir.flow import made
from accel.ir.nodes import For, State, Stream
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.gpu.product_tiles import DEPTH, SIDE, each_side
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
    _Tiles(scaffold, found).add(when)


class _Own(Accumulator):
    """One result's part of the lane that is in work: it began with what is neutral."""

    def step(self, writer: Writer, value: str) -> None:
        """Combine one more element."""
        writer.line(f"{self.variable} = {self.made.following(self.variable, value)};")


class _Tiles:
    def __init__(self, scaffold: Scaffold, found: Tile) -> None:
        self._scaffold, self._found = scaffold, found
        self._each = each_side(found)
        self._edge = SIDE * self._each
        self._writer = Writer()
        self._states: list[State] = list(found.fold.states)
        self._sides = (("rows", "y", found.rows), ("columns", "x", found.columns))
        self._bits = found.order_lanes.bit_length() - 1

    def add(self, when: tuple[Choice, ...]) -> None:
        """Write it, and add it to the nest's kernels."""
        found, writer = self._found, self._writer
        for name, _, side in self._sides:
            for number, stream in enumerate(_fetched(side)):
                writer.line(f"__local {c_type(stream.type)} {name}{number}[{self._edge * DEPTH}];")
        self._place()
        self._body().statements(self._scaffold.nest.body.before)
        self._declare()
        if self._bits:
            self._blocks()
        else:
            writer.line("const position_t begin = 0, end = total;")
            self._lanes()
        self._results()
        parts = tuple(Amount((known(side.loop.extent),), self._edge) for _, _, side in self._sides)
        items = Amount(rows=tuple(known(loop.extent) for loop in found.batch), factor=GROUP, times=parts)
        self._scaffold.kernel("tiles", writer.text, items, group=GROUP, when=when)

    def _body(self) -> Body:
        return Body(self._writer, self._scaffold.context, dict(self._scaffold.types))

    def _place(self) -> None:
        """Which tile this group has, and which place in it this work-item."""
        writer, found = self._writer, self._found
        writer.line(f"const int place = get_local_id(0), x = place % {SIDE}, y = place / {SIDE};")
        writer.line(f"position_t group = get_global_id(0) / {GROUP};")
        for name, _, side in reversed(self._sides):
            parts = f"(({_count(side.loop)} + {self._edge - 1}) / {self._edge})"
            rest, place = divided(self._scaffold.context, "group", parts)
            writer.line(f"const position_t {name} = {place} * {self._edge};")
            writer.line(f"group = {rest};")
        for loop in reversed(found.batch):
            rest, index = divided(self._scaffold.context, "group", _count(loop))
            writer.line(f"const position_t {stream_name(loop.index)} = {index};")
            writer.line(f"group = {rest};")
        writer.line(f"const position_t total = {_count(found.fold)};")

    def _declare(self) -> None:
        """What a work-item keeps of its results."""
        for number, state in enumerate(self._states):
            shape = f"[{self._each}][{self._each}]"
            kept = "".join(f", level{bit}_{number}{shape}" for bit in range(self._bits))
            blocks = f", blocks{number}{shape}[{LEVELS}]" if self._bits else ""
            self._writer.line(f"{self._scaffold.types[state.name].name} own{number}{shape}{kept}{blocks};")

    def _blocks(self) -> None:
        """Those of the order, at least one; neighbours join as soon as both are there, and the others at last."""
        writer, types = self._writer, self._scaffold.types
        writer.line(f"const int blocks = max((int)((total + {BLOCK - 1}) / {BLOCK}), 1);")
        with writer.block("for (int block = 0; block < blocks; ++block)"):
            writer.line(
                f"const position_t begin = block * (position_t){BLOCK}, end = min(begin + (position_t){BLOCK}, total);"
            )
            self._lanes()
            with writer.block("if (blocks > 1)"), self._all_results():
                for number, state in enumerate(self._states):
                    own, kept = f"own{number}[r][c]", f"blocks{number}[r][c]"
                    writer.line("int level = 0;" if number == 0 else "level = 0;")
                    with writer.block("for (; block >> level & 1; ++level)"):
                        writer.line(f"{own} = {types[state.name].merge(f'{kept}[level]', own)};")
                    writer.line(f"{kept}[level] = {own};")
        with writer.block("if (blocks > 1)"), self._all_results():
            writer.line("int first = 0;")
            writer.line("while (!(blocks >> first & 1)) ++first;")
            for number, state in enumerate(self._states):
                own, kept = f"own{number}[r][c]", f"blocks{number}[r][c]"
                writer.line(f"{own} = {kept}[first];")
                with writer.block(f"for (int level = first + 1; level < {LEVELS}; ++level)"):
                    merged = types[state.name].merge(f"{kept}[level]", own)
                    writer.line(f"if (blocks >> level & 1) {own} = {merged};")

    def _lanes(self) -> None:
        """All lanes of a block, each after the one that it joins: a loop over two halves for each level of their tree."""
        writer, types = self._writer, self._scaffold.types
        for bit in range(self._bits):
            writer.open(f"for (int half{bit} = 0; half{bit} < 2; ++half{bit})")
        halves = " + ".join(f"half{bit} * {1 << bit}" for bit in range(self._bits))
        writer.line(f"const position_t lane = {halves or 0};")
        self._lane()
        for bit in reversed(range(self._bits)):
            with self._all_results():
                for number, state in enumerate(self._states):
                    own, kept = f"own{number}[r][c]", f"level{bit}_{number}[r][c]"
                    writer.line(f"if (half{bit}) {own} = {types[state.name].merge(kept, own)};")
                    writer.line(f"else {kept} = {own};")
            writer.close()

    def _lane(self) -> None:
        """The elements of one lane, some at a time."""
        writer, lanes = self._writer, self._found.order_lanes
        with self._all_results():
            for number, state in enumerate(self._states):
                assert state.monoid.neutral is not None, "tiles begin with what is neutral"
                neutral = ", ".join(map(constant, state.monoid.neutral))
                name = self._scaffold.types[state.name].name
                writer.line(f"own{number}[r][c] = ({name}){{{neutral}}};")
        with writer.block(f"for (position_t from = begin + lane; from < end; from += {DEPTH * lanes})"):
            for name, _, side in self._sides:
                self._fetch(name, side)
            writer.line(WAIT)
            writer.line(f"const int stop = (int)min((position_t){DEPTH}, (end - from + {lanes - 1}) / {lanes});")
            with writer.block("for (int step = 0; step < stop; ++step)"):
                self._step()
            writer.line(WAIT)

    def _fetch(self, name: str, side: Side) -> None:
        """What one side of the tile needs; neighbours fetch what neighbouring rows, or columns, need."""
        writer, fold = self._writer, self._found.fold
        index, element = stream_name(side.loop.index), stream_name(fold.index)
        with writer.block(f"for (int at = place; at < {self._edge * DEPTH}; at += {GROUP})"):
            writer.line(f"const position_t {index} = {name} + at % {self._edge};")
            writer.line(f"const position_t {element} = from + at / {self._edge} * {self._found.order_lanes};")
            with writer.block(f"if ({index} < {_count(side.loop)} && {element} < end)"):
                self._body().statements(side.statements)
                for number, stream in enumerate(_fetched(side)):
                    writer.line(f"{name}{number}[at] = {stream_name(stream)};")

    def _step(self) -> None:
        """One element of the lane for all results of this work-item."""
        writer, found = self._writer, self._found
        writer.line(f"const position_t {stream_name(found.fold.index)} = from + step * {found.order_lanes};")
        for name, mine, side in self._sides:
            for number, stream in enumerate(_fetched(side)):
                writer.line(f"{c_type(stream.type)} {name}{number}_own[{self._each}];")
                with writer.block(f"for (int k = 0; k < {self._each}; ++k)"):
                    place = f"step * {self._edge} + k * {SIDE} + {mine}"
                    writer.line(f"{name}{number}_own[k] = {name}{number}[{place}];")
        with self._all_results():
            self._indices()
            for (name, _, side), which in zip(self._sides, "rc", strict=True):
                for number, stream in enumerate(_fetched(side)):
                    writer.line(f"const {c_type(stream.type)} {stream_name(stream)} = {name}{number}_own[{which}];")
            body = self._body()
            for number, state in enumerate(self._states):
                kind = self._scaffold.types[state.name]
                own = _Own(kind, f"own{number}[r][c]", self._scaffold.context, Machine.PLAIN)
                body.accumulators[state.name] = own
            body.statements(found.inside)
            body.statements(found.steps)

    def _indices(self) -> None:
        """Those of the row and the column of a result."""
        for (name, mine, side), which in zip(self._sides, "rc", strict=True):
            index = stream_name(side.loop.index)
            self._writer.line(f"const position_t {index} = {name} + {which} * {SIDE} + {mine};")

    def _results(self) -> None:
        """What follows from complete folds."""
        writer, found = self._writer, self._found
        with self._all_results():
            self._indices()
            both = " && ".join(f"{stream_name(side.loop.index)} < {_count(side.loop)}" for _, _, side in self._sides)
            with writer.block(f"if ({both})"):
                body = self._body()
                body.statements(found.around)
                for number, state in enumerate(self._states):
                    final(body, state, f"own{number}[r][c]", "total > 0")
                body.statements(found.results)

    @contextmanager
    def _all_results(self) -> Iterator[None]:
        """For each result of this work-item: so few that compilers write them out, and keep what is theirs in registers."""
        rows, columns = (f"for (int {k} = 0; {k} < {self._each}; ++{k})" for k in "rc")
        with self._writer.block(rows), self._writer.block(columns):
            yield


def _fetched(side: Side) -> list[Stream]:
    """What statements make that is needed of rows or columns; indices are known, and what stands outside of all loops."""
    makers = {stream for statement in side.statements for stream in made(statement)}
    return [stream for stream in side.streams if stream in makers]


def _count(loop: For) -> str:
    return extent_text(known(loop.extent))
