"""`accel/running.pyi` is what `tools/running.py` writes."""

from __future__ import annotations

from tools.running import TARGET, source


def test_running_is_up_to_date() -> None:
    assert TARGET.read_text() == source(), "run `python -m tools.running`"
