"""Loops whose turns only launch nests take their memory once, and give what the interpreter gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import reduce
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.linear.items import linear
from accel.backends.linear.turn_buffers import Given, Turns, turn_buffers
from accel.backends.llvm.calls import compiled, write
from accel.backends.llvm.calls.call_text import CallText, call_text
from accel.backends.llvm.calls.extents import extent_nests
from accel.explanation.explain import subject
from accel.ir import mentions
from accel.ir.nodes import Nest
from accel.labelled.array import Array
from accel.settings import changed
from tests.untyped import runN

pytestmark = [pytest.mark.llvm, pytest.mark.solver]

Vector: TypeAlias = A.Acc[A.Vector[np.int64]]
Program: TypeAlias = Callable[[Vector], Any]

XS = np.array([3, 1, 4, 1, 5, 9])


def one(xs: Vector) -> Any:
    """A state has two places, in turn."""
    return A.iiterate(A.length(xs), lambda k, s: A.imap(lambda ix, x: x * 2 + s[5 - ix[0]] + k, s), xs)


def three(xs: Vector) -> Any:
    """Each turn needs what the two before made."""
    n = A.length(xs)

    def turn(k: Any, state: Any) -> Any:
        old, new = state
        return new, A.imap(lambda ix, x: x + new[n - 1 - ix[0]] - k, old)

    return A.iiterate(n + 5, turn, (xs, A.map(lambda x: x * x, xs)))


def exchanged(xs: Vector) -> Any:
    """Two states change places, and a third stays."""

    def turn(k: Any, state: Any) -> Any:
        left, right, stays = state
        return right, left, stays

    return A.iiterate(A.length(xs) + 1, turn, (xs, A.map(lambda x: -x, xs), A.map(lambda x: x + 7, xs)))


def twice(xs: Vector) -> Any:
    """Two states are one array."""

    def turn(k: Any, state: Any) -> Any:
        left, right = state
        made = A.compute(A.zipWith(lambda a, b: a - 3 * b + k, left, right))
        return made, made

    return A.iiterate(4, turn, (xs, xs))


def rows(xs: Vector) -> Any:
    """A row for each turn."""
    n = A.length(xs)

    def turn(k: Any, state: Any) -> Any:
        s, out = state
        made = A.map(lambda x: x * 3 - k, s)
        return made, A.permuteUnique(out, lambda ix: A.just(A.index(k, ix[0])), made)

    return A.iiterate(n, turn, (xs, A.fill((n, n), 0)))


def rows_of_one(xs: Vector) -> Any:
    """The same with states that are one array before the first turn, and that is a result, too."""
    n = A.length(xs)
    zeros = A.compute(A.fill((n, n), 0))

    def turn(k: Any, state: Any) -> Any:
        made = [A.map(lambda x: x + k, xs), A.map(lambda x: x - k, xs)]
        return tuple(
            [A.permuteUnique(s, lambda ix: A.just(A.index(k, ix[0])), m) for s, m in zip(state, made, strict=True)]
        )

    return A.iiterate(n, turn, (zeros, zeros)), zeros


def argument(xs: Vector) -> Any:
    """What is given is not written to."""

    def turn(k: Any, ys: Any) -> Any:
        return A.permuteUnique(ys, lambda ix: A.just(A.index(k)), A.fill((1,), ys[k] + ys[0]))

    return A.iiterate(A.length(xs), turn, xs), xs


def before(xs: Vector) -> Any:
    """Each turn changes an array and also keeps it as it was."""

    def turn(k: Any, state: Any) -> Any:
        new, _ = state
        return A.permuteUnique(new, lambda ix: A.just(A.index(k)), A.fill((1,), new[0] - k)), new

    return A.iiterate(A.length(xs), turn, (xs, xs))


def kept_again(xs: Vector) -> Any:
    """Two states are one array, of which a turn changes one and keeps the other."""

    def turn(k: Any, state: Any) -> Any:
        changed, kept, before = state
        changed = A.permuteUnique(changed, lambda ix: A.just(A.index(k)), A.fill((1,), before[0] - k))
        made = A.zipWith(lambda c, b: c * 2 - b, changed, before)
        return made, made, kept

    return A.iiterate(A.length(xs), turn, (xs, A.map(lambda x: x + 1, xs), A.map(lambda x: x - 7, xs)))


def parts(xs: Vector) -> Any:
    """Parts whose extents a turn computes, and which have to be as long as what comes there."""
    n = A.length(xs)

    def turn(k: Any, state: Any) -> Any:
        out, total = state
        ends = (slice(k, k + 1), slice(k, k + 2))
        return A.update(out, ends, A.fill((1, 2), xs[k] + out[0, k])), A.map(lambda t: t + out[k, k], total)

    return A.iiterate(n - 1, turn, (A.fill((n, n), 1), A.unit(A.constant(0))))


def of_one_length(xs: Vector) -> Any:
    """A state whose shape the program does not know to stay as it is."""
    m = A.generate((xs[0] + 3, A.length(xs)), lambda ix: ix[0] - ix[1])
    return A.iiterate(5, lambda k, s: A.map(lambda x: x % 1000, A.sum(A.imap(lambda ix, w: w * s[ix[1]] + k, m))), xs)


def longer(xs: Vector) -> Any:
    """A state that grows."""
    return A.iiterate(4, lambda k, s: A.append(s, A.fill((k,), s[k])), xs)


def asked(xs: Vector) -> Any:
    """Each turn computes whether there is another one."""

    def below(s: Any) -> Any:
        return A.map(lambda t: t < 10_000, A.sum(A.map(lambda x: x * x, s)))

    return A.awhile(below, lambda s: A.imap(lambda ix, x: x + s[0] + ix[0] + 1, s), xs)


def looked(xs: Vector) -> Any:
    """Whether there is another turn says an element of the state, before the turn."""
    return A.awhile(lambda s: A.unit(s[0] < 1000), lambda s: A.imap(lambda ix, x: x * 2 + ix[0] + s[0], s), xs)


def nested(xs: Vector) -> Any:
    """Loops in loops, of which some have no turn."""

    def turn(k: Any, s: Any) -> Any:
        return A.zipWith(A.add, A.iiterate(k % 3, lambda j, t: A.map(lambda x: x * 2 - j, t), s), s)

    return A.iiterate(7, turn, xs)


PROGRAMS = [
    one,
    three,
    exchanged,
    twice,
    rows,
    rows_of_one,
    argument,
    before,
    kept_again,
    parts,
    of_one_length,
    longer,
    asked,
    looked,
    nested,
]


def leaves(found: Any) -> list[np.ndarray[Any, Any]]:
    return [array for each in found for array in leaves(each)] if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("threads", [1, 2])
def test_results_are_those_of_the_interpreter(program: Program, threads: int) -> None:
    run, reference = runN(program, threads=threads), runN(program, backend="interpreter")
    for given in (XS, np.arange(200) % 7, XS[:1], XS[:2]) if program in (three, exchanged, twice) else (XS,):
        before, results = given.copy(), []
        for _ in range(3):
            results += leaves(run(given))
        wanted = leaves(reference(given))
        for number, array in enumerate(results):
            np.testing.assert_array_equal(array, wanted[number % len(wanted)])
        assert not any(np.shares_memory(a, b) for k, a in enumerate([given, *results]) for b in results[k:])
        np.testing.assert_array_equal(given, before)


@pytest.mark.parametrize("program", [three, exchanged, twice, rows])
def test_no_elements(program: Program) -> None:
    given = XS[:0]
    for found, wanted in zip(
        leaves(runN(program)(given)), leaves(runN(program, backend="interpreter")(given)), strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
        assert found.shape == wanted.shape


def test_no_turns() -> None:
    def program(n: Any, xs: Any) -> Any:
        def turn(k: Any, state: Any) -> Any:
            s, out = state
            return A.map(lambda x: x + 1, s), A.permuteUnique(out, lambda ix: A.just(A.index(k + ix[0])), s)

        return A.iiterate(A.the(n), turn, (xs, A.map(lambda x: x * 10, xs)))

    run = runN(program)
    for turns in (0, -3, 1, 0):
        wanted = runN(program, backend="interpreter")(np.array(turns), XS)
        for found, expected in zip(run(np.array(turns), XS), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)


def test_an_error_in_a_later_turn_names_the_place() -> None:
    run = runN(lambda xs: A.iiterate(9, lambda k, s: A.map(lambda x: x + s[k], s), xs))
    for _ in range(2):
        with pytest.raises(A.AccelIndexError, match=r"index \(6,\) is out of bounds"):
            run(XS)


@pytest.mark.parametrize(
    "part", [lambda k: slice(k, k + 1), lambda k: slice(0, A.max(1, k - 3))], ids=["beyond the end", "longer"]
)
def test_an_extent_that_is_another_in_a_later_turn(part: Callable[[Any], Any]) -> None:
    def program(xs: Any, turns: Any) -> Any:
        return A.iiterate(A.the(turns), lambda k, s: A.update(s, (part(k),), A.fill((1,), s[0] + k)), xs)

    run, few, more = runN(program), np.array(5), np.array(7)
    assert found_of(program, XS, few)
    for _ in range(2):
        with pytest.raises(A.AccelShapeError, match="update"):
            run(XS, more)
    np.testing.assert_array_equal(run(XS, few), runN(program, backend="interpreter")(XS, few))


def test_extents_of_arguments_that_a_turn_compares() -> None:
    def program(m: Any, xs: Any) -> Any:
        return A.iterate(3, lambda s: A.map(lambda x: x % 1000, A.matmul(m, s)), xs)

    run, square = runN(program), np.arange(36).reshape(6, 6)
    assert found_of(program, square, XS)
    np.testing.assert_array_equal(run(square, XS), runN(program, backend="interpreter")(square, XS))
    for other in (square, square[:, :5], square[:5]):
        with pytest.raises(A.AccelShapeError):
            run(other, XS[:-1] if other is square else XS)


def test_a_state_that_has_another_shape_after_the_first_turn() -> None:
    def program(xs: Vector) -> Any:
        m = A.generate((xs[0] + 3, A.length(xs)), lambda ix: ix[0] - ix[1])

        def turn(k: Any, s: Any) -> Any:
            sums = A.sum(A.imap(lambda ix, w: w * s[ix[1] % A.length(s)] + k, m))
            return A.map(lambda x: x % 1000, sums)

        return A.iiterate(5, turn, xs)

    run = runN(program)
    assert found(program)
    for first in (3, 1, 0, 3, 8):
        given = np.array([first, 1, 4, 1, 5, 9])
        np.testing.assert_array_equal(run(given), runN(program, backend="interpreter")(given))


REGULAR = [
    one,
    three,
    exchanged,
    rows,
    rows_of_one,
    argument,
    before,
    kept_again,
    parts,
    of_one_length,
    asked,
    looked,
    nested,
]


@pytest.mark.parametrize("program", REGULAR)
def test_no_call_begins_again(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is found out of sizes is what they are."""
    run = runN(program)
    wanted = leaves(run(XS))
    assert found(program)
    monkeypatch.setattr(compiled._Listed, "__call__", None)
    for array, expected in zip(leaves(run(XS)), wanted, strict=True):
        np.testing.assert_array_equal(array, expected)


def test_arguments_that_are_given_away() -> None:
    for program in PROGRAMS:
        wanted = leaves(runN(program, backend="interpreter")(XS))
        for found, expected in zip(leaves(runN(program)(XS.copy(), donate=(0,))), wanted, strict=True):
            np.testing.assert_array_equal(found, expected)


def found(program: Program) -> list[Turns]:
    return found_of(program, XS)


def found_of(program: Callable[..., Any], *arguments: Any) -> list[Turns]:
    items = linear(subject(program, list(arguments), changed({})).staged.loops)
    return list(turn_buffers(items, frozenset(), extent_nests(items)).values())


def test_places_come_again() -> None:
    (turns,) = found(one)
    assert (len(turns.turns), turns.again, len(turns.adopted)) == (3, 1, 0)
    assert all(isinstance(place, Given) for place in turns.turns[0].states)
    (turns,) = found(exchanged)
    assert [turn.states[1:4] for turn in turns.turns[:2]] == [
        (Given(1), Given(2), Given(3)),
        (Given(2), Given(1), Given(3)),
    ]
    (turns,) = found(rows)
    assert len(turns.adopted) == 1
    (own,) = turns.adopted
    assert all(own in turn.states for turn in turns.turns[1:])


def test_what_is_not_made_by_a_launch_of_its_own_makes_a_turn_irregular() -> None:
    staged = subject(one, [XS], changed({})).staged.loops
    items = linear(staged)
    (turns,) = found(one)
    made = {output.array for nest in turns.nests for output in nest.outputs}
    assert made
    for array in made:
        assert not turn_buffers(items, frozenset({array}), extent_nests(items))


def test_what_asks_for_a_turn_is_launched_once() -> None:
    (turns,) = found(looked)
    for turn in turns.turns:
        assert turn.asking
        assert not {id(started.nest) for started in turn.asking} & {id(started.nest) for started in turn.launches}


def test_the_loop_that_runs_again_reads_nothing_that_it_writes_in_the_same_launch() -> None:
    for program in PROGRAMS:
        for turns in found(program):
            for turn in turns.turns:
                for started in turn.asking + turn.launches:
                    made = {started.places[output.array] for output in started.nest.outputs}
                    others = [place for array, place in started.places.items() if array in _read(started.nest)]
                    assert not made & set(others)


def _read(nest: Nest) -> frozenset[Array]:
    return mentions.arrays(nest) - {output.array for output in nest.outputs}


def test_frames_of_all_loops_lie_in_the_same_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a program of many loops needs no more of the stack than one of them."""
    texts: list[str] = []

    def seen(*given: Any) -> CallText:
        made = call_text(*given)
        texts.append(made.text)
        return made

    def turns(number: int, xs: Vector) -> Any:
        return A.iiterate(3, lambda k, s: A.map(lambda x: x * 3 + k + number, s), xs)

    def loops(count: int) -> Program:
        return lambda xs: reduce(lambda made, number: turns(number, made), range(count), xs)

    monkeypatch.setattr(write, "call_text", seen)
    for count in (1, 2, 7):
        np.testing.assert_array_equal(runN(loops(count))(XS), runN(loops(count), backend="interpreter")(XS))
    rooms = [re.findall(r"alloca \[(\d+) x i64\], i64 1|%frames = alloca \[(\d+) x i64\]", text) for text in texts]
    assert len(rooms) == 3
    assert rooms[0]
    assert all(found == rooms[0] for found in rooms)
