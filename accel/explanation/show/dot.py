"""A picture in Graphviz's language. All texts are escaped, those of the user above all."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import assert_never

from accel.explanation.show.picture import Arrow, Box, Picture, Shape

_FONT = 'fontname="Helvetica,Arial,sans-serif"'

COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "fused": "#1a7f37",
        "kept": "#9a6700",
        "stored": "#0969da",
        "input": "#57606a",
        "view": "#57606a",
        "part": "#57606a",
    }
)
"""Of arrows, by what becomes of their array; of `part`, to a body or branch."""

_SHAPES: Mapping[str, str] = MappingProxyType(
    {
        "operation": 'shape=box style="rounded,filled" fillcolor="#ffffff"',
        "step": 'shape=box style="rounded,dashed"',
        "input": 'shape=box style=filled fillcolor="#f6f8fa"',
        "loop": 'shape=box style=filled fillcolor="#eef2f7"',
        "result": 'shape=box style="rounded,filled" fillcolor="#f6f8fa"',
    }
)

_BOXES: Mapping[str, str] = MappingProxyType(
    {
        "loop": 'style="rounded,filled" color="#8c959f" fillcolor="#eef2f7"',
        "part": 'style=dashed color="#8c959f"',
    }
)


def dot(picture: Picture, links: bool = False) -> str:
    """The graph; with `links`, its parts lead to their places on the page."""
    return "\n".join(_graph(picture, links))


def quoted(text: str) -> str:
    """A string of the language. Graphviz reads backslashes and character entities in labels, so both are escaped."""
    return '"' + "\\n".join(_escaped(line) for line in text.split("\n")) + '"'


def _escaped(text: str) -> str:
    printable = "".join(character if character.isprintable() else " " for character in text)
    return html.escape(printable, quote=False).replace("\\", "\\\\").replace('"', '\\"')


def _graph(picture: Picture, links: bool) -> Iterator[str]:
    yield "digraph program {"
    label = (
        "" if links else f" label={quoted(chr(10).join(picture.notes))}"
    )  # the page has the notes beside the picture
    yield f"  graph [{_FONT} fontsize=11 labelloc=t bgcolor=white pad=0.2 compound=true{label}]"
    yield f'  node [{_FONT} fontsize=10 height=0.3 margin="0.15,0.06"]'
    yield f"  edge [{_FONT} fontsize=9 arrowsize=0.7]"
    yield from _inside(picture, links)
    for number, arrow in enumerate(picture.arrows):
        yield "  " + _arrow(arrow, number, links)
    yield "}"


def _inside(picture: Picture, links: bool) -> Iterator[str]:
    """The nodes and boxes. Boxes are closed by a `None` that waits behind their contents."""
    pending: list[tuple[int, Box | Shape | None]] = [(1, each) for each in picture.within(None)]
    while pending:
        depth, each = pending.pop()
        pad = "  " * depth
        match each:
            case None:
                yield f"{pad}}}"
            case Shape(identifier, lines, kind, _, link):
                look = f"{_SHAPES[kind]} label={quoted(chr(10).join(lines))}"
                yield f"{pad}{identifier} [{look}{_place(kind, link, links)}]"
            case Box(identifier, title, kind, _, link):
                yield f"{pad}subgraph cluster_{identifier} {{"
                look = f"label={quoted(title)} labeljust=l {_BOXES[kind]}"
                yield f"{pad}  graph [{look}{_place(kind, link, links)}]"
                pending.append((depth, None))
                pending += [(depth + 1, inner) for inner in picture.within(identifier)]
            case _:
                assert_never(each)


def _arrow(arrow: Arrow, number: int, links: bool) -> str:
    colour = COLOURS[arrow.style]
    line = "dotted" if arrow.style in ("view", "part") else "dashed" if arrow.memory else "bold"
    look = f'label={quoted(" " + arrow.label)} color="{colour}" fontcolor="{colour}" style={line} tooltip={quoted(arrow.tip)}'
    if arrow.box is not None:
        look += f" lhead=cluster_{arrow.box}"
    return f'{arrow.first} -> {arrow.second} [{look}{_place(f"arrow {arrow.style}", arrow.link, links)} id="arrow{number}"]'


def _place(kind: str, link: str | None, links: bool) -> str:
    """How a script or a style sheet finds a part of the picture, and where it leads."""
    return f' class="{kind}"' + (f' href="#{link}"' if links and link is not None else "")
