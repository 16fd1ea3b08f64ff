"""How well the model of `A.rearrangements` knows orders of loops: `python -m benchmarks.rearrange_model [--size 256]`.

For each of twelve nests: all orders of its loops, without blocks and with each axis cut once into blocks of 16 or 64, timed
once on one thread, the best ten and the model's first ten three times. Printed is what the order that the model ranks first
takes over the best one, the correlation of ranks, and what accel's own nest takes over the best order.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import accel as A
from benchmarks.rearrange import in_turn, spearman

Handle: TypeAlias = Any  # of every rank and dtype

BLOCKS = (16, 64)

AGAIN = 10
"""How many of the best are timed again."""


@dataclass(frozen=True, slots=True)
class Nest:
    """A program of one nest, its arrays, and the letters of its loops."""

    name: str
    function: Callable[..., Handle]
    arguments: Sequence[np.ndarray[Any, Any]]
    axes: str


@dataclass(frozen=True, slots=True)
class Found:
    """How many orders there are; what the model's first takes over the best; of ranks; what accel takes over the best."""

    orders: int
    chosen: float
    correlation: float
    own: float


def pairs(function: Callable[[Handle, Handle], Handle], x: Handle, y: Handle) -> Handle:
    """The function of x[i, k] and y[j, k] at [i, j, k]."""
    (rows, _), (columns, _) = A.unlift(x.shape), A.unlift(y.shape)
    return A.zipWith(function, A.replicate((A.All, columns, A.All), x), A.replicate((rows, A.All, A.All), y))


def nests(size: int) -> Iterator[Nest]:
    """All twelve."""
    random = np.random.default_rng(18)

    def numbers(*shape: int, dtype: str = "f8") -> np.ndarray[Any, Any]:
        return random.random(shape).astype(dtype)

    a, b, v = numbers(size, size), numbers(size, size), numbers(size)
    turn = A.transpose
    yield Nest("product", A.matmul, (a, b), "ijk")
    yield Nest("product f32", A.matmul, (a.astype("f4"), b.astype("f4")), "ijk")
    yield Nest("A^T B", lambda x, y: A.matmul(turn(x), y), (a, b), "ijk")
    yield Nest("A B^T", lambda x, y: A.matmul(x, turn(y)), (a, b), "ijk")
    yield Nest("A^T B^T", lambda x, y: A.matmul(turn(x), turn(y)), (a, b), "ijk")
    yield Nest("weighted", lambda x, y, g: A.einsum("ij,jk,j->ik", x, y, g), (a, b, v), "ijk")
    yield Nest("least sums", lambda x, y: A.fold(A.min, np.inf, pairs(A.add, x, y)), (a, b), "ijk")
    yield Nest("distances", lambda x, y: A.fold(A.add, 0, pairs(lambda p, q: (p - q) * (p - q), x, y)), (a, b), "ijk")
    large = numbers(4 * size, 4 * size)
    yield Nest("matrix x vector", A.matmul, (large, numbers(4 * size)), "ij")
    yield Nest("vector x matrix", A.matmul, (numbers(4 * size), large), "ij")
    yield Nest("sum of a transpose", lambda x, y: A.zipWith(A.add, x, turn(y)), (large, large), "ij")
    yield Nest("outer", A.outer, (numbers(4 * size), np.tile(v, 4)), "ij")


def look(nest: Nest) -> Found:
    """All orders of a nest."""
    found: list[A.Rearrangement] = list(A.rearrangements(nest.function, *nest.arguments))
    for axis, extent in zip(nest.axes, found[0].extents, strict=True):
        for block in BLOCKS:
            if block >= extent or extent % block:
                continue
            every = A.rearrangements(nest.function, *nest.arguments, subdivide={axis: (block,)})
            found += [each for each in every if len(each.extents) > len(nest.axes)]
    seconds = [each.measure(1) for each in found]
    by_model = sorted(range(len(found)), key=lambda at: found[at].predicted)
    for at in {*by_model[:AGAIN], *sorted(range(len(found)), key=lambda at: seconds[at])[:AGAIN]}:
        seconds[at] = min(seconds[at], found[at].measure(2))
    (own,) = in_turn([A.runN(nest.function, threads=1)], *nest.arguments)
    best = min(seconds)
    correlation = spearman([each.predicted for each in found], seconds)
    return Found(len(found), seconds[by_model[0]] / best, correlation, own / best)


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rearrange_model", description=__doc__)
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--only")
    given = parser.parse_args()
    print(f"{'nest':20} {'orders':>6} {'chosen/best':>12} {'ranks':>6} {'accel/best':>11}")
    for nest in nests(given.size):
        if given.only in (None, nest.name):
            found = look(nest)
            print(
                f"{nest.name:20} {found.orders:6} {found.chosen:12.2f} {found.correlation:6.2f} {found.own:11.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
