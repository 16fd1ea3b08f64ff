"""Compiled calls: what a program gives the second time, when one compiled function runs all of it."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import tracemalloc
import weakref
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F64
from accel.backends.llvm.calls import call, compiled, write
from accel.backends.llvm.machine import buffers as machine
from accel.backends.llvm.machine.buffers import Buffers, buffers
from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.machine.python_function import symbol
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES, host
from accel.backends.llvm.threads.copy_text import LEAST
from tests import untyped
from tests.marks import one_in

Function: TypeAlias = Callable[..., Any]  # Any: programs of many types

RANDOM = np.random.default_rng(7)
XS = RANDOM.random(1000)
YS = RANDOM.random(1000)
MATRIX = RANDOM.random((24, 50))
INDICES = RANDOM.integers(0, 1000, 300)


def until(limit: float) -> Function:
    """A loop that ends when a sum is large enough."""
    return lambda xs: A.awhile(
        lambda s: A.map(lambda total: total < limit, A.sum(s)), lambda s: A.map(lambda x: x * 1.1, s), xs
    )


def shrinking(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
    """A loop whose state gets shorter."""
    return A.iterate(5, lambda s: A.filter(lambda x: x > 0.1, A.map(lambda x: x * 0.9, s))[0], xs)


PROGRAMS: dict[str, tuple[Function, tuple[np.ndarray[Any, Any], ...]]] = {
    "itself": (lambda xs: xs, (XS,)),
    "twice itself": (lambda xs: (xs, xs), (XS,)),
    "a result twice": (lambda xs: (lambda ys: (ys, ys))(A.map(lambda x: x + 1, xs)), (XS,)),
    "a map and a sum": (lambda xs: (A.map(lambda x: x + 1, xs), A.sum(xs)), (XS,)),
    "a tuple": (lambda xs, ys: A.zip(A.map(lambda x: x + 1, xs), ys), (XS, YS)),
    "a nested tuple": (lambda xs, ys: (A.sum(xs), (A.zip(xs, ys), A.sum(ys))), (XS, YS)),
    "a tuple of one": (lambda xs: (A.sum(xs),), (XS,)),
    "two types": (lambda xs, ys: A.zipWith(lambda x, i: x + A.cast(i, np.float64), xs, ys), (XS[:300], INDICES)),
    "a loop": (lambda xs: A.iterate(20, lambda s: A.map(lambda x: x * 1.1, s), xs), (XS,)),
    "a loop without turns": (until(0.0), (XS,)),
    "a loop with turns": (until(3000.0), (XS,)),
    "a loop that shrinks": (shrinking, (XS,)),
    "a choice": (lambda xs: A.acond(A.the(A.sum(xs)) > 3.0, A.map(lambda x: x + 1, xs), xs), (XS,)),
    "the other choice": (lambda xs: A.acond(A.the(A.sum(xs)) < 3.0, A.map(lambda x: x + 1, xs), xs), (XS,)),
    "a filter": (lambda xs: A.filter(lambda x: x > 0.5, xs), (XS,)),
    "a filter that keeps little": (lambda xs: A.filter(lambda x: x > 0.99, xs), (XS,)),
    "a filter of nothing": (lambda xs: A.filter(lambda x: x > 0.5, xs), (XS[:0],)),
    "a gather": (lambda xs, at: A.gather(at, xs), (XS, INDICES)),
    "a gather outside": (lambda xs, at: A.gather(at, xs), (XS[:100], INDICES)),
    "a scatter": (lambda xs, at: A.scatterWith(A.add, xs, A.zip(at, A.gather(at, xs))), (XS, INDICES)),
    "unequal shapes": (lambda xs, ys: A.zipWith(A.add, xs, ys), (XS, YS[:5])),
    "a view": (lambda xs: A.reshape((10, 100), xs), (XS,)),
    "a view of bytes": (lambda xs: A.reshape((10, 100), xs), (XS.view(np.uint8)[:1000],)),
    "a view and what it views": (lambda xs: (lambda y: (A.reshape((10, 100), y), y))(A.map(abs, xs)), (XS,)),
    "a view of another size": (lambda xs: A.reshape((10, 10), xs), (XS,)),
    "a view without elements": (lambda xs: A.reshape((0, 7), xs), (XS[:0],)),
    "an empty fold": (lambda xs: A.fold1(A.add, xs), (XS[:0],)),
    "rows": (lambda m: A.sum(m), (MATRIX,)),
    "rows without elements": (lambda m: A.sum(m), (MATRIX[:, :0],)),
    "no rows": (lambda m: A.map(abs, m), (MATRIX[:0],)),
    "computed extents": (lambda xs: A.drop(3, A.take(7, xs)), (XS,)),
    "an extent from data": (lambda xs, k: A.take(A.the(k), xs), (XS, np.array(17))),
    "a negative extent": (lambda k: A.generate((A.the(k),), lambda ix: ix[0]), (np.array(-17),)),
    "a negative extent of what is not stored": (
        lambda k: A.sum(A.generate((A.the(k),), lambda ix: ix[0])),
        (np.array(-17),),
    ),
    "an extent that is too large": (lambda k: A.generate((A.the(k),), lambda ix: ix[0]), (np.array(1 << 60),)),
    "more than memory": (lambda k: A.generate((A.the(k),), lambda ix: ix[0]), (np.array(1 << 46),)),
    "more than an address": (lambda k: A.generate((A.the(k),) * 2, lambda ix: ix[0]), (np.array(1 << 40),)),
    "more rows than NumPy counts, all empty": (
        lambda k: A.generate((A.the(k), A.the(k), 0), lambda ix: ix[0]),
        (np.array(1 << 46),),
    ),
    "rows of a transpose": (lambda m: A.sum(m), (MATRIX.T,)),
    "backwards": (lambda xs: A.scanl1(A.add, xs), (XS[::-1],)),
    "every other row": (lambda m: A.map(abs, m), (MATRIX[::2, 3:7],)),
    "repeated rows": (lambda m: A.sum(m), (np.broadcast_to(XS, (5, 1000)),)),
    "another byte order": (lambda xs: A.sum(xs), (XS.astype(">f8"),)),
    "not aligned": (lambda xs: A.sum(xs), (np.frombuffer(b"x" + XS.tobytes(), np.uint8)[1:].view(np.float64),)),
    "read only": (lambda xs: A.map(abs, xs), (np.frombuffer(XS.tobytes(), np.float64),)),
    "parts of rows": (
        lambda m: (lambda e: A.zipWith(A.div, e, A.replicate((A.All, 50), A.sum(e))))(A.map(lambda x: x * x + 1, m)),
        (MATRIX,),
    ),
}


def outcome(run: Function, arguments: Sequence[np.ndarray[Any, Any]]) -> object:
    """The results with their shapes and bits, or the whole error."""
    try:
        return bits(run(*arguments))
    except A.AccelError as error:
        return f"{type(error).__name__}: {error}"


def bits(results: object) -> object:
    if isinstance(results, tuple):
        return tuple([bits(each) for each in results])
    assert isinstance(results, np.ndarray)
    assert results.flags.c_contiguous
    assert results.flags.writeable
    assert results.flags.aligned
    return results.dtype, results.shape, results.tobytes()


@pytest.mark.parametrize("name", one_in(3, PROGRAMS))
@pytest.mark.parametrize("threads", [1, 2])
def test_every_call_gives_the_same(name: str, threads: int) -> None:
    program, arguments = PROGRAMS[name]
    run = untyped.runN(program, backend="llvm", threads=threads)
    first, *others = [outcome(run, arguments) for _ in range(4)]
    assert others == [first] * 3
    if not isinstance(first, str):
        assert first == outcome(untyped.runN(program, backend="interpreter"), arguments)


@pytest.mark.parametrize("name", one_in(6, PROGRAMS))
def test_references_are_given_back(name: str) -> None:
    """Arguments are referred to as often after calls as before, and results by nobody else."""
    program, arguments = PROGRAMS[name]
    run = untyped.runN(program, backend="llvm")
    copies = [np.copy(argument) for argument in arguments]
    outcome(run, copies)
    outcome(run, copies)
    gc.collect()
    before = [sys.getrefcount(copy) for copy in copies]
    for _ in range(5):
        outcome(run, copies)
    gc.collect()
    assert [sys.getrefcount(copy) for copy in copies] == before
    if not isinstance(outcome(run, copies), str):
        results = run(*copies)
        flat = list(results) if isinstance(results, tuple) else [results]
        results = None
        while flat:
            last = flat.pop()
            if isinstance(last, tuple):
                flat += last
                continue
            assert sys.getrefcount(last) == 2
            assert not any(np.may_share_memory(last, other) for other in copies)


def dot(xs: A.Acc[A.Vector[np.float64]], ys: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Scalar[np.float64]]:
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


def test_a_function_that_is_dropped_is_gone() -> None:
    """With its compiled call, without the garbage collector; what it gave stays."""
    gc.collect()
    gc.disable()
    try:
        run = untyped.runN(dot)
        for _ in range(3):
            result = run(XS, YS)
        held = weakref.ref(run)
        direct = vars(run)["_ways"][0].chain
        del run
        assert held() is None
        count = sys.getrefcount(direct)
        assert count == 2
        assert result == pytest.approx(float(XS @ YS))
    finally:
        gc.enable()


def test_memory_stays_flat() -> None:
    run = untyped.runN(lambda xs, ys: (A.zipWith(A.add, xs, ys), A.sum(xs)))
    large = np.ones(1 << 16)
    for _ in range(5):
        run(XS, YS)
        run(large, large)
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(2000):
            run(XS, YS)
            run(large, large)
        assert tracemalloc.get_traced_memory()[0] - before < 1 << 20
    finally:
        tracemalloc.stop()


def test_threads_call_at_once() -> None:
    def f(xs: A.Acc[A.Vector[np.float64]], ys: A.Acc[A.Vector[np.float64]]) -> Any:  # Any: both results
        return A.zipWith(A.add, xs, ys), A.iterate(3, lambda s: A.map(lambda x: x + 1, s), xs)

    run = untyped.runN(f)
    large = np.ones(50_000)
    wrong: list[object] = []

    def work(value: float) -> None:
        mine = large * value
        for _ in range(50):
            added, turned = run(mine, large)
            if not ((added == value + 1).all() and (turned == value + 3).all()):
                wrong.append(value)

    workers = [threading.Thread(target=work, args=(float(number),)) for number in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


FAILING = """
@left = external global i64
declare ptr @real(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare ptr @PyErr_NoMemory()
define ptr @failing(ptr %a, ptr %b, i32 %c, ptr %d, ptr %e, ptr %f, i32 %g, ptr %h) #0 {
  %before = load i64, ptr @left
  %after = sub i64 %before, 1
  store i64 %after, ptr @left
  %now = icmp eq i64 %before, 0
  br i1 %now, label %fail, label %go
fail:
  %null = call ptr @PyErr_NoMemory()
  ret ptr null
go:
  %made = call ptr @real(ptr %a, ptr %b, i32 %c, ptr %d, ptr %e, ptr %f, i32 %g, ptr %h)
  ret ptr %made
}
"""
"""NumPy's function that makes arrays, but for one time, when a counter is 0."""


def test_each_array_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    """The call begins again in Python, which finds memory, or says that there is none."""
    left = ctypes.c_int64(-1)
    buffers()  # the process's memory is made by NumPy's own function, also if no test came before
    functions = machine.numpy_functions()
    name = "PyArray_NewFromDescr"
    imports = {"left": ctypes.addressof(left), "real": functions[name], "PyErr_NoMemory": symbol("PyErr_NoMemory")}
    library = load([host().compile(FAILING + HOST_ATTRIBUTES)], ["failing"], imports)
    monkeypatch.setattr(machine, "numpy_functions", lambda: {**functions, name: library.addresses["failing"]})
    own = Buffers()
    monkeypatch.setattr(call, "buffers", lambda: own)

    def program(xs: Any) -> Any:  # Any: what the program is of does not matter
        kept, _ = A.filter(lambda x: x > 0.5, A.scanl1(A.add, xs))
        return A.scatterWith(A.add, xs, A.imap(lambda ix, x: A.lift(ix[0], x), xs)), kept, A.sum(kept), A.take(3, xs)

    run = untyped.runN(program)
    large = RANDOM.random(20_000)
    expected = bits(run(large))
    run(large)
    for number in range(100):
        left.value = number
        assert bits(run(large)) == expected
        if left.value >= 0:  # nothing failed any more
            break
    left.value = -1
    assert 5 < number < 99
    assert own.take(F64, (3,)).shape == (3,)


def test_the_call_of_a_dot_product(golden: Callable[[str], None]) -> None:
    run = untyped.runN(lambda xs, ys: A.fold(A.add, 0, A.zipWith(A.mul, xs, ys)))
    texts: list[str] = []
    compile = host().compile

    class Host:
        def compile(self, text: str, *, quick: bool = False) -> bytes:
            texts.append(text)
            return compile(text, quick=quick)

        def __getattr__(self, name: str) -> object:
            return getattr(host(), name)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(write, "host", Host)
        with A.using(threads=2):
            run(XS, YS)
            run(XS, YS)
    golden(texts[-1])


def tape(n: int, rows: A.Acc[A.Matrix[np.float64]], also: bool) -> Any:  # Any: one array or two
    """Turn k writes row k, of what the row before holds; `also`: the loop gives what a turn began with, too."""

    def turn(state: Any) -> Any:  # Any: as above
        number, table = state[0], state[1]
        k = A.the(number)
        row = A.generate((5,), lambda ix: table[A.max(k - 1, 0), ix[0]] + A.cast(k + ix[0], np.float64))
        written = A.permute(lambda new, old: new + old, table, lambda ix: A.just(A.index(k, ix[0])), row)
        return (A.map(lambda i: i + 1, number), written, *([table] if also else []))

    first: Any = (A.unit(A.constant(0, np.int64)), rows, *([rows] if also else []))
    last = A.awhile(lambda state: A.map(lambda i: i < n, state[0]), turn, first)
    return last[1:] if also else last[1]


@pytest.mark.parametrize("also", [False, True])
@pytest.mark.parametrize("computed", [False, True])
def test_what_a_loop_scatters_into(also: bool, computed: bool) -> None:
    """Arguments stay as they are, and what is needed later is copied."""
    rows = RANDOM.random((7, 5))
    before = rows.copy()

    def program(xs: Any) -> Any:
        return tape(7, A.map(lambda x: x + 1, xs) if computed else xs, also)

    expected = outcome(untyped.runN(program, backend="interpreter"), [rows])
    run = untyped.runN(program)
    for _ in range(4):
        assert outcome(run, [rows]) == expected
        assert (rows == before).all()


def test_a_loop_writes_in_place() -> None:
    """No turn takes memory for the whole table."""
    rows = np.zeros((40, 10_000))
    run = untyped.runN(lambda xs: tape(40, xs, False))
    expected = run(rows)
    taken = 2 * rows.nbytes
    tracemalloc.start()
    try:
        buffers().clear()
        assert (run(rows) == expected).all()
        assert tracemalloc.get_traced_memory()[1] < taken
    finally:
        tracemalloc.stop()


def test_strided_arguments_are_copied_for_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not run operation by operation, which takes thirty times as long in a loop over a small array."""

    def never(*_: object) -> list[np.ndarray[Any, Any]]:
        raise AssertionError("not the compiled call")

    def eighth(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
        return A.iterate(3, lambda s: A.map(lambda x: x * 0.5, s), xs)

    halved = untyped.runN(eighth)
    halved(XS)
    monkeypatch.setattr(compiled._Listed, "__call__", never)
    misaligned = np.frombuffer(b"_" + XS.tobytes(), np.uint8)[1:].view(np.float64)
    for xs in (XS[::2], XS[::-1], misaligned, np.zeros(3, [("x", "f8"), ("y", "f4")])["x"]):
        np.testing.assert_array_equal(halved(xs), xs / 8)


def test_a_strided_argument_of_which_only_the_shape_is_asked_is_not_copied() -> None:
    lengths = untyped.runN(lambda xs, ys: A.map(lambda x: x + A.cast(A.length(ys), np.float64), xs))
    for ys in (np.broadcast_to(XS[:1], 2**44), np.lib.stride_tricks.as_strided(XS, (2**44,), (16,))):
        np.testing.assert_array_equal(lengths(XS, ys), XS + 2.0**44)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_a_large_result_that_is_copied(threads: int) -> None:
    """Out of a block of more than twice its size, and a second time, in parts that do not fill the last."""
    numbers = RANDOM.random(2_600_001)
    small = np.count_nonzero(numbers > 0.6)
    assert LEAST < 8 * small < 4 * numbers.nbytes // 8

    def program(xs: Any) -> Any:
        kept, count = A.filter(lambda x: x > 0.6, xs)
        return kept, kept, count

    run = untyped.runN(program, threads=threads)
    for _ in range(4):
        first, second, count = run(numbers)
        assert count == small
        assert (first == numbers[numbers > 0.6]).all()
        assert (second == first).all()
        assert not np.shares_memory(first, second)
