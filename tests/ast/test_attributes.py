"""An attribute that NumPy's arrays have is refused with what to write instead; `hasattr` and copies of handles work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A

XS: Any = A.use(np.ones((2, 3)))  # Any: mypy refuses these attributes, too


def test_a_method_of_numpy_says_what_to_write() -> None:
    with pytest.raises(AttributeError, match=r"an Acc has no attribute 'sum': write `A.sum\(xs\)`"):
        XS.sum()


def test_another_attribute_is_missing() -> None:
    assert not hasattr(XS, "nothing_of_the_kind")
    with pytest.raises(AttributeError, match=r"an Acc has no attribute 'nothing_of_the_kind'$"):
        XS.nothing_of_the_kind  # noqa: B018  # the access is what is tested
