"""What the programs of the catalogue give: the message that a user reads, with file names that are the same everywhere."""

from __future__ import annotations

import linecache

import pytest

from tests.errors.pages import Case

PREPARATION, PROGRAM = "arrays.py", "program.py"
"""The files in which a page's first program and that of a case seem to stand."""


def prepared(case: Case) -> dict[str, object]:
    """The names that the page's first program makes."""
    names: dict[str, object] = {"__name__": "program"}
    _execute(case.preparation, PREPARATION, names)
    return names


def error_of(case: Case, names: dict[str, object]) -> Exception:
    """The error that the case's program ends in."""
    with pytest.raises(Exception) as caught:  # noqa: PT011  # the message says which
        _execute(case.program, PROGRAM, names)
    return caught.value


def message_of(case: Case) -> str:
    """The error of the case's program as text: its class and all that it says."""
    error = error_of(case, prepared(case))
    return f"{type(error).__name__}: {error}\n"


def _execute(source: str, file: str, names: dict[str, object]) -> None:
    """Run a program whose lines Python finds as if they stood in that file."""
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    exec(compile(source, file, "exec"), names)
