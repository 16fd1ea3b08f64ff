"""Nests that only copy an array, element by element."""

from __future__ import annotations

from accel.ir import mentions
from accel.ir.nodes import Nest, Read, Write
from accel.labelled.array import Array
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Copy:
    """All elements of `source`, each at its own index, are those of `target`, which has the same shape."""

    source: Array
    target: Array


def copied(nest: Nest) -> Copy | None:
    """What the nest copies, if that is all it does."""
    match list(mentions.statements(nest)), nest.outputs:
        case [Read(out=element, array=source, index=there, when=None), Write(target, index, value, None)], [output]:
            loops = mentions.loops(nest)
            if element != value or there != index or index != tuple(loop.index for loop in loops):
                return None
            shape = tuple(loop.extent for loop in loops)
            whole = shape == source.shape == target.shape and output.is_whole and not nest.counts
            return Copy(source, target) if whole and not any(mentions.states(nest)) else None
        case _:
            return None
