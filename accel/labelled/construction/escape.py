"""Variables stay within their functions: the state of an `awhile`, the arguments of a `runN` function.

In: the nodes that are asked for. Raises `AccelStagingError` where one of them uses such an array from outside, because Python
code kept it. (Scalar variables are checked when a combinator is built: `accel/ast/handles/function.py`.)
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.nodes import ArrayNode, ArrayParameter
from accel.ast.tree.walk import escaping, postorder
from accel.errors import AccelStagingError, here
from accel.labelled.construction.graph import Graph, state


def forbid_escape(results: Sequence[ArrayNode], given: Sequence[ArrayParameter], graph: Graph) -> None:
    """Raise `AccelStagingError` if `results` depend on a variable that is neither `given` nor bound around its use."""
    bound = frozenset(given)

    def children(node: ArrayNode) -> list[ArrayNode]:
        return [child for child, _ in graph.children(node)]

    def is_variable(node: ArrayNode) -> bool:
        return isinstance(node, ArrayParameter) and node not in bound

    order = postorder(results, children)
    free = escaping(order, children, is_variable, lambda node: state(node) or (), results)
    for node in order:
        if node in free:
            raise _leaked(node, results, graph)


def _leaked(variable: ArrayNode, results: Sequence[ArrayNode], graph: Graph) -> AccelStagingError:
    def outside(node: ArrayNode) -> list[ArrayNode]:
        binds = variable in (state(node) or ())
        return [child for child, part in graph.children(node) if part is None or not binds]

    users = (node for node in postorder(results, outside) if variable in outside(node))
    user = next(users, None)
    return AccelStagingError(
        "a variable of a function that was passed to awhile or runN is used outside of that function",
        here() if user is None else user.where,
        others=(("it belongs to this call:", variable.where),),
        hint="return it, as a part of the state or as one more result: what the call itself gives may be used anywhere",
    )
