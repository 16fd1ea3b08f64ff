"""What is loaded under conditions on places: one side alone, without masks, in vectors whose lanes agree; the same bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.machine.processor import Registers
from tests.llvm.processors import changed, compile_for
from tests.llvm.test_columns import numbers, program
from tests.llvm.test_windows import agree
from tests.marks import one_in

Given: TypeAlias = Any  # one function for arrays of several types

FAR = 1 << 63

CONDITIONS: dict[str, Callable[[Given, Given, Given], Given]] = {
    "inside": lambda y, n, _: (y >= 0) & (y < n),
    "other sides": lambda y, n, _: (0 <= y) & (n > y) & (n - 1 >= y),  # noqa: SIM300
    "from the end": lambda y, n, _: (n - 1 - y >= 0) & (n - 1 - y < n),
    "in steps": lambda y, n, _: (2 * y > -1) & (3 * y + 1 <= 3 * n) & (y < n),
    "outside": lambda y, n, _: ~((y < 0) | (y >= n)),
    "either": lambda y, n, _: ((y < 3) | (y >= n - 20)) & (y >= 0) & (y < n),
    "also uniform": lambda y, n, r: (r % 2 == 0) & (y >= 0) & (y < n),
    "uniform or": lambda y, n, r: ((r % 3 == 0) | (y > 5)) & (y >= 0) & (y < n),
    "many": lambda y, n, _: (
        (y >= 0) & (y < n) & (y != 7) & ((y < 9) | (y > 12)) & ((y < 30) | (y > 33)) & (y != 40) & (y > -9)
    ),
    "both move": lambda y, n, r: (y + 3 > 2 * (y - r) - 40) & (y >= 0) & (y < n),
}

SHIFTS = (-FAR, 3 - FAR, -80, -17, -16, -3, 0, 1, 15, 18, 64, FAR - 1, FAR - 8, FAR - 40)


def shifted(condition: str) -> Callable[[Given, Given], Given]:
    """Elements some places further, as many as data says; -1 where there are none."""

    def shift(x: Given, by: Given) -> Given:
        n, r = A.length(x), by[A.index(0)]

        def element(ix: Given) -> Given:
            (i,) = A.unindex(ix)
            y = i + r
            return A.cond(CONDITIONS[condition](y, n, r), x[A.index(A.max(0, A.min(y, n - 1)))] * 2, -1)

        return A.generate(A.index(n), element)

    return shift


@pytest.mark.parametrize("name", one_in(3, CONDITIONS))
@pytest.mark.parametrize("width", [64, 32])
def test_shifts(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Places wrap beyond the greatest number."""
    compile_for(monkeypatch, changed(registers=Registers(width, 32 if width == 64 else 16)))
    given = program(shifted(name)(A.use(numbers((9,))), A.use(np.zeros(1, np.int64))))
    agree(given, *[[np.array([r]), numbers((n,), seed=n)] for n in (1, 15, 16, 47, 100) for r in SHIFTS])


@pytest.mark.parametrize("name", one_in(3, CONDITIONS))
@pytest.mark.parametrize("kind", one_in(2, ["f4", "f8", "i1"]))
def test_windows(name: str, kind: str) -> None:
    """Of two dimensions, whose rows are asked for as well, and under two conditions, of which one is in the other."""

    def folded(x: Given, w: Given) -> Given:
        (high, wide), (rows, across) = A.unlift(x.shape), A.unlift(w.shape)

        def element(ix: Given) -> Given:
            i, j, a, b = A.unindex(ix)
            y, z = i + a - rows // 2, j + b - across // 2
            near = A.cond(CONDITIONS[name](z, wide, a), x[y, z], 1)
            return A.cond((y >= 0) & (y < high), near, 2) * w[a, b]

        return A.fold(A.add, 0, A.generate(A.index(high, wide, rows, across), element), dims=2)

    given = program(folded(A.use(numbers((9, 9), kind)), A.use(numbers((2, 2), kind))))
    agree(given, *[[numbers((5, 75), kind, a), numbers((a, b), kind, b)] for a, b in ((1, 1), (3, 3), (2, 9), (5, 20))])
