"""A copy of the repository in which faults are planted, and the runs of tests there."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.fault import Fault

ROOT = Path(__file__).parents[2]

_COPIED = (
    ".ci", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "accel", "benchmarks", "docs", "examples",
    "pyproject.toml", "stubs", "tests", "tools",
)  # fmt: skip
"""What tests look at."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run of tests ended. `by`: what failed first, a crash or the time limit; None if everything passed."""

    by: str | None
    seconds: float
    text: str


class Copy:
    """One copy, for one run at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in _COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
            elif source.exists():
                shutil.copy2(source, folder / name)

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """The fault is there, and afterwards the file is as before."""
        path = self._folder / "accel" / fault.file
        whole = path.read_text(encoding="utf-8")
        try:
            _write(path, whole.replace(fault.old, fault.new, 1))
            yield
        finally:
            _write(path, whole)

    def run(self, tests: Sequence[str], limit: float) -> Outcome:
        """Run tests until the first one fails, for at most `limit` seconds."""
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--tb=line", "-p", "no:cacheprovider", "-m", "", *tests]
        environment = {**os.environ, "PYTHONPATH": str(self._folder)}
        start = time.monotonic()
        with subprocess.Popen(
            command, cwd=self._folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", start_new_session=True,
        ) as child:  # fmt: skip
            try:
                text = child.communicate(timeout=limit)[0]
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                return Outcome("the time limit", time.monotonic() - start, child.communicate()[0])
        return Outcome(_by(child.returncode, text), time.monotonic() - start, text)


def _write(path: Path, text: str) -> None:
    """Python tells versions of a file by seconds and bytes, which may be equal: what it compiled goes, too."""
    path.write_text(text, encoding="utf-8")
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def _by(status: int, text: str) -> str | None:
    if status == 0:
        return None
    if status < 0:
        return f"a crash ({signal.Signals(-status).name})"
    named = [line for line in text.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    return named[0].partition(" - ")[0].partition(" ")[2] if named else f"exit status {status}"
