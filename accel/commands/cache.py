"""`python -m accel cache`: where plans are kept between processes, how many, and how to be rid of them.

Compiled programs and what was measured (`rearrange="measure"`) are kept beside them, and removed with them.
"""

from __future__ import annotations

from accel.backends.llvm.machine.kept_objects import OBJECTS
from accel.backends.measure.kept import TIMES
from accel.ilp.cache.plan_cache import PLANS
from accel.kept_programs import PROGRAMS
from accel.support.disk import Size


def cache(clear: bool) -> int:
    """Print where the plans are and how much they take; first remove them if asked."""
    if clear:
        before = PLANS.size()
        PLANS.clear()
        for other in (PROGRAMS, OBJECTS, TIMES):
            other.clear()
        print(f"removed {_text(before)}")
    print(summary())
    return 0


def summary() -> str:
    """The directory, and what is in it, on one line."""
    trouble = PLANS.trouble()
    return f"plans are kept in memory only: {trouble}" if trouble else f"{PLANS.path()}: {_text(PLANS.size())}"


def _text(size: Size) -> str:
    plans = "1 plan" if size.entries == 1 else f"{size.entries} plans"
    return f"{plans}, {size.bytes / 1024:.1f} KiB"
