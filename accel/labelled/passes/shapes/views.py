"""Transposes, parts and windows of what is in memory, one for each cluster whose operations read them.

Those whose readers do not share a loop are stored. To read the argument again costs no more than to read what was stored, and
little has to be computed. In: a program that is ready to be planned, and the clusters of a plan. Out: one in which what several
clusters read of an argument at other places is made as often as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from accel.ast.tree.types import I64
from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Binding, Program
from accel.labelled.number import number
from accel.labelled.operations import Kind, describe
from accel.labelled.scalar import Compute, Function, Load, Variable
from accel.labelled.work import OPERATIONS, work

LIGHT = 7
"""Operations of what is made once more at most, which is less than an elementary function: about as much as a load takes."""


def own_views(program: Program, clusters: Sequence[Collection[Label]], overwritten: Collection[Array]) -> Program:
    """The program in which each of these is read by one cluster; itself if none has more. overwritten: what scatters
    destroy."""
    found = {each.label: each for each in _views(program, overwritten)}
    of = {label: place for place, labels in enumerate(clusters) for label in labels}
    last, bindings = programs.highest_label(program), list[Binding]()
    made: dict[tuple[Label, int], Label] = {}
    read = set[Label]()
    for binding in program.bindings:
        instead: dict[Label, Label] = {}
        for label in sorted({array.label for array in programs.streams(binding.operation)} & found.keys()):
            place = label, of[binding.label]
            if label not in read:
                made[place] = label
                read.add(label)
            if place not in made:
                last += 1
                made[place] = last
                arrays = tuple(replace(each, label=last) for each in found[label].arrays)
                bindings.append(replace(found[label], label=last, arrays=arrays))
            instead[label] = made[place]
        bindings.append(_reading(binding, instead))
    return program if len(bindings) == len(program.bindings) else number(replace(program, bindings=tuple(bindings)))


def _views(program: Program, overwritten: Collection[Array]) -> list[Binding]:
    """What is read of arrays that are in memory in every plan, if nothing but the program's own operations read it, in an
    order."""
    given = {leaf for parameter in program.parameters for leaf in parameter}
    barriers = [each for each in program.bindings if describe(each.operation).kind is Kind.BARRIER]
    given = given.union(array for each in barriers for array in each.arrays).difference(overwritten)
    found = [each for each in program.bindings if not each.after and _is_view(each, given)]
    if not found:
        return []
    used = {array.label for array in program.results}
    for binding in program.bindings:
        streams = programs.streams(binding.operation)
        used.update(array.label for array in programs.consumed(binding.operation).difference(streams))
        for function in programs.functions(binding.operation):
            used.update(array.label for array in programs.loaded(function))
        used.update(array.label for array in programs.used_inside(binding.operation))
    return [each for each in found if each.label not in used]


def _is_view(binding: Binding, given: Collection[Array]) -> bool:
    """Whether all that an operation does is to read some of these arrays at places that its index says, in little work."""
    described = describe(binding.operation)
    if described.kind not in (Kind.GENERATE, Kind.GATHER) or len(described.functions) != 1:
        return False
    (function,) = described.functions
    places = [function.body.results] if described.kind is Kind.GATHER else []
    places += [each.index for each in function.body.statements if isinstance(each, Load)]
    # Where the innermost index is one number, few elements of each line of memory are read: these had better be stored.
    if any(place and not isinstance(place[-1], Variable) for place in places):
        return False
    return all(each in given for each in described.arrays) and _is_light(function, given)


def _is_light(function: Function, given: Collection[Array]) -> bool:
    """Whether a function is little work, and loads from these arrays alone, at no place that it loads."""
    statements = function.body.statements
    loaded = {statement.out for statement in statements if isinstance(statement, Load)}
    for statement in statements:
        match statement:
            case Load(array=array, index=index):
                if array not in given or not loaded.isdisjoint(index):
                    return False
            case Compute(out=out):
                if out.type is I64 and not loaded.isdisjoint(statement.arguments):
                    loaded.add(out)  # a place that follows from it
            case _:
                return False
    return work(statements, OPERATIONS) <= LIGHT


def _reading(binding: Binding, instead: Mapping[Label, Label]) -> Binding:
    """The operation, which reads other arrays in the place of some."""
    if all(old == new for old, new in instead.items()):
        return binding

    def array(each: Array) -> Array:
        return replace(each, label=instead.get(each.label, each.label))

    return replace(
        binding, operation=rewrite.operation(binding.operation, rewrite.Substitution(array, lambda extent: extent))
    )
