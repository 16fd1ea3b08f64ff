"""Programs with mistakes give a right value, an error of accel's at their line, or one of Python's own: nothing else."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from random import Random

import pytest

import accel as A
from tests.mistakes import judge, run
from tests.mistakes.change import changed
from tests.mistakes.examples import METHODS, UNASKED, examples
from tests.mistakes.judge import judged

BACKENDS = ("llvm", "interpreter")
QUICK, MANY, STEP = 120, 40, 500


@pytest.mark.parametrize("backend", ["llvm", "opencl"])
def test_a_mistake_ends_well(backend: str) -> None:
    assert list(run.reports(range(QUICK), (backend, "interpreter"))) == []


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(MANY))
def test_a_mistake_ends_well_many_times(chunk: int) -> None:
    first = QUICK + chunk * STEP
    assert list(run.reports(range(first, first + STEP), BACKENDS)) == []


def test_every_public_function_has_mistakes_made_in_its_call() -> None:
    texts = "\n".join(map(ast.unparse, examples().values()))
    functions = [name for name in A.__all__ if inspect.isfunction(getattr(A, name))]
    assert [name for name in functions if f"A.{name}" not in texts and name not in UNASKED] == []
    assert len(METHODS) >= 20


def test_the_same_seed_makes_the_same_program() -> None:
    programs = examples()
    assert changed("map", programs, Random(5)) == changed("map", programs, Random(5))
    assert len({changed("map", programs, Random(seed)) for seed in range(50)}) > 30


def test_programs_are_judged() -> None:
    assert judged("result = A.run(A.sum(A.use(np.arange(3))))", BACKENDS).kind == "value"
    verdict = judged("result = A.run(A.sum(3))", BACKENDS)
    assert (verdict.kind, verdict.hint) == ("error", True)
    assert judged("result = A.sum()", BACKENDS).kind == "error"
    assert judged("result = len()", BACKENDS).kind == "python"
    assert judged("result = A.map(lambda x: x.colour, A.use(np.arange(3)))", BACKENDS).kind == "error"
    assert judged("result = A.map(W.raises, A.use(np.arange(3)))", BACKENDS).kind == "python"


def test_raw_errors_are_complained_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """And so are results that differ, errors without a place, and programs that do not end."""
    program = "result = A.map(lambda x: x, A.use(np.arange(3)))"
    monkeypatch.setattr("accel.ast.combinators.elementwise.trace", None)
    verdict = judged(program, BACKENDS)
    assert verdict.kind == "complaint"
    assert "TypeError: 'NoneType' object is not callable" in verdict.text
    monkeypatch.undo()
    assert judged("raise A.AccelTypeError('nowhere')", BACKENDS).kind == "complaint"
    differs = "result = np.array(1 if A.using(threads=1).__enter__().backend == 'llvm' else 2)"
    assert judged(differs, BACKENDS).kind == "complaint"
    monkeypatch.setattr(judge, "PATIENCE", 0.1)
    assert judged("while True: pass", BACKENDS).kind == "long"


def test_a_process_that_ends_names_its_program(monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-c", "import sys; print('at seed 7: x', file=sys.stderr); sys.exit(-11)"]
    real = subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda _, **given: real(command, **given))
    (report,) = run.reports([7], BACKENDS)
    assert report.startswith("seed 7, the process ended with status")
