"""`f(x, donate=(0,))`: results in the memory of arguments, in the bits of a call that gets fresh memory; or an error."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.protocol import HostArray
from accel.calling.kinds import Kind
from accel.calling.known import Known
from accel.calling.ways import Ways
from accel.errors import AccelIndexError, AccelTypeError, AccelValueError
from tests import untyped

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]
XS = np.linspace(-2, 3, 10_000)


def called_before(function: Any, *arrays: HostArray, donate: tuple[int, ...] = (0,)) -> Any:
    """The function, once it has been called with donations of such arrays."""
    for _ in range(3):
        function(*(array.copy() for array in arrays), donate=donate)
    return function


def taken(program: Any, *arrays: HostArray, donate: tuple[int, ...], threads: int = 1) -> list[bool]:
    """Which results lie in the memory of a donated argument. They are those of a call without donations."""
    function: Any = untyped.runN(program, threads=threads)
    for _ in range(4):  # compiled, found again, and called with fewer steps
        given = [array.copy() for array in arrays]
        found = function(*given, donate=donate)
        results = found if isinstance(found, tuple) else (found,)
        expected = function(*arrays)
        for result, right in zip(results, expected if isinstance(expected, tuple) else (expected,), strict=True):
            np.testing.assert_array_equal(result, right)
            assert result.flags.c_contiguous
            assert result.flags.writeable
        for number, array in enumerate(given):
            if number not in donate:
                np.testing.assert_array_equal(array, arrays[number])
    return [any(np.may_share_memory(result, given[number]) for number in donate) for result in results]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_map_writes_where_it_reads(threads: int) -> None:
    large = np.linspace(-2, 3, 1_000_003)
    assert taken(lambda xs: A.map(lambda x: x * x + 1, xs), large, donate=(0,), threads=threads) == [True]
    rows = large[:1_000_000].reshape(1000, 1000)
    assert taken(lambda xs: A.map(A.exp, xs), rows, donate=(0,), threads=threads) == [True]


@pytest.mark.parametrize("backend", BACKENDS)
def test_results_are_right_on_every_backend(backend: Any) -> None:
    step = untyped.runN(lambda xs, ys: A.zipWith(lambda x, y: x - y * 0.5, xs, ys), backend=backend)
    xs, ys = XS[:100].copy(), XS[100:200].copy()
    expected = xs - ys * 0.5 - ys * 0.5
    xs = step(step(xs, ys, donate=(0,)), ys, donate=(0,))
    np.testing.assert_allclose(xs, expected)
    np.testing.assert_array_equal(ys, XS[100:200])


def test_each_result_takes_another_argument() -> None:
    def both(xs: Any, ys: Any) -> Any:
        return A.zipWith(A.add, xs, ys), A.zipWith(A.mul, xs, ys)

    assert taken(both, XS, XS + 1, donate=(0,)) == [True, False]
    assert taken(both, XS, XS + 1, donate=(0, 1)) in ([True, False], [True, True])
    assert taken(lambda xs, ys: A.zipWith(A.add, xs, ys), XS, XS + 1, donate=(1,)) == [True]


def test_a_later_loop_takes_what_an_earlier_one_has_read() -> None:
    def program(xs: Any) -> Any:
        total = A.the(A.sum(xs))
        return A.generate((10_000,), lambda ix: total + A.toFloating(ix[0], np.float64))

    assert taken(program, XS, donate=(0,)) == [True]
    # A reversed array reads other places than it writes, and a scan keeps what it has read.
    assert taken(lambda xs: A.reverse(xs), XS, donate=(0,)) == [False]
    assert taken(lambda xs: A.zipWith(A.add, xs, A.reverse(xs)), XS, donate=(0,)) == [False]


def test_an_earlier_result_leaves_what_a_later_loop_reads() -> None:
    def program(xs: Any, ys: Any) -> Any:
        twice = A.map(lambda y: y * 2, ys)
        total = A.the(A.sum(twice))
        return twice, A.map(lambda x: x + total, xs)

    assert taken(program, XS, XS + 1, donate=(0,)) == [False, True]


def test_nothing_is_taken_before_the_last_check() -> None:
    def program(xs: Any, places: Any) -> Any:
        more = A.map(lambda x: x + 1, xs)
        return more, A.gather(places, more)

    xs, places = XS.copy(), np.array([0, 3, 10_000])
    with pytest.raises(AccelIndexError, match=r"index \(10000,\)"):
        untyped.runN(program, duplicate=False)(xs, places, donate=(0,))
    np.testing.assert_array_equal(xs, XS)


@pytest.mark.parametrize(
    ("program", "array"),
    [
        (lambda xs: A.map(lambda x: A.cast(x, np.float32), xs), XS),  # another dtype
        (lambda xs: A.take(5000, xs), XS),  # another number of elements
        (lambda xs: (xs, A.map(lambda x: x + 1, xs)), XS),  # it is a result
        (lambda xs: A.iterate(3, lambda ys: A.map(lambda y: y + 1, ys), xs), XS),  # a loop's state
        (lambda xs: A.flatten(A.map(lambda x: x + 1, xs)), XS.reshape(100, 100)),
    ],
)
def test_what_cannot_be_used_is_not(program: Any, array: HostArray) -> None:
    assert not any(taken(program, array, donate=(0,))[-1:])


@pytest.mark.parametrize("count", [1000, 100_000])
def test_where_checks_fail_arguments_are_as_they_were(count: int) -> None:
    def program(xs: Any, places: Any) -> Any:
        return A.map(lambda x: x + 1, A.zipWith(lambda x, p: x + xs[p], xs, places))

    xs, places = np.arange(count, dtype=np.float64), np.arange(count)
    places[-1] = count
    for function in (untyped.runN(program), called_before(untyped.runN(program), xs, places % count)):
        with pytest.raises(AccelIndexError, match=rf"index \({count},\)"):
            function(xs, places, donate=(0,))
        np.testing.assert_array_equal(xs, np.arange(count))
    places[-1] = 0
    np.testing.assert_array_equal(untyped.runN(program)(xs, places, donate=(0,)), untyped.runN(program)(xs, places))


def test_a_loop_of_calls_stays_in_one_place() -> None:
    step = untyped.runN(lambda xs: A.map(lambda x: x * 0.5 + 1, xs))
    xs = np.full(100_000, 8.0)
    places = {xs.ctypes.data}
    for _ in range(20):
        xs = step(xs, donate=(0,))
        places.add(xs.ctypes.data)
    assert len(places) == 1
    assert np.all(xs == xs[0])
    assert xs.base is not None
    assert xs.base.base is None  # no chain of arrays that hold each other


def test_results_in_blocks_that_were_larger() -> None:
    """Memory that is used again may be more than a result needs."""
    step: Any = untyped.runN(lambda xs: A.map(lambda x: x + 1, xs))
    for size in (300_000, 250_000, 200_000):
        xs = step(step(np.zeros(size)))
        place = xs.ctypes.data
        xs = step(xs, donate=(0,))
        assert xs.ctypes.data == place
        assert np.all(xs == 3)
        del xs


def test_both_by_name() -> None:
    room, xs = np.empty(10_000), XS.copy()
    function: Any = untyped.runN(lambda xs: A.map(lambda x: x + 1, xs))
    assert function(xs, out=room, donate=(0,)) is room
    np.testing.assert_array_equal(room, XS + 1)
    with pytest.raises(AccelValueError, match="share memory"):
        function(room, out=room, donate=(0,))


@pytest.mark.parametrize("out", [np.empty(3), np.empty(XS.size, np.float32), (np.empty(XS.size),)])
def test_arguments_are_as_they_were_where_arrays_for_results_do_not_fit(out: Any) -> None:
    function: Any = untyped.runN(lambda xs: A.map(lambda x: x + 1, xs))
    for each in (function, called_before(function, XS)):
        xs = XS.copy()
        with pytest.raises((A.AccelShapeError, AccelTypeError)):
            each(xs, out=out, donate=(0,))
        np.testing.assert_array_equal(xs, XS)


def test_a_constant_of_the_function_is_not_donated() -> None:
    held = XS.copy()
    function: Any = untyped.runN(lambda xs: A.zipWith(A.add, xs, A.use(held)))
    for each in (function, called_before(function, XS)):
        with pytest.raises(AccelValueError, match="an array that the function holds share memory"):
            each(held, donate=(0,))
    np.testing.assert_array_equal(function(XS.copy(), donate=(0,)), XS + held)


@pytest.mark.parametrize(
    ("donate", "kind", "message"),
    [
        (0, AccelTypeError, "donate must be a tuple"),
        ((True,), AccelTypeError, "donate must be a tuple"),
        ((2,), AccelValueError, "no argument 2 to donate among 2"),
        ((-1,), AccelValueError, "no argument -1 to donate"),
        ((1, 1), AccelValueError, "has an argument twice"),
        (([1],), AccelTypeError, "donate must be a tuple"),
    ],
)
def test_numbers(donate: Any, kind: type[Exception], message: str) -> None:
    function: Any = untyped.runN(lambda xs, ys: A.zipWith(A.add, xs, ys))
    for each in (function, called_before(function, XS, XS, donate=(1,))):
        with pytest.raises(kind, match=message):
            each(XS.copy(), XS.copy(), donate=donate)


@pytest.mark.parametrize(
    ("array", "kind", "message"),
    [
        (XS[::2], AccelValueError, "not C-contiguous"),
        (XS[:50], AccelValueError, "in the memory of something else"),
        (np.broadcast_to(np.float64(1), (4,)), AccelValueError, "is read-only"),
        (np.frombuffer(bytearray(800)), AccelValueError, "in the memory of something else"),
        ([1.0], AccelTypeError, "must be a NumPy array"),
        (XS.view(np.recarray), AccelTypeError, "must be a NumPy array, got a recarray"),
    ],
)
def test_arrays(array: Any, kind: type[Exception], message: str) -> None:
    function: Any = untyped.runN(lambda xs: A.map(lambda x: x + 1, xs))
    for each in (function, called_before(function, XS)):
        with pytest.raises(kind, match=message):
            each(array, donate=(0,))


def test_other_threads_may_have_the_ways_forget_what_came_before(monkeypatch: pytest.MonkeyPatch) -> None:
    find = Ways.find

    def forgetting(ways: Ways, kinds: tuple[Kind, ...]) -> Known | None:
        found = find(ways, kinds)
        ways.forget()
        return found

    function = called_before(untyped.runN(lambda xs: A.map(lambda x: x + 1, xs)), XS)
    monkeypatch.setattr(Ways, "find", forgetting)
    for given in ({"donate": [0]}, {"out": np.empty(2 * XS.size)[::2]}):  # the long way
        function(XS)
        np.testing.assert_array_equal(function(XS.copy(), **given), XS + 1)


def test_one_array_for_two_parameters() -> None:
    xs = XS.copy()
    for donate in ((0,), (1,)):
        function: Any = untyped.runN(lambda xs, ys: A.zipWith(A.add, xs, ys))
        for each in (function, called_before(function, XS, XS, donate=donate)):
            with pytest.raises(AccelValueError, match=rf"donated argument {donate[0]} and argument .* share memory"):
                each(xs, xs, donate=donate)
            with pytest.raises(AccelValueError, match="donated argument 1 and argument 0 share memory"):
                each(xs[:10], xs, donate=(1,))


def test_parts_of_other_arguments_are_not_donated() -> None:
    xs = XS.copy()
    function: Any = untyped.runN(lambda xs, ps: A.zipWith(lambda x, p: x + p[0] * p[1], xs, A.reverse(ps)))
    with pytest.raises(AccelValueError, match="donated argument 0 and argument 1 share memory"):
        function(xs, (XS, xs[::-1]), donate=(0,))
    np.testing.assert_array_equal(xs, XS)


def test_what_another_argument_gives_is_not_taken() -> None:
    """Nothing but the conversion knows that a memoryview of an array lies in its memory."""
    function: Any = untyped.runN(lambda xs, ys: A.zipWith(A.add, xs, A.reverse(ys)))
    for _ in range(2):
        xs = XS.copy()
        np.testing.assert_array_equal(function(xs, xs.data, donate=(0,)), XS + XS[::-1])


@pytest.mark.slow
@pytest.mark.solver
@pytest.mark.parametrize("seed", range(30))
def test_random_programs(seed: int) -> None:
    """Elementwise programs over several arrays, some of which are read twice, at other places, or returned."""
    random = np.random.default_rng(seed)

    def program(*arrays: Any) -> Any:
        values, picks = list(arrays), np.random.default_rng(seed)
        for _ in range(int(picks.integers(1, 6))):
            one, other = (values[int(k)] for k in picks.integers(0, len(values), 2))
            match int(picks.integers(0, 5)):
                case 0:
                    values.append(A.zipWith(A.add, one, other))
                case 1:
                    values.append(A.zipWith(A.mul, one, A.reverse(other)))
                case 2:
                    values.append(A.zipWith(A.sub, other, A.replicate((A.size(other),), A.sum(one))))
                case 3:
                    values.append(A.scanl1(A.max, one))
                case _:
                    values.append(A.compute(A.map(lambda x: x * 3 + 1, one)))
        made = values[len(arrays) :]
        return (*(made[int(k)] for k in picks.integers(0, len(made), 2)), made[-1])

    arrays = [random.random(5_000) for _ in range(3)]
    for donate in ((0,), (2, 1), (0, 1, 2)):
        taken(program, *arrays, donate=donate)
