"""What the user assigned calls to, as the file says it; nothing here knows of programs.

In: places. Out: names of variables. A file is parsed when the first place in it is asked about, so never while a program is
traced, and once as long as its text is the same. Where it cannot be read, or a call stands for no variable, nothing is known.
"""

from __future__ import annotations

import ast
from dataclasses import field
from typing import Final

from accel.errors import Where
from accel.support.cache import Cache
from accel.support.dataclass import dataclass
from accel.support.source import Span, last_name, parsed, short, span_of, text_of

Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef | None
"""What a name is looked up in; None is the module."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """The left side of an assignment: names from left to right, those of nested tuples as well; empty where none is.

    unpacked: it is a tuple, so the names are of results. whole: there is one for each result; `xs = f()[0]` names one only.
    """

    names: tuple[str, ...]
    unpacked: bool
    whole: bool = True

    def of(self, position: int, count: int) -> str:
        """The name of one of `count` results; empty if it has none. A name for all of them is the first's."""
        if not self.unpacked:
            return self.names[0] if position == 0 else f"{self.names[0]}.{position}" if self.names[0] else ""
        fits = count == len(self.names) if self.whole else count >= len(self.names)
        return self.names[position] if fits and position < len(self.names) else ""


@dataclass(slots=True)
class _File:
    """What one file says. calls: each with what it stands in. functions: by what they stand in and their name."""

    assigned: dict[Span, Assigned] = field(default_factory=dict)
    calls: dict[Span, tuple[ast.Call, Scope]] = field(default_factory=dict)
    functions: dict[tuple[Scope, str], ast.FunctionDef] = field(default_factory=dict)
    outer: dict[Scope, Scope] = field(default_factory=dict)


class Variables:
    """Answers for all files that places are in."""

    def __init__(self) -> None:
        self._files: dict[str, _File] = {}

    def assigned(self, where: Where | None) -> Assigned | None:
        """What a call is assigned to, if it is the whole right side, or has `A.the` around it."""
        file, span = self._at(where)
        return None if file is None or span is None else file.assigned.get(span)

    def argument(self, where: Where | None, position: int) -> str:
        """The text of an argument of a call, without `A.the` around it; empty if it has none, or a long one."""
        found = self._call(where)
        if found is None or position >= len(found[0].args) or isinstance(found[0].args[position], ast.Starred):
            return ""
        return short(_value(found[0].args[position]))

    def state(self, where: Where | None, count: int) -> tuple[str, ...]:
        """What the function that is a call's second argument calls the `count` arrays that it is given; empty if unknown."""
        found = self._call(where)
        if found is None or len(found[0].args) < 2:
            return ()
        file, _ = self._at(where)
        step = found[0].args[1]
        function = _function(file, found[1], step) if isinstance(step, ast.Name) and file is not None else step
        if not isinstance(function, ast.FunctionDef | ast.Lambda) or len(function.args.args) != 1:
            return ()
        name = function.args.args[0].arg
        names = _unpacked(function, name)
        return names if len(names) == count else (name,) if count == 1 else ()

    def _call(self, where: Where | None) -> tuple[ast.Call, Scope] | None:
        file, span = self._at(where)
        return None if file is None or span is None else file.calls.get(span)

    def _at(self, where: Where | None) -> tuple[_File | None, Span | None]:
        if where is None:
            return None, None
        if where.file not in self._files:
            text = text_of(where.file)
            self._files[where.file] = _READ.get(text, lambda: _read(text))
        return self._files[where.file], where.span()


_READ: Final[Cache[str, _File]] = Cache(4)
"""What files of some text say: most programs that are explained one after the other stand in one."""


def _read(text: str) -> _File:
    """All that there is to know of a file, in one walk."""
    file, tree = _File(), parsed(text)
    pending: list[tuple[ast.AST, Scope]] = [] if tree is None else [(tree, None)]
    while pending:
        node, scope = pending.pop()
        inside = scope
        match node:
            case ast.Assign(targets, value):
                for target in targets:
                    _assign(file, target, value)
            case ast.AnnAssign(target=target, value=ast.expr() as value) | ast.NamedExpr(target=target, value=value):
                _assign(file, target, value)
            case ast.Call():
                file.calls[span_of(node)] = node, scope
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() | ast.ClassDef():
                inside = node
                file.outer[node] = scope
                if isinstance(node, ast.FunctionDef) and not isinstance(scope, ast.ClassDef):
                    file.functions[scope, node.name] = node
            case _:
                pass
        pending += [(child, inside) for child in ast.iter_child_nodes(node)]
    return file


def _assign(file: _File, target: ast.expr, value: ast.expr) -> None:
    """Notes what calls are assigned to: `a = f()`, `a, b = f()`, `a, b = f(), g()`, `a = f()[0]`, `a = A.the(f())`."""
    pending = [(target, value)]
    while pending:
        left, right = pending.pop()
        right = _value(right)
        if isinstance(left, ast.Tuple | ast.List) and isinstance(right, ast.Tuple | ast.List):
            if len(left.elts) == len(right.elts) and not any(isinstance(each, ast.Starred) for each in left.elts):
                pending += zip(left.elts, right.elts, strict=True)
            continue
        names = _names(left)
        match right:
            case ast.Subscript(ast.Call() as call, ast.Constant(int() as position)) if (
                position >= 0 and len(names) == 1
            ):
                found = Assigned(("",) * position + names, unpacked=True, whole=False)
                file.assigned.setdefault(span_of(call), found)
            case ast.Call() if names:
                found = Assigned(names, unpacked=isinstance(left, ast.Tuple | ast.List))
                file.assigned.setdefault(span_of(right), found)
            case _:
                pass


def _value(node: ast.expr) -> ast.expr:
    """The array, where `A.the` of it is written."""
    while isinstance(node, ast.Call) and last_name(node.func) == "the" and len(node.args) == 1:
        node = node.args[0]
    return node


def _names(target: ast.expr) -> tuple[str, ...]:
    """The names that a target binds, left to right: empty for what is nothing to call an array by. With a star, none at all."""
    pending, found = [target], list[str]()
    while pending:
        match pending.pop():
            case ast.Tuple(elts) | ast.List(elts):
                pending += reversed(elts)
            case ast.Name(name):
                found.append("" if name == "_" else name)
            case ast.Attribute() as attribute:
                found.append(short(attribute))
            case ast.Starred():
                return ()
            case _:
                found.append("")
    return tuple(found)


def _function(file: _File, scope: Scope, step: ast.Name) -> ast.FunctionDef | None:
    """The function of that name that can be seen from a scope."""
    while (found := file.functions.get((scope, step.id))) is None and scope is not None:
        scope = file.outer[scope]
    return found


def _unpacked(function: ast.FunctionDef | ast.Lambda, parameter: str) -> tuple[str, ...]:
    """What a function unpacks its parameter into, as in `marks, changed = state`; empty if it does not."""
    for statement in function.body if isinstance(function, ast.FunctionDef) else ():
        match statement:
            case ast.Assign([ast.Tuple() as target], ast.Name(name)) if name == parameter:
                return _names(target)
            case _:
                pass
    return ()
