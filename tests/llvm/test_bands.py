"""Blocks in bands: transposes of more than a block, whose rows begin anywhere in a line, of all that is read and written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F32, F64, I8, I16, I64, ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.processor import Registers
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.templates.bands.loops import runs_in_bands
from accel.backends.protocol import compiled
from accel.explanation.explain import subject
from accel.ir import mentions
from accel.schedule.templates.blocks import blocks
from accel.settings import Settings
from tests.llvm import nests
from tests.llvm.processors import changed, processor
from tests.marks import one_in, slow

Numbers: TypeAlias = npt.NDArray[Any]  # of any element type and rank
Program: TypeAlias = Callable[..., Any]  # its results' types follow from its arguments'

BEYOND, WITHIN = 1000, 1 << 25
"""Bytes of caches beyond which results are stored, and within which they stay."""


@pytest.fixture(
    params=[(BEYOND, False), (BEYOND, True), (WITHIN, True)],
    ids=["past the caches", "past the caches, along what is read", "into the caches"],
)
def wide(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A processor with registers of 64 bytes."""
    cached, reads_on = request.param
    given = processor(registers=Registers(64, 32), slow_gathers=True, cached_bytes=cached, reads_on=reads_on)
    monkeypatch.setattr(host(), "processor", given)


def check(program: Program, expected: Program, *arrays: Numbers) -> None:
    """Bits of NumPy's, on one thread and on several, in bands."""
    loops = subject(program(*map(A.use, arrays)), (), Settings()).staged.loops
    found = [blocks(nest) for nest in mentions.nests(loops)]
    assert any(each is not None and runs_in_bands(each) for each in found)
    for threads in (1, 3):
        (result,) = compiled(LLVMBackend(threads), loops)(list(arrays))
        assert result.tobytes() == np.ascontiguousarray(expected(*arrays)).tobytes()


def matrix(kind: ScalarType, rows: int, columns: int) -> Numbers:
    """Numbers in rows."""
    return nests.numbers(kind, rows * columns, rows).reshape(rows, columns)


def test_where_registers_are_shorter_or_arrays_run_along_two_axes_there_are_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x, y = (A.use(np.ones(shape, np.float32)) for shape in ((3, 4, 5), (5, 3, 4)))
    one, two = A.transposeOn(0, 2, x), A.zipWith(A.add, A.transposeOn(0, 2, x), A.transposeOn(1, 2, y))
    for bytes_, expected in ((64, [True, False]), (32, [False, False])):
        monkeypatch.setattr(host(), "processor", changed(registers=Registers(bytes_, 16)))
        loops = [subject(program, (), Settings()).staged.loops for program in (one, two)]
        found = [blocks(nest) for each in loops for nest in mentions.nests(each)]
        assert [each is not None and runs_in_bands(each) for each in found] == expected


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("kind", one_in(3, [F32, F64, I8, I16, I64, BOOL]))
def test_transposes_of_several_blocks(kind: ScalarType) -> None:
    for shape in ((16, 2000), (20, 529), (64, 1040), (96, 512), (300, 1100), (271, 530), (97, 1), (530, 15)):
        check(A.transpose, np.transpose, matrix(kind, *shape))


@slow
@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("kind", [F32, F64, I8, I16])
@pytest.mark.parametrize("columns", [16, 17, 33, 511, 512, 513, 527, 528, 529, 1023, 1025, 1040])
def test_transposes_of_all_lengths(kind: ScalarType, columns: int) -> None:
    for rows in (16, 31, 64, 65, 95, 96, 97, 128, 129, 161, 257, 385):
        check(A.transpose, np.transpose, matrix(kind, rows, columns))


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("kind", [F32, I8, F64])
def test_rows_that_begin_anywhere(kind: ScalarType) -> None:
    base = matrix(kind, 140, 1152)
    for first in (0, 1, 4, 7, 12, 16, 33):
        check(A.transpose, np.transpose, base[:, first : first + 1080])
        check(A.transpose, np.transpose, base[:, first : first + 9])
    check(A.transpose, np.transpose, base[::2, 5:])
    check(A.transpose, np.transpose, base[::-1, 5:])


@pytest.mark.usefixtures("wide")
@pytest.mark.parametrize("kind", [F32, I16])
def test_rows_that_are_read_from_their_ends(kind: ScalarType) -> None:
    base = matrix(kind, 140, 1099)
    check(lambda x: A.transpose(A.reverse(x)), lambda x: x[:, ::-1].T, base)
    check(lambda x: A.reverse(A.transpose(x)), lambda x: x.T[:, ::-1], base)
    check(lambda x: A.transpose(A.reverse(x)), lambda x: x[:, ::-1].T, base[:, 3:])


@pytest.mark.usefixtures("wide")
def test_several_arrays_and_elements_of_several_sizes() -> None:
    x, y, z = (matrix(kind, *shape) for kind, shape in ((F32, (150, 700)), (F64, (150, 700)), (F64, (700, 150))))

    def program(x: A.Acc[Any], y: A.Acc[Any], z: A.Acc[Any]) -> A.Acc[Any]:
        doubled = A.map(lambda e: A.toFloating(A.boolToInt(e * 2 > 0), np.float64), A.transpose(x))
        return A.zipWith3(lambda a, b, c: a + b - c, doubled, A.transpose(y), z)

    check(program, lambda x, y, z: (x.T * np.float32(2) > 0) + y.T - z, x, y, z)
    four = [matrix(F32, 100, 900) + n for n in range(4)]
    check(
        lambda *each: A.zipWith4(lambda a, b, c, d: a - b * c - d, *map(A.transpose, each)),
        lambda a, b, c, d: a.T - b.T * c.T - d.T,
        *four,
    )


@pytest.mark.usefixtures("wide")
def test_maps_whose_rows_are_not_written_out() -> None:
    x = matrix(F32, 130, 600)
    check(lambda x: A.map(lambda e: A.sqrt(A.abs(e)) / 3 / (A.abs(e) + 1), A.transpose(x)), _slow_map, x)


def _slow_map(x: Numbers) -> Numbers:
    return np.asarray(np.sqrt(np.abs(x.T)) / np.float32(3) / (np.abs(x.T) + np.float32(1)))


@pytest.mark.usefixtures("wide")
def test_many_matrices() -> None:
    cube = nests.numbers(F32, 5 * 70 * 530, 3).reshape(5, 70, 530)
    check(lambda x: A.transposeOn(1, 2, x), lambda x: np.transpose(x, (0, 2, 1)), cube)
    check(lambda x: A.transposeOn(0, 2, x), lambda x: np.transpose(x, (2, 1, 0)), cube)
