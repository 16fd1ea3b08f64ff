"""The words that every frame begins with, by their place."""

from __future__ import annotations

FAILED, FAULTS, THREADS, PARTIALS, CHUNK, RECORDS, LATER, STREAMING = range(8)
"""Words that every frame begins with: set if a check failed; where to write which; participants; what `chunks.py` and
`schedule.py` say; where long segments are noted, or null (`loops/put_off.py`); whether what is written is too large to stay in
caches."""
