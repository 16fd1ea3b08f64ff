"""How often work is done: again where it should be, and never work that multiplies unseen. Operations are counted.

Every program has one `x ^ 5` (exclusive or, which nothing else here uses) in what may be recomputed, over 6 elements, or
4 by 6. The loops are run by the interpreter of loops; the counts are reasoned from the program, beside each.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import accel as A
from accel.ast.meaning.semantics import Implementation, Value, implementation
from accel.ast.tree.leaves import to_host
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import ScalarType
from accel.compile import stages
from accel.ilp.problem.options import Options
from accel.ir.meaning.interpret import interpret
from accel.labelled.meaning import evaluate
from accel.labelled.meaning.interpret import interpret as mean
from accel.support.choices import Duplicate
from tests.labelled.programs import AnyAcc, AnyExp, built

Counted = Callable[..., int]
XS = np.arange(6) * 3 % 7
MATRIX = np.arange(24).reshape(4, 6) * 5 % 11


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """How often `x ^ 5` runs in a planned program, whose results are those of the program as it is written."""
    found: Counter[str] = Counter()

    def counting(operator: Operator, out: ScalarType, arguments: tuple[ScalarType, ...]) -> Implementation:
        function = implementation(operator, out, arguments)

        def call(*values: Value) -> Value:
            found[operator.name] += 1
            return function(*values)

        return call

    def count(*results: AnyAcc, duplicate: Duplicate = True) -> int:
        whole = built(results)
        arguments = [to_host(leaf) for constant in whole.constants for leaf in constant.data]
        expected = mean(whole.program, arguments)
        staged = stages(whole.program, Options(duplicate=duplicate, time_limit=60))
        with monkeypatch.context() as patch:
            patch.setattr(evaluate, "implementation", counting)
            found.clear()
            made = interpret(staged.loops, arguments)
        assert [one.tolist() for one in made] == [one.tolist() for one in expected]
        return found["XOR"]

    return count


def five(xs: AnyAcc) -> AnyAcc:
    """What is counted."""
    return A.map(lambda x: x ^ 5, xs)


def test_nothing_is_done_twice_unless_that_is_allowed(counted: Counted) -> None:
    """A sum, and the shares of it: two loops over 6 elements."""
    ys = five(A.use(XS))
    total = A.the(A.fold(A.add, 0, ys))
    shares = A.map(lambda y: y * total, ys)
    assert counted(shares, duplicate=False) == 6
    assert counted(shares) == 12


def test_a_load_by_index_is_computed(counted: Counted) -> None:
    """One load for each of 6 elements, and nothing else reads it."""
    ys = five(A.use(XS))
    assert counted(A.generate(ys.shape, lambda ix: ys[ix] + 1)) == 6
    assert counted(A.generate(ys.shape, lambda ix: ys[A.index(5 - A.unindex(ix)[0])])) == 6


def corners(ix: AnyExp) -> list[AnyExp]:
    """The parts of an index of any rank."""
    return list(A.unindex(ix))


def neighbours(ys: AnyAcc) -> AnyAcc:
    """Three loads for each element."""
    last = A.size(ys) - 1

    def around(ix: AnyExp) -> AnyExp:
        (i,) = A.unindex(ix)
        return ys[A.index(A.max(i - 1, 0))] + ys[ix] + ys[A.index(A.min(i + 1, last))]

    return A.generate(ys.shape, around)


def test_a_stencil_of_something_cheap_computes_it_at_every_point(counted: Counted) -> None:
    assert counted(neighbours(five(A.use(XS)))) == 3 * 6
    assert counted(neighbours(five(A.use(XS))), duplicate="gathers") == 6


def test_a_stencil_stores_what_would_be_more_than_32_operations_in_one_element(counted: Counted) -> None:
    """16 operations at 3 points."""

    def longer(x: AnyExp) -> AnyExp:
        for step in range(15):
            x = x * (step + 3)
        return x

    assert counted(neighbours(A.map(longer, five(A.use(XS))))) == 6


def test_a_stencil_of_a_stencil_takes_what_it_reads_from_memory(counted: Counted) -> None:
    """The first is computed at each of the second's three points, of a map that is stored: one array less, and 6, not 9 * 6."""
    assert counted(neighbours(neighbours(five(A.use(XS))))) == 6


def test_gathers_and_backpermutes_make_what_they_take(counted: Counted) -> None:
    """In a loop of their own, beside that of a sum; each makes as many elements as it takes."""
    xs = A.use(XS)
    ys, total = five(xs), A.fold(A.add, 0, five(xs))
    assert counted(A.reverse(ys), total) == 6 + 6
    assert counted(A.gather(A.map(lambda x: x * 5 % 6, xs), ys), total) == 6 + 6
    assert counted(A.take(2, ys), total) == 2 + 6


def test_folds_and_scans_take_it_as_it_is_made(counted: Counted) -> None:
    """A fold; a scan of what depends on the fold; a fold of what depends on the scan: three loops."""
    ys = five(A.use(XS))
    largest = A.the(A.fold(A.max, 0, ys))
    total = A.the(A.fold(A.add, 0, A.scanl1(A.add, A.map(lambda y: y * largest, ys))))
    assert counted(A.fold(A.add, 0, A.map(lambda y: y + total, ys))) == 18


def test_loop_bodies_and_branches_find_it_in_memory(counted: Counted) -> None:
    """What a body closes over is computed before it, once, however often the body runs: here 3 times."""
    ys = five(A.use(XS))
    state = A.awhile(
        lambda n: A.map(lambda i: i < 3, n), lambda n: A.map(lambda i: i + 1, n), A.unit(A.constant(0, np.int64))
    )
    looped = A.awhile(
        lambda s: A.map(lambda i: i < 3, s[1]),
        lambda s: (A.zipWith(A.add, s[0], ys), A.map(lambda i: i + 1, s[1])),
        (A.use(XS), A.unit(A.constant(0, np.int64))),
    )
    assert counted(looped[0]) == 6
    chosen = A.acond(A.the(state) > 2, A.map(lambda y: y + 1, ys), A.reverse(ys))
    assert counted(chosen) == 6


def test_what_a_body_makes_is_recomputed_inside_of_it(counted: Counted) -> None:
    """Two loops in a body that runs 3 times."""

    def step(state: tuple[AnyAcc, AnyAcc]) -> tuple[AnyAcc, AnyAcc]:
        ys = five(state[0])
        total = A.the(A.fold(A.add, 0, ys))
        return A.map(lambda y: y + total, ys), A.map(lambda i: i + 1, state[1])

    state = (A.use(XS), A.unit(A.constant(0, np.int64)))
    assert counted(A.awhile(lambda s: A.map(lambda i: i < 3, s[1]), step, state)[0]) == 3 * 12


def test_a_reader_in_which_elements_are_read_often_loads_them(counted: Counted) -> None:
    """A matrix product reads each element of a row 4 times: as a loop in each element, or by an array of three dimensions."""
    ys = five(A.use(MATRIX))
    n, m = A.unlift(ys.shape)

    def product(ix: AnyExp) -> AnyExp:
        i, j = corners(ix)[:2]
        start = A.lift(A.constant(0, np.int64), A.constant(0, np.int64))

        def added(s: AnyExp) -> AnyExp:
            k = A.fst(s)
            return A.lift(k + 1, A.snd(s) + ys[A.index(i, k)] * ys[A.index(j, k)])

        return A.snd(A.while_(lambda s: A.fst(s) < m, added, start))

    assert counted(A.generate(A.index(n, n), product)) == 24

    def all_of_it(ix: AnyExp) -> AnyExp:
        i, j, k = corners(ix)
        return ys[A.index(i, k)] * ys[A.index(j, k)]

    assert counted(A.fold(A.add, 0, A.generate(A.index(n, n, m), all_of_it))) == 24


def test_a_table_is_not_computed_for_everyone_who_looks_something_up(counted: Counted) -> None:
    """How many there are is not known: nothing says that they are no more than the table has entries.

    Only what nobody but a gather reads runs at the gather's indices, if it is cheap (W1), with or without recomputation.
    """
    table = five(A.use(XS))
    asked = A.use(np.arange(20) % 6)
    assert counted(A.map(lambda i: table[A.index(i)], asked)) == 6
    assert counted(A.gather(asked, table), A.fold(A.add, 0, table)) == 6
    assert counted(A.gather(asked, table)) == counted(A.gather(asked, table), duplicate="gathers") == 20


def test_rows_are_not_folded_again_for_each_element(counted: Counted) -> None:
    """Row softmax, with other operations. The exponentials read what is no array in memory: they are stored.

    What is folded is folded once, though both the rows and another loop need it: 6 elements into 0, in each of 4 rows.
    """
    xs = A.use(MATRIX)
    _, m = A.unlift(xs.shape)
    largest = A.fold1(A.max, xs)
    raised = A.zipWith(lambda x, y: (x - y) ^ 5, xs, A.replicate((A.All, m), largest))
    totals = A.fold(A.add, 1, raised)
    assert counted(A.zipWith(A.mul, raised, A.replicate((A.All, m), totals))) == 24
    summed = A.fold(lambda a, b: a ^ b, 0, xs)
    assert counted(A.zipWith(A.mul, xs, A.replicate((A.All, m), summed)), A.map(lambda s: s * 2, summed)) == 24


@pytest.mark.parametrize("steps", [1, 33])
def test_what_is_dear_is_done_once(counted: Counted, steps: int) -> None:
    """A loop; 33 operations."""

    def dear(x: AnyExp) -> AnyExp:
        if steps == 1:
            return A.while_(lambda v: v < 100, lambda v: v * 2 + 1, x ^ 5)
        x = x ^ 5
        for step in range(steps):
            x = x * (step + 3)
        return x

    ys = A.map(dear, A.use(XS))
    total = A.the(A.fold(A.add, 0, ys))
    assert counted(A.map(lambda y: y * total, ys)) == 6


@pytest.mark.slow
def test_what_is_recomputed_of_memory_is_recomputed_by_one(counted: Counted) -> None:
    """The second recomputes the first map, in a loop of its own after a sum. What reads the first is recomputed nowhere."""
    firsts = five(A.use(XS))
    total = A.the(A.fold(A.add, 0, firsts))
    seconds = A.map(lambda a: a * total, firsts)
    largest = A.the(A.fold(A.max, 0, seconds))
    thirds = A.map(lambda b: b + largest, seconds)
    least = A.the(A.fold(A.min, 0, thirds))
    assert counted(A.map(lambda c: c - least, thirds)) == 12


def test_many_readers_do_it_once_each(counted: Counted) -> None:
    """Eight loops, each of which needs the sum of the one before: eight times, and no reader pays for another one's copy."""
    ys = five(A.use(XS))
    total = A.the(A.fold(A.add, 0, ys))
    for _ in range(7):
        total = A.the(A.fold(A.add, 0, A.map(lambda y, t=total: y * t, ys)))  # type: ignore[misc]
    assert counted(A.unit(total)) == 8 * 6


@pytest.mark.parametrize(("length", "times"), [(10, 12), (20, 6)])
def test_a_chain_counts_as_one(counted: Counted, length: int, times: int) -> None:
    """Each of two maps is cheap. Of 10 operations and 11 they are recomputed as one; of 20 and 21, the second is stored."""

    def steps(x: AnyExp) -> AnyExp:
        for step in range(length):
            x = x * (step + 3)
        return x

    ys = A.map(steps, A.map(lambda x: steps(x ^ 5), A.use(XS)))
    total = A.the(A.fold(A.add, 0, ys))
    assert counted(A.map(lambda y: y * total, ys)) == times


@pytest.mark.parametrize(("functions", "times"), [(3, 12), (4, 6)])
def test_elementary_functions_are_eight_operations_each(counted: Counted, functions: int, times: int) -> None:
    """`x ^ 5`, a conversion and three or four cosines: 26 or 34 operations, read by a sum and by the shares of it."""
    ys = A.map(lambda y: A.cast(y, np.float64), five(A.use(XS)))
    for _ in range(functions):
        ys = A.map(A.cos, ys)
    total = A.the(A.fold(A.add, 0.0, ys))
    assert counted(A.map(lambda y: y * total, ys)) == times
