"""Filters pack what they keep, for all element types; folds behind filters count what was kept."""

from __future__ import annotations

import numpy as np
import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, F64, I8, I16, I32, I64, ScalarType
from accel.backends.protocol import HostArray
from accel.ir.nodes import Level, ManyToOne, OneToMaybe, Program, State, Stream, Write
from accel.labelled.algebra import monoid_of
from accel.labelled.array import Array
from accel.labelled.scalar import constant
from tests.llvm import nests
from tests.marks import one_in


def filtered(kind: ScalarType, kept: ScalarType) -> Program:
    """The elements of the second input where the first is above zero, and their number."""
    keys, values = Array(0, 0, kind, (nests.N,)), Array(1, 0, kept, (nests.N,))
    (key, value), reads = nests.reads([keys, values])
    keep, total, place = Stream("keep", BOOL), Stream("total", I64), Stream("place", I64)
    zero, one = constant(I64, 0), constant(I64, 1)
    result, count = Array(10, 0, kept, (nests.N,)), Array(11, 0, I64, ())
    merge = nests.binary(Operator.ADD, I64)
    state = State((total,), (zero,), merge, monoid_of(merge), True)
    body = [
        *reads,
        OneToMaybe(keep, nests.binary(Operator.GT, kind, BOOL), (key, constant(kind, 0))),
        ManyToOne("total", (one,), before=(place,), when=keep),
        Write(result, (place,), value, when=keep),
    ]
    level = Level((), nests.loop(body, [state]), (Write(count, (), total),))
    return nests.program(level, [keys, values], [(result, ((nests.N,),)), (count, ())])


@pytest.mark.parametrize("kind", one_in(3, [F32, F64, I8, I64]))
@pytest.mark.parametrize("kept", [F32, F64, I8, I16, I32, BOOL])
def test_filters(kind: ScalarType, kept: ScalarType) -> None:
    program = filtered(kind, kept)
    for size in (0, 1, 7, 8, 9, 100, 4097):
        keys = nests.numbers(kind, size, size)
        values: HostArray = nests.numbers(kept, size, size + 1)
        result, count = nests.run(program, [keys, values])
        expected = values[keys > np.zeros((), kind.dtype)]
        assert int(count[()]) == len(expected)
        assert result[: len(expected)].tobytes() == expected.tobytes()
