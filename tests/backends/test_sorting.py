"""Which elements NumPy sorts in registers, by what it says that it found of the processor."""

from __future__ import annotations

import numpy as np
import pytest

from accel.backends import sorting


@pytest.mark.parametrize(
    ("baseline", "found", "expected"),
    [
        (["SSE", "SSE2", "SSE3"], ["SSSE3", "SSE41", "POPCNT", "SSE42", "AVX"], set()),
        (["X86_V2"], [], set()),
        (["NEON", "NEON_FP16", "NEON_VFPV4", "ASIMD"], ["ASIMDHP", "ASIMDDP"], set()),
        (["SSE", "SSE2", "SSE3"], ["SSSE3", "SSE41", "POPCNT", "SSE42", "AVX", "F16C", "FMA3", "AVX2"], {4, 8}),
        (["X86_V2"], ["X86_V3"], {4, 8}),
        (["X86_V3"], [], {4, 8}),
        (["X86_V2"], ["X86_V3", "X86_V4"], {4, 8}),
        (["X86_V2"], ["X86_V3", "X86_V4", "AVX512_ICL"], {2, 4, 8}),
        (["SSE", "SSE2", "SSE3"], ["AVX2", "AVX512F", "AVX512CD", "AVX512_SKX", "AVX512_ICL"], {2, 4, 8}),
    ],
)
def test_what_is_sorted_in_registers(
    monkeypatch: pytest.MonkeyPatch, baseline: list[str], found: list[str], expected: set[int]
) -> None:
    """Names of NumPy 2.2 and of 2.4."""
    said = {"SIMD Extensions": {"baseline": baseline, "found": found, "not found": ["AVX512_SPR"]}}
    monkeypatch.setattr(np, "show_config", lambda mode: said)
    assert sorting._register_sorts() == expected
