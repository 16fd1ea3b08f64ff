"""A picture in Mermaid's language."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import assert_never

from accel.explanation.show.dot import COLOURS
from accel.explanation.show.picture import Box, Picture, Shape

_BRACKETS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {"operation": ("(", ")"), "step": ("[", "]"), "input": ("(", ")"), "loop": ("[", "]"), "result": ("([", "])")}
)

_ENTITIES = str.maketrans(
    {"#": "#35;", '"': "#quot;", "<": "#lt;", ">": "#gt;", "&": "#amp;", "`": "#96;", "\\": "#92;"}
)


def mermaid(picture: Picture) -> str:
    """The graph: thick arrows are fused, dotted ones go through memory."""
    return "\n".join(_graph(picture))


def quoted(text: str) -> str:
    """A label. Two per cent signs would begin a comment, whatever is around them."""
    printable = "".join(character if character.isprintable() or character == "\n" else " " for character in text)
    return '"' + printable.translate(_ENTITIES).replace("%%", "%#37;").replace("\n", "<br/>") + '"'


def _graph(picture: Picture) -> Iterator[str]:
    yield "flowchart TB"
    for note in picture.notes:
        yield f"  %% {' '.join(note.split())}"
    yield from _contents(picture)
    for arrow in picture.arrows:
        line = "-.->" if arrow.memory else "==>"
        label = f"|{quoted(arrow.label)}|" if arrow.label else ""
        yield f"  {arrow.first} {line}{label} {arrow.box or arrow.second}"
    for style, colour in COLOURS.items():
        numbers = [str(number) for number, arrow in enumerate(picture.arrows) if arrow.style == style]
        if numbers:
            yield f"  linkStyle {','.join(numbers)} stroke:{colour}"


def _contents(picture: Picture) -> Iterator[str]:
    pending: list[tuple[int, Box | Shape | None]] = [(1, each) for each in picture.within(None)]
    while pending:
        depth, each = pending.pop()
        pad = "  " * depth
        match each:
            case None:
                yield f"{pad}end"
            case Shape(identifier, lines, kind):
                left, right = _BRACKETS[kind]
                yield f"{pad}{identifier}{left}{quoted(chr(10).join(lines))}{right}"
            case Box(identifier, title):
                yield f"{pad}subgraph {identifier}[{quoted(title)}]"
                pending.append((depth, None))
                pending += [(depth + 1, inner) for inner in picture.within(identifier)]
            case _:
                assert_never(each)
