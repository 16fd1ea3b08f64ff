"""`put`: arrays of the host are copied to a device, to be used by many programs there."""

from __future__ import annotations

from typing import Any, TypeVar, overload

import numpy as np

from accel import settings as setting
from accel.ast.combinators.host.arrays import taken
from accel.ast.handles.host_types import Foreign, Placed
from accel.ast.tree.leaves import to_host
from accel.backends.choose import AnyBackend
from accel.backends.choose import backend as backend_of
from accel.device_array import DeviceArray
from accel.errors import AccelDeviceError, AccelError, AccelMemoryError, Where, here

S = TypeVar("S", bound=tuple[Any, ...])
G = TypeVar("G", bound=np.generic)
Other = TypeVar("Other", bound=Foreign)


@overload
def put(x: Placed[S, G], *, backend: str | None = None) -> DeviceArray[S, G]: ...
@overload
def put(x: tuple[Any, ...], *, backend: str | None = None) -> tuple[Any, ...]: ...
@overload
def put(x: Other, *, backend: str | None = None) -> DeviceArray[Any, Any]: ...
def put(x: object, *, backend: str | None = None) -> object:
    """Copy an array to a device, for programs there: a `DeviceArray`, which `use` and compiled functions take as it is.

    x: what `use` takes; of a tuple each part is put, so that `use` takes the result as it takes `x`. An array of another device
    is brought over; one that is there already stays as it is. `backend`: where to, as in `using`, which says it by default. On
    `llvm` and `interpreter` the copy lies in the host's memory. Later changes of `x` do not matter. Raises `AccelTypeError` as
    `use` does, `AccelMemoryError`, and `AccelDeviceError` if the device is missing.

    >>> xs = A.put(np.arange(4), backend="llvm")
    >>> A.runN(A.sum, backend="llvm")(xs).get()
    array(6)
    """
    where = here()
    settings = setting.changed({} if backend is None else {"backend": backend})
    try:
        return _put(x, settings.backend, _found(settings.backend, settings.threads, where), where)
    except AccelError:
        raise
    except MemoryError as error:
        hint = "arrays there are given back when nothing refers to them any more: `del xs`"
        raise AccelMemoryError(f"no memory for an array on {settings.backend}: {error}", where, hint=hint) from error


def _found(name: str, threads: int, where: Where | None) -> AnyBackend:
    try:
        return backend_of(name, threads)
    except AccelDeviceError as error:
        raise AccelDeviceError(error.message, where, hint=error.hint) from error


def _put(x: object, name: str, target: AnyBackend, where: Where | None) -> object:
    """It recurses on nested tuples of arrays only."""
    if isinstance(x, tuple) and x:
        parts = tuple([_put(part, name, target, where) for part in x])
        return tuple.__new__(type(x), parts) if hasattr(x, "_fields") else parts
    if isinstance(x, DeviceArray) and x.backend == name:
        return x
    element, leaves = taken(x, where)
    return DeviceArray(tuple([target.put(to_host(leaf)) for leaf in leaves]), element, name)
