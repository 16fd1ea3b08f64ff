"""A function at the elements of several arrays of one shape: `zipWith` and `izipWith` of 2 to 9 arrays.

In: functions and handles. Out: handles. Raises `AccelTypeError`, `AccelShapeError` and `AccelStagingError` at the user's call.
Their types stand in `arities.pyi`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from accel.ast.combinators.elementwise import map_arrays
from accel.ast.combinators.zips.tuples import trimmed
from accel.ast.handles.acc import Acc


def zipWith(f: Callable[..., object], x1: Acc[Any], x2: Acc[Any], *, trim: bool = False) -> Acc[Any]:
    """`f` at the elements of 2 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

        >>> A.run(A.zipWith(A.add, A.use(np.array([1, 2])), A.use(np.array([10, 20]))))
        array([11, 22])
    """
    return _zip_with("zipWith", f, (x1, x2), trim)


def izipWith(f: Callable[..., object], x1: Acc[Any], x2: Acc[Any], *, trim: bool = False) -> Acc[Any]:
    """`f(index, …)` at the elements of 2 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

        >>> A.run(A.izipWith(lambda ix, x, y: ix[0] * x + y, A.use(np.array([1, 2])), A.use(np.array([10, 20]))))
        array([10, 22])
    """
    return _zip_with("izipWith", f, (x1, x2), trim, indexed=True)


def zipWith3(f: Callable[..., object], x1: Acc[Any], x2: Acc[Any], x3: Acc[Any], *, trim: bool = False) -> Acc[Any]:
    """`f` at the elements of 3 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.zipWith3(lambda a, b, c: a + b + c, xs, xs, xs))
    array([0, 3, 6])
    """
    return _zip_with("zipWith3", f, (x1, x2, x3), trim)


def izipWith3(f: Callable[..., object], x1: Acc[Any], x2: Acc[Any], x3: Acc[Any], *, trim: bool = False) -> Acc[Any]:
    """`f(index, …)` at the elements of 3 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.izipWith3(lambda ix, a, b, c: A.indexHead(ix) * (a + b + c), xs, xs, xs))
    array([ 0,  3, 12])
    """
    return _zip_with("izipWith3", f, (x1, x2, x3), trim, indexed=True)


def zipWith4(
    f: Callable[..., object], x1: Acc[Any], x2: Acc[Any], x3: Acc[Any], x4: Acc[Any], *, trim: bool = False
) -> Acc[Any]:
    """`f` at the elements of 4 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.zipWith4(lambda *ys: sum(ys), xs, xs, xs, xs))
    array([0, 4, 8])
    """
    return _zip_with("zipWith4", f, (x1, x2, x3, x4), trim)


def izipWith4(
    f: Callable[..., object], x1: Acc[Any], x2: Acc[Any], x3: Acc[Any], x4: Acc[Any], *, trim: bool = False
) -> Acc[Any]:
    """`f(index, …)` at the elements of 4 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.izipWith4(lambda ix, *ys: A.indexHead(ix) * sum(ys), xs, xs, xs, xs))
    array([ 0,  4, 16])
    """
    return _zip_with("izipWith4", f, (x1, x2, x3, x4), trim, indexed=True)


def zipWith5(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f` at the elements of 5 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.zipWith5(lambda *ys: sum(ys), xs, xs, xs, xs, xs))
    array([ 0,  5, 10])
    """
    return _zip_with("zipWith5", f, (x1, x2, x3, x4, x5), trim)


def izipWith5(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f(index, …)` at the elements of 5 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.izipWith5(lambda ix, *ys: A.indexHead(ix) * sum(ys), xs, xs, xs, xs, xs))
    array([ 0,  5, 20])
    """
    return _zip_with("izipWith5", f, (x1, x2, x3, x4, x5), trim, indexed=True)


def zipWith6(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f` at the elements of 6 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.zipWith6(lambda *ys: sum(ys), xs, xs, xs, xs, xs, xs))
    array([ 0,  6, 12])
    """
    return _zip_with("zipWith6", f, (x1, x2, x3, x4, x5, x6), trim)


def izipWith6(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f(index, …)` at the elements of 6 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.izipWith6(lambda ix, *ys: A.indexHead(ix) * sum(ys), xs, xs, xs, xs, xs, xs))
    array([ 0,  6, 24])
    """
    return _zip_with("izipWith6", f, (x1, x2, x3, x4, x5, x6), trim, indexed=True)


def zipWith7(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    x7: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f` at the elements of 7 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.zipWith7(lambda *ys: sum(ys), xs, xs, xs, xs, xs, xs, xs))
    array([ 0,  7, 14])
    """
    return _zip_with("zipWith7", f, (x1, x2, x3, x4, x5, x6, x7), trim)


def izipWith7(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    x7: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f(index, …)` at the elements of 7 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.izipWith7(lambda ix, *ys: A.indexHead(ix) * sum(ys), xs, xs, xs, xs, xs, xs, xs))
    array([ 0,  7, 28])
    """
    return _zip_with("izipWith7", f, (x1, x2, x3, x4, x5, x6, x7), trim, indexed=True)


def zipWith8(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    x7: Acc[Any],
    x8: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f` at the elements of 8 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.zipWith8(lambda *ys: sum(ys), xs, xs, xs, xs, xs, xs, xs, xs))
    array([ 0,  8, 16])
    """
    return _zip_with("zipWith8", f, (x1, x2, x3, x4, x5, x6, x7, x8), trim)


def izipWith8(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    x7: Acc[Any],
    x8: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f(index, …)` at the elements of 8 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.izipWith8(lambda ix, *ys: A.indexHead(ix) * sum(ys), xs, xs, xs, xs, xs, xs, xs, xs))
    array([ 0,  8, 32])
    """
    return _zip_with("izipWith8", f, (x1, x2, x3, x4, x5, x6, x7, x8), trim, indexed=True)


def zipWith9(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    x7: Acc[Any],
    x8: Acc[Any],
    x9: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f` at the elements of 9 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.zipWith9(lambda *ys: sum(ys), xs, xs, xs, xs, xs, xs, xs, xs, xs))
    array([ 0,  9, 18])
    """
    return _zip_with("zipWith9", f, (x1, x2, x3, x4, x5, x6, x7, x8, x9), trim)


def izipWith9(
    f: Callable[..., object],
    x1: Acc[Any],
    x2: Acc[Any],
    x3: Acc[Any],
    x4: Acc[Any],
    x5: Acc[Any],
    x6: Acc[Any],
    x7: Acc[Any],
    x8: Acc[Any],
    x9: Acc[Any],
    *,
    trim: bool = False,
) -> Acc[Any]:
    """`f(index, …)` at the elements of 9 arrays of equal shape; with `trim`, of the part that all shapes share.

    Unequal shapes raise `AccelShapeError`.

    >>> xs = A.use(np.arange(3))
    >>> A.run(A.izipWith9(lambda ix, *ys: A.indexHead(ix) * sum(ys), xs, xs, xs, xs, xs, xs, xs, xs, xs))
    array([ 0,  9, 36])
    """
    return _zip_with("izipWith9", f, (x1, x2, x3, x4, x5, x6, x7, x8, x9), trim, indexed=True)


def _zip_with(
    name: str, f: Callable[..., object], xs: Sequence[Acc[Any]], trim: bool, *, indexed: bool = False
) -> Acc[Any]:
    """`f` at the elements of arrays of equal shape; with `trim`, of the part that they share."""
    return map_arrays(name, f, trimmed(name, xs) if trim else xs, indexed=indexed)
