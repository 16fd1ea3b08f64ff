"""`sfoldl`: a fold of one row within scalar code, one element after the other.

In: functions, an index, a handle. Out: an `Exp`: a `while_` that reads the row. Raises `AccelTypeError` at the user's call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from accel.ast.handles.acc import index_node
from accel.ast.handles.checks import inner_array
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.function import apply, expect_exp
from accel.ast.handles.literals import is_node, typed, untyped
from accel.ast.handles.operations import project
from accel.ast.handles.tuples import lift_items, while_
from accel.ast.tree.nodes import Index, Literal, MakeTuple, ShapeOf
from accel.ast.tree.types import I64, ComplexType, ScalarType, index_type
from accel.errors import here


def sfoldl(f: Callable[[Any, Any], object], z: object, ix: object, xs: object) -> Exp[Any]:
    """`f` applied to `z` and the elements of one row of `xs`, from left to right: `f(f(z, x0), x1)`, …

    `xs` has shape `(*sh, n)`, `ix` is an index of shape `sh`, `()` for a vector. The results of `f` have the type of `z`, which
    may be another than the elements'; a Python number has theirs. It runs in scalar code, element after element; `xs` is
    stored, and its rows are not read together, so `fold` is faster where it fits. A row without elements gives `z`. Raises
    `AccelTypeError` for other types, `AccelIndexError` where it runs for an `ix` outside of `xs`. Accelerate's `sfoldl`.
    `A.sfoldl(lambda a, x: a * 10 + x, 0, (1,), A.use(np.array([[1, 2], [3, 4]])))` is 34.

    >>> m = A.use(np.arange(6).reshape(2, 3))
    >>> A.run(A.generate((2,), lambda ix: A.sfoldl(lambda s, x: s * 10 + x, 0, ix, m)))
    array([ 12, 345])
    """
    where = here()
    array = inner_array("sfoldl", xs, where, (f, z, ix, xs))
    element, outer = array.type.element, array.rank - 1
    row = index_node(raw(ix), outer, where)
    start = raw(z)
    adapts = isinstance(element, ScalarType | ComplexType) and not is_node(start) and not isinstance(start, np.generic)
    seed = typed(start, element, "the seed of sfoldl", where) if adapts else untyped(start, "the seed of sfoldl", where)
    extent = Exp[Any](project(ShapeOf(array.node, index_type(array.rank), where), outer, where))

    def step(state: Exp[Any]) -> Exp[Any]:
        place = (*(project(row, axis, where) for axis in range(outer)), state[0].node)
        item: Exp[Any] = Exp(Index(array.node, MakeTuple(place, index_type(array.rank), where), element, where))
        what = "the function of sfoldl"
        result = expect_exp(apply(f, [state[1], item], what, where), what, where, [seed.type, element], seed.type)
        return lift_items((state[0] + 1, Exp(typed(result, seed.type, f"the result of {what}", where))))

    first: Exp[Any] = Exp(Literal(I64, 0, where))
    return while_(lambda state: state[0] < extent, step, lift_items((first, Exp(seed))))[1]
