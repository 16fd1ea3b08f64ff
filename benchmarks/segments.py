"""Segments, sparse matrices, places of extremes, and sorts beside NumPy, SciPy and a plain fold: `python -m benchmarks.segments
[threads]`.

All of a group run in turn in one process, many times; figures are minima of the time of the calling thread, or with several
threads of the time on the clock.
"""

from __future__ import annotations

import operator
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import accel as A

Host = NDArray[Any]
Vector = A.Acc[A.Vector[Any]]
Matrix = A.Acc[A.Matrix[Any]]
Program = Callable[..., Any]  # Any: of several programs mypy looks for the types for seconds
Call = Callable[[], object]

SEGMENTS = 1_000_000
KINDS: tuple[type, ...] = (np.float32, np.float64, np.int32)
ROWS = (4000, 1000)
SORTED = 10_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """Calls that ran in turn: what they are, and milliseconds of each; ratios are to the last one, the standard."""

    name: str
    times: tuple[tuple[str, float], ...]


def segment_sums(xs: Vector, lengths: Vector) -> Vector:
    """The sum of each segment."""
    return A.foldSeg(A.add, 0, xs, lengths)


def sums_between(xs: Vector, offsets: Vector) -> Vector:
    """The sum of each segment, by offsets."""
    return A.foldSegOffsets(A.add, 0, xs, offsets)


def running_sums(xs: Vector, lengths: Vector) -> Vector:
    """The running sums of each segment."""
    return A.scanl1Seg(A.add, xs, lengths)


def longer_sums(xs: Vector, lengths: Vector) -> Vector:
    """The running sums of each segment, and 0 before them."""
    return A.scanlSeg(A.add, 0, xs, lengths)


def plain_sum(xs: Vector) -> A.Acc[A.Scalar[Any]]:
    """The sum of all elements."""
    return A.fold(A.add, 0, xs)


def plain_running_sums(xs: Vector) -> Vector:
    """The running sums of all elements."""
    return A.scanl1(A.add, xs)


def measured(
    calls: Sequence[tuple[str, Call]], rounds: int, clock: Callable[[], float]
) -> tuple[tuple[str, float], ...]:
    """The least milliseconds of each call, all of them in turn."""
    least = [np.inf] * len(calls)
    for _ in range(rounds):
        for number, (_, call) in enumerate(calls):
            started = clock()
            call()
            least[number] = min(least[number], clock() - started)
    return tuple((name, seconds * 1e3) for (name, _), seconds in zip(calls, least, strict=True))


def segments(threads: int, rounds: int, clock: Callable[[], float]) -> Iterator[Row]:
    """A million segments of 0 to 3 elements, and of one length in which there are long ones, beside the elements alone."""
    random = np.random.default_rng(0)
    lengths = random.integers(0, 4, SEGMENTS)
    mixed = np.where(random.random(SEGMENTS // 10) < 0.01, 500, lengths[: SEGMENTS // 10])
    programs: tuple[Program, ...] = (segment_sums, sums_between, running_sums, plain_sum, plain_running_sums)
    sums, between, running, plain, all_running = (A.runN(each, threads=threads) for each in programs)
    for kind in KINDS:
        for title, counts in (("0-3", lengths), ("0-3, each 100th 500", mixed)):
            offsets = np.cumsum([0, *counts])
            xs: Host = random.integers(0, 100, int(offsets[-1])).astype(kind)
            calls: list[tuple[str, Call]] = [
                ("foldSeg", partial(sums, xs, counts)),
                ("of int32 lengths", partial(sums, xs, counts.astype(np.int32))),
                ("foldSegOffsets", partial(between, xs, offsets)),
                ("np.add.reduceat", partial(np.add.reduceat, xs, np.minimum(offsets[:-1], len(xs) - 1))),
                ("fold", partial(plain, xs)),
            ]
            yield Row(f"segments of {title} {kind.__name__}", measured(calls, rounds, clock))
            scans: list[tuple[str, Call]] = [
                ("scanl1Seg", partial(running, xs, counts)),
                ("scanl1", partial(all_running, xs)),
            ]
            yield Row(f"scans of {title} {kind.__name__}", measured(scans, rounds, clock))


def sums_and_maxima(xs: Vector, lengths: Vector) -> tuple[Vector, Vector]:
    """The sum and the greatest of the squares of each segment."""
    squares = A.map(lambda x: x * x, xs)
    return A.foldSeg(A.add, 0, squares, lengths), A.foldSeg(A.max, 0, squares, lengths)


def greatest_running_sums(xs: Vector, lengths: Vector) -> Vector:
    """The greatest running sum of each segment."""
    return A.foldSeg(A.max, 0, A.scanl1Seg(A.add, xs, lengths), lengths)


def greatest_so_far(xs: Vector, lengths: Vector) -> Vector:
    """The greatest of the running sums up to each element of its segment."""
    return A.scanl1Seg(A.max, A.scanl1Seg(A.add, xs, lengths), lengths)


def sums_times_greatest(xs: Vector, lengths: Vector) -> Vector:
    """The running sum at each element times the greatest element up to there."""
    return A.zipWith(A.mul, A.scanl1Seg(A.add, xs, lengths), A.scanl1Seg(A.max, xs, lengths))


def together(threads: int, rounds: int, clock: Callable[[], float]) -> Iterator[Row]:
    """Folds and scans of the same segments in one loop, beside the same operations in a loop each."""
    random = np.random.default_rng(5)
    programs: tuple[Program, ...] = (
        sums_and_maxima, greatest_running_sums, greatest_so_far, sums_times_greatest,
    )  # fmt: skip
    for title, count, most in (("0-3", SEGMENTS, 4), ("0-199", SEGMENTS // 50, 200), ("0-200,000", 20, 200_000)):
        lengths = random.integers(0, most, count)
        for kind in KINDS:
            xs: Host = random.integers(0, 100, int(lengths.sum())).astype(kind)
            for program in programs:
                calls: list[tuple[str, Call]] = [
                    ("one loop", partial(A.runN(program, threads=threads), xs, lengths)),
                    ("a loop each", partial(A.runN(program, threads=threads, strategy="none"), xs, lengths)),
                ]
                yield Row(f"{program.__name__} of {title} {kind.__name__}", measured(calls, rounds, clock))


def times_vector(offsets: Vector, columns: Vector, values: Vector, xs: Vector) -> Vector:
    """A sparse matrix, compressed by rows, times a vector."""
    asked = A.gather(A.map(lambda column: A.cast(column, np.int64), columns), xs)
    return A.foldSegOffsets(A.add, 0, A.zipWith(A.mul, values, asked), offsets)


def sparse(threads: int, rounds: int, clock: Callable[[], float]) -> Iterator[Row]:
    """Sparse matrices of elements at random times a vector, beside SciPy's product."""
    from scipy.sparse import csr_matrix

    own = A.runN(times_vector, threads=threads)
    for size, each in ((30_000, 3), (16_000, 7), (10_000, 12), (6_000, 20), (2_000, 60)):
        draw = np.random.default_rng(6)
        places = draw.integers(0, size, size * each), draw.integers(0, size, size * each)
        doubles = csr_matrix((draw.random(size * each), places), shape=(size, size))
        for kind in (np.float32, np.float64):
            matrix, xs = doubles.astype(kind), draw.random(size).astype(kind)
            calls: list[tuple[str, Call]] = [
                ("foldSegOffsets of products", partial(own, matrix.indptr, matrix.indices, matrix.data, xs)),
                ("SciPy", partial(operator.matmul, matrix, xs)),
            ]
            yield Row(f"{size:,} rows of {each} times a vector {kind.__name__}", measured(calls, rounds, clock))


def long_segments(threads: int, rounds: int, clock: Callable[[], float]) -> Iterator[Row]:
    """Ten million elements in few segments or many, folded and scanned, beside the elements alone."""
    random = np.random.default_rng(3)
    short = random.integers(0, 4, SEGMENTS // 2)
    cases: dict[str, Host] = {
        "one segment": np.array([SORTED]),
        "1,000 of 10,000": np.full(1000, SORTED // 1000),
        "100,000 of 100": np.full(100_000, SORTED // 100_000),
        "500,000 of 0-3, one of the rest": np.array([*short, SORTED - short.sum()]),
    }
    programs: tuple[Program, ...] = (segment_sums, running_sums, longer_sums, plain_sum, plain_running_sums)
    sums, running, longer, plain, all_running = (A.runN(each, threads=threads) for each in programs)
    xs = random.random(SORTED).astype(np.float32)
    for title, counts in cases.items():
        folds: list[tuple[str, Call]] = [("foldSeg", partial(sums, xs, counts)), ("fold", partial(plain, xs))]
        yield Row(f"{title} float32", measured(folds, rounds, clock))
        scans: list[tuple[str, Call]] = [
            ("scanl1Seg", partial(running, xs, counts)),
            ("scanlSeg", partial(longer, xs, counts)),
            ("scanl1", partial(all_running, xs)),
        ]
        yield Row(f"scans of {title} float32", measured(scans, rounds, clock))


def places(threads: int, rounds: int, clock: Callable[[], float]) -> Iterator[Row]:
    """`argmax` of rows and of one vector."""
    own = A.runN(A.argmax, threads=threads)
    for kind in (np.float32, np.float64, np.int32, np.int8):
        numbers = (np.random.default_rng(1).random(ROWS) * 200 - 100).astype(kind)
        for title, array in (("rows", numbers), ("one vector", numbers.reshape(-1))):
            calls: list[tuple[str, Call]] = [
                ("argmax", partial(own, array)),
                ("np.argmax", partial(np.argmax, array, -1)),
            ]
            yield Row(f"argmax of {title} {kind.__name__}", measured(calls, rounds, clock))


def sorts(threads: int, rounds: int, clock: Callable[[], float]) -> Iterator[Row]:
    """Ten million elements in order, and the greatest ones of them."""
    for kind in (np.int32, np.float32, np.int64):
        numbers = (np.random.default_rng(2).random(SORTED) * 2**31).astype(kind)
        for title, own, other in (
            ("sort", A.runN(A.sort, threads=threads), np.sort),
            ("argsort", A.runN(A.argsort, threads=threads), partial(np.argsort, kind="stable")),
        ):
            calls: list[tuple[str, Call]] = [(title, partial(own, numbers)), (f"np.{title}", partial(other, numbers))]
            yield Row(f"{title} of {kind.__name__}", measured(calls, rounds, clock))
        for count in (10, 1000):
            top = A.runN(partial(_top, count), threads=threads)
            calls = [("topK", partial(top, numbers)), ("np.partition", partial(_partitioned, count, numbers))]
            yield Row(f"topK {count} of {kind.__name__}", measured(calls, rounds, clock))


def _top(count: int, xs: Vector) -> tuple[Vector, Vector]:
    return A.topK(count, xs)


def _partitioned(count: int, xs: Host) -> Host:
    """The greatest elements, in order."""
    return np.sort(np.partition(xs, len(xs) - count)[-count:])[::-1]


def main(arguments: list[str]) -> int:
    """Prints one line for each group."""
    threads = int(arguments[0]) if arguments else 1
    clock = time.thread_time if threads == 1 else time.perf_counter
    for rows, rounds in ((segments, 60), (together, 20), (sparse, 60), (long_segments, 20), (places, 60), (sorts, 5)):
        for row in rows(threads, rounds, clock):
            _, standard = row.times[-1]
            parts = [f"{name} {milliseconds:.2f} ({milliseconds / standard:.2f})" for name, milliseconds in row.times]
            print(f"{row.name:44}{'; '.join(parts)}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
