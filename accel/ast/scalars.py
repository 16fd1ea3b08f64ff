"""Scalar functions by name, for passing along: `add`, `mul`, `min`, …

In: `Exp`s, one of which may be a Python number. Out: `Exp`s. What each means is fixed in `accel/ast/semantics.py`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from accel.ast import operations
from accel.ast.exp import Exp, raw
from accel.ast.operators import Operator
from accel.errors import here

N = TypeVar("N", bound=np.number[Any])


def add(x: Exp[N] | float, y: Exp[N] | float) -> Exp[N]:
    """`x + y`; integers wrap."""
    return _apply(Operator.ADD, "add", x, y)


def mul(x: Exp[N] | float, y: Exp[N] | float) -> Exp[N]:
    """`x * y`; integers wrap."""
    return _apply(Operator.MUL, "mul", x, y)


def _apply(operator: Operator, name: str, *operands: object) -> Exp[Any]:
    return Exp(operations.apply(operator, *[raw(operand) for operand in operands], where=here(), name=name))
