"""The files of accel as they are now, so that another version finds on disk only what it has kept itself."""

from __future__ import annotations

import os
from functools import cache

from accel.support.disk import digest


@cache
def own_files(folder: str = "") -> str:
    """A digest of the names, sizes and times of those below a folder of accel; in an archive of the archive's."""
    root = os.path.join(os.path.dirname(os.path.dirname(__file__)), folder)
    if not os.path.isdir(root):
        return _archive(root)
    found, folders = list[str](), [root]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.name.endswith((".py", ".pyc")):
                    status = entry.stat()
                    found.append(f"{entry.path[len(root) :]} {status.st_size} {status.st_mtime_ns}")
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return digest("\n".join(sorted(found)).encode(), 16).hex()


def _archive(inside: str) -> str:
    """The size and time of the file in which a path stands. Its version is no sign: files change while that stays."""
    path = inside
    while not os.path.exists(path) and path != os.path.dirname(path):
        path = os.path.dirname(path)
    status = os.stat(path)
    return f"archive {status.st_size} {status.st_mtime_ns}"
