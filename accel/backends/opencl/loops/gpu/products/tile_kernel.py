"""What kernels for tiles of products have in common, whether they fetch what lies there or what was packed.

In: a nest, the tile in it, and how many results a work-item has. Out: lines that find out which tile a group has, combine an
element for all results of a work-item, and run what follows from complete folds.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Scaffold
from accel.backends.opencl.code.naming import extent_text, stream_name
from accel.backends.opencl.code.spelling import c_type, constant
from accel.backends.opencl.code.states import Accumulator, Machine
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import divided, known
from accel.backends.opencl.loops.join import final
from accel.ir.flow import made
from accel.ir.nodes import For, State, Stream
from accel.schedule.templates.gpu.product_tiles import Shape
from accel.schedule.templates.tile import Side, Tile


class _Own(Accumulator):
    """One result's part of the lane that is in work: it began with what is neutral."""

    def step(self, writer: Writer, value: str) -> None:
        """Combine one more element."""
        writer.line(f"{self.variable} = {self.made.following(self.variable, value)};")


class TileKernel:
    """Writes parts of one kernel."""

    def __init__(self, scaffold: Scaffold, found: Tile, shape: Shape) -> None:
        self.scaffold, self.found, self.shape = scaffold, found, shape
        self.writer = Writer()
        self.states: list[State] = list(found.fold.states)
        self.sides = (("rows", "y", found.rows, shape.rows), ("columns", "x", found.columns, shape.columns))
        self.bits = found.order_lanes.bit_length() - 1

    @property
    def items(self) -> Amount:
        """A group for each tile."""
        parts = tuple(Amount((known(side.loop.extent),), self.shape.side * each) for _, _, side, each in self.sides)
        return Amount(rows=tuple(known(loop.extent) for loop in self.found.batch), factor=self.shape.group, times=parts)

    def body(self) -> Body:
        """For statements of the nest."""
        return Body(self.writer, self.scaffold.context, dict(self.scaffold.types))

    def place(self) -> None:
        """Which tile this group has, and which place in it this work-item."""
        writer, found, size = self.writer, self.found, self.shape.side
        writer.line(f"const int place = get_local_id(0), x = place % {size}, y = place / {size};")
        writer.line(f"position_t group = get_global_id(0) / {self.shape.group};")
        for name, _, side, each in reversed(self.sides):
            edge = size * each
            parts = f"(({count(side.loop)} + {edge - 1}) / {edge})"
            rest, place = divided(self.scaffold.context, "group", parts)
            writer.line(f"const position_t {name} = {place} * {edge};")
            writer.line(f"group = {rest};")
        if found.batch:
            writer.line("const position_t batch = group;")
        self.around("group")
        writer.line(f"const position_t total = {count(found.fold)};")

    def around(self, group: str) -> None:
        """The loops around, of which this is the iteration that a variable says."""
        for loop in reversed(self.found.batch):
            rest, index = divided(self.scaffold.context, group, count(loop))
            self.writer.line(f"const position_t {stream_name(loop.index)} = {index};")
            self.writer.line(f"{group} = {rest};")

    def neutral(self) -> None:
        """All results begin a lane."""
        for number, state in enumerate(self.states):
            assert state.monoid.neutral is not None, "tiles begin with what is neutral"
            values = ", ".join(map(constant, state.monoid.neutral))
            self.writer.line(f"own{number}[r][c] = ({self.scaffold.types[state.name].name}){{{values}}};")

    def combine(self) -> None:
        """One element of the lane for all results of this work-item, which has what it needs of its rows and columns."""
        with self.all_results():
            self._indices()
            for (name, _, side, _), which in zip(self.sides, "rc", strict=True):
                for number, stream in enumerate(fetched(side)):
                    value = f"{name}{number}_own[{which}]"
                    self.writer.line(f"const {c_type(stream.type)} {stream_name(stream)} = {value};")
            body = self.body()
            for number, state in enumerate(self.states):
                kind = self.scaffold.types[state.name]
                own = _Own(kind, f"own{number}[r][c]", self.scaffold.context, Machine.PLAIN)
                body.accumulators[state.name] = own
            body.statements(self.found.inside)
            body.statements(self.found.steps)

    def results(self) -> None:
        """What follows from complete folds."""
        with self.all_results():
            self._indices()
            both = " && ".join(f"{stream_name(side.loop.index)} < {count(side.loop)}" for _, _, side, _ in self.sides)
            with self.writer.block(f"if ({both})"):
                body = self.body()
                body.statements(self.found.around)
                for number, state in enumerate(self.states):
                    final(body, state, f"own{number}[r][c]", "total > 0")
                body.statements(self.found.results)

    @contextmanager
    def all_results(self) -> Iterator[None]:
        """For each result of this work-item: written out, so that compilers keep what is theirs in registers."""
        rows, columns = (
            f"for (int {k} = 0; {k} < {each}; ++{k})" for k, (_, _, _, each) in zip("rc", self.sides, strict=True)
        )
        with self.writer.block(rows, written_out=True), self.writer.block(columns, written_out=True):
            yield

    def merged(self, kept: str) -> None:
        """What was kept of each result joins what this work-item has. `kept`: where, for the number of a state."""
        with self.all_results():
            for number, state in enumerate(self.states):
                own = f"own{number}[r][c]"
                merged = self.scaffold.types[state.name].merge(kept.format(number), own)
                self.writer.line(f"{own} = {merged};")

    def _indices(self) -> None:
        """Those of the row and the column of a result."""
        near, size = self.shape.near, self.shape.side
        for (name, mine, side, _), which in zip(self.sides, "rc", strict=True):
            within = f"{which} / {near} * {near * size} + {mine} * {near} + {which} % {near}"
            place = within if near > 1 else f"{which} * {size} + {mine}"
            self.writer.line(f"const position_t {stream_name(side.loop.index)} = {name} + {place};")


def fetched(side: Side) -> list[Stream]:
    """What statements make that is needed of rows or columns; indices are known, and what stands outside of all loops."""
    makers = {stream for statement in side.statements for stream in made(statement)}
    return [stream for stream in side.streams if stream in makers]


def count(loop: For) -> str:
    """How often a loop runs."""
    return extent_text(known(loop.extent))
