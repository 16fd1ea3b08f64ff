"""What Python asks of an `Exp` that only a value has: its truth, its length, a number.

Out: each raises `AccelStagingError` that says what to write instead.
"""

from __future__ import annotations

from typing import NoReturn

from accel.ast.handles.habits.choices import instead_of_truth
from accel.errors import AccelStagingError, here


class WithoutValue:
    """Something that stands for a value which is not there while the program is built."""

    __slots__ = ()

    def __bool__(self) -> NoReturn:
        hint = instead_of_truth(here()) or "write `A.cond(c, a, b)`, `&`, `|` or `~`"
        raise _no_value("has no truth value while the program is built", hint)

    def __len__(self) -> NoReturn:
        raise _no_value("has no length", "write `A.length(xs)` or `A.size(xs)` for arrays, `A.unlift(p)` for tuples")

    def __iter__(self) -> NoReturn:
        raise _no_value("cannot be iterated over", "take a tuple apart by `a, b = A.unlift(p)`")

    def __contains__(self, item: object) -> NoReturn:
        raise _no_value("does not support `in`", "compare the items: `(p[0] == x) | (p[1] == x)`")

    def __float__(self) -> NoReturn:
        hint = "write `A.sqrt(e)` for `math.sqrt(e)`, `A.toFloating(e, np.float64)` for `float(e)`, or `A.run` first"
        raise _no_value("has no value as a float yet", hint)

    def __int__(self) -> NoReturn:
        hint = "write `A.truncate(e)` or `A.cast(e, np.int64)`, or `A.run` first"
        raise _no_value("has no value as an int yet", hint)

    def __trunc__(self) -> NoReturn:
        raise _no_value(
            "has no value to truncate yet", "write `A.truncate(e)`; as a float, `A.truncate(e, np.float64)`"
        )

    def __round__(self, digits: object = None) -> NoReturn:
        raise _no_value("has no value to round yet", "write `A.round(e)`; as a float, `A.round(e, np.float64)`")

    def __format__(self, specification: str) -> str:
        if specification:
            hint = "an empty format shows its expression; `A.run` gives its value"
            raise _no_value("has no value to format yet", hint)
        return repr(self)

    def __index__(self) -> NoReturn:
        raise _no_value("cannot index a Python sequence", "put the sequence into an array: `A.use(array)[e]`")

    def __array__(self, dtype: object = None, copy: object = None) -> NoReturn:
        hint = (
            "write `A.use(array)[e]` for `array[e]`, `A.cond(c, x, y)` for `np.where`; its value is `A.run(A.unit(e))`"
        )
        raise _no_value("cannot become a NumPy array", hint)


def _no_value(what: str, hint: str) -> AccelStagingError:
    return AccelStagingError(f"an Exp {what}", here(skip=1), hint=hint)
