"""The structure of a program: equal for programs that differ only in arrays and places, different for all others."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree import nodes
from accel.ast.tree.nodes import Literal, Map, Use
from accel.ast.tree.structure import structure
from tests.untyped import accel as U

XS, YS = np.arange(3.0), np.arange(4.0)
SHAPED = np.arange(6.0).reshape(2, 3)

Handle = Any  # Any: arrays of many types


def key(*programs: Handle) -> object:
    return structure([program.node for program in programs]).key


def shared(xs: Handle) -> Handle:
    ys = A.map(lambda x: x + 1, xs)
    return A.zipWith(A.add, ys, ys)


def twice(xs: Handle) -> Handle:
    return A.zipWith(A.add, A.map(lambda x: x + 1, xs), A.map(lambda x: x + 1, xs))


def pair(x: Handle) -> Handle:
    return A.lift(x, x)


PROGRAMS: dict[str, Callable[[], Handle]] = {
    "an array": lambda: U.use(XS),
    "of another type": lambda: U.use(XS.astype(np.float32)),
    "of another rank": lambda: U.use(SHAPED),
    "plus 0": lambda: U.map(lambda x: x + 0.0, U.use(XS)),
    "plus -0": lambda: U.map(lambda x: x + -0.0, U.use(XS)),
    "minus 0": lambda: U.map(lambda x: x - 0.0, U.use(XS)),
    "0 plus": lambda: U.map(lambda x: 0.0 + x, U.use(XS)),
    "true": lambda: U.generate((3,), lambda ix: U.constant(True)),
    "one": lambda: U.generate((3,), lambda ix: U.constant(1)),
    "one as a float": lambda: U.generate((3,), lambda ix: U.constant(1.0)),
    "one of 4": lambda: U.generate((4,), lambda ix: U.constant(1)),
    "shared": lambda: shared(U.use(XS)),
    "twice": lambda: twice(U.use(XS)),
    "first and second": lambda: U.zipWith(U.sub, U.use(XS), U.use(YS[:3])),
    "the same one": lambda: U.zipWith(U.sub, U.use(XS), U.use(XS)),
    "a sum": lambda: U.sum(U.use(XS)),
    "a fold": lambda: U.fold(U.add, 0, U.use(XS)),
    "a fold1": lambda: U.fold1(U.add, U.use(XS)),
    "a scan": lambda: U.scanl1(U.add, U.use(XS)),
    "a scan from the right": lambda: U.scanr1(U.add, U.use(XS)),
    "the variables": lambda: U.zipWith(lambda x, y: x - y, U.use(XS), U.use(YS[:3])),
    "the other way round": lambda: U.zipWith(lambda x, y: y - x, U.use(XS), U.use(YS[:3])),
    "the first": lambda: U.zipWith(lambda x, y: x, U.use(XS), U.use(YS[:3])),
    "3 turns": lambda: U.iterate(3, lambda s: U.map(lambda x: x + 1, s), U.use(XS)),
    "4 turns": lambda: U.iterate(4, lambda s: U.map(lambda x: x + 1, s), U.use(XS)),
    "a choice": lambda: U.acond(U.the(U.sum(U.use(XS))) > 1, U.use(XS), U.use(YS)),
    "the other choice": lambda: U.acond(U.the(U.sum(U.use(XS))) > 1, U.use(YS), U.use(XS)),
    "nan": lambda: U.map(lambda x: x + np.nan, U.use(XS)),
    "as floats": lambda: U.map(lambda x: U.cast(x, np.float32), U.use(XS)),
    "as integers": lambda: U.map(lambda x: U.cast(x, np.int32), U.use(XS)),
    "pairs": lambda: U.map(lambda x: U.lift(x, x + 1), U.use(XS)),
    "pairs of one": lambda: U.map(lambda x: U.lift(x + 1, x + 1), U.use(XS)),
    "pairs of an expression that is shared": lambda: U.map(lambda x: pair(x + 1), U.use(XS)),
    "a choice of numbers": lambda: U.map(lambda x: U.cond(x > 1, x, 0), U.use(XS)),
    "a choice of other numbers": lambda: U.map(lambda x: U.cond(x > 1, 0, x), U.use(XS)),
    "elements of an array": lambda: U.map(lambda x: U.use(YS)[U.truncate(x)], U.use(XS)),
    "elements of the same array": lambda: U.map(lambda x: U.use(XS)[U.truncate(x)], U.use(XS)),
    "its length": lambda: U.map(lambda x: U.length(U.use(YS)), U.use(XS)),
    "a loop": lambda: U.map(lambda x: U.while_(lambda y: y < 9, lambda y: y * 2, x), U.use(XS)),
    "another loop": lambda: U.map(lambda x: U.while_(lambda y: y < 8, lambda y: y * 2, x), U.use(XS)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_built_again_it_is_the_same(name: str) -> None:
    program = PROGRAMS[name]
    assert key(program()) == key(program())
    assert hash(key(program())) == hash(key(program()))


def test_all_others_are_different() -> None:
    keys = {name: key(program()) for name, program in PROGRAMS.items()}
    same = [(one, other) for one in keys for other in keys if one < other and keys[one] == keys[other]]
    # `mul(x, y)` and `lambda x, y: x * y` are one program.
    assert same == [("first and second", "the variables")]


def test_simple_functions_have_a_key_of_their_own() -> None:
    def of(array: Handle) -> object:
        assert isinstance(array.node, Map)
        return array.node.function.key

    table = A.use(YS)
    for simple in (lambda x: x, lambda x: x * 2 + 1, lambda x: A.cond(x > 1, x, A.fst(A.lift(x, x)))):
        assert of(A.map(simple, A.use(XS))) is not None
    for other in (
        lambda x: table[0],
        lambda x: x + A.the(A.sum(table)),
        lambda x: A.while_(lambda y: y < 9, lambda y: y * 2, x),
    ):
        assert of(A.map(other, A.use(XS))) is None


def test_no_number_but_a_literals_is_compared_as_it_is() -> None:
    """0.0 and -0.0 are equal: whatever holds a float needs a reader that tells them apart."""
    classes = [kind for kind in vars(nodes).values() if hasattr(kind, "__match_args__")]
    with_floats = {kind for kind in classes for field in kind.__annotations__.values() if "float" in str(field)}
    assert with_floats == {Literal}


def test_arrays_do_not_count_but_which_are_the_same_does() -> None:
    def program(xs: Handle, ys: Handle) -> Handle:
        return A.zipWith(A.sub, A.use(xs), A.use(ys))

    other = copy.copy(XS)
    assert key(program(XS, other)) == key(program(other, XS))
    assert key(program(XS, XS)) != key(program(XS, other))
    found = structure([program(XS, other).node, program(other, XS).node])
    assert [use.data[0] is array for use, array in zip(found.uses, (XS, other), strict=True)] == [True, True]
    assert all(isinstance(use, Use) for use in found.uses)


def test_results_count() -> None:
    one, other = A.use(XS), A.use(YS)
    assert len({key(one), key(one, other), key(one, one), key(other, one, one)}) == 4


def test_it_recurses_on_nothing() -> None:
    array = A.use(XS)
    for _ in range(10_000):
        array = A.map(lambda x: x + 1, array)
    assert hash(key(array))
