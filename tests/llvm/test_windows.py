"""Folds of windows, and of what is computed of indices: every number of elements gives the bits of the order."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.processor import Registers
from accel.backends.protocol import HostArray, compiled
from accel.ir import mentions
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Program
from accel.labelled.meaning.order import BLOCK
from accel.schedule.templates.columns import LONGEST_ROW, columns
from tests.llvm.processors import changed, compile_for
from tests.llvm.test_columns import numbers, program
from tests.llvm.test_guard_pages import flush, survives
from tests.marks import one_in

Given: TypeAlias = Any  # one function for arrays of several types

COUNTS = (1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 100, 127, 128, 129, 200)


def agree(given: Program, *sets: Sequence[HostArray]) -> None:
    """The bits are those of the loop interpreter."""
    backends = [compiled(backend, given) for backend in (LLVMBackend(1), LLVMBackend(3))]
    for arguments in sets:
        expected = interpret(given, arguments)
        for executable in backends:
            for right, got in zip(expected, executable(list(arguments)), strict=True):
                assert np.asarray(right, got.dtype).tobytes() == got.tobytes(), [each.shape for each in arguments]


def longest(given: Program) -> int | None:
    """Of the only nest, which runs in lanes of neighbouring results."""
    (nest,) = mentions.nests(given)
    found = columns(nest)
    assert found is not None
    return found.longest


def windows(x: A.Acc[Given], weights: A.Acc[Given]) -> A.Acc[Given]:
    """A filter of finite response: each result is a sum of neighbours."""
    count = A.length(weights)

    def product(ix: Given) -> Given:
        i, k = A.unindex(ix)
        return x[A.index(k + i)] * weights[A.index(count - 1 - k)]

    return A.sum(A.generate(A.index(A.length(x) - count + 1, count), product))


def folded(fold: Callable[[Given], Given], step: int = 1, back: int = 1) -> Callable[[Given, Given], Given]:
    """Windows of as many elements as the second array has, each `step` behind the one before."""

    def windows(x: Given, w: Given) -> Given:
        count = A.length(w)

        def element(ix: Given) -> Given:
            i, k = A.unindex(ix)
            start = i * step if step > 0 else (i - 269) * step
            return x[A.index(start + back * k if back > 0 else start - back * (count - 1 - k))]

        return fold(A.generate(A.index(270, count), element))

    return windows


def both(x: Given) -> Given:
    """Two folds at once, one of which has an order, of what nothing is known of."""
    return A.fold1(lambda p, q: A.lift(p[0] + q[0], A.min(p[1], q[1])), A.map(lambda e: A.lift(e * e, e), x))


def best(x: Given) -> Given:
    return A.argmax(x)


FOLDS: dict[str, Callable[[Given], Given]] = {
    "sum": A.sum,
    "product": lambda x: A.fold(A.mul, 0.5, x),
    "greatest": A.maximum,
    "both": both,
    "place": best,
    "after": lambda x: A.map(lambda e: e * 2 + 1, A.sum(x)),
    "heavy": lambda x: A.sum(
        A.map(lambda e: A.cond(e > 0, A.sqrt(A.abs(e) + 1) / (e * e + 2) + A.sqrt(e * e + 3), e / 3), x)
    ),
}


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize(("width", "number"), one_in(2, [(64, 32), (32, 16)]))
def test_windows(kind: str, width: int, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number of elements: a lane of the order has none, one, or some."""
    compile_for(monkeypatch, changed(registers=Registers(width, number)))
    given = program(windows(A.use(numbers((2,), kind)), A.use(numbers((2,), kind))))
    assert longest(given) == BLOCK
    sets = []
    for count in COUNTS:
        x, weights = numbers((300 + count,), kind, count), numbers((count,), kind, 1)
        x[:2], x[150], x[count + 160] = -0.0, np.inf, np.nan
        sets.append([x, weights])
    with np.errstate(invalid="ignore"):
        agree(given, *sets)
    x, weights = numbers((5000,), kind), numbers((7,), kind, 1)
    (got,) = compiled(LLVMBackend(2), given)([x, weights])
    np.testing.assert_allclose(
        np.asarray(got, "f8"), np.convolve(x.astype("f8"), weights.astype("f8"), "valid"), rtol=1e-3, atol=1
    )
    with pytest.raises(A.AccelError):
        A.run(windows(A.use(x[:3]), A.use(weights)))


@pytest.mark.parametrize("count", one_in(3, [BLOCK + 1, BLOCK, BLOCK - 1]))
def test_windows_of_a_block(count: int) -> None:
    """Those of more are rows."""
    x, weights = numbers((count + 256,)), numbers((count,), seed=1)
    got = A.runN(windows, threads=2)(x, weights)
    assert got.tobytes() == A.runN(windows, backend="interpreter")(x, weights).tobytes()


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("fold", one_in(2, [*FOLDS]))
def test_folds(kind: str, fold: str) -> None:
    def given_of(x: Given, w: Given) -> Given:
        return folded(FOLDS[fold])(x, w)

    given = program(given_of(A.use(numbers((300,), kind)), A.use(numbers((2,), kind))))
    agree(given, *[[numbers((500,), kind, count), numbers((count,), kind)] for count in (1, 2, 9, 31, 64, 70, 140)])


@pytest.mark.parametrize("kind", ["i4", "u1", "f2", "i8"])
def test_other_elements(kind: str) -> None:
    given = program(folded(A.sum)(A.use(numbers((300,), kind)), A.use(numbers((2,), kind))))
    agree(given, *[[numbers((500,), kind, count), numbers((count,), kind)] for count in (1, 3, 33, 70)])


@pytest.mark.parametrize(
    ("step", "back"), [(2, 1), (3, -1), (4, 1), (5, 2), (8, 1), (9, 1), (-1, 1), (-2, 3), (1, -1), (1, 4)]
)
@pytest.mark.parametrize("kind", one_in(2, ["f4", "f8", "i2"]))
def test_steps(step: int, back: int, kind: str) -> None:
    """Windows that begin further from each other are as short as is faster than rows."""
    given = program(folded(A.sum, step, back)(A.use(numbers((9000,), kind)), A.use(numbers((2,), kind))))
    assert longest(given) == (BLOCK if abs(step) == 1 else LONGEST_ROW)
    sets = []
    for count in (1, 3, 8, 33, 63, 64):
        size = 269 * abs(step) + abs(back) * (count - 1) + 1  # no more: what is loaded beside is not there
        sets.append([numbers((size,), kind, count), numbers((count,), kind)])
    agree(given, *sets)


@pytest.mark.parametrize("at_end", [False, True])
def test_nothing_beside_an_array_is_read(at_end: bool) -> None:
    def work() -> None:
        for step, back in ((1, 1), (2, 1), (3, -1), (8, 1), (-1, 1), (-3, 1)):
            given = program(folded(A.sum, step, back)(A.use(numbers((9000,))), A.use(numbers((2,)))))
            for count in (3, 33):
                arguments = [numbers((269 * abs(step) + count,)), numbers((count,))]
                (got,) = compiled(LLVMBackend(1), given)([flush(at_end, each, ScalarType.F32) for each in arguments])
                assert got.tobytes() == compiled(LLVMBackend(1), given)(arguments)[0].tobytes()

    survives(work)


def test_windows_of_rows() -> None:
    """Loops stand around, and neighbours are those of a row."""

    def smooth(m: Given, w: Given) -> Given:
        rows, columns = A.unlift(m.shape)
        count = A.length(w)

        def product(ix: Given) -> Given:
            i, j, k = A.unindex(ix)
            return m[A.index(i, j + k)] * w[A.index(k)]

        return A.zipWith(A.mul, A.sum(A.generate(A.index(rows, columns - count + 1, count), product)), scale(m, w))

    def scale(m: Given, w: Given) -> Given:
        rows, columns = A.unlift(m.shape)
        return A.generate(A.index(rows, columns - A.length(w) + 1), lambda ix: m[ix] + 1)

    given = program(smooth(A.use(numbers((9, 99))), A.use(numbers((3,)))))
    agree(
        given,
        *[[numbers((rows, 150)), numbers((count,))] for rows, count in ((1, 5), (5, 1), (7, 33), (3, 80), (0, 5))],
    )


def depthwise(last: bool) -> Callable[[Given, Given], Given]:
    """Each channel by weights of its own; channels stand last, or first."""

    def convolution(x: Given, w: Given) -> Given:
        side, count = 3, A.unlift(w.shape)[0 if last else 1]
        rows, columns = A.unlift(x.shape)[0 if last else 1], A.unlift(x.shape)[1 if last else 2]

        def product(ix: Given) -> Given:
            *at, t = A.unindex(ix)
            i, j, channel = at if last else (at[1], at[2], at[0])
            i, j = i + t // side, j + t % side
            return x[i, j, channel] * w[t, channel] if last else x[channel, i, j] * w[channel, t]

        channels = A.unlift(x.shape)[2 if last else 0]
        shape = (rows - 2, columns - 2)
        return A.sum(A.generate(A.index(*((*shape, channels, count) if last else (channels, *shape, count))), product))

    return convolution


@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("kind", one_in(1, ["f4", "f8"]))
def test_channels(last: bool, kind: str) -> None:
    """Several loops stand around, in rows of one strip and of several."""

    def given_of(x: Given, w: Given) -> Given:
        return depthwise(last)(x, w)

    given = program(given_of(A.use(numbers((5, 5, 5), kind)), A.use(numbers((9, 9), kind))))
    sets = []
    for rows, wide, channels, count in (
        (5, 6, 40, 9),
        (4, 23, 33, 4),
        (3, 3, 280, 9),
        (3, 280, 2, 9),
        (6, 5, 17, 1),
    ):
        shape = (rows, wide, channels) if last else (channels, rows, wide)
        weights = (count, channels) if last else (channels, count)
        sets.append([numbers(shape, kind, rows), numbers(weights, kind, 1)])
    agree(given, *sets)


@pytest.mark.parametrize("step", [1, 2])
@pytest.mark.parametrize("fold", ["sum", "greatest", "both"])
def test_folds_of_folds(fold: str, step: int) -> None:
    """Windows of two dimensions: what is folded of each row is folded again, with a map in between."""

    def pooled(x: Given, w: Given) -> Given:
        (high, wide), (rows, columns) = A.unlift(x.shape), A.unlift(w.shape)

        def element(ix: Given) -> Given:
            i, j, a, b = A.unindex(ix)
            return x[step * i + a, step * j + b]

        every = A.generate(A.index((high - rows) // step + 1, (wide - columns) // step + 1, rows, columns), element)
        inner = FOLDS[fold](every)
        return A.sum(A.map(lambda e: (e[0] + e[1] if fold == "both" else e) * 2 + 1, inner))

    given = program(pooled(A.use(numbers((9, 9))), A.use(numbers((2, 2)))))
    assert longest(given) == (BLOCK if step == 1 else None)
    shapes = ((2, 2), (3, 3), (1, 4), (5, 4), (7, 9), (8, 9))
    agree(given, *[[numbers((step * 3 + a, 90 * step + b), seed=a), numbers((a, b))] for a, b in shapes])


@pytest.mark.parametrize("kind", one_in(1, ["f4", "f8"]))
def test_windows_of_all_channels(kind: str) -> None:
    """A fold around those of two dimensions: the two innermost have code of their own, by how many elements they have."""

    def convolved(x: Given, w: Given) -> Given:
        (_, high, wide), (several, channels, rows, columns) = A.unlift(x.shape), A.unlift(w.shape)
        shape: tuple[Given, ...] = (several, high - rows + 1, wide - columns + 1, channels, rows, columns)

        def product(ix: Given) -> Given:
            k, i, j, c, a, b = A.unindex(ix)
            return x[c, i + a, j + b] * w[k, c, a, b]

        every: Given = A.generate(shape, product)
        return A.sum(A.sum(A.sum(every)))

    given = program(convolved(A.use(numbers((2, 4, 4), kind)), A.use(numbers((2, 2, 2, 2), kind))))
    assert longest(given) == BLOCK
    sets, shapes = [], [(1, 3, 3), (3, 2, 1), (7, 3, 5), (8, 3, 3), (33, 1, 3), (70, 2, 2), (2, 5, 9), (0, 2, 2)]
    for channels, high, wide in shapes:
        x = numbers((channels, high + 3, wide + 70), kind, channels)
        sets.append([x, numbers((2, channels, high, wide), kind, 1)])
    agree(given, *sets)


@pytest.mark.parametrize("kind", ["f4", "f8", "i4"])
def test_columns_of_few_rows(kind: str) -> None:
    """They are read side by side, and stay in registers."""
    given = program(A.sum(A.transpose(A.use(numbers((2, 2), kind)))))
    agree(given, *[[numbers((rows, 300), kind, rows)] for rows in (*range(1, 18), 33)])


def test_what_moves_otherwise_is_left_to_rows() -> None:
    def squares(x: Given) -> Given:
        def element(ix: Given) -> Given:
            i, k = A.unindex(ix)
            return x[A.index(i * i + k)]

        return A.sum(A.generate(A.index(20, 5), element))

    (nest,) = mentions.nests(program(squares(A.use(numbers((400,))))))
    assert columns(nest) is None


@pytest.mark.parametrize("factor", [float("nan"), 1e300, 2.5])
def test_numbers_that_are_no_index_take_no_steps(factor: float) -> None:
    """What they are multiplied by may be no integer."""

    def moved(x: Given) -> Given:
        def element(ix: Given) -> Given:
            i, k = A.unindex(ix)
            return x[A.index(i + k)] + A.toFloating(k, np.float64) * factor

        return A.sum(A.generate(A.index(A.length(x) - 4, 5), element))

    given = program(moved(A.use(numbers((2,), "f8"))))
    assert longest(given) == BLOCK
    agree(given, [numbers((300,), "f8")])


@pytest.mark.parametrize(("kind", "element_type"), [("f4", np.float32), ("f8", np.float64)])
def test_what_is_computed_of_indices(kind: str, element_type: type[np.floating[Any]]) -> None:
    """Nothing is read along the lanes, or what is read is each lane's own."""

    def near(x: A.Acc[Given], c: A.Acc[Given]) -> A.Acc[Given]:
        def element(ix: Given) -> Given:
            i, k = A.unindex(ix)
            near = A.toFloating(i, element_type) - c[A.index(k)]
            return A.lift(near * near * x[A.index(i)], A.cond(near < 0, near, c[A.index(k)]))

        every = A.generate(A.index(A.length(x), A.length(c)), element)
        return A.fold(
            lambda p, q: A.lift(p[0] + q[0], A.min(p[1], q[1])),
            A.lift(A.constant(0.5, element_type), A.constant(0.5, element_type)),
            every,
        )

    given = program(near(A.use(numbers((2,), kind)), A.use(numbers((2,), kind))))
    agree(given, *[[numbers((270,), kind), numbers((count,), kind, 1)] for count in (0, 1, 3, 16, 33, 63, 64, 100)])


PROGRAM = """
import sys
import numpy as np
import accel as A
from tests.llvm.test_columns import numbers
from tests.llvm.test_windows import windows

run = A.runN(windows, threads=1)
for count in map(int, sys.argv[1:]):
    print(run(numbers((500,)), numbers((count,), seed=1)).tobytes().hex())
"""


@pytest.mark.slow
def test_windows_of_a_program_found_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What windows need is compiled when they first come, also where the program had only few results before."""
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path))

    def lines(*counts: int) -> list[str]:
        command = [sys.executable, "-c", PROGRAM, *map(str, counts)]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()

    (long,) = lines(400)
    short, again = lines(7, 400)
    assert again == long
    assert lines(400, 7) == [long, short]
    assert len(short) == 8 * (500 - 7 + 1)
