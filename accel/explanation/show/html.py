"""An explanation as one page, which needs nothing but a browser.

Everything is in the page as ordinary markup, one section for each loop and each array; the script shows the one that was
clicked and hides the others. No text of the user is in the script, and no other script may run.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
import time
from collections.abc import Iterator
from importlib.resources import files
from itertools import zip_longest
from os import PathLike
from pathlib import Path

from accel.errors import AccelError
from accel.explanation.facts.explained import Explained
from accel.explanation.facts.facts import ClusterReport
from accel.explanation.naming.source import short_place
from accel.explanation.show.dot import dot
from accel.explanation.show.html_pieces import link, table, text
from accel.explanation.show.html_sections import STATUS, Sections
from accel.explanation.show.picture import draw, loop_link
from accel.explanation.show.report import counts, proof
from accel.explanation.show.svg import svg_or_none
from accel.explanation.show.words import without_counters
from accel.explanation.why.reasons import RULES


def write_page(explanation: Explained, path: str | PathLike[str]) -> None:
    """Writes the page beside its place and moves it there, so that no half page is ever found. Raises `AccelError`."""
    data = page(explanation).encode(errors="replace")
    problem = f"the page cannot be written to {os.fspath(path)!r}"
    try:
        target = Path(path).resolve()  # a link stays, and what it leads to is replaced
        if target.exists() and not target.is_file():
            raise AccelError(f"{problem}, which is no file", hint="name a file, such as out.html")
        part = target.with_name(f".accel.{os.getpid()}.{time.monotonic_ns()}")
        try:
            part.write_bytes(data)
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # a name with a NUL is a ValueError
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        hint = "name a file in a folder that exists and may be written to"
        raise AccelError(f"{problem}: {reason}", hint=hint) from None


def page(explanation: Explained) -> str:
    """The whole page."""
    style, script = (
        files("accel.explanation.show").joinpath(name).read_text("utf-8") for name in ("page.css", "page.js")
    )
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:"
    explanation = without_counters(explanation)
    sections = Sections(explanation)
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            f"<title>accel: {text(explanation.name)}</title>\n<style>\n{style}</style>\n</head>\n<body>",
            f"<header><h1>{text(explanation.name)}</h1>{_facts(explanation)}</header>\n<main>",
            '<div class="left">',
            *_picture(explanation),
            '<div class="lists">',
            *_loops(explanation, sections),
            *_arrays(explanation, sections),
            '</div></div>\n<div class="right">',
            *_overview(explanation, sections),
            *map(sections.loop, explanation.clusters),
            *map(sections.array, explanation.arrays),
            f"</div>\n</main>\n<script>{script}</script>\n</body>\n</html>\n",
        ]
    )


def _facts(explanation: Explained) -> str:
    before, after = explanation.strategies["none"], explanation
    moved = [each.bytes_read + each.bytes_written for each in (before, after)]
    facts = [
        (f"{before.loops} → {after.loops}", "loops, unfused and fused"),
        (f"{moved[0]:,} → {moved[1]:,}", "bytes moved, unfused and fused"),
        (
            proof(explanation),
            f"strategy {explanation.strategy}, cost {explanation.cost_model}",
        ),
        (f"{explanation.solve_seconds * 1e3:.1f} ms", "to find the clustering"),
    ]
    items = "".join(f"<li><b>{text(value)}</b> {text(words)}</li>" for value, words in facts)
    return f'<ul class="facts">{items}</ul>'


def _picture(explanation: Explained) -> Iterator[str]:
    picture = draw(explanation)
    drawn = svg_or_none(dot(picture, links=True))
    if drawn is None:
        return
    # Without the head of a file, and as wide as there is place, but never so small that nothing can be read.
    found = re.search(r'<svg width="(\d+)pt" height="\d+pt"', drawn)
    if found is None:
        return
    width = int(found[1])
    size = f"width:{width}pt;min-width:{min(width, max(320, width * 6 // 10))}pt"
    drawing = f'<svg role="group" aria-label="The graph" style="{size}"{drawn[found.end() :]}'
    legend = " ".join(f'<span class="chip {status}">{status}</span>' for status in STATUS)
    yield f'<details class="picture" open><summary>The graph</summary>{_TOOLS}<div tabindex="0">{drawing}</div>'
    yield f"<p>{legend} Bold arrows stay in a loop, dashed ones go through memory, "
    yield "dotted ones lead to other names of arrays, to bodies and branches. Click a loop or an arrow. "
    yield f"{text('; '.join(picture.notes[1:]))}</p></details>"


_TOOLS = (
    '<p class="tools" role="group" aria-label="Size of the graph">'
    + "".join(f'<button type="button" data-zoom="{what}" title="{title}">{sign}</button>' for what, title, sign in (
        ("in", "larger (also Ctrl and the mouse wheel)", "+"), ("out", "smaller", "−"), ("fit", "all of it", "fit"),
        ("width", "as wide as there is place", "width"),
    ))
    + "</p>"
)  # fmt: skip
"""Only a script makes them work, so only with a script are they shown."""


def _loops(explanation: Explained, sections: Sections) -> Iterator[str]:
    yield '<nav aria-label="Loops"><h2>Loops</h2>'
    yield '<p class="filter"><label>Show only <input type="search" placeholder="fold, %3, a file"></label></p><ol>'
    where = {operation.name: short_place(operation.where) for operation in explanation.operations}
    for cluster in explanation.clusters:
        yield _card(cluster, sections, list(dict.fromkeys(where[name] for name in cluster.operations)))
    yield "</ol></nav>"


def _card(cluster: ClusterReport, sections: Sections, places: list[str]) -> str:
    shown, rest = cluster.operations[:12], len(cluster.operations) - 12
    operations = sections.operations(shown) + (f" and {rest} more" if rest > 0 else "")
    part = f" <small>in {text(sections.words.sentence(' / '.join(cluster.part)))}</small>" if cluster.part else ""
    updates = f", updates {' '.join(sections.chip(each.array) for each in cluster.updates)}" if cluster.updates else ""
    return (
        f'<li class="card">{link(loop_link(cluster.number), text(cluster.heading))}{part}<br>{operations}'
        f"<br><small>{text(', '.join(filter(None, places[:4])))}</small>"
        f"<br>{sections.chips(cluster.read_arrays)} → {sections.chips(cluster.written_arrays)}{updates}</li>"
    )


def _arrays(explanation: Explained, sections: Sections) -> Iterator[str]:
    yield '<nav aria-label="Arrays"><h2>Arrays</h2>'
    rows = [
        (sections.chip(array.name), text(array.type), text(array.status), text(array.producer), text(short_place(array.where)))
        for array in explanation.arrays
    ]  # fmt: skip
    yield table(("array", "type", "status", "made by", "your line"), rows) + "</nav>"


def _number(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def _overview(explanation: Explained, sections: Sections) -> Iterator[str]:
    """What is shown before anything is clicked: costs, strategies, rules."""
    yield '<section id="overview" class="detail" tabindex="-1"><h2>Overview</h2>'
    sizes = ", ".join(f"{name} = {value:,}" for name, value in explanation.sizes.items()) or "1,024 for every extent"
    yield f"<p>The program reads {text(counts(explanation.reads))} and writes {text(counts(explanation.writes))}: "
    yield f"{explanation.bytes_read:,} and {explanation.bytes_written:,} bytes with {text(sizes)}.</p>"
    if explanation.extents:
        items = "".join(f"<dt>{text(name)}</dt><dd>{text(what)}</dd>" for name, what in explanation.extents.items())
        yield f"<h3>Extents</h3><dl>{items}</dl>"
    costs = zip_longest(explanation.unfused, explanation.cost, explanation.bound)
    rows = [(text(level), *map(_number, numbers)) for level, numbers in zip(explanation.levels, costs, strict=False)]
    yield "<h3>Cost</h3>" + table(("level", "unfused#", "this clustering#", "lower bound#"), rows)
    yield "<p>Levels count in this order: the second decides only where the first is equal.</p>"
    yield "<h3>Other strategies</h3>" + table(
        ("strategy", "cost#", "loops#", "bytes moved#", "ms#"),
        [
            (
                text(name), ", ".join(f"{number:,}" for number in each.cost), str(each.loops),
                f"{each.bytes_read + each.bytes_written:,}", f"{each.solve_seconds * 1e3:.1f}",
            )
            for name, each in explanation.strategies.items()
        ],
    )  # fmt: skip
    if explanation.copies:
        items = "".join(f"<li>{text(sections.words.sentence(str(copy)))}</li>" for copy in explanation.copies)
        yield f"<h3>Recomputation</h3><ul>{items}</ul>"
    used = {line.rule for array in explanation.arrays for line in (*array.why_not, *array.why_not_again)}
    if used:
        rules = "".join(f"<dt>{text(rule)}</dt><dd>{text(RULES[rule])}</dd>" for rule in RULES if rule in used)
        yield f"<h3>Rules that keep arrays in memory here</h3><dl>{rules}</dl>"
    yield "</section>"
