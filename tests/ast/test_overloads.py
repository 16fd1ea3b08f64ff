"""`accel/ast/combinators/overloads.pyi` is what `tools/overloads.py` writes."""

from __future__ import annotations

from tools.overloads import TARGET, generate


def test_the_file_is_up_to_date() -> None:
    assert TARGET.read_text(encoding="utf-8") == generate(), "run `python tools/overloads.py`"
