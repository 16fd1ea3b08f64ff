"""What the items of a linear program compile to on a device, one after the other.

In: a list of `Item`s and a `Device`. Out: a list of `Instruction`s, which the executor runs one after the other
(`executor.py`); each item's own is in `item_instructions.py`. A series of nests is tried as one instruction, which jumps over
the nests' own; a stretch of items that decide nothing, and a loop of such, run at once where the device has a way to.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar, assert_never

from accel.backends.device import (
    Around,
    Device,
    Instruction,
    Slots,
    nothing_around,
)
from accel.backends.linear.conditions import conditions, fetched
from accel.backends.linear.item_instructions import (
    assign,
    copy,
    drop,
    host_call,
    host_sizes,
    jump,
    jump_unless,
    launch,
    require,
    series,
    sort,
    view,
)
from accel.backends.linear.items import (
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
)
from accel.backends.linear.loops import played
from accel.ir.nodes import HostCall, HostSizes, Launch, Require, Sort, View

B = TypeVar("B")


class _Items:
    """What the items compile to that decide nothing, on any device. alone: nothing is done around launches."""

    def __init__(self, items: Sequence[Item], slots: Slots, around: Around) -> None:
        alone = around is nothing_around
        self._items = items
        self._slots = slots
        self._around = around
        self._asked = conditions(items)
        self._moved, self._copied = moves(items), copies(items)  # what is not run is not measured or checked either
        self.turns = played(items) if alone else {}
        self.stretches = stretches(items) if alone else {}

    def plain(self, position: int, item: Plain, device: Device[B]) -> list[Instruction[B]]:
        """The instructions of the item there."""
        slots = self._slots
        match item:
            case Launch() if position in self._moved:
                return [assign(self._moved[position], slots)]
            case Launch() if position in self._copied:
                (copying,) = launch(item, device, slots, self._around)
                return [copy(self._copied[position], copying, slots)]
            case Launch():
                return [*launch(item, device, slots, self._around), *fetched(item, self._asked, device, slots)]
            case View():
                return [view(item, device, slots)]
            case Assign():
                return [assign(item, slots)]
            case Drop():
                return [drop(item, slots)]
            case _:
                assert_never(item)

    def on_host(self, item: Sort | HostCall | HostSizes | Require, device: Device[B]) -> Instruction[B]:
        """The instruction of what the host does, or asks the device for, between launches."""
        match item:
            case Sort():
                return sort(item, device, self._slots)
            case HostCall():
                return host_call(item, device, self._slots)
            case HostSizes():
                return host_sizes(item, device, self._slots, self._around)
            case Require():
                return require(item, self._slots)
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
            code.append(series(parts[position], device, slots, ends))
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
            case Sort() | HostCall() | HostSizes() | Require():
                code.append(compiled.on_host(item, device))
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
                code.append(jump(item, marks))
            case JumpUnless():
                code.append(jump_unless(item, device, slots, marks))
            case _:
                assert_never(item)
    if len(items) in last:
        ends[last[len(items)]] = len(code)
    return code
