"""Plans are found again: for equal graphs only, for the same settings only, in this process and in the next."""

from __future__ import annotations

import os
import random
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

import accel as A
from accel.errors import AccelSolverWarning
from accel.ilp import plan as planner
from accel.ilp.cache import plan_cache
from accel.ilp.cache.keys import graph_key, settings_key
from accel.ilp.legality.checker import refusal
from accel.ilp.plan import plan, plan_graph, search
from accel.ilp.problem.answer import Answer
from accel.ilp.problem.build import build
from accel.ilp.problem.cost import CostLevel, CostModel
from accel.ilp.problem.cost_function import CostCluster
from accel.ilp.problem.graph import Graph
from accel.ilp.problem.options import Options
from accel.labelled.array import SizeVariable
from accel.support import disk
from tests.ilp.random_graphs import draw
from tests.ilp.renamed import renamed
from tests.labelled.programs import AnyAcc, program
from tests.marks import slow

XS = np.arange(8.0)
GREEDY = Options(strategy="greedy")


def mean_and_more() -> tuple[AnyAcc, ...]:
    xs = A.use(XS)
    total = A.fold(A.add, 0.0, xs)
    return A.map(lambda x: x - A.the(total), xs), A.scanl1(A.add, xs)


def test_equal_graphs_share_a_plan_and_no_others(searches: list[Graph]) -> None:
    """Of random graphs those that are renamed are found again, and legal where they are found."""
    found: dict[object, Answer] = {}
    for seed in range(60):
        graph = draw(seed, 6)
        before = len(searches)
        answer = plan_graph(graph, GREEDY)
        again = plan_graph(renamed(graph), GREEDY)
        assert len(searches) <= before + 1
        assert refusal(renamed(graph), again.clustering, True) is None
        assert again.cost == answer.cost
        assert len(again.clustering.clusters) == len(answer.clustering.clusters)
        found[graph_key(graph, None).key] = answer
    assert len(found) > 50


def test_sizes_are_in_the_key_by_what_they_are_for(searches: list[Graph]) -> None:
    n, m = SizeVariable(0), SizeVariable(1)
    graph = build(program(mean_and_more()))
    plan_graph(graph, Options(sizes={n: 10, m: 3}))
    plan_graph(graph, Options(sizes={n: 10}))  # m is none of the graph's
    assert len(searches) == 1
    plan_graph(graph, Options(sizes={n: 11}))
    plan_graph(graph)
    assert len(searches) == 3


@pytest.mark.parametrize(
    "options",
    [
        Options(strategy="greedy"),
        Options(cost="reads"),
        Options(cost=CostModel((CostLevel(read=1),))),
        Options(duplicate=False),
        Options(duplicate="published"),
        Options(time_limit=9.0),
        Options(formulation="published"),
    ],
    ids=str,
)
def test_every_setting_is_in_the_key(options: Options, searches: list[Graph]) -> None:
    made = program(mean_and_more())
    for _ in range(2):
        plan(made)
        plan(made, options)
        plan(program(mean_and_more()), options)
    assert len(searches) == 2
    assert len(settings_key(options)) == len(fields(Options)) - 1


def test_equal_programs_are_planned_once(searches: list[Graph]) -> None:
    first, second = program(mean_and_more()), program(mean_and_more())
    assert first is not second
    assert plan(first) is plan(first) is plan(second)
    assert len(searches) == 1


def test_what_a_time_limit_or_a_solver_cut_short_is_not_kept(searches: list[Graph], folder: Path) -> None:
    graph = draw(4, 30)
    for count in (1, 2):
        with pytest.warns(AccelSolverWarning):
            plan_graph(graph, Options(solver="nonesuch"))
        assert len(searches) == count
    assert not folder.exists() or not list(folder.iterdir())


@pytest.mark.parametrize("strategy", ["ilp", "ilp and greedy"])
def test_what_is_not_proved_stays_in_the_process(
    folder: Path, searches: list[Graph], monkeypatch: pytest.MonkeyPatch, strategy: str
) -> None:
    """A quieter machine may prove it, and so may more time: then it is planned anew, and both are kept."""
    graph, counting = build(program(mean_and_more())), planner.search

    def unproved(graph: Graph, options: Options) -> Answer:
        return replace(counting(graph, options), proved=False, strategy=strategy)

    monkeypatch.setattr(planner, "search", unproved)
    assert (plan_graph(graph) == plan_graph(graph), len(searches), folder.exists()) == (True, 1, False)
    monkeypatch.setattr(planner, "search", counting)
    proved = [plan_graph(graph, Options(time_limit=limit)).proved for limit in (20.0, 20.0, 10.0)]
    assert (len(searches), proved) == (2, [True, True, False])


def test_a_plan_for_a_function_is_kept_for_that_function_in_this_process(folder: Path, searches: list[Graph]) -> None:
    def count(cluster: CostCluster) -> int:
        return 1

    def other(cluster: CostCluster) -> int:
        return 1

    made = program(mean_and_more())
    for _ in range(2):
        plan(made, Options(strategy="greedy", cost=count))
        plan(made, Options(strategy="greedy", cost=other))
    assert len(searches) == 2
    assert not folder.exists()


def test_threads_share_plans() -> None:
    graphs = [draw(seed, 6) for seed in range(20)]
    expected = [search(graph).cost for graph in graphs]

    def wrong(seed: int) -> list[int]:
        order = random.Random(seed).sample(range(20), 20)
        return [k for k in order if plan_graph(renamed(graphs[k], first=seed + 1)).cost != expected[k]]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(wrong, range(8))) == [[]] * 8


def entries(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.entry"))


def test_the_next_process_finds_the_plan(folder: Path, searches: list[Graph]) -> None:
    graph = build(program(mean_and_more()))
    first = plan_graph(graph)
    assert len(entries(folder)) == 1
    plan_cache.forget()
    assert plan_graph(graph) == first
    plan_cache.forget()
    again = plan_graph(renamed(graph))
    assert refusal(renamed(graph), again.clustering, True) is None
    assert len(searches) == 1
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_pushed_orders_survive(folder: Path, searches: list[Graph]) -> None:
    for seed in range(40):
        plan_cache.forget()
        graph = draw(seed, 7)
        first = plan_graph(graph)
        plan_cache.forget()
        assert plan_graph(graph) == first
    assert len(searches) <= 40


def _spoilt(content: bytes) -> Iterator[bytes]:
    yield b""
    for cut in range(0, len(content), 97):
        yield content[:cut]
        yield content[:cut] + bytes([content[cut] ^ 1]) + content[cut + 1 :]
    yield content + b" "
    yield b"accel 0\n" + content[8:]


def test_an_entry_that_was_altered_is_none(folder: Path, searches: list[Graph]) -> None:
    graph = build(program(mean_and_more()))
    first = plan_graph(graph)
    (entry,) = entries(folder)
    content, count = entry.read_bytes(), 1
    for spoilt in _spoilt(content):
        entry.write_bytes(spoilt)
        plan_cache.forget()
        assert plan_graph(graph) == first
        count += 1
        assert len(searches) == count
        assert entry.read_bytes() == content  # written anew


@pytest.mark.parametrize(
    "value",
    [
        b"", b"null", b"[]", b"[[],[],[1],[1],true,\"ilp\",null]", b"[[[[0],[0]]],[],[1],[1],true,\"ilp\",null]", b"[" * 100000,
        b"[[[[0,1,2,3],[0,0,0,0]]],[],[1],[1],true,\"ilp\",null]", b"[[[[-1],[0]]],[],[1],[1],true,\"ilp\",null]", b"\xff\xfe",
    ],
)  # fmt: skip
def test_an_entry_that_claims_nonsense_is_none(value: bytes, folder: Path, searches: list[Graph]) -> None:
    """Whole, and under the right key: the checker, and the price in exact integers, refuse it."""
    graph = build(program(mean_and_more()))
    first = plan_graph(graph)
    key = plan_cache._disk_key(graph_key(graph, None), Options())
    plan_cache.PLANS.put(key, value)
    plan_cache.forget()
    assert plan_graph(graph) == first
    assert len(searches) == 2


def test_an_entry_that_claims_another_price_is_none(folder: Path, searches: list[Graph]) -> None:
    graph = build(program(mean_and_more()))
    first, canonical = plan_graph(graph), graph_key(graph, None)
    cheaper = replace(first, cost=(1, 1, 1), bound=(1, 1, 1))
    plan_cache.PLANS.put(plan_cache._disk_key(canonical, Options()), plan_cache._dumped(cheaper, canonical))
    plan_cache.forget()
    assert plan_graph(graph) == first
    assert len(searches) == 2


def test_another_planner_finds_nothing(folder: Path, searches: list[Graph], monkeypatch: pytest.MonkeyPatch) -> None:
    graph = build(program(mean_and_more()))
    plan_graph(graph)
    plan_cache.forget()
    monkeypatch.setattr(plan_cache, "_planner", lambda: "another")
    plan_graph(graph)
    assert len(searches) == 2
    assert len(entries(folder)) == 2


def _file(path: Path) -> None:
    path.parent.mkdir(parents=True)
    path.write_text("in the way")


def _file_above(path: Path) -> None:
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    path.parent.write_text("in the way")


def _link(path: Path) -> None:
    path.parent.mkdir(parents=True)
    elsewhere = path.parent.parent / "elsewhere"
    elsewhere.mkdir()
    path.symlink_to(elsewhere)


@pytest.mark.parametrize("spoil", [_file, _file_above, _link], ids=["file", "file above", "link"])
def test_a_directory_that_is_none_does_no_harm(
    spoil: Callable[[Path], None], folder: Path, searches: list[Graph]
) -> None:
    spoil(folder)
    graph = build(program(mean_and_more()))
    first = plan_graph(graph)
    plan_cache.forget()
    assert plan_graph(graph) == first
    assert len(searches) == 2
    assert plan_cache.PLANS.trouble() is not None
    assert plan_cache.PLANS.size() == disk.Size(0, 0)
    plan_cache.PLANS.clear()


@pytest.mark.parametrize("place", ["", "\0", "/proc/nowhere/cache", "/dev/null/cache", "x" * 5000])
def test_a_place_that_cannot_be_does_no_harm(
    place: str, monkeypatch: pytest.MonkeyPatch, searches: list[Graph]
) -> None:
    graph = build(program(mean_and_more()))
    monkeypatch.setattr(os, "environ", {**os.environ, "ACCEL_CACHE_DIR": place})
    plan_graph(graph)
    plan_cache.forget()
    plan_graph(graph)
    assert len(searches) == 2
    assert plan_cache.PLANS.size() == disk.Size(0, 0)


def test_entries_of_another_user_are_not_read(
    folder: Path, searches: list[Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = build(program(mean_and_more()))
    plan_graph(graph)
    monkeypatch.setattr(os, "getuid", lambda: folder.stat().st_uid + 1)
    plan_cache.forget()
    plan_graph(graph)
    assert len(searches) == 2


def test_links_and_pipes_are_no_entries(folder: Path, searches: list[Graph]) -> None:
    graph = build(program(mean_and_more()))
    plan_graph(graph)
    (entry,) = entries(folder)
    entry.rename(folder / "other")
    entry.symlink_to(folder / "other")
    plan_cache.forget()
    plan_graph(graph)
    assert len(searches) == 2
    entry.unlink()
    os.mkfifo(entry)
    plan_cache.forget()
    plan_graph(graph)
    assert len(searches) == 3
    entry.unlink()
    entry.mkdir()
    plan_cache.forget()
    plan_graph(graph)
    assert len(searches) == 4


def test_a_full_disk_does_no_harm(folder: Path, searches: list[Graph], monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object) -> None:
        raise OSError(28, "No space left on device")

    graph = build(program(mean_and_more()))
    monkeypatch.setattr(os, "replace", full)
    plan_graph(graph)
    assert list(folder.iterdir()) == []
    plan_cache.forget()
    plan_graph(graph)
    assert len(searches) == 2


@slow
def test_a_program_in_two_processes_gives_one_result(folder: Path) -> None:
    """The second process is given the plan: its planner would fail."""
    code = """
import sys, numpy as np, accel as A
from accel.ilp import plan
if sys.argv[1] == "again":
    def search(graph, options): raise AssertionError("searched again")
    plan.search = search
xs = A.use(np.arange(10.0))
print(A.run(A.fold(A.add, 0, A.map(lambda x: x * x, xs))))
"""
    environment = {**os.environ, "ACCEL_CACHE_DIR": str(folder.parent)}
    for argument in ("first", "again"):
        done = subprocess.run([sys.executable, "-c", code, argument], env=environment, capture_output=True, text=True)
        assert (done.stdout.strip(), done.returncode) == ("285.0", 0), done.stderr
