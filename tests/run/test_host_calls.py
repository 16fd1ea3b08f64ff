"""`atrace` prints once for each time that it is asked for; `foreign_acc` calls a function, or has its fallback."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.structure import flatten
from tests import untyped

OPENCL = pytest.param("opencl", marks=pytest.mark.opencl)
BACKENDS = ["interpreter", "llvm", OPENCL]
XS = np.arange(4.0)
V = A.Acc[A.Vector[np.float64]]


def doubled(xs: V) -> V:
    return A.map(lambda x: x * 2, xs)


def shared(xs: V) -> Any:
    ys = A.atrace("ys", doubled(xs))
    return A.sum(ys), A.map(lambda y: y + 1, ys)


def nobody_needs_the_elements(xs: V) -> Any:
    return A.map(lambda x: A.constant(1), A.atrace("xs", xs))


def equal_traces(xs: V) -> Any:
    return A.zipWith(A.add, A.atrace("xs", xs), A.atrace("xs", xs))


def state(xs: V) -> Any:
    return A.iterate(2, lambda s: A.atrace("s", doubled(s)), xs)


def state_that_nobody_needs(xs: V) -> Any:
    def step(s: Any) -> Any:
        return A.atrace("s", doubled(s[0])), A.map(lambda k: k + 1, s[1])

    return A.awhile(lambda s: A.map(lambda k: k < 2, s[1]), step, (xs, A.unit(A.constant(0))))[1]


def invariant(xs: V) -> Any:
    return A.iterate(3, lambda s: A.zipWith(A.add, s, A.atrace("xs", doubled(xs))), xs)


def condition(xs: V) -> Any:
    return A.awhile(lambda s: A.map(lambda v: v < 10, A.atrace("c", A.sum(s))), doubled, xs)


def branch(xs: V) -> Any:
    chosen = A.acond(xs[0] > 0, A.atrace("then", xs), A.atrace("else", A.reverse(xs)))
    return A.map(lambda x: A.constant(2), chosen)


def pairs(xs: V) -> Any:
    return A.atrace("pairs", A.zip(xs, A.map(lambda x: x > 1, xs)))


def overwritten(xs: V) -> Any:
    ys = doubled(xs)
    return A.scatter(A.use(np.array([0])), ys, A.use(np.array([9.0]))), A.sum(A.atrace("ys", ys))


PRINTED: list[tuple[Callable[[V], Any], str]] = [
    (shared, "ys: [0. 2. 4. 6.]\n"),
    (nobody_needs_the_elements, "xs: [0. 1. 2. 3.]\n"),
    (equal_traces, "xs: [0. 1. 2. 3.]\n" * 2),
    (state, "s: [0. 2. 4. 6.]\ns: [ 0.  4.  8. 12.]\n"),
    (state_that_nobody_needs, "s: [0. 2. 4. 6.]\ns: [ 0.  4.  8. 12.]\n"),
    (invariant, "xs: [0. 2. 4. 6.]\n"),
    (condition, "c: 6.0\nc: 12.0\n"),
    (branch, "else: [3. 2. 1. 0.]\n"),
    (pairs, "pairs: (array([0., 1., 2., 3.]), array([False, False,  True,  True]))\n"),
    (overwritten, "ys: [0. 2. 4. 6.]\n"),
]


def leaves(result: Any) -> list[Any]:
    return [leaf for part in result for leaf in leaves(part)] if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("program", "printed"), PRINTED)
def test_it_prints_once_and_changes_nothing(
    program: Callable[[V], Any], printed: str, backend: Any, capsys: pytest.CaptureFixture[str], monkeypatch: Any
) -> None:
    function: Any = A.runN(program, backend=backend)
    found = [A.run(program(A.use(XS)), backend=backend)]
    assert capsys.readouterr().err == printed
    for _ in range(3):  # the third call of a function takes another way on llvm
        found.append(function(XS))
        assert capsys.readouterr().err == printed
    monkeypatch.setattr(A, "atrace", lambda message, xs: xs)
    expected = leaves(A.run(program(A.use(XS)), backend="interpreter"))
    for each in found:
        for got, wanted in zip(leaves(each), expected, strict=True):
            np.testing.assert_array_equal(got, wanted)


@pytest.mark.llvm
@pytest.mark.solver
def test_no_setting_changes_what_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    for given in ({"duplicate": True}, {"strategy": "none"}, {"checks": "all"}, {"rearrange": "measure"}):
        for program, printed in PRINTED:
            untyped.run(program(A.use(XS)), **given)
            assert capsys.readouterr().err == printed, (given, program)
    A.explain(shared, XS)
    assert capsys.readouterr().err == ""


def test_records_matrices_and_messages(capsys: pytest.CaptureFixture[str]) -> None:
    points = np.array([(1.5, 2)], [("x", np.float32), ("n", np.int64)])
    untyped.run((A.atrace("points", A.use(points)), A.atrace("matrix", A.use(np.eye(2)))), backend="interpreter")
    printed = capsys.readouterr().err
    assert "points: [(1.5, 2)]\n" in printed
    assert "matrix:\n[[1. 0.]\n [0. 1.]]\n" in printed


def foreign(function: Callable[..., object], fallback: Callable[[V], Any] = doubled) -> Callable[[V], Any]:
    return lambda xs: A.map(lambda x: x + 1, A.foreign_acc(function, fallback, A.map(lambda x: x + 1, xs)))


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_the_function_is_called(backend: Any) -> None:
    calls: list[Any] = []

    def triple(x: Any) -> Any:
        calls.append(x.copy())
        assert not x.flags.writeable
        return x * 3

    function: Any = A.runN(foreign(triple), backend=backend)
    for number in range(1, 4):
        np.testing.assert_array_equal(function(XS), (XS + 1) * 3 + 1)
        assert len(calls) == number
    np.testing.assert_array_equal(calls[0], XS + 1)


@pytest.mark.opencl
def test_the_fallback_is_computed_on_devices() -> None:
    np.testing.assert_array_equal(A.run(foreign(lambda x: x * 3)(A.use(XS)), backend="opencl"), (XS + 1) * 2 + 1)


@pytest.mark.parametrize("backend", BACKENDS)
def test_structures_loops_and_computed_shapes(backend: Any) -> None:
    def both(xs: V, ys: V) -> Any:
        total, (large, pairs) = A.foreign_acc(
            lambda p: (p[0] + p[1], (p[0][p[0] > 1], (p[1], p[0] > 2))),
            lambda p: (
                A.zipWith(A.add, *p),
                (A.filter(lambda x: x > 1, p[0])[0], A.zip(p[1], A.map(lambda x: x > 2, p[0]))),
            ),
            (xs, ys),
        )
        turned = A.iterate(3, lambda s: A.foreign_acc(lambda x: x[::-1], A.reverse, s), total)
        return turned, large, pairs, A.map(lambda x: A.constant(0), A.foreign_acc(sys.exit, lambda v: v, xs))

    found = untyped.runN(both, backend=backend)(XS, XS * 2)
    for got, wanted in zip(leaves(found), [XS[::-1] * 3, XS[2:], XS * 2, XS > 2, np.zeros(4)], strict=True):
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_what_goes_wrong(backend: Any) -> None:
    class Mine(Exception):
        """The user's."""

    def fails(x: Any) -> Any:
        raise Mine("no")

    for function, error, said in (
        (fails, Mine, r"^no(\n|$)"),  # the note says whose it is: tests/ast/test_wrong_functions.py
        (lambda x: x.astype(np.float32), A.AccelTypeError, "gave elements of type f32, its fallback gives f64"),
        (lambda x: x[:2], A.AccelShapeError, r"of shape \(2,\), its fallback gives \(4,\)"),
        (lambda x: x[None], A.AccelShapeError, r"of shape \(1, 4\), its fallback gives \(4,\)"),
        (lambda x: (x, x), A.AccelTypeError, "gave elements of type"),
        (lambda x: None, A.AccelTypeError, "must give arrays of f64"),
    ):
        compiled: Any = A.runN(foreign(function), backend=backend)
        for _ in range(2):
            with pytest.raises(error, match=said) as caught:
                compiled(XS)
            if issubclass(error, A.AccelError):
                assert "test_host_calls.py" in str(caught.value)


@pytest.mark.llvm
def test_functions_may_run_programs_and_threads_may_call_them() -> None:
    inner = A.runN(doubled)
    outer: Any = A.runN(foreign(inner))
    found: list[Any] = []
    workers = [threading.Thread(target=lambda: found.append(outer(XS))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 4
    assert all((each == (XS + 1) * 2 + 1).all() for each in found)


@pytest.mark.llvm
def test_maybes_are_given_as_they_are_taken() -> None:
    """As arrays of whether they are there, and of their values; also within tuples."""
    whole: Any = A.use(np.arange(-2, 3))
    kept: Any = A.map(lambda x: A.cond(x > 0, A.just(x), A.nothing()), whole)
    for program in (kept, A.zip(kept, whole)):
        passed = A.foreign_acc(lambda given: given, lambda given: given, program)
        for found, expected in zip(flatten(untyped.run(passed)), flatten(untyped.run(program)), strict=True):
            assert found.tolist() == expected.tolist()
    negated = A.foreign_acc(lambda given: (~given[0], given[1]), lambda given: given, kept)
    assert untyped.run(A.map(A.isJust, negated)).tolist() == [True, True, True, False, False]


def test_results_are_not_the_functions_own() -> None:
    """What a function keeps, and gives again, is no memory of the program's."""
    kept = np.ones(4)
    program: Any = untyped.runN(lambda xs: A.foreign_acc(lambda x: kept, doubled, xs))
    first = program(XS)
    first[:] = 7
    np.testing.assert_array_equal(program(XS), np.ones(4))


@pytest.mark.llvm
@pytest.mark.solver
def test_other_functions_are_other_programs_and_equal_ones_are_not_compiled_again() -> None:
    def program(function: Callable[..., object]) -> Any:
        return A.run(foreign(function)(A.use(XS)))

    for _ in range(2):
        np.testing.assert_array_equal(program(np.square), (XS + 1) ** 2 + 1)
        np.testing.assert_array_equal(program(np.negative), -(XS + 1) + 1)
    assert A.explain(foreign(np.square), XS).loops == 2  # one before, one behind; none of the fallback
