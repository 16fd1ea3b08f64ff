"""Arrays that are put together, and elements that move where a mask says so: against NumPy."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.ast.evaluation import check, values

M = np.arange(12.0).reshape(3, 4)
T = np.arange(24).reshape(2, 3, 4)
V = np.array([3, 1, 4, 1, 5, 9])


@pytest.mark.parametrize(("m", "n"), [(6, 3), (0, 3), (3, 0), (0, 0), (1, 1)])
def test_append_of_vectors(m: int, n: int) -> None:
    check(A.append(A.use(V[:m]), A.use(V[::-1][:n].copy())), np.concatenate([V[:m], V[::-1][:n]]))
    later, _ = A.filter(lambda x: x > 0, A.use(V[:m]))
    check(A.append(later, A.use(V[:n])), np.concatenate([V[:m], V[:n]]))


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_concat_on_every_axis(axis: int) -> None:
    other = T[tuple(slice(0, 1) if k == axis % 3 else slice(None) for k in range(3))] + 100
    check(A.concatOn(axis, A.use(T), A.use(other)), np.concatenate([T, other], axis))


def test_append_of_matrices_and_of_tuples() -> None:
    check(A.append(A.use(M), A.use(M[:, :1].copy())), np.concatenate([M, M[:, :1]], 1))
    check(A.append(A.use(M[:, :0]), A.use(M[:, :0])), M[:, :0])
    first, second = values(A.append(A.zip(A.use(V), A.use(V > 2)), pairs()))
    assert first.tolist() == [*V, 7, 8]
    assert second.tolist() == [*(V > 2), True, False]


def pairs() -> A.Acc[A.Vector[tuple[np.int64, np.bool_]]]:
    return A.use((np.array([7, 8]), np.array([True, False])))


def test_what_does_not_fit() -> None:
    m = A.use(M)
    with pytest.raises(A.AccelShapeError, match=r"append along dimension 1 needs arrays that agree in all others"):
        A.append(m, A.use(M[:2]))
    with pytest.raises(A.AccelTypeError, match="arrays of one element type, got f64 and i64"):
        A.append(A.flatten(m), untyped(A.use(V)))
    with pytest.raises(A.AccelTypeError, match="arrays of one rank, got 2 and 1"):
        A.append(m, untyped(A.flatten(m)))
    with pytest.raises(A.AccelTypeError, match="innermost dimension"):
        A.append(untyped(A.unit(1)), untyped(A.unit(1)))
    with pytest.raises(A.AccelValueError, match="no axis 2"):
        A.concatOn(2, m, m)
    with pytest.raises(A.AccelTypeError, match="takes an Acc"):
        A.concatOn(0, m, untyped(M))
    rows, _ = A.filter(lambda x: x > 1, A.use(V))
    made = A.append(A.replicate((A.length(rows), A.All), A.use(V)), A.use(M.astype(np.int64)))
    with pytest.raises(A.AccelShapeError, match=re.escape("needs arrays of equal shape, got (4,) and (3,)")):
        values(made)


def untyped(value: object) -> Any:
    """What mypy refuses, too."""
    return value


def test_gather_and_scatter_where_a_mask_says_so() -> None:
    places, mask = np.array([2, 9, 0, -1, 2]), np.array([1, 0, 1, 0, 1])
    at, marks, source = A.use(places), A.use(mask), A.use(V)
    defaults = A.fill((5,), -7)
    expected = np.where(mask > 0, V[np.where(mask > 0, places, 0)], -7)
    check(A.gatherIf(at, marks, lambda m: m > 0, defaults, source), expected)
    targets = np.full(4, -7)
    targets[places[mask > 0]] = V[:5][mask > 0]
    check(A.scatterIf(at, marks, lambda m: m > 0, A.fill((4,), -7), A.use(V[:5])), targets)
    square = A.generate((2, 2), lambda ix: A.index(ix[1], ix[0]))
    diagonal = A.generate((2, 2), lambda ix: ix[0] == ix[1])
    kept = A.gatherIf(square, diagonal, lambda m: ~m, A.fill((2, 2), -1.0), A.use(M))
    check(kept, np.array([[-1.0, M[1, 0]], [M[0, 1], -1.0]]))


def test_masked_indices_are_checked_where_they_are_looked_at() -> None:
    at, marks = A.use(np.array([0, 9])), A.use(np.array([True, True]))
    with pytest.raises(A.AccelIndexError, match=re.escape("(9,) is out of bounds")):
        values(A.gatherIf(at, marks, lambda m: m, A.fill((2,), 0), A.use(V)))
    with pytest.raises(A.AccelIndexError, match=re.escape("(9,) is out of bounds")):
        values(A.scatterIf(at, marks, lambda m: m, A.fill((2,), 0), A.use(V[:2])))
    with pytest.raises(A.AccelShapeError, match="scatterIf needs arrays of equal shape"):
        A.scatterIf(at, marks, lambda m: m, A.fill((2,), 0), A.use(V))
    with pytest.raises(A.AccelShapeError, match="gatherIf needs arrays of equal shape"):
        A.gatherIf(at, A.use(V > 2), lambda m: m, A.fill((2,), 0), A.use(V))
    with pytest.raises(A.AccelTypeError, match="gatherIf from an array of rank 2 needs indices of type"):
        A.gatherIf(untyped(at), marks, lambda m: m, A.fill((2,), 0.0), A.use(M))
    with pytest.raises(A.AccelTypeError, match="the predicate of scatterIf must be bool"):
        A.scatterIf(at, marks, untyped(lambda m: 1), A.fill((2,), 0), A.use(V[:2]))


def test_permute_with_drops_and_combines() -> None:

    def over_one(x: A.Exp[np.int64]) -> A.Exp[A.Maybe[tuple[tuple[int], np.int64]]]:
        return A.cond(x > 1, A.just(A.lift(A.index(x % 3), x)), A.nothing())

    counted = A.map(over_one, A.use(V))
    expected = np.zeros(3, np.int64)
    np.add.at(expected, V[V > 1] % 3, V[V > 1])
    check(A.permuteWith(A.add, A.fill((3,), 0), counted), expected)

    def turned(ix: A.Exp[tuple[int, int]], x: A.Exp[np.float64]) -> A.Exp[A.Maybe[tuple[tuple[int, int], np.float64]]]:
        return A.just(A.lift(A.index(ix[1], ix[0]), x))

    square = A.imap(turned, A.use(M))
    check(A.permuteWith(lambda new, old: new, A.fill((4, 3), 0.0), square), M.T)
    with pytest.raises(A.AccelTypeError, match="needs pairs that may be nothing"):
        A.permuteWith(A.add, A.fill((3,), 0), untyped(A.zip(A.use(V), A.use(V))))
    with pytest.raises(A.AccelTypeError, match=r"needs pairs \(i64, i64\)"):
        A.permuteWith(A.add, A.fill((3,), 0), untyped(A.map(A.just, A.use(V))))


@pytest.mark.parametrize("count", range(2, 10))
def test_every_arity(count: int) -> None:
    arrays = [V + k if k % 2 else (V * k).astype(np.float64) for k in range(count)]
    number = "" if count == 2 else str(count)

    def weighed(*xs: Any) -> Any:
        total = A.constant(0.0)
        for k, x in enumerate(xs):
            total = total + A.toFloating(x * (k + 1), np.float64)
        return total

    parts = [A.use(array) for array in arrays]
    expected = sum((k + 1) * array.astype(np.float64) for k, array in enumerate(arrays))
    check(getattr(A, f"zipWith{number}")(named(weighed, count), *parts), expected)

    def placed(ix: Any, *xs: Any) -> Any:
        return weighed(*xs) + A.toFloating(ix[0], np.float64)

    check(getattr(A, f"izipWith{number}")(named(placed, count + 1), *parts), expected + np.arange(6))
    unzipped = getattr(A, f"unzip{number}")(getattr(A, f"zip{number}")(*parts))
    for part, array in zip(unzipped, arrays, strict=True):
        check(part, array)
    shorter = getattr(A, f"zip{number}")(*parts[:-1], A.use(arrays[-1][:2]), trim=True)
    check(getattr(A, f"unzip{number}")(shorter)[0], arrays[0][:2])


def named(function: Any, count: int) -> Any:
    """A function of exactly so many parameters."""
    parameters = ", ".join(f"x{k}" for k in range(count))
    return eval(f"lambda {parameters}: function({parameters})", {"function": function})
