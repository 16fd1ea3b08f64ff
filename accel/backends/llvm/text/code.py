"""LLVM text of one function body, in scalars or in vectors of a fixed number of lanes.

In: lines, as the printers make them. Out: numbered registers, and what the module must declare or define for them.
Scalars and vectors share one text: `Code(8).at(1)` writes scalar instructions among the vector ones. Types are opaque
pointers' LLVM (15 and later); a bool is `i1` in registers and `i8` in memory, a 16-bit float everywhere the `i16` of its bits
(`scalar_code/halves.py`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.llvm.text.ahead import Ahead
from accel.labelled.scalar import Constant
from accel.labelled.scalar import constant as make_constant

WIDTH_ATTRIBUTES = '"prefer-vector-width"="512" "min-legal-vector-width"="512"'
"""Of every function: they decide how vectors are passed, so all functions of a module must agree on them."""

METADATA = '!0 = !{i32 1}\n!1 = !{}\n!2 = !{!"branch_weights", i32 1, i32 2000}\n'
"""What every module ends with: the operands of `!nontemporal`, `!unpredictable`, and `!prof` of what is taken rarely."""

FUNCTION_ATTRIBUTES = f"nounwind willreturn memory(none) {WIDTH_ATTRIBUTES}"
"""Of the functions without effects that printers define."""


class Code:
    """The lines of a function body under construction; `lanes` is 1 for scalar code.

    `declarations` holds, by symbol, what the module needs beside the function: `declare` lines and `define internal`
    functions, to be printed once per module in this order.
    """

    def __init__(self, lanes: int, prefix: str = "v") -> None:
        """An empty body whose registers are called %v0, %v1, … by the prefix `v`."""
        self.lanes = lanes
        self.lines: list[str] = []
        self.entry: list[str] = []
        """The lines of the function's entry block, which runs once before everything else."""
        self.declarations: dict[str, str] = {}
        self._prefix = prefix
        # One counter in a list, so that bodies that share a text share it too.
        self._count = [0]
        self._entered: set[str] = set()
        # The loops that are being written, outermost first.
        self._loops: list[Ahead] = []
        self._types: dict[ScalarType, str] = {}

    def at(self, lanes: int) -> Code:
        """The same body, written with another number of lanes."""
        other = Code(lanes, self._prefix)
        other.lines, other.declarations, other._count = self.lines, self.declarations, self._count
        other.entry, other._entered, other._loops = self.entry, self._entered, self._loops
        return other

    def at_entry(self) -> Code:
        """The same function, in whose entry block scalars are written."""
        other = self.at(1)
        other.lines = self.entry
        return other

    def is_entered(self, register: str) -> bool:
        """Whether the entry block makes the register."""
        return register in self._entered

    def where_known(self, operands: Sequence[str]) -> Code:
        """Where scalars are written that are computed of these registers and constants: at the entry, if these are there."""
        known = all(not operand.startswith("%") or self.is_entered(operand) for operand in operands)
        return self.at_entry() if known else self.at(1)

    def fresh(self) -> str:
        """A register name that nothing has yet."""
        number = self._count[0]
        self._count[0] = number + 1
        return f"%{self._prefix}{number}"

    def line(self, text: str) -> None:
        """Appends a line that gives no value: a store, a branch, a label."""
        self.lines.append(text)

    def emit(self, text: str) -> str:
        """Appends an instruction, or puts it before the loop where turns share it, and gives the register of its value."""
        lines = self.lines
        loop = self._loops[-1] if self._loops and lines is not self.entry else None
        if loop is not None and loop.takes(text):
            register = loop.made(text)
            if register is None:
                register = self.fresh()
                loop.add(register, text)
            return register
        register = self.fresh()
        lines.append(f"{register} = {text}")
        if lines is self.entry:
            self._entered.add(register)
        return register

    @contextmanager
    def loop(self) -> Iterator[None]:
        """Around the writing of a loop: integers and addresses that turns share are written here, before it."""
        ahead, place = Ahead(self._count[0], self._entered), len(self.lines)
        self._loops.append(ahead)
        yield
        self._loops.pop()
        self.lines[place:place] = ahead.lines

    def parts(self, count: str, size: str) -> str:
        """How many parts of some size an i64 makes, the last of which may be shorter: the quotient, rounded up."""
        more = self.emit(f"add i64 {count}, {self.emit(f'sub i64 {size}, 1')}")
        return self.emit(f"sdiv i64 {more}, {size}")

    def indices(self, number: str, extents: Sequence[str]) -> list[str]:
        """Those of loops inside of each other, the outermost first, in the iteration of them all that has this number."""
        found = list[str]()
        for extent in reversed(extents[1:]):
            found.append(self.emit(f"urem i64 {number}, {extent}"))
            number = self.emit(f"udiv i64 {number}, {extent}")
        return [number, *reversed(found)] if extents else []

    def hidden(self, value: str, type_: str = "ptr") -> str:
        """The same pointer or integer, of which LLVM does not see how it moves from one turn of a loop to the next.

        It would weigh all ways to address what stands at some distance from it, which for tens of distances takes much of the
        time to compile, and finds nothing better than the distances.
        """
        return self.emit(f'call {type_} asm "", "=r,0"({type_} {value})')

    def vector(self, scalar: str) -> str:
        """The LLVM type of `lanes` values of an LLVM scalar type."""
        return scalar if self.lanes == 1 else f"<{self.lanes} x {scalar}>"

    def type(self, kind: ScalarType) -> str:
        """The LLVM type of `lanes` values of `kind` in registers."""
        found = self._types.get(kind)
        if found is None:
            found = self._types[kind] = self.vector(register_type(kind))
        return found

    def suffix(self, kind: ScalarType) -> str:
        """How a symbol says that it is for `lanes` values of `kind`: f64, v8f64, i32, v16i1."""
        scalar = {"float": "f32", "double": "f64"}.get(register_type(kind), register_type(kind))
        return scalar if self.lanes == 1 else f"v{self.lanes}{scalar}"

    def splat(self, scalar: str, text: str) -> str:
        """A constant of an LLVM scalar type in every lane."""
        return text if self.lanes == 1 else f"splat ({scalar} {text})"

    def constant(self, constant: Constant) -> str:
        """A constant in every lane, written without its type."""
        return self.splat(register_type(constant.type), constant_text(constant))

    def literal(self, kind: ScalarType, value: bool | int | float) -> str:
        """The number of `kind` nearest to `value` in every lane, written without its type."""
        return self.constant(make_constant(kind, value))

    def intrinsic(self, name: str, kind: ScalarType, arguments: Sequence[str], flag: str | None = None) -> str:
        """A call of the intrinsic `llvm.<name>` from `kind`s to `kind`; `flag` is a last operand such as `i1 false`."""
        extra = [] if flag is None else [flag]
        types = [self.type(kind)] * len(arguments) + [text.split()[0] for text in extra]
        operands = [f"{self.type(kind)} {argument}" for argument in arguments] + extra
        return self.call(f"llvm.{name}.{self.suffix(kind)}", self.type(kind), types, operands)

    def declare(self, result: str, symbol: str, parameters: str, attributes: str = "") -> None:
        """Says that the module needs the function `symbol`, of parameters of these types, unless it already does."""
        if symbol not in self.declarations:
            self.declarations[symbol] = f"declare {result} @{symbol}({parameters}) {attributes}".rstrip()

    def outside(self, symbol: str) -> None:
        """Says that the module needs the memory or the object at `symbol`."""
        self.declarations[symbol] = f"@{symbol} = external global i8"

    def call(self, symbol: str, result: str, types: Sequence[str], operands: Sequence[str]) -> str:
        """A call of a function without effects, declared here unless the module already has it; operands are typed."""
        self.declare(result, symbol, ", ".join(types), "nounwind willreturn memory(none)")
        return self.emit(f"call {result} @{symbol}({', '.join(operands)})")


def register_type(kind: ScalarType) -> str:
    """The LLVM type of one value of `kind` in a register."""
    match kind:
        case ScalarType.F32:
            return "float"
        case ScalarType.F64:
            return "double"
        case _:
            return f"i{kind.bits}"


def memory_type(kind: ScalarType) -> str:
    """The LLVM type of one value of `kind` in memory."""
    return "i8" if kind is ScalarType.BOOL else register_type(kind)


def from_memory(code: Code, kind: ScalarType, text: str) -> str:
    """What was loaded as a register: a bool is true unless its byte is 0."""
    if kind is not BOOL:
        return text
    bytes_ = code.vector("i8")
    return code.emit(f"icmp ne {bytes_} {text}, {code.splat('i8', '0')}")


def to_memory(code: Code, kind: ScalarType, text: str) -> str:
    """A register as memory has it: a bool as a byte."""
    if kind is not BOOL:
        return text
    return code.emit(f"zext {code.type(BOOL)} {text} to {code.vector('i8')}")


def constant_text(constant: Constant) -> str:
    """A scalar constant without its type; wider floats by their bits as a 64-bit float, as LLVM wants it for both."""
    if constant.type is ScalarType.BOOL:
        return "true" if constant.bits else "false"
    if constant.type is ScalarType.F16:
        return str(constant.bits)
    if not constant.type.is_float:
        return str(constant.value)
    (bits,) = struct.unpack("<Q", struct.pack("<d", constant.value))
    return f"0x{bits:016X}"
