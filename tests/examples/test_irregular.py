"""Convex hulls, components, radix sort, equalised photographs: SciPy's, NumPy's and scikit-image's, on every backend."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.recfunctions import unstructured_to_structured
from PIL import Image
from skimage.exposure import equalize_hist

import accel as A
from examples import components, equalised, quickhull, radix_sort
from tests import untyped

BACKENDS = ["interpreter", "llvm", "opencl"]
pytestmark = pytest.mark.solver
RANDOM = np.random.default_rng(5)


@pytest.mark.parametrize(
    ("main", "said"),
    [
        (quickhull.main, "43412 a horse's pixels: 29 corners"),
        (components.main, "coins: 32 components"),
        (radix_sort.main, "1000000 keys sorted in 32 turns; loops: 7 as written, 2 fused"),
    ],
    ids=["quickhull", "components", "radix_sort"],
)
def test_main_runs_and_checks_itself(main: Callable[[], None], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    main()
    found = capsys.readouterr().out
    assert said in found
    assert " fused\n" in found


def test_equalised_writes_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    equalised.main(["--output", str(tmp_path / "moon.png")])
    assert "loops: 7 as written, 4 fused" in capsys.readouterr().out
    with Image.open(tmp_path / "moon.png") as picture:
        assert picture.size == (512, 512)
        assert picture.getextrema()[1] == 255


POINTS = {
    "a triangle": np.array([[0, 0], [4, 1], [2, 5]]),
    "around a triangle": np.array([[2, 2], [0, 0], [2, 1], [4, 1], [2, 5], [1, 1]]),
    "a grid": np.argwhere(np.ones((5, 7))),
    "each point twice": np.repeat(np.argwhere(np.eye(4) + np.eye(4)[::-1]), 2, axis=0),
    "a circle": np.round(1000 * np.stack([np.cos(np.arange(40)), np.sin(np.arange(40))], 1)),
    "many": RANDOM.standard_normal((300, 2)),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", POINTS)
def test_hulls_are_qhull_s(name: str, backend: str) -> None:
    points = unstructured_to_structured(POINTS[name].astype(np.float64), quickhull.POINT)
    found = untyped.runN(quickhull.quickhull, backend=backend)(points)
    np.testing.assert_array_equal(found, quickhull.quickhull_scipy(points))


GRAPHS: dict[str, tuple[int, list[tuple[int, int]]]] = {
    "nothing": (0, []),
    "no edges": (3, []),
    "a loop": (2, [(1, 1)]),
    "two pairs": (5, [(4, 1), (0, 3)]),
    "a path": (50, [(i, i + 1) for i in range(49)]),
    "a path backwards": (50, [(i + 1, i) for i in reversed(range(49))]),
    "a star": (9, [(8, i) for i in range(8)]),
    "many": (200, [(int(a), int(b)) for a, b in RANDOM.integers(0, 200, (150, 2))]),
}


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", GRAPHS)
def test_components_are_scipy_s(name: str, backend: str) -> None:
    nodes, edges = GRAPHS[name]
    sources, targets = np.array(edges, np.int64).reshape(-1, 2).T.copy()
    found = untyped.runN(components.components, backend=backend)(np.int64(nodes), sources, targets)
    np.testing.assert_array_equal(found, components.components_scipy(nodes, sources, targets) if nodes else [])
    np.testing.assert_array_equal(found, components.components_numpy(nodes, sources, targets))


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("size", [0, 1, 2, 300])
def test_keys_are_sorted(size: int, backend: str) -> None:
    keys = radix_sort.inputs(size)
    found = A.runN(radix_sort.radix_sort, backend=backend)(keys)
    np.testing.assert_array_equal(found, np.sort(keys))
    np.testing.assert_array_equal(radix_sort.radix_sort_numpy(keys), found)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("picture", [np.zeros((2, 3), np.uint8), RANDOM.integers(9, 90, (11, 30)).astype(np.uint8)])
def test_pictures_are_equalised_as_by_scikit_image(picture: equalised.Bytes, backend: str) -> None:
    found = A.runN(equalised.equalised, backend=backend)(picture)
    np.testing.assert_array_equal(found, equalize_hist(picture))
    np.testing.assert_array_equal(equalised.equalised_numpy(picture), found)
