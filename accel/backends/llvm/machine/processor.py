"""What is known of processors, by LLVM or from measurements: in one record, from which all code takes it that depends on it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from accel.support.dataclass import dataclass

REGISTER_BYTES = 64
"""Of the longest registers that processors have. Most vectors fill one; where registers are shorter, LLVM takes several."""

LINE = 64
"""Bytes of a cache line: they come into a cache together."""

FIRST_CACHE = 1 << 15
"""Bytes for which the first cache of each processor has room."""

_AMD = "znver"
"""What LLVM's names of AMD's processors since 2017 begin with."""

_FIRST_AMD = "znver1"
"""The first of these."""

_HALF_UNITS = frozenset({"znver1", "znver4"})
"""Those of AMD whose registers are twice as wide as what computes."""

_EXTREMES_ADD = frozenset({"znver4"})
"""Those of AMD that were seen to find extremes where they add."""

_ASKED_AHEAD = 1 << 12
"""Bytes from what loops read to what they ask for, on Intel's processors."""

_MANY_REGISTERS = 32

_FEW_STEPS, _SOME_STEPS, _MORE_STEPS = 2, 3, 8
"""Steps of a lane up to which strips of a tile are faster than the whole tile: with few registers, with many, and with many
whose units are half as wide."""

_MOST_CACHED = 32 << 20
"""Bytes: of a larger last cache no more counts, because other cores, and other machines of the same host, use it as well."""

_FOLD_TIME, _PACK_TIME, _PRODUCT_TIME = 160, 6, 4
"""As they were measured on Zen 4; elsewhere they were not."""

_CACHES = "/sys/devices/system/cpu/cpu0/cache"


@dataclass(frozen=True, slots=True)
class Registers:
    """A processor's vector registers: the bytes of one, and how many there are."""

    bytes: int
    count: int

    @property
    def many(self) -> bool:
        """Whether there are so many that an element may also be broadcast from memory by the instruction that takes it
        (AVX-512), or is taken from a vector (AArch64): then a strip of a tile is narrow and high, else low and wide."""
        return self.count >= _MANY_REGISTERS


@dataclass(frozen=True, slots=True)
class Processor:
    """Facts of a processor: what instructions it has, as LLVM says, and what these take, which LLVM does not say.

    registers: those of vectors.
    has_fma: `fma` is an instruction: x86-64 has it since 2013, others have it always. Else it is a function of C.
    has_halves: conversions of 16-bit floats are instructions: x86-64 has them since 2012, others have them always.
    has_avx2: lanes of 32 bytes, some of which are loaded or stored, and eight words of which one instruction puts in any order.
    has_avx512: AVX-512F. Lanes of two registers are taken by a third; what computes brings an operand from memory into all
    lanes; storing some lanes takes no longer than storing all.
    has_avx512dq: 64-bit integers in lanes become floats and come back; one instruction gives the greater of two floats, zeros
    being in order.

    slow_gathers: a load for each lane takes no longer than an instruction that loads all lanes from where each says. (On AMD's
    fourth generation, Zen 4, that instruction takes twice as long where the pages are not in the processor's table.)
    keeps_stores: what is stored without caching is read more slowly soon after. (On AMD's fifth generation 20 steps of Jacobi's
    iteration, of 64 MB, took twice as long; on Intel's Xeons it is the other way, 143 ms and 232.)
    asked_ahead: bytes from what a loop in vectors reads to what it asks the caches for meanwhile; 0 where it asks for nothing.
    (A Xeon has few vectors under way where each takes 20 instructions or more, and waits for memory then: of 20 million float32
    the sum of exponentials took 13.2 ms, and takes 5.6, a scan 8.7 and 6.7. What lies in a cache takes as long as before. AMD's
    processors were not measured.)
    few_far_rows: vectors of columns that lie 16 KB apart or more stay in registers for 16 rows of results rather than 32.
    (They and these results are in pages of their own, and often in few sets of the second cache: 1024 x 64 x 4096 of float64
    takes a Xeon 13.7 ms, and 22.3 for 32 rows. Of rows of 8 KB 16 take about a twentieth longer. AMD's processors were not
    measured.)
    reads_on: blocks of what runs across follow each other along what they read, not along what they write. (The next block's
    lines have other places in the second cache then, also where rows lie 16 KB apart: a Xeon 6 transposes 4096 x 4096 of
    float32 in 1.16 of a copy's time, and in 1.34; 4000 x 4000 in 1.08 and 1.25. AMD's processors were not measured.)
    adds_apart: sums of floats have units of their own, beside those of products. (Measured on Zen 1 and Zen 4.)
    extremes_add: where sums have units of their own, these compare floats and find extremes as well; else those of products do.
    (A sum and an extreme of 64 bytes take Zen 4 two cycles, a product and an extreme one. On Zen 1 it is the other way.)
    slow_masks: a load of some lanes takes ten times as long as one of all. (On AMD's first generation, Zen 1, 3.9 ns of 32
    bytes, and 0.4.)
    quick_divisions: a division of 64-bit floats takes no longer than to multiply by a reciprocal and to correct that. (On Zen 1
    0.78 ns an element, and 1.0.)
    half_units: what computes products is half as wide as registers. (Zen 4: one `fma` of 64 bytes a cycle, as many as it loads,
    and half as many as the numbers that it brings from memory into all lanes.)
    fold_time: what a fold takes beside its elements, which lie side by side, in the time in which it takes in 4 bytes. (Zen 4:
    there are sixteen of these in a nanosecond.)
    pack_time: what it takes to pack 4 bytes, in the same time. (Zen 4.)
    product_time: what a vector of products takes in a tile, in the same time. (Zen 4.)
    cached_bytes: more than this does not stay in caches until it is read again.
    """

    registers: Registers
    has_fma: bool
    has_halves: bool
    has_avx2: bool
    has_avx512: bool
    has_avx512dq: bool
    slow_gathers: bool
    keeps_stores: bool
    asked_ahead: int
    few_far_rows: bool
    reads_on: bool
    adds_apart: bool
    extremes_add: bool
    slow_masks: bool
    quick_divisions: bool
    half_units: bool
    fold_time: int
    pack_time: int
    product_time: int
    cached_bytes: int

    @property
    def masks_bytes(self) -> bool:
        """Whether loads and stores of some lanes are as quick of one byte as of four: AVX-512BW, which comes with DQ."""
        return self.has_avx512dq

    @property
    def permutes_words(self) -> bool:
        """Whether one instruction puts eight words in any order, and none compresses lanes, as AVX-512's does."""
        return self.has_avx2 and not self.has_avx512

    @property
    def loads_keep_up(self) -> bool:
        """Whether the instructions that multiply bring numbers from memory into all lanes, and none of them begins in the same
        cycle as another: then loads are no bound of products."""
        return self.registers.many and self.has_avx512 and self.half_units

    def few_steps(self, *, products: bool) -> int:
        """Steps of a lane up to which strips of several lanes are faster than a whole tile. Of sums of products with units half
        as wide as registers whole tiles wait for what their lanes store, and loads are no bound of strips."""
        if not self.registers.many:
            return _FEW_STEPS
        return _MORE_STEPS if self.half_units and products else _SOME_STEPS


def known_processor(name: str, features: Mapping[str, bool], last_cache: int | None, *, x86: bool) -> Processor:
    """The processor of this name and these features, as LLVM says; its last cache has so many bytes, if that is known."""

    def has(feature: str) -> bool:
        return x86 and features.get(feature, False)

    is_amd, is_first = name.startswith(_AMD), name == _FIRST_AMD
    return Processor(
        registers=_registers(features) if x86 else Registers(16, 32),
        has_fma=has("fma") or not x86,
        has_halves=has("f16c") or not x86,
        has_avx2=has("avx2"),
        has_avx512=has("avx512f"),
        has_avx512dq=has("avx512dq"),
        slow_gathers=is_amd,
        keeps_stores=is_amd,
        asked_ahead=_ASKED_AHEAD if x86 and not is_amd else 0,
        few_far_rows=x86 and not is_amd,
        reads_on=x86 and not is_amd,
        adds_apart=is_amd,
        extremes_add=name in _EXTREMES_ADD,
        slow_masks=is_first,
        quick_divisions=is_first,
        half_units=name in _HALF_UNITS,
        fold_time=_FOLD_TIME,
        pack_time=_PACK_TIME,
        product_time=_PRODUCT_TIME,
        cached_bytes=min(last_cache or _MOST_CACHED, _MOST_CACHED),
    )


def _registers(features: Mapping[str, bool]) -> Registers:
    """Those of x86-64."""
    if features.get("avx512f"):
        return Registers(64, 32)
    return Registers(32 if features.get("avx") else 16, 16)


def last_cache(caches: str = _CACHES) -> int | None:
    """The bytes of the largest cache that the first processor uses, as Linux says it; None where nothing says it."""
    try:
        names = [name for name in os.listdir(caches) if name.startswith("index")]
    except OSError:
        return None
    return max([_bytes(os.path.join(caches, name, "size")) for name in names], default=0) or None


def _bytes(path: str) -> int:
    """The content of one of Linux's files: `2048K`. 0 if it is something else."""
    try:
        with open(path, "rb") as file:
            text = file.read().decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return 0
    number, unit = text.rstrip("KM"), text[-1:]
    return int(number) << {"K": 10, "M": 20}.get(unit, 0) if number.isdecimal() else 0
