"""Size inference: what is unified, what is found out at run time, what cannot fit."""

from __future__ import annotations

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F64, I64
from accel.errors import AccelShapeError
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.nodes import BindSizes, RequireEqual
from accel.labelled.sizes import Sizes, Verdict
from tests.labelled.programs import AnyAcc, parameter, program, run, run_all, same, use


def vector() -> AnyAcc:
    return parameter(1, F64)


def sizes_of(*results: AnyAcc, of: list[AnyAcc]) -> list[str]:
    """The shapes of a program's results, as texts."""
    from accel.labelled.scalar_text import shape_text

    return [shape_text(array.shape) for array in program(results, of).results]


def test_unification_substitutes_flexible_variables_only() -> None:
    sizes = Sizes()
    ((n,), (m,)) = sizes.parameter(1), sizes.parameter(1)
    rigid = Extent(sizes.fresh(), 0)
    assert sizes.unify(n, rigid) is Verdict.UNKNOWN
    assert sizes.unify(n, m) is Verdict.EQUAL
    assert sizes.resolve(m) == n
    assert sizes.unify(n, Extent(m.variable, 1)) is Verdict.DIFFERENT
    assert sizes.unify(Extent(n.variable, 2), Extent(None, 5)) is Verdict.EQUAL
    assert sizes.resolve(m) == Extent(None, 3)
    assert sizes.unify(m, Extent(None, 4)) is Verdict.DIFFERENT


def test_an_offset_is_never_negative() -> None:
    sizes = Sizes()
    ((n,), (m,)) = sizes.parameter(1), sizes.parameter(1)
    assert sizes.unify(n, Extent(m.variable, 1)) is Verdict.EQUAL
    assert sizes.resolve(n) == Extent(m.variable, 1)
    assert sizes.compare(n, Extent(None, 0)) is Verdict.DIFFERENT


def test_normalise2_has_sizes_n0_and_one_more() -> None:
    xs = vector()
    scanned = A.scanl(A.add, 0, xs)
    assert sizes_of(A.map(lambda x: x + 1, xs), A.map(lambda x: x + 1, scanned), of=[xs]) == ["[n0]", "[n0+1]"]


def test_shapes_are_asked_symbolically() -> None:
    """The array whose shape is asked is not computed."""
    xs = vector()
    shape = A.map(lambda x: A.exp(x), xs).shape
    longer = A.generate((A.length(A.scanl(A.add, 0, xs)) + 2,), lambda ix: A.unindex(ix)[0])
    found = program([A.generate(shape, lambda ix: A.unindex(ix)[0]), longer], [xs])
    assert len(found.bindings) == 3
    assert [array.shape for array in found.results] == [
        (Extent(SizeVariable(0), 0),),
        (Extent(SizeVariable(0), 3),),
    ]


def test_a_zip_with_a_filter_is_compared_at_run_time() -> None:
    xs, ys = vector(), vector()
    kept = A.filter(lambda x: x > 0.0, xs)[0]
    bindings = program([A.zipWith(A.add, kept, ys)], [xs, ys]).bindings
    checks = [binding for binding in bindings if isinstance(binding.operation, RequireEqual)]
    assert len(checks) == 1
    assert [b.label for b in bindings if checks[0].label in b.after]
    x = np.array([1.0, -1.0, 2.0])
    same(run(A.zipWith(A.add, A.filter(lambda v: v > 0.0, use(x))[0], use(np.ones(2)))), [2.0, 3.0])
    with pytest.raises(AccelShapeError, match=r"zipWith needs arrays of equal shape, got \(2,\) and \(3,\)"):
        run(A.zipWith(A.add, A.filter(lambda v: v > 0.0, use(x))[0], use(np.ones(3))))


def test_equal_computed_extents_are_one_variable() -> None:
    xs, ys = vector(), vector()
    found = program([A.zipWith(A.sub, A.tail(xs), A.init(xs)), A.zipWith(A.add, xs, ys), A.tail(ys)], [xs, ys])
    assert sum(isinstance(binding.operation, BindSizes) for binding in found.bindings) == 1


def test_results_of_branches_share_what_they_agree_on() -> None:
    flag, xs, ys = parameter(0, BOOL), vector(), vector()
    both = A.acond(A.the(flag), (xs, A.map(lambda x: x + 1, xs)), (ys, ys))
    same_size = A.acond(A.the(flag), xs, A.map(lambda x: -x, xs))
    assert sizes_of(*both, same_size, of=[flag, xs, ys]) == ["[n2]", "[n2]", "[n0]"]


def test_only_the_size_of_a_branch_is_used() -> None:
    """The results that bring the sizes stay, the others go."""
    flag, xs, ys = parameter(0, BOOL), vector(), parameter(1, I64)
    _, second = A.acond(A.the(flag), (xs, ys), (A.tail(xs), A.tail(ys)))
    (array,) = program([A.unit(A.length(second))], [flag, xs, ys]).bindings[-2].arrays
    assert array.element is I64
    found = A.acond(A.constant(False, np.bool_), (use(X), use(X)), (A.take(2, use(X)), A.take(1, use(X))))
    lengths = run_all(*(A.unit(A.length(part)) for part in found), found[0])
    for length, expected in zip(lengths, (2, 1, X[:2]), strict=True):
        same(length, expected)


X = np.arange(4)


def test_a_loop_keeps_the_sizes_that_its_step_keeps() -> None:
    xs, ys = vector(), parameter(1, I64)
    kept, grown = A.awhile(
        lambda s: A.unit(A.length(s[1]) < 9),
        lambda s: (A.map(lambda x: x * 2.0, s[0]), A.scanl(A.add, 1, s[1])),
        (xs, ys),
    )
    assert sizes_of(kept, grown, of=[xs, ys]) == ["[n0]", "[n2]"]


def test_loop_extents_that_change_alike_stay_alike() -> None:
    """The third array starts as long as the others and changes otherwise."""
    xs = vector()
    state = A.awhile(
        lambda s: A.unit(A.length(s[0]) < 9),
        lambda s: (A.scanl(A.add, 1, s[0]), A.scanl(A.mul, 1, s[1]), A.filter(lambda x: x > 0.0, s[2])[0]),
        (xs, xs, xs),
    )
    assert sizes_of(*state, of=[xs]) == ["[n1]", "[n1]", "[n2]"]


def test_constants_are_known() -> None:
    xs = vector()
    assert sizes_of(A.zipWith(A.add, xs, A.fill((16,), 1.0)), of=[xs]) == ["[16]"]


def test_one_program_serves_all_sizes() -> None:
    from accel.labelled.meaning.interpret import interpret

    xs, ys = vector(), vector()
    once = program([A.zipWith(A.add, xs, ys)], [xs, ys])
    for n in (0, 1, 5):
        same(interpret(once, [np.ones(n), np.ones(n)])[0], np.full(n, 2.0))


def test_filters_of_filters() -> None:
    x = np.arange(30)
    evens, counts = A.filter(lambda v: v % 2 == 0, use(x))
    kept, again = A.filter(lambda v: v % 3 == 0, evens)
    found = run_all(kept, again, counts)
    for array, expected in zip(found, ([0, 6, 12, 18, 24], 5, 15), strict=True):
        same(array, expected)
