"""What is said of files that are no graph files: the whole message, for every kind of mistake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from benchmarks.fusion_reader import GraphFileError, read
from tests.benchmarks.graph_files import Fields, node, two_maps, write

Change: TypeAlias = Callable[[Fields], object]
"""Breaks a file; what it returns means nothing."""


def second(fields: Fields) -> Fields:
    """The second node of a file."""
    found = fields["nodes"][1]
    assert isinstance(found, dict)
    return found


def put(**changed: object) -> Change:
    """Other fields of the second node."""
    return lambda fields: second(fields).update(changed)


def without(name: str) -> Change:
    """The second node without a field."""
    return lambda fields: second(fields).pop(name)


def read_by(**changed: object) -> Change:
    """Other fields of the second node's input."""
    return lambda fields: second(fields)["inputs"][0].update(changed)


def with_node(added: object, **changed: object) -> Change:
    """One more node, and other fields of the second one."""
    return lambda fields: (fields["nodes"].append(added), second(fields).update(changed))


def of_a_scalar(**changed: object) -> Change:
    """A scalar is read, by a second node with other fields."""
    return lambda fields: (fields["nodes"][0].update(shape="scalar"), second(fields).update(changed))


def input_without(name: str) -> Change:
    """The second node's input without a field."""
    return lambda fields: second(fields)["inputs"][0].pop(name)


TEXT = "expected a string that is not empty"
WHOLE = "expected a whole number from 1 to 1000000"
FLAG = "expected true or false"
UNKNOWN = "the field 'x' is not known; expected some of"
KINDS = (
    "expected one of 'use', 'generate', 'stencil', 'map', 'gather', 'scatter', 'fold', 'scanl', 'scanr', 'filter', "
    "'reshape', 'backpermute', 'permute'"
)
SHAPE = "expected extents like n, n+1, 16 or 16^3 separated by commas, or 'scalar'"
NO_NODES = "the field 'nodes' is []; expected at least one node"

FILES: list[tuple[str, Change, str]] = [
    ("no nodes", lambda f: f.update(nodes=[]), NO_NODES),
    ("nodes missing", lambda f: f.pop("nodes"), "the field 'nodes' is missing"),
    ("outputs missing", lambda f: f.pop("outputs"), "the field 'outputs' is missing"),
    ("nodes an object", lambda f: f.update(nodes={}), "the field 'nodes' is {}; expected a list"),
    ("outputs a string", lambda f: f.update(outputs="b"), "the field 'outputs' is \"b\"; expected a list"),
    ("output unknown", lambda f: f.update(outputs=["c"]), 'outputs: "c" is no node; expected ids of nodes'),
    ("output a number", lambda f: f.update(outputs=[1]), "outputs: 1 is no node; expected ids of nodes"),
    ("name a number", lambda f: f.update(name=3), f"the field 'name' is 3; {TEXT}"),
    ("legend a list", lambda f: f.update(legend=[]), "the field 'legend' is []; expected an object of strings"),
    ("legend of numbers", lambda f: f.update(legend={"a": 1}),
     "the field 'legend' is {\"a\": 1}; expected an object of strings"),
    ("unknown", lambda f: f.update(x=1),
     f"{UNKNOWN} 'nodes', 'outputs', 'name', 'source', 'notes', 'legend', 'extra_graphs'"),
    ("extras a list", lambda f: f.update(extra_graphs=[]), "the field 'extra_graphs' is []; expected an object of graphs"),
    ("extra a number", lambda f: f.update(extra_graphs={"e": 1}), "extra graph 'e': this is 1; expected an object"),
    ("extra empty", lambda f: f.update(extra_graphs={"e": {"nodes": [], "outputs": []}}), f"extra graph 'e': {NO_NODES}"),
    ("extra wrong", lambda f: f.update(extra_graphs={"e": {"nodes": [node("m", "map", "b")], "outputs": []}}),
     "extra graph 'e', node 'm', input 1: there is no node 'b' to read from"),
]  # fmt: skip

NODES: list[tuple[str, Change, str]] = [
    ("a string", with_node("c"), 'node 3: this is "c"; expected an object'),
    ("null", with_node(None), "node 3: this is null; expected an object"),
    ("no id", without("id"), "node 2: the field 'id' is missing"),
    ("id empty", put(id=""), f"node '': the field 'id' is \"\"; {TEXT}"),
    ("id a number", put(id=7), f"node 2: the field 'id' is 7; {TEXT}"),
    ("id twice", put(id="a"), "node 2: the id 'a' is given twice"),
    ("no kind", without("kind"), "node 'b': the field 'kind' is missing"),
    ("kind unknown", put(kind="mpa"), f"node 'b': the field 'kind' is \"mpa\"; {KINDS}"),
    ("kind a list", put(kind=[]), f"node 'b': the field 'kind' is []; {KINDS}"),
    ("no inputs", without("inputs"), "node 'b': the field 'inputs' is missing"),
    ("inputs a string", put(inputs="a"), "node 'b': the field 'inputs' is \"a\"; expected a list"),
    ("input a string", put(inputs=["a"]), "node 'b', input 1: this is \"a\"; expected an object"),
    ("unknown", put(x=1),
     f"node 'b': {UNKNOWN} 'id', 'kind', 'inputs', 'shape', 'barrier', 'dims', 'src', 'desugars_to'"),
    ("barrier a number", put(barrier=1), f"node 'b': the field 'barrier' is 1; {FLAG}"),
    ("dims unknown", put(dims="outer"), "node 'b': the field 'dims' is \"outer\"; expected one of 'inner', 'all'"),
    ("dims of a map", put(dims="all"), "node 'b': only a fold has 'dims', this is a map"),
    ("src a number", put(src=1), f"node 'b': the field 'src' is 1; {TEXT}"),
    ("desugars to what", put(desugars_to="x"), f"node 'b': the field 'desugars_to' is \"x\"; {KINDS}"),
    ("no shape", without("shape"), "node 'b': the field 'shape' is missing"),
    ("shape a list", put(shape=["n"]), f"node 'b': the field 'shape' is [\"n\"]; {TEXT}"),
    ("no extent", put(shape="n,,m"), f"node 'b': the field 'shape' is \"n,,m\"; {SHAPE}"),
    ("negative", put(shape="-3"), f"node 'b': the field 'shape' is \"-3\"; {SHAPE}"),
    ("arithmetic", put(shape="n*m"), f"node 'b': the field 'shape' is \"n*m\"; {SHAPE}"),
    ("enormous power", put(shape="2^99999"), f"node 'b': the field 'shape' is \"2^99999\"; {SHAPE}"),
    ("enormous extent", put(shape="9" * 80), f"node 'b': the field 'shape' is \"{'9' * 56}...; {SHAPE}"),
    ("scalar as an extent", put(shape="n,scalar"), f"node 'b': the field 'shape' is \"n,scalar\"; {SHAPE}"),
]  # fmt: skip

INPUTS: list[tuple[str, Change, str]] = [
    ("no from", input_without("from"), "the field 'from' is missing"),
    ("from unknown", read_by(**{"from": "z"}), "there is no node 'z' to read from"),
    ("from a number", read_by(**{"from": 1}), f"the field 'from' is 1; {TEXT}"),
    ("no how", input_without("how"), "the field 'how' is missing"),
    ("how unknown", read_by(how="streem"),
     "the field 'how' is \"streem\"; expected one of 'stream', 'index', 'gather-source', 'scatter-dest'"),
    ("aligned a string", read_by(aligned="yes"), f"the field 'aligned' is \"yes\"; {FLAG}"),
    ("aligned source", read_by(aligned=True, how="gather-source"), "a 'gather-source' cannot be aligned; expected an 'index'"),
    ("reads zero", read_by(reads=0), f"the field 'reads' is 0; {WHOLE}"),
    ("reads a fraction", read_by(reads=1.5), f"the field 'reads' is 1.5; {WHOLE}"),
    ("reads true", read_by(reads=True), f"the field 'reads' is true; {WHOLE}"),
    ("scalar a string", read_by(scalar="j"), f"the field 'scalar' is \"j\"; {FLAG}"),
    ("scalar is none", read_by(scalar=True), "'a' is said to be a scalar, but its shape is not"),
    ("component a list", read_by(component=[]), "the field 'component' is []; expected a name or a number"),
    ("cond a number", read_by(cond=1), f"the field 'cond' is 1; {TEXT}"),
    ("unknown", read_by(x=1), f"{UNKNOWN} 'from', 'how', 'aligned', 'reads', 'scalar', 'component', 'cond'"),
]  # fmt: skip

A, B = {"from": "a", "how": "gather-source"}, {"from": "u", "how": "gather-source"}

PROGRAMS: list[tuple[str, Change, str]] = [
    ("a circle", read_by(**{"from": "b"}), "node 'b': these read each other in a circle: 'b' -> 'b'"),
    ("a use that reads", put(kind="use"), "node 'b': a use is an input of the program: it reads nothing"),
    ("a gather of nothing", put(kind="gather"), "node 'b': a gather reads at least one 'gather-source'"),
    ("a scatter into nothing", put(kind="scatter"), "node 'b': a scatter has one 'scatter-dest', this has 0"),
    ("a map with a source", read_by(how="gather-source"), "node 'b': only a gather has a 'gather-source', this is a map"),
    ("a map with a destination", read_by(how="scatter-dest"),
     "node 'b': only a scatter has a 'scatter-dest', this is a map"),
    ("a fold of nothing", put(kind="fold", inputs=[]), "node 'b': a fold reads at least one 'stream'"),
    ("a reshape of nothing", put(kind="reshape", inputs=[]), "node 'b': a reshape reads one 'stream' and nothing else"),
    ("a fold that does not", put(kind="fold"),
     "node 'b': a fold of 'n' has that shape without its innermost dimension, not 'n'"),
    ("a fold to a vector", put(kind="fold", dims="all"), "node 'b': a fold of all dimensions makes a scalar, not 'n'"),
    ("a scan that grows", put(kind="scanl", shape="n+2"),
     "node 'b': a scanl of 'n' has that shape or one element longer, not 'n+2'"),
    ("a scan of a scalar", of_a_scalar(kind="scanr", shape="scalar"),
     "node 'b': a scanr reads at least one dimension, not a scalar"),
    ("a filter of a scalar", of_a_scalar(kind="filter", shape="k"),
     "node 'b': a filter reads at least one dimension, not a scalar"),
    ("a filter of a known size", put(kind="filter", shape="16"),
     "node 'b': the result of a filter has one dimension, named like nothing that is known"),
    ("two filters of one size", with_node(node("c", "filter", "a", shape="k"), kind="filter", shape="k"),
     "node 'c': the size 'k' is already found by filter 'b'"),
    ("an input of a filter's size", with_node(node("u", "use", shape="k"), kind="filter", shape="k"),
     "node 'u': an input of the program cannot have the size that a filter finds"),
    ("a scatter of another shape", with_node(node("c", "scatter", "a", {"from": "b", "how": "scatter-dest"}, shape="m")),
     "node 'c': a scatter has the shape of its destination, 'n', not 'm'"),
    ("sources of two shapes",
     lambda f: f.update(nodes=[node("a", "use"), node("u", "use", shape="m"), node("b", "gather", A, B)]),
     "node 'b': the sources of a gather have one shape, these have 'n' and 'm'"),
    ("a circle of three",
     lambda f: f.update(nodes=[node("p", "map", "r"), node("q", "map", "p"), node("b", "map", "q"), node("r", "map", "b")]),
     "node 'b': these read each other in a circle: 'b' -> 'r' -> 'p' -> 'q' -> 'b'"),
]  # fmt: skip

CASES = [*FILES, *NODES, *((name, change, f"node 'b', input 1: {said}") for name, change, said in INPUTS), *PROGRAMS]


@pytest.mark.parametrize(("change", "message"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_malformed(change: Change, message: str, tmp_path: Path) -> None:
    fields = two_maps()
    change(fields)
    path = write(tmp_path, fields)
    with pytest.raises(GraphFileError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is not JSON: line 1, column 1: Expecting value"),
        (b"{", "it is not JSON: line 1, column 2: Expecting property name enclosed in double quotes"),
        (b"[1]", "this is [1]; expected an object"),
        (b"null", "this is null; expected an object"),
        (b'{"nodes": 1, "nodes": 2}', "the field 'nodes' is given twice in one object"),
        (b"[" * 100_000, "it is nested too deeply"),
        (b'{"a\xff": 1}', "it is not UTF-8: invalid start byte at byte 3"),
    ],
    ids=["empty", "cut off", "a list", "null", "twice", "deep", "not UTF-8"],
)
def test_not_even_json(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_bytes(content)
    with pytest.raises(GraphFileError) as caught:
        read(path)
    assert str(caught.value) == f"{path}: {message}"


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(GraphFileError, match=r"none\.json: it cannot be read: No such file or directory$"):
        read(tmp_path / "none.json")
    with pytest.raises(GraphFileError, match=r"it cannot be read: Is a directory$"):
        read(tmp_path)
