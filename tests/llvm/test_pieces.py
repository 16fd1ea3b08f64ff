"""Folds of what filters keep, in chunks that begin within blocks of the order: the bits of one thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.templates import chain as chains
from accel.backends.protocol import HostArray, compiled
from accel.errors import AccelValueError
from accel.ir.meaning.interpret import interpret
from accel.labelled.meaning.order import BLOCK
from tests import untyped
from tests.llvm.test_chains import forced, in_chain
from tests.marks import one_in
from tests.schedule.programs import lowered
from tests.untyped import accel as U

Handle: TypeAlias = A.Acc[Any]  # Any: types are known at run time


def total(xs: Handle) -> object:
    """And what is kept."""
    kept, count = A.filter(lambda x: x > 0, xs)
    return A.fold(A.add, 0.5, kept), kept, count


def products(xs: Handle) -> object:
    """A fold of pairs of factors, with nothing else in its loop."""
    return A.fold(A.add, 0, A.map(lambda x: x * x, A.filter(lambda x: x > 0, xs)[0]))


def in_order(xs: Handle) -> object:
    """A function that does not commute."""
    return A.fold(lambda a, b: a * 0.5 + b, 1.0, A.filter(lambda x: x > 0, xs)[0])


def farthest(xs: Handle) -> object:
    """A function of several components, of different sizes."""
    doubles: A.Acc[A.Vector[np.float64]] = U.map(lambda x: U.toFloating(x, np.float64), xs)
    kept, _ = U.filter(lambda p: p[1] > 0, U.indexed(doubles))
    seed: Any = (U.index(-1), -1.0)  # Any: the elements have no type here
    best = U.fold(lambda a, b: U.cond(b[1] > a[1], b, a), seed, kept)
    return A.map(lambda p: A.indexHead(p[0]), best), A.map(A.snd, best)


def several(xs: Handle) -> object:
    """Two filters, folds of both and of all, and running states."""
    large, _ = A.filter(lambda x: x > 1, xs)
    kept, _ = A.filter(lambda x: x > 0, xs)
    halved = A.fold(lambda a, b: a * 0.5 + b, 1.0, large)
    numbers = A.scanl1(A.add, A.map(lambda x: A.cond(x > 0, 1, 0), xs))
    return A.fold(A.add, 0, kept), halved, A.fold(A.add, 0, xs), large, numbers


def few(size: int) -> HostArray:
    """A block and a bit, far apart."""
    numbers = -np.ones(size, np.float32)
    places = np.linspace(0, size - 1, min(size, BLOCK + 3)).astype(np.int64)
    numbers[places] = np.random.default_rng(1).random(len(places), np.float32)
    return numbers


def ends(size: int) -> HostArray:
    """Whole blocks at both ends and nothing between."""
    numbers = -np.ones(size, np.float32)
    numbers[:BLOCK] = np.random.default_rng(2).random(len(numbers[:BLOCK]), np.float32)
    numbers[-2 * BLOCK :] = np.random.default_rng(3).random(len(numbers[-2 * BLOCK :]), np.float32)
    return numbers


PATTERNS: dict[str, Callable[[int], HostArray]] = {
    "half": lambda size: np.random.default_rng(4).standard_normal(size, np.float32),
    "all": lambda size: np.random.default_rng(5).random(size, np.float32) + np.float32(0.5),
    "none": lambda size: -np.ones(size, np.float32),
    "few": few,
    "ends": ends,
}
PROGRAMS = (total, products, in_order, farthest, several)


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize(
    ("program", "size"), one_in(4, [(p, n) for n in (50_003, 5 * BLOCK, BLOCK + 1, 1) for p in PROGRAMS])
)
def test_any_number_of_threads(
    program: Callable[[Handle], object], size: int, pattern: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chains, "PIECE_BLOCKS", 1)
    example = lowered(program, PATTERNS[pattern](size))
    expected = compiled(LLVMBackend(1), example.loops)(example.arguments)
    for threads in (2, 3, 8):
        executable = in_chain(threads, forced, example.loops)
        for _ in range(5):
            found = executable(example.arguments)
            assert [each.tobytes() for each in found] == [each.tobytes() for each in expected], threads


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_interpreter_s_bits(program: Callable[[Handle], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "PIECE_BLOCKS", 1)
    example = lowered(program, PATTERNS["half"](3 * BLOCK + 17))
    expected = interpret(example.loops, example.arguments)
    found = in_chain(3, forced, example.loops)(example.arguments)
    assert [each.tobytes() for each in found] == [each.tobytes() for each in expected]


def test_large_sums_are_chains() -> None:
    """As compiled by default, and called again with other numbers of elements."""
    numbers = PATTERNS["half"](600_000)

    def program(xs: Handle) -> object:
        return A.fold(A.add, 0, A.filter(lambda x: x > 0, xs)[0])

    assert "totals of" in A.explain(untyped.runN(program), numbers).stages["schedule"]
    one, several = (untyped.runN(program, threads=threads) for threads in (1, 4))
    for size in (600_000, 599_999, 70_000, 600_000):
        assert several(numbers[:size]) == one(numbers[:size])


def test_nothing_kept_where_there_is_no_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "PIECE_BLOCKS", 1)
    example = lowered(lambda xs: A.fold1(A.add, A.filter(lambda x: x > 0, xs)[0]), -np.ones(20_000, np.float32))
    with pytest.raises(AccelValueError, match="fold1"):
        in_chain(3, forced, example.loops)(example.arguments)
