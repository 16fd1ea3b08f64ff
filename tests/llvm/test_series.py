"""Nests that run together, some rows at a time: the bits that they give one after the other, and the same errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel import settings
from accel.ast.tree.types import F32, F64, I32, ScalarType
from accel.backends.llvm.backend import LLVMBackend, llvm_text
from accel.backends.protocol import Executable, compiled
from accel.errors import AccelError, AccelIndexError, AccelValueError
from accel.explanation.explain import subject
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Program
from accel.schedule.machine import PROCESSOR
from accel.schedule.templates.choose import program_schedules
from tests.llvm import nests
from tests.marks import one_in

Numbers: TypeAlias = npt.NDArray[Any]  # of any element type and rank
Handle: TypeAlias = A.Acc[Any]  # types are known at run time


def along(of_rows: Handle, xs: Handle) -> Handle:
    """What there is for each row, at each of its elements."""
    return A.replicate((A.All, A.unlift(xs.shape)[1]), of_rows)


def shares(xs: Handle) -> Handle:
    """As softmax, with a function whose bits are those of the interpreter."""
    lifted = A.map(lambda x: x * x + 0.5, A.zipWith(A.sub, xs, along(A.fold1(A.max, xs), xs)))
    return A.zipWith(lambda x, total: x / total, lifted, along(A.fold(A.add, 0, lifted), xs))


def normalised(xs: Handle) -> Handle:
    """Less the mean, over what varies."""
    count = 1.0 / 300
    centred = A.zipWith(A.sub, xs, along(A.map(lambda s: s * count, A.fold(A.add, 0, xs)), xs))
    varies = A.map(lambda s: A.sqrt(s * count + 1.0), A.fold(A.add, 0, A.map(lambda x: x * x, centred)))
    return A.zipWith(lambda x, v: x / v, centred, along(varies, xs))


def distance(xs: Handle) -> tuple[Handle, Handle]:
    """Two results, one of them read by a later nest."""
    centred = A.zipWith(A.sub, xs, along(A.fold(A.add, 0, xs), xs))
    return centred, A.zipWith(lambda x, m: x * m, centred, along(A.fold1(A.min, centred), xs))


def mirrored(xs: Handle) -> Handle:
    """Elements of the same row, from the other end, of what was made before."""
    columns = A.unlift(xs.shape)[1]
    centred = A.zipWith(A.sub, xs, along(A.fold(A.add, 0, xs), xs))
    largest = along(A.fold1(A.max, centred), xs)

    def other(place: Any) -> Any:
        i, j = A.unindex(place)
        return A.index(i, columns - 1 - j)

    return A.zipWith(A.mul, A.backpermute(xs.shape, other, centred), largest)


def running(xs: Handle) -> Handle:
    """Scans of rows, from both ends."""
    sums = A.scanl1(A.add, xs)
    return A.zipWith(A.sub, A.scanr1(A.max, A.zipWith(A.sub, sums, along(A.fold1(A.max, sums), xs))), sums)


PROGRAMS = (shares, normalised, distance, mirrored, running)


def lowered(function: Callable[..., object], *arrays: Numbers) -> Program:
    return subject(function, list(arrays), settings.changed({})).staged.loops


def series_of(program: Program) -> list[str]:
    """The functions of series in a program's text."""
    return re.findall(r"@(series\d+)\(ptr %block\)", llvm_text(program_schedules(program, PROCESSOR)))


def agrees(program: Program, arguments: Sequence[Numbers]) -> None:
    """The interpreter's bits, one row after the other and many at once, for any number of threads."""
    expected = [each.tobytes() for each in interpret(program, list(arguments))]
    for threads, block_bytes in ((1, 20_000), (2, 1), (2, 1 << 18), (3, 20_000)):
        executable = compiled(LLVMBackend(threads, block_bytes=block_bytes), program)
        for _ in range(2):
            assert [each.tobytes() for each in executable(list(arguments))] == expected


def matrix(kind: ScalarType, rows: int, columns: int) -> Numbers:
    return nests.numbers(kind, rows * columns, rows + columns).reshape(rows, columns)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("kind", one_in(2, [F32, F64]))
@pytest.mark.parametrize(
    ("rows", "columns"), one_in(3, [(37, 300), (1, 301), (1, 1), (40, 1), (5, 4097), (200, 129)], kept=2)
)
def test_bits(program: Callable[[Handle], object], kind: ScalarType, rows: int, columns: int) -> None:
    values = matrix(kind, rows, columns)
    loops = lowered(program, values)
    assert series_of(loops)
    agrees(loops, [values])


@pytest.mark.parametrize("shape", [(0, 0), (0, 7)])
def test_no_rows(shape: tuple[int, int]) -> None:
    loops = lowered(shares, np.zeros(shape, np.float32))
    agrees(loops, [np.zeros(shape, np.float32)])


def test_rows_without_elements() -> None:
    loops = lowered(shares, np.zeros((3, 5), np.float32))
    with pytest.raises(AccelValueError, match=r"fold1 of an empty row: the array has shape \(3, 0\)"):
        compiled(LLVMBackend(2), loops)([np.zeros((3, 0), np.float32)])


def test_strides() -> None:
    wide = matrix(F32, 21, 340)
    for values in (wide[::3, 50:330], wide[::-1, :300], np.broadcast_to(wide[0], (20, 340)), wide.T):
        agrees(lowered(normalised, values), [values])


def test_three_dimensions() -> None:
    """The rows are those of the first dimension."""
    values = matrix(F32, 60, 35).reshape(12, 5, 35)

    def program(xs: Handle) -> Handle:
        largest = A.replicate((A.All, A.All, 35), A.fold1(A.max, xs))
        lifted = A.zipWith(lambda x, m: x - m, xs, largest)
        return A.zipWith(A.mul, lifted, A.replicate((A.All, A.All, 35), A.fold(A.add, 1, lifted)))

    loops = lowered(program, values)
    assert series_of(loops)
    agrees(loops, [values])


def gathered(xs: Handle, places: Handle) -> Handle:
    """Elements of the same row at places that are asked for: each a check in the second nest."""
    centred = A.zipWith(A.sub, xs, along(A.fold(A.add, 0, xs), xs))
    largest = along(A.fold1(A.max, centred), xs)
    rows, columns = A.unlift(xs.shape)

    def one(place: Any) -> Any:
        i, j = A.unindex(place)
        return centred[A.index(i, A.cast(places[A.index(i, j)], np.int64))]

    return A.zipWith(A.mul, A.generate((rows, columns), one), largest)


def error(executable: Executable, arguments: Sequence[Numbers]) -> AccelError:
    with pytest.raises(AccelError) as caught:
        executable(arguments)
    return caught.value


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("shape", [(20, 30), (300, 200)])
def test_checks_fail_as_they_do_one_after_the_other(shape: tuple[int, int], threads: int) -> None:
    values = matrix(F32, *shape)
    places = (np.arange(values.size, dtype=np.int32) * 7 % shape[1]).reshape(shape)
    loops = lowered(gathered, values, places)
    assert series_of(loops)
    agrees(loops, [values, places])
    together = compiled(LLVMBackend(threads, block_bytes=4000), loops)
    alone = compiled(LLVMBackend(threads), loops, lambda device, nest, slots, launch: launch)
    for bad in (shape[1], -1):
        wrong = places.copy()
        wrong[shape[0] // 2, 3] = bad
        wrong[shape[0] - 1, 0] = 12345
        first = error(together, [values, wrong])
        assert isinstance(first, AccelIndexError)
        assert str(first) == str(error(alone, [values, wrong]))
    assert together([values, places])[0].tobytes() == alone([values, places])[0].tobytes()


def of_all(xs: Handle) -> Handle:
    """Less the mean of all rows."""
    centred = A.zipWith(A.sub, xs, along(A.fold(A.add, 0, xs), xs))
    total = A.the(A.foldAll(A.add, 0, centred))
    return A.map(lambda x: x - total, centred)


def neighbours(xs: Handle) -> Handle:
    """Of the next row."""
    rows, columns = A.unlift(xs.shape)
    centred = A.zipWith(A.sub, xs, along(A.fold(A.add, 0, xs), xs))

    def following(place: Any) -> Any:
        i, j = A.unindex(place)
        return A.index((i + 1) % rows, j)

    return A.zipWith(A.mul, A.backpermute((rows, columns), following, centred), along(A.fold1(A.max, centred), xs))


def of_columns(xs: Handle) -> Handle:
    """Sums of columns."""
    return A.zipWith(A.mul, xs, A.replicate((A.unlift(xs.shape)[0], A.All), A.fold(A.add, 0, A.transpose(xs))))


@pytest.mark.slow
def test_others_are_launched_one_after_the_other() -> None:
    values = matrix(I32, 30, 40).astype(np.float32)
    assert not series_of(lowered(of_columns, values))
    for program in (of_all, of_columns, neighbours):
        agrees(lowered(program, values), [values])


@pytest.mark.slow
def test_a_series_in_a_loop() -> None:
    values = matrix(F64, 50, 70)

    def program(xs: Handle) -> Handle:
        return A.iterate(3, shares, xs)

    loops = lowered(program, values)
    assert series_of(loops)
    agrees(loops, [values])


def test_what_is_passed_takes_no_whole_array() -> None:
    """Two threads and one row at once: two rows."""
    loops = lowered(shares, matrix(F32, 64, 300))
    asked = nests.taken(loops, [matrix(F32, 64, 300)], 2)
    assert (2, 300) in asked
    assert asked.count((64, 300)) == 1
