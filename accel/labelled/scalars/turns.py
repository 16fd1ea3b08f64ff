"""How many turns a scalar loop takes at most, where its text says so: it counts from a constant to a constant, by constants.

Other conditions may end it sooner. Such a loop ends whatever else it computes with, so nobody need look whether it is to stop.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from accel.ast.tree.operators import Operator
from accel.labelled.scalar import Block, Compute, Constant, Operand, Variable, While

_MIRRORED: Mapping[Operator, Operator] = {
    Operator.LT: Operator.GT,
    Operator.LE: Operator.GE,
    Operator.GT: Operator.LT,
    Operator.GE: Operator.LE,
}
"""What holds of `b` and `a` where a comparison holds of `a` and `b`."""


def most_turns(loop: While) -> int | None:
    """So many at most; None if its text does not say."""
    found = [turns for each in _required(loop.condition) if (turns := _counted(loop, each)) is not None]
    return min(found, default=None)


def _required(condition: Block) -> Iterator[Compute]:
    """Comparisons that all hold where the condition does."""
    made = _computed(condition)
    pending = [condition.results[0]]
    while pending:
        operand = pending.pop()
        match made.get(operand) if isinstance(operand, Variable) else None:
            case Compute(_, Operator.AND, arguments):
                pending += arguments
            case Compute(_, operator) as compared if operator in _MIRRORED:
                yield compared
            case _:
                pass


def _computed(block: Block) -> Mapping[Operand, Compute]:
    return {each.out: each for each in block.statements if isinstance(each, Compute)}


def _counted(loop: While, compared: Compute) -> int | None:
    """How many turns it takes until this does not hold any more, if it compares what counts the turns with a constant."""
    operator, (left, right) = compared.operator, compared.arguments
    if isinstance(left, Constant):
        operator, left, right = _MIRRORED[operator], right, left
    if left not in loop.parameters or not isinstance(right, Constant) or not right.type.is_integer:
        return None
    place = loop.parameters.index(left)
    first, step = loop.initial[place], _step(loop.body, left, loop.body.results[place])
    if not isinstance(first, Constant) or not step:
        return None
    begin, end, kind = int(first.value), int(right.value), right.type
    if operator in (Operator.GT, Operator.GE):  # the same, counted upwards
        begin, end, step, largest = -begin, -end, -step, (1 << kind.bits - 1 if kind.is_signed else 0)
    else:
        largest = (1 << kind.bits - kind.is_signed) - 1
    last = end - (operator in (Operator.LT, Operator.GT))
    if step < 0 or last + step > largest:  # it counts away from the limit, or around
        return None
    return max((last - begin) // step + 1, 0)


def _step(body: Block, counter: Operand, result: Operand) -> int | None:
    """What a turn adds to the counter."""
    match _computed(body).get(result):
        case Compute(_, Operator.ADD, (first, Constant() as step)) if first == counter:
            return int(step.value)
        case Compute(_, Operator.ADD, (Constant() as step, second)) if second == counter:
            return int(step.value)
        case Compute(_, Operator.SUB, (first, Constant() as step)) if first == counter:
            return -int(step.value)
        case _:
            return None
