"""Code that is compiled when it is first needed: once, for what asks for it alone, kept on disk, and its errors are seen."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine import late_code
from accel.backends.llvm.machine.target import Host
from accel.backends.protocol import Executable, compiled
from tests.llvm.processors import compiled_texts
from tests.llvm.test_tile import defined, numbers, program
from tests.llvm.tiles import tiled
from tests.marks import long, slow

ROOT = Path(__file__).parents[2]

Given: TypeAlias = list[np.ndarray[Any, Any]]


def given(count: int) -> Given:
    return [numbers((3, 5, count), "float32"), numbers((3, count, 9), "float32", 1)]


def product() -> Executable:
    """A batch of products, of any extents."""

    def multiplied(x: Any, y: Any) -> Any:
        return A.matmul(x, y)

    return compiled(LLVMBackend(2, tiled), program(multiplied, *given(6)))


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The modules that are compiled; nothing is kept on disk."""
    monkeypatch.setenv("ACCEL_CACHE_DIR", "")
    return compiled_texts(monkeypatch)


def test_each_number_of_elements_is_compiled_once(compilations: list[str]) -> None:
    run = product()
    run(given(6))
    for count, more in ((6, 0), (7, 1), (7, 0), (6, 0), (20, 1), (257, 1), (258, 0), (20, 0)):
        before = len(compilations)
        assert run(given(count))[0].tobytes() == defined(*given(count)).tobytes()
        # A module that is optimised, and one of what runs once in a launch.
        assert len(compilations) - before == 2 * more, count


def test_many_numbers_of_elements_are_served_by_one(compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(late_code, "MOST", 2)
    run = product()
    for count, more in ((6, None), (7, 1), (8, 1), (9, 0), (10, 0), (257, 0), (6, 0)):
        before = len(compilations)
        assert run(given(count))[0].tobytes() == defined(*given(count)).tobytes()
        assert more is None or len(compilations) - before == 2 * more, count


def test_what_runs_by_rows_compiles_no_tile(compilations: list[str]) -> None:
    run = A.runN(A.matmul, backend="llvm")
    x, y = numbers((3, 4), "float32"), numbers((4, 5), "float32", 1)
    assert run(x, y).tobytes() == defined(x, y).tobytes()
    assert not any("_pack_rows" in text for text in compilations)
    x, y = numbers((30, 257), "float32"), numbers((257, 50), "float32", 1)
    assert run(x, y).tobytes() == defined(x, y).tobytes()
    assert any("_pack_rows" in text for text in compilations)


@pytest.mark.parametrize("error", [RuntimeError("no such instruction"), KeyboardInterrupt(), MemoryError()])
def test_what_compiling_raises_is_raised_and_tried_again(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_CACHE_DIR", "")
    run = product()
    run(given(6))

    def failing(self: Host, text: str, *, quick: bool = False) -> bytes:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(Host, "compile", failing)
        for _ in range(2):
            with pytest.raises(type(error)):
                run(given(11))
        assert run(given(6))[0].tobytes() == defined(*given(6)).tobytes()
    assert run(given(11))[0].tobytes() == defined(*given(11)).tobytes()


def test_threads_that_need_the_same_at_once_compile_it_once(compilations: list[str]) -> None:
    run, expected = product(), defined(*given(13)).tobytes()
    run(given(6))
    before, start, wrong = len(compilations), threading.Barrier(4), list[int]()

    def work(number: int) -> None:
        start.wait()
        if run(given(13))[0].tobytes() != expected:
            wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(compilations) == before + 2


@slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no forks")
def test_a_forked_child_compiles_what_it_needs_itself() -> None:
    run = product()
    run(given(6))
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            right = [run(given(count))[0].tobytes() == defined(*given(count)).tobytes() for count in (6, 14)]
            code = 0 if all(right) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert run(given(14))[0].tobytes() == defined(*given(14)).tobytes()


PROGRAM = """
import sys, zlib
import numpy as np
import accel as A
from accel.backends.llvm.machine.kept_objects import FUNCTIONS

run = A.runN(lambda x, y: A.matmul(x, y))
for count in map(int, sys.argv[1:]):
    x, y = (np.random.default_rng(seed).random((9, count, count), np.float32) for seed in (0, 1))
    found = {run(x, y).tobytes() for _ in range(3)}
    print(len(found), zlib.crc32(found.pop()), FUNCTIONS.size().entries)
from accel.backends.llvm.machine.system import has_images
others = {"accel.labelled.construction.build", *(["llvmlite.binding"] if has_images() else [])}
print("no stages" if others.isdisjoint(sys.modules) else "stages")
"""


@long
@pytest.mark.solver
def test_another_process_finds_what_was_compiled_late(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)

    def process(cache: Path | str, *counts: int) -> list[list[str]]:
        environment = {**os.environ, "ACCEL_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, str(path), *map(str, counts)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return [line.split() for line in done.stdout.splitlines()]

    (one, expected, none), (one_more, expected_more, _), _ = process("", 20, 70)
    assert (one, one_more, none) == ("1", "1", "0")
    cache = tmp_path / "cache"
    assert process(cache, 20) == [["1", expected, "1"], ["stages"]]
    assert process(cache, 20) == [["1", expected, "1"], ["no", "stages"]]
    assert process(cache, 70, 20) == [["1", expected_more, "2"], ["1", expected, "2"], ["stages"]]
    assert process(cache, 20, 70) == [["1", expected, "2"], ["1", expected_more, "2"], ["no", "stages"]]
