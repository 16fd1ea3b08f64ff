"""Turns of a loop that do the same: launched again and again, without anything that the host does for each launch.

In: the items of a turn (`accel/backends/linear.py`). Out: what runs the loop. Of two turns it is written down which buffers
they take. The next two are given the same ones, in turn, so that from then on each turn finds its state where the turn before
the last one found it; and what these two launch is kept, by kernel objects that were told their arguments. Every later turn
is a list of launches. Where that is not so (extents change, states are passed on, buffers are large), turns go on as ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.device import RECORD
from accel.backends.opencl.launch import NestLauncher
from accel.backends.opencl.machine.devices import check_process
from accel.backends.opencl.machine.memory import Held, size_class
from accel.backends.opencl.machine.records import Records
from accel.backends.sites import Failed

if TYPE_CHECKING:
    import pyopencl

MOST = 1 << 22
"""Bytes that a turn takes; of more, launches are not what takes the time."""

NEAR = 1 << 20
"""Operations of a turn up to which the calling thread does the work itself where it can: others would take longer to begin."""

LOOKS = 16
"""In every so many turns the host looks whether a check has failed."""

Code: TypeAlias = "list[Callable[[list[Held | None], list[int]], int | None]]"


class Tape:
    """What a turn takes and launches. One call at a time has it."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._memory = records.memory
        self._near: pyopencl.CommandQueue | None = None
        self.record: Held | None = None
        """Of the turns that are kept."""
        self._kernels: dict[tuple[int, int], list[pyopencl.Kernel]] = {}
        self.write()

    def write(self) -> None:
        """From here on, write down what is taken."""
        self.taken: list[Held] = []
        self.bytes = self.operations = 0
        self._again: list[Held] | None = None
        self._next = self._launches = self._turn = 0

    def keep(self, turn: int, taken: list[Held]) -> None:
        """From here on, take these again, in order, and keep what is launched as that of turn 0 or 1."""
        self._again, self._turn, self._next, self._launches = taken, turn, 0, 0
        self._near = self._memory.near if self.operations <= NEAR else None
        self.steps: list[Callable[[], object]] = []
        self.condition: Held | None = None
        self.differs = False

    def settle(self) -> None:
        """Wait for what was enqueued before."""
        if self.operations <= NEAR and self._memory.near is not None:
            self._memory.finish()

    def take(self, size: int) -> Held:
        """A buffer of at least `size` bytes."""
        if self._again is None:
            held = self._memory.take(size)
            self.bytes += held.size
            if self.bytes > MOST:
                self.taken = []
            else:
                self.taken.append(held)
            return held
        if self._next < len(self._again) and self._again[self._next].size == size_class(size):
            held = self._again[self._next]
            self._next += 1
            held.known = None
            return held
        self.differs = True
        return self._memory.take(size)

    def launch(self, launch: NestLauncher, buffers: list[Held | None], sizes: list[int]) -> None:
        """Launches a nest."""
        if self._again is None:
            launch.run(buffers, sizes, self.take)
            self.operations += launch.operations(sizes)
            return
        place = self._turn, self._launches
        self._launches += 1
        if place not in self._kernels:
            self._kernels[place] = launch.kernels()
        record = None
        if launch.checked:
            self.record = record = buffers[RECORD] = self.record or self._records.take()
        queue = self._near or self._memory.queue
        steps = launch.kept(buffers, sizes, self.take, record, self._kernels[place], queue)
        self.steps += steps
        for step in steps:
            step()

    def fetch(self, buffer: Held, value: bool | None) -> None:
        """See `accel.backends.device.Device`."""
        fetch = partial(self._records.fetch, buffer, value)
        if self._near is not None and value is None:
            fetch = partial(self._read, buffer, self._near)
        fetch()
        if self._again is not None:
            self.steps.append(fetch)

    def _read(self, buffer: Held, queue: pyopencl.CommandQueue) -> None:
        buffer.known = bool(self._memory.first_byte(buffer, queue))

    def scalar(self, buffer: Held, element: ScalarType, record: Held | None) -> bool | int | float:
        """See `accel.backends.device.Device`; whether there is another turn."""
        if self._again is None:
            return self._records.scalar(buffer, element, record)
        self.condition = buffer
        return self._records.scalar(buffer, element, None if record is self.record else record)

    def failed(self) -> bool:
        """Whether a check has failed in a turn that was kept."""
        return self.record is not None and self._records.read(self.record)[0] != 0

    def close(self, buffers: list[Held | None]) -> None:
        """Leave to others what is to be looked at, and let go of buffers."""
        if self.record is not None:
            buffers[RECORD], self.record = self.record, None
        self.keep(0, [])
        self._near = None
        self.write()


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn that is kept: the buffers before it, among them the condition, those that it takes, and what it does."""

    before: tuple[Held | None, ...]
    taken: Sequence[Held]
    condition: Held
    steps: Sequence[Callable[[], object]]


class Turns:
    """Runs a loop. Any number of calls may be in it at once."""

    def __init__(self, make: Callable[[], tuple[Tape, Code]], records: Records) -> None:
        """`make` gives a tape, and a turn's instructions, which write on it."""
        self._make = make
        self._records = records
        self._idle: list[tuple[Tape, Code]] = []

    def __call__(self, buffers: list[Held | None], sizes: list[int]) -> None:
        """See `accel.backends.device.Device.repeated`."""
        try:
            tape, code = self._idle.pop()
        except IndexError:
            tape, code = self._make()
        turns = _kept(tape, code, buffers, sizes)
        if turns:
            self._run(tape, turns, buffers)
        tape.close(buffers)
        self._idle.append((tape, code))

    def _run(self, tape: Tape, turns: Sequence[_Turn], buffers: list[Held | None]) -> None:
        done, records = 0, self._records
        while records.scalar((turn := turns[done % 2]).condition, BOOL, None):
            check_process(records.memory.generation)
            done += 1
            if done % LOOKS == 0 and tape.failed():
                raise Failed
            for step in turn.steps:
                step()
        buffers[:] = turn.before


def _kept(tape: Tape, code: Code, buffers: list[Held | None], sizes: list[int]) -> Sequence[_Turn]:
    """Two turns that every later one is like in turn; none if they are not so, or there are no more."""
    known, taken = list(sizes), list[list[Held]]()
    for _ in range(2):
        known = list(sizes)
        tape.write()
        if not _turn(code, buffers, sizes) or tape.bytes > MOST:
            return ()
        taken.append(tape.taken)
    turns: list[_Turn] = []
    tape.settle()
    for number, again in enumerate(taken):
        used = set(map(id, buffers))
        if sizes != known or any(id(held) in used for held in again):
            return ()
        before = tuple(buffers)
        tape.keep(number, again)
        if not _turn(code, buffers, sizes) or tape.differs or tape.condition is None:
            return ()
        turns.append(_Turn(before, again, tape.condition, tape.steps))
    same = all(now is then for now, then in zip(buffers[:RECORD], turns[0].before[:RECORD], strict=True))
    return turns if same and sizes == known else ()


def _turn(code: Code, buffers: list[Held | None], sizes: list[int]) -> bool:
    """Whether there was another turn."""
    return all(instruction(buffers, sizes) is None for instruction in code)
