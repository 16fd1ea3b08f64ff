"""Programs that mypy accepts, with the types that it infers. Each `assert_type` is a case."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar, TypeVarTuple, assert_type

import numpy as np
from numpy import bool_ as b1
from numpy import float32 as f4
from numpy import float64 as f8
from numpy import int32 as i4
from numpy import int64 as i8
from numpy import uint8 as u1
from numpy.typing import NDArray

import accel as A

V4: TypeAlias = np.ndarray[tuple[int], np.dtype[f4]]
S4: TypeAlias = np.ndarray[tuple[()], np.dtype[f4]]
M8: TypeAlias = np.ndarray[tuple[int, int], np.dtype[f8]]
Ix = TypeVarTuple("Ix")
Sh = TypeVar("Sh", bound=tuple[Any, ...])
N = TypeVar("N", bound=np.number[Any])


def dotp(xs: A.Acc[A.Vector[np.float32]], ys: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


def rowsum(xs: A.Acc[A.Array[tuple[*Ix, int], N]]) -> A.Acc[A.Array[tuple[*Ix], N]]:
    return A.fold(A.add, 0, xs)


def square(xs: A.Acc[A.Array[Sh, N]]) -> A.Acc[A.Array[Sh, N]]:
    return A.map(lambda x: A.mul(x, x), xs)


def host(
    v: np.ndarray[tuple[int], np.dtype[f4]], m: np.ndarray[tuple[int, int], np.dtype[f8]], nd: NDArray[f4]
) -> None:
    assert_type(A.use(v), A.Acc[A.Vector[f4]])
    assert_type(A.use(m), A.Acc[A.Matrix[f8]])
    assert_type(A.use(np.float32(1)), A.Acc[A.Scalar[f4]])
    assert_type(A.use((v, v)), A.Acc[A.Vector[tuple[f4, f4]]])
    assert_type(A.use(np.zeros((3, 4), dtype=np.int32)), A.Acc[A.Matrix[i4]])
    dotp(A.use(nd), A.use(nd))


def runs(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], x: np.ndarray[tuple[int], np.dtype[f4]]) -> None:
    assert_type(A.run(v), np.ndarray[tuple[int], np.dtype[f4]])
    assert_type(A.run(A.fold(A.add, 0, m)), np.ndarray[tuple[int], np.dtype[f8]])
    assert_type(A.run(v, backend="interpreter"), np.ndarray[tuple[int], np.dtype[f4]])
    assert_type(A.run((v, m)), tuple[np.ndarray[tuple[int], np.dtype[f4]], np.ndarray[tuple[int, int], np.dtype[f8]]])
    assert_type(A.runN(dotp)(x, x), np.ndarray[tuple[()], np.dtype[f4]])


@A.runN
def decorated(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]]) -> tuple[A.Acc[A.Vector[f4]], A.Acc[A.Vector[f8]]]:
    return v, A.fold(A.add, 0, m)


def calls(x: np.ndarray[tuple[int], np.dtype[f4]], m: np.ndarray[tuple[int, int], np.dtype[f8]]) -> None:
    assert_type(decorated(x, m), tuple[V4, np.ndarray[tuple[int], np.dtype[f8]]])


def results(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], p: A.Acc[A.Vector[tuple[f4, i4]]]) -> None:
    """Tuples of up to five results, and tuples of those; arrays of tuples give tuples of arrays."""
    assert_type(A.run((v, v, m, v, m)), tuple[V4, V4, M8, V4, M8])
    assert_type(A.run((v, (m, v))), tuple[V4, tuple[M8, V4]])
    assert_type(A.run(((v, m), (m, v))), tuple[tuple[V4, M8], tuple[M8, V4]])
    assert_type(A.run(((v, m, v), m, v)), tuple[tuple[V4, M8, V4], M8, V4])
    assert_type(A.run((v,)), tuple[V4])
    assert_type(A.run(p), tuple[V4, np.ndarray[tuple[int], np.dtype[i4]]])
    assert_type(A.run((m, p)), tuple[M8, tuple[V4, np.ndarray[tuple[int], np.dtype[i4]]]])
    annotated: np.ndarray[tuple[int], np.dtype[f4]] = A.run(v)
    any_shape: NDArray[f4] = A.run(v)
    unknown: np.ndarray[tuple[int, int]] = A.run(A.use(Image()))
    assert_type((annotated, any_shape.ndim, unknown.ndim), tuple[V4, int, int])
    assert_type(A.run((v, (m, (v, v)))), Any)
    assert_type(A.run((v, v, v, v, v, v)), Any)


def nests(
    x: A.Acc[A.Vector[f4]], k: A.Acc[A.Scalar[i8]]
) -> tuple[A.Acc[A.Vector[f4]], tuple[A.Acc[A.Scalar[i8]], A.Acc[A.Vector[f4]]]]:
    return A.map(lambda e: e * A.toFloating(A.the(k), np.float32), x), (k, x)


def several(
    x: A.Acc[A.Vector[f4]],
) -> tuple[A.Acc[A.Vector[f4]], A.Acc[A.Scalar[f4]], A.Acc[A.Vector[f4]], A.Acc[A.Scalar[f4]], A.Acc[A.Vector[f4]]]:
    return x, A.sum(x), x, A.sum(x), x


def of_pairs(x: A.Acc[A.Vector[f4]]) -> A.Acc[A.Vector[tuple[f4, f4]]]:
    return A.zip(x, x)


def compiled(x: np.ndarray[tuple[int], np.dtype[f4]], nd: NDArray[f4]) -> None:
    """For an array of rank 0 a NumPy scalar may be passed."""
    assert_type(A.runN(nests)(x, np.int64(3)), tuple[V4, tuple[np.ndarray[tuple[()], np.dtype[i8]], V4]])
    assert_type(A.runN(nests)(nd, np.array(3))[0], V4)
    assert_type(A.runN(several)(x), tuple[V4, S4, V4, S4, V4])
    assert_type(A.runN(of_pairs, backend="interpreter")(x), tuple[V4, V4])


class Image:
    """What shows its memory by NumPy's interface."""

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return np.ones((2, 2), f4).__array_interface__


class Column:
    """What makes an array of itself."""

    def __array__(self, dtype: object = None, copy: object = None) -> NDArray[Any]:
        return np.ones(3, f4)


def foreign() -> None:
    assert_type(A.use(Column()), A.Acc[Any])
    assert_type(A.use(Image()), A.Acc[Any])
    records: NDArray[np.void] = np.zeros(3, [("x", f4), ("y", i4)])
    assert_type(A.use(records), A.Acc[Any])


def folds(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], i: A.Acc[A.Vector[i4]], e: A.Exp[f4]) -> None:
    assert_type(A.fold(A.add, 0, m), A.Acc[A.Vector[f8]])
    assert_type(A.fold(A.add, 0.5, m), A.Acc[A.Vector[f8]])
    assert_type(A.fold(A.add, e, v), A.Acc[A.Scalar[f4]])
    assert_type(A.fold(A.add, np.float32(0), v), A.Acc[A.Scalar[f4]])
    assert_type(A.fold(lambda a, b: a + b, 0, i), A.Acc[A.Scalar[i4]])
    assert_type(A.fold(lambda a, b: A.max(a, b) + 1, 0.5, m), A.Acc[A.Vector[f8]])
    assert_type(A.fold1(A.min, m), A.Acc[A.Vector[f8]])
    assert_type(A.foldAll(A.add, 0, m), A.Acc[A.Scalar[f8]])
    assert_type(A.fold1All(A.mul, m), A.Acc[A.Scalar[f8]])
    assert_type(A.sum(m), A.Acc[A.Vector[f8]])
    assert_type(A.maximum(i), A.Acc[A.Scalar[i4]])
    assert_type(A.all(lambda x: x > 0, m), A.Acc[A.Vector[b1]])
    assert_type(rowsum(rowsum(m)), A.Acc[A.Scalar[f8]])
    assert_type(rowsum(square(m)), A.Acc[A.Vector[f8]])


def pairs(ts: A.Acc[A.Vector[tuple[f4, i4]]]) -> None:
    seed = (np.float32(0), np.int32(0))
    assert_type(A.fold(lambda a, b: A.lift(a[0] + b[0], a[1] + b[1]), seed, ts), A.Acc[A.Scalar[tuple[f4, i4]]])
    assert_type(A.map(lambda p: p[0] + 1.5, ts), A.Acc[A.Vector[f4]])
    assert_type(A.map(lambda p: A.lift(p[1], p[0]), ts), A.Acc[A.Vector[tuple[i4, f4]]])
    assert_type(A.map(lambda p: A.snd(p), ts), A.Acc[A.Vector[i4]])
    assert_type(A.unzip(ts), tuple[A.Acc[A.Vector[f4]], A.Acc[A.Vector[i4]]])
    assert_type(A.unlift(ts[0]), tuple[A.Exp[f4], A.Exp[i4]])


def scans(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]]) -> None:
    assert_type(A.scanl(A.add, 0, v), A.Acc[A.Vector[f4]])
    assert_type(A.scanr1(A.add, m), A.Acc[A.Matrix[f8]])
    assert_type(A.scanlTotal(A.add, 0.5, m), tuple[A.Acc[A.Matrix[f8]], A.Acc[A.Vector[f8]]])
    assert_type(A.prescanl(A.add, 0, m), A.Acc[A.Matrix[f8]])
    assert_type(A.filter(lambda x: x > 0, m), tuple[A.Acc[A.Vector[f8]], A.Acc[A.Vector[i8]]])
    assert_type(A.filter(lambda x: x > 0, v), tuple[A.Acc[A.Vector[f4]], A.Acc[A.Scalar[i8]]])


def elements(v: A.Acc[A.Vector[f4]], i: A.Acc[A.Vector[i4]], m: A.Acc[A.Matrix[f8]]) -> None:
    assert_type(A.map(lambda x: x * 2 + 1, v), A.Acc[A.Vector[f4]])
    assert_type(A.map(A.floor, v), A.Acc[A.Vector[i8]])
    assert_type(A.map(lambda x: A.floor(x, np.int32), v), A.Acc[A.Vector[i4]])
    assert_type(A.map(lambda x: A.toFloating(x, np.float64), i), A.Acc[A.Vector[f8]])
    assert_type(A.map(A.sqrt, m), A.Acc[A.Matrix[f8]])
    assert_type(A.imap(lambda ix, x: ix[1], m), A.Acc[A.Matrix[i8]])
    assert_type(A.zipWith(lambda x, k: x + A.toFloating(k, np.float32), v, i), A.Acc[A.Vector[f4]])
    assert_type(A.zipWith3(lambda x, y, z: A.fma(x, y, z), v, v, v), A.Acc[A.Vector[f4]])
    assert_type(A.zipWith(A.lt, v, v, trim=True), A.Acc[A.Vector[b1]])
    assert_type(A.zip3(v, i, v), A.Acc[A.Vector[tuple[f4, i4, f4]]])
    assert_type(A.indexed(m), A.Acc[A.Matrix[tuple[tuple[int, int], f8]]])
    assert_type(A.map(lambda p: p[0][1], A.indexed(m)), A.Acc[A.Matrix[i8]])


def shapes(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], s: A.Acc[A.Scalar[f4]], n: A.Exp[i8]) -> None:
    assert_type(m.shape, A.Exp[tuple[int, int]])
    assert_type(A.unlift(m.shape), tuple[A.Exp[i8], A.Exp[i8]])
    assert_type(m[0, n], A.Exp[f8])
    assert_type(v[n + 1], A.Exp[f4])
    assert_type(s[()], A.Exp[f4])
    assert_type(m[m.shape], A.Exp[f8])
    assert_type(A.the(s), A.Exp[f4])
    assert_type(A.size(m), A.Exp[i8])
    assert_type(A.indexTail(m.shape), A.Exp[tuple[int]])
    assert_type(A.generate((n, 3), lambda ix: ix[0] + ix[1]), A.Acc[A.Matrix[i8]])
    assert_type(A.generate(m.shape, lambda ix: m[ix]), A.Acc[A.Matrix[f8]])
    assert_type(A.fill((2, 3), 0.0), A.Acc[A.Matrix[f8]])
    assert_type(A.fill((2,), True), A.Acc[A.Vector[b1]])
    assert_type(A.unit(n), A.Acc[A.Scalar[i8]])
    assert_type(A.reshape((n, 4), v), A.Acc[A.Matrix[f4]])
    assert_type(A.flatten(m), A.Acc[A.Vector[f8]])
    assert_type(A.transpose(m), A.Acc[A.Matrix[f8]])
    assert_type(A.take(3, m), A.Acc[A.Matrix[f8]])
    assert_type(A.backpermute((n,), lambda ix: A.index(ix[0], 0), m), A.Acc[A.Vector[f8]])
    assert_type(A.enumFromN((n,), 1), A.Acc[A.Vector[i8]])


def replicates(v: A.Acc[A.Vector[f8]], s: A.Acc[A.Scalar[f8]], m: A.Acc[A.Matrix[f8]], n: A.Exp[i8]) -> None:
    assert_type(A.replicate((n, A.All), v), A.Acc[A.Matrix[f8]])
    assert_type(A.replicate((A.All, 3), v), A.Acc[A.Matrix[f8]])
    assert_type(A.replicate((3,), s), A.Acc[A.Vector[f8]])
    assert_type(A.replicate((A.All, n, A.All), m), A.Acc[A.Array[tuple[int, int, int], f8]])
    assert_type(A.slice(m, (A.All, 3)), A.Acc[A.Vector[f8]])
    assert_type(A.slice(m, (n, 3)), A.Acc[A.Scalar[f8]])


def scatters(d: A.Acc[A.Vector[f8]], m: A.Acc[A.Matrix[f8]], i: A.Acc[A.Vector[i8]]) -> None:
    target = A.permute(A.add, d, lambda ix: A.cond(ix[0] < 3, A.just(A.index(ix[1])), A.nothing()), m)
    assert_type(target, A.Acc[A.Vector[f8]])
    assert_type(A.scatterWith(A.add, d, A.zip(i, d)), A.Acc[A.Vector[f8]])
    assert_type(A.gather(i, d), A.Acc[A.Vector[f8]])
    assert_type(A.gather(A.map(lambda k: A.index(k, k), i), m), A.Acc[A.Vector[f8]])


def loops(v: A.Acc[A.Vector[f4]], k: A.Acc[A.Scalar[i8]], c: A.Exp[b1], m: A.Acc[A.Matrix[f8]]) -> None:
    # A fold inside a lambda, in every callback position: mypy 2.4 crashes on less careful signatures.
    assert_type(
        A.awhile(lambda x: A.map(lambda q: q < 3, A.fold(A.add, 0, x)), lambda x: A.map(lambda q: q + 1, x), v),
        A.Acc[A.Vector[f4]],
    )
    state = A.awhile(
        lambda s: A.map(lambda q: q < 3, s[1]),
        lambda s: (A.map(lambda q: q + A.the(A.fold(A.add, 0, s[0])), s[0]), A.map(lambda q: q + 1, s[1])),
        (v, k),
    )
    assert_type(state, tuple[A.Acc[A.Vector[f4]], A.Acc[A.Scalar[i8]]])
    assert_type(A.acond(c, v, v), A.Acc[A.Vector[f4]])
    assert_type(
        A.acond(A.the(A.fold(A.add, 0, v)) < 3, (v, k), (v, k)), tuple[A.Acc[A.Vector[f4]], A.Acc[A.Scalar[i8]]]
    )
    assert_type(A.iterate(5, lambda x: A.replicate((4,), A.fold(A.add, 0, x)), v), A.Acc[A.Vector[f4]])
    assert_type(A.map(lambda q: q * A.the(A.fold(A.add, 0, v)), v), A.Acc[A.Vector[f4]])
    assert_type(A.generate((4,), lambda ix: A.fold(A.add, 0, m)[ix]), A.Acc[A.Vector[f8]])
    assert_type(A.compute(A.fold(A.add, 0, m)), A.Acc[A.Vector[f8]])


def scalars(x: A.Exp[f4], d: A.Exp[f8], i: A.Exp[i4], n: A.Exp[i8], b: A.Exp[b1], u: A.Exp[u1]) -> None:
    assert_type(x + 1, A.Exp[f4])
    assert_type(2.5 * x, A.Exp[f4])
    assert_type(x / 2, A.Exp[f4])
    assert_type(x + np.float32(1), A.Exp[f4])
    assert_type(np.float32(1) - x, A.Exp[f4])
    assert_type(3 - i, A.Exp[i4])
    assert_type(0 < x, A.Exp[b1])  # noqa: SIM300  # the other way round is a case, too
    assert_type(x == 0, A.Exp[b1])
    assert_type(i ^ 1, A.Exp[i4])
    assert_type(abs(i), A.Exp[i4])
    assert_type(-i // 2, A.Exp[i4])
    assert_type(i % 2 == 0, A.Exp[b1])
    assert_type(b & (x < 3) | ~b, A.Exp[b1])
    assert_type(u & 15, A.Exp[u1])
    assert_type((i << n, 1 << n), tuple[A.Exp[i4], A.Exp[i8]])
    assert_type(d**2, A.Exp[f8])
    assert_type(A.cond(b, x, 0), A.Exp[f4])
    assert_type(A.cond(b, 0.5, x), A.Exp[f4])
    assert_type(A.cond(b, np.uint8(1), np.uint8(0)), A.Exp[u1])
    assert_type(A.cond(b, np.float64(1), np.float64(0)), A.Exp[f8])
    assert_type(A.cond(b, np.uint8(1), 0), A.Exp[u1])
    assert_type(A.select(b, np.uint8(1), np.uint8(0)), A.Exp[u1])
    assert_type(A.select(b, i, i), A.Exp[i4])
    assert_type(A.constant(1, np.uint8), A.Exp[u1])
    assert_type(A.constant(0.5), A.Exp[f8])
    assert_type(A.cast(x, np.int64), A.Exp[i8])
    assert_type(A.max(x, 0), A.Exp[f4])
    assert_type(A.popCount(u), A.Exp[i8])
    assert_type(A.testBit(u, 3), A.Exp[b1])
    assert_type(A.gcd(i, 12), A.Exp[i4])
    assert_type(A.lcm(12, i), A.Exp[i4])
    assert_type(A.xor(1, i), A.Exp[i4])
    assert_type(A.logBase(2, x), A.Exp[f4])
    assert_type(A.atan2(1.0, x), A.Exp[f4])
    assert_type(A.hypot(3, x), A.Exp[f4])
    assert_type(A.fma(2, x, 0.5), A.Exp[f4])
    assert_type(A.while_(lambda s: s < 100, lambda s: s * 2, n), A.Exp[i8])
    assert_type(A.lift(x, A.lift(i, b)), A.Exp[tuple[f4, tuple[i4, b1]]])
    assert_type(A.cond(b, 1.0, 2.0), A.Exp[f8])
    assert_type(A.cond(b, 0, 2), A.Exp[i8])
    assert_type(A.cond(b, True, False), A.Exp[b1])
    assert_type(A.select(b, 0, 0.5), A.Exp[f8])
    # Numbers among the items, or a bare nothing(), leave the tuple unknown; its items are unknown too, not i64.
    assert_type(A.lift(x, 0.5), A.Exp[Any])
    assert_type(A.lift(x, 0.5)[1], A.Exp[Any])
    assert_type(A.lift(x, 0.5)[1] / 2, A.Exp[Any])
    assert_type(~A.lift(x, True)[1], A.Exp[Any])
    assert_type(A.lift(x, 3)[1] & 1, A.Exp[Any])
    assert_type(True | A.lift(x, True)[1], A.Exp[Any])
    assert_type(A.fromMaybe(0, A.just(i)), A.Exp[i4])
    assert_type(A.maybe(x, lambda k: A.toFloating(k, np.float32), A.just(i)), A.Exp[f4])
    assert_type(A.maybe(0.5, lambda k: A.toFloating(k, np.float32), A.just(i)), A.Exp[f4])


def aliases(v: A.Acc[A.Array[A.DIM1, f4]], t: A.Acc[A.Array[A.DIM3, f4]], z: A.Acc[A.Array[A.DIM0, f4]]) -> None:
    assert_type(v, A.Acc[A.Vector[f4]])
    assert_type(A.sum(A.sum(t)), A.Acc[A.Vector[f4]])
    assert_type(A.the(z), A.Exp[f4])
    assert_type(A.slice(t, (A.All, 0, A.All)), A.Acc[A.Array[A.DIM2, f4]])


def normalise(xs: A.Acc[A.Array[tuple[*Ix, int], np.float64]]) -> A.Acc[A.Array[tuple[*Ix, int], np.float64]]:
    total = A.the(A.foldAll(A.add, 0, xs))
    return A.map(lambda x: x / total, xs)


def softmax(xs: A.Acc[A.Matrix[f4]]) -> A.Acc[A.Matrix[f4]]:
    n = A.unlift(xs.shape)[1]
    exps = A.zipWith(lambda x, top: A.exp(x - top), xs, A.replicate((A.All, n), A.maximum(xs)))
    result = A.zipWith(A.div, exps, A.replicate((A.All, n), A.sum(exps)))
    assert_type(result, A.Acc[A.Matrix[f4]])
    return result


def histogram(xs: A.Acc[A.Vector[f4]], bins: int) -> A.Acc[A.Vector[i8]]:
    places = A.map(lambda x: A.lift(A.floor(x * bins), A.constant(1)), xs)
    assert_type(places, A.Acc[A.Vector[tuple[i8, i8]]])
    return A.scatterWith(A.add, A.fill((bins,), 0), places)


def named_functions(xs: A.Acc[A.Vector[f4]]) -> None:
    def halve(x: A.Exp[np.float32]) -> A.Exp[np.float32]:
        return x / 2

    def small(state: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.bool_]]:
        return A.map(lambda t: t < 1, A.sum(state))

    assert_type(A.map(halve, xs), A.Acc[A.Vector[f4]])
    assert_type(A.awhile(small, lambda state: A.map(halve, state), xs), A.Acc[A.Vector[f4]])
    assert_type(A.while_(lambda x: x > 1, halve, xs[0]), A.Exp[f4])


def folds_in_every_callback(xs: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], i: A.Acc[A.Vector[i8]]) -> None:
    assert_type(A.imap(lambda ix, x: x + A.fold(A.add, 0, m)[ix], xs), A.Acc[A.Vector[f4]])
    assert_type(A.zipWith(lambda x, y: x + A.the(A.fold(A.add, 0, xs)) * y, xs, xs), A.Acc[A.Vector[f4]])
    assert_type(A.filter(lambda x: x > A.the(A.fold(A.add, 0, xs)), xs)[0], A.Acc[A.Vector[f4]])
    assert_type(A.fold(lambda a, b: a + b * A.the(A.fold(A.add, 0, xs)), 0, m), A.Acc[A.Vector[f4]])
    assert_type(A.scanl(lambda a, b: a + b * A.the(A.fold(A.add, 0, xs)), 0, m), A.Acc[A.Matrix[f4]])
    assert_type(A.backpermute((3,), lambda ix: A.index(A.the(A.fold(A.add, 0, i)), ix[0]), m), A.Acc[A.Vector[f4]])
    assert_type(A.permute(A.add, xs, lambda ix: A.just(A.index(A.the(A.fold(A.add, 0, i)))), xs), A.Acc[A.Vector[f4]])
    assert_type(A.iterate(3, lambda s: s + A.the(A.fold(A.add, 0, xs)), xs[0]), A.Exp[f4])
    assert_type(A.cond(A.the(A.fold(A.add, 0, i)) > 0, A.the(A.fold(A.add, 0, xs)), 0), A.Exp[f4])


def costs(v: A.Acc[A.Vector[f4]]) -> None:
    def moved(cluster: A.CostCluster) -> int:
        return sum(array.bytes for array in (*cluster.reads, *cluster.writes))

    def levels(cluster: A.CostCluster) -> tuple[int, ...]:
        return len(cluster.reads) - cluster.fused_edges, max(op.elements for op in cluster.operations)

    model = A.CostModel((A.CostLevel(read_bytes=1, write_bytes=2), A.CostLevel(cluster=1)), name="writes cost twice")
    assert_type(A.run(v, cost=model), np.ndarray[tuple[int], np.dtype[f4]])
    assert_type(A.run(v, cost=moved, strategy="branch_and_bound"), np.ndarray[tuple[int], np.dtype[f4]])
    assert_type(A.run(v, cost=levels, strategy="greedy"), np.ndarray[tuple[int], np.dtype[f4]])
    with A.using(cost=lambda cluster: cluster.elements, strategy="unintrusive"):
        assert_type(A.run(v, cost="bytes"), np.ndarray[tuple[int], np.dtype[f4]])


def functions_of_folds(v: A.Acc[A.Vector[f4]], k: A.Acc[A.Vector[i4]], b: A.Acc[A.Vector[b1]]) -> None:
    """What mypy once took for `Acc[Any]`: functions whose type variable has a union as its bound, and overloaded operators."""
    assert_type(A.fold(A.max, 0.5, v), A.Acc[A.Scalar[f4]])
    assert_type(A.fold(A.max, 0, k), A.Acc[A.Scalar[i4]])
    assert_type(A.fold(A.min, True, b), A.Acc[A.Scalar[b1]])
    assert_type(A.scanl(A.max, -np.inf, v), A.Acc[A.Vector[f4]])
    assert_type(A.foldAll(A.xor, 0, k), A.Acc[A.Scalar[i4]])
    assert_type(A.fold(A.xor, False, b), A.Acc[A.Scalar[b1]])
    assert_type(A.fold(lambda p, q: p | q, False, b), A.Acc[A.Scalar[b1]])
    assert_type(A.scanl(lambda p, q: p & q, -1, k), A.Acc[A.Vector[i4]])
    assert_type(A.foldAll(lambda p, q: p ^ ~q, A.constant(False), b), A.Acc[A.Scalar[b1]])


def counting(x: A.Exp[f4], n: A.Exp[np.int64]) -> None:
    assert_type(A.enumFromStepN((3,), x, 0.5), A.Acc[A.Vector[f4]])
    assert_type(A.enumFromStepN((3,), 1, x), A.Acc[A.Vector[f4]])
    assert_type(A.enumFromStepN((3, 4), 0.5, x), A.Acc[A.Matrix[f4]])
    assert_type(A.enumFromStepN((3,), n, 2), A.Acc[A.Vector[np.int64]])
    assert_type(A.enumFromStepN((3,), 1, 0.5), A.Acc[A.Vector[np.float64]])


def typed_scalars(v: A.Acc[A.Vector[f4]], k: A.Acc[A.Vector[i4]]) -> None:
    """NumPy's scalars keep their types; functions take them where operators do."""
    two, three = np.float32(2), np.int32(3)
    assert_type(A.map(lambda e: A.max(A.add(e, two), two), v), A.Acc[A.Vector[f4]])
    assert_type(A.map(lambda e: A.atan2(two, A.hypot(e, two)), v), A.Acc[A.Vector[f4]])
    assert_type(A.map(lambda e: A.fma(e, two, two), v), A.Acc[A.Vector[f4]])
    assert_type(A.map(lambda e: A.xor(three, A.gcd(e, A.mod(e, three))), k), A.Acc[A.Vector[i4]])
    assert_type(A.map(lambda e: A.lt(e, two), v), A.Acc[A.Vector[b1]])
    assert_type(A.map(lambda e: A.maybe(two, lambda q: q, A.just(e)), v), A.Acc[A.Vector[f4]])
    assert_type(A.enumFromStepN((3,), two, two), A.Acc[A.Vector[f4]])
    assert_type(A.enumFromN((3, 4), three), A.Acc[A.Matrix[i4]])


def items_in_lambdas(v: A.Acc[A.Vector[f4]], n: A.Exp[i8]) -> None:
    """mypy looks through lambdas before it knows what they are given: then nothing is wrong with any item."""
    assert_type(A.generate((n, n), lambda ix: v[A.unindex(ix)[0]] + v[A.unindex(ix)[1]]), A.Acc[A.Matrix[f4]])
    assert_type(A.backpermute((2, 3), lambda ix: A.index(A.unindex(ix)[1]), v), A.Acc[A.Matrix[f4]])
    assert_type(A.zipWith(lambda p, q: A.sqrt(A.unlift(p)[1]) + q, A.zip(v, v), v), A.Acc[A.Vector[f4]])
