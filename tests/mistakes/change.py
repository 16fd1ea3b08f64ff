"""A mistake in a right program: one expression is another, arguments are exchanged, left out, or too many.

In: a program and a source of chances. Out: another program, as text of one line for each statement.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Sequence
from random import Random
from types import FunctionType

import accel as A
from tests.mistakes.values import WRONG

NUMBERS = (
    "0",
    "-1",
    "1",
    "2",
    "1.5",
    "2147483648",
    "9223372036854775808",
    "True",
    "float('nan')",
    "-2147483648",
    "None",
)
FIXED = {(ast.Call, "func"), (ast.Attribute, "value"), (ast.Starred, "value")}
"""What is not exchanged: Python would not get as far as accel."""

NAMES = tuple(name for name in A.__all__ if isinstance(getattr(A, name), FunctionType) and name != "profile")
KEYWORDS = ("axis", "backend", "out", "donate", "strict", "dtype", "trim", "dims", "threads", "checks", "cost", "x")


def changed(name: str, programs: dict[str, ast.Module], chance: Random) -> str:
    """A program with one mistake, now and then two or three."""
    tree = copy.deepcopy(programs[name])
    for _ in range(chance.choice((1, 1, 1, 1, 2, 3))):
        _change(tree, programs, chance)
    return ast.unparse(ast.fix_missing_locations(tree))


def _change(tree: ast.Module, programs: dict[str, ast.Module], chance: Random) -> None:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    match chance.randrange(12):
        case 0 if calls:
            call = chance.choice(calls)
            chance.shuffle(call.args)
        case 1 if any(call.args for call in calls):
            call = chance.choice([call for call in calls if call.args])
            del call.args[chance.randrange(len(call.args))]
        case 2 if calls:
            call = chance.choice(calls)
            call.args.insert(chance.randint(0, len(call.args)), _expression(chance.choice(WRONG)))
        case 3 if calls:
            call = chance.choice(calls)
            given = {keyword.arg for keyword in call.keywords}
            word = chance.choice([word for word in KEYWORDS if word not in given])
            call.keywords.append(ast.keyword(word, _expression(chance.choice(WRONG))))
        case 4:
            _replace(tree, ast.Attribute, lambda node: _renamed(node, chance), chance)
        case 5:
            _replace(tree, ast.Constant, lambda _: _expression(chance.choice(NUMBERS)), chance)
        case 6:
            other = programs[chance.choice(list(programs))]
            parts = [node for node in ast.walk(other) if isinstance(node, ast.expr) and _is_value(node)]
            _replace(tree, ast.expr, lambda _: copy.deepcopy(chance.choice(parts)), chance)
        case _:
            _replace(tree, ast.expr, lambda _: _expression(chance.choice(WRONG)), chance)


def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _renamed(node: ast.expr, chance: Random) -> ast.expr:
    """Another public name, if it is one."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "A":
        return ast.Attribute(node.value, chance.choice(NAMES), ast.Load())
    return node


def _is_value(node: ast.expr) -> bool:
    return not isinstance(node, ast.Starred) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _replace(tree: ast.Module, kind: type[ast.expr], by: Callable[[ast.expr], ast.expr], chance: Random) -> None:
    """One of the expressions of a kind, wherever it stands but as a target or as the function of a call."""
    places: list[tuple[ast.AST, str, int | None]] = []
    for parent in ast.walk(tree):
        for field, value in ast.iter_fields(parent):
            if (type(parent), field) in FIXED and kind is ast.expr:
                continue
            items: Sequence[object] = value if isinstance(value, list) else [value]
            for number, item in enumerate(items):
                if isinstance(item, kind) and _is_value(item):
                    places.append((parent, field, number if isinstance(value, list) else None))
    if not places:
        return
    parent, field, place = chance.choice(places)
    if place is None:
        setattr(parent, field, by(getattr(parent, field)))
    else:
        getattr(parent, field)[place] = by(getattr(parent, field)[place])
