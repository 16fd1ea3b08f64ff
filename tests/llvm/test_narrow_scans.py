"""Exact scans of every type, above all of bytes, have NumPy's results at every size and in every direction."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, F32, F64, I8, I16, I32, I64, U8, U16, ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.protocol import HostArray, compiled
from accel.ir.nodes import LoopDirection
from tests import untyped
from tests.llvm import nests
from tests.marks import one_in

Accumulate = Callable[..., HostArray]

UFUNCS: dict[Operator, np.ufunc] = {
    Operator.ADD: np.add,
    Operator.MUL: np.multiply,
    Operator.MIN: np.minimum,
    Operator.MAX: np.maximum,
    Operator.AND: np.bitwise_and,
    Operator.OR: np.bitwise_or,
    Operator.XOR: np.bitwise_xor,
}
BITS = (Operator.AND, Operator.OR, Operator.XOR)
EXTREMES = (Operator.MIN, Operator.MAX)
CASES = [
    *((kind, operator) for kind in (I8, U8, I16, U16) for operator in UFUNCS),
    *((BOOL, operator) for operator in (*EXTREMES, *BITS)),
    *((kind, operator) for kind in (F32, F64) for operator in EXTREMES),
    *((kind, operator) for kind in (I32, I64) for operator in (Operator.ADD, Operator.MIN)),
]
SIZES = (*range(301), 4095, 4096, 4097, 65535, 65536, 65537)

# NumPy's array types cannot say what these helpers take: arrays of any element type.
Vector = np.ndarray[Any, Any]


def elements(kind: ScalarType, count: int, seed: int = 0) -> Vector:
    """Elements of which products stay odd, and floats among which are all that minima and maxima must tell apart."""
    random = np.random.default_rng(seed)
    if kind.is_float:
        special = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.0], kind.dtype)
        chosen = np.where(random.random(count) < 0.01, random.choice(special, count), random.standard_normal(count))
        return np.asarray(chosen, kind.dtype)
    found = nests.numbers(kind, count, seed)
    return found if kind is BOOL else np.bitwise_or(found, kind.dtype.type(1))


def accumulated(
    operator: Operator, source: Vector, initial: object | None, order: LoopDirection, exclusive: bool
) -> Vector:
    """What the scan gives: as many results as elements."""
    row = source if order is LoopDirection.UP else source[::-1]
    if initial is not None:
        row = np.concatenate([np.array([initial], source.dtype), row])
    # Of minima and maxima NumPy gives either zero.
    row = np.where(row == 0, np.zeros_like(row), row) if row.dtype.kind == "f" else row
    found = UFUNCS[operator].accumulate(row, dtype=row.dtype) if len(row) else row
    if initial is not None:
        found = found[:-1] if exclusive else found[1:]
    return found if order is LoopDirection.UP else found[::-1]


@pytest.mark.parametrize("order", LoopDirection)
@pytest.mark.parametrize(("kind", "operator"), one_in(14, CASES))
def test_all_sizes(kind: ScalarType, operator: Operator, order: LoopDirection) -> None:
    for exclusive in (False, True):
        merge = nests.binary(operator, kind)
        program = nests.scan(kind, merge, 1, exact=True, seeded=exclusive, order=order, exclusive=exclusive)
        executables = [compiled(LLVMBackend(threads), program) for threads in (1, 2)]
        initial = kind.dtype.type(3) if exclusive else None
        for size in SIZES:
            source = elements(kind, size, size)
            expected = accumulated(operator, source, initial, order, exclusive)
            for executable in executables:
                np.testing.assert_array_equal(executable([source])[0], expected, f"{size} elements")


@pytest.mark.parametrize("guard", one_in(2, ["prefix", "positive"]))
@pytest.mark.parametrize("kind", one_in(4, [I8, U8, BOOL, I16]))
def test_guarded_scans(kind: ScalarType, guard: str) -> None:
    """The state is read everywhere, also where no step is made."""
    operator = Operator.OR if kind is BOOL else Operator.ADD
    if kind is BOOL and guard == "positive":
        return  # bools are not compared with zero
    program = nests.scan(kind, nests.binary(operator, kind), 1, exact=True, seeded=True, guard=guard, exclusive=True)
    for size in (*range(0, 200, 7), 300, 4097):
        arguments = [nests.numbers(kind, size, size)]
        if guard == "prefix":
            arguments.append(nests.numbers(BOOL, max(0, size - 70), 0))
        nests.agrees(program, arguments, (1,))


@pytest.mark.parametrize("operator", EXTREMES)
@pytest.mark.parametrize("kind", [F32, F64])
def test_signs_of_zeros(kind: ScalarType, operator: Operator) -> None:
    """-0.0 is less than 0.0, whichever comes first."""
    program = nests.scan(kind, nests.binary(operator, kind), 1, exact=True, seeded=False)
    for zeros in ([-0.0, 0.0, -0.0], [0.0, -0.0, 0.0], [-0.0] * 70):
        nests.agrees(program, [np.array(zeros, kind.dtype)])


SHAPES = ((3, 1), (5, 63), (7, 129), (2, 1000), (300, 301), (40, 4097), (4, 5, 67), (0, 5), (5, 0))


def _rows(source: Vector, form: str) -> Vector:
    """A scan of sums of the rows in NumPy, of integers that wrap."""
    backwards = form.startswith(("scanr", "postscanr", "prescanr"))
    rows = np.flip(source, -1) if backwards else source
    start = np.full((*source.shape[:-1], 1), 3, source.dtype)
    seeded = np.add.accumulate(np.concatenate([start, rows], -1), -1, dtype=source.dtype)
    if form in ("scanl1", "scanr1"):
        seeded = (seeded[..., 1:] - source.dtype.type(3)).astype(source.dtype)
    elif form in ("postscanl", "postscanr"):
        seeded = seeded[..., 1:]
    elif form in ("prescanl", "prescanr"):
        seeded = seeded[..., :-1]
    return np.flip(seeded, -1) if backwards else seeded


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kind", one_in(3, [I8, U16, I32]))
@pytest.mark.parametrize(
    "form", ["scanl", "scanr", "scanl1", "scanr1", "postscanl", "postscanr", "prescanl", "prescanr"]
)
def test_rows(form: str, kind: ScalarType, threads: int) -> None:
    # The names are the language's own; their types differ.
    combinator: Any = getattr(A, form)
    three = kind.dtype.type(3)

    def program(xs: Any) -> Any:
        return combinator(A.add, xs) if form.endswith("1") else combinator(A.add, three, xs)

    for rank in (2, 3):
        run = untyped.runN(program, backend="llvm", threads=threads)
        for shape in (shape for shape in SHAPES if len(shape) == rank):
            source = np.asarray(nests.numbers(kind, int(np.prod(shape)), 1).reshape(shape))
            np.testing.assert_array_equal(run(source), _rows(source, form))


@pytest.mark.parametrize("threads", [1, 2])
def test_totals_and_maps(threads: int) -> None:
    """What comes before and after a scan is in its loop, and several scans are in one."""

    def program(xs: A.Acc[A.Matrix[np.int8]]) -> tuple[Any, ...]:
        doubled = A.map(lambda x: x * 2 + 1, xs)
        sums, totals = A.scanlTotal(A.add, np.int8(5), doubled)
        wide = A.scanl1(A.add, A.map(lambda x: A.fromIntegral(x, np.int32), xs))
        highest = A.scanr1(A.max, doubled)
        return A.map(lambda x: x ^ 3, sums), totals, wide, highest

    run = untyped.runN(program, backend="llvm", threads=threads)
    for shape in ((3, 1), (5, 64), (7, 129), (300, 301)):
        source = np.asarray(nests.numbers(I8, shape[0] * shape[1], 2).reshape(shape), np.int8)
        doubled = (source * np.int8(2) + np.int8(1)).astype(np.int8)
        running = np.add.accumulate(doubled, 1, dtype=np.int8) + np.int8(5)
        before = np.concatenate([np.full((shape[0], 1), 5, np.int8), running[:, :-1]], 1)
        results = run(source)
        np.testing.assert_array_equal(results[0], before ^ np.int8(3))
        np.testing.assert_array_equal(results[1], running[:, -1])
        np.testing.assert_array_equal(results[2], np.add.accumulate(source, 1, dtype=np.int32))
        np.testing.assert_array_equal(results[3], np.flip(np.maximum.accumulate(np.flip(doubled, 1), 1), 1))


def test_pairs() -> None:
    """Each component of a tuple is scanned in its own type."""

    def both(a: Any, b: Any) -> Any:
        return A.lift(a[0] + b[0], A.max(a[1], b[1]), a[2] | b[2])

    def program(xs: Any, ys: Any, zs: Any) -> Any:
        return A.unzip3(A.scanl1(both, A.zip3(xs, ys, zs)))

    run = untyped.runN(program, backend="llvm", threads=1)
    for size in (1, 63, 64, 65, 300, 4097):
        xs, ys, zs = (nests.numbers(kind, size, k) for k, kind in enumerate((I8, F64, BOOL)))
        expected = np.add.accumulate(xs, dtype=np.int8), np.maximum.accumulate(ys), np.logical_or.accumulate(zs)
        for got, right in zip(run(xs, ys, zs), expected, strict=True):
            np.testing.assert_array_equal(got, right)


def _kernel(program: A.Acc[Any]) -> str:
    return A.explain(program).stages["llvm"]


def test_bytes_are_scanned_in_whole_registers() -> None:
    source = A.use(np.zeros(10, np.int8))
    assert "add <64 x i8>" in _kernel(A.scanl1(A.add, source))
    assert "add <64 x i8>" in _kernel(A.scanr(A.add, np.int8(0), source))
    assert "@llvm.smax.v64i8(" in _kernel(A.scanl(A.max, np.int8(0), source))
    assert "mul <32 x i16>" in _kernel(A.scanl1(A.mul, source))
    text = _kernel(A.scanl1(lambda a, b: a | b, A.use(np.zeros(9, bool))))
    assert "or <64 x i8>" in text
    assert not re.search(r"shufflevector <\d+ x i1> %", text)


def test_backward_scans_of_floats_are_vectors() -> None:
    """The first result of an exclusive scan from the right stands behind all elements."""
    assert "fadd <8 x float>" in _kernel(A.scanr(A.add, np.float32(0), A.use(np.zeros(10, np.float32))))


@pytest.mark.parametrize("kind", one_in(2, [np.uint8, np.int16, np.int32, np.float32, np.int64, np.float64]))
def test_a_fold_in_order_packs_what_takes_several_registers(kind: type[Any]) -> None:
    """A fold that does not commute packs beside an exclusive scan, whose last turn has no element."""

    def program(xs: A.Acc[A.Vector[Any]]) -> tuple[A.Acc[Any], A.Acc[Any]]:
        return A.scanl(A.max, A.constant(5, kind), xs), A.foldAll(lambda a, _: a, A.constant(16, kind), xs)

    run = untyped.runN(program, backend="llvm", threads=1)
    for count in (0, 1, 2, 3, 9, 31, 32, 33, 64, 65, 100, 1000, 4097):
        xs = (np.arange(count) * 7 % 100).astype(kind)
        scanned, first = run(xs)
        assert np.array_equal(scanned, np.maximum.accumulate(np.concatenate([[5], xs])))
        assert first == 16
