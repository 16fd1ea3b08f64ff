"""mypy over user programs: what it must accept, with inferred types, and what it must reject (design section 2).

mypy runs once, over all files of `cases/`. An accepted case is an `assert_type`; a rejected one is a line that ends in
`# E: part of the message`. An error on any other line fails.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("mypy")]  # mypy runs over the whole project, once

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ACCEPTED = sorted((HERE / "cases").glob("accepted*.py"))
REJECTED = HERE / "cases" / "rejected.py"
EXPECTED = re.compile(r"# E: (.*)$")
MESSAGE = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): (?P<kind>error|note): (?P<text>.*)")


@cache
def messages() -> dict[tuple[str, int], list[tuple[str, str]]]:
    """What mypy says about the cases: kinds and texts by file name and line."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, ACCEPTED), str(REJECTED)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    found: dict[tuple[str, int], list[tuple[str, str]]] = {}
    for line in result.stdout.splitlines():
        match = MESSAGE.match(line)
        if match and Path(match["file"]).parent.name == "cases":
            place = Path(match["file"]).name, int(match["line"])
            found.setdefault(place, []).append((match["kind"], match["text"]))
    return found


def errors(path: Path, first: int, last: int) -> list[str]:
    """The errors on some lines of a file."""
    lines = range(first, last + 1)
    return [text for line in lines for kind, text in messages().get((path.name, line), []) if kind == "error"]


def accepted() -> list[tuple[Path, int, int]]:
    """File, first and last line of each `assert_type`."""
    return sorted((path, *span) for path in ACCEPTED for span in spans(path))


def spans(path: Path) -> list[tuple[int, int]]:
    """First and last line of each `assert_type` of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    found = [(call.lineno, call.end_lineno) for call in calls if getattr(call.func, "id", "") == "assert_type"]
    return [(first, last) for first, last in found if last is not None]


def rejected() -> dict[int, str]:
    """The lines that must be rejected, with a part of the message."""
    lines = REJECTED.read_text(encoding="utf-8").splitlines()
    matches = ((number, EXPECTED.search(line)) for number, line in enumerate(lines, 1))
    return {number: match[1].strip() for number, match in matches if match}


@pytest.mark.parametrize(
    ("path", "first", "last"), [pytest.param(*case, id=f"{case[0].stem}-{case[1]}") for case in accepted()]
)
def test_type_is_inferred(path: Path, first: int, last: int) -> None:
    assert errors(path, first, last) == []


@pytest.mark.parametrize("line", rejected())
def test_mistake_is_rejected(line: int) -> None:
    found = messages().get((REJECTED.name, line), [])
    assert any(kind == "error" for kind, _ in found), "mypy accepts it"
    assert any(rejected()[line] in text for _, text in found), found


def test_every_mistake_is_rejected() -> None:
    """All of the cases above, of which a plain `pytest` runs few one by one: mypy has run by now."""
    found = {line: messages().get((REJECTED.name, line), []) for line in rejected()}
    assert [line for line, said in found.items() if not any(kind == "error" for kind, _ in said)] == []
    assert [line for line, said in found.items() if not any(rejected()[line] in text for _, text in said)] == []


def test_nothing_else_is_rejected() -> None:
    meant = rejected()
    others = {
        place: texts
        for place, texts in messages().items()
        if any(kind == "error" for kind, _ in texts) and not (place[0] == REJECTED.name and place[1] in meant)
    }
    assert others == {}


def test_there_are_enough_cases() -> None:
    assert len(accepted()) >= 100
    assert len(rejected()) >= 60
