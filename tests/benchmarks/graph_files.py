"""Graph files for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeAlias

# What stands in a JSON file may be anything.
Fields: TypeAlias = dict[str, Any]


def node(name: str, kind: str, *inputs: str | Fields, shape: str = "n", **more: object) -> Fields:
    """A node; inputs that are names are streams."""
    reads = [{"from": read, "how": "stream"} if isinstance(read, str) else read for read in inputs]
    return {"id": name, "kind": kind, "inputs": reads, "shape": shape, **more}


def two_maps() -> Fields:
    """A file with an input and a map of it, `b`."""
    return {"nodes": [node("a", "use"), node("b", "map", "a")], "outputs": ["b"]}


def write(folder: Path, fields: Fields) -> Path:
    """A file with these fields."""
    path = folder / "graph.json"
    path.write_text(json.dumps(fields), encoding="utf-8")
    return path


def without_alignment(path: Path, folder: Path) -> Path:
    """A copy of a graph file in which no load is said to be aligned."""
    fields = json.loads(path.read_text(encoding="utf-8"))
    for entry in fields["nodes"]:
        for read in entry["inputs"]:
            read.pop("aligned", None)
    return write(folder, fields)
