"""Processors that tests say the host is."""

from __future__ import annotations

from accel.backends.llvm.machine.processor import Processor


def processor(
    *,
    slow_gathers: bool = False,
    keeps_stores: bool = False,
    adds_apart: bool = False,
    slow_masks: bool = False,
    quick_divisions: bool = False,
    cached_bytes: int = 1 << 20,
) -> Processor:
    """One without any of these traits but those that are given."""
    return Processor(slow_gathers, keeps_stores, adds_apart, slow_masks, quick_divisions, cached_bytes)
