"""Plans on disk are found by the planner that made them only: a change in any file of the stage `ilp` makes another one.

Once: since the planner's files lie in folders, only those of the plan cache itself counted.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from accel.support.distribution import DISTRIBUTION
from tests.marks import long, slow

ROOT = Path(__file__).parents[2]


def planner(place: Path) -> str:
    """What a new process that finds accel in a folder or an archive writes beside its plans."""
    code = f"import sys; sys.path.insert(0, {str(place)!r}); from accel.ilp.cache import plan_cache as c; print(c._planner())"
    done = subprocess.run([sys.executable, "-c", code], cwd=place.parent, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@slow
@pytest.mark.parametrize("changed", ["plan.py", "cache/keys.py", "model/solution.py", "solvers/__init__.py"])
def test_each_file_of_the_planner_counts(tmp_path: Path, changed: str) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "accel", copy / "accel", ignore=shutil.ignore_patterns("__pycache__"))
    before = planner(copy)
    assert planner(copy) == before
    with (copy / "accel" / "ilp" / changed).open("a", encoding="utf-8") as file:
        file.write("# changed\n")
    assert planner(copy) != before


@long
def test_in_an_archive_the_version_counts(tmp_path: Path) -> None:
    archive = tmp_path / "accel.zip"
    with ZipFile(archive, "w") as file:
        for path in (ROOT / "accel").rglob("*.py"):
            file.write(path, path.relative_to(ROOT))
        file.writestr(
            "accel_array-7.8.9.dist-info/METADATA", f"Metadata-Version: 2.4\nName: {DISTRIBUTION}\nVersion: 7.8.9\n"
        )
    assert planner(archive) == "7.8.9"
