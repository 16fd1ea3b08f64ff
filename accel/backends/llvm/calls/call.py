"""A program's call, compiled and made a function that Python calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from accel.backends.linear import linear
from accel.backends.llvm.calls.call_text import IMPORTS, call_text
from accel.backends.llvm.calls.extents import extent_nests
from accel.backends.llvm.calls.items import Functions
from accel.backends.llvm.calls.writer import NAME, element_symbol
from accel.backends.llvm.machine.buffers import buffers
from accel.backends.llvm.machine.python_function import python_function, symbol
from accel.backends.llvm.machine.target import host
from accel.backends.llvm.module import Kernels, load, module_text
from accel.backends.llvm.series import Together
from accel.backends.llvm.text.frame import Frame
from accel.backends.llvm.threads.pool import pool
from accel.backends.protocol import HostArray
from accel.ir.nodes import Nest, Program
from accel.schedule.machine import PROCESSOR
from accel.schedule.templates.choose import schedules

Named: TypeAlias = Mapping[Nest, tuple[str, Frame]]
"""Nests with the symbols of their functions and their frames."""

_EXTENT = "extent_"
"""What the symbols of nests that compute extents begin with."""


class Call:
    """The compiled call of a program whose nests are compiled."""

    def __init__(
        self, program: Program, kernels: Kernels, nests: Named, series: Sequence[tuple[str, Together]], threads: int
    ) -> None:
        """`nests` and `series`: with their symbols in `kernels`, which is kept. `threads` work on each."""
        items = linear(program)
        extents = extent_nests(items)
        own, own_names = _compiled(list(extents.values()))
        functions = Functions({**nests, **own_names}, series, threads, extents)
        written = call_text(program, items, functions)
        imports = {**buffers().symbols, **pool().symbols, **kernels.library.addresses}
        imports |= {f"{_EXTENT}{name}": address for name, address in own.library.addresses.items()} if own else {}
        imports |= {name: symbol(name) for name in IMPORTS}
        imports |= {element_symbol(element): id(element.dtype) for element in written.elements}
        self._library = host().load([host().compile(written.text, quick=True)], [NAME], imports)
        self._kept = kernels, own

    def function(
        self, otherwise: Callable[..., object], constants: Sequence[HostArray]
    ) -> Callable[..., Any]:  # Any: what `otherwise` gives, or one array, or a tuple of several
        """The function of the arrays that come before `constants`; gives an array, or a tuple of as many as there are results.

        What is not as usual is `otherwise`'s, with the same arguments.
        """
        held = (otherwise, (self._library, *self._kept), *constants)
        found: Callable[..., Any] = python_function(NAME, self._library.addresses[NAME], held)
        return found


def _compiled(nests: Sequence[Nest]) -> tuple[Kernels | None, Named]:
    """The nests that compute extents."""
    if not nests:
        return None, {}
    modules, frames = module_text([schedules(nest, PROCESSOR) for nest in nests])
    named = zip(nests, modules.names, frames, strict=True)
    return load(modules), {nest: (f"{_EXTENT}{name}", frame) for nest, name, frame in named}
