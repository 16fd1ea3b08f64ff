"""What the benchmarks call: it need not be installed, and no more is known of it."""

from typing import Any

def __getattr__(name: str) -> Any: ...  # Any: its arrays take part in arithmetic of all kinds
