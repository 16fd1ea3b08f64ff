"""Placement of shared nodes, on small graphs made by hand."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from accel.ast.tree.walk import postorder
from accel.errors import AccelStagingError, Where
from accel.labelled.construction.regions import Region, Shape, place


@dataclass(frozen=True, eq=False)
class Thing:
    """A node: what it uses plainly, what its two parts use, whether it is a loop, whether it may fail."""

    name: str
    uses: tuple[Thing, ...] = ()
    parts: tuple[tuple[Thing, ...], ...] = ()
    binds: tuple[Thing, ...] | None = None
    fails: bool = False
    where: Where | None = field(default=None, repr=False)


def children(thing: Thing) -> list[tuple[Thing, int | None]]:
    inner: list[tuple[Thing, int | None]] = [(child, k) for k, part in enumerate(thing.parts) for child in part]
    return [*((child, None) for child in thing.uses), *inner]


def path(region: Region[Thing]) -> str:
    parts: list[str] = []
    while region.parent is not None:
        assert region.owner is not None
        parts.append(f"{region.owner.name}.{region.part}")
        region = region.parent
    return "/".join(reversed(parts)) or "root"


def places(root: Thing, strict: bool = False) -> dict[str, list[str]]:
    """The regions in which each node is computed."""
    shape = Shape(children, lambda thing: thing.binds, lambda thing: thing.fails, strict)
    found: dict[str, list[str]] = {}
    for region, things in place([root], shape).nodes.items():
        for thing in things:
            found.setdefault(thing.name, []).append(path(region))
    return {name: sorted(regions) for name, regions in found.items()}


def test_what_one_branch_uses_stands_in_it() -> None:
    deep, both = Thing("deep"), Thing("both")
    inner = Thing("inner", (), ((deep,), (both,)))
    found = places(Thing("outer", (), ((inner, both), ())))
    assert found == {"outer": ["root"], "inner": ["outer.0"], "deep": ["outer.0/inner.0"], "both": ["outer.0"]}


@pytest.mark.parametrize(("fails", "expected"), [(False, ["root"]), (True, ["outer.0", "outer.1/inner.0"])])
def test_what_may_fail_stands_only_where_it_is_certain(fails: bool, expected: list[str]) -> None:
    shared = Thing("shared", fails=fails)
    inner = Thing("inner", (), ((shared,), ()))
    assert places(Thing("outer", (), ((shared,), (inner,))))["shared"] == expected


def test_both_branches_make_it_certain() -> None:
    shared = Thing("shared", fails=True)
    inner = Thing("inner", (), ((shared,), (shared,)))
    assert places(Thing("outer", (), ((shared,), (inner,))))["shared"] == ["root"]


def test_what_depends_on_something_that_may_fail_stays_with_it() -> None:
    load = Thing("load", fails=True)
    plus = Thing("plus", (load,))
    inner = Thing("inner", (), ((plus,), ()))
    found = places(Thing("outer", (), ((plus,), (inner,))))
    assert found["plus"] == found["load"] == ["outer.0", "outer.1/inner.0"]


def test_invariants_leave_loops() -> None:
    state, free, risky = Thing("state"), Thing("free"), Thing("risky", fails=True)
    step = Thing("step", (state, free, risky))
    loop = Thing("loop", (), ((state,), (step,)), (state,))
    found = places(loop)
    assert found["free"] == ["root"]
    assert found["step"] == ["loop.1"]
    assert found["risky"] == ["loop.1"]  # the step may not run at all


def test_a_condition_runs_at_least_once() -> None:
    state, risky = Thing("state"), Thing("risky", fails=True)
    asked = Thing("asked", (state, risky))
    assert places(Thing("loop", (), ((asked,), (state,)), (state,)))["risky"] == ["root"]


def test_what_condition_and_step_share_is_in_both() -> None:
    state = Thing("state")
    shared = Thing("shared", (state,))
    found = places(Thing("loop", (), ((shared,), (shared,)), (state,)))
    assert found["shared"] == ["loop.0", "loop.1"]


def test_an_inner_loop_keeps_what_depends_on_the_outer_one() -> None:
    outer_state, inner_state = Thing("i"), Thing("j")
    square = Thing("square", (outer_state,))
    step = Thing("step", (inner_state, square))
    inner = Thing("inner", (), ((inner_state,), (step,)), (inner_state,))
    found = places(Thing("outer", (), ((outer_state,), (inner,)), (outer_state,)))
    assert found["square"] == ["outer.1"]
    assert found["step"] == ["outer.1/inner.1"]


def nested(depth: int) -> Thing:
    thing = Thing("leaf")
    for k in range(depth):
        thing = Thing(f"c{k}", (), ((thing,), ()))
    return thing


def test_depth_is_bounded() -> None:
    with pytest.raises(AccelStagingError, match="nested more than 60 deep"):
        places(nested(61))
    assert places(nested(60))["leaf"][0].count("/") == 59
    assert places(nested(61), strict=True)["leaf"][0].count("/") == 59


def test_postorder_visits_each_node_once_without_recursion() -> None:
    thing = Thing("0")
    for k in range(1, 5000):
        thing = Thing(str(k), (thing, thing))
    order = postorder([thing, thing], lambda node: list(node.uses))
    assert [node.name for node in order] == [str(k) for k in range(5000)]
