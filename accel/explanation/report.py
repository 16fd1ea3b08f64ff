"""An explanation as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from accel.explanation.summary import ArrayReport, ClusterReport

if TYPE_CHECKING:  # explanation.py prints itself by this module
    from accel.explanation.explain import Explanation


LONG = 40
"""A loop of more operations is not shown whole: its tree is as deep as it is long. It is whole in the cluster's `tree`."""


def report(explanation: Explanation) -> str:
    """Totals, then every loop with its fusion tree, then every array with what became of it."""
    return "\n".join([*_head(explanation), *_loops(explanation), "", *_arrays(explanation.arrays)])


def counts(passes: Mapping[str, int]) -> str:
    """`2 of n0, 1 element`."""
    elements = passes.get("1", 0)
    found = [f"{number} of {size}" for size, number in passes.items() if size != "1"]
    if elements:
        found.append(f"{elements} element{'s' * (elements != 1)}")
    return ", ".join(found) or "nothing"


def _head(explanation: Explanation) -> Iterator[str]:
    loops = f"{explanation.loops} loop{'s' * (explanation.loops != 1)}"
    yield f"{loops}; reads {counts(explanation.reads)}; writes {counts(explanation.writes)}"
    sizes = ", ".join(f"{name} = {value:,}" for name, value in explanation.sizes.items())
    moved = f"{explanation.bytes_read:,} bytes read, {explanation.bytes_written:,} written"
    yield f"{moved}{f', with {sizes}' if sizes else ', with 1,024 for every extent'}"
    cost, bound = (", ".join(map(str, levels)) for levels in (explanation.cost, explanation.bound))
    known = "proved optimal" if explanation.proved else f"not proved optimal: no less than ({bound})"
    seconds = f"{explanation.solve_seconds * 1e3:.1f} ms"
    yield f"strategy {explanation.strategy}, cost {explanation.cost_model} = ({cost}), {known}, in {seconds}"


def _loops(explanation: Explanation) -> Iterator[str]:
    for number, cluster in enumerate(explanation.clusters, 1):
        yield ""
        yield from _loop(number, cluster)


def _loop(number: int, cluster: ClusterReport) -> Iterator[str]:
    what = f"loop {number} over {cluster.over}" if cluster.over != "1" else f"step {number}"
    shown, rest = cluster.operations[:LONG], len(cluster.operations) - LONG
    yield f"{what}: {', '.join(shown)}{f' and {rest} more' if rest > 0 else ''}"
    yield f"  reads {counts(cluster.reads)}; writes {counts(cluster.writes)}"
    for line in cluster.tree.splitlines() if rest <= 0 else ():
        yield f"    {line}"


def _arrays(arrays: tuple[ArrayReport, ...]) -> Iterator[str]:
    rows = [(array.name, array.type, array.status, array.producer, _place(array)) for array in arrays]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    yield "arrays"
    for array, row in zip(arrays, rows, strict=True):
        padded = [text.ljust(width) for text, width in zip(row, widths, strict=False)]
        yield "  " + "  ".join([*padded, row[4]]).rstrip()
        for reason in array.why_not:
            yield f"      not fused with {reason}"


def _place(array: ArrayReport) -> str:
    return "" if array.where is None else f"{array.where.file}:{array.where.line}"
