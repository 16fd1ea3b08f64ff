"""LLVM text of loads and stores of the set lanes of a mask, of adjacent elements; and of loads of lanes one by one."""

from __future__ import annotations

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.text.code import FUNCTION_ATTRIBUTES, Code, memory_type

PAGE = 4096
"""Bytes: what is in one page may all be read, or nothing of it. Pages of x86-64 are as long, or longer."""


def masked_load(code: Code, kind: ScalarType, address: str, mask: str) -> str:
    """The elements from `address` on in the set lanes, anything in the others, of which nothing that may not be read is."""
    vector, masks, name = code.vector(memory_type(kind)), code.vector("i1"), suffix(code, kind)
    load = f"llvm.masked.load.{name}.p0"
    code.declare(vector, load, f"ptr, {masks}, {vector}")
    operands = f"ptr align {kind.bytes} {address}, {masks} {mask}"
    if kind.bytes < 4 or not host().processor.slow_masks:
        return code.emit(f"call {vector} @{load}({operands}, {vector} zeroinitializer)")
    symbol = f"accel.some.{name}"
    if symbol not in code.declarations:
        code.declarations[symbol] = _by_all(code, kind, symbol, load)
    return code.emit(f"call {vector} @{symbol}({operands})")


def masked_store(code: Code, kind: ScalarType, text: str, address: str, mask: str) -> None:
    """The set lanes of a vector, to where they stand in adjacent elements from `address` on."""
    vector, masks = code.vector(memory_type(kind)), code.vector("i1")
    name = f"llvm.masked.store.{suffix(code, kind)}.p0"
    code.declare("void", name, f"{vector}, ptr, {masks}")
    code.line(f"call void @{name}({vector} {text}, ptr align {kind.bytes} {address}, {masks} {mask})")


def lane_by_lane(code: Code, kind: ScalarType, words: str, base: str, stride: str) -> str:
    """The elements at places in lanes of i32, so many bytes apart from `base` on: as in memory."""
    one, element, found = code.at(1), memory_type(kind), "poison"
    for lane in range(code.lanes):
        word = one.emit(f"extractelement {code.vector('i32')} {words}, i32 {lane}")
        offset = one.emit(f"mul i64 {one.emit(f'sext i32 {word} to i64')}, {stride}")
        address = one.emit(f"getelementptr i8, ptr {base}, i64 {offset}")
        value = one.emit(f"load {element}, ptr {address}, align {kind.bytes}")
        found = one.emit(f"insertelement {code.vector(element)} {found}, {element} {value}, i32 {lane}")
    return found


def _by_all(code: Code, kind: ScalarType, symbol: str, load: str) -> str:
    """A function that does so by a load of all lanes, where one of them is set and all are in one page."""
    vector, masks = code.vector(memory_type(kind)), code.vector("i1")
    some = f"llvm.vector.reduce.or.v{code.lanes}i1"
    code.declare("i1", some, masks, "nounwind willreturn memory(none)")
    attributes = FUNCTION_ATTRIBUTES.replace("memory(none)", "memory(argmem: read)")
    return f"""define internal {vector} @{symbol}(ptr %from, {masks} %mask) alwaysinline {attributes} {{
  %address = ptrtoint ptr %from to i64
  %place = and i64 %address, {PAGE - 1}
  %beyond = icmp ugt i64 %place, {PAGE - kind.bytes * code.lanes}
  %some = call i1 @{some}({masks} %mask)
  %none = xor i1 %some, true
  %unsafe = or i1 %beyond, %none
  br i1 %unsafe, label %few, label %all, !prof !2
all:
  %whole = load {vector}, ptr %from, align {kind.bytes}
  br label %found
few:
  %part = call {vector} @{load}(ptr align {kind.bytes} %from, {masks} %mask, {vector} zeroinitializer)
  br label %found
found:
  %elements = phi {vector} [ %whole, %all ], [ %part, %few ]
  ret {vector} %elements
}}"""


def suffix(code: Code, kind: ScalarType) -> str:
    """How a symbol says that it is for vectors of elements as they are in memory."""
    scalar = {"f32": "f32", "f64": "f64"}.get(kind.value, memory_type(kind))
    return f"v{code.lanes}{scalar}"
