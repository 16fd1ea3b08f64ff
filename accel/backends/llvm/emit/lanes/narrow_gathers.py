"""LLVM text of gathers of elements of one byte or two, of which processors have none: of the words of 32 bits that hold them.

A word that begins at a multiple of its bytes lies in one page, so it may be read wherever a part of it may.
"""

from __future__ import annotations

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import Code, memory_type

_WORD = 4
"""Bytes."""


def gathers_words(kind: ScalarType) -> bool:
    """Whether elements are narrower than words, and the processor gathers these faster than it loads them one by one."""
    processor = host().processor
    return kind.bytes < _WORD and processor.has_avx512 and not processor.slow_gathers


def gathered(code: Code, kind: ScalarType, addresses: str) -> str:
    """The elements at addresses, a vector of pointers, as they are in memory."""
    wide, pointers = code.vector("i64"), code.vector("ptr")
    code.declare(pointers, f"llvm.ptrmask.v{code.lanes}p0.v{code.lanes}i64", f"{pointers}, {wide}")
    numbers = code.emit(f"ptrtoint {pointers} {addresses} to {wide}")
    within = code.emit(f"and {wide} {numbers}, {code.splat('i64', str(_WORD - 1))}")
    shift = code.emit(f"shl {wide} {within}, {code.splat('i64', '3')}")
    mask = code.splat("i64", str(-_WORD))
    called = f"{pointers} {addresses}, {wide} {mask}"
    words = code.emit(f"call {pointers} @llvm.ptrmask.v{code.lanes}p0.v{code.lanes}i64({called})")
    return _taken(code, kind, words, code.emit(f"trunc {wide} {shift} to {code.vector('i32')}"))


def gathered_from(code: Code, kind: ScalarType, base: str, places: str) -> str:
    """The elements at places behind an address, a vector of i32 that are not negative, as they are in memory."""
    one, places_type, in_word = code.at(1), code.vector("i32"), _WORD // kind.bytes
    number = one.emit(f"ptrtoint ptr {base} to i64")
    phase = one.emit(f"udiv i64 {one.emit(f'and i64 {number}, {_WORD - 1}')}, {kind.bytes}")
    code.declare("ptr", "llvm.ptrmask.p0.i64", "ptr, i64")
    first = one.emit(f"call ptr @llvm.ptrmask.p0.i64(ptr {base}, i64 {-_WORD})")
    single = one.emit(f"trunc i64 {phase} to i32")
    lane = code.emit(f"insertelement {places_type} poison, i32 {single}, i32 0")
    every = code.emit(f"shufflevector {places_type} {lane}, {places_type} poison, {code.vector('i32')} zeroinitializer")
    moved = code.emit(f"add {places_type} {places}, {every}")
    word = code.emit(f"lshr {places_type} {moved}, {code.splat('i32', str(in_word.bit_length() - 1))}")
    within = code.emit(f"and {places_type} {moved}, {code.splat('i32', str(in_word - 1))}")
    shift = code.emit(f"mul {places_type} {within}, {code.splat('i32', str(8 * kind.bytes))}")
    return _taken(code, kind, code.emit(f"getelementptr i32, ptr {first}, {places_type} {word}"), shift)


def _taken(code: Code, kind: ScalarType, addresses: str, shift: str) -> str:
    """Of the words at addresses what begins at some bit of each."""
    words, masks, pointers = code.vector("i32"), code.vector("i1"), code.vector("ptr")
    name = f"llvm.masked.gather.v{code.lanes}i32.v{code.lanes}p0"
    code.declare(words, name, f"{pointers}, {masks}, {words}")
    active = code.splat("i1", "true")
    found = code.emit(
        f"call {words} @{name}({pointers} align {_WORD} {addresses}, {masks} {active}, {words} zeroinitializer)"
    )
    shifted = code.emit(f"lshr {words} {found}, {shift}")
    return code.emit(f"trunc {words} {shifted} to {code.vector(memory_type(kind))}")
