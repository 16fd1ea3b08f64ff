"""Writes checks of indices, and what leaves a function where one has failed.

In: positions in lanes, and the shape in which they must lie. Out: nothing, or a branch to one place at the end of the function,
which says that something failed. Code that finds out what failed, and where, is scalar: there `sites` lists what is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.bounds import any_narrow_reaches, any_reaches
from accel.backends.llvm.emit.values import Digit, Packed, Progression, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.routine import Routine
from accel.backends.llvm.text.words import FAILED, FAULTS
from accel.backends.sites import IndexSite, Site


class Checks:
    """Those of one function. `sites` is None in the fast form of a kernel, which only says that something failed."""

    def __init__(self, view: FrameView, writer: Writer, leave: str, sites: list[Site] | None) -> None:
        """`leave` is the instruction that leaves the function once a check has failed."""
        self.routine: Routine = view.routine
        self.view = view
        self._writer = writer
        self._leave = leave
        self._sites = sites
        self._failure: str | None = None
        self._others: list[Checks] = []

    def check(
        self, index: Sequence[Value], mask: str | None, site: IndexSite, more: Callable[[], Sequence[Value]] = tuple
    ) -> None:
        """Leaves the function if, where `mask` is set, an index lies outside of the site's shape. more: as of `fail_if`."""
        wrong: list[str] = []
        writer = self._writer
        together: dict[str, list[str]] = {}
        narrow: dict[str, list[str]] = {}
        for position, extent in zip(index, site.shape, strict=True):
            bound = self.view.extent(extent)
            if writer.is_uniform(position) or (mask is None and isinstance(position, Progression)):
                ends = [writer.scalar.emit(f"icmp uge i64 {end}, {bound}") for end in self._ends(position)]
                wrong += [writer.if_any(each, mask) for each in ends]
            elif mask is None and self._sites is None and (words := self._words(position)) is not None:
                narrow.setdefault(bound, []).append(words)
            elif mask is None and self._sites is None:
                together.setdefault(bound, []).append(writer.every(position))
            else:
                limit = bound if bound.isdigit() and writer.lanes == 1 else writer.splat(bound, "i64")
                outside = writer.code.emit(f"icmp uge {writer.code.type(I64)} {writer.every(position)}, {limit}")
                wrong.append(writer.any(writer.both(mask, outside) or outside))
        wrong += [any_reaches(writer, positions, bound) for bound, positions in together.items()]
        wrong += [any_narrow_reaches(writer, positions, bound) for bound, positions in narrow.items()]
        for one in wrong:
            self.fail_if(one, index, site, more)

    def _words(self, position: Value) -> str | None:
        """What an index is made of, where half as many registers of that are compared, and lanes taken from them, sooner."""
        return self._writer.narrow(position) if host().processor.permutes_words else None

    def _ends(self, position: Value) -> list[str]:
        """Between these all lanes are, if none of these is outside of an array: the first and the last of what rises evenly."""
        if not isinstance(position, Progression) or position.stride == 0:
            return [self._first(position)]
        last = self.routine.code.emit(f"add i64 {position.base}, {position.stride * (self._writer.lanes - 1)}")
        return [position.base, last]

    def fail_if(
        self, wrong: str, index: Sequence[Value], site: Site, more: Callable[[], Sequence[Value]] = tuple
    ) -> None:
        """Leaves the function where the i1 holds; in the recording form says which site, at which index, first, and `more`."""
        routine = self.routine
        if self._sites is None:
            self._leave_if(wrong)
            return
        self._sites.append(site)
        said = [*index, *more()]
        # Functions of states return to code that goes on: what was found first stays, and whoever fails later leaves, too.
        clear = routine.code.emit(f"icmp eq i64 {routine.load('i64', self.view.address(FAILED))}, 0")
        with routine.when(wrong):
            with routine.when(clear):
                faults = self.view.word(FAULTS, "ptr")
                routine.store("i64", str(len(self._sites) - 1), faults)
                for place, position in enumerate(said):
                    routine.store("i64", self._writer.one(position), routine.offset(faults, place + 1))
            self._fail()
            # What follows is never reached; the next block begins here.
            routine.place(routine.label())

    def _leave_if(self, stopped: str) -> None:
        self._failure = self._failure or self.routine.label()
        after = self.routine.label()
        self.routine.branch(stopped, self._failure, after)
        self.routine.place(after)

    def poll(self) -> None:
        """Leaves the function if another thread has failed, or the user has interrupted: for loops that may never end."""
        code = self.routine.code
        code.declare("i64", "accel_poll", "ptr", "cold")
        stopped = code.emit(f"call i64 @accel_poll(ptr {self.view.address(FAILED)})")
        self._leave_if(code.emit(f"icmp ne i64 {stopped}, 0"))

    def _fail(self) -> None:
        self.routine.store("i64", "1", self.view.address(FAILED))
        self.routine.code.line(self._leave)

    def close(self) -> None:
        """Writes where failing checks go; the last thing of a function."""
        for other in self._others:
            other.close()
        if self._failure is not None:
            self.routine.place(self._failure)
            self._fail()

    def _first(self, position: Value) -> str:
        match position:
            case Progression(base):
                return base
            case Packed(carry):
                return carry
            case Digit(first=first):
                return first
            case _:
                return self._writer.one(position)
