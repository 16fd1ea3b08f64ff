"""`runN` functions of complex numbers and of tuples of arrays: what compiled code takes to pieces, and puts together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import accel as A
from accel import execution
from accel.ast.tree.types import C64, F32, F64
from accel.backends.direct import Forms
from accel.backends.llvm.calls.formed.forms import COPIED, formed
from tests import untyped

Array = np.ndarray[Any, np.dtype[Any]]

RANDOM = np.random.default_rng(11)
TYPES = [np.complex64, np.complex128]
SIZES = [0, 1, 7, 16, 33, 1000, COPIED, COPIED + 1, 1 << 17, (1 << 18) + 5]


def numbers(kind: type[np.generic], *shape: int) -> Array:
    """Parts of all sizes and signs, infinities and NaNs among them, as random bits."""
    count = int(np.prod(shape)) * np.dtype(kind).itemsize
    return RANDOM.integers(0, 256, count, np.uint8).view(kind).reshape(shape)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Grows with each call that takes the long way."""
    calls: list[int] = []
    general = execution.RunN._general

    def counting(self: Any, *args: object) -> object:  # Any: a function of any type
        calls.append(1)
        return general(self, *args)

    monkeypatch.setattr(execution.RunN, "_general", counting)
    return calls


def same_bits(found: object, wanted: object) -> None:
    if isinstance(wanted, tuple):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            same_bits(one, other)
        return
    assert isinstance(found, np.ndarray)
    assert isinstance(wanted, np.ndarray)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert found.flags.c_contiguous
    assert found.flags.writeable
    assert found.tobytes() == wanted.tobytes()


def test_parts_keep_their_bits(counted: list[int]) -> None:
    """Real and imaginary parts change places, by the short way: at once where there are few, later where there are many."""
    turned = untyped.runN(lambda zs: A.map(lambda z: A.mkComplex(A.imag(z), A.real(z)), zs))
    for kind in TYPES:
        turned(numbers(kind, 3)), turned(numbers(kind, 3))
        for size in SIZES:
            given = numbers(kind, size)
            wanted: Array = np.stack([given.imag, given.real], -1).copy().view(kind)[..., 0]
            before = len(counted)
            same_bits(turned(given), wanted)
            assert len(counted) - before == (size > COPIED), size
        while len(counted) > before:  # until there is code for views
            before = len(counted)
            turned(given)
        for size in SIZES:
            given = numbers(kind, size)
            again: Array = np.stack([given.imag, given.real], -1).copy().view(kind)[..., 0]
            same_bits(turned(given), again)
        assert len(counted) == before


@pytest.mark.parametrize("shape", [(), (5,), (3, 7), (2, 1, 40), (0, 3)])
def test_ranks(counted: list[int], shape: tuple[int, ...]) -> None:
    doubled = untyped.runN(lambda zs: A.map(lambda z: A.mkComplex(A.imag(z), A.real(z)), zs))
    given = numbers(np.complex64, *shape)
    wanted = np.ascontiguousarray(np.stack([given.imag, given.real], -1)).view(np.complex64)[..., 0]
    for _ in range(4):
        same_bits(doubled(given), wanted)
    assert len(counted) == 2


def test_elsewhere_in_memory(counted: list[int]) -> None:
    """Rows with gaps, columns, other byte orders and misaligned arrays go the long way, to the same results."""
    turned = untyped.runN(lambda zs: A.map(lambda z: A.mkComplex(A.imag(z), A.real(z)), zs))
    whole = RANDOM.random((8, 6)) + 1j * RANDOM.random((8, 6))
    misaligned = np.frombuffer(b"\0" + whole.tobytes(), np.uint8)[1:].view(np.complex128).reshape(8, 6)
    assert not misaligned.flags.aligned
    for _ in range(4):
        for each in (
            whole,
            whole[::2],
            whole[:, ::-1],
            whole.T,
            misaligned,
            whole.astype(">c16"),
            whole[:, :1] + 0 * whole,
        ):
            same_bits(turned(each), np.array(each.imag + 1j * each.real, order="C", dtype=np.complex128))
    assert len(counted) < 28


class Both(NamedTuple):
    left: Any  # an array, or what is no array, or several
    right: Any


class Others(NamedTuple):
    left: Array
    right: Array


class Within(NamedTuple):
    pair: Both
    rest: tuple[Array, ...]


def test_nested_arguments_and_results(counted: list[int]) -> None:
    xs, ys = RANDOM.random(50), RANDOM.integers(0, 9, 50)
    zs = numbers(np.complex64, 50)
    swap: Any = untyped.runN(lambda ps: A.map(lambda p: A.lift(A.snd(p), A.fst(p)), ps))
    cases: list[tuple[Any, tuple[object, ...], object]] = [  # Any: functions of all types
        (swap, ((xs, ys),), (ys, xs)),
        (swap, ((xs, zs),), (zs, xs)),
        (swap, (((xs, ys), (zs, xs)),), ((zs, xs), (xs, ys))),
        (untyped.runN(lambda ps, qs: ((qs, ps), qs)), ((xs, zs), ys), ((ys, (xs, zs)), ys)),
        (untyped.runN(lambda ps: (ps,)), (xs,), (xs,)),
        (untyped.runN(lambda ps: ((ps,), (ps,))), ((zs,),), (((zs,),), ((zs,),))),
        (untyped.runN(lambda ns: A.map(lambda n: A.cond(n > 3, A.just(n), A.nothing()), ns)), (ys,), None),
        (untyped.runN(lambda zs: A.map(A.real, zs)), (zs,), zs.real.copy()),
        (untyped.runN(lambda xs: A.map(lambda x: A.mkComplex(x, x), xs)), (xs,), xs + 1j * xs),
    ]  # fmt: skip
    for function, arguments, wanted in cases:
        first = function(*arguments)
        if wanted is not None:
            same_bits(first, wanted)
        function(*arguments)
        before = len(counted)
        for _ in range(3):
            same_bits(function(*arguments), first)
        assert len(counted) == before, arguments


def test_named_tuples(counted: list[int]) -> None:
    """They come back as they went in, by the short way; another class with the same fields is another kind of argument."""
    xs, ys, zs = RANDOM.random(50), RANDOM.integers(0, 9, 50), numbers(np.complex64, 50)
    same: Any = untyped.runN(lambda ps: ps)
    cases: list[tuple[Any, tuple[object, ...], object]] = [  # Any: functions of all types
        (same, (Both(xs, ys),), Both(xs, ys)),
        (same, (Others(xs, ys),), Others(xs, ys)),
        (same, (Both(zs, xs),), Both(zs, xs)),
        (same, (Within(Both(xs, zs), (ys,)),), Within(Both(xs, zs), (ys,))),
        (same, ((Both(xs, ys), zs),), (Both(xs, ys), zs)),
        (untyped.runN(lambda ps, qs: Both(qs, (ps, qs))), (Both(xs, ys), zs), Both(zs, (Both(xs, ys), zs))),
        (untyped.runN(lambda ps: A.map(lambda p: A.lift(p[1], p[0]), ps)), (Both(xs, ys),), (ys, xs)),
        (untyped.runN(lambda ps: A.map(lambda p: p[0] + p[1], ps)), (Both(xs, xs),), xs + xs),
    ]  # fmt: skip
    for _ in range(2):
        for function, arguments, wanted in cases:
            same_bits(function(*arguments), wanted)
    before = len(counted)
    for function, arguments, wanted in 2 * cases:
        same_bits(function(*arguments), wanted)
    assert len(counted) == before
    for _ in range(4):
        same_bits(same((xs, ys)), (xs, ys))
        same_bits(same(Both(xs, ys)), Both(xs, ys))
        same_bits(same(np.zeros(3)), np.zeros(3))
        for wrong in (Both(xs, ys[:3]), Both(xs, None), None):
            with pytest.raises(A.AccelError, match=r"test_forms\.py"):
                same(wrong)
    there = same(A.put(Both(xs, ys), backend="llvm"))
    for _ in range(3):
        again = same(Both(*[A.put(each, backend="llvm") for each in (xs, ys)]))
        assert type(again) is type(there)


def test_constants() -> None:
    """Complex arrays that the function holds are given to the call as they are: it reads no halves that lie apart."""
    zs, ws = (RANDOM.random(20) + 1j * RANDOM.random(20) for _ in range(2))
    added = untyped.runN(lambda zs: A.zipWith(A.add, zs, A.use(ws)))
    for _ in range(4):
        same_bits(added(zs), zs + ws)


def test_others_in_turn() -> None:
    """Arguments that a function of a form does not take, after those that it takes."""
    swap: Any = untyped.runN(lambda ps: A.map(lambda p: A.lift(A.snd(p), A.fst(p)), ps))
    xs, ys = RANDOM.random(5), RANDOM.random(5) + 1j
    for _ in range(4):
        same_bits(swap((xs, ys)), (ys, xs))
        same_bits(swap((ys, xs)), (xs, ys))
        same_bits(swap((xs[::2], ys[::2])), (ys[::2].copy(), xs[::2].copy()))
        assert type(swap(Both(xs, ys))) is tuple
        for wrong in ((xs,), (xs, ys, xs), (xs, ys[:3]), (xs, None), xs, None, (xs, ys.reshape(1, 5))):
            with pytest.raises(A.AccelError, match=r"test_forms\.py"):
                swap(wrong)
        with pytest.raises(A.AccelError, match=r"test_forms\.py"):
            swap((xs, ys), (xs, ys))


def test_checks_that_fail() -> None:
    """They are said as they are on the long way."""
    taken: Any = untyped.runN(lambda ns, zs: A.gather(ns, zs))
    zs = numbers(np.complex64, 9)
    for _ in range(4):
        same_bits(taken(np.array([8, 0]), zs), zs[[8, 0]])
        with pytest.raises(A.AccelIndexError, match="index \\(9,\\)"):
            taken(np.array([8, 9]), zs)


def test_a_form_of_many_parts() -> None:
    """More of them than a table has room for."""
    many: Any = untyped.runN(lambda *ps: ps)
    zs = numbers(np.complex64, 3)
    for _ in range(4):
        same_bits(many(*[zs] * 65), (zs,) * 65)
    assert formed(lambda otherwise, constants: otherwise, Forms((C64,) * 65, C64), 1, views=False) is None
    assert formed(lambda otherwise, constants: otherwise, Forms((C64,), ()), 1, views=False) is None


def test_equal_forms_are_made_once() -> None:
    """What compares: the call, how arguments and results are nested, and whether there are views."""

    def make(otherwise: Callable[..., object], constants: object) -> Callable[..., object]:
        return otherwise

    first = formed(make, Forms(((F32, F64),), C64), 2, views=True)
    assert first == formed(make, Forms(((F32, F64),), C64), 2, views=True)
    assert first != formed(make, Forms((F32, F64), C64), 2, views=True)
    assert first != formed(make, Forms(((F32, F64),), C64), 2, views=False)


def test_nothing_is_kept() -> None:
    """Neither a call nor one that goes on the long way keeps arguments or results alive."""
    import sys

    swap: Any = untyped.runN(lambda ps: A.map(lambda p: A.lift(A.snd(p), A.fst(p)), ps))
    xs, zs = RANDOM.random(5), numbers(np.complex64, 5)
    late = numbers(np.complex64, 5)[:3]
    for _ in range(4):
        swap((xs, zs))
    same: Any = untyped.runN(lambda ps: ps)
    for _ in range(4):
        same(Both(xs, zs))
    held = (xs, zs, late, zs.dtype, xs.dtype, np.dtype(np.float32), Both)
    counts = [sys.getrefcount(each) for each in held]
    for _ in range(100):
        swap((xs, zs)), same(Both(xs, zs))
        with pytest.raises(A.AccelError):
            swap((xs, late))
    assert [sys.getrefcount(each) for each in held] == counts


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_tuples_of_other_shapes_are_refused_in_any_call(backend: str) -> None:
    sums = untyped.runN(lambda pairs: A.map(lambda pair: pair[0] + pair[1], pairs), backend=backend)
    xs = np.arange(3.0)
    for _ in range(3):
        np.testing.assert_array_equal(sums((xs, xs)), xs + xs)
        with pytest.raises(A.AccelShapeError, match=r"(?s)one shape, got \(3,\) and \(2,\).*test_forms\.py"):
            sums((xs, xs[:2]))
