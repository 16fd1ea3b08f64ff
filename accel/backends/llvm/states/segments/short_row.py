"""What some short segments fold, computed as one row: then each lane takes its own segment's from there.

In: segments, as many as there are lanes, that lie one behind the other. What is folded of an element depends on where that
element is, and not on its segment: the values of a sparse matrix times what they ask for, say. Out: the code that computes it
in vectors along the elements, as a map runs, and keeps it on the stack; and the folds, in lanes, in the order of docs/order.md.
Where each lane computes its own elements, everything is gathered.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.lanes.transpose import PIECE, transposed_rows
from accel.backends.llvm.emit.values import Progression, Value
from accel.backends.llvm.states.segments.few_segments import place
from accel.backends.llvm.states.segments.group import SegmentGroup, joined, statements_of
from accel.backends.llvm.states.segments.lane_folds import LaneFold, has_more
from accel.backends.llvm.text.code import from_memory, memory_type, to_memory
from accel.ir import flow
from accel.ir.nodes import For, LoopDirection, ManyToOne, State
from accel.labelled.meaning.order import lanes
from accel.labelled.meaning.products import steps
from accel.schedule.legality import in_order

LOADED = 8
"""Elements of each segment that are loaded at once: a power of two."""


class _Tree(LaneFold):
    """A state of which each element is kept, whatever it is, until all of a segment are joined."""

    def _has_lanes(self) -> bool:
        return True

    def keep(self, values: Sequence[Value], number: str) -> None:
        """What is folded of element `number` of each segment; anything for those that have less."""
        self._store(values, number)

    def first(self, count: str) -> list[list[Value]]:
        """What the first `LOADED` elements come to with those that join them, of segments of up to `count`."""
        self._join_lanes(count, LOADED)
        return [self._load(str(number)) for number in range(LOADED)]


def depends_on_places_alone(loop: For) -> bool:
    """Whether what the segments of a loop fold depends on where elements are, and on nothing of their segments."""
    inner, found = loop.body.loop, place(loop)
    if inner is None or found is None or inner.direction is not LoopDirection.UP:
        return False
    inside = [statement for statement in statements_of(inner) if statement != found]
    own = {stream.name for statement in loop.body.before for stream in flow.made(statement)}
    own |= {loop.index.name, inner.index.name}
    own -= {stream.name for stream in found.outs}
    needed = {stream.name for statement in inside for stream in flow.needed(statement)}
    return own.isdisjoint(needed) and not any(map(in_order, inner.states))


class ShortRow:
    """The elements of groups of segments that follow each other, of which none has more than `longest`."""

    def __init__(self, group: SegmentGroup) -> None:
        self._group = group
        self._states = {state.name: state for state in group.inner.states}
        self._steps = {
            name: steps(state.merge, state.monoid, state.types, state.products) for name, state in self._states.items()
        }
        self.longest = min(lanes(state.types) for state in group.inner.states)
        """Elements of the longest of these segments: each has a lane of the order."""
        size = (1 + self.longest) * group.lanes + self.longest
        self._rows = {
            name: [group.routine.slot(f"[{size} x {memory_type(kind)}]", align=64) for kind in state.types]
            for name, state in self._states.items()
        }
        """What is folded of each element; the first one of a group stands behind as many as there are lanes."""
        self._trees = {
            name: _Tree(group.routine, group.writer, group.functions, state, self.longest)
            for name, state in self._states.items()
        }
        self._first, self._end, self._from = "", "", ""

    def fits(self, starts: str, counts: str) -> str:
        """Whether segments that begin and have as many elements as two registers of i64 say follow each other, and a vector of
        elements is there: an i1. Where they have fewer than that, it begins with elements of segments of groups before."""
        group, width = self._group, self._group.lanes
        code, scalar, vector = group.writer.code, group.routine.code, group.writer.code.type(I64)
        ends = code.emit(f"add {vector} {starts}, {counts}")
        order = ", ".join(f"i32 {lane}" for lane in (*range(1, width), 2 * width - 1))
        next_ = code.emit(f"shufflevector {vector} {starts}, {vector} {ends}, <{width} x i32> <{order}>")
        apart = group.writer.any(code.emit(f"icmp ne {vector} {ends}, {next_}"))
        self._first = scalar.emit(f"extractelement {vector} {starts}, i64 0")
        self._end = scalar.emit(f"extractelement {vector} {ends}, i64 {width - 1}")
        self._from = group.routine.least(self._first, scalar.emit(f"sub i64 {self._end}, {width}"))
        there = scalar.emit(f"icmp sge i64 {self._from}, {self._since(apart)}")
        return scalar.emit(f"and i1 {there}, {scalar.emit(f'xor i1 {apart}, true')}")

    def _since(self, apart: str) -> str:
        """From where on all elements are of segments that follow each other up to this group; so far as was seen: an i64."""
        routine, code = self._group.routine, self._group.routine.code
        since, until = routine.slot("i64"), routine.slot("i64")
        for slot in (since, until):
            code.at_entry().line(f"store i64 -1, ptr {slot}")
        goes_on = code.emit(f"icmp eq i64 {self._first}, {routine.load('i64', until)}")
        found = code.emit(f"select i1 {goes_on}, i64 {routine.load('i64', since)}, i64 {self._first}")
        routine.store("i64", found, since)
        routine.store("i64", code.emit(f"select i1 {apart}, i64 -1, i64 {self._end}"), until)
        return found

    def compute(self, outside: Mapping[str, Value]) -> None:
        """What is folded of each element. The last vector ends with the last element."""
        group, routine = self._group, self._group.routine
        code, found = routine.code, place(group.loop)
        assert found is not None, "elements have places"
        last = code.emit(f"sub i64 {self._end}, {group.lanes}")
        next_, is_left = routine.slot("i64"), routine.slot("i1")
        routine.store("i64", self._from, next_)
        routine.store("i1", "true", is_left)
        with routine.repeat() as while_:
            while_(routine.load("i1", is_left))
            at = routine.load("i64", next_)
            place_ = Progression(at, 1)
            made = {**outside, found.outs[0].name: place_}
            statements = group.statements(made, lambda statement, values, _: self._keep(statement, values, at))
            for statement in statements_of(group.inner):
                if statement != found:
                    statements.masked(statement, None)
            routine.store("i1", code.emit(f"icmp slt i64 {at}, {last}"), is_left)
            routine.store("i64", routine.least(code.emit(f"add i64 {at}, {group.lanes}"), last), next_)

    def _keep(self, statement: ManyToOne, values: Sequence[Value], at: str) -> tuple[Sequence[Value], Sequence[Value]]:
        """The values of a step of the elements from `at` on."""
        group, code = self._group, self._group.writer.code
        begun = group.functions.apply(self._steps[statement.state].first, values, None)
        behind = group.routine.code.emit(f"sub i64 {at}, {self._first}")
        for kind, row, value in zip(
            self._states[statement.state].types, self._rows[statement.state], begun, strict=True
        ):
            text, type_ = to_memory(code, kind, group.writer.every(value)), code.vector(memory_type(kind))
            address = self._address(memory_type(kind), row, behind)
            group.routine.store(type_, text, address, align=kind.bytes)
        return (), ()

    def _address(self, element: str, row: str, behind: str) -> str:
        """Where what is folded of the element stands that is so far behind the first one."""
        front = self._group.routine.code.emit(f"getelementptr {element}, ptr {row}, i64 {self._group.lanes}")
        return self._group.routine.code.emit(f"getelementptr {element}, ptr {front}, i64 {behind}")

    def totals(self, starts: str, counts: str, longest: str) -> dict[str, Sequence[Value]]:
        """What the segments of each state come to that have elements."""
        group, scalar = self._group, self._group.routine.code
        behind = [scalar.emit(f"sub i64 {each}, {self._first}") for each in group.each(starts)]
        masks = [has_more(group.writer, counts, str(number)) for number in range(LOADED)]
        found: dict[str, Sequence[Value]] = {}
        for name, state in self._states.items():
            tree = self._trees[name]
            tree.counts = counts
            with group.routine.count("0", longest, LOADED) as first:
                for number, values in enumerate(self._loaded(state, behind, first)):
                    tree.keep(values, scalar.emit(f"add i64 {first}, {number}"))
            found[name] = joined(group, state, tree.first(longest), masks)
        return found

    def _loaded(self, state: State, behind: Sequence[str], first: str) -> list[list[Value]]:
        """What is folded of `LOADED` elements of each segment, from number `first` on."""
        group, code = self._group, self._group.writer.code
        leaves: list[list[Value]] = []
        for kind, row in zip(state.types, self._rows[state.name], strict=True):
            element = memory_type(kind)
            front = code.emit(f"getelementptr {element}, ptr {row}, i64 {first}")
            width, found = min(LOADED, PIECE // kind.bytes), []
            for number in range(0, LOADED, width):
                piece = code.emit(f"getelementptr {element}, ptr {front}, i64 {group.lanes + number}")
                rows = [code.emit(f"getelementptr {element}, ptr {piece}, i64 {each}") for each in behind]
                found += transposed_rows(code, kind, rows, width)
            leaves.append([group.writer.varying(from_memory(code, kind, text), kind) for text in found])
        return [list(each) for each in zip(*leaves, strict=True)]
