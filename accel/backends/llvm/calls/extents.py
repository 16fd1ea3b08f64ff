"""Extents that a program computes, as nests without loops: each gives the values in arrays of rank 0, as nests give counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.types import I64
from accel.backends.linear.items import Item
from accel.ir.nodes import Count, HostSizes, Level, Nest, OneToOne, Output, Stream, Write
from accel.labelled.array import Array


def extent_nests(items: Sequence[Item]) -> Mapping[HostSizes, Nest]:
    """A nest for each item that computes extents. Their labels are negative, so that they are no operation's."""
    found = dict.fromkeys(item for item in items if isinstance(item, HostSizes))
    return {item: _nest(item, -1 - number) for number, item in enumerate(found)}


def _nest(item: HostSizes, label: int) -> Nest:
    values = tuple([Stream(f"extent{leaf}", I64) for leaf in range(len(item.variables))])
    arrays = [Array(label, leaf, I64, ()) for leaf in range(len(values))]
    writes = [Write(array, (), value) for array, value in zip(arrays, values, strict=True)]
    body = Level((OneToOne(values, item.function, ()), *writes), None, ())
    counts = [Count(variable, array) for variable, array in zip(item.variables, arrays, strict=True)]
    return Nest(label, body, tuple([Output(array, ()) for array in arrays]), (), tuple(counts))
