"""The statement that finds the indices of several loops that run as one is found again, and no other is taken for one."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest

from accel.ast.tree.types import I64
from accel.ir.nodes import Stream
from accel.ir.passes.digits import digits, division
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.meaning.evaluate import evaluate

POSITION = Stream("i0m", I64)
EXTENTS = {SizeVariable(0): 3, SizeVariable(1): 5, SizeVariable(2): 2}
N, M, K = (Extent(variable, 0) for variable in EXTENTS)


@pytest.mark.parametrize(
    "extents", [(N, M), (N, M, K), (N, Extent(None, 4), M), (Extent(None, 2), Extent(M.variable, 2))]
)
def test_digits_of_positions(extents: tuple[Extent, ...]) -> None:
    streams = [Stream(f"i{number}", I64) for number in range(len(extents))]
    statement = division(streams, extents)
    found = digits(statement, POSITION)
    assert found is not None
    assert (found.statement, found.streams, found.extents) == (statement, tuple(streams), extents)
    assert digits(statement, Stream("q", I64)) is None
    assert digits(replace(statement, when=Stream("g", I64)), POSITION) is None
    sizes = [each.offset + (0 if each.variable is None else EXTENTS[each.variable]) for each in extents]
    every = product(*map(range, sizes))
    for position, expected in enumerate(every):
        assert evaluate(statement.function, [position], EXTENTS.__getitem__, {}) == expected


def test_other_functions_are_none() -> None:
    statement = division([Stream("i0", I64), Stream("i1", I64)], (N, M))
    function = statement.function
    fewer = replace(function, body=replace(function.body, statements=function.body.statements[:-1]))
    turned = replace(function, body=replace(function.body, results=function.body.results[::-1]))
    for other in (fewer, turned):
        assert digits(replace(statement, function=other), POSITION) is None


def test_what_users_divide_is_none() -> None:
    """Their loop may run further: the outermost digit stays at its end then."""
    statement = division([Stream("i0", I64), Stream("i1", I64)], (N, M))
    index = Stream("i0", I64)
    own = replace(statement, outs=(Stream("j3", I64), Stream("j3_1", I64)), arguments=(index,))
    assert digits(own, index) is None
