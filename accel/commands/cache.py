"""`python -m accel cache`: where plans are kept between processes, how many, and how to be rid of them.

What was measured (`rearrange="measure"`) is kept beside them, and removed with them.
"""

from __future__ import annotations

from accel.backends.measure.kept import TIMES
from accel.ilp.cache.plan_cache import PLANS
from accel.support.disk import Size


def cache(clear: bool) -> int:
    """Print where the plans are and how much they take; first remove them if asked."""
    if clear:
        before = PLANS.size()
        PLANS.clear()
        TIMES.clear()
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
