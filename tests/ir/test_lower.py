"""Lowering by hand-made plans: what nests look like, and that they mean what the labelled program means."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from accel.fusedast import interpret as fused_interpreter
from accel.fusedast.build import build
from accel.fusedast.text import text as fused_text
from accel.fusedast.verify import verify as verify_fused
from accel.ilp.problem.clustering import Plan
from accel.ir.lowering.lower import lower
from accel.ir.meaning import interpret as loop_interpreter
from accel.ir.text import text
from accel.ir.verify import verify as verify_loops
from accel.labelled.meaning import interpret as labelled_interpreter
from accel.labelled.meaning.evaluate import HostArray
from accel.labelled.nodes import Program
from tests.fusedast.examples import EXAMPLES, Example


def check(program: Program, planned: Plan, *arguments: HostArray) -> str:
    """All three interpreters give the same bits; gives the fused and the loop program's text."""
    fused = build(program, planned)
    verify_fused(fused)
    loops = lower(fused)
    verify_loops(loops)
    expected = labelled_interpreter.interpret(program, arguments)
    for results in (fused_interpreter.interpret(fused, arguments), loop_interpreter.interpret(loops, arguments)):
        for result, wanted in zip(results, expected, strict=True):
            assert result.dtype == wanted.dtype
            np.testing.assert_array_equal(result, wanted)
    return f"{fused_text(fused)}\n\n{text(loops)}"


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_fused(example: Callable[[], Example], golden: Callable[[str], None]) -> None:
    made = example()
    golden(check(made.program, made.fused, *made.arguments))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_unfused(example: Callable[[], Example]) -> None:
    made = example()
    check(made.program, made.unfused, *made.arguments)
