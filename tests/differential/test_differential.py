"""500 random programs through every evaluator, llvm and OpenCL; `python -m tests.differential` runs more."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from accel.ast.tree.types import BOOL, I64
from accel.errors import AccelShapeError
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Program as Loops
from accel.ir.text import text
from accel.support.choices import STRATEGIES
from tests.differential import subjects
from tests.differential.check import check, check_opencl, loaded
from tests.differential.data import HostArray, inputs
from tests.differential.elementwise import Input, Map
from tests.differential.generate import generate
from tests.differential.programs import Apply, Function, Literal, Node, Program, Ref, Variable, infer
from tests.differential.reductions import Fold
from tests.differential.shrink import cost, shrink
from tests.differential.source import file_source, function_source
from tests.differential.subjects import (
    attempt,
    case,
    compiled,
    difference,
    failures,
    has_elementary,
    on_llvm,
    reference,
    together,
)
from tests.differential.trials import Trial, every_plan, thorough
from tests.marks import long, one_in, require_device, slow
from tests.opencl.platforms import as_gpu, each_platform

PROGRAMS = 500
CHUNK = 5
CHUNK_OF_GPUS = 3
FEW = 2


def test_everything_agrees_with_the_reference_on_few() -> None:
    complaint = next(check(range(PROGRAMS, PROGRAMS + FEW)), None)
    assert complaint is None, complaint


@slow
@pytest.mark.parametrize("first", one_in(PROGRAMS, range(0, PROGRAMS, CHUNK), kept=20))
def test_everything_agrees_with_the_reference(first: int) -> None:
    complaint = next(check(range(first, first + CHUNK)), None)
    assert complaint is None, complaint


@pytest.mark.opencl
@pytest.mark.parametrize("first", one_in(PROGRAMS, range(0, PROGRAMS, CHUNK), kept=20))
def test_opencl_agrees_with_the_reference(first: int) -> None:
    require_device()
    strategy = STRATEGIES[first // CHUNK % len(STRATEGIES)]
    complaint = next(check_opencl(range(first, first + CHUNK), [strategy]), None)
    assert complaint is None, complaint


@pytest.mark.opencl
@each_platform
@pytest.mark.parametrize("first", one_in(PROGRAMS, range(0, PROGRAMS, CHUNK_OF_GPUS), kept=40))
def test_opencl_as_on_a_gpu_agrees_with_the_reference(
    first: int, platform: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The schedules of GPUs, on a device that need not be one, of each platform that is there."""
    on = as_gpu(platform)
    monkeypatch.setattr(subjects, "on_device", lambda _: on)
    strategy = STRATEGIES[first // CHUNK_OF_GPUS % len(STRATEGIES)]
    complaint = next(check_opencl(range(first, first + CHUNK_OF_GPUS), [strategy], device="gpu"), None)
    assert complaint is None, complaint


@pytest.mark.parametrize("seed", one_in(5, range(1000, 1005)))
def test_all_strategies_agree_on_some(seed: int) -> None:
    """The programs above are planned by three strategies each, these by all."""
    program = generate(seed)
    assert failures(case(loaded(program), inputs(program))) == []


def test_a_small_program_has_many_clusterings_which_agree() -> None:
    assert every_clustering_agrees(2006) > 5


@slow
@pytest.mark.parametrize("seed", [*range(2000, 2020), *(pytest.param(seed, marks=long) for seed in range(2020, 2040))])
def test_all_legal_clusterings_agree(seed: int) -> None:
    every_clustering_agrees(seed)


def every_clustering_agrees(seed: int) -> int:
    """Runs a program under all of its clusterings, if these are few; how many there are."""
    program = generate(seed)
    try:
        given = case(loaded(program), inputs(program))
    except AccelShapeError:  # it has an extent that cannot be
        return 0
    expected = reference(given)
    if given.is_refused or has_elementary(given.program):
        return 0
    found = every_plan(given.program, 60)
    code = {text(each.loops): each for each in found}
    for each in code.values():
        outcome = attempt(partial(compiled, given, each, on_llvm(1)))
        assert difference(expected, outcome) is None, file_source(program) + text(each.loops)
    return len(found)


def test_programs_run_together_beside_arrays_that_nothing_takes() -> None:
    """As a batch on OpenCL has them: no result needs the second argument."""
    refused = np.broadcast_to(np.uint8(0), (1 << 62, 1))
    joined = together([(lambda t0, t1: (t0,), [np.arange(3), refused]), (lambda t0: (t0,), [np.arange(2)])])
    assert [array.tolist() for array in reference(joined).arrays] == [[0, 1, 2], [0, 1]]


def test_every_strategy_has_its_turn() -> None:
    assert {strategy for seed in range(6) for strategy in thorough(seed).ways} == set(STRATEGIES)


@pytest.mark.slow
def test_a_seed_makes_one_program() -> None:
    assert [file_source(generate(seed)) for seed in range(50)] == [file_source(generate(seed)) for seed in range(50)]


@slow
def test_programs_are_varied() -> None:
    """Most programs do something, and empty arrays happen."""
    programs = [generate(seed) for seed in range(400)]
    assert sum(len(program.nodes) > 3 for program in programs) > 200
    assert any(array.size == 0 for program in programs for results in infer(program) for array in results)


def test_shrinking_finds_the_node_that_matters() -> None:
    """A program that fails whenever it folds shrinks to a fold of an input."""
    vector = Node(Input(), numbers=(3, 2, 70), element=(I64,))
    double = Apply("({} + {})", (Variable("p", I64), Literal(I64, 77)), I64)
    mapped = Node(Map(), (Ref(0),), (Function(("p",), (double,)),), (0,), (I64,))
    add = Function(("a", "b"), (Apply("({} + {})", (Variable("a", I64), Variable("b", I64)), I64),))
    fold = Node(Fold("fold"), (Ref(1),), (add, Function((), (Literal(I64, 9),))), (0,))
    last = Apply("({} > {})", (Variable("p", I64), Literal(I64, 5)), BOOL)
    compared = Node(Map(), (Ref(2),), (Function(("p",), (last,)),), (0,), (BOOL,))
    program = Program((vector, mapped, fold, compared), (Ref(3), Ref(1)))

    smallest = shrink(program, lambda candidate: any(node.operation.name == "fold" for node in candidate.nodes))

    assert cost(smallest) < cost(program)
    assert function_source(smallest) == (
        "def program(t0):\n    t1 = A.fold(lambda a, b: a, A.constant(1, np.int64), t0)\n    return (t1,)\n"
    )


@pytest.mark.slow
def test_a_planted_mistake_is_found_and_shrunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """An evaluator that negates every first result of a scan: its complaint is a scan or filter and an input."""

    def wrong(program: Loops, arguments: Sequence[HostArray]) -> list[HostArray]:
        results = interpret(program, arguments)
        if "    scan " in text(program) and results[0].dtype.kind in "if":
            results[0] = np.asarray(0 - results[0])
        return results

    monkeypatch.setattr(subjects, "interpret_loops", wrong)
    seed, complaint = next((seed, found) for seed in range(500) for found in check([seed], lambda _: Trial(("ilp",))))
    assert f"# seed {seed}, shrunk from " in complaint
    assert "# ir ilp: result 0 differs at " in complaint
    assert complaint.count("\n    t") <= 2
    assert re.search(r"A\.\w*scan|A\.filter|A\.expand", complaint)  # which scan positions
