"""The entrances `run` and `runN`, as users see them.

Their types stand in `running.pyi`, which mypy and editors read instead of this file: one overload for each number of arguments
and form of results, written by `tools/running.py`. What they do stands in `execution.py`.
"""

from __future__ import annotations

from accel.execution import run, runN

__all__ = ["run", "runN"]
