"""A random program as Python source that can be run by itself; the tests run programs in this form too."""

from __future__ import annotations

from tests.differential.elementwise import Input, name_of
from tests.differential.forms import Form, form_of, parts
from tests.differential.programs import Element, Program, Ref, infer

HEAD = """import numpy as np

import accel as A
from accel.ast.tree.types import ScalarType
from tests.differential.data import array, record
from tests.differential.subjects import report


"""


def function_source(program: Program) -> str:
    """`def program(...)`, from `Acc`s to a tuple of `Acc`s."""
    parameters = [f"t{number}" for number, node in enumerate(program.nodes) if isinstance(node.operation, Input)]
    lines = [f"def program({', '.join(parameters)}):"]
    for number, node in enumerate(program.nodes):
        if not isinstance(node.operation, Input):
            names = ", ".join(name_of(Ref(number, result)) for result in range(node.results))
            lines.append(f"    {names} = {node.operation.source(node)}")
    types = infer(program)
    results = ", ".join(_given(ref, types[ref.node][ref.result].element) for ref in program.outputs)
    lines.append(f"    return ({results},)")
    return "\n".join(lines) + "\n"


def _given(ref: Ref, element: Element) -> str:
    """A result; of perhaps-elements their flags, and what they hold: what is held by nothing is nobody's affair."""
    if form_of(element) is not Form.MAYBE:
        return name_of(ref)
    return f"A.map(lambda m: A.lift({', '.join(parts('m', element))}), {name_of(ref)})"


def file_source(program: Program) -> str:
    """A file that runs the program everywhere and says what differs."""
    arguments = []
    for node in program.nodes:
        if isinstance(node.operation, Input):
            seed, layout, *shape = node.numbers
            arguments.append(f"array(ScalarType({node.element[0].value!r}), {seed}, {layout}, {tuple(shape)})")
    return f"{HEAD}{function_source(program)}\n\nreport(program, [{', '.join(arguments)}])\n"
