"""The data that random programs run on: small numbers, edges of the type, all equal, all -0.0; in several memory layouts."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np

import accel as A
from accel.ast.tree.types import ScalarType
from tests.differential.elementwise import HOLLOW, Input
from tests.differential.programs import Program
from tests.differential.scalars import edge_values

HostArray: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.generic]]


SPECIAL = (0.0, -0.0, -0.0, math.inf, -math.inf, math.nan, 1.0)
"""Floats that sums and extrema must not confuse."""


def array(kind: ScalarType, seed: int, layout: int, shape: Sequence[int]) -> HostArray:
    """An array of pseudo-random values; the same arguments give the same array."""
    if layout == HOLLOW:
        return np.broadcast_to(array(kind, seed, 0, shape[-1:]), shape)
    random = np.random.default_rng(seed)
    size = math.prod(shape)
    low = 0 if kind.is_unsigned else -4
    small = random.integers(low, 9, size) / (2 if kind.is_float else 1)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        values = small.astype(kind.dtype)
        edges = np.array([kind.dtype.type(edge) for edge in edge_values(kind)])
    if seed % 4 == 0 and size:
        chosen = random.integers(0, len(edges), size)
        values = np.where(random.random(size) < 0.3, edges[chosen], values)
    if seed % 4 == 1 and size:
        values[:] = values[0]
    if seed % 8 == 2 and kind.is_float:
        values[:] = -0.0
    if seed % 8 == 6 and kind.is_float:
        values = random.choice(np.array(SPECIAL, kind.dtype), size)
    return laid_out(values.reshape(shape), layout)


def laid_out(values: HostArray, layout: int) -> HostArray:
    """The same values, in row-major order, column-major, backwards, with gaps, or read-only; as a part of a larger array, as
    some of its rows from the last one on, or with the first dimension innermost."""
    if layout == 4:
        values.flags.writeable = False
    if not values.ndim:
        return values
    match layout:
        case 1:
            return np.asfortranarray(values)
        case 2:
            return np.ascontiguousarray(values[..., ::-1])[..., ::-1]
        case 3:
            return np.repeat(values, 2, axis=-1)[..., ::2]
        case 6:
            few = min(values.ndim, 2)  # to make all of eight dimensions longer would take much memory
            around = [(0, 0)] * (values.ndim - few) + [(1, 2)] * few
            inside = [slice(before, before + extent) for (before, _), extent in zip(around, values.shape, strict=True)]
            return np.pad(values, around)[tuple(inside)]
        case 7:
            return np.repeat(values[::-1], 2, axis=0)[::-2]
        case 8:
            return np.moveaxis(np.ascontiguousarray(np.moveaxis(values, 0, -1)), -1, 0)
    return values


@cache
def record(*kinds: str) -> type[A.Record]:
    """A class of records with fields `x0`, `x1`, … of these types."""
    # Any: annotations that are made here.
    field: Any = A.Field
    fields = {f"x{number}": field[ScalarType(kind).dtype.type] for number, kind in enumerate(kinds)}
    return type("Fields", (A.Record,), {"__annotations__": fields, "__module__": __name__})


def inputs(program: Program) -> list[HostArray]:
    """The arguments of a program."""
    nodes = [node for node in program.nodes if isinstance(node.operation, Input)]
    return [array(node.element[0], node.numbers[0], node.numbers[1], node.numbers[2:]) for node in nodes]
