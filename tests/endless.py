"""Programs with loops that never end, and what interrupts them."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

HEAD = """
import signal
import numpy as np
import accel as A

signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest's workers ignore it, and so would their children

def turn(limit):
    return A.while_(lambda i: i < limit, lambda i: (i + 1) % 2, A.constant(0, np.int64))

def each(limits):
    return A.map(turn, limits)

def summed(limits):
    return A.fold(lambda x, y: x - turn(A.max(x, y)), 0, limits)
"""
"""What such programs begin with: `turn` ends unless its limit is greater than 1."""


def end_by_interrupt(code: str, after: float = 0.3) -> None:
    """Starts a program, interrupts it `after` seconds since it said that it is ready, and sees that it says that it was
    interrupted."""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        try:
            child.wait(after)  # until it is in the loop
            pytest.fail("the loop has an end")
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGINT)
        try:
            assert child.communicate(timeout=60)[0] == "interrupted\n"
        finally:
            child.kill()
