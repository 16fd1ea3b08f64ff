"""Folds and scans of the segments of one descriptor: one loop visits all elements once, in the bits of each operation alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.marks import one_in, slow
from tests.run.test_segments import elements, same

pytestmark = [pytest.mark.solver, pytest.mark.llvm, pytest.mark.opencl]

Program = Callable[[Any, Any], Any]


def product(xs: Any, ys: Any) -> Any:
    return A.zipWith(A.mul, xs, ys)


def shifted(xs: Any) -> Any:
    return A.map(lambda x: x * x + 0.5, xs)


PROGRAMS: dict[str, tuple[int, Program]] = {
    "two folds of what a map makes": (
        1,
        lambda xs, ls: (A.foldSeg(A.add, 0.0, shifted(xs), ls), A.foldSeg(A.max, 0.0, shifted(xs), ls)),
    ),
    "a fold of a scan": (2, lambda xs, ls: A.foldSeg(A.max, 0.0, A.scanl1Seg(A.add, xs, ls), ls)),
    "a fold of a scan that is kept": (
        2,
        lambda xs, ls: (A.foldSeg(A.max, 0.0, A.scanl1Seg(A.add, xs, ls), ls), A.scanl1Seg(A.add, xs, ls)),
    ),
    "a fold of what is made of a scan": (
        2,
        lambda xs, ls: A.foldSeg(A.add, 0.0, shifted(A.scanl1Seg(A.add, xs, ls)), ls),
    ),
    "two scans side by side": (2, lambda xs, ls: product(A.scanl1Seg(A.add, xs, ls), A.scanl1Seg(A.max, xs, ls))),
    "a scan of a scan": (2, lambda xs, ls: A.scanl1Seg(A.max, A.scanl1Seg(A.add, xs, ls), ls)),
    "from the right": (2, lambda xs, ls: product(A.scanr1Seg(A.add, xs, ls), A.scanr1Seg(A.max, xs, ls))),
    "exclusive ones": (2, lambda xs, ls: product(A.scanlSeg(A.add, 0.5, xs, ls), A.scanlSeg(A.max, 0.25, xs, ls))),
    "exclusive ones from the right": (
        2,
        lambda xs, ls: product(A.scanrSeg(A.add, 0.5, xs, ls), A.scanrSeg(A.max, 0.25, xs, ls)),
    ),
    "a total beside a scan": (
        2,
        lambda xs, ls: (product(A.scanlTotalSeg(A.add, 0.5, xs, ls)[0], A.scanl1Seg(A.max, xs, ls)),),
    ),
    "all at once": (  # the sum of all elements is taken in their order: a loop of its own
        3,
        lambda xs, ls: (
            A.fold(A.add, 0.0, product(A.scanl1Seg(A.add, xs, ls), A.scanl1Seg(A.max, xs, ls))),
            A.foldSeg(A.min, 9.0, A.scanl1Seg(A.max, A.scanl1Seg(A.add, xs, ls), ls), ls),
        ),
    ),
    "both ways": (3, lambda xs, ls: product(A.scanl1Seg(A.add, xs, ls), A.scanr1Seg(A.max, xs, ls))),
}

LENGTHS: dict[str, list[int]] = {
    "none": [],
    "few elements each": [(i * 7) % 5 for i in range(100)],
    "up to twenty": [(i * 37) % 20 for i in range(60)],
    "of all lengths": [0, 1, 300, 17, 64, 0, 5000, 3],
}


def test_loops_are_shared() -> None:
    given = elements(9), np.array([4, 3])
    assert {name: A.explain(program, *given).loops for name, (_, program) in PROGRAMS.items()} == {
        name: loops for name, (loops, _) in PROGRAMS.items()
    }


@pytest.mark.parametrize("lengths", one_in(4, LENGTHS))
@pytest.mark.parametrize("name", PROGRAMS)
def test_one_loop_gives_the_bits_of_each_alone(name: str, lengths: str) -> None:
    program = PROGRAMS[name][1]
    counts = np.array(LENGTHS[lengths], np.int64)
    xs = elements(int(counts.sum()) + 2)
    expected = A.runN(program, backend="interpreter")(xs, counts)
    same(A.runN(program, backend="interpreter", strategy="none")(xs, counts), expected)
    for backend, threads in (("llvm", 1), ("llvm", 3), ("opencl", 1)):
        same(A.runN(program, backend=backend, threads=threads)(xs, counts), expected)


def test_rows_are_divided_alike() -> None:
    xs, counts = elements(3 * 40).reshape(3, 40), np.array([3, 0, 20, 7, 9])
    for name in ("a fold of a scan that is kept", "exclusive ones", "all at once"):
        program = PROGRAMS[name][1]
        expected = A.runN(program, backend="interpreter")(xs, counts)
        for backend in ("llvm", "opencl"):
            same(A.runN(program, backend=backend)(xs, counts), expected)


def test_a_scan_of_a_scan_is_cut_once() -> None:
    """A second cut to what the segments hold is no other size: so both scans visit one extent."""
    program = PROGRAMS["a scan of a scan"][1]
    text = str(A.explain(program, elements(9), np.array([4, 3])).stages["labelled"])
    assert text.count("= sizes") == 1
    assert text.count("= backpermute") == 1


def test_other_descriptors_are_other_loops() -> None:
    def program(xs: Any, some: Any, others: Any) -> Any:
        return A.foldSeg(A.add, 0.0, shifted(xs), some), A.foldSeg(A.max, 0.0, shifted(xs), others)

    given = elements(12), np.array([4, 8]), np.array([6, 6])
    assert A.explain(program, *given).loops == 3
    same(untyped.runN(program)(*given), untyped.runN(program, backend="interpreter")(*given))


def test_a_scan_of_a_scan_by_other_lengths_is_cut_again() -> None:
    def program(xs: Any, some: Any, others: Any) -> Any:
        return A.scanl1Seg(A.add, A.scanl1Seg(A.add, xs, some), others)

    sums = untyped.runN(program)(np.arange(9.0), np.array([4, 4]), np.array([2, 3]))
    np.testing.assert_array_equal(sums, [0, 1, 3, 9, 13])


@slow
@pytest.mark.parametrize("seed", range(12))
def test_random_lengths(seed: int) -> None:
    random = np.random.default_rng(seed)
    counts = random.integers(0, random.choice([2, 4, 6, 70, 5000]), int(random.choice([1, 3, 40])))
    name = random.choice(list(PROGRAMS))
    kind = random.choice(["f4", "f8", "i4", "i8"])
    xs = elements(int(counts.sum()) + int(random.integers(0, 3))).astype(kind)
    program = PROGRAMS[name if kind in ("f4", "f8") else "two scans side by side"][1]
    expected = A.runN(program, backend="interpreter")(xs, counts)
    for backend, threads in (("llvm", 1), ("llvm", 3), ("opencl", 1)):
        same(A.runN(program, backend=backend, threads=threads)(xs, counts), expected)
