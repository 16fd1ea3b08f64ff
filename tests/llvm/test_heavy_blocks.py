"""Heavy blocks of conditionals, which vectors leave out that need them in no lane: results and errors as element by element."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.emit import functions
from tests.llvm.processors import compile_again, compiled_texts

pytestmark = [pytest.mark.llvm, pytest.mark.solver]

Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.floating[Any]]]
Vector: TypeAlias = A.Acc[A.Vector[Any]]

RANDOM = np.random.default_rng(1402002)
SHARES = (0.0, 0.004, 0.1, 0.5, 1.0)
LENGTHS = (0, 1, 7, 8, 9, 63, 64, 65, 1000)


def chosen(us: Vector, xs: Vector, at: A.Acc[A.Vector[np.int64]], share: A.Acc[A.Scalar[Any]]) -> Vector:
    """Some elements are made of others, by divisions."""
    return A.zipWith(lambda u, i: A.cond(u < A.the(share), xs[i] / (xs[i + 1] + 1) / (1 + u), u), us, at)


def nested(us: Vector, xs: Vector, at: A.Acc[A.Vector[np.int64]], share: A.Acc[A.Scalar[Any]]) -> Vector:
    """A conditional within one, both sides of which are heavy, in a loop whose lanes end apart."""

    def step(s: Any, u: Any, i: Any) -> Any:
        inner = A.cond(s[1] > u, xs[i] / (s[1] + 1) / (u + 2), xs[i + 1] / (s[1] + 3) / (u + 1))
        return A.lift(s[0] + 1, A.cond(u * 4 < s[0], inner / (inner + 1), s[1] / (2 + A.the(share))))

    def element(u: Any, i: Any) -> Any:
        return A.while_(lambda s: s[0] < u * 9, lambda s: step(s, u, i), A.lift(u - u, u))[1]

    return A.zipWith(element, us, at)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("program", [chosen, nested])
def test_any_share_of_lanes(kind: Any, program: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With blocks that are always left out where they may be, and with blocks that never are."""
    runs = []
    for heavy in (0, 1 << 40):
        monkeypatch.setattr(functions, "WORTH_A_BRANCH", heavy)
        compile_again(monkeypatch)
        runs.append(A.runN(program))
        runs[-1](np.ones(1, kind), np.ones(2, kind), np.zeros(1, np.int64), np.ones((), kind))
    for length in LENGTHS:
        us, xs = RANDOM.random(length).astype(kind), RANDOM.random(length + 1).astype(kind)
        us[length // 2 : length // 2 + 1] = np.nan
        at = RANDOM.permutation(length).astype(np.int64)
        for share in SHARES:
            given = us, xs, at, np.array(share, kind)
            found = [run(*given) for run in runs]
            assert found[0].tobytes() == found[1].tobytes()
            if program is chosen:
                with np.errstate(invalid="ignore"):
                    wanted = np.where(us < given[3], xs[at] / (xs[at + 1] + 1) / (1 + us), us)
                np.testing.assert_allclose(found[0], wanted, rtol=1e-5)


def test_folds_of_what_is_made_in_few_lanes() -> None:
    """As of the edges of polygons that are crossed."""

    def crossings(xs: A.Acc[A.Vector[np.float64]], ys: A.Acc[A.Vector[np.float64]]) -> Any:
        def crossed(ix: Any) -> Any:
            i, j = A.unindex(ix)
            x, y, z = xs[i], ys[j], ys[j + 1]
            return A.xor(y > x, z > x) & (x < (z - y) * (x - y) / (z + y) / (x + 2))

        return A.fold(A.xor, False, A.generate((A.length(xs), A.length(ys) - 1), crossed))

    xs, ys = RANDOM.random(90), RANDOM.random(203) * 1.3
    y, z, x = ys[:-1], ys[1:], xs[:, None]
    wanted = (((y > x) != (z > x)) & (x < (z - y) * (x - y) / (z + y) / (x + 2))).sum(1) % 2 == 1
    np.testing.assert_array_equal(A.runN(crossings)(xs, ys), wanted)


def test_an_index_out_of_bounds_is_an_error_where_a_lane_needs_it() -> None:
    us, xs = RANDOM.random(100), RANDOM.random(10)
    at = np.zeros(100, np.int64)
    at[77] = 9
    run = A.runN(chosen)
    us[77] = 2.0
    assert run(us, xs, at, np.array(0.5))[77] == 2.0
    us[77] = 0.25
    with pytest.raises(A.AccelIndexError, match="10"):
        run(us, xs, at, np.array(0.5))


def test_what_no_lane_needs_is_behind_a_branch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The text asks whether a lane needs a block more often than where no block is heavy."""
    texts = compiled_texts(monkeypatch)
    asked = []
    for heavy in (functions.WORTH_A_BRANCH, 10**9):
        monkeypatch.setattr(functions, "WORTH_A_BRANCH", heavy)
        compile_again(monkeypatch)
        texts.clear()
        us = RANDOM.random(100)
        A.runN(chosen, threads=1)(us, np.append(us, 0), np.arange(100), np.array(0.125))
        asked.append("\n".join(texts).count("@llvm.vector.reduce.or."))
    assert asked[0] > asked[1]
