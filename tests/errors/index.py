"""The first page of the catalogue, `docs/errors.md`: below the words on a class stand an example and all messages of it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from tests.errors.pages import DOCS, INDEX, Case, title

_START, _STOP = "<!-- from the pages -->\n", "<!-- end -->\n"


def listed(cases: Iterable[Case]) -> str:
    """The page with the lists of messages that belong there; all else is as it stands."""
    every = list(cases)
    head, *sections = INDEX.read_text(encoding="utf-8").split("\n## ")
    return head + "".join(f"\n## {_section(section, every)}" for section in sections)


def _section(section: str, every: Iterable[Case]) -> str:
    """The words on a class, one case of it, and the list of all."""
    before, start, rest = section.partition(_START)
    if not start:
        return section
    kind = section.partition("\n")[0]
    cases = [case for case in every if case.kind == kind]
    return f"{before}{_START}\n{_example(cases[0])}{_messages(cases)}{_STOP}{rest.partition(_STOP)[2]}"


def _example(case: Case) -> str:
    return f"```python\n{case.program}```\n\n```text\n{case.message}```\n\n"


def _messages(cases: Iterable[Case]) -> str:
    """What the messages say first, by page, each with links to those who get it."""
    pages: dict[Path, dict[str, list[str]]] = {}
    for case in cases:
        link = f"[{case.title[0].lower()}{case.title[1:]}]({_address(case.page)}#{case.anchor})"
        pages.setdefault(case.page, {}).setdefault(case.first_line, []).append(link)
    return "".join(
        f"[{title(page)}]({_address(page)}):\n\n"
        + "".join(f"* {_as_code(said)}: {', '.join(links)}\n" for said, links in messages.items())
        + "\n"
        for page, messages in pages.items()
    )


def _address(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


def _as_code(text: str) -> str:
    """Text as it stands, in Markdown."""
    return f"`` {text} ``" if "`" in text else f"`{text}`"
