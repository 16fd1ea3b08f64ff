"""Writes `accel/running.py`: the typed `run` and `runN`, one overload per number of arguments and results.

python -m tools.running          rewrites the file
A test holds that the file is what this program writes.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).resolve().parent.parent / "accel" / "running.py"
ARGUMENTS, RESULTS = 6, 4

HEAD = '''"""The typed entrances `run` and `runN`. Written by `tools/running.py`: change that, not this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np
from typing_extensions import Unpack

from accel.ast.acc import Acc, Array
from accel.execution import RunN, check_function, run_nodes
from accel.settings import Given

'''

RUN_DOC = '''
    """Evaluate an `Acc`, or a nested tuple of them together (what they share is computed once).

    Gives one fresh C-contiguous NumPy array per `Acc`; for arrays of tuples, a tuple of arrays. `given` are settings for this
    call, see `using`. Raises `AccelShapeError`, `AccelIndexError` and `AccelValueError` for what the data break, and
    `AccelDeviceError` if the backend is missing.
    """
    return run_nodes(a, given)
'''

RUNN_DOC = '''
    """Compile a function over `Acc`s, to be called with NumPy arrays; also a decorator.

    Compiled once for each combination of ranks and dtypes that it is called with; sizes do not matter. `given` are settings
    for all its calls, see `using`. A call raises what `run` raises, and `AccelTypeError` if an argument is not what the
    function is annotated with.
    """
    return RunN(check_function(f), given)
'''


def nd(i: str) -> str:
    """The NumPy type of argument or result `i`."""
    return f"np.ndarray[S{i}, np.dtype[G{i}]]"


def acc(i: str) -> str:
    """The `Acc` type of argument or result `i`."""
    return f"Acc[Array[S{i}, G{i}]]"


def tupled(parts: list[str]) -> str:
    """One part alone, several as a tuple type."""
    return parts[0] if len(parts) == 1 else f"tuple[{', '.join(parts)}]"


def source() -> str:
    """The text of `accel/running.py`."""
    arguments = [str(i) for i in range(1, ARGUMENTS + 1)]
    results = ["abcd"[i] for i in range(RESULTS)]
    lines = [HEAD.rstrip("\n"), ""]
    for i in arguments + results:
        lines += [f'S{i} = TypeVar("S{i}", bound=tuple[Any, ...])', f'G{i} = TypeVar("G{i}", bound=np.generic)']
    lines += ["", ""]
    for n in range(1, RESULTS + 1):
        given, made = tupled([acc(i) for i in results[:n]]), tupled([nd(i) for i in results[:n]])
        lines += ["@overload", f"def run(a: {given}, **given: Unpack[Given]) -> {made}: ..."]
    for n in (2, 3):
        element = f"tuple[{', '.join('G' + i for i in results[:n])}]"
        made = tupled([f"np.ndarray[Sa, np.dtype[G{i}]]" for i in results[:n]])
        lines += ["@overload", f"def run(a: Acc[Array[Sa, {element}]], **given: Unpack[Given]) -> {made}: ..."]
    lines += ["@overload", "def run(a: Acc[Any] | tuple[Any, ...], **given: Unpack[Given]) -> Any: ..."]
    lines += ["def run(a: object, **given: Unpack[Given]) -> object:" + RUN_DOC, ""]
    for k in range(1, ARGUMENTS + 1):
        for n in range(1, RESULTS + 1):
            inputs, hosts = ", ".join(acc(i) for i in arguments[:k]), ", ".join(nd(i) for i in arguments[:k])
            given, made = tupled([acc(i) for i in results[:n]]), tupled([nd(i) for i in results[:n]])
            lines += [
                "@overload",
                f"def runN(f: Callable[[{inputs}], {given}], **given: Unpack[Given]) -> RunN[[{hosts}], {made}]: ...",
            ]
    lines += ["@overload", "def runN(f: Callable[..., Any], **given: Unpack[Given]) -> RunN[..., Any]: ..."]
    lines += ["def runN(f: object, **given: Unpack[Given]) -> RunN[..., Any]:" + RUNN_DOC]
    return formatted("\n".join(lines))


def formatted(text: str) -> str:
    """`text` as ruff formats it."""
    command = [sys.executable, "-m", "ruff", "format", "--stdin-filename", str(TARGET), "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    TARGET.write_text(source())
