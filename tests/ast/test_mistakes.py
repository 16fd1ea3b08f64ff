"""Every mistake raises an error of its class that names the user's line with a caret and says what to do.

The whole messages are in tests/golden/test_mistakes, with line numbers left out.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable

import pytest

from accel.errors import AccelError
from tests.ast import habits, mistakes, numpy_habits

CASES = {
    name: function
    for module in (mistakes, habits, numpy_habits)
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and not inspect.signature(function).parameters
}
PLACE = re.compile(r"^  \S*/(\w+\.py):\d+ in ", re.MULTILINE)


@pytest.mark.parametrize("name", CASES)
def test_message(name: str, golden: Callable[[str], None]) -> None:
    with pytest.raises(AccelError) as caught:
        CASES[name]()
    error = caught.value
    kind = type(error)
    text = PLACE.sub(r"  \1 in ", str(error))
    golden(f"{kind.__name__} ({kind.__mro__[2].__name__})\n{text}")
    assert error.where is not None
    assert error.where.file == inspect.getsourcefile(CASES[name])


@pytest.mark.parametrize("name", CASES)
def test_message_points_into_the_function(name: str) -> None:
    with pytest.raises(AccelError) as caught:
        CASES[name]()
    where = caught.value.where
    assert where is not None
    source, first = inspect.getsourcelines(CASES[name])
    assert first <= where.line < first + len(source)
