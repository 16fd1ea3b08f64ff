"""Arguments whose rows' elements are not adjacent: read where they lie, with the results of copies, and nothing else."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm import backend
from accel.backends.llvm.calls import spread as spreads
from accel.backends.llvm.calls.in_place import InPlace, in_place
from accel.backends.llvm.machine.processor import Registers
from accel.backends.llvm.machine.rows import ANY, Spread, spread
from accel.backends.llvm.machine.target import host
from accel.backends.protocol import HostArray
from accel.ir.nodes import Program
from tests import untyped
from tests.guard_pages import guarded_copy
from tests.llvm.processors import changed, compile_for
from tests.schedule.programs import lowered
from tests.untyped import accel as U

pytestmark = pytest.mark.usefixtures("at_once")


Floats: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code for how arguments lie is compiled when they are first seen."""
    monkeypatch.setattr(spreads, "ENOUGH", 0)
    monkeypatch.setattr(spreads, "MOST", 64)


def rows(rank: int, *extents: int) -> Floats:
    """Small numbers of every sign, of which sums are exact."""
    shape = extents[:rank]
    values = (np.arange(np.prod(shape)) * 7919 % 61 - 30) / 4
    return values.astype(np.float32).reshape(shape)


def gaps(array: Floats, step: int) -> Floats:
    """The same elements, so many apart."""
    room = np.full((*array.shape[:-1], max(1, array.shape[-1] * step)), 99, array.dtype)
    view = room[..., ::step][..., : array.shape[-1]]
    view[...] = array
    return view


# Any: arrays of every element.
LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "two apart": lambda a: gaps(a, 2),
    "three apart": lambda a: gaps(a, 3),
    "four apart": lambda a: gaps(a, 4),
    "five apart": lambda a: gaps(a, 5),
    "backwards": lambda a: np.ascontiguousarray(a[..., ::-1])[..., ::-1],
    "two apart, backwards": lambda a: gaps(np.ascontiguousarray(a[..., ::-1]), 2)[..., ::-1],
    "columns": np.asfortranarray,
    "columns apart": lambda a: gaps(np.ascontiguousarray(a.T), 2).T,
    "rows upside down, backwards": lambda a: np.ascontiguousarray(np.flip(a))[(slice(None, None, -1),) * a.ndim],
}

REPEATS: dict[str, Callable[[Any], Any]] = {
    "one element": lambda a: np.broadcast_to(a[(0,) * a.ndim], a.shape),
    "one row": lambda a: np.broadcast_to(gaps(a[:1], 2), a.shape),
    "one column": lambda a: np.broadcast_to(a[..., :1].copy(), a.shape),
    "one column of many": lambda a: np.broadcast_to(gaps(a, 2)[..., :1], a.shape),
}

# Any: programs over arrays of several types.
PROGRAMS: dict[str, tuple[int, Callable[..., Any]]] = {
    "map": (1, lambda x: U.map(lambda e: e * 2 + 1, x)),
    "map of rows": (2, lambda x: U.map(lambda e: e * 2 + 1, x)),
    "itself": (2, lambda x: x),
    "pair": (2, lambda x: (U.map(lambda e: e + 1, x), U.fold(U.add, 0, x))),
    "read twice": (2, lambda x: U.zipWith(U.mul, x, U.reverse(x))),
    "sum": (1, lambda x: U.fold(U.add, 0, x)),
    "sums of rows": (2, lambda x: U.fold(U.add, 0, x)),
    "sums of columns": (2, lambda x: U.fold(U.add, 0, U.transpose(x))),
    "sum of all": (2, lambda x: U.foldAll(U.add, 0, x)),
    "greatest": (2, lambda x: U.fold1(U.max, x)),
    "running sums": (2, lambda x: U.scanl(U.add, 0, x)),
    "running sums backwards": (2, lambda x: U.scanr1(U.add, x)),
    "running sums of columns": (2, lambda x: U.transpose(U.scanl1(U.add, U.transpose(x)))),
    "transposed": (2, U.transpose),
    "product": (2, lambda x: U.matmul(x, U.transpose(x))),
    "normalised": (2, lambda x: U.zipWith(U.sub, x, U.replicate((U.All, U.shape(x)[1]), U.fold(U.add, 0, x)))),
    "kept": (1, lambda x: U.filter(lambda e: e > 0, x)),
    "stencil": (2, lambda x: U.stencil(lambda n: n(0, 1) + n(1, 0) - n(-1, -1), U.boundary.clamp, x)),
    "gathered": (1, lambda x: U.gather(U.generate(U.shape(x), lambda ix: (ix[0] * 7) % U.length(x)), x)),
    "sorted": (2, U.sort),
    "reshaped": (2, U.flatten),
    "looped": (1, lambda x: U.iterate(3, lambda y: U.zipWith(U.add, y, x), x)),
    "chosen": (1, lambda x: U.acond(U.the(U.fold(U.add, 0, x)) > 0, x, U.map(lambda e: -e, x))),
    "sums of rank 3": (3, lambda x: U.fold(U.add, 0, x)),
    "of rank 3": (3, lambda x: U.map(lambda e: e * e, U.transposeOn(0, 2, x))),
}


EXTENTS = ((67, 70, 3), (5, 131, 2), (1, 1, 1), (0, 4, 3), (4, 0, 3))


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_copies(name: str) -> None:
    rank, program = PROGRAMS[name]
    function = untyped.runN(program)
    for extents in EXTENTS:
        empty = 0 in extents[:rank]
        if empty and name == "greatest":
            continue
        for layout in LAYOUTS if empty else LAYOUTS | REPEATS:
            given = (LAYOUTS | REPEATS)[layout](rows(rank, *extents))
            copy = np.ascontiguousarray(given)
            expected = flat(function(copy))
            for array in (given, given, given):  # in Python, then by a function of its own
                for one, other in zip(flat(function(array)), expected, strict=True):
                    np.testing.assert_array_equal(one, other, f"{layout}, {extents}")
                    assert one.dtype == other.dtype
                    assert one.flags.c_contiguous
                    assert not np.shares_memory(one, array)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_arguments_that_have_to_be_square(layout: str) -> None:
    """What stands for a transposed argument has its extents, where these are equal by the program's text."""

    def program(x: A.Acc[A.Matrix[np.float32]]) -> Any:  # Any: a pair of results
        turned = A.zipWith(A.sub, x, A.transpose(x))
        state = (A.transpose(x), x, A.unit(A.constant(0, np.int64)))
        last = A.awhile(
            lambda s: A.map(lambda i: i < 2, s[2]),
            lambda s: (s[1], A.zipWith(lambda p, q: p - 2 * q, s[0], s[1]), A.map(lambda i: i + 1, s[2])),
            state,
        )
        return turned, last[0]

    function = untyped.runN(program)
    x = rows(2, 9, 9)
    given = LAYOUTS[layout](x)
    for _ in range(3):
        turned, last = function(given)
        np.testing.assert_array_equal(turned, x - x.T)
        np.testing.assert_array_equal(last, x.T - 2 * x)


def flat(results: object) -> tuple[HostArray, ...]:
    found = results if isinstance(results, tuple) else (results,)
    assert all(isinstance(each, np.ndarray) for each in found)
    return found


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("kind", ["?", "i1", "u2", "f2", "i4", "f4", "i8", "f8"])
def test_nothing_before_and_behind_the_elements_is_read(kind: str, at_end: bool) -> None:
    element = {"?": "bool"}.get(kind, kind)
    double = untyped.runN(lambda x, y: A.zip(x, y))
    for layout, place in LAYOUTS.items():
        for count in (1, 2, 31, 64, 129, 1000):
            one = guarded_copy(
                at_end, place((np.arange(count) % 2 == 0 if kind == "?" else np.arange(count) % 100).astype(element))
            )
            for found in double(one, one):
                np.testing.assert_array_equal(found, one, f"{layout}, {count}")


@pytest.mark.parametrize("at_end", [False, True])
@pytest.mark.parametrize("kind", ["i1", "u2", "f2", "f4", "c8", "f8", "c16"])
@pytest.mark.parametrize("register", [64, 32])
def test_transposes_of_elements_that_lie_apart(
    register: int, kind: str, at_end: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of blocks that are whole, and of parts of them, in bands and without, and nothing else is read."""
    if host().processor.registers.bytes > register:
        compile_for(monkeypatch, changed(registers=Registers(register, 16)))
    turned = untyped.runN(lambda x: A.transpose(x))
    backwards = untyped.runN(lambda x: A.transpose(A.reverseOn(1, x)))
    for shape in ((1, 1), (3, 50), (67, 70), (300, 131), (40, 530), (129, 16)):
        numbers = (np.arange(np.prod(shape)) * 7919 % 101).astype(kind).reshape(shape)
        if kind.startswith("c"):
            numbers = numbers * np.array(1 - 2j, kind)
        for layout in ("two apart", "three apart", "columns apart"):
            given = guarded_copy(at_end, LAYOUTS[layout](numbers))
            for _ in range(2):
                np.testing.assert_array_equal(turned(given), numbers.T, f"{layout}, {shape}")
                np.testing.assert_array_equal(backwards(given), numbers[:, ::-1].T, f"{layout}, {shape}")


def test_transposes_of_rows_of_one_element() -> None:
    """Of an intermediate array, whose elements are adjacent."""

    def columns(x: A.Acc[A.Matrix[np.float32]]) -> A.Acc[Any]:
        rows_of_one = A.compute(A.reshape(A.lift(*A.unlift(A.shape(x)), 1), A.map(lambda e: e * 2, x)))
        return A.transposeOn(0, 1, rows_of_one)

    x = rows(2, 67, 70)
    np.testing.assert_array_equal(A.runN(columns)(x), 2 * x.T[..., None])


def test_spreads_are_told_from_rows() -> None:
    x = np.zeros((4, 6, 8), "f4")
    assert spread(x) is None
    assert spread(x[::-1, ::2, :5]) is None
    assert spread(x[..., ::2]) == Spread((0, 1, 2), 2)
    assert spread(x[..., ::-1]) == Spread((0, 1, 2), -1)
    assert spread(x[..., ::5]) == Spread((0, 1, 2), ANY)
    assert spread(x.T) == Spread((2, 1, 0), 1)
    assert spread(x.T[::2]) == Spread((2, 1, 0), 2)
    assert spread(x.swapaxes(1, 2)) == Spread((0, 2, 1), 1)
    assert spread(np.broadcast_to(x[0, 0, 0], (3, 3))) == Spread((), 1)
    assert spread(np.broadcast_to(x[:, 0, :1], (4, 9))) == Spread((0,), ANY)
    assert spread(np.zeros(9, "u1")[1:].view("f4")[::2]) is None  # misaligned


def test_which_arguments_are_read_where_they_lie() -> None:
    x = rows(2, 100, 100)
    assert not copies(lambda a: A.map(lambda e: e + 1, a), x[:, ::2])
    assert not copies(lambda a: A.map(lambda e: e + 1, a), x.T)
    assert not copies(lambda a: A.fold(A.add, 0, a), x.T)
    assert not copies(lambda a: A.matmul(a, a), x.T)
    assert not copies(lambda a: A.zipWith(A.add, a, A.reverse(a)), np.broadcast_to(x[0], (100, 100)).T)
    assert not copies(lambda a: A.map(lambda e: e + 1, A.tail(a)), x[:, ::2])
    assert copies(lambda a: A.stencil(lambda n: n(0, 1) + n(0, 0), A.boundary.clamp, a), x[:, ::2])
    assert not copies(lambda a: A.slice(a, (0, 1)), x[:, ::2])  # a nest without loops
    assert not copies(lambda a: A.gather(A.use(np.zeros(7, np.int64)), a), x[:, 3])
    assert copies(lambda a: A.zipWith(A.add, a, A.reverse(a)), x[:, ::2])
    assert not copies(A.transpose, x[:, ::2])  # tiles are filled from such rows
    assert copies(A.transpose, x[:, ::3])
    assert copies(A.transpose, x[:, ::-1])
    assert not copies(lambda a: A.fold(A.add, 0, a), x[:, ::2])
    assert copies(lambda a: A.fold(A.add, 0, A.transpose(a)), x[:, ::2])  # columns side by side, if they were adjacent
    assert copies(lambda a: A.transpose(A.scanl1(A.add, A.transpose(a))), x[:, ::2])
    assert copies(lambda a: A.foldAll(A.add, 0, a), x.T)
    assert copies(lambda a: A.iterate(3, lambda b: A.zipWith(A.add, a, b), a), x[:, ::2])


def copies(function: Callable[..., object], argument: HostArray) -> bool:
    """Whether a program copies its argument before it reads it, as it lies."""
    example = lowered(function, argument)
    found = in_place(example.loops, [spread(given) for given in example.arguments])
    assert len(found.layouts) == 1
    return bool(found.copied)


def test_errors_are_those_of_copies() -> None:
    look = untyped.runN(lambda x, i: A.map(lambda e: x[e], i))
    divide = untyped.runN(lambda x, y: A.zipWith(A.div, x, y))
    numbers, places = np.arange(20)[::-2], np.array([3, 0, 9, 1, 10, 2, 1, 1, 1, 1])[::-1]
    for _ in range(3):
        with pytest.raises(A.AccelIndexError, match=r"index \(?10"):
            look(numbers, places)
        with pytest.raises(A.AccelShapeError):
            divide(numbers, places[1:])
    places[5] = 9
    assert look(numbers, places).tolist() == numbers[places].tolist()


def test_layouts_in_turn_each_have_their_own_code() -> None:
    x = rows(2, 40, 40)
    function = untyped.runN(lambda a, b: A.zipWith(lambda p, q: p * 2 + q, a, b))
    forms = [x, x.T, gaps(x, 2), x[::-1, ::-1], np.broadcast_to(x[3], x.shape), np.broadcast_to(x[:, :1], x.shape)]
    for _ in range(3):
        for one in forms:
            for other in forms:
                np.testing.assert_array_equal(function(one, other), one * 2 + other)


def test_what_a_function_holds_is_read_where_it_lies() -> None:
    held = rows(2, 30, 30).T
    function = untyped.runN(lambda a: A.zipWith(A.add, a, A.use(held)))
    x = gaps(rows(2, 30, 30), 2)
    for turn in range(4):
        held[turn, 2] = turn
        np.testing.assert_array_equal(function(x), x + held)
        np.testing.assert_array_equal(untyped.run(A.zipWith(A.add, A.use(x), A.use(held))), x + held)


@pytest.mark.parametrize("kind", ["c8", "c16"])
def test_parts_of_complex_numbers_and_fields(kind: str) -> None:
    z = np.zeros(99, kind)
    z.real, z.imag = rows(1, 99), rows(1, 99)[::-1]
    function = untyped.runN(lambda a: A.map(lambda e: e * e, a))
    points = np.zeros(99, [("x", "f4"), ("y", "f8"), ("z", "i4")])
    points["x"], points["y"] = rows(1, 99), 3
    sums = untyped.runN(lambda p: A.map(lambda e: e[0] + 1, p))
    for _ in range(3):
        np.testing.assert_array_equal(function(z), z * z)
        np.testing.assert_array_equal(sums(points), points["x"] + 1)


def test_out_and_donate_take_any_strides() -> None:
    x = rows(2, 32, 32)
    function = untyped.runN(lambda a, b: A.zipWith(A.add, a, b))
    for _ in range(3):
        room = np.zeros((32, 32), "f4")
        assert function(x.T, gaps(x, 2), out=room) is room
        np.testing.assert_array_equal(room, x.T + x)
        np.testing.assert_array_equal(function(x.copy(), x.T, donate=(0,)), x + x.T)


def test_many_threads_find_out_at_once() -> None:
    x = rows(2, 64, 64)
    function = untyped.runN(lambda a: A.map(lambda e: e * 3, a))
    wrong: list[object] = []

    def call() -> None:
        for _ in range(20):
            for form in (x.T, gaps(x, 3), x[::-1, ::-1]):
                if not np.array_equal(function(form), form * 3):
                    wrong.append(form)

    threads = [threading.Thread(target=call) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_few_calls_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Code for how an argument lies is compiled when as many elements have been copied as it takes."""
    monkeypatch.setattr(spreads, "ENOUGH", 3 * spreads.CALL)
    found: list[object] = []

    def noted(program: Program, given: Sequence[Spread | None]) -> InPlace:
        found.append(given)
        return in_place(program, given)

    monkeypatch.setattr(backend, "in_place", noted)
    function = untyped.runN(lambda a: A.map(lambda e: e + 1, a))
    x = np.arange(100.0)[::2]
    for _ in range(2):
        np.testing.assert_array_equal(function(x), x + 1)
    assert not found
    for _ in range(4):
        np.testing.assert_array_equal(function(x), x + 1)
    assert len(found) == 1
    np.testing.assert_array_equal(
        function(np.arange(3 * spreads.CALL)[::-1] * 1.0), np.arange(3 * spreads.CALL)[::-1] + 1
    )


AGAIN = """
import numpy as np, accel as A
from accel.backends.llvm.calls import spread
spread.ENOUGH = 0
x = np.arange(5000.0).reshape(50, 100)
function = A.runN(lambda a: A.map(lambda e: e + 1, a))
for form in (x, x.T):
    for _ in range(3):
        assert np.array_equal(function(form), form + 1)
        assert np.array_equal(A.run(A.map(lambda e: e * 2, A.use(form))), form * 2)
"""


def test_programs_that_come_from_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):
        subprocess.run([sys.executable, "-c", AGAIN], check=True)


def test_there_is_code_for_a_few_layouts_only() -> None:
    """For arguments that lie in other ways there are copies."""
    asked: list[object] = []

    def make(wanted: spreads.Spreads, arguments: Sequence[HostArray]) -> spreads.Function:
        asked.append(wanted)
        return lambda otherwise, constants: otherwise

    calls = spreads.SpreadCalls(make)
    xs = np.zeros(40)[::2]
    layouts: list[spreads.Spreads] = [(Spread((0,), step),) for step in range(2 * spreads.MOST)]
    found = [calls.make(layout, [xs]) for layout in layouts]
    assert asked == layouts[: spreads.MOST]
    assert [each is not None for each in found] == [True] * spreads.MOST + [False] * spreads.MOST
    assert [calls.made(layout) for layout in layouts] == found
