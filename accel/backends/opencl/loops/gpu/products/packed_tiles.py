"""Tiles of large products by groups of work-items: what rows and columns need is made before, in the order in which it is used.

In: a nest, and the tile in it. Out: three kernels. Two make what rows and what columns need, once, and leave it in memory: for
the rows of a tile the elements of one lane after the other, those of all its rows side by side. So the third reads it from one
end to the other, four at a time, whatever lanes and blocks the order has: a group has the next eight elements in local memory,
while those behind them are on the way. A work-item combines 64 results (32 of 8 bytes) in registers, which leaves room for
several groups on a processor of the device. Every other lane waits in local memory, as far as that has room; what pairs come to
joins what waits in memory of the work-item's own, once for all elements of two lanes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.kernel import Amount, Choice, Scaffold
from accel.backends.opencl.code.naming import stream_name
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.states import StateType
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import divided, known
from accel.backends.opencl.loops.gpu.places import GROUP, WAIT
from accel.backends.opencl.loops.gpu.products.tile_kernel import TileKernel, count, fetched
from accel.backends.opencl.machine.devices import LOCAL_BYTES
from accel.errors import AccelInternalError
from accel.ir import flow, mentions
from accel.labelled.meaning.order import BLOCK
from accel.labelled.work import LAUNCH
from accel.labelled.work import work as scalar_work
from accel.schedule.templates.gpu.product_tiles import Shape, packed_shape
from accel.schedule.templates.tile import Side, Tile

ENOUGH = 96
"""Rows and columns from which on packing is worth it."""

MANY = 1 << 19
"""Results from which on larger tiles are enough to occupy a GPU."""

MOST_PACKED = 1 << 28
"""Elements of rows, or of columns, that may be packed."""

LEVELS = 6
"""Of the tree of blocks."""

MOST_BLOCKS = (1 << LEVELS) - 1
"""Blocks of a fold, if elements have an order."""

LONG, SHORT = 64, 32
"""Of what a group packs at once: so many elements along the loop along which memory is read, and along the other one."""

WORK = 64
"""Operations for an element that is packed."""

_SLOT = """static position_t slot{lanes}(position_t element, position_t total) {{
  const position_t block = element / {block}, all = min(total - block * {block}, (position_t){block});
  const int lane = (int)(element % {lanes});
  int reversed = 0;
  for (int bit = 0; bit < {bits}; ++bit) reversed |= (lane >> bit & 1) << ({bits} - 1 - bit);
  return block * {block} + reversed * ((all + {lanes} - 1) / {lanes}) + element % {block} / {lanes};
}}"""
"""Where an element of a fold is used: blocks one after the other, in these lanes that join next to each other, which take
equally many places, though the last of some may be empty."""


def suits_packed(found: Tile) -> tuple[Choice, ...]:
    """Where packed tiles serve: for enough results, not too much to pack, and folds of not too many blocks."""
    around = tuple(known(loop.extent) for loop in found.batch)
    both = [known(side.loop.extent) for side in (found.rows, found.columns)]
    fold = known(found.fold.extent)
    wide = [Choice((extent,), ENOUGH, below=False) for extent in both]
    many = Choice((*both, *around), MANY, below=False)
    room = [Choice((extent, fold, *around), MOST_PACKED + 1, below=True) for extent in both]
    short = [Choice((fold,), MOST_BLOCKS * BLOCK + 1, below=True)] if found.order_lanes > 1 else []
    return (*wide, many, *room, *short)


def packed_tiles(scaffold: Scaffold, found: Tile, when: tuple[Choice, ...]) -> None:
    """Add the kernels."""
    shape = packed_shape(found)
    if shape is None:
        raise AccelInternalError("tiles are packed that do not suit")
    sides = (("rows", found.rows, shape.rows), ("columns", found.columns, shape.columns))
    packs = [_Pack(scaffold, found, shape, name, side, shape.side * each, when) for name, side, each in sides]
    for pack in packs:
        pack.add(when)
    _PackedTiles(scaffold, found, shape, packs).add(when)


def _padded(found: Tile, shape: Shape) -> str:
    """How many elements of a fold there are in what is packed: whole lanes, and whole fetches."""
    size = _padding(found, shape)
    return f"const position_t padded = (total + {size - 1}) / {size} * {size};"


def _padding(found: Tile, shape: Shape) -> int:
    return max(found.order_lanes, shape.depth)


class _Pack:
    """What one side needs, of each batch unless all need the same. `values`: the buffer that holds it; `vectors`: how many of
    them a tile fetches at once."""

    def __init__(
        self,
        scaffold: Scaffold,
        found: Tile,
        shape: Shape,
        name: str,
        side: Side,
        edge: int,
        when: tuple[Choice, ...],
    ) -> None:
        self._scaffold, self._found, self._shape, self._side, self._edge = scaffold, found, shape, side, edge
        self.name = name
        (self.stream,) = fetched(side)
        self.vectors = shape.depth * edge // shape.near
        needed = {stream for statement in side.statements for stream in flow.needed(statement)}
        self._batch = found.batch if any(loop.index in needed for loop in found.batch) else ()
        self._around = tuple(known(loop.extent) for loop in self._batch)
        lanes = _padding(found, shape)
        parts = (Amount((known(side.loop.extent),), edge), Amount((known(found.fold.extent),), lanes))
        count = Amount(rows=self._around, factor=edge // shape.near * lanes, times=parts)
        kind = self.stream.type
        self.values = scaffold.temporary(name, f"{c_type(kind)}{shape.near}", kind.bytes * shape.near, count, when)

    @property
    def first(self) -> str:
        """Where what a tile needs begins, in vectors."""
        before = f"batch * {self._tiles} * {self.size} + " if self._batch else ""
        return f"({before}{self.name} / {self._shape.near}) * padded"

    @property
    def size(self) -> int:
        """Vectors of a tile for each element of a fold."""
        return self._edge // self._shape.near

    @property
    def _tiles(self) -> str:
        return f"(({count(self._side.loop)} + {self._edge - 1}) / {self._edge})"

    def add(self, when: tuple[Choice, ...]) -> None:
        """Write the kernel, and add it to the nest's."""
        body = Body(Writer(), self._scaffold.context, {})
        writer, side, fold = body.writer, self._side, self._found.fold
        along, across = (fold, side.loop) if side.along_fold else (side.loop, fold)
        kind = c_type(self.stream.type)
        if side.along_fold:
            # A row more than there are keeps columns out of one bank of local memory.
            writer.line(f"__local {kind} part[{LONG * (SHORT + 1)}];")
        writer.line("const int place = get_local_id(0);")
        writer.line(f"position_t group = get_global_id(0) / {GROUP};")
        for name, loop, size in (("along", along, LONG), ("across", across, SHORT)):
            rest, number = divided(body.context, "group", f"(({count(loop)} + {size - 1}) / {size})")
            writer.line(f"const position_t {name} = {number} * {size};")
            writer.line(f"group = {rest};")
        if self._batch:
            writer.line("const position_t batch = group;")
        for loop in reversed(self._batch):
            rest, number = divided(body.context, "group", count(loop))
            writer.line(f"const position_t {stream_name(loop.index)} = {number};")
            writer.line(f"group = {rest};")
        writer.line(f"const position_t total = {count(fold)};")
        writer.line(_padded(self._found, self._shape))
        body.statements(self._scaffold.nest.body.before)
        names = stream_name(along.index), stream_name(across.index)
        with self._each(writer, names, (f"along + at % {LONG}", f"across + at / {LONG}")):
            body.statements(side.statements)
            value = stream_name(self.stream)
            if side.along_fold:
                writer.line(f"part[at % {LONG} * {SHORT + 1} + at / {LONG}] = {value};")
            else:
                self._leave(writer, body.context, value)
        if side.along_fold:
            writer.line(WAIT)
            with self._each(writer, names, (f"along + at / {SHORT}", f"across + at % {SHORT}")):
                self._leave(writer, body.context, f"part[at / {SHORT} * {SHORT + 1} + at % {SHORT}]")
        parts = [Amount((known(loop.extent),), size) for loop, size in ((along, LONG), (across, SHORT))]
        items = Amount(rows=self._around, factor=GROUP, times=tuple(parts))
        work = Amount((known(along.extent),), rows=(known(across.extent), *self._around), factor=WORK)
        self._scaffold.kernel(f"pack_{self.name}", writer.text, items, group=GROUP, when=when, work=work)

    @contextmanager
    def _each(self, writer: Writer, names: tuple[str, str], places: tuple[str, str]) -> Iterator[None]:
        """Every element of the part, with both indices, as far as these exist."""
        loops = (self._found.fold, self._side.loop)
        with writer.block(f"for (int at = place; at < {LONG * SHORT}; at += {GROUP})"):
            for name, place in zip(names, places, strict=True):
                writer.line(f"const position_t {name} = {place};")
            inside = " && ".join(f"{stream_name(loop.index)} < {count(loop)}" for loop in loops)
            with writer.block(f"if ({inside})"):
                yield

    def _leave(self, writer: Writer, context: Context, value: str) -> None:
        """Where the tile finds it."""
        edge, index, element = self._edge, stream_name(self._side.loop.index), stream_name(self._found.fold.index)
        lanes = self._found.order_lanes
        slot = element
        if lanes > 1:
            text = _SLOT.format(lanes=lanes, block=BLOCK, bits=lanes.bit_length() - 1)
            context.prelude.function(f"slot{lanes}", text)
            slot = f"slot{lanes}({element}, total)"
        before = f"batch * {self._tiles} + " if self._batch else ""
        place = f"(({before}{index} / {edge}) * padded + {slot}) * {edge} + {index} % {edge}"
        writer.line(f"((__global {c_type(self.stream.type)}*){self.values})[{place}] = {value};")


class _PackedTiles(TileKernel):
    def __init__(self, scaffold: Scaffold, found: Tile, shape: Shape, packs: list[_Pack]) -> None:
        super().__init__(scaffold, found, shape)
        self._packs = packs

    def add(self, when: tuple[Choice, ...]) -> None:
        """Write it, and add it to the nest's kernels."""
        writer, depth = self.writer, self.shape.depth
        for pack in self._packs:
            writer.line(f"__local {c_type(pack.stream.type)}{self.shape.near} {pack.name}0[{2 * pack.vectors}];")
        if self._near_rows:
            waiting = self._near_rows * self.shape.columns * self.shape.group
            writer.line(f"__local {self._state.name} waits[{waiting}];")
        self.place()
        writer.line(_padded(self.found, self.shape))
        for pack in self._packs:
            writer.line(f"const position_t {pack.name}_from = {pack.first};")
        self.body().statements(self.scaffold.nest.body.before)
        self._declare()
        with writer.block("if (padded > 0)"):
            self._ask("0")
            self._fill("0")
        writer.line(WAIT)
        with writer.block(f"for (position_t stage = 0; stage < padded; stage += {depth})"):
            writer.line(f"const int now = (int)(stage / {depth} & 1);")
            with writer.block(f"if (stage + {depth} < padded)"):
                self._ask(f"(stage + {depth})")
            if self.bits:
                self._lanes()
            else:
                writer.line(f"const int exist = (int)min((position_t){depth}, total - stage), step = 0;")
                self._steps()
            with writer.block(f"if (stage + {depth} < padded)"):
                self._fill("(1 - now)")
            writer.line(WAIT)
        if self.bits:
            self._join_blocks()
        self.results()
        # Neighbours go through many elements each: compilers for processors need not make vectors of them.
        self.scaffold.kernel(
            "packed", writer.text, self.items, group=self.shape.group, serial=True, when=when, work=self._work
        )

    @property
    def _work(self) -> Amount:
        """What combines elements: what is read serves so many results that it hardly counts."""
        found = self.found
        rows, *others = [known(loop.extent) for loop in (found.rows.loop, found.columns.loop, found.fold, *found.batch)]
        operations = sum(
            scalar_work(list(mentions.function_statements(each.function)), LAUNCH) for each in found.inside
        )
        return Amount((rows,), rows=tuple(others), factor=1 + operations)

    def _declare(self) -> None:
        """What a work-item keeps of its results, and what is on the way."""
        writer, lanes = self.writer, self.found.order_lanes
        shape = f"[{self.shape.rows}][{self.shape.columns}]"
        kept = f", levels0[{self.bits + LEVELS}]{shape}" if self.bits else ""
        writer.line(f"{self._state.name} own0{shape}{kept};")
        for pack in self._packs:
            names = ", ".join(f"{pack.name}_next{k}" for k in range(-(-pack.vectors // self.shape.group)))
            writer.line(f"{c_type(pack.stream.type)}{self.shape.near} {names};")
        with self.all_results():
            self.neutral()
        if self.bits:
            writer.line(
                f"int lane = 0, left = (int)((min(total, (position_t){BLOCK}) + {lanes - 1}) / {lanes}), there = left;"
            )

    def _ask(self, stage: str) -> None:
        """For what a stage needs."""
        for pack, at, coming in self._parts():
            self._guarded(pack, at, f"{coming} = {pack.values}[{pack.name}_from + {stage} * {pack.size} + {at}];")

    def _fill(self, half: str) -> None:
        """Half of local memory with what was asked for."""
        for pack, at, coming in self._parts():
            self._guarded(pack, at, f"{pack.name}0[{half} * {pack.vectors} + {at}] = {coming};")

    def _parts(self) -> Iterator[tuple[_Pack, str, str]]:
        for pack in self._packs:
            for k in range(-(-pack.vectors // self.shape.group)):
                yield pack, f"place + {k * self.shape.group}" if k else "place", f"{pack.name}_next{k}"

    def _guarded(self, pack: _Pack, at: str, line: str) -> None:
        self.writer.line(line if pack.vectors % self.shape.group == 0 else f"if ({at} < {pack.vectors}) {line}")

    def _lanes(self) -> None:
        """What a stage has of each lane, one after the other; a lane that is done joins those that wait for it."""
        writer, lanes, depth = self.writer, self.found.order_lanes, self.shape.depth
        with writer.block(f"for (int step = 0; step < {depth};)", rolled=True):
            writer.line(f"const int here = min({depth} - step, left), exist = min(here, there);")
            self._steps()
            writer.line("step += here;")
            writer.line("left -= here;")
            writer.line("there -= exist;")
            with writer.block("if (left == 0)"):
                self._join_lanes()
                with self.all_results():
                    self.neutral()
                writer.line("++lane;")
                writer.line(
                    f"const position_t all = min(total - lane / {lanes} * (position_t){BLOCK}, (position_t){BLOCK});"
                )
                writer.line("int reversed = 0;")
                reverse = f"reversed |= (lane >> bit & 1) << ({self.bits} - 1 - bit);"
                with writer.block(f"for (int bit = 0; bit < {self.bits}; ++bit)"):
                    writer.line(reverse)
                writer.line(f"left = (int)((all + {lanes - 1}) / {lanes});")
                writer.line(f"there = (int)((all - reversed + {lanes - 1}) / {lanes});")

    def _join_lanes(self) -> None:
        """Lanes in pairs, and then what these come to: all that waits for the lane that is done."""
        writer = self.writer
        with writer.block("if (lane & 1)"):
            self._wait(lambda waiting: f"own0[r][c] = {self._state.merge(waiting, 'own0[r][c]')};")
            writer.line("int level = 1;")
            with writer.block("for (; lane >> level & 1; ++level)", rolled=True):
                self.merged("levels{}[level][r][c]")
            with self.all_results():
                writer.line("levels0[level][r][c] = own0[r][c];")
        with writer.block("else"):
            self._wait(lambda waiting: f"{waiting} = own0[r][c];")

    def _wait(self, line: Callable[[str], str]) -> None:
        """A line for each result, by where its every other lane waits: those of the first rows in local memory."""
        rows, near = self._near_rows, f"waits[(r * {self.shape.columns} + c) * {self.shape.group} + place]"
        with self.all_results():
            if rows:
                self.writer.line(f"if (r < {rows}) {line(near)}")
            if rows < self.shape.rows:
                self.writer.line(f"if (r >= {rows}) {line('levels0[0][r][c]')}")

    @property
    def _state(self) -> StateType:
        (state,) = self.states
        return self.scaffold.types[state.name]

    @property
    def _near_rows(self) -> int:
        """Rows of a work-item whose every other lane has room in local memory beside what the group fetches."""
        (state,) = self.states
        fetched_bytes = sum(2 * pack.vectors * self.shape.near * pack.stream.type.bytes for pack in self._packs)
        row = self.shape.group * self.shape.columns * sum(kind.bytes for kind in state.types)
        return min((LOCAL_BYTES - fetched_bytes) // row, self.shape.rows) if self.bits else 0

    def _steps(self) -> None:
        """As many elements as exist, from one on; mostly all of a stage."""
        writer, depth = self.writer, self.shape.depth
        every = f"for (int k = 0; k < {depth}; ++k)"
        with writer.block(f"if (exist == {depth})"), writer.block(every, written_out=True):
            self._step("k")
        with writer.block("else"), writer.block("for (int k = 0; k < exist; ++k)", rolled=True):
            self._step("(step + k)")

    def _step(self, step: str) -> None:
        for pack, (_, mine, _, each) in zip(self._packs, self.sides, strict=True):
            kind, name = c_type(pack.stream.type), f"{pack.name}0"
            self.writer.line(f"{kind} {name}_own[{each}];")
            for k in range(each // self.shape.near):
                place = f"now * {pack.vectors} + {step} * {pack.size} + {k * self.shape.side} + {mine}"
                self.writer.line(f"const {kind}{self.shape.near} {name}_near{k} = {name}[{place}];")
                for number in range(self.shape.near):
                    self.writer.line(f"{name}_own[{k * self.shape.near + number}] = {name}_near{k}.s{number};")
        self.combine()

    def _join_blocks(self) -> None:
        """Those that still wait: the last ones first."""
        writer = self.writer
        writer.line(f"const int blocks = max((int)((total + {BLOCK - 1}) / {BLOCK}), 1);")
        writer.line("int first = 0;")
        writer.line("while (!(blocks >> first & 1)) ++first;")
        with self.all_results():
            writer.line(f"own0[r][c] = levels0[{self.bits} + first][r][c];")
        levels = f"for (int level = first + 1; level < {LEVELS}; ++level)"
        with writer.block(levels, rolled=True), writer.block("if (blocks >> level & 1)"):
            self.merged(f"levels{{}}[{self.bits} + level][r][c]")
