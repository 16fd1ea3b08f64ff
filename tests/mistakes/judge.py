"""What becomes of a program: a value, an error of accel's at its line, or an error of Python's own.

In: the text of a program. Out: `Verdict`. A raw error is Python's own if no frame of accel's is behind the program's last.
"""

from __future__ import annotations

import contextlib
import io
import linecache
import signal
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from types import FrameType
from typing import Literal, Never

import numpy as np

import accel as A
from tests.mistakes import values

FILE = "program.py"
USERS = (FILE, values.__file__)
PATIENCE = 20
"""Seconds of processor time that a program may take on one backend."""

Array = np.ndarray[tuple[int, ...], np.dtype[np.generic]]
Kind = Literal["value", "error", "python", "complaint", "long"]


class Late(BaseException):
    """A program takes longer than it may."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a program. hint: whether the error said what to do."""

    kind: Kind
    text: str = ""
    hint: bool = False


def judged(program: str, backends: tuple[str, ...] = ("llvm", "interpreter")) -> Verdict:
    """The verdict on a program, which must give the same on all backends.

    A foreign function is called by some of them, and others compute its fallback: each is then judged by itself.
    """
    if "foreign_acc" in program and len(backends) > 1:
        each = [judged(program, (backend,)) for backend in backends]
        return next((verdict for verdict in each if verdict.kind == "complaint"), each[0])
    verdicts: list[Verdict] = []
    results: list[object] = []
    for backend in backends:
        verdict, result = _outcome(program, backend)
        if verdict.kind != "value":
            if verdicts and verdict.kind == "error" and not verdict.text.startswith(A.AccelMemoryError.__name__):
                return Verdict("complaint", f"a value on {backends[0]}, on {backend} {verdict.text}")
            return verdict
        verdicts.append(verdict)
        results.append(result)
    if all(_same(results[0], result) for result in results):
        return verdicts[0]
    return Verdict("complaint", f"backends differ: {results}")


def _outcome(program: str, backend: str) -> tuple[Verdict, object]:
    linecache.cache[FILE] = (len(program), None, program.splitlines(keepends=True), FILE)
    names: dict[str, object] = {"np": np, "A": A, "W": values, "__name__": "program"}
    try:
        with _limited(), _silent(), A.using(backend=backend):
            exec(compile(program, FILE, "exec"), names)
            result = _value(names.get("result"))
    except A.AccelError as error:
        return _of_accel(error), None
    except Late as late:
        return Verdict("long", "".join(traceback.format_tb(late.__traceback__)[-6:])), None
    except (SyntaxError, values.Own):
        return Verdict("python"), None
    except Exception as error:
        return _raw(error), None
    return Verdict("value"), result


def _value(result: object) -> object:
    """What a program gives, computed where it is a program of accel's."""
    if isinstance(result, A.Acc):
        return A.run(result)
    if isinstance(result, A.Exp):
        return A.run(A.unit(result))
    return result


def _of_accel(error: A.AccelError) -> Verdict:
    text = f"{type(error).__name__}: {error.message}"
    if isinstance(error, A.AccelInternalError):
        return Verdict("complaint", str(error))
    if error.where is None or error.where.file != FILE:
        return Verdict("complaint", f"not at the program's line: {error}")
    if "object at 0x" in text or "<function" in text:
        return Verdict("complaint", f"an address in the text: {text}")
    return Verdict("error", text, error.hint is not None)


_OF_PROTOCOLS = (
    ("__getattr__", AttributeError),  # of names that begin with `_`
    ("__getitem__", KeyError),
    ("__getitem__", TypeError),
)
"""What Python asks of attributes and of mappings."""


def _raw(error: Exception) -> Verdict:
    """An error of Python's is one that the program's own line raises, or what that calls outside of accel."""
    files = (A.__path__[0] + "/", *USERS)
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    codes = [frame.f_code for frame in frames if frame.f_code.co_filename.startswith(files)]
    of_python = not codes or codes[-1].co_filename in USERS
    if of_python or (codes[-1].co_name, type(error)) in _OF_PROTOCOLS:
        return Verdict("python", f"{type(error).__name__}: {error}")
    places = "".join(traceback.format_tb(error.__traceback__)[-4:])
    return Verdict("complaint", f"{type(error).__name__}: {error}\n{places}")


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    def late(_: int, __: FrameType | None) -> Never:
        raise Late

    previous = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _same(left: object, right: object) -> bool:
    """Whether two backends gave the same, as far as that is arrays; elementary functions may differ in their last places."""
    ours, theirs = list(_arrays(left)), list(_arrays(right))
    return len(ours) == len(theirs) and all(map(_equal, ours, theirs))


def _arrays(result: object) -> Iterator[Array]:
    """The arrays of a result, in some order."""
    work = [result]
    while work:
        value = work.pop()
        if isinstance(value, tuple):
            work += value
        elif isinstance(value, np.ndarray):
            yield value


def _equal(left: Array, right: Array) -> bool:
    if left.dtype != right.dtype or left.shape != right.shape:
        return False
    if left.nbytes > 2**28 or left.dtype.hasobject:  # views of one element, or none of accel's
        return True
    if left.dtype.kind not in "fc":
        return left.tobytes() == right.tobytes()
    return bool(np.allclose(left, right, rtol=1e-3, atol=1e-3, equal_nan=True))
