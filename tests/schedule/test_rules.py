"""What rules make, and what they refuse: a case for each reason."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from accel.errors import AccelError
from accel.ir.mentions import statements
from accel.ir.nodes import Nest, Read
from accel.schedule import rules
from accel.schedule.axes import accesses, dependence
from accel.schedule.legality import scatters
from accel.schedule.nodes import (
    AccelScheduleError,
    Accumulation,
    Kind,
    Margin,
    Parameter,
    Part,
    Piece,
    Role,
    Rule,
    Schedule,
    Subdivide,
)
from accel.schedule.rules import carry, flatten, flip, keep, kind, original, pack, reverse, share, split, subdivide
from accel.schedule.text import schedule_text
from tests.schedule import programs
from tests.schedule.programs import Example


def own(example: Example, number: int = 0) -> Schedule:
    """The order of one of its nests."""
    return original(example.nests[number])


def scattered_where_it_reads() -> Nest:
    """A nest whose scatter and one of its reads have the same memory."""
    nest = programs.histogram().nests[1]
    (scatter,), read = scatters(nest, 0), next(s for s in statements(nest) if isinstance(s, Read))
    return replace(nest, in_place=((scatter.arrays[0], read.array),))


def roles(example: Example, number: int = 0) -> list[str]:
    """What the axes of one of its nests carry."""
    return [axis.role.value for axis in own(example, number).axes]


def test_roles() -> None:
    assert roles(programs.matmul()) == ["map", "map", "products"]
    assert roles(programs.whole()) == ["ordered", "ordered"]
    assert roles(programs.scans()) == ["map", "chain"]
    assert roles(programs.kept()) == ["chain"]
    assert roles(programs.histogram(), 1) == ["exact"]
    assert roles(programs.runs()) == ["ordered"]


def test_what_streams_of_a_product_depend_on() -> None:
    (nest,) = programs.shortest().nests
    found = dependence(nest)
    depths = {name: sorted(found[name]) for name in ("e0_l2", "e1_l3", "e5", "e6")}
    assert depths == {"e0_l2": [0, 2], "e1_l3": [1, 2], "e5": [0, 1, 2], "e6": [0, 1]}
    assert [access.plain for access in accesses(nest)] == [(0, 1), (0, 2), (2, 1)]


def test_a_subdivided_map() -> None:
    found = subdivide(subdivide(own(programs.matmul()), 1, 64), 2, 16)
    assert [(p.part, p.size, p.inside) for p in found.of(found.axes[1])] == [
        (Part.OUTER, None, (4, 16)),
        (Part.OUTER, 4, (16,)),
        (Part.INNER, 16, ()),
    ]


def test_a_subdivided_fold_is_blocks_steps_and_lanes() -> None:
    found = subdivide(own(programs.matmul()), 2, 32)
    assert [(p.part, p.size, p.inside) for p in found.of(found.axes[2])] == [
        (Part.BLOCK, None, (128, 32)),
        (Part.STEP, 128, (32,)),
        (Part.LANE, 32, ()),
    ]
    runs = subdivide(own(programs.runs()), 0, 32)
    assert [piece.part for piece in runs.pieces] == [Part.BLOCK, Part.LANE, Part.STEP]


def test_parameters_are_divided_by_what_they_are_multiples_of() -> None:
    found = subdivide(subdivide(own(programs.matmul()), 0, Parameter("MC", 6)), 1, 6)
    assert schedule_text(found).splitlines()[1:4] == [
        "  i0 map: outer of MC/6*6, serial",
        "  i0 map: MC/6 outer of 6, serial",
        "  i0 map: 6 inner, serial",
    ]


def test_loops_that_are_one() -> None:
    found = flatten(own(programs.whole()), 0)
    assert [(axis.name, axis.role) for axis in found.axes] == [("i0*i1", Role.ORDERED)]
    assert found.pieces == (Piece(found.axes[0]),)


REFUSED: list[tuple[str, Callable[[], object]]] = [
    ("each of its iterations needs the one before", lambda: flip(subdivide(own(programs.scans()), 1, 8), 1)),
    ("tails stand at the end", lambda: subdivide(subdivide(own(programs.matmul()), 0, 64), 1, 7)),
    ("it runs vector already", lambda: subdivide(kind(own(programs.matmul()), 0, Kind.VECTOR), 0, 8)),
    ("0 iterations are none", lambda: subdivide(own(programs.matmul()), 0, 0)),
    ("a block has 32 lanes", lambda: subdivide(own(programs.matmul()), 2, 24)),
    ("a block has 32 lanes", lambda: subdivide(own(programs.matmul()), 2, Parameter("lanes", 8))),
    ("a block has 1 lane", lambda: subdivide(own(programs.choice()), 0, 2)),
    ("flatten these first", lambda: subdivide(own(programs.whole()), 1, 64)),
    ("steps would not be filled", lambda: subdivide(subdivide(own(programs.dot()), 0, 64), 1, 7)),
    ("lanes would not be filled", lambda: subdivide(subdivide(own(programs.dot()), 0, 64), 2, 3)),
    ("both carry the state e1", lambda: flip(own(programs.whole()), 0)),
    ("rising order", lambda: flip(subdivide(subdivide(own(programs.dot()), 0, 64), 1, 8), 1)),
    ("no piece 1", lambda: flip(own(programs.dot()), 0)),
    ("only whole axes", lambda: flatten(reverse(own(programs.matmul()), 0), 0)),
    ("do not stand directly inside", lambda: flatten(flip(own(programs.matmul()), 0), 1)),
    ("begin anew", lambda: flatten(own(programs.scans()), 0)),
    ("runs once for each iteration", lambda: flatten(own(programs.columns()), 0)),
    ("its iterations have an order", lambda: reverse(own(programs.dot()), 0)),
    ("only a whole axis", lambda: reverse(subdivide(own(programs.matmul()), 0, 8), 0)),
    ("how often it would be written out", lambda: kind(own(programs.matmul()), 0, Kind.REGISTER)),
    ("on several threads", lambda: kind(own(programs.scans()), 1, Kind.PARALLEL)),
    ("on several threads", lambda: kind(subdivide(own(programs.dot()), 0, 64), 1, Kind.PARALLEL)),
    ("one element after the other", lambda: kind(own(programs.dot()), 0, Kind.VECTOR)),
    ("lanes read before others have scattered", lambda: kind(original(scattered_where_it_reads()), 0, Kind.VECTOR)),
    ("only lanes or the whole", lambda: kind(subdivide(keep_blocks(programs.dot()), 0, 64), 1, Kind.VECTOR)),
    ("do not come as this needs them", lambda: keep(own(programs.kept()), "e2", Accumulation.BLOCKS)),
    ("do not come as this needs them", lambda: keep(own(programs.runs()), "e1", Accumulation.LANES)),
    ("do not come as this needs them", lambda: keep(own(programs.dot()), "e2", Accumulation.SCAN)),
    ("only if states run", lambda: carry(own(programs.dot()), 0, 4096)),
    ("by blocks of 4096", lambda: carry(own(programs.counts()), 0, 64)),
    ("do not number the elements", lambda: carry(own(programs.kept()), 0, 4096)),
    ("each of its iterations needs the one before", lambda: flip(carry(own(programs.counts()), 0, 4096), 0)),
    ("on several threads", lambda: kind(carry(own(programs.counts()), 0, 4096), 1, Kind.PARALLEL)),
    ("on several threads", lambda: kind(subdivide(own(programs.counts()), 0, 4096), 0, Kind.PARALLEL)),
    ("run in work-items", lambda: kind(own(programs.dot()), 0, Kind.ITEM)),
    ("no piece inside", lambda: pack(kind(own(programs.whole()), 0, Kind.SERIAL), ["e0"], 2)),
    ("before it is there", lambda: pack(own(programs.rows()), ["e2"], 0)),
    ("no statement makes them", lambda: pack(own(programs.matmul()), ["e7"], 0)),
    ("no columns ask for the same values", lambda: share(own(programs.transposed()))),
    ("shared or split already", lambda: share(share(own(programs.lines(), 1)))),
    ("shared or split already", lambda: share(split(own(programs.lines(), 1), [Margin(1, 1, 1)]))),
    ("what columns share is made first", lambda: pack(share(own(programs.lines(), 1)), ["e3"], 0)),
    ("is found out in the outer one", lambda: flip(own(programs.segments(), 1), 1)),
    ("packs come last", lambda: flip(pack(own(programs.matmul()), ["e0_l2"], 0), 0)),
]


def keep_blocks(example: Example) -> Schedule:
    """The dot product's own order, its state kept in blocks."""
    return keep(own(example), "e2", Accumulation.BLOCKS)


@pytest.mark.parametrize(("reason", "derive"), REFUSED, ids=[reason for reason, _ in REFUSED])
def test_refused(reason: str, derive: Callable[[], object]) -> None:
    with pytest.raises(AccelScheduleError, match=reason) as raised:
        derive()
    assert isinstance(raised.value, AccelError)


def test_a_derivation_is_made_again_from_its_steps() -> None:
    nest = programs.matmul().nests[0]
    steps: list[Rule] = [Subdivide(0, 6)]
    assert rules.derived(nest, steps) == subdivide(original(nest), 0, 6)
    assert rules.derived(nest, steps).steps == tuple(steps)
