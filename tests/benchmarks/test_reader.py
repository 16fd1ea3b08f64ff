"""Graph files: what is in the three that we have, and what graphs become of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from accel.ilp.plan import search
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.labelled.operations import Kind
from benchmarks.fusion_drawing import Drawing
from benchmarks.fusion_graph import graph_of
from benchmarks.fusion_reader import read
from benchmarks.fusion_suite import FILES
from tests.benchmarks.graph_files import Fields, node, without_alignment, write


def test_the_files_have_the_nodes_and_edges_that_their_text_has() -> None:
    for path in FILES.glob("*.json"):
        top = json.loads(path.read_text(encoding="utf-8"))
        graphs = [top, *top.get("extra_graphs", {}).values()]
        for drawing, graph in zip(read(path), graphs, strict=True):
            assert [item.name for item in drawing.items] == [entry["id"] for entry in graph["nodes"]]
            assert drawing.edges == sum(len(entry["inputs"]) for entry in graph["nodes"])
            assert drawing.operations == sum(entry["kind"] != "use" for entry in graph["nodes"])


@pytest.mark.parametrize(
    ("file", "counts"),
    [
        ("flashattention", [(30, 47), (21, 25), (14, 17)]),
        ("lulesh", [(21, 52)]),
        ("multigrid", [(61, 77), (3, 0), (1, 2), (5, 6)]),
    ],
)
def test_operations_and_edges(file: str, counts: list[tuple[int, int]]) -> None:
    assert [(drawing.operations, drawing.edges) for drawing in read(FILES / f"{file}.json")] == counts


def optimum(drawing: Drawing, options: Options) -> tuple[int, ...]:
    """The proved optimum."""
    answer = search(graph_of(drawing), options)
    assert answer.proved
    return answer.cost


PAPER = Options(cost="reads_writes", duplicate="published")
"""Reads and writes, an array of tuples counting one, every push allowed: what the files' figures are for."""


@pytest.mark.parametrize(
    ("file", "number", "cost"), [("flashattention", 0, 28), ("flashattention", 1, 12), ("multigrid", 0, 55)]
)
def test_known_optima(file: str, number: int, cost: int) -> None:
    """Found before by other formulations, and by brute force of a checker of its own."""
    assert optimum(read(FILES / f"{file}.json")[number], PAPER) == (cost,)


def test_the_optimum_of_lulesh_counts_aligned_loads(tmp_path: Path) -> None:
    """20, as known, where every load by index is free; but what is loaded at the own index is a stream, and costs a read."""
    assert optimum(read(without_alignment(FILES / "lulesh.json", tmp_path))[0], PAPER) == (20,)
    assert optimum(read(FILES / "lulesh.json")[0], PAPER) == (26,)


def test_work_that_is_not_multiplied_costs_two_accesses() -> None:
    """`custom`, 12 with every push: the fold `sm` runs again for every column that `rcr` replicates its result to."""
    custom = read(FILES / "flashattention.json")[1]
    assert optimum(custom, Options(cost="reads_writes")) == (14,)


def graph(tmp_path: Path, nodes: list[Fields], outputs: list[str] | None = None) -> Graph:
    """The graph of a file with these nodes."""
    (drawing,) = read(write(tmp_path, {"nodes": nodes, "outputs": outputs or []}))
    return graph_of(drawing)


def kinds(found: Graph) -> list[tuple[str, Kind]]:
    """Names and kinds of all nodes."""
    return [(made.name, made.kind) for made in found.nodes]


def test_aligned_loads_make_a_map(tmp_path: Path) -> None:
    load = {"from": "a", "how": "index", "aligned": True}
    found = graph(
        tmp_path, [node("a", "use"), node("b", "generate", load), node("c", "generate", {**load, "aligned": False})]
    )
    assert kinds(found) == [("a", Kind.BARRIER), ("b", Kind.MAP), ("c", Kind.GENERATE)]


def test_a_stream_of_another_shape_is_read_through_a_reshape(tmp_path: Path) -> None:
    found = graph(
        tmp_path,
        [
            node("a", "use", shape="n,m"),
            node("b", "map", "a", shape="k"),
            node("c", "fold", "a", shape="scalar", dims="all"),
        ],
    )
    assert kinds(found) == [
        ("a", Kind.BARRIER), ("reshape", Kind.BARRIER), ("b", Kind.MAP), ("reshape", Kind.BARRIER), ("c", Kind.FOLD)
    ]  # fmt: skip


def test_a_barrier_is_stored(tmp_path: Path) -> None:
    found = graph(tmp_path, [node("a", "use"), node("b", "map", "a", barrier=True), node("c", "map", "b")])
    assert kinds(found) == [("a", Kind.BARRIER), ("b", Kind.MAP), ("force", Kind.BARRIER), ("c", Kind.MAP)]
    assert search(found, Options(cost="reads_writes")).cost == (4,)


def test_a_scatter_overwrites_a_copy_of_what_is_still_needed(tmp_path: Path) -> None:
    into = {"from": "b", "how": "scatter-dest"}
    nodes = [node("a", "use"), node("b", "map", "a"), node("c", "permute", "a", into)]
    assert kinds(graph(tmp_path, nodes)) == [("a", Kind.BARRIER), ("b", Kind.MAP), ("c", Kind.SCATTER)]
    assert [name for name, _ in kinds(graph(tmp_path, [*nodes, node("d", "map", "b")]))] == ["a", "b", "copy", "c", "d"]
    assert [name for name, _ in kinds(graph(tmp_path, nodes, ["b"]))] == ["a", "b", "copy", "c"]


def test_an_earlier_reader_of_a_destination_is_done_before(tmp_path: Path) -> None:
    into = {"from": "b", "how": "scatter-dest"}
    found = graph(
        tmp_path, [node("a", "use"), node("b", "map", "a"), node("c", "map", "b"), node("d", "scatter", "a", into)]
    )
    assert found.before == ((2, 3),)


def test_what_has_a_filters_size_comes_after_it(tmp_path: Path) -> None:
    found = graph(tmp_path, [node("g", "generate", shape="k"), node("a", "use"), node("f", "filter", "a", shape="k")])
    assert [made.name for made in found.nodes] == ["a", "f", "g"]
    assert found.before == ((1, 2),)


def test_a_reshape_to_a_filters_size_comes_after_it(tmp_path: Path) -> None:
    found = graph(tmp_path, [node("a", "use"), node("b", "map", "a", shape="k"), node("f", "filter", "a", shape="k")])
    assert [made.name for made in found.nodes] == ["a", "f", "reshape", "b"]
    assert found.before == ((1, 2),)


def test_scans_from_either_side_and_one_longer(tmp_path: Path) -> None:
    found = graph(tmp_path, [node("a", "use"), node("l", "scanl", "a", shape="n+1"), node("r", "scanr", "a")])
    assert [(made.exclusive, made.backward) for made in found.nodes[1:]] == [(True, False), (False, True)]


def test_gathers_know_whether_they_shrink(tmp_path: Path) -> None:
    def source(name: str) -> Fields:
        return {"from": name, "how": "gather-source"}

    nodes = [
        node("a", "use", shape="n,m"), node("t", "gather", source("a"), shape="m,n"),
        node("s", "gather", source("a"), shape="m"),
        node("r", "backpermute", source("a"), shape="n,m,k"), node("b", "use", shape="16^2"),
        node("h", "gather", source("b"), shape="8^2"), node("g", "gather", source("b"), shape="512"),
    ]  # fmt: skip
    found = graph(tmp_path, nodes)
    shrinking = {made.name for made in found.nodes if made.shrinking}
    assert shrinking == {"t", "s", "h"}


def test_a_graph_with_nothing_to_do_is_planned(tmp_path: Path) -> None:
    assert search(graph(tmp_path, [node("a", "use")]), Options()).cost == (0, 0, 0)
