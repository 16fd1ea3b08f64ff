"""What the functions of one nest share while it runs: a block of words on the stack of the call.

A word holds one scalar: sizes, data addresses and strides (bytes) of arrays, streams of outer levels. Functions get the
block's address and read what they need in their entry block.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from types import MappingProxyType

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.rows import ANY, Spread
from accel.backends.llvm.text.code import register_type
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import STREAMING
from accel.ir import mentions
from accel.ir.nodes import Nest, Stream
from accel.labelled.array import Array, Extent, SizeVariable


class Frame:
    """The layout: which word holds what."""

    def __init__(self, nest: Nest, spreads: Mapping[Array, Spread] = MappingProxyType({})) -> None:
        """`spreads`: how arrays lie in memory that stand for others in this nest (`accel/ir/layouts.py`)."""
        self.arrays: Sequence[Array] = sorted(mentions.arrays(nest), key=lambda array: (array.label, array.leaf))
        variables = {extent.variable for extent in mentions.extents(nest) if extent.variable is not None}
        found = {count.variable for count in nest.counts}
        made = {output.array for output in nest.outputs} | {array for pair in nest.in_place for array in pair}
        self.constants = frozenset(array for array in self.arrays if not array.shape and array not in made)
        """Arrays of one element that stays as it is while the nest runs."""
        self.sizes: Sequence[SizeVariable] = sorted(variables - found)
        self._words = STREAMING + 1
        self._size = {variable: self._take() for variable in self.sizes}
        self._data = {array: self._take() for array in self.arrays}
        self._strides = {array: [self._take() for _ in array.shape[:-1]] for array in self.arrays}
        self._streams: dict[str, int] = {}
        self._spreads = spreads

    def standing_for(self, others: Mapping[Array, Array]) -> Frame:
        """The same words, and any number of others, where each of these arrays also is one without its last dimension."""
        found = copy(self)
        found._data, found._strides = dict(self._data), dict(self._strides)
        found._streams = dict(self._streams)
        for array, other in others.items():
            found._data[other] = self._data[array]
            found._strides[other] = self._strides[array][:-1]
        return found

    def with_room_for(self, array: Array) -> Frame:
        """The same words, any number of others, and those of one more array."""
        found = self.standing_for({})
        found._data[array] = found._take()
        found._strides[array] = [found._take() for _ in array.shape[:-1]]
        return found

    def _take(self) -> int:
        self._words += 1
        return self._words - 1

    @property
    def words(self) -> int:
        """How many there are by now."""
        return self._words

    def size(self, variable: SizeVariable) -> int:
        """The word of an extent's variable."""
        return self._size[variable]

    def data(self, array: Array) -> int:
        """The word of an array's first element's address."""
        return self._data[array]

    def stride(self, array: Array, dimension: int) -> int:
        """The word of a stride in bytes; the last dimension has none, its elements are adjacent."""
        return self._strides[array][dimension]

    def axis(self, array: Array, dimension: int) -> int:
        """The dimension of the array object that is this one of the array."""
        spread = self._spreads.get(array)
        return dimension if spread is None else spread.order[dimension]

    def step(self, array: Array) -> int:
        """How many elements it is from one to the next in a row that is the last dimension but one; `ANY` if that is not known.

        The last dimension has a single element then.
        """
        spread = self._spreads.get(array)
        return ANY if spread is None or spread.step == 1 else spread.step

    def stream(self, name: str) -> int:
        """The word of a stream of an outer level."""
        if name not in self._streams:
            self._streams[name] = self._take()
        return self._streams[name]


class FrameView:
    """The frame as one function sees it; every word is read once, at the function's entry."""

    def __init__(self, routine: Routine, frame: Frame, pointer: str = "%frame") -> None:
        self.routine = routine
        self.frame = frame
        self.pointer = pointer
        self._read: dict[int, str] = {}
        self._extents: dict[Extent, str] = {}
        self._moved: Mapping[Array, str] = {}

    def address(self, word: int) -> str:
        """Where the word is."""
        return self.routine.enter(f"getelementptr i64, ptr {self.pointer}, i64 {word}")

    def word(self, word: int, type_: str = "i64") -> str:
        """The word's value."""
        if word not in self._read:
            self._read[word] = self.routine.enter(f"load {type_}, ptr {self.address(word)}")
        return self._read[word]

    def data(self, array: Array) -> str:
        """The address of the array's first element."""
        return self._moved.get(array) or self.word(self.frame.data(array), "ptr")

    def is_moved(self, array: Array) -> bool:
        """Whether what is written here finds it in this function's own memory."""
        return array in self._moved

    @contextmanager
    def moved(self, places: Mapping[Array, str]) -> Iterator[None]:
        """What is written inside finds these arrays at other addresses."""
        self._moved = places
        yield
        self._moved = {}

    def stride(self, array: Array, dimension: int) -> str:
        """Bytes from one index of the dimension to the next."""
        if dimension == len(array.shape) - 1:
            return str(array.element.bytes)
        if (step := self.frame.step(array)) != ANY and dimension == len(array.shape) - 2:
            return str(step * array.element.bytes)
        return self.word(self.frame.stride(array, dimension))

    def stream(self, stream: Stream) -> str:
        """A stream of an outer level."""
        return self.word(self.frame.stream(stream.name), register_type(stream.type))

    def keep(self, name: str, kind: ScalarType, text: str) -> None:
        """Stores a stream for the functions that are called from here on."""
        self.routine.store(register_type(kind), text, self.address(self.frame.stream(name)))

    def extent(self, extent: Extent) -> str:
        """The extent: a number or a register."""
        if extent.variable is None:
            return str(extent.offset)
        if extent not in self._extents:
            text = self.word(self.frame.size(extent.variable))
            if extent.offset:
                text = self.routine.enter(f"add i64 {text}, {extent.offset}")
            self._extents[extent] = text
        return self._extents[extent]
