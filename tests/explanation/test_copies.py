"""Work that is recomputed is told: what, where, for whom, and whether the original is still there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import accel as A
from accel.ast.handles.function import apply_to_arrays
from accel.ast.tree.nodes import ArrayParameter
from accel.ast.tree.types import F64, ArrayType
from accel.compile import Stages
from accel.errors import here
from accel.explanation.facts.summary import Summary, summarise
from accel.explanation.show.html import page
from accel.explanation.show.report import report
from accel.explanation.show.words import Words
from accel.fusedast.build import build as fuse
from accel.ilp.plan import plan, plan_graph
from accel.ilp.problem.build import build as build_graph
from accel.ilp.problem.options import Options
from accel.ilp.realise import realised
from accel.ilp.recompute.graph import recompute
from accel.ir.lowering.lower import lower
from accel.labelled.construction.build import build
from accel.labelled.passes.recompute import Recomputed
from accel.schedule.machine import PROCESSOR
from accel.schedule.templates.ways import ProgramSchedules

Floats = A.Acc[A.Vector[np.float64]]


def shares(xs: Floats) -> Floats:
    ys = A.map(lambda x: x + 1, xs)
    total = A.the(A.fold(A.add, 0.0, ys))
    return A.map(lambda y: y / total, ys)


def of_first(xs: Floats) -> Floats:
    ys = A.map(lambda x: x + 1, xs)
    return A.map(lambda x: x * ys[0], xs)


def summary(program: object, copied: Recomputed) -> Summary:
    """A function of one vector, planned with this recomputation."""
    node = ArrayParameter((ArrayType(1, F64),), here())
    assert callable(program)
    result = apply_to_arrays(program, [A.Acc(node, (None,))], here())
    assert isinstance(result, A.Acc)
    labelled = build([result.node], [node]).program
    options = Options(duplicate=True)
    graph = recompute(build_graph(labelled), (copied,)).graph
    asked = replace(plan(labelled, options), clustering=plan_graph(graph, options).clustering, recomputed=(copied,))
    found = realised(labelled, asked, options)
    fused = fuse(found.program, found.plan)
    return summarise(
        Stages(found.program, found.plan, fused, lower(fused), lower(fused), ProgramSchedules(PROCESSOR, (), ())),
        {},
        options,
    )


def test_a_copy_for_another_loop() -> None:
    """The sum takes the map's elements as they are made; the shares make them again, and none is stored."""
    found = summary(shares, Recomputed((1,), (3,)))
    (copy,) = found.copies
    assert (copy.what, copy.original, len(copy.copies), len(copy.readers)) == (("map",), "map %1", 1, 1)
    assert copy.where is not None
    assert copy.where.line == shares.__code__.co_firstlineno + 1
    assert str(copy) == (
        f"map %1 (test_copies.py:{copy.where.line}) is recomputed as {copy.copies[0]} for {copy.readers[0]}; "
        "2 loops make it, which moves 8,192 bytes less"
    )
    assert {operation.name for operation in found.operations if operation.copy} == set(copy.copies)
    assert [array.status for array in found.arrays if array.producer.startswith("map ")] == ["fused", "fused", "stored"]
    assert found.reads == {"n0": 2, "1": 1}


def test_what_was_an_index_is_computed_inside_and_stored_nowhere() -> None:
    found = summary(of_first, Recomputed((1,), (2,)))
    (copy,) = found.copies
    assert (copy.original, copy.copies) == (None, ())
    assert copy.where is not None
    assert (
        str(copy)
        == f"map (test_copies.py:{copy.where.line}) is computed inside of {copy.readers[0]}, and stored nowhere; "
        "1 loop makes it, which moves 16,384 bytes less"
    )
    assert found.loops == 1


def test_an_explained_program_has_the_copies_that_pay() -> None:
    """Four passes over n0 without them: read xs, write ys, read ys, write the shares; three with them."""
    found = A.explain(shares, duplicate=True)
    assert [copy.original for copy in found.copies] == ["map %1"]
    assert sum(found.reads.values()) + sum(found.writes.values()) == 3 + 2
    assert not A.explain(shares, duplicate=False).copies
    assert A.explain(of_first, duplicate=True).copies[0].original is None
    line = shares.__code__.co_firstlineno + 1
    assert f"<li>ys (map %1, test_copies.py:{line}) is recomputed as ys (map %3) for map %4; " in page(found)
    assert "ys (map %3) (again)" in found.to_dot()


def test_the_model_is_the_one_that_was_solved() -> None:
    """It has the choice of what is recomputed; the program has what was chosen."""
    found = A.explain(shares, duplicate=True)
    assert "recompute_1_3" in found.stages["model"]
    assert "%4" not in found.stages["graph"]
    assert found.stages["labelled"].count("add x1 1.0") == 2


def test_the_report_has_a_part_about_it() -> None:
    explanation = A.explain(shares, duplicate=False)
    assert "recomputation" not in report(explanation)
    copies = summary(shares, Recomputed((1,), (3,))).copies
    said = Words(explanation).sentence(str(copies[0]))
    line = shares.__code__.co_firstlineno + 1
    assert said.startswith(f"ys (map %1, test_copies.py:{line}) is recomputed as map %3 for ")
    assert f"\nrecomputation\n  {said}\n\narrays\n" in report(replace(explanation, copies=copies))
