"""What mypy accepts, accel accepts: every function of `cases/accepted*.py` is called with arguments of its annotated types."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
import pytest

import accel as A
from tests.typing.cases import (
    accepted,
    accepted_devices,
    accepted_names,
    accepted_products,
    accepted_random,
    accepted_segments,
    accepted_stencils,
)

POLYMORPHIC = {"rowsum", "square", "normalise", "first_below_last"}  # their arguments are of any rank; others call them
FUNCTIONS = {
    name: function
    for module in (
        accepted,
        accepted_devices,
        accepted_names,
        accepted_products,
        accepted_random,
        accepted_segments,
        accepted_stencils,
    )
    for name, function in inspect.getmembers(module, inspect.isfunction)
    if function.__module__ == module.__name__ and name not in POLYMORPHIC
}


def host(shape: Any, element: Any) -> Any:
    """An array of ones, 4 in every direction; of a tuple, one for each item."""
    if get_origin(element) is tuple:
        return tuple(host(shape, item) for item in get_args(element))
    return np.ones((4,) * len(get_args(shape)), element)


def argument(kind: Any) -> Any:
    """A value of an annotated type."""
    if kind is int:
        return 4
    if get_origin(kind) is A.Acc:
        return A.use(host(*get_args(get_args(kind)[0])))
    if get_origin(kind) is A.Exp:
        return A.the(A.use(host(tuple[()], get_args(kind)[0])))
    alias = get_origin(kind)
    if hasattr(alias, "__value__"):  # NumPy's alias where Python has a statement for these, as that of any shape
        kind = alias.__value__[get_args(kind)]
    shape, dtype = get_args(kind)  # an ndarray
    shape = getattr(shape, "__value__", shape)
    return np.ones((4,) * (1 if Ellipsis in get_args(shape) else len(get_args(shape))), get_args(dtype)[0])


@pytest.mark.llvm
@pytest.mark.parametrize("name", FUNCTIONS)
def test_program_builds(name: str) -> None:
    function: Callable[..., object] = FUNCTIONS[name]
    hints = get_type_hints(function)
    hints.pop("return")
    function(*(argument(kind) for kind in hints.values()))
