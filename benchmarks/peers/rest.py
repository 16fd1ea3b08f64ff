"""Waiting until a process is at rest, so that none takes processors from the next that is timed."""

from __future__ import annotations

import time

STILL = 0.01
"""Seconds of next to no processor time after which a process counts as at rest."""

PATIENCE = 1.0
"""Seconds to wait for that."""


def rest() -> None:
    """Wait, `PATIENCE` at most, until no thread of this process runs.

    Threads of OpenBLAS and OpenMP go on waiting for work in loops after a call, OpenBLAS's for 30 to 500 milliseconds, and
    whoever is timed meanwhile has a processor less.
    """
    end = time.perf_counter() + PATIENCE
    while time.perf_counter() < end:
        before = time.process_time()
        time.sleep(STILL)
        if time.process_time() - before < STILL / 20:
            return
