"""Programs with mistakes, in processes of their own: one that crashes, hangs or takes all memory names its program.

In: seeds. Out: reports, one for each program that does not end in a value, an error of accel's at its line, or Python's own.
"""

from __future__ import annotations

import faulthandler
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from tests.mistakes.change import changed
from tests.mistakes.examples import examples
from tests.mistakes.judge import judged
from tests.mistakes.values import HUGE

CHUNK = 500
ROOT = Path(__file__).parents[2]
MEMORY = 6 << 30
"""Bytes that a process may have: programs ask for any number."""

HANGING = 300
"""Seconds after which a process ends that no signal of Python's reaches."""

ENDLESS = ("awhile", "while_", "iterate", "W.forever", *HUGE)
"""What programs may have in them that run for very long, because they say so."""


def reports(seeds: Sequence[int], backends: Sequence[str]) -> Iterator[str]:
    """What is wrong with the programs of these seeds."""
    for start in range(0, len(seeds), CHUNK):
        yield from _of_process(seeds[start : start + CHUNK], backends)


def here(seeds: Sequence[int], backends: tuple[str, ...]) -> None:
    """Judge programs in this process; reports on standard output, what is running on standard error."""
    faulthandler.enable()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    os.chdir(tempfile.mkdtemp())  # some programs write files
    programs = examples()
    names = list(programs)
    for seed in seeds:
        program = changed(names[seed % len(names)], programs, Random(seed))
        print(f"at seed {seed}: {program!r}", file=sys.stderr, flush=True)
        faulthandler.dump_traceback_later(HANGING, exit=True)
        verdict = judged(program, backends)
        if verdict.kind == "complaint" or (verdict.kind == "long" and not _may_be_long(program)):
            print(_report(seed, program, f"{verdict.kind}: {verdict.text}"), flush=True)
    faulthandler.cancel_dump_traceback_later()


def _of_process(seeds: Sequence[int], backends: Sequence[str]) -> Iterator[str]:
    """The reports of a process that judges these; if it ends before, one about that, and those of another for the rest."""
    left = list(seeds)
    while left:
        command = [sys.executable, "-m", "tests.mistakes", "--here", "--backends", ",".join(backends)]
        command += ["--seed", str(left[0]), "--count", str(len(left))]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
        yield from (report for report in done.stdout.split(_END) if report.strip())
        if done.returncode == 0:
            return
        *_, last = (line for line in done.stderr.splitlines() if line.startswith("at seed "))
        seed, _, program = last.removeprefix("at seed ").partition(": ")
        after = done.stderr.partition(last)[2].strip()
        if not (after.startswith("Timeout") and _may_be_long(program)):
            yield _report(int(seed), program, f"the process ended with status {done.returncode}\n{after[-2000:]}")
        left = left[left.index(int(seed)) + 1 :]


_END = "\n\f"


def _may_be_long(program: str) -> bool:
    return any(word in program for word in ENDLESS)


def _report(seed: int, program: str, text: str) -> str:
    return f"seed {seed}, {text}\n{program}{_END}"
