"""LLVM text of loops whose turns only launch nests: memory is taken, and frames are filled, once for all turns.

In: what `turn_buffers.py` found. Such a turn calls nests, and looks whether there is another one; it makes no array objects.
Each of the first few turns has code of its own, since each has its places; behind the last of them goes on the one whose
places are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from accel.backends.linear.turn_buffers import Given, Place, Started, Turn, Turns
from accel.backends.llvm.calls.writer import FAIL, OWN, Writer
from accel.backends.llvm.machine.arrays_text import DATA
from accel.backends.llvm.text.frame import Frame
from accel.ir.copies import Copy
from accel.ir.nodes import Nest
from accel.labelled.array import Array

UNSEEN = 8
"""About how many turns pass until a loop looks for interrupts. A look takes some ten nanoseconds; what takes more than some
milliseconds in a turn looks itself."""


class TurnsText:
    """What writes one loop."""

    def __init__(
        self,
        writer: Writer,
        nests: Mapping[Nest, tuple[str, Frame]],
        words: Callable[[Nest, Callable[[Array], str]], list[tuple[str, str]]],
        loop: Turns,
    ) -> None:
        """`nests`: their functions and frames. `words`: a nest's block of arguments, given the object of each array."""
        self._writer = writer
        self._nests = nests
        self._words = words
        self._loop = loop
        self._own = [Array(OWN - 1 - loop.end, number, *kind) for number, kind in enumerate(loop.kinds)]
        self._adopted = {given: own for own, (given, _, _) in loop.adopted.items()}
        self._frames: dict[tuple[Nest, tuple[tuple[Array, Place], ...]], str] = {}
        self._room = 0
        """Words that these take."""

    def write(self, end: str, poll: Callable[[], None]) -> None:
        """From before the first turn to behind the last, then to `end`. `poll` writes what ends an interrupted call."""
        writer, routine, loop = self._writer, self._writer.routine, self._loop
        for own, (given, copy, nest) in loop.adopted.items():
            self._adopt(own, loop.arrays[given.state], copy, nest)
        for own, array in enumerate(self._own):
            if own not in loop.adopted:
                self._take(array)
        for turn in loop.turns:
            for started in turn.asking + turn.launches:
                self._fill(started)
        labels = [routine.label() for _ in loop.turns]
        leaving = [routine.label() for _ in loop.turns]
        routine.jump(labels[0])
        for number, turn in enumerate(loop.turns):
            routine.place(labels[number])
            if number == loop.again:
                self._poll(poll)
            self._launch(turn.asking)
            condition = routine.load("i8", writer.data(writer.buffer(self._at(turn.condition)), DATA))
            go = routine.label()
            routine.branch(writer.code.emit(f"icmp ne i8 {condition}, 0"), go, leaving[number])
            routine.place(go)
            self._launch(turn.launches)
            if number == loop.again - 1:
                self._drop_given()
            routine.jump(labels[loop.again if number + 1 == len(labels) else number + 1])
        for label, turn in zip(leaving, loop.turns, strict=True):
            routine.place(label)
            self._leave(turn)
            routine.jump(end)

    def _poll(self, poll: Callable[[], None]) -> None:
        """Looks whether the user has interrupted, once in some turns."""
        passes = max(1, UNSEEN // (len(self._loop.turns) - self._loop.again))
        routine, code = self._writer.routine, self._writer.code
        turns = routine.slot("i64")
        code.at_entry().line(f"store i64 0, ptr {turns}")
        more = code.emit(f"add i64 {routine.load('i64', turns)}, 1")
        routine.store("i64", more, turns)
        with routine.when(code.emit(f"icmp eq i64 {code.emit(f'urem i64 {more}, {passes}')}, 0")):
            poll()

    def _at(self, place: Place) -> Array:
        """The array in whose slot the object is that has this place."""
        if isinstance(place, Given):
            return self._own[self._adopted[place]] if place in self._adopted else self._loop.arrays[place.state]
        return self._own[place]

    def _take(self, array: Array) -> None:
        taken = self._writer.taken_or_spare(array, self._writer.shape(array.shape))
        self._writer.require_reference(taken)
        self._writer.set(array, taken)

    def _adopt(self, own: int, given: Array, copy: Copy, nest: Nest) -> None:
        """A copy of what a state is before the first turn; that itself where nothing else refers to it."""
        writer, routine, code = self._writer, self._writer.routine, self._writer.code
        source, target = writer.buffer(given), self._own[own]
        alone = code.emit(
            f"icmp eq i32 {routine.load('i32', source)}, 1"
        )  # an object begins with the count of references
        keep, run, after = routine.label(), routine.label(), routine.label()
        routine.branch(alone, keep, run)
        routine.place(keep)
        routine.store("ptr", "null", writer.place(given))
        writer.set(target, source)
        routine.jump(after)
        routine.place(run)
        self._take(target)
        places = {copy.source: given, copy.target: target}
        outcome = writer.call(self._nests[nest][0], self._words(nest, lambda array: writer.buffer(places[array])))
        writer.unless(code.emit(f"icmp eq i64 {outcome}, 0"), FAIL)
        routine.jump(after)
        routine.place(after)

    def _key(self, started: Started) -> tuple[Nest, tuple[tuple[Array, Place], ...]]:
        _, frame = self._nests[started.nest]
        return started.nest, tuple([(each, started.places[each]) for each in frame.arrays if each in started.places])

    def _fill(self, started: Started) -> None:
        """Fills a frame for a launch, unless another one has the same."""
        key = self._key(started)
        if key in self._frames:
            return
        writer, (symbol, frame) = self._writer, self._nests[started.nest]

        def buffer(array: Array) -> str:
            return writer.buffer(self._at(started.places[array]) if array in started.places else array)

        self._frames[key] = writer.frame(self._room, frame.words)
        self._room += frame.words
        writer.pass_block(self._words(started.nest, buffer))
        writer.code.line(f"call void @{symbol}_frame(ptr %block, ptr {self._frames[key]})")

    def _launch(self, launches: tuple[Started, ...]) -> None:
        writer, routine, code = self._writer, self._writer.routine, self._writer.code
        for started in launches:
            symbol, _ = self._nests[started.nest]
            outcome = code.emit(f"call i64 @{symbol}_run(ptr {self._frames[self._key(started)]})")
            writer.unless(code.emit(f"icmp eq i64 {outcome}, 0"), FAIL)
            for count in started.nest.counts:
                found = routine.load("i64", writer.data(writer.buffer(self._at(started.places[count.array])), DATA))
                writer.unless(code.emit(f"icmp eq i64 {found}, {writer.sized(count.variable)}"), FAIL)

    def _drop_given(self) -> None:
        """What states were before the first turn, where no later one needs it."""
        needed = self._loop.turns[self._loop.again].states
        self._writer.drop([array for k, array in enumerate(self._loop.arrays) if Given(k) not in needed])

    def _leave(self, turn: Turn) -> None:
        """Gives the states the objects that hold them, and drops the others."""
        writer = self._writer
        pairs = [(array, self._at(place)) for array, place in zip(self._loop.arrays, turn.states, strict=True)]
        held = [(array, writer.buffer(at)) for array, at in pairs if array != at]
        for _, buffer in held:
            writer.code.line(f"call void @Py_IncRef(ptr {buffer})")
        for array, buffer in held:
            writer.set(array, buffer)
        writer.drop(self._own)
