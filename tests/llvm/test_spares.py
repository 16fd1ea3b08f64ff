"""Small arrays that turns of loops make again and again take the memory of those that were dropped, and nothing else's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.calls import write
from accel.backends.llvm.calls.call_text import call_text
from tests.llvm.processors import compile_again
from tests.untyped import runN

pytestmark = [pytest.mark.llvm, pytest.mark.solver]

Vector: TypeAlias = A.Acc[A.Vector[np.int64]]
Program: TypeAlias = Callable[[Vector], Any]

XS = np.array([3, 1, 4, 1, 5, 9])


def counted(xs: Vector) -> Any:
    """Numbers and vectors, of which some turns need those of the turn before."""

    def turn(k: Any, state: Any) -> Any:
        new, old, total = state
        made = A.imap(lambda ix, x: x * 2 + old[5 - ix[0]] + k, new)
        return made, new, A.zipWith(A.add, total, A.sum(made))

    start = A.generate((6,), lambda ix: xs[ix])
    return A.iiterate(40, turn, (start, start, A.unit(A.constant(0))))


def viewed(xs: Vector) -> Any:
    """Views of what a turn makes, which live as long as that or longer."""

    def turn(k: Any, state: Any) -> Any:
        flat, rows = state
        made = A.compute(A.imap(lambda ix, x: x + rows[ix[0] // 3, ix[0] % 3] * k, flat))
        again = A.reshape((2, 3), made)
        return A.flatten(A.reshape((3, 2), A.map(lambda x: x - 7, made))), again

    start = A.generate((6,), lambda ix: xs[ix] + 1)
    return A.iiterate(25, turn, (start, A.reshape((2, 3), start)))


def viewed_blocks(xs: Vector) -> Any:
    """Larger ones, which lie in blocks, of which views hold a reference."""

    def turn(k: Any, state: Any) -> Any:
        flat, rows = state
        made = A.compute(A.imap(lambda ix, x: x + rows[2 - ix[0] // 200, ix[0] % 200] * k, flat))
        return A.flatten(A.reshape((200, 3), A.map(lambda x: x - 7, made))), A.reshape((3, 200), made)

    start = A.generate((600,), lambda ix: xs[ix[0] % 6] + ix[0])
    return A.iiterate(25, turn, (start, A.reshape((3, 200), start)))


def sorted_again(xs: Vector) -> Any:
    """What Python's functions give."""
    start = A.generate((6,), lambda ix: xs[ix])
    return A.iiterate(9, lambda k, s: A.map(lambda x: (x * 7 + k) % 11, A.reverse(A.sort(s))), start)


def put(xs: Vector) -> Any:
    """What is changed in place, and what it was before."""

    def turn(k: Any, state: Any) -> Any:
        changed = A.update(state[0], (slice(k, k + 1),), A.fill((1,), state[0][5 - k] + 1))
        return changed, state[0], A.map(lambda t: t + state[1][k], state[2])

    start = A.generate((6,), lambda ix: xs[ix])
    return A.iiterate(6, turn, (start, start, A.unit(A.constant(0))))


def nested(xs: Vector) -> Any:
    """Loops in loops and branches, whose turns have the same kinds of arrays."""

    def inner(k: Any, s: Any) -> Any:
        return A.acond(A.odd(s[k % 6]), A.scanl1(A.add, s), A.map(lambda x: x - s[0], s))

    def turn(k: Any, s: Any) -> Any:
        return A.zipWith(lambda a, b: A.xor(a, b) + k, A.iiterate(4, inner, s), s)

    return A.iiterate(5, turn, A.generate((6,), lambda ix: xs[ix]))


PROGRAMS = [counted, viewed, viewed_blocks, sorted_again, put, nested]


def leaves(found: Any) -> list[np.ndarray[Any, Any]]:
    return [array for each in found for array in leaves(each)] if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("threads", [1, 2])
def test_results_are_those_of_the_interpreter_and_stay(program: Program, threads: int) -> None:
    run, before = runN(program, threads=threads), XS.copy()
    wanted = leaves(runN(program, backend="interpreter")(XS))
    results = [leaves(run(XS)) for _ in range(4)]
    for found in results:
        for array, expected in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(array, expected)
    every = [array for found in results for array in found]
    assert not any(np.shares_memory(one, other) for k, one in enumerate(every) for other in every[:k])
    np.testing.assert_array_equal(XS, before)


@pytest.mark.parametrize("program", PROGRAMS)
def test_arguments_that_are_given_away(program: Program) -> None:
    run, wanted = runN(program), leaves(runN(program, backend="interpreter")(XS))
    for _ in range(3):
        found = leaves(run(XS.copy(), donate=(0,)))
        for array, expected in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(array, expected)


def test_what_turns_make_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of small arrays whose shape is known, and only in loops."""
    texts: list[str] = []
    written = call_text

    def seen(*given: Any) -> Any:
        found = written(*given)
        texts.append(found.text)
        return found

    monkeypatch.setattr(write, "call_text", seen)
    compile_again(monkeypatch)
    for program, kept in ((counted, True), (lambda xs: A.map(lambda x: x + 1, A.scanl1(A.add, xs)), False)):
        runN(program)(XS)
        assert ("call void @accel_keep" in texts[-1]) is kept
