"""Short rows that lie in memory one behind the other, as one row: for loops whose states run on from row to row.

A filter of a matrix goes on in each row where it was in the last one, so rows run one by one, and a row of three elements costs
as much as a vector. Where all arrays lie as the loops run, the frame says that there is one row of all elements. Loops without
such states run over positions (`flat.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accel.backends.llvm.loops.nest import NestText
from accel.backends.llvm.text.routine import Routine
from accel.ir import mentions
from accel.ir.nodes import For, LoopDirection, Nest, Remap, Scatter
from accel.ir.positions import accesses, merging
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.programs import loaded

LONGEST = 1024
"""Elements of a row from which on it is left: it costs little more than its elements, and rows are shared by threads."""


def join_rows(text: NestText, routine: Routine, start: str) -> None:
    """Writes what changes the extents in the frame at `start`, which is filled, if rows are short and lie so."""
    loops = joined(text.nest)
    if not loops or text.sites is not None:
        return
    code, frame = routine.code, text.frame
    places = [routine.offset(start, frame.size(variable)) for variable in map(_variable, loops)]
    extents = [routine.load("i64", place) for place in places]
    row, whole = "1", "1"
    for number, extent in enumerate(extents):
        row = code.emit(f"mul i64 {row}, {extent}") if number else row
        whole = code.emit(f"mul i64 {whole}, {extent}")
    lie = code.emit(f"icmp slt i64 {row}, {LONGEST}")

    def stride(array: Array, dimension: int) -> str:
        if dimension == len(array.shape) - 1:
            return str(array.element.bytes)
        return routine.load("i64", routine.offset(start, frame.stride(array, dimension)))

    for array in sorted({array for array, _ in _rows(text.nest, loops)}, key=lambda array: (array.label, array.leaf)):
        first = len(array.shape) - len(loops)
        for number, extent in enumerate(extents[1:]):
            inner = code.emit(f"mul i64 {stride(array, first + number + 1)}, {extent}")
            same = code.emit(f"icmp eq i64 {stride(array, first + number)}, {inner}")
            lie = code.emit(f"and i1 {lie}, {same}")
    with routine.when(lie):
        for place in places[:-1]:
            routine.store("i64", "1", place)
        routine.store("i64", whole, places[-1])


def joined(nest: Nest) -> Sequence[For]:
    """The loops of a nest whose rows may be one; none if they never are.

    The outermost one has states that run; directly inside of each other stand others without. All extents are sizes of their
    own, which nothing else asks for, and nothing asks for an index but to read and write elements there.
    """
    levels = list(mentions.levels(nest))
    loops = mentions.loops(nest)
    if len(loops) < 2 or not any(state.running for state in loops[0].states):
        return ()
    between = [level for level in levels[1:-1] if level.before or level.after]
    if (
        between
        or any(loop.states for loop in loops[1:])
        or any(loop.direction is not LoopDirection.UP for loop in loops)
    ):
        return ()
    if not all(isinstance(loop.extent, Extent) and loop.extent.variable and not loop.extent.offset for loop in loops):
        return ()
    own = {_variable(loop) for loop in loops}
    elsewhere = {extent.variable for extent in _asked(nest, loops)}
    return () if len(own) < len(loops) or own & elsewhere or merging(nest, loops) else loops


def _variable(loop: For) -> SizeVariable:
    assert isinstance(loop.extent, Extent)
    assert loop.extent.variable is not None
    return loop.extent.variable


def _rows(nest: Nest, loops: Sequence[For]) -> Iterator[tuple[Array, int]]:
    """The arrays that are visited at the loops' indices, and how many dimensions they have before."""
    indices = tuple(loop.index for loop in loops)
    return ((array, len(index) - len(loops)) for array, index in accesses(nest) if index[-len(loops) :] == indices)


def _asked(nest: Nest, loops: Sequence[For]) -> Iterator[Extent]:
    """The extents that something asks for beside the loops, and reads and writes as they run."""
    operands = [operand for operand in mentions.operands(nest) if isinstance(operand, Extent)]
    for loop in loops:
        assert isinstance(loop.extent, Extent)
        operands.remove(loop.extent)  # once: where the loop says so
    yield from operands
    for function in mentions.functions(nest):
        yield from (operand for operand in mentions.function_operands(function) if isinstance(operand, Extent))
        yield from mentions.shape_extents(loaded(function))
    for statement in mentions.statements(nest):
        match statement:
            case Remap(bounds=bounds):
                yield from bounds
            case Scatter(arrays=arrays, capacity=capacity):
                yield from (*capacity, *mentions.shape_extents(arrays))
            case _:
                pass
    visited = {array for array, _ in _rows(nest, loops)}
    yield from mentions.shape_extents(mentions.arrays(nest) - visited)
