"""Programs as flat lists: jumps for control flow, and arrays dropped after their last use."""

from __future__ import annotations

import pytest

from accel.ast.tree.types import BOOL, F32, ScalarType
from accel.backends.linear.items import Assign, Drop, Enter, Item, Jump, JumpUnless, Mark, copies, linear, moves
from accel.backends.linear.loops import launching, loops, played
from accel.ir.nodes import (
    Branch,
    Launch,
    Level,
    Nest,
    Output,
    Program,
    Read,
    Repeat,
    Require,
    Step,
    Stream,
    View,
    Write,
)
from accel.labelled.array import Array


def array(label: int, element: ScalarType = F32) -> Array:
    return Array(label, 0, element, ())


def copy(target: int, source: int, element: ScalarType = F32) -> Launch:
    """A nest without loops that makes one scalar from another."""
    x = Stream("x", F32)
    body = Level((Read(x, array(source), ()), Write(array(target, element), (), x)), None, ())
    return Launch(Nest(target, body, (Output(array(target, element), ()),), (), ()))


def shape(items: list[Item]) -> list[str]:
    """The items in words."""
    words = []
    for item in items:
        match item:
            case Launch(nest):
                words.append(f"make {nest.label}")
            case Drop(arrays):
                words += [f"forget {a.label}" for a in arrays]
            case Assign(targets, sources):
                words += [f"{t.label} := {s.label}" for t, s in zip(targets, sources, strict=True)]
            case Mark(number):
                words.append(f"mark {number}")
            case Jump(mark):
                words.append(f"jump {mark}")
            case JumpUnless(condition, mark):
                words.append(f"unless {condition.label} jump {mark}")
            case Enter():
                pass
            case View(arrays, sources):
                words.append(f"view {arrays[0].label} of {sources[0].label}")
            case _:
                words.append(type(item).__name__)
    return words


def program(*steps: Step, parameters: tuple[int, ...] = (0,), results: tuple[int, ...]) -> Program:
    return Program(tuple((array(p),) for p in parameters), steps, tuple(map(array, results)))


def test_intermediates_are_forgotten_after_their_last_use() -> None:
    items = linear(program(copy(1, 0), copy(2, 1), copy(3, 1), results=(2, 3)))
    assert shape(items) == ["make 1", "make 2", "make 3", "forget 1"]


def test_what_a_view_shares_is_forgotten_by_itself() -> None:
    items = linear(program(copy(1, 0), View((array(2),), (array(1),)), copy(3, 2), results=(3,)))
    assert shape(items) == ["make 1", "view 2 of 1", "forget 1", "make 3", "forget 2"]


def test_a_copy_of_what_is_dropped_then_is_that() -> None:
    items = linear(program(copy(1, 0), copy(2, 1), results=(2,)))
    assert shape(items) == ["make 1", "make 2", "forget 1"]
    assert shape(list(moves(items).values())) == ["2 := 1"]


def test_a_copy_of_what_is_given_or_needed_later_or_shared_is_made() -> None:
    given = program(copy(1, 0), results=(1,))
    later = program(copy(1, 0), copy(2, 1), copy(3, 1), results=(2, 3))
    viewed = program(copy(1, 0), View((array(2),), (array(1),)), copy(3, 1), results=(2, 3))
    for each, makes in ((given, []), (later, ["3 := 1"]), (viewed, [])):
        assert shape(list(moves(linear(each)).values())) == makes


def test_a_copy_may_be_what_it_copies_unless_something_views_it() -> None:
    given = program(copy(1, 0), results=(1,))
    viewed = program(copy(1, 0), View((array(2),), (array(1),)), copy(3, 1), results=(2, 3))
    body = Program(((array(20),),), (copy(21, 20),), (array(21),))
    condition = Program(((array(10),),), (copy(11, 10, BOOL),), (array(11, BOOL),))
    loop = program(Repeat(condition, body, (array(0),), (array(2),)), results=(2,))
    found = [sorted(copy.target.label for copy in copies(linear(each)).values()) for each in (given, viewed, loop)]
    assert found == [[], [], [11, 21]]


def test_branches_jump_and_outer_arrays_live_to_the_end() -> None:
    then = Program((), (copy(4, 1),), (array(4),))
    orelse = Program((), (copy(5, 0),), (array(5),))
    items = linear(
        program(copy(1, 0), copy(2, 0, BOOL), Branch(array(2, BOOL), then, orelse, (array(3),)), results=(3,))
    )
    assert shape(items) == [
        "make 1", "make 2", "unless 2 jump 0", "make 4", "3 := 4", "forget 4", "jump 1", "mark 0", "make 5",
        "3 := 5", "forget 5", "mark 1", "forget 1", "forget 2",
    ]  # fmt: skip


def test_loops_jump_back_and_outer_arrays_live_to_the_end() -> None:
    condition = Program(((array(10),),), (copy(11, 10, BOOL),), (array(11, BOOL),))
    body = Program(((array(20),),), (copy(21, 20), copy(22, 1)), (array(22),))
    items = linear(program(copy(1, 0), Repeat(condition, body, (array(0),), (array(2),)), copy(3, 2), results=(3,)))
    assert shape(items) == [
        "make 1", "2 := 0", "mark 0", "10 := 2", "make 11", "forget 10", "unless 11 jump 1", "forget 11", "20 := 2",
        "forget 2", "make 21", "forget 20", "forget 21", "make 22", "2 := 22", "forget 22", "jump 0", "mark 1", "forget 1",
        "make 3", "forget 2",
    ]  # fmt: skip


def counting(condition: tuple[Step, ...], *body: Step, label: int = 100) -> Repeat:
    """A loop over array 0 and a bool, `label` and the next: it goes on as long as that is true."""
    asked = array(label + 2), array(label + 3, BOOL)
    state = array(label + 4), array(label + 5, BOOL)
    made = array(label + 6), array(label + 7, BOOL)
    ask = Program(((asked[0],), (asked[1],)), condition, (asked[1],))
    turn = Program(((state[0],), (state[1],)), (*body, copy(label + 6, label + 4), copy(label + 7, 0, BOOL)), made)
    return Repeat(ask, turn, (array(0), array(1, BOOL)), (array(label), array(label + 1, BOOL)))


SAME = Program((), (), (array(0),))
TURNS: dict[str, tuple[Repeat, tuple[int, int, int]]] = {
    "launches": (counting(()), (1, 1, 1)),
    "a view": (counting((), View((array(2),), (array(0),))), (1, 1, 1)),
    "a question that launches": (counting((copy(2, 0),)), (1, 1, 0)),
    "shapes that are compared": (counting((), Require((), (), "zip")), (1, 1, 0)),
    "a branch": (counting((), Branch(array(1, BOOL), SAME, SAME, (array(2),))), (1, 0, 0)),
    "a loop": (counting((), counting((), label=200)), (2, 1, 1)),
}
"""Loops, and how many there are, how many only launch nests, and in how many of these the host has no part."""


@pytest.mark.parametrize("turn", TURNS)
def test_loops_whose_turns_only_launch_nests(turn: str) -> None:
    loop, counts = TURNS[turn]
    items = linear(program(copy(1, 0, BOOL), loop, copy(3, 100), results=(3,)))
    assert (len(list(loops(items))), len(list(launching(items))), len(played(items))) == counts
    for begin, (*_, end) in played(items).items():
        assert isinstance(items[begin], Mark)
        assert isinstance(end, Mark)


@pytest.mark.slow
def test_deep_control_flow_does_not_recurse() -> None:
    same = Program((), (), (array(0),))
    inner = same
    for label in range(1, 20_000):
        inner = Program((), (Branch(array(0, BOOL), inner, same, (array(label),)),), (array(label),))
    items = linear(Program(((array(0),),), inner.steps, inner.results))
    assert sum(isinstance(item, Assign) for item in items) == 2 * 19_999
