"""Arguments meet parameters: extents are bound, and what the program requires of them is checked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from accel.ast.handles.extents import LARGEST_EXTENT, require_extents
from accel.backends.device import Slots
from accel.backends.protocol import HostArray
from accel.errors import AccelError, here
from accel.ir.nodes import Program
from accel.labelled.array import SizeVariable
from accel.labelled.meaning import faults

Binder: TypeAlias = Callable[[Sequence[HostArray], list[int]], None]
"""Stores the arguments' extents in a call's sizes; raises `AccelShapeError` where shapes do not fit."""


def binder(program: Program, slots: Slots) -> Binder:
    """What binds a program's arguments.

    Unified extents share a variable, so the usual call only compares numbers; if two differ, `faults.bind` goes through the
    program's equalities in order and names the combinator that required them.
    """
    stores: list[tuple[int, int, int, int]] = []
    checks: list[tuple[int, int, int | None, int]] = []
    seen: set[SizeVariable] = set()
    leaves = [leaf for parameter in program.parameters for leaf in parameter]
    for position, leaf in enumerate(leaves):
        for axis, extent in enumerate(leaf.shape):
            slot = None if extent.variable is None else slots.size(extent.variable)
            if extent.variable is not None and slot is not None and extent.variable not in seen:
                seen.add(extent.variable)
                stores.append((position, axis, slot, extent.offset))
            else:
                checks.append((position, axis, slot, extent.offset))
    offsets = any(offset for *_, offset in stores)

    def fault(arguments: Sequence[HostArray]) -> AccelError:
        return faults.arguments(program.own_shapes, program.equalities, [a.shape for a in arguments], arity)

    arity = [len(parameter) for parameter in program.parameters]

    def bind(arguments: Sequence[HostArray], sizes: list[int]) -> None:
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
