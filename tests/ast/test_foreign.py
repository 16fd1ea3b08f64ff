"""Objects of other libraries: what NumPy can see is taken; what fails or lies about itself is an error at the user's line."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.ast.evaluation import check

XS = np.arange(3)


class WithArray:
    """`__array__` gives what it is told, or raises it."""

    def __init__(self, given: object) -> None:
        self.given = given

    def __array__(self, dtype: object = None, copy: object = None) -> Any:  # Any: lies are the point
        if isinstance(self.given, BaseException):
            raise self.given
        return self.given


class WithInterface:
    """The entries of an honest `__array_interface__`, some of them changed; None takes one away."""

    def __init__(self, array: np.ndarray[Any, np.dtype[Any]] = XS, **changed: object) -> None:
        self.array = array  # lives as long as its memory is shown
        entries = {**array.__array_interface__, **changed}
        self.__array_interface__ = {name: entry for name, entry in entries.items() if entry is not None}


class WithStruct:
    def __init__(self, given: object) -> None:
        self.__array_struct__ = given


class WithDLPack:
    def __init__(self, give: Callable[..., object], device: object = (1, 0)) -> None:
        self.give, self.device = give, device

    def __dlpack__(self, **options: object) -> object:
        return self.give(**options)

    def __dlpack_device__(self) -> Any:  # Any: lies are the point
        return self.device


class WithProperty:
    """One that raises when it is only asked for the name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> object:
        if name == self._name:
            raise RuntimeError(f"no {name} today")
        raise AttributeError(name)


@pytest.mark.llvm
@pytest.mark.parametrize(
    "given",
    [
        WithInterface(),
        WithInterface(np.arange(6)[::2]),
        WithStruct(XS.__array_struct__),
        WithInterface(data=XS.tobytes()),
        WithInterface(data=np.arange(2, -1, -1).tobytes(), strides=(-8,), offset=16),
        SimpleNamespace(__array_interface__=XS.__array_interface__, __cuda_array_interface__={}),
        WithArray(XS),
        WithDLPack(XS.__dlpack__),
    ],
)
def test_what_numpy_sees_is_taken(given: Any) -> None:
    array = np.arange(6)[::2] if isinstance(given, WithInterface) and given.array.strides == (16,) else XS
    check(A.use(given), array)
    np.testing.assert_array_equal(untyped.runN(lambda xs: A.map(lambda x: x + 1, xs))(given), array + 1)


@pytest.mark.llvm
def test_an_interface_keeps_its_object_alive() -> None:
    program = A.map(lambda x: x + 1, A.use(WithInterface(np.arange(100_000))))
    np.testing.assert_array_equal(untyped.run(program), np.arange(1, 100_001))


def test_an_interface_that_is_not_aligned_is_copied_into_place() -> None:
    memory = np.arange(33, dtype=np.uint8)
    given = WithInterface(memory, shape=(4,), typestr="<i8", data=(memory.ctypes.data + 1, False))
    check(A.use(given), memory[1:].copy().view(np.int64))


def tampered(offset: int, kind: Any, value: int) -> Callable[..., object]:
    """A capsule of DLPack whose tensor has other entries. Any: a type of ctypes."""

    def give(**options: object) -> object:
        capsule = np.arange(3).__dlpack__()
        pointer = ctypes.pythonapi.PyCapsule_GetPointer
        pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        address = pointer(capsule, b"dltensor")
        kind.from_address(address + offset).value = value
        return capsule

    return give


def negative(**options: object) -> object:
    capsule = np.arange(3).__dlpack__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    shape = ctypes.c_void_p.from_address(pointer(capsule, b"dltensor") + 24).value
    assert shape is not None
    ctypes.c_int64.from_address(shape).value = -3
    return capsule


def used(**options: object) -> object:
    capsule = XS.__dlpack__()
    np.from_dlpack(WithDLPack(lambda **_: capsule))  # type: ignore[arg-type]  # as protocols go, it is one
    return capsule


def raising(error: BaseException) -> Callable[..., object]:
    def give(**options: object) -> object:
        raise error

    return give


class Unprintable(Exception):
    def __str__(self) -> str:
        raise ZeroDivisionError


WRONG: dict[str, object] = {
    "__array__ of a text": WithArray("abc"),
    "__array__ of a list": WithArray([1, 2]),
    "__array__ of nothing": WithArray(None),
    "__array__ of objects": WithArray(np.array([1, None])),
    "__array__ of texts": WithArray(np.array(["a"])),
    "__array__ of long complex numbers": WithArray(np.array([1j], np.clongdouble)),
    "__array__ of dates": WithArray(np.array(["2024-01-01"], "M8[D]")),
    "__array__ that raises": WithArray(RuntimeError("not now")),
    "__array__ that raises a KeyError": WithArray(KeyError("x")),
    "__array__ that raises what has no text": WithArray(Unprintable()),
    "__array__ that recurses": WithArray(RecursionError()),
    "__array__ that stops": WithArray(StopIteration()),
    "__array__ of another signature": type("Odd", (), {"__array__": lambda self, a, b, c, d: XS})(),
    "a property that raises": WithProperty("__array__"),
    "an interface that raises": WithProperty("__array_interface__"),
    "a capsule that raises": WithProperty("__dlpack__"),
    "a GPU's interface that raises": WithProperty("__cuda_array_interface__"),
    "an interface of nothing": SimpleNamespace(__array_interface__=None),
    "an interface of a text": SimpleNamespace(__array_interface__="abc"),
    "an interface without entries": SimpleNamespace(__array_interface__={}),
    "an interface without a shape": WithInterface(shape=None),
    "an interface without a type": WithInterface(typestr=None),
    "an interface without data": WithInterface(data=None),
    "a text as data": WithInterface(data="abc"),
    "a text as address": WithInterface(data=("abc", False)),
    "a float as address": WithInterface(data=(1.5, False)),
    "an address alone": WithInterface(data=(XS.ctypes.data,)),
    "a dictionary as data": WithInterface(data={"address": 1}),
    "no address": WithInterface(data=(0, False)),
    "too little data": WithInterface(data=b"abc"),
    "one byte too little": WithInterface(data=bytearray(23)),
    "data that begins too late": WithInterface(data=bytes(24), offset=8),
    "strides out of the data": WithInterface(data=bytes(24), strides=(16,)),
    "strides before the data": WithInterface(data=bytes(24), strides=(-8,)),
    "a negative extent": WithInterface(shape=(-3,)),
    "a text as shape": WithInterface(shape="abc"),
    "an extent of 2^62": WithInterface(shape=(2**62, 2**62)),
    "65 dimensions": WithInterface(shape=(1,) * 65),
    "a type that is nonsense": WithInterface(typestr="nonsense"),
    "a type of objects": WithInterface(typestr="|O8"),
    "a type of texts": WithInterface(typestr="<U2"),
    "a type of an odd size": WithInterface(typestr="<i3"),
    "a number as type": WithInterface(typestr=8),
    "strides of a text": WithInterface(strides="abc"),
    "strides of another rank": WithInterface(strides=(8, 8)),
    "a struct of nothing": WithStruct(None),
    "a struct of a text": WithStruct("abc"),
    "a struct that is another capsule": WithStruct(XS.__dlpack__()),
    "no capsule": WithDLPack(lambda **_: None),
    "a text as capsule": WithDLPack(lambda **_: "abc"),
    "another capsule": WithDLPack(lambda **_: XS.__array_struct__),
    "a capsule that was used": WithDLPack(used),
    "a capsule on a GPU": WithDLPack(tampered(8, ctypes.c_int32, 2)),
    "a capsule of opaque handles": WithDLPack(tampered(20, ctypes.c_uint8, 3)),
    "a capsule of numbers of 13 bits": WithDLPack(tampered(21, ctypes.c_uint8, 13)),
    "a capsule of vectors": WithDLPack(tampered(22, ctypes.c_uint16, 4)),
    "a capsule of 1000 dimensions": WithDLPack(tampered(16, ctypes.c_int32, 1000)),
    "a capsule of -1 dimensions": WithDLPack(tampered(16, ctypes.c_int32, -1)),
    "a capsule at no address": WithDLPack(tampered(0, ctypes.c_int64, 0)),
    "a capsule of a negative extent": WithDLPack(negative),
    "a __dlpack__ that raises": WithDLPack(raising(BufferError("on the moon"))),
    "a __dlpack__ of another signature": SimpleNamespace(__dlpack__=lambda a, b: 1, __dlpack_device__=lambda: (1, 0)),
    "a __dlpack__ that is none": SimpleNamespace(__dlpack__=1),
    "only a GPU's interface": SimpleNamespace(__cuda_array_interface__={"shape": (3,)}),
    "a buffer of pointers": memoryview((ctypes.c_void_p * 3)()),
    "a buffer of texts": memoryview(b"abc").cast("c"),
    "nothing at all": object(),
}


def released() -> memoryview:
    view = memoryview(b"abc")
    view.release()
    return view


WRONG["a buffer that was released"] = released()


@pytest.mark.parametrize("name", WRONG)
def test_what_fails_or_lies_is_an_error_at_the_users_line(name: str) -> None:
    given: Any = WRONG[name]
    function = untyped.runN(lambda xs: A.map(lambda x: x, xs))
    with pytest.raises(A.AccelTypeError) as used:
        A.use(given)
    with pytest.raises(A.AccelTypeError) as paired:
        A.use((XS, given))
    with pytest.raises(A.AccelTypeError) as run:
        function(given)
    for caught, call in ((used, "A.use(given)"), (paired, "A.use((XS, given))"), (run, "function(given)")):
        assert caught.value.where is not None
        assert caught.value.where.file == __file__
        assert caught.value.where.call() == call
        assert caught.value.hint is not None


def test_what_was_raised_is_the_cause() -> None:
    error = RuntimeError("not now\nand not later")
    with pytest.raises(A.AccelTypeError) as caught:
        A.use(WithArray(error))
    assert caught.value.__cause__ is error
    assert caught.value.message == "use takes arrays, and a WithArray failed to give one: RuntimeError: not now"
    assert caught.value.hint == "convert it before: `A.use(np.array(...))`"


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), SystemExit(3), MemoryError("full"), A.AccelIndexError("inside")]
)
def test_what_is_no_fault_of_the_object_passes(error: BaseException) -> None:
    for given in (WithArray(error), WithDLPack(raising(error))):
        with pytest.raises(type(error)) as caught:
            A.use(given)
        assert caught.value is error
