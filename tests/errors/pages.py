"""The catalogue of errors, as data: what stands on the pages of `docs/errors/`.

A page begins with its title, some words, and a program that makes what all others on it use. Each section after that is a
case: a heading that says what the user did, a program, and the whole message that it gives. A case without a message is a new
one, whose message `--accept` writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
INDEX = DOCS / "errors.md"
FOLDER = DOCS / "errors"

_PROGRAM = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
_MESSAGE = re.compile(r"^```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True, slots=True)
class Case:
    """A wrong program. preparation: what runs before it. message: what it must give, empty if that is not written yet."""

    page: Path
    title: str
    preparation: str
    program: str
    message: str

    @property
    def anchor(self) -> str:
        """The end of a link to its heading, as GitHub makes it."""
        return re.sub(r"[^\w\- ]", "", self.title.lower()).replace(" ", "-")

    @property
    def name(self) -> str:
        """Its name among the tests."""
        return f"{self.page.stem}/{self.anchor}"

    @property
    def kind(self) -> str:
        """The name of the error's class."""
        return self.message.partition(":")[0]

    @property
    def first_line(self) -> str:
        """What the error says first, without its class."""
        return self.message.partition("\n")[0].partition(": ")[2]

    @property
    def runs(self) -> bool:
        """Whether the program runs something, so that a backend has a part in it."""
        return re.search(r"\bA\.runN?\b", self.program) is not None


def pages() -> list[Path]:
    """The pages, in the order in which the first page names them."""
    text = INDEX.read_text(encoding="utf-8")
    return sorted(FOLDER.glob("*.md"), key=lambda page: text.find(f"](errors/{page.name}) |"))


def title(page: Path) -> str:
    """What a page is about."""
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")


def cases_of(page: Path) -> Iterator[Case]:
    """The cases of a page, from top to bottom."""
    head, *sections = page.read_text(encoding="utf-8").split("\n## ")
    (preparation,) = _PROGRAM.findall(head)
    for section in sections:
        (program,) = _PROGRAM.findall(section)
        messages = _MESSAGE.findall(section)
        assert len(messages) <= 1, section
        yield Case(page, section.partition("\n")[0], preparation, program, "".join(messages))


def every_case() -> list[Case]:
    """All cases of the catalogue."""
    return [case for page in pages() for case in cases_of(page)]


def accept(case: Case, message: str) -> None:
    """Write the message that a case gives on its page."""
    text = case.page.read_text(encoding="utf-8")
    head = f"\n## {case.title}\n"
    before, _, rest = text.partition(head)
    section, separator, after = rest.partition("\n## ")
    section = f"{_MESSAGE.sub('', section).rstrip()}\n\n```text\n{message}```\n"
    case.page.write_text(before + head + section + separator + after, encoding="utf-8")
