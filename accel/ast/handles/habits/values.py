"""What Python asks of an `Exp` that only a value has: its truth, its length, a number.

Out: each raises `AccelStagingError` that says what to write instead. What nothing that users hold may do, `Handle` refuses.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from accel.ast.handles.habits.choices import instead_of_truth
from accel.errors import AccelAttributeError, AccelStagingError, AccelTypeError, here

if TYPE_CHECKING:
    from typing_extensions import TypeIs  # in Python since 3.13


class Handle:
    """What users hold of a program: no function, and nothing that is changed."""

    __slots__ = ()

    if not TYPE_CHECKING:  # for mypy there are no such things

        def __call__(self, *given: object, **named: object) -> NoReturn:
            """Say what is called instead."""
            hint = "an element is read by `xs[i]`; a function is called by `A.map(f, xs)` at each, and by `f(e)` at one"
            raise AccelTypeError(f"an {type(self).__name__} is no function, and cannot be called", here(), hint=hint)

        def __delitem__(self, index: object) -> NoReturn:
            hint = (
                "fewer elements: `A.take(n, xs)`, `A.drop(n, xs)`, `A.filter(p, xs)`; fewer items: `A.lift(p[0], p[2])`"
            )
            raise AccelTypeError(f"an {type(self).__name__} is not changed", here(), hint=hint)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        hint = "what it should be is another one: `A.reshape(shape, xs)`, `A.map(lambda x: A.cast(x, np.float32), xs)`"
        raise AccelAttributeError(f"the {name} of an {type(self).__name__} is not changed", here(), hint=hint)

    def __delattr__(self, name: str) -> NoReturn:
        hint = "what it should be is another one"
        raise AccelAttributeError(f"the {name} of an {type(self).__name__} is not deleted", here(), hint=hint)


def is_function(value: object) -> TypeIs[Callable[..., Any]]:  # Any: of whatever signature
    """Whether users may pass it as a function: what stands for a value is none, though it says so itself when it is called."""
    return callable(value) and not isinstance(value, Handle)


class WithoutValue(Handle):
    """Something that stands for a value which is not there while the program is built."""

    __slots__ = ()

    if not TYPE_CHECKING:

        def __setitem__(self, index: object, value: object) -> NoReturn:
            hint = "a new tuple has it: `A.lift(p[0], value)`"
            raise AccelTypeError("an Exp is not changed", here(), hint=hint)

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
