"""Copies of what a loop scatters into: how large, how they begin, how they join.

In: the scatters of a nest that any order serves (`accel/schedule/templates/copies.py`). Out: the code that fills copies with
what is neutral and combines them with the targets. Such a copy is for a thread (`templates/copies.py`) or for some iterations:
where the same target comes again and again, each combination waits for the one before, since the processor stores what it is to
load. So iterations take turns with several copies, if these are small, and filled and joined in little of the time.

With and without copies several iterations run at once, all of which read before the first one scatters: once a load has met a
store before it that was not done, processors let it wait for such stores, and keys are loaded after stores whose places are not
known yet. That took half of the time, and more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from accel.ast.tree.types import BOOL
from accel.backends.llvm.emit.functions import Functions
from accel.backends.llvm.emit.memory import Memory
from accel.backends.llvm.emit.values import Uniform, Value
from accel.backends.llvm.emit.writer import Writer
from accel.backends.llvm.states.analysis import WRITTEN_ONCE, iteration_work
from accel.backends.llvm.text.code import constant_text, memory_type
from accel.backends.llvm.text.frame import FrameView
from accel.backends.llvm.text.routine import WORD, Routine
from accel.ir.nodes import For, LoopDirection, Nest, Scatter
from accel.labelled.array import Array
from accel.schedule.legality import straight
from accel.schedule.templates.copies import copied_scatters, straight_scatters

TURNS = 4
"""Iterations that take turns: as many additions as a processor makes while it stores and loads one."""

FEW_BYTES = 8192
"""Of a copy that iterations take turns with: all of them stay in the first cache."""

FILLS = 64
"""How many iterations there must be for each element of a copy that they take turns with."""


def elements(view: FrameView, array: Array) -> str:
    """How many elements an array has: an i64."""
    count = "1"
    for extent in array.shape:
        count = view.routine.code.emit(f"mul i64 {count}, {view.extent(extent)}")
    return count


def lies_together(view: FrameView, array: Array) -> str:
    """Whether an array's elements follow each other without gaps: an i1."""
    code, whole, result = view.routine.code, str(array.element.bytes), "true"
    for dimension in range(len(array.shape) - 1, 0, -1):
        whole = code.emit(f"mul i64 {whole}, {view.extent(array.shape[dimension])}")
        same = code.emit(f"icmp eq i64 {view.stride(array, dimension - 1)}, {whole}")
        result = code.emit(f"and i1 {result}, {same}")
    return result


def fill(view: FrameView, scatters: Sequence[Scatter], places: Mapping[Array, str]) -> None:
    """A copy at `places` begins with what is neutral."""
    routine = view.routine
    for scatter in scatters:
        for array, element in zip(scatter.arrays, scatter.monoid.neutral or (), strict=True):
            with routine.count("0", elements(view, array)) as index:
                _store(routine, array, places[array], index, constant_text(element))


def join(memory: Memory, scatters: Sequence[Scatter], places: Mapping[Array, str]) -> None:
    """The targets take in the copy at `places`."""
    view, routine = memory.view, memory.routine
    functions = Functions(Writer(routine.code, 1), memory)
    for scatter in scatters:
        with routine.count("0", elements(view, scatter.arrays[0])) as index:
            new = [_load(routine, array, places[array], index) for array in scatter.arrays]
            old = [_load(routine, array, view.data(array), index) for array in scatter.arrays]
            combined = functions.apply(scatter.combine, [*new, *old], None)
            for array, value in zip(scatter.arrays, combined, strict=True):
                _store(routine, array, view.data(array), index, functions.one(value))


def _load(routine: Routine, array: Array, start: str, index: str) -> Value:
    type_ = memory_type(array.element)
    text = routine.load(type_, routine.code.emit(f"getelementptr {type_}, ptr {start}, i64 {index}"))
    return Uniform(routine.code.emit(f"icmp ne i8 {text}, 0") if array.element is BOOL else text, array.element)


def _store(routine: Routine, array: Array, start: str, index: str, value: str) -> None:
    type_, code = memory_type(array.element), routine.code
    text = code.emit(f"zext i1 {value} to i8") if array.element is BOOL else value
    routine.store(type_, text, code.emit(f"getelementptr {type_}, ptr {start}, i64 {index}"))


def taken_in_turns(nest: Nest, loop: For) -> Sequence[Scatter]:
    """The scatters of an innermost loop, if several of its iterations may read before the first of them scatters."""
    scatters = [s for s in (*loop.body.before, *loop.body.after) if isinstance(s, Scatter)]
    if (
        not scatters
        or loop.body.loop is not None
        or loop.direction is not LoopDirection.UP
        or iteration_work(nest) > WRITTEN_ONCE
    ):
        return ()
    serves = list(straight_scatters(nest)) == scatters and all(straight(scatter.combine) for scatter in scatters)
    return scatters if serves else ()


class Turns:
    """Iterations of a loop that take turns with the targets and some copies of them, on the stack, if any order serves."""

    def __init__(self, memory: Memory, nest: Nest, scatters: Sequence[Scatter]) -> None:
        self._memory, self.scatters, self._view = memory, scatters, memory.view
        self._arrays = [array for scatter in scatters for array in scatter.arrays]
        words = FEW_BYTES // WORD + len(self._arrays)
        in_any_order = list(copied_scatters(nest)) == scatters
        self._copies = [memory.routine.slot("i64", words, align=64) for _ in range(TURNS - 1) if in_any_order]

    def serve(self, count: str) -> str:
        """Whether copies are worth it for so many iterations, and have room: an i1."""
        code, whole, result = self._view.routine.code, "0", "true"
        if not self._copies:
            return "false"
        for array in self._arrays:
            number = elements(self._view, array)
            enough = code.emit(f"icmp sge i64 {count}, {code.emit(f'mul i64 {number}, {FILLS}')}")
            size = code.emit(f"mul i64 {number}, {array.element.bytes}")
            whole = code.emit(f"add i64 {whole}, {size}")
            both = code.emit(f"and i1 {enough}, {lies_together(self._view, array)}")
            result = code.emit(f"and i1 {result}, {both}")
        return code.emit(f"and i1 {result}, {code.emit(f'icmp sle i64 {whole}, {FEW_BYTES}')}")

    def _places(self, copy: str) -> Mapping[Array, str]:
        """Where the arrays stand in a copy, each from a word on."""
        code, places, start = self._view.routine.code, {}, "0"
        for array in self._arrays:
            places[array] = code.emit(f"getelementptr i8, ptr {copy}, i64 {start}")
            size = code.emit(f"mul i64 {elements(self._view, array)}, {array.element.bytes}")
            words = code.emit(f"and i64 {code.emit(f'add i64 {size}, {WORD - 1}')}, {-WORD}")
            start = code.emit(f"add i64 {start}, {words}")
        return places

    @contextmanager
    def copies(self, serve: str) -> Iterator[Sequence[Mapping[Array, str]]]:
        """Around the iterations: what the arrays are for each that takes its turn, the targets themselves first, and for all
        if copies do not `serve`."""
        if not self._copies:
            yield [{}] * TURNS
            return
        code, made = self._view.routine.code, [self._places(copy) for copy in self._copies]
        with self._view.routine.when(serve):
            for places in made:
                fill(self._view, self.scatters, places)
        turns: list[dict[Array, str]] = [{}]
        for copy in made:
            either = [(array, copy[array], self._view.data(array)) for array in self._arrays]
            turns.append({array: code.emit(f"select i1 {serve}, ptr {own}, ptr {old}") for array, own, old in either})
        yield turns
        with self._view.routine.when(serve):
            for places in made:
                join(self._memory, self.scatters, places)
