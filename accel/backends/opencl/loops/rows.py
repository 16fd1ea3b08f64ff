"""What stands around a loop that is cut into blocks: nothing, or outer loops whose every iteration is a row."""

from __future__ import annotations

from accel.backends.opencl.code.body import Body
from accel.backends.opencl.loops.flat import Flat
from accel.ir.nodes import Level, LoopBody, Nest
from accel.labelled.array import Extent
from accel.schedule.legality import is_repeatable
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Rows:
    """`outer`: the loops around, if any; `level`: the one that holds the loop."""

    root: Level
    outer: Flat | None
    level: Level

    @property
    def extents(self) -> tuple[Extent, ...]:
        """Whose product is the number of rows."""
        return self.outer.extents if self.outer else ()

    @property
    def count(self) -> str:
        """The number of rows, as an atom."""
        return self.outer.total if self.outer else "1"

    def enter(self, body: Body) -> None:
        """Write what a row's blocks need from outside of them: pure statements, and the indices of the row `row`."""
        body.statements(list(filter(is_repeatable, self.root.before)))
        if self.outer:
            self.outer.enter(body, "row")
            body.statements(list(filter(is_repeatable, self.level.before)))

    def finish(self, body: Body) -> None:
        """Write what must run once for each row before its results are there."""
        body.statements([s for s in self.level.before if not is_repeatable(s)])

    @property
    def once_each(self) -> list[LoopBody]:
        """The statements outside of the blocks that must run exactly once for each row, those after the loop among them."""
        return _once(self.level)

    @property
    def once(self) -> list[LoopBody]:
        """The statements outside of rows."""
        return _once(self.root) if self.outer else []


def around(nest: Nest) -> Rows:
    """The rows of a nest whose outermost loop is cut into blocks: a single one."""
    return Rows(nest.body, None, nest.body)


def inside(nest: Nest, outer: Flat) -> Rows:
    """The rows of a nest whose outer loops are `outer`."""
    return Rows(nest.body, outer, outer.body)


def _once(level: Level) -> list[LoopBody]:
    return [*(s for s in level.before if not is_repeatable(s)), *level.after]
