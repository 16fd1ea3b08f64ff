"""What a work-group keeps of states while it walks through a block stretch by stretch, besides what it scans (`shared.py`).

Exact folds: each work-item has a value of its own, and all join at the end. Folds in an order: the elements of a stretch stand
in local memory, and work-items take those of the lanes, or runs, of docs/order.md.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accel.backends.opencl.code.functions import Context
from accel.backends.opencl.code.states import Accumulator, Machine, StateType
from accel.backends.opencl.code.writer import ZEROS, Writer
from accel.backends.opencl.loops.join import Partials, merge_into
from accel.labelled.meaning.order import BLOCK
from accel.support.dataclass import dataclass


class Deposit(Accumulator):
    """A state whose elements are left in local memory: element `at` of a stretch at its place there.

    `put`: writes that element `at` is some value. `reached`: a variable that becomes one more than the last `at`; None if it
    is not asked for.
    """

    def __init__(
        self,
        made: StateType,
        memory: str,
        put: Callable[[Writer, str, str], None],
        reached: str | None,
        context: Context,
    ) -> None:
        super().__init__(made, f"{memory}_none", context, Machine.PLAIN)
        self._put = put
        self._reached = reached

    def begin(self, writer: Writer, seed: str | None) -> None:
        """Declare what stands for the state while it runs: nobody reads it before it is scanned."""
        writer.line(f"const {self.made.name} {self.variable} = {ZEROS};")

    def step(self, writer: Writer, value: str) -> None:
        """Leave an element."""
        self._put(writer, "at", value)
        if self._reached is not None:
            writer.line(f"{self._reached} = at + 1;")


@dataclass(frozen=True, slots=True)
class Present:
    """How many elements a state has in a stretch whose last iterations may have none: number `name` of a kernel."""

    name: str

    @property
    def reached(self) -> str:
        """A work-item's own variable."""
        return f"{self.name}_reached"

    def begin(self, writer: Writer) -> None:
        """Before the elements come."""
        writer.line(f"int {self.reached} = 0;")
        writer.line(f"if (lane == 0) {self.name} = 0;")

    def end(self, writer: Writer) -> None:
        """When a work-item has left its elements."""
        writer.line(f"atomic_max(&{self.name}, {self.reached});")


@dataclass(frozen=True, slots=True)
class JoinedFold:
    """Where a fold's lanes join at the end of a block: `width` of them, whose elements stand in turns or (`runs`) in rows."""

    made: StateType
    name: str
    width: int
    items: int
    runs: bool

    @property
    def at(self) -> Partials:
        """The lanes' values."""
        return Partials(f"{self.name}_lanes", f"{self.name}_some")

    def declare(self, writer: Writer) -> None:
        """Declare what the group shares."""
        writer.line(f"__local {self.made.name} {self.at.values}[{self.width}];")
        writer.line(f"__local uchar {self.at.some}[{self.width}];")

    def join(self, writer: Writer, end: Partials) -> None:
        """Join the lanes, as all work-items have left them, into what the block `place` comes to."""
        if self.runs:
            head, each = f"for (int reach = 1; reach < {self.width}; reach *= 2)", "2 * reach"
            walk = f"for (int l = {each} * lane; l + reach < {self.width}; l += {each} * {self.items})"
        else:
            head = f"for (int reach = {self.width // 2}; reach > 0; reach /= 2)"
            walk = f"for (int l = lane; l < reach; l += {self.items})"
        with writer.block(head):
            with writer.block(walk):
                merge_into(writer, self.made, self.at, "l", "l + reach")
            writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
        with writer.block("if (lane == 0)"):
            writer.line(f"{end.values}[place] = {self.at.values}[0];")
            writer.line(f"{end.some}[place] = {self.at.some}[0];")


@dataclass(frozen=True, slots=True)
class LaneFold:
    """A fold in an order, number `number` of a kernel that walks in stretches of so many elements."""

    made: StateType
    number: int
    items: int
    stretch: int

    @property
    def elements(self) -> str:
        """The memory of a stretch's elements."""
        return f"fold{self.number}_elements"

    @property
    def joined(self) -> JoinedFold:
        """Where its lanes are."""
        runs = not self.made.state.monoid.commutes
        return JoinedFold(self.made, f"fold{self.number}", self.made.lanes, self.items, runs)

    def declare(self, writer: Writer) -> None:
        """Declare what the group shares."""
        writer.line(f"__local {self.made.element} {self.elements}[{self.stretch}];")
        self.joined.declare(writer)

    def put(self, writer: Writer, at: str, value: str) -> None:
        """Leave element `at` of a stretch."""
        writer.line(f"{self.elements}[{at}] = {value};")

    def begin(self, writer: Writer) -> None:
        """Begin a block."""
        with writer.block(f"for (int l = lane; l < {self.made.lanes}; l += {self.items})"):
            writer.line(f"{self.joined.at.some}[l] = 0;")

    def follow(self, writer: Writer, present: str) -> None:
        """Take the `present` elements of a stretch."""
        made, at, lanes = self.made, self.joined.at, self.made.lanes
        if made.state.monoid.commutes:
            with writer.block(f"for (int l = lane; l < min({lanes}, {present}); l += {self.items})"):
                self._take(writer, "l", str(lanes), present, f"{at.some}[l]")
            return
        run = BLOCK // lanes
        with writer.block(f"for (int r = lane; r < {self.stretch // run}; r += {self.items})"):
            writer.line(f"const int l = (int)(base - begin) / {run} + r, first = r * {run};")
            with writer.block(f"if (first < {present})"):
                self._take(writer, "first", "1", f"min(first + {run}, {present})", "0")

    def _take(self, writer: Writer, first: str, step: str, stop: str, goes_on: str) -> None:
        """Lane `l` takes elements; it has some already if it `goes_on`."""
        made, at, own = self.made, self.joined.at, f"{self.elements}[at]"
        writer.line(f"int at = {first};")
        writer.line(f"{made.name} value = {at.values}[l];")
        with writer.block(f"if (!{goes_on})"):
            writer.line(f"value = {made.first(own)};")
            writer.line(f"at += {step};")
        with writer.block(f"for (; at < {stop}; at += {step})"):
            writer.line(f"value = {made.following('value', own)};")
        writer.line(f"{at.values}[l] = value;")
        writer.line(f"{at.some}[l] = 1;")


def join_values(writer: Writer, folds: Sequence[tuple[JoinedFold, Accumulator]]) -> None:
    """Leave the work-items' own values of exact folds as lanes, for all to see."""
    if not folds:
        return
    for fold, accumulator in folds:
        writer.line(f"{fold.at.values}[lane] = {accumulator.variable};")
        writer.line(f"{fold.at.some}[lane] = {accumulator.counted};")
    writer.line("barrier(CLK_LOCAL_MEM_FENCE);")
