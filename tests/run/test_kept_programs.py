"""Compiled programs on disk: another process needs no stage for them, and errors and results are the same."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

import accel as A
from accel import settings
from accel.ast.tree.types import F32, I64
from accel.backends.llvm.calls.code import CallCode, Unit, dumps, loads
from accel.backends.llvm.machine.late_code import LateNames
from accel.backends.llvm.sorting.order import Order
from accel.calling import kept_programs

ROOT = Path(__file__).parents[2]

PROGRAM = """
import sys
from typing import NamedTuple
import numpy as np
import accel as A

class Pair(NamedTuple):
    left: object
    right: object

points = np.array([(1.0, 2), (3.0, 4)], [("x", "f4"), ("n", "i8")])
xs, ys, m = np.arange(1000.0), np.arange(1000.0) % 7, np.arange(60.0).reshape(6, 10)
dot = A.runN(lambda a, b: A.fold(A.add, 0, A.zipWith(A.mul, a, b)))
scaled = A.runN(lambda a: A.zipWith(A.mul, a, A.use(ys)))
turn = lambda s: A.map(lambda x: x * 1.5, s)

def gathered(at):
    return A.gather(A.use(np.array([at])), A.use(xs))

programs = [
    lambda: A.run(A.sum(A.use(m))),
    lambda: A.run((A.scanl1(A.add, A.use(xs)), A.filter(lambda x: x > 3, A.use(ys)))),
    lambda: A.run(A.take(3, A.iterate(5, turn, A.use(xs)))),
    lambda: A.run(A.zip(A.use(xs), A.use(ys))),
    lambda: dot(xs, ys),
    lambda: scaled(xs),
    lambda: A.run((A.sort(A.use(-ys)), A.take(4, A.argsort(A.use(ys))))),
    lambda: A.run(A.filter(lambda p: p[0] > 2.0, A.use(points))),
    lambda: A.run(A.scanl1(lambda a, b: A.cond(a[0] > 3.0, a, b), A.use(Pair(xs, ys)))),
    lambda: A.run(gathered(7)),
    lambda: A.run(gathered(1000)),
    lambda: dot(xs, ys[:3]),
    lambda: A.run(gathered(8)),
    lambda: A.run(A.map(lambda x: x + 1, A.use(xs)), threads=1),
    lambda: A.run(A.map(lambda x: x + 1, A.use(xs)), sizes="actual"),
    lambda: A.run(A.map(lambda x: x + 1, A.use(xs)), checks="all"),
]
def flat(result):
    return b"".join(map(flat, result)) if isinstance(result, tuple) else result.tobytes()
others = {"accel.labelled.construction.build", "accel.ir.nodes", "accel.schedule.nodes"}
from accel.backends.llvm.machine.system import has_images
others |= {"llvmlite.binding"} if has_images() else set()
for number, program in enumerate(programs):
    if number == 10:  # those behind are not kept
        print("no stages" if others.isdisjoint(sys.modules) else "stages", file=sys.stderr)
    try:
        print(hash(flat(program())), flat(program()) == flat(program()))
    except A.AccelError as error:
        print(type(error).__name__, error)
"""


def process(cache: Path | str) -> tuple[str, str]:
    """What a process of its own prints: results, and whether it needed the stages, or LLVM where code is linked without it."""
    environment = {**os.environ, "ACCEL_CACHE_DIR": str(cache), "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return done.stdout, done.stderr.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A cache directory that a process has filled, and what it printed."""
    cache = tmp_path_factory.mktemp("kept") / "cache"
    return cache, process(cache)[0]


@pytest.mark.llvm
@pytest.mark.solver
@pytest.mark.slow
def test_another_process_gives_the_same(kept: tuple[Path, str]) -> None:
    cache, first = kept
    expected, stages = process("")
    assert stages == "stages"
    assert "AccelIndexError" in expected
    assert "AccelShapeError" in expected
    assert first == expected
    assert process(cache) == (expected, "no stages")


@pytest.mark.llvm
@pytest.mark.solver
@pytest.mark.slow
def test_files_that_are_cut_are_none(kept: tuple[Path, str], tmp_path: Path) -> None:
    whole, expected = kept
    cache = tmp_path / "cache"
    shutil.copytree(whole, cache)
    entries = sorted((cache / "programs").glob("*.entry"))
    assert len(entries) >= 8
    for number, entry in enumerate(entries):
        content = entry.read_bytes()
        entry.write_bytes(content[: len(content) * number // len(entries)] if number % 2 else content[::-1])
    assert process(cache) == (expected, "stages")


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"[]", b"[[[[3],[],1,[]]],[],1,[]]\nabc", b'[[[[9],[],"",[]]],[],1,[]]\nabc', b"\x00\n\x00"]
)
def test_other_contents_are_refused(content: bytes) -> None:
    with pytest.raises((ValueError, TypeError)):
        loads(content)


def test_code_comes_back() -> None:
    late = (LateNames("nest0_tile_directly", 130, "abc"),)
    units = (Unit((b"ab\n", b""), ("one",), "extent_", late), Unit((b"\x00c",), ("call",), "", ()))
    orders = (Order((F32, I64), True, False, None), Order((F32,), True, True, 3))
    code = CallCode(units, (F32, I64), 2, orders)
    assert loads(dumps(code)) == code


def test_what_means_nothing_elsewhere_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path / "cache"))

    def code() -> bytes:
        raise AssertionError("asked for")

    def nobody() -> NoReturn:
        raise AssertionError("asked for")

    with A.using() as usual:
        kept_programs.keep((object(),), usual, (), code)
    others = (
        A.using(backend="interpreter"),
        A.using(checks="all"),
        A.using(sizes="actual"),
        A.using(rearrange="measure"),
    )
    for given in others:
        with given as unusual:
            kept_programs.keep((1, int), unusual, (), code)
            assert kept_programs.recall((1, int), unusual, nobody) is None


def test_what_decides_the_code_decides_what_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path / "cache"))
    usual = settings.Settings()
    others = (replace(usual, threads=1), replace(usual, products="rounded"), replace(usual, strategy="none"))
    keys = [
        kept_programs._key((number, int), each) for number in (1, 2) for each in (replace(usual, threads=3), *others)
    ]
    assert keys[0] == kept_programs._key((1, int), replace(usual, threads=3))
    assert None not in keys
    assert len(set(keys)) == len(keys)
