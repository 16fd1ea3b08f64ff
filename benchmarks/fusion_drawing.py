"""Drawings: dependency graphs as the graph files write them, operations by name.

Generators (`fusion_families.py`, `fusion_random.py`) and the reader of files (`fusion_reader.py`) make drawings;
`fusion_graph.py` makes graphs of them, as the planner takes them.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class Form(Enum):
    """What an operation of a drawing is."""

    USE = "use"
    GENERATE = "generate"
    STENCIL = "stencil"
    MAP = "map"
    GATHER = "gather"
    SCATTER = "scatter"
    FOLD = "fold"
    LEFT_SCAN = "scanl"
    RIGHT_SCAN = "scanr"
    FILTER = "filter"
    RESHAPE = "reshape"


class How(Enum):
    """How an operation reads an array."""

    STREAM = "stream"
    INDEX = "index"
    SOURCE = "gather-source"
    DESTINATION = "scatter-dest"


@dataclass(frozen=True, slots=True)
class Size:
    """An extent: `name + offset`, or the constant `offset`."""

    name: str | None
    offset: int


@dataclass(frozen=True, slots=True)
class Read:
    """One input. `aligned`: what is read by index is just the element at the reader's own index; `reads`: how many are."""

    source: str
    how: How
    aligned: bool = False
    reads: int = 1


@dataclass(frozen=True, slots=True)
class Item:
    """One operation. `forced`: its result is stored, and what reads it runs later (Accelerate's `compute`)."""

    name: str
    form: Form
    reads: tuple[Read, ...]
    shape: tuple[Size, ...]
    forced: bool = False
    flattens: bool = False
    """Of a fold: it folds all dimensions, not just the innermost."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A program's operations in any order, and the names of its results. What nobody reads is a result, too."""

    name: str
    items: tuple[Item, ...]
    results: frozenset[str]

    @property
    def operations(self) -> int:
        """How many items are no inputs of the program."""
        return sum(item.form is not Form.USE for item in self.items)

    @property
    def edges(self) -> int:
        """How many inputs the items have together."""
        return sum(len(item.reads) for item in self.items)


class DrawingError(ValueError):
    """A drawing that is no program: `item` names the operation that cannot be, the message says why."""

    def __init__(self, item: str, reason: str) -> None:
        super().__init__(reason)
        self.item = item


def sizes(text: str) -> tuple[Size, ...]:
    """A shape of extents separated by spaces: `n`, `n+1`, `16`; nothing is rank 0."""
    found = []
    for part in text.split():
        name, _, offset = part.partition("+")
        found.append(Size(None, int(part)) if part.isdigit() else Size(name, int(offset or 0)))
    return tuple(found)


def found_sizes(drawing: Drawing) -> dict[str, str]:
    """Which filter finds a size. Raises DrawingError where two find one, or where a filter's result is no vector."""
    makers: dict[str, str] = {}
    for item in drawing.items:
        if item.form is not Form.FILTER:
            continue
        name = item.shape[0].name if len(item.shape) == 1 and item.shape[0].offset == 0 else None
        if name is None:
            raise DrawingError(item.name, "the result of a filter has one dimension, named like nothing that is known")
        if name in makers:
            raise DrawingError(item.name, f"the size {name!r} is already found by filter {makers[name]!r}")
        makers[name] = item.name
    return makers


def _circle(ahead: Mapping[str, set[str]]) -> DrawingError:
    """The error that names one circle of items, each of which needs the one before; all of them have something ahead."""
    path: list[str] = []
    name = min(ahead)
    while name not in path:
        path.append(name)
        name = min(earlier for earlier in ahead[name] if earlier in ahead)
    circle = path[path.index(name) :][::-1]
    shown = " -> ".join(repr(step) for step in (*circle[-1:], *circle))
    return DrawingError(circle[-1], f"these read each other in a circle: {shown}")


def in_order(drawing: Drawing) -> list[Item]:
    """The items, makers before readers, else as they stand; filters before what their sizes shape.

    Raises DrawingError for items in a circle.
    """
    position = {item.name: number for number, item in enumerate(drawing.items)}
    makers = found_sizes(drawing)
    ahead: dict[str, set[str]] = {}
    for item in drawing.items:
        needed = {read.source for read in item.reads}
        needed |= {makers[size.name] for size in item.shape if size.name in makers} - {item.name}
        ahead[item.name] = needed
    after: dict[str, list[str]] = {item.name: [] for item in drawing.items}
    for name, needed in ahead.items():
        for earlier in needed:
            after[earlier].append(name)
    waiting = {name: len(needed) for name, needed in ahead.items()}
    ready = [position[name] for name, count in waiting.items() if count == 0]
    heapq.heapify(ready)
    done: list[Item] = []
    while ready:
        item = drawing.items[heapq.heappop(ready)]
        done.append(item)
        for later in after[item.name]:
            waiting[later] -= 1
            if waiting[later] == 0:
                heapq.heappush(ready, position[later])
    if len(done) < len(drawing.items):
        raise _circle({name: ahead[name] for name, count in waiting.items() if count})
    return done
