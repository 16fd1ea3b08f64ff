"""Object code that is no part of a program's call, on disk: what every process needs, and what is compiled at its first need.

In: a name, which says all that code depends on beside accel's own files, the processor, and LLVM's version. Out: object code.
What is found is neither written as text nor compiled, so a process that finds all that it needs never loads LLVM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from accel.backends.llvm.machine.identity import identity
from accel.backends.llvm.machine.target import host
from accel.support.disk import Store
from accel.support.own_files import own_files

OBJECTS = Store("objects", entries=256, size=1 << 24)
"""That of the thread pool, of functions over arrays, and of sorts."""

FUNCTIONS = Store("functions", entries=4096, size=1 << 26)
"""That of functions of programs that are compiled at their first need."""


def kept_object(name: str, text: Callable[[], str], *, quick: bool = True) -> bytes:
    """The object code of a module, compiled if it is not on disk: `quick`, or for what has loops over elements."""
    found = found_objects(OBJECTS, name)
    if found is not None:
        return found[0]
    made = host().compile(text(), quick=quick)
    keep_objects(OBJECTS, name, [made])
    return made


def found_objects(store: Store, name: str) -> list[bytes] | None:
    """What was kept under a name, if anything was."""
    content = store.get(_key(name))
    if content is None:
        return None
    head, _, rest = content.partition(b"\n")
    found = []
    for size in map(int, head.split()):
        found.append(rest[:size])
        rest = rest[size:]
    return found


def keep_objects(store: Store, name: str, objects: Sequence[bytes]) -> None:
    """Keeps what is linked together."""
    store.put(_key(name), b"\n".join([b" ".join(b"%d" % len(each) for each in objects), b"".join(objects)]))


def _key(name: str) -> bytes:
    return f"{own_files()}\n{identity()}\n{name}".encode()
