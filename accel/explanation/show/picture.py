"""A program as boxes, nodes and arrows, before it is written in any language for graphs.

In: an explanation. Out: loops and control flow as boxes, operations as nodes with the user's line, arrays as arrows that say
whether they are fused or go through memory. Of programs too large to look at, loops are nodes; what is left out is said.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import field

from accel.explanation.facts.explained import Explained
from accel.explanation.facts.facts import ArrayReport, ClusterReport, OperationReport
from accel.explanation.naming.quantities import counted
from accel.explanation.naming.source import short_place
from accel.explanation.show.words import Words, without_counters
from accel.support.dataclass import dataclass

MOST_OPERATIONS = 150
"""Programs of more operations are drawn with one node for each loop."""

MOST_NODES = 300
"""No more nodes are drawn than this; of the rest, how many there are."""

LONGEST = 40
"""Characters of a user's line in a node."""

_CONTROL = re.compile(r"(\w+ %\d+),? ?(.*)")
"""A piece of control flow: the operation, and which part of it."""


@dataclass(frozen=True, slots=True)
class Box:
    """A loop, or a part of control flow. inside: the box around it, by identifier. link: its place on the page."""

    identifier: str
    title: str
    kind: str
    inside: str | None
    link: str | None


@dataclass(frozen=True, slots=True)
class Shape:
    """A node: an operation, a whole loop, or a result. kind: `operation`, `step` (no loop), `input`, `loop`, `result`."""

    identifier: str
    lines: tuple[str, ...]
    kind: str
    inside: str | None
    link: str | None


@dataclass(frozen=True, slots=True)
class Arrow:
    """Arrays that flow from one node to another. memory: not within a loop. tip: what there is to say about them.

    box: of the style `part`, the box of a body or branch that the arrow leads to, in which the second node is.
    """

    first: str
    second: str
    label: str
    style: str
    memory: bool
    link: str | None
    tip: str
    box: str | None = None


@dataclass(frozen=True, slots=True)
class Picture:
    """A drawing. notes: what it shows, and what it leaves out."""

    boxes: tuple[Box, ...]
    shapes: tuple[Shape, ...]
    arrows: tuple[Arrow, ...]
    notes: tuple[str, ...]

    def within(self, box: str | None) -> list[Box | Shape]:
        """What stands in a box, by its identifier, or in none; last first."""
        inside: list[Box | Shape] = [*self.shapes, *self.boxes]
        return [each for each in reversed(inside) if each.inside == box]


def loop_link(number: int) -> str:
    """The place of a loop on the page."""
    return f"loop-{number}"


def array_link(name: str) -> str:
    """The place of an array on the page: `%3.1` is at `array-3.1`."""
    return f"array-{name.removeprefix('%')}"


def draw(explanation: Explained) -> Picture:
    """The picture of a program."""
    return _Drawing(without_counters(explanation)).picture()


@dataclass(slots=True)
class _Arrays:
    """Arrays of one kind between two nodes."""

    names: list[str] = field(default_factory=list)
    tips: list[str] = field(default_factory=list)


class _Drawing:
    def __init__(self, explanation: Explained) -> None:
        self._explanation, self._words = explanation, Words(explanation)
        self._coarse = len(explanation.operations) > MOST_OPERATIONS
        self._arrays = {array.name: array for array in explanation.arrays}
        self._boxes: dict[tuple[str, ...], Box] = {}
        self._loops: dict[int, Box] = {}
        self._shapes: dict[str, Shape] = {}
        self._of: dict[str, str] = {}  # the shape of an operation
        self._first: dict[tuple[str, ...], str] = {}  # the first shape in a piece of control flow

    def picture(self) -> Picture:
        for operation in self._explanation.operations:
            self._part(operation.part)
        for cluster in self._explanation.clusters:
            self._loop(cluster)
        for operation in self._explanation.operations:
            self._operation(operation)
        arrows = [*self._bodies(), *self._flows(), *self._results()]
        shown = list(self._shapes.values())[:MOST_NODES]
        names = {shape.identifier for shape in shown}
        arrows = [arrow for arrow in arrows if arrow.first in names and arrow.second in names]
        used = {shape.inside for shape in shown}
        inside = [box for path, box in self._boxes.items() if self._first.get(path) in names]
        boxes = [*inside, *(box for box in self._loops.values() if box.identifier in used)]
        return Picture(tuple(boxes), tuple(shown), tuple(arrows), tuple(self._notes(len(self._shapes) - len(shown))))

    def _notes(self, hidden: int) -> Iterable[str]:
        explanation = self._explanation
        moved = counted(explanation.bytes_read + explanation.bytes_written, "bytes")
        yield f"{explanation.name}: {counted(explanation.loops, 'loops')}, {moved} moved"
        if self._coarse:
            yield f"{len(explanation.operations)} operations: each loop is one node, and what is fused is not shown"
        if hidden:
            yield f"{hidden} more nodes are left out"

    def _part(self, part: tuple[str, ...]) -> str | None:
        """The box of a piece of control flow, and the boxes around it."""
        for depth in range(1, len(part) + 1):
            path = part[:depth]
            if path not in self._boxes:
                around = self._boxes[path[:-1]].identifier if depth > 1 else None
                self._boxes[path] = Box(f"part{len(self._boxes)}", self._words.sentence(path[-1]), "part", around, None)
        return self._boxes[part].identifier if part else None

    def _loop(self, cluster: ClusterReport) -> None:
        inside, link = self._part(cluster.part), loop_link(cluster.number)
        if self._coarse:
            kinds = Counter(operation.split()[0] for operation in cluster.operations)
            what = ", ".join(kind if count == 1 else f"{count} {kind}" for kind, count in kinds.items())
            shape = Shape(f"loop{cluster.number}", (cluster.heading, _short(what)), "loop", inside, link)
            self._add(shape, cluster.part)
            self._of |= dict.fromkeys(cluster.operations, shape.identifier)
        else:
            self._loops[cluster.number] = Box(f"loop{cluster.number}", cluster.heading, "loop", inside, link)

    def _operation(self, operation: OperationReport) -> None:
        if operation.name in self._of or not (operation.cluster or self._matters(operation)):
            return
        identifier = f"node{len(self._shapes)}"
        kind = "operation" if operation.cluster else "input" if operation.name.startswith("use ") else "step"
        text = () if operation.where is None or kind == "input" else (_line(operation),)
        inside = self._loops[operation.cluster].identifier if operation.cluster else self._part(operation.part)
        made = (
            [array for array in self._explanation.arrays if array.producer == operation.name] if kind == "input" else []
        )
        link = loop_link(operation.cluster) if operation.cluster else array_link(made[0].name) if made else None
        title = self._words.made(made[0].name) if made else self._words.operation(operation.name)
        lines = (title + " (again)" * operation.copy, *(array.type for array in made[:1]), *text)
        self._add(Shape(identifier, lines, kind, inside, link), operation.part)
        self._of[operation.name] = identifier

    def _add(self, shape: Shape, part: tuple[str, ...]) -> None:
        self._shapes[shape.identifier] = shape
        for depth in range(1, len(part) + 1):
            self._first.setdefault(part[:depth], shape.identifier)

    def _matters(self, operation: OperationReport) -> bool:
        """Sizes and checks are not drawn: nothing flows out of them."""
        return not operation.name.startswith(("bindsizes ", "requireequal "))

    def _bodies(self) -> Iterable[Arrow]:
        """From every piece of control flow to its bodies or branches."""
        for path, box in self._boxes.items():
            found = _CONTROL.match(path[-1])
            if found is not None and found[1] in self._of and path in self._first:
                first, second = self._of[found[1]], self._first[path]
                yield Arrow(first, second, found[2], "part", True, None, box.title, box.identifier)

    def _flows(self) -> Iterable[Arrow]:
        """One arrow for all arrays of one kind between two nodes."""
        found: dict[tuple[str, str, str, bool, bool], _Arrays] = {}
        for flow in self._explanation.flows:
            first, second = self._of.get(flow.producer), self._of.get(flow.reader)
            if first is None or second is None or first == second:
                continue
            array = self._arrays.get(flow.array)
            style = "view" if array is None else array.status
            key = first, second, style, not flow.fused, flow.way == "destination"
            arrays = found.setdefault(key, _Arrays())
            if flow.array not in arrays.names:
                arrays.names.append(flow.array)
                arrays.tips += [] if array is None else [self._tip(array, flow.reader)]
        for (first, second, style, memory, updated), arrays in found.items():
            link = array_link(arrays.names[0]) if style != "view" else None
            label = "updates " * updated + self._several(arrays.names)
            yield Arrow(first, second, label, style, memory, link, "\n".join(arrays.tips[:4]))

    def _results(self) -> Iterable[Arrow]:
        for array in self._explanation.arrays:
            if array.result and not array.part and array.producer in self._of:
                link = array_link(array.name)
                shape = Shape(f"result{len(self._shapes)}", ("result", array.type), "result", None, link)
                self._shapes[shape.identifier] = shape
                first, tip = self._of[array.producer], self._tip(array, None)
                yield Arrow(first, shape.identifier, self._words.array(array.name), array.status, True, link, tip)

    def _several(self, names: list[str]) -> str:
        shown = [self._words.array(name) for name in names]
        return ", ".join(shown) if len(shown) <= 3 else f"{shown[0]} and {len(shown) - 1} more"

    def _tip(self, array: ArrayReport, reader: str | None) -> str:
        """What an arrow says when it is pointed at."""
        why = [self._words.sentence(line.reason) for line in array.why_not if line.reader == reader]
        said = f"{self._words.array(array.name)} {array.type}: {array.status}"
        return said + "".join(f"; not fused: {reason}" for reason in why)


def _line(operation: OperationReport) -> str:
    """The user's line: its number, and the call on it."""
    assert operation.where is not None
    call = operation.where.call()
    return _short(f"{operation.where.line}: {call}") if call else short_place(operation.where)


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
