"""Numbers in lanes divided by one number, and by one each.

Integers against Python's: all of 8 bits, of others edges and random. Floats against NumPy's, bit for bit: quotients nearest to
the middle between two floats, those at the ends of the type, and random ones.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.scalar_code.division import multipliers
from tests import untyped
from tests.llvm.processors import changed, processor

pytestmark = pytest.mark.llvm

Host = np.ndarray[Any, np.dtype[Any]]
KINDS = (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64)


def divisions(x: A.Exp[Any], y: A.Exp[Any]) -> A.Exp[Any]:
    """All four."""
    return A.lift(A.div(x, y), A.mod(x, y), A.quot(x, y), A.rem(x, y))


def by_one(xs: A.Acc[Any], y: A.Acc[Any]) -> A.Acc[Any]:
    """All of an array by one number."""
    return A.map(lambda x: divisions(x, A.the(y)), xs)


@pytest.fixture(autouse=True)
def _floats_are_multiplied(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also by processors that divide as quickly."""
    monkeypatch.setattr(host(), "processor", processor())


BY_ONE: Any = untyped.runN(by_one, threads=1)
BY_EACH: Any = untyped.runN(lambda xs, ys: A.zipWith(divisions, xs, ys), threads=1)
BY_EACH_ROWS: Any = untyped.runN(lambda m, ys: A.imap(lambda ix, x: divisions(x, ys[A.indexTail(ix)]), m), threads=1)


def quotients(x: int, y: int) -> tuple[int, int, int, int]:
    """What Python says: floored and truncated, 0 where the divisor is 0."""
    if y == 0:
        return 0, 0, 0, 0
    truncated = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    return x // y, x % y, truncated, x - truncated * y


def check(kind: Any, xs: Host, ys: Host, found: tuple[Host, ...]) -> None:
    """Each of the four results; the least number over -1 wraps."""
    bits, expected = 8 * np.dtype(kind).itemsize, zip(*map(quotients, xs.tolist(), ys.tolist()), strict=True)
    for got, wanted in zip(found, expected, strict=True):
        assert got.dtype == kind
        assert [int(number) % 2**bits for number in got] == [number % 2**bits for number in wanted]


def edges(kind: Any) -> Host:
    """Numbers about powers of two, about the ends of the type, and about where doubles stop being exact."""
    ends, near = np.iinfo(kind), range(-3, 4)
    powers = [sign * 2**k + d for k in range(ends.bits + 1) for d in near for sign in (1, -1)]
    inside = {number for number in [*powers, ends.min, ends.max] if ends.min <= number <= ends.max}
    return np.array(sorted(inside), kind)


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_all_of_8_bits(kind: Any) -> None:
    every = np.arange(256).astype(np.uint8).view(kind)
    for divisor in every:
        check(kind, every, np.full(256, divisor), BY_ONE(every, divisor))


@pytest.mark.parametrize("kind", KINDS)
def test_by_one(kind: Any) -> None:
    random, ends = np.random.default_rng(8), np.iinfo(kind)
    special = edges(kind)
    divisors = random.choice(special, 60)
    for divisor in [*divisors, *(kind(number) for number in (0, 1, ends.min, ends.max, ends.max // 2))]:
        xs = np.concatenate([special, random.integers(ends.min, ends.max, 100, kind, endpoint=True)])
        multiples = (int(divisor) * random.integers(0, 1 << ends.bits // 2, 50).astype(object)) % 2**ends.bits
        near = (multiples + random.integers(-1, 2, 50)) % 2**ends.bits
        xs = np.concatenate([xs, near.astype(np.uint64).astype(kind)])
        check(kind, xs, np.full(len(xs), divisor), BY_ONE(xs, divisor))


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_by_one_what_is_below_2_to_the_48(kind: Any) -> None:
    """One truncation is right about all multiples of divisors of all sizes, also beside one that is too large."""
    random, limit = np.random.default_rng(12), 1 << 48
    for divisor in [1, 2, 3, 7, 10, 2**20 + 1, *(int(random.integers(1, 1 << bits)) for bits in range(2, 50))]:
        multiples = divisor * random.integers(0, limit // divisor, 300, endpoint=True)
        last = divisor * (limit // divisor - np.arange(min(8, limit // divisor)))
        near = np.concatenate([multiples, last])[:, None] + np.arange(-1, 2)
        xs = np.clip(near.ravel(), 0, limit - 1)
        for signed in (1, -1) if kind is np.int64 else (1,):
            for more in ([], [limit], [2**62 - 1]):
                given = (signed * np.concatenate([xs, np.array(more, np.int64)])).astype(kind)
                check(kind, given, np.full(len(given), divisor), BY_ONE(given, kind(divisor)))


@pytest.mark.parametrize("kind", [np.int32, np.int64, np.uint64])
def test_by_each(kind: Any) -> None:
    random, ends = np.random.default_rng(9), np.iinfo(kind)
    special = edges(kind)
    xs, ys = (random.choice(special, 4000) for _ in range(2))
    check(kind, xs, ys, BY_EACH(xs, ys))
    xs, ys = (random.integers(ends.min, ends.max, 4000, kind, endpoint=True) for _ in range(2))
    for shift in (0, ends.bits // 2, ends.bits - 8):
        check(kind, xs, ys >> shift, BY_EACH(xs, ys >> kind(shift)))


def test_a_divisor_for_each_row() -> None:
    random = np.random.default_rng(10)
    rows, divisors = random.integers(-1000, 1000, (6, 70)), np.array([3, 0, -7, 1, -1, 2**62])
    found = BY_EACH_ROWS(rows, divisors)
    check(np.int64, rows.ravel(), divisors.repeat(70), tuple(each.ravel() for each in found))


def test_no_lane_divides() -> None:
    """One divisor makes a reciprocal, once in the function; where the processor cannot convert 64 bits, a multiplier."""

    def text(kind: Any) -> str:
        stage: str = A.explain(by_one, np.zeros(9, kind), np.array(2, kind)).stages["llvm"]
        body, _, _ = stage.partition("define i64")
        return body

    wide = [np.int64] if host().processor.has_avx512dq else []
    for kind in (np.uint8, np.int32, *wide):
        entry, _, rest = text(kind).partition("start:")
        assert " fdiv " in entry
        assert " fdiv " not in rest
        assert "div <" not in rest
    assert "div <" not in text(np.int64)


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
def test_multipliers(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a processor that cannot convert 64 bits, whatever this one can."""
    monkeypatch.setattr(multipliers, "host", lambda: SimpleNamespace(processor=changed(has_avx512dq=False)))
    found = untyped.runN(lambda xs, y: (by_one(xs, y), A.map(lambda x: x ^ A.the(y), xs)), threads=1)
    random, ends = np.random.default_rng(11), np.iinfo(kind)
    xs = np.concatenate([edges(kind), random.integers(ends.min, ends.max, 100, kind, endpoint=True)])
    for divisor in [*random.choice(edges(kind), 40), *(kind(n) for n in (0, 1, 3, 7, 10, ends.min, ends.max))]:
        check(kind, xs, np.full(len(xs), divisor), found(xs, divisor)[0])
        products = int(divisor) * random.integers(0, 1 << 32, 50).astype(object) + random.integers(-1, 2, 50)
        near = (products % 2**64).astype(np.uint64).astype(kind)
        check(kind, near, np.full(50, divisor), found(near, divisor)[0])


FLOATS_BY_ONE: Any = untyped.runN(lambda xs, y: A.map(lambda x: x / A.the(y), xs), threads=1)


def same_quotients(xs: Host, y: float, found: Host) -> None:
    with np.errstate(all="ignore"):
        expected = xs / y
    number = ~np.isnan(expected)
    assert np.array_equal(expected.view(np.int64)[number], found.view(np.int64)[number])
    assert np.isnan(found[~number]).all()


def hardest(divisor: int, random: np.random.Generator) -> Host:
    """Integers of 53 bits whose quotients by an odd one are nearest to the middle between two floats: an odd number M of 54
    bits, over 2^54, where the divisor times M is a multiple of 2^54 and little more or less."""
    found = []
    for rest in (sign * odd for odd in range(1, 40, 2) for sign in (1, -1)):
        middle = rest * pow(divisor, -1, 1 << 54) % (1 << 54)
        found.append((middle * divisor - rest) >> 54)
    near = [divisor + offset for offset in range(-20, 20)]
    return np.array([x for x in [*found, *near, *random.integers(1 << 52, 1 << 53, 20).tolist()] if x < 1 << 53], float)


def test_quotients_nearest_to_where_rounding_turns() -> None:
    random = np.random.default_rng(12)
    divisors = [int(number) | 1 for number in random.integers(1 << 52, 1 << 53, 400)]
    for divisor in [*divisors, (1 << 53) - 1, (1 << 52) + 1, *range(3, 60, 2)]:
        xs = hardest(divisor, random)
        for scale, small in ((1.0, 1.0), (-(2.0**-50), 2.0**-640), (2.0**240, 2.0**600), (2.0**-340, 2.0**-1060)):
            ys = xs * small
            same_quotients(ys, divisor * scale, FLOATS_BY_ONE(ys, np.array(divisor * scale)))


def test_quotients_at_the_ends_of_the_type() -> None:
    random = np.random.default_rng(12)
    powers = [sign * 2.0**power for power in range(-1022, 1024, 37) for sign in (1, -1)]
    bounds = [power * (1 + step * 2**-52) for power in powers for step in (0, 1, 5)]
    bounds += [(1 + random.random()) * 2.0**power for power in range(-1022, 1024, 3)]
    least = [number * 5e-324 for number in (1, 2, 3, 12345, 2**52 - 1, 2**52 + 1)]
    xs = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, np.finfo(np.float64).max, *least, *bounds])
    # One by one, too: then nobody else in the lanes has all of them divide.
    each = np.repeat(xs, 16)
    for y in [*xs[:200], *((1 + random.random()) * 2.0**power for power in range(-330, 330, 5))]:
        same_quotients(xs, y, FLOATS_BY_ONE(xs, np.array(y)))
        same_quotients(each, y, FLOATS_BY_ONE(each, np.array(y)))


@pytest.mark.parametrize("divisor", [3.7, -0.1, 1e300, 0.0, 8.0, float("inf")])
def test_floats_by_a_constant(divisor: float) -> None:
    random = np.random.default_rng(13)
    xs = random.standard_normal(2000) * 10.0 ** random.integers(-300, 300, 2000)
    xs[::7] = random.choice([0.0, -0.0], len(xs[::7]))
    same_quotients(xs, divisor, untyped.runN(lambda ys: A.map(lambda y: y / divisor, ys), threads=1)(xs))


def test_floats_are_multiplied() -> None:
    """No lane divides but in the function for what is near the ends of the type."""
    if not host().processor.has_fma:
        pytest.skip("without the instruction all divide")
    text = A.explain(lambda xs, y: A.map(lambda x: x / A.the(y), xs), np.ones(9), np.ones(())).stages["llvm"]
    assert text.count("= fdiv <8 x double>") == 1
    assert "call <8 x double> @quotient.v8f64" in text


def test_floats_divide_where_that_is_as_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host(), "processor", processor(quick_divisions=True))
    text = A.explain(lambda xs, y: A.map(lambda x: x / A.the(y), xs), np.ones(9), np.ones(())).stages["llvm"]
    assert "= fdiv <8 x double>" in text
    assert "quotient" not in text
