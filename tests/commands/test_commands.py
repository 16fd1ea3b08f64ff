"""The command line says what it found, and what is wrong with what it was given."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import accel as A
from accel.__main__ import main
from accel.backends.llvm.machine.target import host
from accel.commands.demo import ITEMS, passes, summary
from accel.commands.picture import blocks
from accel.explanation.explain import explain
from accel.support.choices import STRATEGIES
from tests.llvm.processors import changed
from tests.marks import long, require_device
from tests.papers import programs

EXAMPLES = Path(__file__).parents[2] / "examples"


@long
@pytest.mark.opencl
def test_demo_shows_results_loops_passes_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "canny"]) == 0
    text = capsys.readouterr().out
    assert "\n  NumPy         11093 of 262144 pixels, " in text
    assert "\n  llvm          11093 of 262144 pixels, " in text
    assert "\n  opencl        11093 of 262144 pixels, " in text
    assert "\n  loops         " in text
    assert "proved optimal" in text
    assert "█" in text


def test_demo_runs_the_first_three_examples() -> None:
    assert [item.function for item in ITEMS] == ["dotp", "normalise2", "normalise2_filter", "canny"]


def test_demo_of_something_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "lulesh"]) == 1
    assert capsys.readouterr().err == "the demo has no lulesh; it has canny, dotp, normalise\n"


@pytest.mark.opencl
def test_devices_lists_the_cpu_first(capsys: pytest.CaptureFixture[str]) -> None:
    require_device()
    assert main(["devices"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows[:2]] == ["interpreter", "llvm"]
    assert any(row.startswith("opencl:0") for row in rows)


@pytest.mark.opencl
def test_doctor_finds_everything_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    text = capsys.readouterr().out
    assert "FAIL" not in text
    assert "ok    the solver CBC" in text
    assert "ok    clustering" in text
    assert "ok    the llvm backend" in text


@pytest.mark.opencl
@pytest.mark.parametrize("there", [True, False])
def test_doctor_says_that_a_processor_has_no_fma(
    there: bool, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host(), "processor", changed(has_fma=there))
    assert main(["doctor"]) == 0
    assert ("none  this processor has no fma" in capsys.readouterr().out) is not there


@pytest.mark.opencl
def test_cache_says_where_plans_are_and_removes_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(tmp_path))
    assert main(["explain", f"{EXAMPLES / 'dotp.py'}:dotp"]) == 0
    capsys.readouterr()
    assert main(["cache"]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path}: 1 plan, ")
    # What no other test of this process has planned.
    A.run(A.scanr1(A.max, A.map(lambda x: x ^ 41, A.scanl1(A.min, A.use(np.arange(4))))), backend="llvm")
    assert main(["cache"]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path}: 2 plans, 1 compiled program, ")
    assert main(["cache", "--clear"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("removed 2 plans, 1 compiled program, ")
    assert second == f"{tmp_path}: 0 plans, 0.0 KiB"
    assert not any(path.is_file() for folder in tmp_path.iterdir() if folder.is_dir() for path in folder.iterdir())
    assert main(["doctor"]) == 0
    assert f"ok    {second}" not in capsys.readouterr().out  # the doctor's programs were planned
    monkeypatch.setenv("ACCEL_CACHE_DIR", "")
    assert main(["cache"]) == 0
    assert capsys.readouterr().out.startswith("plans and programs are kept in memory only")


@pytest.mark.opencl
def test_cache_and_doctor_say_why_a_directory_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    monkeypatch.setenv("ACCEL_CACHE_DIR", str(shared))
    reason = f"plans and programs are kept in memory only: others may write to {shared} (write `chmod go-w {shared}`)"
    assert main(["cache"]) == 0
    assert capsys.readouterr().out == f"{reason}\n"
    assert main(["doctor"]) == 0
    assert f"none  {reason}\n" in capsys.readouterr().out
    assert list(shared.iterdir()) == []


def test_explain_prints_the_report_or_a_stage(capsys: pytest.CaptureFixture[str]) -> None:
    target = f"{EXAMPLES / 'dotp.py'}:dotp"
    assert main(["explain", target]) == 0
    assert capsys.readouterr().out.startswith("1 loop; reads 2 of n0; writes 1 element\n")
    several = f"{EXAMPLES / 'normalise.py'}:normalise2"
    assert main(["explain", several]) == 0
    assert capsys.readouterr().out.startswith("2 loops; reads 2 of n0, 2 elements; writes 2 of n0, 2 elements\n")
    assert main(["explain", several, "--strategy", "none"]) == 0
    assert capsys.readouterr().out.startswith("5 loops; reads 4 of n0, 1 of n0+1, 2 elements;")
    assert main(["explain", several, "--stage", "fusedast"]) == 0
    assert "Vertical %3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("nothing.py:f", "'nothing.py:f' does not name a file and a function in it, as examples/dotp.py:dotp does\n"),
        (f"{EXAMPLES / 'dotp.py'}:gone", f"{EXAMPLES / 'dotp.py'} has no 'gone'; it has dotp\n"),
        ("nothing.py", "'nothing.py' does not name a file and a function in it, as examples/dotp.py:dotp does\n"),
    ],
)
def test_explain_of_what_is_not_there(target: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", target]) == 1
    assert capsys.readouterr().err == message


PROGRAMS = '''\
import accel as A
import numpy as np
from typing import Any
from examples.dotp import dotp

V = A.Acc[A.Vector[np.float64]]
numbers = A.use(np.ones(3))
larger = A.map(lambda x: x + 1, numbers)

def half(xs: V, flags: A.Acc[A.Matrix[np.bool_]]) -> V:
    """Half of each.

    More about it.
    """
    return A.map(lambda x: x / 2, xs)

def scaled(xs: V, factor, n: int = 3) -> V:
    return A.map(lambda x: x * factor, xs)

def anything(xs: A.Acc[Any]) -> Any:
    return xs

def threes(*, many: int = 3) -> tuple[V, V]:
    return A.fill((many,), 3.0), A.fill((many,), 3.0)

fast = A.runN(half)
both = larger, numbers

def on_numbers(xs: np.ndarray[Any, Any]) -> Any:
    """NumPy's."""
'''


def test_explain_of_a_file_lists_its_programs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Not what it imports, nor functions that are no programs; each once."""
    file = tmp_path / "programs.py"
    file.write_text(PROGRAMS, encoding="utf-8")
    assert main(["explain", str(file)]) == 0
    assert (
        capsys.readouterr().out
        == f"""\
{file} has

  larger: f64[_]  line 8
  both: f64[_], f64[_]  line 8
  half(xs: f64[_], flags: bool[_,_])  line 10
      Half of each.
  scaled(xs: f64[_], factor: ?, n: ?)  line 17
      the types of factor and n are not known: annotate them, or give arrays to `A.explain`
  threes()  line 23

To explain one of them: python -m accel explain {file}:larger
"""
    )
    for name in ("larger", "half", "threes", "both"):
        assert main(["explain", f"{file}:{name}"]) == 0
    capsys.readouterr()
    assert main(["explain", f"{file}:scaled"]) == 1
    assert "the type of the parameter factor is not known" in capsys.readouterr().err


def test_a_page_is_one_function_s(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = EXAMPLES / "normalise.py"
    assert main(["explain", str(file), "--html", str(tmp_path / "out.html")]) == 1
    choice = f"{file}:normalise2 or {file}:normalise2_filter"
    assert capsys.readouterr().err == f"which function of {file}? Write {choice}\n"
    assert not (tmp_path / "out.html").exists()


def test_a_file_without_programs_says_so(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "empty.py"
    file.write_text("def f(xs):\n    return xs\n", encoding="utf-8")
    assert main(["explain", str(file)]) == 1
    text = f"{file} has nothing to explain: no function of it has a parameter that is annotated as an `Acc`\n"
    assert capsys.readouterr().err == text
    assert main(["explain", str(file), "--stage", "ir"]) == 1
    assert capsys.readouterr().err == f"which function of {file}? Write its name\n"


def test_explain_of_a_stage_that_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{EXAMPLES / 'dotp.py'}:dotp", "--stage", "asm"]) == 1
    stages = "ast, labelled, graph, model, fusedast, ir, schedule, llvm, opencl"
    assert capsys.readouterr().err == f"there is no stage 'asm'; there are {stages}\n"


def test_errors_of_accel_are_told_without_a_traceback(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    file.write_text("def f(xs):\n    return xs\n", encoding="utf-8")
    assert main(["explain", f"{file}:f"]) == 1
    assert capsys.readouterr().err.startswith("AccelTypeError: the type of the parameter xs is not known\n")


@pytest.mark.parametrize(
    ("source", "raised"),
    [
        ("1 / 0\n", "ZeroDivisionError at line 1: division by zero"),
        ("\nx = (\n", "SyntaxError at line 2: '(' was never closed (program.py, line 2)"),
        ("import sys\nsys.exit(3)\n", "SystemExit at line 2: 3"),
        ("import no_such_module\n", "ModuleNotFoundError at line 1: No module named 'no_such_module'"),
    ],
)
def test_a_file_that_cannot_be_imported(
    source: str, raised: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:  # fmt: skip
    file = tmp_path / "program.py"
    file.write_text(source, encoding="utf-8")
    assert main(["explain", f"{file}:f"]) == 1
    assert capsys.readouterr().err == f"{file} cannot be imported: it raised {raised}\n"


@pytest.mark.parametrize(
    ("source", "name", "message"),
    [
        ("f = 3\n", "f", "f in FILE is no function: it is of type int\n"),
        ("def f():\n    return g()\n", "f", "f raised NameError at line 2: name 'g' is not defined\n"),
        ("", "", "'FILE:' does not name a file and a function in it, as examples/dotp.py:dotp does\n"),
    ],
)
def test_a_function_that_cannot_be_explained(
    source: str, name: str, message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:  # fmt: skip
    file = tmp_path / "program.py"
    file.write_text(source, encoding="utf-8")
    assert main(["explain", f"{file}:{name}"]) == 1
    assert capsys.readouterr().err == message.replace("FILE", str(file))


def test_a_file_of_another_kind_is_not_imported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "program.txt"
    file.write_text("", encoding="utf-8")
    assert main(["explain", f"{file}:f"]) == 1
    assert capsys.readouterr().err == f"{file} is no Python file: its name does not end in .py\n"


def test_a_file_finds_what_lies_beside_it_and_shadows_nothing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:  # fmt: skip
    (tmp_path / "beside_the_program.py").write_text("from examples.dotp import dotp\n", encoding="utf-8")
    file = tmp_path / "json.py"
    file.write_text("from beside_the_program import dotp\n", encoding="utf-8")
    before = list(sys.path)
    assert main(["explain", f"{file}:dotp"]) == 0
    assert capsys.readouterr().out.startswith("1 loop; ")
    assert sys.path == before
    import json

    assert hasattr(json, "loads")


@pytest.mark.slow
def test_explain_prints_graphs_and_writes_pages(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    target = f"{EXAMPLES / 'dotp.py'}:dotp"
    for option, start in (("--dot", "digraph"), ("--mermaid", "flowchart TB\n"), ("--svg", "<?xml")):
        assert main(["explain", target, option]) == 0
        assert capsys.readouterr().out.startswith(start)
    path = tmp_path / "out.html"
    assert main(["explain", target, "--html", str(path)]) == 0
    assert capsys.readouterr().out == f"{path} explains dotp\n"
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["explain", target, "--html", str(tmp_path / "no" / "out.html")]) == 1
    assert capsys.readouterr().err.startswith("AccelError: the page cannot be written to ")


def test_every_strategy_can_be_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for strategy in STRATEGIES:
        assert main(["explain", f"{EXAMPLES / 'normalise.py'}:normalise2", "--strategy", strategy]) == 0
        assert f"\nstrategy {strategy}" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["explain", f"{EXAMPLES / 'dotp.py'}:dotp", "--strategy", "best"])
    assert "invalid choice: 'best'" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["explain", f"{EXAMPLES / 'dotp.py'}:dotp", "--svg", "--stage", "ir"])
    assert "not allowed with argument" in capsys.readouterr().err


def test_a_wrong_command_says_which_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["benchmark"])
    assert "demo" in capsys.readouterr().err


def test_passes_leave_single_elements_out() -> None:
    assert passes(explain(programs.normalise2)) == "2 reads and 2 writes"


def test_summaries() -> None:
    assert summary(np.float32(2.5)) == "2.5"
    assert summary((np.array([1.0, 2.0]), np.array([True, False]))) == "[1, 2, …] and 1 of 2 pixels"


def test_a_picture_is_two_rows_a_line() -> None:
    assert blocks(np.array([[True, False], [True, False], [False, True], [True, True]])) == "█\n▄█"


def test_the_example_modules_are_not_left_on_the_path() -> None:
    assert not [path for path in sys.path if path.endswith("examples")]
