"""What may fail: a binding that may raise, never end, or need much more memory than the arrays that are there anyway.

Such bindings must not run unasked. An answer is "no" only where that is proved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import prod
from typing import assert_never

from accel.ast.handles.extents import LARGEST_EXTENT
from accel.ast.tree.operators import Operator
from accel.labelled import programs
from accel.labelled.array import Array, Extent, Shape
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Backpermute,
    Binding,
    BindSizes,
    Copy,
    Filter,
    Fold,
    FoldSegments,
    Force,
    Gather,
    Generate,
    HostCall,
    Map,
    RequireEqual,
    Reshape,
    Scan,
    ScanSegments,
    Scatter,
    Sort,
    Use,
)
from accel.labelled.operations import Flag, describe
from accel.labelled.passes.shapes.bounds import reads_inside
from accel.labelled.passes.shapes.factors import Sizes, factors
from accel.labelled.scalar import Compute, Constant, Function, Load, Operand, Variable, While

_SMALL = 1 << 16
"""Elements that may always be allocated."""

_CHOOSING = frozenset({Operator.MIN, Operator.MAX})
"""Operators that give one of their operands. Of two extents others may make one that is too large."""


def may_fail(binding: Binding, there: Iterable[Array], sizes: Sizes) -> bool:
    """Whether a binding may fail. `there`: arrays that exist whether it runs or not, besides those that it reads."""
    operation = binding.operation
    if any(map(_loads_or_loops, programs.functions(operation))):
        return True
    if not _is_affordable(binding, there):
        return True
    match operation:
        case Gather() | Scatter() | FoldSegments() | ScanSegments() | RequireEqual() | HostCall() | Awhile():
            return True
        case Backpermute():
            return not reads_inside(binding)
        case Fold(_, initial):
            return initial is None and any(extent.offset < 1 for extent in operation.folded)
        case Reshape(inputs):
            return not binding.after and any(
                factors(array.shape, sizes) != factors(source.shape, sizes)
                for array, source in zip(binding.arrays, inputs, strict=True)
            )
        case BindSizes(_, function):
            return not gives_extents(function)
        case Acond(_, then, orelse):
            return any(may_fail(inner, there, sizes) for branch in (then, orelse) for inner in branch.bindings)
        case Use() | Generate() | Map() | Copy() | Scan() | Filter() | Sort() | Force():
            return False
        case _:
            assert_never(operation)


def _loads_or_loops(function: Function) -> bool:
    """Whether a scalar function has a load that is not known to be in bounds, or a loop, which may never end."""
    statements = (statement for block in programs.blocks(function) for statement in block.statements)
    return any(
        isinstance(statement, While) or (isinstance(statement, Load) and statement.may_fail) for statement in statements
    )


def _is_affordable(binding: Binding, there: Iterable[Array]) -> bool:
    """Whether each result is small, or no larger than an array that exists anyway."""
    if not describe(binding.operation).flags.isdisjoint((Flag.VIEW, Flag.FINDS_SIZES)):
        return True  # a view, not larger than what it reads, or judged by what is inside
    others = [array.shape for array in (*programs.reads(binding.operation), *there)]
    return all(any(_fits(array.shape, other) for other in ((), *others)) for array in binding.arrays)


def _fits(shape: Shape, other: Shape) -> bool:
    """Whether `shape` has at most as many elements as `other`, but for a few more per row, or few anyway."""
    variables = Counter(extent.variable for extent in shape if extent.variable is not None)
    theirs = Counter(extent.variable for extent in other if extent.variable is not None)
    constants, other_constants = (prod(e.offset for e in s if e.variable is None) for s in (shape, other))
    return variables <= theirs and constants <= max(_SMALL, other_constants)


def _is_choice(statement: Compute) -> bool:
    """Whether a statement gives one of its arguments but the first."""
    return statement.operator is Operator.SELECT


def stays(binding: Binding) -> bool:
    """Whether a binding remains even if what it gives is unused: what has an effect, and sizes that may turn out to be none."""
    match binding.operation:
        case Use():
            return True
        case BindSizes(_, function):
            return not gives_extents(function)
        case HostCall() | Acond() | Awhile():
            return programs.has_effect(binding)
        case _:
            return False


def gives_extents(function: Function) -> bool:
    """Whether what is computed is certainly neither negative nor too large: chosen among sizes and constants that are not."""
    extents: set[Operand] = set()

    def holds(operand: Operand) -> bool:
        match operand:
            case Extent(_, offset):
                return offset == 0
            case Constant():
                return 0 <= operand.value <= LARGEST_EXTENT
            case Variable():
                return operand in extents
            case _:
                assert_never(operand)

    for statement in function.body.statements:
        if isinstance(statement, Compute) and statement.operator in _CHOOSING and all(map(holds, statement.arguments)):
            extents.add(statement.out)
        if isinstance(statement, Compute) and _is_choice(statement) and all(map(holds, statement.arguments[1:])):
            extents.add(statement.out)
    return all(map(holds, function.body.results))
