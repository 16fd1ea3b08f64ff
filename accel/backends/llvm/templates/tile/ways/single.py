"""Nests of which one map loop runs once, as nests without that loop: a matrix times a single column is one times a vector.

An array whose last dimension that loop indexes has one element in each row then. Another array stands for it, which has no such
dimension, for sizes with which its elements are adjacent along the one before.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from accel.ast.tree.types import I64
from accel.ir import flow, mentions
from accel.ir.layouts import Layout, in_layouts, layout, mentioned_otherwise_in
from accel.ir.nodes import For, Level, LoopBody, Nest, Operand, Read, Write
from accel.labelled.array import Array
from accel.labelled.scalar import constant
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Single:
    """A nest of which one map loop runs once.

    nest: what is left, where other arrays stand for some; their layouts leave the last dimension out.
    """

    nest: Nest
    layouts: Mapping[Array, Layout]


def single(nest: Nest, loop: For) -> Single:
    """The nest for one iteration of a loop that has no states, around another one."""
    found = _layouts(nest, loop)
    return Single(_without(in_layouts(nest, found), loop), found)


def _layouts(nest: Nest, loop: For) -> dict[Array, Layout]:
    """Of the arrays whose last dimension has as many elements as the loop has iterations, and is indexed by the loop alone."""
    statements = [s for s in mentions.statements(nest) if isinstance(s, Read | Write)]
    fixed = mentioned_otherwise_in(nest)
    places: dict[Array, list[tuple[Operand, ...]]] = {}
    for statement in statements:
        places.setdefault(statement.array, []).append(statement.index)
    return {
        array: layout(array, tuple(range(len(array.shape) - 1)))
        for array, indices in places.items()
        if len(array.shape) > 1
        and array.shape[-1] == loop.extent
        and array not in fixed
        and all(index[-1] == loop.index and loop.index not in index[:-1] for index in indices)
    }


def _without(nest: Nest, loop: For) -> Nest:
    """The nest without the loop, whose index is 0."""

    def value(operand: Operand) -> Operand:
        return constant(I64, 0) if operand == loop.index else operand

    def statements(some: tuple[LoopBody, ...]) -> tuple[LoopBody, ...]:
        return tuple(flow.substituted(statement, value) for statement in some)

    body: Level | None = None
    for level in reversed(list(mentions.levels(nest))):
        before, after = statements(level.before), statements(level.after)
        if level.loop is None or body is None:
            body = Level(before, None, after)
        elif level.loop.index == loop.index:
            body = Level((*before, *body.before), body.loop, (*body.after, *after))
        else:
            inner = replace(
                level.loop, states=tuple([flow.begun(each, value) for each in level.loop.states]), body=body
            )
            body = Level(before, inner, after)
    assert body is not None, "a nest has a level"
    return replace(nest, body=body)
