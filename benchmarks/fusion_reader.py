"""Reading graph files: JSON in, drawings out. Whatever is wrong with a file is said in one line; nothing is guessed."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.fusion_drawing import Drawing, DrawingError, Form, How, Item, Read, Size
from benchmarks.fusion_graph import graph_of

KINDS: Mapping[str, Form] = {**{form.value: form for form in Form}, "backpermute": Form.GATHER, "permute": Form.SCATTER}
"""What a node's `kind` may be."""

_EXTENT = re.compile(r"(?:([A-Za-z_]\w*)(?:\+(\d{1,9}))?|(\d{1,12}))(?:\^([1-9]))?", re.ASCII)
_SHAPE = "extents like n, n+1, 16 or 16^3 separated by commas, or 'scalar'"


class GraphFileError(Exception):
    """A graph file that is none: which file, where in it, what is wrong, what was expected."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in a file something stands."""

    file: str
    steps: tuple[str, ...] = ()

    def at(self, step: str) -> _Place:
        """A place inside of this one."""
        return _Place(self.file, (*self.steps, step))

    def error(self, reason: str) -> GraphFileError:
        """The error that is said of this place."""
        return GraphFileError(
            ": ".join([self.file, ", ".join(self.steps), reason] if self.steps else [self.file, reason])
        )


@dataclass(frozen=True, slots=True)
class _Fields:
    """A JSON object whose field names are known to be right."""

    place: _Place
    fields: Mapping[str, object]

    def wrong(self, name: str, expected: str) -> GraphFileError:
        """The error about one field's value."""
        return self.place.error(f"the field {name!r} is {_shown(self.fields[name])}; expected {expected}")

    def text(self, name: str, default: str | None = None, one_of: Iterable[str] = ()) -> str:
        """A string; one of those given, if some are."""
        value = self.fields.get(name, default)
        allowed = tuple(one_of)
        expected = "one of " + ", ".join(map(repr, allowed)) if allowed else "a string that is not empty"
        if not isinstance(value, str) or not value or (allowed and value not in allowed):
            raise self.wrong(name, expected)
        return value

    def flag(self, name: str) -> bool:
        """True or false; false if it is not there."""
        value = self.fields.get(name, False)
        if not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def count(self, name: str) -> int:
        """A whole number from 1 to a million; 1 if it is not there."""
        value = self.fields.get(name, 1)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 1_000_000:
            raise self.wrong(name, "a whole number from 1 to 1000000")
        return value

    def list(self, name: str) -> list[object]:
        """A list."""
        value = self.fields[name]
        if not isinstance(value, list):
            raise self.wrong(name, "a list")
        return value


def _shown(value: object) -> str:
    """A JSON value, shortened."""
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _fields(place: _Place, value: object, required: Iterable[str], optional: Iterable[str] = ()) -> _Fields:
    """`value` as an object that has all required fields and no unknown ones."""
    if not isinstance(value, dict):
        raise place.error(f"this is {_shown(value)}; expected an object")
    known = [*required, *optional]
    unknown = [name for name in value if name not in known]
    if unknown:
        raise place.error(f"the field {unknown[0]!r} is not known; expected some of {', '.join(map(repr, known))}")
    missing = [name for name in required if name not in value]
    if missing:
        raise place.error(f"the field {missing[0]!r} is missing")
    return _Fields(place, value)


def _shape(node: _Fields) -> tuple[Size, ...]:
    text = node.text("shape")
    if text == "scalar":
        return ()
    found: list[Size] = []
    for part in text.split(","):
        match = _EXTENT.fullmatch(part.strip())
        if match is None or match[1] == "scalar":
            raise node.wrong("shape", _SHAPE)
        size = Size(match[1], int(match[2] or 0)) if match[1] else Size(None, int(match[3]))
        found += [size] * int(match[4] or 1)
    return tuple(found)


def _read(place: _Place, value: object) -> tuple[Read, bool]:
    """An input, and whether it is said to be a scalar."""
    fields = _fields(place, value, ("from", "how"), ("aligned", "reads", "scalar", "component", "cond"))
    how = How(fields.text("how", one_of=(how.value for how in How)))
    aligned = fields.flag("aligned")
    if aligned and how not in (How.STREAM, How.INDEX):
        raise place.error(f"a {how.value!r} cannot be aligned; expected an 'index'")
    if "cond" in fields.fields:
        fields.text("cond")
    component = fields.fields.get("component", 0)
    if isinstance(component, bool) or not isinstance(component, (str, int)):
        raise fields.wrong("component", "a name or a number")
    return Read(fields.text("from"), how, aligned, fields.count("reads")), fields.flag("scalar")


def _item(place: _Place, value: object) -> tuple[Item, list[bool]]:
    """A node, and which of its inputs are said to be scalars."""
    if isinstance(value, dict) and isinstance(value.get("id"), str):
        place = _Place(place.file, (*place.steps[:-1], f"node {value['id']!r}"))
    fields = _fields(place, value, ("id", "kind", "inputs", "shape"), ("barrier", "dims", "src", "desugars_to"))
    name, form = fields.text("id"), KINDS[fields.text("kind", one_of=KINDS)]
    inputs = fields.list("inputs")
    reads = [_read(place.at(f"input {number}"), entry) for number, entry in enumerate(inputs, 1)]
    if "src" in fields.fields:
        fields.text("src")
    if "desugars_to" in fields.fields:
        fields.text("desugars_to", one_of=KINDS)
    dims = fields.text("dims", "inner", one_of=("inner", "all"))
    if "dims" in fields.fields and form is not Form.FOLD:
        raise place.error(f"only a fold has 'dims', this is a {form.value}")
    item = Item(name, form, tuple(read for read, _ in reads), _shape(fields), fields.flag("barrier"), dims == "all")
    return item, [scalar for _, scalar in reads]


def _drawing(place: _Place, name: str, graph: _Fields) -> Drawing:
    """The drawing of one graph of a file."""
    nodes = graph.list("nodes")
    if not nodes:
        raise graph.wrong("nodes", "at least one node")
    items: dict[str, Item] = {}
    scalars: dict[str, list[bool]] = {}
    for number, entry in enumerate(nodes, 1):
        item, said = _item(place.at(f"node {number}"), entry)
        if item.name in items:
            raise place.at(f"node {number}").error(f"the id {item.name!r} is given twice")
        items[item.name], scalars[item.name] = item, said
    for item in items.values():
        at = place.at(f"node {item.name!r}")
        for number, (read, scalar) in enumerate(zip(item.reads, scalars[item.name], strict=True), 1):
            if read.source not in items:
                raise at.at(f"input {number}").error(f"there is no node {read.source!r} to read from")
            if scalar and items[read.source].shape:
                raise at.at(f"input {number}").error(f"{read.source!r} is said to be a scalar, but its shape is not")
    outputs = graph.list("outputs")
    for output in outputs:
        if not isinstance(output, str) or output not in items:
            raise graph.place.at("outputs").error(f"{_shown(output)} is no node; expected ids of nodes")
    return Drawing(name, tuple(items.values()), frozenset(str(output) for output in outputs))


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """A JSON object, in which no field may be given twice."""
    found: dict[str, object] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the field {name!r} is given twice in one object")
        found[name] = value
    return found


def _json(place: _Place, path: Path) -> object:
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise place.error(f"it is not UTF-8: {error.reason} at byte {error.start}") from error
    except (OSError, ValueError) as error:
        raise place.error(f"it cannot be read: {getattr(error, 'strerror', None) or error}") from error
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except json.JSONDecodeError as error:
        raise place.error(f"it is not JSON: line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise place.error("it is nested too deeply") from error
    except ValueError as error:
        raise place.error(str(error)) from error


def read(path: Path) -> list[Drawing]:
    """The graphs of a file: the main one, then the extra ones. Raises GraphFileError, and nothing else, if it is none."""
    place = _Place(str(path))
    top = _fields(
        place, _json(place, path), ("nodes", "outputs"), ("name", "source", "notes", "legend", "extra_graphs")
    )
    for name in ("name", "source", "notes"):
        if name in top.fields:
            top.text(name)
    legend = top.fields.get("legend", {})
    if not isinstance(legend, dict) or not all(isinstance(text, str) for text in legend.values()):
        raise top.wrong("legend", "an object of strings")
    drawings = [(place, _drawing(place, path.stem, top))]
    extras = top.fields.get("extra_graphs", {})
    if not isinstance(extras, dict):
        raise top.wrong("extra_graphs", "an object of graphs")
    for name, graph in extras.items():
        inside = place.at(f"extra graph {name!r}")
        drawings.append(
            (inside, _drawing(inside, f"{path.stem} {name}", _fields(inside, graph, ("nodes", "outputs"), ("notes",))))
        )
    for where, drawing in drawings:
        try:
            graph_of(drawing)
        except DrawingError as error:
            raise where.at(f"node {error.item!r}").error(str(error)) from error
    return [drawing for _, drawing in drawings]
