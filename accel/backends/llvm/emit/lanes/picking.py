"""LLVM text that picks lanes of adjacent elements: a gather within two registers, in one instruction of AVX-512.

In: where a piece of memory begins, of two registers of elements, and offsets into it. Out: registers whose lanes are picked
from it; or from two such pieces, from the first in their first half, from the second in the other.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import Code, memory_type


def picks(kind: ScalarType, lanes: int) -> bool:
    """Whether the processor picks lanes of two registers of `lanes` elements in one instruction."""
    return host().processor.has_avx512 and _instruction(kind, lanes) is not None


def picked(code: Code, kind: ScalarType, starts: tuple[str, str], offsets: Sequence[str], first_half: str) -> list[str]:
    """For each register of i32 offsets the elements that far behind `starts[0]`, in the lanes of the mask `first_half`, or
    behind `starts[1]`. Two registers of elements must be there from each start on, and offsets less than that many."""
    words = code.vector(word_of(kind))
    tables = [_tables(code, kind, start) for start in starts]
    found = []
    for each in offsets:
        low, high = (from_two(code, kind, table, _places(code, kind, each)) for table in tables)
        both = code.emit(f"select {code.vector('i1')} {first_half}, {words} {low}, {words} {high}")
        found.append(_elements(code, kind, both))
    return found


def picked_from_one(code: Code, kind: ScalarType, start: str, offsets: Sequence[str]) -> list[str]:
    """The same, all of them behind one start."""
    table = _tables(code, kind, start)
    return [_elements(code, kind, from_two(code, kind, table, _places(code, kind, each))) for each in offsets]


def from_two(code: Code, kind: ScalarType, tables: tuple[str, str], places: str) -> str:
    """Lane by lane the word at a place in two registers of them."""
    words = code.vector(word_of(kind))
    operands = [f"{words} {text}" for text in (tables[0], places, tables[1])]
    return code.call(f"llvm.x86.avx512.vpermi2var.{_instruction(kind, code.lanes)}", words, [words] * 3, operands)


def _places(code: Code, kind: ScalarType, offsets: str) -> str:
    """Offsets in i32 as wide as words."""
    return offsets if _width(kind) == 4 else code.emit(f"zext {code.vector('i32')} {offsets} to {code.vector('i64')}")


def _elements(code: Code, kind: ScalarType, words: str) -> str:
    """The elements that stand in words."""
    cast = "trunc" if kind.bytes < _width(kind) else "bitcast"
    return code.emit(f"{cast} {code.vector(word_of(kind))} {words} to {code.vector(memory_type(kind))}")


def _instruction(kind: ScalarType, lanes: int) -> str | None:
    """What takes lanes of two registers by a third."""
    match _width(kind), lanes:
        case 4, 16:
            return "d.512"
        case 8, 8:
            return "q.512"
        case _:
            return None


def _width(kind: ScalarType) -> int:
    """Bytes of the words in which elements are picked: narrow ones in those of 32 bits."""
    return max(4, kind.bytes)


def word_of(kind: ScalarType) -> str:
    """The type of the words in which elements are picked."""
    return f"i{8 * _width(kind)}"


def _tables(code: Code, kind: ScalarType, start: str) -> tuple[str, str]:
    """Two registers of words, which are what lies from an address on."""
    element, vector = memory_type(kind), code.vector(memory_type(kind))
    cast = "zext" if kind.bytes < _width(kind) else "bitcast"
    found = []
    for first in (0, code.lanes):
        address = code.emit(f"getelementptr {element}, ptr {start}, i64 {first}")
        table = code.emit(f"load {vector}, ptr {address}, align {kind.bytes}")
        found.append(code.emit(f"{cast} {vector} {table} to {code.vector(word_of(kind))}"))
    return found[0], found[1]
