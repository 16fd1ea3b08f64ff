"""Guards in vector code: what is made under a guard, guards under guards, folds of which nothing is left."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, I32, I64, ScalarType
from accel.errors import AccelIndexError, AccelValueError
from accel.ir.nodes import Launch, Level, ManyToOne, OneToMaybe, Program, Read, Remap, State, Stream, Write
from accel.labelled.algebra import monoid_of
from accel.labelled.array import Array
from accel.labelled.scalar import constant
from tests.llvm import nests


def between(kind: ScalarType, exact: bool) -> Program:
    """The sum of the elements above zero and, among these, below three: the second guard is made under the first."""
    whole = nests.fold(
        kind, nests.binary(Operator.ADD, kind), 1, exact=exact, commutes=True, seeded=True, guard="positive"
    )
    (launch,) = whole.steps
    assert isinstance(launch, Launch)
    loop = launch.nest.body.loop
    assert loop is not None
    *before, step = loop.body.before
    assert isinstance(step, ManyToOne)
    inner = Stream("inner", BOOL)
    (element,) = step.values
    below = OneToMaybe(inner, nests.binary(Operator.LT, kind, BOOL), (element, constant(kind, 3)), step.when)
    body = replace(loop.body, before=(*before, below, replace(step, when=inner)))
    level = replace(launch.nest.body, loop=replace(loop, body=body))
    return replace(whole, steps=(Launch(replace(launch.nest, body=level)),))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("kind", [I32, F32])
def test_a_guard_under_a_guard_is_false_where_that_is(kind: ScalarType, exact: bool) -> None:
    program = between(kind, exact and kind.is_integer)
    for size in (1, 7, 64, 100, 5000):
        nests.agrees(program, [np.asarray(np.arange(size) % 11 - 5, kind.dtype)], (1, 2))


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("size", [1, 7, 64, 100, 5000])
def test_fold1_of_what_no_lane_keeps(size: int, exact: bool) -> None:
    operator = Operator.MAX if exact else Operator.ADD
    program = nests.fold(
        F32, nests.binary(operator, F32), 1, exact=exact, commutes=True, seeded=False, guard="positive"
    )
    values = np.full(size, -1, np.float32)
    with pytest.raises(AccelValueError, match="fold1 of an empty row"):
        nests.run(program, [values])
    values[-1] = 2
    assert nests.run(program, [values])[0] == 2


@pytest.mark.parametrize("size", [1, 7, 64, 100, 5000])
def test_an_index_that_no_lane_asks_for_is_not_checked(size: int) -> None:
    """Only where an index is above zero is it an index."""
    indices, source, result = Array(0, 0, I64, (nests.N,)), Array(1, 0, F32, (nests.M,)), Array(10, 0, F32, ())
    (index,), reads = nests.reads([indices])
    there, place, value, total = Stream("there", BOOL), Stream("place", I64), Stream("value", F32), Stream("t", F32)
    merge = nests.binary(Operator.MAX, F32)
    state = State((total,), (constant(F32, 0),), merge, monoid_of(merge), False)
    body = [
        *reads,
        OneToMaybe(there, nests.binary(Operator.GT, I64, BOOL), (index, constant(I64, 0))),
        Remap((place,), (index,), (nests.M,), there),
        Read(value, source, (place,), there),
        ManyToOne("t", (value,), when=there),
    ]
    level = Level((), nests.loop(body, [state]), (Write(result, (), total),))
    program = nests.program(level, [indices, source], [(result, ())])
    given = np.where(np.arange(size) % 3 == 1, np.arange(size) % 9, -(2**40))
    nests.agrees(program, [given.astype(np.int64), np.arange(9, dtype=np.float32)], (1, 2))
    given[-1] = 9
    with pytest.raises(AccelIndexError, match=r"index \(9,\)"):
        nests.run(program, [given.astype(np.int64), np.arange(9, dtype=np.float32)])
