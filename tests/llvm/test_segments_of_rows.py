"""Folds of segments of rows of memory: each column gives the bits of its segments folded alone, whatever their lengths."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.processor import Registers
from accel.backends.protocol import HostArray, compiled
from accel.errors import AccelIndexError, AccelShapeError, AccelValueError
from accel.explanation.explain import subject
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Program
from accel.schedule.machine import PROCESSOR
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.columns import Columns
from accel.settings import Settings
from tests import untyped
from tests.llvm import nests
from tests.llvm.processors import changed, compile_for
from tests.marks import numbers_of_threads, one_in

pytestmark = pytest.mark.solver

Given: TypeAlias = Any  # one function for arrays of several types

LENGTHS = [0, 1, 2, 7, 8, 9, 31, 32, 33, 63, 64, 65, 0, 0, 100, 1, 15, 16, 17, 130, 3, 5, *[2, 0, 4] * 12]
COUNT = sum(LENGTHS)

Fold: TypeAlias = Callable[[Given, Given], Given]


def down(f: Fold, seed: Given, table: Given, lengths: Given) -> Given:
    """Segments of the rows of a table."""
    return A.foldSeg(f, seed, A.transpose(table), lengths)


FOLDS: dict[str, tuple[str, Callable[[Given, Given], Given]]] = {
    "sums": ("f4", lambda m, n: down(A.add, 0, m, n)),
    "sums of 8 bytes": ("f8", lambda m, n: down(A.add, 0.5, m, n)),
    "sums of products": (
        "f4",
        lambda m, n: A.foldSeg(A.add, 0, A.map(lambda x: x * (x + 1), A.transpose(m)), n),
    ),
    "extremes": ("i4", lambda m, n: down(A.max, -5, m, n)),
    "narrow": ("i1", lambda m, n: down(A.add, 0, m, n)),
    "in order": ("f4", lambda m, n: down(lambda a, b: a * 0.5 + b, 1, m, n)),
    "of two": (
        "f4",
        lambda m, n: A.foldSeg(
            lambda p, q: A.lift(A.fst(p) + A.fst(q), A.min(A.snd(p), A.snd(q))),
            (0.0, 9.0),
            A.map(lambda x: A.lift(x, x * 2), A.transpose(m)),
            n,
        ),
    ),
    "turned": ("f4", lambda m, n: A.transpose(A.map(lambda x: x * 3, down(A.add, 0, m, n)))),
}


def numbers(shape: tuple[int, ...], kind: str) -> HostArray:
    random = np.random.default_rng(len(kind) + shape[0])
    return np.asarray(random.standard_normal(shape) * nests.SCALES[random.integers(6, size=shape)]).astype(kind)


def program(given: Given) -> Program:
    return subject(given, (), Settings()).staged.loops


@pytest.mark.parametrize("name", one_in(2, FOLDS))
@pytest.mark.parametrize("registers", [(32, 16), (64, 32)])
def test_every_length(name: str, registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(registers=Registers(*registers)))
    kind, fold = FOLDS[name]
    lengths = np.array(LENGTHS)
    made = program(fold(untyped.accel.use(numbers((2, 2), kind)), untyped.accel.use(lengths)))
    ways = [way for nest in program_schedules(made, PROCESSOR).nests for way in nest.ways]
    assert any(isinstance(way.finding, Columns) for way in ways)
    executables = [compiled(LLVMBackend(threads), made) for threads in numbers_of_threads()]
    for columns in (1, 2, 3, 16, 35, 140):
        table = numbers((COUNT, columns), kind)
        expected = interpret(made, [table, lengths])
        for executable in executables:
            for right, got in zip(expected, executable([table, lengths]), strict=True):
                assert right.tobytes() == got.tobytes(), f"{got} instead of {right}"


def test_long_segments() -> None:
    """Longer than a block, which are rows that stream by: as each column's fold alone."""
    for kind, columns in (("f4", 19), ("i8", 5)):
        lengths = [3, 4096, 0, 4097, 9000, 64]
        table = numbers((sum(lengths), columns), kind)
        expected = np.array(
            [
                untyped.run(A.sum(A.transpose(untyped.accel.use(np.ascontiguousarray(table[start:end])))))
                for start, end in pairwise(np.cumsum([0, *lengths]))
            ]
        )
        for threads in (1, 2, 3):
            found = untyped.run(
                down(A.add, 0, untyped.accel.use(table), untyped.accel.use(np.array(lengths))), threads=threads
            )
            assert found.tobytes() == expected.T.copy().tobytes()


def test_a_sparse_matrix_times_a_dense_one() -> None:
    """As users write it; what is stored between lies as it is read."""
    random = np.random.default_rng(3)
    starts = np.concatenate([[0], np.cumsum(random.integers(0, 9, 200))])
    places, values = random.integers(0, 50, starts[-1]), random.standard_normal(starts[-1])
    dense = random.standard_normal((50, 24))

    def product(values: Given, places: Given, starts: Given, dense: Given) -> Given:
        def term(ix: Given) -> Given:
            column, at = A.unindex(ix)
            return values[at] * dense[places[at], column]

        terms = A.generate(A.index(A.shape(dense)[1], A.length(values)), term)
        return A.transpose(A.foldSegOffsets(A.add, 0, terms, starts))

    expected = np.array([values[a:b] @ dense[places[a:b]] for a, b in pairwise(starts)])
    np.testing.assert_allclose(untyped.runN(product)(values, places, starts, dense), expected, rtol=1e-12, atol=1e-12)
    loops = A.explain(product, values, places, starts, dense).stages["ir"]
    assert "%10[i1, i0] := e10" in loops, loops


def test_what_is_wrong_is_said() -> None:
    """An empty segment without a seed, one that is not there, and a load out of bounds, each in the middle of many."""
    lengths = np.array(LENGTHS)
    table = numbers((COUNT, 20), "f4")
    with pytest.raises(AccelValueError, match="fold1Seg of an empty segment"):
        untyped.run(A.fold1Seg(A.add, A.transpose(untyped.accel.use(table)), untyped.accel.use(lengths)))
    untyped.run(
        A.fold1Seg(A.add, A.transpose(untyped.accel.use(table[: COUNT - 37])), untyped.accel.use(lengths[1:11]))
    )
    with pytest.raises((AccelIndexError, AccelShapeError)):
        untyped.run(down(A.add, 0, untyped.accel.use(table), untyped.accel.use(lengths + 1)))
    far = untyped.accel.generate(
        (20, COUNT), lambda ix: untyped.accel.use(table)[A.unindex(ix)[1] + 1, A.unindex(ix)[0]]
    )
    with pytest.raises(AccelIndexError):
        untyped.run(A.foldSeg(A.add, 0, far, untyped.accel.use(lengths)))
