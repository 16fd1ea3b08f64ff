"""Integers that are divided by zero, for `checks="all"`: their quotient has no value, though it is 0 where nobody checks.

What is computed of such a quotient has none either, unless a choice does not take it: so a division that only a branch which is
not taken needs is no fault, whether that branch was evaluated or not. Whoever asks for the value hears of the division.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NoReturn, TypeAlias

from accel.ast.meaning.semantics import Implementation, Value
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import ScalarType
from accel.labelled import programs
from accel.labelled.scalar import Compute, Constant, Function
from accel.support.dataclass import dataclass

_SPELT: Mapping[Operator, str] = MappingProxyType(
    {Operator.DIV: "{} // 0", Operator.MOD: "{} % 0", Operator.QUOT: "quot({}, 0)", Operator.REM: "rem({}, 0)"}
)
"""The divisions of integers, as the user writes them."""


class DividesByZero(Exception):
    """A value is asked for that comes of a division by zero; the text says of which."""


@dataclass(frozen=True, slots=True)
class Undefined:
    """Stands for a number that comes of a division by zero. To take it for a number raises `DividesByZero`."""

    division: str

    def _asked(self) -> NoReturn:
        raise DividesByZero(self.division)

    def __bool__(self) -> bool:
        self._asked()

    def __int__(self) -> int:
        self._asked()

    def __float__(self) -> float:
        self._asked()


Watched: TypeAlias = "Value | Undefined"


def may_divide_by_zero(function: Function) -> bool:
    """Whether a function divides an integer by anything but a constant other than zero."""
    statements = (statement for block in programs.blocks(function) for statement in block.statements)
    return any(
        isinstance(statement, Compute)
        and statement.operator in _SPELT
        and statement.out.type.is_integer
        and not (isinstance(statement.arguments[1], Constant) and statement.arguments[1].value)
        for statement in statements
    )


def watched(operator: Operator, kind: ScalarType, function: Implementation) -> Implementation:
    """`function`, which evaluates `operator` to a value of `kind`, for operands that may be undefined."""
    divides = operator in _SPELT and kind.is_integer
    # Of bools min and max are these, too.
    deciding = {Operator.AND: False, Operator.MIN: False, Operator.OR: True, Operator.MAX: True}.get(operator)

    def evaluated(*operands: Watched) -> Watched:
        if operator is Operator.SELECT and not isinstance(operands[0], Undefined):
            return operands[1] if operands[0] else operands[2]
        for operand in operands:
            if isinstance(operand, Undefined):
                decided = deciding is not None and kind is ScalarType.BOOL and any(o is deciding for o in operands)
                return deciding if decided and deciding is not None else operand
        if divides and operands[1] == 0:
            return Undefined(_SPELT[operator].format(operands[0]))
        return function(*operands)

    return evaluated  # type: ignore[return-value]  # what is undefined passes for a number until it is asked for
