"""What a program's text leaves out: places in the user's program, and the names that its errors give.

In: labelled programs. Out: the places in an order that depends on the text only, so that of two programs with one text the
k-th places correspond. Compiled programs are found by their text; errors must name the lines of the program that runs.
"""

from __future__ import annotations

from collections.abc import Iterator

from accel.ast.tree.host_functions import HostFunction
from accel.errors import Where
from accel.labelled.nodes import Binding, BindSizes, Fold, FoldSegments, HostCall, Program, RequireEqual, ScanSegments
from accel.labelled.operations import Kind, describe
from accel.labelled.programs import blocks, functions, programs
from accel.labelled.scalar import Load


def places(program: Program) -> Iterator[Where | None]:
    """Every place that an error of the running program may name, those of sub-programs too."""
    for part in programs(program):
        for equality in part.equalities:
            yield from (equality.where, equality.left_where, equality.right_where)
        for binding in part.bindings:
            yield from _of_binding(binding)


def _of_binding(binding: Binding) -> Iterator[Where | None]:
    operation = binding.operation
    yield binding.where
    if isinstance(operation, RequireEqual):
        yield from (operation.left_where, operation.right_where)
    for function in functions(operation):
        for block in blocks(function):
            yield from (statement.where for statement in block.statements if isinstance(statement, Load))


def name(binding: Binding) -> str:
    """What the user called, or the core operation's name."""
    described = describe(binding.operation)
    return described.name.lower() if described.kind is Kind.BARRIER else described.name


def names(program: Program, every: bool = False) -> tuple[str, ...]:
    """The combinators by the names that errors give them: those that require equal shapes, extents or rows that are not empty.

    every: all others as well.
    """
    found: list[str] = []
    for part in programs(program):
        found += [equality.name for equality in part.equalities]
        for binding in part.bindings:
            if every:
                found.append(name(binding))
            match binding.operation:
                case (
                    RequireEqual(name=called)
                    | Fold(initial=None, name=called)
                    | FoldSegments(name=called)
                    | ScanSegments(name=called)
                    | BindSizes(name=called)
                ):
                    found.append(called)
                case _:
                    pass
    return tuple(found)


def host_functions(program: Program) -> tuple[HostFunction, ...]:
    """The functions of the host that a program calls."""
    operations = (binding.operation for part in programs(program) for binding in part.bindings)
    return tuple([operation.function for operation in operations if isinstance(operation, HostCall)])
