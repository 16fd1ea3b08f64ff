"""What the user calls things: a program for each way in which an array gets a name, and for those in which it gets none."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.explanation import explain
from accel.explanation.facts.facts import ArrayReport, ViewReport
from accel.explanation.show.report import report
from accel.support import source
from tests.labelled.programs import AnyAcc

Floats = A.Acc[A.Vector[np.float64]]
Matrix = A.Acc[A.Matrix[np.float64]]
Pairs = A.Acc[A.Vector[tuple[np.float64, np.int64]]]

XS = np.arange(6.0)


class Holder:
    """Something with an attribute."""

    held: AnyAcc


def assigned(xs: Floats) -> tuple[AnyAcc, ...]:
    plain = A.map(lambda x: x + 1, xs)
    noted: Floats = A.map(lambda x: x + 2, xs)
    total = A.the(A.fold(A.add, 0, plain))
    first, second = A.map(lambda x: x / total, plain), A.scanl1(A.add, noted)
    holder = Holder()
    holder.held = A.scanl1(A.mul, first)
    return (inline := A.map(lambda x: x * 3, xs)), holder.held, second, A.scanr1(A.add, inline)


def unassigned(xs: Floats) -> AnyAcc:
    """A result, an argument, a part of an expression, the value of a subscript, and one that nobody wants."""
    several = [A.map(lambda x: x + 1, xs)]
    several[0] = A.scanl1(A.add, several[0])
    _ = A.fold(A.add, 0, several[0])
    scaled = helper(A.scanr1(A.add, several[0]))
    return A.map(lambda x: x / A.the(_), scaled)


def helper(ys: AnyAcc) -> AnyAcc:
    return A.scanl1(A.mul, ys)


def tuples(xs: Floats, ks: Matrix) -> tuple[AnyAcc, ...]:
    both: Pairs = A.map(lambda x: A.lift(x * 2, A.constant(1, np.int64)), xs)
    left, right = A.unzip(A.map(lambda x: A.lift(x * 3, A.constant(2, np.int64)), xs))
    kept, count = A.filter(lambda x: x > 0, xs)
    rest = A.filter(lambda x: x < 0, xs)[0]
    sums, _ = A.scanlTotal(A.add, 0, ks)
    return both, left, right, kept, count, rest, sums


def composed(xs: Floats, ks: Matrix) -> tuple[AnyAcc | tuple[AnyAcc, ...], ...]:
    """Combinators that are several operations: the name is that of the last."""
    whole = A.foldAll(A.add, 0.0, ks)
    trimmed = A.zipWith(A.mul, A.take(2, xs), A.drop(1, xs))
    where = A.map(lambda x: A.fromIntegral(x, np.int64), A.use(np.zeros(6, np.int64)))
    placed = A.scatterWith(A.add, A.fill((3,), A.constant(0.0, np.float64)), A.zip(where, xs))
    most = A.topK(2, xs)
    return whole, trimmed, placed, most


def in_turns(xs: Floats) -> AnyAcc:
    for _ in range(3):
        xs = A.scanl1(A.add, xs)
    return xs


def asked_for(xs: Floats) -> AnyAcc:
    ready = A.compute(helper(xs))
    flat = A.flatten(A.reshape((2, A.length(ready) // 2), ready))
    return A.map(lambda x: x / flat[0], flat)


def gathered(*all_of_them: AnyAcc) -> AnyAcc:
    return A.zipWith(A.add, all_of_them[0], all_of_them[1])


def looped(xs: Floats) -> tuple[AnyAcc, AnyAcc]:
    def step(state: tuple[AnyAcc, AnyAcc, AnyAcc]) -> tuple[AnyAcc, AnyAcc, AnyAcc]:
        now, _, count = state
        later = A.map(lambda x: x / 2, now)
        return later, A.fold(A.max, 0, A.zipWith(A.sub, now, later)), A.map(lambda n: n + 1, count)

    start = (xs, A.unit(A.constant(1.0, np.float64)), A.unit(A.constant(0, np.int64)))
    last, _, number = A.awhile(lambda s: A.map(lambda n: n < 9, s[2]), step, start)
    return last, number


def exchanged(xs: Floats, ys: Floats) -> tuple[AnyAcc, AnyAcc]:
    """Names of nested tuples are counted from left to right."""

    def step(state: Any) -> Any:  # Any: mypy knows flat states only
        (a, b), _ = state
        return (b, A.map(lambda x: x / 2, a)), A.map(lambda x: x > 1, A.fold(A.add, 0, b))

    start: Any = ((xs, ys), A.unit(A.constant(True, np.bool_)))  # Any: as above
    (front, back), _done = A.awhile(lambda s: s[1], step, start)
    return front, back


def chosen(xs: Floats) -> tuple[AnyAcc, AnyAcc]:
    total = A.the(A.fold(A.add, 0, xs))
    more, less = A.acond(total > 1, (A.map(lambda x: x * 2, xs), xs), (xs, A.map(lambda x: x * 3, xs)))
    return A.scanl1(A.add, more), A.scanl1(A.mul, less)


def names(program: Callable[..., object], *arrays: object) -> dict[str, str]:
    """The arrays of a program that have a name, by their labels."""
    found = A.explain(program, *arrays, duplicate=False)
    everything: list[ArrayReport | ViewReport] = [*found.arrays, *found.views]
    return {each.name: each.variable for each in everything if each.variable}


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (assigned, "%0 xs, %1 inline, %2 plain, %3 total, %4 first, %5 holder.held, %6 noted, %7 second"),
        (unassigned, "%0 xs"),
        (tuples, "%0 xs, %1 ks, %2 both, %2.1 both.1, %3 left, %3.1 right, %4 kept, %4.1 count, %5 rest, %6 sums"),
        (composed, "%0 xs, %1 ks, %3 whole, %9 trimmed, %11 placed, %16 most"),
        (in_turns, "%0 xs, %1 xs, %2 xs, %3 xs"),
        (asked_for, "%0 xs, %1 ready, %2 ready, %5 flat"),
        (chosen, "%0 xs, %1 total, %3 more, %3.1 less"),
    ],
)
def test_names(program: Callable[..., object], expected: str) -> None:
    assert names(program) == dict(pair.split(" ") for pair in expected.split(", "))


def test_parameters_of_any_number() -> None:
    assert names(gathered, XS, XS + 1) == {"%0": "all_of_them[0]", "%1": "all_of_them[1]"}


def test_arrays_that_are_used() -> None:
    """By the variable, else by what is used."""
    xs = A.use(XS)
    assert A.explain(A.map(lambda x: x + 1, xs)).arrays[0].variable == "xs"
    assert A.explain(A.map(lambda x: x + 1, A.use(XS))).arrays[0].variable == "XS"
    assert A.explain(A.map(lambda x: x + 1, A.use(XS + 1))).arrays[0].variable == ""


def test_what_a_loop_carries() -> None:
    """Its second array is not needed, and gone; so the third is the second of what is left."""
    found = A.explain(looped)
    made = {array.name: array.variable for array in found.arrays if array.producer == "awhile %3"}
    assert made == {"%3": "last", "%3.1": "number", "%3.2": ""}
    assert [view.variable for view in found.views if view.by == "awhile %3, do"] == ["now", "count", ""]
    assert "  now %7 is last %3 of the turn before, in last, number (awhile %3), do\n" in report(found)


def test_nested_tuples_that_a_loop_carries() -> None:
    found = A.explain(exchanged)
    assert [array.variable for array in found.arrays if array.producer == "awhile %3"] == ["front", "back", "_done"]
    assert [view.variable for view in found.views if view.by == "awhile %3, do"] == ["a", "b", ""]


def test_operations_have_the_names_of_what_they_give() -> None:
    found = {each.name: each.variable for each in A.explain(tuples, duplicate=False).operations}
    assert found["filter %4"] == "kept, count"
    assert found["filter %5"] == "rest"
    assert found["map %3"] == "left, right"


def test_a_file_that_is_explained_again_is_parsed_if_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def parsed(text: str) -> ast.Module | None:
        seen.append(text)
        return source.parsed(text)

    monkeypatch.setattr("accel.explanation.naming.variables.parsed", parsed)
    file = tmp_path / "program.py"
    for name in ("ys", "ys", "zs"):
        file.write_text(
            f"def program(xs):\n    {name} = A.map(lambda x: x + 1, xs)\n    return A.scanl1(A.add, {name})\n"
        )
        linecache.checkcache(str(file))
        scope: dict[str, Any] = {"A": A}
        exec(compile(file.read_text(), file, "exec"), scope)
        explain.forget()
        assert names(scope["program"], XS)["%1"] == name
    assert len(seen) == 2


def test_a_program_without_a_file_has_labels_only() -> None:
    scope: dict[str, object] = {"A": A}
    exec("def program(xs):\n    ys = A.map(lambda x: x + 1, xs)\n    return A.scanl1(A.add, ys)\n", scope)
    program = scope["program"]
    assert callable(program)
    assert names(program, XS) == {"%0": "xs"}  # Python itself knows the parameters


def test_names_stand_in_reports_and_stages_keep_their_labels() -> None:
    found = A.explain(assigned, duplicate=False)
    text = report(found)
    assert "total (fold %3)" in text
    assert "plain" not in "".join(found.stages[name] for name in ("labelled", "graph", "fusedast", "ir"))
