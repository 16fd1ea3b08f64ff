"""Radix sort as scans and permutations: by each bit in turn, the least first, keeping the order of the turn before.

A turn is two loops: one finds which keys have the bit and counts them, one scans and writes each key where it goes. NumPy's
text is shorter by the place of a key, which masks and `concatenate` imply there. `A.sort`, by code made for that, is the
one to use.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A

Ints: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int32]]
Keys: TypeAlias = A.Acc[A.Vector[np.int32]]

BITS = 32


def by_bit(bit: A.Exp[np.int64], keys: Keys) -> Keys:
    """The keys without a bit, then those with it, each in order; of the sign the other way round."""
    first = A.map(lambda key: A.testBit(key, bit) == (bit == BITS - 1), keys)
    ones = A.map(A.boolToInt, first)
    earlier, count = A.prescanl(A.add, 0, ones), A.the(A.sum(ones))

    def place(ix: A.Exp[tuple[int]]) -> A.Exp[A.Maybe[tuple[int]]]:
        return A.just(A.index(A.cond(first[ix], earlier[ix], count + ix[0] - earlier[ix])))

    return A.permuteUnique(keys, place, keys)


def radix_sort(keys: Keys) -> Keys:
    """The keys in ascending order."""
    return A.iiterate(BITS, by_bit, keys)


def radix_sort_numpy(keys: Ints) -> Ints:
    """The same in NumPy."""
    for bit in range(BITS):
        first = (keys >> bit & 1 == 1) == (bit == BITS - 1)
        keys = np.concatenate([keys[first], keys[~first]])
    return keys


def inputs(size: int = 1_000_000) -> Ints:
    """Any integers of 32 bits."""
    limits = np.iinfo(np.int32)
    return np.random.default_rng(2026).integers(limits.min, limits.max, size, np.int32, endpoint=True)


def main() -> None:
    """Sort, compare with NumPy, and show what was fused."""
    keys = inputs()
    np.testing.assert_array_equal(A.run(radix_sort(A.use(keys))), np.sort(keys))
    written, fused = (A.explain(radix_sort, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"{len(keys)} keys sorted in {BITS} turns; loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
