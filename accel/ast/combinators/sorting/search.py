"""Search in what is sorted: `searchsorted`.

In: handles. Out: handles. The order is that of the sorts, here as scalar code. How many places are left in a turn depends on
the length of the table alone, so all elements take equally many turns, and lanes need no masks. Of an even number one place
too many is left where the middle does not come before the element: that place is known not to, either.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.sorting.sorts import require_order
from accel.ast.handles import operations
from accel.ast.handles.acc import Acc, Array, Sh, Vector
from accel.ast.handles.checks import arrays_of, of_rank, require_same_elements
from accel.ast.handles.exp import Exp
from accel.ast.handles.tuples import index_of, lift_items, select, unlift_items, while_
from accel.ast.scalars.conversions import Ordered
from accel.ast.tree.nodes import Literal, ScalarNode
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64, MaybeType, ScalarType, TupleType
from accel.errors import Where, here


def searchsorted(sorted_xs: Acc[Vector[Ordered]], xs: Acc[Array[Sh, Ordered]]) -> Acc[Array[Sh, np.int64]]:
    """For each element of `xs`, how many elements of the sorted vector come before it: `np.searchsorted(sorted_xs, xs)`.

    It is the place at which the element may be inserted, the first one. What it finds in a vector that is not sorted is
    undefined. Fuses with what makes `xs`, as a `map` does.

    >>> import accel as A, numpy as np
    >>> A.run(A.searchsorted(A.use(np.array([1, 2, 2, 5])), A.use(np.array([2, 6, 0]))))
    array([1, 4, 0])
    """
    where = here()
    table = of_rank("searchsorted", sorted_xs, 1, where)
    (array,) = arrays_of("searchsorted", (xs,), where)
    require_order("searchsorted", table, where)
    require_same_elements("searchsorted", {"sorted_xs": table, "xs": array}, where)
    size = unlift_items("searchsorted", table.shape)[0]

    def place(x: Exp[Any]) -> Exp[Any]:
        def halved(state: Exp[Any]) -> Exp[Any]:
            low, length = unlift_items("searchsorted", state)
            rest = length // 2
            middle = low + (length - rest)
            before = Exp[np.bool_](_before(table[index_of([middle - 1])].node, x.node, where))
            return lift_items((select(before, middle, low), rest))

        zero = Exp[np.int64](Literal(I64, 0, where))
        return while_(lambda state: state[1] > 0, halved, lift_items((zero, size)))[0]

    return map_arrays("searchsorted", place, (array,))


def _before(left: ScalarNode, right: ScalarNode, where: Where | None) -> ScalarNode:
    """Whether `left` comes before `right`, and is not equal to it."""
    kind = left.type
    if isinstance(kind, ScalarType):
        less = operations.apply(Operator.LT, left, right, where=where)
        if not kind.is_float:
            return less
        number, other = (operations.apply(Operator.IS_NAN, side, where=where) for side in (left, right))
        last = operations.apply(Operator.GT, other, number, where=where)  # False is less than True
        return operations.apply(Operator.OR, less, last, where=where)
    if isinstance(kind, MaybeType):  # nothing comes before all that hold a value
        absent = operations.apply(Operator.NOT, operations.project(left, 0, where), where=where)
        values = _before(operations.project(left, 1, where), operations.project(right, 1, where), where)
        later = operations.apply(Operator.OR, absent, values, where=where)
        return operations.apply(Operator.AND, operations.project(right, 0, where), later, where=where)
    assert isinstance(kind, TupleType)
    pairs = [tuple(operations.project(side, i, where) for side in (left, right)) for i in range(len(kind.items))]
    *first, found = [(_before(a, b, where), _before(b, a, where)) for a, b in pairs]

    def decided(later: ScalarNode, item: tuple[ScalarNode, ScalarNode]) -> ScalarNode:
        rest = operations.apply(Operator.GT, later, item[1], where=where)
        return operations.apply(Operator.OR, item[0], rest, where=where)

    return reduce(decided, reversed(first), found[0])
