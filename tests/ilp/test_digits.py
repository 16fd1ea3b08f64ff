"""Levels as sums of small numbers: at every point they have the values that follow from the level's, and the same order."""

from __future__ import annotations

from itertools import pairwise, product
from random import Random

import pytest

from accel.ilp.model import digits as splitting
from accel.ilp.model.digits import LARGEST_SPAN, Carry, Digit, carried, digits
from accel.ilp.model.lexicographic import goals
from accel.ilp.solvers.linear import Linear

_COUNT = 8


def _sizes(random: Random) -> list[int]:
    """Coefficients of arrays of all ranks, of nominal extents, or of any; some negative."""
    exponent = random.choice((1, 2, 10, 20, 40, 70))
    extents = random.choice(((1024,), (1024, 1025), (997, 1009, 31), (2,)))
    found = []
    for _ in range(_COUNT):
        size = random.choice((1, 4, 8))
        for _ in range(random.randrange(6)):
            size *= random.choice(extents)
        any_size = random.randrange(1, 2**exponent + 1)
        found.append(random.choice((size, size, any_size)) * random.choice((1, 1, 1, -1)))
    return found


@pytest.fixture(params=[LARGEST_SPAN, 100], autouse=True)
def largest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """What a solver bears, or less: so few terms as here have no carries otherwise."""
    limit: int = request.param
    monkeypatch.setattr(splitting, "LARGEST_SPAN", limit)
    return limit


def _split(seed: int) -> tuple[Linear, list[Digit], list[Carry]]:
    objective = Linear(0, dict(enumerate(_sizes(Random(seed)))))
    return objective, *digits(objective, 0, _COUNT)


def _points() -> list[dict[int, int]]:
    return [dict(enumerate(bits)) for bits in product((0, 1), repeat=_COUNT)]


@pytest.mark.parametrize("seed", range(60))
def test_parts_have_the_level_s_order(seed: int) -> None:
    objective, parts, carries = _split(seed)
    found = []
    for point in _points():
        value = round(objective.value(point))
        full = carried(carries, point)
        values = [round(part.objective.value(full)) for part in parts]
        assert values == [part.value([value]) for part in parts]
        assert all(row.value(full) >= 0 for carry in carries for row in carry.rows)
        found.append((value, values))
    for (one, first), (two, second) in pairwise(sorted(found)):
        assert (one < two) == (first < second)


def test_every_way_to_split_occurs(largest: int) -> None:
    """Into one part, into parts of which each outweighs the next, and with carries."""
    found = {(len(parts) > 1, len(carries)) for _, parts, carries in map(_split, range(60))}
    assert {(False, 0), (True, 0)} <= found
    assert largest == LARGEST_SPAN or {(True, 1), (True, 2)} <= found


@pytest.mark.parametrize("seed", range(60))
def test_no_part_and_no_row_is_larger_than_a_solver_bears(seed: int, largest: int) -> None:
    _, parts, carries = _split(seed)
    assert all(part.objective.span <= largest for part in parts)
    assert all(row.span <= largest for carry in carries for row in carry.rows)
    assert [part.last for part in parts] == [False] * (len(parts) - 1) + [True]


@pytest.mark.parametrize("seed", range(60))
def test_a_bound_on_a_part_is_one_on_the_level(seed: int) -> None:
    """Of all points that are equal in the parts before; and it is reached by the least of them."""
    objective, parts, carries = _split(seed)
    points = [carried(carries, point) for point in _points()]
    known = min(points, key=objective.value)
    for place, part in enumerate(parts):
        least = round(part.objective.value(known))
        same = [
            p for p in points if all(each.objective.value(p) == each.objective.value(known) for each in parts[:place])
        ]
        assert all(part.objective.value(p) >= least for p in same)
        bound = part.bound(least, [round(objective.value(known))])
        assert bound <= min(round(objective.value(p)) for p in same)
    assert bound == objective.value(known)


def test_only_the_carry_itself_fulfils_its_rows() -> None:
    for carry in (carries[0] for _, _, carries in map(_split, range(60)) if carries):
        for point in _points()[::7]:
            for bits in product((0, 1), repeat=len(carry.bits)):
                full = point | dict(zip(carry.bits, bits, strict=True))
                fulfilled = all(row.value(full) >= 0 for row in carry.rows)
                assert fulfilled == (full == carried([carry], point))


def test_what_is_small_stays_as_it_is() -> None:
    """One stage for levels that a solver can add up together; the number of clusters is by itself."""
    small = [Linear(0, {0: 4096, 1: 8192}), Linear(0, {0: 1, 1: 1}), Linear(0, {2: -1, 3: -1})]
    found, carries = goals(small, frozenset({2, 3}), 4)
    assert [(stage.objective.terms, stage.levels, stage.counting) for stage in found] == [
        ({0: 4, 1: 7}, range(2), False),
        ({2: -1, 3: -1}, range(2, 3), True),
    ]
    assert not carries
    assert [stage.value([8192, 1, -2]) for stage in found] == [7, -2]


def test_carries_of_what_counts_clusters_count_them() -> None:
    """Carried from a sum in which clusters count: the parts above it change with them."""
    for objective in (objective for objective, _, carries in map(_split, range(60)) if carries):
        _, carries = goals([objective], frozenset(), _COUNT)
        for counter in carries[0].low.terms:
            found, again = goals([objective], frozenset({counter}), _COUNT)
            assert again == carries
            for stage in found:
                assert not stage.counting
                assert stage.counted or stage.objective.terms.keys().isdisjoint({counter, *carries[0].bits})
