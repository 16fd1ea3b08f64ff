"""Records: tuples whose items have names and types that are checked, by `class P(A.Record): x: A.Field[np.float32]`.

In: classes of annotations. Out: `P(…)`, which makes an `Exp` of a tuple, and `P.x`, which reads an item of one. Nothing else
knows of records: an element is the tuple of its fields, in the order in which the class lists them.

For mypy `P(…)` is a `P`, and that is an `Exp`: no type says "the expression of the class that is called".
"""

from __future__ import annotations

import inspect
import sys
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    Never,
    NoReturn,
    TypeVar,
    dataclass_transform,
    get_args,
    get_origin,
)

from accel.ast.handles import operations
from accel.ast.handles.elements import Maybe
from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.literals import describe, is_node, typed
from accel.ast.tree.nodes import MakeTuple, ScalarNode
from accel.ast.tree.types import (
    BOOL,
    ComplexType,
    ElementType,
    MaybeType,
    RecordType,
    ScalarType,
    TupleType,
    fields_of,
)
from accel.errors import AccelAttributeError, AccelTypeError, Where, here

F = TypeVar("F")
R = TypeVar("R")

_NEAREST = MappingProxyType[object, str]({bool: "bool_", int: "int64", float: "float64"})


class Field(Generic[F]):
    """The annotation of a field of element type `F`: a NumPy scalar type, a `Record`, a `Maybe` or a tuple of these."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, record: None, owner: type[R]) -> Read[R, F]:
        """What reads the field: `P.x`."""
        return Read(owner, self._name)

    if TYPE_CHECKING:  # there are no objects of a record's class; it says what its constructor takes

        def __set__(self, record: Never, value: Exp[F] | F | complex) -> None: ...


class Read(Generic[R, F]):
    """The function that reads a field: `P.x(p)`, `A.map(P.x, ps)`."""

    def __init__(self, owner: type[R], name: str) -> None:
        assert issubclass(owner, Record)
        self._owner: type[Record] = owner
        self.__name__ = f"{owner.__name__}.{name}"
        self._position = fields_of(owner._type()).index(name)

    def __repr__(self) -> str:
        return f"<the field {self.__name__}>"

    def __call__(self, record: Exp[R]) -> Exp[F]:
        """The field of that record."""
        where = here()
        node = raw(record)
        if not is_node(node):
            hint = f"write `A.map({self.__name__}, xs)`" if type(record).__name__ == "Acc" else None
            raise AccelTypeError(f"{self.__name__} takes an Exp, got {describe(node)}", where, hint=hint)
        kind = self._owner._type()
        if node.type != kind:
            hint = f"records are made by `{self._owner.__name__}(…)`; of another class take that one's field"
            raise AccelTypeError(f"{self.__name__} takes a record of type {kind}, got {node.type}", where, hint=hint)
        _require_names(self.__name__, kind, node, where)
        return Exp(operations.project(node, self._position, where))


if TYPE_CHECKING:
    # What makes mypy give records a constructor. Their node is no argument of it.

    def _not_given(*, init: bool = False) -> Any: ...  # Any: stands for any field

    @dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(_not_given,))
    class _Constructed(Exp[Any]):  # Any: no type says "the class itself"
        """An expression with a constructor for its fields."""
else:
    _Constructed = object


class _Fields(type):
    """The class of records: a field that one lacks is an error that names the others."""

    if not TYPE_CHECKING:  # for mypy it is missing

        def __getattr__(cls, name: str) -> NoReturn:
            if name.startswith("_"):
                raise AttributeError(name)
            names = cls._record.record if hasattr(cls, "_record") else ()
            hint = f"its fields are {', '.join(names)}" if names else "write `class P(A.Record):` with its fields"
            raise AccelAttributeError(f"{cls.__name__} has no field {name}", here(), hint=hint)


class Record(_Constructed, metaclass=_Fields):
    """A record with checked names and types, of `Field`s. It has no instances: `P(x=…, y=…)` is an `Exp` of a tuple.

    `P.x(p)` reads a field. Fields are given by name or in their order. Arrays of records are as fast as arrays of tuples, which
    they are. They come from NumPy's structured arrays with the same names, and are given as such:

    >>> class Point(A.Record):
    ...     x: A.Field[np.float32]
    ...     n: A.Field[np.int64]
    >>> points = np.array([(1.5, 2), (2.5, 3)], [("x", np.float32), ("n", np.int64)])
    >>> A.run(A.map(lambda p: Point(x=Point.x(p) * 2, n=Point.n(p) + 1), A.use(points)))
    array([(3., 3), (5., 4)], dtype=[('x', '<f4'), ('n', '<i8')])

    Accelerate's `Generic` instances of `Elt`, with pattern synonyms. Raises `AccelTypeError` for fields that are missing,
    unknown or of another type, in the class as well as where records are made and read.
    """

    if TYPE_CHECKING:
        node: ScalarNode = _not_given(init=False)

    _record: ClassVar[RecordType]

    def __init_subclass__(cls) -> None:
        """The fields become what reads them."""
        where = here()
        if hasattr(cls, "_record"):
            hint = "a record inherits from `A.Record` only: have a field of the other record instead"
            raise AccelTypeError(f"the record {cls.__name__} inherits from another record", where, hint=hint)
        fields: dict[str, ElementType] = {}
        for name, annotation in _annotations(cls, where).items():
            if get_origin(annotation) is ClassVar or annotation is ClassVar:
                continue
            fields[name] = _field(cls, name, annotation, where)
            setattr(cls, name, Field(name))
        if not fields:
            raise AccelTypeError(
                f"the record {cls.__name__} has no fields", where, hint="write `x: A.Field[np.float32]`"
            )
        cls._record = RecordType(tuple(fields.values()), tuple(fields))

    if not TYPE_CHECKING:  # for mypy it is the constructor of an Exp

        def __new__(cls, *values: object, **named: object) -> Exp[Any]:
            """The record of these values."""
            where = here()
            if cls is Record:
                hint = "write `class P(A.Record):` with its fields, then `P(…)`"
                raise AccelTypeError("a Record without fields cannot be made", where, hint=hint)
            kind = cls._type()
            given = _given(cls.__name__, kind.record, values, named, where)
            parts = []
            for name, item, value in zip(kind.record, kind.items, given, strict=True):
                part = typed(raw(value), item, f"the field {name} of {cls.__name__}", where)
                _require_names(f"the field {name} of {cls.__name__}", item, part, where)
                parts.append(part)
            return Exp(MakeTuple(tuple(parts), kind, where))

    @classmethod
    def _type(cls) -> RecordType:
        """Its element type."""
        return cls._record


def element_of(annotation: object) -> ElementType | None:
    """The element type that an annotation stands for; None if that is open, or none of accel's."""
    if isinstance(annotation, type) and issubclass(annotation, Record):
        return getattr(annotation, "_record", None)
    items = [element_of(item) for item in get_args(annotation)]
    known = tuple(item for item in items if item is not None)
    if get_origin(annotation) is tuple:
        return TupleType(known) if len(known) == len(items) else None
    if get_origin(annotation) is Maybe:
        return MaybeType(known[0]) if known else None
    return next((kind for kind in (*ScalarType, *ComplexType) if kind.dtype.type is annotation), None)


def _annotations(cls: type[Record], where: Where | None) -> dict[str, object]:
    """The annotations of a class that is being made. As texts they may name what is local where the class stands."""
    frame = sys._getframe(2)
    try:
        return inspect.get_annotations(cls, globals=frame.f_globals, locals=frame.f_locals, eval_str=True)
    except Exception as error:  # an annotation may be any expression
        hint = "import what the annotations of its fields name where the program runs, and define inner records before"
        message = f"the annotations of the record {cls.__name__} have no value: {type(error).__name__}: {error}"
        raise AccelTypeError(message, where, hint=hint) from error


def _field(cls: type[Record], name: str, annotation: object, where: Where | None) -> ElementType:
    what = f"the field {name} of {cls.__name__}"
    if hasattr(Exp, name) or name == "element" or name.startswith("_"):
        raise AccelTypeError(
            f"{what} cannot have that name", where, hint=f"every Exp has its own `{name}`: take another"
        )
    if name in vars(cls):
        raise AccelTypeError(f"{what} has a value", where, hint="records have no defaults: write its annotation only")
    (inner,) = get_args(annotation) if get_origin(annotation) is Field else (None,)
    kind = element_of(inner)
    if kind is not None:
        return kind
    nearest = _NEAREST.get(annotation) if isinstance(annotation, type) else None
    hint = f"write `{name}: A.Field[np.{nearest or _name(annotation)}]`"
    raise AccelTypeError(f"{what} is annotated with no element type of accel's", where, hint=hint)


def _name(annotation: object) -> str:
    kind = element_of(annotation)
    return "float32" if not isinstance(kind, ScalarType) else "bool_" if kind is BOOL else kind.dtype.name


def _call(owner: str, names: tuple[str, ...]) -> str:
    """How a record is made."""
    return f"write `{owner}({', '.join(f'{name}=…' for name in names)})`"


def _given(
    owner: str, names: tuple[str, ...], values: tuple[object, ...], named: dict[str, object], where: Where | None
) -> list[object]:
    """The values of all fields in their order."""
    listed = ", ".join(names)
    if len(values) > len(names):
        message = f"{owner} has {len(names)} fields, {listed}, and is given {len(values)} values"
        raise AccelTypeError(message, where, hint=_call(owner, names))
    found = dict(zip(names, values, strict=False))
    for name, value in named.items():
        if name not in names:
            message = f"{owner} has no field {name}: its fields are {listed}"
            raise AccelTypeError(message, where, hint=_call(owner, names))
        if name in found:
            raise AccelTypeError(f"the field {name} of {owner} is given twice", where, hint=_call(owner, names))
        found[name] = value
    missing = [name for name in names if name not in found]
    if missing:
        raise AccelTypeError(f"{owner} is made without its field {missing[0]}", where, hint=f"its fields are {listed}")
    return [found[name] for name in names]


def _require_names(what: str, kind: ElementType, node: ScalarNode, where: Where | None) -> None:
    """Raises `AccelTypeError` for a record of other names; a tuple has none, and is as good as a record."""
    if not isinstance(kind, RecordType) or not isinstance(node.type, RecordType):
        return
    wanted, names = fields_of(kind), fields_of(node.type)
    if wanted != names:
        message = f"{what} takes a record of the fields {', '.join(wanted)}, got one of {', '.join(names)}"
        raise AccelTypeError(message, where, hint="items are read by position, too: `p[0]`")
