"""Clean-up of a draft before its statements are ordered: copies are named through, and what is unused is dropped.

Fused code does not compute what is not asked for (docs/errors.md), so a dead statement goes even if it could raise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from accel.ir.flow import begun, substituted
from accel.ir.lowering.draft import Draft, DraftLevel
from accel.ir.nodes import LoopBody, OneToOne, Operand, Scatter, Stream, Write
from accel.ir.slices import backward_slice
from accel.labelled.scalar import Variable


def simplified(nest: Draft, bounds: Iterable[Stream]) -> Draft:
    """The same nest without copies, constants in flight, and dead statements. `bounds`: streams that are extents of loops."""
    return _without_dead(_without_copies(nest), bounds)


def _statements(nest: Draft) -> Iterator[LoopBody]:
    for level in nest.levels:
        yield from level.statements.values()


def _copied(statement: OneToOne) -> tuple[Operand, ...] | None:
    """What the outs are, where the function only passes on arguments, constants and extents."""
    if statement.function.body.statements:
        return None
    arguments = dict(zip(statement.function.parameters, statement.arguments, strict=True))
    return tuple(
        arguments[result] if isinstance(result, Variable) else result for result in statement.function.body.results
    )


def _without_copies(nest: Draft) -> Draft:
    values: dict[Operand, Operand] = {}
    for statement in _statements(nest):
        if isinstance(statement, OneToOne):
            values.update(zip(statement.outs, _copied(statement) or (), strict=False))
    if not values:
        return nest

    def value(operand: Operand) -> Operand:
        path = []
        while operand in values:
            path.append(operand)
            operand = values[operand]
        values.update(dict.fromkeys(path[:-1], operand))
        return operand

    return Draft(
        tuple(
            DraftLevel(
                {
                    key: substituted(each, value)
                    for key, each in level.statements.items()
                    if not (isinstance(each, OneToOne) and _copied(each) is not None)
                },
                {name: begun(each, value) for name, each in level.states.items()},
            )
            for level in nest.levels
        )
    )


def _without_dead(nest: Draft, bounds: Iterable[Stream]) -> Draft:
    """Keeps what stores something, and what that and the loops need."""
    states = [state for level in nest.levels for state in level.states.values()]
    stores = (statement for statement in _statements(nest) if isinstance(statement, Write | Scatter))
    live = backward_slice(_statements(nest), states, [*stores, *bounds])
    return Draft(
        tuple(
            DraftLevel(
                {key: each for key, each in level.statements.items() if id(each) in live},
                {name: each for name, each in level.states.items() if id(each) in live},
            )
            for level in nest.levels
        )
    )
