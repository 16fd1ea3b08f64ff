"""What is known of processors that LLVM does not say: in one record, from which all code that depends on it takes it."""

from __future__ import annotations

from pathlib import Path

from accel.support.frozen import frozen_value

_AMD = "znver"
"""What LLVM's names of AMD's processors since 2017 begin with."""

_FIRST_AMD = "znver1"
"""The first of these."""

_HALF_UNITS = frozenset({"znver1", "znver4"})
"""Those of AMD whose registers are twice as wide as what computes."""

_MOST_CACHED = 32 << 20
"""Bytes: of a larger last cache no more counts, because other cores, and other machines of the same host, use it as well."""

_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


@frozen_value
class Processor:
    """Facts of a processor.

    slow_gathers: a load for each lane takes no longer than an instruction that loads all lanes from where each says. (On AMD's
    fourth generation, Zen 4, that instruction takes twice as long where the pages are not in the processor's table.)
    keeps_stores: what is stored without caching is read more slowly soon after. (On AMD's fifth generation 20 steps of Jacobi's
    iteration, of 64 MB, took twice as long; on Intel's Xeons it is the other way, 143 ms and 232.)
    adds_apart: sums of floats have units of their own, beside those of products, comparisons and extremes. (Measured on Zen 1.)
    slow_masks: a load of some lanes takes ten times as long as one of all. (On AMD's first generation, Zen 1, 3.9 ns of 32
    bytes, and 0.4.)
    quick_divisions: a division of 64-bit floats takes no longer than to multiply by a reciprocal and to correct that. (On Zen 1
    0.78 ns an element, and 1.0.)
    half_units: what computes products is half as wide as registers. (Zen 4: one `fma` of 64 bytes a cycle, as many as it loads,
    and half as many as the numbers that it brings from memory into all lanes.)
    cached_bytes: more than this does not stay in caches until it is read again.
    """

    slow_gathers: bool
    keeps_stores: bool
    adds_apart: bool
    slow_masks: bool
    quick_divisions: bool
    half_units: bool
    cached_bytes: int


def known_processor(name: str, last_cache: int | None) -> Processor:
    """The processor that LLVM calls so, with a last cache of so many bytes, if that is known."""
    is_amd = name.startswith(_AMD)
    is_first, cached = name == _FIRST_AMD, min(last_cache or _MOST_CACHED, _MOST_CACHED)
    return Processor(is_amd, is_amd, is_amd, is_first, is_first, name in _HALF_UNITS, cached)


def last_cache(caches: Path = _CACHES) -> int | None:
    """The bytes of the largest cache that the first processor uses, as Linux says it; None where nothing says it."""
    sizes = [_bytes(path) for path in caches.glob("index*/size")]
    return max(sizes, default=0) or None


def _bytes(path: Path) -> int:
    """The content of one of Linux's files: `2048K`. 0 if it is something else."""
    try:
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return 0
    number, unit = text.rstrip("KM"), text[-1:]
    return int(number) << {"K": 10, "M": 20}.get(unit, 0) if number.isdecimal() else 0
