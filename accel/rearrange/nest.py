"""A linear nest: maps and one reduction around one scalar function, with the extents and strides that make it executable.

This is [Ber]'s `map (\\x -> … rnz r m …)`: axes from the outermost to the innermost, in the order of the program, those of the
result first. Everything else is data: what is read where, what is computed of it, how it is reduced.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, TypeAlias

import numpy.typing as npt

from accel.ast.tree.types import ScalarType
from accel.errors import Where
from accel.labelled.algebra import Monoid
from accel.labelled.scalar import Constant, Function
from accel.support.dataclass import dataclass

HostArray: TypeAlias = npt.NDArray[Any]  # Any: elements of one of several types

LINEAR: Final = "[Ber]'s rules are for `nzip`, `rnz` and products such as `A.matmul` and `A.einsum`"
"""What to do about a program that is no linear nest."""


class Role(Enum):
    """What a higher-order function does with an axis."""

    MAP = "map"
    REDUCE = "rnz"


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis. letter: `i`, `j`, …, outermost first. name: its higher-order function, as the paper calls it: `mapA`, `rnz`."""

    letter: str
    name: str
    role: Role
    extent: int


@dataclass(frozen=True, slots=True)
class Reference:
    """An array that is read or written, with as many elements between neighbours along each axis (0: it lacks the axis)."""

    type: ScalarType
    strides: tuple[int, ...]
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Operation:
    """`registers[out] := function(arguments)`; an argument is a register's number, or a constant."""

    outs: tuple[int, ...]
    function: Function
    arguments: tuple[int | Constant, ...]


@dataclass(frozen=True, slots=True)
class Reduction:
    """How elements are combined: `merge` of what there is, then the element; `initial` before the first."""

    merge: Function
    monoid: Monoid
    initial: Constant


@dataclass(frozen=True, slots=True)
class LinearNest:
    """`result[maps] := reduce over the other axes of value`.

    Register k is what `reads[k]` reads, later ones are those of `operations`; `value` is the one that is reduced, or stored.
    """

    axes: tuple[Axis, ...]
    reads: tuple[Reference, ...]
    operations: tuple[Operation, ...]
    value: int | Constant
    reduction: Reduction | None
    result: Reference
    shape: tuple[int, ...]
    where: Where | None

    @property
    def maps(self) -> tuple[Axis, ...]:
        """The axes of the result."""
        return tuple(axis for axis in self.axes if axis.role is Role.MAP)
