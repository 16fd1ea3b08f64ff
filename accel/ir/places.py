"""Folds that find where an extreme stands, as `argmax` does, and are asked for nothing else."""

from __future__ import annotations

from collections.abc import Set

from accel.ir import flow, mentions
from accel.ir.nodes import For, ManyToOne, Nest


def finds_place(step: ManyToOne, loop: For, asked: Set[str]) -> bool:
    """Whether a step in a loop does so: what stands beside an element is the loop's index, and the element is none of the
    streams that anybody asks for."""
    state = next((state for state in loop.states if state.name == step.state), None)
    if (
        state is None
        or state.monoid.extreme is None
        or state.running
        or state.when is not None
        or step.when is not None
    ):
        return False
    return step.values[1] == loop.index and state.finals[0].name not in asked


def asked(nest: Nest) -> frozenset[str]:
    """The streams that statements of a nest read."""
    return frozenset(stream.name for statement in mentions.statements(nest) for stream in flow.needed(statement))
