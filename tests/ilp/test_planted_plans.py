"""An entry of the plan cache is not believed because it is there.

Once: in a directory that others could write to, an entry with a plan of twice the loops and a bound to match was "proved
optimal"; one that gave a JSON object as the strategy made `str(explanation)` raise.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.explanation import explain
from accel.ilp.cache import plan_cache
from accel.ilp.problem.graph import Graph
from accel.support import disk
from tests.marks import one_in

Entry = list[Any]
"""Any: JSON. Clusters, copies, cost, bound, proved, strategy, solver."""

CLUSTERS, COPIES, COST, BOUND, PROVED, STRATEGY, SOLVER = range(7)


def program() -> A.Acc[A.Vector[np.float64]]:
    """One that takes a solver to be proved: no bound that is plain to see is reached."""
    xs = A.use(np.arange(50.0))
    more = A.map(lambda x: x + 3, xs)
    total = A.fold(A.add, 0, more)
    return A.map(lambda x: x / A.the(total), A.scanl1(A.add, more))


def plant(folder: Path, change: Callable[[Entry], Entry], secret: bytes | None = None) -> None:
    """Changes the entry, as one could who knows the user's secret, or under another."""
    (file,) = folder.glob("*.entry")
    content = file.read_bytes()
    rest = content[len(disk._MAGIC) + disk._DIGEST :]
    length = int.from_bytes(rest[:4], "little")
    key, value = rest[4 : 4 + length], rest[4 + length :]
    mine = (folder.parent / "secret").read_bytes()
    changed = json.dumps(change(json.loads(value))).encode()
    file.write_bytes(disk._packed(key, changed, mine if secret is None else secret))
    forgotten()


def forgotten() -> None:
    """What this process has planned and explained is found on disk, or done again."""
    plan_cache.forget()
    explain.forget()


def unchanged(entry: Entry) -> Entry:
    return entry


def apart(cost: tuple[int, ...]) -> Callable[[Entry], Entry]:
    """Every operation for itself, and a bound to match."""

    def change(entry: Entry) -> Entry:
        single = [
            [[label], [order]]
            for labels, orders in entry[CLUSTERS]
            for label, order in zip(labels, orders, strict=True)
        ]
        return [single, [], list(cost), list(cost), True, "ilp", "cbc"]

    return change


def test_a_proof_of_an_earlier_run_is_called_one(folder: Path, searches: list[Graph]) -> None:
    first = A.explain(program())
    assert (first.proved, first.recalled) == (True, False)
    assert "proved optimal, in" in str(first)
    forgotten()
    again = A.explain(program())
    assert (again.proved, again.recalled) == (True, True)
    assert "proved optimal by an earlier run, in" in str(again)
    assert (again.clusters, again.cost) == (first.clusters, first.cost)
    assert len(searches) == 1


def test_a_bound_of_an_earlier_run_is_called_one(folder: Path, searches: list[Graph]) -> None:
    with A.using(strategy="none"):
        first = A.explain(program())
        forgotten()
        again = A.explain(program())
    assert not first.proved
    assert "not proved optimal: no clustering costs less than" in str(first)
    assert "by an earlier run, in" not in str(first)
    assert "by an earlier run, in" in str(again)
    assert again.bound == first.bound


def test_entries_without_the_secret_are_none(folder: Path, searches: list[Graph]) -> None:
    worse = A.explain(program(), strategy="none")
    plan_cache.PLANS.clear()
    honest = A.explain(program())
    assert worse.loops == 2 * honest.loops
    for secret in (b"", bytes(32)):
        plant(folder, apart(worse.cost), secret)
        found = A.explain(program())
        assert (found.loops, found.proved, found.recalled) == (honest.loops, True, False)
    plant(folder, apart(worse.cost))  # with it, it is the user's word, and called that
    assert "proved optimal by an earlier run" in str(A.explain(program()))


def put(place: int, value: object) -> Callable[[Entry], Entry]:
    return lambda entry: [*entry[:place], value, *entry[place + 1 :]]


def of(place: int, change: Callable[[Any], object]) -> Callable[[Entry], Entry]:
    return lambda entry: put(place, change(entry[place]))(entry)


HTML = "<script>alert(1)</script>"

PLANTED: dict[str, Callable[[Entry], Entry]] = {
    "an object as strategy": put(STRATEGY, {"a": 1}),
    "a list as strategy": put(STRATEGY, ["ilp"]),
    "no strategy": put(STRATEGY, None),
    "an unknown strategy": put(STRATEGY, HTML),
    "a strategy of nothing": put(STRATEGY, ""),
    "an object as solver": put(SOLVER, {"a": 1}),
    "an unknown solver": put(SOLVER, HTML),
    "a number as solver": put(SOLVER, 1),
    "1 for proved": put(PROVED, 1),
    "a text for proved": put(PROVED, "yes"),
    "not proved, at its bound": put(PROVED, False),
    "a lower bound that is proved": of(BOUND, lambda bound: [0 for _ in bound]),
    "no bound that is proved": put(BOUND, []),
    "a higher bound": of(BOUND, lambda bound: [number + 1 for number in bound]),
    "a longer bound": of(BOUND, lambda bound: [*bound, 0]),
    "a negative bound": lambda entry: put(PROVED, False)(of(BOUND, lambda bound: [-5 for _ in bound])(entry)),
    "a bound of floats": of(BOUND, lambda bound: [float(number) for number in bound]),
    "a bound of texts": of(BOUND, lambda bound: [str(number) for number in bound]),
    "a bound of lists": of(BOUND, lambda bound: [[number] for number in bound]),
    "a bound of bools": of(BOUND, lambda bound: [True for _ in bound]),
    "a text as bound": put(BOUND, "000"),
    "an object as bound": put(BOUND, {"0": 1}),
    "a cost of floats": of(COST, lambda cost: [float(number) for number in cost]),
    "a text as cost": put(COST, "000"),
    "no cost": put(COST, None),
    "positions of bools": of(CLUSTERS, lambda clusters: [[[bool(p) for p in ps], orders] for ps, orders in clusters]),
    "positions of floats": of(CLUSTERS, lambda clusters: [[[float(p) for p in ps], orders] for ps, orders in clusters]),
    "orders of bools": of(CLUSTERS, lambda clusters: [[ps, [bool(o) for o in orders]] for ps, orders in clusters]),
    "a text as orders": of(CLUSTERS, lambda clusters: [[ps, "0" * len(ps)] for ps, _ in clusters]),
    "an empty cluster": of(CLUSTERS, lambda clusters: [*clusters, [[], []]]),
    "an object as clusters": put(CLUSTERS, {}),
    "copies of nothing": put(COPIES, [[[], []]]),
    "an object as copies": put(COPIES, {"a": "b"}),
    "a field more": lambda entry: [*entry, 1],
    "a field less": lambda entry: entry[:-1],
}


@pytest.mark.parametrize("name", one_in(4, PLANTED))
def test_fields_of_another_kind_make_no_entry(name: str, folder: Path, searches: list[Graph], tmp_path: Path) -> None:
    honest = A.explain(program())
    plant(folder, PLANTED[name])
    found = A.explain(program())
    assert len(searches) == 2
    assert not found.recalled
    assert (found.strategy, found.cost, found.bound) == (honest.strategy, honest.cost, honest.bound)
    assert "proved optimal, in" in str(found)
    found.to_html(tmp_path / "page.html")
    assert HTML not in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_an_entry_that_was_not_changed_is_one(folder: Path, searches: list[Graph]) -> None:
    """The tests above fail for what they change, not for how."""
    A.explain(program())
    plant(folder, unchanged)
    assert A.explain(program()).recalled
    assert len(searches) == 1
