"""Transposes, parts and windows that several operations read of arguments are made as often as they are read, where that moves
less."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.compile import stages
from accel.ilp.problem.options import Options
from accel.ir import mentions
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Launch, Program
from accel.labelled.passes.absorb import overwritten
from accel.labelled.passes.shapes.views import own_views
from accel.labelled.verify import verify
from accel.support.choices import Duplicate
from tests.labelled.programs import program as labelled

Given: TypeAlias = Any  # arrays of several types and ranks: what is tested is plans, and values

M = np.arange(12.0).reshape(3, 4) ** 2 - 20


def planned(results: tuple[A.Acc[Given], ...], duplicate: Duplicate = "gathers") -> Program:
    return stages(labelled(results), Options(duplicate=duplicate)).loops


def outcome(loops: Program) -> Any:
    """What the loops come to for `M`."""
    return interpret(loops, [M.copy()])


def made(loops: Program) -> int:
    """How many matrices its loops write."""
    nests = [step.nest for step in loops.steps if isinstance(step, Launch)]
    return sum(len(output.array.shape) == 2 for nest in nests for output in nest.outputs)


def per_column(xs: A.Acc[Given]) -> A.Acc[Given]:
    """Each row by its sum."""
    return A.zipWith(lambda x, s: x / s, xs, A.replicate((A.All, A.shape(xs)[1]), A.sum(xs)))


def test_columns_by_their_sums_store_nothing_in_between() -> None:
    def normalised(m: A.Acc[Given]) -> A.Acc[Given]:
        return A.transpose(per_column(A.transpose(m)))

    loops = planned((normalised(A.use(M)),))
    assert made(loops) == 1
    np.testing.assert_allclose(outcome(loops)[0], M / M.sum(axis=0))
    assert made(planned((normalised(A.use(M)),), duplicate=False)) == 2


def test_what_shares_a_loop_shares_the_transpose() -> None:
    """Two folds read a matrix once, and what uses both reads it again."""

    def standardised(m: A.Acc[Given]) -> A.Acc[Given]:
        xs = A.transpose(m)
        squares = A.sum(A.map(lambda x: x * x, xs))
        both = A.replicate((A.All, A.shape(xs)[1]), A.zip(A.sum(xs), squares))
        return A.transpose(A.zipWith(lambda x, s: (x - A.fst(s)) / A.snd(s), xs, both))

    loops = planned((standardised(A.use(M)),))
    assert made(loops) == 1
    assert len(list(mentions.nests(loops))) == 2
    (found,) = outcome(loops)
    np.testing.assert_allclose(found, (M - M.sum(axis=0)) / (M * M).sum(axis=0))


def test_a_transpose_that_is_a_result_is_made_once() -> None:
    def both(m: A.Acc[Given]) -> tuple[A.Acc[Given], ...]:
        xs = A.transpose(m)
        return xs, per_column(xs)

    assert made(planned(both(A.use(M)))) == 2


def test_which_operations_have_copies() -> None:
    def copies(*results: A.Acc[Given], together: bool = False) -> int:
        whole = labelled(results)
        labels = [each.label for each in whole.bindings]
        apart = own_views(whole, [labels] if together else [[each] for each in labels], overwritten(whole))
        verify(apart)
        return len(apart.bindings) - len(whole.bindings)

    def sums(xs: A.Acc[Given]) -> tuple[A.Acc[Given], ...]:
        return A.sum(xs), A.product(xs), A.map(lambda x: x + 1, xs)

    m, cube = A.use(M), A.use(np.arange(24).reshape(2, 3, 4))
    assert copies(*sums(A.transpose(m))) == 2
    assert copies(*sums(A.transpose(m)), together=True) == 0
    assert copies(*sums(m)) == 0
    assert copies(A.sum(A.transpose(m))) == 0
    assert copies(*sums(A.backpermute((4, 2, 3), lambda i: A.index(i[1], i[2], i[0]), cube))) == 2
    # Parts and windows, of views as well.
    v, places = A.flatten(m), A.use(np.array([3, 0, 2]))
    assert copies(*sums(A.backpermute((4, 2, 3), lambda i: A.index(i[1], i[2], i[0] // 2), cube))) == 2
    assert copies(*sums(A.tail(m))) == 2
    assert copies(*sums(windows(v))) == 2
    assert copies(*sums(A.generate((12, 12), lambda i: v[i[0]] * v[i[1]]))) == 2
    # What is read of what is computed, at places that are, at few of each row's, or with much work.
    assert copies(*sums(A.transpose(A.map(lambda x: x * 2, m)))) == 0
    assert copies(*sums(A.generate((3,), lambda i: v[places[i]]))) == 0
    assert copies(*sums(A.slice(m, (A.All, 1)))) == 0
    assert copies(*sums(A.generate((3,), lambda i: A.exp(v[i[0]])))) == 0


def windows(xs: A.Acc[Given]) -> A.Acc[Given]:
    """Three elements each."""
    return A.generate((A.length(xs) - 2, 3), lambda i: xs[i[0] + i[1]])


def test_windows_are_not_stored() -> None:
    """Deviations from the means of windows read the argument twice."""

    def deviations(m: A.Acc[Given]) -> A.Acc[Given]:
        parts = windows(A.flatten(m))
        sums = A.sum(parts)
        return A.sum(A.imap(lambda i, x: (x - sums[i[0]] / 3) * (x - sums[i[0]] / 3), parts))

    loops = planned((deviations(A.use(M)),))
    assert made(loops) == 0
    found = np.lib.stride_tricks.sliding_window_view(M.ravel(), 3)
    np.testing.assert_allclose(outcome(loops)[0], found.var(axis=1) * 3)
    assert made(planned((deviations(A.use(M)),), duplicate=False)) == 1


@pytest.mark.parametrize("duplicate", ["gathers", False, True])
def test_an_argument_that_a_scatter_overwrites_is_read_before(duplicate: Duplicate) -> None:
    def changed(m: A.Acc[Given]) -> tuple[A.Acc[Given], ...]:
        xs = A.transpose(m)
        scattered = A.permute(A.add, m, lambda i: A.just(A.index(i[0], 0)), A.map(lambda x: x + 1, m))
        return A.sum(xs), scattered, per_column(xs)

    loops = planned(changed(A.use(M)), duplicate)
    expected = M.copy()
    expected[:, 0] += (M + 1).sum(axis=1)
    total, scattered, divided = outcome(loops)
    np.testing.assert_allclose(total, M.sum(axis=0))
    np.testing.assert_allclose(scattered, expected)
    np.testing.assert_allclose(divided, (M / M.sum(axis=0)).T)
