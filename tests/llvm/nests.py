"""Small loop programs, written by hand, and what must be true of them: the backend gives the loop interpreter's bits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64, ScalarType
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.protocol import HostArray, compiled
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import (
    For,
    Guard,
    Launch,
    Level,
    LoopBody,
    LoopDirection,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Output,
    Program,
    Read,
    State,
    Stream,
    Within,
    Write,
)
from accel.labelled.algebra import monoid_of
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.scalar import Block, Compute, Function, Variable, constant
from accel.schedule.machine import PROCESSOR
from accel.schedule.templates.choose import program_schedules
from accel.schedule.templates.ways import Finding
from tests.marks import numbers_of_threads

N = Extent(SizeVariable(0), 0)
M = Extent(SizeVariable(1), 0)
INDEX = Stream("i", I64)


def binary(operator: Operator, kind: ScalarType, result: ScalarType | None = None) -> Function:
    """`operator` as a function."""
    left, right, out = Variable(0, kind), Variable(1, kind), Variable(2, result or kind)
    return Function((left, right), Block((Compute(out, operator, (left, right)),), (out,)))


def first_of_pairs(kind: ScalarType) -> Function:
    """(a, b) (c, d) -> (a + c, b * c + d), of two leaves: it does not commute, and no neutral element of it is known."""
    a, b, c, d = (Variable(n, kind) for n in range(4))
    product, left, right = (Variable(n, kind) for n in range(4, 7))
    return Function(
        (a, b, c, d),
        Block(
            (
                Compute(left, Operator.ADD, (a, c)),
                Compute(product, Operator.MUL, (b, c)),
                Compute(right, Operator.ADD, (product, d)),
            ),
            (left, right),
        ),
    )


def program(
    nest_body: Level, inputs: Sequence[Array], outputs: Sequence[tuple[Array, tuple[tuple[Extent, ...], ...]]]
) -> Program:
    """One nest, whose outputs are the results."""
    nest = Nest(9, nest_body, tuple(Output(a, capacity) for a, capacity in outputs), (), ())
    return Program(tuple((array,) for array in inputs), (Launch(nest),), tuple(a for a, _ in outputs))


def loop(statements: Sequence[LoopBody], states: Sequence[State] = (), order: LoopDirection = LoopDirection.UP) -> For:
    """One loop over N."""
    return For(INDEX, N, order, tuple(states), Level(tuple(statements), None, ()))


def reads(arrays: Sequence[Array], when: Guard = None) -> tuple[list[Stream], list[LoopBody]]:
    """Every array at the loop's index."""
    streams = [Stream(f"x{a.label}", a.element) for a in arrays]
    return streams, [Read(s, a, (INDEX,), when) for s, a in zip(streams, arrays, strict=True)]


def fold(
    kind: ScalarType, merge: Function, leaves: int, *, exact: bool, commutes: bool, seeded: bool, guard: str = "none"
) -> Program:
    """A fold of `leaves` inputs; `guard`: none, prefix (i < M), or positive (the first input is above zero)."""
    arrays = [Array(k, 0, kind, (N,)) for k in range(leaves)]
    streams, statements = reads(arrays)
    finals = tuple(Stream(f"s{k}", kind) for k in range(leaves))
    initial = tuple(constant(kind, 3 + k) for k in range(leaves)) if seeded else None
    state = State(finals, initial, merge, replace(monoid_of(merge), exact=exact, commutes=commutes), False, over=(N,))
    keep, guards = _guard(guard, streams[0])
    body = [*statements, *guards, ManyToOne(finals[0].name, tuple(streams), when=keep)]
    results = [Array(10 + k, 0, kind, ()) for k in range(leaves)]
    after = tuple(Write(result, (), final) for result, final in zip(results, finals, strict=True))
    return program(Level((), loop(body, [state]), after), [*arrays, *_bound(guard)], [(r, ()) for r in results])


def _guard(guard: str, element: Stream) -> tuple[Guard, list[LoopBody]]:
    keep = Stream("keep", BOOL)
    if guard == "prefix":
        return keep, [Within(keep, INDEX, 0, M)]
    if guard == "positive":
        zero = constant(element.type, 0)
        return keep, [OneToMaybe(keep, binary(Operator.GT, element.type, BOOL), (element, zero))]
    return None, []


def _bound(guard: str) -> list[Array]:
    """An array whose only purpose is to bind M."""
    return [Array(8, 0, BOOL, (M,))] if guard == "prefix" else []


def scan(
    kind: ScalarType,
    merge: Function,
    leaves: int,
    *,
    exact: bool,
    seeded: bool,
    order: LoopDirection = LoopDirection.UP,
    guard: str = "none",
    exclusive: bool = False,
) -> Program:
    """A scan of `leaves` inputs; exclusive ones must be seeded. Under a guard, what is before each step is written."""
    arrays = [Array(k, 0, kind, (N,)) for k in range(leaves)]
    streams, statements = reads(arrays)
    finals = tuple(Stream(f"s{k}", kind) for k in range(leaves))
    values = tuple(Stream(f"v{k}", kind) for k in range(leaves))
    initial = tuple(constant(kind, 3 + k) for k in range(leaves)) if seeded else None
    state = State(finals, initial, merge, replace(monoid_of(merge), exact=exact), True, over=(N,))
    keep, guards = _guard(guard, streams[0])
    made = {"before": values} if exclusive else {"after": values}
    step = ManyToOne(finals[0].name, tuple(streams), **made, when=keep)
    results = [Array(10 + k, 0, kind, (N,)) for k in range(leaves)]
    totals = [Array(20 + k, 0, kind, ()) for k in range(leaves)] if seeded else []
    writes = [Write(r, (INDEX,), v, None) for r, v in zip(results, values, strict=True)]
    after = tuple(Write(total, (), final) for total, final in zip(totals, finals, strict=False))
    body = Level((), loop([*statements, *guards, step, *writes], [state], order), after)
    outputs = [(r, ((N,),)) for r in results] + [(t, ()) for t in totals]
    return program(body, [*arrays, *_bound(guard)], outputs)


def mapped(
    function: Function, inputs: Sequence[Array], result: ScalarType, order: LoopDirection = LoopDirection.UP
) -> Program:
    """`function` of the inputs' elements."""
    streams, statements = reads(inputs)
    out, array = Stream("y", result), Array(10, 0, result, (N,))
    body = [*statements, OneToOne((out,), function, tuple(streams)), Write(array, (INDEX,), out)]
    return program(Level((), loop(body, order=order), ()), inputs, [(array, ((N,),))])


SCALES = 10.0 ** np.arange(-3, 3)
"""From a thousandth to a hundred. To look one up takes a fraction of what a power does."""


def numbers(kind: ScalarType, count: int, seed: int) -> HostArray:
    """Numbers whose sums round."""
    random = np.random.default_rng(seed)
    if kind.is_float:
        return np.asarray(random.standard_normal(count) * SCALES[random.integers(6, size=count)], kind.dtype)
    return np.asarray(random.integers(kind.minimum, kind.maximum, count, endpoint=True, dtype=kind.dtype))


def each_has(given: Program, kind: type[Finding]) -> None:
    """The stage finds this in each nest."""
    for nest in program_schedules(given, PROCESSOR).nests:
        assert any(isinstance(way.finding, kind) for way in nest.ways)


def run(given: Program, arguments: Sequence[HostArray], threads: int = 1) -> list[HostArray]:
    """The program's results on the backend."""
    return compiled(LLVMBackend(threads), given)(arguments)


def agrees(given: Program, arguments: Sequence[HostArray], threads: Sequence[int] = ()) -> None:
    """The backend gives the interpreter's bits with any number of threads."""
    expected = interpret(given, arguments)
    for count in threads or numbers_of_threads():
        for right, got in zip(expected, run(given, arguments, count), strict=True):
            assert right.dtype == got.dtype
            assert right.shape == got.shape
            assert right.tobytes() == got.tobytes(), f"{got} instead of {right} with {count} threads"


def taken(loops: Program, arguments: Sequence[HostArray], threads: int) -> list[tuple[int, ...]]:
    """The shapes of what a call takes memory for, where series run one row at a time, or as few as they can."""
    executable: Any = compiled(LLVMBackend(threads, block_bytes=1), loops)  # Any: its device is nobody's business else
    device = executable._execute._device
    take = device._buffers.take
    asked: list[tuple[int, ...]] = []

    class Watched:
        def take(self, element: ScalarType, shape: tuple[int, ...]) -> HostArray:
            asked.append(shape)
            made: HostArray = take(element, shape)
            return made

    device._buffers = Watched()
    executable._execute(arguments)
    return asked
