"""The graphs of a default run: files, programs, graphs like those of programs, random ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import accel as A
from accel.ilp.problem.build import build
from accel.ilp.problem.graph import Graph
from accel.labelled.construction.build import build as labelled
from accel.labelled.nodes import Program
from accel.labelled.operations import parts
from benchmarks import fusion_families as families
from benchmarks.fusion_drawing import Drawing
from benchmarks.fusion_graph import graph_of
from benchmarks.fusion_random import fanning, gathering, random_drawing, stress, weighted
from benchmarks.fusion_reader import read
from examples.flashattention import by_rows, inputs, naive, tiled

FILES = Path(__file__).parent / "graphs"

SIZES = (25, 50, 100, 150, 200)
"""Operations of the random graphs; their seed is the same number."""

HARD = range(4)
"""Seeds of the graphs that are out to be hard."""


@dataclass(frozen=True, slots=True)
class Subject:
    """A graph to be planned, and what the table says of it."""

    name: str
    graph: Graph
    operations: int
    edges: int


def drawn(drawing: Drawing) -> Subject:
    """The subject that a drawing is."""
    return Subject(drawing.name, graph_of(drawing), drawing.operations, drawing.edges)


def from_file(path: Path) -> list[Subject]:
    """The graphs of a file. Raises GraphFileError if it is none."""
    return [drawn(drawing) for drawing in read(path)]


def program_like() -> Iterator[Drawing]:
    """Graphs like those of programs."""
    yield families.attention()
    yield families.hydrodynamics()
    yield families.multigrid()
    yield families.chain()
    yield families.diamonds()
    yield families.ladder()


def random_ones() -> Iterator[Drawing]:
    """Random graphs."""
    for count in SIZES:
        yield random_drawing(count, count)
    yield gathering()
    yield weighted()
    yield fanning()


def hard_ones() -> Iterator[Drawing]:
    """Random graphs that are out to be hard."""
    for seed in HARD:
        yield stress(100, seed)


def _largest(program: Program) -> Program:
    """The program with the most bindings, of `program` and those inside of it."""
    pending, found = [program], program
    while pending:
        current = pending.pop()
        found = max(found, current, key=lambda one: len(one.bindings))
        pending += [inner for binding in current.bindings for inner in parts(binding.operation)]
    return found


def attention() -> Iterator[Subject]:
    """The graphs of the programs of `flashattention.py`; of the tiled one, that of its loop's body."""
    q, k, v = (A.use(array) for array in inputs(8, 4))
    for name, result in (("naive", naive(q, k, v)), ("by rows", by_rows(q, k, v)), ("tiled", tiled(q, k, v))):
        graph = build(_largest(labelled([result.node], []).program))
        yield Subject(f"attention {name}", graph, len(graph.operations), len(graph.edges))


def everything() -> Iterator[Subject]:
    """All graphs of a default run."""
    for path in sorted(FILES.glob("*.json")):
        yield from from_file(path)
    yield from attention()
    for drawings in (program_like(), random_ones(), hard_ones()):
        yield from map(drawn, drawings)
