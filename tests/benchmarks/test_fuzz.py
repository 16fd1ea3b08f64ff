"""Whatever is done to a graph file, it is either refused in words or planned."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from accel.ilp.legality.checker import refusal
from accel.ilp.plan import search
from accel.ilp.problem.options import Options
from benchmarks.fusion_graph import graph_of
from benchmarks.fusion_reader import KINDS, GraphFileError, read
from benchmarks.fusion_suite import FILES
from tests.benchmarks.graph_files import Fields, write
from tests.marks import long, slow

VALUES: list[object] = [
    None, True, 0, -1, 3, 2.5, "", "x", "scalar", "n", "n+1", "k", [], {}, [1], {"a": 1}, "stream", "index", "gather-source",
    "scatter-dest", "inner", "all", *KINDS,
]  # fmt: skip


def containers(value: Any) -> list[Any]:  # Any: what JSON holds
    """All objects and lists in a file that are not empty."""
    found, pending = [], [value]
    while pending:
        current = pending.pop()
        if isinstance(current, (dict, list)) and current:
            found.append(current)
            pending += current.values() if isinstance(current, dict) else current
    return found


def break_something(fields: Fields, random: Random) -> None:
    """A value replaced by anything, removed, or taken from elsewhere."""
    place, other = random.choice(containers(fields)), random.choice(containers(fields))
    key = random.choice(list(place) if isinstance(place, dict) else range(len(place)))
    match random.randrange(3):
        case 0:
            place[key] = random.choice(VALUES)
        case 1:
            del place[key]
        case _ if isinstance(other, dict) and key in other:
            place[key] = copy.deepcopy(other[key])


def change_something(fields: Fields, random: Random) -> None:
    """One node is more like another one."""
    node, other = random.sample(fields["nodes"], 2)
    match random.randrange(4):
        case 0 if node["inputs"]:
            random.choice(node["inputs"])["from"] = other["id"]
        case 1 if other["inputs"]:
            node["inputs"] = [*node["inputs"], copy.deepcopy(random.choice(other["inputs"]))]
        case 2:
            node["barrier"] = not node.get("barrier", False)
        case _:
            node["shape"] = other["shape"]


@slow
@pytest.mark.parametrize("count", [30, pytest.param(100, marks=long)])
@pytest.mark.parametrize("name", ["flashattention", "lulesh", "multigrid"])
def test_mutations(name: str, count: int, tmp_path: Path) -> None:
    original = json.loads((FILES / f"{name}.json").read_text(encoding="utf-8"))
    random, options = Random(name), Options(strategy="greedy")
    planned: list[bool] = []
    for _ in range(count):
        fields = copy.deepcopy(original)
        random.choice((break_something, change_something, change_something))(fields, random)
        path = write(tmp_path, fields)
        try:
            drawing = read(path)[0]
        except GraphFileError as error:
            said = str(error)
        else:
            said = ""
            graph = graph_of(drawing)
            assert refusal(graph, search(graph, options).clustering, options.duplicate) is None
        assert not said or (said.startswith(f"{path}: ") and "\n" not in said)
        planned.append(not said)
    assert count // 10 < sum(planned) < count - count // 10
