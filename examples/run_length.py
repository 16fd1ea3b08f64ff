"""Run-length coding: a vector as its runs of equal elements, and back.

Where runs begin is found by a filter, and what each is and how long by loads at these places; `expand` goes back. NumPy's text
to encode is shorter, for a slice says there what is left of each element; to decode it is `np.repeat`, which copies runs in
half the time, where `expand` asks for each element.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

import accel as A

Bytes: TypeAlias = A.Acc[A.Vector[np.uint8]]
Lengths: TypeAlias = A.Acc[A.Vector[np.int64]]
HostBytes: TypeAlias = np.ndarray[tuple[int], np.dtype[np.uint8]]
HostLengths: TypeAlias = np.ndarray[tuple[int], np.dtype[np.int64]]


def encode(xs: Bytes) -> tuple[Bytes, Lengths]:
    """The value of each run, and its length."""

    def begins(ix: A.Exp[tuple[int]], x: A.Exp[np.uint8]) -> A.Exp[tuple[np.int64, np.bool_]]:
        (i,) = A.unlift(ix)
        return A.lift(i, (i == 0) | (xs[A.max(i - 1, 0)] != x))

    starts = A.map(A.fst, A.filter(A.snd, A.imap(begins, xs))[0])
    count, size = A.length(starts), A.length(xs)

    def length(ix: A.Exp[tuple[int]], start: A.Exp[np.int64]) -> A.Exp[np.int64]:
        (run,) = A.unlift(ix)
        return A.cond(run + 1 < count, starts[A.min(run + 1, count - 1)], size) - start

    return A.gather(starts, xs), A.imap(length, starts)


def decode(values: Bytes, lengths: Lengths) -> Bytes:
    """The vector of the runs."""
    return A.expand(A.snd, lambda run, _: A.fst(run), A.zip(values, lengths))


def encode_numpy(xs: HostBytes) -> tuple[HostBytes, HostLengths]:
    """The same in NumPy."""
    begins = np.ones(len(xs), np.bool_)
    begins[1:] = xs[1:] != xs[:-1]
    starts = np.flatnonzero(begins)
    return xs[starts], np.diff(starts, append=len(xs))


def inputs(size: int = 1_000_000) -> HostBytes:
    """Few values, in runs of twenty on average."""
    random = np.random.default_rng(2026)
    lengths = random.geometric(0.05, size)
    return np.repeat(random.integers(0, 9, size).astype(np.uint8), lengths)[:size]


def main() -> None:
    """Encode, compare with NumPy, decode, and show in how many loops."""
    xs = inputs()
    values, lengths = A.run(encode(A.use(xs)))
    expected_values, expected_lengths = encode_numpy(xs)
    np.testing.assert_array_equal(values, expected_values)
    np.testing.assert_array_equal(lengths, expected_lengths)
    np.testing.assert_array_equal(A.run(decode(A.use(values), A.use(lengths))), xs)
    print(f"{len(xs)} bytes are {len(values)} runs")
    for program in (encode, decode):
        written, fused = (A.explain(program, strategy=strategy).loops for strategy in ("none", "ilp"))
        print(f"{program.__name__}, loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
