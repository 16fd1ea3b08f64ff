"""What sorts rows is kept on disk: another process finds it, and loads no compiler."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from accel.backends.llvm.machine.system import has_images

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys, zlib
import numpy as np
import accel as A

rng = np.random.default_rng(3)
rows, small, long = rng.random((600, 9)), rng.integers(0, 99, 5000).astype(np.uint8), rng.random(5000)
programs = [A.sort(A.use(rows)), A.sort(A.use(small)), A.argsort(A.use(long)), A.topK(5, A.use(long))[1]]
wanted = [np.sort(rows), np.sort(small), np.argsort(long), np.argsort(-long)[:5]]
print([bool((A.run(program) == right).all()) for program, right in zip(programs, wanted)])
texts = {f"accel.backends.llvm.sorting.{name}_text" for name in ("networks", "radix", "selection")}
print("written:", *sorted(name.split(".")[-1] for name in texts & set(sys.modules)))
print("LLVM" if "llvmlite.binding" in sys.modules else "no LLVM")
"""

RIGHT = "[True, True, True, True]"


def process(cache: Path) -> list[str]:
    environment = {**os.environ, "ACCEL_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


@pytest.mark.llvm
@pytest.mark.solver
@pytest.mark.slow
def test_another_process_finds_what_sorts(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert process(cache) == [RIGHT, "written: networks_text radix_text selection_text", "LLVM"]
    assert process(cache) == [RIGHT, "written:", "no LLVM" if has_images() else "LLVM"]
    for entry in (cache / "objects").glob("*.entry"):
        entry.write_bytes(entry.read_bytes()[:-1])
    assert process(cache) == [RIGHT, "written: networks_text radix_text selection_text", "LLVM"]
