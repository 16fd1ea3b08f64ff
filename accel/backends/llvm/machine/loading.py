"""Object code made callable.

On Linux on x86-64 it is linked here (`image.py`), which takes a fraction of a millisecond and no library: a process that finds
its programs on disk never loads LLVM. Elsewhere, and where an image lacks something, LLVM links it (`target.py`).
"""

from __future__ import annotations

import ctypes
import mmap
import struct
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial

from accel.backends.llvm.machine.image import Image, Unlinkable, linked
from accel.backends.llvm.machine.python_function import symbol
from accel.backends.llvm.machine.system import has_images
from accel.backends.llvm.machine.target import host


class Library:
    """Loaded code; its addresses are valid as long as it lives."""

    def __init__(self, addresses: Mapping[str, int], free: Callable[[], object], held: Sequence[object] = ()) -> None:
        """`held`: what the code refers to."""
        self.addresses = addresses
        self._held = held
        # Not at exit: then the process frees everything, and threads may still stand in the code.
        weakref.finalize(self, free).atexit = False


def load(
    objects: Sequence[bytes], exports: Sequence[str], imports: Mapping[str, int], held: Sequence[object] = ()
) -> Library:
    """The object files, linked together. `imports` are addresses of symbols, some perhaps in objects that are `held` as long as
    the code; the C library's need none.

    Raises `MemoryError`, and `RuntimeError` or `KeyError` for what lacks a symbol.
    """
    if has_images():
        try:
            return mapped(linked(objects), exports, imports, held)
        except Unlinkable:
            pass
    return Library(*host().load(objects, exports, imports), held)


def mapped(image: Image, exports: Sequence[str], imports: Mapping[str, int], held: Sequence[object] = ()) -> Library:
    """The image in memory of its own, which nothing writes to any more.

    Raises `Unlinkable` if this process lacks a symbol, or may not have such memory.
    """
    code, size = bytearray(image.code), max(1, len(image.code))
    addresses = {what: _address(what, imports) for what in image.table.values() if isinstance(what, str)}
    take, protect, give_back = _memory()
    start = take(None, size, mmap.PROT_READ | mmap.PROT_WRITE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if start == _FAILED:
        raise MemoryError("for compiled code")
    addresses_of = {name: start + image.symbols[name] for name in exports}
    library = Library(addresses_of, partial(give_back, start, size), held)
    for place, what in image.table.items():
        struct.pack_into("<Q", code, place, addresses[what] if isinstance(what, str) else start + what)
    ctypes.memmove(start, bytes(code), len(code))
    if protect(start, size, mmap.PROT_READ | mmap.PROT_EXEC):
        raise Unlinkable("memory that is not to be executed")
    return library


_FAILED = ctypes.c_void_p(-1).value
"""What `mmap` gives instead of an address."""


def _address(name: str, imports: Mapping[str, int]) -> int:
    try:
        return imports[name] if name in imports else symbol(name)
    except AttributeError:
        raise Unlinkable(f"no symbol {name}") from None


@cache
def _memory() -> tuple[Callable[..., int], Callable[..., int], Callable[..., int]]:
    """The C library's `mmap`, `mprotect` and `munmap`."""
    take, protect, give_back = (ctypes.pythonapi[name] for name in ("mmap", "mprotect", "munmap"))
    address, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    take.restype, take.argtypes = address, (address, size, number, number, number, ctypes.c_long)
    protect.argtypes, give_back.argtypes = (address, size, number), (address, size)
    return take, protect, give_back
