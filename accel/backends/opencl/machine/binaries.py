"""Where pyopencl keeps the binaries that devices' compilers made, in the user's cache directory."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

_ABANDONED = 2.0
"""Seconds after which a lock is stale: pyopencl holds it only while it reads or writes one entry."""

_GLANCE = 0.02
"""Seconds between two looks at the lock."""


def binaries() -> str:
    """The directory. A lock in it that a process left behind when it was killed is gone: every build would wait for it."""
    import platformdirs

    directory = Path(platformdirs.user_cache_dir("accel")) / "opencl"
    lock = directory / "lock"
    with contextlib.suppress(OSError):  # it is gone
        while 0 <= time.time() - lock.lstat().st_mtime < _ABANDONED:
            time.sleep(_GLANCE)
        lock.unlink()
    return str(directory)
