"""The tool that says where compiled code spends its time, without perf: what perf gets, and what is made of its answer."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from accel.backends.llvm.machine.system import has_images
from tools.samples import INSIDE, MAPS, Code, Samples, main, map_text


def test_the_map_has_a_line_for_each_function_up_to_the_next() -> None:
    text = map_text({"nest1_body": 0x40, "nest0_body": 0, "last": 0x1A0}, 0x7F00_0000_1000, 0x200)
    assert text == "7f0000001000 40 nest0_body\n7f0000001040 160 nest1_body\n7f00000011a0 60 last\n"


SAID = f"""
    7f0000001010 nest0_body ({MAPS}/perf-12.map)
    7f0000001010 nest0_body ({MAPS}/perf-12.map)
    7f0000001044 nest1_body ({MAPS}/perf-12.map)
ffffffff81a4af14 clear_page_erms ([kernel.kallsyms])
    7f12f6bd2e2a operator new(unsigned long) (/usr/lib/libstdc++.so.6)

"""


def test_samples_count_by_function_and_by_instruction() -> None:
    found = Samples.of(SAID)
    assert found.functions == {
        "nest0_body": 2, "nest1_body": 1, "clear_page_erms in [kernel.kallsyms]": 1,
        "operator new(unsigned long) in libstdc++.so.6": 1,
    }  # fmt: skip
    assert found.addresses == {0x7F00_0000_1010: 2, 0x7F00_0000_1044: 1}


def test_instructions_stand_among_those_beside_them() -> None:
    code = Code.of("\nfile:     file format binary\n\n  10:\tpush %rbx\n  11:\tnop\n  12:\tret\n")
    assert [*code.around(0x11, Counter({0x11: 7}))] == [
        "         10: push %rbx",
        "       7 11: nop",
        "         12: ret",
    ]


def test_without_perf_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert main(["program.py"]) == 1
    assert capsys.readouterr().err.startswith("perf is not installed")


@pytest.mark.llvm
@pytest.mark.skipif(not has_images(), reason="LLVM links what is compiled")
def test_a_program_s_functions_are_in_its_map(tmp_path: Path) -> None:
    """The program itself sees its arguments and its own folder."""
    program = tmp_path / "program.py"
    program.write_text(
        "import sys, numpy as np, accel as A\n"
        "print(sys.argv[1], A.runN(lambda xs: A.map(lambda x: x + 1, xs))(np.ones(5)).sum())\n"
    )
    command = [sys.executable, "-m", "tools.samples", INSIDE, str(tmp_path), str(program), "given"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "given 10.0\n"
    names = Path((tmp_path / "map").read_text())
    lines = names.read_text().splitlines()
    names.unlink()
    assert all(re.fullmatch(r"[0-9a-f]+ [0-9a-f]+ \S+", line) for line in lines)
    assert any(line.endswith("_body") for line in lines)
    sizes = {int(line.split()[0], 16): int(line.split()[1], 16) for line in lines}
    for file in tmp_path.glob("*.code"):
        start, size = int(file.stem, 16), len(file.read_bytes())
        inside = {place: length for place, length in sizes.items() if start <= place < start + size}
        assert inside
        assert max(place + length for place, length in inside.items()) == start + size
