"""Arguments meet parameters: extents are bound, and what the program requires of them is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from accel.ast.handles.extents import LARGEST_EXTENT, require_extents
from accel.ast.tree.leaves import Leaf
from accel.backends.device import Slots
from accel.errors import AccelError, here
from accel.ir.nodes import Program
from accel.labelled.array import Array, SizeVariable
from accel.labelled.meaning import faults
from accel.support.dataclass import dataclass

Binder: TypeAlias = Callable[[Sequence[Leaf], list[int]], None]
"""Stores the arguments' extents in a call's sizes; raises `AccelShapeError` where shapes do not fit."""


@dataclass(frozen=True, slots=True)
class ExtentOf:
    """An extent of an argument: of which argument, along which axis; it is the size at `slot` (None: 0) plus `offset`."""

    position: int
    axis: int
    slot: int | None
    offset: int


@dataclass(frozen=True, slots=True)
class Bindings:
    """The extents of all arguments. `stored`: those that sizes are found in, each once; `checked`: those that must agree."""

    stored: tuple[ExtentOf, ...]
    checked: tuple[ExtentOf, ...]


def leaves(program: Program) -> list[Array]:
    """The arrays that a call is given, in order."""
    return [leaf for parameter in program.parameters for leaf in parameter]


def bindings(program: Program, slots: Slots) -> Bindings:
    """How extents of arguments and sizes correspond. Unified extents share a variable."""
    stored: list[ExtentOf] = []
    checked: list[ExtentOf] = []
    seen: set[SizeVariable] = set()
    for position, leaf in enumerate(leaves(program)):
        for axis, extent in enumerate(leaf.shape):
            slot = None if extent.variable is None else slots.size(extent.variable)
            if extent.variable is not None and extent.variable not in seen:
                seen.add(extent.variable)
                stored.append(ExtentOf(position, axis, slot, extent.offset))
            else:
                checked.append(ExtentOf(position, axis, slot, extent.offset))
    return Bindings(tuple(stored), tuple(checked))


def binder(program: Program, slots: Slots) -> Binder:
    """What binds a program's arguments.

    The usual call only compares numbers; if two differ, `faults.bind` goes through the program's equalities in order and names
    the combinator that required them.
    """
    found = bindings(program, slots)
    stores = [(each.position, each.axis, each.slot, each.offset) for each in found.stored if each.slot is not None]
    checks = [(each.position, each.axis, each.slot, each.offset) for each in found.checked]
    offsets = any(offset for *_, offset in stores)

    def fault(arguments: Sequence[Leaf]) -> AccelError:
        return faults.arguments(program.own_shapes, program.equalities, [a.shape for a in arguments], arity)

    arity = [len(parameter) for parameter in program.parameters]

    def bind(arguments: Sequence[Leaf], sizes: list[int]) -> None:
        for position, axis, slot, offset in stores:
            sizes[slot] = arguments[position].shape[axis] - offset
        if stores and (offsets or max(sizes) > LARGEST_EXTENT):
            for argument in arguments:
                require_extents(argument.shape, here())
        if offsets and any(sizes[slot] < 0 for _, _, slot, _ in stores):
            raise fault(arguments)
        for position, axis, known, offset in checks:
            if arguments[position].shape[axis] != (offset if known is None else sizes[known] + offset):
                raise fault(arguments)

    return bind
