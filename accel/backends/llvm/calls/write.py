"""Compiles the call of a program whose nests are compiled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from accel.backends.linear.items import linear
from accel.backends.llvm.calls.call_text import call_text
from accel.backends.llvm.calls.code import CallCode, Unit
from accel.backends.llvm.calls.extents import extent_nests
from accel.backends.llvm.calls.in_place import InPlace
from accel.backends.llvm.calls.items import Functions
from accel.backends.llvm.calls.names import NAME
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.module import compiled, module_text
from accel.backends.llvm.series import Together
from accel.backends.llvm.text.frame import Frame
from accel.ir.nodes import Nest, Program
from accel.labelled.array import Array
from accel.schedule.machine import PROCESSOR
from accel.schedule.templates.choose import schedules

Named: TypeAlias = Mapping[Nest, tuple[str, Frame]]
"""Nests with the symbols of their functions and their frames."""

_EXTENT = "extent_"
"""What the symbols of nests that compute extents begin with."""


def call_code(
    program: Program,
    kernels: Unit,
    nests: Named,
    series: Sequence[tuple[str, Together]],
    threads: int,
    taken: Mapping[Array, Array] = MappingProxyType({}),
    rooms: Sequence[Array] = (),
    in_place: InPlace | None = None,
) -> CallCode:
    """The code. `nests` and `series`: with their symbols in `kernels`, the first unit. `threads` work on each.

    `taken`: results, and the arguments whose memory they take (`taken.py`). `rooms`: those of these that stand behind the
    program's own. `in_place`: this program, if it reads arguments whose rows' elements are not adjacent.
    """
    items = linear(program)
    extents = extent_nests(items)
    units, names = _compiled(list(extents.values()))
    functions = Functions({**nests, **names}, series, threads, extents, taken, rooms, in_place)
    written = call_text(program, items, functions)
    call = Unit((host().compile(written.text, quick=True),), (NAME,), prefix="", late=())
    return CallCode((kernels, *units, call), tuple(written.elements), threads, tuple(written.sorts))


def _compiled(nests: Sequence[Nest]) -> tuple[list[Unit], Named]:
    """The nests that compute extents."""
    if not nests:
        return [], {}
    modules, frames = module_text([schedules(nest, PROCESSOR) for nest in nests])
    assert not modules.late, "nests of one element are not tiled"
    named = zip(nests, modules.names, frames, strict=True)
    unit = Unit(compiled(modules), modules.exports, _EXTENT, late=())
    return [unit], {nest: (f"{_EXTENT}{name}", frame) for nest, name, frame in named}
