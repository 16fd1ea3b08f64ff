"""What the items of a linear program compile to: closures over places in the lists of buffers and extents of a call.

In: a list of `Item`s and a `Device`. Out: a list of `Instruction`s, which the executor runs one after the other
(`executor.py`). Outputs of a nest are allocated just before it. A series of nests is tried as one instruction, which jumps over
the nests' own. A nest that only copies what is dropped then does not run where nothing else refers to it: its result is that.

Launchers may leave word of a check that failed in the last place of the buffers: whoever needs something from the device looks
there, too (`settle`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TypeVar, assert_never

from accel.ast.tree.types import ScalarType
from accel.backends.conditions import conditions, fetched
from accel.backends.device import (
    RECORD,
    Around,
    Device,
    Instruction,
    LooksAtExtents,
    Slots,
    computed_extents,
    nothing_around,
    room_of,
    shape_of,
)
from accel.backends.linear import (
    Assign,
    Drop,
    Enter,
    Item,
    Jump,
    JumpUnless,
    Mark,
    Part,
    Plain,
    copies,
    is_plain,
    moves,
    series_parts,
    stretches,
    turns,
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


# One function per item: what it compiles to.


def _launch(step: Launch, device: Device[B], slots: Slots, around: Around) -> list[Instruction[B]]:
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
            raise AccelMemoryError(str(error), fresh[0][2] if fresh else here()) from error

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


def _view(step: View, device: Device[B], slots: Slots) -> Instruction[B]:
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


def _sort(step: Sort, device: Device[B], slots: Slots) -> Instruction[B]:
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


def _host_call(step: HostCall, device: Device[B], slots: Slots) -> Instruction[B]:
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


def _host_sizes(step: HostSizes, device: Device[B], slots: Slots, around: Around) -> Instruction[B]:
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


def _require(step: Require, slots: Slots) -> Instruction[B]:
    left, right = shape_of(step.left, slots), shape_of(step.right, slots)

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        if left(sizes) != right(sizes):
            places = step.where, step.left_where, step.right_where
            raise faults.required(left(sizes), right(sizes), *places, step.name, step.message)

    return instruction


def _assign(item: Assign, slots: Slots) -> Instruction[B]:
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


def _drop(item: Drop, slots: Slots) -> Instruction[B]:
    dying = [slots.array(array) for array in item.arrays]

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        for slot in dying:
            buffers[slot] = None

    return instruction


def _jump(item: Jump, marks: dict[int, int]) -> Instruction[B]:
    return lambda buffers, sizes: marks[item.mark]


def _jump_unless(item: JumpUnless, device: Device[B], slots: Slots, marks: dict[int, int]) -> Instruction[B]:
    slot = slots.array(item.condition)

    def instruction(buffers: list[B | None], sizes: list[int]) -> int | None:
        return None if _scalar(device, buffers, slot, ScalarType.BOOL) else marks[item.mark]

    return instruction


def _series(part: Part, device: Device[B], slots: Slots, ends: dict[Part, int]) -> Instruction[B]:
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


def _copy(copy: Copy, launch: Instruction[B], slots: Slots) -> Instruction[B]:
    """Gives the source itself where no other place has its buffer, since it is dropped then; else copies."""
    source, target = slots.array(copy.source), slots.array(copy.target)

    def instruction(buffers: list[B | None], sizes: list[int]) -> int | None:
        held = buffers[source]
        if sum(buffer is held for buffer in buffers) > 1:
            return launch(buffers, sizes)
        buffers[target] = held
        return None

    return instruction


class _Items:
    """What the items compile to that decide nothing, on any device. alone: nothing is done around launches."""

    def __init__(self, items: Sequence[Item], slots: Slots, around: Around) -> None:
        alone = around is nothing_around
        self._items = items
        self._slots = slots
        self._around = around
        self._asked = conditions(items)
        self._moved, self._copied = moves(items), copies(items)  # what is not run is not measured or checked either
        self.turns = turns(items) if alone else {}
        self.stretches = stretches(items) if alone else {}

    def plain(self, position: int, item: Plain, device: Device[B]) -> list[Instruction[B]]:
        """The instructions of the item there."""
        slots = self._slots
        match item:
            case Launch() if position in self._moved:
                return [_assign(self._moved[position], slots)]
            case Launch() if position in self._copied:
                (launch,) = _launch(item, device, slots, self._around)
                return [_copy(self._copied[position], launch, slots)]
            case Launch():
                return [*_launch(item, device, slots, self._around), *fetched(item, self._asked, device, slots)]
            case View():
                return [_view(item, device, slots)]
            case Assign():
                return [_assign(item, slots)]
            case Drop():
                return [_drop(item, slots)]
            case _:
                assert_never(item)

    def stretch(self, start: int, device: Device[B]) -> Instruction[B] | None:
        """What runs the stretch that begins there at once, if the device has a way to."""
        every = range(start, self.stretches[start])
        found = [(position, item) for position in every if is_plain(item := self._items[position])]
        nests = [item.nest for _, item in found if isinstance(item, Launch)]

        def make(other: Device[B]) -> list[Instruction[B]]:
            return [each for position, item in found for each in self.plain(position, item, other)]

        return device.straight(nests, self._slots, make)


def instructions(
    items: Sequence[Item], device: Device[B], slots: Slots, around: Around = nothing_around
) -> list[Instruction[B]]:
    """The items' instructions; each ends with the number of its successor, or None for the next."""
    code: list[Instruction[B]] = []
    marks: dict[int, int] = {}
    ends: dict[Part, int] = {}
    parts = {part.start: part for part in series_parts(items, device.series)}
    last = {part.end: part for part in parts.values()}
    compiled, done = _Items(items, slots, around), 0
    for position, item in enumerate(items):
        if position in last:
            ends[last[position]] = len(code)
        if position in parts:
            code.append(_series(parts[position], device, slots, ends))
        if position < done:
            continue
        if position in compiled.stretches:
            run = compiled.stretch(position, device)
            if run is not None:
                code.append(run)
                done = compiled.stretches[position]
                continue
        match item:
            case Launch() | View() | Assign() | Drop():
                code += compiled.plain(position, item, device)
            case Sort():
                code.append(_sort(item, device, slots))
            case HostCall():
                code.append(_host_call(item, device, slots))
            case HostSizes():
                code.append(_host_sizes(item, device, slots, around))
            case Require():
                code.append(_require(item, slots))
            case Enter():
                pass
            case Mark(number):
                marks[number] = len(code)
                if position in compiled.turns:
                    loop = device.repeated(compiled.turns[position], slots)
                    if loop is not None:
                        code.append(loop)
                        done = position + len(compiled.turns[position]) + 1  # behind the jump back
            case Jump():
                code.append(_jump(item, marks))
            case JumpUnless():
                code.append(_jump_unless(item, device, slots, marks))
            case _:
                assert_never(item)
    if len(items) in last:
        ends[last[len(items)]] = len(code)
    return code
