"""Scalar functions as text: `λx0 x1. mul x0 x1`.

Everything that matters shows: constants give back their bits, conversions name their type; a parameter that is not used is
`_`. Other types follow from the arrays. Places in the user's program do not show.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias, assert_never

from accel.ast.tree.operators import CONVERSIONS
from accel.ast.tree.types import BOOL, F64, I64
from accel.labelled.algebra import Products
from accel.labelled.array import Array, Extent, Shape
from accel.labelled.scalar import Block, Compute, Constant, Function, If, Load, Operand, Statement, Variable, While

NameArray: TypeAlias = Callable[[Array], str]
"""How an array is printed: `%3`, or `%3.1` where there are several leaves."""


def extent_text(extent: Extent) -> str:
    """`n0`, `n0+1`, `16`."""
    if extent.variable is None:
        return str(extent.offset)
    return f"n{extent.variable.number}" + (f"{extent.offset:+d}" if extent.offset else "")


def shape_text(shape: Shape) -> str:
    """`[n0,16]`."""
    return "[" + ",".join(map(extent_text, shape)) + "]"


def products_text(products: Products, components: int) -> str:
    """`products`, or `products 0 2` where only these of several components are products; nothing where none is."""
    if not products:
        return ""
    return "products" if len(products) == components else " ".join(["products", *map(str, products)])


def plain_name(array: Array) -> str:
    """The name of an array when nothing is known of its neighbours."""
    return f"%{array.label}.{array.leaf}" if array.leaf else f"%{array.label}"


def constant_text(constant: Constant) -> str:
    """The shortest text that gives back the bits; i64, f64 and bool stand without their type."""
    kind = constant.type
    if not 0 <= constant.bits < 1 << kind.bits:
        return f"{constant.bits:#x}{kind}"  # malformed, to be shown by the verifier
    value = constant.value
    if kind is BOOL:
        return "true" if value else "false"
    suffix = "" if kind in (I64, F64) else kind.value
    if not kind.is_float:
        return f"{value}{suffix}"
    if math.isnan(value):
        return f"nan(0x{constant.bits:x}){suffix}"
    return f"{float(value)!r}" if kind is F64 else f"{kind.dtype.type(value)!s}{suffix}"


def operand_text(operand: Operand) -> str:
    """`x3`, `0.5f32`, `n0+1`."""
    match operand:
        case Variable(number):
            return f"x{number}"
        case Constant():
            return constant_text(operand)
        case Extent():
            return extent_text(operand)
        case _:
            assert_never(operand)


def function_text(function: Function, name: NameArray = plain_name) -> str:
    """`λx0 _. x2 = mul x0 x0; add x2 1.0`; without parameters only what follows the point."""
    used = variables_used(function.body)
    names = [f"x{p.number}" if p in used else "_" for p in function.parameters]
    body = _block(function.body, name)
    return f"λ{' '.join(names)}. {body}" if names else body


def variables_used(block: Block) -> frozenset[Variable]:
    """The variables that a block and the blocks within it refer to."""
    found: set[Operand] = set()
    pending = [block]
    while pending:
        current = pending.pop()
        found.update(current.results)
        for statement in current.statements:
            match statement:
                case Compute(_, _, arguments):
                    found.update(arguments)
                case Load(_, _, index):
                    found.update(index)
                case If(_, condition, then, orelse):
                    found.add(condition)
                    pending += [then, orelse]
                case While(_, _, initial, condition, body):
                    found.update(initial)
                    pending += [condition, body]
                case _:
                    assert_never(statement)
    return frozenset(operand for operand in found if isinstance(operand, Variable))


def _block(block: Block, name: NameArray) -> str:
    statements = list(block.statements)
    last = ""
    if statements and isinstance(statements[-1], Compute | Load) and (statements[-1].out,) == block.results:
        last = _right_side(statements.pop(), name)
    else:
        last = _tuple(block.results)
    return "; ".join([*(f"{_left_side(s)} = {_right_side(s, name)}" for s in statements), last])


def _tuple(operands: Sequence[Operand]) -> str:
    texts = [operand_text(operand) for operand in operands]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def _left_side(statement: Statement) -> str:
    match statement:
        case Compute(out) | Load(out):
            return operand_text(out)
        case If(outs) | While(outs):
            return _tuple(outs)
        case _:
            assert_never(statement)


def _right_side(statement: Statement, name: NameArray) -> str:
    match statement:
        case Compute(out, operator, arguments):
            target = f".{out.type}" if operator in CONVERSIONS else ""
            return " ".join([f"{operator}{target}", *map(operand_text, arguments)])
        case Load(_, array, index):
            return f"{name(array)}[{', '.join(map(operand_text, index))}]"
        case If(_, condition, then, orelse):
            return f"if {operand_text(condition)} then {{{_block(then, name)}}} else {{{_block(orelse, name)}}}"
        case While(_, parameters, initial, condition, body):
            state = f"{_tuple(parameters)} := {_tuple(initial)}"
            return f"while ({state}) {{{_block(condition, name)}}} do {{{_block(body, name)}}}"
        case _:
            assert_never(statement)
