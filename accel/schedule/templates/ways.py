"""How a program runs: the ways to run each nest, each as its schedule and what its template found; and nests that run together.

The stage's result, which backends are handed. A finding is for those who write the code of its template.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeAlias, Union

from accel.ir.nodes import Nest
from accel.labelled.array import Array, Extent
from accel.labelled.scalar_text import plain_name
from accel.schedule.machine import Machine
from accel.schedule.nodes import Schedule, Series, Template
from accel.schedule.splitting.bounds import Bound
from accel.schedule.templates.blocks import Blocks
from accel.schedule.templates.chain import Chain
from accel.schedule.templates.column_scans import ColumnScans
from accel.schedule.templates.columns import Columns
from accel.schedule.templates.copies import Copies
from accel.schedule.templates.cpu.interleaved import Interleaved
from accel.schedule.templates.cpu.positions import Positions
from accel.schedule.templates.gpu.ordered_scatters import Runs
from accel.schedule.templates.row_groups import RowGroups
from accel.schedule.templates.short_rows import ShortRows
from accel.schedule.templates.tile import Tile
from accel.schedule.text import schedule_text, series_text
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Parts:
    """A nest that was split (`gpu/split.py`): how each of its parts runs, in their order, and what they have to share."""

    parts: tuple[NestSchedules | Runs, ...]
    rooms: Mapping[Array, tuple[Extent, ...]] = field(hash=False)


Finding: TypeAlias = Union[
    Tile, Blocks, Interleaved, Positions, RowGroups, ShortRows, Columns, ColumnScans, Chain, Copies, Parts
]
"""What a template found in a nest."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to run a nest.

    schedules: of the nest, or of slices of it, which run one after the other. finding: what its template found; None where the
    schedules say all.
    """

    schedules: tuple[Schedule, ...]
    finding: Finding | None = None

    @property
    def schedule(self) -> Schedule:
        """The only one."""
        (schedule,) = self.schedules
        return schedule


@dataclass(frozen=True, slots=True)
class NestSchedules:
    """How a nest runs: by the first of some ways that suits the extents and strides of a launch. The last one suits all.

    bounds: what has to hold of extents, or the nest is an error; then what the ways run checks less than the nest
    (`accel/schedule/splitting/bounds.py`).
    """

    nest: Nest = field(repr=False)
    ways: tuple[Way, ...]
    bounds: tuple[Bound, ...] = ()

    @property
    def last(self) -> Schedule:
        """That of the last way."""
        return self.ways[-1].schedule

    def by(self, template: Template) -> Schedule | None:
        """The first one of this template; None if there is none."""
        return next((schedule for schedule in self.schedules if schedule.template is template), None)

    @property
    def schedules(self) -> Iterator[Schedule]:
        """Those of all ways, in order."""
        return (schedule for way in self.ways for schedule in way.schedules)


@dataclass(frozen=True, slots=True)
class ProgramSchedules:
    """How a program runs on a machine: its nests, each once, in their order; and which nests run together.

    read: the arrays that it reads itself, which should be in caches when it does. repeated: the nests that short turns of
    loops run.
    """

    machine: Machine
    nests: tuple[NestSchedules, ...]
    series: tuple[Series, ...]
    read: frozenset[Array] = field(default=frozenset(), compare=False, repr=False)
    repeated: frozenset[Nest] = field(default=frozenset(), compare=False, repr=False)


def text(made: ProgramSchedules) -> str:
    """The schedules of a program, in the order of its nests; then its series."""
    return "\n".join([*map(nest_text, made.nests), *map(series_text, made.series)])


def nest_text(made: NestSchedules) -> str:
    """Those of one nest."""
    bounds = ", ".join(f"{each.less} <= {each.more}" for each in made.bounds)
    within = [f"in bounds if {bounds}"] if bounds else []
    return "\n".join([*map(_way_text, made.ways), *within])


def _way_text(way: Way) -> str:
    count = len(way.schedules)
    if isinstance(way.finding, Parts):
        return "\n".join(_parts_text(way.finding))
    if count == 1:
        return schedule_text(way.schedule)
    return "\n".join(
        schedule_text(schedule, f", slice {number} of {count}") for number, schedule in enumerate(way.schedules, 1)
    )


def _parts_text(found: Parts) -> Iterator[str]:
    """Those of all parts; what is sorted says so."""
    for number, part in enumerate(found.parts, 1):
        if isinstance(part, Runs):
            yield f"part {number} of {len(found.parts)}: elements for {plain_name(part.scatter.arrays[0])} are sorted by target"
        else:
            yield f"part {number} of {len(found.parts)}:"
            yield nest_text(part)
