"""Processors that tests say the host is, and programs that are compiled for them."""

from __future__ import annotations

import pytest

from accel import building
from accel.backends.llvm.machine.processor import Processor
from accel.backends.llvm.machine.target import host
from accel.support.cache import Cache


def processor(
    *,
    slow_gathers: bool = False,
    keeps_stores: bool = False,
    adds_apart: bool = False,
    slow_masks: bool = False,
    quick_divisions: bool = False,
    half_units: bool = False,
    cached_bytes: int = 1 << 20,
) -> Processor:
    """One without any of these traits but those that are given."""
    return Processor(slow_gathers, keeps_stores, adds_apart, slow_masks, quick_divisions, half_units, cached_bytes)


def compile_for(patch: pytest.MonkeyPatch, given: Processor) -> None:
    """Say that the host is this one."""
    patch.setattr(host(), "processor", given)
    compile_again(patch)


def compile_again(patch: pytest.MonkeyPatch) -> None:
    """Have programs compiled that other tests, or cases, have compiled before for another host."""
    patch.setattr(building, "_COMPILED", Cache(8))
