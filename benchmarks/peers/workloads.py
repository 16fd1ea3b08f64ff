"""The workloads, as one table: sizes, element types, inputs, and the bytes and operations that no program can do without.

Programs have the workload's name, in the module of each tool (`benchmarks/peers/programs`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]  # Any: of every shape and element type
Size = Literal["tiny", "small", "large"]
ElementName = Literal["float32", "float64", "int32"]

SIZES: tuple[Size, ...] = get_args(Size)[1:]
"""What is measured; tests take what is tiny."""

ITERATIONS = 255
"""Of a point of the Mandelbrot set, at most."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A program over arrays of `count` elements, or over matrices with `count` rows and columns.

    `reads` and `writes` are elements that must be moved, every input and every result once, as a function of the count, for
    elements of the workload's type; of an input that is needed wholly before the results, each element is read twice.
    """

    name: str
    what: str
    inputs: Callable[[np.random.Generator, int, str], tuple[Array, ...]]
    counts: Mapping[Size, int]
    moved: Callable[[int], float]
    flops: Callable[[int], float] | None = None
    types: tuple[ElementName, ...] = ("float32", "float64")
    halved: bool = False
    differing: float = 0.0

    def cells(self) -> tuple[Cell, ...]:
        """The workload in all sizes and element types."""
        return tuple(Cell(self, size, element) for size in get_args(Size) for element in self.types)


@dataclass(frozen=True, slots=True)
class Cell:
    """A workload in one size and element type."""

    workload: Workload
    size: Size
    element: ElementName

    @property
    def count(self) -> int:
        """Elements, or rows; of what is large, half as many if they are twice as wide."""
        wide = self.workload.halved and self.size == "large" and self.element == "float64"
        return self.workload.counts[self.size] // (2 if wide else 1)

    @property
    def bytes(self) -> int:
        """What must be moved."""
        return round(self.workload.moved(self.count) * np.dtype(self.element).itemsize)

    @property
    def flops(self) -> float | None:
        """Operations, where they and not the memory are the bound."""
        return self.workload.flops(self.count) if self.workload.flops else None

    @property
    def tolerance(self) -> float:
        """How far a result may be from NumPy's, relative to it."""
        return 1e-9 if self.element == "float64" else 2e-3

    def inputs(self) -> tuple[Array, ...]:
        """The same numbers for every tool."""
        return self.workload.inputs(np.random.default_rng(2026), self.count, self.element)

    def __str__(self) -> str:
        return f"{self.workload.name} {self.size} {self.element}"


def _normal(random: np.random.Generator, count: int, element: str) -> Array:
    return random.standard_normal(count, np.float32).astype(element)


def _vectors(number: int, mean: float = 0.0) -> Callable[[np.random.Generator, int, str], tuple[Array, ...]]:
    def inputs(random: np.random.Generator, count: int, element: str) -> tuple[Array, ...]:
        return tuple(_normal(random, count, element) + np.dtype(element).type(mean) for _ in range(number))

    return inputs


def _matrices(number: int) -> Callable[[np.random.Generator, int, str], tuple[Array, ...]]:
    def inputs(random: np.random.Generator, count: int, element: str) -> tuple[Array, ...]:
        return tuple(_normal(random, count * count, element).reshape(count, count) for _ in range(number))

    return inputs


def _options(random: np.random.Generator, count: int, element: str) -> tuple[Array, ...]:
    ranges = ((5.0, 30.0), (1.0, 100.0), (0.25, 10.0))
    return tuple(random.uniform(low, high, count).astype(element) for low, high in ranges)


def _places(random: np.random.Generator, count: int, element: str) -> tuple[Array, ...]:
    return random.integers(0, count, count, np.int32), _normal(random, count, element)


def _keys(targets: int) -> Callable[[np.random.Generator, int, str], tuple[Array, ...]]:
    def inputs(random: np.random.Generator, count: int, element: str) -> tuple[Array, ...]:
        return (random.integers(0, targets, count).astype(element),)

    return inputs


def _points(random: np.random.Generator, count: int, element: str) -> tuple[Array, ...]:
    return random.random(count).astype(element), random.random(count).astype(element)


def _plane(random: np.random.Generator, count: int, element: str) -> tuple[Array, ...]:
    real, imaginary = np.meshgrid(np.linspace(-2, 0.5, count), np.linspace(-1.25, 1.25, count))
    return real.astype(element), imaginary.astype(element)


def _bodies(random: np.random.Generator, count: int, element: str) -> tuple[Array, ...]:
    return (*(_normal(random, count, element) for _ in range(3)), random.uniform(0.5, 1.5, count).astype(element))


_VECTOR: Mapping[Size, int] = {"tiny": 1000, "small": 100_000, "large": 20_000_000}
_WIDE: Mapping[Size, int] = {"tiny": 1000, "small": 100_000, "large": 10_000_000}
_MATRIX: Mapping[Size, int] = {"tiny": 24, "small": 256, "large": 4096}
_SQUARE: Mapping[Size, int] = {"tiny": 24, "small": 256, "large": 1024}
_BODIES: Mapping[Size, int] = {"tiny": 24, "small": 512, "large": 4096}

WORKLOADS: tuple[Workload, ...] = (
    Workload("dot", "the sum of products", _vectors(2), _VECTOR, lambda n: 2 * n, halved=True),
    Workload("saxpy", "2.5 x + y", _vectors(2), _VECTOR, lambda n: 3 * n, halved=True),
    Workload("mapchain", "six maps in a row", _vectors(1), _VECTOR, lambda n: 2 * n, halved=True),
    Workload("blackscholes", "prices of calls and of puts", _options, _WIDE, lambda n: 5 * n, halved=True),
    Workload(
        "normalise2",
        "divided by the sum, and by the sum of the running sums",
        _vectors(1, 0.05),
        _VECTOR,
        lambda n: 4 * n,
        halved=True,
    ),
    Workload(
        "normfilter",
        "divided by the sum, and by the sum of what is positive",
        _vectors(1, 0.05),
        _VECTOR,
        lambda n: 4 * n,
        halved=True,
    ),
    Workload("singleloop", "two maps added to the reverse", _vectors(1), _VECTOR, lambda n: 2 * n, halved=True),
    Workload("gather", "elements at random places", _places, _WIDE, lambda n: 3 * n, halved=True),
    Workload("hist256", "how many there are of 256", _keys(256), _WIDE, lambda n: n + 256, types=("int32",)),
    Workload("hist1e6", "how many there are of 10^6", _keys(10**6), _WIDE, lambda n: n + 10**6, types=("int32",)),
    Workload("prefixsum", "running sums", _vectors(1), _VECTOR, lambda n: 2 * n, halved=True),
    Workload("compact", "what is positive", _vectors(1), _VECTOR, lambda n: 1.5 * n, halved=True),
    Workload("softmax", "of each row", _matrices(1), _MATRIX, lambda n: 2 * n * n),
    Workload("jacobi1", "the mean of four neighbours", _matrices(1), _MATRIX, lambda n: 2 * n * n),
    Workload("jacobi20", "the same, 20 times", _matrices(1), _MATRIX, lambda n: 40 * n * n),
    Workload(
        "mandelbrot",
        f"steps until a point leaves, up to {ITERATIONS}",
        _plane,
        _SQUARE,
        lambda n: 3 * n * n,
        lambda n: 665.0 * n * n,
        differing=0.01,
    ),
    Workload("nbody", "forces between all", _bodies, _BODIES, lambda n: 7 * n, lambda n: 20.0 * n * n),
    Workload("matmul", "the product", _matrices(2), _SQUARE, lambda n: 3 * n * n, lambda n: 2.0 * n**3),
    Workload("rowcol", "sums of rows, and of columns", _matrices(1), _MATRIX, lambda n: n * n + 2 * n),
    Workload("meanvar", "mean and variance", _vectors(1), _VECTOR, lambda n: n, halved=True),
    Workload(
        "hull", "the farthest point from a line, and all above it", _points, _WIDE, lambda n: 3.5 * n, halved=True
    ),
)

BY_NAME: Mapping[str, Workload] = {workload.name: workload for workload in WORKLOADS}


def cell(name: str, size: str, element: str) -> Cell:
    """The cell that is called so. Raises KeyError if there is none."""
    found = {(cell.size, cell.element): cell for cell in BY_NAME[name].cells()}
    match = next((cell for key, cell in found.items() if key == (size, element)), None)
    if match is None:
        raise KeyError(f"{name} {size} {element}")
    return match
