"""Each example runs as users run it, and its program gives the same on every backend and strategy."""

from __future__ import annotations

import ast
import itertools
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from PIL import Image
from scipy.signal import convolve2d

import accel as A
from accel.support.choices import STRATEGIES, Strategy
from examples import black_scholes, canny, dotp, kmeans, life, multigrid, normalise, pagerank
from tests import untyped
from tests.marks import long, numbers_of_threads, one_in

ROOT = Path(__file__).parents[2]
Floats = np.ndarray[Any, np.dtype[np.float64]]


@pytest.mark.opencl
@pytest.mark.solver
@pytest.mark.parametrize(
    ("main", "said"),
    [
        (dotp.main, "llvm: 2498932.75"),
        (normalise.main, "normalise2_filter: the first of 178 elements"),
        (canny.main, "pixels are edges"),
        (pagerank.main, "karate club: members 33 and 0 lead"),
        (kmeans.main, "1797 digits"),
        (black_scholes.main, "1000000 options in 1 loop"),
        (life.main, "after 200 generations 405 of 3200 cells live"),
        (multigrid.main, "class S: the residual's norm is 5.3077070057"),
    ],
    ids=["dotp", "normalise", "canny", "pagerank", "kmeans", "black_scholes", "life", "multigrid"],
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
    found = capsys.readouterr().out
    assert said in found
    assert "fused" in found or "loop" in found


def test_canny_writes_a_picture(tmp_path: Path) -> None:
    canny.main(["--output", str(tmp_path / "edges.png")])
    with Image.open(tmp_path / "edges.png") as picture:
        assert picture.size == (512, 512)
        assert picture.getextrema() == (0, 255)


@long
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
    for threads in numbers_of_threads():
        found = A.run(pagerank.pagerank(*arguments), backend="llvm", strategy=strategy, threads=threads)
        np.testing.assert_array_equal(found, expected)


def test_black_scholes_is_one_loop_that_reads_and_writes_each_array_once() -> None:
    explanation = A.explain(black_scholes.black_scholes, *black_scholes.inputs(10))
    assert (explanation.loops, dict(explanation.reads), dict(explanation.writes)) == (1, {"n0": 3}, {"n0": 2})


@pytest.mark.solver
@pytest.mark.parametrize(("cost", "loops", "distances"), [("default", 2, "stored"), ("memory", 1, "fused")])
def test_no_array_of_differences_is_stored_in_kmeans(
    cost: Literal["default", "memory"], loops: int, distances: str
) -> None:
    """They are as many as points times centroids times dimensions, and exist in a loop only. Distances are stored, so that they
    are computed in tiles, unless bytes alone count."""
    explanation = A.explain(kmeans.nearest, cost=cost)
    made = [array for array in explanation.arrays if array.status != "input" and "," in array.type]
    assert {array.status for array in made if array.type.count(",") == 2} == {"fused"}
    assert distances in {array.status for array in made if array.type.count(",") == 1}
    assert explanation.loops == loops


def test_life_is_drawn_generation_after_generation(capsys: pytest.CaptureFixture[str]) -> None:
    blinker = np.zeros((5, 5), bool)
    blinker[2, 1:4] = True
    life.animate(blinker, 2, 0.0)
    frames = capsys.readouterr().out.split(life.HOME)[1:]
    lying, standing = "     \n ▀▀▀ \n     \n", "  ▄  \n  █  \n     \n"
    assert frames == [f"{lying}generation 0\n", f"{standing}generation 1\n", f"{lying}generation 2\n"]


def test_a_generation_of_life_is_one_loop() -> None:
    assert A.explain(life.generation).loops == 1


@pytest.mark.opencl
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (17, 40)])
@pytest.mark.parametrize("backend", ["interpreter", "llvm", "opencl"])
def test_life_is_the_same_everywhere(backend: str, shape: tuple[int, int]) -> None:
    board = life.inputs(*shape)
    found = A.runN(life.generations, backend=backend)(board, np.int64(3))
    np.testing.assert_array_equal(found, life.generations_numpy(board, 3))


def test_a_generation_is_scipy_s() -> None:
    board = life.inputs(12, 9)
    count = convolve2d(board.astype(np.int64), np.ones((3, 3), np.int64), mode="same", boundary="wrap") - board
    np.testing.assert_array_equal(A.runN(life.generation)(board), (count == 3) | board & (count == 2))


def around(x: Floats, weights: tuple[float, ...]) -> Floats:
    """A sum over the 27 points around each, on a torus."""
    places = [place for place in itertools.product((-1, 0, 1), repeat=3) if weights[sum(map(abs, place))]]
    return sum([np.roll(x, place, (0, 1, 2)) * weights[sum(map(abs, place))] for place in places], np.zeros_like(x))


def multigrid_numpy(v: Floats, cycles: int) -> float:
    """The norm of the residual after some V-cycles, written from NPB's description."""

    def finer(coarse: Floats) -> Floats:
        spread = np.zeros([2 * extent for extent in coarse.shape])
        spread[1::2, 1::2, 1::2] = coarse
        return around(spread, (1, 1 / 2, 1 / 4, 1 / 8))

    u = np.zeros_like(v)
    for _ in range(cycles):
        residuals: list[Floats] = [v - around(u, multigrid.POISSON)]
        while len(residuals[-1]) > 2:
            residuals.append(around(residuals[-1], multigrid.RESTRICTION)[1::2, 1::2, 1::2])
        correction = around(residuals.pop(), multigrid.SMOOTHER)
        while residuals:
            right = residuals.pop()
            more = finer(correction)
            if not residuals:
                more, right = u + more, v
            correction = more + around(right - around(more, multigrid.POISSON), multigrid.SMOOTHER)
        u = correction
    last = v - around(u, multigrid.POISSON)
    return float(np.sqrt(np.mean(last * last)))


@pytest.mark.parametrize(("n", "cycles"), [(4, 3), (8, 2), *one_in(2, [(16, 3), (32, 6)])])
@pytest.mark.parametrize("backend", ["llvm", pytest.param("opencl", marks=pytest.mark.opencl)])
def test_multigrid_at_sizes_of_no_class(backend: str, n: int, cycles: int) -> None:
    v = np.random.default_rng(n).standard_normal((n, n, n))
    norm = untyped.runN(lambda v: multigrid.multigrid(v, n, cycles), backend=backend)(v)
    np.testing.assert_allclose(norm, multigrid_numpy(v, cycles), rtol=1e-11)


def test_random_numbers_of_multigrid_follow_each_other() -> None:
    numbers, expected = A.run(multigrid.vranlc(4)), multigrid.SEED
    for found in numbers.ravel():
        expected = expected * multigrid.FACTOR % 2**multigrid.BITS
        assert found == expected
    assert np.unique(A.run(multigrid.charges(4)), return_counts=True)[1].tolist() == [10, 44, 10]


@pytest.mark.solver
@pytest.mark.parametrize("n", [2, 4, 8])
def test_a_constant_stays_one_on_every_grid_of_multigrid(n: int) -> None:
    """And has no residual: the weights of A add up to 0, those of the others to 4 and to 1."""
    ones = A.fill((n, n, n), 1.0)
    np.testing.assert_array_equal(A.run(multigrid.coarser(ones, n)), np.full((n // 2,) * 3, 4.0))
    np.testing.assert_array_equal(A.run(multigrid.finer(ones, 2 * n)), np.ones((2 * n,) * 3))
    np.testing.assert_allclose(A.run(multigrid.residual(ones, ones)), np.ones((n, n, n)), rtol=0, atol=1e-15)


@long
def test_class_w_of_multigrid(capsys: pytest.CaptureFixture[str]) -> None:
    multigrid.main(["--class", "W"])
    assert "class W: the residual's norm is 6.4673293753" in capsys.readouterr().out


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_each_says_how_long_it_is_beside_what_it_is_held_against(path: Path) -> None:
    head = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    assert path.stem == "__init__" or re.search(r"NumPy|SciPy", " ".join(head.split("\n")[1:]))
    assert path.stem == "__init__" or re.search(r"\b(text|lines)\b", head, re.IGNORECASE)
