"""What all parts of a call's text are written with: its buffers, its extents, and what it does if something is not as usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from accel.ast.tree.types import ScalarType
from accel.backends.device import Slots
from accel.backends.llvm.calls.names import NAME, element_symbol
from accel.backends.llvm.sorting.order import Order
from accel.backends.llvm.text.routine import Routine
from accel.labelled.array import Array, Extent, Shape, SizeVariable

FAIL = "fail"
"""The label where a call ends: with the exception that is set, or else it begins again in Python."""

NO_ARRAY = "no_array"
"""Where it begins again although there was no array to be had: then Python says why."""

BUFFERS = "<buffers>"
"""Stands for how many buffers there are until all is written."""


OWN = -(1 << 32)
"""The first of the labels of arrays that only a call has, which go down: no operation's, and no `extent_nests`'."""


def kind_of(array: Array) -> Array:
    """What stands for all arrays of the same elements and rank: one with a label that none of these has."""
    return Array(OWN, 0, array.element, (Extent(None, 0),) * len(array.shape))


class Writer:
    """A function under construction. `%buffers` and `%sizes` are its lists; in `%extents` and `%block` it passes to others.

    `spares`: the kinds of arrays of which some that are dropped are kept for the next ones, and how many at most.
    """

    def __init__(self) -> None:
        self.slots = Slots()
        self.routine = Routine(f"ptr @{NAME}(ptr %self, ptr %arguments, i64 %number)", hot=False)
        self.code = self.routine.code
        self.elements: set[ScalarType] = set()
        self.sorts: list[Order] = []
        self.spares: Mapping[Array, int] = {}
        self._spoils = False
        self._rank = 1
        self._words = 1
        self._frames = 0

    def text(self, results: int) -> str:
        """The whole definition, once everything is written."""
        buffers, sizes = (max(1, count) for count in self.slots.counts)
        lists = {"buffers": (buffers, "ptr"), "sizes": (sizes, "i64"), "given": (results, "ptr")}
        lists |= {"extents": (self._rank, "i64"), "block": (self._words, "i64"), "flag": (1, "i64")}
        lists |= {"spoilt": (1, "i64")} if self._spoils else {}
        lists |= {"frames": (self._frames, "i64")} if self._frames else {}
        lines = [f"  %{name} = alloca [{count} x {type_}], align 8" for name, (count, type_) in lists.items()]
        for name in ("buffers", "given", "flag", *(["spoilt"] if self._spoils else [])):
            count, type_ = lists[name]
            lines.append(f"  store [{count} x {type_}] zeroinitializer, ptr %{name}")
        text = self.routine.text().replace(BUFFERS, str(buffers))
        return text.replace("entry:\n", "entry:\n" + "\n".join(lines) + "\n", 1)

    def spoilt(self) -> str:
        """The address of a word that is 1 once an argument's memory has been given away, so that no one can begin again."""
        self._spoils = True
        return "%spoilt"

    @property
    def spoils(self) -> bool:
        """Whether that may be."""
        return self._spoils

    # Extents.

    def size(self, slot: int) -> str:
        """The address of a size."""
        return self.routine.offset("%sizes", slot)

    def sized(self, variable: SizeVariable) -> str:
        """A size."""
        return self.routine.load("i64", self.size(self.slots.size(variable)))

    def extent(self, extent: Extent) -> str:
        """The extent: a number or a register."""
        if extent.variable is None:
            return str(extent.offset)
        size = self.sized(extent.variable)
        return self.code.emit(f"add i64 {size}, {extent.offset}") if extent.offset else size

    def shape(self, shape: Shape) -> list[str]:
        """The extents of a shape."""
        return [self.extent(extent) for extent in shape]

    def product(self, extents: Sequence[str], first: str = "1") -> str:
        """`first` times all of them."""
        for extent in extents:
            first = extent if first == "1" else self.code.emit(f"mul i64 {first}, {extent}")
        return first

    def room(self, factors: Shape) -> str:
        """The product of extents, for memory: more than a word counts is not as usual."""
        product, *others = self.shape(factors)
        for other in others:
            both = self.code.emit(f"call {{i64, i1}} @llvm.umul.with.overflow.i64(i64 {product}, i64 {other})")
            self.unless(self.code.emit(f"xor i1 {self.code.emit(f'extractvalue {{i64, i1}} {both}, 1')}, true"), FAIL)
            product = self.code.emit(f"extractvalue {{i64, i1}} {both}, 0")
        return product

    def pass_extents(self, extents: Sequence[str]) -> str:
        """Puts extents where functions read them; gives rank and address, as these take them."""
        self._rank = max(self._rank, len(extents))
        for axis, extent in enumerate(extents):
            self.routine.store("i64", extent, self.routine.offset("%extents", axis))
        return f"i64 {len(extents)}, ptr %extents"

    # Buffers.

    def place(self, array: Array) -> str:
        """The address of an array's buffer."""
        return self.routine.offset("%buffers", self.slots.array(array))

    def buffer(self, array: Array) -> str:
        """The array object."""
        return self.routine.load("ptr", self.place(array))

    def data(self, buffer: str, offset: int) -> str:
        """A pointer that an array object holds."""
        return self.routine.load("ptr", self.code.emit(f"getelementptr i8, ptr {buffer}, i64 {offset}"))

    def set(self, array: Array, reference: str) -> None:
        """Makes the object, whose reference is given, the array's buffer."""
        self.code.line(f"call void @accel_set(ptr {self.place(array)}, ptr {reference})")

    def share(self, array: Array, buffer: str) -> None:
        """Makes the object the array's buffer, too."""
        self.code.line(f"call void @Py_IncRef(ptr {buffer})")
        self.set(array, buffer)

    def drop(self, arrays: Sequence[Array]) -> None:
        """Drops the buffers of some arrays, or keeps them for the next array of the kind."""
        for array in arrays:
            spares = self.spares_of(array)
            if spares is None:
                self.set(array, "null")
            else:
                self.code.line(f"call void @accel_keep(ptr {self.place(array)}, {spares})")

    def spares_of(self, array: Array) -> str | None:
        """Where spare buffers of the array's elements and rank stand, and how many there is room for, if there is any."""
        kind = kind_of(array)
        if kind not in self.spares:
            return None
        places = [self.place(replace(kind, leaf=number)) for number in range(self.spares[kind])]
        return f"ptr {places[0]}, i64 {len(places)}"

    def element(self, element: ScalarType) -> str:
        """The descriptor, as functions take it."""
        self.elements.add(element)
        return f"ptr @{element_symbol(element)}"

    def taken(self, element: ScalarType, extents: Sequence[str]) -> str:
        """A new array, or null."""
        return self._taken("accel_take", element, extents)

    def taken_or_spare(self, array: Array, extents: Sequence[str]) -> str:
        """A new array, a spare one if there is one, or null."""
        spares = self.spares_of(array)
        if spares is None:
            return self._taken("accel_take", array.element, extents)
        routine = self.routine
        found, fresh, after = routine.slot("ptr"), routine.label(), routine.label()
        spare = self.code.emit(f"call ptr @accel_spare({spares}, {self.pass_extents(extents)})")
        routine.store("ptr", spare, found)
        routine.branch(self.code.emit(f"icmp eq ptr {spare}, null"), fresh, after)
        routine.place(fresh)
        routine.store("ptr", self._taken("accel_take_line", array.element, extents), found)
        routine.jump(after)
        routine.place(after)
        return routine.load("ptr", found)

    def _taken(self, function: str, element: ScalarType, extents: Sequence[str]) -> str:
        passed = self.pass_extents(extents)
        return self.code.emit(f"call ptr @{function}({self.element(element)}, i64 {element.bytes}, {passed})")

    # Kernels.

    def call(self, symbol: str, words: Sequence[tuple[str, str]]) -> str:
        """What a kernel gives for a block of arguments: words with their types."""
        self.pass_block(words)
        return self.code.emit(f"call i64 @{symbol}(ptr %block)")

    def pass_block(self, words: Sequence[tuple[str, str]]) -> None:
        """Puts words where functions read them."""
        self._words = max(self._words, len(words))
        for place, (type_, word) in enumerate(words):
            self.routine.store(type_, word, self.routine.offset("%block", place))

    def frame(self, start: int, words: int) -> str:
        """The address of a frame, among those of one loop, that begins with word `start`. Loops that have frames do not stand
        in each other, so all have them in the same memory."""
        self._frames = max(self._frames, start + words)
        return self.routine.offset("%frames", start)

    # What is not as usual.

    def unless(self, condition: str, label: str) -> None:
        """Goes to a label where the i1 does not hold."""
        after = self.routine.label()
        self.routine.branch(condition, after, label)
        self.routine.place(after)

    def require_reference(self, pointer: str) -> None:
        """Begins again if a function gave no array."""
        self.unless(self.code.emit(f"icmp ne ptr {pointer}, null"), NO_ARRAY)
