"""The directory of results: bounded, shared by processes, never torn."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from accel import disk
from accel.disk import Store


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


_WRITER = """
import os, sys
from accel.disk import Store
store = Store("plans", entries=50, size=1 << 20)
for turn in range(400):
    key = b"key %d" % (turn % 60)
    found = store.get(key)
    assert found in (None, key * 100), found
    store.put(key, key * 100)
"""


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
