"""What holds for the repository as a whole."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import accel as A

ROOT = Path(__file__).parents[1]
TEXTS = sorted(
    path
    for folder in ("accel", "benchmarks", "docs", "examples", "stubs", "tests", "tools")
    for path in (ROOT / folder).rglob("*")
    if path.suffix in {".py", ".pyi", ".md"}
) + [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "pyproject.toml", ".ci/run")]


NAMESPACES = {"random"}
"""Modules that users see: `A.random.key`."""


def test_readme_holds_exactly_two_commands() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line.startswith("python3 -m venv ")]
    assert len(commands) == 2
    assert commands[0].endswith("-m accel demo")
    assert commands[1].endswith("-m pytest")


def test_import_is_light() -> None:
    """What is heavy is imported when it is first used."""
    code = "import sys, accel; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    heavy = {"llvmlite", "mip", "pyopencl", "rustworkx", "scipy", "sklearn", "networkx", "cffi"}
    assert not heavy & set(done.stdout.split())


def test_public_names_are_no_modules() -> None:
    """Importing `accel.fold` would hide the function `fold`: no module may have a public name, unless it is what is meant."""
    assert {module.name for module in pkgutil.iter_modules(A.__path__)} & set(A.__all__) == NAMESPACES
    assert {name for name in A.__all__ if isinstance(getattr(A, name), ModuleType)} == NAMESPACES


@pytest.mark.parametrize("name", A.__all__)
def test_public_names_have_docstrings(name: str) -> None:
    public = getattr(A, name)
    aliases = {"All", "Matrix", "Scalar", "Segments", "Vector", "Num", *(f"DIM{rank}" for rank in range(6))}
    assert name in aliases or (public.__doc__ or "").strip()


def test_no_text_names_a_machine_or_leaves_something_to_do() -> None:
    # Put together here, so that this file does not hold what it looks for.
    forbidden = re.compile("|".join(["/wor" + "k/", "/tm" + "p/", "TO" + "DO", "FIX" + "ME", "XX" + "X"]))
    found = [str(path) for path in TEXTS if forbidden.search(path.read_text(encoding="utf-8"))]
    assert not found


def test_test_folders_are_packages() -> None:
    """Files of the same name in two folders need it."""
    folders = {path.parent for path in (ROOT / "tests").rglob("test_*.py")}
    assert not [str(folder) for folder in folders if not (folder / "__init__.py").exists()]


def test_the_package_is_typed() -> None:
    assert (ROOT / "accel" / "py.typed").exists()


def test_no_folder_holds_more_than_fifteen_modules() -> None:
    """More of them want folders of their own, in reading order (CONTRIBUTING.md)."""
    folders = [folder for folder in (ROOT / "accel").rglob("*/") if folder.name != "__pycache__"]
    counts = {folder: sum(file.name != "__init__.py" for file in folder.glob("*.py")) for folder in folders}
    assert {str(folder): count for folder, count in counts.items() if count > 15} == {}


def test_nothing_is_imported_that_only_the_checkers_bring() -> None:
    """`typing_extensions` comes with mypy, not with accel."""
    files = [file for file in (ROOT / "accel").rglob("*.py") if file.is_file()]
    assert [str(f) for f in files if re.search(r"^(from|import) typing_extensions", f.read_text("utf-8"), re.M)] == []
