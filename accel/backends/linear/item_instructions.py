"""What each item of a linear program compiles to alone: a closure over places in the lists of buffers and extents of a call.

In: an `Item`, a `Device`, and the places (`Slots`). Out: an `Instruction`; `instructions.py` puts them one after the other.
Outputs of a nest are allocated just before it. A nest that only copies what is dropped then does not run where nothing else
refers to it: its result is that.

Launchers may leave word of a check that failed in the last place of the buffers: whoever needs something from the device looks
there, too (`settle`).
"""

from __future__ import annotations

from math import prod
from typing import TypeVar

from accel.ast.handles.extents import LESS_MEMORY
from accel.ast.tree.types import ScalarType
from accel.backends.device import (
    RECORD,
    Around,
    Device,
    Instruction,
    LooksAtExtents,
    Slots,
    computed_extents,
    room_of,
    shape_of,
)
from accel.backends.linear.items import (
    Assign,
    Drop,
    Jump,
    JumpUnless,
    Part,
)
from accel.errors import AccelError, AccelMemoryError, Where, here
from accel.ir.copies import Copy
from accel.ir.divisions import MOST_ROWS, divides
from accel.ir.nodes import HostCall, HostSizes, Launch, Require, Sort, View
from accel.labelled.meaning import faults
from accel.labelled.programs import loaded

B = TypeVar("B")


def _held(buffer: B | None) -> B:
    assert buffer is not None, "an array is used before it was made or after its last use: a bug in accel"
    return buffer


def _no_room(element: ScalarType, shape: tuple[int, ...], where: Where | None) -> AccelError:
    """What to raise for an array that cannot be had: it is too large for any machine, or for this one now."""
    if faults.is_too_large(element, shape):
        return faults.too_large(element, shape, where)
    return faults.no_memory(element, shape, where)


def settle(device: Device[B], buffers: list[B | None]) -> None:
    """Raises `sites.Failed` if a launcher left word of a failed check; waits for the device where one may have."""
    record = buffers[RECORD]
    if record is not None:
        device.look(record)
        buffers[RECORD] = None


def _scalar(device: Device[B], buffers: list[B | None], slot: int, element: ScalarType) -> bool | int | float:
    """The first element of the array at `slot`, and in the same wait what `settle` does."""
    value = device.scalar(_held(buffers[slot]), element, buffers[RECORD])
    buffers[RECORD] = None
    return value


def launch(step: Launch, device: Device[B], slots: Slots, around: Around) -> list[Instruction[B]]:
    """Allocates what the nest makes and runs it, unless there is nothing to do; then binds what it counted."""
    nest = step.nest
    fresh = [(slots.array(o.array), o.array.element, o.where) for o in nest.outputs]
    room = room_of(nest, slots, MOST_ROWS if divides(nest) else -1)
    shared = [(slots.array(old), slots.array(new)) for old, new in nest.in_place]
    run, allocate = around(device, nest, slots, device.launcher(nest, slots)), device.allocate

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        for old, new in shared:
            buffers[new] = buffers[old]
        shapes, has_work = room(sizes)
        for (slot, element, where), extents in zip(fresh, shapes, strict=True):
            try:
                buffers[slot] = allocate(element, extents)
            except (MemoryError, ValueError) as error:  # NumPy's ValueError: more than an address can count
                raise _no_room(element, extents, where) from error
        if not has_work:  # there may be many rows without elements
            return
        try:
            run(buffers, sizes)
        except MemoryError as error:
            raise AccelMemoryError(str(error), fresh[0][2] if fresh else here(), hint=LESS_MEMORY) from error

    code: list[Instruction[B]] = [instruction]
    if nest.counts:
        code.append(_counts(step, device, slots))
    return code


def _counts(step: Launch, device: Device[B], slots: Slots) -> Instruction[B]:
    """Bind the sizes that a nest found out, and trim what it made to them."""
    counts = [(slots.size(count.variable), slots.array(count.array)) for count in step.nest.counts]
    found = {count.variable for count in step.nest.counts}
    trimmed = [
        (slots.array(o.array), shape_of(o.array.shape, slots))
        for o in step.nest.outputs
        if any(extent.variable in found for extent in o.array.shape)
    ]

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        for size, slot in counts:
            sizes[size] = int(_scalar(device, buffers, slot, ScalarType.I64))
        for slot, shape in trimmed:
            buffers[slot] = device.view(_held(buffers[slot]), shape(sizes))

    return instruction


def view(step: View, device: Device[B], slots: Slots) -> Instruction[B]:
    """Arrays of other shapes with the memory of their sources. Raises `AccelShapeError` where the elements are not as many."""
    moves = [
        (slots.array(new), slots.array(old), new.element, shape_of(new.shape, slots), shape_of(old.shape, slots))
        for new, old in zip(step.arrays, step.sources, strict=True)
    ]

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        for new, old, element, wanted, given in moves:
            shape, before = wanted(sizes), given(sizes)
            size = prod(shape)
            if size != prod(before):
                raise faults.reshape(before, shape, step.where)
            if not size and faults.is_too_large(element, shape):  # what has elements exists
                raise faults.too_large(element, shape, step.where)
            buffers[new] = device.view(_held(buffers[old]), shape)

    return instruction


def sort(step: Sort, device: Device[B], slots: Slots) -> Instruction[B]:
    """Sorts on the device, into a new array."""
    keys = [(slots.array(source), source.element) for source in step.sources]
    target, element, shape = slots.array(step.array), step.array.element, shape_of(step.array.shape, slots)

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        settle(device, buffers)
        extents = shape(sizes)
        given = [(_held(buffers[slot]), kind) for slot, kind in keys]
        try:
            buffers[target] = device.sort(given, extents, step.places, step.descending, step.first)
        except (MemoryError, ValueError) as error:  # NumPy's ValueError: more than an address can count
            raise _no_room(element, extents, step.where) from error

    return instruction


def host_call(step: HostCall, device: Device[B], slots: Slots) -> Instruction[B]:
    """Calls a function of the user's on the host with arrays of the device, and brings back what it gives."""
    sources, targets = (
        [(slots.array(array), array.element, shape_of(array.shape, slots)) for array in some]
        for some in (step.sources, step.arrays)
    )

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        given = [device.shown(_held(buffers[slot]), element, shape(sizes)) for slot, element, shape in sources]
        made = step.function(given, [shape(sizes) for _, _, shape in targets], step.where)
        for (slot, element, _), array in zip(targets, made, strict=True):
            try:
                buffers[slot] = device.copied(array, element)
            except MemoryError as error:
                raise _no_room(element, array.shape, step.where) from error

    return instruction


def host_sizes(step: HostSizes, device: Device[B], slots: Slots, around: Around) -> Instruction[B]:
    """Computes extents on the host, perhaps from elements of arrays."""
    targets = [slots.size(variable) for variable in step.variables]
    inputs = {array: (slots.array(array), shape_of(array.shape, slots)) for array in loaded(step.function)}
    watching, computed = around if isinstance(around, LooksAtExtents) else None, computed_extents(step, slots)

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        if inputs:
            settle(device, buffers)
        host = {
            array: device.download(_held(buffers[slot]), array.element, shape(sizes), owned=False)
            for array, (slot, shape) in inputs.items()
        }
        if watching is not None:
            watching.extents(step, slots.known(sizes), host)
        for slot, extent in zip(targets, computed(sizes, host), strict=True):
            sizes[slot] = extent

    return instruction


def require(step: Require, slots: Slots) -> Instruction[B]:
    """Raises unless two shapes are the same."""
    left, right = shape_of(step.left, slots), shape_of(step.right, slots)

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        if left(sizes) != right(sizes):
            places = step.where, step.left_where, step.right_where
            raise faults.required(left(sizes), right(sizes), *places, step.name, step.message)

    return instruction


def assign(item: Assign, slots: Slots) -> Instruction[B]:
    """Names stand for other arrays from here on, with their extents."""
    pairs = list(zip(item.targets, item.sources, strict=True))
    moves = [(slots.array(new), slots.array(old)) for new, old in pairs]
    shapes = [
        (
            [(axis, slots.size(e.variable), e.offset) for axis, e in enumerate(new.shape) if e.variable],
            shape_of(old.shape, slots),
        )
        for new, old in pairs
    ]

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        held = [buffers[old] for _, old in moves]
        extents = [shape(sizes) for _, shape in shapes]
        for (places, _), actual in zip(shapes, extents, strict=True):
            for axis, slot, offset in places:
                sizes[slot] = actual[axis] - offset
        for (new, _), buffer in zip(moves, held, strict=True):
            buffers[new] = buffer

    return instruction


def drop(item: Drop, slots: Slots) -> Instruction[B]:
    """Forgets arrays."""
    dying = [slots.array(array) for array in item.arrays]

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        for slot in dying:
            buffers[slot] = None

    return instruction


def jump(item: Jump, marks: dict[int, int]) -> Instruction[B]:
    """Goes on at a mark, whose place is known once all items have instructions."""
    return lambda buffers, sizes: marks[item.mark]


def jump_unless(item: JumpUnless, device: Device[B], slots: Slots, marks: dict[int, int]) -> Instruction[B]:
    """Goes on at a mark unless an array of one bool is true."""
    slot = slots.array(item.condition)

    def instruction(buffers: list[B | None], sizes: list[int]) -> int | None:
        return None if _scalar(device, buffers, slot, ScalarType.BOOL) else marks[item.mark]

    return instruction


def series(part: Part, device: Device[B], slots: Slots, ends: dict[Part, int]) -> Instruction[B]:
    """Runs the nests of a series together, and goes on behind them; if that is not to be, they follow one by one."""
    run = device.series_launcher(part.series, slots)
    dying = [slots.array(array) for array in part.dropped]

    def instruction(buffers: list[B | None], sizes: list[int]) -> int | None:
        if not run(buffers, sizes):
            return None
        for slot in dying:
            buffers[slot] = None
        return ends[part]

    return instruction


def copy(copied: Copy, launch: Instruction[B], slots: Slots) -> Instruction[B]:
    """Gives the source itself where no other place has its buffer, since it is dropped then; else copies."""
    source, target = slots.array(copied.source), slots.array(copied.target)

    def instruction(buffers: list[B | None], sizes: list[int]) -> int | None:
        held = buffers[source]
        if sum(buffer is held for buffer in buffers) > 1:
            return launch(buffers, sizes)
        buffers[target] = held
        return None

    return instruction
