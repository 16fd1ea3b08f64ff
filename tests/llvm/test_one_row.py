"""Rows of a filter that lie one behind the other run as one row; others row by row, to the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.loops.one_row import LONGEST, joined
from accel.backends.protocol import compiled
from accel.explanation.explain import subject
from accel.ir.meaning.interpret import interpret
from accel.ir.mentions import nests
from accel.ir.nodes import Program
from accel.settings import Settings

Given: TypeAlias = Any  # one function for arrays of several types

RANDOM = np.random.default_rng(2)

SHAPES = [
    (1, 1),
    (300, 1),
    (70, 3),
    (1, 40),
    (41, 10),
    (5, LONGEST - 1),
    (5, LONGEST),
    (5, LONGEST + 1),
    (0, 3),
    (3, 0),
    (4097, 2),
]


def compacted(m: Given, xs: Given) -> Given:
    return A.compact(m, xs)[0]


def chosen(m: Given, xs: Given) -> Given:
    return A.sum(A.filter(lambda x: x > 0, xs)[0]), A.compact(m, A.map(lambda x: x * x, xs))[0]


def mapped(m: Given, xs: Given) -> Given:
    """Something is stored beside what is kept."""
    made = A.map(A.sqrt, A.map(A.abs, xs))
    return made, A.compact(m, made)[0]


def numbered(m: Given, xs: Given) -> Given:
    """What is kept are indices."""
    return A.compact(m, A.imap(lambda ix, x: x + A.cast(ix[0] - ix[1], np.float32), xs))[0]


def of_a_column(m: Given, xs: Given) -> Given:
    return A.compact(m, A.generate(xs.shape, lambda ix: xs[ix[0], 0] + xs[ix]))[0]


def program(function: Callable[[Given, Given], Given], rank: int = 2) -> Program:
    shape = (2, 3, 4)[:rank]
    return subject(function, [np.ones(shape, np.bool_), np.ones(shape, np.float32)], Settings()).staged.loops


@pytest.mark.parametrize("threads", [1, 2, 8])
@pytest.mark.parametrize("function", [compacted, chosen, mapped, numbered, of_a_column])
def test_rows_of_all_lengths(function: Callable[[Given, Given], Given], threads: int) -> None:
    """Of whole arrays, with gaps between rows, and with rows that repeat."""
    given = program(function)
    run = compiled(LLVMBackend(threads), given)
    for rows, length in SHAPES:
        m = RANDOM.random((rows, length)) < 0.5
        wide = RANDOM.standard_normal((rows, length + 3)).astype(np.float32)
        repeated = np.broadcast_to(wide[:1, :length], (rows, length)) if rows else wide[:, :length]
        for xs in (wide[:, :length].copy(), wide[:, :length], repeated):
            for found, wanted in zip(run([m, xs]), interpret(given, [m, xs]), strict=True):
                assert np.asarray(wanted, found.dtype).tobytes() == found.tobytes()


def test_three_dimensions() -> None:
    """All of them are one row, or none."""
    given = program(compacted, 3)
    run = compiled(LLVMBackend(1), given)
    m, xs = RANDOM.random((9, 4, 5)) < 0.5, RANDOM.standard_normal((9, 4, 7)).astype(np.float32)
    for each in (xs[:, :, :5].copy(), xs[:, :, :5], xs[::-1, :, :5].copy(), xs[:, ::2, :5]):
        mask = m[:, : each.shape[1]].copy()
        assert run([mask, each])[0].tobytes() == each[mask].tobytes()


@pytest.mark.parametrize(
    ("function", "is_joined"), [(compacted, True), (mapped, True), (numbered, False), (of_a_column, False)]
)
def test_what_is_joined(function: Callable[[Given, Given], Given], is_joined: bool) -> None:
    """Loops whose indices are asked for nothing but elements."""
    assert any(len(joined(nest)) == 2 for nest in nests(program(function))) == is_joined


def test_sizes_that_are_asked_for_are_not_changed() -> None:
    """Here a row's length is a number, and the bound of another array."""

    def scaled(m: Given, xs: Given) -> Given:
        return A.compact(m, A.map(lambda x: x * A.cast(xs.shape[1], np.float32), xs))[0]

    def bounded(m: Given, xs: Given) -> Given:
        first = A.slice(xs, (0, A.All))
        return A.compact(m, A.map(lambda x: first[A.cast(x, np.int64)], xs))[0]

    m = RANDOM.random((70, 3)) < 0.5
    xs = RANDOM.integers(0, 3, (70, 3)).astype(np.float32)
    assert A.run(scaled(A.use(m), A.use(xs))).tobytes() == (xs * 3)[m].tobytes()
    assert A.run(bounded(A.use(m), A.use(xs))).tobytes() == xs[0][xs.astype(int)][m].tobytes()
    xs[50, 1], xs[60, 0] = 5, 9
    with pytest.raises(A.AccelIndexError, match=r"\(5,\)|\(0, 5\)"):
        A.run(bounded(A.use(m | True), A.use(xs)))


def test_a_check_that_fails_names_its_element() -> None:
    table = A.use(np.arange(4.0, dtype=np.float32))
    xs = np.zeros((90, 3), np.int64)
    xs[40, 2], xs[80, 0] = 7, 9
    with pytest.raises(A.AccelIndexError, match=r"\(7,\)"):
        A.run(A.compact(A.use(xs >= 0), A.map(lambda i: table[i], A.use(xs)))[0])
