"""Makers that move into the one loop that loads them: which do, and that nothing else changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.leaves import to_host
from accel.labelled.construction.build import build
from accel.labelled.meaning.interpret import interpret
from accel.labelled.nodes import Program
from accel.labelled.operations import describe
from accel.labelled.passes.absorb import absorb
from accel.labelled.verify import verify
from tests import untyped

X = np.arange(6.0)
Y = np.arange(4.0) + 0.5
Vector = A.Acc[A.Vector[np.float64]]


def absorbed(*results: A.Acc[Any]) -> list[str]:
    """The operations that are left of a program, but for inputs and sizes, which gives what it gave before."""
    built = build([result.node for result in results], ())
    data = [to_host(leaf) for constant in built.constants for leaf in constant.data]
    after = absorb(built.program)
    verify(after)
    for one, other in zip(interpret(built.program, data), interpret(after, data), strict=True):
        np.testing.assert_array_equal(one, other)
    return operations(after)


def operations(program: Program) -> list[str]:
    names = [describe(binding.operation).name for binding in program.bindings]
    return [name for name in names if name not in ("use", "bindSizes", "requireEqual")]


def double(x: A.Exp[np.float64]) -> A.Exp[np.float64]:
    return x * 2


def shifted(xs: Vector) -> Vector:
    """A loop that loads each element once, one of them not at all."""
    return A.generate(xs.shape, lambda ix: A.cond(ix[0] > 0, xs[ix[0] - 1], 0.0))


def test_both_sides_of_an_append_run_in_its_loop() -> None:
    xs, ys = A.use(X), A.use(Y)
    assert absorbed(A.append(A.map(double, xs), A.map(A.sqrt, ys))) == ["append"]
    chain = A.map(double, A.zipWith(A.add, A.map(double, xs), A.reverse(xs)))
    assert absorbed(A.append(chain, A.gather(A.use(np.array([3, 0])), ys))) == ["append"]
    assert absorbed(A.append(A.append(A.map(double, xs), ys), A.append(ys, A.enumFromN((3,), 0.0)))) == ["append"]
    assert absorbed(A.append(A.transpose(A.use(np.ones((2, 3)))), A.use(np.ones((3, 1))))) == ["append"]
    pairs = A.zip(A.map(double, xs), A.map(A.sqrt, xs))
    assert absorbed(A.append(pairs, A.map(lambda p: A.lift(p[1], p[0]), pairs))) == ["map", "map", "append"]


def test_what_reads_each_element_once_needs_no_array() -> None:
    made = A.map(A.sqrt, A.use(X))
    assert absorbed(shifted(made)) == ["generate"]
    assert absorbed(A.map(double, shifted(made))) == ["generate", "map"]
    back = A.generate(made.shape, lambda ix: made[A.length(made) - 1 - ix[0]])
    assert absorbed(back) == ["generate"]


def test_what_stays() -> None:
    """Makers that are needed elsewhere, that would run more often, or that need more memory where they go."""
    xs, ys = A.use(X), A.use(Y)
    made = A.map(A.sqrt, xs)
    assert absorbed(shifted(made), made) == ["map", "generate"]
    assert absorbed(A.append(made, A.scanl1(A.add, made))) == ["map", "scanl1", "append"]
    assert absorbed(A.generate((12,), lambda ix: made[ix[0] // 2])) == ["map", "generate"]
    assert absorbed(A.generate((6, 2), lambda ix: made[ix[0]])) == ["map", "generate"]
    assert absorbed(A.generate(xs.shape, lambda ix: made[ix[0]] + made[5 - ix[0]])) == ["map", "generate"]
    assert absorbed(A.append(A.scanl1(A.add, xs), A.fold1(A.add, A.replicate((3, A.All), ys)))) == [
        "scanl1", "replicate", "fold1", "append",
    ]  # fmt: skip
    both = A.zipWith(A.add, A.scanl1(A.add, xs), A.scanl1(A.max, xs))
    assert absorbed(A.append(both, ys)) == ["scanl1", "scanl1", "zipWith", "append"]
    once = A.map(double, A.scanl1(A.add, xs))
    assert absorbed(A.append(once, ys)) == ["scanl1", "append"]


def test_a_loop_does_not_compute_what_was_made_before_it() -> None:
    xs, made = A.use(X), A.map(A.sqrt, A.use(X))

    def step(state: Vector) -> Vector:
        return A.generate(xs.shape, lambda ix: made[5 - ix[0]] + state[ix])

    assert "map" in absorbed(A.iterate(3, step, xs))


def test_what_a_scatter_overwrites_is_read_before() -> None:
    base = A.scanl1(A.add, A.use(X))
    made = A.map(A.sqrt, base)
    changed = A.scatter(A.use(np.array([0])), base, A.use(np.array([7.0])))
    assert "map" in absorbed(A.append(made, A.use(Y)), changed)


def test_what_a_loop_changes_in_place_is_read_before() -> None:
    at = A.use(np.array([1]))

    def step(state: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
        first, second = state
        changed = A.scatter(at, first, A.take(1, second))
        flat = A.flatten(A.reshape((2, 3), first))
        return changed, A.append(A.take(3, second), A.drop(3, A.map(lambda x: x + 1, flat)))

    first, second = A.iterate(3, step, (A.use(X), A.use(X * 10)))
    absorbed(first, second)


def test_many_appends_nest_only_so_deep() -> None:
    result = A.map(double, A.use(X))
    for _ in range(120):
        result = A.append(result, A.map(double, A.use(Y)))
    built = build([result.node], ())
    assert len(operations(absorb(built.program))) < 60


@pytest.mark.llvm
@pytest.mark.solver
@pytest.mark.opencl
@pytest.mark.parametrize("settings", [{}, {"threads": 3}, {"strategy": "none"}, {"backend": "opencl"}])
def test_appends_run_in_one_loop_on_every_backend(settings: Any) -> None:
    xs, ys = np.linspace(0, 3, 5000), np.linspace(1, 2, 3001)

    def program(xs: Vector, ys: Vector) -> A.Acc[A.Scalar[np.float64]]:
        return A.fold(A.max, 0.0, A.append(A.map(double, xs), A.map(A.sqrt, A.reverse(ys))))

    assert A.explain(program, xs, ys).loops == 1
    assert A.run(program(A.use(xs), A.use(ys)), **settings) == 6.0
    joined = A.append(A.map(A.sqrt, A.use(xs)), A.map(double, A.use(ys)))
    np.testing.assert_array_equal(untyped.run(joined, **settings), np.concatenate([np.sqrt(xs), ys * 2]))


@pytest.mark.llvm
@pytest.mark.solver
def test_a_load_in_one_branch_does_not_leave_it() -> None:
    """What is in bounds wherever a maker runs is so only in the branch that the maker has moved into."""
    table = A.use(np.arange(6.0))
    made = A.generate((6,), lambda ix: table[ix[0]] + 1.0)
    joined = A.append(made, A.fill((100_000,), 0.0))
    np.testing.assert_array_equal(A.run(joined), np.concatenate([np.arange(6.0) + 1, np.zeros(100_000)]))
