"""What a nest checks while it runs, and what it may go on with where a check has failed.

In: a nest. Kernels do not stop at a check that fails: they raise a flag, and a zero stands for the element. So a nest that can
fail in its streams keeps the tests of loads that are proved to be in bounds: the proof is of indices that passed.
"""

from __future__ import annotations

from accel.ir import mentions
from accel.ir.nodes import Nest, Remap, Scatter
from accel.labelled.scalar import Load, While


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
    """Whether zeros in place of what an earlier nest would have made can keep the nest running for ever."""
    functions = mentions.functions(nest)
    return any(isinstance(each, While) for function in functions for each in mentions.function_statements(function))
