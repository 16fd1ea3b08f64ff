"""How streams are named: the same thing has the same name in every nest that makes, reads or uses it.

That is what lets nests which were lowered apart flow into each other ([vB20 section 5.2]: `Transform`, `Weaken` are computed,
not stored). `e3` is the element of array %3, `e3_1` of its second leaf, `e3_l7` the same at the mapped index of gather 7.
"""

from __future__ import annotations

from collections.abc import Iterable

from accel.ast.tree.types import BOOL, I64
from accel.ilp.problem.clustering import Traversal
from accel.ir.nodes import Stream
from accel.labelled.array import Array, Label, SegmentLength


def element(array: Array, traversal: Traversal) -> Stream:
    """The element of `array` in flight at that order."""
    name = f"e{array.label}" + (f"_{array.leaf}" if array.leaf else "")
    return Stream(name if traversal.gather is None else f"{name}_l{traversal.gather}", array.element)


def elements(arrays: Iterable[Array], traversal: Traversal) -> tuple[Stream, ...]:
    """The elements of several arrays at one order."""
    return tuple(element(array, traversal) for array in arrays)


def index(prefix: str, rank: int) -> tuple[Stream, ...]:
    """Streams for an index: `j4`, `j4_1`, ...."""
    return tuple(Stream(f"{prefix}_{axis}" if axis else prefix, I64) for axis in range(rank))


def mapped_index(array: Array, label: Label) -> tuple[Stream, ...]:
    """The index at which `array` is read in the order of gather `label`."""
    return index(f"k{label}", len(array.shape))


def position(label: Label) -> Stream:
    """How many elements filter `label` has kept before the present one."""
    return Stream(f"p{label}", I64)


def kept(label: Label) -> Stream:
    """Whether filter `label` keeps the present element, scatter `label` is given it, or exclusive scans of segments in order
    `label` are at one."""
    return Stream(f"keep{label}", BOOL)


def place(array: Array, label: Label) -> tuple[Stream, ...]:
    """The index at which exclusive scans of segments in order `label` store `array`."""
    return index(f"w{label}", len(array.shape))


def segment(length: SegmentLength) -> tuple[Stream, Stream, Stream]:
    """Where a segment begins, where it ends and how long it is, once that is found to be a segment. A loop that runs once more
    than that has a stream of its own: `turns`."""
    name = "_".join(f"{each.label}" + (f"l{each.leaf}" if each.leaf else "") for each in (length.starts, length.ends))
    return Stream(f"b{name}", I64), Stream(f"d{name}", I64), Stream(f"c{name}", I64)


def turns(length: SegmentLength) -> Stream:
    """How often the loop over a segment runs."""
    count = segment(length)[-1]
    return Stream(f"{count.name}_1", I64) if length.longer else count
