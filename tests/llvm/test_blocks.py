"""Maps in blocks: transposes of all types, shapes and ranks, maps and zips of them, strides, reversals, and failing checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F32, F64, I8, I16, I32, I64, U8, ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.processor import Registers
from accel.backends.llvm.machine.target import host
from accel.backends.protocol import compiled
from accel.explanation.explain import subject
from accel.settings import Settings
from tests import untyped
from tests.llvm import nests
from tests.llvm.processors import processor
from tests.marks import long, numbers_of_threads, one_in, slow

Numbers: TypeAlias = npt.NDArray[Any]  # of any element type and rank
Program: TypeAlias = Callable[..., Any]  # its results' types follow from its arguments'

SHAPES = [
    (0, 5),
    (5, 0),
    (1, 1),
    (1, 40),
    (40, 1),
    (16, 16),
    (15, 17),
    (17, 15),
    (63, 65),
    (65, 63),
    (64, 64),
    (127, 129),
    (257, 33),
]
KINDS = [F32, F64, I8, U8, I16, I32, I64, BOOL]


def floats(matrix: Numbers) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """The matrix with types that say so."""
    return np.asarray(matrix, np.float32).reshape(matrix.shape[0], matrix.shape[1])


def doubles(matrix: Numbers) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The matrix with types that say so."""
    return np.asarray(matrix, np.float64).reshape(matrix.shape[0], matrix.shape[1])


def runs_in_blocks(program: A.Acc[Any]) -> bool:
    return "_blocks(ptr %frame, i64 %low" in A.explain(program).stages["llvm"]


def check(program: Program, expected: Program, arrays: Sequence[Numbers]) -> None:
    """Bits of NumPy's, for any number of threads; in blocks."""
    assert runs_in_blocks(program(*map(A.use, arrays)))
    for threads in numbers_of_threads():
        result = A.run(program(*map(A.use, arrays)), backend="llvm", threads=threads)
        assert result.tobytes() == np.ascontiguousarray(expected(*arrays)).tobytes()


@pytest.mark.parametrize("kind", one_in(3, KINDS))
@pytest.mark.parametrize("shape", one_in(2, [(shape,) for shape in SHAPES]))
def test_transposes(kind: ScalarType, shape: tuple[int, int]) -> None:
    check(A.transpose, np.transpose, [nests.numbers(kind, shape[0] * shape[1], 1).reshape(shape)])


def turned(x: A.Acc[Any], more: int = 0) -> A.Acc[Any]:
    """A transpose as a function of indices; of fewer rows than there are, or of more."""
    rows, columns = A.unindex(A.shape(x))

    def element(ix: A.Exp[Any]) -> A.Exp[Any]:
        i, j = A.unindex(ix)
        return x[A.index(j, i)]

    return A.generate(A.index(columns + more, rows), element)


@pytest.mark.parametrize("shape", one_in(3, [(shape,) for shape in SHAPES if 0 not in shape]))
def test_transposes_by_functions_of_indices(shape: tuple[int, int]) -> None:
    some = nests.numbers(F32, shape[0] * shape[1], 3).reshape(shape)
    check(turned, np.transpose, [some])
    check(lambda x: A.map(lambda e: e * 2, turned(x)), lambda x: 2 * x.T, [some])
    check(lambda x, y: A.zipWith(A.add, turned(x), y), lambda x, y: x.T + y, [some, some.T.copy()])
    check(lambda x: turned(x, -1), lambda x: x[:, :-1].T, [some])


def test_transposes_by_functions_of_indices_that_lie_outside() -> None:
    for backend in ("llvm", "interpreter"):
        with pytest.raises(A.AccelIndexError):
            untyped.run(turned(A.use(np.ones((40, 50), np.float32)), 1), backend=backend)


@slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, 2, 3, 5, 7, 8, 9, 15, 31, 32, 33, 100, 128, 200, 1009])
@pytest.mark.parametrize("columns", [16, 17, 31, 33, 64, 127, 1013])
def test_transposes_of_all_shapes(kind: ScalarType, rows: int, columns: int) -> None:
    matrix = nests.numbers(kind, rows * columns, 1).reshape(rows, columns)
    check(A.transpose, np.transpose, [matrix])
    check(A.transpose, np.transpose, [matrix.T.copy()])


PERMUTATIONS = {
    "(2,1,0)": (lambda x: A.transposeOn(0, 2, x), (2, 1, 0)),
    "(0,2,1)": (lambda x: A.transposeOn(1, 2, x), (0, 2, 1)),
    "(1,2,0)": (lambda x: A.transposeOn(0, 2, A.transposeOn(0, 1, x)), (2, 0, 1)),
    "(2,0,1)": (lambda x: A.transposeOn(0, 1, A.transposeOn(0, 2, x)), (1, 2, 0)),
}


@pytest.mark.parametrize("name", PERMUTATIONS)
@pytest.mark.parametrize("shape", [(3, 20, 70), (70, 3, 20), (20, 70, 3), (33, 34, 35)])
def test_axes_of_rank_three(name: str, shape: tuple[int, int, int]) -> None:
    program, order = PERMUTATIONS[name]
    cube = nests.numbers(F32, shape[0] * shape[1] * shape[2], 3).reshape(shape)
    check(program, lambda x: np.transpose(x, order), [cube])


@pytest.mark.parametrize("shape", [(20, 17, 19), (70, 1, 33), (33, 65, 2), (65, 64, 63)])
def test_arrays_along_two_other_axes(shape: tuple[int, int, int]) -> None:
    first = nests.numbers(F64, shape[0] * shape[1] * shape[2], 4).reshape(shape)
    second = np.ascontiguousarray(np.transpose(first, (2, 0, 1)))

    def program(x: A.Acc[Any], y: A.Acc[Any]) -> A.Acc[Any]:
        return A.zipWith(lambda a, b: a - b * 2, A.transposeOn(0, 2, x), A.transposeOn(1, 2, y))

    check(program, lambda x, y: np.transpose(x, (2, 1, 0)) - np.transpose(y, (0, 2, 1)) * 2, [first, second])


@pytest.mark.parametrize("shape", [(64, 80), (33, 129), (129, 33)])
def test_maps_and_zips(shape: tuple[int, int]) -> None:
    left = nests.numbers(F32, shape[0] * shape[1], 5).reshape(shape)
    right = np.ascontiguousarray(left.T[::-1])
    row, column = left[0].copy(), left[:, 0].copy()
    check(lambda x: A.map(lambda e: e * 2 + 1, A.transpose(x)), lambda x: x.T * np.float32(2) + np.float32(1), [left])
    check(lambda x, y: A.zipWith(A.sub, y, A.transpose(x)), lambda x, y: y - x.T, [left, right])
    check(
        lambda x, u, v: A.zipWith3(
            lambda a, b, c: a * b - c,
            A.transpose(x),
            A.replicate((shape[1], A.All), u),
            A.replicate((A.All, shape[0]), v),
        ),
        lambda x, u, v: x.T * u - v[:, None],
        [left, column, row],
    )


def test_reversed_ways() -> None:
    matrix = nests.numbers(I16, 50 * 70, 6).reshape(50, 70)
    check(lambda x: A.reverse(A.transpose(x)), lambda x: x.T[:, ::-1], [matrix])
    check(lambda x: A.transpose(A.reverse(x)), lambda x: x[:, ::-1].T, [matrix])
    check(lambda x: A.transpose(A.reverse(A.transpose(A.reverse(A.transpose(x))))), lambda x: x.T[::-1, ::-1], [matrix])


VIEWS: dict[str, Callable[[Numbers], Numbers]] = {
    "rows apart": lambda x: x[::2],
    "rows reversed": lambda x: x[::-1],
    "rows of another": lambda x: x[:, 3:-5],
    "one row": lambda x: np.broadcast_to(x[:1], x.shape),
    "misaligned": lambda x: x.reshape(-1)[1 : 1 + 49 * 70].reshape(49, 70),
}


@pytest.mark.parametrize("view", VIEWS)
def test_strides(view: str) -> None:
    matrix = VIEWS[view](nests.numbers(F32, 50 * 70, 7).reshape(50, 70))
    check(A.transpose, np.transpose, [matrix])


@long
@pytest.mark.parametrize("shape", [(3000, 3001), (3001, 3000), (4096, 2304)])
def test_large_results_are_stored_past_the_caches(shape: tuple[int, int]) -> None:
    matrix = nests.numbers(F32, shape[0] * shape[1], 8).reshape(shape)
    check(A.transpose, np.transpose, [matrix])
    columns = A.transpose(A.use(floats(matrix)))
    first, second = A.run((columns, A.map(lambda e: e + 1, columns)), backend="llvm", threads=2)
    np.testing.assert_array_equal(first, floats(matrix).T)
    np.testing.assert_array_equal(second, floats(matrix).T + np.float32(1))


def shifted(x: A.Acc[Any], rows: int, columns: int) -> A.Acc[Any]:
    """Element (i, j) is that at (j + rows, i + columns), if there is one."""
    return A.backpermute(A.index(70, 50), lambda i: A.index(i[1] + rows, i[0] + columns), x)


def test_checked_indices() -> None:
    matrix = nests.numbers(F32, 60 * 80, 9).reshape(60, 80)
    check(lambda x: shifted(x, 10, 10), lambda x: x[10:60, 10:80].T, [matrix])
    check(lambda x: shifted(x, 0, 0), lambda x: x[:50, :70].T, [matrix])


@pytest.mark.parametrize(("rows", "columns"), [(11, 0), (-1, 0), (0, 11), (0, -1), (30, 40), (1 << 40, 0)])
def test_the_first_index_out_of_bounds_is_the_error(rows: int, columns: int) -> None:
    matrix = A.use(floats(nests.numbers(F32, 60 * 80, 9).reshape(60, 80)))
    program = shifted(matrix, rows, columns)
    assert runs_in_blocks(program)
    with pytest.raises(A.AccelIndexError) as expected:
        A.run(program, backend="interpreter")
    for threads in (1, 3):
        with pytest.raises(A.AccelIndexError) as found:
            A.run(program, backend="llvm", threads=threads)
        assert str(found.value) == str(expected.value)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: A.map(lambda e: e + 1, x),
        lambda x: A.backpermute(A.shape(x), lambda i: A.index(i[0], i[0]), x),
        lambda x: A.fold(A.add, 0.0, A.transpose(x)),
    ],
    ids=["rows", "a diagonal", "a fold"],
)
def test_what_does_not_run_in_blocks(program: Program) -> None:
    assert not runs_in_blocks(program(A.use(np.ones((50, 50)))))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int16, np.int8])
@pytest.mark.parametrize(("threads", "register"), [(1, 32), (2, 32), (2, 64)])
def test_longer_pieces_where_results_go_past_the_caches(
    kind: Any, threads: int, register: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    traits = {"slow_gathers": True, "keeps_stores": True, "adds_apart": True, "cached_bytes": 1000}
    monkeypatch.setattr(host(), "processor", processor(registers=Registers(register, 16), **traits))
    for shape in ((300, 70), (70, 300), (129, 257), (3, 900), (900, 3), (2, 259, 301), (256, 512), (137, 8)):
        x = (np.random.default_rng(0).random(shape) * 100).astype(kind)
        loops = subject(A.transposeOn(-2, -1, A.use(x)), (), Settings()).staged.loops
        (found,) = compiled(LLVMBackend(threads), loops)([x])
        assert found.tobytes() == np.swapaxes(x, -2, -1).tobytes()


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_of_several_arrays_that_begin_anywhere_past_the_caches(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host(), "processor", processor(registers=Registers(32, 16), cached_bytes=1000))
    for shape in ((271, 150), (530, 131), (128, 300)):
        x = nests.numbers(F32, shape[0] * shape[1], 3).reshape(shape)
        y = nests.numbers(F64, shape[0] * shape[1], 4).reshape(shape)
        z = nests.numbers(F64, shape[0] * shape[1], 5).reshape(shape[::-1])
        negative = A.map(lambda e: -e, A.transpose(A.use(floats(x))))
        sums = A.zipWith(A.add, A.transpose(A.use(doubles(y))), A.use(doubles(z)))
        loops = subject((negative, sums), (), Settings()).staged.loops
        first, second = compiled(LLVMBackend(threads), loops)([floats(x), y, z])
        assert first.tobytes() == (-floats(x).T).tobytes()
        assert second.tobytes() == (y.T + z).tobytes()
