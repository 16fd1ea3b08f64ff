"""Maps of short rows in lanes over positions: bits of the interpreter's for every length, type and way to read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

import accel as A
from accel.ast.tree.types import BOOL, F16, F32, F64, I8, I64, ScalarType
from accel.backends.llvm.templates import positions
from accel.schedule.nodes import Template
from tests.llvm import nests
from tests.llvm.processors import compile_again
from tests.marks import numbers_of_threads, one_in

Numbers: TypeAlias = npt.NDArray[Any]  # of any element type and rank
Program: TypeAlias = Callable[..., Any]  # its results' types follow from its arguments'


@pytest.fixture(autouse=True)
def however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small arrays run over positions, too."""
    monkeypatch.setattr(positions, "LEAST", 1)
    compile_again(monkeypatch)


def has_positions(program: Program, arrays: Sequence[Numbers]) -> bool:
    return f": {Template.POSITIONS.value}\n" in A.explain(program, *arrays).stages["schedule"]


def check(program: Program, *arrays: Numbers) -> None:
    """Bits of the interpreter's, for any number of threads, of a program that has a way over positions."""
    assert has_positions(program, arrays)
    built = program(*map(A.use, arrays))
    expected = A.run(built, backend="interpreter")
    for threads in numbers_of_threads():
        result = A.run(built, backend="llvm", threads=threads)
        for each, other in zip(_each(result), _each(expected), strict=True):
            assert each.tobytes() == other.tobytes()


def _each(result: object) -> Sequence[Numbers]:
    return [np.asarray(each) for each in (result if isinstance(result, tuple) else (result,))]


def numbers(kind: ScalarType, *shape: int) -> Numbers:
    return nests.numbers(kind, int(np.prod(shape)), sum(shape)).reshape(shape)


def rows_of(x: A.Acc[Any], row: A.Acc[Any]) -> A.Acc[Any]:
    return A.zipWith(lambda a, b: A.lift(a, b), x, A.replicate((x.shape[0], A.All), row))


def first_for_all(x: A.Acc[Any]) -> A.Acc[Any]:
    return A.replicate((A.All, x.shape[1]), A.slice(x, (A.All, 0)))


def columns_of(x: A.Acc[Any], column: A.Acc[Any]) -> A.Acc[Any]:
    return A.zipWith(lambda a, b: A.lift(b, a), x, A.replicate((A.All, x.shape[1]), column))


ONE: dict[str, Program] = {
    "columns from the last": lambda x: A.reverseOn(1, x),
    "rows from the last": lambda x: A.reverseOn(0, x),
    "all rows but the first": lambda x: A.tailOn(0, x),
    "all columns but the first": lambda x: A.tailOn(1, x),
    "every second column": lambda x: A.backpermute(
        A.index(x.shape[0], x.shape[1] // 2), lambda ix: A.index(ix[0], 2 * ix[1]), x
    ),
    "one behind the other": lambda x: A.concatOn(0, x, x),
    "side by side": lambda x: A.concatOn(1, x, A.reverseOn(1, x)),
    "neighbours": lambda x: A.stencil(lambda n: A.lift(n(-1, 0), n(0, 1), n(1, -1)), A.boundary.clamp, x),
    "neighbours around": lambda x: A.stencil(lambda n: A.lift(n(-1, 0), n(0, 2)), A.boundary.wrap, x),
    "a triangle": lambda x: A.generate(x.shape, lambda ix: A.cond(ix[0] <= ix[1], x[ix], x[0, 0])),
    "the first column for all": lambda x: first_for_all(x),
    "transposed": lambda x: A.transpose(A.reverseOn(1, A.transpose(A.reverseOn(0, x)))),
}

LENGTHS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 31, 33]


@pytest.mark.parametrize("name", one_in(2, ONE))
@pytest.mark.parametrize("kind", one_in(2, [F32, F64, I8, I64, BOOL, F16]))
@pytest.mark.parametrize("length", one_in(2, LENGTHS))
def test_rows_of_all_lengths(name: str, kind: ScalarType, length: int) -> None:
    for rows in (1, 70, 300):
        check(ONE[name], numbers(kind, rows, length))


@pytest.mark.parametrize("kind", [F32, I8])
@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_rows_and_columns_for_all(kind: ScalarType, length: int) -> None:
    x = numbers(kind, 301, length)
    check(rows_of, x, numbers(kind, length))
    check(columns_of, x, numbers(kind, 301))


@pytest.mark.parametrize("shape", [(3, 70, 2), (90, 3, 1), (2, 3, 60, 4), (40, 1, 3, 3), (70, 2, 1, 2)])
@pytest.mark.parametrize("order", ["reversed", "turned"])
def test_rows_of_rank_three_and_more(shape: tuple[int, ...], order: str) -> None:
    axes = tuple(range(len(shape)))
    places = axes[::-1] if order == "reversed" else (*axes[1:], 0)

    def moved(x: A.Acc[Any]) -> A.Acc[Any]:
        def place(ix: Any) -> Any:
            index = A.unindex(ix)
            return A.index(*(index[places.index(axis)] for axis in axes))

        return A.backpermute(A.index(*(x.shape[axis] for axis in places)), place, x)

    check(moved, numbers(F32, *shape))
    check(moved, numbers(I8, *shape))


@pytest.mark.parametrize("columns", [1, 2, 5])
def test_columns_of_wide_arrays_beside_rows_of_one_element(columns: int) -> None:
    def beside(x: A.Acc[Any], wide: A.Acc[Any]) -> A.Acc[Any]:
        return A.generate(x.shape, lambda ix: A.lift(x[ix], wide[ix[0], columns - 1], wide[ix[0], 0]))

    check(beside, numbers(F32, 300, 1), numbers(F32, 300, columns))
    check(beside, numbers(I8, 300, 1), numbers(I8, 300, columns))


def test_arguments_whose_rows_lie_apart() -> None:
    """What would be a row in memory is none; nothing is read that is between."""
    wide = numbers(F32, 400, 7)
    program = ONE["all rows but the first"]
    later, first = A.runN(program), A.runN(first_for_all)
    for x in (wide[:, :3], wide[::2, 2:4], wide[::-1, 1:2]):
        assert has_positions(program, [x])
        assert later(x).tobytes() == x[1:].tobytes()
        assert first(x).tobytes() == np.broadcast_to(x[:, :1], x.shape).tobytes()


@pytest.mark.parametrize("length", [1, 2, 3])
def test_what_is_out_of_bounds_is_an_error(length: int) -> None:
    def picked(i: A.Acc[Any], x: A.Acc[Any]) -> A.Acc[Any]:
        return A.backpermute(A.index(i.shape[0], x.shape[1]), lambda ix: A.index(i[ix[0]], ix[1]), x)

    rows = np.arange(300)
    x = numbers(F32, 300, length)
    check(picked, rows, x)
    rows[217] = 300
    with pytest.raises(A.AccelIndexError, match=r"\(300, 0\)"):
        A.runN(picked)(rows, x)


def test_rows_that_are_known_to_be_long_have_no_such_way() -> None:
    def known(column: A.Acc[Any]) -> A.Acc[Any]:
        return A.replicate((A.All, 40), column)

    assert not has_positions(known, [numbers(F32, 40)])
    assert has_positions(lambda x: A.replicate((A.All, 5), x), [numbers(F32, 40)])
