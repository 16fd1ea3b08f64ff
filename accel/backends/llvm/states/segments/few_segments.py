"""Segments of a few elements, as many at a time as there are lanes: where they begin, how long they are, if they are short.

In: a group of segments. Out: registers with what each has, if none has more than `FEWEST` elements. Of lengths that a scan adds
up it is known that the segments lie one behind the other: then the scan, too, is an addition for each. What folds read of their
elements is loaded for each segment from where it begins, `FEWEST` elements at once, and transposed: no gather is as fast. Where
processors pick lanes of two registers in an instruction (AVX-512), those of segments that lie one behind the other are picked
from what half of them have, and lengths are added up in lanes, which takes half of the time.
"""

from __future__ import annotations

from collections.abc import Mapping

from accel.ast.tree.operators import Operator
from accel.ast.tree.types import I32, I64
from accel.backends.llvm.emit.lanes.picking import picked, picked_from_one, picks
from accel.backends.llvm.emit.lanes.transpose import PIECE, transposed_rows
from accel.backends.llvm.emit.statements import Streams
from accel.backends.llvm.emit.values import Lanes, Near, Progression, Uniform, Value
from accel.backends.llvm.machine.processor import LINE
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.states.exact_scans import Leaf
from accel.backends.llvm.states.segments.group import Scans, SegmentGroup, computes, folds_scans, has_lanes, segment_of
from accel.backends.llvm.text.code import Code, memory_type
from accel.backends.llvm.text.routine import WORD
from accel.ir import flow
from accel.ir.nodes import For, LoopBody, ManyToOne, OneToOne, Read
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import constant
from accel.support.dataclass import dataclass

FEWEST = 4
"""Elements of the longest of these segments: a power of two, and of 4 bytes a piece that is loaded at once."""

DISTANCES = (1, 2)
"""From how far the steps of scans of so few elements take their neighbours."""

FARTHEST = 256
"""Less than so many elements, a power of two, behind the first of these segments each may begin."""

MOST_TRUST, LOST_TRUST = 16, 7
"""How much a group that fits into two registers is trusted to be followed by another: one more for each that did, up to so
much, and so much less for each that did not. Where one in eight did not, there is no trust."""

AHEAD = 2048
"""How many bytes before they are needed elements are asked for. (Zen 4, from memory: with 4096 and more folds take 1.2 to 1.3
times as long, with 1024 as long.)"""


@dataclass(frozen=True, slots=True)
class InLanes:
    """Registers of i32, a lane for each segment: how many elements it has, and how many elements behind the first one of all it
    begins and ends."""

    counts: str
    begins: str
    ends: str


@dataclass(frozen=True, slots=True)
class _Chain:
    """Segments of which each begins where the one before ends. step: of the scan of their lengths, whose state begins each.
    again: the statements that only say so again, the end, the difference of both, and the check."""

    step: ManyToOne
    again: tuple[LoopBody, ...]


def _chain(group: SegmentGroup) -> _Chain | None:
    """How the segments of a loop follow each other, if lengths are all that says where they are."""
    start, end, difference = group.segment.arguments
    before, states = group.loop.body.before, group.loop.states
    found = [s for s in before if isinstance(s, ManyToOne) and s.before == (start,) and not s.after]
    sums = [s for s in before if isinstance(s, OneToOne) and s.outs == (end,)]
    differences = [s for s in before if isinstance(s, OneToOne) and s.outs == (difference,)]
    if len(states) != 1 or len(found) != 1 or len(sums) != 1 or len(differences) != 1:
        return None
    (step,), (sum_,), (less,) = found, sums, differences
    if states[0].monoid.operators != (Operator.ADD,) or states[0].types != [I64]:
        return None
    if not computes(sum_, Operator.ADD, (start, *step.values)) or not computes(less, Operator.SUB, (end, start)):
        return None
    return _Chain(step, (sum_, less, group.segment))


def place(loop: For) -> OneToOne | None:
    """The statement that makes the place of an element: where its segment begins, plus its number."""
    inner, found = loop.body.loop, segment_of(loop)
    if inner is None or found is None:
        return None
    for statement in inner.body.before:
        if isinstance(statement, OneToOne) and computes(statement, Operator.ADD, (found[0].outs[0], inner.index)):
            return statement
    return None


def _beside(loop: For) -> list[Array]:
    """The arrays of which a fold of segments reads what stands at the place of an element."""
    inner, found = loop.body.loop, place(loop)
    if inner is None or found is None or not (has_lanes(loop) or folds_scans(loop)):
        return []
    reads = [s for s in inner.body.before if isinstance(s, Read) and s.index == found.outs]
    return list(dict.fromkeys(read.array for read in reads))


class FewSegments:
    """Groups of segments of which none has more than `FEWEST` elements."""

    def __init__(self, group: SegmentGroup) -> None:
        self.group, self._scans = group, Scans(group)
        self._chain = _chain(group)
        self._beside = _beside(group.loop)
        self.made: dict[str, Value] = {}
        """The streams in lanes, one for each segment."""
        self.counts = ""
        """How many elements each lane has: a register of i64."""
        self.first = ""
        """Where the first of these segments begins: an i64."""
        self.begins: list[str] = []
        """How many elements behind that each lane's segment begins: an i64 for each."""
        self.ends: list[str] = []
        """How many elements behind that each ends; where segments do not follow each other, the next begins."""
        self.count = ""
        """How many elements all have: an i64."""
        self.lanes: InLanes | None = None
        """Where they begin and end, if that was found out in lanes; `begins` and `ends` are empty then."""
        self._together = ""
        """Whether all of these are picked from two registers: an i1."""
        self._second = ""
        """How far behind the first one the second half of them begins: an i64."""
        self._starts = ""
        """Where each lane's segment begins: a register of i64."""
        self._behind = ""
        """How far behind the first one, where segments need not follow each other: a register of i64."""

    def begin(self, at: str, few: str, others: str) -> None:
        """What says where the segments from `at` on are; goes to the label `few` if they have few elements, close together."""
        group = self.group
        self.made = group.enter(at)
        if self._chain is not None:
            self._begin_chain(self._chain)
        else:
            self._begin_apart()
        routine = group.routine
        inside, exactly = routine.label(), routine.label()
        routine.branch(self._inside(), inside, others)
        # Most have less than FEWEST, which takes less time to find out.
        routine.place(inside)
        routine.branch(self._none(self.counts, -FEWEST), few, exactly)
        routine.place(exactly)
        code, vector = group.writer.code, group.writer.code.type(I64)
        more = code.emit(f"add {vector} {self.counts}, {code.splat('i64', str(FEWEST - 1))}")
        either = code.emit(f"or {vector} {self.counts}, {more}")
        routine.branch(self._none(either, -2 * FEWEST), few, others)

    def _begin_apart(self) -> None:
        """The same where nothing is known of how segments follow each other."""
        group, code, vector = self.group, self.group.writer.code, self.group.writer.code.type(I64)
        self._scans.begin()
        statements = group.statements(self.made, self._scans.step)
        for statement in group.loop.body.before:
            statements.masked(statement, None)
        self._starts, _, self.counts = (group.writer.every(self.made[out.name]) for out in group.segment.outs)
        self.first = group.routine.code.emit(f"extractelement {vector} {self._starts}, i64 0")
        self._behind = code.emit(f"sub {vector} {self._starts}, {group.writer.splat(self.first, 'i64')}")

    def _begin_chain(self, chain: _Chain) -> None:
        """The same where each begins where the one before ends: what the scan holds is then far from all bounds."""
        group, (record, pointer) = self.group, self.group.records[chain.step.state]
        scalar = group.routine.code
        statements = group.statements(self.made, self._scans.step)
        for statement in group.loop.body.before[: group.loop.body.before.index(chain.step)]:
            statements.masked(statement, None)
        self.counts = group.writer.every(Streams(group.memory, self.made).value(chain.step.values[0]))
        present = scalar.emit(f"icmp ne i64 {group.routine.load('i64', pointer)}, 0")
        held = group.writer.one(record.load(group.routine, pointer, 1)[0])
        self.first = scalar.emit(f"select i1 {present}, i64 {held}, i64 0")

    def _none(self, text: str, mask: int) -> str:
        """Whether no bit of a mask is set in any lane of a register of i64: an i1."""
        code, scalar, vector = self.group.writer.code, self.group.routine.code, self.group.writer.code.type(I64)
        bits = scalar.call(f"llvm.vector.reduce.or.v{code.lanes}i64", "i64", [vector], [f"{vector} {text}"])
        return scalar.emit(f"icmp eq i64 {scalar.emit(f'and i64 {bits}, {mask}')}, 0")

    def masks(self) -> list[str]:
        """The lanes that have more than 0, 1, … elements; compared in lanes as wide as the elements."""
        code, counts, kind = self.group.writer.code, self.counts, "i64"
        if code.lanes > WORD:
            counts, kind = _narrowed(code, counts), "i32"
        vector = code.vector(kind)
        return [code.emit(f"icmp sgt {vector} {counts}, {code.splat(kind, str(number))}") for number in range(FEWEST)]

    def _inside(self) -> str:
        """Whether these begin soon behind the first one, and so that `FEWEST` elements from there are in all arrays: an i1."""
        group, scalar, view = self.group, self.group.routine.code, self.group.memory.view
        bound = group.segment.bounds[0]
        least = view.extent(Extent(bound.variable, bound.offset - 1))
        for array in self._beside:
            least = group.routine.least(least, view.extent(array.shape[0]))
        farthest = FARTHEST if self._chain is None else (group.lanes - 1) * FEWEST
        last = scalar.emit(f"icmp sle i64 {self.first}, {scalar.emit(f'sub i64 {least}, {farthest + FEWEST}')}")
        first = scalar.emit(f"icmp sge i64 {self.first}, 0") if self._chain else self._none(self._behind, -FARTHEST)
        return scalar.emit(f"and i1 {first}, {last}")

    def finish_before(self, *, in_one_row: bool = False) -> None:
        """What stands before the elements and depends on where segments begin; the scans go on. `in_one_row`: nobody asks for
        `begins` and `ends` one by one."""
        group, chain, scalar = self.group, self._chain, self.group.routine.code
        picking = bool(self._beside) and all(picks(array.element, group.lanes) for array in self._beside)
        if chain is not None and host().processor.has_avx512 and (picking or in_one_row):
            self.lanes = self._place_in_lanes()
        else:
            self._place_each()
        start = Near(self._starts, {array: self._loaded(array) for array in self._beside})
        if chain is None:
            self.made[group.segment.outs[0].name] = start
            self._scans.end()
            return
        code, streams = group.writer.code, Streams(group.memory, self.made)
        end = Lanes(code.emit(f"add {code.type(I64)} {self._starts}, {self.counts}"), I64)
        found = (start, end, Lanes(self.counts, I64))
        streams.bind(chain.step.before, found[:1])
        statements = group.statements(self.made, self._scans.step)
        for statement in group.loop.body.before[group.loop.body.before.index(chain.step) + 1 :]:
            if statement == group.segment:
                streams.bind(group.segment.outs, found)
            elif statement not in chain.again:
                statements.masked(statement, None)
            else:
                streams.bind(flow.made(statement), [found[1 if statement is chain.again[0] else 2]])
        record, pointer = group.records[chain.step.state]
        group.routine.store("i64", "1", pointer)
        record.store(group.routine, [scalar.emit(f"add i64 {self.first}, {self.count}")], pointer, 1)

    def _place_in_lanes(self) -> InLanes:
        """Where each begins and ends, by a scan of the lanes."""
        group, half = self.group, self.group.lanes // 2
        code, scalar, narrow = group.writer.code, group.routine.code, group.writer.code.vector("i32")
        counts = _narrowed(code, self.counts)
        sums = Leaf(Operator.ADD, I32, constant(I32, 0)).scanned(code, counts)
        before = code.emit(f"sub {narrow} {sums}, {counts}")
        behind = code.emit(f"zext {narrow} {before} to {code.type(I64)}")
        self._starts = code.emit(f"add {code.type(I64)} {group.writer.splat(self.first, 'i64')}, {behind}")
        found = [
            scalar.emit(f"extractelement {narrow} {text}, i64 {at}")
            for text, at in ((before, half), (sums, group.lanes - 1))
        ]
        self._second, self.count = (scalar.emit(f"zext i32 {each} to i64") for each in found)
        if self._beside:
            self._together = self._are_picked_together()
        return InLanes(counts, before, sums)

    def _are_picked_together(self) -> str:
        """Whether two registers have what all segments have, and mostly had of late: an i1. What is now and then so, now and
        then not, processors would foresee wrongly, which takes longer than it saves."""
        routine, code = self.group.routine, self.group.routine.code
        trust = routine.slot("i64")
        code.at_entry().line(f"store i64 {MOST_TRUST}, ptr {trust}")
        before, fit = routine.load("i64", trust), code.emit(f"icmp sle i64 {self.count}, {2 * self.group.lanes}")
        after = code.emit(f"add i64 {before}, {code.emit(f'select i1 {fit}, i64 1, i64 -{LOST_TRUST}')}")
        least = code.emit(f"icmp sgt i64 {after}, -{MOST_TRUST}")
        after = code.emit(f"select i1 {least}, i64 {after}, i64 -{MOST_TRUST}")
        routine.store("i64", routine.least(after, str(MOST_TRUST)), trust)
        # Of two conditions LLVM would make two branches, the first one that which nobody foresees.
        trusted = code.hidden(code.emit(f"select i1 {fit}, i64 {before}, i64 0"), "i64")
        return code.emit(f"icmp sgt i64 {trusted}, 0")

    def _picked(self, array: Array, before: str) -> list[str]:
        """What `_loaded` gives, picked from two registers where all segments were seen to have no more; else from two for each
        half of them."""
        routine, code, kind = self.group.routine, self.group.writer.code, array.element
        vector = code.vector(memory_type(kind))
        slots = [routine.slot(vector, align=64) for _ in range(FEWEST)]
        all_, halves, after = (routine.label() for _ in range(3))
        routine.branch(self._together, all_, halves)
        for label in (all_, halves):
            routine.place(label)
            found = self._picked_from_one(array, before) if label == all_ else self._picked_from_halves(array, before)
            for text, slot in zip(found, slots, strict=True):
                routine.store(vector, text, slot)
            routine.jump(after)
        routine.place(after)
        return [routine.load(vector, slot) for slot in slots]

    def _picked_from_one(self, array: Array, before: str) -> list[str]:
        start = self.group.memory.address(array, [Uniform(self.first, I64)])
        return picked_from_one(self.group.writer.code, array.element, start, self._each_behind(before))

    def _each_behind(self, begins: str) -> list[str]:
        """Where the first elements of segments are that begin there: registers of i32."""
        code, narrow = self.group.writer.code, self.group.writer.code.vector("i32")
        return [begins, *(code.emit(f"add {narrow} {begins}, {code.splat('i32', str(k))}") for k in range(1, FEWEST))]

    def _picked_from_halves(self, array: Array, before: str) -> list[str]:
        group, half = self.group, self.group.lanes // 2
        code, narrow = group.writer.code, group.writer.code.vector("i32")
        order = ", ".join(f"i32 {half if lane >= half else group.lanes}" for lane in range(group.lanes))
        lanes = f"<{group.lanes} x i32> <{order}>"
        firsts = code.emit(f"shufflevector {narrow} {before}, {narrow} zeroinitializer, {lanes}")
        behind = code.emit(f"sub {narrow} {before}, {firsts}")
        bases = (self.first, group.routine.code.emit(f"add i64 {self.first}, {self._second}"))
        low, high = (group.memory.address(array, [Uniform(base, I64)]) for base in bases)
        # Of a constant mask LLVM would make a shuffle, which is one more for the only port that shuffles.
        bits = group.routine.code.at_entry().hidden(str((1 << half) - 1), f"i{group.lanes}")
        first_half = group.routine.enter(f"bitcast i{group.lanes} {bits} to {code.vector('i1')}")
        return picked(code, array.element, (low, high), self._each_behind(behind), first_half)

    def _place_each(self) -> None:
        """Where each begins and ends: here, where it is needed, since all at once are more than a processor has registers."""
        code, scalar, vector = self.group.writer.code, self.group.routine.code, self.group.writer.code.type(I64)
        each = self.group.each(self.counts if self._chain else self._behind)
        if not self._chain:
            last = scalar.emit(f"extractelement {vector} {self.counts}, i64 {code.lanes - 1}")
            self.begins, self.ends = each, [*each[1:], scalar.emit(f"add i64 {each[-1]}, {last}")]
            self.count = self.ends[-1]
            return
        self.ends = each[:1]
        for count in each[1:]:
            self.ends.append(scalar.emit(f"add i64 {self.ends[-1]}, {count}"))
        self.begins = ["0", *self.ends[:-1]]
        behind = "poison"
        for lane, begin in enumerate(self.begins):
            behind = code.emit(f"insertelement {vector} {behind}, i64 {begin}, i64 {lane}")
        self._starts = code.emit(f"add {vector} {self.group.writer.splat(self.first, 'i64')}, {behind}")
        self.count = self.ends[-1]

    def _loaded(self, array: Array) -> list[str]:
        """`FEWEST` elements of an array from where each segment begins: for each a register, one lane for each segment."""
        if self.lanes is not None:
            return self._picked(array, self.lanes.begins)
        code, kind = self.group.writer.code, array.element
        pieces = max(1, FEWEST * kind.bytes // PIECE)
        width = FEWEST // pieces
        found: list[str] = []
        for piece in range(pieces):
            place = self.group.routine.code.emit(f"add i64 {self.first}, {piece * width}")
            address = self.group.memory.address(array, [Uniform(place, I64)])
            rows = [code.emit(f"getelementptr {memory_type(kind)}, ptr {address}, i64 {each}") for each in self.begins]
            found += transposed_rows(code, kind, rows, width)
        return found

    def ask_ahead(self, made: Mapping[str, Value]) -> None:
        """Asks for what groups further on read: memory brings it too late by itself, since each group takes a few at a time."""
        group, code = self.group, self.group.routine.code
        for statement in (*group.loop.body.before, *group.inner.body.before):
            if not isinstance(statement, Read) or len(statement.index) != 1:
                continue
            (place,) = Streams(group.memory, dict(made)).values(statement.index)
            if not isinstance(place, Progression | Near):
                continue
            base = place.base if isinstance(place, Progression) else self.first
            size = statement.array.element.bytes
            for line in range(max(1, group.lanes * size // LINE)):
                ahead = code.emit(f"add i64 {base}, {(AHEAD + line * LINE) // size}")
                group.memory.ask_ahead(statement.array, [Uniform(ahead, I64)])


def _narrowed(code: Code, text: str) -> str:
    """The lower halves of i64 lanes, as i32: even words, which one instruction picks from two registers."""
    words = f"<{2 * code.lanes} x i32>"
    order = ", ".join(f"i32 {2 * lane}" for lane in range(code.lanes))
    halves = code.emit(f"bitcast {code.type(I64)} {text} to {words}")
    return code.emit(f"shufflevector {words} {halves}, {words} poison, <{code.lanes} x i32> <{order}>")
