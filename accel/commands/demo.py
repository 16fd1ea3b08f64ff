"""`python -m accel demo`: examples 1 to 3 on real data, what was fused, and how long it takes beside NumPy."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import time
from collections.abc import Callable, Sequence
from types import ModuleType

import numpy as np

import accel as A
from accel.commands.picture import blocks
from accel.errors import AccelDeviceError, AccelInternalError
from accel.explanation.explanation import Explanation
from accel.explanation.show.report import proof
from accel.support.dataclass import dataclass
from accel.support.distribution import pip_install

BACKENDS = ("llvm", "opencl")
REPETITIONS = 5


@dataclass(frozen=True, slots=True)
class Item:
    """One program of the demo: the example's module, the function in it, what to give `inputs`, and in words."""

    module: str
    function: str
    size: tuple[int, ...]
    title: str


ITEMS = (
    Item("dotp", "dotp", (10_000_000,), "dot product of two float32 vectors"),
    Item(
        "normalise", "normalise2", (20_000,), "van Balen's normalise2 on a column of the wine table, 20,000 times over"
    ),
    Item("normalise", "normalise2_filter", (20_000,), "Robinson's normalize2, which filters, on the same column"),
    Item("canny", "canny", (), "Canny's edge detector on a photograph"),
)


def example(name: str) -> ModuleType:
    """The example's module: beside this package in a checkout, inside of it when installed.

    Raises `ImportError` if a library is missing that the examples need.
    """
    inside = importlib.util.find_spec(f"{A.__name__}.examples")
    return importlib.import_module(f"{A.__name__}.examples.{name}" if inside else f"examples.{name}")


def demo(names: Sequence[str]) -> int:
    """Run the named examples, or all."""
    known = {item.module for item in ITEMS}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"the demo has no {', '.join(unknown)}; it has {', '.join(sorted(known))}", file=sys.stderr)
        return 1
    for item in ITEMS:
        if not names or item.module in names:
            try:
                module = example(item.module)
            except ImportError as error:
                print(f"{error}: install the examples' libraries with  {pip_install('examples')}", file=sys.stderr)
                return 1
            show(item, module)
    return 0


def show(item: Item, module: ModuleType) -> None:
    """Print one program's results, loops, passes and times."""
    function: Callable[..., object] = getattr(module, item.function)
    reference: Callable[..., object] = getattr(module, f"{item.function}_numpy")
    arguments: tuple[np.ndarray[tuple[int, ...], np.dtype[np.generic]], ...] = module.inputs(*item.size)
    print(f"{item.function}: {item.title}, {' and '.join(str(argument.shape) for argument in arguments)}")
    expected, numpy_seconds = timed(reference, arguments)
    print(f"  NumPy         {summary(expected)}, {milliseconds(numpy_seconds)}")
    for backend in BACKENDS:
        with A.using(backend=backend):
            call: Callable[..., object] = A.runN(function)
            try:
                begin = time.perf_counter()
                call(*arguments)
                first = time.perf_counter() - begin
            except AccelDeviceError as error:
                print(f"  {backend:<13} {error}")
                continue
            result, seconds = timed(call, arguments)
        times = (
            f"{milliseconds(seconds)}, {numpy_seconds / seconds:.1f} times as fast; compiled in {milliseconds(first)}"
        )
        print(f"  {backend:<13} {summary(result)}, {times}")
        if not close(expected, result):
            raise AccelInternalError(f"the {backend} backend's result differs from NumPy's")
    unfused, fused = (A.explain(function, *arguments, strategy=strategy) for strategy in ("none", "ilp"))
    print(
        f"  loops         {unfused.loops} as written, {fused.loops} fused{f', {proof(fused)}' if fused.proved else ''}"
    )
    print(f"  array passes  {passes(unfused)} as written, {passes(fused)} fused")
    if isinstance(result, np.ndarray) and result.dtype == np.bool_:
        print(blocks(result))
    print()


def passes(explanation: Explanation) -> str:
    """Reads and writes of whole arrays, those of single elements left out."""
    reads = sum(count for size, count in explanation.reads.items() if size != "1")
    writes = sum(count for size, count in explanation.writes.items() if size != "1")
    return f"{reads} read{'s' * (reads != 1)} and {writes} write{'s' * (writes != 1)}"


def timed(call: Callable[..., object], arguments: Sequence[object]) -> tuple[object, float]:
    """The result, and the least of a few times in seconds."""
    least = float("inf")
    result: object = None
    for _ in range(REPETITIONS):
        begin = time.perf_counter()
        result = call(*arguments)
        least = min(least, time.perf_counter() - begin)
    return result, least


def milliseconds(seconds: float) -> str:
    """A duration in words."""
    return f"{seconds * 1e3:.1f} ms"


def summary(result: object) -> str:
    """A result in a few characters: a scalar whole, of arrays the sum."""
    if isinstance(result, tuple):
        return " and ".join(map(summary, result))
    array = np.asarray(result)
    if array.dtype == np.bool_:
        return f"{int(array.sum())} of {array.size} pixels"
    return f"{float(array):.6g}" if array.ndim == 0 else f"[{array.flat[0]:.3g}, {array.flat[1]:.3g}, …]"


def close(expected: object, result: object) -> bool:
    """Equal within rounding; bools exactly."""
    if isinstance(expected, tuple) and isinstance(result, tuple):
        return all(map(close, expected, result))
    left, right = np.asarray(expected), np.asarray(result)
    if left.dtype == np.bool_:
        return bool(np.array_equal(left, right))
    return bool(np.allclose(left, right, rtol=1e-4))
