"""The public names: all of them exist, and importing them loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import pytest

import accel as A

HEAVY = ("llvmlite", "mip", "pyopencl", "rustworkx", "matplotlib")


@pytest.mark.parametrize("name", A.__all__)
def test_name_exists(name: str) -> None:
    assert getattr(A, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'foldl'"):
        getattr(A, "foldl")  # noqa: B009  # mypy knows that it does not exist


SLOW = ("_ctypes", "argparse", "asyncio", "json", "pathlib", "pickle", "subprocess", "tempfile", "typing_extensions")
"""Modules each of which takes as long to import as a tenth of accel, or nearly."""


@pytest.mark.parametrize("module", ["accel", "accel.running"])
def test_importing_loads_nothing_heavy(module: str) -> None:
    script = f"import sys, {module}; print(*[name for name in {HEAVY} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.split() == []


COMPILED = """
import sys
import accel
modules = {name: module for name, module in sys.modules.items() if name.startswith("accel.")}
classes = [found for name, module in modules.items() for found in vars(module).values()
           if isinstance(found, type) and found.__module__ == name]
compiled = [found for found in classes if getattr(vars(found).get("__init__"), "__code__", None)]
print(*{found.__name__ for found in compiled if found.__init__.__code__.co_filename == "<string>"})
"""


def test_importing_compiles_the_methods_of_few_dataclasses() -> None:
    """Of those that have objects by then: the others wait for their first one (`accel/support/dataclass.py`)."""
    found = subprocess.run([sys.executable, "-c", COMPILED], capture_output=True, text=True, check=True, timeout=60)
    assert sorted(found.stdout.split()) == ["MaybeType", "Spelling", "TupleType", "_Reader"]


def test_importing_adds_little_to_numpy() -> None:
    script = (
        f"import sys, numpy; known = set(sys.modules); import accel; print(*{{*{SLOW}}} & {{*sys.modules}} - known)"
    )
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.split() == []
