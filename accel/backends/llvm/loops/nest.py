"""One nest as LLVM functions: levels and loops in scalar code around an innermost loop that may be in vectors.

`@<name>_body(frame, records, low, high)` runs some iterations of the outermost loop, in order. What calls it is in
`schedule.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence, Set
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from accel.ast.tree.types import I64
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.statements import Statements, Streams
from accel.backends.llvm.emit.values import Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.loops.durations import duration
from accel.backends.llvm.loops.extremes import TOGETHER, ExtremeLoop, Extremes, extremes
from accel.backends.llvm.loops.lines import rows as lines
from accel.backends.llvm.loops.put_off import put_off
from accel.backends.llvm.loops.searches import SearchLoop, search
from accel.backends.llvm.loops.steps import Part, Steps, iterations
from accel.backends.llvm.loops.targets import Turns, taken_in_turns
from accel.backends.llvm.loops.vectors.loop import VectorLoop
from accel.backends.llvm.states.analysis import NestPlan, VectorPlan
from accel.backends.llvm.states.records import Record
from accel.backends.llvm.states.segments import few
from accel.backends.llvm.states.segments.between_short import between_short
from accel.backends.llvm.states.staging import tile_routine
from accel.backends.llvm.text.frame import Frame, FrameView
from accel.backends.llvm.text.late import Late
from accel.backends.llvm.text.routine import Routine
from accel.backends.sites import EmptySite, Site
from accel.ir import mentions
from accel.ir.nodes import For, LoopBody, LoopDirection, ManyToOne, Nest, State
from accel.ir.positions import needed_inside
from accel.labelled.array import Array, Extent
from accel.labelled.scalars.ranges import Linear
from accel.schedule.nodes import Accumulation
from accel.schedule.splitting.bounds import Bound


class NestText:
    """What the functions of one nest have in common."""

    def __init__(
        self,
        name: str,
        nest: Nest,
        plan: NestPlan,
        sites: list[Site] | None,
        frame: Frame | None = None,
        read: Set[Array] = frozenset(),
        bounds: Sequence[Bound] = (),
    ) -> None:
        """`sites` collects the checks of the recording form; None for the fast form. `frame`: that of a nest of which this
        one is a part. `read`: arrays that the program reads itself. `bounds`: what to check before it runs."""
        self.name = name
        self.nest = nest
        self.visited = plan.schedule.visited
        self.plan = plan
        self.sites = sites
        self.read = read
        self.bounds = bounds
        self.duration = duration(nest, plan)
        self.frame = frame or Frame(nest)
        self.routines: list[Routine] = []
        self.late: list[Late] = []
        self.put_off = put_off(nest) if sites is None and plan.vector is not None else None
        self.records = {
            state.name: Record(f"{name}_{number}", state, plan.kinds[state.name], self.frame, sites)
            for number, state in enumerate(mentions.states(nest))
        }

    def add_records(self) -> None:
        """The functions of all records."""
        for record in self.records.values():
            self.routines += record.functions()
            if record.kind is Accumulation.STAGED:
                self.routines.append(tile_routine(record))


class Levels:
    """Writes levels of a nest into one function, in scalar code."""

    def __init__(self, text: NestText, routine: Routine, leave: str) -> None:
        """`leave` is the instruction that leaves the function when a check failed."""
        self._text = text
        self.routine = routine
        self.view = FrameView(routine, text.frame)
        self.writer = Writer(routine.code, 1)
        self.memory = Memory(self.view, self.writer, leave, text.sites)
        self.streams = Streams(self.memory, {})
        self.functions = Functions(self.writer, self.memory)
        self._statements = Statements(self.writer, self.memory, self.streams, self._step)
        self.steps = Steps(self.memory, iterations(text.duration))
        self.pointers: dict[str, str] = {}
        """Where the records of the states in scope are."""

    def statements(self, statements: Sequence[LoopBody]) -> None:
        """Statements between loops."""
        for statement in statements:
            self._statements.branching(statement)

    def out_of_bounds(self) -> str:
        """Whether what the nest reads at the indices of loops is not there: an i1."""
        code, found = self.routine.code, "false"
        for bound in self._text.bounds:
            less, more = self._linear(bound.less), self._linear(bound.more)
            outside = code.emit(f"icmp sgt i64 {less}, {more}")
            for extent in self.streams.values(bound.around):
                some = code.emit(f"icmp sgt i64 {self.writer.one(extent)}, 0")
                outside = code.emit(f"and i1 {outside}, {some}")
            found = code.emit(f"or i1 {found}, {outside}")
        return found

    def _linear(self, number: Linear) -> str:
        """A sum of sizes, which is not negative and does not overflow."""
        code, found = self.routine.code, str(number.constant)
        for size, times in sorted(number.terms):
            value = self.writer.one(self.streams.value(Extent(size, 0)))
            found = code.emit(f"add i64 {found}, {code.emit(f'mul i64 {value}, {times}')}")
        return found

    def own_extent(self, loop: For) -> str:
        """The loop's extent, whatever stands inside."""
        return self.writer.one(self.streams.value(loop.extent))

    def extent(self, loop: For) -> str:
        """The loop's extent; 0 if what it needs inside has no iterations."""
        code, extent = self.routine.code, self.own_extent(loop)
        for inner in needed_inside(loop):
            empty = code.emit(f"icmp eq i64 {self.own_extent(inner)}, 0")
            extent = code.emit(f"select i1 {empty}, i64 0, i64 {extent}")
        return extent

    def _step(
        self, statement: ManyToOne, values: Sequence[Value], guard: str | None
    ) -> tuple[Sequence[Value], Sequence[Value]]:
        record, pointer = self._text.records[statement.state], self.pointers[statement.state]
        before = record.current(self.routine, pointer) if statement.before else ()
        leaves = [self.writer.one(value) for value in values]
        if guard is None:
            record.step(self.routine, pointer, leaves)
        else:
            with self.routine.when(guard):
                record.step(self.routine, pointer, leaves)
        after = record.current(self.routine, pointer) if statement.after else ()
        return before, after

    def initial(self, state: State) -> list[Value] | None:
        """The initial value of a state."""
        return None if state.initial is None else self.streams.values(state.initial)

    def reset(self, state: State, pointer: str) -> None:
        """An empty record at `pointer`, in scope from here on."""
        initial = self.initial(state)
        leaves = None if initial is None else [self.writer.one(value) for value in initial]
        self._text.records[state.name].reset(self.routine, pointer, leaves)
        self.pointers[state.name] = pointer

    def loop(self, loop: For, low: str, high: str, extent: str, steps: Steps | None = None) -> None:
        """Iterations low .. high-1 in the order in which the loop runs; the records of its states are in scope. `steps`: in
        which a row in vectors runs."""
        plan = self._text.plan.vector
        if plan is not None and loop.body.loop is None:
            self.in_vectors(loop, plan, low, high, extent, steps)
        else:
            self._in_sequence(loop, low, high, extent)

    def in_vectors(
        self, loop: For, plan: VectorPlan, low: str, high: str, extent: str, steps: Steps | None = None
    ) -> None:
        """Iterations low .. high-1 of an innermost loop, several at once; before them what they share."""
        if self._text.sites is None and (found := search(loop)) is not None:
            record, pointer = self._text.records[found.state], self.pointers[found.state]
            SearchLoop(self.memory, self.streams, loop, found, record, pointer).write(low, high)
            return
        if self._text.sites is None and (sought := extremes(self._text.nest, loop)) is not None:
            self._in_turn(loop, sought, plan, (low, high, extent), steps)
            return
        if (shared := self._text.plan.schedule.shared) is not None:
            lines.write(shared, loop, plan, self.memory, self.functions, self.streams)
            return
        self._vectors(loop, plan, steps=steps).write(low, high, extent)

    def _in_turn(
        self, loop: For, sought: Extremes, plan: VectorPlan, part: tuple[str, str, str], steps: Steps | None
    ) -> None:
        """Iterations of a loop that looks for extremes, and folds otherwise as well; of one extreme alone all at once."""
        low, high, extent = part
        alone = sought.rest is None and len(sought.found) == 1
        with nullcontext(low) if alone else self.routine.count(low, high, TOGETHER) as start:
            end = high if alone else self.routine.least(self.routine.code.emit(f"add i64 {start}, {TOGETHER}"), high)
            kept = {state.name: (self._text.records[state.name], self.pointers[state.name]) for state in loop.states}

            def fold(part: For) -> None:
                self._vectors(part, plan).write(start, end, extent)

            for each in sought.found:
                ExtremeLoop(self.memory, self.streams, loop, each, kept, steps if alone else None).write(
                    start, end, fold
                )
            if sought.rest is not None:
                fold(sought.rest)
            if steps is not None and not alone:
                steps.between_blocks(start, TOGETHER)

    @contextmanager
    def parts(self, loop: For) -> Iterator[Part]:
        """Around the writing of one part of a loop, as `loop` does, that runs again and again, with other streams around it:
        what vectors accumulate stays in registers from one run to the next."""
        plan = self._text.plan.vector
        if plan is None or loop.body.loop is not None:
            yield partial(self._in_sequence, loop)
            return
        with self._vectors(loop, plan, _stepped(loop)).runs() as part:
            yield part

    def _vectors(
        self, loop: For, plan: VectorPlan, carried: Collection[str] = (), steps: Steps | None = None
    ) -> VectorLoop:
        scope = {name: (self._text.records[name], pointer) for name, pointer in self.pointers.items()}
        return VectorLoop(loop, plan, self.memory, self.streams, scope, carried, steps)

    def _looks(self, loop: For) -> bool:
        """Whether a loop inside of another is a row in vectors that runs in steps by itself."""
        text = self._text
        if text.plan.vector is None or loop.body.loop is not None or text.plan.schedule.shared is not None:
            return False
        return text.sites is not None or search(loop) is None

    @contextmanager
    def _rows(self, inner: For | None) -> Iterator[Part | None]:
        """Around a loop whose every iteration runs the innermost loop `inner` as a row: how to write the row where folds of
        several dimensions go on from row to row; None for all other rows."""
        plan = self._text.plan.vector
        if plan is None or inner is None or inner.body.loop is not None:
            yield None
            return
        own = {state.name for state in inner.states}
        folds = [name for name in _stepped(inner) if name not in own and not self._text.records[name].state.running]
        if not folds:
            yield None
            return
        for state in inner.states:
            self.pointers[state.name] = self.routine.slot("i64", self._text.records[state.name].words)
        with self._vectors(inner, plan, folds, self.steps).runs() as row:
            yield row

    def _in_sequence(self, loop: For, low: str, high: str, extent: str) -> None:
        scatters = () if self._text.sites is not None else taken_in_turns(self._text.nest, loop)
        if not scatters:
            self._one_by_one(loop, low, high, extent)
            return
        self._in_turns(loop, Turns(self.memory, self._text.nest, scatters), low, high)

    def _in_turns(self, loop: For, turns: Turns, low: str, high: str) -> None:
        """The same, several iterations at a time: first all that they read, then each scatters into the next copy, if copies
        serve. For processors let loads wait for stores before them, whose addresses they do not know yet."""
        routine, code, position = self.routine, self.routine.code, self.routine.slot("i64")
        routine.store("i64", low, position)
        others = [each for each in (*loop.body.before, *loop.body.after) if each not in turns.scatters]
        with turns.copies(turns.serve(code.emit(f"sub i64 {high}, {low}"))) as copies:
            for together in (len(copies), 1):
                last, made = code.emit(f"sub i64 {high}, {together - 1}"), list[dict[str, Value]]()
                with routine.advance(position, last, together) as at:
                    for number in range(together):
                        index = code.emit(f"add i64 {at}, {number}")
                        self.streams.made[loop.index.name] = Uniform(index, I64)
                        self.statements(others)
                        made.append(dict(self.streams.made))
                    for streams, places in zip(made, copies, strict=False):
                        self.streams.made.update(streams)
                        with self.view.moved(places):
                            self.statements(turns.scatters)

    def _one_by_one(self, loop: For, low: str, high: str, extent: str) -> None:
        code, rows_down = self.routine.code, self._text.plan.rows_down and loop.body.loop is not None
        last = code.emit(f"sub i64 {code.emit(f'add i64 {low}, {high}')}, 1") if rows_down else None
        inner = loop.body.loop
        turns = self.routine.count(low, high)
        if self._text.plan.vector is not None and not rows_down and few.in_groups(loop):
            records = {state.name: (self._text.records[state.name], self.pointers[state.name]) for state in loop.states}
            turns = between_short(loop, low, high, self.memory, self.streams, records)
        with self._rows(inner) as row, turns as turn:
            index = turn
            if last is not None:
                index = code.emit(f"sub i64 {last}, {turn}")
            elif loop.direction is LoopDirection.DOWN:
                top = self.routine.code.emit(f"sub i64 {extent}, 1")
                index = self.routine.code.emit(f"sub i64 {top}, {turn}")
            self.streams.made[loop.index.name] = Uniform(index, I64)
            self.statements(loop.body.before)
            with self._unless_long(loop):
                if inner is not None:
                    self.inner(inner, row)
                self.statements(loop.body.after)

    def _unless_long(self, loop: For) -> AbstractContextManager[None]:
        """Around what follows the beginning of an iteration: it runs unless that is a segment that is put off."""
        found = self._text.put_off
        if found is None or loop != found.loop:
            return nullcontext()
        return found.unless_long(self.view, self.streams, self.writer, self.own_extent(found.inner))

    @contextmanager
    def in_slots(self, loop: For) -> Iterator[None]:
        """Scalar code inside steps simple states in slots, hence in registers; vector code has registers of its own.

        If it leaves the function, because a check failed, the records are not read.
        """
        outside = dict(self.pointers)
        scalar = self._text.plan.vector is None or loop.body.loop is not None
        held = [s.name for s in loop.states if scalar and self._text.plan.kinds[s.name] is Accumulation.VALUE]
        for name in held:
            record = self._text.records[name]
            self.pointers[name] = self.routine.slot("i64", record.words)
            record.copy(self.routine, outside[name], self.pointers[name])
        yield
        for name in held:
            self._text.records[name].copy(self.routine, self.pointers[name], outside[name])
        self.pointers.update(outside)

    def inner(self, loop: For, row: Part | None) -> None:
        """A loop inside of another, from its first iteration to its last; written by `row`, if there is one."""
        for state in loop.states:
            place = self.pointers[state.name] if row else self.routine.slot("i64", self._text.records[state.name].words)
            self.reset(state, place)
        write = row or partial(self.loop, loop, steps=self.steps)
        self.steps.run(loop, self.extent(loop), write, looks=self._looks(loop))
        self.finish(loop.states)

    def finish(self, states: Sequence[State]) -> None:
        """Binds the final values of states."""
        for state in states:
            self.streams.bind(state.finals, self._final(state))

    def _final(self, state: State) -> list[Value]:
        routine, record = self.routine, self._text.records[state.name]
        if state.running:
            return record.current(routine, self.pointers[state.name])
        total = record.collapse(routine, self.pointers[state.name])
        present = routine.code.emit(f"icmp ne i64 {routine.load('i64', total)}, 0")
        initial = self.initial(state)
        if initial is None:
            absent = routine.code.emit(f"xor i1 {present}, true")
            if state.when is not None:
                exists = self.writer.one(self.streams.value(state.when))
                absent = routine.code.emit(f"and i1 {absent}, {exists}")
            site = EmptySite(state)
            self.memory.fail_if(absent, [], site, lambda: self.streams.values(site.more))
            return record.load(routine, total, 1)
        slots = [routine.slot(type_) for type_ in record.types]
        for slot, type_, value in zip(slots, record.types, initial, strict=True):
            routine.store(type_, self.writer.one(value), slot)
        with routine.when(present):
            merged = self.functions.apply(state.merge, [*initial, *record.load(routine, total, 1)], None)
            for slot, type_, value in zip(slots, record.types, merged, strict=True):
                routine.store(type_, self.writer.one(value), slot)
        return [
            Uniform(routine.load(type_, slot), final.type)
            for slot, type_, final in zip(slots, record.types, state.finals, strict=True)
        ]

    def keep_streams(self) -> None:
        """Stores all streams made so far, for the functions that are called from here on."""
        for name, value in self.streams.made.items():
            self.view.keep(name, value.type, self.writer.one(value))


def _stepped(loop: For) -> list[str]:
    """The states that an innermost loop steps."""
    return [s.state for s in (*loop.body.before, *loop.body.after) if isinstance(s, ManyToOne)]


def body(text: NestText, loop: For, name: str) -> Routine:
    """`@<name>_body`: some iterations of a loop; streams of the levels around it are in the frame."""
    routine = Routine(f"void @{name}_body(ptr %frame, ptr %records, i64 %low, i64 %high)")
    levels = Levels(text, routine, "ret void")
    place_records(text, levels, loop, "%records")
    with levels.in_slots(loop):
        levels.loop(loop, "%low", "%high", levels.extent(loop))
    routine.code.line("ret void")
    levels.memory.close()
    return routine


def place_records(text: NestText, levels: Levels, loop: For, start: str) -> int:
    """Puts the records of a loop's states in scope, one after the other from `start` on; gives their words."""
    words = 0
    for state in loop.states:
        levels.pointers[state.name] = levels.routine.offset(start, words)
        words += text.records[state.name].words
    return words
