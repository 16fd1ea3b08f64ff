"""Programs run where accel is imported from an archive: a file there has no time, so the version says which accel it is.

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
    archive = tmp_path / "accel.zip"
    with ZipFile(archive, "w") as file:
        for path in (ROOT / "accel").rglob("*.py"):
            file.write(path, path.relative_to(ROOT))
    environment = {**os.environ, "ACCEL_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", PROGRAM, str(archive)]
    for _ in range(2):
        done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == "6\n"
    assert list((tmp_path / "cache" / "programs").glob("*.entry"))
