"""Programs that are explained in tests: from files that hold what should confuse a page, and large ones."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import accel as A
from tests.differential.check import loaded
from tests.differential.data import inputs
from tests.differential.generate import generate
from tests.differential.programs import Program
from tests.differential.subjects import case

Floats = A.Acc[A.Vector[np.float64]]

HOSTILE = """\
import accel as A
import numpy as np

def hostile(xs: "A.Acc[A.Vector[np.float64]]"):
    ys = A.map(lambda x: x * 2, xs, ) # </script><script>document.title = 'broken'</script> <!-- " & &lt; \\\\ \\N %%{ `
    "<img src=x onerror=alert(1)>"; total = A.the(A.fold(A.add, 0, ys)); '"]; }'
    return A.map(lambda x: x / total, ys if "</pre></section><h1>" else "\\"\\\\ ]]> %% end \\u2028")
"""
"""Comments and strings on the lines of calls that end scripts, elements, strings and graphs, if nobody escapes them."""

HOSTILE_NAME = 'a"b<i>c&amp;d.py'


def hostile(folder: Path) -> Callable[..., Any]:  # Any: what the file holds is known at run time only
    """The function of a file whose name is as bad as its lines."""
    path = folder / HOSTILE_NAME
    path.write_text(HOSTILE, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("tests_hostile", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    function: Callable[..., Any] = module.hostile
    return function


def long_program(length: int) -> Callable[[Floats], Floats]:
    """Maps, with a sum that all wait for after each seventh."""

    def program(xs: Floats) -> Floats:
        for number in range(length):
            xs = A.map(lambda x, number=number: x * 2.0 + number, xs)  # type: ignore[misc]  # a default in a lambda
            if number % 7 == 3:
                total = A.fold(A.add, 0.0, xs)
                xs = A.map(lambda x, total=total: x / A.the(total), xs)  # type: ignore[misc]  # as above
        return xs

    return program


def doubling(xs: A.Acc[A.Vector[np.int64]]) -> A.Acc[A.Vector[np.int64]]:
    """Control flow with loops of its own."""
    return A.awhile(
        lambda ys: A.map(lambda s: s < 100, A.fold(A.add, 0, ys)), lambda ys: A.map(lambda y: y * 2, ys), xs
    )


def built(seed: int, step: int) -> Program:
    """A random program that is not refused when it is built: of `seed`, or the next one `step` seeds further."""
    program = generate(seed)
    try:
        case(loaded(program), inputs(program))
    except A.AccelError:
        return built(seed + step, step)
    return program
