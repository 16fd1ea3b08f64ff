"""What loops and branches read of the arrays around them, and what of that they make again: it is not stored for them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F32, F64, I8, I64
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


def computed(step: Callable[..., AnyAcc], *of: AnyAcc, turns: int = 3) -> set[str]:
    """The names of what makes the arrays that a loop of this step reads, but for its arguments. The first is the state."""
    return makers(A.iterate(turns, lambda state: step(state, *of[1:]), of[0]), of=list(of)) - {"use"}


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


def f64(x: AnyExp) -> AnyExp:
    return A.cast(x, np.float64)


def added(make: Callable[..., AnyAcc]) -> Callable[..., AnyAcc]:
    """The step that adds what `make` makes of the other arguments, of the shape of the state."""
    return lambda state, *of: A.zipWith(A.add, state, make(state.shape, *of))


def test_constants_and_indices_are_made_where_they_are_read() -> None:
    v, m = parameter(1, F64), parameter(2, F64)
    for make in (
        lambda shape: A.fill(shape, 2.0),
        lambda shape: A.generate(shape, lambda ix: f64(ix[0])),
        lambda shape: A.generate(shape, lambda ix: f64(ix[0]) * 0.5),
    ):
        assert computed(added(make), v) == set()
        assert computed(added(make), m) == set()
    everywhere(
        A.iterate(3, added(lambda shape: A.generate(shape, lambda ix: f64(ix[1]) * 0.5)), use(X)),
        X + 1.5 * np.arange(4),
    )


def test_what_is_dear_is_stored() -> None:
    """More than two operations, or one that takes long, or one that another array would have to be found for."""
    v, order = parameter(1, F64), parameter(1, I64)
    for function in (
        lambda ix: f64(ix[0]) * 0.5 + 1,
        lambda ix: A.sin(f64(ix[0])),
        lambda ix: A.sqrt(f64(ix[0])),
        lambda ix: f64(ix[0] % 7),
    ):
        assert computed(added(lambda shape, function=function: A.generate(shape, function)), v) == {"generate"}
    assert computed(lambda state, xs: A.zipWith(A.add, state, A.scanl1(A.add, xs)), v, parameter(1, F64)) == {"scanl1"}
    assert "gather" in computed(lambda state, xs, at: A.zipWith(A.add, state, A.gather(at, xs)), v, v, order)


def test_types_that_grow_are_converted_where_they_are_read() -> None:
    """Two bytes are fewer than eight; that is true of what is made of them in turn, and of no type that shrinks."""
    v = parameter(1, F64)
    for element in (I8, F32):
        assert computed(added(lambda _, xs: A.map(f64, xs)), v, parameter(1, element)) == set()
    assert computed(added(lambda _, xs: A.map(lambda x: x * 2, A.map(f64, xs))), v, parameter(1, I8)) == set()

    def marked(state: AnyAcc, xs: AnyAcc) -> AnyAcc:
        return A.zipWith(lambda s, mark: A.cond(mark, s, -s), state, A.map(lambda x: x > 0, xs))

    assert computed(marked, v, parameter(1, F64)) == {"map"}
    small = np.arange(4, dtype=np.int8)
    everywhere(A.iterate(3, added(lambda _: A.map(f64, use(small))), use(X[0])), X[0] + 3.0 * small)


def test_what_is_read_beside_it_costs_no_bytes() -> None:
    v, xs, ys = parameter(1, F64), parameter(1, F64), parameter(1, F64)

    def twice(x: AnyExp) -> AnyExp:
        return x * 2 + 1

    assert computed(added(lambda _, xs: A.map(twice, xs)), v, xs) == {"map"}
    assert computed(lambda s, xs: A.zipWith3(lambda s, x, t: s * x + t, s, xs, A.map(twice, xs)), v, xs) == set()
    assert computed(added(lambda _, xs, ys: A.zipWith(A.mul, xs, ys)), v, xs, ys) == {"zipWith"}
    everywhere(
        A.iterate(2, lambda s: A.zipWith3(lambda s, x, t: s + x * t, s, use(Y[0]), A.map(twice, use(Y[0]))), use(X[0])),
        X[0] + 2 * Y[0] * (2 * Y[0] + 1),
    )


def test_folds_filters_and_scatters_make_it_beside_them() -> None:
    v, xs = parameter(1, F64), parameter(1, I8)

    def numbered(state: AnyAcc) -> AnyAcc:
        places = A.generate(state.shape, lambda ix: ix[0])
        kept, _ = A.filter(lambda pair: f64(pair[0]) > 0.0, A.zip(state, places))
        first = A.fold(A.min, 99, A.map(lambda pair: pair[1], kept))
        last = A.fold(lambda a, b: A.cond(b[0] > a[0], b, a), A.lift(-9.0, 0), A.zip(state, places))
        turned = A.scatterWith(A.add, A.map(lambda s: s * 0, state), A.zip(places, state))
        return A.map(lambda s: s + f64(A.the(first)) + f64(A.the(last)[1]), turned)

    assert computed(numbered, v) == set()
    assert computed(lambda s, xs: A.map(lambda x: x + A.the(A.sum(A.map(f64, xs))), s), v, xs) == {"sum"}
    expected = X[0]
    for _ in range(2):
        expected = expected + np.flatnonzero(expected > 0.0).min(initial=99) + expected.argmax()
    everywhere(A.iterate(2, numbered, use(X[0])), expected)


def test_what_is_scanned_and_what_indexes_is_loaded() -> None:
    """Also through maps. Constants take no time in a scan either."""
    v, xs, at = parameter(1, F64), parameter(1, I8), parameter(1, I8)

    def summed(make: Callable[..., AnyAcc]) -> Callable[..., AnyAcc]:
        return lambda state, *of: A.map(A.neg, A.scanl1(A.add, A.map(A.abs, A.zipWith(A.add, state, make(*of)))))

    assert computed(summed(lambda xs: A.map(f64, xs)), v, xs) == {"map"}
    assert computed(lambda state: summed(lambda: A.fill(state.shape, 1.0))(state), v) == set()
    assert computed(lambda s, at: A.gather(A.map(lambda i: A.cast(i, np.int64), at), s), v, at) == {"map"}


def test_indices_of_rows_that_are_known_to_be_short_are_stored() -> None:
    v = parameter(1, F64)

    def shaped(columns: int) -> set[str]:
        start = A.generate((A.length(v), columns), lambda ix: v[ix[0]])
        return makers(A.iterate(3, added(lambda shape: A.generate(shape, lambda ix: f64(ix[1]))), start), of=[v])

    assert shaped(3) == {"generate"}
    assert shaped(16) == set()


def test_each_reader_makes_its_own() -> None:
    """Two loops would have to store in each turn what they share."""

    def step(state: AnyAcc) -> AnyAcc:
        places = A.generate(state.shape, lambda ix: f64(ix[0]))
        total = A.sum(A.zipWith(A.mul, state, places))
        return A.zipWith(lambda s, p: s + p * A.the(total), state, places)

    whole = A.explain(A.iterate(2, step, use(X[0])))
    assert whole.writes == {"n0": 1, "1": 1}
    expected, places = X[0], np.arange(4.0)
    for _ in range(2):
        expected = expected + places * (expected * places).sum()
    everywhere(A.iterate(2, step, use(X[0])), expected)


def test_what_only_branches_use_is_made_in_them() -> None:
    """It is saved that it is stored, though a branch reads as many bytes. A loop in a branch reads it in each turn."""
    v, xs, flag = parameter(1, F64), parameter(1, F64), parameter(0, BOOL)

    def either(first: Callable[[AnyAcc], AnyAcc], *results: AnyAcc) -> set[str]:
        double = A.map(lambda x: x * 2, xs)
        chosen = A.acond(A.the(flag), first(double), A.zipWith(A.sub, v, double))
        alike = A.zipWith(A.mul, v, xs)
        whole = program([chosen, alike, *(A.map(A.neg, double) for _ in results)], [v, xs, flag])
        bindings = {binding.label: binding for part in programs.programs(whole) for binding in part.bindings}
        return {describe(bindings[a.label].operation).name for a in given(whole) if a.label in bindings} - {"use"}

    assert either(lambda double: A.zipWith(A.add, v, double)) == set()
    assert either(lambda double: A.zipWith(A.add, v, double), v) == {"map"}
    assert either(lambda double: A.iterate(2, lambda s: A.zipWith(A.add, s, double), v)) == {"map"}
    assert either(lambda double: A.zipWith(A.add, v, A.reverse(double))) == {"map"}
    for answer in (True, False):
        double = A.map(lambda x: x * 2, use(Y[0]))
        chosen = A.acond(A.the(use(np.array(answer))), A.zipWith(A.add, use(X[0]), double), A.map(A.neg, double))
        everywhere(chosen, X[0] + 2 * Y[0] if answer else -2 * Y[0])


def test_what_is_loaded_is_loaded_though_something_else_makes_it_again() -> None:
    """So that an index out of bounds is an error still."""

    def step(state: AnyAcc, limit: int) -> AnyAcc:
        places = A.generate(state.shape, lambda ix: ix[0])
        after = A.map(lambda p: p + 1, places)
        return A.zipWith(lambda s, p: s + f64(p) * f64(places[(p * 3) % limit]), state, after)

    p = np.arange(1, 5)
    everywhere(A.iterate(2, lambda state: step(state, 4), use(X[0])), X[0] + 2.0 * p * (p * 3 % 4))
    for backend in BACKENDS:
        with pytest.raises(A.AccelIndexError):
            A.run(A.iterate(2, lambda state: step(state, 7), use(X[0])), backend=backend)


def test_long_rows_of_moves_are_stored() -> None:
    """Of each array in such a row a copy would be made for each reader of a later one."""
    x, v = parameter(2, F64), parameter(1, F64)

    def moved(count: int) -> set[str]:
        rows = A.replicate((A.length(v), A.All), v)
        for _ in range(count):
            rows = A.transpose(rows)
        return computed(lambda state, v: A.zipWith(A.add, state, rows), x, v)

    assert moved(4) == set()
    assert moved(20) != set()
