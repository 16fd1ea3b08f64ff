"""What a scalar of the loop program is while its code is written: one register for all lanes, or one per lane.

Vector code works on `lanes` consecutive iterations at once. What does not differ between them stays scalar until somebody
needs it in lanes, and an index that rises evenly stays a progression, so that reads at it are plain vector loads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias, Union

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64, ScalarType
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Constant
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Uniform:
    """The same in every lane: a scalar register."""

    text: str
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Fixed:
    """A constant."""

    constant: Constant

    @property
    def type(self) -> ScalarType:
        """The constant's type."""
        return self.constant.type


@dataclass(frozen=True, slots=True)
class Lanes:
    """A vector register."""

    text: str
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Progression:
    """An i64: lane l holds `base + stride * l`."""

    base: str
    stride: int

    @property
    def type(self) -> ScalarType:
        """i64."""
        return I64


@dataclass(frozen=True, slots=True)
class Packed:
    """An i64: lane l holds `carry` + how many lanes before l are set in `mask`. Where a filter puts what it keeps."""

    carry: str
    mask: str

    @property
    def type(self) -> ScalarType:
        """i64."""
        return I64


@dataclass(frozen=True, slots=True)
class Near:
    """An i64 in a register: places of which some elements, from each lane's on, were loaded before.

    loaded: of some arrays of one dimension, the elements at these places, at those one further, and so on: for each a register
    as in memory."""

    text: str
    loaded: Mapping[Array, Sequence[str]]

    @property
    def type(self) -> ScalarType:
        """i64."""
        return I64


@dataclass(frozen=True, slots=True)
class Digit:
    """An i64 in a register: where one of several loops is that run as one, in lanes over positions, or a place so much further.

    first: what lane 0 holds. inner: the extents of the loops inside of it. outermost: whether no other is outside of it. ones:
    extents that are 1, of which `inner` has none."""

    text: str
    first: str
    inner: tuple[Extent, ...]
    outermost: bool
    ones: tuple[Extent, ...] = ()

    @property
    def type(self) -> ScalarType:
        """i64."""
        return I64


@dataclass(frozen=True, slots=True)
class Bent:
    """An i64 that is a progression in most vectors, as clamped places are in all but those at an end (`bends.py`).

    Lane l holds what `operator` makes of `arguments`, which is written where that is asked for; where the i1 `even` holds, that
    is `base + stride * l`. depth: of arguments in arguments. whole: of what this is the remainder, by the last argument, if it
    is one: then it may be a progression in later periods, too, which have to be found."""

    base: str
    stride: int
    even: str
    operator: Operator
    arguments: tuple[Value, ...]
    depth: int
    whole: Progression | None = None

    @property
    def type(self) -> ScalarType:
        """i64."""
        return I64


Value: TypeAlias = Union[Uniform, Fixed, Lanes, Progression, Packed, Near, Digit, Bent]
