"""Values that users gave, in the words of an error: short, and without running any code of theirs.

In: any object. Out: one line of text.
"""

from __future__ import annotations

from types import EllipsisType, FunctionType, NoneType

import numpy as np

_PLAIN = (bool, NoneType, EllipsisType)
_BITS = 256
"""Longer integers are not written out; of very long ones Python refuses to."""

_LETTERS = 60
_ITEMS = 6
_DEPTH = 2


def shown(value: object, depth: int = _DEPTH) -> str:
    """A value as Python writes it, if that is short and Python's own, NumPy's or accel's to write; else its kind."""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, np.generic):
        return repr(value)
    if kind.__module__.startswith("accel.") and kind.__repr__ is not object.__repr__:
        return repr(value)
    if isinstance(value, (int, float, complex)):
        return number(value)
    if kind in (str, bytes):
        text = repr(value)
        return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 2]}…{text[0 if kind is str else 1]}"
    if isinstance(value, (tuple, list)) and kind in (tuple, list) and depth:
        items = [shown(item, depth - 1) for item in value[:_ITEMS]] + ["…"] * (len(value) > _ITEMS)
        inside = ", ".join(items)
        return f"[{inside}]" if kind is list else f"({inside}{',' * (len(items) == 1)})"
    return kind_of(value)


def number(value: complex) -> str:
    """A number of Python, or of a class made of one, as Python writes it; of very long integers the power of two below."""
    if isinstance(value, float):
        return float.__repr__(value)
    if not isinstance(value, int):
        return complex.__repr__(value)
    bits = int.bit_length(value)
    return int.__repr__(value) if bits <= _BITS else f"{'-' * int.__lt__(value, 0)}2**{bits - 1}…"


def kind_of(value: object) -> str:
    """What kind of object a value is: "a str", "an Exp", "the class float"."""
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if isinstance(value, FunctionType):
        return "a function"
    name = type(value).__name__
    return f"{'an' if name[:1] in 'AEIOUaeiou' else 'a'} {name}"
