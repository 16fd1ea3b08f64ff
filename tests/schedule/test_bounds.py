"""Loads at sums of loops' indices: they are not checked one by one, and in nests that tiles take they are reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.protocol import compiled
from accel.errors import AccelIndexError
from accel.explanation.explain import subject
from accel.ir.meaning.interpret import interpret
from accel.ir.mentions import nests, statements
from accel.ir.nodes import Program, Read, Remap
from accel.labelled.scalars.ranges import Linear
from accel.schedule.machine import PROCESSOR
from accel.schedule.splitting.bounds import without_checks
from accel.schedule.templates.choose import schedules
from accel.schedule.templates.ways import nest_text
from accel.settings import changed
from benchmarks.convolutions import by_weights, by_weights_of_last
from tests.llvm.nests import taken
from tests.llvm.test_series_in_tiles import numbers, sides

Handle: TypeAlias = A.Acc[Any]  # types are known at run time
Function: TypeAlias = Callable[[Handle, Handle], Handle]

pytestmark = [pytest.mark.llvm, pytest.mark.solver]


def cube(element: Callable[..., Any], xs: Handle, ys: Handle) -> Handle:  # Any: expressions of any type
    (rows, count), (columns, _) = A.unlift(xs.shape), A.unlift(ys.shape)
    return A.generate(A.index(rows, columns, count), lambda ix: element(*A.unindex(ix)))


def distances(xs: Handle, ys: Handle) -> Handle:
    def squared(i: Any, j: Any, k: Any) -> Any:
        return (xs[i, k] - ys[j, k]) * (xs[i, k] - ys[j, k])

    return A.sum(cube(squared, xs, ys))


def halved(xs: Handle, ys: Handle) -> Handle:
    """One side computes of two arrays, the other loads by what it computes: that one stays a load."""
    first = A.sum(ys)
    return A.sum(cube(lambda i, j, k: (xs[i, k] - first[i] * 0.5) * ys[j, (k + 1) % 3], xs, ys))


def nearest(xs: Handle, ys: Handle) -> Handle:
    return A.argmin(distances(xs, ys))


def loops_of(program: Function, rows: int = 9, columns: int = 11, count: int = 5) -> Program:
    return subject(program, sides(rows, columns, count, "float32"), changed({})).staged.loops


def text(program: Function) -> str:
    return nest_text(schedules(list(nests(loops_of(program)))[-1], PROCESSOR))


def test_what_is_not_proved_is_a_bound() -> None:
    (nest,) = nests(loops_of(distances))
    reading, (bound,) = without_checks(nest, reads=True)
    reads = {s.out.name: s.array for s in statements(reading) if isinstance(s, Read)}
    assert list(reads) == ["e2_p0", "e2_p1"]
    assert (bound.less, bound.more) == tuple(Linear.of(reads[name].shape[1]) for name in reads)
    assert len(bound.around) == 3
    assert text(distances).splitlines()[-1] == "in bounds if n1 <= n3"


def test_computed_indices_stay_loads() -> None:
    *_, nest = nests(loops_of(halved))
    reading, (bound,) = without_checks(nest, reads=True)
    assert [s.out.name for s in statements(reading) if isinstance(s, Read)] == ["e3_p0_r0", "e3_p0_r1"]
    assert bound.less == Linear.of(bound.around[0])
    assert text(halved).splitlines()[-1] == "in bounds if n0 <= n2"


def test_what_is_proved_has_no_bound() -> None:
    assert "in bounds" not in text(lambda xs, _: distances(xs, xs))


@pytest.mark.parametrize("program", [distances, nearest, halved])
def test_bits(program: Function) -> None:
    """Also where rows run instead of tiles, and where arrays are larger than what is read of them."""
    for rows, columns, count, more in ((3, 4, 5, 0), (130, 140, 8, 0), (130, 140, 8, 2), (90, 95, 70, 1), (5, 0, 3, 0)):
        xs, ys = numbers((rows, count), "float32", 1), numbers((columns, count + more), "float32", 2)
        if (columns < rows and program is halved) or (not columns and program is nearest):
            continue
        loops = subject(program, [xs, ys], changed({})).staged.loops
        (expected,) = interpret(loops, [xs, ys])
        for threads in (1, 2):
            (found,) = compiled(LLVMBackend(threads), loops)([xs, ys])
            assert found.tobytes() == expected.tobytes(), (rows, columns, count, more, threads)


def test_the_distances_are_never_whole() -> None:
    arguments = sides(300, 400, 8, "float32")
    asked = taken(loops_of(nearest, 300, 400, 8), arguments, 2)
    assert (64, 400) in asked
    assert (300, 400) not in asked


@pytest.mark.parametrize("program", [distances, nearest])
@pytest.mark.parametrize(("rows", "columns"), [(3, 4), (300, 400)])
def test_the_first_index_that_is_out_of_bounds_is_named(program: Function, rows: int, columns: int) -> None:
    loops = loops_of(program, rows, columns, 8)
    for threads in (1, 2):
        executable = compiled(LLVMBackend(threads), loops)
        with pytest.raises(
            AccelIndexError, match=rf"index \(0, 6\) is out of bounds for an array of shape \({columns}, 6\)"
        ):
            executable([numbers((rows, 8), "float32", 1), numbers((columns, 6), "float32", 2)])


def test_loops_without_iterations_are_no_error() -> None:
    """Nothing is read then, whatever the extents of arrays are."""
    executable = compiled(LLVMBackend(1), loops_of(halved))
    (found,) = executable([numbers((5, 0), "float32", 1), numbers((3, 0), "float32", 2)])
    assert found.tolist() == [[0.0] * 3] * 5


def shifted(by: Callable[[Any, Any, Any], Any]) -> Function:
    """For each row of the second array sums of as many elements of the first one as it has columns."""

    def program(xs: Handle, ys: Handle) -> Handle:
        rows, columns = A.unlift(ys.shape)

        def element(ix: Any) -> Any:
            i, k = A.unindex(ix)
            return xs[by(i, k, columns)]

        return A.sum(A.generate(A.index(rows, columns), element))

    return program


SHIFTED: dict[str, tuple[Function, list[str], Callable[[int, int, int], int]]] = {
    "window": (shifted(lambda i, k, _: i + k), ["n1+n2 <= n0+1"], lambda i, k, n: i + k),
    "steps": (
        shifted(lambda i, k, n: 2 * i + 3 * (n - k - 1)),
        ["2*n1+3*n2 <= n0+4"],
        lambda i, k, n: 2 * i + 3 * (n - k - 1),
    ),
    "down": (shifted(lambda i, k, _: 9 - i - k), ["n1+n2 <= 11", "10 <= n0"], lambda i, k, n: 9 - i - k),
    "taken off": (shifted(lambda i, k, n: i + n - 3), ["3 <= n2", "n1+n2 <= n0+3"], lambda i, k, n: i + n - 3),
}


@pytest.mark.parametrize("name", SHIFTED)
def test_sums_of_indices(name: str) -> None:
    """What sums are at least and at most says whether all of them are in bounds."""
    program, bounds, place = SHIFTED[name]
    given = [numbers((10,), "float32", 1), numbers((2, 3), "float32", 2)]
    loops = subject(program, given, changed({})).staged.loops
    (nest,) = nests(loops)
    assert nest_text(schedules(nest, PROCESSOR)).splitlines()[-1] == f"in bounds if {', '.join(bounds)}"
    executable = compiled(LLVMBackend(2), loops)
    for size in (1, 9, 10, 12, 40):
        for rows, columns in ((2, 3), (1, 1), (4, 4), (5, 6), (6, 6), (7, 2), (0, 3), (3, 0)):
            xs = numbers((size,), "float32", 1)
            indices = [[place(i, k, columns) for k in range(columns)] for i in range(rows)]
            if wrong := [each for row in indices for each in row if not 0 <= each < size]:
                with pytest.raises(AccelIndexError, match=rf"index \({wrong[0]},\) is out of bounds"):
                    executable([xs, numbers((rows, columns), "float32", 2)])
                continue
            (found,) = executable([xs, numbers((rows, columns), "float32", 2)])
            assert found.tolist() == [sum(xs[each] for each in row) for row in indices]


@pytest.mark.parametrize("program", [by_weights, by_weights_of_last])
def test_indices_of_loops_that_run_as_one(program: Function) -> None:
    """Each of them comes with each other, so that windows are not checked one by one, nor are gathers of them."""
    given = [numbers((2, 6, 6, 6), "float32", 1), numbers((2, 4, 4, 4), "float32", 2)]
    loops = subject(program, given, changed({})).staged.loops
    (nest,) = nests(loops)
    _, bounds = without_checks(nest, reads=True)
    assert bounds
    assert not any(isinstance(each, Remap) for each in statements(without_checks(nest, reads=True)[0]))
    executable = compiled(LLVMBackend(2), loops)
    (found,), (expected,) = executable(given), interpret(loops, given)
    assert found.tobytes() == expected.tobytes()


def test_what_does_not_always_run_is_checked() -> None:
    """A choice and a filter decide whether an index is ever there."""

    def chosen(xs: Handle, ys: Handle) -> Handle:
        def element(ix: Any) -> Any:
            (i,) = A.unindex(ix)
            return A.cond(ys[i] > 0, xs[i + 1], 0)

        return A.generate(A.index(A.length(ys)), element)

    def filtered(xs: Handle, ys: Handle) -> Handle:
        kept, _ = A.filter(lambda y: y > 0, ys)
        return A.imap(lambda ix, y: y + xs[A.unindex(ix)[0] + 1], kept)

    def summed(xs: Handle, ys: Handle) -> Handle:
        kept, _ = A.filter(lambda y: y > 1, ys)
        return A.sum(A.map(lambda y: y + xs[3], kept))

    xs, ys = np.arange(3.0), np.array([1.0, 1.0, -1.0, -1.0])
    for program, wrong in ((chosen, -ys), (filtered, abs(ys)), (summed, 2 * ys)):
        expected = A.run(program(A.use(xs), A.use(ys)), backend="interpreter")
        np.testing.assert_array_equal(A.run(program(A.use(xs), A.use(ys))), expected)
        with pytest.raises(AccelIndexError, match=r"index \(3,\)"):
            A.run(program(A.use(xs), A.use(wrong)))
