"""Straight code, written down as what it takes and launches: a score, which kernel objects of its own play again.

In: instructions that do nothing but launch nests and pass buffers on, and a call's buffers and extents. What they do depends on
the extents alone, and on which places of the buffers have the same one. So it is written down while it is done (`Tape`), and
where both are alike again nobody goes through the instructions: buffers are taken, kernels are told those that
they do not know already, and launched one after the other (`Player`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from functools import partial
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, TypeAlias, assert_never

from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.device import RECORD
from accel.backends.opencl.launch import Launched, NestLauncher, Ready
from accel.backends.opencl.machine.memory import Held
from accel.backends.opencl.machine.records import Records
from accel.backends.opencl.machine.sizes import LOT
from accel.support.dataclass import dataclass

if TYPE_CHECKING:
    import pyopencl

MOST = 1 << 22
"""Bytes that a score takes: of more, launches are not what takes the time, and instructions use dropped buffers again."""

NEAR = 1 << 20
"""Operations of a score up to which the calling thread does the work itself where it can: others would take longer to begin."""

NOBODY = -1
"""In place of a buffer's place, where there is none."""

_BUFFER = attrgetter("buffer")

Code: TypeAlias = "list[Callable[[list[Held | None], list[int]], int | None]]"


def picked(places: Sequence[int]) -> Callable[[Sequence[Held | None]], tuple[Held | None, ...]]:
    """What gives the buffers in these places, in a fraction of the time that a loop takes."""
    return itemgetter(*places) if len(places) > 1 else lambda buffers: tuple([buffers[place] for place in places])


def pattern(buffers: list[Held | None]) -> list[int]:
    """For each place the first one that has the same buffer; at the end the first place without one."""
    every = list(map(id, buffers[:RECORD]))
    first = dict(zip(reversed(every), range(len(every) - 1, -1, -1), strict=True))
    return [*map(first.__getitem__, every), first.get(id(None), NOBODY)]


@dataclass(frozen=True, slots=True)
class _Launch:
    """A nest is launched on the buffers in these places."""

    nest: Launched
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Fetch:
    """The host will ask for the first element of the buffer in this place. See `accel.backends.device.Device.fetch`."""

    place: int
    value: bool | None


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """What straight code does. A place is that of a buffer in the call's list at the beginning, or behind all these, in order,
    of one that is taken.

    before, after: the extents. pattern, left: of the buffers before and after. firsts, kinds: what gives for each place before
    that in the first place which has the same, and one of each. takes: bytes.
    moves: what is elsewhere at the end, and where from. condition: where the host looks whether the code is to run at all.
    operations: about how many.
    """

    before: list[int]
    after: list[int]
    pattern: list[int]
    left: list[int]
    firsts: Callable[[Sequence[Held | None]], tuple[Held | None, ...]]
    kinds: Callable[[Sequence[Held | None]], tuple[Held | None, ...]]
    takes: Sequence[int]
    actions: Sequence[_Launch | _Fetch]
    moves: Sequence[tuple[int, int]]
    condition: int
    operations: int
    players: dict[bool, list[Player]] = field(default_factory=lambda: {False: [], True: []})
    """Those that no call uses: whose work is the queue's, and whose work is the caller's."""

    def fits(self, buffers: list[Held | None], sizes: list[int]) -> bool:
        """Whether it says what the code does with these. `pattern(buffers)` is its own then, which takes longer to find out."""
        if sizes != self.before:
            return False
        every, none = tuple(buffers), self.pattern[RECORD]
        if every[:RECORD] != self.firsts(every):
            return False
        kinds = self.kinds(every)
        return len(set(kinds)) == len(kinds) and (none == NOBODY or every[none] is None)

    @property
    def repeats(self) -> bool:
        """Whether it fits again what it leaves."""
        return self.after == self.before and self.left == self.pattern

    @property
    def small(self) -> bool:
        """Whether it is worth while to play it."""
        return sum(self.takes) <= MOST

    def goes_on(self, buffers: list[Held | None], records: Records) -> bool:
        """Whether its condition holds."""
        held = buffers[self.condition]
        assert held is not None, "a loop's condition is not there: a bug in accel"
        return bool(records.scalar(held, BOOL, None))


class Tape:
    """Writes the score of what instructions do that were made for it. One call at a time has it."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self._memory = records.memory
        self._begin(0)

    def _begin(self, places: int) -> None:
        self._first = places
        self._place: dict[int, int] = {}
        self._reused: dict[tuple[int, int], int] = {}
        self._takes: list[int] = []
        self._actions: list[_Launch | _Fetch] = []
        self._condition = NOBODY

    def write(self, code: Code, buffers: list[Held | None], sizes: list[int]) -> Score | None:
        """Run the code. None if it ends with a jump."""
        self._begin(len(buffers) - 1)
        before, entered = list(sizes), pattern(buffers)
        self._place = {
            id(held): place for place, held in zip(entered, buffers[:RECORD], strict=False) if held is not None
        }
        if any(instruction(buffers, sizes) is not None for instruction in code):
            return None
        *places, none = entered
        was = [NOBODY if place == none else place for place in places]
        now = [NOBODY if held is None else self._place[id(held)] for held in buffers[:RECORD]]
        moves = [(place, new) for place, (old, new) in enumerate(zip(was, now, strict=True)) if old != new]
        operations = sum(action.nest.operations for action in self._actions if isinstance(action, _Launch))
        return Score(
            before=before,
            after=list(sizes),
            pattern=entered,
            left=pattern(buffers),
            firsts=picked(places),
            kinds=picked(sorted(set(places))),
            takes=self._takes,
            actions=self._actions,
            moves=moves,
            condition=self._condition,
            operations=operations,
        )

    def take(self, size: int) -> Held:
        """A buffer of at least `size` bytes. One that was taken before, and dropped, has its place again."""
        held = self._memory.take(size)
        place = self._reused.setdefault((id(held.buffer), held.size), self._first + len(self._takes))
        if place == self._first + len(self._takes):
            self._takes.append(held.size)
        self._place[id(held)] = place
        return held

    def launch(self, launch: NestLauncher, buffers: list[Held | None], sizes: list[int]) -> None:
        """Launches a nest."""
        launched, given = launch.run(buffers, sizes, self.take)
        self._actions.append(_Launch(launched, tuple([self._place[id(held)] for held in given])))

    def fetch(self, buffer: Held, value: bool | None) -> None:
        """See `accel.backends.device.Device`."""
        self._records.fetch(buffer, value)
        self._actions.append(_Fetch(self._place[id(buffer)], value))

    def scalar(self, buffer: Held, element: ScalarType, record: Held | None) -> bool | int | float:
        """See `accel.backends.device.Device`; whether the code is to run."""
        self._condition = self._place[id(buffer)]
        return self._records.scalar(buffer, element, record)


class Player:
    """Kernel objects for a score, which know what they were told last. One call at a time has it."""

    def __init__(self, score: Score, records: Records, near: pyopencl.CommandQueue | None) -> None:
        self._records = records
        self._memory = records.memory
        self._near = near
        self.queue = near or records.memory.queue
        self._score = score
        self._fetched: dict[int, Held] = {}
        self._told: list[int] = []
        self._epoch = -1
        self._name = object()
        self._stays = sum(score.takes) <= LOT
        users: dict[int, list[tuple[Ready, int]]] = {}
        fetched: list[int] = []
        self._steps: list[Callable[[], object]] = []
        for action in score.actions:
            match action:
                case _Launch(nest, places):
                    ready = nest.ready()
                    for place, number in zip(places, ready.numbers, strict=True):
                        users.setdefault(place, []).append((ready, number))
                    if ready.record is not None:
                        users.setdefault(RECORD, []).append((ready, ready.record))
                    self._steps += ready.steps(self.queue)
                case _Fetch(place, value):
                    fetched.append(place)
                    self._steps.append(partial(self._fetch, place, value))
                case _:
                    assert_never(action)
        self._first = first = len(score.pattern) - 1
        # Where these stand in the call's list, at whose end the record is, with what is taken behind it.
        self._given = picked([first if place == RECORD else place + (place >= first) for place in users])
        self._users, self._fetches = list(users.values()), [(place, place + (place >= first)) for place in fetched]
        self.checked = RECORD in users

    def take(self) -> list[Held]:
        """The buffers that it takes. Raises `MemoryError`."""
        taken = self._memory.lots.take(self._name, self._memory.take) or self._memory.take_all(self._score.takes)
        for place, _ in self._fetches:
            if place >= self._first:
                taken[place - self._first].known = None
        return taken

    def begin(self, buffers: list[Held | None], taken: list[Held]) -> None:
        """Tell kernels these buffers."""
        if self.checked and buffers[RECORD] is None:
            buffers[RECORD] = self._records.take()
        every = [*buffers, *taken]
        given = self._given(every)
        for place, at in self._fetches:
            fetched = every[at]
            assert fetched is not None, "what is fetched is not there: a bug in accel"
            self._fetched[place] = fetched
        try:
            names, epoch = list(map(id, map(_BUFFER, given))), self._memory.epoch
        except AttributeError as error:
            raise AssertionError("straight code is played without one of its arrays: a bug in accel") from error
        if names == self._told and epoch == self._epoch:
            return
        known = self._told if self._told and epoch == self._epoch else [NOBODY] * len(names)
        self._told, self._epoch = [], epoch
        changed: dict[int, Ready] = {}
        for at, (users, held, before) in enumerate(zip(self._users, given, known, strict=True)):
            if names[at] != before and held is not None:
                for ready, number in users:
                    ready.tell(number, held, self._memory)
                    changed[id(ready)] = ready
                if not held.stays:
                    names[at] = NOBODY
        for ready in changed.values():
            ready.know()
        self._told = names

    def play(self) -> None:
        """Launch everything, in order."""
        self._memory.enqueue_all("a loop nest", self._steps, self.queue)

    def end(self, buffers: list[Held | None], taken: list[Held], sizes: list[int]) -> None:
        """Leave buffers and extents as the code leaves them."""
        first = self._first
        entered = buffers[:RECORD]
        for place, source in self._score.moves:
            if source == NOBODY:
                buffers[place] = None
            else:
                buffers[place] = entered[source] if source < first else taken[source - first]
        sizes[:] = self._score.after

    def rest(self, taken: list[Held]) -> None:
        """Let go of buffers, also of those that it has taken."""
        self._fetched.clear()
        if taken and self._stays:
            self._memory.lots.rest(self._name, taken)
        self._score.players[self._near is not None].append(self)

    def _fetch(self, place: int, value: bool | None) -> None:
        held = self._fetched[place]
        if self._near is None or value is not None:
            self._records.fetch(held, value)
        else:
            held.known = bool(self._memory.first_byte(held, self._near))
