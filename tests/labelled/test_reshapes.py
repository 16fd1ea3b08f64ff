"""Reshapes move up: what is computed for two shapes that must be equal is computed for one."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest

import accel as A
from accel.errors import AccelShapeError
from accel.support.choices import Strategy

Floats: TypeAlias = A.Acc[A.Vector[np.float64]]
BACKENDS = ["interpreter", "llvm", "opencl"]


def minus(left: Floats, right: Floats) -> Floats:
    return A.zipWith(A.sub, left, right)


def from_the_other_end(xs: Floats) -> Floats:
    """`5 - i`-th elements, of an array whose size nobody can tell from that of `drop(5, xs)`."""
    return A.generate((A.length(xs) - 5,), lambda ix: xs[A.length(xs) - 1 - ix[0]])


PROGRAMS: dict[str, tuple[Callable[[Floats], Floats], int]] = {
    "a gather": (lambda xs: minus(A.drop(5, xs), A.take(A.length(xs) - 5, xs)), 1),
    "a gather, on the left": (lambda xs: minus(A.take(A.length(xs) - 5, xs), A.drop(5, xs)), 1),
    "a map of a gather": (lambda xs: minus(A.drop(5, xs), A.map(A.sqrt, A.take(A.length(xs) - 5, xs))), 1),
    "a map with its index": (
        lambda xs: minus(
            A.drop(5, xs), A.imap(lambda ix, x: x * A.cast(ix[0], np.float64), A.take(A.length(xs) - 5, xs))
        ),
        1,
    ),
    "a generate with its index": (lambda xs: minus(A.drop(5, xs), from_the_other_end(xs)), 1),
    "used twice alike": (lambda xs: (lambda ys: minus(minus(A.drop(5, xs), ys), ys))(from_the_other_end(xs)), 1),
    "used otherwise, too": (
        lambda xs: (lambda ys: minus(minus(A.drop(5, xs), ys), A.replicate((A.length(xs) - 5,), A.fold(A.add, 0, ys))))(
            from_the_other_end(xs)
        ),
        2,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_one_loop_serves_both_shapes(name: str) -> None:
    program, loops = PROGRAMS[name]
    xs = A.use(np.arange(12.0))
    assert len(A.explain(program(xs)).clusters) == loops


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_results(name: str, backend: str) -> None:
    run = A.runN(PROGRAMS[name][0], backend=backend)
    for size in (5, 6, 12):
        xs = np.square(np.arange(float(size)))
        before, after, place = xs[: size - 5], xs[5:], np.arange(size - 5)
        ends = xs[::-1][: size - 5]
        expected = {
            "a gather": after - before,
            "a gather, on the left": before - after,
            "a map of a gather": after - np.sqrt(before),
            "a map with its index": after - before * place,
            "a generate with its index": after - ends,
            "used twice alike": after - ends - ends,
            "used otherwise, too": after - ends - ends.sum(),
        }
        np.testing.assert_array_equal(run(xs), expected[name])


@pytest.mark.parametrize("strategy", ["ilp", "none"])
@pytest.mark.parametrize("backend", BACKENDS)
def test_shapes_are_still_compared(backend: str, strategy: Strategy) -> None:
    def program(xs: Floats, ys: Floats) -> Floats:
        return minus(A.drop(5, xs), A.imap(lambda ix, y: y * A.cast(ix[0], np.float64), A.take(A.length(ys) - 4, ys)))

    run = A.runN(program, backend=backend, strategy=strategy)
    assert run(np.arange(8.0), np.arange(7.0)).tolist() == [5.0, 5.0, 3.0]
    with pytest.raises(AccelShapeError, match=r"\(3,\)"):
        run(np.arange(8.0), np.arange(8.0))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("inputs", [0, 1])
def test_a_map_that_looks_at_its_index_keeps_its_shape(inputs: int, backend: str) -> None:
    """In another shape its index would be another one."""

    def program(xs: A.Acc[A.Matrix[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
        def weight(ix: A.Exp[tuple[int, int]]) -> A.Exp[np.float64]:
            return A.cast(ix[0] * 100 + ix[1], np.float64)

        weights = A.imap(lambda ix, x: weight(ix) + x, xs) if inputs else A.generate(xs.shape, weight)
        return A.reshape((A.size(xs),), A.map(lambda x: x * 2.0, weights))

    xs = np.arange(12.0).reshape(3, 4)
    rows, columns = np.indices(xs.shape)
    expected = 2.0 * (rows * 100 + columns + xs * inputs)
    assert A.runN(program, backend=backend)(xs).tolist() == expected.ravel().tolist()
