"""Sets that are united: against sets that are really there."""

from __future__ import annotations

import random

from accel.support.union_find import UnionFind


def test_unions_of_random_pairs() -> None:
    draw = random.Random(1)
    for _ in range(50):
        together, sets = UnionFind[int](), {item: {item} for item in range(30)}
        for _ in range(draw.randrange(60)):
            first, second = draw.randrange(30), draw.randrange(30)
            chosen = together.find(second)
            assert together.unite(first, second) is (sets[first] is not sets[second])
            assert together.find(first) == together.find(second) == chosen
            if sets[first] is not sets[second]:
                sets[first] |= sets[second]
                for item in sets[second]:
                    sets[item] = sets[first]
        assert all((together.find(a) == together.find(b)) is (sets[a] is sets[b]) for a in sets for b in sets)
