"""Nests that no device of many work-items runs as they stand, as several that follow each other and that it does.

In: a nest. Out: its parts, and the arrays that they share, if there is an order that only one work-item would keep: of what
scatters combine, or of folds and scans whose elements iterations do not number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

from accel.ir import mentions
from accel.ir.nodes import Nest, Scatter
from accel.ir.slices import needed_for
from accel.labelled.array import Array, Extent
from accel.schedule.axes import carried
from accel.schedule.machine import WorkItems
from accel.schedule.nodes import Carried
from accel.schedule.rules import original
from accel.schedule.templates.gpu.around_segments import around_segments
from accel.schedule.templates.gpu.kept_elements import by_packing
from accel.schedule.templates.gpu.ordered_scatters import Runs, by_owners, by_runs, last_wins
from accel.schedule.templates.gpu.rewrite import Made
from accel.schedule.templates.work_items import flattened
from accel.support.dataclass import dataclass

Part: TypeAlias = Union[Nest, Runs]


@dataclass(frozen=True, slots=True)
class Split:
    """Parts, one after the other. rooms: the arrays that some of them make for others, each with what it has room for."""

    parts: tuple[Part, ...]
    rooms: Mapping[Array, tuple[Extent, ...]]


def split(nest: Nest, machine: WorkItems) -> Split | None:
    """The parts of a nest; None if there is nothing to gain, or if it cannot be cut."""
    nests, made = around_segments(nest, machine)
    numbered = _packed(nests, made)
    parts = None if numbered is None else _without_order(numbered, made, machine)
    return None if parts is None or len(parts) == 1 else Split(parts, made.rooms)


def _packed(nests: Sequence[Nest], made: Made) -> tuple[Nest, ...] | None:
    """The nests, the last of which is cut until iterations number the elements of all its states; None if they cannot."""
    *first, rest = nests
    while every := _unnumbered(rest):
        each = _next(rest, every)
        packed = None if each is None else by_packing(rest, each, made)
        if packed is None:
            return None
        *others, rest = packed
        first += others
    return (*first, rest)


def _without_order(nests: Sequence[Nest], made: Made, machine: WorkItems) -> tuple[Part, ...] | None:
    """The nests, and behind them the runs of scatters of the last one, in which none is left whose order shows; None if that
    cannot be."""
    *first, rest = nests
    last: list[Runs] = []
    for scatter in [s for s in mentions.statements(rest) if isinstance(s, Scatter) and not _is_atomic(s, machine)]:
        owned = by_owners(rest, scatter, made) if last_wins(scatter) and machine.atomic_bytes >= 8 else None
        if owned is not None:
            *others, rest = owned
            first += others
            continue
        written = by_runs(rest, scatter, made)
        if written is None:
            return None
        rest, runs = written
        last.append(runs)
    return (*first, rest, *last)


def _is_atomic(scatter: Scatter, machine: WorkItems) -> bool:
    return scatter.monoid.exact and all(array.element.bytes <= machine.atomic_bytes for array in scatter.arrays)


def _unnumbered(nest: Nest) -> list[Carried]:
    """The states of the outermost loop whose elements have an order, and no numbers where work-items share out iterations."""
    if nest.body.loop is None:
        return []
    axis = flattened(original(nest), 0).axes[0]
    states = [each for each in carried(nest) if each.first == 0 and not each.state.monoid.exact]
    return [each for each in states if not each.numbered or set(range(each.first, each.last + 1)) != axis.depths]


def _next(nest: Nest, every: Sequence[Carried]) -> Carried | None:
    """One that needs no other."""
    for each in every:
        needed = needed_for(nest, [each.step])
        if not any(id(other.state) in needed for other in every if other is not each):
            return each
    return None
