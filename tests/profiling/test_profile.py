"""What a profile counts is what NumPy says that the loops move; what it measures is somewhere in time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

import accel as A
from accel.errors import AccelDeviceError, AccelIndexError, AccelTypeError, AccelValueError
from accel.explanation.facts.measured import Measured
from accel.profiling import runs
from tests.opencl.platforms import ROWS, each_platform

Floats = A.Acc[A.Vector[np.float64]]
Sum = A.Acc[A.Scalar[np.float64]]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "SECONDS", 0.0)
    monkeypatch.setattr(runs, "ELEMENTS", 1000)


def dotp(xs: Floats, ys: Floats) -> Sum:
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


def shares(xs: Floats) -> Floats:
    """Two loops: the sum is needed from the start."""
    return A.map(lambda x: x / A.the(A.sum(xs)), xs)


def large(xs: Floats) -> Floats:
    return A.filter(lambda x: x > 0.5, xs)[0]


def doubled(xs: Floats) -> Floats:
    """Doubled until the sum is large."""
    return A.awhile(lambda v: A.map(lambda total: total < 10_000.0, A.sum(v)), lambda v: A.map(lambda x: x * 2, v), xs)


def one_branch(xs: Floats) -> Floats:
    return A.acond(A.the(A.sum(xs)) > 0, A.map(lambda x: x + 1, xs), A.map(lambda x: x - 1, xs))


def check(profile: A.Profile) -> None:
    """What holds for every profile."""
    assert [loop.number for loop in profile.loops] == list(range(1, len(profile.loops) + 1))
    assert [loop.title for loop in profile.loops] == [cluster.title for cluster in profile.explanation.clusters]
    assert tuple(cluster.measured for cluster in profile.explanation.clusters) == profile.loops
    assert profile.runs == runs.FEWEST
    assert sum(loop.milliseconds for loop in profile.loops) <= profile.milliseconds
    for loop in profile.loops:
        assert (loop.milliseconds > 0) == (loop.times > 0) == (loop.bytes_written > 0)
        assert loop.bandwidth == profile.bandwidth > 0


def counted(profile: A.Profile) -> list[tuple[int, int, int]]:
    """Turns, bytes read, bytes written of each loop."""
    check(profile)
    return [(loop.times, loop.bytes_read, loop.bytes_written) for loop in profile.loops]


XS = np.random.default_rng(3).random(1000)


def test_one_loop() -> None:
    ys = np.ones(1000)
    profile = A.profile(dotp, XS, ys)
    assert counted(profile) == [(1, XS.nbytes + ys.nbytes, 8)]
    assert profile.name == "dotp"
    assert profile.backend == "llvm"
    assert [operation.name for operation in profile.loops[0].operations] == ["fold %2"]


def test_programs_that_hold_their_arrays_and_compiled_functions() -> None:
    assert (
        counted(A.profile(shares(A.use(XS))))
        == counted(A.profile(shares, XS))
        == counted(A.profile(A.runN(shares), XS))
    )
    assert counted(A.profile((shares(A.use(XS)), A.sum(A.use(XS))))) == [(1, 8000, 8), (1, 8008, 8000)]


def test_a_filter_writes_what_it_keeps() -> None:
    """Which `explain` cannot know. The number of what is kept is an array as well."""
    kept = XS[XS > 0.5]
    assert counted(A.profile(large, XS)) == [(1, XS.nbytes, kept.nbytes + 8)]
    assert counted(A.profile(lambda xs: A.map(lambda x: x * 2, A.compute(large(xs))), XS))[1] == (
        1,
        kept.nbytes,
        kept.nbytes,
    )


def test_the_turns_of_a_loop() -> None:
    xs, turns = XS, 0
    while xs.sum() < 10_000:
        xs, turns = xs * 2, turns + 1
    assert turns > 1
    before, *_, body = A.profile(doubled, XS).loops
    assert (before.times, before.part) == (1, ())
    assert (body.times, body.part) == (turns, ("awhile %3, do",))
    assert body.bytes_read == turns * XS.nbytes


@pytest.mark.parametrize("backend", ["llvm", "opencl"])
@pytest.mark.opencl
def test_copies_that_are_not_made_are_not_counted(backend: Literal["llvm", "opencl"]) -> None:
    """A loop that changes its state in place copies the argument, and nothing in later turns."""

    def program(xs: Floats) -> Floats:
        def turn(k: A.Exp[np.int64], state: Floats) -> Floats:
            return A.update(state, (slice(k, k + 1),), A.fill((1,), state[k] + 1))

        return A.iiterate(9, turn, xs)

    profile = A.profile(program, np.zeros(100), backend=backend)
    (copy,) = [loop for loop in profile.loops if any("copy" in each.name for each in loop.operations)]
    assert (copy.times, copy.bytes_read, copy.bytes_written) == (1, 800, 800)
    (scatter,) = [loop for loop in profile.loops if any("scatter" in each.name for each in loop.operations)]
    assert scatter.times == 9


def test_iterate_runs_as_often_as_it_says() -> None:
    profile = A.profile(lambda xs: A.iterate(7, shares, xs), XS)
    check(profile)
    inside = [loop for loop in profile.loops if loop.part]
    assert {loop.times for loop in inside} == {7}
    assert max(loop.bytes_written for loop in inside) == 7 * XS.nbytes


def test_a_branch_that_did_not_run() -> None:
    profile = A.profile(one_branch, XS)
    _, taken, other = profile.loops
    assert (taken.times, other.times) == (1, 0)
    assert (other.bytes_read, other.bytes_written, other.milliseconds, other.share) == (0, 0, 0.0, 0.0)
    assert str(other) == "did not run"
    check(profile)


def test_nothing_runs_over_nothing() -> None:
    (loop,) = A.profile(lambda xs: A.map(lambda x: x + 1, xs), XS[:0]).loops
    assert loop.times == 0


def test_settings_are_those_of_run() -> None:
    assert len(A.profile(dotp, XS, XS, strategy="none", products="rounded").loops) == 2
    with A.using(strategy="none", threads=1, products="rounded"):
        assert len(A.profile(dotp, XS, XS).loops) == 2
    with pytest.raises(AccelValueError, match="there is no setting 'speed'"):
        A.profile(dotp, XS, XS, speed=1)  # type: ignore[call-arg]  # what is tested


@each_platform
def test_opencl(platform: str) -> None:
    backend = f"opencl:{ROWS[platform]}"
    profile = A.profile(shares, XS, backend=backend)
    assert counted(profile) == counted(A.profile(shares, XS))
    assert profile.backend == backend
    assert counted(A.profile(large, XS, backend=backend)) == counted(A.profile(large, XS))


def test_the_interpreter_is_refused() -> None:
    with pytest.raises(AccelDeviceError) as caught:
        A.profile(dotp, XS, XS, backend="interpreter")
    assert caught.value.message == "the interpreter has no loops to measure"
    assert caught.value.hint == "use backend='llvm' or backend='opencl'"
    assert caught.value.where is not None
    assert caught.value.where.file == __file__


def test_a_function_needs_its_arrays() -> None:
    with pytest.raises(AccelTypeError) as caught:
        A.profile(dotp)
    assert caught.value.message == "a function is profiled with the arrays that it is to run on"
    assert caught.value.hint == "write profile(dotp, …)"


def test_what_the_program_raises_is_raised() -> None:
    with pytest.raises(AccelIndexError):
        A.profile(lambda xs: A.generate((4,), lambda ix: xs[ix[0]]), XS[:2])


def test_speeds_follow_from_bytes_and_time() -> None:
    loop = Measured(times=2, milliseconds=4.0, bytes_read=60_000_000, bytes_written=20_000_000, bandwidth=80.0)
    assert loop.gigabytes_per_second == 20.0
    assert loop.share == 0.25
    assert str(loop) == "4.000 ms in 2 turns, 20.0 GB/s, 25% of the bandwidth"


def test_the_table() -> None:
    """With figures that are the same each time."""
    profile = A.profile(one_branch, XS[:10])
    figures = [(1, 0.25, 80), (1, 1234.5, 160), (0, 0.0, 0)]
    loops = tuple(
        replace(loop, times=times, milliseconds=ms, bytes_read=moved * 1_000_000, bytes_written=0, bandwidth=500.0)
        for loop, (times, ms, moved) in zip(profile.loops, figures, strict=True)
    )
    fixed = replace(profile, loops=loops, milliseconds=1250.0, bandwidth=500.0)
    here = f"{__file__}:{one_branch.__code__.co_firstlineno + 1}"
    assert str(fixed).splitlines() == [
        "one_branch on llvm: 1,250.000 ms, 1,234.750 ms of it in loops, the least of 2 runs",
        "bandwidth: 500.0 GB/s",
        "",
        "                turns         ms         read  written   GB/s  of bandwidth",
        "loop 1 over n0      1      0.250   80,000,000        0  320.0           64%",
        f"    sum %1    {here}",
        f"    acond %2  {here}",
        "in acond %3, then",
        "loop 2 over n0      1  1,234.500  160,000,000        0    0.1            0%",
        f"    map %4  {here}",
        "in acond %3, else",
        "loop 3 over n0      0          -            -        -      -             -",
        f"    map %5  {here}",
    ]


def test_long_loops_are_shortened_in_the_table() -> None:
    def chain(xs: Floats) -> Floats:
        for _ in range(20):
            xs = A.map(lambda x: x + 1, xs)
        return xs

    profile = A.profile(chain, XS)
    assert len(profile.loops[0].operations) == 20
    assert str(profile).splitlines()[-1] == "    and 12 more"


def test_pages_and_pictures_show_the_figures(tmp_path: Path) -> None:
    profile = A.profile(one_branch, XS)
    profile.to_html(tmp_path / "out.html")
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    for loop in profile.loops:
        heading = f"{loop.title}: {loop}"
        assert f"<h2>{heading}</h2>" in page
        assert f">{heading}</a>" in page
        assert heading in profile.explanation.to_dot()
        assert heading in profile.explanation.to_mermaid()
    assert all(cluster.heading == cluster.title for cluster in A.explain(one_branch, XS).clusters)
