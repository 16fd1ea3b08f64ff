"""The files of accel as they are now, so that another version finds on disk only what it has kept itself."""

from __future__ import annotations

import _blake2  # see `disk.py`
import os
from functools import cache

from accel.support.distribution import version


@cache
def own_files(folder: str = "") -> str:
    """A digest of the names, sizes and times of those below a folder of accel; in an archive, where none are, the version."""
    root = os.path.join(os.path.dirname(os.path.dirname(__file__)), folder)
    if not os.path.isdir(root):
        return version()
    found, folders = list[str](), [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    found.append(f"{entry.path[len(root) :]} {status.st_size} {status.st_mtime_ns}")
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return _blake2.blake2b("\n".join(sorted(found)).encode(), digest_size=16).hexdigest()
