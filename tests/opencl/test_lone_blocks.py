"""Folds of few elements on CPU devices: the only group of a block does what stands behind the fold, in the same launch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.program import PLAIN, translate
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.choose import program_schedules
from tests.marks import require_device
from tests.opencl.check import loops

Ints: TypeAlias = A.Acc[A.Vector[np.int64]]
Floats: TypeAlias = A.Acc[A.Vector[np.float64]]

LENGTHS = (3, BLOCK, 0, 1, 64, 65, BLOCK + 1, BLOCK - 1, 3 * BLOCK + 5, 2)
"""In one compiled program, in this order."""


def shares(xs: Floats) -> Floats:
    total = A.the(A.sum(xs))
    return A.map(lambda x: x / (total + 1), xs)


def greatest(xs: Floats) -> A.Acc[A.Scalar[np.float64]]:
    """Nothing is neutral, so there has to be an element."""
    return A.fold1(A.max, xs)


def composed(xs: Ints) -> Any:
    """A fold whose order shows, and what two of its parts come to."""
    lines = A.map(lambda x: A.lift(x % 5 + 1, x % 7), xs)
    a, b = A.unzip(A.fold(lambda f, g: A.lift(f[0] * g[0], f[0] * g[1] + f[1]), (1, 0), lines))
    return A.zipWith(lambda x, y: x - y, a, b), a


def several(xs: Floats) -> Any:
    """Folds of one loop, which also writes an array, and a value of some of them that chooses a turn."""
    ys = A.map(lambda x: x * x, xs)
    low, high = A.minimum(ys), A.maximum(ys)
    return A.zipWith(lambda a, b: A.cond(a < b, b - a, a), low, high), A.sum(ys), ys


def element(xs: Ints) -> Any:
    """An element of another array, whose index the fold gives: it may be none."""
    others = A.generate(A.index(50), lambda ix: ix[0] * 3)
    return A.map(lambda total: others[A.index(total % 60)], A.sum(xs))


PROGRAMS: tuple[tuple[Callable[..., Any], type[np.generic]], ...] = (
    (shares, np.float64), (greatest, np.float64), (composed, np.int64), (several, np.float64), (element, np.int64)
)  # fmt: skip


def outcome(run: Callable[..., Any], xs: Any) -> Any:
    """The results' bits, or the error's words."""
    try:
        found = run(xs)
    except A.AccelError as error:
        return str(error)
    return [each.tobytes() for each in (found if isinstance(found, tuple) else (found,))]


@pytest.mark.parametrize(("program", "element"), PROGRAMS, ids=[program.__name__ for program, _ in PROGRAMS])
def test_bits_and_errors_are_the_references(program: Callable[..., Any], element: type[np.generic]) -> None:
    """Also where few elements become many, and the other way round."""
    require_device()
    run, want = (A.runN(program, backend=backend) for backend in ("opencl", "interpreter"))
    random = np.random.default_rng(1_200_001)
    for length in LENGTHS * 2:
        xs = (random.random(length) * 100).astype(element)
        assert outcome(run, xs) == outcome(want, xs)


def test_loops_end_by_what_a_lone_block_finds() -> None:
    """A condition that the fold's group writes, of states that shrink below a block and grow again."""
    require_device()

    def program(xs: Floats) -> Floats:
        def turn(ys: Floats) -> Floats:
            return A.map(lambda y: y * 0.5 + A.the(A.sum(ys)) * 0.0001, ys)

        return A.awhile(lambda ys: A.map(lambda high: high > 1.0, A.maximum(ys)), turn, xs)

    run, want = (A.runN(program, backend=backend) for backend in ("opencl", "interpreter"))
    random = np.random.default_rng(1_200_002)
    for length in (5, BLOCK + 3, 70, 5):
        xs = random.random(length) * 40
        assert outcome(run, xs) == outcome(want, xs)


@pytest.mark.parametrize(("length", "launches"), [(0, 1), (1, 1), (BLOCK, 1), (BLOCK + 1, 2)])
def test_a_lone_block_is_one_launch(length: int, launches: int) -> None:
    """Of nothing there is no block: what joins them writes the seed."""
    planned, _ = loops("greedy", (A.sum(A.use(np.zeros(10))),))
    (nest,) = translate(program_schedules(planned, PLAIN.machine), PLAIN).nests
    runs = [kernel for kernel in nest.kernels if kernel.runs(lambda _: length) and kernel.items.value(lambda _: length)]
    assert len(runs) == launches
