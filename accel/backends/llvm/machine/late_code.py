"""Functions of a program that are compiled at their first need, and kept on disk, each by itself.

In: what the code of a nest asks for (`text/late.py`). Out: the addresses of functions, where that code finds them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from typing import TypeAlias

from accel.backends.llvm.machine.kept_objects import FUNCTIONS, found_objects, keep_objects
from accel.backends.llvm.machine.loading import Library, load
from accel.backends.llvm.machine.python_function import symbol
from accel.backends.llvm.machine.target import host
from accel.support.dataclass import dataclass
from accel.support.forks import FORKS

IMPORTS = ("PyLong_FromSsize_t", "PyObject_CallOneArg", "Py_DecRef")
"""What the code of a nest calls of Python's C interface to have one compiled."""


def words_of(name: str) -> str:
    """The symbol of the functions' addresses, 0 for those that are not here."""
    return f"{name}_words"


def compile_of(name: str) -> str:
    """The symbol of the Python object that compiles the function whose number it is called with."""
    return f"{name}_compile"


MOST = 16
"""Functions of a nest that are compiled: then the first one, which serves all sizes, serves others as well."""


@dataclass(frozen=True, slots=True)
class LateNames:
    """The functions' name in object code, how many numbers there are, and a digest of all that they depend on."""

    name: str
    count: int
    digest: str


Texts: TypeAlias = tuple[str, str]
"""Of a module: what is optimised, and what runs once in a launch."""


class LateCode:
    """Called by the code of a nest, with the number of a function; it holds those that are here."""

    def __init__(self, names: LateNames, texts: Callable[[int], Texts] | None, imports: Mapping[str, int]) -> None:
        """`texts`: of the module of a number; None in a program that was found on disk. `imports`: what all code calls."""
        self._names = names
        self._texts = texts
        self._imports = imports
        self._words = (ctypes.c_int64 * names.count)()
        self._libraries: dict[int, Library] = {}

    def symbols(self) -> Mapping[str, int]:
        """What the code of the nest imports. The addresses are valid as long as this object lives."""
        own = {words_of(self._names.name): ctypes.addressof(self._words), compile_of(self._names.name): id(self)}
        return {**own, **{name: symbol(name) for name in IMPORTS}}

    def __call__(self, number: int) -> None:
        """Bring the function here if there is a way to it. Raises what compiling raises; then the next call tries again."""
        name = f"{self._names} {number}"
        kept = found_objects(FUNCTIONS, name)
        if kept is None and number and len(self._libraries) >= MOST:
            self(0)
            self._words[number] = self._words[0]
            return
        if kept is None and self._texts is None:
            return
        texts = None if kept is not None or self._texts is None else self._texts(number)
        objects = [] if kept is None else kept
        with FORKS.lock:
            if number in self._libraries:
                return
            if texts is not None:
                objects = [host().compile(texts[0]), host().compile(texts[1], quick=True)]
            library = load(objects, [self._names.name], self._imports)
            # A signal handler may have come first; others may be running what it made.
            self._words[number] = self._libraries.setdefault(number, library).addresses[self._names.name]
        if texts is not None:
            keep_objects(FUNCTIONS, name, objects)
