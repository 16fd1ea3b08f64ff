"""Other ways to run a nest than row by row, for launches whose extents suit them: which there are is told from outside.

Each stands beside the code of rows and is tried before it. It gives the same bits; where a check fails, it only notes so,
and the nest runs again in its recording form.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Protocol, TypeAlias

from accel.backends.llvm.loops.nest import Levels, NestText
from accel.backends.llvm.states.analysis import plan
from accel.backends.llvm.text.frame import Frame
from accel.labelled.array import Array
from accel.schedule.nodes import Template
from accel.schedule.templates.ways import Finding, NestSchedules


class Alternative(Protocol):
    """Another way to run the whole outermost loop of one nest."""

    def applies(self, levels: Levels) -> str:
        """Writes the test of extents and strides at launch: an i1."""

    def run(self, levels: Levels) -> str | None:
        """Writes what runs the loop, from its first iteration to its last; `ret i64 2` leaves if the user interrupted.

        Gives an i1, whether it did run; None: always.
        """


Alternatives: TypeAlias = Callable[[NestText, Finding], Sequence[Alternative]]
"""What is written for something that a template found in a nest, the best first."""


def written(
    name: str, made: NestSchedules, frame: Frame, read: Set[Array], alternatives: Alternatives
) -> tuple[NestText, Sequence[Alternative]]:
    """The nest by rows, in its fast form, and what is tried before. `read`: arrays that the program reads itself."""
    way = plan(made.last, made.by(Template.MERGED))
    text = NestText(name, made.last.nest, way, None, frame, read, made.bounds)
    ways = [way.finding for way in made.ways if way.finding is not None]
    return text, [other for finding in ways for other in alternatives(text, finding)]
