"""What programs have in common that differ in nothing but their arrays and the places where they were written.

In: the nodes that a user asks for. Out: a key, which is equal for such programs and for no others, and the arrays. A program
that came before is found by it without any other stage. It takes time linear in the number of nodes, and recurses on nothing.

The key lists the nodes in preorder: a node that was met before is its number; a new one is its class, then its fields from left
to right. Every field counts but `where`, so that a new kind of node needs nothing here.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeAlias, get_args

from accel.ast.tree.nodes import ArrayNode, Function, Parameter, ScalarNode, Use
from accel.errors import Where

Key: TypeAlias = tuple[Hashable, ...]


@dataclass(frozen=True, slots=True)
class Structure:
    """`uses`: the nodes that arrays of the host enter by, in the order in which the key numbers them, each array once."""

    key: Key
    uses: tuple[Use, ...]


def structure(roots: Sequence[ArrayNode], *, places: bool = False) -> Structure:
    """The structure of the program that computes `roots`. The key may hold what has no hash, if a node does.

    `places`: programs that were written in other places have other keys.
    """
    all_fields = _FIELDS_AND_PLACES if places else _FIELDS
    key: list[object] = []
    numbers: dict[int, int] = {}
    uses: dict[tuple[object, ...], tuple[int, Use]] = {}
    work: list[object] = list(reversed(roots))
    while work:
        part = work.pop()
        kind = type(part)
        fields = all_fields.get(kind)
        if fields is not None:
            number = numbers.get(id(part))
            if number is not None:
                key.append(number)
                continue
            numbers[id(part)] = len(numbers)
            key.append(kind)
            if isinstance(part, Use):
                same = (part.types, *map(id, part.data))
                key += (uses.setdefault(same, (len(uses), part))[0], part.types)
                if places:
                    work.append(part.where)
            else:
                work += fields(part)
        elif kind is tuple:
            assert isinstance(part, tuple)
            key.append(len(part))
            work += part[::-1]
        elif kind is Where:
            assert isinstance(part, Where)
            key += (part.code, part.instruction)
        else:
            # Equal numbers need not be the same: 0.0 and -0.0, 1 and True.
            key.append(struct.pack("<d", part) if isinstance(part, float) else part)
            key.append(kind)
    return Structure(tuple(key), tuple([use for _, use in uses.values()]))


def _fields(kind: type[object], *, places: bool = False) -> Callable[[object], tuple[object, ...]]:
    """What gives a node's fields, but for `where` unless `places` count, from right to left."""
    names = [name for name in vars(kind)["__match_args__"] if places or name != "where"]
    get = attrgetter(*reversed(names))
    return get if len(names) > 1 else lambda node: (get(node),)


_NODES: tuple[type[object], ...] = (*get_args(ScalarNode), *get_args(ArrayNode), Function, Parameter)
_FIELDS = {kind: _fields(kind) for kind in dict.fromkeys(_NODES)}
_FIELDS_AND_PLACES = {kind: _fields(kind, places=True) for kind in dict.fromkeys(_NODES)}
