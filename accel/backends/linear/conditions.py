"""Conditions of loops and branches, fetched before they are asked for: the host knows where to go on while the device works.

In: the items of a linear program. Out: which arrays become conditions, and what the host does as soon as one is made. A loop
that counts makes the condition of its next turn from the counter alone, early in a turn; so the host launches that turn while
the device is busy with this one. What depends on nothing, such as whether there is a first turn, the host knows by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar, assert_never

from accel.ast.meaning.semantics import Value
from accel.ast.tree.types import BOOL
from accel.backends.device import Device, Slots
from accel.backends.linear.items import Assign, Item, JumpUnless, closure
from accel.ir import mentions
from accel.ir.nodes import Launch, Nest, OneToOne, Operand, Stream, Write
from accel.labelled.array import Array, Extent
from accel.labelled.meaning.evaluate import evaluate
from accel.labelled.scalar import Constant, Function, Load, While

B = TypeVar("B")


def conditions(items: Iterable[Item]) -> frozenset[Array]:
    """The arrays whose buffer may be a condition's later."""
    every = list(items)
    asked = {item.condition for item in every if isinstance(item, JumpUnless)}
    pairs = [
        pair for item in every if isinstance(item, Assign) for pair in zip(item.sources, item.targets, strict=True)
    ]
    return frozenset(closure(asked, pairs))


def fetched(
    step: Launch, asked: frozenset[Array], device: Device[B], slots: Slots
) -> list[Callable[[list[B | None], list[int]], None]]:
    """What follows the launch of a nest: fetching the conditions that it makes."""
    nest = step.nest
    made = [*(output.array for output in nest.outputs), *(new for _, new in nest.in_place)]
    found = [array for array in made if array in asked and array.element is BOOL and not array.shape]
    pairs = [(slots.array(array), value_of(nest, array)) for array in found]
    if not pairs:
        return []

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        for slot, value in pairs:
            buffer = buffers[slot]
            assert buffer is not None, "what a nest has made is there"
            device.fetch(buffer, value)

    return [instruction]


def value_of(nest: Nest, array: Array) -> bool | None:
    """What a nest without loops writes to an array of rank 0, if that depends on nothing."""
    if nest.body.loop is not None or nest.in_place:
        return None
    known: dict[str, Value] = {}
    found: Value | None = None
    for statement in (*nest.body.before, *nest.body.after):
        if isinstance(statement, OneToOne) and statement.when is None and _is_plain(statement.function):
            given = [_value(argument, known) for argument in statement.arguments]
            present = [value for value in given if value is not None]
            if len(present) == len(given):
                results = evaluate(statement.function, present, lambda variable: 0, {})
                known |= {out.name: result for out, result in zip(statement.outs, results, strict=True)}
        if isinstance(statement, Write) and statement.when is None and statement.array == array:
            found = _value(statement.value, known)
    return None if found is None else bool(found)


def _value(operand: Operand, known: dict[str, Value]) -> Value | None:
    match operand:
        case Stream():
            return known.get(operand.name)
        case Constant():
            return operand.value
        case Extent(None, offset):
            return offset
        case Extent():
            return None
        case _:
            assert_never(operand)


def _is_plain(function: Function) -> bool:
    """Whether it mentions no sizes and no arrays, and ends."""
    if any(isinstance(each, Load | While) for each in mentions.function_statements(function)):
        return False
    return not any(isinstance(each, Extent) for each in mentions.function_operands(function))
