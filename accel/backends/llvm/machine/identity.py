"""What machine code depends on beside its text, as a text: the processor, its caches, and llvmlite's version.

On x86-64 it is what the processor says of itself, of which LLVM takes its name and its features. Elsewhere LLVM says it, which
is loaded for that.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Final

from accel.backends.llvm.machine.image import Image, Unlinkable
from accel.backends.llvm.machine.loading import mapped
from accel.backends.llvm.machine.processor import last_cache
from accel.backends.llvm.machine.system import has_images
from accel.backends.llvm.machine.target import host

_CPUID: Final = bytes.fromhex(
    "53"  # push rbx
    "4989d0"  # mov r8, rdx
    "89f8 89f1"  # mov eax, edi; mov ecx, esi
    "0fa2"  # cpuid
    "418900 41895804"  # mov [r8], eax; mov [r8 + 4], ebx
    "41894808 4189500c"  # mov [r8 + 8], ecx; mov [r8 + 12], edx
    "5b c3"  # pop rbx; ret
)
"""`void cpuid(int leaf, int part, int registers[4])`."""

_XGETBV: Final = bytes.fromhex(
    "31c9 0f01d0"  # xor ecx, ecx; xgetbv
    "48c1e220 4809d0"  # shl rdx, 32; or rax, rdx
    "c3"  # ret
)
"""`long xgetbv()`: the registers that the system saves."""

_LEAVES: Final = (
    (0, 0), (1, 0), (7, 0), (7, 1), (7, 2), (0xD, 1), (0x14, 0), (0x19, 0), (0x1E, 0), (0x1E, 1), (0x24, 0),
    (0x80000001, 0), (0x80000007, 0), (0x80000008, 0),
)  # fmt: skip
"""What LLVM looks at to find out name and features, and what may be added to it."""

_VARIES: Mapping[tuple[int, int], tuple[int, ...]] = MappingProxyType(
    {(1, 0): (1,), (0xD, 1): (1, 2, 3), (0x80000008, 0): (2,)}
)
"""Registers that say which core this is, or what the system just does."""

_SAVES = 1 << 27
"""The mark in leaf 1 that the system lets programs read which registers it saves."""


@cache
def identity() -> str:
    """Equal for processes that may have each other's machine code for one text."""
    return f"{_processor()} {last_cache()}\nllvmlite {import_module('llvmlite').__version__}"


def _processor() -> str:
    if has_images():
        try:
            return _by_itself()
        except Unlinkable:
            pass
    return host().description


def _by_itself() -> str:
    image = Image(_CPUID + _XGETBV, {"cpuid": 0, "xgetbv": len(_CPUID)}, {})
    library = mapped(image, ("cpuid", "xgetbv"), {})
    ask = ctypes.PYFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p)(library.addresses["cpuid"])
    saved = ctypes.PYFUNCTYPE(ctypes.c_uint64)(library.addresses["xgetbv"])
    registers = (ctypes.c_uint32 * 4)()

    def said(leaf: int, part: int) -> list[int]:
        ask(leaf, part, ctypes.addressof(registers))
        return [0 if number in _VARIES.get((leaf, part), ()) else word for number, word in enumerate(registers)]

    last = {base: said(base, 0)[0] for base in (0, 1 << 31)}
    words = [word for leaf, part in _LEAVES if leaf <= last[leaf & 1 << 31] for word in said(leaf, part)]
    words.append(saved() if said(1, 0)[2] & _SAVES else 0)
    return " ".join([f"{word:x}" for word in words])
