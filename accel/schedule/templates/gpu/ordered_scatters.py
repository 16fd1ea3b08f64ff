"""Scatters whose order shows, as nests that follow each other, of which none needs the order of the visit.

In: a nest and one of its scatters. Out: what runs before it, what becomes of it, and what runs after it.

Where only the last element of a target counts, each target has an owner: the greatest number of the elements that come to it,
found by an exact scatter. In the nest itself only owners write. Otherwise the nest writes down target and value of each
element; these are sorted by their targets, stably, and each target combines its own in their order.
"""

from __future__ import annotations

from dataclasses import replace

from accel.ast.tree.types import BOOL, I64
from accel.ir.counters import counter
from accel.ir.mentions import function_operands
from accel.ir.nodes import (
    LoopBody,
    LoopDirection,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Operand,
    Read,
    Remap,
    Scatter,
    Stream,
    Write,
)
from accel.labelled.algebra import monoid_of
from accel.labelled.array import Array, Extent
from accel.labelled.programs import loaded
from accel.labelled.scalar import constant
from accel.schedule.templates.gpu.rewrite import (
    ANY_EXTENT,
    EQUAL,
    MAXIMUM,
    NOT,
    Change,
    Made,
    around,
    at_most,
    changed,
    extents,
    filled,
    linear,
    slice_for,
)
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Runs:
    """Elements of a scatter, written down: sorted by `keys`, stably, each target combines its run.

    keys, values: one of each for every element, of which there are as many as the product of `sources`, or, if it is found out
    only where they are written, as `count` holds, and no more than that product. A key is the target's row-major position, or,
    where there is none, the number of targets.
    """

    scatter: Scatter
    keys: Array
    values: tuple[Array, ...]
    sources: tuple[Extent, ...]
    count: Array | None


def last_wins(scatter: Scatter) -> bool:
    """Whether what a target becomes does not depend on what it was."""
    old = set(scatter.combine.parameters[len(scatter.values) :])
    return old.isdisjoint(function_operands(scatter.combine)) and not loaded(scatter.combine)


def by_owners(nest: Nest, scatter: Scatter, made: Made) -> tuple[Nest, Nest, Nest] | None:
    """Two nests that find the owners, and one in which only they write; None if elements have no number before they come."""
    loops = around(nest, scatter)
    sizes = extents(loops)
    if sizes is None:
        return None
    target = scatter.arrays[0]
    name, shape = str(target.label), target.shape
    number, owner = Stream(f"number{name}", I64), made.array(I64, shape)
    count = linear(number, [loop.index for loop in loops], sizes, 1)
    exact = monoid_of(MAXIMUM)
    claim = Scatter((owner,), scatter.index, (number,), MAXIMUM, exact, sizes, scatter.when, scatter.where)
    claims = changed(slice_for(nest, [scatter]), Change({id(scatter): (count, claim)}))
    claims = Nest(nest.label, claims.body, claims.outputs, ((owner, owner),), ())
    found, mine = Stream(f"owner{name}", I64), Stream(f"mine{name}", BOOL)
    index, checked = _checked(scatter, name)
    news = tuple(Stream(f"new{name}_{leaf}", array.element) for leaf, array in enumerate(scatter.arrays))
    nothing = tuple(constant(array.element, 0) for array in scatter.arrays)
    writes: list[LoopBody] = [
        count,
        *checked,
        Read(found, owner, index, scatter.when),
        OneToMaybe(mine, EQUAL, (found, number), scatter.when),
        OneToOne(news, scatter.combine, (*scatter.values, *nothing), mine),
        *(Write(array, index, new, mine) for array, new in zip(scatter.arrays, news, strict=True)),
    ]
    return filled(owner, constant(I64, 0)), claims, changed(nest, Change({id(scatter): writes}))


def by_runs(nest: Nest, scatter: Scatter, made: Made) -> tuple[Nest, Runs] | None:
    """The nest, in which elements are written down, and what becomes of these; None if they have no numbers."""
    numbered = _numbered(nest, scatter, made)
    if numbered is None:
        return None
    target = scatter.arrays[0]
    name, place, room = str(target.label), numbered.place, numbered.room
    keys = made.array(I64, numbered.shape, room)
    values = tuple(made.array(array.element, numbered.shape, room) for array in scatter.arrays)
    index, checked = _checked(scatter, name)
    key, none, absent = Stream(f"key{name}", I64), Stream(f"none{name}", I64), Stream(f"absent{name}", BOOL)
    where = linear(key, index, target.shape)
    statements: list[LoopBody] = [
        *numbered.before,
        *checked,
        OneToOne((key,), where.function, where.arguments, scatter.when),
        Write(keys, place, key, scatter.when),
        *(Write(array, place, value, scatter.when) for array, value in zip(values, scatter.values, strict=True)),
    ]
    if scatter.when is not None:
        # As if it were an index behind the last one: how many targets there are.
        ends: list[Operand] = [*target.shape[:1], *(constant(I64, 0) for _ in target.shape[1:])]
        statements += [
            OneToMaybe(absent, NOT, (scatter.when,)),
            linear(none, ends, target.shape) if ends else linear(none, (), (), 1),
            Write(keys, place, none, absent),
        ]
    change = replace(numbered.change, statements={id(scatter): statements})
    rest = changed(nest, change)
    in_place = tuple(pair for pair in rest.in_place if pair[1] not in scatter.arrays)
    return replace(rest, in_place=in_place), Runs(scatter, keys, values, room, numbered.count)


@dataclass(frozen=True, slots=True)
class _Numbered:
    """Where each element of a scatter is written down: at `place` in arrays of a shape, which `before` finds.

    room: extents whose product bounds how many there are. count: that number, where it is found out; else it is the product.
    change: what else becomes of the nest.
    """

    place: tuple[Operand, ...]
    shape: tuple[Extent, ...]
    room: tuple[Extent, ...]
    before: tuple[LoopBody, ...]
    count: Array | None
    change: Change


def _numbered(nest: Nest, scatter: Scatter, made: Made) -> _Numbered | None:
    """By the iterations of all loops; where it is found out how often the innermost one runs, by how often it has run before.

    There iterations may be too many if a check fails, so those count as one that stands behind all others, and is not read.
    """
    loops = around(nest, scatter)
    sizes = extents(loops)
    if sizes is not None:
        return _Numbered(tuple(loop.index for loop in loops), sizes, sizes, (), None, Change({}))
    inner, room = loops[-1], scatter.capacity
    if extents(loops[:-1]) is None or inner.direction is not LoopDirection.UP:
        return None
    name = scatter.arrays[0].label
    total, run, place = Stream(f"total{name}", I64), Stream(f"run{name}", I64), Stream(f"place{name}", I64)
    end, count = Stream(f"end{name}", I64), made.array(I64, ())
    state = counter(total, True, None)
    counts = ManyToOne(state.name, (inner.extent,), (run,))
    ends = (at_most(end, (total,), room), Write(count, (), end))
    change = Change({}, states=(state,), around_innermost=(counts,), after=ends)
    return _Numbered((place,), (ANY_EXTENT,), room, (at_most(place, (run, inner.index), room),), count, change)


def _checked(scatter: Scatter, name: str) -> tuple[tuple[Operand, ...], tuple[LoopBody, ...]]:
    """The index of a scatter, and what checks it."""
    outs = tuple(Stream(f"at{name}_{place}", I64) for place in range(len(scatter.index)))
    if not outs:
        return (), ()
    return outs, (Remap(outs, scatter.index, scatter.arrays[0].shape, scatter.when, scatter.where),)
