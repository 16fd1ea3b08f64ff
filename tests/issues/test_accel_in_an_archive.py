"""Programs run where accel is imported from an archive: files there have no time, so the archive's says which accel it is.

Once a first call was a `NotADirectoryError`, unless `ACCEL_CACHE_DIR` was empty.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.marks import slow

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
import numpy as np
import accel as A
assert A.__file__.startswith(sys.argv[1]), A.__file__
print(A.run(A.sum(A.use(np.arange(4)))))
"""


@slow
@pytest.mark.llvm
@pytest.mark.solver
def test_a_program_runs_and_is_found_again(tmp_path: Path) -> None:
    """Of an archive in which a file has changed since, though the version has not, nothing is found."""
    archive = tmp_path / "accel.zip"
    with ZipFile(archive, "w") as file:
        for path in (ROOT / "accel").rglob("*.py"):
            file.write(path, path.relative_to(ROOT))
    assert [kept_after_a_run(archive) for _ in range(2)] == [1, 1]
    with ZipFile(archive, "a") as file:
        file.writestr("accel/another.py", "")
    assert kept_after_a_run(archive) == 2


def kept_after_a_run(archive: Path) -> int:
    """How many programs are kept beside the archive when its accel has run one."""
    cache = archive.parent / "cache"
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(archive)],
        env={**os.environ, "ACCEL_CACHE_DIR": str(cache)},
        cwd=archive.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "6\n"
    return len(list((cache / "programs").glob("*.entry")))
