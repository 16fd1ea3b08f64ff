"""The llvm backend's executable: a compiled call, and what runs whatever it does not take."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import is_
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from accel.backends.direct import Direct, Forms
from accel.backends.llvm.calls.call import Call
from accel.backends.llvm.calls.code import CallCode, dumps, loads
from accel.backends.llvm.calls.spread import Function, Make, SpreadCalls, Spreads, spreads_of
from accel.backends.llvm.machine.rows import all_with_rows
from accel.backends.residence import on_host
from accel.errors import AccelDeviceError, AccelInternalError, here
from accel.support.forks import load

if TYPE_CHECKING:
    from accel.ast.tree.leaves import Leaf
    from accel.backends.protocol import Executable, HostArray

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
        spread: Make = lambda spreads, arguments: None,
    ) -> None:
        """`make` compiles the call, which takes some milliseconds; it is done when the call is first asked for.

        `take` compiles one whose results may take the memory of arrays; None if none can. `write`: one that is also given
        arrays for its results, and how many. `spread`: one that reads arrays whose rows' elements are not adjacent.
        """
        self._execute = execute
        self._make = make
        self._take = take
        self._write = write
        self._spread = SpreadCalls(spread)
        self._into: list[tuple[Execute | None, int]] = []
        self._taking: dict[frozenset[int], Execute | None] = {}
        self._made: list[tuple[CallCode, Call]] = []
        self._run: list[Callable[..., object]] = []

    def __call__(self, arguments: Sequence[Leaf]) -> list[HostArray]:
        """Run: see `accel.backends.protocol.Executable`."""
        if not self._run:
            call = self._call()[1]
            self._run.append(call.function(_Unusual(self._execute, call, self._spread), ()))
        return _list(self._run[0](*arguments))

    def function(
        self, otherwise: Callable[..., object], constants: Sequence[HostArray], forms: Forms | None = None
    ) -> Callable[..., object] | None:
        """See `accel.backends.direct.Direct`."""
        code, call = self._call()
        make = call.function if forms is None else _formed(call.function, forms, code.threads, views=False)
        return None if make is None else make(otherwise, constants)

    def spread(
        self, arguments: Sequence[HostArray], forms: Forms | None = None, *, now: bool = False
    ) -> Function | None:
        """See `accel.backends.direct.Direct`."""
        spreads = spreads_of(arguments)
        if spreads is None:
            return None
        found = self._spread.make(spreads, arguments) if now else self._spread.made(spreads)
        if found is None or forms is None:
            return found
        return _formed(found, forms, self._call()[0].threads, views=True)

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


def _formed(make: Function, forms: Forms, threads: int, *, views: bool) -> Function | None:
    """What makes functions of nested arguments, where there are such."""
    load("accel.backends.llvm.calls.formed.forms")
    from accel.backends.llvm.calls.formed.forms import formed

    return formed(make, forms, threads, views=views)


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
            raise AccelInternalError("a call gives arrays")


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
    """What follows on a call that does not take its arguments: if they have no rows of adjacent elements, another one."""

    def __init__(self, execute: Execute, call: Call, spread_calls: SpreadCalls) -> None:
        self._listed = _Listed(execute)
        self._call = call
        self._spread_calls = spread_calls
        self._again: dict[Function, Callable[..., object]] = {}

    def __call__(self, *arguments: Leaf) -> list[HostArray]:
        given = [on_host(argument, "llvm") for argument in arguments]
        spreads = spreads_of(given)
        if spreads is not None and (found := self._spread_calls.wanted(spreads, given)) is not None:
            return _list(self._made(found)(*given))
        rows = all_with_rows(given)
        if all(map(is_, rows, given)):
            return self._listed(*given)
        return _list(self._made(self._call.function)(*rows))

    def _made(self, function: Function) -> Callable[..., object]:
        if function not in self._again:
            self._again[function] = function(self._listed, ())
        return self._again[function]


class _Listed:
    """The executor as a function of its arrays, but the last few. Its list says that it was not the compiled call."""

    def __init__(self, execute: Execute, others: int = 0) -> None:
        self._execute = execute
        self._others = others

    def __call__(self, *arguments: Leaf) -> list[HostArray]:
        return self._execute(arguments[: len(arguments) - self._others])


def recalled(content: bytes, whole: Callable[[], Executable]) -> Compiled:
    """The executable that has this code. Raises `ValueError` if it is none. `whole`: the one that can do all."""
    code = loads(content)
    call = Call(code)

    def spread(spreads: Spreads, arguments: Sequence[HostArray]) -> Function | None:
        found = whole()
        return found.spread(arguments, now=True) if isinstance(found, Direct) else None

    return Compiled(lambda arguments: whole()(arguments), lambda: (code, call), spread=spread)
