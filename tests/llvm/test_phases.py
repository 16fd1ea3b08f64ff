"""Loops in phases: the bits of the interpreter, for lengths around a strip's and a block's, and any number of threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel import settings
from accel.ast.tree.types import F32, F64, ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.protocol import compiled
from accel.errors import AccelIndexError
from accel.explanation.explain import subject
from accel.ir.meaning.interpret import interpret
from accel.ir.mentions import nests as nests_of
from accel.ir.nodes import Program
from accel.schedule.splitting.phases import STRIP
from accel.schedule.templates.rows import rows
from tests.llvm import nests
from tests.marks import numbers_of_threads, one_in

Numbers: TypeAlias = npt.NDArray[Any]  # of any element type and rank
Handle: TypeAlias = A.Acc[Any]  # types are known at run time

SIZES = (0, 1, 15, 100, STRIP - 1, STRIP, STRIP + 1, 3 * STRIP + 17, 4096, 4097, 9000)


def much(x: Any) -> Any:
    """Eight operations."""
    return (((x * x + 1) * x + 2) * x + 3) * x + 4


def computed(places: Handle, xs: Handle) -> Handle:
    return A.map(much, A.gather(places, xs))


def summed(places: Handle, xs: Handle) -> tuple[Handle, Handle]:
    found = A.map(much, A.gather(places, xs))
    return A.fold(A.add, 0, found), A.fold(A.max, 0, found)


def chosen(places: Handle, xs: Handle) -> Handle:
    """A fold that does not commute."""
    return A.fold(lambda a, b: a * 0.5 + b, 1, A.map(much, A.gather(places, xs)))


def scanned(places: Handle, xs: Handle) -> tuple[Handle, Handle]:
    found = A.map(much, A.gather(places, xs))
    return A.scanl(A.add, 0, found), A.scanl1(A.max, found)


def from_the_right(places: Handle, xs: Handle) -> Handle:
    return A.scanr(A.add, 0, A.gather(places, A.map(much, xs)))


def again(places: Handle, xs: Handle) -> Handle:
    return A.gather(places, A.gather(places, xs))


def flags(places: Handle, xs: Handle) -> Handle:
    """Bools are kept from phase to phase."""
    return A.map(lambda f: A.cond(f, 1.0, 2.0), A.gather(places, A.map(lambda x: much(x) > 3, xs)))


def filtered(places: Handle, xs: Handle) -> tuple[Handle, Handle]:
    kept, _ = A.filter(lambda x: x > 0.5, A.gather(places, xs))
    return kept, A.fold(A.add, 0, kept)


PROGRAMS = (computed, summed, chosen, scanned, from_the_right, again, flags, filtered)


def lowered(function: Callable[..., object], *arrays: Numbers) -> Program:
    """The loops, as few as there can be."""
    return subject(function, list(arrays), settings.changed({"cost": "memory"})).staged.loops


def given(kind: ScalarType, size: int) -> list[Numbers]:
    return [np.random.default_rng(size).permutation(size), nests.numbers(kind, size, size)]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", one_in(2, [F32, F64]))
def test_bits(program: Callable[..., object], kind: ScalarType) -> None:
    loops = lowered(program, *given(kind, 100))
    assert any(rows(nest).packs for nest in nests_of(loops))
    every = [compiled(LLVMBackend(threads), loops) for threads in numbers_of_threads()]
    for size in SIZES:
        arguments = given(kind, size)
        expected = [each.tobytes() for each in interpret(loops, arguments)]
        for executable in every:
            assert [each.tobytes() for each in executable(list(arguments))] == expected, size


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_seed_that_is_computed_before(threads: int) -> None:
    """Chains come to totals by a part of the nest, which does not make the seed."""

    def program(places: Handle, xs: Handle, seeds: Handle) -> Handle:
        seed = A.the(A.map(lambda s: s * 2 + 1, seeds))
        return A.scanl(A.add, seed, A.map(much, A.gather(places, xs)))

    arguments = [*given(F32, 20_000), np.array(2.5, np.float32)]
    loops = lowered(program, *arguments)
    (expected,) = interpret(loops, arguments)
    (found,) = compiled(LLVMBackend(threads), loops)(list(arguments))
    assert found.tobytes() == expected.tobytes()


def test_rows() -> None:
    """Phases of short rows and long ones, of which folds begin anew in each."""

    def program(places: Handle, xs: Handle) -> Handle:
        return A.fold(A.add, 1, A.map(much, A.gather(places, xs)))

    for rows_, columns in ((7, 30), (3, 700), (1, 5000)):
        places = np.random.default_rng(1).integers(0, 900, (rows_, columns))
        arguments = [places, nests.numbers(F32, 900, 1)]
        loops = lowered(program, *arguments)
        (expected,) = interpret(loops, arguments)
        for threads in (1, 3):
            (found,) = compiled(LLVMBackend(threads), loops)(list(arguments))
            assert found.tobytes() == expected.tobytes()


def test_what_is_the_same_in_a_row() -> None:
    """It is made in every phase that needs it, and not kept."""

    def program(places: Handle, rows_: Handle, xs: Handle) -> Handle:
        of_rows = A.replicate((A.All, 700), A.gather(rows_, xs))
        return A.zipWith(lambda x, of_row: much(x) * much(of_row), A.gather(places, xs), of_rows)

    places = np.random.default_rng(1).integers(0, 900, (3, 700))
    arguments = [places, np.array([899, 0, 17]), nests.numbers(F32, 900, 1)]
    loops = lowered(program, *arguments)
    (expected,) = interpret(loops, arguments)
    for threads in (1, 3):
        (found,) = compiled(LLVMBackend(threads), loops)(list(arguments))
        assert found.tobytes() == expected.tobytes()


def test_an_index_out_of_bounds_in_the_last_strip() -> None:
    places, xs = given(F32, 3 * STRIP)
    places[-1] = 3 * STRIP
    loops = lowered(computed, places, xs)
    for threads in (1, 2):
        with pytest.raises(AccelIndexError, match=str(3 * STRIP)):
            compiled(LLVMBackend(threads), loops)([places, xs])
