"""Scans down columns: every strip, group and edge gives the bits of the order, and nests that do not suit are left to rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.templates.column_scans import ScanStrips
from accel.backends.protocol import HostArray, compiled
from accel.explanation.explain import subject
from accel.ir.lowering.lower import lower
from accel.ir.meaning.interpret import interpret
from accel.ir.mentions import nests
from accel.ir.nodes import Program
from accel.ir.passes.layouts import laid_out
from accel.labelled.meaning import order
from accel.schedule.templates.column_scans import ColumnScans, column_scans
from accel.schedule.templates.ways import Finding
from accel.settings import Settings, changed
from tests import untyped
from tests.llvm.nests import SCALES
from tests.marks import one_in

Given: TypeAlias = Any  # one function for arrays of several types

SHAPES = [
    (20, 8),
    (33, 15),
    (1, 16),
    (2, 17),
    (7, 31),
    (8, 64),
    (9, 65),
    (15, 40),
    (16, 33),
    (130, 20),
    (4096, 16),
    (4097, 18),
    (0, 20),
    (20, 0),
    (9, 3),
]


def forced(text: NestText, found: Finding) -> Sequence[ScanStrips]:
    """Strips of two vectors, so that small arrays have several."""
    return [ScanStrips(text, found, vectors=2)] if isinstance(found, ColumnScans) else []


def program(function: Callable[..., Given], *arguments: HostArray) -> Program:
    """Of a function of arrays; some nest of it is scanned by columns."""
    made = subject(function, arguments, Settings()).staged.loops
    assert any(column_scans(nest) is not None for nest in nests(made))
    return made


def agree(function: Callable[..., Given], *sets: Sequence[HostArray]) -> None:
    """Narrow strips, and what is chosen, give the loop interpreter's bits for each set of arguments."""
    given = program(function, *sets[0])
    expected = [interpret(given, arguments) for arguments in sets]
    for backend in (LLVMBackend(2, forced), LLVMBackend(8)):
        executable = compiled(backend, given)
        for arguments, results in zip(sets, expected, strict=True):
            for right, got in zip(results, executable(arguments), strict=True):
                assert np.asarray(right, got.dtype).tobytes() == got.tobytes(), f"{got} instead of {right}"


def numbers(shape: tuple[int, ...], kind: str = "f4", seed: int = 0) -> Given:
    """Numbers whose sums round, wrap or repeat."""
    random = np.random.default_rng(seed)
    if kind == "?":
        return random.random(shape) < 0.5
    return np.asarray(random.standard_normal(shape) * SCALES[random.integers(6, size=shape)]).astype(kind)


def down(scan: Callable[[Given], Given]) -> Callable[[Given], Given]:
    """A scan of rows, of columns."""
    return lambda m: A.transpose(scan(A.transpose(m)))


def sums(m: A.Acc[Given]) -> A.Acc[Given]:
    return A.scanl1(A.add, m)


@pytest.mark.parametrize("kind", ["f4", "f8", "i4"])
def test_running_sums(kind: str) -> None:
    """The definition of the order, of whole rows at once."""
    given = program(down(sums), numbers((2, 2), kind))
    every = [compiled(backend, given) for backend in (LLVMBackend(2, forced), LLVMBackend(8), LLVMBackend(1))]
    for shape in SHAPES:
        m = numbers(shape, kind)
        expected = np.array([*order.scan(list(m), np.add, None)], kind).reshape(shape)
        for each in every:
            assert each([m])[0].tobytes() == expected.tobytes()


def scanned_to_the_end(m: A.Acc[Given]) -> tuple[A.Acc[Given], ...]:
    every, totals = A.scanlTotal(A.add, 0.25, A.transpose(m))
    return A.transpose(every), totals


FORMS: dict[str, Callable[[Given], Given]] = {
    "scanl": down(lambda m: A.scanl(A.add, 0.5, m)),
    "scanr": down(lambda m: A.scanr(A.add, 0.5, m)),
    "scanr1": down(lambda m: A.scanr1(A.add, m)),
    "prescanl": down(lambda m: A.prescanl(A.add, 0.5, m)),
    "postscanl": down(lambda m: A.postscanl(A.add, 0.5, m)),
    "postscanr": down(lambda m: A.postscanr(A.add, 0.5, m)),
    "does not commute": down(lambda m: A.scanl1(lambda a, b: a * 0.5 + b, m)),
    "from the right, does not commute": down(lambda m: A.scanr(lambda a, b: a * 0.5 + b, 2.0, m)),
    "total": scanned_to_the_end,
    "maxima": down(lambda m: A.scanl1(A.max, m)),
    "minima from a seed": down(lambda m: A.scanr(A.min, 1.0, m)),
    "between maps": down(lambda m: A.map(A.sqrt, A.scanl1(A.add, A.map(lambda x: x * x, m)))),
    "a scan of a scan": down(lambda m: A.scanl1(A.max, A.scanl1(A.add, m))),
}


@pytest.mark.parametrize("form", one_in(2, list(FORMS)))
def test_forms(form: str) -> None:
    agree(FORMS[form], *([numbers(shape)] for shape in ((1, 16), (7, 31), (8, 33), (41, 16))))


@pytest.mark.parametrize("form", one_in(3, ["scanl", "scanr", "from the right, does not commute"]))
def test_several_blocks(form: str) -> None:
    agree(FORMS[form], [numbers((4101, 17))])


@pytest.mark.parametrize("kind", one_in(2, ["u1", "i2", "i8", "?", "f8"]))
def test_exact_scans(kind: str) -> None:
    merge: Given = (lambda a, b: a ^ b) if kind == "?" else A.max
    agree(down(lambda m: A.scanl1(merge, m)), [numbers((5, 64), kind)], [numbers((77, 130), kind)])


def test_pairs() -> None:
    """Several leaves in one scan: a value and how many there were."""

    def both(m: A.Acc[Given]) -> A.Acc[Given]:
        def added(a: Given, b: Given) -> Given:
            return A.lift(A.fst(a) + A.fst(b), A.snd(a) + A.snd(b))

        pairs = A.map(lambda x: A.lift(x, A.constant(1, np.int16)), A.transpose(m))
        return A.transpose(A.map(lambda t: A.fst(t) / A.cast(A.snd(t), np.float32), A.scanl1(added, pairs)))

    agree(both, [numbers((7, 64))], [numbers((43, 37))])


def test_a_seed_and_a_weight_of_each_column_and_row() -> None:
    def function(m: A.Acc[Given], v: A.Acc[Given], w: A.Acc[Given]) -> A.Acc[Given]:
        rows, columns = A.unindex(m.shape)
        weighted = A.zipWith(A.mul, A.transpose(m), A.replicate((columns, A.All), v))
        scanned = A.scanl1(A.add, weighted)
        return A.transpose(A.zipWith(A.add, scanned, A.replicate((A.All, rows), w)))

    agree(function, [numbers((19, 35)), numbers((19,), seed=1), numbers((35,), seed=2)])


@pytest.mark.parametrize("axes", [(-2, -1), (-3, -1)])
def test_outer_dimensions(axes: tuple[int, int]) -> None:
    shapes = ((3, 9, 18), (2, 4, 33), (20, 2, 16), (5, 3, 0))

    def scanned(t: A.Acc[Given]) -> A.Acc[Given]:
        return A.transposeOn(*axes, A.scanl1(A.add, A.transposeOn(*axes, t)))

    agree(scanned, *([numbers(shape)] for shape in shapes))


def test_strides_between_rows() -> None:
    base = numbers((280, 64))
    strides = [(step * base.strides[0], base.strides[1]) for step in (-1, 0, 2)]
    agree(down(sums), *([np.lib.stride_tricks.as_strided(base[70:], (70, 40), each)] for each in strides))


@pytest.mark.long
def test_results_that_go_past_the_caches() -> None:
    m = numbers((9000, 1024), "f4")
    expected = np.array([*order.scan(list(m), np.add, None)])
    for threads in (1, 2):
        assert A.runN(down(sums), threads=threads)(m).tobytes() == expected.tobytes()


def test_within_a_loop_and_a_branch() -> None:
    """Their programs have arrays of their own."""

    def function(m: A.Acc[Given]) -> A.Acc[Given]:
        turned = A.iterate(3, lambda x: A.map(lambda e: e / 2, down(sums)(x)), m)
        return A.acond(A.the(A.sum(A.flatten(m))) > 0, down(sums)(turned), turned)

    m = np.abs(numbers((20, 40)))
    expected = A.run(function(A.use(m)), backend="interpreter")
    assert A.run(function(A.use(m)), backend="llvm").tobytes() == expected.tobytes()


def test_an_index_that_is_out_of_bounds_is_the_rows_error() -> None:
    m = A.use(numbers((70, 40)))
    beyond = A.generate((40, 71), lambda ix: m[A.unindex(ix)[1], A.unindex(ix)[0]])
    with pytest.raises(A.AccelIndexError, match=r"\(70, 0\)"):
        untyped.run(A.transpose(A.scanl1(A.add, beyond)), backend="llvm")


def test_a_nan_is_found_where_it_is_made() -> None:
    m = np.ones((5, 20), np.float32)
    m[3, 7] = np.inf
    m[4, 7] = -np.inf
    with A.using(checks="all"), pytest.raises(A.AccelNaNError, match="scanl1"):
        A.run(down(sums)(A.use(m)), backend="llvm")


def kept(m: A.Acc[Given]) -> tuple[A.Acc[Given], ...]:
    """What is scanned is a result, too, as it is."""
    scanned = A.scanl1(A.add, A.transpose(m))
    return A.transpose(scanned), scanned


@pytest.mark.parametrize("function", [kept, sums, lambda m: A.transpose(A.scanl1(A.add, m))])
def test_what_is_left_to_rows(function: Callable[[Given], Given]) -> None:
    staged = subject(function, [numbers((20, 20))], Settings()).staged
    assert all(column_scans(nest) is None for nest in nests(staged.loops))
    assert lower(staged.fused, layouts=False) == staged.loops


def test_layouts_change_nothing_but_memory() -> None:
    """A program that is laid out anew is the same program; laid out again it stays."""
    m = numbers((20, 20))
    made = subject(FORMS["scanl"], [m], changed({"strategy": "none"})).staged.loops
    assert laid_out(made) == made
    (expected,) = [A.run(FORMS["scanl"](A.use(m)), backend="interpreter")]
    assert interpret(made, [m])[0].tobytes() == expected.tobytes()
