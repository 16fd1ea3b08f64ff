"""What stands around kernels: calls, programs that are built again, turns of loops: `python -m benchmarks.calls`.

Each line is a program in accel on one thread, in microseconds, and the same in Numba (without fast-math flags) or NumPy where
that is measured beside it. All run in turn in one process, in short batches; figures are the least times of a batch, of the
processor's time, so that what else the machine does matters little. The last column says what a program is meant to take.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import accel as A
from benchmarks.peers.programs import with_accel

Run: TypeAlias = Callable[[], object]
Column: TypeAlias = A.Acc[A.Vector[np.float32]]
Table: TypeAlias = A.Acc[A.Matrix[np.float32]]
Cells: TypeAlias = A.Acc[A.Matrix[np.int32]]
Place: TypeAlias = A.Exp[np.int64]


@dataclass(frozen=True, slots=True)
class Case:
    """A program here and elsewhere. aim: what it may take, in microseconds, or times the best peer's."""

    name: str
    run: Run
    peers: Mapping[str, Run]
    aim: str = ""


def least(runs: Sequence[Run], seconds: float) -> list[float]:
    """The least time of a call of each, in microseconds."""
    counts = []
    for run in runs:
        run()  # twice, so that it is compiled, and then remembered
        run()
        count, taken = 1, _batch(run, 1)
        while taken < 2e-4 and count < 1 << 16:
            count *= 2
            taken = _batch(run, count)
        counts.append(count)
    best = [float("inf")] * len(runs)
    end, rounds = time.perf_counter() + seconds * len(runs), 0
    while time.perf_counter() < end or rounds < 7:
        rounds += 1
        for number, (run, count) in enumerate(zip(runs, counts, strict=True)):
            best[number] = min(best[number], _batch(run, count) / count * 1e6)
    return best


def _batch(run: Run, count: int) -> float:
    start = time.process_time()
    for _ in range(count):
        run()
    return time.process_time() - start


def _bound(function: Callable[..., object], *arrays: object) -> Run:
    return lambda: function(*arrays)


def _compiled(program: Callable[..., object]) -> Callable[..., object]:
    function: Any = A.runN(threads=1)  # Any: programs of all types
    found: Callable[..., object] = function(program)
    return found


def _numba() -> Mapping[str, Callable[..., object]]:
    from benchmarks.peers.programs import with_numba

    return with_numba.tool("numba-1").programs


def calls() -> Iterator[Case]:
    """Calls of compiled functions."""
    theirs = _numba()
    small = np.ones(4, np.float32)
    double = small.astype(np.float64)
    dot = _compiled(with_accel.dot)
    peers = {"numba": _bound(theirs["dot"], small, small), "numpy": _bound(np.dot, small, small)}
    yield Case("dot of 4", _bound(dot, small, small), peers, "0.7")
    three = _compiled(lambda xs, ys, zs: A.zipWith3(lambda x, y, z: x * y + z, xs, ys, zs))
    yield Case("map of 3 arrays of 4", _bound(three, small, small, small), {}, "1")
    yield Case("two dots of 4, of two dtypes in turn", lambda: (dot(small, small), dot(double, double)), {}, "3")
    pairs = _compiled(lambda ps: A.map(lambda p: A.fst(p) * A.snd(p), ps))
    doubled = _compiled(lambda zs: A.map(lambda z: z + z, zs))
    yield Case("map of a tuple of 2 arrays of 4", lambda: pairs((small, small)), {})
    yield Case("map of 4 complex numbers", _bound(doubled, small.astype(np.complex64)), {})
    yield Case("map of every second of 8 elements", _bound(doubled, np.ones(8, np.float32)[::2]), {})
    yield Case("map of 4 in a block of settings", lambda: _under_settings(doubled, small), {})
    xs, ys = (np.random.default_rng(seed).random(100_000, np.float32) for seed in (1, 2))
    for name, arrays in (("dot", (xs, ys)), ("saxpy", (xs, ys)), ("mapchain", (xs,)), ("meanvar", (xs,))):
        others: dict[str, Run] = {"numba": _bound(theirs[name], *arrays)}
        if name == "dot":
            others["numpy"] = _bound(np.dot, *arrays)
        yield Case(f"{name} of 100,000", _bound(_compiled(getattr(with_accel, name)), *arrays), others, "1.25 x")


def _under_settings(function: Callable[..., object], xs: np.ndarray[tuple[int], np.dtype[np.float32]]) -> object:
    with A.using(threads=1, products="rounded"):
        return function(xs)


def rebuilt() -> Iterator[Case]:
    """Programs that are built again for each run."""
    xs, ys = np.ones(100), np.ones(100)

    def dot() -> A.Acc[A.Scalar[np.float64]]:
        return A.fold(A.add, 0, A.zipWith(A.mul, A.use(xs), A.use(ys)))

    def maps() -> object:
        zs = A.use(xs)
        for _ in range(50):
            zs = A.map(lambda x: x + 1, zs)
        return A.run(zs)

    prices = [np.linspace(5, 30, 100, dtype=np.float32) for _ in range(3)]
    yield Case("dot", lambda: A.run(dot()), {}, "60")
    yield Case("Black-Scholes", lambda: A.run(with_accel.blackscholes(*map(A.use, prices))), {}, "300")
    yield Case("50 maps", maps, {}, "600")
    yield Case("explanation of the dot", lambda: A.explain(dot()), {})


def loops() -> Iterator[Case]:
    """Loops of a thousand turns, and Jacobi's iteration."""
    xs = np.linspace(0, 1, 1000, dtype=np.float32)
    turns = _compiled(lambda zs: A.iterate(1000, lambda us: A.map(lambda x: x * 0.5 + 1, us), zs))
    yield Case("1000 turns of a map of 1000", _bound(turns, xs), {}, "500")
    yield Case("1000 turns until a sum says so", _bound(_compiled(_until), xs * 0 + 1), {}, "2000")
    yield Case(
        "1000 turns that write a row of 4 KB", _bound(_compiled(_taped), np.zeros((1000, 1000), np.float32), xs), {}
    )
    theirs = _numba()
    for name, size, aim in (
        ("jacobi1", 256, "1.15 x"),
        ("jacobi20", 256, "1.5 x"),
        ("jacobi1", 2048, "1.15 x"),
        ("jacobi20", 4096, "1.1 x"),
    ):
        grid = np.random.default_rng(3).random((size, size), np.float32)
        peers = {"numba": _bound(theirs[name], grid)}
        yield Case(f"{name} of {size} x {size}", _bound(_compiled(getattr(with_accel, name)), grid), peers, aim)


def _until(zs: Column) -> Column:
    return A.awhile(lambda us: A.map(lambda t: t > 0, A.sum(us)), lambda us: A.map(lambda x: x - 0.001, us), zs)


def _taped(tape: Table, row: Column) -> Table:
    def step(i: Place, rows: Table) -> Table:
        values = A.map(lambda x: x + 1, row)
        return A.permuteUnique(rows, lambda ix: A.just(A.index(i, ix[0])), values)

    return A.iiterate(1000, step, tape)


def kernels() -> Iterator[Case]:
    """Small stencils, remainders of indices, choices between pairs, histograms."""
    yield Case("stencil by slits on 8 x 8", _bound(_compiled(_slits), np.ones((8, 8), np.float32)), {}, "8")
    cells = np.random.default_rng(4).integers(0, 2, (1000, 1000), np.int32)
    by_remainders, by_choices = (_compiled(_life(wrap)) for wrap in (_remainder, _choice))
    yield Case("Game of Life by %", _bound(by_remainders, cells), {"by cond": _bound(by_choices, cells)}, "1.3 x")
    rows = np.random.default_rng(5).random((4000, 1000), np.float32)
    yield Case(
        "argmax of 4000 x 1000", _bound(_compiled(A.argmax), rows), {"numpy": lambda: rows.argmax(axis=1)}, "1 x"
    )
    for kind in (np.int32, np.int64):
        numbers, divisor = np.random.default_rng(7).integers(-(10**9), 10**9, 100_000).astype(kind), np.array(7, kind)
        quotients = _compiled(lambda xs, y: A.map(lambda x: x // A.the(y), xs))
        peers = {"numpy": _bound(np.floor_divide, numbers, divisor)}
        yield Case(f"100,000 {kind.__name__} // one number", _bound(quotients, numbers, divisor), peers)
    theirs, histogram = _numba()["hist256"], _compiled(with_accel.hist256)
    keys = np.random.default_rng(6).integers(0, 256, 1_000_000, np.int32)
    for name, given in (("random keys", keys), ("one key", keys * 0 + 7)):
        peers = {"numba": _bound(theirs, given), "numpy": _bound(np.bincount, given)}
        yield Case(f"histogram of 10^6, {name}", _bound(histogram, given), peers)


def _slits(xs: Table) -> Table:
    rows, columns = A.unlift(xs.shape)

    def part(i: int, j: int) -> Table:
        return A.slitOn(0, i, rows - 2, A.slitOn(1, j, columns - 2, xs))

    four = A.zipWith4(lambda a, b, c, d: a + b + c + d, part(0, 1), part(2, 1), part(1, 0), part(1, 2))
    return A.zipWith(lambda s, m: (s + m) * 0.2, four, part(1, 1))


def _remainder(i: Place, n: Place) -> Place:
    return i % n


def _choice(i: Place, n: Place) -> Place:
    return A.cond(i < 0, i + n, A.cond(i >= n, i - n, i))


def _life(wrap: Callable[[Place, Place], Place]) -> Callable[[Cells], Cells]:
    """A step of the Game of Life on a torus."""

    def step(cells: Cells) -> Cells:
        rows, columns = A.unlift(cells.shape)

        def cell(ix: A.Exp[tuple[int, int]]) -> A.Exp[np.int32]:
            i, j = A.unindex(ix)
            near = A.constant(0, np.int32)
            for di, dj in [(-1, -1), (-1, 0), (-1, 1), (0, -1), (0, 1), (1, -1), (1, 0), (1, 1)]:
                near = near + cells[A.index(wrap(i + di, rows), wrap(j + dj, columns))]
            lives = (near == 3) | ((near == 2) & (cells[ix] == 1))
            return A.cond(lives, A.constant(1, np.int32), A.constant(0, np.int32))

        return A.generate(cells.shape, cell)

    return step


TABLES: Mapping[str, Callable[[], Iterator[Case]]] = {
    "calls": calls,
    "rebuilt": rebuilt,
    "loops": loops,
    "kernels": kernels,
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calls", description=(__doc__ or "").split("\n")[0])
    parser.add_argument(
        "--only", choices=list(TABLES), action="append", help="one of the tables; may be given several times"
    )
    parser.add_argument("--seconds", type=float, default=0.5, help="for each program (0.5)")
    given = parser.parse_args()
    for name, cases in TABLES.items():
        for case in cases() if given.only is None or name in given.only else ():
            mine, *others = least([case.run, *case.peers.values()], given.seconds)
            beside = [
                f"{peer} {time_:.2f} ({mine / time_:.2f} x)" for peer, time_ in zip(case.peers, others, strict=True)
            ]
            print(f"{case.name:38} {mine:12.2f}  {', '.join(beside):50} {case.aim}", flush=True)


if __name__ == "__main__":
    main()
