"""Pieces of a page: escaped text, links, tables, the user's lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from accel.errors import Where
from accel.explanation.naming.source import Excerpt, Line, excerpts
from accel.explanation.show.picture import array_link

_NAME = re.compile(r"%\d+(?:\.\d+)?")


def text(anything: object) -> str:
    """Any text as a page's: nothing in it is markup, and what cannot be printed is replaced."""
    characters = (c if c.isprintable() or c in "\n\t" else "\ufffd" for c in str(anything))
    return escape("".join(characters))


def link(target: str, markup: str, kind: str = "", title: str = "") -> str:
    """A link within the page; `title` is what it says when it is pointed at."""
    classes = f' class="{kind}"' if kind else ""
    tip = f' title="{text(title)}"' if title else ""
    return f'<a href="#{text(target)}"{classes}{tip}>{markup}</a>'


def named(variable: str, name: str) -> str:
    """The user's variable, and in small what the stages call it; that alone where there is no variable."""
    return f"{text(variable)} <small>{text(name)}</small>" if variable else text(name)


def linked(words: str, arrays: Mapping[str, str]) -> str:
    """A text in which the names of arrays lead to them, and say their variables when they are pointed at."""
    parts, end = [], 0
    for found in _NAME.finditer(words):
        if found[0] in arrays:
            parts += [
                text(words[end : found.start()]),
                link(array_link(found[0]), text(found[0]), "", arrays[found[0]]),
            ]
            end = found.end()
    return "".join([*parts, text(words[end:])])


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells are markup. A head that ends in `#` is that of numbers."""
    kinds = [' class="number"' if head.endswith("#") else "" for head in heads]
    top = "".join(
        f'<th scope="col"{kind}>{text(head.rstrip("#"))}</th>' for head, kind in zip(heads, kinds, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, kinds, strict=True)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def source(places: Iterable[Where | None]) -> str:
    """The user's lines with a few around each; those of the program are marked."""
    return "".join(map(_excerpt, excerpts(places))) or "<p>The file cannot be read.</p>"


def _excerpt(excerpt: Excerpt) -> str:
    width = len(str(excerpt.lines[-1].number))
    lines = "\n".join(_line(line, width) for line in excerpt.lines)
    return (
        f'<figure><figcaption>{text(excerpt.file)}</figcaption><pre class="source" tabindex="0">{lines}</pre></figure>'
    )


def _line(line: Line, width: int) -> str:
    element = "mark" if line.marked else "span"
    return f"<{element}><i>{line.number:>{width}}</i> {text(line.text)}</{element}>"


def block(title: str, markup: str, opened: bool = True) -> str:
    """A part of a section that can be folded, with preformatted markup."""
    return f'<details{" open" if opened else ""}><summary>{text(title)}</summary><pre tabindex="0">{markup}</pre></details>'
