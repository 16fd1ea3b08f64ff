"""The text of an order of loops as it stands: scalar loops of constant extents, which LLVM's own passes then vectorise.

In: a nest, an order. Out: LLVM's text of one function of addresses: of what is read, then of the result, which holds the
reduction's first value. A reduction whose loops are all innermost carries a scalar; one around a map adds into the result,
which is what [Ber] means by larger temporaries.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import BOOL
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.backends.llvm.scalar_code.scalar import operation
from accel.backends.llvm.text.code import Code, memory_type, register_type
from accel.errors import AccelRearrangeError
from accel.labelled.scalar import Block, Compute, Constant, Function, Operand, Variable, operand_type
from accel.rearrange.nest import LINEAR, LinearNest, Reference, Role
from accel.rearrange.rules import Order, Piece

ENTRY = "rearranged"
"""The name of the function."""

_FREE = "reassoc nsz contract"
"""What LLVM may do with floats if their order is free: combine them otherwise, and round a product with its sum once."""


class _Lines(Code):
    """Scalar code; with `free`, arithmetic of floats that may be associated otherwise."""

    def __init__(self, free: bool) -> None:
        super().__init__(1)
        self._free = free

    def emit(self, text: str) -> str:
        instruction, _, rest = text.partition(" ")
        if self._free and instruction in ("fadd", "fsub", "fmul"):
            text = f"{instruction} {_FREE} {rest}"
        return super().emit(text)


def text(nest: LinearNest, order: Order, *, free: bool, magnitudes: bool = False) -> str:
    """The module. With `magnitudes` the absolute values of what is reduced are summed instead, for bounds on errors."""
    return _Writer(nest, order, free, magnitudes).module()


class _Writer:
    def __init__(self, nest: LinearNest, order: Order, free: bool, magnitudes: bool) -> None:
        self._nest = nest
        self._order = order
        self._magnitudes = magnitudes
        self._code = _Lines(free)
        self._indices: list[str] = []

    def module(self) -> str:
        code, pieces = self._code, self._order.pieces
        own = self._first_of_trailing_reductions()
        names = [f"%a{k}" for k in range(len(self._nest.reads))]
        parameters = [f"ptr noalias readonly {name}" for name in names] + ["ptr noalias %result"]
        kind = self._nest.result.type
        code.line(f"%carried = alloca {register_type(kind)}")
        code.line("br label %enter0")
        for depth, piece in enumerate(pieces):
            code.line(f"enter{depth}:")
            if depth == own:
                first = self._load("%result", self._nest.result)
                code.line(f"store {register_type(kind)} {first}, ptr %carried")
            self._open(depth, piece)
        self._body(own < len(pieces), names)
        for depth in reversed(range(len(pieces))):
            self._close(depth, pieces[depth])
            if depth == own:
                value = code.emit(f"load {register_type(kind)}, ptr %carried")
                self._store(value)
        code.line("ret void")
        lines = "\n".join(f"  {line}" if not line.endswith(":") else line for line in code.lines)
        declared = "\n".join(code.declarations.values())
        return f"define void @{ENTRY}({', '.join(parameters)}) #0 {{\n{lines}\n}}\n{declared}\n{HOST_ATTRIBUTES}\n!1 = !{{}}\n"

    def _first_of_trailing_reductions(self) -> int:
        """The depth from which on all loops reduce; the number of loops if the innermost does not."""
        pieces = self._order.pieces
        depth = len(pieces)
        while depth and pieces[depth - 1].axis.role is Role.REDUCE:
            depth -= 1
        return depth

    def _open(self, depth: int, piece: Piece) -> None:
        code = self._code
        code.line(f"br label %head{depth}")
        code.line(f"head{depth}:")
        code.line(f"%i{depth} = phi i64 [ 0, %enter{depth} ], [ %next{depth}, %latch{depth} ]")
        code.line(f"%more{depth} = icmp ult i64 %i{depth}, {piece.extent}")
        code.line(f"br i1 %more{depth}, label %enter{depth + 1}, label %done{depth}")
        self._indices.append(f"%i{depth}")
        if depth + 1 == len(self._order.pieces):
            code.line(f"enter{depth + 1}:")

    def _close(self, depth: int, piece: Piece) -> None:
        code = self._code
        code.line(f"br label %latch{depth}")
        code.line(f"latch{depth}:")
        code.line(f"%next{depth} = add nuw nsw i64 %i{depth}, 1")
        code.line(f"br label %head{depth}")
        code.line(f"done{depth}:")
        self._indices.pop()

    def _body(self, carried: bool, names: Sequence[str]) -> None:
        nest, code = self._nest, self._code
        registers = [self._load(name, read) for name, read in zip(names, nest.reads, strict=True)]
        for made in nest.operations:
            registers += self._applied(made.function, [_register(registers, each, code) for each in made.arguments])
        value = _register(registers, nest.value, code)
        if nest.reduction is None:
            self._store(value)
            return
        kind = nest.result.type
        if self._magnitudes:
            value = code.intrinsic("fabs", kind, [value])
        before = (
            code.emit(f"load {register_type(kind)}, ptr %carried") if carried else self._load("%result", nest.result)
        )
        (after,) = self._applied(nest.reduction.merge, [before, value])
        if carried:
            code.line(f"store {register_type(kind)} {after}, ptr %carried")
        else:
            self._store(after)

    def _applied(self, function: Function, arguments: Sequence[str]) -> list[str]:
        """The results of a function that only computes."""
        known = {parameter.number: value for parameter, value in zip(function.parameters, arguments, strict=True)}

        def value(operand: Operand) -> str:
            match operand:
                case Variable(number):
                    return known[number]
                case Constant():
                    return self._code.constant(operand)
                case _:
                    message = "this nest is no linear nest: it computes with extents"
                    raise AccelRearrangeError(message, self._nest.where, hint=LINEAR)

        for statement in _statements(function.body, self._nest):
            kinds = [operand_type(each) for each in statement.arguments]
            arguments_ = [value(each) for each in statement.arguments]
            made = operation(self._code, statement.operator, statement.out.type, kinds, arguments_)
            known[statement.out.number] = made
        return [value(result) for result in function.body.results]

    def _load(self, base: str, reference: Reference) -> str:
        """A value that is read."""
        kind = reference.type
        loaded = self._code.emit(f"load {memory_type(kind)}, ptr {self._address(base, reference)}")
        if kind is BOOL:
            loaded = self._code.emit(f"trunc i8 {loaded} to i1")
        return loaded

    def _store(self, value: str) -> None:
        reference = self._nest.result
        if reference.type is BOOL:
            value = self._code.emit(f"zext i1 {value} to i8")
        self._code.line(f"store {memory_type(reference.type)} {value}, ptr {self._address('%result', reference)}")

    def _address(self, base: str, reference: Reference) -> str:
        """Where an element lies; loops that are not open begin at 0, and none is needed of those."""
        code, position = self._code, str(reference.offset)
        letters = [axis.letter for axis in self._nest.axes]
        for index, piece in zip(self._indices, self._order.pieces, strict=False):
            step = reference.strides[letters.index(piece.axis.letter)] * piece.stride
            if step:
                scaled = index if step == 1 else code.emit(f"mul nuw nsw i64 {index}, {step}")
                position = scaled if position == "0" else code.emit(f"add nuw nsw i64 {position}, {scaled}")
        return code.emit(f"getelementptr inbounds {memory_type(reference.type)}, ptr {base}, i64 {position}")


def _register(registers: Sequence[str], value: int | Constant, code: Code) -> str:
    return code.constant(value) if isinstance(value, Constant) else registers[value]


def _statements(body: Block, nest: LinearNest) -> Sequence[Compute]:
    found = [statement for statement in body.statements if isinstance(statement, Compute)]
    if len(found) != len(body.statements):
        message = "this nest is no linear nest: it branches, loops or reads within its function"
        raise AccelRearrangeError(message, nest.where, hint=LINEAR)
    return found
