"""A directory of small results that outlive the process. It never fails: what goes wrong there is as if nothing were kept.

One file per entry, named by a digest of its key; in it a digest of the rest, the key itself, and the value. An entry counts
only if all of them agree, so a file that is torn, altered or of another version is no entry, and keys whose digests are equal
do not meet. Files are written aside and renamed, so processes may share a directory. Values are bytes, never pickles.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path

_LOG = logging.getLogger(__name__)

_MAGIC = b"accel 1\n"
_DIGEST = 20
_SUFFIX = ".entry"
_TEMPORARY = ".writing-"
_ABANDONED = 3600.0
"""Seconds after which a file that nobody finished is removed."""

_TIDY_EVERY = 100
"""Writes of one process between two looks at the size of the directory; the first write looks, too."""

_LARGEST = 1 << 22
"""Bytes of an entry; what is larger is neither written nor read."""


def directory() -> Path | None:
    """Where results are kept: `ACCEL_CACHE_DIR`, or the user's cache directory; None if that is set to nothing."""
    given = os.environ.get("ACCEL_CACHE_DIR")
    if given is not None:
        return Path(given) if given else None
    from platformdirs import user_cache_dir  # only where it is needed

    found = Path(user_cache_dir("accel"))
    return found if found.is_absolute() else None  # without a home there is none


@dataclass(frozen=True, slots=True)
class Size:
    """What a store holds."""

    entries: int
    bytes: int


class Store:
    """Entries in a folder of the cache directory: at most `entries` and `size` bytes, the least recently used go first."""

    def __init__(self, folder: str, entries: int, size: int) -> None:
        self._folder = folder
        self._entries = entries
        self._size = size
        self._writes = count()
        self._numbers = count()
        self._lock = threading.Lock()

    def path(self) -> Path | None:
        """The folder, whether it exists or not; None if nothing is to be kept."""
        top = directory()
        return None if top is None else top / self._folder

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, if it is there and whole."""
        folder = self.path()
        if folder is None:
            return None
        try:
            if not _is_ours(folder):
                return None
            path = folder / _name(key)
            value = _unpacked(_read(path), key)
            if value is not None:
                with contextlib.suppress(OSError):
                    os.utime(path)  # used just now
            return value
        except (OSError, ValueError) as error:  # ValueError: a path with a zero byte
            _LOG.debug("no entry: %s", error)
            return None

    def put(self, key: bytes, value: bytes) -> None:
        """Keep `value` under `key`, as well as that can be done."""
        folder = self.path()
        content = _packed(key, value)
        if folder is None or len(content) > _LARGEST:
            return
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if not _is_ours(folder):
                return
            with self._lock:
                tidy, number = next(self._writes) % _TIDY_EVERY == 0, next(self._numbers)
            _write(folder / _name(key), content, number)
            if tidy:
                self._tidy(folder)
        except (OSError, ValueError) as error:
            _LOG.debug("nothing kept: %s", error)

    def size(self) -> Size:
        """How much there is."""
        found = list(self._files())
        return Size(len(found), sum(size for _, size, _ in found))

    def trouble(self) -> str | None:
        """Why nothing can be kept, if that can be told without trying."""
        folder = self.path()
        if folder is None:
            return "ACCEL_CACHE_DIR is empty, or there is no home directory"
        try:
            if not folder.exists() and not folder.is_symlink():
                parent = next(parent for parent in folder.parents if parent.exists())
                return (
                    None if parent.is_dir() and os.access(parent, os.W_OK | os.X_OK) else f"{parent} cannot be written"
                )
            if not _is_ours(folder):
                return f"{folder} is no directory of this user"
            return None if os.access(folder, os.R_OK | os.W_OK | os.X_OK) else f"{folder} cannot be read and written"
        except (OSError, ValueError) as error:
            return str(error)

    def clear(self) -> None:
        """Remove all entries."""
        for path, _, _ in list(self._files()):
            with contextlib.suppress(OSError):
                path.unlink()

    def _files(self) -> Iterator[tuple[Path, int, float]]:
        """Every entry: its path, its bytes, when it was used last. Nothing of a folder that is not ours."""
        folder = self.path()
        try:
            if folder is None or not _is_ours(folder):
                return
            with os.scandir(folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                            status = entry.stat(follow_symlinks=False)
                            yield folder / entry.name, status.st_size, status.st_mtime
        except (OSError, ValueError):
            return

    def _tidy(self, folder: Path) -> None:
        """Remove what was used least recently, to three quarters of the bounds, if they are passed; and what was abandoned."""
        files = sorted(self._files(), key=lambda file: file[2])
        left, size = len(files), sum(file[1] for file in files)
        if left > self._entries or size > self._size:
            for path, bytes_of, _ in files:
                if left <= self._entries * 3 // 4 and size <= self._size * 3 // 4:
                    break
                with contextlib.suppress(OSError):
                    path.unlink()
                left, size = left - 1, size - bytes_of
        for path in folder.glob(f"{_TEMPORARY}*"):
            with contextlib.suppress(OSError):
                if time.time() - path.lstat().st_mtime > _ABANDONED:
                    path.unlink()


def _is_ours(folder: Path) -> bool:
    """Whether a folder exists, is a real one, and belongs to the user: others could put there what they like."""
    try:
        status = folder.lstat()
    except FileNotFoundError:
        return False
    return folder.is_dir() and not folder.is_symlink() and (not hasattr(os, "getuid") or status.st_uid == os.getuid())


def _name(key: bytes) -> str:
    return hashlib.blake2b(key, digest_size=_DIGEST).hexdigest() + _SUFFIX


def _packed(key: bytes, value: bytes) -> bytes:
    rest = len(key).to_bytes(4, "little") + key + value
    return _MAGIC + hashlib.blake2b(rest, digest_size=_DIGEST).digest() + rest


def _unpacked(content: bytes, key: bytes) -> bytes | None:
    """The value in a file's content; None unless everything agrees."""
    start = len(_MAGIC) + _DIGEST
    rest = content[start:]
    if (
        not content.startswith(_MAGIC)
        or hashlib.blake2b(rest, digest_size=_DIGEST).digest() != content[len(_MAGIC) : start]
    ):
        return None
    length = int.from_bytes(rest[:4], "little")
    return rest[4 + length :] if rest[4 : 4 + length] == key else None


def _read(path: Path) -> bytes:
    """The content of a plain file. Never waits (for a pipe), never follows a link."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with open(os.open(path, flags), "rb") as file:
        return file.read(_LARGEST + 1)


def _write(path: Path, content: bytes, number: int) -> None:
    """Whole or not at all."""
    aside = path.with_name(f"{_TEMPORARY}{os.getpid()}-{threading.get_ident()}-{number}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(aside, flags, 0o600), "wb") as file:
            file.write(content)
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            aside.unlink()
        raise
