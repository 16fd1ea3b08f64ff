"""LLVM text that moves the set lanes of a vector to its front."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import Code, memory_type
from accel.backends.llvm.text.routine import Routine

_SIGNS: Mapping[int, tuple[str, str, str]] = MappingProxyType({8: ("ps", "i32", "float"), 4: ("pd", "i64", "double")})
"""What AVX's instruction for the signs of so many lanes is called, and what it takes, as integers and as floats."""


def packed(routine: Routine, code: Code, kind: ScalarType, text: str, mask: str) -> str:
    """The set lanes of `text` first, as in memory; what the lanes behind them hold is anything.

    Narrow elements go through 32 bits, which processors can compress. LLVM 22 must not know that the mask is a constant: it
    compresses by nothing where it finds that out while selecting instructions. And what takes several registers is compressed
    register by register here: LLVM puts the pieces together by an aligned store to an address that is not aligned.
    """
    if code.lanes <= (at_once := _at_once(kind)):
        return _compressed(code, kind, text, mask)
    room = routine.slot(memory_type(kind), code.lanes + at_once)
    store_pieces(code, kind, text, mask, room)
    return code.emit(f"load {code.vector(memory_type(kind))}, ptr {room}, align {kind.bytes}")


def in_pieces(code: Code, kind: ScalarType) -> bool:
    """Whether this takes several registers. To load what they were stored to, and store that, would wait for these stores."""
    return code.lanes > _at_once(kind)


def _at_once(kind: ScalarType) -> int:
    """How many lanes are compressed at once."""
    return max(1, host().processor.registers.bytes // max(4, kind.bytes))


def store_pieces(
    code: Code,
    kind: ScalarType,
    text: str,
    mask: str,
    room: str,
    store: Callable[[Code, str, str, str], None] | None = None,
) -> None:
    """The set lanes of each register behind those of the registers before, as many elements as there are lanes in all.

    `store`, in code of fewer lanes, gets what stands in a register, its place, and how many lanes count; else all are stored.
    """
    element, at_once = memory_type(kind), _at_once(kind)
    pieces, place = code.at(at_once), "0"
    table = kind.bytes >= 4 and by_table(at_once, kind)
    wide = _wide(code, mask, at_once) if table else mask
    for first in range(0, code.lanes, at_once):
        piece = _part(code, element, text, first, at_once)
        if table:
            bits = _bits(pieces, _part(code, _SIGNS[at_once][1], wide, first, at_once))
            front, count = _permuted(pieces, kind, piece, bits), _ones(code, bits)
        else:
            some = _part(code, "i1", mask, first, at_once)
            front, count = _compressed(pieces, kind, piece, some), set_lanes(pieces, some)
        address = code.emit(f"getelementptr {element}, ptr {room}, i64 {place}")
        if store is None:
            code.line(f"store {pieces.vector(element)} {front}, ptr {address}, align {kind.bytes}")
        else:
            store(pieces, front, address, count)
        place = code.emit(f"add i64 {place}, {count}")


def _part(code: Code, type_: str, text: str, first: int, lanes: int) -> str:
    """Some lanes of a vector."""
    vector, order = code.vector(type_), ", ".join(f"i32 {first + lane}" for lane in range(lanes))
    return code.emit(f"shufflevector {vector} {text}, {vector} poison, <{lanes} x i32> <{order}>")


def _wide(code: Code, mask: str, at_once: int) -> str:
    """A mask as words of which so many fill a register of 32 bytes: as comparisons make it."""
    return code.emit(f"sext {code.vector('i1')} {mask} to {code.vector(_SIGNS[at_once][1])}")


def _bits(code: Code, wide: str) -> str:
    """The lanes of a register of such words as bits of an i64."""
    name, kind, float_ = _SIGNS[code.lanes]
    floats = code.vector(float_)
    signs = code.emit(f"bitcast {code.vector(kind)} {wide} to {floats}")
    bits = code.call(f"llvm.x86.avx.movmsk.{name}.256", "i32", [floats], [f"{floats} {signs}"])
    return code.emit(f"zext i32 {bits} to i64")


def _numbered(code: Code, kind: ScalarType, mask: str) -> str:
    """The lanes of a mask as bits of an i64. Comparisons of narrow elements do not make words."""
    if kind.bytes >= 4:
        return _bits(code, _wide(code, mask, code.lanes))
    bits = code.emit(f"bitcast {code.vector('i1')} {mask} to i{code.lanes}")
    return code.emit(f"zext i{code.lanes} {bits} to i64")


def _ones(code: Code, bits: str) -> str:
    return code.call("llvm.ctpop.i64", "i64", ["i64"], [f"i64 {bits}"])


def set_lanes(code: Code, mask: str) -> str:
    """How many lanes of a mask are set: an i64 register."""
    if code.lanes == 16 and host().processor.permutes_words:
        wide, half = _wide(code, mask, 8), code.at(8)
        counts = [_ones(code, _bits(half, _part(code, "i32", wide, first, 8))) for first in (0, 8)]
        return code.emit(f"add i64 {counts[0]}, {counts[1]}")
    bits = f"i{code.lanes}"
    word = code.emit(f"bitcast {code.vector('i1')} {mask} to {bits}")
    count = code.call(f"llvm.ctpop.{bits}", bits, [bits], [f"{bits} {word}"])
    return code.emit(f"zext {bits} {count} to i64") if code.lanes < 64 else count


def _compressed(code: Code, kind: ScalarType, text: str, mask: str) -> str:
    if by_table(code.lanes, kind):
        return _permuted(code, kind, text, _numbered(code, kind, mask))
    vector, masks = code.vector(memory_type(kind)), code.vector("i1")
    wide = vector if kind.bytes >= 4 else code.vector("i32")
    if wide != vector:
        text = code.emit(f"zext {vector} {text} to {wide}")
    scalar = "i32" if wide != vector else {"f32": "f32", "f64": "f64"}.get(kind.value, memory_type(kind))
    operands = [f"{wide} {text}", f"{masks} {mask}", f"{wide} poison"]
    name = f"llvm.experimental.vector.compress.v{code.lanes}{scalar}"
    front = code.call(name, wide, [wide, masks, wide], operands)
    return code.emit(f"trunc {wide} {front} to {vector}") if wide != vector else front


def by_table(lanes: int, kind: ScalarType) -> bool:
    """Whether so many lanes are registers of 32 bytes, and the processor has no instruction that compresses them."""
    return host().processor.permutes_words and lanes * max(4, kind.bytes) >= 32


def _permuted(code: Code, kind: ScalarType, text: str, bits: str) -> str:
    """By a table of permutations of eight words, with a row for the bits of each mask."""
    lanes, vector, words = code.lanes, code.vector(memory_type(kind)), code.at(8)
    word = words.vector("i32")
    if kind.bytes < 4:
        given = code.emit(f"zext {vector} {text} to {word}")
    else:
        given = code.emit(f"bitcast {vector} {text} to {word}")
    symbol = f"accel_front_{lanes}"
    code.declarations.setdefault(symbol, f"@{symbol} = internal constant {_rows(lanes)}, align 64")
    place = code.emit(f"getelementptr <8 x i8>, ptr @{symbol}, i64 {bits}")
    order = code.emit(f"zext <8 x i8> {code.emit(f'load <8 x i8>, ptr {place}, align 8')} to {word}")
    front = code.call("llvm.x86.avx2.permd", word, [word, word], [f"{word} {given}", f"{word} {order}"])
    return code.emit(f"{'trunc' if kind.bytes < 4 else 'bitcast'} {word} {front} to {vector}")


@cache
def _rows(lanes: int) -> str:
    """The table, which is the same in every program: made once a process, since it has up to 256 rows."""
    rows = ", ".join(_row(number, lanes) for number in range(1 << lanes))
    return f"[{1 << lanes} x <8 x i8>] [{rows}]"


def _row(mask: int, lanes: int) -> str:
    """The words of the lanes that are set in a mask, in order, and then those of others."""
    each = 8 // lanes
    order = sorted(range(lanes), key=lambda lane: not mask >> lane & 1)
    words = ", ".join(f"i8 {lane * each + word}" for lane in order for word in range(each))
    return f"<8 x i8> <{words}>"
