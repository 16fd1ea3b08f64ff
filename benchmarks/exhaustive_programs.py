"""Thirty small programs with several legal clusterings, for `benchmarks/exhaustive.py`.

Parameters called `xs` and `ys` are vectors of numbers, `xss` is a matrix of them with a thousand columns, and `places` are
indices of the vectors in random order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

import accel as A
from benchmarks.peers.programs.with_accel import hull, meanvar, normalise2, normfilter, rowcol, singleloop, softmax

Column: TypeAlias = A.Acc[A.Vector[np.float32]]
Table: TypeAlias = A.Acc[A.Matrix[np.float32]]
Places: TypeAlias = A.Acc[A.Vector[np.int64]]
Single: TypeAlias = A.Acc[A.Scalar[np.float32]]


def two_maps(xs: Column) -> tuple[Column, Column]:
    """Of one array."""
    return A.map(lambda x: x * 2 + 1, xs), A.map(lambda x: x * x, xs)


def strangers(xs: Column, ys: Column) -> tuple[Column, Column]:
    """Two maps that share nothing but their extent."""
    return A.map(lambda x: x * 2 + 1, xs), A.map(lambda y: y * y, A.take(A.size(xs), ys))


def chain_kept(xs: Column) -> tuple[Column, Column]:
    """Three maps, of which the second is a result, too."""
    second = A.map(lambda x: x * x, A.map(lambda x: x + 1, xs))
    return second, A.map(lambda x: x * 0.5 - 1, second)


def diamond(xs: Column) -> Column:
    """A map, two maps of it, and both together."""
    middle = A.map(lambda x: x * 2 + 1, xs)
    return A.zipWith(A.mul, A.map(lambda m: m - 3, middle), A.map(lambda m: m + 5, middle))


def dear_diamond(xs: Column) -> Column:
    """The same with elementary functions."""
    middle = A.map(lambda x: A.exp(x * 0.1), xs)
    return A.zipWith(A.mul, A.map(A.sin, middle), A.map(A.log, middle))


def two_gathers(places: Places, xs: Column, ys: Column) -> tuple[Column, Column]:
    """At the same random places, of two arrays."""
    return A.gather(places, xs), A.gather(places, ys)


def sum_of_gathers(places: Places, xs: Column, ys: Column) -> Column:
    """Two random reads for each element."""
    return A.zipWith(A.add, A.gather(places, xs), A.gather(places, ys))


def map_then_gather(places: Places, xs: Column) -> Column:
    """[vB24 section 3.3]: the map may be done at the places."""
    return A.gather(places, A.map(lambda x: x * 2 + 1, xs))


def dear_then_gather(places: Places, xs: Column) -> Column:
    """The same with an elementary function."""
    return A.gather(places, A.map(lambda x: A.exp(A.sin(x)), xs))


def gather_then_maps(places: Places, xs: Column) -> tuple[Column, Column]:
    """Two maps of a gather."""
    found = A.gather(places, xs)
    return A.map(lambda x: x * 2 + 1, found), A.map(lambda x: x * x, found)


def gather_then_sum(places: Places, xs: Column) -> tuple[Column, Single]:
    """A gather, and its sum."""
    found = A.gather(places, xs)
    return found, A.fold(A.add, 0, found)


def scan_and_map(xs: Column) -> tuple[Column, Column]:
    """A scan, and the differences from it."""
    running = A.scanl1(A.add, xs)
    return running, A.zipWith(A.sub, running, xs)


def two_scans(xs: Column) -> tuple[Column, Column]:
    """Forward, of one array."""
    return A.scanl1(A.add, xs), A.scanl1(A.max, xs)


def there_and_back(xs: Column) -> Column:
    """A scan from each end, multiplied."""
    return A.zipWith(A.mul, A.scanl1(A.max, xs), A.scanr1(A.max, xs))


def centred(xs: Column) -> tuple[Column, Column]:
    """Minus the mean, which comes first, and its square."""
    total = A.the(A.fold(A.add, 0, xs))
    away = A.map(lambda x: x - total * 1e-6, xs)
    return away, A.map(lambda x: x * x, away)


def standardised(xs: Column) -> Column:
    """By two sums."""
    total = A.the(A.fold(A.add, 0, xs))
    squares = A.the(A.fold(A.add, 0, A.map(lambda x: x * x, xs)))
    return A.map(lambda x: (x - total * 1e-6) * squares, xs)


def extremes(xs: Column) -> tuple[Single, Single]:
    """Least and greatest."""
    return A.fold1(A.min, xs), A.fold1(A.max, xs)


def four_sums(xs: Column, ys: Column) -> tuple[Single, Single, Single]:
    """What a regression needs."""
    products = A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))
    return products, A.fold(A.add, 0, xs), A.fold(A.add, 0, ys)


def filters(xs: Column) -> tuple[Column, Column]:
    """What is positive, and what is not."""
    return A.filter(lambda x: x > 0, xs)[0], A.filter(lambda x: x <= 0, xs)[0]


def filter_and_sum(xs: Column) -> tuple[Column, Single]:
    """A filter, and the sum of all."""
    return A.filter(lambda x: x > 0, xs)[0], A.fold(A.add, 0, xs)


def mapped_filter(xs: Column) -> tuple[Column, Single]:
    """A filter of a map, and the sum of what is left."""
    kept, _ = A.filter(lambda x: x > 1, A.map(lambda x: x * 2 + 1, xs))
    return kept, A.fold(A.add, 0, kept)


def row_sums(xss: Table) -> tuple[Table, Column]:
    """A map of a matrix, and its sums of rows."""
    doubled = A.map(lambda x: x * 2 + 1, xss)
    return doubled, A.fold(A.add, 0, doubled)


def scaled_rows(xss: Table) -> Table:
    """Each row by its sum."""
    _, columns = A.unlift(xss.shape)
    return A.zipWith(lambda x, s: x / s, xss, A.replicate((A.All, columns), A.fold(A.add, 0, xss)))


PROGRAMS: tuple[Callable[..., object], ...] = (
    two_maps, strangers, chain_kept, diamond, dear_diamond, two_gathers, sum_of_gathers, map_then_gather, dear_then_gather,
    gather_then_maps, gather_then_sum, scan_and_map, two_scans, there_and_back, centred, standardised, extremes, four_sums,
    filters, filter_and_sum, mapped_filter, row_sums, scaled_rows, normalise2, normfilter, singleloop, meanvar, hull, rowcol,
    softmax,
)  # fmt: skip
