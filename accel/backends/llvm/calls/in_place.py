"""Programs for arguments whose rows' elements are not adjacent.

Such an argument usually is copied before the call (`machine/rows.py`). Here another array stands for it in the nests that read
it, whose dimensions are in the order of memory (`accel/ir/layouts.py`): the schedule stage sees of a transposed argument what
it sees of `A.transpose(xs)`. Where a copy serves better, a nest of the program makes it, on all threads and in blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from accel.ast.tree.types import I64
from accel.backends.llvm.machine.rows import Spread
from accel.backends.llvm.templates.tiles import FARTHEST
from accel.backends.parameters import leaves
from accel.ir import mentions
from accel.ir.layouts import Layout, in_layouts, layout, mentioned_otherwise, reads_outwards
from accel.ir.nodes import For, Launch, Level, LoopDirection, Nest, Output, Program, Read, Stream, Write
from accel.labelled.array import Array
from accel.schedule.machine import PROCESSOR
from accel.schedule.steps import of, steps
from accel.schedule.templates.blocks import Blocks
from accel.schedule.templates.choose import schedules
from accel.schedule.templates.column_scans import ColumnScans
from accel.schedule.templates.columns import Columns
from accel.schedule.templates.cpu.interleaved import Interleaved
from accel.schedule.templates.tile import Tile
from accel.schedule.templates.ways import Finding
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class InPlace:
    """A program in which other arrays stand for some of its arguments, or for what they are copied from.

    Its parameters are what they were: extents are bound to them. `spreads`: how the others lie in memory. `copied`: the
    arguments that the program makes itself.
    """

    program: Program
    layouts: Mapping[Array, Layout]
    spreads: Mapping[Array, Spread]
    copied: frozenset[Array]


def in_place(program: Program, spreads: Sequence[Spread | None]) -> InPlace:
    """The program for arguments that lie so."""
    given = {argument: spread for argument, spread in zip(leaves(program), spreads, strict=True) if spread is not None}
    layouts = {argument: _other(layout(argument, each.order, apart=each.step != 1)) for argument, each in given.items()}
    fixed = mentioned_otherwise(program)
    nests = [step.nest for step in program.steps if isinstance(step, Launch)]
    served = {
        argument: each
        for argument, each in layouts.items()
        if argument not in fixed and _serves(nests, argument, given[argument], each)
    }
    copied = {argument: each for argument, each in layouts.items() if argument not in served}
    repeated = {each.array for argument, each in layouts.items() if len(each.order) < len(argument.shape)}

    def in_order_of_memory(nest: Nest) -> Nest:
        return reads_outwards(in_layouts(nest, served), repeated)

    changed = [replace(s, nest=in_order_of_memory(s.nest)) if isinstance(s, Launch) else s for s in program.steps]
    copies = [Launch(in_layouts(nest, copied, written=False)) for nest in _copies(list(copied))]
    known = {layouts[argument].array: spread for argument, spread in given.items()}
    return InPlace(replace(program, steps=(*copies, *changed)), layouts, known, frozenset(copied))


_LEAF = 1 << 20
"""From here on leaves are arrays that stand for arguments: none of these has so many."""


def _other(found: Layout) -> Layout:
    """The layout, of an array that is not the argument itself, whatever its extents are."""
    return replace(found, array=replace(found.array, leaf=_LEAF + found.array.leaf))


def _serves(nests: Sequence[Nest], argument: Array, spread: Spread, found: Layout) -> bool:
    """Whether reading an argument where it lies is not slower than a copy and its reads.

    Elements that are repeated in order are fewer than their copies. Others each have to be read once, or at random; where
    dimensions lie in another order than loops run, by a template that has blocks for it. Elements that lie apart are gathered,
    column after column, where adjacent ones would be folded or scanned side by side. What blocks read across is adjacent, or
    every second element.
    """
    mixed = list(spread.order) != sorted(spread.order)
    if spread.step == 1 and not mixed:
        return True
    reads = [(nest, around, read) for nest in nests for around, read in _reads(nest) if read.array == argument]
    every = [_ways(nest, argument, found) for nest, *_ in reads]
    if spread.step not in (1, FARTHEST) and any(isinstance(way, Blocks) for ways in every for way in ways):
        return False
    ways = [next(iter(ways), None) for ways in every] if spread.step == 1 else []
    if ways and all(isinstance(way, Tile) for way in ways):
        return True  # what is packed is read in any order
    if len(reads) != 1:
        return not reads
    ((nest, around, read),) = reads
    loops = [level.loop.index for level in mentions.levels(nest) if level.loop is not None]
    known = steps(nest)
    moved = [of(operand, known) for operand in read.index]
    if not loops or any(each.over(loops[-1]) is None for each in moved):
        return True  # one element; or at random, wherever they lie
    if spread.step != 1:
        adjacent = next(iter(_ways(nest, argument, _other(layout(argument, spread.order)))), None)
        if isinstance(adjacent, Columns | ColumnScans):
            return False
    if not all(isinstance(way, Blocks | Columns | ColumnScans) for way in ways):
        return False
    moving = [[place for place, each in enumerate(moved) if each.over(index) != 0] for index in around]
    return all(len(places) == 1 for places in moving) and len({place for (place,) in moving}) == len(around)


def _ways(nest: Nest, argument: Array, found: Layout) -> list[Finding]:
    """Those that are not for rows of a few elements alone."""
    ways = schedules(in_layouts(nest, {argument: found}), PROCESSOR).ways
    return [way.finding for way in ways if way.finding is not None and not isinstance(way.finding, Interleaved)]


def _reads(nest: Nest) -> Iterator[tuple[Sequence[Stream], Read]]:
    """The reads, and the indices of the loops around each."""
    around: list[Stream] = []
    for level in mentions.levels(nest):
        yield from ((tuple(around), each) for each in (*level.before, *level.after) if isinstance(each, Read))
        if level.loop is not None:
            around.append(level.loop.index)


def _copies(arguments: Sequence[Array]) -> Iterator[Nest]:
    """Nests that make arrays of what these name: one for the leaves of one argument, whose label it has."""
    for label in dict.fromkeys(argument.label for argument in arguments):
        made = [argument for argument in arguments if argument.label == label]
        index = tuple(Stream(f"axis{axis}", I64) for axis in range(len(made[0].shape)))
        values = [Stream(f"element{number}", array.element) for number, array in enumerate(made)]
        reads = [Read(value, array, index) for value, array in zip(values, made, strict=True)]
        writes = [Write(array, index, value) for value, array in zip(values, made, strict=True)]
        level = Level((*reads, *writes), None, ())
        for at, extent in zip(reversed(index), reversed(made[0].shape), strict=True):
            level = Level((), For(at, extent, LoopDirection.UP, (), level), ())
        yield Nest(label, level, tuple([Output(array, tuple([(e,) for e in array.shape])) for array in made]), (), ())
