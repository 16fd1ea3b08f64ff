"""Programs over the vocabulary, each made to need one way to run a nest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import accel as A
from accel.backends.protocol import HostArray
from tests.untyped import accel as U

Results: TypeAlias = "tuple[A.Acc[Any], ...]"
Data: TypeAlias = Callable[[int], tuple[HostArray, ...]]

SIZES = (0, 1, 2, 63, 64, 65, 1000, 4095, 4096, 4097, 10_000)
"""Around the edges of lanes and blocks."""


@dataclass(frozen=True, slots=True)
class Case:
    """A program, data of a size, and the sizes to run at."""

    program: Callable[..., Results]
    data: Data
    sizes: tuple[int, ...] = SIZES


def _generator(size: int) -> np.random.Generator:
    return np.random.default_rng(size)


def floats(size: int) -> tuple[HostArray, ...]:
    return (_generator(size).standard_normal(size).astype(np.float32),)


def doubles(size: int) -> tuple[HostArray, ...]:
    return (_generator(size).standard_normal(size),)


def integers(size: int) -> tuple[HostArray, ...]:
    return (_generator(size).integers(-100, 100, size),)


def matrix(size: int) -> tuple[HostArray, ...]:
    return (_generator(size).standard_normal((-(-size // 37), 37)).astype(np.float32),)


def integer_matrix(size: int) -> tuple[HostArray, ...]:
    return (_generator(size).integers(-100, 100, (-(-size // 37), 37)),)


def long_rows(size: int) -> tuple[HostArray, ...]:
    return (_generator(size).standard_normal((3, size)).astype(np.float32),)


def zeros(extent: int, dtype: type[np.generic]) -> A.Acc[Any]:
    return A.fill(A.index(extent), A.constant(False if dtype is np.bool_ else 0, dtype))


def key(xs: A.Acc[Any]) -> Callable[[Any], Any]:
    """Where element `ix` of integers between -100 and 99 goes: to one of 200 places."""
    return lambda ix: A.just(A.index(xs[ix] + 100))


def as_f32(xs: A.Acc[Any]) -> A.Acc[Any]:
    return A.map(lambda x: A.toFloating(x, np.float32) * 0.1, xs)


def positive(x: Any) -> Any:
    return x > 0


def halving(a: Any, b: Any) -> Any:
    """Neither commutes nor associates."""
    return a * 0.5 + b


def larger(a: Any, b: Any) -> Any:
    """The pair with the larger value, the first of equals."""
    return A.cond(A.fst(a) >= A.fst(b), a, b)


MAPS: dict[str, Case] = {
    "map": Case(lambda xs: (A.map(lambda x: x * 2 + 1, xs),), floats),
    "map_matrix": Case(lambda xs: (A.map(lambda x: x * x, xs),), matrix),
    "transpose": Case(lambda xs: (A.transpose(xs),), matrix),
    "reverse": Case(lambda xs: (A.reverse(xs), A.map(lambda x: -x, xs)), integers),
    "gather": Case(lambda xs: (A.gather(A.map(lambda x: A.mod(x, A.size(xs)), xs), xs),), integers),
    "bools": Case(lambda xs: (A.map(lambda x: (x > 3) | (x < -50), xs), A.map(positive, xs)), integers),
    "scalar_loop": Case(lambda xs: (A.map(lambda x: A.while_(lambda u: u < 999, lambda u: u * 2 + 1, x), xs),),
                        lambda size: (np.abs(integers(size)[0]),)),
    "fold_rows": Case(lambda xs: (A.fold(A.add, 0, xs),), matrix),
    "fold_long_rows": Case(lambda xs: (A.fold(A.add, 0, xs),), long_rows),
    "fold_columns": Case(lambda xs: (A.fold(halving, 1, A.transpose(xs)),), matrix),
    "scan_rows": Case(lambda xs: (A.scanl(A.add, 0, xs),), long_rows),
    "several_per_row": Case(
        lambda xs: (
            A.fold(A.add, 0, xs),
            A.fold(halving, 1, xs),
            A.fold(A.max, -9, xs),
            A.map(lambda x: x + 1, xs),
        ),
        long_rows,
    ),
    "fold_of_rows_indexed": Case(lambda xs: (A.imap(lambda ix, x: x - A.fold1(A.max, xs)[A.unindex(ix)[0]], xs),), matrix),
}  # fmt: skip
"""Outer loops without states."""

FOLDS: dict[str, Case] = {
    "dot_product": Case(lambda xs: (A.fold(A.add, 0, A.zipWith(A.mul, xs, xs)),), floats),
    "f64": Case(lambda xs: (A.fold(A.add, 1, xs),), doubles),
    "in_runs": Case(lambda xs: (A.fold(halving, 2, xs),), floats),
    "in_runs_f64": Case(lambda xs: (A.fold1(halving, xs),), doubles, SIZES[1:]),
    "first_alone": Case(lambda xs: (A.fold1(lambda a, b: a * 0.5, xs),), doubles, SIZES[1:]),
    "exact": Case(lambda xs: (A.fold(A.add, 5, xs), A.fold1(A.max, xs)), integers, SIZES[1:]),
    "several_kinds": Case(
        lambda xs: (
            A.fold(A.add, 0, xs),
            A.fold(A.max, -5, xs),
            A.fold(halving, 0, xs),
            A.fold(A.add, 0, A.map(lambda x: A.toFloating(x, np.float64), xs)),
            A.map(lambda x: x + 1, xs),
        ),
        floats,
    ),
    "pairs": Case(
        lambda xs: (
            *A.unzip(A.fold1(larger, A.zip(xs, A.generate(A.index(A.size(xs)), lambda ix: A.unindex(ix)[0])))),
        ),
        integers,
        SIZES[1:],
    ),
    "all_of_a_matrix": Case(lambda xs: (A.foldAll(A.add, 0, A.map(lambda x: x * 2, xs)),), matrix),
    "bool": Case(lambda xs: (A.fold(lambda a, b: a & b, True, A.map(lambda x: x > -100, xs)),), integers),
}
"""Folds of everything."""

SCANS: dict[str, Case] = {
    "scanl": Case(lambda xs: (A.scanl(A.add, 0, xs),), floats),
    "scanl1": Case(lambda xs: (A.scanl1(halving, xs),), floats),
    "scanr1": Case(lambda xs: (A.scanr1(A.add, xs),), doubles),
    "scanr": Case(lambda xs: (A.scanr(A.add, 3, xs),), integers),
    "scanr_inexact": Case(lambda xs: (A.scanr(A.add, 3, xs),), floats),
    "scanl_total": Case(lambda xs: (*A.scanlTotal(A.mul, 1, xs),), floats),
    "fold_of_scan": Case(lambda xs: (A.fold(A.add, 0, A.scanl1(A.add, xs)), A.fold(A.add, 0, xs)), floats),
    "scan_of_scan": Case(lambda xs: (A.scanl1(A.add, A.scanl1(A.add, A.scanl1(A.max, xs))),), floats),
    "small_integers": Case(lambda xs: (A.scanl(A.add, 0, A.map(lambda x: A.fromIntegral(x, np.int8), xs)),), integers),
    "normalise": Case(
        lambda xs: (
            A.zipWith(lambda x, s: x - s, xs, A.scanl1(A.add, xs)),
            A.map(lambda x: x / A.scanl(A.add, 0, xs)[A.index(A.size(xs))], xs),
        ),
        doubles,
    ),
}
"""States that are read while their loop runs."""

FILTERS: dict[str, Case] = {
    "filter": Case(lambda xs: (*A.filter(positive, xs),), floats),
    "filter_rows": Case(lambda xs: (*A.filter(positive, xs),), integer_matrix),
    "filter_of_scan": Case(lambda xs: (A.filter(positive, A.scanl1(A.add, xs))[0],), integers),
    "scan_of_filter": Case(lambda xs: (A.scanl1(A.add, A.filter(positive, xs)[0]),), floats),
    "fold_of_filter": Case(lambda xs: (A.fold(A.add, 0, A.filter(positive, xs)[0]),), floats),
    "fold_of_filter_exact": Case(lambda xs: (A.fold(A.add, 0, A.filter(positive, xs)[0]),), integers),
    "fold_of_filter_in_runs": Case(lambda xs: (A.fold(halving, 0, A.filter(positive, xs)[0]),), doubles),
    "filter_of_filter": Case(
        lambda xs: (A.filter(lambda x: x < 50, A.filter(positive, xs)[0])[0], A.fold1(A.max, xs)), integers, SIZES[1:]
    ),
}
"""Positions that depend on the data."""

SCATTERS: dict[str, Case] = {
    "histogram": Case(
        lambda xs: (A.permute(A.add, zeros(200, np.int64), key(xs), A.map(lambda _: A.constant(1, np.int64), xs)),),
        integers,
    ),
    "histogram_i32": Case(
        lambda xs: (A.permute(A.add, zeros(200, np.int32), key(xs), A.map(lambda x: A.fromIntegral(x, np.int32), xs)),),
        integers,
    ),
    "histogram_i8": Case(
        lambda xs: (A.permute(A.add, zeros(200, np.int8), key(xs), A.map(lambda x: A.fromIntegral(x, np.int8), xs)),),
        integers,
    ),
    "greatest_f32": Case(lambda xs: (A.permute(A.max, zeros(200, np.float32), key(xs), as_f32(xs)),), integers),
    "sums_f32": Case(lambda xs: (A.permute(A.add, zeros(200, np.float32), key(xs), as_f32(xs)),), integers),
    "last_wins": Case(
        lambda xs: (
            A.permute(
                lambda new, old: new,
                zeros(50, np.int64),
                lambda ix: A.cond(xs[ix] > 0, A.just(A.index(xs[ix] // 2)), A.nothing()),
                xs,
            ),
        ),
        integers,
    ),
    "bools": Case(
        lambda xs: (A.permute(lambda a, b: a | b, zeros(200, np.bool_), key(xs), A.map(lambda x: x > 7, xs)),), integers
    ),
}
"""Updates at computed places."""

CONTROL: dict[str, Case] = {
    "awhile": Case(
        lambda xs: (
            U.awhile(
                lambda ys: U.map(lambda total: total < 1000, U.fold(U.add, 0, U.map(U.abs, ys))),
                lambda ys: U.map(lambda y: y * 2 + 1, ys),
                xs,
            ),
        ),
        integers,
        (1, 2, 65, 1000),
    ),
    "invariants_and_a_guard": Case(
        lambda xs: (
            U.awhile(
                lambda s: U.zipWith(lambda i, total: (i < 4) & (total < 10_000), s[1], U.fold(U.add, 0, s[0])),
                lambda s: (
                    U.zipWith3(
                        lambda a, b, c: a + b - c,
                        s[0],
                        U.scanl1(U.max, xs),
                        U.gather(U.map(lambda x: x + 100, xs), xs),
                    ),
                    U.map(lambda i: i + 1, s[1]),
                ),
                (xs, U.unit(U.constant(0, np.int64))),
            )[0],
        ),
        integers,
        (201, 1000),
    ),
    "acond": Case(
        lambda xs: (
            U.acond(U.the(U.fold(U.add, 0, xs)) > 0, U.map(lambda x: x + 1, xs), U.map(lambda x: x - 1, U.reverse(xs))),
        ),
        integers,
    ),
    "filter_in_a_branch": Case(lambda xs: (U.acond(U.size(xs) > 64, U.filter(positive, xs)[0], xs),), integers),
}
"""Sub-programs."""

ALL = {
    f"{kind}-{name}": case
    for kind, cases in (
        ("map", MAPS),
        ("fold", FOLDS),
        ("scan", SCANS),
        ("filter", FILTERS),
        ("scatter", SCATTERS),
        ("control", CONTROL),
    )
    for name, case in cases.items()
}
