"""What to write instead of what Python decides by a truth value: `a < x < b`, `and`, `if`, `min(x, y)`.

In: the place where Python asked an `Exp` for its truth. Out: a hint in the user's words; None where the source does not tell.
"""

from __future__ import annotations

import ast

from accel.errors import Where
from accel.support.source import Expression, expression

_LONGEST = 100
"""Characters of code that a hint may have; a longer one would not be read."""

_ATOMS = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript)
"""What needs no parentheses beside `&`."""


def instead_of_truth(where: Where | None) -> str | None:
    """The hint for an `Exp` that Python asked for its truth."""
    found = expression(where)
    code = None if found is None else _rewritten(found)
    return None if code is None or len(code) > _LONGEST or "\n" in code else f"write `{code}`"


def _rewritten(found: Expression) -> str | None:
    node = found.parent if isinstance(found.parent, ast.BoolOp) else found.node
    match node:
        case ast.Compare(left, [_, _, *_] as operators, comparators):
            sides = [left, *comparators]
            pairs = zip(sides, operators, comparators, strict=False)
            return " & ".join(f"({ast.unparse(ast.Compare(a, [operator], [b]))})" for a, operator, b in pairs)
        case ast.Compare(left, [ast.In()], [ast.Tuple(items) | ast.List(items) | ast.Set(items)]) if items:
            return " | ".join(f"({ast.unparse(left)} == {ast.unparse(item)})" for item in items)
        case ast.BoolOp(operator, values):
            return (" & " if isinstance(operator, ast.And) else " | ").join(map(_operand, values))
        case ast.Call(ast.Name("min" | "max" as name), [first, *others], []) if others:
            text = ast.unparse(first)
            for other in others:
                text = f"A.{name}({text}, {ast.unparse(other)})"
            return text
        case ast.UnaryOp(ast.Not(), operand):
            return f"~{_operand(operand)}"
        case _:
            return _chosen(node, found.parent)


def _chosen(node: ast.AST, parent: ast.AST) -> str | None:
    """What to write for `a if c else b`, where `node` is its condition."""
    match parent:
        case ast.IfExp(test, body, orelse) if test is node:
            return f"A.cond({ast.unparse(test)}, {ast.unparse(body)}, {ast.unparse(orelse)})"
        case _:
            return None


def _operand(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if isinstance(node, _ATOMS) else f"({text})"
