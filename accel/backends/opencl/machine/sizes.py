"""The sizes that buffers have."""

from __future__ import annotations

from functools import lru_cache

LEAST = 64
"""Bytes of the smallest buffer: OpenCL has no empty ones, and atomics on small elements touch whole words."""


@lru_cache(maxsize=1024)
def size_class(size: int) -> int:
    """The least of the sizes that buffers have: steps of an eighth, so that similar sizes share buffers."""
    size = max(size, LEAST)
    step = max(1 << max(size.bit_length() - 4, 0), LEAST)
    return -(-size // step) * step
