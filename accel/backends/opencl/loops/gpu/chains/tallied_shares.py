"""Filters by work-groups of a processor: each work-item has a share of a block that lies together, and goes through it alone.

In: a nest whose running states are all tallies, and no fold of which has an order. Out: its two kernels that read elements. As
in `group_scans.py`, first each block finds how much it adds. There neighbours read neighbours, so that a compiler makes vectors
of them, and a byte for each element says whether it counts; what each share comes to is left. When blocks run again, a
work-item begins with what stands before its share, and counts by itself. What is kept goes to its place in local memory, and
what is not before all others: so the processor need not guess which it will be. It takes eight elements before it stores the
first, because loads would wait for stores that might be to the same place. Then the group copies what stands there.

GPUs have other kernels for that: their work-items would read far apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from accel.ast.tree.types import I64
from accel.backends.opencl.code.body import Body
from accel.backends.opencl.code.kernel import Amount, Choice, Scaffold
from accel.backends.opencl.code.naming import array_name, operand_text
from accel.backends.opencl.code.shared import neutral
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.states import Accumulator, Machine, guarded
from accel.backends.opencl.code.tally import ONES
from accel.backends.opencl.code.writer import ZEROS, Writer
from accel.backends.opencl.loops.flat import Flat
from accel.backends.opencl.loops.gpu.chains.stretches import JoinedFold, join_values
from accel.backends.opencl.loops.gpu.places import WAIT
from accel.backends.opencl.loops.join import Partials
from accel.backends.opencl.loops.rows import Rows
from accel.ir.nodes import ManyToOne, State, Write
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR
from accel.schedule.templates.gpu.chains import MOST_ITEMS
from accel.support.dataclass import dataclass

SHARE = BLOCK // MOST_ITEMS
"""Elements of a work-item."""

PACKED_BYTES = 24 * 1024
"""Of local memory that kept elements of a block take: what does not fit is written where it belongs at once."""

Begin = Callable[[Writer], None]
"""Writes which block of which row a group has: `lane`, `place`, `block` and, where there are rows, `row`."""


class _Flag(Accumulator):
    """A tally of a single element."""

    def begin(self, writer: Writer, seed: str | None) -> None:
        """Declare it; nobody reads what it was."""
        writer.line(f"uchar {self.variable}_flag = 0;")
        writer.line(f"const {self.made.name} {self.variable} = {ZEROS};")

    def step(self, writer: Writer, value: str) -> None:
        """The element counts."""
        writer.line(f"{self.variable}_flag = 1;")


@dataclass(frozen=True, slots=True)
class Shares:
    """The loop whose blocks groups have. tallies: the running states, each with where its shares are left. steps: those of
    all states. begin: see `Begin`."""

    scaffold: Scaffold
    rows: Rows
    flat: Flat
    tallies: tuple[tuple[State, str], ...]
    steps: Mapping[str, ManyToOne]
    begin: Begin
    when: Choice | None

    def count(self, purpose: str, only: frozenset[int], ends: Mapping[str, Partials]) -> None:
        """Add the kernel that finds what shares and blocks come to."""
        body = self._body(only)
        writer, types = body.writer, self.scaffold.types
        folds = [JoinedFold(types[s.name], f"fold{n}", MOST_ITEMS, MOST_ITEMS, False) for n, (s, _) in self._numbered]
        for number, fold in enumerate(folds):
            writer.line(f"__local ulong eights{number}[{BLOCK // SCAN_VECTOR}];")
            fold.declare(writer)
        self._enter(body)
        for whole in (True, False):
            with writer.block(f"if (count == {BLOCK})" if whole else "else"):
                self._flags(body, None if whole else "at < count")
        writer.line(WAIT)
        for number, (state, left) in self._numbered:
            writer.line(f"int total{number} = 0;")
            own = f"own = lane * {SHARE // SCAN_VECTOR}"
            with writer.block(f"for (int {own}, end = own + {SHARE // SCAN_VECTOR}; own < end; ++own)"):
                writer.line(f"total{number} += (int)((eights{number}[own] * {ONES}) >> {8 * (SCAN_VECTOR - 1)});")
            writer.line(f"{left}[place * {MOST_ITEMS} + lane] = (uchar)total{number};")
            writer.line(f"{folds[number].at.values}[lane] = {self._tally(state, f'total{number}')};")
            writer.line(f"{folds[number].at.some}[lane] = 1;")
        writer.line(WAIT)
        for fold in folds:
            fold.join(writer, ends[fold.made.state.name])
        self._add(purpose, writer, serial=False)

    def _flags(self, body: Body, condition: str | None) -> None:
        """Say of each element whether it counts: neighbours of neighbours."""
        writer = body.writer
        with writer.block(f"for (int line = 0; line < {BLOCK}; line += {MOST_ITEMS})"):
            writer.line("const int at = line + lane;")
            flags = [_Flag(self.scaffold.types[s.name], f"tally{n}", body.context) for n, (s, _) in self._numbered]
            for flag in flags:
                flag.begin(writer, None)
                body.accumulators[flag.made.state.name] = flag
            with guarded(writer, condition):
                writer.line("const position_t item = begin + at;")
                self.flat.enter(body, "item")
                body.level(self.flat.body)
            for number, flag in enumerate(flags):
                writer.line(f"((__local uchar*)eights{number})[at] = {flag.variable}_flag;")

    def run(
        self,
        only: frozenset[int],
        carried: Mapping[str, Partials],
        folds: Sequence[State],
        ends: Mapping[str, Partials],
    ) -> None:
        """Add the kernel that runs the loop itself: stores, and partial results of folds."""
        packed = self._packed(only)
        body = self._body(only.difference(map(id, packed)))
        writer, types = body.writer, self.scaffold.types
        joined = [JoinedFold(types[s.name], f"fold{n}", MOST_ITEMS, MOST_ITEMS, False) for n, s in enumerate(folds)]
        for number, write in enumerate(packed):
            writer.line(f"__local {c_type(write.array.element)} packed{number}[{BLOCK + 1}];")
        for number, _ in self._numbered:
            writer.line(f"__local int starts{number}[{MOST_ITEMS + 1}];")
        for fold in joined:
            fold.declare(writer)
        self._enter(body)
        self._starts(body, carried)
        for state in folds:
            body.accumulator(state, Machine.PLAIN).begin(writer, neutral(types[state.name]) if state.running else None)
        self._elements(body, packed)
        if packed or joined:
            writer.line(WAIT)
        for number, write in enumerate(packed):
            self._copy(writer, number, write)
        join_values(writer, [(fold, body.accumulators[fold.made.state.name]) for fold in joined])
        for fold in joined:
            fold.join(writer, ends[fold.made.state.name])
        self._add("blocks", writer, serial=True)

    def _starts(self, body: Body, carried: Mapping[str, Partials]) -> None:
        """Begin tallies with what stands before a work-item's share."""
        writer, types = body.writer, self.scaffold.types
        for number, (state, left) in self._numbered:
            kind, before = types[state.name], carried[state.name]
            value = f"{before.some}[place] ? {before.values}[place] : {neutral(kind)}"
            writer.line(f"const {kind.name} before{number} = {value};")
            writer.line(f"starts{number}[lane + 1] = {left}[place * {MOST_ITEMS} + lane];")
        writer.line(WAIT)
        with writer.block("if (lane == 0)"):
            for number, _ in self._numbered:
                writer.line(f"starts{number}[0] = 0;")
                with writer.block(f"for (int l = 0; l < {MOST_ITEMS}; ++l)"):
                    writer.line(f"starts{number}[l + 1] += starts{number}[l];")
        writer.line(WAIT)
        for number, (state, _) in self._numbered:
            start = self._tally(state, f"starts{number}[lane]")
            body.accumulator(state, Machine.PLAIN).begin(writer, types[state.name].merge(f"before{number}", start))

    def _elements(self, body: Body, packed: Sequence[Write]) -> None:
        """A work-item's share, eight elements at a time."""
        writer, whole = body.writer, SCAN_VECTOR
        for number, _ in self._numbered:
            writer.line(f"int place{number} = starts{number}[lane];")
        own = f"from = lane * {SHARE}, last = from + {SHARE}, end = min(count, last)"
        with writer.block(f"for (int {own}; from < last; from += {whole})"):
            for number, _ in self._numbered:
                writer.line(f"uchar flag{number}[{whole}];")
            for number, write in enumerate(packed):
                writer.line(f"{c_type(write.array.element)} kept{number}[{whole}];")
            with writer.block(f"for (int j = 0; j < {whole}; ++j)"):
                for number, _ in self._numbered:
                    writer.line(f"flag{number}[j] = 0;")
                for number, _ in enumerate(packed):
                    writer.line(f"kept{number}[j] = 0;")
                with writer.block("if (from + j < end)"):
                    self._element(body, packed)
            with writer.block(f"for (int j = 0; j < {whole}; ++j)"):
                for number, write in enumerate(packed):
                    of = self._index_of(write)
                    writer.line(f"packed{number}[flag{of}[j] ? place{of} + 1 : 0] = kept{number}[j];")
                for number, _ in self._numbered:
                    writer.line(f"place{number} += flag{number}[j];")

    def _element(self, body: Body, packed: Sequence[Write]) -> None:
        """One element: whether it counts, and what is to be stored of it if it does."""
        writer = body.writer
        writer.line("const position_t item = begin + from + j;")
        for number, (state, _) in self._numbered:
            writer.line(f"const long ahead{number} = {self._value(state, body)};")
        self.flat.enter(body, "item")
        body.level(self.flat.body)
        for number, (state, _) in self._numbered:
            writer.line(f"flag{number}[j] = {self._value(state, body)} != ahead{number};")
        for number, write in enumerate(packed):
            writer.line(f"kept{number}[j] = {operand_text(write.value)};")

    def _copy(self, writer: Writer, number: int, write: Write) -> None:
        """What is kept, eight elements at a time: those that do not fill a vector one by one."""
        of = self._index_of(write)
        array, lanes = array_name(write.array), SCAN_VECTOR
        with writer.block(""):
            writer.line(f"const int kept = starts{of}[{MOST_ITEMS}], whole = kept / {lanes};")
            target = f"{array} + before{of}.f0"
            with writer.block(f"for (int at = lane; at < whole; at += {MOST_ITEMS})"):
                writer.line(f"vstore{lanes}(vload{lanes}(at, packed{number} + 1), at, {target});")
            with writer.block(f"for (int at = whole * {lanes} + lane; at < kept; at += {MOST_ITEMS})"):
                writer.line(f"({target})[at] = packed{number}[at + 1];")

    def _packed(self, only: frozenset[int]) -> list[Write]:
        """The stores of kept elements one behind the other, as many as fit into local memory."""
        found, taken = [], 0
        for each in (*self.flat.body.before, *self.flat.body.after):
            if isinstance(each, Write) and id(each) in only and self._index_of(each) >= 0:
                taken += (BLOCK + 1) * each.array.element.bytes
                if taken > PACKED_BYTES:
                    break
                found.append(each)
        return found

    def _index_of(self, write: Write) -> int:
        """The number of the tally whose elements are stored, each where the tally stands; -1 if none is."""
        for number, (state, _) in self._numbered:
            step = self.steps[state.name]
            if write.index == step.before and write.when == step.when and state.types == [I64]:
                return number
        return -1

    @property
    def _numbered(self) -> list[tuple[int, tuple[State, str]]]:
        return list(enumerate(self.tallies))

    def _body(self, only: frozenset[int]) -> Body:
        return Body(Writer(), self.scaffold.context, dict(self.scaffold.types), only=only, atomic=True)

    def _enter(self, body: Body) -> None:
        """What stands before all elements of a block."""
        writer, total = body.writer, self.flat.total
        self.begin(writer)
        self.rows.enter(body)
        writer.line(f"const position_t begin = block * (position_t){BLOCK};")
        writer.line(f"const int count = (int)min((position_t){BLOCK}, {total} - begin);")

    def _tally(self, state: State, count: str) -> str:
        (kind,) = state.types
        return f"({self.scaffold.types[state.name].name}){{({c_type(kind)}){count}}}"

    def _value(self, state: State, body: Body) -> str:
        """What the tally has come to."""
        return f"(long){body.accumulators[state.name].running}.f0"

    def _add(self, purpose: str, writer: Writer, *, serial: bool) -> None:
        items = _items(self.rows, self.flat)
        self.scaffold.kernel(purpose, writer.text, items, group=MOST_ITEMS, serial=serial, when=self.when)


def room_for_shares(scaffold: Scaffold, rows: Rows, flat: Flat) -> str:
    """A temporary buffer for what the shares of a tally come to: no more than `SHARE`, so bytes will do."""
    return scaffold.temporary("shares", "uchar", 1, _items(rows, flat))


def _items(rows: Rows, flat: Flat) -> Amount:
    return Amount(flat.extents, BLOCK, rows.extents, MOST_ITEMS, needed=flat.needed)
