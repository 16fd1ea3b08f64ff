"""[Ber]'s tables and figures, and products beside BLAS: `python -m benchmarks.rearrange table1|fig4|…|matvec|blas|products|…`.

Each order of loops of a product of matrices is run as it stands, its result checked, and timed: least processor time of
several rounds, one thread. Beside it stand the paper's time where it prints one, and the model's. Then the ranks:
Spearman's correlation of measured and printed times, and of measured and predicted ones; and what `A.matmul` takes, which
is how accel itself runs the product. `blas` compares that with NumPy's, `products`, `large`, `batches` and `few`, of
few rows or columns, those of many shapes, `axes` those over several axes:
for that set `OPENBLAS_NUM_THREADS=1`, and on AMD's processors with AVX-512 `OPENBLAS_CORETYPE=SkylakeX`, since OpenBLAS takes
its code for AVX2 there.

`--size 1024 --block 16 --type f64` are the paper's. Other programs on the machine disturb the caches; rounds are
interleaved.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Final

import numpy as np

import accel as A

TABLE_1: Final[Mapping[str, float]] = MappingProxyType(
    {
        "mapA rnz mapB": 0.45,
        "rnz mapA mapB": 1.41,
        "mapA mapB rnz": 4.67,
        "mapB mapA rnz": 6.05,
        "rnz mapB mapA": 13.8,
        "mapB rnz mapA": 15.6,
    }
)
TABLE_2: Final[Mapping[str, float]] = MappingProxyType(
    {
        "rnz mapA mapB rnz": 0.186,
        "mapA rnz mapB rnz": 0.249,
        "rnz mapA rnz mapB": 0.324,
        "mapA rnz rnz mapB": 0.478,
        "rnz rnz mapA mapB": 1.468,
        "mapB rnz mapA rnz": 2.024,
        "rnz mapB mapA rnz": 2.231,
        "mapA mapB rnz rnz": 4.970,
        "rnz mapB rnz mapA": 5.580,
        "mapB mapA rnz rnz": 5.686,
        "mapB rnz rnz mapA": 5.972,
        "rnz rnz mapB mapA": 7.353,
    }
)
"""Seconds of a product of 1024 x 1024 doubles, as [Ber] prints them."""


@dataclass(frozen=True, slots=True)
class Experiment:
    """What the paper rearranged. subdivide: how many times each axis is subdivided. printed: its seconds, where it has them."""

    title: str
    orders: int
    subdivide: Mapping[str, int]
    printed: Mapping[str, float]


EXPERIMENTS: Final[Mapping[str, Experiment]] = MappingProxyType(
    {
        "table1": Experiment("the naive product", 6, {}, TABLE_1),
        "table2": Experiment("rnz subdivided", 12, {"k": 1}, TABLE_2),
        "fig4": Experiment("both maps subdivided", 30, {"i": 1, "j": 1}, {}),
        "fig5": Experiment("rnz subdivided twice", 20, {"k": 2}, {}),
        "fig6": Experiment("all subdivided once", 90, {"i": 1, "j": 1, "k": 1}, {}),
    }
)


def spearman(left: Sequence[float], right: Sequence[float]) -> float:
    """The correlation of ranks, 1 for the same order."""
    return float(np.corrcoef(_ranks(left), _ranks(right))[0, 1])


def _ranks(values: Sequence[float]) -> list[float]:
    """The rank of each; equal ones share the mean of theirs."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) - 1) / 2 for value in values]


def blocks(times: int, block: int) -> tuple[int, ...]:
    """The blocks that subdivide an axis so many times: 16; 256 and 16; …"""
    return tuple(block**level for level in range(times, 0, -1))


def measured(found: Sequence[A.Rearrangement], rounds: int) -> list[float]:
    """Seconds of each; the rounds go through all of them in turn, so that a disturbance meets many."""
    best = [float("inf")] * len(found)
    for _ in range(rounds):
        for at, each in enumerate(found):
            best[at] = min(best[at], each.measure(1))
    return best


def report(found: Sequence[A.Rearrangement], seconds: Sequence[float], printed: Mapping[str, float]) -> list[str]:
    """The table, fastest first, and the correlations of ranks."""
    model = sorted(range(len(found)), key=lambda at: found[at].predicted)
    lines = [f"{'order':36} {'ms':>9} {'paper ms':>9} {'model ms':>9} {'rank':>4}"]
    for at in sorted(range(len(found)), key=lambda at: seconds[at]):
        each = found[at]
        paper = f"{printed[each.name] * 1e3:9.0f}" if each.name in printed else " " * 9
        lines.append(
            f"{each.name:36} {seconds[at] * 1e3:9.2f} {paper} {each.predicted * 1e3:9.2f} {model.index(at) + 1:4}"
        )
    lines.append(f"rank correlation, model and measured: {spearman([each.predicted for each in found], seconds):.2f}")
    if printed:
        paper_seconds = [printed[each.name] for each in found]
        lines.append(f"rank correlation, paper and measured: {spearman(paper_seconds, seconds):.2f}")
    return lines


def data(size: int, dtype: str) -> tuple[Any, Any]:
    """Two square matrices."""
    random = np.random.default_rng(18)
    return random.random((size, size)).astype(dtype), random.random((size, size)).astype(dtype)


def product(x: A.Acc[Any], y: A.Acc[Any]) -> A.Acc[Any]:
    """That of two matrices."""
    return A.matmul(x, y)


def own(a: Any, b: Any) -> float:
    """Seconds of `A.matmul` as accel runs it, one thread."""
    (seconds,) = in_turn([A.runN(product, threads=1)], a, b)
    return seconds


def tables(experiment: Experiment, size: int, block: int, dtype: str, rounds: int) -> list[str]:
    """One of the paper's experiments."""
    a, b = data(size, dtype)
    subdivide = {axis: blocks(times, block) for axis, times in experiment.subdivide.items()}
    found = A.rearrangements(lambda x, y: A.matmul(x, y), a, b, subdivide=subdivide)
    for each in found:
        each.verify()
    seconds = measured(found, rounds)
    lines = [f"{experiment.title}: {len(found)} orders of {size} x {size} {np.dtype(dtype)}, blocks of {block}"]
    lines += report(found, seconds, experiment.printed)
    mine = own(a, b)
    lines.append(f"A.matmul on one thread: {mine * 1e3:.2f} ms; the best order: {min(seconds) * 1e3:.2f} ms")
    return lines


def matvec(size: int, block: int, dtype: str, rounds: int) -> list[str]:
    """Section 3's product of a matrix and a vector: 1a to 1c with the reduction subdivided, 2a to 2c with the map."""
    a, b = data(size, dtype)
    lines = []
    for axis in ("j", "i"):
        found = A.rearrangements(lambda x, v: A.matmul(x, v), a, b[0], subdivide={axis: (block,)})
        for each in found:
            each.verify()
        lines += [f"matrix times vector, {size}, {axis} subdivided", *report(found, measured(found, rounds), {})]
    return lines


def blas(size: int, dtype: str) -> list[str]:
    """The product as accel runs it, beside NumPy's."""
    a, b = data(size, dtype)
    mine, theirs = in_turn([A.runN(product, threads=1), np.matmul], a, b)
    return [f"A.matmul {mine * 1e3:.2f} ms on one thread, NumPy {theirs * 1e3:.2f} ms: {theirs / mine:.2f}"]


@dataclass(frozen=True, slots=True)
class Product:
    """Batch, rows, elements that are summed, columns; which of the factors is stored transposed."""

    batch: int
    rows: int
    count: int
    columns: int
    transposed: tuple[bool, bool] = (False, False)

    def __str__(self) -> str:
        batch = f"{self.batch} of " if self.batch > 1 else ""
        factors = [name + "^T" * turned for name, turned in zip("AB", self.transposed, strict=True)]
        return f"{batch}{self.rows} x {self.count} x {self.columns}{', ' + ' '.join(factors) if any(self.transposed) else ''}"

    def arguments(self, dtype: str) -> list[Any]:
        """The factors, as they are stored."""
        random, found = np.random.default_rng(18), []
        shapes = ((self.rows, self.count), (self.count, self.columns))
        for shape, turned in zip(shapes, self.transposed, strict=True):
            batch = () if self.batch == 1 else (self.batch,)
            found.append(random.random((*batch, *(shape[::-1] if turned else shape))).astype(dtype))
        return found

    def own(self, x: Any, y: Any) -> Any:
        """The product as accel's program."""
        left, right = self.transposed
        return A.matmul(A.transpose(x) if left else x, A.transpose(y) if right else y)

    def numpy(self, x: Any, y: Any) -> Any:
        """The product by NumPy."""
        left, right = self.transposed
        return np.matmul(x.T if left else x, y.T if right else y)


PRODUCTS: Final[Mapping[str, Sequence[Product]]] = MappingProxyType(
    {
        "products": (
            *(Product(1, n, n, n) for n in (64, 128, 256, 512, 1000, 1024, 1537, 2048)),
            *(Product(1, 1024, 1024, 1024, turned) for turned in ((True, False), (False, True), (True, True))),
            Product(1, 4096, 64, 4096),
            Product(1, 500, 50, 500),
        ),
        "large": (Product(1, 4096, 4096, 4096),),
        "few": (
            *(Product(1, 1000, 1000, n) for n in (1, 2, 4, 8, 16)),
            *(Product(1, n, 1000, 1000) for n in (1, 2, 4, 8)),
            *(Product(1, *sizes) for sizes in ((2048, 2048, 1), (1, 2048, 2048), (20000, 64, 1), (20000, 64, 7))),
            *(Product(1, 20000, n, n) for n in (2, 3, 4, 16)),
            Product(1, 1000, 1000, 2, (False, True)),
            Product(1, 1000, 1000, 2, (True, False)),
            Product(1, 20000, 3, 3, (True, False)),
            Product(1, 2, 2000, 64),
            Product(1, 3, 100000, 3),
            Product(200, 1, 64, 64),
            Product(200, 64, 64, 1),
        ),
        "batches": tuple(Product(2**23 // n**3, n, n, n) for n in (4, 8, 16, 32, 64)),
    }
)
"""By the word on the command line."""


def products(shapes: Sequence[Product], dtype: str, threads: int) -> list[str]:
    """Products of many shapes beside NumPy's: least times of both, of one thread in turn; of several by the clock."""
    times = [compared(shape, dtype) for shape in shapes] if threads == 1 else apart(shapes, dtype, threads)
    lines, ratios = [f"{'batch, rows, sum, columns':32} {'GFlop/s':>8} {'NumPy':>8} {'of NumPy':>9}"], []
    for shape, (mine, theirs) in zip(shapes, times, strict=True):
        work = 2e-9 * shape.batch * shape.rows * shape.count * shape.columns
        lines.append(f"{shape!s:32} {work / mine:8.1f} {work / theirs:8.1f} {theirs / mine:9.2f}")
        ratios.append(theirs / mine)
    return [*lines, f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f}"]


AXES: Final[Mapping[str, int]] = MappingProxyType(
    {
        "a": 20,
        "b": 24,
        "c": 20,
        "d": 24,
        "i": 200,
        "j": 220,
        "k": 60,
        "l": 30,
        "n": 8,
        "h": 6,
        "q": 100,
        "p": 100,
        "e": 32,
    }
)
"""The extents of `axes`, by letters."""

CONTRACTIONS: Final = (
    "ikl,klj->ij", "ikl,jkl->ij", "ikl,kjl->ij", "akl,kblc->abc", "akl,klbc->abc", "abk,kcd->abcd", "abk,cdk->abcd",
    "kab,kcd->abcd", "abk,kcd->acbd", "nhqe,nhpe->nhqp", "nqhe,nphe->nhqp", "nhqp,nphe->nqhe", "ijk,jk->i", "ijk,ijk->k",
)  # fmt: skip
"""Products over several axes, or whose rows or columns are several; scores and sums of attention in two layouts."""


def axes(dtype: str) -> list[str]:
    """Products over several axes beside NumPy's, which makes matrices of them: least times of one thread in turn."""
    lines, ratios = [f"{'subscripts':20} {'ms':>8} {'NumPy':>8} {'of NumPy':>9}"], []
    for form in CONTRACTIONS:
        random = np.random.default_rng(18)
        arrays = [random.random([AXES[axis] for axis in each]).astype(dtype) for each in form.split("->")[0].split(",")]
        own = A.runN(lambda *xs, form=form: A.einsum(form, *xs), threads=1)
        mine, theirs = in_turn([own, partial(np.einsum, form, optimize=True)], *arrays)
        lines.append(f"{form:20} {mine * 1e3:8.3f} {theirs * 1e3:8.3f} {theirs / mine:9.2f}")
        ratios.append(theirs / mine)
    return [*lines, f"geometric mean {np.exp(np.mean(np.log(ratios))):.2f}"]


def compared(shape: Product, dtype: str) -> tuple[float, float]:
    """Seconds of accel and of NumPy, on one thread."""
    mine, theirs = in_turn([A.runN(shape.own, threads=1), shape.numpy], *shape.arguments(dtype))
    return mine, theirs


def apart(shapes: Sequence[Product], dtype: str, threads: int) -> list[tuple[float, float]]:
    """The same on several threads, accel's first: those of OpenBLAS wait busily after a call, for what comes next."""
    each: list[list[float]] = []
    for actions in ([A.runN(shape.own, threads=threads) for shape in shapes], [shape.numpy for shape in shapes]):
        each.append([])
        for action, shape in zip(actions, shapes, strict=True):
            each[-1] += in_turn([action], *shape.arguments(dtype), clock=time.perf_counter)
    return [*zip(*each, strict=True)]


def in_turn(
    actions: Sequence[Callable[..., Any]], *arguments: Any, clock: Callable[[], float] = time.process_time
) -> list[float]:
    """The least time of a call of each, after one that compiles."""
    best = [float("inf")] * len(actions)
    for action in actions:
        action(*arguments)
    begin, rounds = time.perf_counter(), 0
    while rounds < 3 or (rounds < 1000 and time.perf_counter() - begin < 1):
        for at, action in enumerate(actions):
            start = clock()
            action(*arguments)
            best[at] = min(best[at], clock() - start)
        rounds += 1
    return best


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rearrange", description=__doc__)
    parser.add_argument("what", choices=[*EXPERIMENTS, *PRODUCTS, "matvec", "blas", "axes"])
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--block", type=int, default=16)
    parser.add_argument("--type", choices=["f64", "f32"], default="f64")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1, help="of products; OPENBLAS_NUM_THREADS says NumPy's")
    given = parser.parse_args()
    dtype = {"f64": "f8", "f32": "f4"}[given.type]
    if given.what == "matvec":
        lines = matvec(given.size, given.block, dtype, given.rounds)
    elif given.what == "blas":
        lines = blas(given.size, dtype)
    elif given.what == "axes":
        lines = axes(dtype)
    elif given.what in PRODUCTS:
        lines = products(PRODUCTS[given.what], dtype, given.threads)
    else:
        lines = tables(EXPERIMENTS[given.what], given.size, given.block, dtype, given.rounds)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
