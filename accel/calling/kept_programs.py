"""Programs that this machine has compiled before: machine code on disk, beside the plans, found by a program's structure.

A process that finds a program here needs no other stage: it neither labels nor plans nor generates code. What it finds is what
this accel, of these files, wrote on this processor under these settings; `accel/support/disk.py` says how entries are told from
what others may have put there.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from dataclasses import fields
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from accel.ast.tree.nodes import Key
from accel.ast.tree.types import ArrayType, MaybeType, RecordType, TupleType
from accel.settings import Settings
from accel.support.disk import Store
from accel.support.forks import load
from accel.support.own_files import own_files

if TYPE_CHECKING:
    from accel.backends.llvm.calls.compiled import Compiled
    from accel.backends.protocol import Executable

PROGRAMS = Store("programs", entries=4096, size=1 << 28)
"""The compiled programs of this machine."""

_PLAIN = frozenset({int, str, bool, bytes, type(None)})


class _NoText(Exception):
    """Something in a program means nothing to another process."""


def recall(key: Key, settings: Settings, whole: Callable[[], Executable]) -> tuple[tuple[int, ...], Compiled] | None:
    """What was kept of a program of this structure: which arrays it takes, and its executable. None if nothing was.

    `whole` makes the program in the long way, for where something is not as usual.
    """
    found = _key(key, settings)
    content = None if found is None else PROGRAMS.get(found)
    if content is None:
        return None
    load("accel.backends.llvm.calls.compiled")
    from accel.backends.llvm.calls.compiled import recalled

    inputs, _, code = content.partition(b"\n")
    try:
        return tuple(map(int, inputs.split())), recalled(code, whole)
    except (ValueError, TypeError, KeyError, RuntimeError):  # nobody's entry, or code that cannot be linked here
        return None


def keep(key: Key, settings: Settings, inputs: tuple[int, ...], code: Callable[[], bytes]) -> None:
    """Keeps a program's code, if it means something to other processes."""
    found = _key(key, settings)
    if found is not None and PROGRAMS.path() is not None:
        PROGRAMS.put(found, b"\n".join([b" ".join(b"%d" % number for number in inputs), code()]))


def _key(key: Key, settings: Settings) -> bytes | None:
    is_usual = settings.sizes == "nominal" and settings.rearrange == "model" and settings.checks != "all"
    if settings.backend != "llvm" or not is_usual or not isinstance(settings.cost, str):
        return None
    if PROGRAMS.path() is None:
        return None
    try:
        structure = " ".join(map(_text, key))
    except _NoText:
        return None
    values = [(field.name, getattr(settings, field.name)) for field in fields(Settings) if field.name != "threads"]
    load("accel.backends.llvm.threads.pool")
    from accel.backends.llvm.threads.pool import participants

    return "\n".join([own_files(), _machine(), str(participants(settings.threads)), repr(values), structure]).encode()


def _text(part: object) -> str:
    kind = type(part)
    if kind in _PLAIN or kind in (ArrayType, TupleType, RecordType, MaybeType):
        return repr(part)
    if isinstance(part, type):
        return f"{part.__module__}.{part.__qualname__}"
    if isinstance(part, Enum):
        return f"{kind.__qualname__}.{part.name}"
    if isinstance(part, tuple):
        return f"({' '.join(map(_text, part))})"
    raise _NoText


@cache
def _machine() -> str:
    """What machine code depends on beside the program."""
    load("accel.backends.llvm.machine.identity")
    from accel.backends.llvm.machine.identity import identity

    pool = os.environ.get("ACCEL_POOL", "")
    return f"{identity()}\nNumPy {np.__version__} Python {platform.python_version()} pool {pool}"
