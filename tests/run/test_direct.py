"""`runN` functions called again: with other types in turn, with what they do not take, under other settings."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import accel as A
from accel import settings
from tests import untyped

XS = np.random.default_rng(7).random(1000)
YS = np.random.default_rng(8).random(1000)
MATRIX = XS.reshape(20, 50)


def dot(xs: A.Acc[A.Vector[np.float64]], ys: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Scalar[np.float64]]:
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


def test_types_in_turn() -> None:
    """More combinations of types than have direct ways, each several times."""
    run = untyped.runN(lambda xs: A.sum(xs))
    kinds = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64, np.float32, np.float64]
    for _ in range(5):
        for kind in kinds:
            array = np.arange(10).astype(kind)
            assert run(array) == 45
            assert run(array).dtype == kind
            assert run(np.arange(6).reshape(2, 3).astype(kind)).tolist() == [3, 12]


def test_wrong_arguments_after_right_ones() -> None:
    run = untyped.runN(dot)
    for _ in range(3):
        run(XS, YS)
    for wrong in ((XS,), (XS, YS, XS), (XS, YS.astype(np.float32)), (XS, MATRIX), (XS, 3.0), (XS, "text"), (XS, None)):
        with pytest.raises(A.AccelError, match=r"test_direct\.py"):
            run(*wrong)
    assert run(XS, list_like(YS)) == run(XS, YS)


def list_like(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """An array of a class of its own."""

    class Own(np.ndarray[Any, Any]):
        pass

    return array.view(Own)


def test_settings_of_the_moment_count() -> None:
    run = untyped.runN(dot)
    for _ in range(3):
        run(XS, YS)
    with A.using(backend="interpreter"):
        assert run(XS, YS).shape == ()
    with A.using(checks="all"), pytest.raises(A.AccelNaNError):
        run(XS, np.array([np.inf, -np.inf] * 500))
    for _ in range(3):
        assert run(XS, YS) == run(XS, YS)


class Counted:
    """A function that counts how often it is traced, and notes under which settings."""

    def __init__(self) -> None:
        self.traced: list[settings.Settings] = []

    def __call__(self, xs: A.Acc[Any]) -> A.Acc[Any]:
        self.traced.append(settings.current())
        return A.map(lambda x: x + x, xs)


def test_settings_in_turn() -> None:
    """Under each block that comes again a function is what it was there; it is traced once for each."""
    traced = Counted()
    run = untyped.runN(traced)
    for _ in range(4):
        for backend in ("interpreter", "llvm"):
            with A.using(backend=backend, threads=1):
                assert run(XS).tolist() == (XS + XS).tolist()
        assert run(XS).tolist() == (XS + XS).tolist()
    assert [found.backend for found in traced.traced] == ["interpreter", "llvm", "llvm"]


def test_equal_settings_are_one_object() -> None:
    with A.using(threads=3, strategy="greedy"):
        first = settings.innermost()
    with A.using(strategy="greedy"), A.using(threads=3):
        assert settings.innermost() is first


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_what_is_taken_to_pieces(backend: str) -> None:
    """Tuples, structured arrays, complex numbers, rows with gaps and other byte orders, each in turn with the others."""
    run = untyped.runN(lambda xs: A.map(lambda x: x + x, xs), backend=backend)
    pairs = untyped.runN(lambda xs: A.map(lambda p: A.fst(p) - A.snd(p), xs), backend=backend)
    gaps, turned, swapped = XS[:40:2], XS[19::-1], XS[:20].astype(">f8")
    complexes = (XS[:20] + 1j * YS[:20]).astype(np.complex128)
    records = np.array(list(zip(XS[:20], YS[:20], strict=True)), [("left", "f8"), ("right", "f8")])
    for _ in range(4):
        for each in (gaps, turned, swapped, complexes, complexes[::3], XS[:20]):
            found = run(each)
            assert found.dtype == each.dtype.newbyteorder("=")
            assert found.tolist() == (each + each).tolist()
        for pair in ((XS[:20], YS[:20]), records, records[::2], (XS[:20].astype(np.float64), gaps)):
            left, right = pair if isinstance(pair, tuple) else (pair["left"], pair["right"])
            assert pairs(pair).tolist() == (left - right).tolist()


def test_wrong_tuples_after_right_ones() -> None:
    pairs = untyped.runN(lambda xs: A.map(lambda p: A.fst(p) - A.snd(p), xs))
    for _ in range(3):
        pairs((XS, YS))
    for wrong in ((XS, YS[:9]), (XS, MATRIX), (XS,), (XS, YS.astype(np.int8)), (XS, "text"), XS, ((XS, YS), XS)):
        with pytest.raises(A.AccelError, match=r"test_direct\.py"):
            pairs(wrong)
    assert pairs((XS, YS)).tolist() == (XS - YS).tolist()


def test_a_named_tuple_gives_its_own_type_back() -> None:
    """After a tuple of the same arrays, which gives a tuple."""

    class Both(NamedTuple):
        left: np.ndarray[Any, Any]
        right: np.ndarray[Any, Any]

    run = untyped.runN(lambda xs: A.reverse(xs))
    for _ in range(3):
        assert type(run((XS, YS))) is tuple
        assert type(run(Both(XS, YS))) is Both
        assert isinstance(run(np.zeros(3, [("left", "f8"), ("right", "f8")])), np.ndarray)


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_what_is_compared(backend: str) -> None:
    """A function of any dtype and rank, called with another one after it has a direct way."""
    run = untyped.runN(lambda xs: A.map(lambda x: x + x, xs), backend=backend)
    small = XS[:20]
    for _ in range(3):
        assert run(small).tolist() == (small + small).tolist()
    for other in (small.astype(np.float32), small.astype(np.int64), small.reshape(4, 5), small[3]):
        for _ in range(3):
            found = run(np.asarray(other))
            assert found.dtype == other.dtype
            assert found.tolist() == (other + other).tolist()


def test_scalars_take_the_short_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """NumPy's scalars are arrays without dimensions; what was run for these is run for them, and nothing is prepared again."""
    run = untyped.runN(lambda xs, factor, chosen: A.map(lambda x: A.cond(A.the(chosen), x * A.the(factor), x), xs))
    first = run(XS, np.float64(3), np.True_)
    run(XS, np.array(3.0), np.array(True))
    prepared: list[object] = []
    monkeypatch.setattr(type(run), "_prepared", lambda *given: prepared.append(given))
    assert np.array_equal(run(XS, np.float64(3), np.False_), XS)
    assert np.array_equal(run(XS, np.array(3.0), np.True_), first)
    assert not prepared


def test_scalars_of_other_kinds_are_refused_as_arrays_are() -> None:
    run = untyped.runN(dot)
    for wrong in (np.str_("text"), np.float64(3), np.datetime64("2026-11-27")):
        for _ in range(3):
            with pytest.raises(A.AccelTypeError, match=r"test_direct\.py"):
                run(XS, wrong)
