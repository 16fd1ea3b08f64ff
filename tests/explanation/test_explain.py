"""`explain` says what became of a program."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

import accel as A
from tests.explanation import samples
from tests.papers import programs


def dotp(xs: A.Acc[A.Vector[np.float32]], ys: A.Acc[A.Vector[np.float32]]) -> A.Acc[A.Scalar[np.float32]]:
    return A.fold(A.add, 0, A.zipWith(A.mul, xs, ys))


def test_a_program_a_function_and_a_compiled_function_are_explained_alike() -> None:
    x = np.ones(4, np.float32)
    explanations = [
        A.explain(dotp(A.use(x), A.use(x.copy()))),
        A.explain(dotp, x, x),
        A.explain(dotp),
        A.explain(A.runN(dotp), x, x),
    ]
    assert {(e.loops, tuple(e.reads.items()), tuple(e.writes.items())) for e in explanations} == {
        (1, (("n0", 2),), (("1", 1),))
    }


def test_one_of_something_is_not_several() -> None:
    flags = np.ones(1, np.bool_)
    _, extents, moved, cost, *_ = str(A.explain(A.compute(A.map(lambda x: ~x, A.use(flags))))).splitlines()
    assert extents == "n0 = length of flags"
    assert moved == "1 byte read, 1 written, with n0 = 1"
    assert cost == "cost default: {0}; unfused {0}".format("2,048 bytes, 1 intermediate, 1 cluster")


def test_bytes_are_those_of_the_arrays_given() -> None:
    x = np.ones(1000, np.float32)
    explanation = A.explain(dotp, x, x)
    assert (explanation.bytes_read, explanation.bytes_written, dict(explanation.sizes)) == (8000, 4, {"n0": 1000})


def test_every_array_has_its_fate() -> None:
    explanation = A.explain(programs.expanded_normalise2, duplicate=False)
    assert [(array.producer.split()[0], array.status) for array in explanation.arrays] == [
        ("use", "input"),
        ("map", "kept"),
        ("fold", "stored"),
        ("map", "stored"),
        ("scanl", "fused"),
        ("fold", "stored"),
        ("map", "stored"),
    ]
    assert all(array.where is not None and array.where.file.endswith(".py") for array in explanation.arrays)


def _reasons(function: Callable[..., object], *arrays: object, **given: str) -> list[str]:
    explanation = A.explain(function, *arrays, **given)  # type: ignore[arg-type]  # settings by name, for brevity
    reasons = [reason for array in explanation.arrays for reason in array.why_not]
    return [re.sub(r" \(\w+\.py:\d+\)", "", re.sub(r"%\d+", "%_", reason)) for reason in reasons]


def test_edges_that_did_not_fuse_say_why() -> None:
    """A sum must be complete before it is used; a scan cannot run at a gather's indices; `none` fuses nothing."""

    def shares(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        total = A.the(A.fold(A.add, 0, xs))
        return A.map(lambda x: x // total, xs)

    def scanned(indices: A.Acc[A.Vector[np.int64]], xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        return A.gather(indices, A.scanl1(A.add, xs))

    assert _reasons(shares) == ["map %_: its value is needed from the start, so it must be complete first [D1]"]
    assert _reasons(scanned) == ["gather %_: scanl1 %_ cannot be pushed to a gather [D5]"]
    assert _reasons(dotp, strategy="none", products="rounded") == [
        "fold %_: the strategy none fuses nothing [strategy]"
    ]


def test_a_barrier_is_a_reason() -> None:
    def barred(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Scalar[np.int64]]:
        return A.fold(A.add, 0, A.compute(A.map(lambda x: x * x, xs)))

    assert A.explain(barred).loops == 2
    assert _reasons(barred) == ["force %_: the program asks for it in memory [barrier]"]


def test_loops_inside_of_control_flow_count_once() -> None:
    explanation = A.explain(samples.doubling)
    assert explanation.loops == 2
    assert [cluster.operations[0].split()[0] for cluster in explanation.clusters] == ["fold", "map"]


def test_other_names_of_arrays_are_told() -> None:
    """A change of shape, `compute`, and what a repetition carries."""

    def twice(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
        ys = A.compute(A.map(lambda x: x + 1, xs))
        return A.awhile(
            lambda zs: A.map(lambda z: z < 9, A.fold(A.add, 0, zs)), lambda zs: A.map(lambda z: z * 2, zs), ys
        )

    explanation = A.explain(twice)
    force, *carried = explanation.views
    assert (force.name, force.of, force.by) == ("%2", "%1", "force %2")
    whole = next(array for array in explanation.arrays if array.producer.startswith("awhile "))
    assert whole.name in {view.of for view in carried}
    assert [view.carried for view in explanation.views] == [False, *(True for _ in carried)]
    known = {array.name for array in explanation.arrays} | {view.name for view in explanation.views}
    for cluster in explanation.clusters:
        assert {each.array for each in (*cluster.read_arrays, *cluster.written_arrays)} <= known
    line = (
        f"  ys %2 is ys %1, by ys (force %2)\n  zs {carried[0].name} is {carried[0].of} of the turn before, in awhile"
    )
    assert line in str(explanation)


def test_the_report(golden: Callable[[str], None]) -> None:
    text = str(A.explain(programs.expanded_normalise2, duplicate=False))
    text = re.sub(r"in \d+\.\d ms", "in _ ms", text)
    golden(re.sub(r"(?:\S*/)?(\w+\.py):\d+", r"\1", text))


def test_stages_have_texts() -> None:
    xs, ys = A.use(np.ones(4, np.float32)), A.use(np.zeros(4, np.float32))
    texts = A.explain(A.sum(A.zipWith(lambda x, y: (x + 1) * y, xs, ys))).stages
    assert list(texts) == ["ast", "labelled", "graph", "model", "fusedast", "ir", "schedule", "llvm", "opencl"]
    assert "zipWith" in texts["ast"]
    assert "%3 = fold[products" in texts["labelled"]
    assert "%3 : f32[]! = fold" in texts["graph"]
    assert "level 1: read_bytes + write_bytes" in texts["model"]
    assert "Vertical %2" in texts["fusedast"]
    assert "for i0 < n0" in texts["ir"]
    assert "define" in texts["llvm"]
    assert "__kernel" in texts["opencl"]
