"""Where compiled code spends its time: `python -m tools.samples PROGRAM.py [ARGUMENT...]`, on Linux, with `perf`.

In: a Python program that uses accel. Out, on standard output: functions by their share of samples, those that accel compiled by
their names, and, where `objdump` is installed, the instructions around which most samples are. The program runs under `perf
record -e cpu-clock`, which needs no counters of the processor, so it works in virtual machines as well.

Code that accel has compiled lies in memory that no file stands behind. So the program's process writes what perf calls a map: a
line for each function, with its address and its size, in a file `perf-PID.map` where perf looks for it.
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
import tempfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from accel.backends.llvm.machine import loading
from accel.backends.llvm.machine.image import Image
from accel.backends.llvm.machine.loading import Library

FREQUENCY = 4000
"""Samples that are asked for, a second."""

FUNCTIONS, INSTRUCTIONS = 25, 10
"""How many of each are shown."""

AROUND = 3
"""Instructions that are shown before and behind one with many samples."""

MAPS = "/tmp"
"""Where perf looks for maps."""

INSIDE = "--inside"
"""The first argument of the process that runs the program; the second is a folder."""


def map_text(symbols: Mapping[str, int], start: int, size: int) -> str:
    """Lines of perf's map: code of so many bytes stands at `start`, and has functions at these places in it. What is between,
    functions that nothing outside sees, counts with the one before."""
    places = sorted((place, name) for name, place in symbols.items())
    ends = [*(place for place, _ in places[1:]), size]
    return "".join(
        f"{start + place:x} {end - place:x} {name}\n" for (place, name), end in zip(places, ends, strict=True)
    )


@dataclass(frozen=True)
class Samples:
    """How many there are in each function, and at each address of compiled code."""

    functions: Counter[str]
    addresses: Counter[int]

    @staticmethod
    def of(text: str) -> Samples:
        """Those that `perf script -F ip,sym,dso` printed: an address, a function, and in brackets the file it is from."""
        found = Samples(Counter(), Counter())
        for line in text.splitlines():
            if not line.strip():
                continue
            address, _, rest = line.strip().partition(" ")
            function, _, file = rest.rpartition(" (")
            is_compiled = file.startswith(f"{MAPS}/perf-")
            found.functions[function if is_compiled else f"{function} in {Path(file.rstrip(')')).name}"] += 1
            if is_compiled:
                found.addresses[int(address, 16)] += 1
        return found


@dataclass(frozen=True)
class Code:
    """The instructions of one piece of memory, in order: `texts` says what each is."""

    starts: Sequence[int]
    texts: Sequence[str]

    @staticmethod
    def of(disassembly: str) -> Code:
        """What `objdump` printed."""
        starts, texts = [], []
        for line in disassembly.splitlines():
            address, colon, text = line.partition(":\t")
            if colon and text:
                starts.append(int(address, 16))
                texts.append(text)
        return Code(starts, texts)

    def around(self, hot: int, samples: Counter[int]) -> Iterator[str]:
        """The instruction at an address, with those beside it, and their samples."""
        place = bisect_right(self.starts, hot) - 1
        for number in range(max(0, place - AROUND), min(len(self.starts), place + AROUND + 1)):
            start = self.starts[number]
            yield f"{samples[start] or '':>8} {start:x}: {self.texts[number]}"


def run_inside(folder: Path, program: str, arguments: Sequence[str]) -> None:
    """The program, in this process. Its compiled code comes into the folder, and into perf's map."""
    names = Path(MAPS, f"perf-{os.getpid()}.map")
    (folder / "map").write_text(str(names))
    own = loading.mapped

    def mapped(
        image: Image, exports: Sequence[str], imports: Mapping[str, int], held: Sequence[object] = ()
    ) -> Library:
        library = own(image, exports, imports, held)
        for name in exports[:1]:
            start = library.addresses[name] - image.symbols[name]
            with names.open("a") as file:
                file.write(map_text(image.symbols, start, len(image.code)))
            (folder / f"{start:x}.code").write_bytes(image.code)
        return library

    loading.mapped = mapped
    sys.argv = [program, *arguments]
    sys.path[0] = str(Path(program).parent)
    runpy.run_path(program, run_name="__main__")


def report(samples: Samples, folder: Path) -> Iterator[str]:
    """The lines that are printed. Instructions that stand beside hotter ones are not shown again."""
    total = samples.functions.total()
    yield f"{total} samples"
    for function, count in samples.functions.most_common(FUNCTIONS):
        yield f"{count / total:6.1%} {function}"
    if shutil.which("objdump") is None:
        return
    codes = {int(file.stem, 16): file for file in folder.glob("*.code")}
    starts = sorted(codes)
    pieces = {start: disassembled(file, start) for start, file in codes.items()}
    shown = set[str]()
    for hot, _ in samples.addresses.most_common(INSTRUCTIONS):
        lines = [*pieces[starts[bisect_right(starts, hot) - 1]].around(hot, samples.addresses)]
        if lines[min(AROUND, len(lines) - 1)] not in shown:
            yield from ("", *lines)
        shown.update(lines)


def disassembled(file: Path, start: int) -> Code:
    """The instructions of code that stood at an address."""
    machine = "aarch64" if os.uname().machine == "aarch64" else "i386:x86-64"
    command = [
        "objdump",
        "-D",
        "-b",
        "binary",
        "-m",
        machine,
        "--no-show-raw-insn",
        f"--adjust-vma={start:#x}",
        str(file),
    ]
    return Code.of(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def main(arguments: Sequence[str]) -> int:
    """Run a program and print where its time goes."""
    if arguments[:1] == [INSIDE]:
        run_inside(Path(arguments[1]), arguments[2], arguments[3:])
        return 0
    if not arguments:
        print("python -m tools.samples PROGRAM.py [ARGUMENT...]", file=sys.stderr)
        return 2
    if shutil.which("perf") is None:
        print("perf is not installed; Debian has it in linux-perf, Ubuntu in linux-tools-generic", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="accel-samples-") as name:
        folder = Path(name)
        inside = [sys.executable, "-m", "tools.samples", INSIDE, name, *arguments]
        data = str(folder / "perf.data")
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(FREQUENCY), "-o", data, "--", *inside]
        ended = subprocess.run(record, check=False).returncode
        if not Path(data).exists():
            return ended or 1
        script = ["perf", "script", "-i", data, "-F", "ip,sym,dso"]
        text = subprocess.run(script, capture_output=True, text=True, check=True).stdout
        Path((folder / "map").read_text()).unlink(missing_ok=True)
        for line in report(Samples.of(text), folder):
            print(line)
    return ended


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
