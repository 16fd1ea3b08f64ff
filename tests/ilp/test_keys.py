"""The keys of plans: equal for graphs that are equal up to names, different for all others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import Any

import numpy as np

import accel as A
from accel.ilp.cache.keys import graph_key, program_key
from accel.ilp.problem.build import build
from accel.ilp.problem.graph import Edge, Graph, Node
from accel.labelled.array import Extent, SizeVariable
from accel.labelled.nodes import Program
from tests.ilp.random_graphs import draw
from tests.ilp.renamed import renamed
from tests.labelled.programs import AnyAcc, program

XS = np.arange(8.0)


def _with(node: Node, name: str, value: object) -> Node:
    values = {field.name: getattr(node, field.name) for field in fields(Node)}
    return Node(**{**values, name: value})


def changed(graph: Graph) -> Iterator[tuple[str, Graph]]:
    """Graphs that differ from `graph` in one thing."""
    for place, node in enumerate(graph.nodes):
        for field in fields(Node):
            old = getattr(node, field.name)
            if field.name in ("label", "kind", "arrays"):
                continue
            new: object
            match old:
                case bool():
                    new = not old
                case int():
                    new = old + 1
                case str():
                    new = old + "'"
                case tuple():
                    new = (*old, Extent(None, 3))
                case _:
                    new = SizeVariable(99)
            nodes = [*graph.nodes[:place], _with(node, field.name, new), *graph.nodes[place + 1 :]]
            yield f"{field.name} of {place}", replace(graph, nodes=tuple(nodes))
    for place, edge in enumerate(graph.edges):
        rest = [*graph.edges[:place], *graph.edges[place + 1 :]]
        yield f"edge {place} gone", replace(graph, edges=tuple(rest))
        yield f"sites of {place}", replace(graph, edges=(*rest, replace(edge, sites=edge.sites + 1)))
        yield f"passes of {place}", replace(graph, edges=(*rest, replace(edge, passes=edge.passes + 1)))
        yield f"inside of {place}", replace(graph, edges=(*rest, replace(edge, inside=not edge.inside)))
        yield f"moves of {place}", replace(graph, edges=(*rest, replace(edge, moves=(*edge.moves, 9))))
        yield f"slides of {place}", replace(graph, edges=(*rest, replace(edge, slides=not edge.slides)))
    for place in range(len(graph.before)):
        yield f"before {place} gone", replace(graph, before=graph.before[:place] + graph.before[place + 1 :])
    for array in graph.results:
        yield f"result {array.label} gone", replace(graph, results=graph.results - {array})


def test_graphs_that_differ_in_anything_have_different_keys() -> None:
    for seed in range(20):
        graph = draw(seed, 5)
        key = graph_key(graph, None).key
        assert graph_key(renamed(graph), None).key == key
        for what, other in changed(graph):
            assert graph_key(other, None).key != key, what


def test_every_field_of_a_graph_is_in_its_key() -> None:
    """A field that is added to a node, an edge or a graph must be added to `graph_key`, and here."""
    assert {field.name for field in fields(Node)} == {
        "label", "kind", "arrays", "iteration", "name", "backward", "exclusive", "exact", "shrinking", "operations", "loops",
        "filtered", "random", "placed",
    }  # fmt: skip
    assert {field.name for field in fields(Edge)} == {
        "array", "consumer", "role", "sites", "inside", "passes", "moves", "slides",
    }  # fmt: skip
    assert {field.name for field in fields(Graph)} == {"nodes", "edges", "before", "results"}


def test_program_keys_tell_programs_apart() -> None:
    xs, ys = A.use(XS), A.use(XS.copy())
    inputs = A.use(np.array([0, 1]))
    made: dict[object, Program] = {}

    def plus_length(of: AnyAcc) -> AnyAcc:
        return A.map(lambda x: x + A.toFloating(A.length(of), np.float64), xs)

    programs: list[tuple[AnyAcc, ...]] = [
        (A.map(lambda x: x + 1, xs),), (A.map(lambda x: x - 1, xs),), (A.map(lambda x: x + ys[0], xs),),
        (plus_length(ys),), (plus_length(xs),), (A.zipWith(A.add, xs, ys),),
        (A.fold(A.add, 0, xs),), (A.fold1(A.add, xs),), (A.scanl(A.add, 0, xs),), (A.scanr(A.add, 0, xs),),
        (A.scanl1(A.add, xs),), (A.gather(inputs, xs),), (A.filter(lambda x: x > 1, xs)[0],), (A.take(2, xs),),
        (A.map(lambda x: x + 1, xs), A.map(lambda x: x + 1, ys)), (A.map(lambda x: x + 1, xs), ys),
        (A.acond(xs[0] > 1, A.map(lambda x: x + 1, xs), xs),), (A.acond(xs[0] > 1, xs, A.map(lambda x: x + 1, xs)),),
        (A.awhile(lambda s: A.unit(s[0] > 1), lambda s: A.map(lambda x: x - 1, s), xs),),
        (A.awhile(lambda s: A.unit(s[0] > 1), lambda s: A.map(lambda x: x - 1, s), A.map(lambda x: x - 1, xs)),),
        (A.reverse(xs),), (A.generate((5,), lambda i: A.unindex(i)[0]),), (A.generate((6,), lambda i: A.unindex(i)[0]),),
        (A.map(lambda x: A.while_(lambda s: s < 3, lambda s: s + 1, x), xs),),
        (A.map(lambda x: A.cond(x > 1, xs[0] / x, ys[0]), xs),),
    ]  # fmt: skip
    for each in programs:
        key = program_key(program(each), False)
        assert key == program_key(program(each), False)
        assert key not in made
        made[key] = program(each)


def test_program_keys_tell_neighbours_apart_where_they_count() -> None:
    """`xs[i-1]` beside `xs[i]` is one pass, `xs[j-1]` is another one."""
    xs = A.use(XS)

    def beside(ix: A.Exp[tuple[int, int]]) -> A.Exp[Any]:
        i, _ = A.unindex(ix)
        return xs[i - 1] + xs[i]

    def apart(ix: A.Exp[tuple[int, int]]) -> A.Exp[Any]:
        i, j = A.unindex(ix)
        return xs[j - 1] + xs[i]

    one, other = (program((A.generate((3, 3), each),)) for each in (beside, apart))
    assert program_key(one, False) == program_key(other, False)
    assert program_key(one, True) != program_key(other, True)
    assert graph_key(build(one), None) == graph_key(build(other), None)
    assert graph_key(build(one, count_passes=True), None) != graph_key(build(other, count_passes=True), None)


def test_keys_tell_windows_from_what_moves_with_some_indices_only() -> None:
    xs = A.use(XS)

    def window(ix: A.Exp[tuple[int, int, int]]) -> A.Exp[Any]:
        i, j, k = A.unindex(ix)
        return xs[i + j + k]

    def factor(ix: A.Exp[tuple[int, int, int]]) -> A.Exp[Any]:
        i, j, _ = A.unindex(ix)
        return xs[i + j + j]

    one, other = (program((A.generate((3, 3, 3), each),)) for each in (window, factor))
    assert program_key(one, False) != program_key(other, False)
    assert graph_key(build(one), None) != graph_key(build(other), None)
