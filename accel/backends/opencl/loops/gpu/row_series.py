"""Series in groups: nests that follow each other on the same rows, such as those of softmax, in a kernel that reads them once.

In: a series, and the schedules of its nests. Out: its kernel. A group has some rows, and a part of its work-items each. What
several nests visit is fetched into local memory; what one passes to others lies there, in the place of what nobody reads any
more. So of softmax, whose elements are read three times and stored twice by nests that run alone, nothing but the row and the
result passes through the device's memory. Rows of more than `longest` elements do not fit.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.kernel import (
    ERROR_PARAMETER,
    Amount,
    Kernel,
    NestKernels,
    Sharing,
    anonymous,
    divisible,
    fixed_group,
    kernel_text,
)
from accel.backends.opencl.code.naming import array_name, extent_text, parameters
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.states import StateType, state_type
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.loops.flat import Flat, flat
from accel.backends.opencl.loops.gpu.eights import EIGHT, eight
from accel.backends.opencl.loops.gpu.places import (
    GROUP,
    WAIT,
    Places,
    Workers,
    begins_neutral,
    finish,
    in_shared_memory,
    join_halves,
    join_pairs,
    place_bytes,
)
from accel.backends.opencl.loops.gpu.walk import Lanes, lanes, walk
from accel.backends.opencl.loops.join import Held
from accel.backends.opencl.loops.rows import Rows, inside
from accel.backends.opencl.machine.positions import counted
from accel.ir import mentions
from accel.ir.nodes import Nest, Read, Write
from accel.labelled.array import Array, Extent
from accel.labelled.meaning.order import BLOCK
from accel.labelled.programs import loaded
from accel.schedule.nodes import Role, Schedule, Series
from accel.schedule.templates.gpu.maps import neighbours
from accel.schedule.templates.gpu.row_series import row_extents
from accel.support.dataclass import dataclass

ROWS_BYTES = 24 * 1024
"""Of local memory that rows take, without what keeps them apart."""

LANES_BYTES = 9 * 1024
"""Of local memory that lanes of folds take, at most."""

ALL_BYTES = 32 * 1024
"""Of local memory that OpenCL promises."""

SIDE_BY_SIDE = 8
"""Work-items of a row at least, if it has as many elements: as many as fetch what a device's memory gives at once."""

BANKS = 32
"""Words of local memory that lie in different banks, and work-items that run at once, on most devices."""

BOTH = "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"
"""All work-items of a group see what the others have written."""


@dataclass(frozen=True, slots=True)
class SeriesKernels:
    """A series in OpenCL C. local: the arrays of which only rows in local memory exist. row: how long rows are, as a product.
    longest: elements of a row that fits."""

    series: Series
    made: NestKernels
    local: frozenset[Array]
    row: tuple[Extent, ...]
    longest: int


def rows_together(series: Series, schedules: Sequence[Schedule], name: str, context: Context) -> SeriesKernels | None:
    """The kernel of a series, each of whose nests runs as its schedule says; None if local memory cannot hold what it needs."""
    row = next(filter(None, map(row_extents, schedules)), None)
    if row is None:
        return None
    found = _Memory(series, row)
    writing = _Series(series, schedules, row, found, context)
    return writing.kernels(name) if writing.side_by_side else None


class _Memory:
    """Which rows lie in local memory. fetched: those that are there before the first nest runs. places: by array, the number of
    its memory. kinds: what elements these have."""

    def __init__(self, series: Series, row: tuple[Extent, ...]) -> None:
        nests, outer = series.nests, len(series.extents)
        made = {output.array for nest in nests for output in nest.outputs}
        gathered = {array for nest in nests for function in mentions.functions(nest) for array in loaded(function)}
        fitting = [array for array in series.rows if array.shape[outer:] == row and array not in gathered]
        visited = {array: sum(array in neighbours(nest) for nest in nests) for array in fitting}
        self.fetched = [array for array in fitting if array not in made and visited[array] > 1]
        self.passed = [array for array in fitting if array in series.passed]
        self.places: dict[Array, int] = {}
        last: list[Array] = []
        for array, first in [*((a, -1) for a in self.fetched), *((a, _first(nests, a)) for a in self.passed)]:
            place = next((n for n, old in enumerate(last) if _takes_over(nests, old, array, first)), len(last))
            self.places[array] = place
            last[place : place + 1] = [array]
        self.kinds = [array.element for array in last]

    @property
    def longest(self) -> int:
        """Elements of a row that fits, and of all rows of a group."""
        size = self.size
        return BLOCK if not size else min(BLOCK, 1 << ((ROWS_BYTES // size).bit_length() - 1))

    @property
    def size(self) -> int:
        """Bytes of an element of each of them."""
        return sum(kind.bytes for kind in self.kinds)


def _first(nests: Sequence[Nest], array: Array) -> int:
    return min(number for number, nest in enumerate(nests) if array in mentions.arrays(nest))


def _takes_over(nests: Sequence[Nest], old: Array, new: Array, first: int) -> bool:
    """Whether an array, of which nest `first` is the first to write, may lie where another does: because nobody reads that one
    from there on, or reads each element just before its own is written."""
    last = max(number for number, nest in enumerate(nests) if old in mentions.arrays(nest))
    if first < 0 or old.element is not new.element or last > first:
        return False
    if last < first:
        return True
    nest = nests[first]
    order = list(mentions.statements(nest))
    reads = [at for at, each in enumerate(order) if isinstance(each, Read) and each.array == old]
    writes = [at for at, each in enumerate(order) if isinstance(each, Write) and each.array == new]
    return {old, new} <= neighbours(nest) and max(reads) < min(writes)


class _Series:
    """Writes the kernel."""

    def __init__(
        self, series: Series, schedules: Sequence[Schedule], row: tuple[Extent, ...], memory: _Memory, context: Context
    ) -> None:
        self._series, self._schedules, self._row, self._memory = series, schedules, row, memory
        self._contexts = [context.of(nest) for nest in series.nests]
        self._types: dict[str, StateType] = {
            state.name: state_type(state, mine)
            for nest, mine in zip(series.nests, self._contexts, strict=True)
            for state in mentions.states(nest)
        }
        self._held = [Places(tuple(self._states(schedule))) for schedule in schedules]
        self._writer = Writer()

    def _states(self, schedule: Schedule) -> list[Held]:
        found = []
        for each in schedule.carried:
            flagged = not begins_neutral(each, schedule.axes[-1])
            name = each.state.name
            found.append(Held(each.state, self._types[name], name, f"{name}_some" if flagged else None))
        return found

    @property
    def side_by_side(self) -> int:
        """Work-items of a row at least, if it has as many elements: so many that there is room for the lanes of all rows of a
        group, which nests have in the same memory, one after the other. 0 if there is none."""
        memory, most = self._memory, max(map(place_bytes, self._held))
        room = min(LANES_BYTES, ALL_BYTES - memory.size * (memory.longest + GROUP))
        fitting = (1 << bits for bits in range(SIDE_BY_SIDE.bit_length() - 1, GROUP.bit_length()))
        return next((items for items in fitting if self._places(items) * most <= room), 0)

    def _places(self, items: int) -> int:
        """Lanes of all rows of a group, each of which has so many work-items, or as many as it has elements."""
        pairs = zip(self._schedules, self._held, strict=True)
        widths = [lanes(each, each.axes[-1]).width for each, held in pairs if held.every]
        width = max(widths, default=1)
        return max(GROUP, GROUP // items * (width + items if items < width else width))

    def kernels(self, name: str) -> SeriesKernels:
        """The only kernel, and what is known of it."""
        series, memory, writer, row = self._series, self._memory, self._writer, self._row
        longest = memory.longest
        least = self.side_by_side
        items = (Sharing(row, least), Sharing(row, GROUP // least, longest * least // GROUP))
        shared = in_shared_memory(writer, self._held, self._places(least))
        for number, kind in enumerate(memory.kinds):
            writer.line(f"__local {c_type(kind)} row{number}[{longest + GROUP}];")
        self._place(items)
        self._fetch()
        for nest, schedule, context, held in zip(series.nests, self._schedules, self._contexts, shared, strict=True):
            with writer.block(""):
                self._nest(nest, schedule, context, held)
        local = frozenset(memory.passed)
        found = parameters(series.nests, local)
        contexts = zip(self._contexts, series.nests, strict=True)
        checked = any(context.has_record(nest) for context, nest in contexts)
        declared = [*found.declarations, *([ERROR_PARAMETER] if checked else [])]
        text = kernel_text(f"{fixed_group(GROUP)}void {name}", declared, writer.text)
        known = self._contexts[0].kernels.setdefault(anonymous(text), name)
        amount = Amount(rows=series.extents, times=items)
        kernel = Kernel(known, text if known == name else "", amount, GROUP, divisible=divisible(writer.text))
        up_to = counted(series.nests, [series.extents, row])
        made = NestKernels(
            series.nests, found, (), (kernel,), "some rows in a work-group, by all nests", checked, up_to
        )
        return SeriesKernels(series, made, local, row, longest)

    def _place(self, items: tuple[Sharing, Sharing]) -> None:
        """Which row this work-item has, and which place among those of the same row. Rows lie so far apart that work-items that
        run at once find theirs in different banks."""
        writer = self._writer
        rows, width = (" * ".join(map(extent_text, each)) for each in (self._series.extents, self._row))
        writer.line(f"const position_t rows = {rows}, width = {width};")
        for sharing, bits in zip(items, ("few", "more"), strict=True):
            sharing.write(writer, "width", bits)
        writer.line("const int bits = few + more, items = 1 << bits;")
        writer.line("const int place = get_local_id(0), lane = place & (items - 1), line = place >> bits;")
        writer.line("const position_t row = get_global_id(0) >> bits;")
        writer.line(f"const int there = row < rows, base = line * ((int)width | (items < {BANKS} ? items : 0));")

    def _fetch(self) -> None:
        """Neighbours fetch neighbours."""
        if not self._memory.fetched:
            return
        # All work-items of a row take equally many turns, so that compilers may write some of them out.
        turns = "for (int from = 0; from < width; from += items)"
        with (
            self._writer.block("if (there)"),
            self._writer.block(turns),
            self._writer.block("if (from + lane < width)"),
        ):
            self._writer.line("const int at = from + lane;")
            for array in self._memory.fetched:
                place = self._memory.places[array]
                self._writer.line(f"row{place}[base + at] = {array_name(array)}[row * width + at];")
        self._writer.line(WAIT)

    def _body(self, context: Context) -> Body:
        rank = len(self._row)
        rows = {array: (f"(row{place} + base)", rank) for array, place in self._memory.places.items()}
        return Body(self._writer, context, dict(self._types), rows=rows)

    def _nest(self, nest: Nest, schedule: Schedule, context: Context, shared: Places) -> None:
        """One nest on the group's rows; those behind it see what it makes."""
        outer, *inner = schedule.axes
        rows = inside(nest, flat(nest, outer))
        if not inner:
            self._once(rows, context)
        elif inner[0].role is Role.MAP:
            self._map(rows, flat(nest, inner[0]), context)
        else:
            self._fold(rows, flat(nest, inner[0]), lanes(schedule, inner[0]), context, shared)
        self._writer.line(BOTH)

    def _once(self, rows: Rows, context: Context) -> None:
        """What stands around the loop of a row, or instead of it."""
        body = self._body(context)
        if rows.once_each:
            with self._writer.block("if (there && lane == 0)"):
                rows.enter(body)
                rows.finish(body)
                body.statements(rows.level.after)

    def _map(self, rows: Rows, every: Flat, context: Context) -> None:
        body, writer = self._body(context), self._writer
        with writer.block("if (there)"):
            rows.enter(body)
            with writer.block("for (position_t item = lane; item < width; item += items)"):
                every.enter(body, "item")
                body.level(every.body)
        self._once(rows, context)

    def _fold(self, rows: Rows, every: Flat, kind: Lanes, context: Context, shared: Places) -> None:
        body, writer = self._body(context), self._writer
        Sharing(self._row, kind.width, kind.each).write(writer, "width", "halves")
        writer.line("const int lanes = 1 << halves, first = line * (items < lanes ? lanes + items : lanes);")
        with writer.block("if (there)"):
            rows.enter(body)
            with writer.block("for (int l = lane; l < lanes; l += items)"):
                walk(body, every, kind, shared, "l", "0", "width")
                shared.put(body, "first + l")
            if kind.commutes:
                # As long as those join that this work-item has left itself, none waits.
                levels, pairs = (
                    "int reach = lanes / 2; reach >= items; reach /= 2",
                    "int l = lane; l < reach; l += items",
                )
                with writer.block(f"for ({levels})"), writer.block(f"for ({pairs})"):
                    shared.merge(writer, "first + l", "first + l + reach")
        writer.line(WAIT)
        self._join(kind, shared)
        with writer.block("if (there && lane == 0)"):
            rows.enter(body)
            finish(body, rows, shared, "first", "width > 0")

    def _join(self, kind: Lanes, shared: Places) -> None:
        """The lanes of each row join in its first place: work-items without a row join nothing, for theirs hold nothing."""
        writer = self._writer
        if kind.commutes and all(held.some is None for held in shared.every):
            rounds = (
                f"int some = min(lanes, items), few = max(min(halves, bits) - {EIGHT}, 0);; few = max(few - {EIGHT}, 0)"
            )
            with writer.block(f"for ({rounds})"):
                with writer.block("if (there && lane < 1 << few)"):
                    writer.line("const int l = lane, at = first + lane;")
                    for held in shared.every:
                        eight(writer, held)
                writer.line("if (few == 0) break;")
                writer.line("some = 1 << few;")
                writer.line(WAIT)
            return
        writer.line(f"const int mine = there ? lane : {GROUP};")
        workers = Workers("mine", "items", lambda text: f"first + {text}")
        if kind.commutes:
            join_halves(writer, shared, workers, "min(lanes, items)")
        else:
            join_pairs(writer, shared, workers, "lanes", "lanes")
