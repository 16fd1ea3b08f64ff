"""Checks that fail: the first offending index of its site, whatever the vectors and threads; nothing is read out of bounds."""

from __future__ import annotations

import numpy as np
import pytest

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32, I64
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.protocol import compiled
from accel.errors import AccelIndexError, AccelValueError
from accel.ir.nodes import Level, LoopDirection, OneToOne, Program, Read, Remap, Stream, Write
from accel.labelled.array import Array
from accel.labelled.scalar import Block, Function, Load, Variable
from tests.llvm import nests


def gathered(order: LoopDirection = LoopDirection.UP, by_load: bool = False) -> Program:
    """source[indices[i]] for every i."""
    indices, source, result = Array(0, 0, I64, (nests.N,)), Array(1, 0, F32, (nests.M,)), Array(10, 0, F32, (nests.N,))
    (index,), reads = nests.reads([indices])
    place, value = Stream("place", I64), Stream("value", F32)
    argument, loaded = Variable(0, I64), Variable(1, F32)
    load = Function((argument,), Block((Load(loaded, source, (argument,)),), (loaded,)))
    body = [*reads]
    if by_load:
        body.append(OneToOne((value,), load, (index,)))
    else:
        body += [Remap((place,), (index,), (nests.M,)), Read(value, source, (place,))]
    body.append(Write(result, (nests.INDEX,), value))
    return nests.program(Level((), nests.loop(body, order=order), ()), [indices, source], [(result, ((nests.N,),))])


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("by_load", [True, False])
@pytest.mark.parametrize("size", [1, 20, 200_000])
def test_gathers(size: int, by_load: bool, threads: int) -> None:
    executable = compiled(LLVMBackend(threads), gathered(by_load=by_load))
    source = np.arange(1000, dtype=np.float32)
    indices = np.arange(size, dtype=np.int64) * 7 % 1000
    np.testing.assert_array_equal(executable([indices, source])[0], source[indices])
    for bad in (1000, -1, 2**63 - 1, -(2**63)):
        wrong = indices.copy()
        wrong[size // 2] = bad
        wrong[size - 1] = 5555 if size > 1 else bad
        with pytest.raises(
            AccelIndexError, match=rf"index \({bad},\) is out of bounds for an array of shape \(1000,\)"
        ):
            executable([wrong, source])


@pytest.mark.parametrize("by_load", [True, False])
@pytest.mark.parametrize("size", [16, 64, 100])
@pytest.mark.parametrize("place", [0, 7, 8, 15])
def test_an_index_that_is_the_extent(place: int, size: int, by_load: bool) -> None:
    """In a vector that is whole, and in each half of it."""
    indices = np.zeros(size, np.int64)
    indices[place] = 1000
    with pytest.raises(AccelIndexError, match=r"index \(1000,\) is out of bounds for an array of shape \(1000,\)"):
        compiled(LLVMBackend(1), gathered(by_load=by_load))([indices, np.arange(1000, dtype=np.float32)])


def test_the_first_iteration_counts_also_downwards() -> None:
    executable = compiled(LLVMBackend(2), gathered(LoopDirection.DOWN))
    indices = np.array([77, 0, 1, 88, 2], np.int64)
    with pytest.raises(AccelIndexError, match=r"index \(88,\)"):
        executable([indices, np.zeros(3, np.float32)])


def test_gathers_from_nothing() -> None:
    executable = compiled(LLVMBackend(2), gathered())
    assert executable([np.zeros(0, np.int64), np.zeros(0, np.float32)])[0].size == 0
    with pytest.raises(AccelIndexError, match=r"index \(0,\) is out of bounds for an array of shape \(0,\)"):
        executable([np.zeros(1, np.int64), np.zeros(0, np.float32)])


@pytest.mark.parametrize("exact", [True, False])
def test_fold1_of_nothing(exact: bool) -> None:
    program = nests.fold(F32, nests.binary(Operator.MAX, F32), 1, exact=exact, commutes=True, seeded=False)
    with pytest.raises(AccelValueError, match=r"fold1 of an empty row: the array has shape \(0,\)"):
        nests.run(program, [np.zeros(0, np.float32)])
