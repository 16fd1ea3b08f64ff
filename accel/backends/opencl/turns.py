"""Straight code and turns of loops, played from scores (`scores.py`) where they have been written before.

In: what makes the instructions of straight code, or of a turn. Out: what runs them. A score is kept for as long as the program
is, but buffers are only a call's own, small ones those of a player. Turns of a loop that lead to the like of themselves are
played by two players in turn, with buffers of their own for the loop: so from the third turn on each finds its state where it
did before, and turns are lists of launches of which nothing is to be told to any kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accel.ast.handles.extents import LESS_MEMORY
from accel.ast.tree.types import BOOL
from accel.backends.device import RECORD
from accel.backends.opencl import scores
from accel.backends.opencl.machine.devices import check_process
from accel.backends.opencl.machine.memory import Held
from accel.backends.opencl.machine.records import Records
from accel.backends.opencl.scores import Code, Player, Score, Tape
from accel.backends.sites import Failed
from accel.errors import AccelMemoryError, here

LOOKS = 16
"""In every so many turns the host looks whether a check has failed."""

KEPT = 8
"""Scores of one code that are kept, each for other extents."""


class Straight:
    """Runs straight code. Any number of calls may be in it at once."""

    def __init__(self, make: Callable[[], tuple[Tape, Code]], records: Records) -> None:
        """`make` gives a tape, and instructions that write on it."""
        self._make = make
        self.records = records
        self.memory = records.memory
        self._idle = [make()]
        self._scores: list[Score] = []

    def __call__(self, buffers: list[Held | None], sizes: list[int]) -> None:
        """See `accel.backends.device.Device.straight`."""
        score = self.found(buffers, sizes)
        if score is None or not score.small:
            self.write(buffers, sizes, score)
            return
        player = self.player(score, near=not self.memory.busy)
        try:
            taken = player.take()
        except MemoryError:  # one after the other they may be there, or errors say which is not
            self.write(buffers, sizes, score)
            return
        self.settle(player)
        player.begin(buffers, taken)
        self.play(player)
        player.end(buffers, taken, sizes)
        player.rest(taken)

    def found(self, buffers: list[Held | None], sizes: list[int]) -> Score | None:
        """The score that says what the code does with these."""
        return next((each for each in self._scores if each.fits(buffers, sizes)), None)

    def write(self, buffers: list[Held | None], sizes: list[int], known: Score | None = None) -> bool:
        """Run the code by its instructions, and write its score unless that is `known`; whether it ran to its end."""
        try:
            tape, code = self._idle.pop()
        except IndexError:
            tape, code = self._make()
        score = tape.write(code, buffers, sizes)
        self._idle.append((tape, code))
        if score is not None and known is None:
            self._scores = [score, *self._scores[: KEPT - 1]]
        return score is not None

    def player(self, score: Score, *, near: bool) -> Player:
        """One that no other call uses. near: whose work the caller does, if there is little and the device can have it so."""
        check_process(self.memory.generation)
        little = score.operations <= scores.NEAR or self.memory.alone
        queue = self.memory.near if near and little else None
        try:
            found = score.players[queue is not None].pop()
        except IndexError:
            return Player(score, self.records, queue)
        return found if found.queue is (queue or self.memory.queue) else Player(score, self.records, queue)

    def settle(self, player: Player) -> None:
        """Wait for what may still use the player's buffers, and all that it reads, if its work is not of the same queue."""
        if player.queue is not self.memory.queue and self.memory.busy:
            self.memory.finish()

    def play(self, player: Player) -> None:
        """Have everything launched."""
        check_process(self.memory.generation)
        try:
            player.play()
        except MemoryError as error:
            raise AccelMemoryError(str(error), here(), hint=LESS_MEMORY) from error


class Turns:
    """Runs a loop, whose turns are straight code behind a condition."""

    def __init__(self, turn: Straight) -> None:
        self._turn = turn
        self._memory = turn.memory
        self._records = turn.records

    def __call__(self, buffers: list[Held | None], sizes: list[int]) -> None:
        """See `accel.backends.device.Device.repeated`."""
        again = True
        while again:
            score = self._turn.found(buffers, sizes)
            if score is None or not score.small:
                again = self._turn.write(buffers, sizes, score)
            elif again := score.goes_on(buffers, self._records):
                again = self._alike(score, buffers, sizes)

    def _alike(self, score: Score, buffers: list[Held | None], sizes: list[int]) -> bool:
        """Turns that this score says, as long as they do; whether there may be others behind them. The first is one."""
        players = [self._turn.player(score, near=True) for _ in range(2)]
        taken: list[list[Held]] = [[], []]
        entered: list[list[Held | None]] = [[], []]
        done, again = 0, True
        while again and (score.repeats or not done):
            turn = done % 2
            if entered[turn] == buffers:
                self._steadily(score, players, entered, turn, buffers)
                again = False
                break
            if not taken[turn] or not set(buffers).isdisjoint(taken[turn]):
                try:
                    taken[turn] = players[turn].take()
                except MemoryError:  # see `Straight`
                    again = self._turn.write(buffers, sizes, score)
                    break
                self._turn.settle(players[turn])
            players[turn].begin(buffers, taken[turn])
            entered[turn] = list(buffers)
            self._turn.play(players[turn])
            players[turn].end(buffers, taken[turn], sizes)
            done += 1
            self._look(done, buffers)
            again = score.goes_on(buffers, self._records)
        for turn in (1, 0):  # so that they come in the same order again
            players[turn].rest(taken[turn])
        return again

    def _steadily(
        self,
        score: Score,
        players: Sequence[Player],
        entered: Sequence[list[Held | None]],
        turn: int,
        buffers: list[Held | None],
    ) -> None:
        """The other turns, from that with this number on, where each player finds what it found before."""
        scalar, first = self._records.scalar, turn
        conditions = [held for each in entered if (held := each[score.condition]) is not None]
        while turn == first or scalar(conditions[turn % 2], BOOL, None):
            self._turn.play(players[turn % 2])
            turn += 1
            self._look(turn, buffers)
        buffers[:] = entered[turn % 2]

    def _look(self, done: int, buffers: list[Held | None]) -> None:
        """See now and then whether a check has failed."""
        record = buffers[RECORD]
        if done % LOOKS == 0 and record is not None and self._records.read(record)[0]:
            raise Failed
