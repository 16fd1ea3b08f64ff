"""The words that every frame begins with, by their place."""

from __future__ import annotations

FAILED, FAULTS, THREADS, PARTIALS, CHUNK, RECORDS, STREAMING = range(7)
"""Words that every frame begins with: set if a check failed; where to write which; participants; what
`schedule.py` says; whether what is written is too large to stay in caches."""
