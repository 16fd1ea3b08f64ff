"""Philox 4x64-10, a random number generator without state: number `position` of a key, computed by itself.

After Salmon, Moraes, Dror and Shaw, *Parallel Random Numbers: As Easy as 1, 2, 3* (SC 2011). A key is 128 bits. Ten rounds of
products make four numbers of a counter; counter 1 gives numbers 0 to 3, as in NumPy's `Philox(key=…).random_raw`.
"""

from __future__ import annotations

from typing import Final

ROUNDS: Final = 10
FACTORS: Final = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
"""What the counter's words 0 and 2 are multiplied by in each round."""
STEPS: Final = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
"""What is added to the key's halves after each round."""

_MASK: Final = (1 << 64) - 1


def philox(low: int, high: int, position: int) -> int:
    """Number `position` of the key with these halves. All are 64 bits without sign."""
    return _block(low, high, (position >> 2) + 1)[position & 3]


def _block(low: int, high: int, counter: int) -> tuple[int, int, int, int]:
    """The four numbers of a counter."""
    words = (counter, 0, 0, 0)
    for _ in range(ROUNDS):
        first, second = FACTORS[0] * words[0], FACTORS[1] * words[2]
        words = (second >> 64) ^ words[1] ^ low, second & _MASK, (first >> 64) ^ words[3] ^ high, first & _MASK
        low, high = (low + STEPS[0]) & _MASK, (high + STEPS[1]) & _MASK
    return words
