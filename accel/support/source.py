"""What the user wrote at a place, as Python's syntax: for hints that repeat the names of the user's own call.

In: a `Where`, or a file. Out: expressions and their texts, or None where the source cannot be read, as in a process that lacks
the file.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence
from typing import TypeAlias

from accel.errors import Where
from accel.support.dataclass import frozen

Span: TypeAlias = tuple[int, int | None, int | None, int | None]
"""Where an expression stands in its file: first line and column, last ones; columns are counted in bytes."""

_LONGEST = 40
"""Characters of an argument that a hint repeats; a longer one would hide what the hint says."""


@frozen
class Expression:
    """An expression of the user's, and what it is directly a part of."""

    node: ast.expr
    parent: ast.AST


def expression(where: Where | None) -> Expression | None:
    """The expression that a place points at."""
    span = None if where is None else where.span()
    if where is None or span is None:
        return None
    tree = parsed(text_of(where.file))
    if tree is None:
        return None
    for parent in ast.walk(tree):
        for node in ast.iter_child_nodes(parent):
            if isinstance(node, ast.expr) and span == span_of(node):
                return Expression(node, parent)
    return None


def text_of(file: str) -> str:
    """What stands in a file; nothing if it cannot be read."""
    return "".join(linecache.getlines(file))


def parsed(text: str) -> ast.Module | None:
    """All of a file of that text; None if it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError):  # another language that compiles to Python, or a file that was changed
        return None
    except (RecursionError, MemoryError):  # it is nested deeper than the parser goes
        return None


def span_of(node: ast.expr) -> Span:
    """Where an expression stands, as `Where.span` says it."""
    return node.lineno, node.col_offset, node.end_lineno, node.end_col_offset


def arguments(name: str | None, where: Where | None, *, keywords: bool = False) -> tuple[str, ...] | None:
    """The texts of the positional arguments, if a call of a function `name` (of any, if that is None) stands at a place.

    None if it has other arguments as well, unless `keywords` are allowed.
    """
    found = expression(where)
    if found is None or not isinstance(found.node, ast.Call):
        return None
    call = found.node
    if name not in (None, last_name(call.func)) or any(isinstance(item, ast.Starred) for item in call.args):
        return None
    return tuple(map(short, call.args)) if keywords or not call.keywords else None


def texts(
    name: str | None, where: Where | None, otherwise: Sequence[str], *, keywords: bool = False
) -> tuple[str, ...]:
    """The texts of as many arguments as `otherwise` has, and that where the source does not tell."""
    found = arguments(name, where, keywords=keywords)
    if found is None or len(found) != len(otherwise):
        return tuple(otherwise)
    return tuple(text or instead for text, instead in zip(found, otherwise, strict=True))


def attribute_call(where: Where | None) -> tuple[str, tuple[str, ...]]:
    """Of `e.name(arguments)`: the texts of `e` and of the arguments; empty where the source does not tell."""
    found = expression(where)
    if found is None or not isinstance(found.node, ast.Attribute):
        return "", ()
    call = found.parent
    called = isinstance(call, ast.Call) and call.func is found.node
    return short(found.node.value), tuple(map(short, call.args)) if called and isinstance(call, ast.Call) else ()


def short(node: ast.expr) -> str:
    """An expression's text on one line; empty if it is too long to be repeated."""
    text = ast.unparse(node)
    return "" if len(text) > _LONGEST or "\n" in text else text


def last_name(node: ast.expr) -> str | None:
    """`map` of `A.map` and of `map`."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name):
            return name
        case _:
            return None
