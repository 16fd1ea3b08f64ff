"""What all tests share: golden texts, verifiers between all passes, cache directories of their own, marks."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from accel.explanation import explain
from accel.ilp.cache import plan_cache
from tests import built_before, marks

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--accept", action="store_true", help="rewrite the golden texts of the selected tests")


def pytest_configure(config: pytest.Config) -> None:
    gc.disable()
    # Every stage's verifier runs after every pass. A test process, and those that it starts, only.
    os.environ["ACCEL_VERIFY"] = "1"
    # Nothing that tests find out goes to the user's cache, or comes from it; tests of the cache have their own.
    os.environ["ACCEL_CACHE_DIR"] = ""
    # In the long run only, what stands for a GPU optimises its code (`tests/opencl/platforms.py`), and so do tests
    # that are not of code (`tests/marks.py`).
    os.environ["ACCEL_TESTS"] = "some" if config.getoption("markexpr") else "all"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    functions = [item for item in items if isinstance(item, pytest.Function)]
    assert len(functions) == len(items)
    for item in functions:
        for mark in marks.needs(item):
            item.add_marker(mark)
    marks.families(functions)
    # What takes longest begins first, so that of several processes none waits for another at the end.
    items.sort(key=lambda item: item.get_closest_marker("first") is None)


def pytest_collection_finish() -> None:
    # The garbage collector need not walk over twenty thousand tests and all modules each time, nor while they are made.
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(autouse=True)
def _marks_are_true(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test uses a backend or a solver without the mark that says so."""
    marks.hold(request.node, monkeypatch)


@pytest.fixture(autouse=True)
def _plans_are_forgotten() -> None:
    """Every test plans for itself: one that breaks a solver must not be given what another found."""
    plan_cache.forget()
    explain.forget()


@pytest.fixture(autouse=True)
def _code_is_built_once(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules whose tests measure memory have a fixture of this name that does nothing."""
    quickly = marks.folder(request.path) in marks.NOT_OF_CODE and os.environ["ACCEL_TESTS"] == "some"
    built_before.remember(monkeypatch, quickly=quickly)


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Compare a text with `tests/golden/<file stem>/<test name>.txt`; `--accept` writes it. Once per test."""
    name = re.sub(r"[^\w.\[\]-]+", "_", request.node.name)
    path = GOLDEN / request.path.stem / f"{name}.txt"

    def check(text: str) -> None:
        text = text.rstrip("\n") + "\n"
        if request.config.getoption("--accept"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"there is no {path}: read the text below, then accept it with --accept\n{text}"
        assert text == path.read_text(encoding="utf-8")

    return check


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of plans in a cache directory of the test's own."""
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "plans"
