"""Nothing is touched outside of arrays: every array ends where, or begins behind, a page that must not be touched."""

from __future__ import annotations

import ctypes
import faulthandler
import os
from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, F64, I8, I32, I64, ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.buffers import Buffers
from accel.backends.protocol import HostArray, compiled
from accel.ir.nodes import For, Level, LoopDirection, OneToOne, Program, Read, Stream, Within, Write
from accel.labelled.array import Array
from accel.labelled.scalar import Block, Function, Variable
from tests import untyped
from tests.guard_pages import PAGE, guarded
from tests.llvm import nests
from tests.llvm.test_errors import gathered
from tests.llvm.test_filters import filtered

SIZES = (1, 7, 16, 17, 63, 64, 65, 1000, 5000)


def flush(at_end: bool, array: HostArray, element: ScalarType) -> HostArray:
    copy = guarded(at_end, element, array.shape)
    copy[...] = array
    return copy


def survives(work: Callable[[], None]) -> None:
    """In a child, since a fault ends the process."""
    child = os.fork()
    if child == 0:
        # Whatever happens, the child must not go on with the tests.
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    assert status == 0, f"the kernel touched memory that is not its own, or failed: status {status}"


ADD = Operator.ADD
PROGRAMS: dict[str, tuple[Program, Sequence[ScalarType]]] = {
    "map f32": (
        nests.mapped(nests.binary(ADD, F32), [Array(k, 0, F32, (nests.N,)) for k in range(2)], F32),
        (F32, F32),
    ),
    "map i8 down": (
        nests.mapped(nests.binary(ADD, I8), [Array(k, 0, I8, (nests.N,)) for k in range(2)], I8, LoopDirection.DOWN),
        (I8, I8),
    ),
    "fold": (nests.fold(F64, nests.binary(ADD, F64), 1, exact=False, commutes=True, seeded=True), (F64,)),
    "fold behind a filter": (
        nests.fold(F32, nests.binary(ADD, F32), 1, exact=False, commutes=True, seeded=True, guard="positive"),
        (F32,),
    ),
    "scan": (nests.scan(F32, nests.binary(ADD, F32), 1, exact=False, seeded=True), (F32,)),
    "scan down": (
        nests.scan(I32, nests.binary(ADD, I32), 1, exact=True, seeded=True, order=LoopDirection.DOWN),
        (I32,),
    ),
    "scan i8": (nests.scan(I8, nests.binary(ADD, I8), 1, exact=True, seeded=True, exclusive=True), (I8,)),
    "scan i8 down": (
        nests.scan(I8, nests.binary(ADD, I8), 1, exact=True, seeded=True, order=LoopDirection.DOWN),
        (I8,),
    ),
    "scan bool": (nests.scan(BOOL, nests.binary(Operator.OR, BOOL), 1, exact=True, seeded=True), (BOOL,)),
    "filter f64": (filtered(F64, F64), (F64, F64)),
    "filter i8": (filtered(F32, I8), (F32, I8)),
}


@pytest.mark.parametrize("at_end", [True, False], ids=["end", "start"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, at_end: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    program, kinds = PROGRAMS[name]
    monkeypatch.setattr(Buffers, "take", lambda self, element, shape: guarded(at_end, element, shape))
    executable = compiled(LLVMBackend(1), program)

    def work() -> None:
        for size in SIZES:
            executable([flush(at_end, nests.numbers(kind, size, k), kind) for k, kind in enumerate(kinds)])

    survives(work)


SCANS: dict[str, Callable[[Any], A.Acc[Any]]] = {
    "scanl1": lambda xs: A.scanl1(A.add, xs),
    "scanr1": lambda xs: A.scanr1(A.add, xs),
    "scanl": lambda xs: A.scanl(A.add, xs.dtype.type(3), xs),
    "scanr": lambda xs: A.scanr(A.add, xs.dtype.type(3), xs),
}


@pytest.mark.parametrize("at_end", [True, False], ids=["end", "start"])
@pytest.mark.parametrize("kind", [I8, I32, F32])
@pytest.mark.parametrize("form", SCANS)
def test_scans_of_rows(form: str, kind: ScalarType, at_end: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where results have one element more than the row, and where rows run downwards."""
    monkeypatch.setattr(Buffers, "take", lambda self, element, shape: guarded(at_end, element, shape))

    def work() -> None:
        run = untyped.runN(SCANS[form], backend="llvm", threads=1)
        for shape in ((1, 1), (3, 7), (5, 64), (2, 129), (3, 1000), (1, 4097), (0, 3), (3, 0)):
            run(flush(at_end, nests.numbers(kind, prod(shape), 1).reshape(shape), kind))

    survives(work)


def _gather(at_end: bool) -> None:
    executable = compiled(LLVMBackend(1), gathered())
    for size in SIZES:
        indices = flush(at_end, np.arange(size, dtype=np.int64)[::-1], I64)
        source = flush(at_end, np.arange(size, dtype=np.float32), F32)
        np.testing.assert_array_equal(executable([indices, source])[0], np.flip(source))


@pytest.mark.parametrize("at_end", [True, False], ids=["end", "start"])
def test_gathers(at_end: bool) -> None:
    survives(partial(_gather, at_end))


def rows_that_are_there() -> Program:
    """rows[i] in every element of row i; a shorter array of rows is read only where it has a row."""
    rows, columns, result = (
        Array(0, 0, F32, (nests.M,)),
        Array(1, 0, F32, (nests.N,)),
        Array(10, 0, F32, (nests.N,) * 2),
    )
    outer, row, there = Stream("o", I64), Stream("row", F32), Stream("there", BOOL)
    (column,), reads = nests.reads([columns])
    some, none = Stream("some", F32), Stream("none", F32)
    copied = Variable(0, F32)
    body = [
        *reads,
        Within(there, outer, 0, nests.M),
        Read(row, rows, (outer,), there),
        OneToOne((none,), Function((copied,), Block((), (copied,))), (column,)),
        OneToOne((some,), nests.binary(ADD, F32), (row, column), there),
        Write(result, (outer, nests.INDEX), none),
    ]
    other = Array(11, 0, F32, (nests.M, nests.N))
    body.append(Write(other, (outer, nests.INDEX), some, there))
    level = Level((), For(outer, nests.N, LoopDirection.UP, (), Level((), nests.loop(body), ())), ())
    return nests.program(level, [rows, columns], [(result, ((nests.N,),) * 2), (other, ((nests.M,), (nests.N,)))])


def _rows(at_end: bool) -> None:
    executable = compiled(LLVMBackend(1), rows_that_are_there())
    for size in (1, 7, 16, 65):
        # Of one page, so that what lies behind the last row is the guard; a row further on would lie beyond it.
        rows, columns = nests.numbers(F32, PAGE // 4, 1)[: max(1, size // 2)], nests.numbers(F32, size, 2)
        results = executable([flush(at_end, rows, F32), flush(at_end, columns, F32)])
        np.testing.assert_array_equal(results[1], np.add.outer(rows, columns))


@pytest.mark.parametrize("at_end", [True, False], ids=["end", "start"])
def test_rows_under_a_guard(at_end: bool) -> None:
    """One element for all lanes, none of which is active: it is not loaded."""
    survives(partial(_rows, at_end))


def test_the_guard_is_noticed() -> None:
    """The tests above are of no use if they cannot fail."""
    array = guarded(True, F32, (10,))
    child = os.fork()
    if child == 0:
        faulthandler.disable()
        ctypes.string_at(array.ctypes.data, 41)
        os._exit(0)
    assert os.WIFSIGNALED(os.waitpid(child, 0)[1])
