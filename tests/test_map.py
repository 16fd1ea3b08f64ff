"""The map of the stages with which `help(accel)` opens: what it names exists, in the order in which stages are called."""

from __future__ import annotations

import re
from pathlib import Path

import accel as A
from accel import compile
from tests.test_layers import MODULES, layer

ROOT = Path(__file__).parents[1]

MAP = A.__doc__ or ""
CHAIN = re.compile(r"user's Python(?: -> \w+)+")
FILES = re.findall(r"^ {4}(\w*) +([\w/]+)\.py {2,}\S", MAP, re.MULTILINE)
"""The first words of its lines, empty where the line above says it, and the files without their ending."""


def test_its_files_exist() -> None:
    assert len(FILES) >= 12
    assert not [file for _, file in FILES if f"accel.{file.replace('/', '.')}" not in MODULES]
    assert len(FILES) == MAP.count(".py ")


def test_each_stage_of_the_chain_has_its_files_in_turn() -> None:
    _, *stages = CHAIN.findall(MAP)[0].split(" -> ")
    assert [stage for stage, _ in FILES if stage] == [*stages, "all"]
    current = ""
    for stage, file in FILES:
        current = stage or current
        assert current == "all" or file.startswith(f"{current}/")


def test_no_file_needs_a_later_one() -> None:
    layers = [layer(f"accel.{file.replace('/', '.')}") for _, file in FILES]
    assert layers == sorted(layers)


def test_the_spine_says_the_same() -> None:
    assert CHAIN.findall(MAP) == CHAIN.findall(compile.__doc__ or "")


def test_the_table_of_stages_names_every_folder() -> None:
    """Those of a stage in the stage's row, those below `accel/` anywhere on the page."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `([\w/]+)` \| (.*) \|$", page, re.MULTILINE))
    folders = {stage: [f.name for f in _folders(ROOT / "accel" / stage)] for stage in rows}
    missing = [
        f"{stage}/{name}" for stage, names in folders.items() for name in names if f"`{name}`" not in rows[stage]
    ]
    assert not [name for name in missing if name not in rows]
    assert not [f.name for f in _folders(ROOT / "accel") if not re.search(rf"\b{f.name}\b", page)]


def _folders(path: Path) -> list[Path]:
    return [each for each in path.iterdir() if (each / "__init__.py").exists()]
