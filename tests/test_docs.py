"""Every example in README and docs/ runs and prints what the page says."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from tests.marks import require_device

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
REFERENCE = "reference.md"
"""Made from docstrings, whose examples `tests/ast/test_docstrings.py` runs."""

CATALOGUE = sorted((ROOT / "docs" / "errors").glob("*.md"))
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@pytest.mark.solver
@pytest.mark.opencl
@pytest.mark.llvm
@pytest.mark.parametrize("page", [page for page in PAGES if page.name != REFERENCE], ids=lambda page: page.name)
def test_examples_print_what_the_page_says(page: Path) -> None:
    if page.name == "opencl.md":
        require_device()
    text = page.read_text(encoding="utf-8")
    # A fence ends an example's expected output, which doctest does not know.
    text = re.sub(r"^```.*$", "", text, flags=re.MULTILINE)
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=report.append)
    assert not report, "".join(report)


@pytest.mark.parametrize("page", [*PAGES, *CATALOGUE, ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    prose = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)", prose)
    missing = [target for target in targets if "://" not in target and not (page.parent / target).exists()]
    assert not missing


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert not [page.name for page in PAGES[1:] if page.name != "index.md" and f"({page.name})" not in index]
