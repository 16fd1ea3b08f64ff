"""Products over several axes, as nests that tiles can take: a loop of rows, one of columns, one that folds.

In: a loop program. Out: the same, in which loops of nests that fold products of two sides are put in order, and merged: those
of both sides outermost, then those of the rows, of the columns, and those that fold, each group as one loop where it can be. A
group is one loop over positions: arrays whose dimensions it visits together, in order, are read under another shape, by a view;
where they stand apart, or functions need their indices, each position is divided. Divisions are made for what sides need, not
for results: what they cost is paid once, where a side is packed. What is folded comes in the same order, so no bit changes. Of
`A.tensordot(xs, ys, 2)` the loops are those of a product of matrices then [Ber section 3, `flatten`]; so are those of a
convolution and of its gradients.

Nests of a row, a column and a fold stay as they are, and so does all that is no such product.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field, replace
from itertools import count
from math import prod

from accel.ast.handles.extents import LARGEST_EXTENT
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, I64
from accel.ir import flow, mentions
from accel.ir.mentions import loops
from accel.ir.nodes import (
    Branch,
    For,
    HostSizes,
    Launch,
    Level,
    LoopBody,
    LoopDirection,
    ManyToOne,
    Nest,
    OneToOne,
    Output,
    Program,
    Read,
    Repeat,
    Step,
    Stream,
    View,
    Write,
    is_known,
)
from accel.ir.passes.apart import apart
from accel.ir.passes.digits import division, merged_index
from accel.ir.passes.plain import depends, is_plain, maps
from accel.labelled.array import Array, Extent, SizeVariable
from accel.labelled.scalar import Block, Compute, Constant, Function, Load, Operand, Variable, constant
from accel.support.dataclass import dataclass

FEW = 16
"""Elements of a fold up to which tiles read what is computed where it lies."""

FIRST_LEAF = 2000
"""Leaves of a nest's label from here on are views of arrays."""


def merged(program: Program, *, tiles: bool = True) -> Program:
    """The program, and those of its branches and repetitions, with merged nests. tiles: whether products run in tiles; if not,
    loops keep their order, and are merged where views are all that this takes."""
    sizes = count(1 + max((size.number for size in _sizes(program)), default=-1))
    return _merged(program, sizes, tiles)


def _merged(program: Program, sizes: Iterator[int], tiles: bool) -> Program:
    return replace(program, steps=tuple(new for step in program.steps for new in _steps(step, sizes, tiles)))


def _steps(step: Step, sizes: Iterator[int], tiles: bool) -> Iterable[Step]:
    match step:
        case Launch(nest):
            return _of_nest(nest, sizes, tiles) or (step,)
        case Branch(_, then, orelse):
            return (replace(step, then=_merged(then, sizes, tiles), orelse=_merged(orelse, sizes, tiles)),)
        case Repeat(condition, body):
            return (replace(step, condition=_merged(condition, sizes, tiles), body=_merged(body, sizes, tiles)),)
        case _:
            return (step,)


def _sizes(program: Program) -> Iterator[SizeVariable]:
    """All of a program's own."""
    for part in mentions.programs(program):
        for array in (*part.results, *(array for parameter in part.parameters for array in parameter)):
            yield from (extent.variable for extent in array.shape if extent.variable is not None)
    for step in mentions.steps(program):
        if isinstance(step, HostSizes):
            yield from step.variables
        elif isinstance(step, Launch):
            yield from (found.variable for found in step.nest.counts)
            extents = mentions.extents(step.nest)
            yield from (extent.variable for extent in extents if extent.variable is not None)


@dataclass(frozen=True, slots=True)
class _Groups:
    """The loops of a nest in their new order: those of no group, rows, columns, those that fold."""

    outer: tuple[For, ...]
    rows: tuple[For, ...]
    columns: tuple[For, ...]
    folds: tuple[For, ...]


def _of_nest(nest: Nest, sizes: Iterator[int], tiles: bool) -> list[Step] | None:
    """The steps that stand for the nest; None if it stays as it is."""
    if not is_plain(nest):
        return None
    divided = apart(nest) if tiles else nest
    first = maps(loops(nest))
    sides = _sides(divided, first) if tiles else None
    chosen = nest if sides is None else divided
    every = loops(chosen)
    if sides is not None and first == len(every) - 1 and (sides[0][-1], sides[1][-1]) == (first - 2, first - 1):
        return None if divided is nest else [Launch(divided)]  # it is one as it stands
    groups = _grouped(chosen, every[:first], every[first:], sides)
    return None if groups is None else _rewritten(chosen, groups, _Made(nest.label, sizes))


def _grouped(
    nest: Nest, around: Sequence[For], folds: Sequence[For], sides: tuple[list[int], list[int]] | None
) -> _Groups | None:
    """What becomes of the loops around those that fold, and of these; None if they stay as they are."""
    every = list(mentions.statements(nest))
    if sides is None:
        whole = len(folds) > 1 and len(_together(range(len(folds)), folds, _Users(nest, every))) == len(folds)
        return _Groups(tuple(around), (), (), tuple(folds)) if whole else None
    users = _Users(nest, around[-1].body.after if _serve_packs(nest, folds) else every)
    rows, columns = (_together(group, around, users) for group in sides)
    outer = [depth for depth in range(len(around)) if depth not in (*rows, *columns)]
    chosen = [tuple(around[depth] for depth in group) for group in (outer, rows, columns)]
    return _Groups(chosen[0], chosen[1], chosen[2], tuple(folds))


def _serve_packs(nest: Nest, folds: Sequence[For]) -> bool:
    """Whether what a side needs is likely packed, so that it may divide: tiles take the folds, and not so few elements, as far
    as that is known, that they read both sides where these lie."""
    if not all(state.monoid.commutes and state.monoid.neutral is not None for state in folds[0].states):
        return False
    steps = [statement for statement in mentions.statements(nest) if isinstance(statement, ManyToOne)]
    if any(stream.type is BOOL for step in steps for stream in flow.needed(step)):
        return False
    extents = [_extent(loop) for loop in folds]
    return any(extent.variable is not None for extent in extents) or prod(each.offset for each in extents) > FEW


def _sides(nest: Nest, first: int) -> tuple[list[int], list[int]] | None:
    """The loops, of those before the `first` that folds, that only one side of the products depends on: rows, and columns, of
    which the last of both is one. None if there are no two sides."""
    of = depends(nest)
    body = list(mentions.levels(nest))[-1]
    steps = [statement for statement in (*body.before, *body.after) if isinstance(statement, ManyToOne)]
    nothing: frozenset[int] = frozenset()
    needed = [stream for step in steps for stream in flow.needed(step)]
    whole = nothing.union(*(of[stream.name] for stream in needed)) & set(range(first))
    makers = {stream: s for s in body.before for stream in flow.made(s) if isinstance(s, OneToOne)}
    used: dict[Stream, frozenset[int]] = {}
    while needed:
        stream = needed.pop()
        on, maker = of[stream.name] & whole, makers.get(stream)
        if on == whole and maker is not None and not any(isinstance(s, Load) for s in maker.function.body.statements):
            needed += flow.needed(maker)
        else:
            used[stream] = on
    for last in sorted(whole, reverse=True):
        right = nothing.union(*(each for each in used.values() if last in each))
        left = nothing.union(*(each for each in used.values() if last not in each))
        if left - right and right - left:
            return sorted(left - right), sorted(right - left)
    return None


class _Users:
    """Some statements of a nest, and what its folds begin with: who needs the indices of loops."""

    def __init__(self, nest: Nest, statements: Sequence[LoopBody]) -> None:
        self.accesses = [statement for statement in statements if isinstance(statement, Read | Write)]
        others = [statement for statement in statements if not isinstance(statement, Read | Write)]
        values = [access.value for access in self.accesses if isinstance(access, Write)]
        seeds = [stream for state in mentions.states(nest) for stream in flow.state_needs(state)]
        needed = [stream for statement in others for stream in flow.needed(statement)]
        self.named = frozenset(each.name for each in (*needed, *values, *seeds) if isinstance(each, Stream))
        """The streams that anything but an index of an array needs."""


def _together(group: Sequence[int], maps: Sequence[For], users: _Users) -> list[int]:
    """As many of the last loops of a group as all arrays have together, in order, that the users read and write."""
    found = [group[-1]]
    for depth in reversed(group[:-1]):
        wider = [maps[each] for each in (depth, *found)]
        if any(loop.index.name in users.named for loop in wider):
            break
        if not all(_has(access, wider) is not None for access in users.accesses):
            break
        found.insert(0, depth)
    return found


def _has(access: Read | Write, loops: Sequence[For]) -> int | None:
    """Where the indices of loops stand in an array's index, together and in order, and visit whole dimensions; -1 if none of
    them does, None if they stand otherwise."""
    indices = [loop.index for loop in loops]
    if not set(indices) & set(access.index):
        return -1
    at = next((at for at, each in enumerate(access.index) if each == indices[0]), len(access.index))
    end = at + len(loops)
    lie = list(access.index[at:end]) == indices and not set(indices) & {*access.index[:at], *access.index[end:]}
    whole = lie and list(access.array.shape[at:end]) == [_extent(loop) for loop in loops]
    return at if whole else None


def _extent(loop: For) -> Extent:
    assert is_known(loop.extent), "the loops of a product run as often as is known at launch"
    return Extent(None, int(loop.extent.value)) if isinstance(loop.extent, Constant) else loop.extent


@dataclass(slots=True)
class _Made:
    """What a nest needs beside itself: sizes, and arrays under other shapes, by the shape and the array."""

    label: int
    numbers: Iterator[int]
    sizes: list[HostSizes] = field(default_factory=list)
    views: dict[tuple[Array, tuple[Extent, ...]], Array] = field(default_factory=dict)

    def product(self, extents: Sequence[Extent]) -> Extent:
        """An extent that is the product. Where that is more than an extent can be, nothing has elements, and any serves."""
        if all(extent.variable is None for extent in extents):
            return Extent(None, min(prod(extent.offset for extent in extents), LARGEST_EXTENT))
        statements: list[Compute] = []

        def computed(operator: Operator, left: Operand, right: Operand) -> Variable:
            statements.append(Compute(Variable(len(statements), I64), operator, (left, right)))
            return statements[-1].out

        whole: Operand = extents[0]
        for extent in extents[1:]:
            whole = computed(Operator.MUL, whole, extent)
        whole = computed(Operator.MAX, computed(Operator.MIN, whole, constant(I64, LARGEST_EXTENT)), constant(I64, 0))
        variable = SizeVariable(next(self.numbers))
        self.sizes.append(HostSizes((variable,), Function((), Block(tuple(statements), (whole,)))))
        return Extent(variable, 0)

    def view(self, array: Array, shape: tuple[Extent, ...]) -> Array:
        """The array under another shape."""
        made = Array(self.label, FIRST_LEAF + len(self.views), array.element, shape)
        return self.views.setdefault((array, shape), made)


@dataclass(frozen=True, slots=True)
class _Loop:
    """A loop for some that are merged, or for one."""

    loops: tuple[For, ...]
    index: Stream
    extent: Extent


def _loop(loops: tuple[For, ...], made: _Made) -> _Loop:
    """One for all of them."""
    if len(loops) == 1:
        return _Loop(loops, loops[0].index, _extent(loops[0]))
    index = merged_index([loop.index for loop in loops])
    return _Loop(loops, index, made.product([_extent(loop) for loop in loops]))


def _division(loop: _Loop) -> OneToOne:
    """The indices of loops, of a position among all that they visit."""
    return division([each.index for each in loop.loops], [_extent(each) for each in loop.loops])


def _rewritten(nest: Nest, groups: _Groups, made: _Made) -> list[Step]:
    """The steps: sizes, views of what is read, the nest, views of what it makes."""
    merged = [_loop(group, made) for group in (groups.rows, groups.columns, groups.folds) if group]
    whole = [*(_loop((loop,), made) for loop in groups.outer), *merged]
    outputs: dict[Array, Output] = {output.array: output for output in nest.outputs}
    new_outputs: dict[Array, Output] = {}

    def moved(statement: LoopBody) -> LoopBody:
        if not isinstance(statement, Read | Write):
            return statement
        array, index = statement.array, statement.index
        capacity: list[tuple[Extent, ...]] = [(extent,) for extent in array.shape]
        if array in outputs:
            capacity = list(outputs[array].capacity)
        for each in merged:
            at = _has(replace(statement, array=array, index=index), each.loops) if len(each.loops) > 1 else None
            if at is None or at < 0:
                continue
            end = at + len(each.loops)
            shape = (*array.shape[:at], each.extent, *array.shape[end:])
            array = replace(array, shape=shape)
            index = (*index[:at], each.index, *index[end:])
            capacity[at:end] = [tuple(extent for product in capacity[at:end] for extent in product)]
        if array == statement.array:
            return statement
        array = made.view(statement.array, array.shape)
        if statement.array in outputs:
            new_outputs[statement.array] = replace(outputs[statement.array], array=array, capacity=tuple(capacity))
        return replace(statement, array=array, index=index)

    levels = list(mentions.levels(nest))
    first = next(depth for depth, level in enumerate(levels) if level.loop is groups.folds[0])
    before = tuple(moved(s) for level in levels[: first + 1] for s in level.before)
    inner = [moved(s) for level in levels[first + 1 :] for s in level.before]
    after = tuple(map(moved, levels[first].after))
    fold = whole.pop()
    body = _with_divisions(Level(tuple(inner), None, tuple(map(moved, levels[-1].after))), fold)
    level = Level(before, For(fold.index, fold.extent, LoopDirection.UP, groups.folds[0].states, body), after)
    needed = {stream for s in (*before, *inner) for stream in flow.needed(s)}
    for each in reversed(whole):
        if len(each.loops) > 1 and not needed.isdisjoint(loop.index for loop in each.loops):
            level = replace(level, before=(_division(each), *level.before))
        level = Level((), For(each.index, each.extent, LoopDirection.UP, (), level), ())
    found = tuple(new_outputs.get(output.array, output) for output in nest.outputs)
    views = [(old, new) for (old, _), new in made.views.items()]
    return [
        *made.sizes,
        *(View((new,), (old,)) for old, new in views if old not in outputs),
        Launch(replace(nest, body=level, outputs=found)),
        *(View((old,), (new,)) for old, new in views if old in outputs),
    ]


def _with_divisions(level: Level, fold: _Loop) -> Level:
    """The innermost level, in which the indices of the loops that fold are found where somebody asks for them."""
    needed = {stream for s in (*level.before, *level.after) for stream in flow.needed(s)}
    if len(fold.loops) == 1 or needed.isdisjoint(loop.index for loop in fold.loops):
        return level
    return replace(level, before=(_division(fold), *level.before))
