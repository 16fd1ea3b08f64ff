"""Folds of short segments where the processor picks lanes of two registers: the reference's bits, on any processor.

Where there is no such instruction, a sequence of others stands for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from llvmlite import binding

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.llvm.emit.lanes import picking
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.segments.few_scans import Row
from accel.backends.llvm.states.segments.few_segments import InLanes
from accel.backends.llvm.text.code import Code
from accel.backends.protocol import HostArray
from tests import untyped
from tests.llvm.processors import changed

Floats = A.Acc[Any]  # Any: of any numbers

HAS_IT = host().processor.has_avx512


@pytest.fixture
def picked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the types of which lanes were picked; the instruction, or what stands for it."""
    seen: list[str] = []
    original = picking.from_two

    def from_two(code: Code, kind: ScalarType, tables: tuple[str, str], places: str) -> str:
        seen.append(kind.name)
        return original(code, kind, tables, places) if HAS_IT else _one_by_one(code, kind, tables, places)

    monkeypatch.setattr(host(), "processor", changed(has_avx512=True))
    monkeypatch.setattr(picking, "from_two", from_two)
    if not HAS_IT:
        # What stands for an instruction is a hundred. Of thousands of loads and stores in a block LLVM compares each with each,
        # which takes seconds; behind so many it leaves them in their order.
        binding.set_option("accel", "-dag-maps-huge-region=200")
    return seen


def _one_by_one(code: Code, kind: ScalarType, tables: tuple[str, str], places: str) -> str:
    word, lanes, scalar = f"i{8 * max(4, kind.bytes)}", code.lanes, code.at(1)
    vector, both = f"<{lanes} x {word}>", f"<{2 * lanes} x {word}>"
    order = ", ".join(f"i32 {lane}" for lane in range(2 * lanes))
    all_ = code.emit(f"shufflevector {vector} {tables[0]}, {vector} {tables[1]}, <{2 * lanes} x i32> <{order}>")
    found = "poison"
    for lane in range(lanes):
        place = scalar.emit(f"extractelement {vector} {places}, i64 {lane}")
        inside = scalar.emit(f"and {word} {place}, {2 * lanes - 1}")
        element = scalar.emit(f"extractelement {both} {all_}, {word} {inside}")
        found = code.emit(f"insertelement {vector} {found}, {word} {element}, i64 {lane}")
    return found


def agrees(function: Any, *arguments: HostArray) -> None:
    """`llvm` on one thread and on three gives the reference's bits."""
    wanted = untyped.runN(function, backend="interpreter")(*arguments)
    for threads in (1, 3):
        found = untyped.runN(function, backend="llvm", threads=threads)(*arguments)
        assert np.asarray(found).tobytes() == np.asarray(wanted).tobytes()


LENGTHS: Sequence[Sequence[int]] = [
    [(i * 7) % 5 for i in range(300)],
    [4] * 99,
    [2] * 96,  # what two registers just have room for, then one more, and what they are not trusted to have after that
    ([2] * 15 + [3]) * 5 + [1] * 400 + [4] * 32 + [2] * 100,
    [0] * 40,
    [(i * 7) % 5 + (i in (40, 41, 90, 150)) * 30 for i in range(200)],
    [3],
]


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.int64, np.int8, np.uint16, np.float16])
def test_sums(kind: type[np.generic], picked: list[str]) -> None:
    for lengths in LENGTHS:
        counts = np.array(lengths)
        xs = (np.random.default_rng(3).normal(size=counts.sum()) * 9).astype(kind)
        agrees(
            lambda x, n: A.foldSeg(A.add, 11, x, n), xs, counts
        )  # what no other test folds: it may be compiled already
    assert picked


def test_functions_of_elements_of_several_arrays(picked: list[str]) -> None:
    """Products are added in one rounding; all arrays are read at the same places."""
    counts = np.array(LENGTHS[0])
    draw = np.random.default_rng(4)
    xs, ys = (draw.normal(size=counts.sum()).astype(np.float32) for _ in range(2))
    agrees(lambda x, y, n: A.foldSeg(A.add, 0, A.zipWith(A.mul, x, y), n), xs, ys, counts)
    some = np.repeat([1, 4, 2, 3], 60)  # 600 in all, as above
    agrees(lambda x, y, n: A.fold1Seg(lambda a, b: a - b, A.zipWith(A.max, x, y), n), xs, ys, some)
    assert set(picked) == {"F32"}


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int32, np.int8])
@pytest.mark.parametrize("scan", [A.scanl1Seg, A.scanr1Seg, A.scanlSeg])
def test_scans(scan: Any, kind: type[np.generic], picked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Where segments begin is found out in lanes; of those with a seed one by one, as anywhere."""
    seen: list[InLanes] = []
    original = Row._bits_of_lanes

    def bits(row: Row, lanes: InLanes) -> str:
        seen.append(lanes)
        return original(row, lanes)

    monkeypatch.setattr(Row, "_bits_of_lanes", bits)
    seed = [0] if scan is A.scanlSeg else []
    for lengths in LENGTHS:
        counts = np.array(lengths)
        xs = (np.random.default_rng(5).normal(size=counts.sum()) * 9).astype(kind)
        agrees(lambda x, n: scan(A.add, *seed, x, n), xs, counts)
        agrees(lambda x, n: scan(A.max, *seed, x, n), xs, counts)
    assert bool(seen) == (scan is not A.scanlSeg)
