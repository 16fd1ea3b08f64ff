"""What measurements found, kept on disk: seconds, by all that decides them. An entry that says anything else is none."""

from __future__ import annotations

import json
from math import isfinite

from accel.backends.measure.timing import Times, Ways
from accel.backends.protocol import Backend
from accel.ir.nodes import Program
from accel.ir.text import text as loops_text
from accel.schedule.templates.ways import ProgramSchedules
from accel.schedule.templates.ways import text as schedules_text
from accel.support.disk import Store, digest
from accel.support.own_files import own_files

TIMES = Store("ways", entries=4096, size=1 << 24)
"""The measurements of this machine."""


def key(backend: Backend, program: Program, schedules: ProgramSchedules, sizes: str) -> bytes:
    """The program's text and its schedules', what it runs on, the class of its arguments, and accel's own files."""
    said = f"{loops_text(program)}\n{schedules_text(schedules)}"
    ways = digest(said.encode(), 32).hex()
    return f"{own_files()}\n{backend.name}\n{backend.processor}\n{sizes}\n{ways}".encode()


def keep(at: bytes, ways: Ways, found: Times) -> None:
    """Keep what was found."""
    TIMES.put(at, json.dumps([found[nest] for nest in ways], separators=(",", ":")).encode())


def kept(at: bytes, ways: Ways) -> Times | None:
    """What was kept for these ways."""
    content = TIMES.get(at)
    if content is None:
        return None
    try:
        entry = json.loads(content)
        every = [_seconds(some, len(each)) for some, each in zip(entry, ways.values(), strict=True)]
    except (ValueError, TypeError, RecursionError):  # an entry of nobody's making
        return None
    return dict(zip(ways, every, strict=True))


def _seconds(value: object, count: int) -> tuple[float | None, ...]:
    """A list out of an entry. Raises ValueError unless it is one of `count` times, the first of which is known."""
    if not isinstance(value, list) or len(value) != count or value[0] is None:
        raise ValueError("a time for each way is listed here")
    if any(each is not None and (type(each) is not float or not isfinite(each) or each < 0) for each in value):
        raise ValueError("a time is a number of seconds")
    return tuple(value)
