"""Random nests of loops and branches against NumPy: the same results, and errors only where NumPy, lazily, has them, too.

The reference interpreter runs what the passes on loops have made, so they need a truth of their own. More with
`python -m tests.labelled.test_loops_random FIRST LAST`.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

import accel as A
from accel.errors import AccelIndexError
from tests.labelled.programs import AnyAcc, AnyArray, run, use
from tests.marks import long, slow

Lazy = Callable[[], AnyArray]

LENGTH = 5
DATA = np.array([3, 1, 4, 1, 5])
ORDER = np.array([4, 2, 0, 1, 3])
WRONG = np.array([0, 1, 2, 3, 7])


@dataclass(frozen=True)
class Both:
    """One array as accel and as NumPy have it; NumPy's is computed when it is asked for."""

    accel: AnyAcc
    numpy: Lazy


class Draw:
    """A program drawn by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.budget = 12
        self.shared: list[Both] = [Both(use(DATA), lambda: DATA), Both(use(DATA * 2), lambda: DATA * 2)]
        for _ in range(3):
            self.shared.append(self.invariant())

    def invariant(self) -> Both:
        """An array made of others that no loop changes; some of them fail."""
        of = self.random.choice(self.shared)
        xs, asked, number = of.accel, of.numpy, self.random.randrange(9)
        match self.random.choice(("map", "scan", "gather", "wrong", "reverse", "load", "fold", "filter", "generate")):
            case "map":
                return Both(A.map(lambda x: x * 3 - number, xs), lambda: asked() * 3 - number)
            case "scan":
                return Both(A.scanl1(A.add, xs), lambda: np.cumsum(asked()))
            case "gather":
                return Both(A.gather(use(ORDER), xs), lambda: asked()[ORDER])
            case "wrong":
                return Both(A.gather(use(WRONG), xs), lambda: asked()[WRONG])
            case "reverse":
                return Both(A.reverse(xs), lambda: asked()[::-1])
            case "load":
                return Both(A.map(lambda x: x + xs[x % 6], xs), lambda: asked() + asked()[asked() % 6])
            case "fold":
                total = A.fold(A.add, 0, xs)
                return Both(A.map(lambda x: x - A.the(total), xs), lambda: asked() - asked().sum())
            case "filter":
                kept = A.fold(A.add, 0, A.filter(lambda x: x % 2 == 0, xs)[0])
                return Both(
                    A.map(lambda x: x + A.the(kept), xs), lambda: asked() + asked()[asked() % 2 == 0].sum(initial=0)
                )
            case _:
                return Both(
                    A.generate(A.index(A.length(self.shared[0].accel)), lambda i: A.unindex(i)[0] + number),
                    lambda: np.arange(LENGTH) + number,
                )

    def outer(self) -> Both:
        """An array from outside of all loops, shared or made for this place."""
        return self.random.choice(self.shared) if self.random.random() < 0.6 else self.invariant()

    def step(self, state: Both, depth: int) -> Both:
        """What a loop or branch makes of its state, which it always uses."""
        self.budget -= 1
        kinds = ["plus", "plus", "map", "chain"]
        if depth < 3 and self.budget > 0:
            kinds += ["loop", "loop", "branch", "branch"]
        match self.random.choice(kinds):
            case "plus":
                other = self.outer()
                return Both(A.zipWith(A.add, state.accel, other.accel), lambda: state.numpy() + other.numpy())
            case "map":
                return Both(A.map(lambda x: x * 5 + 1, state.accel), lambda: state.numpy() * 5 + 1)
            case "chain":
                return self.step(self.step(state, depth + 1), depth + 1)
            case "loop":
                return self.loop(state, depth)
            case _:
                return self.branch(state, depth)

    def loop(self, state: Both, depth: int) -> Both:
        """A few turns, or none; the condition asks for the counter, or for a sum as well, over the state or an invariant."""
        turns, bound = self.random.choice((0, 0, 1, 2, 3)), self.random.choice((10, 100, 10_000))
        asked = self.outer() if self.random.random() < 0.3 else None
        inside: list[AnyArray] = []
        made: list[Both] = []

        def body(s: tuple[AnyAcc, AnyAcc]) -> tuple[AnyAcc, AnyAcc]:
            made.append(self.step(Both(s[0], lambda: inside[-1]), depth + 1))
            return made[-1].accel, A.map(lambda i: i + 1, s[1])

        def condition(s: tuple[AnyAcc, AnyAcc]) -> AnyAcc:
            total = A.fold(A.add, 0, s[0] if asked is None else asked.accel)
            return A.zipWith(lambda t, i: (A.abs(t) < bound) & (i < turns), total, s[1])

        looped = A.awhile(condition, body, (state.accel, A.unit(A.constant(0, np.int64))))[0]

        def evaluated() -> AnyArray:
            found, turn = state.numpy(), 0
            while abs((found if asked is None else asked.numpy()).sum()) < bound and turn < turns:
                inside.append(found)
                found, turn = made[0].numpy(), turn + 1
                inside.pop()
            return found

        return Both(looped, evaluated)

    def branch(self, state: Both, depth: int) -> Both:
        """One of two steps, by the parity of the state's first element or of its sum."""
        then, orelse = self.step(state, depth + 1), self.step(state, depth + 1)
        whole = self.random.random() < 0.5
        asked = A.the(A.fold(A.add, 0, state.accel)) if whole else state.accel[0]

        def chosen() -> Both:
            found = state.numpy()
            return then if (found.sum() if whole else found[0]) % 2 == 1 else orelse

        return Both(A.acond(asked % 2 == 1, then.accel, orelse.accel), lambda: chosen().numpy())


def check(seed: int) -> bool:
    """Whether the program of this seed fails, as it should if it does."""
    draw = Draw(seed)
    program = draw.step(draw.loop(draw.shared[0], 0), 0)
    with np.errstate(all="ignore"):
        try:
            expected = program.numpy()
        except IndexError:
            with pytest.raises(AccelIndexError):
                run(program.accel)
            return True
        np.testing.assert_array_equal(run(program.accel), expected)
    return False


@slow
@pytest.mark.parametrize("first", [0, pytest.param(20, marks=long), pytest.param(40, marks=long)])
def test_nests_of_loops_and_branches(first: int) -> None:
    failing = [check(seed) for seed in range(first, first + 20)]
    assert 0 < sum(failing) < 17


if __name__ == "__main__":
    for seed in range(*map(int, sys.argv[1:3])):
        try:
            check(seed)
        except Exception:
            print(f"seed {seed}", flush=True)
            raise
