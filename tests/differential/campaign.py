"""Long runs: chunks of seeds, each in a process of its own, so that a crash tells its seed and nothing is lost.

A log has a line of JSON for each chunk: its first seed, the complaints, what its programs are made of. A run that is given
a log again goes on where that ends.
"""

from __future__ import annotations

import faulthandler
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from accel.backends.llvm.calls import spread
from tests.differential.check import check, check_opencl
from tests.differential.generate import generate
from tests.differential.guard import guarding
from tests.differential.met import counted
from tests.differential.source import file_source
from tests.differential.trials import Device, lean, thorough

CHUNK = 200
BATCH = 20
TAIL = 12
"""Lines of what a process said last: where it stood in Python when it crashed."""

PATIENCE = 1800
"""Seconds that one program, or one batch on OpenCL, may take, on a machine that may be busy: who takes longer hangs."""

FAILED = 3
"""The exit status of a process that found failures; others mean that it crashed."""

DEVICES: tuple[Device, ...] = ("opencl", "gpu")
RECORD = "@ "
"""What a line begins with that says what a batch was made of."""


@dataclass(frozen=True, slots=True)
class Options:
    """What a run does with each program. `opencl`: one batch in so many runs on OpenCL, too; 0 is none."""

    lean: bool = False
    opencl: int = 1
    guard: bool = False

    def arguments(self) -> list[str]:
        """For the process of a chunk."""
        flags = [f"--{name}" for name in ("lean", "guard") if getattr(self, name)]
        return [*flags, "--opencl", str(self.opencl)]


def work(first: int, count: int, options: Options) -> int:
    """Check some seeds here; print complaints, and what each batch is made of; give the number of complaints."""
    faulthandler.enable()
    spread.ENOUGH = 0  # arguments whose rows' elements are not adjacent are read where they lie at the first call
    failed = 0
    for start in range(first, first + count, BATCH):
        seeds = range(start, min(start + BATCH, first + count))
        for complaint in _complaints(seeds, options):
            failed += 1
            print(complaint, flush=True)
        print(f"{RECORD}{json.dumps(counted(map(generate, seeds)))}", flush=True)
    faulthandler.cancel_dump_traceback_later()
    return failed


def _complaints(seeds: Sequence[int], options: Options) -> Iterator[str]:
    trials = lean if options.lean else thorough
    for seed in seeds:
        _begin(f"at seed {seed}")
        with guarding(seed) if options.guard else nullcontext():
            yield from check([seed], trials)
    number = seeds[0] // BATCH
    if options.opencl and number % options.opencl == 0:
        _begin(f"at seed {seeds[0]} on opencl")
        turn = number // options.opencl
        with guarding(turn) if options.guard else nullcontext():
            yield from check_opencl(seeds, trials(turn).ways, trials, DEVICES[turn % len(DEVICES)])


def _begin(where: str) -> None:
    """Say where this process is, and have it end with its stack if it stays there for too long."""
    print(where, file=sys.stderr, flush=True)
    faulthandler.dump_traceback_later(PATIENCE, exit=True)


@dataclass(slots=True)
class Tally:
    """What came of some programs: complaints, and how many programs have which names and kinds of arrays."""

    programs: int = 0
    complaints: list[str] = field(default_factory=list)
    met: Counter[str] = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        self.programs += other.programs
        self.complaints += other.complaints
        self.met += other.met

    def summary(self) -> str:
        """One line for each word, the rarest first."""
        rising = sorted(self.met.items(), key=lambda item: (item[1], item[0]))
        head = f"{self.programs} programs, {len(self.complaints)} complaints; how many programs have what:"
        return "\n".join([head, *(f"{count:8} {word}" for word, count in rising)])


def isolated(first: int, count: int, options: Options) -> Tally:
    """Check some seeds in a process of its own; after a crash go on behind the seed that caused it."""
    end, found = first + count, Tally(count)
    while first < end:
        seeds = ["--seed", str(first), "--count", str(end - first)]
        command = [sys.executable, "-m", "tests.differential", "--here", *seeds, *options.arguments()]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        lines = done.stdout.splitlines(keepends=True)
        for line in lines:
            if line.startswith(RECORD):
                found.met.update(json.loads(line.removeprefix(RECORD)))
        complaints = "".join(line for line in lines if not line.startswith(RECORD))
        if complaints:
            found.complaints.append(complaints)
        if done.returncode in (0, FAILED):
            return found
        last, on_opencl = _reached(done.stderr, first)
        tail = "\n".join(done.stderr.splitlines()[-TAIL:])
        found.complaints.append(
            f"# seed {last} ended the process with {done.returncode}:\n{file_source(generate(last))}{tail}\n"
        )
        first = (last // BATCH + 1) * BATCH if on_opencl else last + 1
    return found


def _reached(said: str, first: int) -> tuple[int, bool]:
    """The last seed that a process began with, and whether it was on OpenCL."""
    lines = [line for line in said.splitlines() if line.startswith("at seed ")]
    return (int(lines[-1].split()[2]), lines[-1].endswith("on opencl")) if lines else (first, False)


def run(first: int, count: int, options: Options, log: Path | None) -> Tally:
    """Check all seeds, chunk by chunk, but for chunks that the log has. Print complaints and, now and then, how far this is."""
    begin, total = time.monotonic(), Tally()
    known = read(log) if log is not None else {}
    for start in range(first, first + count, CHUNK):
        if start in known:
            total.add(known[start])
            continue
        found = isolated(start, min(CHUNK, first + count - start), options)
        total.add(found)
        if log is not None:
            write(log, start, found)
        print(*found.complaints, sep="\n", end="", flush=True)
        seconds = time.monotonic() - begin
        print(f"# {total.programs} programs in {seconds:.0f} s, {len(total.complaints)} complaints", flush=True)
    return total


def read(log: Path) -> dict[int, Tally]:
    """The chunks that a log has, by their first seeds."""
    if not log.exists():
        return {}
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    return {line["first"]: Tally(line["programs"], line["complaints"], Counter(line["met"])) for line in lines}


def write(log: Path, first: int, tally: Tally) -> None:
    """Add a chunk to a log."""
    line = {"first": first, "programs": tally.programs, "complaints": tally.complaints, "met": tally.met}
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
