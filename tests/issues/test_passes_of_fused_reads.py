"""What `explain` counts is what loops load: a replicated array in every turn, and n elements in a loop of n+1.

Once: `replicate((All, k), xs)` counted one pass over `xs`, though all k copies read it, as the cost says; and what is gathered
for an exclusive scan counted the scan's n+1 iterations, though one of them loads nothing.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.ast.tree.leaves import to_host
from accel.ast.tree.nodes import ArrayNode
from accel.compile import stages
from accel.ilp.problem.options import Options
from accel.ir.meaning.interpret import interpret
from accel.labelled.construction.build import build

XS = A.use(np.arange(5.0))
INDICES = A.use(np.arange(5))
TABLE = A.use(np.zeros((3, 4), np.int64))

# Arrays of any rank; typed by tests/typing.
PROGRAMS: dict[str, tuple[A.Acc[Any], dict[str, int]]] = {
    "replicated to columns": (A.map(lambda x: x + 1, A.replicate((A.All, 3), XS)), {"3*n0": 1}),
    "replicated to rows": (A.map(lambda x: x + 1, A.replicate((3, A.All), XS)), {"3*n0": 1}),
    "gathered for scanl": (A.scanl(A.add, 0, A.gather(INDICES, XS)), {"n0": 2}),
    "gathered for scanr": (A.scanr(A.add, 0, A.gather(INDICES, XS)), {"n0": 2}),
    "gathered for two scans": (A.scanl(A.add, 0, A.scanl(A.add, 0, A.gather(INDICES, XS))), {"n0": 2}),
    "gathered for rows": (A.scanr(A.add, 0, A.gather(TABLE, XS)), {"n0*n1": 2}),
    "loaded by index": (A.scanl(A.add, 0, A.map(lambda i: XS[i], INDICES)), {"n0": 2}),
}


class Counted(np.ndarray[tuple[int, ...], np.dtype[np.generic]]):
    """An array that notes what is loaded from it."""

    loads: list[object]

    def item(self, *index: Any) -> Any:  # Any: as numpy's
        self.loads.append(index)
        return super().item(*index)


def _loads(program: ArrayNode) -> int:
    """How many elements the loops of a program load from its inputs."""
    built = build([program], [])
    loads: list[object] = []
    arguments = [to_host(leaf).view(Counted) for constant in built.constants for leaf in constant.data]
    for argument in arguments:
        argument.loads = loads
    interpret(stages(built.program, Options()).loops, arguments)
    return len(loads)


@pytest.mark.parametrize("name", PROGRAMS)
def test_passes_are_what_is_loaded(name: str) -> None:
    program, reads = PROGRAMS[name]
    found = A.explain(program)
    assert (found.loops, dict(found.reads)) == (1, reads)
    elements = sum(times * _number(size, dict(found.sizes)) for size, times in found.reads.items())
    assert elements == _loads(program.node)


def _number(size: str, extents: dict[str, int]) -> int:
    """How many elements `3*n0` are."""
    return math.prod(extents[part] if part in extents else int(part) for part in size.split("*"))
