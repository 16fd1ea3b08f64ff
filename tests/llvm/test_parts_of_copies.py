"""Bytes that are copied by several threads, part by part: all that were asked for, and none behind them."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from accel.backends.llvm.threads.copy_text import LEAST, PART
from accel.backends.llvm.threads.pool import pool

pytestmark = pytest.mark.llvm


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("size", [0, 1, LEAST - 1, LEAST, LEAST + 1, LEAST + PART - 1])
def test_as_many_bytes_as_were_asked_for(size: int, threads: int) -> None:
    word = ctypes.c_int64
    copy = ctypes.PYFUNCTYPE(word, ctypes.c_void_p, ctypes.c_void_p, word, word)(pool().symbols["accel_copy"])
    source = np.random.default_rng(size).integers(0, 255, size + PART, np.uint8)
    target = np.full(size + PART, 255, np.uint8)
    assert copy(target.ctypes.data, source.ctypes.data, size, threads) == 0
    np.testing.assert_array_equal(target[:size], source[:size])
    assert (target[size:] == 255).all()
