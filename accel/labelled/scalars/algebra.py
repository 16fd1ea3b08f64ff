"""What is known of a combining function: whether any order of combination gives the same bits, and whether it commutes.

Recognised after simplification, component by component: the k-th result must be one operator on the k-th leaf of each side.
Floating-point + and * commute but are not exact: they do not associate. Anything else is neither.
"""

from __future__ import annotations

from accel.ast.tree.operators import Operator
from accel.labelled.scalar import Compute, Function, Operand

_INTEGER = frozenset({Operator.ADD, Operator.MUL, Operator.MIN, Operator.MAX, Operator.AND, Operator.OR, Operator.XOR})
_FLOAT_EXACT = frozenset({Operator.MIN, Operator.MAX})
_FLOAT_COMMUTING = _FLOAT_EXACT | {Operator.ADD, Operator.MUL}


def exact_and_commutes(combine: Function) -> tuple[bool, bool]:
    """Whether `combine` (of left leaves, then right leaves) is exact, and whether it commutes."""
    count = len(combine.body.results)
    left, right = combine.parameters[:count], combine.parameters[count:]
    made: dict[Operand, Compute] = {s.out: s for s in combine.body.statements if isinstance(s, Compute)}
    exact = commutes = True
    for k, result in enumerate(combine.body.results):
        statement = made.get(result)
        if statement is None or statement.arguments not in ((left[k], right[k]), (right[k], left[k])):
            return False, False
        kind = statement.out.type
        if left[k].type is not kind:  # a comparison: its result is no operand of the next
            return False, False
        exact = exact and statement.operator in (_FLOAT_EXACT if kind.is_float else _INTEGER)
        commutes = commutes and statement.operator in (_FLOAT_COMMUTING if kind.is_float else _INTEGER)
    return exact, commutes
