"""A directory of small results that outlive the process. It never fails: what goes wrong there is as if nothing were kept.

One file per entry, named by a digest of its key; in it a digest of the rest, the key itself, and the value. An entry counts
only if all of them agree, so a file that is torn, altered or of another version is no entry, and keys whose digests are equal
do not meet. Files are written aside and renamed, so processes may share a directory. Values are bytes, never pickles.

Nobody but the user may write there: a directory is used only if it is the user's, and no group or other may write to it. The
digests take a secret of the user, beside the folders of entries, so that what came into a directory when it was open to
others, or out of an archive, is no entry, either.
"""

from __future__ import annotations

import _blake2  # `hashlib` takes it from there, and loads OpenSSL as well, which takes longer than to find an entry
import contextlib
import logging
import os
import stat
import sys
import threading
import time
from collections.abc import Iterator
from itertools import count

from accel.support.dataclass import dataclass
from accel.support.forks import load

_LOG = logging.getLogger(__name__)

_MAGIC = b"accel 2\n"
_DIGEST = 20
_SUFFIX = ".entry"
_SECRET = "secret"
_SECRET_BYTES = 32
_TEMPORARY = ".writing-"
_ABANDONED = 3600.0
"""Seconds after which an unfinished file is removed."""

_TIDY_EVERY = 100
"""Writes of one process between two looks at the size of the directory; the first write looks, too."""

_LARGEST = 1 << 22
"""Bytes of an entry; what is larger is neither written nor read."""


def directory() -> str | None:
    """Where results are kept: `ACCEL_CACHE_DIR`, or the user's cache directory; None if that is set to nothing."""
    given = os.environ.get("ACCEL_CACHE_DIR")
    if given is not None:
        return given or None
    if sys.platform.startswith("linux"):
        # What `platformdirs` gives there; to import it takes a third of the time in which a kept program is found.
        caches = os.environ.get("XDG_CACHE_HOME", "")
        found = os.path.join(caches if os.path.isabs(caches) else os.path.expanduser("~/.cache"), "accel")
    else:
        load("platformdirs")
        from platformdirs import user_cache_dir

        found = user_cache_dir("accel")
    return found if os.path.isabs(found) else None  # without a home there is none


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
        self._numbers = count()

    def path(self) -> str | None:
        """The folder, whether it exists or not; None if nothing is to be kept."""
        top = directory()
        return None if top is None else os.path.join(top, self._folder)

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, if it is there and whole."""
        folder = self.path()
        if folder is None:
            return None
        try:
            secret = None if refused(folder) else _secret(os.path.dirname(folder))
            if secret is None:
                return None
            path = os.path.join(folder, _name(key))
            value = _unpacked(_read(path)[0], key, secret)
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
        if folder is None:
            return
        try:
            if refused(folder):
                return
            # One by one: the directory above has that mode as well.
            above = os.path.dirname(folder)
            os.makedirs(above, mode=0o700, exist_ok=True)
            os.makedirs(folder, mode=0o700, exist_ok=True)
            if refused(folder):  # another process may have made it
                return
            number = next(self._numbers)
            aside = os.path.join(folder, f"{_TEMPORARY}{os.getpid()}-{threading.get_ident()}-{number}")
            secret = _secret(above)
            if secret is None:
                _write(os.path.join(above, _SECRET), os.urandom(_SECRET_BYTES), aside)
                secret = _secret(above)  # or another process's, if that wrote later
            content = b"" if secret is None else _packed(key, value, secret)
            if not content or len(content) > _LARGEST:
                return
            _write(os.path.join(folder, _name(key)), content, aside)
            if number % _TIDY_EVERY == 0:
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
            reason = refused(folder)
            if reason is not None:
                return reason
            if not os.path.exists(folder):
                above = os.path.dirname(os.path.abspath(folder))
                while not os.path.exists(above):
                    above = os.path.dirname(above)
                writable = os.path.isdir(above) and os.access(above, os.W_OK | os.X_OK)
                return None if writable else f"{above} cannot be written"
            return None if os.access(folder, os.R_OK | os.W_OK | os.X_OK) else f"{folder} cannot be read and written"
        except (OSError, ValueError) as error:
            return str(error)

    def clear(self) -> None:
        """Remove all entries."""
        for path, _, _ in list(self._files()):
            with contextlib.suppress(OSError):
                os.unlink(path)

    def _files(self) -> Iterator[tuple[str, int, float]]:
        """Every entry: its path, its bytes, when it was used last. Nothing of a folder that is not ours."""
        folder = self.path()
        try:
            if folder is None or refused(folder):
                return
            with os.scandir(folder) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                            status = entry.stat(follow_symlinks=False)
                            yield entry.path, status.st_size, status.st_mtime
        except (OSError, ValueError):
            return

    def _tidy(self, folder: str) -> None:
        """Remove what was used least recently, to three quarters of the bounds, if they are passed; and what was abandoned."""
        files = sorted(self._files(), key=lambda file: file[2])
        left, size = len(files), sum(file[1] for file in files)
        if left > self._entries or size > self._size:
            for path, bytes_of, _ in files:
                if left <= self._entries * 3 // 4 and size <= self._size * 3 // 4:
                    break
                with contextlib.suppress(OSError):
                    os.unlink(path)
                left, size = left - 1, size - bytes_of
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                if name.startswith(_TEMPORARY) and time.time() - os.lstat(path).st_mtime > _ABANDONED:
                    os.unlink(path)


def refused(folder: str) -> str | None:
    """Why nothing is read from a folder of entries, or written to it: others could put there what they like.

    Both it and the cache directory around it must be the user's and closed to others, as far as they exist; only the cache
    directory may be reached by a link. A sticky bit does not help: it keeps others from removing files, not from adding some.
    """
    for place, status_of in ((os.path.dirname(folder), os.stat), (folder, os.lstat)):
        try:
            status = status_of(place)
        except FileNotFoundError:
            return None
        if not stat.S_ISDIR(status.st_mode):
            return f"{place} is {'a link' if stat.S_ISLNK(status.st_mode) else 'no directory'}"
        if hasattr(os, "getuid"):
            if status.st_uid != os.getuid():
                return f"{place} belongs to another user"
            if status.st_mode & 0o022:
                return f"others may write to {place} (write `chmod go-w {place}`)"
    return None


def _secret(directory: str) -> bytes | None:
    """What digests of this user take; None if there is none yet, or none that only the user can have read and written."""
    try:
        content, status = _read(os.path.join(directory, _SECRET))
    except FileNotFoundError:
        return None
    own = not hasattr(os, "getuid") or (status.st_uid == os.getuid() and not status.st_mode & 0o077)
    return content if own and len(content) == _SECRET_BYTES else None


def digest(content: bytes, size: int, secret: bytes = b"") -> bytes:
    """So many bytes that tell contents apart; to who does not know the secret they tell nothing."""
    return _blake2.blake2b(content, digest_size=size, key=secret).digest()


def _name(key: bytes) -> str:
    return digest(key, _DIGEST).hex() + _SUFFIX


def _digest(rest: bytes, secret: bytes) -> bytes:
    return digest(rest, _DIGEST, secret)


def _packed(key: bytes, value: bytes, secret: bytes) -> bytes:
    rest = len(key).to_bytes(4, "little") + key + value
    return _MAGIC + _digest(rest, secret) + rest


def _unpacked(content: bytes, key: bytes, secret: bytes) -> bytes | None:
    """The value in a file's content; None unless everything agrees."""
    start = len(_MAGIC) + _DIGEST
    rest = content[start:]
    if not content.startswith(_MAGIC) or _digest(rest, secret) != content[len(_MAGIC) : start]:
        return None
    length = int.from_bytes(rest[:4], "little")
    return rest[4 + length :] if rest[4 : 4 + length] == key else None


def _read(path: str) -> tuple[bytes, os.stat_result]:
    """The content of a plain file, and whose it is. Never waits (for a pipe), never follows a link."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags)
    try:
        with open(descriptor, "rb", closefd=False) as file:  # raises for a directory, and would leave it open
            return file.read(_LARGEST + 1), os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _write(path: str, content: bytes, aside: str) -> None:
    """Whole or not at all: first under the name `aside`."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    try:
        with open(os.open(aside, flags, 0o600), "wb") as file:
            file.write(content)
        os.replace(aside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)
        raise
