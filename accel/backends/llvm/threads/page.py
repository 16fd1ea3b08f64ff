"""The page of state that the threads of a process share, as generated code knows it: `@page`, and at which byte what stands.

It begins with its epoch, an i32 that each job makes greater, on which workers sleep.
What different threads write in a job stands 64 bytes apart at least, in lines of the cache of its own.
"""

from __future__ import annotations

MOST = 256
"""Participants that the page has room for."""

STATE_AT = 64
"""An i64: whether workers may come in, in its lowest bit, and in the others how many are inside."""

BUSY_AT = 128
"""An i32: whether there is a job."""

FUNCTION_AT, FRAME_AT, CHUNK_AT, COUNT_AT = 192, 200, 208, 216
"""The job: its function and frame, how many of its numbers are a chunk, and how many participants it has."""

SLEEPERS_AT = 256
"""An i32: how many workers sleep."""

STARTED_AT = 320
"""An i64: how many workers were made."""

FORKS_AT = 392
"""An i64: how many forks lie before this process."""

ENDED_AT = 400
"""An i64: when a job ended last."""

SCRATCH_AT = 408
"""A pointer: the memory that a launch has worked in, kept for the next one (`scratch_text.py`)."""

WOKEN_AT = 448
"""An i32: on which processor the caller was when it woke or made workers."""

LOOKED_AT, LOOKED = 512, 64
"""So many i64: when threads looked for signals last (`signals_text.py`). Threads whose states share one look later, as long as
both run kernels."""

RANGES_AT, RANGE_BITS = 1024, 6
"""For participant t, t << RANGE_BITS bytes on: two i64, where the rest of its range begins and ends."""

PAGE_BYTES = RANGES_AT + (MOST << RANGE_BITS)
