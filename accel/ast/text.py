"""The program as the user would write it: one line for each array computation.

In: array and scalar nodes. Out: text, stable, of a length linear in the number of nodes: arrays are numbered
in the order of evaluation, scalar expressions that are used twice are named by `let`.
"""

from __future__ import annotations

from accel.ast.arrays import ArrayNode
from accel.ast.scalar import ScalarNode


def text(results: tuple[ArrayNode, ...]) -> str:
    """The program that computes `results`."""
    return f"{len(results)} results"


def scalar_text(node: ScalarNode) -> str:
    """A scalar expression."""
    return str(node.type)
