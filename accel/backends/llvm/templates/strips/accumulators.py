"""Folds of many columns side by side: every value of a fold is a row of vectors, one lane for each column.

The order is `order.fold`'s for each column. A block's lanes are visited so that those which join follow each other (their
numbers' bits reversed), and each is finished before the next begins: so a few rows hold what waits to be joined, and they stay
in the first cache. Blocks join in a binary counter of rows (see `states/records.py`), and so do the lanes of folds that do not
commute. Exact folds need one row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Fixed, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.routine import Routine
from accel.ir.nodes import State
from accel.labelled.meaning.order import BLOCK
from accel.labelled.meaning.order import lanes as order_lanes
from accel.labelled.meaning.products import steps
from accel.labelled.scalar import constant
from accel.schedule.legality import in_order
from accel.support.dataclass import dataclass

LEVELS = 20
"""Rows of a counter: more than the bits of the number of blocks of any part."""

PARTIAL_ALIGN = 4
"""Bytes to a multiple of which vectors of partial results stand: of several widths, of four lanes or more each."""

RUN_LEVELS = LEVELS + 6
"""The same of the number of runs, of which a block has 64 at most."""


@dataclass(frozen=True, slots=True)
class Strip:
    """What strips of one function share. `vectors`: the most that a strip has; `count`: how many this one has."""

    routine: Routine
    writer: Writer
    memory: Memory
    functions: Functions
    vectors: int
    count: str

    @contextmanager
    def each(self) -> Iterator[str]:
        """A loop over the strip's vectors: gives their numbers."""
        with self.routine.count("0", self.count) as vector:
            yield vector


class Row:
    """Rows of vectors of some scalars: `rows` of them, each as long as the longest strip."""

    def __init__(self, strip: Strip, kinds: Sequence[ScalarType], rows: int = 1) -> None:
        self._strip = strip
        self._kinds = kinds
        self._types = [strip.writer.code.type(kind) for kind in kinds]
        size = rows * strip.vectors
        self._slots = [strip.routine.slot(f"[{size} x {type_}]", align=64) for type_ in self._types]

    def load(self, vector: str, row: str = "0", other: Row | None = None, instead: str | None = None) -> list[Value]:
        """A vector of each scalar; from row 0 of `other` where the i1 `instead` holds."""
        strip, addresses = self._strip, self._at(vector, row)
        if other is not None and instead is not None:
            pairs = zip(other._at(vector, "0"), addresses, strict=True)
            addresses = [strip.routine.code.emit(f"select i1 {instead}, ptr {a}, ptr {b}") for a, b in pairs]
        return [
            strip.writer.varying(strip.routine.load(type_, address), kind)
            for type_, kind, address in zip(self._types, self._kinds, addresses, strict=True)
        ]

    def store(self, values: Sequence[Value], vector: str, row: str = "0") -> None:
        """The same, into memory."""
        strip = self._strip
        for type_, value, address in zip(self._types, values, self._at(vector, row), strict=True):
            strip.routine.store(type_, strip.writer.every(value), address)

    def _at(self, vector: str, row: str) -> list[str]:
        code = self._strip.routine.code
        place = vector
        if row != "0":
            place = code.emit(f"add i64 {code.emit(f'mul i64 {row}, {self._strip.vectors}')}, {vector}")
        return [
            code.emit(f"getelementptr {type_}, ptr {slot}, i64 {place}")
            for type_, slot in zip(self._types, self._slots, strict=True)
        ]


class Fold:
    """One state in columns side by side."""

    def __init__(self, strip: Strip, state: State) -> None:
        self._strip = strip
        self.state = state
        self.width = order_width(state)
        self._elements = steps(state.merge, state.monoid, state.types, state.products)
        nothing = state.monoid.neutral or tuple([constant(kind, 0) for kind in state.types])
        self._neutral: list[Value] = [Fixed(element) for element in nothing]

    def step(self, held: Sequence[Value], values: Sequence[Value], mask: str | None) -> list[Value]:
        """What a lane comes to by one more element, where the mask is set."""
        # Lanes begin as -0.0 where products are added, and fma(x, y, -0.0) is x * y.
        merged = self._strip.functions.apply(self._elements.following, [*held, *values], None)
        if mask is None:
            return merged
        return [self._strip.writer.select(mask, new, old) for new, old in zip(merged, held, strict=True)]

    def begin_with(self, values: Sequence[Value], mask: str | None) -> list[Value]:
        """What a lane comes to by its first element."""
        if mask is not None:
            return self.step(self.nothing(), values, mask)
        return self._strip.functions.apply(self._elements.first, values, None)

    def merge(self, left: Sequence[Value], right: Sequence[Value]) -> list[Value]:
        """Partial results, the earlier ones first."""
        return self._strip.functions.apply(self.state.merge, [*left, *right], None)

    def nothing(self) -> list[Value]:
        """What a lane holds that has no element yet."""
        return list(self._neutral)

    def tree(self, lanes: Sequence[Sequence[Value]]) -> Sequence[Value]:
        """What lanes come to, a power of two of them: each joins the one half of them on, and so on."""
        while len(lanes) > 1:
            half = len(lanes) // 2
            lanes = [self.merge(left, right) for left, right in zip(lanes[:half], lanes[half:], strict=True)]
        return lanes[0]


class StripFold(Fold):
    """One state in every column of a strip. `streams`: whether all lanes of a block are open at once, each in a row.

    `run`: how many elements a lane has of a fold that does not commute; None of others. Such lanes join as blocks do, adjacent
    ones first, and so that the counter of blocks serves them: a block has a power of two of them.
    """

    def __init__(self, strip: Strip, state: State, *, streams: bool) -> None:
        super().__init__(strip, state)
        self._kinds = state.types
        ordered = self.width > 1
        self._rows = Row(strip, self._kinds, self.width if streams or not ordered else self.width.bit_length() + 1)
        self._fresh = Row(strip, self._kinds) if ordered else None
        self.run = BLOCK // order_lanes(state.types) if in_order(state) else None
        self._counter = Row(strip, self._kinds, LEVELS if ordered else RUN_LEVELS) if ordered or self.run else None
        self._blocks = strip.routine.slot("i64")

    def step_from(
        self, held: Sequence[Value], values: Sequence[Value], mask: str | None, first: str | None
    ) -> list[Value]:
        """The same as `step`. `first`: whether the lane has no element yet, an i1; None if it has some."""
        merged = self.step(held, values, mask)
        if self.run is None or first is None:
            return merged
        begins = self._strip.writer.splat(first, "i1")
        return [self._strip.writer.select(begins, new, old) for new, old in zip(values, merged, strict=True)]

    def begin(self) -> None:
        """No elements yet."""
        self._strip.routine.store("i64", "0", self._blocks)
        with self._strip.each() as vector:
            (self._fresh or self._rows).store(self._neutral, vector)

    def held(self, vector: str, row: str, fresh: str | None = None) -> list[Value]:
        """What a row holds; nothing yet where the i1 `fresh` holds."""
        return self._rows.load(vector, row, self._fresh, fresh)

    def hold(self, values: Sequence[Value], vector: str, row: str) -> None:
        """A row's new values."""
        self._rows.store(values, vector, row)

    def join(self, row: str) -> None:
        """A row joins the one before it, which is earlier in the order."""
        self._join(self._strip.routine.code.emit(f"sub i64 {row}, 1"), row)

    def _join(self, left: str, right: str) -> None:
        with self._strip.each() as vector:
            self._rows.store(self.merge(self._rows.load(vector, left), self._rows.load(vector, right)), vector, left)

    def join_halves(self, present: str) -> None:
        """All lanes join, each with the one half of the lanes on, then a quarter, …: the first `present` of them."""
        routine, code = self._strip.routine, self._strip.routine.code
        half = routine.slot("i64")
        routine.store("i64", str(self.width // 2), half)
        with routine.repeat() as while_:
            distance = routine.load("i64", half)
            while_(code.emit(f"icmp ne i64 {distance}, 0"))
            with routine.count("0", routine.least(distance, code.emit(f"sub i64 {present}, {distance}"))) as lane:
                self._join(lane, code.emit(f"add i64 {lane}, {distance}"))
            routine.store("i64", code.emit(f"lshr i64 {distance}, 1"), half)

    def push(self) -> None:
        """What stands in row 0 is the result of one more block, or of a power of two of blocks, or of one more run."""
        assert self._counter is not None
        routine, code = self._strip.routine, self._strip.routine.code
        blocks = routine.load("i64", self._blocks)
        routine.store("i64", code.emit(f"add i64 {blocks}, 1"), self._blocks)
        bits, level = routine.slot("i64"), routine.slot("i64")
        routine.store("i64", blocks, bits)
        routine.store("i64", "0", level)
        with routine.repeat() as while_:
            rest, place = routine.load("i64", bits), routine.load("i64", level)
            while_(code.emit(f"trunc i64 {rest} to i1"))
            with self._strip.each() as vector:
                self._rows.store(self.merge(self._counter.load(vector, place), self._rows.load(vector)), vector)
            routine.store("i64", code.emit(f"lshr i64 {rest}, 1"), bits)
            routine.store("i64", code.emit(f"add i64 {place}, 1"), level)
        with self._strip.each() as vector:
            self._counter.store(self._rows.load(vector), vector, place)

    def collapse(self) -> None:
        """Row 0 is what all blocks, or runs, come to; there is at least one."""
        if self._counter is None:
            return
        routine, code = self._strip.routine, self._strip.routine.code
        bits, level, some = routine.slot("i64"), routine.slot("i64"), routine.slot("i1")
        routine.store("i64", routine.load("i64", self._blocks), bits)
        routine.store("i64", "0", level)
        routine.store("i1", "false", some)
        with routine.repeat() as while_:
            rest, place = routine.load("i64", bits), routine.load("i64", level)
            while_(code.emit(f"icmp ne i64 {rest}, 0"))
            with routine.when(code.emit(f"trunc i64 {rest} to i1")):
                later = self._strip.writer.splat(routine.load("i1", some), "i1")
                with self._strip.each() as vector:
                    left, right = self._counter.load(vector, place), self._rows.load(vector)
                    merged = zip(self.merge(left, right), left, strict=True)
                    self._rows.store([self._strip.writer.select(later, new, old) for new, old in merged], vector)
                routine.store("i1", "true", some)
            routine.store("i64", code.emit(f"lshr i64 {rest}, 1"), bits)
            routine.store("i64", code.emit(f"add i64 {place}, 1"), level)

    def absorb(self, partials: str, vectors: str) -> None:
        """Row 0, or for exact folds what it comes to with row 0, is what stands at `partials`, in vectors from a number on."""
        with self._strip.each() as vector:
            place = self._strip.routine.code.emit(f"add i64 {vectors}, {vector}")
            values = self._partial(partials, place)
            self._rows.store(self.merge(self.held(vector, "0"), values) if self._counter is None else values, vector)
        if self._counter is not None:
            self.push()

    def leave(self, partials: str, vectors: str) -> None:
        """Row 0 to `partials`."""
        strip = self._strip
        with strip.each() as vector:
            place = strip.routine.code.emit(f"add i64 {vectors}, {vector}")
            for address, value in zip(self._addresses(partials, place), self.held(vector, "0"), strict=True):
                strip.routine.store(
                    strip.writer.code.type(value.type), strip.writer.every(value), address, align=PARTIAL_ALIGN
                )

    def _partial(self, partials: str, place: str) -> list[Value]:
        strip = self._strip
        return [
            strip.writer.varying(strip.routine.load(strip.writer.code.type(kind), address, align=PARTIAL_ALIGN), kind)
            for kind, address in zip(self._kinds, self._addresses(partials, place), strict=True)
        ]

    def _addresses(self, partials: str, place: str) -> Iterator[str]:
        code = self._strip.routine.code
        offset = code.emit(f"mul i64 {place}, {partial_bytes(self.state, self._strip.writer.lanes)}")
        for kind in self._kinds:
            yield code.emit(f"getelementptr i8, ptr {partials}, i64 {offset}")
            offset = code.emit(f"add i64 {offset}, {kind.bytes * self._strip.writer.lanes}")


class Lane:
    """What a lane of a fold holds for one vector of columns, in registers."""

    def __init__(self, strip: Strip, values: Sequence[Value]) -> None:
        self._strip = strip
        self._kinds = [value.type for value in values]
        self._types = [strip.writer.code.type(kind) for kind in self._kinds]
        self._slots = [strip.routine.slot(type_) for type_ in self._types]
        self._put(values)

    def get(self) -> list[Value]:
        """A vector of each scalar."""
        slots = zip(self._types, self._slots, self._kinds, strict=True)
        return [self._strip.writer.varying(self._strip.routine.load(type_, slot), kind) for type_, slot, kind in slots]

    def put(self, values: Sequence[Value], there: str | None = None) -> None:
        """Other values, where the i1 `there` holds."""
        writer = self._strip.writer
        if there is None:
            self._put(values)
            return
        mask = writer.splat(there, "i1")
        self._put([writer.select(mask, new, old) for new, old in zip(values, self.get(), strict=True)])

    def _put(self, values: Sequence[Value]) -> None:
        for type_, slot, value in zip(self._types, self._slots, values, strict=True):
            self._strip.routine.store(type_, self._strip.writer.every(value), slot)


def subtrees(code: Code, present: str, lanes: int) -> str:
    """How many subtrees of so many lanes are what `present` elements need, each in a lane of its own: powers of two."""
    less = code.emit(f"sub i64 {present}, 1")
    zeros = code.call("llvm.ctlz.i64", "i64", ["i64", "i1"], [f"i64 {less}", "i1 false"])
    bits = code.emit(f"sub i64 {64 - (lanes - 1).bit_length()}, {zeros}")
    some = code.emit(f"icmp sgt i64 {bits}, 0")
    return code.emit(f"shl i64 1, {code.emit(f'select i1 {some}, i64 {bits}, i64 0')}")


def order_width(state: State) -> int:
    """Lanes of a fold that are open at once; 1 where any order serves, and where the elements of a lane stand side by side."""
    return 1 if state.monoid.exact or in_order(state) else order_lanes([final.type for final in state.finals])


def partial_bytes(state: State, lanes: int) -> int:
    """Bytes of one vector of partial results."""
    return lanes * sum(final.type.bytes for final in state.finals)
