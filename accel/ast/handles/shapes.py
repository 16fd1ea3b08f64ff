"""Shapes as users write them: an index expression, or a Python tuple of ints and i64 expressions."""

from __future__ import annotations

from accel.ast.handles.acc import Extents
from accel.ast.handles.exp import raw
from accel.ast.handles.extents import shape_extents
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe, is_node, typed, whole_number
from accel.ast.tree.nodes import MakeTuple, ScalarNode
from accel.ast.tree.types import I64, TupleType, index_type
from accel.errors import AccelTypeError, Where
from accel.support.source import texts


def shape_of(name: str, shape: object, where: Where | None, after: object = None) -> tuple[ScalarNode, Extents]:
    """The shape that `name` was given, and its extents where they were written as numbers.

    `after` is the user's next argument, for the error that finds the two exchanged. Raises `AccelTypeError` for what is no
    shape, `AccelShapeError` for extents that are negative or too large.
    """
    value = raw(shape)
    if isinstance(value, tuple):
        node = typed(whole_number(value), index_type(len(value)), f"the shape of {name}", where)
    elif is_node(value) and isinstance(value.type, TupleType) and set(value.type.items) <= {I64}:
        node = value
    else:
        hint = "a shape is a tuple, of one extent as well: `(n,)`"
        if isinstance(after, tuple):
            first, second = texts(name, where, ("f" if is_function(shape) else "e", "shape"))
            hint = f"the shape comes first: write `A.{name}({second}, {first})`"
        raise AccelTypeError(f"{name} needs a shape, got {describe(value)}", where, hint=hint)
    if isinstance(node, MakeTuple):
        return node, shape_extents(name, node, where)
    assert isinstance(node.type, TupleType)
    return node, (None,) * len(node.type.items)
