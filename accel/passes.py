"""Passes as values, and the driver that runs one after the other: it times each, verifies what it gives, and tells who listens.

Here alone the environment is asked whether trees are verified (`ACCEL_VERIFY=1`).
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from functools import partial
from typing import Generic, TypeVar

from accel.support.dataclass import dataclass

_LOG = logging.getLogger(__name__)

Given = TypeVar("Given")
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Pass(Generic[Given, Made]):
    """One step of the compiler.

    name: that of the form which it gives, such as "ir".
    run: the step itself.
    verify: raises `AccelInternalError` unless a tree of that form is well formed.
    show: such a tree as text.
    """

    name: str
    run: Callable[[Given], Made]
    verify: Callable[[Made], None]
    show: Callable[[Made], str]


@dataclass(frozen=True, slots=True)
class Step:
    """A pass that has run: how long that took, and, for who asks, the text of what it gave."""

    name: str
    seconds: float
    show: Callable[[], str]


Listener = Callable[[Step], None]


def log(step: Step) -> None:
    """Write a line for who debugs: `logging.getLogger("accel").setLevel(logging.DEBUG)`."""
    _LOG.debug("%s in %.1f ms", step.name, step.seconds * 1e3)


def through(step: Pass[Given, Made], given: Given, listen: Listener = log) -> Made:
    """What a pass makes of something. With `ACCEL_VERIFY=1` its verifier looks at that first."""
    start = time.perf_counter()
    made = step.run(given)
    seconds = time.perf_counter() - start
    if os.environ.get("ACCEL_VERIFY") == "1":
        step.verify(made)
    listen(Step(step.name, seconds, partial(step.show, made)))
    return made
