"""Which part of a loop's state is needed: by its result, by its condition, by what of the next state is needed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, Union

from accel.labelled import programs
from accel.labelled.array import Array, Label, SizeVariable
from accel.labelled.nodes import Awhile, Binding, Program
from accel.labelled.operations import parts
from accel.labelled.passes.dependence import nested
from accel.labelled.passes.may_fail import stays

Name: TypeAlias = Union[Label, SizeVariable]

_NONE: frozenset[int] = frozenset()


def restrict_loop(loop: Awhile, wanted: Sequence[int]) -> tuple[Awhile, list[int]]:
    """The loop without what its results at `wanted` do not need, and the places of the results that it still has.

    Parameters go as a whole: one for each array of the state that the user wrote.
    """
    owners = [k for k, parameter in enumerate(loop.body.parameters) for _ in parameter]
    needs, shown = _needed_by_step(loop.body, loop.initial)
    live = {owners[place] for place in wanted} | _asked(loop) | shown
    pending = list(live)
    while pending:
        k = pending.pop()
        for place in (place for place, owner in enumerate(owners) if owner == k):
            found = needs[place] - live
            live |= found
            pending += found
    places = [place for place, owner in enumerate(owners) if owner in live]
    if len(places) == len(owners):
        return loop, places
    condition = _restricted(loop.condition, live, loop.condition.results)
    body = _restricted(loop.body, live, tuple([loop.body.results[place] for place in places]))
    return Awhile(condition, body, tuple([loop.initial[place] for place in places])), places


def _restricted(part: Program, live: set[int], results: tuple[Array, ...]) -> Program:
    parameters = tuple([parameter for k, parameter in enumerate(part.parameters) if k in live])
    return Program(parameters, part.bindings, results)


def _asked(loop: Awhile) -> set[int]:
    """The parameters that the condition mentions."""
    known = _parameters(loop.condition, loop.initial)
    mentioned = [known.get(array.label, _NONE) for array in loop.condition.results]
    mentioned += [known.get(name, _NONE) for binding in loop.condition.bindings for name in _names(binding)]
    return set().union(*mentioned)


def _needed_by_step(body: Program, initial: Sequence[Array]) -> tuple[list[frozenset[int]], frozenset[int]]:
    """For each result of the step the parameters on which it depends; and those on which depends what stays though unused."""
    shown, known = _NONE, _parameters(body, initial)
    for binding in body.bindings:
        found = _NONE.union(*(known.get(name, _NONE) for name in _names(binding)))
        known[binding.label] = found
        shown |= found if stays(binding) else _NONE
        for variable in programs.sizes_bound(binding):
            known.setdefault(variable, found)
    needs = [
        _NONE.union(known.get(result.label, _NONE), *(known.get(e.variable, _NONE) for e in result.shape if e.variable))
        for result in body.results
    ]
    return needs, shown


def _parameters(part: Program, initial: Sequence[Array]) -> dict[Name, frozenset[int]]:
    """The parameters of a part under their labels, and under the sizes that are theirs: those not of the initial state."""
    known: dict[Name, frozenset[int]] = {}
    start = iter(initial)
    for k, parameter in enumerate(part.parameters):
        for leaf in parameter:
            known[leaf.label] = frozenset({k})
            for extent, before in zip(leaf.shape, next(start).shape, strict=True):
                if extent.variable is not None and extent != before:
                    known[extent.variable] = known.get(extent.variable, _NONE) | {k}
    return known


def _names(binding: Binding) -> Iterator[Name]:
    """All labels and sizes that a binding mentions, with its sub-programs."""
    for one in nested(binding):
        yield from one.after
        yield from (array.label for array in programs.reads(one.operation))
        yield from programs.extents_mentioned(one.operation)
        yield from (extent.variable for array in one.arrays for extent in array.shape if extent.variable is not None)
        yield from (array.label for part in parts(one.operation) for array in part.results)
