"""Prices of a million European options by Black and Scholes: calls and puts in one loop.

One `map` gives a pair for each option; pairs are two arrays in memory, so both outputs are written by one loop that
reads each input once. NumPy's text is as long, since both are the same formulas; but it makes an array of each.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy.special import ndtr

import accel as A

Floats: TypeAlias = np.ndarray[tuple[int], np.dtype[np.float32]]
Column: TypeAlias = A.Acc[A.Vector[np.float32]]
Number: TypeAlias = A.Exp[np.float32]

RATE, VOLATILITY = 0.02, 0.30


def normal(x: Number) -> Number:
    """The standard normal distribution function."""
    return A.erfc(x * -0.70710678) * 0.5


def option(price: Number, strike: Number, years: Number) -> A.Exp[tuple[np.float32, np.float32]]:
    """The values of a call and of a put."""
    deviation = A.sqrt(years) * VOLATILITY
    d1 = (A.log(price / strike) + years * (RATE + VOLATILITY * VOLATILITY / 2)) / deviation
    d2 = d1 - deviation
    discounted = strike * A.exp(years * -RATE)
    call = price * normal(d1) - discounted * normal(d2)
    put = discounted * normal(-d2) - price * normal(-d1)
    return A.lift(call, put)


def black_scholes(prices: Column, strikes: Column, years: Column) -> tuple[Column, Column]:
    """The values of calls and of puts."""
    return A.unzip(A.zipWith3(option, prices, strikes, years))


def black_scholes_numpy(prices: Floats, strikes: Floats, years: Floats) -> tuple[Floats, Floats]:
    """The same in NumPy and SciPy, in double precision."""
    price, strike, time = (xs.astype(np.float64) for xs in (prices, strikes, years))
    deviation = VOLATILITY * np.sqrt(time)
    d1 = (np.log(price / strike) + (RATE + VOLATILITY**2 / 2) * time) / deviation
    d2 = d1 - deviation
    discounted = strike * np.exp(-RATE * time)
    call = price * ndtr(d1) - discounted * ndtr(d2)
    put = discounted * ndtr(-d2) - price * ndtr(-d1)
    return call.astype(np.float32), put.astype(np.float32)


def inputs(size: int = 1_000_000) -> tuple[Floats, Floats, Floats]:
    """Prices, strikes and years to expiry, as in NVIDIA's sample of this program."""
    random = np.random.default_rng(2026)

    def between(low: float, high: float) -> Floats:
        return random.uniform(low, high, size).astype(np.float32)

    return between(5, 30), between(1, 100), between(0.25, 10)


def main() -> None:
    """Price the options, compare with SciPy, and show that both outputs come from one loop."""
    prices, strikes, years = inputs()
    call, put = A.run(black_scholes(A.use(prices), A.use(strikes), A.use(years)))
    expected_call, expected_put = black_scholes_numpy(prices, strikes, years)
    np.testing.assert_allclose(call, expected_call, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(put, expected_put, rtol=1e-4, atol=1e-4)
    explanation = A.explain(black_scholes(A.use(prices), A.use(strikes), A.use(years)))
    assert explanation.loops == 1
    print(f"{call.size} options in {explanation.loops} loop: mean call {call.mean():.4f}, mean put {put.mean():.4f}")


if __name__ == "__main__":
    main()
