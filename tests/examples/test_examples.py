"""Each example runs as users run it, and its program gives the same on every backend and strategy."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import accel as A
from accel.ilp.problem.options import STRATEGIES, Strategy
from examples import black_scholes, canny, dotp, kmeans, normalise, pagerank
from tests.marks import one_in, slow

ROOT = Path(__file__).parents[2]


@pytest.mark.opencl
@pytest.mark.parametrize(
    ("main", "said"),
    [
        (dotp.main, "llvm: 2498932.75"),
        (normalise.main, "normalise2_filter: the first of 178 elements"),
        (canny.main, "pixels are edges"),
        (pagerank.main, "karate club: members 33 and 0 lead"),
        (kmeans.main, "1797 digits"),
        (black_scholes.main, "1000000 options in 1 loop"),
    ],
    ids=["dotp", "normalise", "canny", "pagerank", "kmeans", "black_scholes"],
)
def test_main_runs_and_checks_itself(
    main: Callable[[], None],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["example"])
    main()
    assert said in capsys.readouterr().out


def test_canny_writes_a_picture(tmp_path: Path) -> None:
    canny.main(["--output", str(tmp_path / "edges.png")])
    with Image.open(tmp_path / "edges.png") as picture:
        assert picture.size == (512, 512)
        assert picture.getextrema() == (0, 255)


@slow
@pytest.mark.parametrize("command", [["-m", "examples.normalise"], ["examples/normalise.py"]], ids=["module", "file"])
def test_examples_run_from_the_command_line(command: list[str]) -> None:
    # As with accel installed: a file's own folder, not this one, is where Python looks first.
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 loops" in done.stdout


@pytest.mark.parametrize("backend", ["llvm", "opencl"])
@pytest.mark.parametrize("strategy", one_in(4, STRATEGIES))
def test_canny_is_the_same_everywhere(backend: str, strategy: Strategy) -> None:
    (picture,) = canny.inputs()
    part = picture[100:180, 200:290]  # a view with gaps: the head
    with A.using(backend=backend, strategy=strategy):
        np.testing.assert_array_equal(A.run(canny.canny(A.use(part))), canny.canny_numpy(part))


@pytest.mark.parametrize("strategy", one_in(4, STRATEGIES))
def test_pagerank_has_the_same_bits_with_every_strategy(strategy: Strategy) -> None:
    nodes, sources, targets = pagerank.generated(nodes=1000, edges=20_000)
    arguments = (A.use(np.array(nodes)), A.use(sources), A.use(targets))
    expected = A.run(pagerank.pagerank(*arguments), backend="llvm", strategy="ilp")
    for threads in (1, 2, 3):
        found = A.run(pagerank.pagerank(*arguments), backend="llvm", strategy=strategy, threads=threads)
        np.testing.assert_array_equal(found, expected)


def test_black_scholes_is_one_loop_that_reads_and_writes_each_array_once() -> None:
    explanation = A.explain(black_scholes.black_scholes, *black_scholes.inputs(10))
    assert (explanation.loops, dict(explanation.reads), dict(explanation.writes)) == (1, {"n0": 3}, {"n0": 2})


def test_no_array_of_distances_is_stored_in_kmeans() -> None:
    """Distances of all points to all centroids are as many as points times centroids: they exist in a loop only."""
    explanation = A.explain(kmeans.nearest)
    made = [array for array in explanation.arrays if array.status != "input"]
    assert {array.status for array in made if "," in array.type} == {"fused"}
    assert explanation.loops == 1
