"""The distribution's name, its version, and the commands that install its extras are told alike everywhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import accel as A
from accel.__main__ import main
from accel.backends.opencl.machine import devices
from accel.commands import demo, doctor
from accel.support.distribution import DISTRIBUTION, UNKNOWN, pip_install
from accel.support.forks import FORKS
from tests.marks import one_in
from tests.test_house import TEXTS

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def test_the_project_has_the_distribution_s_name_and_extras_name_it() -> None:
    assert PROJECT["name"] == DISTRIBUTION == "accel-array"
    for requirements in EXTRAS.values():
        own = [each for each in requirements if each.startswith("accel")]
        assert all(each.startswith(f"{DISTRIBUTION}[") for each in own)
        assert all(
            set(each.removeprefix(f"{DISTRIBUTION}[").removesuffix("]").split(",")) <= EXTRAS.keys() for each in own
        )


def test_every_command_that_installs_names_this_project() -> None:
    """A directory, a folder of wheels, this distribution, a dependency that a hint names, or a name that the code puts in."""
    pattern = re.compile(r"pip install (?:--target \S+ |-\S+ )*\\?['\"]?([\w.{-]+)")
    named = {name for path in TEXTS for name in pattern.findall(path.read_text(encoding="utf-8"))}
    assert named == {".", "wheels", DISTRIBUTION, "mip", "{DISTRIBUTION"}


def test_no_text_names_an_extra_of_another_project() -> None:
    pattern = re.compile(rf"(?<![\w.])accel\\?\[({'|'.join(EXTRAS)})")
    assert not [str(path) for path in TEXTS if pattern.search(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_command_of_an_extra(extra: str) -> None:
    assert pip_install(extra) == f"pip install 'accel-array[{extra}]'"


@pytest.mark.solver
@pytest.mark.llvm
def test_doctor_says_how_to_install_what_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "is_installed", lambda name: False)
    monkeypatch.setattr(A, "devices", lambda: ())
    monkeypatch.setattr(devices, "_all", lambda: devices._Found((), FORKS.generation))
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "the solver HiGHS is not installed; pip install 'accel-array[highs]' brings it" in said
    assert "the solver Gurobi is not installed; pip install 'accel-array[gurobi]' brings it" in said
    assert "python -m pip install 'accel-array[opencl]' brings a CPU device" in said


def test_demo_says_how_to_install_the_examples_libraries(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(name: str) -> object:
        raise ImportError("No module named 'sklearn'")

    monkeypatch.setattr(demo, "example", missing)
    assert main(["demo", "normalise"]) == 1
    command = "pip install 'accel-array[examples]'"
    assert capsys.readouterr().err == f"No module named 'sklearn': install the examples' libraries with  {command}\n"


def test_the_version_is_that_of_the_checkout() -> None:
    assert A.__version__ == PROJECT["version"]


def test_the_command_line_says_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"accel-array {PROJECT['version']}\n"


def version_of_a_copy(folder: Path) -> str:
    """What `accel.__version__` is in a new process that finds accel in that folder, before others."""
    code = f"import sys; sys.path[:0] = [{str(folder)!r}]; import accel; print(accel.__file__, accel.__version__)"
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=True)
    file, version = done.stdout.split()
    assert Path(file).is_relative_to(folder)
    return version


def copied(folder: Path) -> Path:
    shutil.copytree(ROOT / "accel", folder / "accel", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def installed(folder: Path, text: str) -> None:
    """Metadata as an installer writes it."""
    information = folder / "accel_array-7.8.9.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(text, encoding="utf-8")


def test_an_installed_copy_says_the_version_of_its_metadata(tmp_path: Path) -> None:
    installed(copied(tmp_path), f"Metadata-Version: 2.4\nName: {DISTRIBUTION}\nVersion: 7.8.9\n")
    assert version_of_a_copy(tmp_path) == "7.8.9"
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "another"\nversion = "1"\n', encoding="utf-8")
    assert version_of_a_copy(tmp_path) == "7.8.9"


@pytest.mark.parametrize("project", one_in(4, ["", "not TOML", "project = 3", '[project]\nname = "accel-array"']))
def test_a_copy_of_which_nothing_tells_the_version_has_one(tmp_path: Path, project: str) -> None:
    installed(copied(tmp_path), "Metadata-Version: 2.4\n")
    (tmp_path / "pyproject.toml").write_text(project, encoding="utf-8")
    assert version_of_a_copy(tmp_path) == UNKNOWN


def test_completion_offers_the_public_names_and_no_imports() -> None:
    offered = dir(A)
    assert {"run", "runN", "explain", "using", "map", "__version__"} <= set(offered)
    assert set(offered) == {*A.__all__, "__version__"}
    assert not {"TYPE_CHECKING", "MappingProxyType", "import_module", "annotations", "np"} & set(offered)
    assert all(hasattr(A, name) for name in offered)


def test_completion_offers_what_nobody_has_used_yet() -> None:
    code = "import accel; before = dir(accel); accel.run; print('run' in before, dir(accel) == before)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "True True\n"


def test_the_version_is_looked_up_when_somebody_asks() -> None:
    code = "import sys, accel; print('importlib.metadata' in sys.modules, '__version__' in vars(accel))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_readme_says_the_name_and_the_extras_of_the_project() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"pip calls this project `{DISTRIBUTION}`" in text
    assert all(f"`{extra}`" in text for extra in EXTRAS.keys() - {"test", "bench"})
