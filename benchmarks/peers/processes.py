"""Workers, seen from the process that tells them when to run."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.peers.peer import Peer
from benchmarks.peers.workloads import Cell

KEPT = "glibc.malloc.hugetlb=1:glibc.malloc.mmap_threshold=17179869184:glibc.malloc.trim_threshold=17179869184"
"""Settings of C's allocator, with which it gives nothing back to the system, so that no page of a result is new."""

THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "POLARS_MAX_THREADS",
    "HL_NUM_THREADS",
    "ACCEL_THREADS",
)
"""Where tools read how many threads to use; in addition, a worker may run on so many processors only."""

PATIENCE = 180.0
"""Seconds to wait for an answer."""


def environment(threads: int, kept: bool) -> dict[str, str]:
    """A worker's."""
    found = {**os.environ, **dict.fromkeys(THREADS, str(threads))}
    if kept:
        found["GLIBC_TUNABLES"] = KEPT
    return found


@dataclass(slots=True)
class Worker:
    """A tool's process, started when it is first needed, and again after it died."""

    peer: Peer
    threads: int
    kept: bool
    _process: subprocess.Popen[str] | None = field(default=None, init=False)

    @property
    def name(self) -> str:
        """The tool's, and whether its memory is kept."""
        return f"{self.peer.name} kept" if self.kept else self.peer.name

    def ask_to_prepare(self, cell: Cell, folder: Path) -> None:
        """Send the order; `answer` waits for its end."""
        self._send(
            {
                "do": "prepare",
                "workload": cell.workload.name,
                "size": cell.size,
                "element": cell.element,
                "folder": str(folder),
            }
        )

    def time(self, seconds: float) -> float | str:
        """The least time of a call, in seconds, of a burst; or why there is none."""
        self._send({"do": "time", "seconds": str(seconds)})
        answer = self.answer()
        found = answer.get("seconds")
        return found if isinstance(found, float) else str(answer["wrong"])

    def answer(self) -> Mapping[str, object]:
        """What the worker says next; where it does not, it is ended, and what is wrong is said here."""
        process = self._running()
        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], PATIENCE)
        line = process.stdout.readline() if ready else ""
        if line:
            found: Mapping[str, object] = json.loads(line)
            return found
        self.stop()
        return {"has": True, "wrong": "no answer" if not ready else "the process ended"}

    def stop(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def _running(self) -> subprocess.Popen[str]:
        if self._process is None:
            processors = sorted(os.sched_getaffinity(0))[: self.threads]
            self._process = subprocess.Popen(
                [sys.executable, "-m", "benchmarks.peers.worker", self.peer.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=environment(self.threads, self.kept),
                text=True,
                bufsize=1,
            )
            os.sched_setaffinity(self._process.pid, processors)
        return self._process

    def _send(self, order: Mapping[str, str]) -> None:
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
        except BrokenPipeError:
            self.stop()
