"""Threads: any number of callers, forked children, interrupts, errors; programs leave nothing behind."""

from __future__ import annotations

import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import F32, F64, I64
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.target import host
from accel.backends.protocol import Executable, compiled
from accel.ir.nodes import For, Level, LoopDirection, ManyToOne, OneToOne, Program, State, Stream, Write
from accel.labelled.algebra import monoid_of
from accel.labelled.array import Array
from accel.labelled.scalar import Block, Compute, Function, Variable, constant
from tests.llvm import nests
from tests.marks import slow

Call: TypeAlias = Callable[[list[NDArray[np.float32]]], object]


def total() -> Program:
    return nests.fold(F32, nests.binary(Operator.ADD, F32), 1, exact=False, commutes=True, seeded=True)


def test_callers_in_many_threads() -> None:
    executable = compiled(LLVMBackend(3), total())
    values = nests.numbers(F32, 300_000, 5)
    expected = executable([values])[0]
    found: list[bytes] = []

    def call() -> None:
        found.extend(executable([values])[0].tobytes() for _ in range(40))

    threads = [threading.Thread(target=call) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected.tobytes()] * 240


def test_forked_children_have_a_pool_of_their_own() -> None:
    executable = compiled(LLVMBackend(3), total())
    values = nests.numbers(F32, 300_000, 5)
    expected = executable([values])[0].tobytes()
    for _ in range(3):
        child = os.fork()
        if child == 0:
            # Whatever happens, the child must not go on with the tests.
            try:
                same = all(executable([values])[0].tobytes() == expected for _ in range(20))
            finally:
                os._exit(0 if same else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0
        assert executable([values])[0].tobytes() == expected


def endless() -> Executable:
    """A sum over 2^40 indices of 2^20 values, which takes minutes."""
    index, inner, one = Stream("i", I64), Stream("j", I64), Stream("one", F64)
    final, result = Stream("s", F64), Array(10, 0, F64, ())
    merge = nests.binary(Operator.ADD, F64)
    state = State((final,), (constant(F64, 0),), merge, monoid_of(merge), False)
    argument, out = Variable(0, I64), Variable(1, F64)
    convert = Function((argument,), Block((Compute(out, Operator.CAST, (argument,)),), (out,)))
    innermost = Level((OneToOne((one,), convert, (inner,)), ManyToOne("s", (one,))), None, ())
    row = For(inner, nests.N, LoopDirection.UP, (state,), innermost)
    rows = Array(11, 0, F64, (nests.N,))
    outer = For(index, nests.N, LoopDirection.UP, (), Level((), row, (Write(rows, (index,), final),)))
    sizes = Array(0, 0, F32, (nests.N,))
    level = Level((), outer, (Write(result, (), constant(F64, 1)),))
    program = nests.program(level, [sizes], [(rows, ((nests.N,),)), (result, ())])
    return compiled(LLVMBackend(2), program)


@pytest.fixture
def interrupts() -> Iterator[None]:
    """An interrupt raises `KeyboardInterrupt`, also in a worker process of pytest-xdist, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def endless_fold(threads: int) -> Call:
    """The sum of square roots of all of 2^40 sums, whose chunks leave partial results and take many seconds each."""

    def sums(xs: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
        across = A.replicate((A.All, A.size(xs)), xs), A.replicate((A.size(xs), A.All), xs)
        return A.fold(A.add, 0, A.flatten(A.map(A.sqrt, A.zipWith(A.add, *across))))

    compute = A.runN(sums, backend="llvm", threads=threads)
    compute(np.zeros(1, np.float32))
    return lambda arguments: compute(*arguments)


LONG: dict[str, Callable[[], Call]] = {
    "of rows": endless,
    "of all": partial(endless_fold, 2),
    "of all, one thread": partial(endless_fold, 1),
}


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("program", LONG.values(), ids=LONG)
def test_an_interrupt_ends_a_long_kernel(program: Callable[[], Call]) -> None:
    executable = program()
    values = np.zeros(1 << 20, np.float32)
    timer = threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
    start = time.perf_counter()
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        executable([values])
    # Without an end the kernel takes minutes, and a chunk, if it is not left in its middle, half a minute.
    assert time.perf_counter() - start < 15
    # The pool is as before.
    small = nests.numbers(F32, 300_000, 5)
    assert compiled(LLVMBackend(2), total())([small])[0] == compiled(LLVMBackend(1), total())([small])[0]


needs_statm = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
Found = TypeVar("Found")


def in_a_new_process(function: Callable[[], Found]) -> Found:
    """What a process finds that ran no tests, whose heap would have holes and pages that are taken again at any time."""
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        return processes.submit(function).result()


def own_kilobytes() -> int:
    """What the process holds in memory and shares with no file: pages of libraries come and go as the machine likes."""
    resident, shared = map(int, Path("/proc/self/statm").read_text().split()[1:3])
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE") // 1024


def left_by_programs() -> list[int]:
    """Kilobytes that three times 12 programs, dropped, leave behind."""
    values = np.ones(10, np.float32)

    def one() -> None:
        assert compiled(LLVMBackend(1), total())([values])[0] == 13

    def held(programs: int) -> int:
        for _ in range(programs):
            one()
        gc.collect()
        return own_kilobytes()

    sizes = [held(15), held(12), held(12), held(12)]
    return [after - before for before, after in pairwise(sizes)]


@slow
@needs_statm
def test_dropped_programs_leave_nothing_behind() -> None:
    # A program's code alone would be some 20 KB. A heap may grow once more at any time, what is lost is lost each time.
    assert min(in_a_new_process(left_by_programs)) < 12 * 5


def left_by_constants() -> int:
    """Kilobytes that 40 modules of 500 constants each, dropped, leave behind."""

    def one(number: int) -> None:
        sums = "\n".join(f"  %x{i + 1} = fadd double %x{i}, {number}.{i:04}e3" for i in range(500))
        host().compile(f"define double @f(double %x0) {{\n{sums}\n  ret double %x500\n}}", quick=True)

    for number in range(10):
        one(number)
    before = own_kilobytes()
    for number in range(10, 50):
        one(number)
    return own_kilobytes() - before


@needs_statm
def test_constants_of_compiled_programs_leave_nothing_behind() -> None:
    """LLVM keeps each constant for as long as the context of its module."""
    # So many constants are some 3 MB.
    assert in_a_new_process(left_by_constants) < 1_000
