"""The llvm backend's executable: a compiled call, and what runs whatever it does not take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from accel.backends.llvm.calls.call import Call
from accel.backends.llvm.calls.code import CallCode, dumps, loads
from accel.backends.llvm.machine.rows import all_with_rows
from accel.backends.residence import on_host
from accel.errors import AccelDeviceError, here

if TYPE_CHECKING:
    from accel.ast.tree.leaves import Leaf
    from accel.backends.protocol import HostArray

Execute: TypeAlias = "Callable[[Sequence[Leaf]], list[HostArray]]"
"""Runs a program item by item, and says what is wrong."""


class Compiled:
    """See `accel.backends.protocol.Executable` and `Direct`."""

    def __init__(
        self,
        execute: Execute,
        make: Callable[[], tuple[CallCode, Call]],
        take: Callable[[frozenset[int]], Call | None] = lambda given: None,
        write: Callable[[], tuple[Call, int] | None] = lambda: None,
    ) -> None:
        """`make` compiles the call, which takes some milliseconds; it is done when the call is first asked for.

        `take` compiles one whose results may take the memory of arrays; None if none can. `write`: one that is also given
        arrays for its results, and how many.
        """
        self._execute = execute
        self._make = make
        self._take = take
        self._write = write
        self._into: list[tuple[Execute | None, int]] = []
        self._taking: dict[frozenset[int], Execute | None] = {}
        self._made: list[tuple[CallCode, Call]] = []
        self._run: list[Callable[..., object]] = []

    def __call__(self, arguments: Sequence[Leaf]) -> list[HostArray]:
        """Run: see `accel.backends.protocol.Executable`."""
        if not self._run:
            call = self._call()[1]
            self._run.append(call.function(_Unusual(self._execute, call), ()))
        return _list(self._run[0](*arguments))

    def function(self, otherwise: Callable[..., object], constants: Sequence[HostArray]) -> Callable[..., object]:
        """See `accel.backends.protocol.Direct`."""
        return self._call()[1].function(otherwise, constants)

    def taking(self, given: frozenset[int]) -> Execute | None:
        """See `accel.backends.direct.Direct`."""
        if given not in self._taking:
            call = self._take(given)
            self._taking[given] = None if call is None else _Taking(call.function(_Listed(self._execute), ()))
        return self._taking[given]

    def into(self, count: int) -> Execute | None:
        """See `accel.backends.direct.Direct`."""
        if not self._into:
            call, results = self._write() or (None, 0)
            otherwise = _Listed(self._execute, results)
            self._into.append((None if call is None else _Taking(call.function(otherwise, ())), results))
        function, results = self._into[0]
        return function if results == count else None

    def code(self) -> bytes:
        """All that another process needs to run the program: see `recalled`."""
        return dumps(self._call()[0])

    def _call(self) -> tuple[CallCode, Call]:
        if not self._made:
            self._made.append(self._make())
        return self._made[0]


def _list(found: object) -> list[HostArray]:
    """What a call gave, as a list."""
    match found:
        case list():
            return found
        case tuple():
            return list(found)
        case np.ndarray():
            return [found]
        case _:
            raise AssertionError("a call gives arrays")


class _Taking:
    """A call whose results take the memory of arrays that it was given, or are written to arrays of the caller's."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function

    def __call__(self, arguments: Sequence[Leaf]) -> list[HostArray]:
        found = _list(self._function(*all_with_rows([on_host(argument, "llvm") for argument in arguments])))
        if not found:
            message = "a call could not be finished, and had written to a donated argument or to `out` before"
            raise AccelDeviceError(
                message, here(), hint="there was no memory, or a signal handler forked; call without `donate` and `out`"
            )
        return found


class _Unusual:
    """What follows on a call that does not take its arguments: another one, if these have other rows of adjacent elements."""

    def __init__(self, execute: Execute, call: Call) -> None:
        self._listed = _Listed(execute)
        self._call = call
        self._again: list[Callable[..., object]] = []

    def __call__(self, *arguments: Leaf) -> list[HostArray]:
        given = [on_host(argument, "llvm") for argument in arguments]
        rows = all_with_rows(given)
        if all(map(is_, rows, given)):
            return self._listed(*given)
        if not self._again:
            self._again.append(self._call.function(self._listed, ()))
        return _list(self._again[0](*rows))


class _Listed:
    """The executor as a function of its arrays, but the last few. Its list says that it was not the compiled call."""

    def __init__(self, execute: Execute, others: int = 0) -> None:
        self._execute = execute
        self._others = others

    def __call__(self, *arguments: Leaf) -> list[HostArray]:
        return self._execute(arguments[: len(arguments) - self._others])


def recalled(content: bytes, execute: Execute) -> Compiled:
    """The executable that has this code. Raises `ValueError` if it is none."""
    code = loads(content)
    call = Call(code)
    return Compiled(execute, lambda: (code, call))
