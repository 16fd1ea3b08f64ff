"""Nothing that is concluded from sizes is false where numbers wrap around: all values of eight bits, and the edges of i64.

`accel/labelled/scalars/ranges.py` says what it assumes in `Limits`. With limits for numbers of eight bits each of its rules is
tried on every value; the arithmetic here is NumPy's, on wider numbers, wrapped by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np
import pytest

from accel.ast.handles.extents import LARGEST_EXTENT
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.meaning.evaluate import evaluate
from accel.labelled.scalar import Block, Compute, Constant, Function, Operand, Variable, constant, operand_type
from accel.labelled.scalars.ranges import LIMITS, OFFSET, Limits, Linear, Range, Ranges
from accel.labelled.scalars.simplify import simplify
from tests.marks import one_in

N = SizeVariable(0)
INDEX, LEFT, RIGHT = Variable(0, I64), Variable(1, I64), Variable(2, I64)
SHAPE = (Extent(N, 1),)

Values = np.ndarray[tuple[int, ...], np.dtype[np.int32]]

EIGHT_BITS = Limits(extent=6, constant=27, times=6)
"""As those of i64: bounds stay below a quarter of 256."""


def test_the_limits_keep_their_promise() -> None:
    for limits, bits in ((LIMITS, 64), (EIGHT_BITS, 8)):
        assert limits.constant + limits.times * limits.extent < 1 << bits - 2
    assert LIMITS.extent > LARGEST_EXTENT + OFFSET * (1 << 26)


def wrapped(values: Values) -> Values:
    return ((values + 128) & 255) - 128


def computed(operator: Operator, arguments: list[Values]) -> Values:
    match operator, arguments:
        case Operator.ADD, [a, b]:
            return wrapped(a + b)
        case Operator.SUB, [a, b]:
            return wrapped(a - b)
        case Operator.MUL, [a, b]:
            return wrapped(a * b)
        case Operator.SHIFT_RIGHT, [a, b]:
            return np.where((b < 0) | (b > 7), np.where(a < 0, -1, 0), a >> np.clip(b, 0, 7))
        case Operator.MIN, [a, b]:
            return np.minimum(a, b)
        case Operator.MAX, [a, b]:
            return np.maximum(a, b)
        case Operator.MOD, [a, b]:
            return np.where(b == 0, a, np.mod(a, np.where(b == 0, 1, b)))
        case Operator.SELECT, [c, a, b]:
            return np.where(c < 0, a, b)
        case Operator.ABS, [a]:
            return wrapped(np.abs(a))
        case _:
            raise AssertionError(operator)


class Trial:
    """One way of computing, learnt by `Ranges` and done on values side by side."""

    def __init__(self, index: int, size: int) -> None:
        every = np.arange(-128, 128, dtype=np.int32)
        self.size = size
        self.values: dict[Operand, Values] = {
            INDEX: np.full((1, 1), index, np.int32),
            LEFT: every[:, None],
            RIGHT: every[None, :],
        }

    def value(self, operand: Operand) -> Values:
        match operand:
            case Extent(_, offset):
                return np.full((1, 1), self.size + offset, np.int32)
            case Constant():
                return np.full((1, 1), int(operand.value), np.int32)
            case _:
                return self.values[operand]

    def bound(self, linear: Linear) -> int:
        return linear.constant + sum(coefficient * self.size for _, coefficient in linear.terms)

    def keeps(self, known: Range, values: Values) -> bool:
        return all(self.bound(lower) <= values.min() for lower in known.lowers) and all(
            values.max() <= self.bound(upper) for upper in known.uppers
        )


Steps = list[tuple[Variable, Operator, tuple[Operand, ...]]]


def forms(unknown: Variable, first: int) -> list[tuple[Operand, Steps]]:
    """An unknown number, and that number between bounds of several kinds."""
    one, two = Variable(first, I64), Variable(first + 1, I64)
    bounds: list[Operand] = [INDEX, Extent(N, 0), *(constant(I64, k) for k in (-100, -27, -1, 0, 1, 27, 100))]
    found: list[tuple[Operand, Steps]] = [(unknown, []), *((bound, []) for bound in bounds)]
    for operator, bound in product((Operator.MIN, Operator.MAX), bounds):
        found.append((one, [(one, operator, (unknown, bound))]))
    for low, high in product(bounds[1:], repeat=2):
        found.append((two, [(one, Operator.MAX, (unknown, low)), (two, Operator.MIN, (one, high))]))
    return found


OPERATORS = (
    Operator.ADD,
    Operator.SUB,
    Operator.MUL,
    Operator.SHIFT_RIGHT,
    Operator.MIN,
    Operator.MAX,
    Operator.MOD,
    Operator.SELECT,
    Operator.ABS,
)
ARITIES = {Operator.SELECT: 3, Operator.ABS: 1}
"""Of those that do not take two."""

SIZES = [(index, size) for size in (0, 1, 5) for index in {0, size}]
"""Sizes below the largest extent, less the offset of the shape; first and last index."""


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda operator: operator.name)
def test_every_rule_holds_for_all_numbers_of_eight_bits(operator: Operator) -> None:
    out, learnt = Variable(9, I64), 0
    for (left, before), (right, others) in product(forms(LEFT, 3), forms(LEFT, 5)[::7] + forms(RIGHT, 5)[:26:2]):
        arguments: tuple[Operand, ...] = (LEFT, left, right) if operator is Operator.SELECT else (left, right)
        arguments = arguments[: ARITIES.get(operator, 3)]
        steps = [*before, *others, (out, operator, arguments)]
        ranges = Ranges((INDEX,), SHAPE, EIGHT_BITS)
        for step in steps:
            ranges.learn(*step)
        known = ranges.of(out)
        if known == Range():
            continue
        learnt += 1
        for index, size in SIZES:
            trial = Trial(index, size)
            for variable, each, given in steps:
                trial.values[variable] = computed(each, [trial.value(operand) for operand in given])
            assert trial.keeps(known, trial.values[out]), f"{operator} {steps} {index} {size} {known}"
    assert learnt > 100  # the test would pass if nothing were known


def test_remainders_by_sums_and_differences_hold_for_all_numbers_of_eight_bits() -> None:
    found = set()
    divisors: list[Operand] = [Extent(N, 0), Extent(N, 1), Extent(N, 2), constant(I64, 5)]
    for (left, before), right in product(forms(LEFT, 3), divisors):
        ranges = Ranges((INDEX,), SHAPE, EIGHT_BITS)
        for step in before:
            ranges.learn(*step)
        for offset in (-9, -2, -1, 0, 1, 3, 8):
            moved = Variable(9, I64)
            ranges.learn(moved, Operator.ADD, (left, constant(I64, offset)))
            turns = ranges.turns(moved, right, 3)
            if turns is None:
                continue
            found.add(turns)
            for index, size in SIZES:
                trial = Trial(index, size)
                for variable, each, given in (*before, (moved, Operator.ADD, (left, constant(I64, offset)))):
                    trial.values[variable] = computed(each, [trial.value(operand) for operand in given])
                number, by = trial.values[moved], trial.value(right)
                expected = computed(Operator.MOD, [number, by])
                for _ in range(turns[0]):
                    number = np.where(number < 0, wrapped(number + by), number)
                for _ in range(turns[1]):
                    number = np.where(number >= by, wrapped(number - by), number)
                assert (number == expected).all(), (before, right, offset, turns, index, size)
    assert {(0, 0), (1, 0), (0, 1), (2, 0), (0, 3)} <= found


TOWERS: dict[str, tuple[Operator, Operand | None]] = {
    "sizes": (Operator.ADD, Extent(N, 0)),
    "sizes taken away": (Operator.SUB, Extent(N, 0)),
    "constants": (Operator.ADD, constant(I64, 27)),
    "constants taken away": (Operator.SUB, constant(I64, 20)),
    "large constants": (Operator.ADD, constant(I64, 120)),
    "doubling": (Operator.ADD, None),
}


@pytest.mark.parametrize("name", TOWERS)
def test_sums_of_many_are_followed_as_far_as_they_go(name: str) -> None:
    """Each step adds to what the last one gave; at some height nothing may be known any more."""
    operator, added = TOWERS[name]
    ranges = Ranges((INDEX,), SHAPE, EIGHT_BITS)
    trials = [Trial(index, size) for index, size in SIZES]
    last, known = INDEX, []
    for number in range(3, 40):
        out, given = Variable(number, I64), (last, last if added is None else added)
        ranges.learn(out, operator, given)
        for trial in trials:
            trial.values[out] = computed(operator, [trial.value(operand) for operand in given])
            assert trial.keeps(ranges.of(out), trial.values[out]), (name, number)
        known.append(ranges.of(out) != Range())
        last = out
    assert known[0] or name == "large constants"
    assert not known[-1]


@pytest.mark.parametrize("seed", range(60))
def test_chains_of_rules_hold_for_all_numbers_of_eight_bits(seed: int) -> None:
    random = np.random.default_rng(seed)
    numbers: list[Operand] = [
        INDEX,
        LEFT,
        RIGHT,
        Extent(N, 0),
        Extent(N, 1),
        *(constant(I64, k) for k in (-3, 0, 1, 20)),
    ]
    steps: Steps = []
    for number in range(3, 15):
        operator = OPERATORS[random.integers(len(OPERATORS))]
        count = ARITIES.get(operator, 2)
        chosen = tuple(numbers[random.integers(len(numbers))] for _ in range(count))
        steps.append((Variable(number, I64), operator, chosen))
        numbers.append(steps[-1][0])
    ranges = Ranges((INDEX,), SHAPE, EIGHT_BITS)
    for step in steps:
        ranges.learn(*step)
    for index, size in SIZES:
        trial = Trial(index, size)
        for variable, operator, given in steps:
            trial.values[variable] = computed(operator, [trial.value(operand) for operand in given])
            assert trial.keeps(ranges.of(variable), trial.values[variable]), (steps, variable, index, size)


COMPARISONS = (Operator.LT, Operator.LE, Operator.GT, Operator.GE, Operator.EQ, Operator.NE)
CONNECTIVES = (Operator.AND, Operator.OR, Operator.NOT)
NUMPYS = {
    Operator.LT: np.less, Operator.LE: np.less_equal, Operator.GT: np.greater, Operator.GE: np.greater_equal,
    Operator.EQ: np.equal, Operator.NE: np.not_equal, Operator.AND: np.logical_and, Operator.OR: np.logical_or,
    Operator.NOT: np.logical_not,
}  # fmt: skip


def random_steps(random: np.random.Generator) -> Steps:
    """Numbers, then comparisons of them, then what connects these."""
    numbers: list[Operand] = [
        INDEX,
        LEFT,
        RIGHT,
        Extent(N, 0),
        Extent(N, 1),
        *(constant(I64, k) for k in (-3, 0, 1, 20)),
    ]
    flags: list[Operand] = []
    steps: Steps = []
    for number in range(3, 9):
        pair = tuple(numbers[random.integers(len(numbers))] for _ in range(2))
        steps.append((Variable(number, I64), OPERATORS[random.integers(5)], pair))
        numbers.append(steps[-1][0])
    for number in range(9, 21):
        if number < 15:
            operator, arguments, count = COMPARISONS[random.integers(len(COMPARISONS))], numbers, 2
        else:
            operator, arguments = CONNECTIVES[random.integers(len(CONNECTIVES))], flags
            count = 1 if operator is Operator.NOT else 2
        steps.append(
            (Variable(number, BOOL), operator, tuple(arguments[random.integers(len(arguments))] for _ in range(count)))
        )
        flags.append(steps[-1][0])
    return steps


@pytest.mark.parametrize("first", one_in(4, range(0, 120, 10)))
def test_what_follows_from_conditions_holds_for_all_numbers_of_eight_bits(first: int) -> None:
    learnt = 0
    for seed in range(first, first + 10):
        steps = random_steps(np.random.default_rng(seed))
        ranges = Ranges((INDEX,), SHAPE, EIGHT_BITS)
        for step in steps:
            ranges.learn(*step)
        trials = [Trial(index, size) for index, size in SIZES]
        for trial, (variable, operator, given) in product(trials, steps):
            values = [trial.value(operand) for operand in given]
            trial.values[variable] = NUMPYS[operator](*values) if operator in NUMPYS else computed(operator, values)
        for (flag, _, _), holds in product(steps[6:], (True, False)):
            known = ranges.given(flag, holds)
            learnt += known is not ranges
            for trial, variable in product(trials, [INDEX, LEFT, RIGHT, *(step[0] for step in steps[:6])]):
                numbers, where = np.broadcast_arrays(trial.values[variable], trial.values[flag] == holds)
                kept = numbers[where]
                assert not kept.size or trial.keeps(known.of(variable), kept), (seed, flag, holds, variable)
    assert learnt > 50


def test_what_conditions_choose_holds_for_all_numbers_of_eight_bits() -> None:
    learnt = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        steps = random_steps(random)
        numbers: list[Operand] = [INDEX, LEFT, Extent(N, 0), constant(I64, 0), *(step[0] for step in steps[:6])]
        flags = [step[0] for step in steps[6:]]
        for number in range(21, 27):
            choice = flags[random.integers(len(flags))], *(numbers[random.integers(len(numbers))] for _ in range(2))
            steps.append((Variable(number, I64), Operator.SELECT, choice))
            numbers.append(steps[-1][0])
        ranges = Ranges((INDEX,), SHAPE, EIGHT_BITS)
        for step in steps:
            ranges.learn(*step)
        for trial in (Trial(index, size) for index, size in SIZES):
            for variable, operator, given in steps:
                values = [trial.value(operand) for operand in given]
                if operator is Operator.SELECT and operand_type(given[0]) is BOOL:
                    trial.values[variable] = np.where(*values)
                else:
                    trial.values[variable] = (
                        NUMPYS[operator](*values) if operator in NUMPYS else computed(operator, values)
                    )
                learnt += operator is Operator.SELECT and ranges.of(variable) != Range()
                if variable.type is I64:
                    assert trial.keeps(ranges.of(variable), trial.values[variable]), (seed, variable)
    assert learnt > 100


EDGES = (-(2**63), -(2**62), -OFFSET - 1, -1, 0, 1, OFFSET, OFFSET + 1, 2**47, 2**61, 2**62, 2**63 - 1)


def random_function(seed: int) -> Function:
    """Index arithmetic over an index, two unknown numbers, sizes and constants at the edges; comparisons choose."""
    random = np.random.default_rng(seed)
    numbers: list[Operand] = [
        INDEX, LEFT, RIGHT, Extent(N, 0), Extent(N, 1), constant(I64, 1), constant(I64, int(random.choice(EDGES))),
    ]  # fmt: skip
    choices = (*OPERATORS[:4], Operator.LT, Operator.GE, Operator.LE, Operator.GT)
    statements = []
    for place in range(2, 12):
        operator = choices[random.integers(len(choices))]
        left, right = (numbers[random.integers(len(numbers))] for _ in range(2))
        out = Variable(2 * place, I64)
        if operator in choices[4:]:
            flag = Variable(2 * place + 1, BOOL)
            statements.append(Compute(flag, operator, (left, right)))
            statements.append(Compute(out, Operator.SELECT, (flag, left, right)))
        else:
            statements.append(Compute(out, operator, (left, right)))
        numbers.append(out)
    return Function((INDEX, LEFT, RIGHT), Block(tuple(statements), tuple(numbers[-4:])))


@pytest.mark.parametrize("seed", one_in(8, range(200)))
def test_simplified_index_arithmetic_wraps_as_before(seed: int) -> None:
    function = random_function(seed)
    simplified = simplify(function, SHAPE)
    for size in (0, 3, 2**40, 2**46, LARGEST_EXTENT):
        sizes: Mapping[SizeVariable, int] = {N: size}
        for index, left, right in product((0, size), EDGES[::2], EDGES[1::3]):
            given = (index, left, right)
            expected = evaluate(function, given, sizes.__getitem__, {})
            assert evaluate(simplified, given, sizes.__getitem__, {}) == expected, (given, size)
