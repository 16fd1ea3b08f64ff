"""Attention, n bodies, conjugate gradients: against SciPy, NumPy and published figures, on every backend."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse.linalg import cg
from scipy.special import softmax

import accel as A
from accel.support.choices import Strategy
from examples import conjugate_gradients, flashattention, nbody
from examples.flashattention import Floats, Table, by_rows, inputs, naive, tiled
from tests import untyped
from tests.marks import long, slow

BACKENDS = ["interpreter", "llvm", "opencl"]
pytestmark = pytest.mark.solver
Way = Callable[[Table, Table, Table], Table]


@pytest.mark.parametrize(
    ("main", "said"),
    [
        (flashattention.main, "tiled, loops: 24 as written, 7 fused"),
        (nbody.main, "planets: energy -0.169075164, after 1000 steps -0.169087605"),
        (conjugate_gradients.main, "16384 rows, 114638 elements"),
    ],
    ids=["flashattention", "nbody", "conjugate_gradients"],
)
def test_main_runs_and_checks_itself(main: Callable[[], None], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    main()
    found = capsys.readouterr().out
    assert said in found
    assert " fused\n" in found


def small(q: Table, k: Table, v: Table) -> Table:
    """`tiled` by blocks that fit few rows."""
    return tiled(q, k, v, rows=4, columns=2)


def attention(q: Floats, k: Floats, v: Floats) -> Floats:
    """By SciPy's softmax, in double precision."""
    weights = softmax(q.astype(np.float64) @ k.astype(np.float64).T, axis=1)
    return np.asarray(weights @ v).astype(np.float32)


@pytest.mark.parametrize("way", [naive, by_rows, small], ids=lambda way: str(way.__name__))
@pytest.mark.parametrize(
    ("backend", "n", "d"), [*((backend, 8, 4) for backend in BACKENDS), ("llvm", 4, 4), ("llvm", 192, 16)]
)
def test_attention_is_scipy_s(way: Way, backend: str, n: int, d: int) -> None:
    given = inputs(n, d)
    np.testing.assert_allclose(A.runN(way, backend=backend)(*given), attention(*given), rtol=2e-5, atol=2e-6)


@slow
def test_large_scores_need_a_stable_softmax() -> None:
    q, k, v = inputs(16, 4)
    scaled: Floats = q * np.float32(100)
    with np.errstate(over="ignore", invalid="ignore"):
        assert not np.isfinite(A.runN(naive)(scaled, k, v)).all()
    for way in (by_rows, small):
        np.testing.assert_allclose(A.runN(way)(scaled, k, v), attention(scaled, k, v), rtol=2e-3, atol=2e-4)


@long
@pytest.mark.parametrize("strategy", ["none", "greedy"])
def test_attention_is_the_same_with_every_strategy(strategy: Strategy) -> None:
    given = inputs(8, 4)
    for way in (naive, by_rows, small):
        found, expected = (A.runN(way, strategy=name)(*given) for name in (strategy, "ilp"))
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("backend", BACKENDS)
def test_bodies_move_as_numpy_moves_them(backend: str) -> None:
    bodies = nbody.stars(7)
    found = untyped.runN(nbody.simulated, backend=backend)(bodies, np.int64(5), np.float64(0.01))
    expected = nbody.simulated_numpy(bodies, 5, 0.01)
    for part in ("place", "speed"):
        for axis in "xyz":
            np.testing.assert_allclose(found[part][axis], expected[part][axis], rtol=1e-12)


def test_a_step_of_bodies_is_one_loop_that_stores_bodies_only() -> None:
    explanation = A.explain(nbody.simulated)
    assert (explanation.loops, dict(explanation.writes)) == (1, {"n0": 6})


def test_a_body_alone_moves_on() -> None:
    (body,) = untyped.runN(nbody.simulated)(nbody.planets()[1:2], np.int64(10), np.float64(0.01))
    start = nbody.planets()[1]
    assert body["speed"] == start["speed"]
    np.testing.assert_allclose(body["place"]["x"], start["place"]["x"] + 0.1 * start["speed"]["x"], rtol=1e-12)


@pytest.mark.parametrize(("backend", "points"), [("interpreter", 30), ("llvm", 30), ("llvm", 700), ("opencl", 700)])
def test_solutions_are_scipy_s_after_as_many_turns(backend: str, points: int) -> None:
    matrix, b = conjugate_gradients.inputs(points)
    x, turns = untyped.runN(conjugate_gradients.solve, backend=backend)(matrix.indptr, matrix.indices, matrix.data, b)
    steps: list[object] = []
    expected, _ = cg(matrix, b, rtol=conjugate_gradients.TOLERANCE, callback=steps.append)
    np.testing.assert_allclose(x, expected, rtol=1e-5, atol=1e-6)
    assert abs(int(turns) - len(steps)) <= 1


def test_a_sparse_product_is_one_loop() -> None:
    explanation = A.explain(conjugate_gradients.product)
    assert [cluster.operations[-1].split()[0] for cluster in explanation.clusters if len(cluster.operations) > 1] == [
        "foldSegOffsets"
    ]
