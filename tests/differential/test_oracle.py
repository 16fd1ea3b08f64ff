"""The second reference, NumPy, sees what the interpreters and the backends share; huge extents, shared memory, guard pages."""

from __future__ import annotations

import ctypes
import faulthandler
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.combinators.host.arrays import use
from accel.ast.tree.types import I8, I64
from accel.labelled.meaning.interpret import interpret
from accel.labelled.nodes import Program as Labelled
from tests.differential import subjects
from tests.differential.check import failing, loaded
from tests.differential.data import HostArray, array, inputs
from tests.differential.elementwise import HOLLOW, LAYOUTS, Input
from tests.differential.generate import generate
from tests.differential.guard import guarded_inputs
from tests.differential.oracle.run import may_fail, outcomes
from tests.differential.oracle.values import Fault
from tests.differential.programs import Node, Program, Ref, extents, infer
from tests.differential.sizes import HUGE, REFUSED
from tests.differential.subjects import Case, case, failures, shared
from tests.differential.trials import EVERYTHING, Trial, thorough
from tests.guard_pages import guarded_copy
from tests.marks import long, slow

ROOT = Path(__file__).parents[2]

# Any: which arrays a program takes and gives is said by its arguments.
Given: TypeAlias = A.Acc[Any]
Results: TypeAlias = tuple[A.Acc[Any], ...]


def agrees(function: Callable[..., Results], *arrays: HostArray, trial: Trial = EVERYTHING) -> list[HostArray]:
    """The results by NumPy, which everything gives."""
    assert failures(replace(case(function, arrays), trial=trial)) == []
    (found, *_) = outcomes(function, arrays)
    assert not isinstance(found, Fault)
    return found


X = np.arange(10)


def test_a_count_that_wraps_is_negative() -> None:
    hollow = np.empty((0, 1 << 47), np.int8)

    def program(t0: Given, t1: Given) -> Results:
        return (A.take(A.length(t0) + (A.unlift(t1.shape)[1] - A.constant(2**47 - 2**63 + 1, np.int64)), t0),)

    assert agrees(program, X, hollow)[0].shape == (0,)


def test_keys_that_have_no_value_are_missed() -> None:
    def program(t0: Given) -> Results:
        return (A.sortBy(lambda p: A.lift(t0[p + 5], p), t0),)

    assert failures(case(program, [X])) == []
    assert all(isinstance(found, Fault) for found in outcomes(program, [X]))


def test_a_mistake_that_all_share_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reference that adds one to everything, where nothing else is compared with it."""

    def program(t0: Given) -> Results:
        return (A.sum(t0), A.map(lambda p: p + 1, t0))

    def wrong(program: Labelled, arguments: Sequence[HostArray]) -> list[HostArray]:
        return [np.asarray(result + 1) for result in interpret(program, arguments)]

    monkeypatch.setattr(subjects, "interpret_labelled", wrong)
    monkeypatch.setattr(subjects, "subjects", lambda given: ())
    (message,) = failures(case(program, [X]))
    assert (
        message == "labelled: result 0 differs at 1 places, first at (): np.int64(46) instead of np.int64(45) by NumPy"
    )


def test_products_that_are_rounded_before_they_are_added() -> None:
    """By NumPy they are, by docs/order.md they are not, and a program that differs in nothing else is right."""
    xs, ys = np.zeros(33), np.ones(33)
    xs[0], xs[32], ys[32] = -(1 + 2.0**-29), 1 + 2.0**-30, 1 + 2.0**-30

    def program(t0: Given, t1: Given) -> Results:
        return (A.dot(t0, t1),)

    (by_numpy,) = agrees(program, xs, ys)
    assert by_numpy == 0
    assert A.run(A.dot(A.use(xs), A.use(ys))) == 2.0**-60


@pytest.mark.parametrize("trial", [Trial(("ilp",)), pytest.param(EVERYTHING, marks=long)], ids=["some", "everything"])
def test_seeds_of_postscans_come_last(trial: Trial) -> None:
    """An inclusive scan without a seed, then the seed and each result; the operator is not associative."""

    def program(t0: Given, t1: Given) -> Results:
        forms = A.postscanl, A.postscanr
        by_segments = A.postscanlSeg, A.postscanrSeg
        plain = [form(lambda a, b: a - b, A.constant(7, np.int64), t0) for form in forms]
        return (*plain, *[form(lambda a, b: a - b, A.constant(7, np.int64), t0, t1) for form in by_segments])

    agrees(program, np.arange(4100) * 3, np.array([3, 0, 4097]), trial=trial)


def test_what_no_result_needs_may_fail() -> None:
    """After the last turn; a seed of no segments; what is certainly not evaluated may not."""

    def last_turn(t0: Given) -> Results:
        def step(turn: object, state: Any) -> Any:
            return state[1], A.map(lambda i: t0[i - 1], state[1])

        return (A.iiterate(A.length(t0), step, (t0, t0))[0],)

    def no_segments(t0: Given) -> Results:
        return (A.prescanlSeg(A.add, t0[-1], t0, A.take(0, t0)),)

    def untaken(t0: Given) -> Results:
        return (A.map(lambda x: A.cond(x >= 0, x, t0[-1]), t0),)

    assert [may_fail(program, [np.zeros(1, int)]) for program in (last_turn, no_segments, untaken)] == [
        True,
        True,
        False,
    ]
    agrees(last_turn, np.zeros(1, int))
    agrees(no_segments, np.zeros(1, int))
    agrees(untaken, np.zeros(1, int))


def test_sums_of_negative_zeros() -> None:
    zeros = np.full(70, -0.0)

    def program(t0: Given) -> Results:
        return (A.fold1(lambda a, b: a + b, t0), A.scanl1(lambda a, b: a + b, t0), A.sum(t0))

    first, scanned, total = agrees(program, zeros)
    assert np.signbit(first)
    assert np.signbit(scanned).all()
    assert not np.signbit(total)


@slow
def test_negative_zeros_and_huge_extents_are_drawn() -> None:
    programs = [generate(seed) for seed in range(300)]
    given = [one for program in programs for one in inputs(program)]
    assert any(one.dtype.kind == "f" and one.size > 1 and np.all((one == 0) & np.signbit(one)) for one in given)
    drawn = {extent for one in given for extent in one.shape}
    assert len(drawn & set(HUGE)) >= 5
    assert drawn & set(REFUSED)
    assert any(one.size > 1 << 30 for one in given)
    assert any(extents(node.functions) for program in programs for node in program.nodes)
    assert any(len(set(program.outputs)) < len(program.outputs) for program in programs)


@pytest.mark.parametrize("extent", REFUSED)
@pytest.mark.parametrize("layout", [0, HOLLOW], ids=["empty", "hollow"])
def test_extents_that_are_too_large_are_refused(extent: int, layout: int) -> None:
    huge = Node(Input(), numbers=(1, layout, *((0, extent) if layout == 0 else (extent, 1))), element=(I8,))
    plain = Node(Input(), numbers=(1, 0, 3), element=(I64,))
    program = Program((plain, huge), (Ref(0),))
    assert infer(program)
    assert failing(program, thorough(0)) == []
    with pytest.raises(A.AccelShapeError):
        use(inputs(program)[1])


def test_shared_memory_is_found() -> None:
    x = np.arange(8)
    assert shared([x, x], []) == "results 0 and 1 share memory"
    assert shared([x[2:]], [np.arange(3), x]) == "result 0 shares memory with an argument"
    assert shared([x, x.copy()], [x.copy()]) is None


@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_results_share_no_memory(backend: str) -> None:
    x = np.arange(5000)
    t = A.use(x)
    y = A.map(lambda p: p + 1, t)
    results = A.run((y, y, t, t, A.reshape((50, 100), y), A.flatten(t), A.unzip(A.zip(y, t))[0]), backend=backend)
    assert shared([np.asarray(result) for result in results], [x]) is None


@long
def test_guarded_programs() -> None:
    """A few programs, their arrays at the end of a page and at the start of one."""
    command = [
        sys.executable,
        "-m",
        "tests.differential",
        "--here",
        "--guard",
        "--opencl",
        "0",
        "--seed",
        "3",
        "--count",
        "4",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_guard_is_noticed(seed: int, layout: int) -> None:
    """What is one byte beyond the end, or before the start, may not be read."""
    program = Program((Node(Input(), numbers=(3, layout, 5, 4), element=(I64,)),), (Ref(0),))
    (guarded,) = guarded_inputs(program, at_end=seed % 2 == 0)
    np.testing.assert_array_equal(guarded, inputs(program)[0])
    low, high = np.lib.array_utils.byte_bounds(guarded)
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        ctypes.string_at(high if seed % 2 == 0 else low - 1, 1)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])


@pytest.mark.slow
def test_a_fault_tells_its_seed() -> None:
    """The process ends, and has said where it was."""
    code = (
        "import ctypes; from tests.differential import campaign;"
        "campaign.check = lambda seeds, trials: ctypes.string_at(1, 1); campaign.work(7, 1, campaign.Options(opencl=0))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode < 0
    assert "at seed 7" in done.stderr
    assert "in work" in done.stderr


def test_guarded_copies_keep_their_layout() -> None:
    for layout in LAYOUTS:
        given = array(I64, 5, layout, (3, 4))
        np.testing.assert_array_equal(given, array(I64, 5, 0, (3, 4)))
        copy = guarded_copy(True, given)
        assert copy.strides == given.strides
        np.testing.assert_array_equal(copy, given)


def test_a_case_holds_what_is_refused() -> None:
    """It is built with extents that `use` takes, and runs with those that were given."""
    huge = np.empty((0, 1 << 50), np.int8)
    given: Case = case(loaded(Program((Node(Input(), numbers=(1, 0, 0, 2), element=(I8,)),), (Ref(0),))), [huge])
    assert given.is_refused
    assert given.arguments[0].shape == (0, 1 << 50)
