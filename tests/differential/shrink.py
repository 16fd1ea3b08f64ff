"""Smaller programs that still fail: greedy, candidate by candidate, each of them well typed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tests.differential.elementwise import HOLLOW, Input
from tests.differential.programs import (
    Apply,
    Expression,
    Extent,
    Function,
    IllTyped,
    Literal,
    Load,
    Loop,
    Node,
    Program,
    Ref,
    Variable,
    expressions,
    infer,
    live,
    rename,
)

ATTEMPTS = 400
"""Candidates that are tried at most."""


def cost(program: Program) -> tuple[int, int, int]:
    """What shrinking makes less: nodes, then scalar code, then numbers."""
    functions = [function for node in program.nodes for function in node.functions]
    inner = [part for function in functions for result in function.results for part in expressions(result)]
    odd = sum(isinstance(part, Literal) and part.value not in (0, 1) for part in inner)
    numbers = sum(abs(number) for node in program.nodes for number in node.numbers)
    return len(program.nodes) + len(program.outputs), len(inner) + odd, numbers


def shrink(program: Program, fails: Callable[[Program], bool]) -> Program:
    """The smallest failing program that a bounded greedy search finds."""
    left = ATTEMPTS
    improved = True
    while improved and left > 0:
        improved = False
        for candidate in candidates(program):
            if cost(candidate) >= cost(program) or not well_typed(candidate):
                continue
            left -= 1
            if fails(candidate):
                program, improved = candidate, True
                break
            if left <= 0:
                break
    return program


def well_typed(program: Program) -> bool:
    """The change left a program."""
    try:
        infer(program)
    except (IllTyped, IndexError):
        return False
    return bool(program.outputs)


def candidates(program: Program) -> Iterator[Program]:
    """Simpler programs, the boldest first."""
    yield from fewer_outputs(program)
    yield from inner_outputs(program)
    yield from earlier_arrays(program)
    yield from simpler_functions(program)
    yield from smaller_numbers(program)


def fewer_outputs(program: Program) -> Iterator[Program]:
    """One output alone, or one less."""
    if len(program.outputs) > 1:
        for output in program.outputs:
            yield live(Program(program.nodes, (output,)))
        for output in program.outputs:
            yield live(Program(program.nodes, tuple(other for other in program.outputs if other != output)))


def inner_outputs(program: Program) -> Iterator[Program]:
    """An array on the way as the output."""
    for number in reversed(range(len(program.nodes) - 1)):
        for result in range(program.nodes[number].results):
            yield live(Program(program.nodes, (Ref(number, result),)))


def earlier_arrays(program: Program) -> Iterator[Program]:
    """A node's result replaced by an array of the same type, or by an input of its type."""
    types = infer(program)
    for number in reversed(range(len(program.nodes))):
        for result, kind in enumerate(types[number]):
            target = Ref(number, result)
            for earlier in range(number):
                for other, found in enumerate(types[earlier]):
                    if found == kind:
                        yield live(_replaced(program, target, Ref(earlier, other)))
        known = types[number][0]
        if not isinstance(program.nodes[number].operation, Input) and known.is_known and len(known.element) == 1:
            numbers = (7, 0, *(dim.value for dim in known.dims))
            fresh = Node(Input(), numbers=numbers, element=known.element)
            if program.nodes[number].results == 1:
                nodes = (*program.nodes[:number], fresh, *program.nodes[number + 1 :])
                yield live(Program(nodes, program.outputs))


def _replaced(program: Program, old: Ref, new: Ref) -> Program:
    def renumber(ref: Ref) -> Ref:
        return new if ref == old else ref

    return Program(tuple(rename(node, renumber) for node in program.nodes), tuple(map(renumber, program.outputs)))


def simpler_functions(program: Program) -> Iterator[Program]:
    """One subexpression replaced by a part of it, a constant, or a variable."""
    for number, node in enumerate(program.nodes):
        for which, function in enumerate(node.functions):
            for position, result in enumerate(function.results):
                for simpler in simplified(result):
                    results = (*function.results[:position], simpler, *function.results[position + 1 :])
                    changed = Function(function.parameters, results, function.form)
                    functions = (*node.functions[:which], changed, *node.functions[which + 1 :])
                    nodes = (*program.nodes[:number], replace(node, functions=functions), *program.nodes[number + 1 :])
                    yield live(Program(nodes, program.outputs))


def simplified(expression: Expression) -> Iterator[Expression]:
    """Simpler expressions of the same type, those that drop most first."""
    kind = expression.type
    zero = 0.0 if kind.is_float else False if kind.value == "bool" else 0
    one = 1.0 if kind.is_float else True if kind.value == "bool" else 1
    match expression:
        case Literal(_, value):
            if value not in (zero, one):
                yield Literal(kind, one)
            return
        case Variable():
            return
        case Apply(template, arguments, _):
            yield from (argument for argument in arguments if argument.type is kind)
            yield Literal(kind, zero)
            for position, argument in enumerate(arguments):
                for simpler in simplified(argument):
                    yield Apply(template, (*arguments[:position], simpler, *arguments[position + 1 :]), kind)
        case Extent():
            yield Literal(kind, zero)
        case Load(array, leaf, index, _, guarded, clamp):
            yield Literal(kind, zero)
            for position, part in enumerate(index):
                for simpler in simplified(part):
                    yield Load(array, leaf, (*index[:position], simpler, *index[position + 1 :]), kind, guarded, clamp)
        case Loop(name, count, initial, body, _):
            yield initial
            if count > 1:
                yield Loop(name, 1, initial, body, kind)
            yield from (Loop(name, count, simpler, body, kind) for simpler in simplified(initial))
            yield from (Loop(name, count, initial, simpler, kind) for simpler in simplified(body))


def smaller_numbers(program: Program) -> Iterator[Program]:
    """An extent made smaller everywhere, and plain layouts."""
    numbers = sorted({number for node in program.nodes for number in node.numbers if number > 1}, reverse=True)
    for large in numbers:
        for small in (0, 1, 2, 3, large // 2, large - 1):
            if small < large:
                nodes = tuple(replace(node, numbers=tuple(_smaller(node, large, small))) for node in program.nodes)
                yield Program(nodes, program.outputs)
    for number, node in enumerate(program.nodes):
        if isinstance(node.operation, Input) and node.numbers[1] not in (0, HOLLOW):
            plain = replace(node, numbers=(node.numbers[0], 0, *node.numbers[2:]))
            yield Program((*program.nodes[:number], plain, *program.nodes[number + 1 :]), program.outputs)


def _smaller(node: Node, large: int, small: int) -> Iterator[int]:
    for position, number in enumerate(node.numbers):
        is_extent = not isinstance(node.operation, Input) or position > 1
        yield small if is_extent and number == large else number
