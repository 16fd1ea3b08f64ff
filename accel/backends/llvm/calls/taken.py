"""Which results of a program may take the memory of arguments that the caller gives away: `donate=` of a `runN` function. And
whether all of them may be written to arrays of the caller's: `out=`.

A result takes memory only in the last part of a program, in which nothing can fail any more: whoever begins again, to say what
is wrong, needs the arguments as they were. There it takes that of an argument which no later launch reads; the launch that
makes the result may read it, if it does so element by element, each before the result's element is written in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from accel.backends.linear.items import Drop, Item, arrays, series_parts
from accel.ir import mentions
from accel.ir.nodes import Launch, Nest, Output, Program, Read, Remap, Scatter, Write
from accel.labelled.array import Array
from accel.labelled.programs import loaded
from accel.labelled.scalar import Load
from accel.schedule.nodes import Schedule, Series, Template
from accel.schedule.templates.ways import NestSchedules


def taken(
    program: Program,
    items: Sequence[Item],
    schedules: Iterable[NestSchedules],
    series: Iterable[Series],
    given: Iterable[Array],
) -> Mapping[Array, Array]:
    """Results, and for each one of the `given` arguments, whose memory it may take where it has as many elements."""
    ways = {each.nest: each for each in schedules}
    shared = _shared(items) | set(program.results)
    free = [argument for argument in given if argument not in shared]
    start = _start(items, series)
    found: dict[Array, Array] = {}
    for position, item in enumerate(items):
        if position < start or not isinstance(item, Launch):
            continue
        later = arrays(items[position + 1 :])
        for output in item.nest.outputs:
            if not _is_whole_result(output, program):
                continue
            able = [
                argument
                for argument in free
                if argument.element is output.array.element
                and argument not in later
                and (argument not in mentions.arrays(item.nest) or _in_place(ways[item.nest], argument, output.array))
            ]
            if able:
                best = max(able, key=lambda argument: argument.shape == output.array.shape)
                found[output.array] = best
                free.remove(best)
    return found


def rooms(program: Program, items: Sequence[Item], series: Iterable[Series]) -> Mapping[Array, Array]:
    """Results, and for each one an array that is its room, behind a program's arguments: all of them, or none.

    Then all are made in the last part of the program, when their extents are known.
    """
    launches = [item for item in items[_start(items, series) :] if isinstance(item, Launch)]
    outputs = {output.array: output for item in launches for output in item.nest.outputs}
    late = {count.variable for item in launches for count in item.nest.counts}
    shared = _shared(items)
    for result in program.results:
        known = result in outputs and _is_whole_result(outputs[result], program)
        if not known or result in shared or any(extent.variable in late for extent in result.shape):
            return {}
    return {result: replace(result, label=-2 - number) for number, result in enumerate(program.results)}


def _shared(items: Sequence[Item]) -> Set[Array]:
    """Arrays whose memory may be that of others, as far as is known here."""
    others = (item for item in items if not isinstance(item, Launch | Drop))
    in_place = (array for item in items if isinstance(item, Launch) for pair in item.nest.in_place for array in pair)
    return arrays(others) | set(in_place)


def _start(items: Sequence[Item], series: Iterable[Series]) -> int:
    """Where the last part begins: from there on each nest is launched once, by itself, and cannot fail."""
    start = len(items)
    while start and _is_safe(items[start - 1]):
        start -= 1
    return max([start, *(part.end for part in series_parts(items, series))])


def _is_safe(item: Item) -> bool:
    return isinstance(item, Drop) or (isinstance(item, Launch) and not _may_fail(item.nest))


def _may_fail(nest: Nest) -> bool:
    """Whether something in a nest is checked."""
    if any(isinstance(statement, Remap | Scatter) for statement in mentions.statements(nest)):
        return True
    if any(state.initial is None for state in mentions.states(nest)):
        return True
    loads = (s for function in mentions.functions(nest) for s in mentions.function_statements(function))
    return any(isinstance(statement, Load) and statement.may_fail for statement in loads)


def _is_whole_result(output: Output, program: Program) -> bool:
    """Whether an output is a result, once, whose extents are known before it is made."""
    return output.is_whole and program.results.count(output.array) == 1


def _in_place(ways: NestSchedules, argument: Array, result: Array) -> bool:
    """Whether a nest visits each place once, and reads the argument's element there before it writes the result's."""
    nest = ways.nest
    if len(ways.ways) > 1 or not _is_one_visit(ways.last) or any(mentions.states(nest)):
        return False
    *_, innermost = mentions.levels(nest)
    loops = mentions.loops(nest)
    place, shape = tuple(loop.index for loop in loops), tuple(loop.extent for loop in loops)
    if argument.shape != result.shape or shape != result.shape:
        return False
    if any(argument in loaded(function) for function in mentions.functions(nest)):
        return False
    inside = (*innermost.before, *innermost.after)
    if any(isinstance(s, Read) and s.array == argument and s not in inside for s in mentions.statements(nest)):
        return False
    written = False
    for statement in inside:
        if isinstance(statement, Read) and statement.array == argument and (written or statement.index != place):
            return False
        if isinstance(statement, Write) and statement.array == result:
            if statement.index != place or statement.when is not None:
                return False
            written = True
    return written


def _is_one_visit(schedule: Schedule) -> bool:
    """Whether a schedule runs all statements of an iteration together, each iteration once."""
    is_rows = schedule.template in (Template.ROWS, Template.MERGED)
    return is_rows and not schedule.packs and not schedule.inside
