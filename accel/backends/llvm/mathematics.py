"""LLVM text for the elementary functions.

In: one of the operators of `ELEMENTARY` and floats of one type. Out: the function's value in every lane; a lane's bits
depend on its operands only, not on the number of lanes nor on its position.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Mapping, Sequence

from accel.ast.operators import ELEMENTARY, Operator
from accel.ast.types import F32, F64, ScalarType
from accel.backends.llvm.code import Code


def elementary(code: Code, operator: Operator, kind: ScalarType, arguments: Sequence[str]) -> str:
    """Writes an elementary function of floats of `kind` and gives the register of its value."""
    if kind is F32:
        wide = [code.emit(f"fpext {code.type(F32)} {x} to {code.type(F64)}") for x in arguments]
        value = elementary(code, operator, F64, wide)
        return code.emit(f"fptrunc {code.type(F64)} {value} to {code.type(F32)}")
    return by_lanes(code, operator.value, arguments)


def by_lanes(code: Code, symbol: str, arguments: Sequence[str]) -> str:
    """A call of a scalar function of 64-bit floats for each lane in turn."""
    scalar = code.at(1)
    if code.lanes == 1:
        return scalar.call(symbol, "double", ["double"] * len(arguments), [f"double {x}" for x in arguments])
    result = "poison"
    for lane in range(code.lanes):
        elements = [code.emit(f"extractelement {code.type(F64)} {x}, i64 {lane}") for x in arguments]
        value = scalar.call(symbol, "double", ["double"] * len(arguments), [f"double {x}" for x in elements])
        result = code.emit(f"insertelement {code.type(F64)} {result}, double {value}, i64 {lane}")
    return result


def external_symbols() -> Mapping[str, int]:
    """The addresses of the C functions that the text may call, by name."""
    library = ctypes.CDLL(ctypes.util.find_library("m"))
    names = [*sorted(operator.value for operator in ELEMENTARY), "fmod", "fmodf"]
    addresses = {name: ctypes.cast(library[name], ctypes.c_void_p).value for name in names}
    return {name: address for name, address in addresses.items() if address is not None}
