"""A Python number takes the type of what it meets: a start that of the step as well.

Once: `enumFromStepN((3,), 1, x)` was an error for a float `x`, because 1 alone is an integer; so was the step 0.5 after it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped


def test_a_start_meets_its_step() -> None:
    half = A.the(A.use(np.array(0.5, np.float32)))
    assert untyped.run(A.enumFromStepN((3,), 1, half)).tolist() == [1.0, 1.5, 2.0]
    assert untyped.run(A.enumFromStepN((3,), 1, half)).dtype == np.float32
    assert untyped.run(A.enumFromStepN((3,), half, 2)).tolist() == [0.5, 2.5, 4.5]
    assert untyped.run(A.enumFromStepN((3,), 1, 0.5)).tolist() == [1.0, 1.5, 2.0]
    assert untyped.run(A.enumFromStepN((3,), A.constant(254, np.uint8), 1)).tolist() == [254, 255, 0]


def test_other_types_stay_apart() -> None:
    whole: Any = A.the(A.use(np.array(1, np.int32)))  # Any: these calls are wrong on purpose
    truth: Any = A.constant(True)
    with pytest.raises(A.AccelTypeError, match=r"the step of enumFromStepN must be i32, got the Python float 0.5"):
        A.enumFromStepN((3,), whole, 0.5)
    with pytest.raises(A.AccelTypeError, match="enumFromN counts numbers, not bool"):
        A.enumFromN((3,), truth)
