"""Folds of some rows of a matrix, which only exist under a guard: as on a GPU, where work-groups fold rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, I64
from accel.backends.protocol import compiled
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import (
    For,
    Launch,
    Level,
    LoopDirection,
    ManyToOne,
    Nest,
    OneToMaybe,
    Output,
    Program,
    Read,
    State,
    Stream,
    Write,
)
from accel.labelled.algebra import monoid_of
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.scalar import Block, Compute, Function, Variable, constant
from accel.schedule.nodes import Template
from accel.schedule.templates.choose import schedules
from tests.opencl.platforms import each_platform, fresh

ROWS, COLUMNS = Extent(SizeVariable(0), 0), Extent(SizeVariable(1), 0)


def binary(operator: Operator, result: Variable) -> Function:
    """One operator of two float32."""
    left, right = Variable(0, F32), Variable(1, F32)
    return Function((left, right), Block((Compute(result, operator, (left, right)),), (result,)))


def sums(*, seeded: bool) -> Program:
    """The sum of each row that begins with a positive number; nothing is written for the others."""
    matrix, result = Array(0, 0, F32, (ROWS, COLUMNS)), Array(1, 0, F32, (ROWS,))
    i, j, first, x, total = Stream("i", I64), Stream("j", I64), Stream("first", F32), Stream("x", F32), Stream("s", F32)
    keep, zero = Stream("keep", BOOL), constant(F32, 0)
    merge = binary(Operator.ADD, Variable(2, F32))
    state = State((total,), (zero,) if seeded else None, merge, monoid_of(merge), False, keep, (COLUMNS,))
    row = Level((Read(x, matrix, (i, j)), ManyToOne("s", (x,), when=keep)), None, ())
    begin = (
        Read(first, matrix, (i, constant(I64, 0))),
        OneToMaybe(keep, binary(Operator.GT, Variable(2, BOOL)), (first, zero)),
        Write(result, (i,), zero),
    )
    inner = Level(begin, For(j, COLUMNS, LoopDirection.UP, (state,), row), (Write(result, (i,), total, keep),))
    body = Level((), For(i, ROWS, LoopDirection.UP, (), inner), ())
    nest = Nest(1, body, (Output(result, ((ROWS,),)),), (), ())
    return Program(((matrix,),), (Launch(nest),), (result,))


@each_platform
@pytest.mark.parametrize("seeded", [True, False])
@pytest.mark.parametrize("columns", [40, 90, 9000, 70_000])
def test_rows_under_a_guard(platform: str, columns: int, seeded: bool) -> None:
    """Each element of such a fold is an iteration: the whole fold is there, or nothing of it."""
    on, given = fresh(platform), sums(seeded=seeded)
    on.features = replace(on.features, gpu=True)
    (launch,) = given.steps
    assert isinstance(launch, Launch)
    templates = [way.schedule.template for way in schedules(launch.nest, on.machine).ways]
    assert templates == [Template.LANE_ROWS, Template.BLOCK_GROUPS]
    matrix = np.random.default_rng(1).normal(size=(7, columns)).astype(np.float32)
    (expected,) = interpret(given, [matrix])
    (found,) = compiled(on, given)([matrix])
    assert 0 in expected
    assert found.tobytes() == expected.tobytes()


def largest() -> Program:
    """The largest of the positive numbers of each row, of which there must be one."""
    matrix, result = Array(0, 0, F32, (ROWS, COLUMNS)), Array(1, 0, F32, (ROWS,))
    i, j, x, total, keep = Stream("i", I64), Stream("j", I64), Stream("x", F32), Stream("s", F32), Stream("keep", BOOL)
    merge = binary(Operator.MAX, Variable(2, F32))
    state = State((total,), None, merge, monoid_of(merge), False)
    positive = OneToMaybe(keep, binary(Operator.GT, Variable(2, BOOL)), (x, constant(F32, 0)))
    row = Level((Read(x, matrix, (i, j)), positive, ManyToOne("s", (x,), when=keep)), None, ())
    inner = Level((), For(j, COLUMNS, LoopDirection.UP, (state,), row), (Write(result, (i,), total),))
    nest = Nest(1, Level((), For(i, ROWS, LoopDirection.UP, (), inner), ()), (Output(result, ((ROWS,),)),), (), ())
    return Program(((matrix,),), (Launch(nest),), (result,))


@each_platform
@pytest.mark.parametrize(("rows", "columns"), [(300, 9), (40, 40), (20, 90), (3, 900)])
def test_lanes_that_may_have_nothing(platform: str, rows: int, columns: int) -> None:
    """Of these nothing neutral takes part."""
    on, given = fresh(platform), largest()
    on.features = replace(on.features, gpu=True)
    (launch,) = given.steps
    assert isinstance(launch, Launch)
    first, *_ = schedules(launch.nest, on.machine).ways
    assert first.schedule.template is Template.LANE_ROWS
    matrix = np.random.default_rng(1).normal(size=(rows, columns)).astype(np.float32)
    matrix[:, columns // 2] = 0.125
    (found,) = compiled(on, given)([matrix])
    assert found.tobytes() == interpret(given, [matrix])[0].tobytes()
