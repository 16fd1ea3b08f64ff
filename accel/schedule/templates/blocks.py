"""Maps whose reads and writes run along different axes, such as transposes: `blocks` of two or three axes.

In: a nest. Out: a `Blocks`, or None if there is nothing to gain. The arrays that run across are loaded block by block with
lanes along their own unit stride, and transposed in registers into a tile; then the nest's statements run with lanes along
that of what is written.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from accel.ast.tree.types import I64
from accel.ir import mentions
from accel.ir.flow import made, needed
from accel.ir.nodes import For, LoopBody, Nest, OneToMaybe, OneToOne, Read, Remap, Stream, Within, Write
from accel.labelled.array import Extent
from accel.labelled.scalar import constant
from accel.schedule.flat import flat_loops
from accel.schedule.steps import SAME, Steps, of, steps
from accel.support.dataclass import dataclass

MOST_AXES = 2
"""Axes, apart from the lanes' own, that arrays may run along in a block."""


@dataclass(frozen=True, slots=True)
class Across:
    """A read whose elements are adjacent along `axis`, or lie equally far apart there, not along the lanes.

    back: whether its index falls as the axis rises. index: the statements before it that make its index, in order. steps: how
    far each operand of its index moves.
    """

    read: Read
    axis: For
    back: bool
    index: tuple[LoopBody, ...]
    steps: tuple[Steps, ...]

    @property
    def checked(self) -> bool:
        """Whether its index may be out of bounds."""
        return any(isinstance(statement, Remap) for statement in self.index)

    def changes_with(self, loop: For) -> bool:
        """Whether it reads something else in another iteration of `loop`."""
        return any(each.over(loop.index) != 0 for each in self.steps)


@dataclass(frozen=True, slots=True)
class Blocks:
    """How a nest runs in blocks.

    loops: all loops. lanes: the loop along which vectors run. axes: the loops that `across` runs along, outermost first.
    statements: what is left to do once the tiles of `across` are full.
    """

    loops: tuple[For, ...]
    lanes: For
    axes: tuple[For, ...]
    across: tuple[Across, ...]
    statements: tuple[LoopBody, ...]


def blocks(nest: Nest) -> Blocks | None:
    """How the nest runs in blocks, if it does: a map of which some array runs along another axis than what is written."""
    loops = flat_loops(nest)
    if loops is None or loops[-1].body.loop is not None or any(mentions.states(nest)):
        return None
    body = loops[-1].body
    statements = (*body.before, *body.after)
    if not all(isinstance(s, OneToOne | Remap | Read | Write | Within | OneToMaybe) for s in statements):
        return None
    lanes = loops[-1]
    if not all(_runs_along(s, lanes) for s in statements if isinstance(s, Write)):
        return None
    across = reads_across(statements, steps(nest), loops, lanes, loops[:-1], apart=True)
    axes = tuple(loop for loop in loops if any(each.axis == loop for each in across))[-MOST_AXES:]
    across = [each for each in across if each.axis in axes]
    if not across:
        return None
    return Blocks(tuple(loops), lanes, axes, tuple(across), left_over(statements, across))


def _runs_along(write: Write, lanes: For) -> bool:
    return bool(write.index) and write.index[-1] == lanes.index


def reads_across(
    statements: Sequence[LoopBody],
    known: Mapping[str, Steps],
    loops: Sequence[For],
    lanes: For,
    axes: Collection[For],
    *,
    apart: bool = False,
) -> list[Across]:
    """The reads that step evenly over `lanes`, but are adjacent along one of `axes`; or `apart`, equally far, if allowed."""
    makers = {out.name: statement for statement in statements for out in made(statement)}
    found = []
    for read in statements:
        if not isinstance(read, Read) or read.when is not None or not read.index:
            continue
        every = tuple(of(operand, known) for operand in read.index)
        *outer, last = every[:-1] if apart and _is_apart(read) else every
        along = [loop for loop in axes if last.over(loop.index) in (1, -1) and not any(_moves(o, loop) for o in outer)]
        if not along or _moves(last, lanes) or not _steps_evenly(outer, lanes):
            continue
        index = _needed_for(read, statements, makers)
        if all(_is_index(statement, known, (lanes, along[-1])) for statement in index):
            found.append(Across(read, along[-1], last.over(along[-1].index) == -1, index, every))
    return found


def _is_apart(read: Read) -> bool:
    """Whether the elements of its rows lie apart: each is a row of one (`accel.ir.layouts.Layout`)."""
    return len(read.index) > 1 and read.array.shape[-1] == Extent(None, 1) and read.index[-1] == constant(I64, 0)


def _moves(steps: Steps, loop: For) -> bool:
    return steps.over(loop.index) != 0


def _steps_evenly(some: Sequence[Steps], loop: For) -> bool:
    over = [each.over(loop.index) for each in some]
    return None not in over and any(over)


def _needed_for(read: Read, statements: Sequence[LoopBody], makers: Mapping[str, LoopBody]) -> tuple[LoopBody, ...]:
    """The statements that make the read's index, in order."""
    wanted: set[int] = set()
    pending = list(needed(read))
    while pending:
        maker = makers.get(pending.pop().name)
        if maker is not None and id(maker) not in wanted:
            wanted.add(id(maker))
            pending += needed(maker)
    return tuple(statement for statement in statements if id(statement) in wanted)


def _is_index(statement: LoopBody, known: Mapping[str, Steps], loops: Sequence[For]) -> bool:
    """Whether a statement may be judged by the corners of a block: what it makes steps evenly over the block's loops, and it
    is always run."""
    if statement.when is not None or not isinstance(statement, OneToOne | Remap | Read):
        return False
    outs = [known.get(out.name, SAME) for out in made(statement)]
    return all(each.over(loop.index) is not None for each in outs for loop in loops)


def left_over(statements: Sequence[LoopBody], across: Sequence[Across]) -> tuple[LoopBody, ...]:
    """The statements that remain where the reads of `across` are given: all but these and what only they need."""
    given = {id(each.read) for each in across}
    indices = {id(statement) for each in across for statement in each.index}
    wanted: set[Stream] = set()
    kept = []
    for statement in reversed(statements):
        only_for_them = id(statement) in indices and wanted.isdisjoint(made(statement))
        if id(statement) in given or only_for_them:
            continue
        kept.append(statement)
        wanted.update(needed(statement))
    return tuple(reversed(kept))
