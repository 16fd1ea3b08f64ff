"""The stubs (`.pyi`) fit what runs. mypy and editors read them in place of the modules beside them, whose code they skip."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import accel as A
from tests.marks import long, slow

ROOT = Path(__file__).parents[2]
STUBS = sorted((ROOT / "accel").rglob("*.pyi"))
MODULES = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in STUBS]
IGNORED = "# mypy: ignore-errors\n"
SETTINGS = """
[mypy]
mypy_path = stubs
follow_imports = skip
ignore_errors = true
"""
"""Names and parameters are compared without the types of what stubs import, which mypy checks where it checks everything."""


def variables(stub: Path) -> Iterator[str]:
    """The type variables of a stub, which only type checkers need."""
    for node in ast.parse(stub.read_text(encoding="utf-8")).body:
        match node:
            case ast.Assign(targets=[ast.Name(name)], value=ast.Call(func=ast.Name("TypeVar" | "TypeVarTuple"))):
                yield name
            case _:
                pass


@slow
def test_the_stubs_fit_the_modules(tmp_path: Path) -> None:
    """The same names with the same parameters. An entry of the list that is not needed is an error, too."""
    allowed = tmp_path / "not_at_run_time.txt"
    allowed.write_text(
        "\n".join(f"{m}.{name}" for m, stub in zip(MODULES, STUBS, strict=True) for name in variables(stub))
    )
    settings = tmp_path / "mypy.ini"
    settings.write_text(SETTINGS)
    command = [sys.executable, "-m", "mypy.stubtest", *MODULES, "--mypy-config-file", str(settings)]
    done = subprocess.run(
        [*command, "--allowlist", str(allowed)], cwd=ROOT, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@long
def test_stubs_that_mypy_skips_have_no_errors(tmp_path: Path) -> None:
    """For ruff their names are defined, and for the cases in this folder their types are right; no overload hides another."""
    skipped = [stub for stub in STUBS if IGNORED in stub.read_text(encoding="utf-8")]
    command = [sys.executable, "-m", "mypy", "--cache-dir", str(tmp_path / "cache")]
    for number, stub in enumerate(skipped):
        shadow = tmp_path / f"{number}.pyi"
        shadow.write_text(stub.read_text(encoding="utf-8").replace(IGNORED, ""), encoding="utf-8")
        command += ["--shadow-file", str(stub.relative_to(ROOT)), str(shadow)]
    command += [str(stub.relative_to(ROOT)) for stub in skipped]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(skipped) == 2


@pytest.mark.parametrize("stub", STUBS, ids=MODULES)
def test_a_module_with_a_stub_only_gathers_names(stub: Path) -> None:
    """mypy would not check anything else in it."""
    head, *body = ast.parse(stub.with_suffix(".py").read_text(encoding="utf-8")).body
    assert isinstance(head, ast.Expr)
    assert all(
        isinstance(node, ast.ImportFrom)
        or (isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["__all__"])
        for node in body
    )


def test_there_are_stubs() -> None:
    assert MODULES == [
        "accel.ast.combinators.overloads",
        "accel.ast.combinators.zips.arities",
        "accel.random",
        "accel.running",
    ]


def test_the_parameters_that_help_shows() -> None:
    """The tests above take any parameters for those of `runN`: for type checkers it is an object that can be called."""
    assert list(inspect.signature(A.runN).parameters) == ["f", "given"]
    assert list(inspect.signature(A.run).parameters) == ["acc", "keep", "given"]
    assert list(inspect.signature(A.fold).parameters) == ["f", "z", "xs", "dims"]
