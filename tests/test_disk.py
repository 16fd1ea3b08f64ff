"""The directory of results: bounded, shared by processes, never torn."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import platformdirs
import pytest

from accel.support import disk
from accel.support.disk import Store
from tests.marks import slow


def test_the_least_recently_used_go_first(folder: Path) -> None:
    store = Store("plans", entries=8, size=1 << 20)
    for number in range(8):
        store.put(b"%d" % number, b"value")
        os.utime(folder / disk._name(b"%d" % number), (number, number))
    assert store.get(b"0") == b"value"  # now the last one used
    Store("plans", entries=8, size=1 << 20).put(b"new", b"value")
    kept = {key for key in (b"0", b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"new") if store.get(key)}
    assert kept == {b"0", b"4", b"5", b"6", b"7", b"new"}
    Store("plans", entries=8, size=300).put(b"large", b"v" * 150)
    assert store.size().bytes <= 300


def test_what_was_abandoned_is_removed(folder: Path) -> None:
    store = Store("plans", entries=8, size=1 << 20)
    folder.mkdir(parents=True)
    old, young = folder / ".writing-1-2-3", folder / ".writing-4-5-6"
    old.write_text("torn")
    young.write_text("not yet done")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    store.put(b"key", b"value")
    assert not old.exists()
    assert young.exists()


def test_keys_with_one_digest_do_not_meet(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_name", lambda key: "same.entry")
    store = Store("plans", entries=8, size=1 << 20)
    store.put(b"one", b"1")
    assert store.get(b"two") is None
    assert store.get(b"one") == b"1"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="of Linux")
@pytest.mark.parametrize("given", [None, "", " ", "caches", "/somewhere/else"])
def test_the_directory_is_that_of_platformdirs(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is not imported on Linux."""
    monkeypatch.delenv("ACCEL_CACHE_DIR")
    if given is None:
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    else:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    found = platformdirs.user_cache_dir("accel")
    assert disk.directory() == (found if os.path.isabs(found) else None)


_WRITER = """
import os, sys
from accel.support.disk import Store
store = Store("plans", entries=50, size=1 << 20)
for turn in range(400):
    key = b"key %d" % (turn % 60)
    found = store.get(key)
    assert found in (None, key * 100), found
    store.put(key, key * 100)
"""


@slow
def test_processes_share_a_directory(folder: Path) -> None:
    """Four that write and read at once, one of which is killed now and then: nobody reads what is torn."""
    environment = {**os.environ, "ACCEL_CACHE_DIR": str(folder.parent)}
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER], env=environment) for _ in range(3)]
    for _ in range(4):
        victim = subprocess.Popen([sys.executable, "-c", _WRITER], env=environment)
        time.sleep(0.4)
        victim.kill()
        victim.wait()
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0]
    store = Store("plans", entries=50, size=1 << 20)
    for number in range(60):
        key = b"key %d" % number
        assert store.get(key) in (None, key * 100)


STORE = Store("plans", entries=50, size=1 << 20)


def found_again() -> bool:
    """Whether the disk keeps anything."""
    STORE.put(b"key", b"value")
    return STORE.get(b"key") is not None


@pytest.mark.parametrize("above", [False, True])
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o775, 0o720, 0o702, 0o1777, 0o1770, 0o2775])
def test_directories_that_others_can_write_to_are_refused(folder: Path, mode: int, above: bool) -> None:
    assert found_again()
    open_to_others = folder.parent if above else folder
    open_to_others.chmod(mode)
    before = sorted(folder.iterdir())
    assert STORE.get(b"key") is None
    STORE.put(b"other", b"value")
    STORE.clear()
    assert sorted(folder.iterdir()) == before
    assert STORE.size() == disk.Size(0, 0)
    assert STORE.trouble() == f"others may write to {open_to_others} (write `chmod go-w {open_to_others}`)"
    open_to_others.chmod(mode & 0o755)
    assert STORE.trouble() is None
    assert STORE.get(b"key") == b"value"


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o022, 0o077])
def test_directories_are_made_for_the_user_alone(folder: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert found_again()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(path.stat().st_mode) for path in (folder.parent, folder, *folder.iterdir())]
    assert modes == [0o700, 0o700, 0o600]
    assert stat.S_IMODE((folder.parent / "secret").stat().st_mode) == 0o600


@pytest.mark.parametrize("which", ["folder", "above", "folder by a link", "above by a link"])
def test_directories_of_others_are_refused(folder: Path, which: str, tmp_path: Path) -> None:
    """Also behind a link of the user's own."""
    if os.getuid() != 0:
        pytest.skip("only the superuser gives files away")
    assert found_again()
    place = folder if which.startswith("folder") else folder.parent
    if which.endswith("link"):
        place.rename(tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere")
    os.chown(place, 12345, 12345)
    assert STORE.get(b"key") is None
    assert not found_again()
    reason = "is a link" if which == "folder by a link" else "belongs to another user"
    assert STORE.trouble() == f"{place} {reason}"


def test_the_cache_directory_may_be_a_link_to_ones_own(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.parent.symlink_to(tmp_path / "elsewhere")
    assert found_again()
    assert STORE.trouble() is None


def test_entries_under_another_secret_are_none(folder: Path) -> None:
    """What was put there by somebody who cannot read the user's secret, or is out of another directory."""
    assert found_again()
    secret = folder.parent / "secret"
    mine = secret.read_bytes()
    entry = folder / disk._name(b"key")
    for planted in (bytes(32), b"", mine[::-1]):
        entry.write_bytes(disk._packed(b"key", b"planted", planted))
        assert STORE.get(b"key") is None
    entry.write_bytes(disk._packed(b"key", b"mine", mine))
    assert STORE.get(b"key") == b"mine"


def _known_to_others(secret: Path) -> None:
    secret.chmod(0o640)


def _short(secret: Path) -> None:
    secret.write_bytes(bytes(31))


def _long(secret: Path) -> None:
    secret.write_bytes(bytes(33))


def _given_by_others(secret: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only the superuser gives files away")
    os.chown(secret, 12345, 12345)


@pytest.mark.parametrize("spoil", [_known_to_others, _short, _long, _given_by_others, Path.unlink])
def test_a_secret_that_is_none_is_made_anew(folder: Path, spoil: Callable[[Path], None]) -> None:
    assert found_again()
    secret = folder.parent / "secret"
    before = secret.read_bytes()
    spoil(secret)
    assert STORE.get(b"key") is None
    assert found_again()
    assert secret.read_bytes() != before
    assert len(secret.read_bytes()) == 32
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600


def test_a_secret_that_cannot_be_does_no_harm(folder: Path) -> None:
    assert found_again()
    secret = folder.parent / "secret"
    secret.rename(secret.with_name("other"))
    secret.symlink_to(secret.with_name("other"))
    assert STORE.get(b"key") is None
    secret.unlink()
    secret.mkdir()
    assert not found_again()


def test_directories_in_place_of_entries_leave_no_files_open(folder: Path) -> None:
    assert found_again()
    (folder / disk._name(b"other")).mkdir()
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(20):
        assert STORE.get(b"other") is None
    assert len(os.listdir("/proc/self/fd")) <= before + 2
