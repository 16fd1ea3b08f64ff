"""Scatters on several threads: one works on the targets, each other one on a copy, and copies are combined at the end.

In: a nest. Out: its `Copies`, if they give the same bits: functions of the scatters are exact, so that any order serves, and
have a neutral element, with which a copy begins; and nothing else reads or writes the targets.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ir import mentions
from accel.ir.nodes import Nest, Scatter
from accel.labelled.scalar import While
from accel.schedule.legality import lone_scatters
from accel.schedule.templates.rows import on_threads
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Copies:
    """The scatters of a nest, each thread of which has copies of what they write."""

    scatters: tuple[Scatter, ...]


def copies(nest: Nest) -> Copies | None:
    """Those of a nest, if copies serve and its outermost loop may run on threads then."""
    scatters = copied_scatters(nest)
    return Copies(tuple(scatters)) if scatters and on_threads(nest, scatters=True) else None


def copied_scatters(nest: Nest) -> Sequence[Scatter]:
    """The nest's scatters, if each thread may have copies of what they write; none otherwise."""
    scatters = straight_scatters(nest)
    return scatters if all(s.monoid.exact and s.monoid.neutral for s in scatters) else ()


def straight_scatters(nest: Nest) -> Sequence[Scatter]:
    """The nest's scatters, if nothing else reads or writes what they write; none otherwise.

    Loops in scalar code, which may never end, look for interrupts where threads meet: of such a nest there are none.
    """
    every = (mentions.function_statements(function) for function in mentions.functions(nest))
    repeats = any(isinstance(statement, While) for function in every for statement in function)
    return () if repeats else lone_scatters(nest)
