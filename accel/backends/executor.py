"""The executor that all compiling backends share: it turns a loop program into a flat list of instructions and runs it.

In: an `ir.Program` and a `Device`. Out: an `Executable`. A call owns two lists, buffers and extents; an instruction is a
closure over places in them, and control flow is jumps (`linear.py`). Outputs of a nest are allocated just before it and
dropped after their last use; a buffer that nothing aliases goes back to the device. A series of nests is tried as one
instruction, which jumps over the nests' own. A nest that only copies what is dropped then does not run: its result is that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Generic, TypeAlias, TypeVar, assert_never

from accel.ast.handles.extents import require_extents
from accel.ast.tree.types import ScalarType
from accel.backends.device import Around, Device, Slots, nothing_around
from accel.backends.linear import (
    Assign,
    Drop,
    Enter,
    Item,
    Jump,
    JumpUnless,
    Mark,
    Part,
    arrays,
    linear,
    moves,
    series_parts,
)
from accel.backends.parameters import Binder, binder
from accel.backends.protocol import HostArray
from accel.backends.sites import NoSite, no_fault
from accel.errors import AccelError, AccelMemoryError, Where, here
from accel.ir.nodes import HostCall, HostSizes, Launch, Output, Program, Require, Sort, View
from accel.labelled.array import Array, Shape
from accel.labelled.meaning import faults
from accel.labelled.meaning.evaluate import evaluate
from accel.labelled.programs import loaded

B = TypeVar("B")

Instruction: TypeAlias = Callable[[list[B | None], list[int]], int | None]
"""Does its work; gives the number of the next instruction if that is not the following one."""

ShapeOf: TypeAlias = Callable[[list[int]], tuple[int, ...]]


def shape_of(shape: Shape, slots: Slots) -> ShapeOf:
    """What gives the shape, once its size variables are bound."""
    constant = tuple(extent.offset for extent in shape)
    if all(extent.variable is None for extent in shape):
        return lambda sizes: constant
    pairs = [(None if e.variable is None else slots.size(e.variable), e.offset) for e in shape]
    match pairs:
        case [(int(only), offset)]:
            return lambda sizes: (sizes[only] + offset,)
        case _:
            return lambda sizes: tuple([offset if s is None else sizes[s] + offset for s, offset in pairs])


def _capacity(output: Output, slots: Slots) -> ShapeOf:
    if all(len(product) == 1 for product in output.capacity):
        return shape_of(tuple(product[0] for product in output.capacity), slots)
    dimensions = [shape_of(product, slots) for product in output.capacity]
    return lambda sizes: tuple([prod(dimension(sizes)) for dimension in dimensions])


def _held(buffer: B | None) -> B:
    assert buffer is not None, "an array is used before it was made or after its last use: a bug in accel"
    return buffer


def _no_room(element: ScalarType, shape: tuple[int, ...], where: Where | None) -> AccelError:
    """What to raise for an array that cannot be had: it is too large for any machine, or for this one now."""
    if faults.is_too_large(element, shape):
        return faults.too_large(element, shape, where)
    return faults.no_memory(element, shape, where)


# One function per item: what it compiles to.


def _launch(step: Launch, device: Device[B], slots: Slots, around: Around) -> list[Instruction[B]]:
    nest = step.nest
    fresh = [(slots.array(o.array), o.array.element, _capacity(o, slots), o.where) for o in nest.outputs]
    shared = [(slots.array(old), slots.array(new)) for old, new in nest.in_place]
    run, allocate = around(device, nest, slots, device.launcher(nest, slots)), device.allocate

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        for old, new in shared:
            buffers[new] = buffers[old]
        has_work = bool(shared)
        for slot, element, shape, where in fresh:
            extents = shape(sizes)
            has_work = has_work or 0 not in extents
            try:
                buffers[slot] = allocate(element, extents)
            except (MemoryError, ValueError) as error:  # NumPy's ValueError: more than an address can count
                raise _no_room(element, extents, where) from error
        if not has_work:  # there may be many rows without elements
            return
        try:
            run(buffers, sizes)
        except MemoryError as error:
            raise AccelMemoryError(str(error), fresh[0][3] if fresh else here()) from error

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
            sizes[size] = int(device.scalar(_held(buffers[slot]), ScalarType.I64))
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
        extents = shape(sizes)
        given = [(_held(buffers[slot]), kind) for slot, kind in keys]
        try:
            buffers[target] = device.sort(given, extents, step.places, step.descending)
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


def _host_sizes(step: HostSizes, device: Device[B], slots: Slots) -> Instruction[B]:
    targets = [slots.size(variable) for variable in step.variables]
    inputs = {array: (slots.array(array), shape_of(array.shape, slots)) for array in loaded(step.function)}

    def instruction(buffers: list[B | None], sizes: list[int]) -> None:
        host = {
            array: device.download(_held(buffers[slot]), array.element, shape(sizes), owned=False)
            for array, (slot, shape) in inputs.items()
        }
        values = evaluate(step.function, (), lambda variable: sizes[slots.size(variable)], host)
        extents = tuple([int(value) for value in values])
        require_extents(extents, step.where)
        for slot, extent in zip(targets, extents, strict=True):
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
        return None if device.scalar(_held(buffers[slot]), ScalarType.BOOL) else marks[item.mark]

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


def _instructions(items: Sequence[Item], device: Device[B], slots: Slots, around: Around) -> list[Instruction[B]]:
    code: list[Instruction[B]] = []
    marks: dict[int, int] = {}
    ends: dict[Part, int] = {}
    parts = {part.start: part for part in series_parts(items, device.series)}
    last = {part.end: part for part in parts.values()}
    moved = moves(items) if around is nothing_around else {}
    for position, item in enumerate(items):
        if position in last:
            ends[last[position]] = len(code)
        if position in parts:
            code.append(_series(parts[position], device, slots, ends))
        match item:
            case Launch() if position in moved:
                code.append(_assign(moved[position], slots))
            case Launch():
                code += _launch(item, device, slots, around)
            case View():
                code.append(_view(item, device, slots))
            case Sort():
                code.append(_sort(item, device, slots))
            case HostCall():
                code.append(_host_call(item, device, slots))
            case HostSizes():
                code.append(_host_sizes(item, device, slots))
            case Require():
                code.append(_require(item, slots))
            case Assign():
                code.append(_assign(item, slots))
            case Drop():
                code.append(_drop(item, slots))
            case Enter():
                pass
            case Mark(number):
                marks[number] = len(code)
            case Jump():
                code.append(_jump(item, marks))
            case JumpUnless():
                code.append(_jump_unless(item, device, slots, marks))
            case _:
                assert_never(item)
    if len(items) in last:
        ends[last[len(items)]] = len(code)
    return code


class Execution(Generic[B]):
    """A compiled program on a device: see `accel.backends.protocol.Executable`."""

    def __init__(self, program: Program, device: Device[B], around: Around = nothing_around) -> None:
        slots = Slots()
        self._device = device
        self._bind: Binder = binder(program, slots)
        items = linear(program)
        self._code = _instructions(items, device, slots, around)
        read = arrays(items) | set(program.results)
        leaves = [leaf for parameter in program.parameters for leaf in parameter]
        self._parameters = [(place, slots.array(leaf)) for place, leaf in enumerate(leaves) if leaf in read]
        self._results = _results(program, slots)
        self._counts = slots.counts

    def __call__(self, arguments: Sequence[HostArray]) -> list[HostArray]:
        """Run: see `accel.backends.protocol.Executable`."""
        try:
            return self._run(arguments)
        except AccelError:
            raise
        except MemoryError as error:  # for a copy of an argument or of a result
            raise AccelMemoryError(f"no memory for an argument or a result: {error}", here()) from error

    def _run(self, arguments: Sequence[HostArray]) -> list[HostArray]:
        buffers: list[B | None] = [None] * self._counts[0]
        sizes = [0] * self._counts[1]
        self._bind(arguments, sizes)
        upload = self._device.upload
        for place, slot in self._parameters:
            buffers[slot] = upload(arguments[place])
        code = self._code
        position = 0
        try:
            while position < len(code):
                jump = code[position](buffers, sizes)
                position = position + 1 if jump is None else jump
        except NoSite as error:
            read = [_held(buffers[slot]) for slot in error.arrays]
            raise no_fault(any(self._device.borrows(buffer, arguments) for buffer in read), here()) from None
        download = self._device.download
        return [
            download(_held(buffers[slot]), element, shape(sizes), owned=owned)
            for slot, element, shape, owned in self._results
        ]


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
