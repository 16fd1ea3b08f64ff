"""Where scatters into a loop's state stand: behind all that reads it in a turn, if that does not need what they make."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from tests.labelled.programs import AnyAcc, program_text

pytestmark = [pytest.mark.llvm, pytest.mark.solver]

State: TypeAlias = tuple[AnyAcc, AnyAcc]

XS = np.array([5, 2, 8, 6, 3, 6, 9, 5, 7])


def put(xs: AnyAcc, at: Any, value: Any) -> AnyAcc:
    """`xs` with one element changed."""
    return A.update(xs, (slice(at, at + 1),), A.fill((1,), value))


def read_behind(turn: Any, state: State) -> State:
    """What is read of the old state is written behind the scatter."""
    xs, total = state
    return put(xs, turn, xs[turn] * 2), A.map(lambda t: t * 3 + xs[turn], total)


def crossed(turn: Any, state: State) -> State:
    """Two scatters, each of what the other one overwrites: nothing stands behind what it needs."""
    xs, ys = state
    return put(xs, turn, ys[0]), put(ys, 0, xs[turn] + 1)


def one_after_the_other(turn: Any, state: State) -> State:
    """The second scatter reads what the first one makes: what needs the first one reads the old state, too, which is a copy."""
    xs, total = state
    changed = put(xs, turn, xs[0] + 1)
    return put(changed, 0, changed[turn] + xs[turn]), A.map(lambda t: t * 3 + changed[0], total)


def needed_by_what_reads(turn: Any, state: State) -> State:
    """What reads the old state needs the new one: that is a copy."""
    xs, total = state
    changed = put(xs, turn, xs[turn] + 7)
    return changed, A.map(lambda t: t + xs[turn] * changed[turn], total)


def in_rows(turn: Any, state: State) -> State:
    """Two matrices, of which each gets a row made of both."""
    p, q = state
    row = A.imap(lambda ix, x: x + p[turn, ix[0]], A.generate((3,), lambda ix: q[turn, ix[0]]))
    view = (slice(turn + 1, turn + 2),)
    return A.update(p, view, A.replicate((1, A.All), A.map(abs, row))), A.update(q, view, A.replicate((1, A.All), row))


Step: TypeAlias = Callable[[Any, State], State]


def looped(step: Step, first: AnyAcc, second: AnyAcc) -> State:
    return A.iiterate(8, step, (first, second))


@pytest.mark.parametrize(
    ("step", "second", "taken", "copied"),
    [
        (read_behind, A.unit(A.constant(1)), 1, 0),
        (crossed, A.use(XS * 3), 2, 0),
        (one_after_the_other, A.unit(A.constant(1)), 0, 1),
        (needed_by_what_reads, A.unit(A.constant(1)), 0, 1),
    ],
)
def test_scatters_take_what_is_read_before(step: Step, second: AnyAcc, taken: int, copied: int) -> None:
    text = program_text(*looped(step, A.use(XS), second))
    assert (text.count("= copy last"), text.count("= copy") - text.count("= copy last")) == (taken, copied)


def test_rows_of_two_matrices_are_made_before_both_change() -> None:
    text = program_text(*looped(in_rows, A.use(np.ones((9, 3))), A.use(np.ones((9, 3)))))
    assert text.count("= copy last") == text.count("= copy") == 2


@pytest.mark.parametrize("step", [read_behind, crossed, one_after_the_other, needed_by_what_reads])
@pytest.mark.parametrize("settings", [{"backend": "llvm"}, {"backend": "opencl"}, {"strategy": "none"}])
@pytest.mark.opencl
def test_turns_are_the_same_everywhere(step: Step, settings: dict[str, Any]) -> None:
    second = A.use(XS * 3) if step is crossed else A.unit(A.constant(1))
    found = looped(step, A.use(XS), second)
    for one, other in zip(A.run(found, **settings), A.run(found, backend="interpreter"), strict=True):
        assert one.tolist() == other.tolist()


def test_turns_are_those_of_python() -> None:
    xs, total = XS.copy(), 1
    for turn in range(8):
        old = int(xs[turn])
        xs[turn], total = old * 2, total * 3 + old
    found = A.run(looped(read_behind, A.use(XS), A.unit(A.constant(1))))
    assert (found[0].tolist(), int(found[1])) == (xs.tolist(), total)
