"""What simplification does, and what it must not do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F32, F64, I64
from accel.labelled.nodes import Backpermute, Copy, Filter, Fold, Generate, Map, Operation, Reshape, Scan, Scatter
from tests.labelled.programs import AnyAcc, AnyExp, parameter, program, program_text, run, run_all, same, use


def operations(*results: AnyAcc, of: list[AnyAcc]) -> list[Operation]:
    """A program's operations, without those of its parameters."""
    return [binding.operation for binding in program(results, of).bindings[len(of) :]]


def test_zip_unzip_and_projections_cost_nothing() -> None:
    xs, ys = parameter(1, F64), parameter(1, I64)
    first, second = A.unzip(A.zip(xs, ys))
    assert operations(first, second, A.map(lambda p: p[1], A.zip(xs, ys)), of=[xs, ys]) == []


def test_maps_that_do_nothing_disappear() -> None:
    xs = parameter(2, F64)
    assert (
        operations(A.map(lambda x: x, xs), A.reshape(xs.shape, xs), A.backpermute(xs.shape, lambda i: i, xs), of=[xs])
        == []
    )


def test_a_backpermute_to_the_same_extents_is_shrinking() -> None:
    """It has as many elements as its input, whatever the sizes."""
    m = parameter(2, F64)
    rows, columns = A.unlift(m.shape)

    def swap(i: AnyExp) -> AnyExp:
        return A.index(i[1], i[0])

    swapped, squared = (A.backpermute(A.index(n, rows), swap, m) for n in (columns, rows))
    found = operations(swapped, squared, of=[m])
    assert [operation.shrinking for operation in found if isinstance(operation, Backpermute)] == [True, False]


def test_equal_operations_happen_once() -> None:
    xs = parameter(1, F64)
    squares = [A.map(lambda x: x * x, xs) for _ in range(2)]
    kept = [A.filter(lambda x: x > 0.0, xs)[0] for _ in range(2)]
    both = A.zipWith(A.add, squares[0], squares[1]), A.zipWith(A.add, kept[0], kept[1])
    assert len(operations(*both, of=[xs])) == 4


def test_bits_of_floats_are_kept() -> None:
    """Nothing that looks like a law of arithmetic may change -0.0, NaN or a rounding."""
    x = np.array([-0.0, 0.0, np.nan, 2.5, 1e-320])
    for function, expected in (
        (lambda v: v + 0.0, x + 0.0),
        (lambda v: v * 0.0, x * 0.0),
        (lambda v: v - v, x - x),
        (lambda v: 0.0 - v, 0.0 - x),
        (lambda v: (v + 0.1) + 0.2, (x + 0.1) + 0.2),
    ):
        found = run(A.map(function, use(x)))
        assert found.view(np.int64).tolist()[:2] == np.asarray(expected).view(np.int64).tolist()[:2]
        np.testing.assert_array_equal(found, expected)


def test_constants_are_folded() -> None:
    xs = parameter(1, F64)
    two = A.constant(2.0, np.float64)
    text = program_text(
        A.map(lambda x: x * A.sqrt(two * two) + A.toFloating(A.constant(7, np.int64) // 2, np.float64), xs), of=[xs]
    )
    assert "(λ_ x1. x2 = mul x1 2.0; add x2 3.0)" in text


def test_elementary_functions_are_not() -> None:
    xs = parameter(1, F64)
    assert "exp 1.0" in program_text(A.map(lambda x: x * A.exp(A.constant(1.0, np.float64)), xs), of=[xs])


def test_integers_obey_their_laws() -> None:
    xs = parameter(1, I64)
    assert operations(A.map(lambda x: ((x + 0) * 1 - 0) | 0, xs), of=[xs]) == []
    assert "generate (λ_. 0)" in program_text(A.map(lambda x: x * 0, xs), of=[xs])


def test_both_tails_of_a_distribution_take_one_magnitude() -> None:
    """erfc of `(-a) c` is that of `-(a c)`, so that backends compute what depends on the magnitude once, with the same bits."""
    xs = parameter(1, F64)

    def tails(x: AnyExp) -> AnyExp:
        return A.lift(A.erfc(x * -0.7), A.erfc(-x * -0.7), A.erfc(-x / 2.5), A.erfc(-x * -x))

    text = program_text(A.map(tails, xs), of=[xs])
    assert text.count(" -0.7") == 1
    assert text.count("mul x1 x1") == 1
    x = np.array([0.0, -0.0, 1.5, -1.5, 1e-320, -1e-320, 30.0, -30.0, 1e300, np.inf, -np.inf, np.nan])
    with np.errstate(all="ignore"):
        operands = x * -0.7, -x * -0.7, -x / 2.5, -x * -x
    for found, operand in zip(run_all(*A.unzip4(A.map(tails, use(x)))), operands, strict=True):
        same(found, run(A.map(A.erfc, use(operand))))


def test_what_becomes_an_integer_is_truncated_once() -> None:
    """By the conversion; what becomes another float is truncated first."""
    xs = parameter(1, F64)
    assert "trunc" not in program_text(A.map(lambda x: A.truncate(x * 2.0, np.int32), xs), of=[xs])
    assert "trunc" in program_text(A.map(lambda x: A.truncate(x, np.float32), xs), of=[xs])
    x = np.array([0.0, -0.0, 0.9, -0.9, 127.9, 128.0, -128.9, -129.0, 255.5, -1e300, 1e300, np.inf, -np.inf, np.nan])
    for kind in (np.int8, np.uint8, np.int32, np.int64):
        limits = np.iinfo(kind)
        expected = [0 if e != e else int(np.clip(np.trunc(e), float(limits.min), float(limits.max))) for e in x]
        expected = [min(max(e, limits.min), limits.max) for e in expected]

        def truncated(e: AnyExp, to: type[np.integer[Any]] = kind) -> AnyExp:
            return A.truncate(e, to)

        assert run(A.map(truncated, use(x))).tolist() == expected


def test_dead_leaves_disappear() -> None:
    xs = parameter(1, F64)
    wide = A.map(lambda x: A.lift(x + 1.0, A.exp(x), x * 2.0), xs)
    (only,) = operations(A.map(lambda p: p[2], A.reverse(wide)), of=[xs])[:-1]
    assert isinstance(only, Map)
    assert len(only.function.body.results) == 1


def test_a_generate_that_loads_its_own_index_is_a_map() -> None:
    xs, ys = parameter(2, F64), parameter(2, F64)
    (found,) = operations(A.generate(xs.shape, lambda i: xs[i] * 2.0), of=[xs])
    assert isinstance(found, Map)
    assert found.inputs == program([xs], [xs]).results
    (other,) = operations(A.generate(xs.shape, lambda i: ys[i] * 2.0), of=[xs, ys])
    assert isinstance(other, Generate)  # ys may have another shape


@pytest.mark.parametrize(
    ("combine", "kind", "exact", "commutes"),
    [
        (A.ne, BOOL, True, True),
        (A.add, I64, True, True),
        (A.mul, I64, True, True),
        (A.max, F32, True, True),
        (A.add, F32, False, True),
        (A.mul, F64, False, True),
        (A.sub, I64, False, False),
        (lambda a, b: b + a, F32, False, True),
        (lambda a, b: a, I64, False, False),
        (lambda a, b: a + b + 1, I64, False, False),
        (lambda a, b: A.cond(a > b, a, b), F64, False, False),
    ],
)
def test_what_is_known_of_combining_functions(combine: object, kind: object, exact: bool, commutes: bool) -> None:
    xs = parameter(1, kind)  # type: ignore[arg-type]  # parametrised
    (fold,) = operations(A.fold1(combine, xs), of=[xs])  # type: ignore[arg-type]  # any function
    assert isinstance(fold, Fold)
    assert (fold.monoid.exact, fold.monoid.commutes) == (exact, commutes)


def extreme(better: object, nan: bool, behind: int = 2**63 - 1) -> object:
    """Joins pairs of a value and a place, as `argmax` does; with `nan` a NaN is found."""

    def joined(a: AnyExp, b: AnyExp) -> AnyExp:
        best = better(a[0], b[0])  # type: ignore[operator]  # a function of two numbers

        def place(pair: AnyExp) -> AnyExp:
            return A.select((best == pair[0]) | A.isNaN(pair[0]) if nan else pair[0] == best, pair[1], behind)

        return A.lift(best, A.min(place(b), place(a)))

    return joined


@pytest.mark.parametrize(
    ("combine", "kind", "exact"),
    [
        (extreme(A.max, nan=True), F32, True),
        (extreme(A.min, nan=True), F64, True),
        (extreme(A.max, nan=False), I64, True),
        # Nobody says where a NaN is; another bound may be a place; the sum is not among the values.
        (extreme(A.max, nan=False), F32, False),
        (extreme(A.max, nan=False, behind=5), I64, False),
        (extreme(A.add, nan=False), I64, False),
    ],
)
def test_folds_that_find_where_an_extreme_stands(combine: object, kind: object, exact: bool) -> None:
    xs, places = parameter(1, kind), parameter(1, I64)  # type: ignore[arg-type]  # parametrised
    (fold,) = operations(A.fold1(combine, A.zip(xs, places)), of=[xs, places])  # type: ignore[arg-type]  # as above
    assert isinstance(fold, Fold)
    assert (fold.monoid.exact, fold.monoid.commutes, fold.monoid.extreme is not None) == (exact, exact, exact)
    (scan,) = operations(A.scanl1(combine, A.zip(xs, places)), of=[xs, places])  # type: ignore[arg-type]  # as above
    assert isinstance(scan, Scan)
    assert not scan.monoid.exact


def test_lazy_logic_is_logic() -> None:
    """`&` on bools is a choice to the user, and one exact operator afterwards."""
    x = np.array([[True, True], [True, False]])
    for combine, expected in ((lambda a, b: a & b, x.all(1)), (lambda a, b: a | b, x.any(1))):
        folded = A.fold1(combine, use(x))
        (fold,) = [o for b in program([folded]).bindings if isinstance(o := b.operation, Fold)]
        assert fold.monoid.exact
        same(run(folded), expected)


def tuples(a: AnyExp, b: AnyExp) -> AnyExp:
    return A.lift(a[0] + b[0], A.max(a[1], b[1]))


def test_tuples_are_judged_by_component() -> None:
    xs, ys = parameter(1, F64), parameter(1, I64)
    (fold,) = operations(A.fold1(tuples, A.zip(xs, ys)), of=[xs, ys])
    assert isinstance(fold, Fold)
    assert (fold.monoid.exact, fold.monoid.commutes) == (False, True)


def test_reductions_shed_components_that_nobody_needs() -> None:
    xs, ys, zs = (parameter(1, F64) for _ in range(3))
    three: AnyAcc = A.zip3(xs, ys, zs)

    def plus(a: AnyExp, b: AnyExp) -> AnyExp:
        return A.lift(a[0] + b[0] * a[1], a[1] * b[1], a[2] + b[2])

    def inputs_of(*results: AnyAcc) -> int:
        (found,) = operations(*results, of=[xs, ys, zs])
        assert isinstance(found, Fold | Scan)
        return len(found.inputs)

    folded, scanned = A.fold1(plus, three), A.scanl1(plus, three)
    first, second, third = A.unzip3(folded)
    assert [inputs_of(leaf) for leaf in (first, second, third)] == [2, 1, 1]
    assert inputs_of(second, third) == 2
    assert inputs_of(A.unzip3(scanned)[0]) == 2
    scan, totals = A.scanlTotal(plus, A.lift(0.0, 1.0, 2.0), three)
    assert inputs_of(A.unzip3(scan)[1], A.unzip3(totals)[2]) == 2


def test_shed_components_change_nothing() -> None:
    x = np.arange(1.0, 6.0)
    pairs = A.zip(use(x), use(x * 2))

    def both(a: AnyExp, b: AnyExp) -> AnyExp:
        return A.lift(a[0] + b[0], a[1] * b[1])

    _, totals = A.scanlTotal(both, A.lift(0.0, 1.0), pairs)
    same(run(A.unzip(totals)[1]), (x * 2).prod())


def is_positive(p: AnyExp) -> AnyExp:
    first: AnyExp = p[0]
    return first > 0.0


def test_filters_shed_leaves_that_nobody_needs() -> None:
    xs, ys, zs = (parameter(1, F64) for _ in range(3))
    three: AnyAcc = A.zip3(xs, ys, zs)
    kept: AnyAcc
    kept, counts = A.filter(is_positive, three)
    (found,) = operations(A.unzip3(kept)[1], of=[xs, ys, zs])
    assert isinstance(found, Filter)
    assert len(found.inputs) == 2
    (found,) = operations(counts, of=[xs, ys, zs])
    assert isinstance(found, Filter)
    assert len(found.inputs) == 1
    x = np.array([1.0, -1.0, 2.0])
    pairs: AnyAcc = A.zip(use(x), use(x * 10))
    kept, _ = A.filter(is_positive, pairs)
    same(run(A.unzip(kept)[1]), [10.0, 20.0])
    same(run(A.unit(A.length(kept))), np.int64(2))


def scatter(into: AnyAcc, at: AnyAcc, values: AnyAcc) -> AnyAcc:
    return A.scatterWith(A.add, into, A.zip(at, values))


def test_a_scatter_destroys_only_what_nobody_needs() -> None:
    into, at, values = parameter(1, F64), parameter(1, I64), parameter(1, F64)
    given = [into, at, values]

    def copies(*results: AnyAcc) -> int:
        return sum(isinstance(operation, Copy) for operation in operations(*results, of=given))

    fresh = A.map(lambda x: x + 1.0, into)
    assert copies(scatter(into, at, values)) == 1  # an input
    assert copies(scatter(fresh, at, values)) == 0
    assert copies(scatter(fresh, at, values), fresh) == 1  # a result
    total = A.foldAll(A.add, 0, fresh)
    assert copies(total, scatter(fresh, at, values)) == 0  # used before
    assert copies(scatter(fresh, at, values), total) == 0  # used behind, but it may be before
    changed = scatter(fresh, at, values)
    assert copies(changed, A.zipWith(A.add, changed, fresh)) == 1  # used behind, with what it becomes
    assert copies(scatter(A.compute(fresh), at, values)) == 1  # aliased
    zeros = A.fill(into.shape, 0.0)
    assert copies(scatter(zeros, at, values), scatter(zeros, at, A.map(lambda x: -x, values))) == 0  # made again
    assert copies(scatter(scatter(fresh, at, values), at, values)) == 0
    assert copies(scatter(fresh, at, fresh)) == 1  # read while it is written
    indexed = A.imap(lambda i, x: fresh[A.length(fresh) - 1 - i[0]] + x, values)
    assert copies(scatter(fresh, at, A.zipWith(A.add, indexed, fresh))) == 0  # read before, in a map
    loading = A.scatterWith(lambda new, old: new + old * fresh[0], fresh, A.zip(at, values))
    assert copies(loading) == 1  # read by the function that combines


def test_copies_keep_results_right() -> None:
    into, at, values = use(np.zeros(3)), use(np.array([0, 2])), use(np.array([1.0, 2.0]))
    fresh = A.map(lambda x: x + 1.0, into)
    first, second = scatter(fresh, at, values), scatter(fresh, at, A.map(lambda x: x * 10.0, values))
    found = run_all(first, fresh, second, scatter(first, at, values))
    for array, expected in zip(found, ([2, 1, 3], [1, 1, 1], [11, 1, 21], [3, 1, 5]), strict=True):
        same(array, np.array(expected, float))


def test_equal_scatters_happen_once() -> None:
    into, at, values = parameter(1, F64), parameter(1, I64), parameter(1, F64)
    twice = [scatter(into, at, values) for _ in range(2)]
    found = operations(A.zipWith(A.sub, *twice), of=[into, at, values])
    assert sum(isinstance(operation, Scatter) for operation in found) == 1


def test_a_fold_that_loses_a_component_is_described_anew() -> None:
    xs, ys = parameter(1, I64), parameter(1, I64)
    pairs = A.fold1(lambda a, b: A.lift(a[0] + b[0], a[1] - b[1]), A.zip(xs, ys))
    fold, *_ = operations(A.map(lambda p: p[0], pairs), of=[xs, ys])
    assert isinstance(fold, Fold)
    assert (len(fold.inputs), fold.monoid.exact, fold.monoid.commutes) == (1, True, True)


def test_a_choice_between_equal_inputs_is_one_of_them() -> None:
    xs = parameter(1, I64)
    one, other = (A.map(lambda x: x * 3, xs) for _ in range(2))
    chosen = A.map(lambda p: A.cond(p[0] > 4, p[0], p[1]), A.zip(one, other))
    assert len(operations(chosen, of=[xs])) == 1


def _scaled_sum(m: AnyAcc, factor: AnyAcc) -> AnyAcc:
    """The last running sum of the flattened product of a matrix and one that is filled."""
    filled = A.generate(m.shape, lambda i: A.the(factor))
    return A.scanlTotal(A.add, 5, A.flatten(A.zipWith(lambda x, y: x * y + 1, filled, m)))[1]


def test_reshapes_move_over_constants() -> None:
    """What fills a matrix fills a vector then, in the loop of the scan."""
    m, factor = parameter(2, I64), parameter(0, I64)
    bindings = program([_scaled_sum(m, factor)], [m, factor]).bindings
    assert [len(b.arrays[0].shape) for b in bindings if isinstance(b.operation, Generate)] == [1]
    assert [b.operation.inputs for b in bindings if isinstance(b.operation, Reshape)] == [bindings[0].arrays]


@pytest.mark.llvm
@pytest.mark.parametrize("shape", [(3, 4), (0, 4), (3, 0), (1, 1), (70, 90)])
def test_flattened_constants_have_the_same_elements(shape: tuple[int, int]) -> None:
    m = np.arange(shape[0] * shape[1]).reshape(shape)
    summed = _scaled_sum(use(m), use(np.array(7)))
    assert A.explain(summed).loops <= 1
    for backend in ("interpreter", "llvm"):
        assert A.run(summed, backend=backend) == 5 + (7 * m + 1).sum()
