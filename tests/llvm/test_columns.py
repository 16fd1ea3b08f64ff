"""Folds down columns: every strip, part and edge gives the bits of the order, and nests that do not suit are left to rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.loops.alternatives import Alternatives
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.machine.processor import Registers
from accel.backends.llvm.templates.columns import ColumnStrips
from accel.backends.llvm.templates.strips.accumulators import StripFold
from accel.backends.parameters import leaves
from accel.backends.protocol import HostArray, compiled
from accel.explanation.explain import subject
from accel.ir import mentions
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Program
from accel.labelled.meaning import order
from accel.schedule.templates.columns import Columns, columns
from accel.schedule.templates.ways import Finding
from accel.settings import Settings
from tests.llvm import nests
from tests.llvm.processors import changed, compile_again, compile_for
from tests.marks import one_in

Given: TypeAlias = Any  # one function for arrays of several types

SHAPES = [
    (1, 1), (2, 3), (3, 16), (63, 17), (64, 31), (65, 33), (127, 15), (128, 16), (129, 47), (513, 20), (4095, 8), (4096, 19),
    (4097, 34), (8195, 16), (12289, 9), (7, 1031), (0, 20), (20, 0),
]  # fmt: skip


PARTIAL_BYTES = 1 << 13
"""Of the results of parts, for arrays that are not large."""


def forced(*, narrow: bool) -> Alternatives:
    """Strips of two vectors and parts of a block, so that small arrays have several of both."""

    def alternatives(text: NestText, found: Finding) -> Sequence[ColumnStrips]:
        return [ColumnStrips(text, found, narrow=narrow, vectors=2, blocks=1)] if isinstance(found, Columns) else []

    return alternatives


def program(given: A.Acc[Given] | tuple[A.Acc[Given], ...]) -> Program:
    return subject(given, (), Settings()).staged.loops


def gives(given: Program, sets: Sequence[Sequence[HostArray]], expected: Sequence[Sequence[HostArray]]) -> None:
    """Both kinds of strips, and what is chosen, give these bits for each set of arguments."""
    nests.each_has(given, Columns)
    for backend in (LLVMBackend(2, forced(narrow=True)), LLVMBackend(3, forced(narrow=False)), LLVMBackend(1)):
        executable = compiled(backend, given)
        for arguments, results in zip(sets, expected, strict=True):
            for right, got in zip(results, executable(arguments), strict=True):
                assert np.asarray(right, got.dtype).tobytes() == got.tobytes(), f"{got} instead of {right}"


def agree(given: Program, *sets: Sequence[HostArray]) -> None:
    """The same, where the bits are those of the loop interpreter."""
    gives(given, sets, [interpret(given, arguments) for arguments in sets])


def numbers(shape: tuple[int, ...], kind: str = "f4", seed: int = 0) -> Given:
    """Numbers whose sums round, wrap or repeat."""
    random = np.random.default_rng(seed)
    if kind == "?":
        return random.random(shape) < 0.5
    return np.asarray(random.standard_normal(shape) * nests.SCALES[random.integers(6, size=shape)]).astype(kind)


def column_sums(m: A.Acc[Given]) -> A.Acc[Given]:
    return A.sum(A.transpose(m))


@pytest.mark.parametrize("kind", ["f4", "f8", "i4"])
def test_sums(kind: str) -> None:
    """The definition of the order, of whole rows at once."""
    sets = [numbers(shape, kind) for shape in SHAPES]
    width = order.lanes([ScalarType.F64 if kind == "f8" else ScalarType.F32])
    expected = [np.zeros(m.shape[1:], kind) + (order.fold(list(m), np.add, True, width) if len(m) else 0) for m in sets]
    gives(program(column_sums(A.use(numbers((2, 2), kind)))), [[m] for m in sets], [[e] for e in expected])


@pytest.mark.parametrize("kind", ["f4", "f8"])
@pytest.mark.parametrize("registers", [(32, 16), (64, 32)])
def test_few_rows(kind: str, registers: tuple[int, int], monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number of them: of sums of products, which are fused, beside products, which show a zero's sign."""
    compile_for(monkeypatch, changed(registers=Registers(*registers)))

    def both(m: A.Acc[Given], weights: A.Acc[Given]) -> A.Acc[Given]:
        weighted = A.zipWith(A.mul, A.transpose(m), A.replicate((A.shape(m)[1], A.All), weights))
        return A.fold(
            lambda p, q: A.lift(A.fst(p) + A.fst(q), A.snd(p) * A.snd(q)), (-0.0, 1.0), A.zip(weighted, A.transpose(m))
        )

    def weighted(m: A.Acc[Given], weights: A.Acc[Given]) -> A.Acc[Given]:
        return A.sum(A.zipWith(A.mul, A.transpose(m), A.replicate((A.shape(m)[1], A.All), weights)))

    sets = []
    for count in (*range(1, 35, 3), 32, 33, 47, 63, 64, 65, 66, 95, 96, 97, 127, 128, 129, 192):
        m = numbers((count, 37), kind, count)
        m[:, 0], m[::3, 1], m[count // 2, 2], m[-1, 3] = -0.0, 0.0, np.nan, np.inf
        sets.append([m, numbers((count,), kind, 1)])
    with np.errstate(invalid="ignore"):
        for function in (both, weighted):
            agree(program(function(A.use(sets[0][0]), A.use(sets[0][1]))), *sets)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_strips_and_parts_for_every_number_of_threads(threads: int) -> None:
    """Large enough to be cut: few columns into parts, many into strips, both into both."""
    executable = compiled(LLVMBackend(threads), program(column_sums(A.use(numbers((2, 2))))))
    for shape in ((70000, 9), (20000, 150), (4100, 3000), (300, 9000)):
        m = numbers(shape)
        expected = np.zeros(shape[1], "f4") + order.fold(list(m), np.add, True, 64)
        (got,) = executable([m])
        assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("threads", [2, 8])
def test_pieces_of_the_only_block(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lanes of the order, or rows of what any order serves: of whole rows, and of strips."""
    compile_for(monkeypatch, changed(registers=Registers(64, 32)))
    sums, largest = (
        program(f(A.use(numbers((2, 2))))) for f in (column_sums, lambda m: A.fold1(A.max, A.transpose(m)))
    )
    of_both = program(several(A.use(numbers((2, 2)))))
    for rows, wide in ((512, 700), (2048, 1000), (1025, 4500), (4095, 650)):
        m = numbers((rows, wide))
        expected = np.zeros(wide, "f4") + order.fold(list(m), np.add, True, 64)
        (got,) = compiled(LLVMBackend(threads), sums)([m])
        assert got.tobytes() == expected.tobytes()
        (got,) = compiled(LLVMBackend(threads), largest)([m])
        assert got.tobytes() == m.max(axis=0).tobytes()
        for one, other in zip(*(compiled(LLVMBackend(t), of_both)([m]) for t in (1, threads)), strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("wide", [672, 4 * 672])
def test_parts_have_room_for_their_results(wide: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What would stand behind the room is not written here, so the bits show it."""
    leave = StripFold.leave

    def within(fold: StripFold, partials: str, vectors: str) -> None:
        code, lanes = fold._strip.routine.code, fold._strip.writer.lanes
        end, room = code.emit(f"add i64 {vectors}, {fold._strip.count}"), PARTIAL_BYTES // (lanes * 4)
        with fold._strip.routine.when(code.emit(f"icmp sle i64 {end}, {room}")):
            leave(fold, partials, vectors)

    monkeypatch.setattr("accel.backends.llvm.templates.columns.PARTIAL_BYTES", PARTIAL_BYTES)
    monkeypatch.setattr(StripFold, "leave", within)
    compile_again(monkeypatch)
    m = numbers((8200, wide))
    expected = np.zeros(wide, "f4") + order.fold(list(m), np.add, True, 64)
    (got,) = compiled(LLVMBackend(4), program(column_sums(A.use(numbers((2, 2))))))([m])
    assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("kind", one_in(2, ["u1", "i2", "i8", "?", "f8"]))
def test_exact_folds(kind: str) -> None:
    sets = [numbers(shape, kind) for shape in ((5, 64), (300, 130), (9000, 65))]
    merge: Given = (lambda a, b: a ^ b) if kind == "?" else A.max
    reduce = np.logical_xor if kind == "?" else np.maximum
    given = program(A.fold1(merge, A.transpose(A.use(numbers((2, 2), kind)))))
    gives(given, [[m] for m in sets], [[reduce.reduce(m, axis=0)] for m in sets])


def added(a: Given, b: Given) -> Given:
    return A.lift(A.fst(a) + A.fst(b), A.snd(a) + A.snd(b))


def pairs(m: A.Acc[Given]) -> A.Acc[Given]:
    both = A.map(lambda x: A.lift(x, x * x), A.transpose(m))
    return A.map(lambda t: A.fst(t) / A.snd(t), A.fold(added, (0.5, -1.0), both))


def deviations(m: A.Acc[Given]) -> A.Acc[Given]:
    rows = A.unindex(m.shape)[0]
    means = A.map(lambda s: s / A.cast(rows, np.float32), column_sums(m))
    return column_sums(A.zipWith(lambda x, u: (x - u) * (x - u), m, A.replicate((rows, A.All), means)))


def several(m: A.Acc[Given]) -> tuple[A.Acc[Given], ...]:
    t = A.transpose(m)
    return A.sum(t), A.fold1(A.max, t), A.fold(A.mul, 2.0, A.map(lambda x: A.cond(x > 0, 1.0 + x / 1024, 1.0), t))


def chosen_columns(m: A.Acc[Given]) -> A.Acc[Given]:
    """Rows are gathered by an index that depends on the row."""
    rows, width = A.unindex(m.shape)
    return column_sums(A.generate((rows, width), lambda ix: m[(A.unindex(ix)[0] * 7) % rows, A.unindex(ix)[1]]))


def weighted(m: A.Acc[Given]) -> A.Acc[Given]:
    """Conditionals, the index itself, and a vector along the rows."""
    rows, width = A.unindex(m.shape)

    def element(ix: Given) -> Given:
        i, j = A.unindex(ix)
        return A.cond(i % 3 == j % 3, m[i, j], A.cast(i - j, np.float32) / 7)

    return column_sums(A.generate((rows, width), element))


@pytest.mark.parametrize("function", [pairs, deviations, several, chosen_columns, weighted])
def test_producers_and_consumers(function: Callable[[Given], Given]) -> None:
    agree(program(function(A.use(numbers((2, 2))))), *[[numbers(s)] for s in ((1, 17), (65, 33), (200, 16))])


def softmax(rows: A.Acc[Given]) -> A.Acc[Given]:
    """With roots, whose bits are the same everywhere."""
    length = A.unindex(rows.shape)[1]
    powers = A.zipWith(lambda x, most: A.sqrt(most - x + 1), rows, A.replicate((A.All, length), A.fold1(A.max, rows)))
    return A.zipWith(A.div, powers, A.replicate((A.All, length), A.sum(powers)))


def behind_the_greatest(rows: A.Acc[Given]) -> A.Acc[Given]:
    made = A.map(lambda x: A.sqrt(A.abs(x)), rows)
    where = A.replicate((A.All, A.unindex(rows.shape)[1]), A.argmax(made))
    return A.zipWith(lambda x, i: x - A.cast(i, np.float32), made, where)


@pytest.mark.parametrize("function", [softmax, behind_the_greatest])
def test_columns_of_what_is_kept(function: Callable[[Given], Given]) -> None:
    """What a fold down columns makes beside its results lies as it is made and read: nothing is visited across."""
    given = program(A.transpose(function(A.transpose(A.use(numbers((2, 3)))))))
    (leaf,) = leaves(given)
    matrices = [array for nest in mentions.nests(given) for array in mentions.arrays(nest) if len(array.shape) > 1]
    assert {array.shape for array in matrices} == {leaf.shape}
    for shape in ((1, 17), (2, 33), (65, 40), (130, 5), (3, 0)):
        expected = interpret(given, [numbers(shape)])[0]
        for backend in (LLVMBackend(2, forced(narrow=True)), LLVMBackend(3, forced(narrow=False)), LLVMBackend(1)):
            assert compiled(backend, given)([numbers(shape)])[0].tobytes() == expected.tobytes()


def test_vector_times_matrix() -> None:
    for shape in ((1, 16), (165, 33)):
        m, v = numbers(shape), numbers(shape[:1], seed=1)
        rows = A.replicate((shape[1], A.All), A.use(v))
        agree(program(A.sum(A.zipWith(A.mul, A.transpose(A.use(m)), rows))), [m, v])


@pytest.mark.parametrize(
    "order",
    [
        lambda t: A.transposeOn(-2, -1, t),
        lambda t: A.transposeOn(-3, -1, t),
        lambda t: A.transposeOn(-2, -1, A.transposeOn(-3, -1, t)),
        lambda t: A.transposeOn(-2, -1, A.transposeOn(-3, -2, t)),
    ],
)
def test_middle_dimensions(order: Callable[[Given], Given]) -> None:
    shapes = ((3, 4, 17), (2, 70, 18), (1, 1, 16), (5, 3, 0), (70, 2, 20))
    agree(program(A.sum(order(A.use(numbers((2, 2, 2)))))), *[[numbers(shape)] for shape in shapes])


def test_two_dimensions() -> None:
    """Two folds, one inside of the other."""
    t = numbers((70, 5, 18))
    agree(program(A.sum(A.sum(A.transposeOn(-3, -1, A.use(t))))), [t])


@pytest.mark.parametrize("step", [-1, 0, 2])
def test_strides_between_rows(step: int) -> None:
    given = program(column_sums(A.use(numbers((70, 40)))))
    base = numbers((280, 64))
    view = np.lib.stride_tricks.as_strided(base[70:], (70, 40), (step * base.strides[0], base.strides[1]))
    agree(given, [view])


def test_an_index_that_is_out_of_bounds_is_the_rows_error() -> None:
    m = A.use(numbers((70, 40)))
    given = column_sums(A.generate((71, 40), lambda ix: m[A.unindex(ix)[0], A.unindex(ix)[1]]))
    with pytest.raises(A.AccelIndexError, match=r"\(70, 0\)"):
        A.run(given, backend="llvm")


def rows(m: A.Acc[Given]) -> A.Acc[Given]:
    return A.sum(m)


def both_ways(m: A.Acc[Given]) -> A.Acc[Given]:
    return A.sum(A.zipWith(A.mul, m, A.transpose(m)))


@pytest.mark.parametrize("function", [rows, both_ways])
def test_what_is_left_to_rows(function: Callable[[Given], Given]) -> None:
    (launch,) = program(function(A.use(numbers((20, 20))))).steps
    assert columns(launch.nest) is None  # type: ignore[union-attr]  # a launch
