"""Elements at indices that are 32-bit integers: compared and taken as such where that is sooner, with the same errors."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.types import ScalarType
from accel.backends.llvm.emit.bounds import any_narrow_reaches
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.machine.loading import load
from accel.backends.llvm.machine.system import is_x86
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES, host
from accel.backends.llvm.text.code import Code
from tests import untyped
from tests.llvm.processors import compile_for, processor


@pytest.fixture(params=[False, True], ids=["by vectors", "one by one"])
def gathered(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A gather as for other processors, and as for those of AVX2 that gather slowly."""
    if not is_x86() or host().processor.registers.bytes < 32:
        pytest.skip("the processor has no AVX2")
    instructions = {"has_avx2": True, "has_avx512": False} if request.param else {"has_avx2": False}
    compile_for(monkeypatch, processor(slow_gathers=request.param, **instructions))
    return untyped.runN(lambda at, xs: A.gather(A.map(lambda i: A.fromIntegral(i, np.int64), at), xs), threads=1)


def test_elements(gathered: Any) -> None:
    random = np.random.default_rng(5)
    for kind in ScalarType:
        for count in (1, 15, 16, 100, 1000):
            xs = random.integers(0, 100, 77).astype(kind.dtype)
            at = random.integers(0, 77, count, np.int32)
            np.testing.assert_array_equal(gathered(at, xs), xs[at])


@pytest.mark.parametrize("wrong", [-1, 77, 2**31 - 1, -(2**31)])
def test_what_is_outside(wrong: int, gathered: Any) -> None:
    xs = np.arange(77, dtype=np.float32)
    for count, place in ((1, 0), (32, 0), (32, 9), (32, 31), (100, 99)):
        at = np.zeros(count, np.int32)
        at[place] = wrong
        with pytest.raises(A.AccelIndexError, match=str(wrong)):
            gathered(at, xs)
    with pytest.raises(A.AccelIndexError):
        gathered(np.zeros(32, np.int32), xs[:0])


def test_comparisons() -> None:
    """With bounds that 32 bits do not hold, too."""
    code = Code(1)
    found = any_narrow_reaches(Writer(code, 16), ["%lanes"], "%bound")
    lines = "\n  ".join(["%lanes = load <16 x i32>, ptr %from, align 4", *code.lines])
    start, end = (
        "define i8 @reaches(ptr %from, i64 %bound) #0 {",
        f"  %byte = zext i1 {found} to i8\n  ret i8 %byte\n}}",
    )
    text = "\n".join([start, f"  {lines}", end, *code.declarations.values(), HOST_ATTRIBUTES])
    library = load([host().compile(text)], ("reaches",), {})
    reaches = ctypes.CFUNCTYPE(ctypes.c_uint8, ctypes.c_void_p, ctypes.c_int64)(library.addresses["reaches"])
    for bound in (0, 1, 77, 2**31 - 1, 2**31, 2**31 + 1, 2**32, 2**32 + 5, 2**40, 2**63 - 1):
        for wanted in (0, 1, 76, 77, 2**31 - 2, 2**31 - 1, -1, -(2**31)):
            for place in (0, 7, 8, 15):
                lanes = np.zeros(16, np.int32)
                lanes[place] = wanted
                assert reaches(lanes.ctypes.data, bound) == any(not 0 <= each < bound for each in lanes.tolist())
