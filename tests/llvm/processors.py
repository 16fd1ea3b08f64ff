"""Processors that tests say the host is, and programs that are compiled for them."""

from __future__ import annotations

import pytest

from accel import execution
from accel.backends.llvm.machine.processor import Processor, Registers
from accel.backends.llvm.machine.target import Host, host
from accel.calling import building
from accel.support.cache import Cache

INSTRUCTIONS = ("registers", "has_fma", "has_halves", "has_avx2", "has_avx512", "has_avx512dq")
"""Traits without which code for the host may not run on it."""


def processor(**traits: Registers | bool | int) -> Processor:
    """One with these traits and the host's instructions, but without any other trait."""
    none = {name: False for name in Processor.__annotations__ if name not in INSTRUCTIONS}
    return changed(**{**none, "fold_time": 160, "pack_time": 6, "product_time": 4, "cached_bytes": 1 << 20, **traits})


def changed(**traits: Registers | bool | int) -> Processor:
    """The host's, but for these traits."""
    return Processor(*(traits.get(name, getattr(host().processor, name)) for name in Processor.__annotations__))


def compile_for(patch: pytest.MonkeyPatch, given: Processor) -> None:
    """Say that the host is this one."""
    patch.setattr(host(), "processor", given)
    compile_again(patch)


def compile_again(patch: pytest.MonkeyPatch) -> None:
    """Have programs compiled that other tests, or cases, have compiled before for another host."""
    patch.setattr(building, "_COMPILED", Cache(8))
    patch.setattr(execution, "_REBUILT", Cache(8))


def compiled_texts(patch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are compiled from now on."""
    texts: list[str] = []
    original = Host.compile

    def seen(host: Host, text: str, *, quick: bool = False) -> bytes:
        texts.append(text)
        return original(host, text, quick=quick)

    patch.setattr(Host, "compile", seen)
    return texts
