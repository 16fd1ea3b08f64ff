"""`rearrange="measure"`: the way that a timer says is fastest runs, in the same bits; what was found is kept on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest

import accel as A
from accel import settings
from accel.__main__ import main
from accel.ast.tree.leaves import Leaf, to_host
from accel.backends.device import Around, nothing_around
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.measure import kept, measuring, timing
from accel.backends.measure.measuring import Measured, Measuring, fastest
from accel.backends.measure.size_class import size_class
from accel.backends.measure.timing import Times, Ways
from accel.backends.protocol import Backend, Executable, HostArray
from accel.errors import AccelIndexError, AccelShapeError, AccelValueError
from accel.explanation.explain import subject
from accel.ir.nodes import Program
from accel.schedule.machine import Machine
from accel.schedule.nodes import Template
from accel.schedule.templates.ways import NestSchedules, ProgramSchedules, Way
from tests import untyped

Handle: TypeAlias = A.Acc[Any]  # Any: of every rank and dtype


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    measuring.forget()
    monkeypatch.setattr(timing, "SECONDS", 0.0)


def floats(*shape: int) -> HostArray:
    return np.random.default_rng(sum(shape)).normal(size=shape).astype(np.float32)


def column_sums(xs: Handle) -> object:
    return A.fold(A.add, 0, A.transpose(xs))


def softmax(xs: Handle) -> object:
    """With powers that all backends compute alike."""
    largest = A.replicate((A.All, 70), A.fold1(A.max, xs))
    powers = A.zipWith(lambda x, m: 1.0 / (1.0 + (m - x) * (m - x)), xs, largest)
    return A.zipWith(lambda p, s: p / s, powers, A.replicate((A.All, 70), A.sum(powers)))


def halved(xs: Handle) -> Handle:
    """Column sums in a loop of control flow."""
    start = A.fold(A.add, 0, A.transpose(xs))
    return A.iterate(3, lambda v: A.map(lambda x: x * 0.5, v), start)


PROGRAMS: Mapping[str, tuple[Callable[..., object], Sequence[HostArray]]] = {
    "matmul": (A.matmul, (floats(33, 70), floats(70, 40))),
    "column_sums": (column_sums, (floats(300, 70),)),
    "transpose": (lambda xs: A.map(lambda x: x * 3, A.transpose(xs)), (floats(130, 70),)),
    "softmax": (softmax, (floats(90, 70),)),
    "scan": (lambda xs: A.scanl(A.add, 0, xs), (floats(20_000),)),
    "column_scans": (lambda xs: A.transpose(A.scanl(A.add, 0, A.transpose(xs))), (floats(200, 30),)),
    "short_rows": (lambda xs: A.fold(A.add, 0, xs), (floats(3000, 9),)),
    "control_flow": (halved, (floats(200, 70),)),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_are_those_of_the_model(name: str, threads: int) -> None:
    program, arrays = PROGRAMS[name]
    wanted = untyped.runN(program, backend="interpreter")(*arrays)
    for rearrange in ("model", "measure"):
        fast = untyped.runN(program, backend="llvm", threads=threads, rearrange=rearrange)
        for _ in range(2):
            found = fast(*arrays)
            assert isinstance(found, np.ndarray)
            assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("name", PROGRAMS)
def test_bits_of_each_way(name: str) -> None:
    """Whatever a timer says."""
    program, arrays = PROGRAMS[name]
    wanted = untyped.runN(program, backend="interpreter")(*arrays)
    for first in range(4):
        measuring.forget()
        made = made_of(program, *arrays, timer=Favours(first))
        (found,) = made(arguments_of(program, *arrays))
        assert found.tobytes() == wanted.tobytes()


@dataclass
class Favours:
    """A timer for which way `number` of each nest is the fastest; the last, where there are not so many."""

    number: int
    calls: int = 0

    def __call__(
        self,
        backend: Backend,
        program: Program,
        schedules: ProgramSchedules,
        ways: Ways,
        arguments: Sequence[HostArray],
    ) -> Times:
        self.calls += 1
        return {
            nest: tuple(0.5 if k == min(self.number, len(some) - 1) else 1.0 for k in range(len(some)))
            for nest, some in ways.items()
        }


@dataclass
class Recorded:
    """The llvm backend, which notes what it compiles."""

    backend: LLVMBackend = field(default_factory=lambda: LLVMBackend(1))
    compiled: list[ProgramSchedules] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.backend.name

    @property
    def machine(self) -> Machine:
        return self.backend.machine

    @property
    def processor(self) -> str:
        return self.backend.processor

    def ways(self, schedules: NestSchedules) -> tuple[Way, ...]:
        return self.backend.ways(schedules)

    def put(self, array: HostArray) -> Leaf:
        return self.backend.put(array)

    def compile(self, program: Program, schedules: ProgramSchedules, around: Around = nothing_around) -> Executable:
        self.compiled.append(schedules)
        return self.backend.compile(program, schedules, around)


def arguments_of(program: Callable[..., object], *arrays: HostArray) -> Sequence[HostArray]:
    found = subject(program, arrays, settings.changed({}))
    assert found.data is not None
    return [to_host(leaf) for leaf in found.data]


def made_of(
    program: Callable[..., object],
    *arrays: HostArray,
    timer: Callable[..., Times] | None = None,
    backend: Recorded | None = None,
) -> Measured:
    staged = subject(program, arrays, settings.changed({})).staged
    return Measured(Measuring(backend or Recorded(), staged.loops, staged.schedules, timer))


def templates(schedules: ProgramSchedules) -> list[Template]:
    """Of the first way of each nest."""
    return [each.ways[0].schedules[0].template for each in schedules.nests]


def test_the_way_that_is_fastest_runs() -> None:
    xs = floats(300, 70)
    for number, template in ((0, Template.COLUMNS), (1, Template.ROWS)):
        measuring.forget()
        backend = Recorded()
        made_of(column_sums, xs, timer=Favours(number), backend=backend)([xs])
        assert [templates(each) for each in backend.compiled] == [[template]]


def test_each_way_is_compiled_and_timed() -> None:
    xs, backend = floats(300, 70), Recorded()
    made_of(column_sums, xs, backend=backend)([xs])
    assert [templates(each)[0] for each in backend.compiled[:-1]] == [Template.COLUMNS, Template.ROWS]
    (seconds,) = next(iter(measuring._FOUND._values.values())).value
    assert len(seconds) == 2
    assert all(each is not None and 0 < each < 100 for each in seconds)


def test_what_is_not_much_faster_is_noise() -> None:
    assert fastest((1.0, 0.99, 2.0)) == 0
    assert fastest((1.0, 0.9, 0.8)) == 2
    assert fastest((0.0, 0.0)) == 0
    assert fastest((1.0, None, 0.5)) == 2


def test_each_class_of_sizes_is_measured_once() -> None:
    timer = Favours(1)
    made = made_of(column_sums, floats(300, 70), timer=timer)
    for rows, calls in ((300, 1), (300, 1), (400, 1), (600, 2), (300, 2)):
        made([floats(rows, 70)])
        assert timer.calls == calls
    made([floats(300, 75)[:, :70]])  # rows that are apart
    assert timer.calls == 3


def test_classes_of_sizes() -> None:
    arrays = [np.zeros((5, 300)), np.zeros((300, 5)).T, np.array(1000), np.array(0.5), np.zeros(0)]
    assert size_class(arrays) == "3x9 3x9+ =10  0"


def test_threads_measure_once() -> None:
    timer, xs = Favours(1), floats(300, 70)
    made = made_of(column_sums, xs, timer=timer)
    found: list[bytes] = []
    threads = [threading.Thread(target=lambda: found.append(made([xs])[0].tobytes())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert timer.calls == 1
    assert len(found) == 4
    assert len(set(found)) == 1


def gathered(xs: Handle, at: Handle) -> object:
    """Something to choose from, and indices that may be wrong."""
    return column_sums(xs), A.map(lambda i: xs[0, i], at)


def test_an_error_is_the_programs_and_nothing_is_kept(folder: Path) -> None:
    xs, wrong = floats(300, 70), np.full(5, 70)
    fast = untyped.runN(gathered, threads=1, rearrange="measure")
    for _ in range(2):
        with pytest.raises(AccelIndexError):
            fast(xs, wrong)
        assert kept.TIMES.size().entries == 0
    fast(xs, wrong - 1)
    assert kept.TIMES.size().entries == 1
    with pytest.raises(AccelShapeError):
        untyped.runN(A.matmul, rearrange="measure")(floats(3, 4), floats(3, 4))


def test_without_elements() -> None:
    for shape in ((0, 70), (70, 0)):
        assert np.array_equal(
            untyped.runN(column_sums, rearrange="measure")(floats(*shape)), np.zeros(shape[1], np.float32)
        )


@pytest.mark.opencl
def test_a_device_has_nothing_to_measure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(timing, "times", lambda *_: pytest.fail("it measures"))
    program, arrays = PROGRAMS["column_sums"]
    found = [
        untyped.runN(program, backend="opencl", rearrange=rearrange)(*arrays) for rearrange in ("model", "measure")
    ]
    assert np.array_equal(*found)
    assert A.explain(program, *arrays, backend="opencl", rearrange="measure").clusters[0].ways == ()


# On disk.


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache" / "ways"


def calls_of_another_process(timer: Favours) -> int:
    """How often it measures; in memory nothing is known."""
    measuring.forget()
    xs, before = floats(300, 70), timer.calls
    backend = Recorded()
    made_of(column_sums, xs, timer=timer, backend=backend)([xs])
    assert templates(backend.compiled[-1]) == [Template.ROWS]
    return timer.calls - before


def test_what_was_found_is_kept(folder: Path) -> None:
    timer = Favours(1)
    assert [calls_of_another_process(timer) for _ in range(3)] == [1, 0, 0]
    assert len(list(folder.glob("*.entry"))) == 1


def test_ways_that_were_not_tried_are_kept_as_such(folder: Path) -> None:
    tried = Favours(0)

    def timer(*given: Any) -> Times:  # Any: what timers take
        return {nest: (some[0], *(None for _ in some[1:])) for nest, some in tried(*given).items()}

    xs = floats(300, 70)
    for _ in range(2):
        measuring.forget()
        backend = Recorded()
        made_of(column_sums, xs, timer=timer, backend=backend)([xs])
        assert templates(backend.compiled[-1]) == [Template.COLUMNS]
    assert tried.calls == 1


def test_the_command_removes_it(folder: Path) -> None:
    timer = Favours(1)
    calls_of_another_process(timer)
    assert main(["cache", "--clear"]) == 0
    assert kept.TIMES.size().entries == 0
    assert calls_of_another_process(timer) == 1


def test_nothing_is_kept_where_caching_is_off() -> None:
    timer = Favours(1)
    assert [calls_of_another_process(timer) for _ in range(2)] == [1, 1]


def test_another_processor_measures_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timer = Favours(1)
    assert calls_of_another_process(timer) == 1
    monkeypatch.setattr(Recorded, "processor", "another")
    assert calls_of_another_process(timer) == 1
    assert calls_of_another_process(timer) == 0


def test_other_files_of_accel_measure_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their version may be the same, as of a clone in which something has changed."""
    timer = Favours(1)
    assert calls_of_another_process(timer) == 1
    monkeypatch.setattr(kept, "own_files", lambda: "another")
    assert calls_of_another_process(timer) == 1


def test_a_torn_entry_is_none(folder: Path) -> None:
    timer = Favours(1)
    assert calls_of_another_process(timer) == 1
    (entry,) = folder.glob("*.entry")
    entry.write_bytes(entry.read_bytes()[:-3])
    assert calls_of_another_process(timer) == 1
    assert calls_of_another_process(timer) == 0


@pytest.mark.parametrize(
    "content",
    ["", "[", "{}", "3", "[]", "[[1.0]]", "[[1.0,0.5,0.5]]", "[[1.0,-1.0]]", "[[1.0,NaN]]", "[[null,1.0]]", "[" * 5000],
)
def test_a_foreign_entry_is_none(content: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    timer = Favours(1)
    with monkeypatch.context() as patched:
        patched.setattr("accel.backends.measure.kept.json.dumps", lambda *_, **__: content)
        assert calls_of_another_process(timer) == 1
    assert calls_of_another_process(timer) == 1
    assert calls_of_another_process(timer) == 0


# The setting.


def test_wrong_values() -> None:
    with pytest.raises(AccelValueError, match="rearrange='fast' is no setting"):
        untyped.runN(column_sums, rearrange="fast")


def test_the_model_measures_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> Times:
        raise AssertionError

    monkeypatch.setattr(timing, "times", refuse)
    monkeypatch.setattr(Measuring, "times", refuse)
    xs = floats(301, 70)
    untyped.runN(column_sums)(xs)
    untyped.runN(column_sums, backend="interpreter", rearrange="measure")(xs)
    untyped.runN(column_sums, checks="all", rearrange="measure")(xs)
    untyped.runN(lambda ys: A.map(lambda y: y + 1, ys), rearrange="measure")(xs)
    with pytest.raises(AssertionError):
        untyped.runN(column_sums, rearrange="measure")(xs)
