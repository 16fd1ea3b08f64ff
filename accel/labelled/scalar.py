"""Scalar code from `labelled` on: let-bound blocks over machine scalars, shared by every later stage.

A `Function` is closed except for the arrays it loads from and the extents it mentions. Tuples are gone (struct of
arrays): a function has as many results as its element type has leaves. Variables are numbered; a number is bound once
in a function. Equality is structural, constants compare by bits (so -0.0 differs from 0.0 and NaN equals itself).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import field
from typing import TypeAlias, Union

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I64, ScalarType
from accel.errors import Where
from accel.labelled.array import Array, Extent
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Variable:
    """A bound scalar, printed `x3`."""

    number: int
    type: ScalarType


@dataclass(frozen=True, slots=True)
class Constant:
    """A scalar constant by its bits: two's complement for integers, IEEE for floats, 0 or 1 for bool."""

    type: ScalarType
    bits: int

    @property
    def value(self) -> bool | int | float:
        """The constant as a Python number (an f16 or f32 is given exactly as a float)."""
        kind = self.type
        if kind is ScalarType.BOOL:
            return bool(self.bits)
        if kind.is_float:
            return float(struct.unpack(_FLOATS[kind], self.bits.to_bytes(kind.bytes, "little"))[0])
        sign = kind.is_signed and self.bits >> (kind.bits - 1)
        return self.bits - (1 << kind.bits) if sign else self.bits


_FLOATS: Mapping[ScalarType, str] = {ScalarType.F16: "<e", ScalarType.F32: "<f", ScalarType.F64: "<d"}
"""How `struct` calls the types of floats."""


def constant(kind: ScalarType, value: bool | int | float) -> Constant:
    """The constant of `kind` nearest to `value`; integers must fit (callers check)."""
    if kind is ScalarType.BOOL:
        return Constant(kind, int(bool(value)))
    if kind.is_float:
        return Constant(kind, int(kind.dtype.type(value).view(f"u{kind.bytes}")))
    return Constant(kind, int(value) & ((1 << kind.bits) - 1))


Operand: TypeAlias = Union[Variable, Constant, Extent]
"""What a statement may refer to; an extent is an i64."""


def operand_type(operand: Operand) -> ScalarType:
    """The type of what a statement refers to; extents are i64."""
    return I64 if isinstance(operand, Extent) else operand.type


@dataclass(frozen=True, slots=True)
class Compute:
    """`out := operator(arguments)`: pure and total."""

    out: Variable
    operator: Operator
    arguments: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Load:
    """`out := array[index]`, an error out of bounds (at `where`). The array is wholly computed before.

    `inside`: the index is proved to be in bounds wherever the function runs, so that a check may be left out.
    `inside_block`: wherever this block runs, because of the conditions around it: no check either, but it must stay there.
    `check`: the load stays even if what it loads is unused, since what comes after it relies on an index in bounds.
    """

    out: Variable
    array: Array
    index: tuple[Operand, ...]
    where: Where | None = field(default=None, compare=False, repr=False)
    inside: bool = field(default=False, compare=False, repr=False)
    check: bool = False
    inside_block: bool = field(default=False, compare=False, repr=False)

    @property
    def may_fail(self) -> bool:
        """Whether its index is not known to be in bounds where it runs."""
        return bool(self.index) and not self.inside and not self.inside_block


@dataclass(frozen=True, slots=True)
class If:
    """`outs := ` the results of one block; the other is not evaluated."""

    outs: tuple[Variable, ...]
    condition: Operand
    then: Block
    orelse: Block


@dataclass(frozen=True, slots=True)
class While:
    """`parameters := initial`; while `condition` gives true, `parameters := body`; `outs := parameters`."""

    outs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    initial: tuple[Operand, ...]
    condition: Block
    body: Block


Statement: TypeAlias = Union[Compute, Load, If, While]


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in order, then results; later statements see earlier ones and those of enclosing blocks."""

    statements: tuple[Statement, ...]
    results: tuple[Operand, ...]


@dataclass(frozen=True, slots=True)
class Function:
    """A scalar function of machine scalars with one or more results."""

    parameters: tuple[Variable, ...]
    body: Block
