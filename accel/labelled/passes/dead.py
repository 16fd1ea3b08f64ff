"""Removal of what is unused: bindings, and single leaves of those that work leaf by leaf.

A size variable keeps its binding alive where an extent mentions it; a requirement lives as long as what names it in `after`. A
size that may turn out to be no extent is computed even if no one mentions it any more: what was concluded from it being one
(`laws.py`) is true only if it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace

from accel.labelled import programs
from accel.labelled.array import Array, Label, SizeVariable
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Binding,
    Generate,
    Map,
    Operation,
    Program,
)
from accel.labelled.operations import Flag, describe, rebuild
from accel.labelled.passes.components import restrict
from accel.labelled.passes.loop_state import restrict_loop
from accel.labelled.passes.may_fail import stays
from accel.labelled.passes.pointwise import Pointwise, narrowed
from accel.support.dataclass import dataclass


def remove(program: Program) -> Program:
    """The program without what its results do not need. Parameters stay."""
    return _sweep(program, _Needed(_definers(program)), program.results)


@dataclass(slots=True)
class _Needed:
    """What later bindings use."""

    definers: dict[SizeVariable, Label]
    arrays: set[tuple[Label, int]] = field(default_factory=set)
    labels: set[Label] = field(default_factory=set)
    sizes: set[SizeVariable] = field(default_factory=set)

    def add_arrays(self, arrays: Iterable[Array]) -> None:
        for array in arrays:
            self.arrays.add((array.label, array.leaf))
            self.add_sizes(extent.variable for extent in array.shape)

    def add_sizes(self, variables: Iterable[SizeVariable | None]) -> None:
        for variable in variables:
            if variable is not None and variable in self.definers:
                self.sizes.add(variable)
                self.labels.add(self.definers[variable])

    def with_sizes(self, binding: Binding, wanted: list[int]) -> list[int]:
        """The places of `wanted` results, and of others by which `binding` finds out sizes that are used."""
        missing = {v for v in self.sizes if self.definers[v] == binding.label}
        places = set(wanted)
        for place in [*wanted, *range(len(binding.arrays))]:
            found = {e.variable for e in binding.arrays[place].shape if e.variable in missing}
            if found:
                places.add(place)
                missing.difference_update(v for v in found if v is not None)
        return sorted(places)

    def has(self, array: Array) -> bool:
        return (array.label, array.leaf) in self.arrays


def _definers(program: Program) -> dict[SizeVariable, Label]:
    """The binding that finds out each rigid variable: the first that mentions it, unless it comes with a parameter."""
    definers: dict[SizeVariable, Label | None] = {}
    for item in programs.in_order(program):
        if isinstance(item, Binding):
            for variable in programs.sizes_bound(item):
                definers.setdefault(variable, item.label)
        else:
            for extent in (extent for leaf in item for extent in leaf.shape):
                if extent.variable is not None:
                    definers.setdefault(extent.variable, None)
    return {variable: label for variable, label in definers.items() if label is not None}


def _sweep(program: Program, needed: _Needed, results: tuple[Array, ...]) -> Program:
    needed.add_arrays(results)
    kept: list[Binding] = []
    for binding in reversed(program.bindings):
        live = _live(binding, needed)
        if live is not None:
            kept.append(live)
            needed.labels.update(live.after)
            needed.add_arrays(programs.reads(live.operation))
            needed.add_arrays(live.arrays)
            needed.add_sizes(programs.extents_mentioned(live.operation))
    return replace(program, bindings=tuple(reversed(kept)), results=results)


def _live(binding: Binding, needed: _Needed) -> Binding | None:
    """What remains of a binding; its sub-programs are swept on the way, so that what they use is needed."""
    operation, arrays = binding.operation, binding.arrays
    wanted = [k for k, array in enumerate(arrays) if needed.has(array)]
    if not wanted and binding.label not in needed.labels and not stays(binding):
        return None
    match operation:
        case Acond(condition, then, orelse):
            wanted = needed.with_sizes(binding, wanted) or [0]
            branches = [_sweep(p, needed, tuple([p.results[k] for k in wanted])) for p in (then, orelse)]
            return _with(binding, Acond(condition, *branches), wanted)
        case Awhile():
            loop, places = restrict_loop(operation, needed.with_sizes(binding, wanted) or [0])
            asked = _sweep(loop.condition, needed, loop.condition.results)
            step = _sweep(loop.body, needed, loop.body.results)
            return _with(binding, Awhile(asked, step, loop.initial), places)
        case _:
            fewer = restrict(operation, wanted)
            if fewer is not None:
                return _with(binding, *fewer)
            narrower = None if len(wanted) == len(arrays) else _leaves(operation, arrays, wanted)
            return binding if narrower is None else _with(binding, narrower, wanted)


def _with(binding: Binding, operation: Operation, wanted: list[int]) -> Binding:
    """The binding with another operation, which makes its leaves at `wanted`."""
    return replace(binding, operation=operation, arrays=tuple([binding.arrays[k] for k in wanted]))


def _leaves(operation: Operation, arrays: tuple[Array, ...], wanted: list[int]) -> Operation | None:
    """The operation restricted to some leaves, if it makes them one by one."""
    match operation:
        case Generate(function, name):
            return Generate(narrowed(Pointwise(function, ()), len(arrays[0].shape), wanted).function, name)
        case Map(function, inputs, name):
            node = narrowed(Pointwise(function, inputs), len(arrays[0].shape), wanted)
            return Map(node.function, node.inputs, name) if node.inputs else Generate(node.function, name)
        case _:
            described = describe(operation)
            if Flag.MOVES not in described.flags:
                return None
            reads, moved = described.arrays[: -len(arrays)], described.arrays[-len(arrays) :]
            return rebuild(operation, (*reads, *(moved[k] for k in wanted)), described.functions, described.parts)
