"""Every program of the catalogue, `docs/errors.md`, gives the whole message that stands beside it.

Each is an error of accel's that names the user's line with a caret. What runs gives the same message on every backend and, on
llvm, under every strategy; on OpenCL so only where all tests run. What a message says to write runs, too.
`pytest --accept tests/errors` writes messages and index.
"""

from __future__ import annotations

import ast
import builtins
import os
import re
from collections import Counter
from pathlib import Path

import pytest

import accel as A
from accel import errors
from accel.support.choices import Strategy
from tests.errors.execution import PROGRAM, error_of, message_of, prepared
from tests.errors.index import listed
from tests.errors.pages import INDEX, Case, accept, cases_of, every_case, pages, title

CASES = every_case()
BACKENDS = ("interpreter", "llvm", "opencl")
STRATEGIES: tuple[Strategy, ...] = ("ilp", "none", "greedy")
PLANNED = {
    "running/lengths-that-come-to-more-than-there-is",
    "sizes/a-size-of-expand-that-is-negative",
    "sizes/sizes-of-expand-that-come-to-too-many-elements",
}
"""Cases of programs whose loops a solver finds."""
CARET = re.compile(rf"^  {PROGRAM}:\d+ in .*\n    .*\n    +\^+$", re.MULTILINE)


def backends(case: Case) -> tuple[str, ...]:
    """Where a case must give its message: on every backend, if one has a part in it, unless settings are what it is about."""
    if case.page.stem == "settings":
        return ("opencl" if '"opencl' in case.program else "llvm",)
    return BACKENDS if case.runs else ("interpreter",)


def strategies(case: Case, backend: str) -> tuple[Strategy, ...]:
    """Under which: on OpenCL under one where only some tests run, since loops are found by the same stages for llvm."""
    every = len(backends(case)) > 1 and (backend == "llvm" or os.environ["ACCEL_TESTS"] == "all")
    return STRATEGIES if every else STRATEGIES[:1]


def matches(message: str, expected: str) -> bool:
    """Whether a message is the expected one, of which a hint that is `…` may be any: it names the devices of a machine."""
    pattern = re.escape(expected).replace(re.escape("hint: …"), "hint: .*")
    return re.fullmatch(pattern, message) is not None


@pytest.mark.parametrize(
    ("case", "backend"),
    [
        pytest.param(
            case, backend, id=f"{case.name}-{backend}", marks=[pytest.mark.solver] if case.name in PLANNED else []
        )
        for case in CASES
        for backend in backends(case)
    ],
)
def test_the_program_gives_the_message(case: Case, backend: str, request: pytest.FixtureRequest) -> None:
    for strategy in strategies(case, backend):
        with A.using(backend=backend, strategy=strategy):
            message = message_of(case)
        assert CARET.search(message), message
        if request.config.getoption("--accept") and not matches(message, case.message):
            accept(case, message)
        else:
            assert matches(message, case.message), message


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_message_says_what_to_do(case: Case) -> None:
    assert "\n  hint: " in case.message, case.message


def names_of(case: Case) -> set[str]:
    """The names that a case's programs bind."""
    nodes = list(ast.walk(ast.parse(case.preparation + case.program)))
    imported = {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    return imported | {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}


def unbound(code: str) -> set[str]:
    """The names that an expression takes from elsewhere; a part of one, such as an operator, takes one that nobody has."""
    try:
        nodes = list(ast.walk(ast.parse(code, mode="eval")))
    except SyntaxError:
        return {code}
    bound = {node.arg for node in nodes if isinstance(node, ast.arg)}
    return {node.id for node in nodes if isinstance(node, ast.Name)} - bound


SAID = [(case, code) for case in CASES for code in re.findall(r"write `([^`]*)`", case.message)]
WRITTEN = [(case, code) for case, code in SAID if unbound(code) <= names_of(case)]
"""Cases whose hints say what to write in the program's own names, not for instance of an `xs` that stands for any array."""


@pytest.mark.parametrize(("case", "code"), WRITTEN, ids=lambda each: each.name if isinstance(each, Case) else "")
def test_what_to_write_runs(case: Case, code: str) -> None:
    names = prepared(case)
    error_of(case, names)
    found = eval(code, names)
    if isinstance(found, A.Acc):
        A.run(found, backend="interpreter")
    elif isinstance(found, A.Exp):
        A.run(A.unit(found), backend="interpreter")


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_titles_are_unique(page: Path) -> None:
    """They are where links lead."""
    assert [anchor for anchor, count in Counter(case.anchor for case in cases_of(page)).items() if count > 1] == []


def test_the_index_lists_every_message(request: pytest.FixtureRequest) -> None:
    text = listed(every_case())
    if request.config.getoption("--accept"):
        INDEX.write_text(text, encoding="utf-8")
    assert INDEX.read_text(encoding="utf-8") == text


def test_the_index_leads_to_every_page() -> None:
    text = INDEX.read_text(encoding="utf-8")
    assert [page.name for page in pages() if f"| [{title(page)}](errors/{page.name}) |" not in text] == []


CLASSES = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, A.AccelError)]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_the_index_explains_every_class(kind: type[A.AccelError]) -> None:
    """And says which class of Python it is, too."""
    row = re.search(rf"^\| \[`{kind.__name__}`\].*\| `(\w+)` \|", INDEX.read_text(encoding="utf-8"), re.MULTILINE)
    assert row is not None
    assert issubclass(kind, getattr(builtins, row[1]))
