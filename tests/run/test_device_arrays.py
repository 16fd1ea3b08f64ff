"""Arrays that stay on a device: the same programs and results on every backend, and no copy that is not asked for."""

from __future__ import annotations

import copy
import gc
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import accel as A
from accel.backends.opencl.machine.memory import Held, Memory
from accel.backends.protocol import HostArray
from accel.errors import AccelDeviceError, AccelError, AccelShapeError, AccelTypeError
from tests import untyped
from tests.marks import require_device

Any_ = A.DeviceArray[Any, Any]  # Any: of types known at run time

on_each = pytest.mark.parametrize("name", ["opencl", "llvm", "interpreter"])
"""Of a family the first case is quick."""

RECORDS = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", np.int32), ("b", np.float64)])

ARRAYS = [
    *(np.arange(6).astype(kind).reshape(2, 3) for kind in ("i1", "u2", "i4", "u8", "f4", "f8")),
    np.array([True, False, True]),
    np.array([[1 + 2j, 3j]]),
    np.array([1 + 2j, 3j], np.complex64),
    RECORDS,
    np.array(7.5),
    np.zeros((0, 3), np.float32),
    np.arange(12.0)[::3],
    np.arange(6.0).reshape(2, 3).T,
    np.arange(3, dtype=">i4"),
    np.array([0, 2, 1], np.uint8).view(np.bool_),  # bytes other than 0 and 1
]


@pytest.fixture(autouse=True)
def _device(request: pytest.FixtureRequest) -> None:
    """Skip what there is no device for."""
    if request.node.get_closest_marker("opencl"):
        require_device()


@on_each
@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}-{array.shape}")
def test_what_is_put_comes_back(name: str, array: np.ndarray[Any, np.dtype[Any]]) -> None:
    put: Any_ = A.put(array, backend=name)
    assert isinstance(put, A.DeviceArray)
    assert (put.shape, put.ndim, put.rank, put.size) == (array.shape, array.ndim, array.ndim, array.size)
    assert put.dtype == array.dtype.newbyteorder("=")
    assert put.nbytes == array.nbytes
    found = put.get()
    np.testing.assert_array_equal(found, array != 0 if array.dtype == np.bool_ else array)
    assert found.flags.writeable
    assert found.flags.c_contiguous
    np.testing.assert_array_equal(np.asarray(put), found)
    assert f"shape={array.shape}" in repr(put)
    assert repr(name) in repr(put)


@on_each
def test_the_array_may_be_changed_afterwards(name: str) -> None:
    array = np.zeros(1 << 16)
    put = A.put(array, backend=name)
    array[:] = 1
    found = put.get()
    assert not found.any()
    found[:] = 2
    seen = np.asarray(put)  # a copy, where the host does not reach the device's memory
    with nullcontext() if seen.flags.writeable else pytest.raises(ValueError, match="read-only"):
        seen[:] = 3
    assert not put.get().any()


@on_each
def test_results_stay_if_an_argument_does_or_if_they_are_to(name: str) -> None:
    add = untyped.runN(lambda xs, ys: A.zipWith(A.add, xs, ys), backend=name)
    xs, ys = np.arange(5.0), np.ones(5)
    assert isinstance(add(xs, ys), np.ndarray)
    put = A.put(xs, backend=name)
    for found in (add(put, ys), add(xs, A.put(ys, backend=name)), add(xs, ys, keep=True)):
        assert isinstance(found, A.DeviceArray)
        np.testing.assert_array_equal(found.get(), xs + 1)
    assert isinstance(add(xs, ys, keep=False), np.ndarray)
    again = add(add(put, ys), add(put, ys))
    np.testing.assert_array_equal(again.get(), 2 * xs + 2)


@on_each
def test_run_takes_them_and_leaves_results(name: str) -> None:
    put = A.put(np.arange(5.0), backend=name)
    program = A.map(lambda x: x * 2, A.use(put))
    for _ in range(3):  # built, found again by its structure
        np.testing.assert_array_equal(untyped.run(program, backend=name), 2 * np.arange(5.0))
        kept = untyped.run(program, keep=True, backend=name)
        assert isinstance(kept, A.DeviceArray)
        np.testing.assert_array_equal(kept.get(), 2 * np.arange(5.0))
    both = untyped.run((program, (A.sum(program), program)), keep=True, backend=name)
    assert isinstance(both, tuple)
    assert both[1][0].get() == 20


class Pair(NamedTuple):
    x: object
    y: object


@on_each
def test_forms_are_those_of_the_host(name: str) -> None:
    def several(xs: Any, zs: Any, rs: Any) -> Any:  # Any: of no interest here
        pairs = A.zip(xs, A.map(lambda x: x > 1, xs))
        return pairs, (A.map(lambda z: z * z, zs), A.map(lambda x: A.cond(x > 0, A.just(x), A.nothing()), xs)), rs

    f = untyped.runN(several, backend=name)
    arguments = np.arange(3.0), np.array([1j, 2, 3 + 1j]), RECORDS
    here, there = f(*arguments), f(*A.put(arguments, backend=name))
    assert _shapes(here) == _shapes(there)
    for one, other in zip(_flat(here), _flat(there), strict=True):
        np.testing.assert_array_equal(one, other.get())


def _flat(nested: object) -> list[Any]:
    return [leaf for part in nested for leaf in _flat(part)] if isinstance(nested, tuple) else [nested]


def _shapes(nested: object) -> object:
    if isinstance(nested, tuple):
        return type(nested), [_shapes(part) for part in nested]
    assert isinstance(nested, np.ndarray | A.DeviceArray)
    return nested.shape, nested.dtype


@on_each
def test_tuples_are_put_part_by_part(name: str) -> None:
    def f(pairs: Any) -> Any:  # Any: of no interest here
        return A.map(lambda pair: pair[0] * 2 + A.round(pair[1]), pairs)

    pair = A.put((np.arange(3), np.ones(3)), backend=name)
    assert [type(part) for part in pair] == [A.DeviceArray, A.DeviceArray]
    total = untyped.runN(f, backend=name)
    np.testing.assert_array_equal(total(pair).get(), [1, 3, 5])
    np.testing.assert_array_equal(total((np.arange(3), pair[1])).get(), [1, 3, 5])
    named = A.put(Pair(np.arange(3.0), np.ones(3)), backend=name)
    assert isinstance(named, Pair)


@on_each
def test_results_that_are_arguments_or_filtered_or_the_same(name: str) -> None:
    def f(xs: Any, ys: Any) -> Any:  # Any: of no interest here
        kept, _ = A.filter(lambda x: x % 1000 == 0, xs)
        return xs, ys, kept, kept, A.reshape((10, 1000), xs), A.map(lambda x: x + 1, kept)

    xs, ys = np.arange(10_000), np.zeros((3, 0))
    found = untyped.runN(f, backend=name)(A.put(xs, backend=name), ys)
    for one, other in zip(found, (xs, ys, xs[::1000], xs[::1000], xs.reshape(10, 1000), xs[::1000] + 1), strict=True):
        np.testing.assert_array_equal(one.get(), other)


@on_each
def test_a_result_does_not_change_with_an_argument_of_the_host(name: str) -> None:
    xs = np.arange(1 << 12)
    _, kept = untyped.runN(lambda xs, ys: (A.sum(xs), ys), backend=name)(A.put(xs, backend=name), xs)
    xs[:] = 0
    np.testing.assert_array_equal(kept.get(), np.arange(1 << 12))


@on_each
def test_loops_fold_over_them(name: str) -> None:
    def doubled(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.float64]]:
        return A.awhile(lambda s: A.unit(A.the(A.sum(s)) < 1000), lambda s: A.map(lambda x: x * 2, s), xs)

    step = untyped.runN(doubled)
    with A.using(backend=name):
        np.testing.assert_array_equal(step(A.put(np.ones(10))).get(), np.full(10, 128.0))


@on_each
def test_everything_that_runs_takes_them(name: str, tmp_path: Path) -> None:
    def total(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Scalar[np.float64]]:
        return A.sum(xs)

    put = A.put(np.arange(6.0), backend=name)
    assert A.runAsync(A.sum(A.use(put)), backend=name, keep=True).result().get() == 15
    assert A.runAsync(A.sum(A.use(put)), backend=name).result() == 15
    assert [found.get() for found in A.stream(untyped.runN(total, backend=name), [put, put])] == [15, 15]
    assert A.run1(total, backend=name)(put).get() == 15
    assert A.explain(total, put, backend=name).extents
    if name != "interpreter":
        assert A.profile(total, put, backend=name).loops
        assert untyped.runN(total, backend=name, rearrange="measure")(put).get() == 15
    assert untyped.runN(total, backend=name, sizes="actual")(put).get() == 15
    room = np.empty(())
    assert untyped.runN(total, backend=name)(put, out=room) is room
    assert room == 15


@on_each
def test_others_see_them_without_a_copy_where_the_host_has_the_memory(name: str) -> None:
    put = A.put(np.arange(1 << 16), backend=name)
    if put.__dlpack_device__()[0] == 1:
        shown = np.from_dlpack(put)
        assert np.shares_memory(shown, np.asarray(put, copy=False))
        assert not shown.flags.writeable
        np.testing.assert_array_equal(shown, np.arange(1 << 16))
        del put
        gc.collect()
        np.testing.assert_array_equal(shown, np.arange(1 << 16))
    else:
        with pytest.raises(ValueError, match="have to be copied"):
            np.asarray(put, copy=False)
    assert np.asarray(A.put(np.arange(3), backend=name), np.float32).dtype == np.float32
    numbers = A.put(np.ones(3, np.complex64), backend=name)
    with pytest.raises(AccelTypeError, match="2 parts"):
        np.from_dlpack(numbers)
    with pytest.raises(AccelTypeError, match="2 parts"):
        _ = numbers.data


@on_each
def test_copies_are_the_array_itself(name: str) -> None:
    put = A.put(np.arange(3), backend=name)
    assert copy.copy(put) is put
    assert copy.deepcopy(put) is put
    assert A.put(put, backend=name) is put
    assert len(put) == 3
    with pytest.raises(TypeError, match="rank 0"):
        len(A.put(np.float32(1), backend=name))


@on_each
def test_shapes_and_types_are_checked_as_ever(name: str) -> None:
    with pytest.raises(AccelShapeError, match="tuple needs arrays of one shape"):
        A.use((A.put(np.ones(3), backend=name), np.ones(4)))
    with pytest.raises(AccelTypeError, match="list"):
        A.put([1, 2], backend=name)  # type: ignore[call-overload]  # what is tested
    with pytest.raises(AccelTypeError, match="empty tuple"):
        A.put((), backend=name)
    add = untyped.runN(lambda xs, ys: A.zipWith(A.add, A.map(A.neg, xs), ys), backend=name)
    with pytest.raises(AccelShapeError, match=r"\(3,\) and \(4,\)"):
        add(A.put(np.ones(3), backend=name), np.ones(4))


@on_each
def test_annotations_hold_for_them(name: str) -> None:
    @A.runN(backend=name)
    def total(xs: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
        return A.sum(xs)

    with pytest.raises(AccelTypeError, match="f64"):
        total(A.put(np.ones(3), backend=name))
    with pytest.raises(AccelTypeError, match="rank"):
        total(A.put(np.ones((3, 3), np.float32), backend=name))


def test_the_default_is_where_programs_run() -> None:
    assert A.put(np.ones(3)).backend == "llvm"
    with A.using(backend="interpreter"):
        assert A.put(np.ones(3)).backend == "interpreter"


@pytest.mark.opencl
def test_arrays_of_another_device_are_refused() -> None:
    put = A.put(np.arange(3.0), backend="opencl")
    for name in ("llvm", "interpreter"):
        for _ in range(3):  # also by the direct way to a program that has run
            with pytest.raises(AccelDeviceError, match=r"lies on opencl[\s\S]*A.put\(x, backend='" + name):
                untyped.runN(A.sum, backend=name)(put)
            with pytest.raises(AccelDeviceError, match="lies on opencl"):
                untyped.run(A.sum(A.use(put)), backend=name)
        inside = untyped.runN(lambda xs: A.zipWith(A.add, xs, A.use(put)), backend=name)
        for _ in range(4):
            with pytest.raises(AccelDeviceError, match="lies on opencl"):
                inside(np.arange(3.0))
        np.testing.assert_array_equal(untyped.runN(A.sum, backend=name)(A.put(put, backend=name)).get(), 3)
    # What lies in the host's memory any device may read.
    assert untyped.runN(A.sum, backend="opencl")(A.put(np.arange(3.0), backend="llvm")).get() == 3


@pytest.mark.opencl
def test_one_device_has_one_memory() -> None:
    put = A.put(np.arange(3.0), backend="opencl")
    assert untyped.runN(A.sum, backend="opencl:0", threads=1)(put).get() == 3
    with A.using(threads=2):
        assert untyped.runN(A.sum, backend="opencl")(A.put(put, backend="opencl:0")).get() == 3


@pytest.fixture
def copies(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The copies between host and device, and the mappings, that are made from now on; also by the host itself."""
    pyopencl = pytest.importorskip("pyopencl")
    made: list[str] = []
    for name in ("enqueue_copy", "enqueue_map_buffer"):
        original = getattr(pyopencl, name)

        def counted(queue: Any, *arguments: Any, name: str = name, original: Any = original, **options: Any) -> Any:
            # Any: passed on
            if name == "enqueue_map_buffer" or any(isinstance(each, np.ndarray) for each in arguments):
                made.append(name)
            return original(queue, *arguments, **options)

        monkeypatch.setattr(pyopencl, name, counted)
    reach = Memory.reached_bytes

    def reached(memory: Memory, held: Held) -> HostArray | None:
        host = reach(memory, held)
        if host is not None:
            made.append("host")
        return host

    monkeypatch.setattr(Memory, "reached_bytes", reached)
    return made


@pytest.mark.opencl
def test_a_call_on_device_arrays_copies_nothing(copies: list[str]) -> None:
    both = untyped.runN(lambda xs: (A.map(lambda x: x / 2, xs), A.sum(xs), A.scanl1(A.add, xs)), backend="opencl")
    put = A.put(np.arange(1000.0), backend="opencl")
    for _ in range(4):  # kernels are told where buffers lie, which are mapped for that once
        copies.clear()
        halves, total, sums = both(both(put)[0])
    assert not copies
    np.testing.assert_array_equal(halves.get(), np.arange(1000.0) / 4)
    np.testing.assert_array_equal(sums.get(), np.cumsum(np.arange(1000.0) / 2))
    assert total.get() == 249750
    assert copies


@pytest.mark.opencl
def test_memory_is_counted_and_freed() -> None:
    (device,) = [device for device in A.devices() if device.backend in ("opencl", "opencl:0")]
    gc.collect()
    before = device.memory
    assert before is not None
    put = A.put(np.zeros(1 << 20, np.uint8), backend="opencl")
    during = device.memory
    assert during is not None
    assert during.used == before.used + (1 << 20)
    assert during.used <= during.total
    del put
    after = device.memory
    assert after is not None
    assert after.used == before.used
    assert after.unused >= 1 << 20
    for each in A.devices():
        each.free()
    emptied = device.memory
    assert emptied is not None
    assert emptied.unused == 0
    assert A.devices()[0].memory is None


@pytest.mark.opencl
@pytest.mark.parametrize("calls", [2000, pytest.param(100_000, marks=pytest.mark.long)])
def test_calls_on_device_arrays_keep_memory_flat(calls: int) -> None:
    (device,) = [device for device in A.devices() if device.backend in ("opencl", "opencl:0")]
    step = untyped.runN(lambda xs: A.map(lambda x: x + 1, xs), backend="opencl")
    put = A.put(np.zeros(1000), backend="opencl")
    step(put)
    gc.collect()
    before = device.memory
    assert before is not None
    found = put
    for _ in range(calls):
        found = step(found)
    assert found.get()[0] == calls
    after = device.memory
    assert after is not None
    assert after.used - before.used <= 1 << 15
    assert after.unused - before.unused <= 1 << 16


@pytest.mark.opencl
def test_a_filter_does_not_hold_on_to_what_it_read() -> None:
    (device,) = [device for device in A.devices() if device.backend in ("opencl", "opencl:0")]
    few = untyped.runN(lambda xs: A.filter(lambda x: x < 3, xs)[0], backend="opencl")
    put = A.put(np.arange(1 << 20), backend="opencl")
    gc.collect()
    before = device.memory
    found = few(put)
    after = device.memory
    assert before is not None
    assert after is not None
    assert after.used - before.used < 1 << 16
    np.testing.assert_array_equal(found.get(), [0, 1, 2])


@on_each
def test_an_index_that_fails_is_found_in_the_call(name: str) -> None:
    pick = untyped.runN(lambda xs, indices: A.gather(indices, xs), backend=name)
    put = A.put(np.arange(3.0), backend=name)
    with pytest.raises(AccelError):
        pick(put, np.array([0, 7]))
    with pytest.raises(AccelShapeError):
        untyped.runN(lambda xs: A.reshape((2, 2), xs), backend=name)(put)
