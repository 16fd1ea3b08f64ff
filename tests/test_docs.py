"""Every example in README and docs/ runs and prints what the page says."""

from __future__ import annotations

import doctest
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.marks import require_device

ROOT = Path(__file__).parents[1]
STAGES = [
    page for folder in ("ilp", "llvm", "opencl", "schedule") for page in sorted((ROOT / "docs" / folder).glob("*.md"))
]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *STAGES]
REFERENCE = "reference.md"
"""Made from docstrings, whose examples `tests/ast/test_docstrings.py` runs."""

CATALOGUE = sorted((ROOT / "docs" / "errors").glob("*.md"))
FIGURES = sorted((ROOT / "docs" / "benchmarks").glob("*.md"))
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.solver
@pytest.mark.opencl
@pytest.mark.llvm
@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name != REFERENCE], ids=lambda page: str(page.relative_to(ROOT))
)
def test_examples_print_what_the_page_says(page: Path) -> None:
    if "opencl" in page.parts or page.name == "opencl.md":
        require_device()
    text = page.read_text(encoding="utf-8")
    # A fence ends an example's expected output, which doctest does not know.
    text = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize(
    "page", [*PAGES, *CATALOGUE, *FIGURES, ROOT / "CONTRIBUTING.md"], ids=lambda page: str(page.relative_to(ROOT))
)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#\s]*)(?:#([^)\s]+))?\)", prose(page))
    missing = []
    for target, anchor in links:
        if "://" in target:
            continue
        found = page.parent / target if target else page
        if not found.exists() or (anchor and anchor not in anchors(found)):
            missing.append(f"{target}#{anchor}")
    assert not missing


def prose(page: Path) -> str:
    """The page without its examples."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> set[str]:
    """By what names links reach the page's headings: lower case, hyphens for spaces, no other marks; a number after one that is
    there before.
    """
    found: Counter[str] = Counter()
    names = set()
    for heading in re.findall(r"^#+ (.*)$", prose(page), flags=re.MULTILINE):
        name = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        names.add(f"{name}-{found[name]}" if found[name] else name)
        found[name] += 1
    return names


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    named = [page.relative_to(ROOT / "docs") for page in PAGES[1:] if page.name != "index.md"]
    assert not [page for page in named if f"({page})" not in index]


def test_the_page_of_benchmarks_names_every_page_of_figures() -> None:
    page = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert not [each.name for each in FIGURES if f"(benchmarks/{each.name})" not in page]
