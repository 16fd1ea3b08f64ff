"""Loops over arrays: what they do not change is computed once before them, and their condition in their step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.tree.leaves import to_host
from accel.ast.tree.types import F64, I64
from accel.errors import AccelIndexError, AccelShapeError, AccelValueError
from accel.labelled import programs
from accel.labelled.meaning import interpret
from accel.labelled.meaning.environment import Environment
from accel.labelled.nodes import Awhile, Binding, Program
from tests.labelled.programs import AnyAcc, AnyArray, built, parameter, program, program_text, run, same, use

pytestmark = pytest.mark.llvm

X = np.arange(1.0, 7.0)
BACKENDS: tuple[Literal["interpreter", "llvm"], ...] = ("interpreter", "llvm")
STRATEGIES: tuple[Literal["none", "greedy", "ilp"], ...] = ("none", "greedy", "ilp")


Step: TypeAlias = Callable[[AnyAcc], AnyAcc]


def counted(i: AnyAcc) -> AnyAcc:
    return A.map(lambda n: n + 1, i)


def loop(step: Step, start: AnyAcc, turns: int) -> AnyAcc:
    """`start`, stepped `turns` times."""

    def body(state: tuple[AnyAcc, AnyAcc]) -> tuple[AnyAcc, AnyAcc]:
        return step(state[0]), counted(state[1])

    zero = A.unit(A.constant(0, np.int64))
    return A.awhile(lambda state: A.map(lambda i: i < turns, state[1]), body, (start, zero))[0]


def runs(results: Sequence[AnyAcc], monkeypatch: pytest.MonkeyPatch) -> tuple[Counter[str], list[AnyArray]]:
    """How often the interpreter runs the bindings of each name, and the results."""
    seen: Counter[str] = Counter()
    bind = interpret._bind

    def counting(binding: Binding, environment: Environment) -> None:
        seen[getattr(binding.operation, "name", type(binding.operation).__name__)] += 1
        bind(binding, environment)

    monkeypatch.setattr(interpret, "_bind", counting)
    found = built(results)
    return seen, interpret.interpret(found.program, [to_host(leaf) for c in found.constants for leaf in c.data])


def everywhere(result: AnyAcc) -> AnyArray:
    """The result, which must be the same on every backend and with every strategy."""
    expected = A.run(result, backend="interpreter")
    for strategy in STRATEGIES:
        same(A.run(result, strategy=strategy), expected)
    return expected


def loops_of(program: Program) -> list[Awhile]:
    bindings = [binding for part in programs.programs(program) for binding in part.bindings]
    return [binding.operation for binding in bindings if isinstance(binding.operation, Awhile)]


def test_an_invariant_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    xs = use(X)
    result = loop(lambda state: A.zipWith(A.add, state, A.scanl1(A.add, xs)), xs, 5)
    same(everywhere(result), X + 5 * np.cumsum(X))
    seen, (found,) = runs([result], monkeypatch)
    same(found, X + 5 * np.cumsum(X))
    assert (seen["scanl1"], seen["zipWith"]) == (1, 5)


def test_an_invariant_of_both_loops_leaves_both(monkeypatch: pytest.MonkeyPatch) -> None:
    """What only the outer loop changes leaves the inner one, and no more."""
    xs = use(X)

    def outer(state: AnyAcc) -> AnyAcc:
        of_outer = A.scanr1(A.add, state)
        return loop(lambda inner: A.zipWith3(lambda a, b, c: a + b + c, inner, of_outer, A.scanl1(A.add, xs)), state, 3)

    result = loop(outer, xs, 2)
    expected = X
    for _ in range(2):
        right = np.cumsum(expected[::-1])[::-1]
        expected = expected + 3 * (right + np.cumsum(X))
    same(everywhere(result), expected)
    seen, _ = runs([result], monkeypatch)
    assert (seen["scanl1"], seen["scanr1"], seen["zipWith3"]) == (1, 2, 6)


def test_an_invariant_of_a_branch_in_a_loop_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """If it cannot fail; it is then computed even if no turn takes the branch."""
    xs = use(X)

    def step(state: AnyAcc) -> AnyAcc:
        chosen = A.the(A.fold(A.add, 0.0, state)) < 200.0
        return A.acond(chosen, A.zipWith(A.add, state, A.scanl1(A.add, xs)), A.map(lambda x: x + 1.0, state))

    result = loop(step, xs, 6)
    expected = everywhere(result)
    seen, (found,) = runs([result], monkeypatch)
    same(found, expected)
    assert seen["scanl1"] == 1
    assert seen["Acond"] == 6


def test_what_may_fail_in_a_branch_of_a_loop_stays_there(monkeypatch: pytest.MonkeyPatch) -> None:
    xs, far = use(X), use(np.array([100]))

    def step(state: AnyAcc) -> AnyAcc:
        chosen = A.the(A.fold(A.add, 0.0, state)) < 0.0
        wrong = A.replicate((6,), A.fold1(A.max, A.gather(far, xs)))
        return A.acond(chosen, A.zipWith(A.add, state, wrong), A.map(lambda x: x + 1.0, state))

    seen, (found,) = runs([loop(step, xs, 4)], monkeypatch)
    same(found, X + 4)
    assert seen["Gather"] == 0


@pytest.mark.parametrize(
    ("failing", "error"),
    [
        (lambda xs, far: A.gather(far, xs), AccelIndexError),
        (lambda xs, far: A.backpermute(far.shape, lambda ix: A.index(A.unindex(ix)[0] + 100), xs), AccelIndexError),
        (lambda xs, far: A.map(lambda i: xs[i], far), AccelIndexError),
        (lambda xs, far: A.scatterWith(A.add, xs, A.zip(far, A.take(6, xs))), AccelIndexError),
        (lambda xs, far: A.reshape(A.index(far[0]), xs), AccelShapeError),
        (lambda xs, far: A.generate(A.index(far[0] - 300), lambda i: A.constant(1.0)), AccelShapeError),
        (lambda xs, far: A.zipWith(A.add, xs, A.filter(lambda x: x > 3.0, xs)[0]), AccelShapeError),
        (
            lambda xs, far: A.replicate((6,), A.fold1(A.max, A.filter(lambda x: x > 99.0, xs)[0])),
            AccelValueError,
        ),
    ],
    ids=["gather", "backpermute", "load", "scatter", "reshape", "extent", "unequal", "fold1"],
)
def test_what_may_fail_is_computed_only_if_the_loop_runs(
    failing: Callable[[AnyAcc, AnyAcc], AnyAcc], error: type[Exception]
) -> None:
    xs, far = use(X), use(np.array([100, 101, 102, 103, 104, 105]))

    def step(state: AnyAcc) -> AnyAcc:
        wrong = failing(xs, far)
        return A.map(lambda x: x + wrong[0], state)

    same(everywhere(loop(step, xs, 0)), X)
    for backend in BACKENDS:
        with pytest.raises(error):
            A.run(loop(step, xs, 3), backend=backend)


def test_what_may_fail_is_computed_once_if_it_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop gets a guard: its condition for the start, which is not evaluated again."""
    xs, backwards = use(X), use(np.arange(6)[::-1])
    result = loop(lambda state: A.zipWith(A.add, state, A.gather(backwards, xs)), xs, 4)
    same(everywhere(result), X + 4 * X[::-1])
    seen, _ = runs([result], monkeypatch)
    assert (seen["Gather"], seen["zipWith"], seen["map"]) == (1, 4, 2 * 4 + 1)  # per turn: count, compare


def test_a_guarded_loop_with_a_state_that_changes_its_size() -> None:
    xs, kept = use(X), use(np.array([1, 3, 5]))
    positive = A.gather(kept, xs)
    halved = A.awhile(
        lambda s: A.unit(A.length(s) > 1),
        lambda s: A.map(lambda x: x + positive[0], A.take(A.length(s) // 2, s)),
        xs,
    )
    same(everywhere(halved), [5.0])
    same(everywhere(A.awhile(lambda s: A.unit(A.length(s) > 9), lambda s: A.take(1, A.gather(kept, s)), xs)), X)


def test_what_never_ends_stays_in_a_loop_that_does_not_run() -> None:
    xs = use(X)

    def step(state: AnyAcc) -> AnyAcc:
        endless = A.awhile(lambda s: A.map(lambda x: x < 9.0, s), lambda s: s, A.fold(A.min, 0.0, xs))
        return A.map(lambda x: x + A.the(endless), state)

    same(everywhere(loop(step, xs, 0)), X)


def test_arrays_that_two_branches_share_are_computed_only_if_one_is_taken() -> None:
    xs, far = use(X), use(np.array([100]))
    wrong = A.fold(A.add, 0.0, A.gather(far, xs))
    added = A.map(lambda x: x + A.the(wrong), xs)

    def either(first: bool, second: bool) -> AnyAcc:
        flags = use(np.array([first, second]))
        return A.zipWith(A.add, A.acond(flags[0], added, xs), A.acond(flags[1], added, xs))

    same(everywhere(either(False, False)), 2 * X)
    for backend in BACKENDS:
        with pytest.raises(AccelIndexError, match="100"):
            A.run(either(False, True), backend=backend)


def test_the_condition_joins_the_step_that_it_can_share_a_loop_with() -> None:
    """The sum that the condition needs is made in the loop that makes the new state."""
    xs = use(X)
    grown = A.awhile(
        lambda s: A.map(lambda total: total < 500.0, A.fold(A.add, 0.0, s)), lambda s: A.map(lambda x: x * 2.0, s), xs
    )
    same(everywhere(grown), X * 32)
    explained = A.explain(grown)
    fused = [cluster.operations for cluster in explained.clusters]
    assert [[name.split()[0] for name in names] for names in fused] == [["fold", "map"], ["map", "fold", "map"]]
    assert explained.writes == {"n0": 1, "1": 2}  # the two conditions


def test_a_condition_is_evaluated_as_often_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once for the start, and once after each step."""
    seen, _ = runs(
        [A.awhile(lambda s: A.unit(A.the(A.fold(A.min, 9.0, s)) < 5.0), lambda s: A.map(lambda x: x + 1.0, s), use(X))],
        monkeypatch,
    )
    assert (seen["fold"], seen["unit"], seen["map"]) == (5, 5, 4)


@pytest.mark.parametrize("limit", [0.0, 500.0])
def test_an_error_in_a_condition_names_its_line(limit: float) -> None:
    xs, far = use(X), use(np.array([3, 4, 77]))

    def condition(state: AnyAcc) -> AnyAcc:
        picked = A.gather(far, state)  # the condition's gather
        return A.map(lambda total: total < limit, A.fold(A.add, 0.0, picked))

    for backend in BACKENDS:
        with pytest.raises(AccelIndexError, match="the condition's gather"):
            A.run(A.awhile(condition, lambda s: A.map(lambda x: x * 2.0, s), xs), backend=backend)


def test_a_condition_that_only_asks_for_sizes_stays() -> None:
    xs = parameter(1, F64)
    found = program([A.awhile(lambda s: A.unit(A.length(s) > 4), lambda s: A.take(A.length(s) - 1, s), xs)], [xs])
    (loop,) = loops_of(found)
    assert loop.condition.bindings
    assert len(loop.initial) == 1


def test_a_state_that_nothing_needs_is_gone(golden: Callable[[str], None]) -> None:
    """`change` is only asked by the condition, which is in the step now: neither stored nor state."""
    xs = parameter(1, F64)

    def step(state: tuple[AnyAcc, AnyAcc, AnyAcc]) -> tuple[AnyAcc, AnyAcc, AnyAcc]:
        new = A.map(lambda x: x * 0.5, state[0])
        return new, A.zipWith(lambda a, b: A.abs(a - b), new, state[0]), A.zipWith(A.add, state[2], new)

    settled, _, _ = A.awhile(lambda s: A.map(lambda most: most > 0.125, A.fold(A.max, 0.0, s[1])), step, (xs, xs, xs))
    golden(program_text(settled, of=[xs]))
    (loop,) = loops_of(program([settled], [xs]))
    assert len(loop.initial) == 2


def test_a_state_that_carries_a_size_stays() -> None:
    """Only the length of the vector is asked for, but it changes with it."""
    xs, i = use(X), A.unit(A.constant(0, np.int64))
    last = A.awhile(
        lambda s: A.unit(A.length(s[0]) > 2), lambda s: (A.take(A.length(s[0]) - 1, s[0]), counted(s[1])), (xs, i)
    )[1]
    assert run(last) == 4
    assert everywhere(last) == 4


def test_states_that_change_places() -> None:
    """Fibonacci, with a condition on the older one."""
    first, second = A.awhile(
        lambda s: A.map(lambda total: total < 100.0, A.fold(A.add, 0.0, s[0])),
        lambda s: (s[1], A.zipWith(A.add, s[0], s[1])),
        (use(X), use(X)),
    )
    a, b = X, X
    while a.sum() < 100.0:
        a, b = b, a + b
    same(everywhere(first), a)
    same(everywhere(second), b)


def test_a_constant_destination_of_a_loop_is_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Filling writes; a copy would read as well. The constant outside is then not made at all."""
    targets, counts = use(np.array([0, 1, 1, 3])), A.fill((4,), A.constant(0, np.int64))
    result = loop(lambda s: A.scatterWith(A.add, counts, A.zip(targets, s)), use(np.array([1, 2, 3, 4])), 3)
    same(everywhere(result), _histogram(3))
    seen, _ = runs([result], monkeypatch)
    assert seen["Copy"] == 0
    assert seen["fill"] == 3


def _histogram(turns: int) -> AnyArray:
    state = np.array([1, 2, 3, 4])
    for _ in range(turns):
        state = np.bincount([0, 1, 1, 3], weights=state, minlength=4).astype(np.int64)
    return state


def test_nested_control_flow_keeps_its_meaning() -> None:
    """A loop in a branch in a loop, each with its own condition to move."""
    xs = parameter(1, I64)

    def inner(v: AnyAcc) -> AnyAcc:
        return A.awhile(lambda s: A.map(lambda t: t < 50, A.fold(A.add, 0, s)), lambda s: A.map(lambda x: x + 1, s), v)

    def outer(v: AnyAcc) -> AnyAcc:
        total = A.the(A.fold(A.add, 0, v))
        return A.acond(total % 2 == 0, inner(v), A.map(lambda x: x * 3, v))

    start = np.array([1, 2, 4])
    result = A.awhile(
        lambda s: A.map(lambda t: t < 300, A.fold(A.add, 0, s)),
        lambda s: A.map(lambda x: x + 7, outer(s)),
        use(start),
    )
    expected = start
    while expected.sum() < 300:
        if expected.sum() % 2 == 0:
            while expected.sum() < 50:
                expected = expected + 1
        else:
            expected = expected * 3
        expected = expected + 7
    same(everywhere(result), expected)
    assert program_text(inner(xs), of=[xs]).count("fold") == 2
