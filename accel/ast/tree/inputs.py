"""The nodes by which arrays enter a program. `nodes.py` has them among all others."""

from __future__ import annotations

from accel.ast.tree.leaves import Leaf
from accel.ast.tree.types import ArrayType
from accel.errors import Where
from accel.support.dataclass import frozen


@frozen
class Use:
    """Arrays that exist: one per leaf of the element type, all of one shape."""

    data: tuple[Leaf, ...]
    types: tuple[ArrayType]
    where: Where | None


@frozen
class ArrayParameter:
    """An array that is given later: an argument of a `runN` function, or the state of an `awhile`."""

    types: tuple[ArrayType]
    where: Where | None
