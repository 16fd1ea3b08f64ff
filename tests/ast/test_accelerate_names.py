"""What Accelerate's users are told to write for names that accel lacks is accel, and no such name is there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel.support.accelerate_names import ACCELERATE_NAMES

XS = np.arange(3.0)
SCOPE: dict[str, Any] = {
    "A": A,
    "np": np,
    "array": XS,
    "xs": A.use(XS),
    "pair": (A.use(XS), A.use(XS)),
    "p": A.constant(True),
    "z": A.constant(1j),
    **{name: A.constant(2.5) for name in "xy"},
    **{name: A.constant(2) for name in "ijk"},
}


@pytest.mark.llvm
@pytest.mark.parametrize("name", ACCELERATE_NAMES)
def test_the_name_is_answered_by_what_to_write(name: str) -> None:
    assert name not in A.__all__
    with pytest.raises(A.AccelAttributeError) as caught:
        getattr(A, name)
    assert caught.value.hint == f"write `{ACCELERATE_NAMES[name]}`"
    eval(ACCELERATE_NAMES[name], SCOPE)
