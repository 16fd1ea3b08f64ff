"""Folds of a few elements for each of a few columns, in lanes over rows: the interpreter's bits for every size and fold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import F16, F32, F64, I8, I32, I64, ScalarType
from accel.backends.llvm.machine.processor import Registers
from tests import untyped
from tests.llvm import nests
from tests.llvm.lanes import Numbers, check, has_interleaved, however_few
from tests.llvm.processors import changed, compile_for
from tests.marks import one_in

pytestmark = pytest.mark.solver


@pytest.fixture(autouse=True)
def _however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    however_few(monkeypatch)


def numbers(kind: ScalarType, *shape: int) -> Numbers:
    return nests.numbers(kind, int(np.prod(shape)), sum(shape)).reshape(shape)


def times_vectors(m: Any, v: Any) -> Any:
    return A.einsum("nij,nj->ni", m, v)


def from_the_left(m: Any, v: Any) -> Any:
    return A.einsum("nji,nj->ni", m, v)


def products(m: Any, v: Any) -> Any:
    return A.einsum("nij,njk->nik", m, m)


def greatest(m: Any, v: Any) -> Any:
    """An exact fold, and where its extreme stands, of the same matrices, and their sums."""
    return A.maximum(m), A.argmax(m), A.sum(m)


def in_turn(m: Any, v: Any) -> Any:
    """A fold that does not commute."""
    _, k, _ = A.unlift(m.shape)
    return A.fold(lambda a, b: a * 2 - b, 1, A.zipWith(lambda x, y: x + y, m, A.replicate((A.All, k, A.All), v)))


def squares(m: Any, v: Any) -> Any:
    """Folds of what folds come to."""
    return A.sum(A.map(lambda x: x * x, times_vectors(m, v)))


@pytest.mark.parametrize(("rank", "length"), one_in(2, [(3, 3), (2, 2), (4, 3), (2, 4), (4, 4)]))
@pytest.mark.parametrize("kind", one_in(2, [F32, F64, I32, I64, I8, F16]), ids=str)
def test_small_matrices(kind: ScalarType, rank: int, length: int) -> None:
    for rows in (8, 37, 130):
        m = numbers(kind, rows, rank, length)
        for program in (times_vectors, greatest, in_turn):
            check(program, m, numbers(kind, rows, length))
        check(from_the_left, m, numbers(kind, rows, rank))
        if rank == length:
            check(products, m, m)


@pytest.mark.parametrize("registers", [(16, 16), (32, 16), (64, 32)])
def test_other_registers(registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(registers=Registers(*registers)))
    for kind in (F32, F64):
        check(times_vectors, numbers(kind, 100, 3, 3), numbers(kind, 100, 3))
        check(times_vectors, numbers(kind, 100, 4, 4), numbers(kind, 100, 4))


def test_sizes_that_are_known() -> None:
    """Also longer ones, and a loop around the rows."""

    def program(m: Any, v: Any) -> Any:
        groups, rows, _ = A.unlift(v.shape)

        def element(ix: Any) -> Any:
            g, n, i, j = A.unindex(ix)
            return m[g, n, 6 * i + j] * v[g, n, j]

        return A.sum(A.generate(A.index(groups, rows, 5, 6), element))

    for kind in (F32, F64):
        check(program, numbers(kind, 3, 41, 30), numbers(kind, 3, 41, 6))


def test_rows_that_are_shifted_and_parts_of_others() -> None:
    """Affine maps, of which the last row is left out; and rows behind others."""

    def program(m: Any, v: Any) -> Any:
        rows, _, _ = A.unlift(m.shape)

        def element(ix: Any) -> Any:
            n, i, j = A.unindex(ix)
            return m[n + 1, i, j] * A.cond(j == 3, 1, v[n, A.min(j, 2)])

        return A.sum(A.generate(A.index(rows - 1, 3, 4), element))

    for kind in (F32, F64):
        check(program, numbers(kind, 60, 4, 4), numbers(kind, 60, 3))


def test_one_matrix_for_all() -> None:
    for rows in (9, 64, 131):
        for kind in (F32, F64):
            check(lambda m, v: A.einsum("ij,nj->ni", m, v), numbers(kind, 3, 3), numbers(kind, rows, 3))
            check(lambda m, v: A.einsum("ij,hwj->hwi", m, v), numbers(kind, 4, 3), numbers(kind, 3, rows, 3))


def test_rows_that_do_not_lie_behind_each_other() -> None:
    whole, v = numbers(F32, 90, 5, 7), numbers(F32, 90, 3)
    fast = untyped.runN(times_vectors)
    for part in (whole[:, :3, :3], whole[::2, 1:4, 2:5], whole[::-1, 1:4, ::3], whole.T[:3, :3].T):
        own = v[: len(part)]
        expected = untyped.run(times_vectors(untyped.accel.use(part), untyped.accel.use(own)), backend="interpreter")
        for _ in range(3):
            assert fast(part, own).tobytes() == expected.tobytes()


def test_sums_of_what_folds_come_to() -> None:
    for kind in (F32, F64):
        built = squares(untyped.accel.use(numbers(kind, 77, 3, 3)), untyped.accel.use(numbers(kind, 77, 3)))
        assert untyped.run(built).tobytes() == untyped.run(built, backend="interpreter").tobytes()


def test_what_is_no_row_is_left_alone() -> None:
    """Windows, of which lanes read what lies side by side; sums of rows alone; and matrices of unknown size are tried for few
    elements only."""
    x = numbers(F32, 40, 40)

    def windows(x: Any) -> Any:
        return A.fold(A.add, 0, A.generate((38, 38, 3, 3), lambda ix: x[ix[0] + ix[2], ix[1] + ix[3]]), dims=2)

    assert not has_interleaved(windows, x)
    assert not has_interleaved(A.sum, x)
    built = times_vectors(untyped.accel.use(numbers(F32, 20, 5, 7)), untyped.accel.use(numbers(F32, 20, 7)))
    assert untyped.run(built).tobytes() == untyped.run(built, backend="interpreter").tobytes()
