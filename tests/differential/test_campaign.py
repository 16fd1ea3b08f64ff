"""Long runs: what is done is not done again, a crash is a complaint with its seed, plans are drawn and differ."""

from __future__ import annotations

import subprocess
from collections import Counter
from pathlib import Path

import pytest

from accel.ir.text import text
from accel.support.choices import STRATEGIES
from tests.differential import campaign
from tests.differential.campaign import CHUNK, Options, Tally, isolated, run
from tests.differential.check import loaded
from tests.differential.data import inputs
from tests.differential.generate import generate
from tests.differential.met import met
from tests.differential.subjects import case
from tests.differential.trials import Trial, lean, planned


def test_a_run_goes_on_where_its_log_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    done: list[int] = []

    def fake(first: int, count: int, options: Options) -> Tally:
        done.append(first)
        return Tally(count, [f"seed {first}"] if first == 0 else [], Counter({"map": 1 + first}))

    monkeypatch.setattr(campaign, "isolated", fake)
    log = tmp_path / "log"
    run(0, CHUNK, Options(), log)
    total = run(0, 2 * CHUNK + 7, Options(), log)
    assert done == [0, CHUNK, 2 * CHUNK]
    assert (total.programs, total.complaints, total.met["map"]) == (2 * CHUNK + 7, ["seed 0"], 3 + 3 * CHUNK)
    assert total.summary().splitlines()[0].startswith(f"{2 * CHUNK + 7} programs, 1 complaints")
    assert run(0, 2 * CHUNK + 7, Options(), log) == total


def test_a_crash_is_a_complaint_and_the_run_goes_on_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def fake(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        first = command[command.index("--seed") + 1]
        asked.append(first)
        if first == "20":
            return subprocess.CompletedProcess(
                command, -11, '@ {"map": 2}\n', "at seed 20\nat seed 43\nSegmentation fault\n"
            )
        if first == "44":
            return subprocess.CompletedProcess(command, -6, "", "at seed 44\nat seed 60 on opencl\n")
        return subprocess.CompletedProcess(command, 0, '@ {"map": 3}\n', "at seed 80\n")

    monkeypatch.setattr(subprocess, "run", fake)
    found = isolated(20, 100, Options())
    assert asked == ["20", "44", "80"]
    assert [complaint.splitlines()[0] for complaint in found.complaints] == [
        "# seed 43 ended the process with -11:",
        "# seed 60 ended the process with -6:",
    ]
    assert (found.programs, found.met["map"]) == (100, 5)


def test_every_way_has_its_turn() -> None:
    trials = [lean(seed) for seed in range(40)]
    assert {way for trial in trials for way in trial.ways} == {*STRATEGIES, "random"}
    assert all(
        len({getattr(trial, name) for trial in trials}) > 1 for name in ("duplicate", "threads", "interpreted", "again")
    )


def test_random_plans_differ() -> None:
    program = generate(2000)
    given = case(loaded(program), inputs(program))
    plans = {text(planned(given.program, "random", Trial(seed=seed)).loops) for seed in range(30)}
    assert len(plans) > 5


def test_what_a_program_is_made_of() -> None:
    seen = set().union(*(met(generate(seed)) for seed in range(60)))
    assert {"map", "cond", "(i64)", "(rank 0)", "(rank 2)", "(empty)"} <= seen
