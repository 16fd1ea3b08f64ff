"""Conditionals whose lanes agree take one side alone where masked loads are dear: the bits of each lane for itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests.llvm.processors import changed, compile_for, compiled_texts
from tests.untyped import run, runN

Condition = Callable[[Any, Any], Any]

CONDITIONS: dict[str, Condition] = {
    "below": lambda i, k: i < k,
    "up to": lambda i, k: i <= k,
    "above": lambda i, k: i > k,
    "from": lambda i, k: i >= k,
    "turned": lambda i, k: k > i,
    "falling": lambda i, k: 100 - i < k,
    "both": lambda i, k: 3 * i - k < i + 7,
    "equal": lambda i, k: i - k < i,
    # Rises, wraps, and is below again, within a vector.
    "wrapping": lambda i, k: i * 2**30 + (2**63 - 2**34) + k * 2**30 > 2**63 - 2**32,
    "wrapping down": lambda i, k: i * -(2**30) - (2**63 - 2**34) - k * 2**30 < -(2**63) + 2**32,
}


@pytest.fixture(autouse=True)
def _masked_loads_are_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, changed(has_avx512=False))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", CONDITIONS)
def test_either_side(name: str, kind: Any) -> None:
    xs = np.arange(150).astype(kind)
    condition = CONDITIONS[name]

    def dear(x: Any, y: Any) -> Any:
        """Too much work to be done in lanes that do not want it."""
        return A.tanh(A.sin(A.cos(x) + y))

    def chosen(xs: Any, k: Any) -> Any:
        last = A.length(xs) - 1

        def element(ix: Any) -> Any:
            other = A.index(last - ix[0])
            return A.cond(condition(ix[0], A.the(k)), dear(xs[other], 1.0), dear(xs[ix], 2.0))

        return A.generate(A.shape(xs), element)

    fast, reference = runN(chosen, backend="llvm"), runN(chosen, backend="interpreter")
    for k in (-1, 0, 3, 40, 64, 93, 150):
        found, wanted = fast(xs, np.int64(k)), reference(xs, np.int64(k))
        np.testing.assert_allclose(found, wanted, rtol=8 * np.finfo(kind).eps, atol=8 * np.finfo(kind).eps)


@pytest.mark.parametrize("kind", [np.int8, np.uint16, np.float32, np.int64, np.complex128])
def test_append(kind: Any) -> None:
    joined = runN(lambda xs, ys: A.append(xs, ys), backend="llvm")
    rows = runN(lambda xs, ys: A.concatOn(0, xs, ys), backend="llvm")
    for first, second in [(0, 0), (0, 70), (1, 63), (64, 1), (63, 200), (5000, 4097)]:
        xs, ys = np.arange(first).astype(kind), -np.arange(second).astype(kind)
        np.testing.assert_array_equal(joined(xs, ys), np.concatenate([xs, ys]))
        tall = [np.repeat(each[:, None], 3, 1) for each in (xs, ys)]
        np.testing.assert_array_equal(rows(*tall), np.concatenate(tall))


def test_one_side_is_read_without_a_mask(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = compiled_texts(monkeypatch)
    xs = A.use(np.zeros(1000, np.int8))
    run(A.append(xs, A.map(lambda x: x + 1, xs)), backend="llvm")
    text = "\n".join(texts)
    assert " load <32 x i8>" in text or " load <64 x i8>" in text
