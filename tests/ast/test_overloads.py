"""The stubs of types for each rank are what the programs in `tools` write."""

from __future__ import annotations

from tools import overloads, random_types


def test_the_file_is_up_to_date() -> None:
    assert overloads.TARGET.read_text(encoding="utf-8") == overloads.generate(), "run `python tools/overloads.py`"


def test_the_types_of_random_numbers_are_up_to_date() -> None:
    target = random_types.TARGET
    assert target.read_text(encoding="utf-8") == random_types.generate(), "run `python -m tools.random_types`"
