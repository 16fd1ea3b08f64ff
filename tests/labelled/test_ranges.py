"""Ranges of indices: what is proved is true at every small size, and clamps shrink to what they do."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F64, I64
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.meaning.evaluate import evaluate
from accel.labelled.programs import blocks, functions
from accel.labelled.scalar import Block, Compute, Function, If, Load, Operand, Variable, constant
from accel.labelled.scalar_text import function_text
from accel.labelled.scalars.ranges import Ranges
from accel.labelled.scalars.simplify import simplify
from tests.labelled.programs import AnyAcc, AnyExp, integers, parameter, program, run, same, use
from tests.marks import one_in
from tests.untyped import accel as U

N, M = SizeVariable(0), SizeVariable(1)
SHAPE = (Extent(N, 0), Extent(M, 1))
INDEX = (Variable(0, I64), Variable(1, I64))
OPERATORS = (
    Operator.ADD,
    Operator.SUB,
    Operator.MIN,
    Operator.MAX,
    Operator.MOD,
    Operator.LT,
    Operator.GE,
    Operator.LE,
)


def random_function(seed: int) -> Function:
    """Index arithmetic over indices, sizes and small constants; comparisons choose."""
    random = np.random.default_rng(seed)
    numbers: list[Operand] = [
        *INDEX,
        Extent(N, 0),
        Extent(M, 1),
        Extent(N, 2),
        *(constant(I64, k) for k in (-2, 0, 1, 3)),
    ]
    statements = []
    for place in range(2, 14):
        operator = OPERATORS[random.integers(len(OPERATORS))]
        left, right = (numbers[random.integers(len(numbers))] for _ in range(2))
        kind_is_flag = operator in (Operator.LT, Operator.GE, Operator.LE)
        out = Variable(2 * place, I64)
        if kind_is_flag:
            flag = Variable(2 * place + 1, BOOL)
            statements.append(Compute(flag, operator, (left, right)))
            statements.append(Compute(out, Operator.SELECT, (flag, left, right)))
        else:
            statements.append(Compute(out, operator, (left, right)))
        numbers.append(out)
    return Function(INDEX, Block(tuple(statements), tuple(numbers[-4:])))


@pytest.mark.parametrize("seed", one_in(5, range(300)))
def test_simplified_index_arithmetic_is_equal(seed: int) -> None:
    function = random_function(seed)
    simplified = simplify(function, SHAPE)
    for n, m in product((1, 2, 5), (0, 1, 3)):
        sizes = {N: n, M: m}.__getitem__
        for index in product(range(n), range(m + 1)):
            assert evaluate(simplified, index, sizes, {}) == evaluate(function, index, sizes, {})


def test_some_of_it_is_simplified() -> None:
    """The test above would pass if nothing were."""
    shorter = 0
    for seed in range(300):
        function = random_function(seed)
        shorter += len(simplify(function, SHAPE).body.statements) < len(simplify(function).body.statements)
    assert shorter > 50


def test_ranges_know_what_they_do_not_know() -> None:
    ranges = Ranges(INDEX, SHAPE)
    unknown = Variable(9, I64)
    assert ranges.at_most(INDEX[0], Extent(N, 0), 1)
    assert not ranges.at_most(INDEX[0], Extent(M, 0))
    assert not ranges.at_most(INDEX[0], INDEX[1])
    assert not ranges.at_most(unknown, constant(I64, 1 << 62))
    assert not ranges.at_most(INDEX[0], constant(I64, 1 << 62))
    assert not ranges.inside((unknown,), (Extent(N, 0),))
    assert ranges.inside(INDEX, SHAPE)
    assert not ranges.inside(INDEX, SHAPE[::-1])


def clamp(i: AnyExp, extent: AnyExp) -> AnyExp:
    return A.max(A.min(i, extent - 1), 0)


def neighbour(xs: AnyAcc, by: int) -> AnyAcc:
    n = A.length(xs)
    return A.backpermute(xs.shape, lambda i: A.index(clamp(A.unindex(i)[0] + by, n)), xs)


@pytest.mark.parametrize(
    ("by", "expected"),
    [(1, "λx0. x1 = add x0 1; x2 = sub n0 1; min x1 x2"), (-1, "λx0. x1 = add x0 -1; max x1 0")],
)
def test_half_of_a_clamp_disappears(by: int, expected: str) -> None:
    xs = parameter(1, F64)
    (binding,) = program([neighbour(xs, by)], [xs]).bindings[1:]
    (function,) = functions(binding.operation)
    assert function_text(function) == expected


def test_a_clamped_own_index_is_no_operation() -> None:
    xs = parameter(1, F64)
    assert program([neighbour(xs, 0)], [xs]).results == program([xs], [xs]).results


def test_loads_in_bounds_leave_branches() -> None:
    """They cannot fail; others stay where they are."""
    xs, ys = parameter(1, F64), parameter(1, F64)

    def body(table: AnyAcc, shift: int) -> AnyAcc:
        def one(i: AnyExp) -> AnyExp:
            place = clamp(A.unindex(i)[0] + shift, A.length(xs))
            return A.cond(table[A.unindex(i)[0] * 3 % A.length(xs)] > 0.0, table[place], 0.0)

        return A.generate(xs.shape, one)

    for table, branches in ((xs, 0), (ys, 1)):
        (binding,) = program([body(table, 1)], [xs, ys]).bindings[2:]
        (function,) = functions(binding.operation)
        statements = [s for block in blocks(function) for s in block.statements]
        assert sum(isinstance(statement, If) for statement in statements) == branches
        loads = [statement.inside for statement in statements if isinstance(statement, Load)]
        assert loads == ([True] * 2 if table is xs else [False] * 2)


def loads_of(point: Callable[[AnyExp, AnyExp, AnyAcc], AnyExp]) -> list[Load]:
    """Those of the function that a matrix is generated by, all of which stand in branches."""
    xs = parameter(2, F64)

    def at(place: AnyExp) -> AnyExp:
        i, j = A.unindex(place)
        return point(i, j, xs)

    made = A.generate(xs.shape, at)
    (binding,) = program([made], [xs]).bindings[1:]
    (function,) = functions(binding.operation)
    assert not any(isinstance(s, Load) for s in function.body.statements)
    return [s for block in blocks(function) for s in block.statements if isinstance(s, Load)]


CONDITIONS: dict[str, tuple[bool, Callable[[AnyExp, AnyExp, AnyAcc], AnyExp]]] = {
    "in the interior": (
        True,
        lambda i, j, xs: U.cond((i > 0) & (j < xs.shape[1] - 1), xs[U.index(i - 1, j + 1)], 0.0),
    ),
    "behind what is excluded": (
        True,
        lambda i, j, xs: U.cond((i == 0) | (j == xs.shape[1] - 1), 0.0, xs[U.index(i - 1, j + 1)]),
    ),
    "of what is computed before": (
        True,
        lambda i, j, xs: U.cond((i - 3 >= 0) & (i - 3 < xs.shape[0]), xs[U.index(i - 3, j)], 0.0),
    ),
    "of conditions in conditions": (
        True,
        lambda i, j, xs: U.cond(i >= 2, U.cond(j != 0, xs[U.index(i - 2, j - 1)], 0.0), 1.0),
    ),
    "of the wrong branch": (False, lambda i, j, xs: U.cond(i > 0, 0.0, xs[U.index(i - 1, j)])),
    "one too far": (False, lambda i, j, xs: U.cond(i > 0, xs[U.index(i - 2, j)], 0.0)),
    "one of two that need not hold": (False, lambda i, j, xs: U.cond((i > 0) | (j > 0), xs[U.index(i - 1, j)], 0.0)),
    "the other extent": (False, lambda i, j, xs: U.cond(i < xs.shape[1] - 1, xs[U.index(i + 1, j)], 0.0)),
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_conditions_keep_indices_in_bounds(name: str) -> None:
    """Such a load needs no check, and does not leave its branch."""
    proved, point = CONDITIONS[name]
    (load,) = loads_of(point)
    assert not load.inside
    assert load.inside_block is proved
    assert load.may_fail is not proved


SELECTED: dict[str, tuple[bool, Callable[[AnyExp, AnyAcc], AnyExp]]] = {
    "the one before, or the last": (True, lambda i, xs: U.cond(i == 0, xs.shape[0] - 1, i - 1)),
    "the one behind, or the first": (True, lambda i, xs: U.cond(i == xs.shape[0] - 1, 0, i + 1)),
    "half of the one before": (True, lambda i, xs: U.cond(i == 0, xs.shape[0] - 1, (i - 1) >> 1)),
    "of the wrong side": (False, lambda i, xs: U.cond(i != 0, xs.shape[0] - 1, i - 1)),
    "one too far": (False, lambda i, xs: U.cond(i == 0, xs.shape[0] - 1, i - 2)),
}


@pytest.mark.parametrize("name", SELECTED)
def test_what_a_condition_chooses_is_in_bounds(name: str) -> None:
    proved, place = SELECTED[name]
    xs = use(integers((16,)))
    (binding,) = program([A.generate(xs.shape, lambda i: xs[place(A.unindex(i)[0], xs)])], []).bindings[1:]
    (function,) = functions(binding.operation)
    assert [s.inside for s in function.body.statements if isinstance(s, Load)] == [proved]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7])
def test_clamped_neighbours_against_numpy(count: int) -> None:
    x = integers((count,))
    for by in (-2, -1, 0, 1, 2):
        at = np.clip(np.arange(count) + by, 0, max(count - 1, 0))
        same(run(neighbour(use(x), by)), x[at])
