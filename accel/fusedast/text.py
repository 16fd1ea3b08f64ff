"""Fusion trees as text, indented like [vB20 Listing 2]; each node shows its signature `[I | O]`. Stable.

RootOfCluster -> %3
  Vertical %2  [%0:0 %1:0 | %3:0]
    LeafOfCluster %2 map:0
    LeafOfCluster %3 fold:0
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from accel.fusedast.nodes import (
    Diagonal,
    Horizontal,
    LeafOfCluster,
    Node,
    Port,
    Program,
    RootOfCluster,
    Signature,
    Tree,
    Unfused,
    UnfusedAcond,
    UnfusedAwhile,
    Vertical,
)
from accel.fusedast.walk import preorder
from accel.labelled.array import Array
from accel.labelled.nodes import Binding
from accel.labelled.places import name
from accel.labelled.scalar_text import plain_name, shape_text

SHOWN = 16
"""How many arrays of a signature are printed; of further ones, how many there are."""


def text(program: Program) -> str:
    """The whole program."""
    return "\n".join(_program(program))


def tree_text(tree: Tree) -> str:
    """One cluster's tree."""
    return "\n".join("  " * depth + _tree_node(node) for depth, node in preorder(tree))


def _program(program: Program) -> Iterator[str]:
    for node in program.nodes:
        yield from _node(node)
    yield f"return {_arrays(program.results)}".rstrip()


def _node(node: Node) -> Iterator[str]:
    match node:
        case RootOfCluster(tree, results):
            yield f"RootOfCluster -> {_arrays(results)}".rstrip()
            for line in tree_text(tree).splitlines():
                yield "  " + line
        case Unfused(binding):
            yield f"Unfused {_label(binding)}{_typed(binding.arrays)}"
        case UnfusedAcond(binding, condition, then, orelse):
            yield f"Unfused {_label(binding)} on {plain_name(condition)}{_typed(binding.arrays)}"
            yield from _part("then", then)
            yield from _part("else", orelse)
        case UnfusedAwhile(binding, condition, body, initial):
            yield f"Unfused {_label(binding)} from {_arrays(initial)}{_typed(binding.arrays)}"
            yield from _part("while", condition)
            yield from _part("do", body)
        case _:
            assert_never(node)


def _part(title: str, program: Program) -> Iterator[str]:
    parameters = "".join(f" ({_arrays(leaves)}{_typed(leaves)})" for leaves in program.parameters)
    yield f"  {title}{parameters}"
    for line in _program(program):
        yield f"    {line}"


def _tree_node(node: Tree) -> str:
    shown = _signature(node.signature)
    match node:
        case LeafOfCluster(binding, traversal):
            return f"LeafOfCluster {_label(binding)}:{traversal}"
        case Vertical(arrays=arrays):
            return f"Vertical {_arrays(arrays)}  {shown}"
        case Diagonal(kept=kept, discarded=discarded):
            gone = f", discards {_arrays(discarded)}" if discarded else ""
            return f"Diagonal {_arrays(kept)}{gone}  {shown}"
        case Horizontal(shared=shared):
            return f"Horizontal {_ports(shared)}  {shown}"
        case _:
            assert_never(node)


def _label(binding: Binding) -> str:
    return f"%{binding.label} {name(binding)}"


def _signature(signature: Signature) -> str:
    return f"[{_ports(signature.inputs)} | {_ports(signature.outputs)}]"


def _ports(ports: Iterable[Port]) -> str:
    def key(port: Port) -> tuple[int, int, str]:
        return port.array.label, port.array.leaf, "" if port.traversal is None else str(port.traversal)

    names = [
        plain_name(port.array) + ("" if port.traversal is None else f":{port.traversal}")
        for port in sorted(ports, key=key)
    ]
    more = [f"+{len(names) - SHOWN}"] if len(names) > SHOWN else []
    return " ".join(names[:SHOWN] + more)


def _arrays(arrays: Sequence[Array]) -> str:
    return " ".join(map(plain_name, arrays))


def _typed(arrays: Sequence[Array]) -> str:
    if not arrays:
        return ""
    return " : " + ", ".join(f"{array.element}{shape_text(array.shape)}" for array in arrays)
