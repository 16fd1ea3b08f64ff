"""The errors of complex functions on llvm are those that docs/scalars.md says, against mpmath."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.marks import slow

pytestmark = pytest.mark.llvm

DOCUMENT = Path(__file__).parents[2] / "docs" / "scalars.md"
BOUNDS = {
    name: (float(single), float(double))
    for name, single, double in re.findall(
        r"^\| complex `(\w+)` \| ([\d.]+) \| ([\d.]+) \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE
    )
}

# Any: the types are parameters of the tests.
Numbers = np.ndarray[Any, np.dtype[Any]]


def operands(kind: Any) -> Numbers:
    """Pairs of edge values, random numbers, and numbers near the unit circle, where logarithms cancel."""
    limits = np.finfo(kind)
    overflow = float(np.log(float(limits.max)))
    least = float(limits.smallest_subnormal)
    parts = [0.0, -0.0, 1.0, -0.5, 3.5, 0.6, 0.8, 1e-10, 30.0, float(np.pi / 2), least, 3 * least, float(limits.tiny)]
    parts += [float(limits.max), float(limits.max) / 2, overflow - 0.5, overflow + 0.5, overflow * 1.5, -2.1 * overflow]
    grid = np.array(parts).astype(limits.dtype)
    random = np.random.default_rng(5)
    size = 10.0 ** random.uniform(-3, 2, (2, 150))
    scattered = random.normal(size=(2, 150)) * size
    angles, away = random.uniform(0, 7, 150), 1 + 10.0 ** random.uniform(-16, -2, 150)
    pairs = np.stack([np.repeat(grid, len(grid)), np.tile(grid, len(grid))])
    around = np.stack([np.cos(angles) * away, np.sin(angles) * away])
    both = np.concatenate([pairs, scattered, around], axis=1).astype(limits.dtype)
    found = np.empty(both.shape[1], kind)
    found.real, found.imag = both
    return found


def error(found: float, exact: Any, limits: Any) -> float:
    """In units in the last place; 0 for an infinity where the exact value is none of the type."""
    size = abs(exact)
    if size > float(limits.max):
        return 0.0 if abs(found) >= float(limits.max) * (1 - 1e-5) else float("inf")
    if not np.isfinite(found):
        return float("inf")
    least = float(limits.smallest_subnormal)
    unit = max(least, math.ldexp(0.5, math.frexp(max(least, float(size)))[1] - int(limits.nmant)))
    return float(abs(mpmath.mpf(found) - exact) / unit)


EXACT: Any = mpmath  # the stubs know a part of it


INVERSE = {"asin", "acos", "atan", "asinh", "acosh", "atanh"}
"""Those with branch cuts that do not end at 0, whose small results mpmath gives at high precision only."""


def exactly(name: str, z: complex) -> Any:
    """What mpmath says. It has no -0.0, which tells the sides of a branch cut."""
    if name in INVERSE:  # nowhere so steep that tiny numbers would not do for zeros
        tiny = [EXACT.ldexp(math.copysign(1.0, part), -2500) for part in (z.real, z.imag)]
        return getattr(EXACT, name)(
            EXACT.mpc(*[part or least for part, least in zip((z.real, z.imag), tiny, strict=True)])
        )
    above = EXACT.mpc(z.real, abs(z.imag))
    if name in {"log2", "log10"}:
        found = EXACT.log(above) / EXACT.log(int(name.removeprefix("log")))
    else:
        found = getattr(EXACT, name)(above)
    return EXACT.conj(found) if math.copysign(1.0, z.imag) < 0 else found


@slow
@pytest.mark.parametrize("name", BOUNDS)
@pytest.mark.parametrize("kind", [np.complex64, np.complex128])
def test_every_function_keeps_its_documented_bound(kind: Any, name: str) -> None:
    values = operands(kind)
    with np.errstate(all="ignore"):
        found = untyped.run(A.map(getattr(A, name), A.use(values)), backend="llvm")
    limits, worst = np.finfo(kind), (0.0, 0j)
    with mpmath.workprec(3000 if name in INVERSE else 200):
        for z, got in zip(values, found, strict=True):
            if (name.startswith("log") and z == 0) or (name in {"atan", "atanh"} and z in {1, -1, 1j, -1j}):
                continue
            exact = exactly(name, complex(z))
            errors = error(float(got.real), exact.real, limits), error(float(got.imag), exact.imag, limits)
            worst = max(worst, (max(errors), complex(z)), key=lambda each: each[0])
    # One digit of grace for operands that the documented measurement did not draw.
    assert worst[0] <= BOUNDS[name][0 if kind is np.complex64 else 1] + 0.1, worst


def test_the_table_is_there() -> None:
    assert len(BOUNDS) == 17
