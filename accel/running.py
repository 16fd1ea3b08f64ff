"""The entrances `run`, `runN`, `run1`, `runAsync` and `stream`, as users see them.

Their types stand in `running.pyi`, which mypy and editors read instead of this file: one overload for each number of arguments
and form of results, written by `tools/running.py`. What they do stands in `execution.py` and `entrances/streaming.py`.
"""

from __future__ import annotations

from accel.entrances.streaming import run1, runAsync, stream
from accel.execution import run, runN

__all__ = ["run", "run1", "runAsync", "runN", "stream"]
