"""Writes accesses to arrays: loads and stores, plain, masked, gathered and packed.

No access leaves its array: checks come first (`checks.py`), lanes that are not active are masked away. Elements of the last
dimension are adjacent; other strides are read from the frame. An argument whose innermost elements are not adjacent is copied,
or stands here with one more dimension, of one element (`calls/in_place.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import prod

from accel.ast.tree.types import I64, ScalarType
from accel.backends.llvm.emit.asked import Ahead
from accel.backends.llvm.emit.checks import Checks
from accel.backends.llvm.emit.lanes.interleaving import every_so_many, interleaved_lanes
from accel.backends.llvm.emit.lanes.masked import lane_by_lane, masked_load, masked_store, suffix
from accel.backends.llvm.emit.lanes.narrow_gathers import gathered, gathered_from, gathers_words
from accel.backends.llvm.emit.lanes.packing import by_table, in_pieces, packed, set_lanes, store_pieces
from accel.backends.llvm.emit.lanes.stepping import COMPONENTS, WIDEST, step_of, stepped_lanes
from accel.backends.llvm.emit.past_caches import RowStores
from accel.backends.llvm.emit.runs import is_run
from accel.backends.llvm.emit.values import Fixed, Near, Packed, Progression, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.rows import ANY
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import Code, from_memory, memory_type, to_memory
from accel.backends.llvm.text.frame import FrameView
from accel.backends.sites import Site
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import constant

FIRST_CACHE, SECOND_CACHE = 3, 2
"""How LLVM calls the caches that what is asked for comes to."""


class Memory(Checks):
    """Accesses of one function: see `Checks` for what leaves it."""

    def __init__(self, view: FrameView, writer: Writer, leave: str, sites: list[Site] | None) -> None:
        super().__init__(view, writer, leave, sites)
        self.rows_of: Mapping[Array, Sequence[int]] = {}
        """The extents of rows of arrays, which lie one behind the other, where that is known."""
        self._true: str | None = None
        self._ahead: Ahead | None = None

    def with_writer(self, writer: Writer) -> Memory:
        """The same function's accesses in another number of lanes."""
        other = Memory(self.view, writer, self._leave, self._sites)
        other.rows_of = self.rows_of
        self._others.append(other)
        return other

    def extent(self, extent: Extent) -> Value:
        """The extent as a value."""
        return Uniform(self.view.extent(extent), I64)

    # Addresses.

    def address(self, array: Array, index: Sequence[Value]) -> str:
        """The address of an element at a uniform index, or of lane 0."""
        code, pointer = self.routine.code, self.view.data(array)
        for dimension, position in enumerate(index):
            base = self._first(position)
            stride = self.view.stride(array, dimension)
            offset = base if stride == "1" else code.emit(f"mul i64 {base}, {stride}")
            pointer = code.emit(f"getelementptr i8, ptr {pointer}, i64 {offset}")
        return pointer

    def _last_address(self, array: Array, index: Sequence[Value]) -> str:
        """The address of the last lane, of a row in reverse."""
        back = array.element.bytes * (self._writer.lanes - 1)
        return self.routine.code.emit(f"getelementptr i8, ptr {self.address(array, index)}, i64 {-back}")

    def _addresses(self, array: Array, index: Sequence[Value]) -> str:
        """The addresses of all lanes' elements."""
        writer = self._writer
        type_, pointers = writer.code.type(I64), writer.code.vector("ptr")
        text = f"ptr {self.view.data(array)}"
        for dimension, position in enumerate(index):
            stride = self.view.stride(array, dimension)
            splat = writer.code.splat("i64", stride) if stride.isdigit() else writer.splat(stride, "i64")
            offset = writer.code.emit(f"mul {type_} {writer.every(position)}, {splat}")
            text = f"{pointers} {writer.code.emit(f'getelementptr i8, {text}, {type_} {offset}')}"
        return text

    def _is_row(self, index: Sequence[Value], stride: int = 1) -> bool:
        """Whether lanes are adjacent in memory, in order (stride 1) or in reverse (-1)."""
        if not index or not isinstance(index[-1], Progression) or index[-1].stride != stride:
            return False
        return all(self._writer.is_uniform(position) for position in index[:-1])

    # Loads.

    def read(self, array: Array, index: Sequence[Value], mask: str | None) -> Value:
        """The elements at `index`, which is in bounds; where `mask` is not set, anything."""
        writer, kind = self._writer, array.element
        if array in self.view.frame.constants:
            code = self.routine.code.at_entry()
            text = code.emit(f"load {memory_type(kind)}, ptr {self.view.data(array)}, align {kind.bytes}")
            return Uniform(from_memory(code, kind, text), kind)
        if all(writer.is_uniform(position) for position in index):
            address = self.address(array, index)
            if mask is not None and index:
                address = self._guarded(address, mask)
            type_ = memory_type(kind)
            text = writer.scalar.emit(f"load {type_}, ptr {address}, align {kind.bytes}")
            return Uniform(from_memory(writer.scalar, kind, text), kind)
        if self._is_row(index) or is_run(index, array.shape):
            text = self._load_row(kind, address := self.address(array, index), mask)
            self._ask(array, address, 1)
        elif (step := self._step(array, index)) == -1 or self._is_row(index, -1):
            backwards = None if mask is None else writer.reversed(mask, "i1")
            row = self._load_row(kind, address := self._last_address(array, index), backwards)
            self._ask(array, address, -1)
            text = writer.reversed(row, memory_type(kind))
        elif (loaded := self._loaded(array, index)) is not None:
            text = loaded
        elif mask is None and (place := self._place_in_row(array, index)) is not None:
            text = self._of_rows(array, index, place)
        elif step != ANY and mask is None:
            text = stepped_lanes(writer.code, kind, self.address(array, index), step)
        elif mask is None and self._is_component(array, index):
            text = self._component(array, index)
        elif mask is None and len(index) == 1 and (words := self._words(index[0])) and host().processor.slow_gathers:
            text = lane_by_lane(writer.code, kind, words, self.view.data(array), self.view.stride(array, 0))
        elif mask is None and len(index) == 1 and gathers_words(kind) and (words := writer.narrow(index[0])):
            text = gathered_from(writer.code, kind, self.view.data(array), words)
        else:
            text = self._gather(kind, self._addresses(array, index), mask)
        return writer.varying(from_memory(writer.code, kind, text), kind)

    def _step(self, array: Array, index: Sequence[Value]) -> int:
        """How many elements it is in memory from lane to lane; `ANY` if that is not known, or a gather is faster."""
        if (extents := self.rows_of.get(array)) and self._is_row(index[: -len(extents)]):
            return prod(extents) if all(map(self._writer.is_uniform, index[-len(extents) :])) else ANY
        if (step := self.view.frame.step(array)) != ANY:
            return step if self._is_row(index[:-1]) else ANY
        return step_of(index[-1]) if all(map(self._writer.is_uniform, index[:-1])) else ANY

    def _place_in_row(self, array: Array, index: Sequence[Value]) -> int | None:
        """Which element of neighbouring rows is read, whose extents are known."""
        extents = self.rows_of.get(array, ())
        inner = index[len(index) - len(extents) :]
        if not extents or not self._is_row(index[: len(index) - len(extents)]):
            return None
        place = 0
        for each, extent in zip(inner, extents, strict=True):
            if not isinstance(each, Fixed):
                return None
            place = place * extent + int(each.constant.value)
        return place

    def _of_rows(self, array: Array, index: Sequence[Value], place: int) -> str:
        """The same element of all lanes' rows, which are loaded whole: so whoever reads another one loads the same."""
        kind, code = array.element, self._writer.code
        extents = self.rows_of[array]
        first = [*index[: len(index) - len(extents)], *([Fixed(constant(I64, 0))] * len(extents))]
        address = self.address(array, first)
        vectors = [
            self._load_row(
                kind, code.emit(f"getelementptr i8, ptr {address}, i64 {number * code.lanes * kind.bytes}"), None
            )
            for number in range(prod(extents))
        ]
        return every_so_many(code, memory_type(kind), vectors, place)

    def _is_component(self, array: Array, index: Sequence[Value]) -> bool:
        """Whether it is one and the same component of neighbouring rows, as in `points[i, 0]`: rows may be short."""
        if array.element.bytes > WIDEST or len(index) < 2 or not isinstance(index[-1], Fixed):
            return False
        return self.view.frame.step(array) == ANY and self._is_row(index[:-1])

    def _component(self, array: Array, index: Sequence[Value]) -> str:
        """The same, where rows have few elements: whole vectors are loaded."""
        kind, code, routine = array.element, self._writer.code, self.routine
        vector, after = code.vector(memory_type(kind)), routine.label()
        address, stride = self.address(array, index), self.view.stride(array, len(index) - 2)
        found = routine.slot(vector, align=64)
        for step in COMPONENTS:
            here, other = routine.label(), routine.label()
            routine.branch(routine.code.emit(f"icmp eq i64 {stride}, {step * kind.bytes}"), here, other)
            routine.place(here)
            routine.store(vector, stepped_lanes(code, kind, address, step), found)
            routine.jump(after)
            routine.place(other)
        routine.store(vector, self._gather(kind, self._addresses(array, index), None), found)
        routine.jump(after)
        routine.place(after)
        return routine.load(vector, found)

    def _loaded(self, array: Array, index: Sequence[Value]) -> str | None:
        """The elements there, if they were loaded before."""
        near = index[-1]
        if len(index) != 1 or not isinstance(near, Near):
            return None
        return next(iter(near.loaded.get(array, ())), None)

    def _guarded(self, address: str, mask: str) -> str:
        """The address if a lane is active, else one of a word that is never read."""
        if (some := self._writer.any(mask)) == "true":
            return address
        return self.routine.code.emit(f"select i1 {some}, ptr {address}, ptr {self._somewhere()}")

    def _somewhere(self) -> str:  # The address of a word that may be read.
        self.routine.store("i64", "0", somewhere := self.routine.slot("i64"))
        return somewhere

    def _load_row(self, kind: ScalarType, address: str, mask: str | None) -> str:
        code = self._writer.code
        vector = code.vector(memory_type(kind))
        if mask is None:
            return code.emit(f"load {vector}, ptr {address}, align {kind.bytes}")
        return masked_load(code, kind, address, mask)

    def _gather(self, kind: ScalarType, addresses: str, mask: str | None) -> str:
        code = self._writer.code
        vector, masks, pointers = code.vector(memory_type(kind)), code.vector("i1"), code.vector("ptr")
        name = f"llvm.masked.gather.{suffix(code, kind)}.v{code.lanes}p0"
        code.declare(vector, name, f"{pointers}, {masks}, {vector}")
        if mask is not None:
            idle = self._writer.splat(self._somewhere(), "ptr")
            somewhere = code.emit(f"select {masks} {mask}, {addresses}, {pointers} {idle}")
            addresses = f"{pointers} {somewhere}"
        if gathers_words(kind):
            return gathered(code, kind, addresses.removeprefix(pointers))
        addresses = addresses.replace(pointers, f"{pointers} align {kind.bytes}", 1)
        active = code.splat("i1", "true")
        return code.emit(f"call {vector} @{name}({addresses}, {masks} {active}, {vector} zeroinitializer)")

    def ask_ahead(self, array: Array, index: Sequence[Value]) -> None:
        """Asks for the element at a uniform index, or of lane 0, to come near; there need be none."""
        self._prefetch(self.address(array, index), SECOND_CACHE)

    @contextmanager
    def asking_ahead(self, place: int | None) -> Iterator[None]:
        """What is read inside, in rows and of all lanes, is followed by asking for what later vectors read, if this helps the
        processor. `place`: as of `Ahead`."""
        self._ahead = Ahead(place) if host().processor.asked_ahead else None
        yield
        self._ahead = None

    def _ask(self, array: Array, address: str, direction: int) -> None:
        """Asks for what is some vectors on from a vector at this address: behind it, or before it (-1)."""
        if self._ahead is None:
            return
        for line in self._ahead.lines(array, self._writer.lanes):
            offset = direction * host().processor.asked_ahead + line
            self._prefetch(self.routine.code.emit(f"getelementptr i8, ptr {address}, i64 {offset}"), FIRST_CACHE)

    def _prefetch(self, address: str, level: int) -> None:
        code = self.routine.code
        code.declare("void", "llvm.prefetch.p0", "ptr, i32, i32, i32")
        code.line(f"call void @llvm.prefetch.p0(ptr {address}, i32 0, i32 {level}, i32 1)")

    # Stores.

    def write(
        self,
        array: Array,
        index: Sequence[Value],
        value: Value,
        mask: str | None,
        stores: RowStores | None = None,
    ) -> None:
        """Stores `value` at `index` where `mask` is set; as of `stores` if there is no mask."""
        writer, kind = self._writer, array.element
        if writer.lanes == 1:
            text = to_memory(writer.scalar, kind, writer.one(value))
            address = self.address(array, index)
            writer.scalar.line(f"store {memory_type(kind)} {text}, ptr {address}, align {kind.bytes}")
            return
        text = to_memory(writer.code, kind, writer.every(value))
        if self._is_row(index) or is_run(index, array.shape):
            address = self.address(array, index)
            if mask is None and stores is not None:
                stores.store(self.routine, writer, kind, text, address)
            else:
                self._store_row(kind, text, address, mask)
        elif self._is_row(index, -1):
            backwards = None if mask is None else writer.reversed(mask, "i1")
            row = writer.reversed(text, memory_type(kind))
            self._store_row(kind, row, self._last_address(array, index), backwards)
        elif len(index) == 1 and isinstance(index[0], Packed) and index[0].mask == mask:
            self._store_packed(kind, text, self.address(array, index), mask)
        else:
            self._scatter(kind, text, self._addresses(array, index), mask)

    def write_rows(
        self, array: Array, index: Sequence[Value], columns: Sequence[Value], rest: str | None, stores: RowStores
    ) -> None:
        """Stores neighbouring rows, of which each column is a vector, from the element at `index` on, as of `stores`; only the
        first `rest` of them, if that is said, under masks."""
        writer, kind, code = self._writer, array.element, self.routine.code
        texts = [to_memory(writer.code, kind, writer.every(value)) for value in columns]
        address, count = self.address(array, index), len(columns)
        elements = None if rest is None else code.emit(f"mul i64 {rest}, {count}")
        for number, text in enumerate(interleaved_lanes(writer.code, memory_type(kind), texts)):
            mask, before = None, number * writer.lanes
            if elements is not None:
                mask = writer.first_lanes(code.emit(f"sub i64 {elements}, {before}"))
            place = code.emit(f"getelementptr i8, ptr {address}, i64 {before * kind.bytes}")
            if mask is None:
                stores.store(self.routine, writer, kind, text, place)
            else:
                self._store_row(kind, text, place, mask)

    def _store_row(self, kind: ScalarType, text: str, address: str, mask: str | None) -> None:
        code = self._writer.code
        if mask is None:
            vector = code.vector(memory_type(kind))
            code.line(f"store {vector} {text}, ptr {address}, align {kind.bytes}")
            return
        masked_store(code, kind, text, address, mask)

    def store_front(self, kind: ScalarType, value: Value, mask: str | None, address: str) -> None:
        """The set lanes of a value to adjacent elements, or all as they stand; what is behind them may be overwritten."""
        text = to_memory(self._writer.code, kind, self._writer.every(value))
        code = self._writer.code
        if mask is None:
            self._store_row(kind, text, address, None)
        elif in_pieces(code, kind):
            store_pieces(code, kind, text, self._unknown(kind, mask), address)
        else:
            self._store_row(kind, packed(self.routine, code, kind, text, self._unknown(kind, mask)), address, None)

    def _unknown(self, kind: ScalarType, mask: str) -> str:
        """The mask, of which LLVM cannot know whether it is a constant, where it looks for that."""
        if by_table(self._writer.lanes, kind):
            return mask
        return self._writer.code.emit(f"and {self._writer.code.vector('i1')} {mask}, {self._true_lanes()}")

    def _true_lanes(self) -> str:
        """A mask of all lanes, of which LLVM cannot know that it is: the frame's address is not null."""
        if self._true is None:
            masks, enter = self._writer.code.vector("i1"), self.routine.enter
            here = enter(f"icmp ne ptr {self.view.pointer}, null")
            first = enter(f"insertelement {masks} poison, i1 {here}, i32 0")
            self._true = enter(
                f"shufflevector {masks} {first}, {masks} poison, <{self._writer.lanes} x i32> zeroinitializer"
            )
        return self._true

    def _store_packed(self, kind: ScalarType, text: str, address: str, mask: str) -> None:
        """The set lanes, adjacent, from `address` on."""
        code = self._writer.code
        if kind.bytes >= 4 and in_pieces(code, kind) and by_table(code.lanes, kind):
            store_pieces(code, kind, text, mask, address, partial(self._store_first, kind))
            return
        kept = self._writer.first_lanes(set_lanes(self._writer.code, mask))
        front = packed(self.routine, self._writer.code, kind, text, self._unknown(kind, mask))
        self._store_row(kind, front, address, kept)

    def _store_first(self, kind: ScalarType, code: Code, text: str, address: str, count: str) -> None:
        """The first lanes of a vector of some other number of lanes."""
        writer = Writer(code.at(1), code.lanes)
        masked_store(code, kind, text, address, writer.first_lanes(count))

    def load_vector(self, kind: ScalarType, address: str, mask: str | None) -> Value:
        """Adjacent elements from an address on, where the mask is set."""
        return self.loaded(kind, self._load_row(kind, address, mask))

    def store_vector(self, kind: ScalarType, value: Value, address: str, mask: str | None) -> None:
        """To adjacent elements from an address on, where the mask is set."""
        self._store_row(kind, to_memory(self._writer.code, kind, self._writer.every(value)), address, mask)

    def load_lanes(self, kind: ScalarType, addresses: str, mask: str | None) -> Value:
        """The elements at the addresses in a vector register, where the mask is set."""
        return self.loaded(kind, self._gather(kind, f"{self._writer.code.vector('ptr')} {addresses}", mask))

    def loaded(self, kind: ScalarType, text: str) -> Value:
        """A vector register that was loaded, as elements."""
        return self._writer.varying(from_memory(self._writer.code, kind, text), kind)

    def _scatter(self, kind: ScalarType, text: str, addresses: str, mask: str | None) -> None:
        code = self._writer.code
        vector, masks, pointers = code.vector(memory_type(kind)), code.vector("i1"), code.vector("ptr")
        name = f"llvm.masked.scatter.{suffix(code, kind)}.v{code.lanes}p0"
        code.declare("void", name, f"{vector}, {pointers}, {masks}")
        addresses = addresses.replace(pointers, f"{pointers} align {kind.bytes}", 1)
        active = mask or code.splat("i1", "true")
        code.line(f"call void @{name}({vector} {text}, {addresses}, {masks} {active})")
