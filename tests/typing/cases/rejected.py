# ruff: noqa: B015, B018, F841  # expressions that are wrong are what this file is for
"""Programs that mypy rejects: on each line with `E:`, an error whose text holds what follows, and nowhere else."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVarTuple

import numpy as np
from numpy import bool_ as b1
from numpy import float32 as f4
from numpy import float64 as f8
from numpy import int32 as i4
from numpy.typing import NDArray

import accel as A

Ix = TypeVarTuple("Ix")


def ranks(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], s: A.Acc[A.Scalar[f4]]) -> None:
    A.fold(A.add, 0, s)  # E: Argument 3 to "fold" has incompatible type
    A.fold(A.add, 0, v, dims=2)  # E: No overload variant of "fold"
    A.zipWith(A.mul, v, m)  # E: Cannot infer value of type parameter "Sh"
    A.zip(v, m)  # E: Cannot infer value of type parameter "Sh"
    A.sum(s)  # E: Argument 1 to "sum"
    A.scanl1(A.add, s)  # E: Argument 2 to "scanl1"
    A.the(v)  # E: Argument 1 to "the"
    A.transpose(v)  # E: Argument 1 to "transpose"
    A.length(m)  # E: Argument 1 to "length"
    A.take(2, s)  # E: Argument 2 to "take"
    A.gather(m, v)  # E: Argument 1 to "gather" has incompatible type
    m[0]  # E: No overload variant of "__getitem__"
    v[0, 1]  # E: Invalid index type
    v["a"]  # E: No overload variant of "__getitem__"


def elements(v: A.Acc[A.Vector[f4]], w: A.Acc[A.Vector[f8]], i: A.Acc[A.Vector[i4]]) -> None:
    A.zipWith(A.mul, v, i)  # E: Cannot infer value of type parameter "F" of "zipWith"
    A.zipWith(A.mul, v, w)  # E: Cannot infer value of type parameter "F" of "zipWith"
    A.foldSeg(A.add, 0, v, v)  # E: Value of type variable "I" of "foldSeg" cannot be
    A.fold(A.add, 0.5, i)  # E: Value of type variable "Fl" of "fold" cannot be
    A.fold(A.max, 0.5, i)  # E: Value of type variable "Fl" of "fold" cannot be
    A.fold(A.max, np.float32(1), w)  # E: Cannot infer value of type parameter "E" of "fold"
    A.scanl(A.min, "a", v)  # E: Cannot infer value of type parameter "E" of "scanl"
    A.fold(lambda p, q: p, "a", v)  # E: Cannot infer value of type parameter "E" of "fold"
    A.fold(A.lt, 0, v)  # E: Argument 1 to "fold" has incompatible type
    A.map(lambda q: q + "x", v)  # E: Unsupported operand types
    A.map(A.sqrt, i)  # E: Argument 1 to "map" has incompatible type
    A.filter(lambda x: x + 1, v)  # E: Incompatible return value type
    A.all(lambda x: x, v)  # E: Incompatible return value type
    A.map(lambda x: (x, x), v)  # E: Incompatible return value type
    A.map(lambda x: 1, v)  # E: Incompatible return value type
    A.unzip(v)  # E: Argument 1 to "unzip"
    v.nothing  # E: has no attribute "nothing"


def operators(x: A.Exp[f4], d: A.Exp[f8], i: A.Exp[i4], t: A.Exp[tuple[f4, f4]], b: A.Exp[b1]) -> None:
    b + b  # E: Invalid self argument
    t + t  # E: Invalid self argument
    i / i  # E: Invalid self argument
    x + "a"  # E: Unsupported operand types
    i + 0.5  # E: Unsupported operand types
    x + i  # E: Unsupported operand types
    x + d  # E: Unsupported operand types
    A.add(x, np.int32(1))  # E: Cannot infer value of type parameter "N" of "add"
    A.max(i, np.float32(1))  # E: Cannot infer value of type parameter "O" of "max"
    A.lt(t, x)  # E: Cannot infer value of type parameter "Tp" of "lt"
    x & x  # E: Invalid self argument
    ~x  # E: Invalid self argument
    x // i  # E: Unsupported operand types
    i // 0.5  # E: Unsupported operand types
    t < x  # E: Unsupported operand types
    i << 0.5  # E: Unsupported operand types
    t[2]  # E: No overload variant of "__getitem__"
    x[0]  # E: Invalid self argument
    A.cond(x, x, x)  # E: Argument 1 to "cond" has incompatible type
    A.cond(b, x, i)  # E: Argument 3 to "cond" has incompatible type
    A.cast(x, float)  # E: Value of type variable "G" of "cast"
    A.sqrt(i)  # E: Value of type variable "Fl" of "sqrt"
    A.even(x)  # E: Value of type variable "I" of "even"
    A.fst(x)  # E: Argument 1 to "fst"


def shapes(v: A.Acc[A.Vector[f8]], m: A.Acc[A.Matrix[f8]], x: A.Exp[f8]) -> None:
    A.replicate((2, A.All), m)  # E: Argument 2 to "replicate" has incompatible type
    A.replicate((A.All, A.All), v)  # E: Argument 1 to "replicate" has incompatible type
    A.slice(v, (A.All, 3))  # E: Argument 2 to "slice" has incompatible type
    A.slice(m, (A.All, 0.5))  # E: Argument 2 to "slice" has incompatible type
    A.generate((x,), lambda ix: x)  # E: Argument 1 to "generate" has incompatible type
    A.generate(3, lambda ix: x)  # E: No overload variant of "generate"
    A.reshape((2, "a"), v)  # E: Argument 1 to "reshape" has incompatible type
    A.backpermute((2,), lambda ix: A.index(ix[0], 0), v)  # E: Argument


def control(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], c: A.Exp[b1]) -> None:
    A.acond(c, v, m)  # E: Cannot infer value of type parameter
    A.acond(c, (v, m), (m, v))  # E: Cannot infer value of type parameter
    A.acond(c, (v, (v, m)), (v, m))  # E: Argument 2 to "acond" has incompatible type
    A.acond(v, v, v)  # E: No overload variant of "acond"
    A.awhile(lambda x: v, lambda x: x, v)  # E: Incompatible return value type
    A.awhile(lambda x: A.fold(A.add, 0, x), lambda x: x, v)  # E: Incompatible return value type
    A.awhile(lambda x: A.unit(c), lambda x: A.fold(A.add, 0, x), v)  # E: Argument 3 to "fold" has incompatible type


def scatters(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], i: A.Acc[A.Vector[i4]], w: A.Acc[A.Vector[f8]]) -> None:
    A.permute(A.add, m, lambda ix: A.just(ix), v)  # E: Argument 1 to "just" has incompatible type
    A.permute(A.add, v, lambda ix: ix, v)  # E: Incompatible return value type
    A.permute(A.add, v, lambda ix: A.just(ix), w)  # E: Cannot infer value of type parameter "E" of "permute"
    A.scatterWith(A.add, v, v)  # E: Argument 3 to "scatterWith" has incompatible type
    A.scatter(i, v, v)  # E: Argument 1 to "scatter" has incompatible type
    A.gather(i, v)  # E: Argument 1 to "gather" has incompatible type
    A.backpermute((2,), lambda ix: ix, m)  # E: Incompatible return value type


def repeated(x: A.Exp[f4], v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]]) -> None:
    A.while_(lambda y: y, lambda y: y, x)  # E: Incompatible return value type
    A.while_(lambda y: y < 1, lambda y: y < 1, x)  # E: Incompatible return value type
    A.iterate(3, lambda xs: A.fold(A.add, 0, xs), m)  # E: Argument 3 to "fold" has incompatible type
    A.iterate(3, lambda s: (s[1], s[0]), (v, m))  # E: Incompatible return value type
    A.iterate(3.5, lambda xs: xs, m)  # E: Argument 1 to "iterate" has incompatible type "float"
    A.zipWith3(lambda p, q, r: p, v, v, m)  # E: Cannot infer value of type parameter "Sh" of "zipWith3"
    A.scanl(A.lt, 0, v)  # E: Argument 1 to "scanl" has incompatible type
    A.fold1(A.lt, v)  # E: Argument 1 to "fold1" has incompatible type
    A.take(2.5, v)  # E: Argument 1 to "take" has incompatible type
    A.unlift(x)  # E: Argument 1 to "unlift" has incompatible type


def running(v: A.Acc[A.Vector[f4]], x: np.ndarray[tuple[int], np.dtype[f8]]) -> None:
    A.run(v) + "a"  # E: No overload variant of "__add__"
    A.run(x)  # E: No overload variant of "run"
    A.runN(total)(x)  # E: Argument 1
    A.runN(v)  # E: No overload variant of "__call__" of "RunNDecorator"
    A.runN(total, thread=2)  # E: "thread" for overloaded function "__call__"
    A.runN(thread=2)  # E: did you mean "threads"?
    decorated(x)  # E: Argument 1


def total(xs: A.Acc[A.Vector[f4]]) -> A.Acc[A.Scalar[f4]]:
    return A.sum(xs)


@A.runN
def decorated(xs: A.Acc[A.Matrix[f4]]) -> A.Acc[A.Vector[f4]]:
    return A.sum(xs)


def rowsum(xs: A.Acc[A.Array[tuple[*Ix, int], f4]]) -> A.Acc[A.Array[tuple[*Ix], f4]]:
    return A.sum(xs)


def polymorphic(s: A.Acc[A.Scalar[f4]], m: A.Acc[A.Matrix[f8]]) -> A.Acc[A.Matrix[f8]]:
    rowsum(s)  # E: Argument 1 to "rowsum"
    rowsum(m)  # E: Argument 1 to "rowsum"
    return A.sum(m)  # E: Argument 1 to "sum" has incompatible type


def unknown(xs: A.Acc[Any]) -> None:
    A.use([1.0, 2.0])  # E: No overload variant of "use"
    A.use("text")  # E: No overload variant of "use"


def used(
    m: np.ndarray[tuple[int, int], np.dtype[f8]],
    v: np.ndarray[tuple[int], np.dtype[f4]],
    d: A.DeviceArray[tuple[int, int], f8],
    p: np.ndarray[tuple[int], np.dtype[b1]],
) -> None:
    def of_vector(xs: A.Acc[A.Vector[f8]]) -> None: ...

    of_vector(A.use(m))  # E: expected "Acc[Array[tuple[int], float64]]"
    of_vector(A.use(v))  # E: incompatible type "Acc[AnotherRankOrElement]"
    of_vector(A.use(d))  # E: expected "Acc[Array[tuple[int], float64]]"
    of_vector(A.use((v, v)))  # E: expected "Acc[Array[tuple[int], float64]]"
    r: A.Acc[A.Matrix[f4]] = A.use(v)  # E: expression has type "Acc[AnotherRankOrElement]"
    A.take(2, A.use(np.float32(1)))  # E: Argument 2 to "take"
    A.length(A.use(m))  # E: Argument 1 to "length"
    A.and_(A.use(v))  # E: Argument 1 to "and_"
    A.gather(A.use(v), A.use(m))  # E: Argument 2 to "gather"


def annotated(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]], p: A.Acc[A.Vector[tuple[f4, i4]]]) -> None:
    M8: TypeAlias = np.ndarray[tuple[int, int], np.dtype[f8]]
    r1: np.ndarray[tuple[int, int], np.dtype[f8]] = A.run(A.fold(A.add, 0, m))  # E: Argument 3 to "fold"
    r2: np.ndarray[tuple[int, int]] = A.run(A.fold(A.add, 0, m))  # E: Argument 3 to "fold"
    r3: np.ndarray[tuple[int], np.dtype[f8]] = A.run(v)  # E: Argument 1 to "run"
    r4: tuple[M8, M8] = A.run((v, m))  # E: Incompatible types in assignment
    r5: tuple[M8, tuple[M8, M8]] = A.run((m, (m, v)))  # E: Incompatible types in assignment
    r6: M8 = A.run(p)  # E: Argument 1 to "run"
    r7: tuple[M8, M8] = A.run(p)  # E: Incompatible types in assignment
    r8: A.Acc[A.Matrix[f4]] = A.run(v)  # E: Argument 1 to "run"


def elements_that_accel_lacks(
    z: np.ndarray[tuple[int], np.dtype[np.clongdouble]], long: NDArray[np.longdouble], text: NDArray[np.str_]
) -> None:
    A.use(z)  # E: Value of type variable "K" of "use" cannot be "complexfloating
    A.use(text)  # E: Value of type variable "K" of "use" cannot be "str_"
    A.use(long)  # E: Value of type variable "K" of "use" cannot be
    A.use((z, z))  # E: Value of type variable "K1" of "use" cannot be
    A.use(1j)  # E: No overload variant of "use"


def complex_numbers(z: A.Exp[np.complex64], w: A.Exp[np.complex128], x: A.Exp[f4]) -> None:
    z < z  # E: Invalid self argument
    A.imag(A.abs(z))  # E: Argument 1 to "imag"
    z % z  # E: Invalid self argument
    z + w  # E: Unsupported operand types for +
    x + 1j  # E: Unsupported operand types for +
    A.real(x)  # E: Argument 1 to "real"
    A.expm1(z)  # E: Value of type variable "Re" of "expm1" cannot be
    A.mkComplex(x, w)  # E: Argument 2 to "mkComplex"


def halves(h: A.Exp[np.float16], x: A.Exp[f4], k: A.Exp[np.int16]) -> None:
    h + x  # E: Unsupported operand types for +
    h + np.float32(1)  # E: Unsupported operand types for +
    h & k  # E: Unsupported operand types for &
    A.mkComplex(h, h)  # E: Argument 1 to "mkComplex"


def scaled(k: A.Acc[A.Scalar[np.int64]], xs: A.Acc[A.Vector[f4]]) -> A.Acc[A.Vector[f4]]:
    return A.map(lambda x: x * A.toFloating(A.the(k), np.float32), xs)


def scalars_of_other_types(x: np.ndarray[tuple[int], np.dtype[f4]]) -> None:
    f = A.runN(scaled)
    f(np.int32(3), x)  # E: Argument 1
    f(3, x)  # E: No overload variant
    f(np.int64(3), np.float32(1))  # E: Argument 2
    f(np.zeros(3, np.int64), x)  # E: Argument 1


def costs(v: A.Acc[A.Vector[f4]]) -> None:
    A.using(cost="time")  # E: Argument "cost" to "using" has incompatible type "Literal['time']"
    A.using(cost=A.CostLevel(read=1))  # E: Argument "cost" to "using" has incompatible type "CostLevel"
    A.using(cost=lambda cluster: cluster.weight)  # E: "CostCluster" has no attribute "weight"
    A.using(strategy="best")  # E: Argument "strategy" to "using" has incompatible type "Literal['best']"
    A.run(v, cost=lambda cluster: cluster.elements / 2)  # E: Argument "cost" to "run" has incompatible type
    A.CostModel(A.CostLevel(read=1))  # E: Argument 1 to "CostModel" has incompatible type "CostLevel"
    A.CostLevel(reads=1)  # E: Unexpected keyword argument "reads" for "CostLevel"


def products(v: A.Acc[A.Vector[f8]], m: A.Acc[A.Matrix[f8]], n: A.Acc[A.Matrix[f4]], s: A.Acc[A.Scalar[f8]]) -> None:
    A.dot(v, s)  # E: Argument 2 to "dot"
    A.matmul(m, n)  # E: Cannot infer value of type parameter "B" of "matmul"
    A.matmul(s, v)  # E: Argument 1 to "matmul"
    m @ n  # E: Unsupported operand types for @
    A.outer(v, n)  # E: Cannot infer value of type parameter "B"
    A.tensordot(m, n)  # E: Cannot infer value of type parameter "B" of "tensordot"
    A.einsum(m, "ij")  # E: Argument 1 to "einsum"
    A.flatten(0, v)  # E: Argument 2 to "flatten"
    A.subdivide(v, 2, 0)  # E: Argument 1 to "subdivide"
    A.nzip(lambda x: x, v, v)  # E: Argument 1 to "nzip"
    A.nzip(A.add, v, m)  # E: Cannot infer value of type parameter "Sh" of "nzip"
    A.rnz(A.add, A.mul, s, s)  # E: Argument 3 to "rnz"
    A.flip("rows", 1, m)  # E: Argument 1 to "flip"
    A.sum(A.dot(v, v))  # E: Argument 1 to "sum"


def random_numbers(key: A.random.Key, m: A.Acc[A.Matrix[f8]]) -> None:
    A.random.bits(7, (3,))  # E: No overload variant of "bits"
    A.random.uniform(key, (3,), np.int64)  # E: Value of type variable "Fl" of "uniform"
    A.random.integers(key, (3,), 0.5, 2)  # E: No overload variant of "integers"
    A.random.normal(key, 3, f8)  # E: No overload variant of "normal"
    A.zipWith(A.mul, m, A.random.normal(key, (3,), f8))  # E: Cannot infer value of type parameter


def sorts(s: A.Acc[A.Scalar[f4]], v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f8]]) -> None:
    A.sort(s)  # E: Argument 1 to "sort"
    A.topK(0.5, v)  # E: Argument 1 to "topK"
    A.sortBy(v, lambda x: x)  # E: Argument 1 to "sortBy"
    A.searchsorted(m, m)  # E: Argument 1 to "searchsorted"


def names(v: A.Acc[A.Vector[f8]], m: A.Acc[A.Matrix[f8]], w: A.Acc[A.Vector[f4]]) -> None:
    A.append(v, m)  # E: Cannot infer value of type parameter "Ix" of "append"
    A.append(v, w)  # E: Cannot infer value of type parameter "E" of "append"
    A.izipWith(lambda ix, x: x, v, v)  # E: Argument 1 to "izipWith"
    A.zip6(v, v, v, v, v, m)  # E: Cannot infer value of type parameter "Sh" of "zip6"
    A.permuteWith(A.add, v, v)  # E: Argument 3 to "permuteWith"
    A.update(v, slice(0, 1), w)  # E: Cannot infer value of type parameter "E" of "update"
    A.runFold(A.Fold.sum(f4), v)  # E: Cannot infer value of type parameter "F" of "runFold"


def stencils(v: A.Acc[A.Vector[f4]], m: A.Acc[A.Matrix[f4]], x: A.Exp[f8]) -> None:
    A.stencil(lambda n: n(0, 1), A.boundary.clamp, v)  # E: Too many arguments
    A.stencil(lambda n: n(0), A.boundary.clamp, m)  # E: Too few arguments
    A.stencil(lambda n: n(0.5), A.boundary.clamp, v)  # E: expected "int"
    A.stencil(lambda n: n(0), 3, v)  # E: Argument 2 to "stencil"
    A.stencil(lambda n: n(0), A.boundary.constant(x), v)  # E: Cannot infer value of type parameter "E"
    A.stencil2(lambda n, k: n(0), A.boundary.wrap, v, A.boundary.wrap, m)  # E: Cannot infer value of type parameter


class Point(A.Record):
    x: A.Field[f4]
    n: A.Field[np.int64]


class Other(A.Record):
    x: A.Field[f4]


def records(p: A.Exp[Point], q: A.Exp[Other], xs: A.Acc[A.Vector[Point]], d: A.Exp[f8]) -> None:
    Point.y(p)  # E: "type[Point]" has no attribute "y"
    Point.x(q)  # E: Argument 1 to "__call__" of "Read" has incompatible type "Exp[Other]"
    Point.x(xs)  # E: Argument 1 to "__call__" of "Read" has incompatible type "Acc[Array[tuple[int], Point]]"
    Point(Point.x(p), m=3)  # E: Unexpected keyword argument "m" for "Point"
    Point(x=Point.x(p))  # E: Missing positional argument "n" in call to "Point"
    Point(d, 3)  # E: Argument 1 to "Point" has incompatible type "Exp[float64]"
    Point.x(p) + Point.n(p)  # E: Unsupported operand types for +
    A.map(Other.x, xs)  # E: Argument 1 to "map" has incompatible type "Read[Other


def unordered(zs: A.Acc[A.Vector[np.complex64]]) -> None:
    A.maximum(zs)  # E: Value of type variable "Ordered" of "maximum" cannot be "complexfloating[_32Bit, _32Bit]"
    A.minimum(zs)  # E: Value of type variable "Ordered" of "minimum" cannot be
    A.argmax(zs)  # E: Value of type variable "Ordered" of "argmax" cannot be
    A.argmin(zs)  # E: Value of type variable "Ordered" of "argmin" cannot be
    A.sort(zs)  # E: Value of type variable "Ordered" of "sort" cannot be
    A.fold1(A.max, zs)  # E: Argument 1 to "fold1" has incompatible type
    A.sortBy(lambda z: z, zs)  # E: Value of type variable "Ordered" of "sortBy" cannot be
    A.sort(A.map(A.just, zs))  # E: Value of type variable "Ordered" of "sort" cannot be


def bits(v: A.Acc[A.Vector[f4]], h: A.Exp[np.int16]) -> None:
    A.zipWith(A.xor, v, v)  # E: Argument 1 to "zipWith" has incompatible type
    A.bitcast(h, f4)  # E: Argument 1 to "bitcast" has incompatible type
