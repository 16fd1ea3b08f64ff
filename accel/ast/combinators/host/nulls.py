"""Nulls of other libraries: Arrow, Polars and pandas give NumPy a NaN for one, and floats for integers, without a word.

In: any object. Out: how many nulls it has, as far as its own kind of column knows nulls: a NaN among plain floats is none.
"""

from __future__ import annotations

import numpy as np

from accel.ast.handles.literals import describe
from accel.errors import AccelTypeError, Where
from accel.support.source import texts


def require_no_nulls(value: object, where: Where | None) -> None:
    """Raises `AccelTypeError` for a column with nulls, or a table with such a column; and whatever the object itself raises."""
    count = _nulls(value)
    if count:
        (text,) = texts("use", where, ("value",))
        filled, there = ("fillna(0)", "notna()") if hasattr(value, "fillna") else ("fill_null(0)", "is_not_null()")
        there = "is_valid()" if hasattr(value, "is_valid") else there
        hint = f"fill them, `A.use({text}.{filled})`, or say where they are: `A.use(({text}.{filled}, {text}.{there}))`"
        raise AccelTypeError(f"use takes arrays without nulls, got {describe(value)} with {count}", where, hint=hint)


def _nulls(value: object) -> int:
    counted = _counted(value)
    return sum(_counted(column) or 0 for column in _columns(value)) if counted is None else counted


def _counted(value: object) -> int | None:
    """Each library has its own way to count; None for what does not tell."""
    count = getattr(value, "null_count", None)  # a column of Arrow, or a column or table of Polars
    if callable(count):
        count = count()
    if count is not None:
        return int(np.asarray(count).sum())
    if not isinstance(getattr(value, "dtype", np.dtype), np.dtype | type) and hasattr(value, "isna"):
        return int(np.asarray(value.isna()).sum())  # a column of pandas' own types: in NumPy's, NaNs are numbers
    return None


def _columns(value: object) -> list[object]:
    """Those of a table of pandas or Arrow."""
    columns, items = getattr(value, "columns", None), getattr(value, "items", None)
    if hasattr(value, "isna") and columns is not None and callable(items):
        return [column for _, column in items()]
    return columns if isinstance(columns, list) else []
