"""What each statement needs and what it makes: the streams that flow through a nest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import assert_never

from accel.ir.nodes import (
    For,
    LoopBody,
    ManyToOne,
    OneToMaybe,
    OneToOne,
    Operand,
    Read,
    Remap,
    Scatter,
    State,
    Stream,
    Within,
    Write,
)


def made(statement: LoopBody) -> tuple[Stream, ...]:
    """The streams that a statement binds."""
    match statement:
        case OneToOne(outs=outs) | Remap(outs=outs):
            return outs
        case OneToMaybe(out=out) | Within(out=out) | Read(out=out):
            return (out,)
        case ManyToOne(before=before, after=after):
            return (*before, *after)
        case Write() | Scatter():
            return ()
        case _:
            assert_never(statement)


def operands(statement: LoopBody) -> tuple[Operand, ...]:
    """The operands that a statement reads, its guard apart."""
    match statement:
        case OneToOne(arguments=some) | OneToMaybe(arguments=some) | Within(arguments=some) | Remap(arguments=some):
            return some
        case ManyToOne(values=some) | Read(index=some):
            return some
        case Write(index=index, value=value):
            return (*index, value)
        case Scatter(index=index, values=values):
            return (*index, *values)
        case _:
            assert_never(statement)


def needed(statement: LoopBody) -> tuple[Stream, ...]:
    """The streams that a statement reads, its guard included."""
    streams = tuple(operand for operand in operands(statement) if isinstance(operand, Stream))
    return streams if statement.when is None else (*streams, statement.when)


def prefixes(loop: For) -> dict[str, Within]:
    """The guards of a loop that hold in its first iterations and in no later ones, by their names."""
    statements = (*loop.body.before, *loop.body.after)
    found = [s for s in statements if isinstance(s, Within) and s.when is None and s.index == loop.index]
    return {within.out.name: within for within in found}


def numbering(loops: Sequence[For]) -> dict[str, Within]:
    """The guards that hold in the first iterations of some loops inside of each other, taken together, and in no later ones."""
    if len(loops) == 1:
        return prefixes(loops[0])
    indices, body = tuple(loop.index for loop in loops), loops[-1].body
    found = [s for s in (*body.before, *body.after) if isinstance(s, Within) and s.when is None and s.loops == indices]
    return {within.out.name: within for within in found}


def state_needs(state: State) -> tuple[Stream, ...]:
    """The streams that must be there when the loop of a state is entered."""
    seeds = tuple(operand for operand in state.initial or () if isinstance(operand, Stream))
    return seeds if state.when is None else (*seeds, state.when)


def begun(state: State, value: Callable[[Operand], Operand]) -> State:
    """The state with `value` applied to what it begins with."""
    return state if state.initial is None else replace(state, initial=tuple(map(value, state.initial)))


def substituted(statement: LoopBody, value: Callable[[Operand], Operand]) -> LoopBody:
    """The statement with `value` applied to all its operands (guards stay)."""

    def each(some: tuple[Operand, ...]) -> tuple[Operand, ...]:
        return tuple(map(value, some))

    match statement:
        case OneToOne(arguments=some) | OneToMaybe(arguments=some) | Remap(arguments=some):
            return replace(statement, arguments=each(some))
        case ManyToOne(values=some):
            return replace(statement, values=each(some))
        case Read(index=index):
            return replace(statement, index=each(index))
        case Write(index=index, value=written):
            return replace(statement, index=each(index), value=value(written))
        case Scatter(index=index, values=values):
            return replace(statement, index=each(index), values=each(values))
        case Within():
            return statement  # of a loop's index, which is no copy
        case _:
            assert_never(statement)
