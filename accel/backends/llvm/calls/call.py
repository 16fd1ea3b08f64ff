"""A program's call, linked and made a function that Python calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from accel.backends.llvm.calls.code import CallCode
from accel.backends.llvm.calls.names import IMPORTS, NAME, element_symbol, sorter_symbol
from accel.backends.llvm.machine.buffers import buffers
from accel.backends.llvm.machine.late_code import LateCode
from accel.backends.llvm.machine.loading import Library, load
from accel.backends.llvm.machine.python_function import python_function, symbol
from accel.backends.llvm.threads.pool import pool
from accel.support.forks import load as load_module

if TYPE_CHECKING:
    from accel.backends.protocol import HostArray


class Call:
    """The linked call."""

    def __init__(self, code: CallCode, linked: Sequence[Library] = ()) -> None:
        """`linked`: the first units, where they are linked already. All but the last stand by themselves."""
        imports = {**buffers().symbols, **pool().symbols, **{name: symbol(name) for name in IMPORTS}}
        imports |= {element_symbol(element): id(element.dtype) for element in code.elements}
        sorters = _sorters(code)
        if sorters:
            imports |= {"PyObject_Vectorcall": symbol("PyObject_Vectorcall")}
            imports |= {sorter_symbol(number): id(each) for number, each in enumerate(sorters)}
        self._libraries = list(linked)
        *functions, call = code.units
        for unit in functions[len(linked) :]:
            held = [LateCode(names, None, pool().symbols) for names in unit.late]
            others = {name: address for each in held for name, address in each.symbols().items()}
            self._libraries.append(load(unit.objects, unit.exports, {**imports, **others}, held))
        for unit, library in zip(functions, self._libraries, strict=True):
            imports |= {f"{unit.prefix}{name}": library.addresses[name] for name in unit.exports}
        self._libraries.append(load(call.objects, call.exports, imports, sorters))

    def function(
        self, otherwise: Callable[..., object], constants: Sequence[HostArray]
    ) -> Callable[..., Any]:  # Any: what `otherwise` gives, or one array, or a tuple of several
        """The function of the arrays that come before `constants`; gives an array, or a tuple of as many as there are results.

        What is not as usual is `otherwise`'s, with the same arguments.
        """
        held = (otherwise, tuple(self._libraries), *constants)
        found: Callable[..., Any] = python_function(NAME, self._libraries[-1].addresses[NAME], held)
        return found


def _sorters(code: CallCode) -> list[object]:
    """What puts rows in order, for each sort of the call."""
    if not code.sorts:
        return []
    load_module("accel.backends.llvm.sorting.rows")
    from accel.backends.llvm.sorting.rows import sorter

    return [sorter(order, code.threads) for order in code.sorts]
