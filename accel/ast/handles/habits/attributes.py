"""Attributes that handles lack: an `AttributeError`, so that `hasattr` works, which says what a user of NumPy's writes.

In: the name and the handle's type. Out: the error.
"""

from __future__ import annotations

from accel.ast.tree.types import ArrayType, ElementType, fields_of
from accel.errors import AccelAttributeError, here
from accel.support.numpy_names import ARRAY_ATTRIBUTES, SCALAR_ATTRIBUTES, attribute_hint
from accel.support.source import attribute_call


def of_an_exp(name: str, kind: ElementType) -> AttributeError:
    """An `Exp` of that type has no such attribute."""
    if name.startswith("_"):  # Python and NumPy ask for such names
        return AttributeError(name)
    where, hint = here(), "functions take it: `A.sqrt(e)`; an item of a tuple is `e[0]`"
    if name in (fields := fields_of(kind)):
        value = attribute_call(where)[0] or "e"
        hint = f"write `{value}[{fields.index(name)}]`, or `R.{name}({value})` with a record class `R`"
    elif name in SCALAR_ATTRIBUTES:
        value, given = attribute_call(where)
        hint = f"write `{attribute_hint(SCALAR_ATTRIBUTES, name, 'e', value, given)}`"
    return AccelAttributeError(f"an Exp has no attribute {name!r}", where, hint=hint)


def of_an_acc(name: str, kind: ArrayType) -> AttributeError:
    """An `Acc` of that type has no such attribute."""
    if name.startswith("_"):
        return AttributeError(name)
    where, hint = here(), "functions take it: `A.sum(xs)`, `A.map(f, xs)`"
    if name in ARRAY_ATTRIBUTES:
        value, given = attribute_call(where)
        hint = f"write `{attribute_hint(ARRAY_ATTRIBUTES, name, 'xs', value, given)}`"
    elif name in kind.fields:
        hint = f"write `A.map(R.{name}, xs)` with a record class `R`, or take `A.unzip(xs)` apart"
    return AccelAttributeError(f"an Acc has no attribute {name!r}", where, hint=hint)
