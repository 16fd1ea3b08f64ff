"""Nests that do nothing but fold what each iteration of their innermost loop makes: what passes over products ask of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ir import flow, mentions
from accel.ir.mentions import loops
from accel.ir.nodes import For, LoopBody, ManyToOne, Nest, OneToOne, Read, Remap, Write
from accel.labelled.scalar import Load


def maps(every: Sequence[For]) -> int:
    """How many of its loops stand around those that fold; 0 if none folds."""
    return next((depth for depth, loop in enumerate(every) if loop.states), 0)


def is_plain(nest: Nest) -> bool:
    """Whether loops run upwards, as often as is known at launch, those that fold stand within others, nothing is guarded, and
    what is checked, or needs what is folded, stands where it may stay."""
    every = loops(nest)
    around, folds = every[: maps(every)], every[maps(every) :]
    if not all(loop.counts_up for loop in every):
        return False
    if not around or any(loop.states for loop in folds[1:]) or any(state.running for state in folds[0].states):
        return False
    if nest.in_place or nest.counts or nest.body.after:
        return False
    if any(loop.body.after for loop in (*around[:-1], *folds[:-1])):
        return False
    early = [*nest.body.before, *(s for loop in every[:-1] for s in loop.body.before)]
    if any(isinstance(s, ManyToOne | Write) or _is_checked(s) for s in early):
        return False
    inner = [*folds[-1].body.before, *folds[-1].body.after]
    if any(statement.when is not None for statement in mentions.statements(nest)):
        return False
    if any(not isinstance(s, OneToOne | ManyToOne | Read | Write) for s in mentions.statements(nest) if s not in inner):
        return False
    return all(
        isinstance(s, OneToOne | ManyToOne | Read) or (isinstance(s, Remap) and s.segment is None) for s in inner
    )


def _is_checked(statement: LoopBody) -> bool:
    """Whether a statement may be an error."""
    functions = [statement.function] if isinstance(statement, OneToOne) else []
    every = [s for function in functions for s in mentions.function_statements(function)]
    return any(isinstance(s, Load) and not s.inside for s in every)


def depends(nest: Nest) -> Mapping[str, frozenset[int]]:
    """The loops on which each stream depends, by its name; of those that are there before anything is folded."""
    found: dict[str, frozenset[int]] = {loop.index.name: frozenset([depth]) for depth, loop in enumerate(loops(nest))}
    nothing: frozenset[int] = frozenset()
    for level in mentions.levels(nest):
        for statement in level.before:
            needs = nothing.union(*(found.get(stream.name, nothing) for stream in flow.needed(statement)))
            found.update((stream.name, needs) for stream in flow.made(statement))
    return found
