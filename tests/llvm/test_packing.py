"""What a filter keeps is moved to the front of a vector: as this processor does, and as one of AVX2 does, by a table."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.llvm.emit.lanes import packing
from accel.backends.llvm.machine.processor import Registers
from accel.backends.llvm.machine.system import is_x86
from accel.backends.llvm.machine.target import host
from tests import untyped
from tests.llvm.processors import changed, compile_again

KINDS = [kind for kind in ScalarType if kind is not ScalarType.BOOL]


@pytest.fixture
def with_avx2(monkeypatch: pytest.MonkeyPatch) -> None:
    if not is_x86() or host().processor.registers.bytes < 32:
        pytest.skip("the processor has no AVX2")
    compile_again(monkeypatch)
    shorter = changed(registers=Registers(32, 16), has_avx512=False)
    monkeypatch.setattr(packing, "host", lambda: SimpleNamespace(processor=shorter))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.usefixtures("with_avx2")
def test_by_a_table(kind: ScalarType) -> None:
    kept = untyped.runN(
        lambda xs, flags: A.filter(A.snd, A.zip(xs, A.map(lambda flag: flag != 0, flags)))[0], threads=1
    )
    random = np.random.default_rng(3)
    for count in (0, 1, 15, 64, 1000):
        xs = random.integers(0, 120, count).astype(kind.dtype)
        for flags in (random.integers(0, 2, count), np.zeros(count, np.int64), np.ones(count, np.int64)):
            np.testing.assert_array_equal(kept(xs, flags)[0], xs[flags != 0])


@pytest.mark.usefixtures("with_avx2")
def test_what_is_folded_is_packed_by_a_table() -> None:
    """More than a tile of it, which is packed register by register, by conditions on elements as wide, wider and narrower."""
    random = np.random.default_rng(3)
    total = untyped.runN(
        lambda xs, keys: A.fold(A.add, 0, A.map(A.fst, A.filter(lambda p: p[1] > 3, A.zip(xs, keys))[0])), threads=1
    )
    for element in (np.float32, np.float64):
        for key in (np.float32, np.float64, np.int8):
            for count in (0, 1, 15, 64, 1000, 20_000):
                xs, keys = random.integers(-20, 20, count).astype(element), random.integers(-20, 20, count).astype(key)
                assert total(xs, keys) == xs[keys.astype(np.int64) > 3].sum()


@pytest.mark.parametrize("lanes", [4, 8])
def test_rows_of_the_table_are_permutations(lanes: int) -> None:
    for mask in range(1 << lanes):
        words = [
            int(word.removeprefix("i8 ")) for word in packing._row(mask, lanes).strip("<>").split("<")[1].split(", ")
        ]
        assert sorted(words) == list(range(8))
        front = [lane for lane in range(lanes) if mask >> lane & 1]
        assert words[: len(front) * 8 // lanes : 8 // lanes] == [lane * 8 // lanes for lane in front]
