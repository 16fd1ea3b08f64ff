"""The executor that all compiling backends share: it turns a loop program into a flat list of instructions and runs it.

In: an `ir.Program` and a `Device`. Out: an `Executable`. A call owns two lists, buffers and extents; an instruction is a
closure over places in them (`linear/instructions.py`), and control flow is jumps (`linear/items.py`). Arrays are dropped after
their last use; a buffer that nothing aliases goes back to the device.

A device may tell of failed checks later than the nest that failed: the program then runs once more on the same arguments, and
each nest waits and says what failed. Where the user's functions are called in between, nests wait from the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, NoReturn, TypeVar

from accel.ast.handles.extents import LESS_MEMORY
from accel.ast.tree.leaves import Leaf
from accel.ast.tree.types import ScalarType
from accel.backends.device import Around, Device, Give, Instruction, ShapeOf, Slots, nothing_around, shape_of
from accel.backends.linear.instructions import instructions
from accel.backends.linear.item_instructions import settle
from accel.backends.linear.items import arrays, linear
from accel.backends.parameters import Binder, binder
from accel.backends.protocol import HostArray
from accel.backends.sites import Failed, NoSite, no_fault
from accel.errors import AccelError, AccelMemoryError, here
from accel.ir.nodes import HostCall, Launch, Program, Sort, View
from accel.labelled.array import Array
from accel.support.lazy import lazy

B = TypeVar("B")
T = TypeVar("T")


class Execution(Generic[B]):
    """A compiled program on a device: see `accel.backends.protocol.Executable`."""

    def __init__(self, program: Program, device: Device[B], around: Around = nothing_around) -> None:
        self._slots = slots = Slots()
        self._bind: Binder = binder(program, slots)
        self._items = items = linear(program)
        self._device = device.at_once() if any(isinstance(item, HostCall) for item in items) else device
        self._code = instructions(items, self._device, slots, around)
        read = arrays(items) | set(program.results)
        leaves = [leaf for parameter in program.parameters for leaf in parameter]
        self._parameters = [(place, slots.array(leaf)) for place, leaf in enumerate(leaves) if leaf in read]
        self._results = _results(program, slots)
        self._counts = slots.counts

    @lazy
    def _checking(self) -> list[Instruction[B]]:
        """The same, but each nest waits for its checks."""
        return instructions(self._items, self._device.at_once(), self._slots)

    def __call__(self, arguments: Sequence[Leaf]) -> list[HostArray]:
        """Run: see `accel.backends.protocol.Executable`."""
        return self._given(arguments, self._device.download)

    def kept(self, arguments: Sequence[Leaf]) -> list[Leaf]:
        """Run: see `accel.backends.residence.Keeps`."""
        return self._given(arguments, self._device.kept)

    def _given(self, arguments: Sequence[Leaf], give: Give[B, T]) -> list[T]:
        """The results. However the call ends, from then on the caller may write to arguments, and free their memory."""
        uploaded: list[B] = []
        try:
            return self._run(arguments, uploaded, give)
        except AccelError:
            raise
        except MemoryError as error:  # for a copy of an argument or of a result
            message = f"no memory for an argument or a result: {error}"
            raise AccelMemoryError(message, here(), hint=LESS_MEMORY) from error
        finally:
            self._device.leave(uploaded)

    def _run(self, arguments: Sequence[Leaf], uploaded: list[B], give: Give[B, T]) -> list[T]:
        """The results. `uploaded` gets the buffers of the arguments that are read."""
        buffers, sizes = self._begun(arguments)
        uploaded += self._device.upload([arguments[place] for place, _ in self._parameters])
        for (_, slot), buffer in zip(self._parameters, uploaded, strict=True):
            buffers[slot] = buffer
        try:
            self._go(self._code, buffers, sizes, arguments)
        except Failed:
            self._run_again(arguments, buffers)
        except (AccelError, MemoryError):
            if self._has_failed(buffers):
                self._run_again(arguments, buffers)
            raise
        return [
            give(_held(buffers[slot]), element, shape(sizes), owned=owned)
            for slot, element, shape, owned in self._results
        ]

    def _begun(self, arguments: Sequence[Leaf]) -> tuple[list[B | None], list[int]]:
        """The lists of a call that has arguments of these shapes."""
        buffers: list[B | None] = [None] * self._counts[0]
        sizes = [0] * self._counts[1]
        self._bind(arguments, sizes)
        return buffers, sizes

    def _go(
        self, code: list[Instruction[B]], buffers: list[B | None], sizes: list[int], arguments: Sequence[Leaf]
    ) -> None:
        """Raises `Failed` after the last instruction at the latest."""
        position = 0
        try:
            while position < len(code):
                jump = code[position](buffers, sizes)
                position = position + 1 if jump is None else jump
            settle(self._device, buffers)
        except NoSite as error:
            raise no_fault(self._borrows([buffers[slot] for slot in error.arrays], arguments), here()) from None

    def _borrows(self, buffers: Sequence[B | None], arguments: Sequence[Leaf]) -> bool:
        return any(self._device.borrows(buffer, arguments) for buffer in buffers if buffer is not None)

    def _has_failed(self, buffers: list[B | None]) -> bool:
        try:
            settle(self._device, buffers)
        except Failed:
            return True
        return False

    def _run_again(self, arguments: Sequence[Leaf], buffers: list[B | None]) -> NoReturn:
        """Find the check that failed, and raise its error. Parameters are where they were uploaded to."""
        again, sizes = self._begun(arguments)
        for _, slot in self._parameters:
            again[slot] = buffers[slot]
        self._go(self._checking, again, sizes, arguments)
        raise no_fault(self._borrows([buffers[slot] for _, slot in self._parameters], arguments), here())


def _results(program: Program, slots: Slots) -> list[tuple[int, ScalarType, ShapeOf, bool]]:
    """For each result its place, and whether its buffer may be given to the caller.

    It may not if it is an argument's, or another result's, as far as is known here: views and assignments share.
    """
    owned = _owned(program)
    return [(slots.array(a), a.element, shape_of(a.shape, slots), a in owned) for a in program.results]


def _owned(program: Program) -> frozenset[Array]:
    made = {
        array
        for step in program.steps
        if isinstance(step, Launch)
        for array in [*(o.array for o in step.nest.outputs), *(new for _, new in step.nest.in_place)]
    }
    made |= {step.array for step in program.steps if isinstance(step, Sort)}
    made |= {array for step in program.steps if isinstance(step, HostCall) for array in step.arrays}
    viewed = {array for step in program.steps if isinstance(step, View) for array in (*step.arrays, *step.sources)}
    once = {array for array in program.results if program.results.count(array) == 1}
    return frozenset(made & once - viewed)


def _held(buffer: B | None) -> B:
    assert buffer is not None, "a result is not there: a bug in accel"
    return buffer
