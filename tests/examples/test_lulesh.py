"""LULESH gives the C++ program's figures; its elements are compared with their definitions, evaluated by NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import accel as A
from examples.lulesh import geometry, step, tables
from examples.lulesh.__main__ import COST, Outcome, arguments_of, differences, main, run
from examples.lulesh.mesh import NOBODY, SUMMED, Mesh, sedov
from tests import untyped
from tests.marks import long

CUBE = np.array(
    [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)], dtype=np.float64
)
ELEMENTS = CUBE + np.random.default_rng(2026).uniform(-0.2, 0.2, (20, 8, 3))
"""Twenty cubes with displaced corners."""


def jacobian(elements: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """At a point of the unit cube: how trilinear shape functions change, and how space does with them."""
    factors = np.where(CUBE == 1, at, 1 - at)
    signs = 2 * CUBE - 1
    changes = signs * np.stack(
        [factors[:, 1] * factors[:, 2], factors[:, 0] * factors[:, 2], factors[:, 0] * factors[:, 1]], 1
    )
    return changes, np.einsum("ncx,ca->nxa", elements, changes)


def volumes(elements: np.ndarray) -> np.ndarray:
    """By Gauss's quadrature, which is exact: the determinant is quadratic in each coordinate."""
    places = (np.array([-1, 1]) / np.sqrt(3) + 1) / 2
    points = np.stack(np.meshgrid(*[places] * 3), -1).reshape(8, 3)
    found: np.ndarray = np.linalg.det(np.array([jacobian(elements, at)[1] for at in points])).mean(axis=0)
    return found


def of_elements(f: Callable[[list[geometry.Point]], A.Exp[Any]]) -> Any:
    """`f` of the corners of each of `ELEMENTS`."""
    x, y, z = (A.use(ELEMENTS[:, :, axis].ravel()) for axis in range(3))
    numbers = [A.use(np.arange(len(ELEMENTS)) * 8 + corner) for corner in range(8)]
    return untyped.run(A.map(lambda cell: f(tables.points(cell)), tables.at_corners(A.zip8(*numbers), A.zip3(x, y, z))))


def vectors(f: Callable[[list[geometry.Point]], list[geometry.Point]], count: int) -> np.ndarray:
    """The first vectors that `f` gives for each element: [element, vector, axis]."""
    found = of_elements(lambda p: A.lift(*[tables.packed(v) for v in f(p)[:count]]))
    return np.moveaxis(np.array(found), -1, 0)


def test_volumes_are_those_of_trilinear_elements() -> None:
    np.testing.assert_allclose(of_elements(geometry.volume), volumes(ELEMENTS), rtol=1e-13)


def test_shape_derivatives_are_those_in_the_middle() -> None:
    changes, by = jacobian(ELEMENTS, np.full(3, 0.5))
    size = np.linalg.det(by)
    expected = np.einsum("ca,nax->ncx", changes, np.linalg.inv(by)) * size[:, None, None]
    np.testing.assert_allclose(of_elements(lambda p: geometry.shape_derivatives(p)[1]), size, rtol=1e-13)
    found = vectors(lambda p: geometry.shape_derivatives(p)[0], 4)
    np.testing.assert_allclose(found, expected[:, :4], atol=1e-14)
    np.testing.assert_allclose(-found[:, [2, 3, 0, 1]], expected[:, 4:], atol=1e-14)


def test_volume_derivatives_are_differences_of_volumes() -> None:
    found = vectors(geometry.volume_derivatives, 8)
    for corner in range(8):
        for axis in range(3):
            moved = np.zeros((8, 3))
            moved[corner, axis] = 0.5  # a volume is linear in each coordinate of each corner
            change = volumes(ELEMENTS + moved) - volumes(ELEMENTS - moved)
            np.testing.assert_allclose(found[:, corner, axis], change, atol=1e-14)


def test_normals_of_a_closed_surface_add_up_to_nothing() -> None:
    found = vectors(geometry.normals, 8)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-15)
    # The nearer a corner's share points outwards, the larger its product with the corner's direction from the middle.
    assert np.all((found * (CUBE - 0.5)).sum(axis=2) > 0)


def test_tables_of_a_mesh_are_inverse() -> None:
    mesh = sedov(3)
    assert len(mesh.nodes[0]) == 64
    for corner, table in zip(SUMMED, mesh.around, strict=True):
        there = table != NOBODY
        np.testing.assert_array_equal(mesh.corners[corner][table[there]], np.flatnonzero(there))
        assert there.sum() == 27
    stacked = np.stack(mesh.around, 1).astype(float)
    stacked[stacked == NOBODY] = np.nan
    assert not np.any(np.diff(stacked, axis=1) <= 0)
    with pytest.raises(ValueError, match="0 elements to a side"):
        sedov(0)


@pytest.mark.solver
@pytest.mark.parametrize(
    ("size", "iterations", "energy"),
    [(5, 72, "7.853665e+03"), pytest.param(10, 231, "2.720531e+04", marks=long)],
)
def test_figures_are_those_of_the_cpp_program(
    size: int, iterations: int, energy: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the program says of them, too: of a time step that it is four loops, and what these write."""
    outcomes: list[Outcome] = []
    explanations: list[A.Explanation] = []
    explain = A.explain

    def noted(mesh: Mesh, iterations: int) -> Outcome:
        outcomes.append(run(mesh, iterations))
        return outcomes[-1]

    def explained(program: Callable[..., object], **given: Any) -> A.Explanation:
        explanations.append(explain(program, **given))
        return explanations[-1]

    monkeypatch.setattr("examples.lulesh.__main__.run", noted)
    monkeypatch.setattr(A, "explain", explained)
    main(["--size", f"{size}"])
    said = capsys.readouterr().out
    assert said.startswith(f"size {size}: {iterations} iterations, final origin energy {energy}\n")
    assert "a time step: 4 loops" in said
    (outcome,) = outcomes
    assert outcome.time == step.STOP
    assert max(differences(size, outcome.energies)) < 1e-8
    (explanation,) = explanations
    assert explanation.loops == 4
    assert explanation.writes == {"n0": 24 + 1 + 10 + 5, "n1": 6, "1": 6}


@pytest.mark.solver
@pytest.mark.opencl
@pytest.mark.parametrize("backend", [pytest.param("llvm", marks=long), pytest.param("opencl", marks=long)])
def test_time_steps_are_the_same_everywhere(backend: str) -> None:
    """But for the last bits of cube roots, each of which backends round as they can."""
    arguments = arguments_of(sedov(2), 3)
    found, expected = (untyped.runN(step.sedov_program, backend=name)(*arguments) for name in (backend, "interpreter"))
    for part, other in zip(found, expected, strict=True):
        for one, same in zip(part, other, strict=True):
            np.testing.assert_allclose(one, same, rtol=1e-12, atol=1e-9)


@long
@pytest.mark.solver
def test_time_steps_have_the_same_bits_however_they_are_fused() -> None:
    arguments = arguments_of(sedov(3), 10)
    found = untyped.runN(step.sedov_program, strategy="none", threads=2)(*arguments)
    expected = untyped.runN(step.sedov_program, cost=COST, threads=1)(*arguments)
    for part, other in zip(found, expected, strict=True):
        for one, same in zip(part, other, strict=True):
            np.testing.assert_array_equal(one, same)


@pytest.mark.solver
def test_a_mesh_turned_inside_out_is_an_error() -> None:
    mesh = sedov(2)
    with pytest.raises(ValueError, match="a volume is not positive, or a viscosity too large, in time step 1"):
        run(replace(mesh, nodes=(-mesh.nodes[0], *mesh.nodes[1:])))


def test_differences_are_those_across_the_diagonal() -> None:
    energies = np.array([1.0, 2.0, 0.0, 5.0, 3.0, 0.0, 0.0, 0.0, 3.0])
    assert differences(3, energies) == (3.0, 3.0, 0.6)
    assert differences(1, np.ones(1)) == (0.0, 0.0, 0.0)


@long
@pytest.mark.solver
def test_main_runs_as_many_time_steps_as_are_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    main(["--size", "3", "--iterations", "2"])
    said = capsys.readouterr().out
    assert said.startswith("size 3: 2 iterations, final origin energy ")
    assert "a time step: 4 loops" in said
