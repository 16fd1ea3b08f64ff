"""`run` and `runN` of which mypy does not know what they give, and all of accel without types, for lambdas in lambdas.

To find it, mypy tries a hundred types, and the arguments with each: for a lambda that takes seconds.
`tests/typing` tests the types.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import accel as A

# Any: what is said above.
accel: Any = A
run: Callable[..., Any] = A.run
runN: Callable[..., Any] = A.runN
explain: Callable[..., Any] = A.explain
