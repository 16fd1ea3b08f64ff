"""What a nest checks while it runs, what it may go on with where a check has failed, and whether it looks if it is to stop.

In: a nest. Kernels do not stop at a check that fails: they raise a flag, and a zero stands for the element. So a nest that can
fail in its streams keeps the tests of loads that are proved to be in bounds: the proof is of indices that passed. Where the
host can write to the device's memory meanwhile, it raises the same flag to stop scalar loops that may never end.
"""

from __future__ import annotations

from accel.ir import mentions
from accel.ir.nodes import Nest, Remap, Scatter
from accel.labelled.scalar import Load, Statement, While
from accel.labelled.scalars.turns import most_turns

FEW_TURNS = 1 << 16
"""A loop that counts so many turns ends soon."""


def misleads(nest: Nest) -> bool:
    """Whether a check can fail on whose index something later in the nest relies."""
    return any(isinstance(each, Remap) for each in mentions.statements(nest)) or any(
        isinstance(each, Load) and each.may_fail
        for function in mentions.functions(nest)
        for each in mentions.function_statements(function)
    )


def has_checks(nest: Nest) -> bool:
    """Whether anything in the nest can fail."""
    if any(isinstance(each, Scatter) for each in mentions.statements(nest)) or misleads(nest):
        return True
    return any(state.initial is None and not state.running for state in mentions.states(nest))


def may_not_end(nest: Nest) -> bool:
    """Whether a scalar loop of the nest may go on for ever: the user's own, or one that gets zeros in place of what an earlier
    nest would have made."""
    functions = mentions.functions(nest)
    return any(map(is_open, (each for function in functions for each in mentions.function_statements(function))))


def is_open(statement: Statement) -> bool:
    """Whether it is a loop whose text does not say that it ends soon."""
    if not isinstance(statement, While):
        return False
    turns = most_turns(statement)
    return turns is None or turns > FEW_TURNS
