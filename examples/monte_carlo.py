"""The price of a European option by Monte Carlo, beside the closed form of Black and Scholes.

Each path needs one normal number, which is computed in the loop that adds up the payoffs and their squares: no array of random
numbers, prices or payoffs is ever made, so paths cost no memory. NumPy's text is as long: both are the same formulas.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TypeAlias

import numpy as np

import accel as A

Total: TypeAlias = A.Acc[A.Scalar[np.float64]]

SPOT, STRIKE, RATE, VOLATILITY, YEARS = 100.0, 105.0, 0.03, 0.25, 1.5
PATHS = 4_000_000


def payoff(z: A.Exp[np.float64]) -> A.Exp[np.float64]:
    """What a call is worth at its end, discounted, if the price moved by `z` standard deviations."""
    drift, deviation = (RATE - VOLATILITY**2 / 2) * YEARS, VOLATILITY * YEARS**0.5
    price = A.exp(z * deviation + drift) * SPOT
    return A.max(price - STRIKE, 0) * float(np.exp(-RATE * YEARS))


def sums(seed: A.Acc[A.Scalar[np.int64]]) -> tuple[Total, Total]:
    """The sum of the payoffs of all paths, and that of their squares."""
    payoffs = A.map(payoff, A.random.normal(A.random.key(A.the(seed)), (PATHS,), np.float64))
    return A.sum(payoffs), A.sum(A.map(lambda x: x * x, payoffs))


def sums_numpy(seed: int, paths: int) -> tuple[float, float]:
    """The same in NumPy and plain Python, from the same bits."""
    words = np.random.Philox(key=seed).random_raw(paths).tolist()
    sizes = [-NormalDist().inv_cdf((2 * (word >> 2) + 1) / 2.0**64) for word in words]
    z = np.where(np.array(words, np.uint64) & np.uint64(1), -1.0, 1.0) * np.array(sizes)
    price = SPOT * np.exp((RATE - VOLATILITY**2 / 2) * YEARS + VOLATILITY * YEARS**0.5 * z)
    payoffs = np.maximum(price - STRIKE, 0) * np.exp(-RATE * YEARS)
    return float(payoffs.sum()), float((payoffs**2).sum())


def closed_form() -> float:
    """The price of the call by the formula."""
    deviation = VOLATILITY * YEARS**0.5
    d1 = (np.log(SPOT / STRIKE) + (RATE + VOLATILITY**2 / 2) * YEARS) / deviation
    normal = NormalDist().cdf
    return float(SPOT * normal(d1) - STRIKE * np.exp(-RATE * YEARS) * normal(d1 - deviation))


def main() -> None:
    """Price the option with two seeds, and show how far from the closed form that is, and what was fused."""
    run = A.runN(sums)
    for seed in (1, 2):
        total, squares = (float(result) for result in run(np.int64(seed)))
        mean = total / PATHS
        error = ((squares / PATHS - mean**2) / PATHS) ** 0.5
        assert abs(mean - closed_form()) < 4 * error, (mean, closed_form(), error)
        print(f"seed {seed}: {mean:.4f} +- {error:.4f}, closed form {closed_form():.4f}")
    written, fused = (A.explain(sums, strategy=strategy).loops for strategy in ("none", "ilp"))
    print(f"{PATHS} paths; loops: {written} as written, {fused} fused")


if __name__ == "__main__":
    main()
