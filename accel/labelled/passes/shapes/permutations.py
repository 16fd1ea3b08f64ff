"""Transposes of what is in memory, one for each cluster whose operations read them.

A transpose whose readers do not share a loop is stored. To read the argument again costs no more than to read what was stored,
and nothing has to be computed. In: a program that is ready to be planned, and the clusters of a plan. Out: one in which what
several clusters read of an argument in another order of its dimensions is made as often as they are.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from accel.labelled import programs, rewrite
from accel.labelled.array import Array, Label
from accel.labelled.nodes import Backpermute, Binding, Program
from accel.labelled.number import number


def own_permutations(
    program: Program, clusters: Sequence[Collection[Label]], overwritten: Collection[Array]
) -> Program:
    """The program in which each such transpose is read by one cluster; itself if none has more. overwritten: what scatters
    destroy."""
    found = {each.label: each for each in _permutations(program, overwritten)}
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


def _permutations(program: Program, overwritten: Collection[Array]) -> list[Binding]:
    """The transposes of parameters that nothing but the program's own operations read, in an order."""
    given = {leaf for parameter in program.parameters for leaf in parameter}.difference(overwritten)
    found = [each for each in program.bindings if _is_permutation(each, given)]
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


def _is_permutation(binding: Binding, given: Collection[Array]) -> bool:
    """Whether all that an operation does is to read these arrays, each element once, in another order of dimensions."""
    operation = binding.operation
    if not isinstance(operation, Backpermute) or binding.after or not all(each in given for each in operation.inputs):
        return False
    parameters, body = operation.function.parameters, operation.function.body
    return not body.statements and len(set(body.results)) == len(parameters) and set(body.results) == set(parameters)


def _reading(binding: Binding, instead: Mapping[Label, Label]) -> Binding:
    """The operation, which reads other arrays in the place of some."""
    if all(old == new for old, new in instead.items()):
        return binding

    def array(each: Array) -> Array:
        return replace(each, label=instead.get(each.label, each.label))

    return replace(
        binding, operation=rewrite.operation(binding.operation, rewrite.Substitution(array, lambda extent: extent))
    )
