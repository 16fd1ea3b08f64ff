"""What programs have in common that differ in nothing but their arrays and the places where they were written.

In: the nodes that a user asks for. Out: a key, which is equal for such programs and for no others, and the arrays. A program
that came before is found by it without any other stage. It takes time linear in the number of nodes, and recurses on nothing.

The key lists the nodes in preorder, from right to left: a node that was met before is its number; a new one is its class, what
it says, and the nodes that it is made of. Every field counts but `where`, so that a new kind of node needs nothing here.

Most scalar functions are closed, have no loops and read no arrays. Such a one has a key of its own, made together with it by
the walk that finds out whether it is closed; in the keys of programs that key stands for it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import get_args

from accel.ast.tree.nodes import (
    ArrayNode,
    Conditional,
    Function,
    Key,
    Literal,
    MakeTuple,
    Operation,
    Parameter,
    Project,
    ScalarNode,
    Use,
)
from accel.errors import Where
from accel.support.dataclass import frozen


@frozen
class Structure:
    """`uses`: the nodes that arrays of the host enter by, in the order in which the key numbers them, each array once."""

    key: Key
    uses: tuple[Use, ...]


@frozen
class _Reader:
    """Reads nodes of a class: what they say by themselves, what they are made of, and the places where they were written.

    None where there is nothing to be read.
    """

    says: Callable[[object], object] | None
    parts: Callable[[object], Iterable[object]] | None
    places: Callable[[object], Iterable[object]] | None


def structure(roots: Sequence[ArrayNode], *, places: bool = False) -> Structure:
    """The structure of the program that computes `roots`. The key may hold what has no hash, if a node does.

    `places`: programs that were written in other places have other keys.
    """
    key: list[object] = []
    numbers: dict[object, int] = {}
    uses: dict[tuple[object, ...], tuple[int, Use]] = {}
    work: list[object] = [*roots]
    readers = _READERS  # a function's own names are found sooner
    while work:
        part = work.pop()
        reader = readers.get(type(part))
        if reader is None:
            if isinstance(part, tuple):
                key.append(len(part))
                work += part
            else:
                key.append((part.code, part.instruction) if isinstance(part, Where) else part)
            continue
        count = len(numbers)
        number = numbers.setdefault(part, count)
        if number != count:
            key.append(number)
        elif type(part) is Function and part.key is not None and not places:
            key.append(part.key)
        else:
            key.append(type(part))
            if reader.says is not None:
                key.append(reader.says(part))
            if reader.parts is not None:
                work += reader.parts(part)
            if places and reader.places is not None:
                work += reader.places(part)
            if type(part) is Use:
                key.append(uses.setdefault((part.types, *map(id, part.data)), (len(uses), part))[0])
    return Structure(tuple(key), tuple([use for _, use in uses.values()]))


def scalar_function(parameters: tuple[Parameter, ...], body: ScalarNode) -> Function:
    """A scalar function, with its key if it is closed."""
    return Function(parameters, body, _key(parameters, body))


def _key(parameters: Sequence[Parameter], body: ScalarNode) -> Key | None:
    """What a function computes; None if it uses other variables, has loops, or reads arrays."""
    key: list[object] = [parameter.type for parameter in parameters]
    numbers: dict[ScalarNode, int] = {}
    for parameter in parameters:
        numbers[parameter] = len(numbers)
    work = [body]
    while work:
        node = work.pop()
        count = len(numbers)
        number = numbers.setdefault(node, count)
        if number != count:
            key.append(number)
        elif type(node) is Operation:
            key += (node.operator, node.type)
            work += node.arguments
        elif type(node) is Literal:
            key += (Literal, node.type, _exact(node.value))
        elif type(node) is Project:
            key += (Project, node.type, node.position)
            work.append(node.source)
        elif type(node) is MakeTuple:
            key += (MakeTuple, node.type, len(node.items))
            work += node.items
        elif type(node) is Conditional:
            key += (Conditional, node.type)
            work += (node.condition, node.then, node.orelse)
        else:
            return None
    return tuple(key)


def _literal(node: object) -> tuple[object, object]:
    assert isinstance(node, Literal)
    return node.type, _exact(node.value)


def _exact(value: float) -> object:
    """A number of a type so that equal ones are the same: 0.0 and -0.0 are not."""
    return _BITS.pack(value) if isinstance(value, float) else value


_BITS = struct.Struct("<d")


_NODES: tuple[type[object], ...] = tuple(dict.fromkeys((*get_args(ScalarNode), *get_args(ArrayNode), Function)))

_NAMES = frozenset({"ScalarNode", "ArrayNode", *(kind.__name__ for kind in _NODES)})
"""What the annotations of fields that hold nodes speak of."""


def _reader(kind: type[object]) -> _Reader:
    fields = kind.__annotations__
    parts = [name for name, said in fields.items() if not _NAMES.isdisjoint(re.findall(r"\w+", said))]
    # Of arrays, the types of those that they are made of say theirs. Arrays of the host have no hash: `structure` numbers them.
    silent = {"where", "data", *parts, *(["types"] if parts else [])}
    says = [name for name in fields if name not in silent]
    places = [name for name in fields if name == "where"]
    return _Reader(
        _literal if kind is Literal else attrgetter(*says) if says else None, _fields(parts), _fields(places)
    )


def _fields(names: Sequence[str]) -> Callable[[object], tuple[object, ...]] | None:
    if len(names) > 1:
        return attrgetter(*names)
    return (lambda node: (getattr(node, names[0]),)) if names else None


_READERS: Mapping[type[object], _Reader] = {kind: _reader(kind) for kind in _NODES}
