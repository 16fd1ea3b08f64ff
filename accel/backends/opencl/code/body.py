"""The statements and loops of a nest in C, as one work-item runs them.

In: levels of a nest. Out: lines in a `Writer`. How states begin, step and end is asked of `Accumulator`s, so that the kernels
of a schedule differ in little more than which loops they open themselves and which statements they leave out (`only`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from itertools import groupby
from typing import assert_never

from accel.backends.opencl.code.atomics import combine_atomically
from accel.backends.opencl.code.functions import Context, inline
from accel.backends.opencl.code.naming import element, index_text, linear_index, operand_text, stream_name
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.states import Accumulator, Machine, StateType, leaf_names, struct
from accel.backends.opencl.code.writer import Writer
from accel.backends.sites import EmptySite, IndexSite
from accel.ir.flow import made
from accel.ir.nodes import (
    For,
    Guard,
    Level,
    LoopBody,
    LoopDirection,
    ManyToOne,
    OneToMaybe,
    OneToOne,
    Operand,
    Read,
    Remap,
    Scatter,
    State,
    Stream,
    Within,
    Write,
)
from accel.ir.positions import needed_inside
from accel.ir.slices import holds_any
from accel.labelled.array import Array
from accel.support.dataclass import dataclass


@dataclass(slots=True)
class Body:
    """Writes parts of one kernel.

    `types`: the C side of every state, by name. `only`: the statements to write, by identity; None is all. `stores`: whether
    memory is written. `atomic`: work-items share the destinations of scatters. `near`: what holds the element that is read or
    written of some arrays, instead of memory. `rows`: where in local memory the rows of some arrays begin, and how many
    dimensions they have themselves; the first ones are the row's own, and no others are visited. `copies`: arrays of which the
    group has copies in local memory, into which its scatters go, by their names. `suffix`: what tells its states from those of
    other bodies in the same block.
    """

    writer: Writer
    context: Context
    types: dict[str, StateType]
    only: frozenset[int] | None = None
    stores: bool = True
    atomic: bool = False
    near: Mapping[Array, str] = field(default_factory=dict)
    rows: Mapping[Array, tuple[str, int]] = field(default_factory=dict)
    copies: Mapping[Array, str] = field(default_factory=dict)
    suffix: str = ""
    accumulators: dict[str, Accumulator] = field(default_factory=dict)

    def level(self, level: Level) -> None:
        """Statements, the loop, statements."""
        self.statements(level.before)
        if level.loop is not None:
            self.loop(level.loop)
        self.statements(level.after)

    def loop(self, loop: For) -> None:
        """The loop in sequence, its states around it, if something in it is to be written. Loops nest as deep as arrays have
        dimensions."""
        if self.only is not None and not holds_any(loop, self.only):
            return
        states = [state for state in loop.states if self.wants(state)]
        for state in states:
            self.accumulator(state).begin(self.writer, self.seed(state))
        with self.writer.block(_head(loop, self.context.bounded)):
            self.level(loop.body)
        for state in states:
            self.end(state)

    def wants(self, part: State | LoopBody | None) -> bool:
        """Whether a statement or state is among those to write."""
        return part is not None and (self.only is None or id(part) in self.only)

    # States.

    def seed(self, state: State) -> str | None:
        """A new variable with the state's seed; None without one."""
        if state.initial is None:
            return None
        return struct(self.writer, self.types[state.name].name, [operand_text(leaf) for leaf in state.initial])

    def accumulator(self, state: State, machine: Machine | None = None, after: str | None = None) -> Accumulator:
        """A new accumulator for the state, on its own machine unless told; to be begun or resumed. `after`: see there."""
        variable = f"s_{stream_name(state.finals[0])}{self.suffix}"
        accumulator = Accumulator(self.types[state.name], variable, self.context, machine, after)
        self.accumulators[state.name] = accumulator
        return accumulator

    def end(self, state: State) -> None:
        """Bind the state's finals after its loop; without seed and elements they do not exist."""
        accumulator = self.accumulators[state.name]
        seed = self.seed(state) if state.initial is not None else None
        if seed is None and not state.running:
            self.require(state, accumulator.counted)
        self.bind(state.finals, accumulator.total(self.writer, seed))

    def require(self, state: State, some: str) -> None:
        """The check of a fold without a seed: that there was an element, where the state exists at all."""
        exists = "" if state.when is None else f"{stream_name(state.when)} && "
        with self.writer.block(f"if ({exists}!{some})"):
            self.context.fail(self.writer, [], EmptySite(state))

    def bind(self, streams: Sequence[Stream], value: str) -> None:
        """Streams for the leaves of a value of a state's struct."""
        for stream, leaf in zip(streams, leaf_names(value, len(streams)), strict=True):
            self.writer.line(f"{c_type(stream.type)} {stream_name(stream)} = {leaf};")

    # Statements.

    def statements(self, statements: Sequence[LoopBody]) -> None:
        """Statements in order; neighbours under one guard share an `if`."""
        wanted = [statement for statement in statements if self.wants(statement)]
        for guard, group in groupby(wanted, key=lambda statement: statement.when):
            self._guarded(guard, list(group))

    def _guarded(self, guard: Guard, group: list[LoopBody]) -> None:
        if guard is None:
            for statement in group:
                for stream in made(statement):
                    self._declare(stream)
                self._before(statement)
                self._statement(statement)
            return
        for statement in group:
            for stream in made(statement):
                self._declare(stream)
        # What a state was before is also there where no step is made; steps of the group must not come between.
        steps = [statement for statement in group if isinstance(statement, ManyToOne) and statement.before]
        if steps and len(group) > 1:
            for statement in group:
                self._before(statement)
                with self.writer.block(f"if ({stream_name(guard)})"):
                    self._statement(statement)
            return
        for statement in steps:
            self._before(statement)
        with self.writer.block(f"if ({stream_name(guard)})"):
            for statement in group:
                self._statement(statement)

    def _declare(self, stream: Stream) -> None:
        self.writer.line(f"{c_type(stream.type)} {stream_name(stream)} = 0;")

    def _before(self, statement: LoopBody) -> None:
        if isinstance(statement, ManyToOne) and statement.before:
            running = self.accumulators[statement.state].running
            self._assign(statement.before, leaf_names(running, len(statement.before)))

    def _assign(self, streams: Sequence[Stream], values: Sequence[str]) -> None:
        for stream, value in zip(streams, values, strict=True):
            self.writer.line(f"{stream_name(stream)} = {value};")

    def _statement(self, statement: LoopBody) -> None:
        writer = self.writer
        match statement:
            case OneToOne(outs, function, arguments):
                self._assign(outs, inline(function, [operand_text(a) for a in arguments], writer, self.context))
            case OneToMaybe() | Within():
                texts = [operand_text(a) for a in statement.arguments]
                self._assign([statement.out], inline(statement.function, texts, writer, self.context))
            case ManyToOne():
                self._step(statement)
            case Remap(outs, arguments, bounds, _, where, segment):
                index = [index_text(argument) for argument in arguments]
                inside = self.context.checked(writer, index, IndexSite(bounds, where, segment))
                self._assign(outs, [f"{inside} ? {text} : 0" for text in index])
            case Read(out, array, index):
                self._assign([out], [self._element(array, index)])
            case Write():
                if self.stores:
                    target = self._element(statement.array, statement.index)
                    writer.line(f"{target} = {operand_text(statement.value)};")
            case Scatter():
                self._scatter(statement)
            case _:
                assert_never(statement)

    def _element(self, array: Array, index: Sequence[Operand]) -> str:
        if array in self.near:
            return self.near[array]
        texts = [index_text(each) for each in index]
        if array in self.rows:
            begin, rank = self.rows[array]
            first = len(texts) - rank
            return f"{begin}[{linear_index(array.shape[first:], texts[first:])}]"
        return element(array, texts)

    def _step(self, statement: ManyToOne) -> None:
        accumulator = self.accumulators[statement.state]
        value = struct(self.writer, accumulator.made.element, [operand_text(value) for value in statement.values])
        accumulator.step(self.writer, value)
        self._assign(statement.after, leaf_names(accumulator.running, len(statement.after)))

    def _scatter(self, statement: Scatter) -> None:
        index = [index_text(each) for each in statement.index]
        site = IndexSite(statement.arrays[0].shape, statement.where)
        inside = self.context.checked(self.writer, index, site)
        if not self.stores:
            return
        values = [operand_text(value) for value in statement.values]
        copied = [self.copies[array] for array in statement.arrays if array in self.copies]
        if copied:
            with self.writer.block(f"if ({inside})"):
                places = [f"{copy}[{linear_index(statement.arrays[0].shape, index)}]" for copy in copied]
                combine_atomically(statement, places, values, self.writer, self.context, "__local")
            return
        places = [element(array, index) for array in statement.arrays]
        with self.writer.block(f"if ({inside})"):
            if self.atomic:
                combine_atomically(statement, places, values, self.writer, self.context)
                return
            combined = inline(statement.combine, [*values, *places], self.writer, self.context)
            # All leaves are read before the first is written.
            fresh = []
            for array, value in zip(statement.arrays, combined, strict=True):
                fresh.append(self.writer.fresh("new"))
                self.writer.line(f"{c_type(array.element)} {fresh[-1]} = {value};")
            for place, value in zip(places, fresh, strict=True):
                self.writer.line(f"{place} = {value};")


def _head(loop: For, bounded: Collection[Stream]) -> str:
    """`bounded`: streams that are no longer than some extent."""
    index, extent = stream_name(loop.index), index_text(loop.extent)
    kind = "position_t"
    if isinstance(loop.extent, Stream):
        kind, extent = (kind, f"({kind}){extent}") if loop.extent in bounded else ("long", extent)
    for inner in needed_inside(loop):
        extent = f"({index_text(inner.extent)} == 0 ? 0 : {extent})"
    if loop.direction is LoopDirection.UP:
        return f"for ({kind} {index} = 0; {index} < {extent}; ++{index})"
    return f"for ({kind} {index} = {extent} - 1; {index} >= 0; --{index})"
