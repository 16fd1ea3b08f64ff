"""LLVM text that moves the set lanes of a vector to its front."""

from __future__ import annotations

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import Code, memory_type
from accel.backends.llvm.text.routine import Routine


def packed(routine: Routine, code: Code, kind: ScalarType, text: str, mask: str) -> str:
    """The set lanes of `text` first, as in memory; what the lanes behind them hold is anything.

    Narrow elements go through 32 bits, which processors can compress. LLVM 22 must not know that the mask is a constant: it
    compresses by nothing where it finds that out while selecting instructions. And what takes several registers is compressed
    register by register here: LLVM puts the pieces together by an aligned store to an address that is not aligned.
    """
    at_once = max(1, host().registers.bytes // max(4, kind.bytes))
    if code.lanes <= at_once:
        return _compressed(code, kind, text, mask)
    element, vector, masks = memory_type(kind), code.vector(memory_type(kind)), code.vector("i1")
    pieces, place = code.at(at_once), "0"
    room = routine.slot(element, code.lanes + at_once)
    for first in range(0, code.lanes, at_once):
        lanes = f"<{at_once} x i32> <{', '.join(f'i32 {first + lane}' for lane in range(at_once))}>"
        piece = pieces.emit(f"shufflevector {vector} {text}, {vector} poison, {lanes}")
        some = pieces.emit(f"shufflevector {masks} {mask}, {masks} poison, {lanes}")
        address = code.emit(f"getelementptr {element}, ptr {room}, i64 {place}")
        front = _compressed(pieces, kind, piece, some)
        code.line(f"store {pieces.vector(element)} {front}, ptr {address}, align {kind.bytes}")
        place = code.emit(f"add i64 {place}, {set_lanes(pieces, some)}")
    return code.emit(f"load {vector}, ptr {room}, align {kind.bytes}")


def set_lanes(code: Code, mask: str) -> str:
    """How many lanes of a mask are set: an i64 register."""
    bits = f"i{code.lanes}"
    word = code.emit(f"bitcast {code.vector('i1')} {mask} to {bits}")
    count = code.call(f"llvm.ctpop.{bits}", bits, [bits], [f"{bits} {word}"])
    return code.emit(f"zext {bits} {count} to i64") if code.lanes < 64 else count


def _compressed(code: Code, kind: ScalarType, text: str, mask: str) -> str:
    if _has_permutations(code, kind):
        return _permuted(code, kind, text, mask)
    vector, masks = code.vector(memory_type(kind)), code.vector("i1")
    wide = vector if kind.bytes >= 4 else code.vector("i32")
    if wide != vector:
        text = code.emit(f"zext {vector} {text} to {wide}")
    scalar = "i32" if wide != vector else {"f32": "f32", "f64": "f64"}.get(kind.value, memory_type(kind))
    operands = [f"{wide} {text}", f"{masks} {mask}", f"{wide} poison"]
    name = f"llvm.experimental.vector.compress.v{code.lanes}{scalar}"
    front = code.call(name, wide, [wide, masks, wide], operands)
    return code.emit(f"trunc {wide} {front} to {vector}") if wide != vector else front


def _has_permutations(code: Code, kind: ScalarType) -> bool:
    """Whether a register of 32 bytes is to be compressed, by a processor that has no instruction for that."""
    return host().permutes_words and code.lanes * max(4, kind.bytes) == 32


def _permuted(code: Code, kind: ScalarType, text: str, mask: str) -> str:
    """By a table of permutations of eight words, with a row for each mask."""
    lanes, vector, words = code.lanes, code.vector(memory_type(kind)), code.at(8)
    word = words.vector("i32")
    if kind.bytes < 4:
        given = code.emit(f"zext {vector} {text} to {word}")
    else:
        given = code.emit(f"bitcast {vector} {text} to {word}")
    symbol = f"accel_front_{lanes}"
    rows = ", ".join(_row(number, lanes) for number in range(1 << lanes))
    code.declarations.setdefault(symbol, f"@{symbol} = internal constant [{1 << lanes} x <8 x i8>] [{rows}], align 64")
    bits = code.emit(f"bitcast {code.vector('i1')} {mask} to i{lanes}")
    number = code.emit(f"zext i{lanes} {bits} to i64")
    place = code.emit(f"getelementptr <8 x i8>, ptr @{symbol}, i64 {number}")
    order = code.emit(f"zext <8 x i8> {code.emit(f'load <8 x i8>, ptr {place}, align 8')} to {word}")
    front = code.call("llvm.x86.avx2.permd", word, [word, word], [f"{word} {given}", f"{word} {order}"])
    return code.emit(f"{'trunc' if kind.bytes < 4 else 'bitcast'} {word} {front} to {vector}")


def _row(mask: int, lanes: int) -> str:
    """The words of the lanes that are set in a mask, in order, and then those of others."""
    each = 8 // lanes
    order = sorted(range(lanes), key=lambda lane: not mask >> lane & 1)
    words = ", ".join(f"i8 {lane * each + word}" for lane in order for word in range(each))
    return f"<8 x i8> <{words}>"
