"""The programs of a module: what `python -m accel explain FILE.py` lists.

In: a module. Out: its functions over `Acc`s and its arrays, each with what it takes and, if it cannot be explained without
arrays, why.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from types import FunctionType, ModuleType

from accel.ast.handles.acc import Acc
from accel.ast.handles.habits.values import is_function
from accel.ast.tree.nodes import Use
from accel.ast.tree.types import ArrayType
from accel.calling.annotations import ANYTHING, Demand, demand_of_result, demands
from accel.structure import Nested
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Listed:
    """One program. heading: its name with what it takes. summary: the first line of its docstring. problem: empty if it can be
    explained.
    """

    name: str
    line: int
    heading: str
    summary: str
    problem: str

    def __str__(self) -> str:
        notes = [note for note in (self.summary, self.problem) if note]
        return "\n".join([f"  {self.heading}  line {self.line}", *(f"      {note}" for note in notes)])


def programs(module: ModuleType) -> list[Listed]:
    """Those that a module defines, in the order of its lines; of several names for one function the first."""
    found: dict[int, Listed] = {}
    for value, listed in _listed(module):
        found.setdefault(id(value), listed)
    return sorted(found.values(), key=lambda each: each.line)


def _listed(module: ModuleType) -> Iterator[tuple[object, Listed]]:
    for name, value in vars(module).items():
        arrays = value if isinstance(value, tuple) else (value,)
        nodes = [each.node for each in arrays if isinstance(each, Acc)]
        if len(nodes) == len(arrays) and not all(isinstance(node, Use) for node in nodes):
            line = nodes[0].where.line if nodes[0].where is not None else 0
            yield value, Listed(name, line, f"{name}: {', '.join(str(node.types[0]) for node in nodes)}", "", "")
        function = inspect.unwrap(value) if is_function(value) else None
        if isinstance(function, FunctionType) and function.__module__ == module.__name__:
            listed = _function(name, function)
            if listed is not None:
                yield function, listed


def _function(name: str, function: FunctionType) -> Listed | None:
    """A function, if an annotation says that it takes or gives an `Acc`."""
    asked = demands(function)
    positional = [
        each.name
        for each in inspect.signature(function).parameters.values()
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    if len(asked) != len(positional) or {*asked, *_parts(demand_of_result(function))} == {ANYTHING}:
        return None
    pairs = list(zip(positional, asked, strict=True))
    unknown = [parameter for parameter, demand in pairs if _type(demand) is None]
    shown = ", ".join(f"{parameter}: {_type(demand) or '?'}" for parameter, demand in pairs)
    which = f"types of {' and '.join(unknown)} are" if len(unknown) > 1 else f"type of {''.join(unknown)} is"
    problem = f"the {which} not known: annotate {'them' if len(unknown) > 1 else 'it'}, or give arrays to `A.explain`"
    summary = (inspect.getdoc(function) or "").partition("\n")[0]
    return Listed(name, function.__code__.co_firstlineno, f"{name}({shown})", summary, problem if unknown else "")


def _parts(result: Nested[Demand]) -> Iterator[Demand]:
    """What is demanded of each array of a result."""
    pending = [result]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple):
            pending += part
        else:
            yield part


def _type(demand: Demand) -> ArrayType | None:
    """The type that an annotation asks for, if it leaves nothing open."""
    if demand.rank is None or demand.element is None:
        return None
    return ArrayType(demand.rank, demand.element)
