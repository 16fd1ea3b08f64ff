"""The index before a reshape as arithmetic on the index behind it, where that takes no division.

In: two shapes of equally many elements. Out: how each index of the first follows from those of the second: where extents were
split, sums of products; a dimension of one element has index 0, whether it came or went. Joined extents would take divisions.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64
from accel.labelled import programs, rewrite
from accel.labelled.array import Extent, Shape
from accel.labelled.passes.shapes.factors import Sizes, factors
from accel.labelled.scalar import Block, Compute, Function, Operand, Statement, Variable, constant
from accel.labelled.scalars.simplify import simplify

ONE = Extent(None, 1)


def parts(old: Shape, new: Shape, sizes: Sizes) -> list[list[int]] | None:
    """For each dimension of `old` the dimensions of `new` into which it was split, none for one of one element.

    None where dimensions were joined, or nothing is known of their sizes.
    """
    found: list[list[int]] = []
    pending = [dimension for dimension, extent in enumerate(new) if extent != ONE]
    for extent in old:
        group: list[int] = []
        while factors([new[dimension] for dimension in group], sizes) != factors([extent], sizes):
            if not pending:
                return None
            group.append(pending.pop(0))
        found.append(group)
    return None if pending else found


def renamed(function: Function, shape: Shape, groups: Sequence[Sequence[int]]) -> Function:
    """A function of an index, and maybe elements, as one of an index into `shape`. `groups`: see `parts`."""
    highest = 1 + programs.highest_variable(function)
    index = [Variable(highest + dimension, I64) for dimension in range(len(shape))]
    fresh = highest + len(shape)
    statements: list[Statement] = []
    replaced: dict[Operand, Operand] = {}
    for parameter, group in zip(function.parameters, groups, strict=False):
        place: Operand = constant(I64, 0)
        for number, dimension in enumerate(group):
            if not number:
                place = index[dimension]
                continue
            row, sum_ = Variable(fresh, I64), Variable(fresh + 1, I64)
            fresh += 2
            statements.append(Compute(row, Operator.MUL, (place, shape[dimension])))
            statements.append(Compute(sum_, Operator.ADD, (row, index[dimension])))
            place = sum_
        replaced[parameter] = place
    body = rewrite.rename(function, lambda operand: replaced.get(operand, operand)).body
    elements = function.parameters[len(groups) :]
    whole = Block((*statements, *body.statements), body.results)
    return simplify(Function((*index, *elements), whole), shape)
