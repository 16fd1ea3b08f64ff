"""The machine code of a program's call, as data: what is kept on disk, and linked in another process.

A call needs nothing else to run: no text, no nest, no other stage.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from accel.ast.tree.types import ScalarType
from accel.backends.llvm.machine.late_code import LateNames
from accel.backends.llvm.sorting.order import Order
from accel.support.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Unit:
    """Object code that is linked together, and the functions of it that later units call, with `prefix` before their names.

    late: what it calls that is compiled when it is first needed.
    """

    objects: tuple[bytes, ...]
    exports: tuple[str, ...]
    prefix: str
    late: tuple[LateNames, ...]


@dataclass(frozen=True, slots=True)
class CallCode:
    """Units in the order in which they are linked, the call last; the element types whose NumPy descriptors it imports.

    threads: work on each nest. sorts: what rows are put in order, by functions of Python that the call imports.
    """

    units: tuple[Unit, ...]
    elements: tuple[ScalarType, ...]
    threads: int
    sorts: tuple[Order, ...]


def dumps(code: CallCode) -> bytes:
    """A line that says what follows, and the objects one after the other."""
    units = [
        [
            [len(each) for each in unit.objects],
            unit.exports,
            unit.prefix,
            [[names.name, names.count, names.digest] for names in unit.late],
        ]
        for unit in code.units
    ]
    sorts = [[[key.value for key in each.keys], each.places, each.descending, each.first] for each in code.sorts]
    head = json.dumps([units, [element.value for element in code.elements], code.threads, sorts]).encode()
    return b"\n".join([head, b"".join(each for unit in code.units for each in unit.objects)])


def loads(content: bytes) -> CallCode:
    """What `dumps` wrote. Raises `ValueError` for anything else that a file may hold by accident."""
    head, _, rest = content.partition(b"\n")
    units, elements, threads, sorts = json.loads(head)
    start = 0
    found: list[Unit] = []
    for sizes, exports, prefix, late in units:
        if not isinstance(prefix, str):
            raise ValueError("a prefix is a text")
        objects = []
        for size in sizes:
            objects.append(rest[start : start + size])
            start += size
        names = [LateNames(str(name), int(count), str(digest)) for name, count, digest in late]
        found.append(Unit(tuple(objects), _names(exports), prefix, tuple(names)))
    if start != len(rest):
        raise ValueError("the objects are not as long as they are said to be")
    orders = [
        Order(tuple(map(ScalarType, keys)), bool(places), bool(descending), None if first is None else int(first))
        for keys, places, descending, first in sorts
    ]
    return CallCode(tuple(found), tuple(map(ScalarType, elements)), int(threads), tuple(orders))


def _names(exports: Sequence[str]) -> tuple[str, ...]:
    return tuple([str(name) for name in exports])
