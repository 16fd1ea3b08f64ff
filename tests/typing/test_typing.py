"""mypy over user programs: what it must accept, with inferred types, and what it must reject (docs/ast.md).

mypy runs over all files of `cases/`. An accepted case is an `assert_type`; a rejected one is a line that ends in
`# E: part of the message`. An error on any other line fails.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.marks import slow

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ACCEPTED = sorted((HERE / "cases").glob("accepted*.py"))
REJECTED = HERE / "cases" / "rejected.py"
EXPECTED = re.compile(r"# E: (.*)$")
MESSAGE = re.compile(r"(?P<file>[^:]+):(?P<line>\d+): (?P<kind>error|note): (?P<text>.*)")


Place: TypeAlias = tuple[str, int]
"""The name of a file of `cases/`, and a line."""


def rejections() -> dict[Place, list[str]]:
    """What mypy says, errors and their notes, on each line on which it finds an error."""
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, ACCEPTED), str(REJECTED)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    said: dict[Place, list[str]] = {}
    wrong: set[Place] = set()
    for line in result.stdout.splitlines():
        match = MESSAGE.match(line)
        if match and Path(match["file"]).parent.name == "cases":
            place = Path(match["file"]).name, int(match["line"])
            said.setdefault(place, []).append(match["text"])
            if match["kind"] == "error":
                wrong.add(place)
    return {place: texts for place, texts in said.items() if place in wrong}


def accepted() -> int:
    """How many `assert_type`s there are."""
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in ACCEPTED]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return sum(isinstance(call.func, ast.Name) and call.func.id == "assert_type" for call in calls)


def rejected() -> dict[Place, str]:
    """The lines that must be rejected, with a part of the message."""
    lines = REJECTED.read_text(encoding="utf-8").splitlines()
    matches = ((number, EXPECTED.search(line)) for number, line in enumerate(lines, 1))
    return {(REJECTED.name, number): match[1].strip() for number, match in matches if match}


@slow
@pytest.mark.first
def test_mypy_accepts_and_rejects_what_it_must() -> None:
    """One test of all cases, and so one run of mypy, however many processes share the tests."""
    found, meant = rejections(), rejected()
    assert sorted(meant.keys() - found.keys()) == [], "mypy accepts them"
    others = {place: found[place] for place, part in meant.items() if not any(part in text for text in found[place])}
    assert others == {}, "mypy says something else"
    wrong = {place: texts for place, texts in found.items() if place not in meant}
    assert wrong == {}, "mypy rejects what it must accept"


def test_there_are_enough_cases() -> None:
    assert accepted() >= 100
    assert len(rejected()) >= 60
