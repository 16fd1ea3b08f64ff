"""What only spreads an array, as `replicate` does, is made in the loops and branches that read it, and not stored for them."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F64
from accel.labelled import programs
from accel.labelled.array import Array
from accel.labelled.nodes import Program
from accel.labelled.operations import Flag, describe, parts
from accel.labelled.passes.shapes.bounds import reads_inside
from tests.labelled.programs import AnyAcc, AnyArray, AnyExp, parameter, program, same, use

pytestmark = pytest.mark.llvm

RNG = np.random.default_rng(7)
X, Y = (RNG.integers(-3, 4, (4, 4)).astype(np.float64) for _ in range(2))

BACKENDS: tuple[Literal["interpreter", "llvm"], ...] = ("interpreter", "llvm")
STRATEGIES: tuple[Literal["none", "greedy", "ilp"], ...] = ("none", "greedy", "ilp")


def everywhere(result: AnyAcc, expected: AnyArray) -> None:
    for backend in BACKENDS:
        for strategy in STRATEGIES:
            same(A.run(result, backend=backend, strategy=strategy), expected)


def given(of: Program) -> set[Array]:
    """The arrays that loops and branches read and that are made around them."""
    found: set[Array] = set()
    for each in programs.programs(of):
        for part in (inner for binding in each.bindings for inner in parts(binding.operation)):
            bindings = [binding for inner in programs.programs(part) for binding in inner.bindings]
            own = {leaf.label for inner in programs.programs(part) for leaves in inner.parameters for leaf in leaves}
            own |= {binding.label for binding in bindings}
            found.update(a for binding in bindings for a in programs.reads(binding.operation) if a.label not in own)
    return found


def makers(*results: AnyAcc, of: list[AnyAcc]) -> set[str]:
    """The names of the operations that make them."""
    whole = program(results, of)
    bindings = {binding.label: binding for part in programs.programs(whole) for binding in part.bindings}
    return {describe(bindings[a.label].operation).name for a in given(whole) if a.label in bindings}


def test_a_product_in_a_loop_stores_no_cube() -> None:
    """Its replicate of what the loop does not change has n^3 elements. That of the state may get another extent in a turn."""
    x, y = parameter(2, F64), parameter(2, F64)
    assert "replicate" not in makers(A.iterate(3, lambda state: A.matmul(state, y), x), of=[x, y])
    everywhere(A.iterate(3, lambda state: A.matmul(state, use(Y)), use(X)), X @ Y @ Y @ Y)
    everywhere(A.iterate(3, lambda state: A.matmul(use(Y), state), use(X)), Y @ Y @ Y @ X)


def test_a_product_before_the_loop_shares_nothing_with_those_in_it() -> None:
    x, y = parameter(2, F64), parameter(2, F64)
    start: AnyAcc = A.matmul(x, y)
    result: AnyAcc = A.iterate(3, lambda state: A.matmul(state, y), start)
    assert "replicate" not in makers(result, of=[x, y])
    everywhere(A.iterate(2, lambda state: A.matmul(state, use(Y)), A.matmul(use(X), use(Y))), X @ Y @ Y @ Y)


def test_what_is_moved_on_is_made_again_as_well() -> None:
    """A transpose of a replicate, in loops in a loop and in branches; what depends on the state stays where it is."""
    x, v = parameter(2, F64), parameter(1, F64)

    def turned(state: AnyAcc, v: AnyAcc) -> AnyAcc:
        rows = A.transpose(A.replicate((A.All, A.length(v)), v))

        def inner(one: AnyAcc) -> AnyAcc:
            wide = A.zipWith(A.add, one, rows)
            return A.acond(A.the(A.sum(A.flatten(one))) > 0, A.zipWith(A.sub, wide, A.transpose(rows)), wide)

        return A.iterate(2, inner, state)

    found = makers(A.iterate(3, lambda state: turned(state, v), x), of=[x, v])
    assert found.isdisjoint({"replicate", "transpose"})
    expected, row = X, Y[0]
    for _ in range(6):
        wide = expected + row
        expected = wide - row[:, None] if expected.sum() > 0 else wide
    everywhere(A.iterate(3, lambda state: turned(state, use(Y[0])), use(X)), expected)


@pytest.mark.parametrize("turned_first", [True, False])
def test_an_array_and_what_moves_it_are_made_in_that_order(turned_first: bool) -> None:
    """One operation reads a replicate beside a transpose of it."""

    def step(state: AnyAcc) -> AnyAcc:
        rows = A.replicate((4, A.All), use(Y[0]))
        pair = (A.transpose(rows), rows) if turned_first else (rows, A.transpose(rows))
        return A.zipWith(lambda s, p: s + p[0] * 2 + p[1] * 3, state, A.transpose(A.zip(*pair)))

    down, along = np.broadcast_to(Y[0][:, None], (4, 4)), np.broadcast_to(Y[0], (4, 4))
    added = along * 2 + down * 3 if turned_first else down * 2 + along * 3
    everywhere(A.iterate(2, step, use(X)), X + 2 * added)


def test_windows_at_places_that_are_computed_stay_stored() -> None:
    x, v = parameter(1, F64), parameter(1, F64)

    def step(state: AnyAcc, v: AnyAcc) -> AnyAcc:
        n = A.length(state)

        def place(ix: AnyExp) -> AnyExp:
            i, k = A.unindex(ix)
            return A.index(A.min(i, A.length(v) - 3) + k)

        windows = A.backpermute(A.index(n, 3), place, v)
        return A.sum(A.zipWith(A.mul, windows, A.replicate((A.All, 3), state)))

    everywhere(
        A.iterate(2, lambda state: step(state, use(np.arange(9.0))), use(X[0])),
        X[0] * np.array([3.0, 6.0, 9.0, 12.0]) ** 2,
    )
    assert "backpermute" in makers(A.iterate(2, lambda state: step(state, v), x), of=[x, v])


def test_what_is_read_by_index_stays_stored() -> None:
    """A sum at places that others say would make the replicate at each of them."""
    x, v = use(X[0]), use(np.arange(4.0))

    def step(state: AnyAcc) -> AnyAcc:
        table = A.replicate((3, A.All), v)
        return A.imap(lambda ix, s: s + table[A.index(2, (A.unindex(ix)[0] * 3) % 4)], state)

    everywhere(A.iterate(2, step, x), X[0] + 2 * (np.arange(4.0) * 3 % 4))


def test_what_a_loop_gives_is_stored() -> None:
    v = use(np.arange(3.0))
    start = A.replicate((2, A.All), v)
    everywhere(A.iterate(2, lambda state: A.zipWith(A.add, state, start), start), np.tile(np.arange(3.0), (2, 1)) * 3)
    everywhere(A.iterate(2, lambda _: start, A.map(A.neg, start)), np.tile(np.arange(3.0), (2, 1)))


def test_a_check_before_it_says_that_it_reads_in_bounds() -> None:
    """The extents of a loop's state have names of their own, which a check in the step finds equal to others."""
    x, y = parameter(3, F64), parameter(3, F64)
    loop: AnyAcc = A.iterate(3, lambda state: A.matmul(y, state), x)
    moved = [
        binding
        for part in programs.programs(program([loop], [x, y]))
        for binding in part.bindings
        if describe(binding.operation).name in ("replicate", "transpose")
    ]
    assert all(map(reads_inside, moved))
    assert any(Flag.INSIDE in describe(binding.operation).flags for binding in moved)
    many, others = np.stack([X, Y, X + Y]), np.stack([Y, X, X - Y])
    everywhere(A.iterate(2, lambda state: A.matmul(use(others), state), use(many)), others @ others @ many)


def repeated(y: AnyArray) -> AnyAcc:
    return A.iterate(2, lambda state: A.matmul(state, use(y)), use(X))


def test_an_extent_that_does_not_fit_is_an_error_still() -> None:
    for y in (np.ones((4, 3)), np.ones((3, 4))):
        for backend in BACKENDS:
            with pytest.raises(A.AccelShapeError):
                A.run(repeated(y), backend=backend)
