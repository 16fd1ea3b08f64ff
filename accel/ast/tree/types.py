"""Element types and array types: what every stage means by a type.

An element is a scalar, a complex number, a tuple of elements, or a maybe of an element. From `labelled` on only scalars
remain (struct of arrays): `leaves` gives the scalars of an element in order.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Final, TypeAlias, Union, assert_never

import numpy as np

from accel.errors import AccelTypeError, Where, here
from accel.support.dataclass import dataclass


class ScalarType(Enum):
    """A machine scalar. The value is its name in every text form."""

    BOOL = "bool"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    U8 = "u8"
    U16 = "u16"
    U32 = "u32"
    U64 = "u64"
    F16 = "f16"
    F32 = "f32"
    F64 = "f64"

    def __init__(self, name: str) -> None:
        # Attributes, not properties: they are asked for all the time.
        kind = {"b": "bool", "i": "int", "u": "uint", "f": "float"}[name[0]]
        self.dtype: np.dtype[np.generic] = np.dtype(kind + name[1:] if name != "bool" else kind)
        """The NumPy type of the same representation, in native byte order."""
        self.bytes = int(self.dtype.itemsize)
        """Bytes in memory; a bool takes one."""
        self.bits = 1 if name == "bool" else self.bytes * 8
        """Bits of the value; 1 for bool."""
        self.is_float = name[0] == "f"
        """f16, f32 or f64."""
        self.is_signed = name[0] == "i"
        """A signed integer."""
        self.is_unsigned = name[0] == "u"
        """An unsigned integer."""
        self.is_integer = self.is_signed or self.is_unsigned
        """A signed or unsigned integer; bool is none."""
        self.minimum = -(1 << (self.bits - 1)) if self.is_signed else 0
        """The least value of an integer type, 0 for bool."""
        self.maximum = (1 << (self.bits - self.is_signed)) - 1
        """The greatest value of an integer type, 1 for bool."""

    def __repr__(self) -> str:
        return self.value

    __str__ = __repr__
    __hash__ = object.__hash__  # members are single objects; Enum's own hash is Python code, and types are hashed a lot


BOOL, I8, I16, I32, I64 = ScalarType.BOOL, ScalarType.I8, ScalarType.I16, ScalarType.I32, ScalarType.I64
U8, U16, U32, U64 = ScalarType.U8, ScalarType.U16, ScalarType.U32, ScalarType.U64
F16, F32, F64 = ScalarType.F16, ScalarType.F32, ScalarType.F64


@dataclass(frozen=True, slots=True)
class TupleType:
    """A tuple of elements. An index of rank n is a tuple of n `i64`; rank 0 is the empty tuple."""

    items: tuple[ElementType, ...]

    def __str__(self) -> str:
        return "(" + ", ".join(map(str, self.items)) + ("," if len(self.items) == 1 else "") + ")"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TupleType) and self.items == other.items

    def __hash__(self) -> int:
        return hash(self.items)


class RecordType(TupleType):
    """A tuple whose arrays come back as `record`s: of that `NamedTuple`, or a structured array with fields of these names.

    What is computed knows nothing of it: it is equal to the tuple of its items.
    """

    __slots__ = ("record",)
    __match_args__ = ("items", "record")

    record: type[tuple[object, ...]] | tuple[str, ...]

    def __init__(self, items: tuple[ElementType, ...], record: type[tuple[object, ...]] | tuple[str, ...]) -> None:
        TupleType.__init__(self, items)
        object.__setattr__(self, "record", record)

    def __repr__(self) -> str:
        return f"RecordType({self.items!r}, {self.record!r})"


def fields_of(kind: object) -> tuple[str, ...]:
    """The names of a record's fields; none of other types."""
    if not isinstance(kind, RecordType):
        return ()
    return kind.record if isinstance(kind.record, tuple) else getattr(kind.record, "_fields", ())


@dataclass(frozen=True, slots=True)
class MaybeType:
    """An element or nothing: a flag, then the element (zero where there is none)."""

    value: ElementType

    def __str__(self) -> str:
        return f"maybe {self.value}"


class ComplexType(Enum):
    """A complex number: its real part, then its imaginary part. The value is its name in every text form."""

    C64 = "c64"
    C128 = "c128"

    def __init__(self, name: str) -> None:
        self.part = F32 if name == "c64" else F64
        """The type of the parts."""
        self.items = (self.part, self.part)
        """The types of the parts, as a tuple's."""
        self.dtype: np.dtype[np.generic] = np.dtype("complex" + name[1:])
        """The NumPy type of the same representation, in native byte order."""

    def __repr__(self) -> str:
        return self.value

    __str__ = __repr__
    __hash__ = object.__hash__  # as for `ScalarType`


C64, C128 = ComplexType.C64, ComplexType.C128


def complex_type(part: ScalarType) -> ComplexType:
    """The type of complex numbers whose parts are floats of type `part`: f32 or f64."""
    return C64 if part is F32 else C128


ElementType: TypeAlias = Union[ScalarType, TupleType, MaybeType, ComplexType]


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array of `rank` dimensions, row-major, the last one innermost."""

    rank: int
    element: ElementType

    @property
    def fields(self) -> tuple[str, ...]:
        """The names of the fields, if its elements are records."""
        return fields_of(self.element)

    def __str__(self) -> str:
        return f"{self.element}[{','.join('_' * self.rank)}]"


def leaves(element: ElementType) -> tuple[ScalarType, ...]:
    """The scalars that an element consists of, left to right."""
    match element:
        case ScalarType():
            return (element,)
        case TupleType(items):
            return tuple(leaf for item in items for leaf in leaves(item))
        case MaybeType(value):
            return (BOOL, *leaves(value))
        case ComplexType():
            return element.items
        case _:
            assert_never(element)


@cache
def index_type(rank: int) -> TupleType:
    """The type of an index, or a shape, of that rank."""
    return TupleType((I64,) * rank)


@cache
def _array_of_scalars(rank: int, element: ScalarType) -> ArrayType:
    return ArrayType(rank, element)


RANKS: Final = 64
"""The highest rank: NumPy's, in whose arrays results come out."""

DEEPEST: Final = 64
"""How many tuples and maybes may lie in each other: stages call themselves for each."""

WIDEST: Final = 10_000
"""How many of them may lie side by side."""


def array_type(rank: int, element: ElementType) -> ArrayType:
    """The type of an array. Those of scalars are made once, and compare in no time; equal tuples may be other records.

    Raises `AccelTypeError` for a rank above `RANKS`, and as `require_shallow` does.
    """
    if rank > RANKS:
        hint = "flatten some dimensions into one: `A.reshape`, `A.flatten`"
        raise AccelTypeError(f"an array has at most {RANKS} dimensions, not {rank}", here(), hint=hint)
    if isinstance(element, ScalarType):
        return _array_of_scalars(rank, element)
    require_shallow(element)
    return ArrayType(rank, element)


def require_shallow(element: ElementType) -> None:
    """Raises `AccelTypeError` if tuples and maybes lie in each other deeper than `DEEPEST`."""
    level: list[ElementType] = [element]
    for _ in range(DEEPEST):
        level = [inner for kind in level for inner in _inside(kind)]
        if not level:
            return
        if len(level) > WIDEST:
            break
    raise too_deep(here())


def require_shallow_tuples(value: object, where: Where | None) -> None:
    """Raises `AccelTypeError` if Python tuples lie in each other deeper than element types may."""
    level = [value]
    for _ in range(DEEPEST):
        level = [item for each in level if isinstance(each, tuple) for item in each if isinstance(item, tuple)]
        if not level:
            return
        if len(level) > WIDEST:
            break
    raise too_deep(where)


def too_deep(where: Where | None) -> AccelTypeError:
    """What is wrong with tuples in tuples, and so on."""
    return AccelTypeError(
        f"tuples lie in each other {DEEPEST} deep at most, and {WIDEST} side by side", where,
        hint="an array of one more dimension holds many values of one type",
    )  # fmt: skip


def _inside(element: ElementType) -> tuple[ElementType, ...]:
    match element:
        case TupleType(items):
            return tuple([item for item in items if not isinstance(item, ScalarType)])
        case MaybeType(value):
            return (value,)
        case ScalarType() | ComplexType():
            return ()
        case _:
            assert_never(element)


_BY_DTYPE = {scalar.dtype: scalar for scalar in ScalarType}


def scalar_type(dtype: np.dtype[np.generic]) -> ScalarType | None:
    """The scalar of a NumPy dtype in any byte order, or None where accel has none."""
    return _BY_DTYPE.get(dtype) or _BY_DTYPE.get(dtype.newbyteorder("="))


_NUMBERS: Mapping[np.dtype[np.generic], ScalarType | ComplexType] = MappingProxyType(
    {kind.dtype: kind for kind in (*ScalarType, *ComplexType)}
)


def number_type(dtype: np.dtype[np.generic]) -> ScalarType | ComplexType | None:
    """The scalar or complex number of a NumPy dtype in any byte order, or None where accel has none."""
    return _NUMBERS.get(dtype) or _NUMBERS.get(dtype.newbyteorder("="))
