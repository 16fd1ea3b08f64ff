"""Whether a tool's results are NumPy's, within a tolerance: a sample of each result, evenly spaced."""

from __future__ import annotations

import numpy as np

from benchmarks.peers.workloads import Array, Cell

SAMPLED = 100_000


def sample(array: Array) -> Array:
    """At most about so many elements of it, in order; a copy."""
    flat = np.asarray(array).reshape(-1)
    return np.array(flat[:: max(1, flat.size // SAMPLED)])


def difference(cell: Cell, found: tuple[Array, ...], sizes: list[int], expected: list[Array]) -> str:
    """What is wrong with results of which `expected` are the samples; empty if nothing is."""
    if [array.size for array in found] != sizes:
        return f"sizes {[array.size for array in found]}, not {sizes}"
    for place, (array, right) in enumerate(zip(found, expected, strict=True)):
        got, scale = sample(array).astype(np.float64), np.abs(right).mean(dtype=np.float64)
        wrong = ~np.isclose(got, right.astype(np.float64), rtol=cell.tolerance, atol=cell.tolerance * scale)
        share = float(wrong.mean())
        if share > cell.workload.differing:
            first = int(np.argmax(wrong))
            return f"result {place}: {share:.1%} differ, {got[first]:.9g} for {right[first]:.9g}"
    return ""
