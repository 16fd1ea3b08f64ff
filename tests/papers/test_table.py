"""docs/papers.md says what accel gives, and names tests that exist."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.papers.table import PAPERS, Row, table

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "papers.md"


@pytest.mark.parametrize("paper", PAPERS)
def test_the_table_of_a_paper(paper: str) -> None:
    """`python -m tests.papers.table` prints what is to stand there."""
    section = PAGE.read_text(encoding="utf-8").partition(f"\n## {paper}\n")[2].partition("\n## ")[0]
    found = [line for line in section.splitlines() if line.startswith("|")]
    assert found == list(table(PAPERS[paper]))


@pytest.mark.parametrize("row", [row for rows in PAPERS.values() for row in rows], ids=lambda row: str(row.program))
def test_the_tests_that_it_names_exist(row: Row) -> None:
    file, _, function = row.test.partition("::")
    tree = ast.parse((HERE / file).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
