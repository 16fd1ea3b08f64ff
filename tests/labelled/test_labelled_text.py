"""Golden texts: what programs become."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import accel as A
from accel.ast.tree.types import BOOL, F32, F64, I64, TupleType
from tests.labelled.programs import parameter, program_text

Golden = Callable[[str], None]


def test_dotp(golden: Golden) -> None:
    xs, ys = parameter(1, F32), parameter(1, F32)
    golden(program_text(A.fold(A.add, 0, A.zipWith(A.mul, xs, ys)), of=[xs, ys]))


def test_normalise2(golden: Golden) -> None:
    """The thesis's example has sizes n0 and n0+1: its `scanl` has one result more than it reads."""
    xs = parameter(1, F64)
    total = A.foldAll(A.add, 0, xs)
    scanned = A.scanl(A.add, 0, xs)
    last = A.foldAll(A.add, 0, scanned)
    golden(program_text(A.map(lambda x: x / A.the(total), xs), A.map(lambda x: x / A.the(last), scanned), of=[xs]))


def test_softmax_of_rows(golden: Golden) -> None:
    m = parameter(2, F32)
    _, columns = A.unlift(m.shape)
    shifted = A.zipWith(A.sub, m, A.replicate((A.All, columns), A.fold1(A.max, m)))
    powers = A.map(A.exp, shifted)
    golden(program_text(A.zipWith(A.div, powers, A.replicate((A.All, columns), A.fold(A.add, 0, powers))), of=[m]))


def test_filter(golden: Golden) -> None:
    """The extent of what a filter keeps is a variable of its own, which later maps share."""
    xs = parameter(1, F64)
    kept, counts = A.filter(lambda x: x > 0.0, xs)
    golden(program_text(A.fold(A.add, 0, A.map(lambda x: x * x, kept)), counts, of=[xs]))


def test_histogram(golden: Golden) -> None:
    """A permute whose indices are the elements at its own index streams them: nothing is loaded."""
    bins = parameter(1, I64)
    ones = A.fill(bins.shape, 1)
    golden(program_text(A.permute(A.add, A.fill((16,), 0), lambda i: A.just(A.index(bins[i])), ones), of=[bins]))


def test_permute_that_drops(golden: Golden) -> None:
    xs = parameter(1, I64)
    target = lambda i: A.cond(xs[i] > 0, A.just(A.index(xs[i])), A.nothing())  # noqa: E731
    golden(program_text(A.permute(lambda new, old: new, A.fill((8,), 0), target, xs), of=[xs]))


def test_scatter_with(golden: Golden) -> None:
    pairs = parameter(1, TupleType((I64, F64)))
    into = parameter(1, F64)
    golden(program_text(A.scatterWith(A.add, into, pairs), of=[pairs, into]))


def test_flatten_moves_to_the_inputs(golden: Golden) -> None:
    m1, m2 = parameter(2, F64), parameter(2, F64)
    golden(program_text(A.scanl1(A.add, A.flatten(A.zipWith(A.mul, m1, m2))), of=[m1, m2]))


def test_folds_of_all_elements(golden: Golden) -> None:
    """The core fold says how many dimensions it folds; nothing is reshaped."""
    m, cube = parameter(2, F64), parameter(3, F64)
    golden(program_text(A.foldAll(A.add, 0, m), A.fold1All(A.max, cube), A.fold(A.add, 0, cube), of=[m, cube]))


def test_scans(golden: Golden) -> None:
    xs = parameter(2, I64)
    scan, totals = A.scanlTotal(A.add, 0, xs)
    golden(
        program_text(
            A.scanl1(A.max, xs), A.scanr(A.sub, 0, xs), A.scanr1(lambda a, b: a + b, xs), scan, totals, of=[xs]
        )
    )


def test_acond(golden: Golden) -> None:
    """What only one branch uses is bound there; extents on which the branches differ are new variables."""
    flags, xs, ys = parameter(0, BOOL), parameter(1, F32), parameter(1, F32)
    doubled = A.map(lambda x: x + x, xs)
    golden(
        program_text(
            A.acond(A.the(flags), A.map(lambda x: x * x, doubled), A.map(lambda y: -y, ys)),
            A.acond(A.the(flags), doubled, xs),
            of=[flags, xs, ys],
        )
    )


def test_awhile(golden: Golden) -> None:
    """What does not depend on the state is bound outside; the state keeps its size where the step keeps it."""
    xs, step = parameter(1, F64), parameter(1, F64)
    twice = A.map(lambda x: x * 2.0, step)
    golden(
        program_text(
            A.awhile(
                lambda state: A.unit(A.the(A.foldAll(A.add, 0, state)) < 100.0),
                lambda state: A.zipWith(A.add, state, twice),
                xs,
            ),
            of=[xs, step],
        )
    )


def test_awhile_with_a_state_that_shrinks(golden: Golden) -> None:
    xs = parameter(1, I64)
    golden(
        program_text(
            A.awhile(lambda s: A.unit(A.length(s) > 4), lambda s: A.filter(lambda x: x % 2 == 0, s)[0], xs), of=[xs]
        )
    )


def test_loads_and_laziness(golden: Golden) -> None:
    xs, table = parameter(1, I64), parameter(1, F32)
    golden(
        program_text(A.map(lambda i: A.cond((i >= 0) & (i < A.length(table)), table[i] * 2.0, 0.0), xs), of=[xs, table])
    )


def test_scalar_loop(golden: Golden) -> None:
    xs = parameter(1, I64)
    golden(program_text(A.map(lambda x: A.while_(lambda s: s < 1000, lambda s: s * s + x, x), xs), of=[xs]))


def test_constants_show_their_bits(golden: Golden) -> None:
    xs = parameter(1, F32)
    smaller = [A.map(partial(A.min, value), xs) for value in (0.1, -0.0, float("inf"), 1e-45)]
    golden(program_text(*smaller, of=[xs]))


def test_movement(golden: Golden) -> None:
    m, ix = parameter(2, F32), parameter(1, I64)
    golden(
        program_text(
            A.transpose(m), A.reverseOn(1, m), A.take(3, m), A.tail(m), A.slice(m, (2, A.All)),
            A.gather(ix, A.flatten(m)), A.replicate((5, A.All), ix), A.compute(m), of=[m, ix],
        )
    )  # fmt: skip


def test_use_in_order_of_occurrence(golden: Golden) -> None:
    first, second = A.use(np.arange(3.0)), A.use(np.arange(3))
    golden(program_text(A.zipWith(lambda a, b: A.toFloating(a, np.float64) + b, second, first), first))
