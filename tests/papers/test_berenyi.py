"""[Ber]: expressions that its rewrite rules fuse, as the optimal clustering fuses them; results are NumPy's.

A rule of the paper that turns compositions into one higher-order function means one loop without a temporary here. Its
rules that exchange nested functions change the order of loops, which accel's clustering does not: both sides are one loop.
Those are tested in `tests/rearrange`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.support.choices import STRATEGIES, Duplicate, Strategy
from tests import untyped
from tests.marks import one_in
from tests.papers import berenyi_programs as programs
from tests.papers.reading import passes, trees

RANDOM = np.random.default_rng(18)
M, N, W = RANDOM.standard_normal((3, 8)), RANDOM.standard_normal((3, 8)), RANDOM.standard_normal((8, 5))
U, V, X = RANDOM.standard_normal(8), RANDOM.standard_normal(8), RANDOM.standard_normal(3)

DUPLICATES: tuple[Duplicate, ...] = (False, True, "published")


def explained(program: object, duplicate: Duplicate = "published") -> A.Explanation:
    """Equations 1 and 2 need the free rule: what is read by every row is computed there, not stored. Products are operations,
    as the paper writes them."""
    return A.explain(program, duplicate=duplicate, products="rounded")


def test_equation_1_is_one_loop_without_temporaries() -> None:
    """Fused into a minimal modification of the usual formula, as the paper wants: four reads per element.

    By bytes, accel stores v + u, which is less to read for every row than v and u.
    """
    program = programs.eq_1(A.use(M), A.use(N), A.use(V), A.use(U))
    without = A.explain(program, duplicate="published", cost="intermediates")
    assert passes(without) == (1, {"n0*n1": 4}, {"n0": 1})
    default = explained(program)
    assert passes(default) == (2, {"n1": 2, "n0*n1": 3}, {"n1": 1, "n0": 1})
    np.testing.assert_allclose(A.run(program), (M + N) @ (V + U))


def test_equation_2_is_one_loop_without_temporaries() -> None:
    program = programs.eq_2(A.use(M), A.use(W), A.use(V))
    found = explained(program)
    assert found.loops == 1
    assert dict(found.writes) == {"n0*n2": 1}
    np.testing.assert_allclose(A.run(program), (M * V) @ W)


def test_equations_3_to_5_store_y_only() -> None:
    """ "Preferable to fuse all these steps": mean and variance need all of y, so three loops, and y is what they share."""
    weights, batch, beta = RANDOM.standard_normal((4, 8)), RANDOM.standard_normal((6, 8)), RANDOM.standard_normal(4)
    program = programs.eq_3_to_5(A.use(weights), A.use(batch), A.use(beta))
    found = explained(program, False)
    assert found.loops == 3
    assert dict(found.writes) == {"n2*n0": 2, "n0": 2}  # y and the result; two statistics
    y = batch @ weights.T + beta
    z = (y - y.mean(axis=0)) / y.std(axis=0)
    np.testing.assert_allclose(A.run(program), np.maximum(z, 0), rtol=1e-9)


Result: TypeAlias = npt.NDArray[np.float64] | np.float64 | tuple[npt.NDArray[np.float64] | np.float64, ...]
# Equation, program, fusion tree, what NumPy computes.
FUSED: list[tuple[str, object, str, Callable[[], Result]]] = [
    ("18", programs.eq_18(A.use(M), A.use(V)), "Vertical(replicate, Vertical(zipWith, fold))", lambda: M @ V),
    ("25", programs.eq_25(A.use(U), A.use(V)), "Vertical(zipWith, Vertical(map, zipWith3))",
     lambda: U + U * V * (V + 1)),
    ("29", programs.eq_29(A.use(U), A.use(V)), "Vertical(zipWith, fold)", lambda: U @ V),
    ("32", programs.eq_32(A.use(U)), "Horizontal(map, map)", lambda: (U + 1, U * 2)),
    ("34", programs.eq_34(A.use(U)), "Horizontal(fold1, fold1)", lambda: (U.min(), U.max())),
    ("35", programs.eq_35(A.use(X), A.use(V)), "Vertical(replicate, Vertical(replicate, zipWith))",
     lambda: np.outer(X, V)),
    ("40", programs.eq_40(A.use(M), A.use(V)),
     "Vertical(transpose:l, Vertical(replicate:l, Vertical(zipWith:l, Vertical(transpose, fold))))", lambda: M @ V),
    ("47", programs.eq_47(A.use(M), A.use(V), 4),
     "Vertical(replicate, Vertical(zipWith, Vertical(fold, fold)))", lambda: M @ V),
]  # fmt: skip


@pytest.mark.parametrize(
    ("program", "tree", "reference"), [case[1:] for case in FUSED], ids=[case[0] for case in FUSED]
)
def test_rules_that_fuse(program: object, tree: str, reference: Callable[[], Result]) -> None:
    found = explained(program, False)
    assert trees(found) == [tree]
    assert found.proved
    parts = program if isinstance(program, tuple) else (program,)
    expected = reference()
    for part, wanted in zip(parts, expected if isinstance(expected, tuple) else (expected,), strict=True):
        np.testing.assert_allclose(untyped.run(part), wanted)


@pytest.mark.parametrize("strategy", one_in(4, STRATEGIES))
def test_strategies_give_the_same_bits(strategy: Strategy) -> None:
    """Folds of floats, in the order that docs/order.md fixes, whatever is fused."""
    batch = programs.eq_3_to_5(A.use(M), A.use(N), A.use(X))
    product = programs.eq_51(A.use(M), A.use(W))
    for program in (batch, product):
        reference = A.run(program, backend="interpreter").tobytes()
        for duplicate in DUPLICATES:
            assert A.run(program, strategy=strategy, duplicate=duplicate).tobytes() == reference


def test_equation_31_maps_of_different_arrays_stay_apart() -> None:
    """Fusing them would save no access: accel keeps loops without common data apart."""
    found = explained(programs.eq_31(A.use(U), A.use(X)))
    assert trees(found) == ["map", "map"]
    together = explained(programs.eq_31(A.use(U), A.use(V)))
    assert passes(together) == (2, {"n0": 1, "n1": 1}, {"n0": 1, "n1": 1})


def test_equation_42_both_sides_move_the_same_data() -> None:
    """By rows and by columns: one loop each; which loop is outermost is not the clustering's to choose."""
    by_rows, by_columns = programs.eq_18(A.use(M), A.use(V)), programs.eq_40(A.use(M), A.use(V))
    first, second = explained(by_rows, False), explained(by_columns, False)
    assert (first.loops, first.bytes_read, first.bytes_written) == (
        second.loops,
        second.bytes_read,
        second.bytes_written,
    )


def test_equation_51_is_one_loop_nest() -> None:
    """No product is stored; the transposition of B is read in place."""
    program = programs.eq_51(A.use(M), A.use(W))
    found = explained(program)
    assert found.loops == 1
    assert dict(found.writes) == {"n0*n2": 1}
    np.testing.assert_allclose(A.run(program), M @ W)
