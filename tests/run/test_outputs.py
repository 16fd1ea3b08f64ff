"""`f(x, out=r)`: results in arrays of the caller's, or an error and nothing written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.calling import known
from tests import untyped

BACKENDS = ["interpreter", "llvm", pytest.param("opencl", marks=pytest.mark.opencl)]
XS = np.arange(6, dtype=np.float32)


@pytest.fixture(autouse=True, params=["copied", "written there"])
def least_bytes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small results, too, are written where they are to be, if they can."""
    if request.param == "written there":
        monkeypatch.setattr(known, "LARGE", 0)


def doubled(xs: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Vector[np.float32]]:
    return A.map(lambda x: x * 2, xs)


def several(xs: A.Acc[A.Vector[np.float32]]) -> Any:
    return doubled(xs), (A.sum(xs), A.map(lambda x: A.lift(x, x > 2), xs))


@pytest.mark.parametrize("backend", BACKENDS)
def test_one_result(backend: Any) -> None:
    function, room = untyped.runN(doubled, backend=backend), np.full(6, np.nan, np.float32)
    for _ in range(3):
        room[:] = np.nan
        assert function(XS, out=room) is room
        assert np.array_equal(room, XS * 2)
    assert np.array_equal(function(XS), XS * 2)


@pytest.mark.parametrize("backend", BACKENDS)
def test_several_results_nested_as_they_are(backend: Any) -> None:
    rooms = np.empty(6, np.float32), (np.empty((), np.float32), (np.empty(6, np.float32), np.empty(6, np.bool)))
    function: Any = untyped.runN(several, backend=backend)
    assert function(XS, out=rooms) is rooms
    twice, (total, (same, large)) = rooms
    assert np.array_equal(twice, XS * 2)
    assert total == XS.sum()
    assert np.array_equal(same, XS)
    assert np.array_equal(large, XS > 2)


@pytest.mark.parametrize("step", [-1, 2, 3])
def test_any_strides(step: int) -> None:
    memory = np.full(40, np.nan, np.float32)
    room = memory[::step][:6]
    untyped.runN(doubled)(XS, out=room)
    assert np.array_equal(room, XS * 2)
    assert np.isnan(memory).sum() == 34


def test_records_and_complex_numbers() -> None:
    points = np.array([(1, 2.5), (3, 4.5)], [("n", np.int64), ("x", np.float32)])
    room = np.zeros_like(points)
    untyped.runN(lambda ps: A.reverse(ps))(points, out=room)
    assert np.array_equal(room, points[::-1])


READ_ONLY = np.empty(6, np.float32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.empty(6), A.AccelTypeError, "out has elements of type float64, the result of type float32"),
        (np.empty(5, np.float32), A.AccelShapeError, r"out has shape \(5,\), the result \(6,\)"),
        (np.empty((6, 1), np.float32), A.AccelShapeError, r"out has shape \(6, 1\), the result \(6,\)"),
        (READ_ONLY, A.AccelValueError, "out is read-only"),
        (XS, A.AccelValueError, "out and argument 0 share memory"),
        (XS[::-1], A.AccelValueError, "out and argument 0 share memory"),
        ([0.0] * 6, A.AccelTypeError, "out must be a NumPy array, or a tuple of them for several results, got"),
        ((np.empty(6, np.float32),), A.AccelTypeError, "out must be one array, as the result is, got"),
    ],
)
@pytest.mark.parametrize("calls", [0, 1, 4])
def test_what_cannot_be_written_is_said_and_nothing_is_written(
    out: Any, error: type[A.AccelError], message: str, calls: int
) -> None:
    """The first call says so, and one that comes after others."""
    before, function = np.array(out, copy=True), untyped.runN(doubled)
    for _ in range(calls):
        function(XS, out=np.empty(6, np.float32))
    with pytest.raises(error, match=message) as raised:
        function(XS, out=out)
    assert "test_outputs.py" in str(raised.value)
    assert np.array(out).tobytes() == before.tobytes()


def test_nothing_is_written_if_the_last_of_several_is_wrong_or_the_program_fails() -> None:
    room = np.full(6, -1, np.float32)
    function: Any = untyped.runN(several)
    for wrong in (np.empty(6, np.float32), (np.empty(1, np.float32), (np.empty(6, np.float32), np.empty(6, np.bool)))):
        with pytest.raises(A.AccelError):
            function(XS, out=(room, wrong))
    with pytest.raises(A.AccelError, match=r"out\[0\] and out\[1\]\[0\] share memory"):
        function(XS, out=(room, (room[:1].reshape(()), (np.empty(6, np.float32), np.empty(6, np.bool)))))
    with pytest.raises(A.AccelIndexError):
        untyped.runN(lambda xs: A.map(lambda x: xs[A.truncate(x) + 1], xs))(XS, out=room)
    assert (room == -1).all()


def test_other_names_are_refused() -> None:
    function: Any = untyped.runN(doubled)
    for name in ("self", "into", "function", "name", "value", "arguments") * 3:
        function(XS)  # from then on its short ways are asked first
        with pytest.raises(A.AccelTypeError, match="by position; by name it takes `out` and `donate`, or `keep` alone"):
            function(XS, **{name: np.empty(6, np.float32)})


WRITTEN: dict[str, Callable[..., Any]] = {
    "a map": lambda m: A.map(lambda x: x * 2 + 1, m),
    "sums of rows": lambda m: A.fold(A.add, 0, m),
    "sums of columns": lambda m: A.fold(A.add, 0, A.transpose(m)),
    "a sum": lambda m: A.sum(A.sum(m)),
    "a transpose": A.transpose,
    "a scan": lambda m: A.scanl(A.add, 0, m),
    "a product": lambda m: A.matmul(m, A.transpose(m)),
    "three": lambda m: (A.map(lambda x: x + 1, m), A.fold(A.add, 0, m), A.transpose(m)),
    "what another loop has made": lambda m: A.map(lambda x: x / A.the(A.sum(A.sum(m))), m),
}
COPIED: dict[str, Callable[..., Any]] = {
    "a filter": lambda m: A.filter(lambda x: x > 0, A.flatten(m))[0],
    "an argument": lambda m: m,
    "the same twice": lambda m: (A.map(lambda x: x + 1, m), A.map(lambda x: x + 1, m)),
    "a gather, which may fail": lambda m: A.gather(A.map(lambda x: A.cast(x, np.int64), A.flatten(m)), A.flatten(m)),
    "after a loop": lambda m: A.iterate(3, lambda t: A.map(lambda x: x + 1, t), m),
    "two scans of rows, one after the other": lambda m: A.scanl(A.add, 0, A.scanr(A.add, 0, m)),
    "a scatter": lambda m: A.permute(A.add, m, lambda ix: A.just(A.index(ix[1], ix[0])), m),
}


def like(results: Any) -> Any:
    """Arrays for such results."""
    return tuple(map(like, results)) if isinstance(results, tuple) else np.full_like(results, 77)


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return all(map(same, found, expected))
    return bool(found.tobytes() == expected.tobytes())


@pytest.mark.parametrize("name", WRITTEN)
def test_written_where_they_are_to_be(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "LARGE", 0)
    monkeypatch.setattr(np, "copyto", None)
    for shape in ((5, 5), (40, 40), (1, 1)):
        m = np.random.default_rng(3).random(shape)
        function: Any = untyped.runN(WRITTEN[name])
        expected = function(m)
        room = like(expected)
        assert function(m, out=room) is room
        assert same(room, expected)


@pytest.mark.parametrize("name", COPIED)
def test_copied_to_where_they_are_to_be(name: str) -> None:
    m = np.arange(16.0).reshape(4, 4) % 7
    function: Any = untyped.runN(COPIED[name])
    expected = function(m)
    room = like(expected)
    assert function(m, out=room) is room
    assert same(room, expected)


def test_nothing_is_written_where_a_second_shape_is_wrong() -> None:
    function: Any = untyped.runN(WRITTEN["three"])
    m = np.ones((4, 4))
    rooms = np.full((4, 4), 7.0), np.full(5, 7.0), np.full((4, 4), 7.0)
    with pytest.raises(A.AccelShapeError, match=r"out\[1\] has shape \(5,\), the result \(4,\)"):
        function(m, out=rooms)
    assert all((room == 7).all() for room in rooms)


@pytest.mark.parametrize("calls", [0, 1, 4])
def test_nothing_is_written_where_a_check_fails(calls: int) -> None:
    function: Any = untyped.runN(lambda i, xs: A.map(lambda x: x + 1, A.gather(i, xs)))
    room = np.empty(6, np.float32)
    for _ in range(calls):
        function(np.arange(6), XS, out=room)
    room[:] = 7
    with pytest.raises(A.AccelIndexError, match=r"test_outputs\.py"):
        function(np.array([0, 1, 2, 3, 4, 6]), XS, out=room)
    assert (room == 7).all()


def test_small_results_are_written_there_once_many_were_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known, "LARGE", 1 << 20)
    monkeypatch.setattr(known, "COPIED", 24)
    function, room = untyped.runN(doubled), np.empty(6, np.float32)
    for _ in range(4):
        function(XS, out=room)
    monkeypatch.setattr(np, "copyto", None)
    for factor in (1, 3):
        assert same(function(XS * factor, out=room), XS * factor * 2)


def test_calls_of_other_kinds_in_turn() -> None:
    function: Any = untyped.runN(lambda xs, ys: (A.zipWith(A.add, xs, ys), A.sum(xs)))
    for _ in range(4):
        for kind in (np.float32, np.int64, np.complex64):
            xs: Any = np.arange(5).astype(kind)
            ys: Any = np.arange(10).astype(kind)[::2]
            rooms = np.empty(5, kind), np.empty((), kind)
            assert function(xs, ys, out=rooms) is rooms
            assert same(rooms, (xs + ys, xs.sum()))
            with A.using(backend="interpreter"):
                assert same(function(xs, ys, out=like(rooms)), rooms)


def test_an_array_that_the_function_holds_may_be_written_at_last() -> None:
    held = np.arange(6, dtype=np.float32)
    function: Any = untyped.runN(lambda xs: A.zipWith(A.add, xs, A.reverse(A.use(held))))
    first = function(XS)
    held.flags.writeable = True
    assert same(function(XS, out=held), first)


def test_a_part_of_a_larger_array() -> None:
    memory = np.full(40, 7, np.float32)
    function = untyped.runN(doubled)
    function(XS, out=memory[10:16])
    assert np.array_equal(memory[10:16], XS * 2)
    assert (memory[:10] == 7).all()
    assert (memory[16:] == 7).all()


def reversed_and_added(pairs: Any) -> Any:
    return A.zipWith(A.add, A.reverse(A.map(A.fst, pairs)), A.map(A.snd, pairs))


def test_what_lies_in_a_part_of_an_argument_is_refused() -> None:
    xs, ys = XS.copy(), XS * 10
    for room in (xs, ys, xs[::-1]):
        with pytest.raises(A.AccelValueError, match="out and argument 0 share memory"):
            untyped.runN(reversed_and_added)((xs, ys), out=room)
    nested: Any = untyped.runN(lambda pairs, zs: A.zipWith(lambda p, z: p[0][0] + p[0][1] + p[1] + z, pairs, zs))
    with pytest.raises(A.AccelValueError, match="out and argument 0 share memory"):
        nested(((xs, ys), XS), XS, out=ys)
    assert same(xs, XS)
    assert same(ys, XS * 10)


class Given:
    """What NumPy makes an array of without a copy."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __array__(self, dtype: object = None, copy: object = None) -> Any:
        return self._array


@pytest.mark.parametrize("as_given", [memoryview, Given, lambda array: (Given(array), array.copy())])
def test_arrays_that_arguments_give_are_read_before_they_are_written(as_given: Any) -> None:
    """A memoryview of an array lies in its memory, and nothing but the conversion knows that."""

    def program(xs: Any, ys: Any) -> Any:
        first = xs if isinstance(as_given, type) else A.map(A.fst, xs)
        return A.zipWith(A.add, A.reverse(first), ys)

    xs = np.arange(1000, dtype=np.float32)
    room = xs.copy()
    for _ in range(3):
        room[:] = xs
        assert same(untyped.runN(program)(as_given(room), xs, out=room), xs[::-1] + xs)


def test_the_hint_makes_an_array_for_records() -> None:
    records = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", np.int32), ("b", np.float64)])
    function: Any = untyped.runN(lambda ps: ps)
    for wrong, message in ((np.empty(2), "elements of type float64"), (np.empty(3, records.dtype), "has shape")):
        with pytest.raises(A.AccelError, match=message) as raised:
            function(records, out=wrong)
        _, _, made = str(raised.value).partition("make it by ")
        room = eval(made, {"np": np, "shape": 2})
        np.testing.assert_array_equal(function(records, out=room), records)


@pytest.mark.parametrize("backend", BACKENDS)
def test_elements_that_share_memory_are_refused(backend: Any) -> None:
    """Whichever would be written last would be found in all."""
    function: Any = untyped.runN(doubled, backend=backend)
    memory, strided = np.full(64, np.nan, np.float32), np.lib.stride_tricks.as_strided
    for wrong in (strided(memory, (6,), (0,)), strided(memory, (6,), (2,)), strided(memory[20:], (6,), (-3,))):
        with pytest.raises(A.AccelValueError, match="elements of out share memory with each other"):
            function(XS, out=wrong)
    assert np.isnan(memory).all()
    matrix = XS.reshape(2, 3)
    both: Any = A.runN(lambda xs: A.map(lambda x: x * 2, xs), backend=backend)
    with pytest.raises(A.AccelValueError, match="share memory with each other"):
        both(matrix, out=strided(memory, (2, 3), (8, 4)))
    for steps in ((12, 4), (4, 8), (-12, -4), (16, 4)):
        room = strided(memory[30:], (2, 3), steps)
        assert np.array_equal(both(matrix, out=room), matrix * 2)
    assert function(XS[:0], out=strided(memory, (0,), (0,))).shape == (0,)
