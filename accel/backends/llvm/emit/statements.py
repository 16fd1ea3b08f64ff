"""Writes the statements of a level: in scalar code under branches, in vector code under masks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import TypeAlias, assert_never

from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.past_caches import RowStores
from accel.backends.llvm.emit.values import Fixed, Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.text.code import memory_type, register_type
from accel.backends.sites import IndexSite
from accel.errors import AccelInternalError
from accel.ir.flow import made
from accel.ir.nodes import (
    Guard,
    LoopBody,
    ManyToOne,
    OneToMaybe,
    OneToOne,
    Operand,
    Read,
    Remap,
    Scatter,
    Stream,
    Within,
    Write,
)
from accel.labelled.array import Array, Extent
from accel.labelled.scalar import Constant, constant

Step: TypeAlias = Callable[[ManyToOne, Sequence[Value], "str | None"], tuple[Sequence[Value], Sequence[Value]]]
"""Makes a step of a state with the values, where the mask is set; gives what the state was before and is after."""

TRUE = Fixed(constant(BOOL, True))


class Streams:
    """The streams in scope, and what operands of the nest are as values."""

    def __init__(self, memory: Memory, made: dict[str, Value]) -> None:
        self._memory = memory
        self.made = made

    def value(self, operand: Operand) -> Value:
        """The operand's value; a stream of an outer function is read from the frame."""
        match operand:
            case Stream(name, kind):
                if name not in self.made:
                    self.made[name] = Uniform(self._memory.view.stream(operand), kind)
                return self.made[name]
            case Constant():
                return Fixed(operand)
            case Extent():
                return self._memory.extent(operand)
            case _:
                assert_never(operand)

    def values(self, operands: Sequence[Operand]) -> list[Value]:
        """The operands' values."""
        return [self.value(operand) for operand in operands]

    def bind(self, streams: Sequence[Stream], values: Sequence[Value]) -> None:
        """Names values."""
        for stream, value in zip(streams, values, strict=True):
            self.made[stream.name] = value


class Statements:
    """Writes statements into one function. `step` knows how states are carried there."""

    def __init__(
        self,
        writer: Writer,
        memory: Memory,
        streams: Streams,
        step: Step,
        stores: Mapping[Array, RowStores] | None = None,
        *,
        branches: bool = False,
    ) -> None:
        """`stores`: for arrays that are written in rows, how these are stored. `branches`: of functions."""
        self._stores = stores or {}
        self._writer = writer
        self._memory = memory
        self._functions = Functions(writer, memory, branches=branches)
        self._streams = streams
        self._step = step

    # Vector code.

    def masked(self, statement: LoopBody, lanes: str | None) -> None:
        """The statement in all lanes of the mask `lanes` (None: all) where its guard holds."""
        guard = self._mask(statement.when)
        mask = self._writer.both(lanes, guard)
        match statement:
            case OneToMaybe(out) | Within(out):
                (kept,) = self._made(statement, mask)
                if guard is not None:
                    kept = self._writer.varying(self._writer.both(guard, self._writer.every(kept)) or "", BOOL)
                self._streams.bind((out,), [kept])
            case ManyToOne(before=before, after=after):
                earlier, later = self._step(statement, self._streams.values(statement.values), mask)
                # Loops give what costs nothing, statements name what is read.
                self._streams.bind(before, earlier if before else ())
                self._streams.bind(after, later if after else ())
            case OneToOne(outs=outs) | Remap(outs=outs):
                self._streams.bind(outs, self._made(statement, mask))
            case Read(out=out):
                self._streams.bind((out,), self._made(statement, mask))
            case Write():
                self._made(statement, mask)
            case Scatter():
                self._scatter_lanes(statement, mask)
            case _:
                assert_never(statement)

    def _mask(self, guard: Guard) -> str | None:
        if guard is None:
            return None
        value = self._streams.value(guard)
        return None if value == TRUE else self._writer.every(value)

    # Scalar code.

    def branching(self, statement: LoopBody) -> None:
        """The statement where its guard holds; what it makes is anything elsewhere, a new guard is false there."""
        routine = self._memory.routine
        guard = None if statement.when is None else self._streams.value(statement.when)
        if isinstance(statement, ManyToOne):
            self._branching_step(statement, guard)
            return
        outs = made(statement)
        if guard is None:
            self._streams.bind(outs, self._made(statement, None))
            return
        slots = [routine.slot(register_type(out.type)) for out in outs]
        for slot, out in zip(slots, outs, strict=True):
            # Anything, but never undefined.
            routine.store(register_type(out.type), "zeroinitializer", slot)
        with routine.when(self._writer.one(guard)):
            for slot, value in zip(slots, self._made(statement, None), strict=True):
                routine.store(register_type(value.type), self._writer.one(value), slot)
        self._streams.bind(
            outs,
            [Uniform(routine.load(register_type(o.type), s), o.type) for o, s in zip(outs, slots, strict=True)],
        )

    def _branching_step(self, statement: ManyToOne, guard: Value | None) -> None:
        mask = None if guard is None else self._writer.one(guard)
        before, after = self._step(statement, self._streams.values(statement.values), mask)
        self._streams.bind(statement.before, before)
        self._streams.bind(statement.after, after)

    # Both.

    def _made(self, statement: LoopBody, mask: str | None) -> list[Value]:
        """What the statement makes, where the mask is set."""
        streams, memory = self._streams, self._memory
        match statement:
            case OneToOne() | OneToMaybe() | Within():
                return self._functions.apply(statement.function, streams.values(statement.arguments), mask)
            case Remap(_, arguments, bounds, _, where, segment):
                index = streams.values(arguments)
                site = IndexSite(bounds, where, segment)
                memory.check(index, mask, site, lambda: streams.values(site.more))
                return index
            case Read(_, array, index):
                return [memory.read(array, streams.values(index), mask)]
            case Write(array, index, value):
                memory.write(array, streams.values(index), streams.value(value), mask, self._stores.get(array))
                return []
            case Scatter():
                self._scatter(statement, self._functions, memory, streams.values([*statement.index, *statement.values]))
                return []
            case ManyToOne():
                raise AccelInternalError("steps are made by the loop that carries the state")
            case _:
                assert_never(statement)

    @staticmethod
    def _scatter(statement: Scatter, functions: Functions, memory: Memory, values: Sequence[Value]) -> None:
        """In scalar code. `values`: the target's index, then what is combined with what stands there."""
        index, new = values[: len(statement.index)], values[len(statement.index) :]
        memory.check(index, None, IndexSite(statement.arrays[0].shape, statement.where))
        old = [memory.read(array, index, None) for array in statement.arrays]
        combined = functions.apply(statement.combine, [*new, *old], None)
        for array, value in zip(statement.arrays, combined, strict=True):
            memory.write(array, index, value, None)

    def _scatter_lanes(self, statement: Scatter, mask: str | None) -> None:
        """One lane after the other, from the stack: several may go to one place."""
        writer, routine = self._writer, self._memory.routine
        one = Writer(routine.code, 1)
        memory = self._memory.with_writer(one)
        functions = Functions(one, memory)
        values = self._streams.values([*statement.index, *statement.values])
        slots = [None if writer.is_uniform(value) else self._stored(value) for value in values]
        active = None if mask is None else self._stored(writer.varying(mask, BOOL))
        with routine.count("0", str(writer.lanes)) as lane:
            is_active = None
            if active is not None:
                is_active = memory.load_vector(BOOL, self._lane(BOOL, active, lane), None)
            with nullcontext() if is_active is None else routine.when(one.one(is_active)):
                each = [
                    value if slot is None else memory.load_vector(value.type, self._lane(value.type, slot, lane), None)
                    for value, slot in zip(values, slots, strict=True)
                ]
                self._scatter(statement, functions, memory, each)

    def _stored(self, value: Value) -> str:
        """Where the lanes of a value stand on the stack."""
        slot = self._memory.routine.slot(f"[{self._writer.lanes} x {memory_type(value.type)}]", align=64)
        self._memory.store_vector(value.type, value, slot, None)
        return slot

    def _lane(self, kind: ScalarType, slot: str, lane: str) -> str:
        return self._memory.routine.code.emit(f"getelementptr {memory_type(kind)}, ptr {slot}, i64 {lane}")
