"""The calls of functions as mypy knows them, where it knows more than one.

In: stubs, which have an overload for each rank, number of items and kind of number, and overloads in the code. Out: by the
function's name the text of the overload that says most: for every shape if there is such a one, else for rank 2 or two items,
and for elements of any type.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

_TELLING = ("sh: Exp[Sh]", "spec: tuple[Num, AllType]", ", x2: ", ", i2: ", "x: Exp[O] | O")
"""What tells most, the first first."""

_SPECIAL = re.compile(r"tuple\[(\(\)|Num|int[\],])|float|complex|\bint\b(?!\])")
"""What an overload for one rank, or for Python's numbers, has in its text."""


def signatures(folder: Path) -> Mapping[str, str]:
    """Those of all stubs and modules of a folder, but of functions for which one text says too little."""
    found = defaultdict[str, list[str]](list)
    for path in sorted([*folder.rglob("*.pyi"), *folder.rglob("*.py")]):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.FunctionDef) and (path.suffix == ".pyi" or _is_overload(statement)):
                found[statement.name].append(_call(statement))
    chosen = {name: _clearest(texts) for name, texts in found.items()}
    return {name: text for name, text in chosen.items() if not re.search(r"\b(Any|Never)\b", text)}


def _is_overload(statement: ast.FunctionDef) -> bool:
    return any(isinstance(each, ast.Name) and each.id == "overload" for each in statement.decorator_list)


def _clearest(texts: Sequence[str]) -> str:
    for words in _TELLING:
        if some := [text for text in texts if words in text]:
            return min(some, key=len)
    return min(texts, key=lambda text: (text.count("Any"), len(_SPECIAL.findall(text)), len(text)))


def _call(statement: ast.FunctionDef) -> str:
    """The head without `def`, on one line, or if that is long with a line for each parameter."""
    kept = statement.args
    first, named = [*kept.posonlyargs, *kept.args], kept.kwonlyargs
    defaults = [None] * (len(first) - len(kept.defaults)) + [*kept.defaults]
    parts = [_parameter(each, default) for each, default in zip(first, defaults, strict=True)]
    if kept.posonlyargs:
        parts.insert(len(kept.posonlyargs), "/")
    if named:
        parts += ["*", *(_parameter(each, default) for each, default in zip(named, kept.kw_defaults, strict=True))]
    result = "" if statement.returns is None else f" -> {_type(statement.returns)}"
    line = f"{statement.name}({', '.join(parts)}){result}"
    return line if len(line) <= 120 else f"{statement.name}(\n    " + ",\n    ".join(parts) + f",\n){result}"


def _parameter(given: ast.arg, default: ast.expr | None) -> str:
    annotation = "" if given.annotation is None else f": {_type(given.annotation)}"
    return f"{given.arg}{annotation}" + ("" if default is None else f" = {ast.unparse(default)}")


def _type(given: ast.expr) -> str:
    return ast.unparse(given).replace("*Ix,]", "*Ix]")
