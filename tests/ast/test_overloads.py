"""The stubs of types for each rank are what the programs in `tools` write."""

from __future__ import annotations

from types import ModuleType

import pytest

from tools import arities, overloads, random_types


@pytest.mark.parametrize("tool", [arities, overloads, random_types], ids=lambda tool: tool.__name__)
def test_the_file_is_up_to_date(tool: ModuleType) -> None:
    assert tool.TARGET.read_text(encoding="utf-8") == tool.generate(), f"run `python -m {tool.__name__}`"
