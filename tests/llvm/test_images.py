"""Object code that is linked here: it does what LLVM's linker makes of it, and is freed. What a processor says of itself."""

from __future__ import annotations

import ctypes
import gc
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from accel.backends.llvm.machine import identity, loading
from accel.backends.llvm.machine.image import Unlinkable, linked
from accel.backends.llvm.machine.loading import Library, load
from accel.backends.llvm.machine.system import has_images
from accel.backends.llvm.machine.target import host

pytestmark = pytest.mark.skipif(not has_images(), reason="LLVM links code here")

USER = """@numbers = private constant [4 x i64] [i64 3, i64 1, i64 4, i64 1]
declare i64 @other(i64)
declare i64 @given(i64)
declare i64 @strlen(ptr)
@text = private constant [6 x i8] c"ab cd\\00"
define internal i64 @own(i64 %x) nounwind noinline {
  %place = getelementptr i64, ptr @numbers, i64 %x
  %found = load i64, ptr %place
  ret i64 %found
}
define i64 @all(i64 %x) nounwind {
  %a = call i64 @own(i64 %x)
  %b = call i64 @other(i64 %a)
  %c = call i64 @given(i64 %b)
  %d = call i64 @strlen(ptr @text)
  %e = mul i64 %c, 10
  %f = add i64 %e, %d
  ret i64 %f
}
define double @half(double %x) nounwind {
  %y = fmul double %x, 0x3FE3333333333333
  ret double %y
}
"""

OTHER = """define i64 @other(i64 %x) nounwind {
  %y = mul i64 %x, 7
  ret i64 %y
}
"""

EXPORTS = ("all", "half")


def objects() -> list[bytes]:
    return [host().compile(text) for text in (USER, OTHER)]


def given() -> tuple[object, Mapping[str, int]]:
    """A function of Python's, and its address."""
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(lambda x: x - 1)
    return function, {"given": ctypes.cast(function, ctypes.c_void_p).value or 0}


def test_it_does_what_llvm_makes_of_it() -> None:
    held, imports = given()
    by_llvm = Library(*host().load(objects(), EXPORTS, imports))
    for library in (load(objects(), EXPORTS, imports), by_llvm):
        number = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library.addresses["all"])
        assert [number(x) for x in range(4)] == [10 * (7 * y - 1) + 5 for y in (3, 1, 4, 1)]
        half = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(library.addresses["half"])
        assert half(2.0) == 2.0 * 0.6
    assert held is not None


def test_all_programs_code_is_linked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """LLVM's linker is for other systems: what accel generates has no need of it."""

    def refuse(*arguments: object) -> None:
        raise AssertionError("LLVM links")

    monkeypatch.setattr(type(host()), "load", refuse)
    held, imports = given()
    assert load(objects(), EXPORTS, imports).addresses.keys() == set(EXPORTS)
    assert held is not None


def mapped_at(address: int) -> str | None:
    """What a process may do with the memory there; None if there is none."""
    for line in Path("/proc/self/maps").read_text(encoding="ascii").splitlines():
        span, rights = line.split()[:2]
        start, end = (int(part, 16) for part in span.split("-"))
        if start <= address < end:
            return rights
    return None


def test_code_cannot_be_written_and_is_freed() -> None:
    held, imports = given()
    library = load(objects(), EXPORTS, imports)
    address = library.addresses["all"]
    assert mapped_at(address) == "r-xp"
    assert held is not None
    files, sizes = objects(), []
    for count in (21, 279):
        for _ in range(count):
            load(files, EXPORTS, imports)
        sizes.append(len(Path("/proc/self/maps").read_text(encoding="ascii").splitlines()))
    assert sizes[1] <= sizes[0] + 2
    del library
    gc.collect()
    assert mapped_at(address) in (None, "rw-p")  # something else may lie there by now


def test_a_symbol_that_nobody_has() -> None:
    with pytest.raises(RuntimeError, match="ymbols"):
        load(objects(), EXPORTS, {})


def test_an_export_that_there_is_not() -> None:
    held, imports = given()
    with pytest.raises(KeyError):
        load(objects(), ("none",), imports)
    assert held is not None


def cut() -> Iterable[bytes]:
    whole = objects()[0]
    return [b"", b"\x7fELF", whole[:64], whole[:-1], whole[: len(whole) // 2], b"\x7fELG" + whole[4:]]


@pytest.mark.parametrize("number", range(6))
def test_what_is_no_object_file(number: int) -> None:
    with pytest.raises(Unlinkable):
        linked([list(cut())[number]])


def test_memory_that_is_written_is_no_part_of_an_image() -> None:
    text = "@count = global i64 0\ndefine ptr @place() nounwind {\n  ret ptr @count\n}\n"
    with pytest.raises(Unlinkable, match="written"):
        linked([host().compile(text)])
    address = load([host().compile(text)], ("place",), {}).addresses["place"]  # LLVM links it
    assert address


def test_no_code_at_all() -> None:
    assert load([], (), {}).addresses == {}


def test_a_processor_says_the_same_on_every_core() -> None:
    cores = os.sched_getaffinity(0)
    try:
        found = set()
        for core in cores:
            os.sched_setaffinity(0, {core})
            found.add(identity._by_itself())
    finally:
        os.sched_setaffinity(0, cores)
    assert len(found) == 1


def test_it_says_what_llvm_says() -> None:
    """Marks of leaves 1 and 7, as Intel's and AMD's manuals number them."""
    import llvmlite.binding as llvm

    features = llvm.get_host_cpu_features().flatten().split(",")
    words = [int(word, 16) for word in identity._by_itself().split()]
    leaf_1, leaf_7 = words[4:8], words[8:12]
    marks = {"sse4.2": leaf_1[2] >> 20, "popcnt": leaf_1[2] >> 23, "aes": leaf_1[2] >> 25, "bmi": leaf_7[1] >> 3}
    marks |= {"bmi2": leaf_7[1] >> 8, "adx": leaf_7[1] >> 19, "sha": leaf_7[1] >> 29, "gfni": leaf_7[2] >> 8}
    assert {name: bool(mark & 1) for name, mark in marks.items()} == {name: f"+{name}" in features for name in marks}


def test_without_leave_to_execute_llvm_links(monkeypatch: pytest.MonkeyPatch) -> None:
    take, _, give_back = loading._memory()
    monkeypatch.setattr(loading, "_memory", lambda: (take, lambda *arguments: -1, give_back))
    held, imports = given()
    library = load(objects(), EXPORTS, imports)
    assert ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(library.addresses["all"])(0) == 205
    assert held is not None
