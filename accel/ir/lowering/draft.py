"""Nests under construction, and how two of them fuse.

A draft holds, for each depth, statements by what they bind, and the states of the loop at that depth; the loops themselves
are the cluster's (`frame.py`), one for each depth. So two drafts fuse level by level: statements join statements, states
join states. What both hold must be equal, and is kept once: that is horizontal fusion of reads. Order within a level is
found at the end, from dependencies (`arrange.py`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TypeVar

from accel.errors import AccelInternalError
from accel.ir.flow import made
from accel.ir.nodes import LoopBody, ManyToOne, Read, Scatter, State, Write
from accel.labelled.array import Array
from accel.support.dataclass import dataclass

V = TypeVar("V")

Key = str
"""What a statement binds: the first stream's name, or the array that it writes."""


@dataclass(frozen=True, slots=True)
class DraftLevel:
    """Statements at one depth, and the states of the loop just below it."""

    statements: Mapping[Key, LoopBody]
    states: Mapping[str, State]


@dataclass(frozen=True, slots=True)
class Draft:
    """A nest without order: `levels[d]` is what stands inside of d loops."""

    levels: tuple[DraftLevel, ...]


def write_key(array: Array) -> Key:
    """The key of the statement that stores `array`."""
    return f"write {array.label}.{array.leaf}"


def _key(statement: LoopBody) -> Key:
    match statement:
        case Write(array=array):
            return write_key(array)
        case Scatter(arrays=arrays):
            return write_key(arrays[0])
        case ManyToOne(state=state):
            return f"step {state}"
        case _:
            return made(statement)[0].name


def draft(statements: Iterable[tuple[int, LoopBody]], states: Iterable[tuple[int, State]] = ()) -> Draft:
    """A draft of statements and states, each with its depth; what is named twice must be equal."""
    levels: list[tuple[dict[Key, LoopBody], dict[str, State]]] = []

    def level(depth: int) -> tuple[dict[Key, LoopBody], dict[str, State]]:
        while len(levels) <= depth:
            levels.append(({}, {}))
        return levels[depth]

    for depth, statement in statements:
        known = level(depth)[0].setdefault(_key(statement), statement)
        _require_equal(known, statement)
    for depth, state in states:
        level(depth)[1][state.name] = state
    return Draft(tuple(DraftLevel(*maps) for maps in levels))


def _require_equal(left: LoopBody | State, right: LoopBody | State) -> None:
    if left != right:
        raise AccelInternalError(f"two things of one nest have one name:\n  {left}\n  {right}")


def _joined(left: Mapping[str, V], right: Mapping[str, V]) -> Mapping[str, V]:
    return {**left, **right} if left and right else left or right


def _common(left: Mapping[str, V], right: Mapping[str, V]) -> list[str]:
    few, many = (left, right) if len(left) <= len(right) else (right, left)
    return [name for name in few if name in many]


def _fuse_levels(first: DraftLevel, second: DraftLevel) -> DraftLevel:
    for name in _common(first.statements, second.statements):
        _require_equal(first.statements[name], second.statements[name])
    if _common(first.states, second.states):
        raise AccelInternalError("two loops step one state")
    return DraftLevel(_joined(first.statements, second.statements), _joined(first.states, second.states))


def fuse(first: Draft, second: Draft) -> Draft:
    """Both nests as one, `first` before `second`."""
    few, many = (first, second) if len(first.levels) <= len(second.levels) else (second, first)
    both = tuple(map(_fuse_levels, first.levels, second.levels))
    return Draft(both + many.levels[len(few.levels) :])


def without_reads(nest: Draft, streams: Collection[str]) -> Draft:
    """The nest with the reads that bind these streams left out: what is fused before it binds them."""
    return _without(nest, [name for name in streams if _finds(nest, name, Read)])


def without_writes(nest: Draft, arrays: Collection[Array]) -> Draft:
    """The nest with these arrays fused away: nothing stores them."""
    return _without(nest, [key for key in map(write_key, arrays) if _finds(nest, key, Write)])


def _finds(nest: Draft, key: Key, kind: type[LoopBody]) -> bool:
    return any(isinstance(level.statements.get(key), kind) for level in nest.levels)


def _without(nest: Draft, keys: Collection[Key]) -> Draft:
    if not keys:
        return nest
    levels = []
    for level in nest.levels:
        if any(key in level.statements for key in keys):
            kept = dict(level.statements)
            for key in keys:
                kept.pop(key, None)
            level = DraftLevel(kept, level.states)
        levels.append(level)
    return Draft(tuple(levels))
