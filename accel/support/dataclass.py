"""Dataclasses whose methods are compiled when they are first called.

In: a class of fields. Out: what `dataclasses.dataclass` makes of it, for which `replace`, `fields` and `match` do what they do.
What no class here needs is not there: fields without defaults behind such with them are not refused, a `__hash__` of None does
not stay, and copies of frozen classes with slots are made by the constructor, `__post_init__` included. `inspect.signature`
knows the parameters once there was an object.

Python's `dataclass` writes the text of methods for each class and compiles it whenever the class is imported; no cache of
bytecode saves that. It takes half a millisecond a class, half the time of importing all stages, and a program has few kinds of
nodes. Here a class takes a tenth of that until somebody makes an object of it. Constructors call the slots' setters, and take
two thirds of the time of Python's, which have `object.__setattr__` find them each time.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from reprlib import recursive_repr
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, dataclass_transform

C = TypeVar("C")

Method = Callable[..., Any]  # Any: of all signatures


def _decorated(
    *, frozen: bool = False, slots: bool = False, eq: bool = True, repr: bool = True, kw_only: bool = False
) -> Callable[[type[C]], type[C]]:
    """As `dataclasses.dataclass`, of which it takes these options. With `slots` it is another class than the one given, so its
    methods may not use `super()`."""
    made_later = {"__init__": _constructor, "__eq__": _equality if eq else None, "__repr__": _text if repr else None}
    if eq and frozen:
        made_later["__hash__"] = _hash

    def decorate(cls: type[C]) -> type[C]:
        own = dict(vars(cls))
        annotations = inspect.get_annotations(cls)
        values = {name: own[name] for name in annotations if name in own and not hasattr(own[name], "__set__")}
        names = [name for name, said in annotations.items() if not said.startswith("ClassVar")]
        made = _with_slots(cls, own, names) if slots else _with_defaults(cls, values)
        added: dict[str, object] = dict(_FROZEN) if frozen else {}
        if not (frozen and (slots or "__slots__" in own)):
            added.pop("__reduce__", None)
        if eq and not frozen:
            added["__hash__"] = None
        added |= {name: _put_off(made, name, make) for name, make in made_later.items() if make is not None}
        read = {"__annotations__": annotations, "__module__": cls.__module__, "__doc__": cls.__name__, **values}
        # Fields are the same whether the class is frozen or not, for which Python's `dataclass` compiles two methods.
        added["__dataclass_fields__"] = _Described("__dataclass_fields__", made, read, kw_only=kw_only)
        added["__dataclass_params__"] = _Described("__dataclass_params__", made, read, frozen=frozen, kw_only=kw_only)
        added["__match_args__"] = (*getattr(made, "__match_args__", ()), *(() if kw_only else names))
        for name, method in added.items():
            if own.get(name) is None:
                type.__setattr__(made, name, method)
        return made

    return decorate


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _decorated


@dataclass_transform(eq_default=False, frozen_default=True)
def frozen(cls: type[C]) -> type[C]:
    """A frozen dataclass with slots whose objects compare by identity and have Python's `repr`."""
    return _FROZEN_BY_IDENTITY(cls)


def _with_slots(cls: type[C], own: dict[str, Any], names: list[str]) -> type[C]:  # Any: a class holds everything
    known = {name for base in cls.__mro__[1:] for name in vars(base).get("__slots__", ())}
    kept = {name: found for name, found in own.items() if name not in ("__dict__", "__weakref__", *names)}
    slots = tuple([name for name in names if name not in known])
    metaclass: Callable[..., type[C]] = type(cls)
    made = metaclass(cls.__name__, cls.__bases__, {**kept, "__slots__": slots})
    made.__qualname__ = cls.__qualname__
    return made


def _with_defaults(cls: type[C], values: dict[str, object]) -> type[C]:
    for name, value in values.items():
        if isinstance(value, Field) and value.default is MISSING:
            type.__delattr__(cls, name)
        elif isinstance(value, Field):
            type.__setattr__(cls, name, value.default)
    return cls


class _Described:
    """What Python's `dataclass` writes down of a class, read from it when somebody asks."""

    def __init__(self, name: str, cls: type[object], own: dict[str, object], **options: bool) -> None:
        self._name, self._class, self._own, self._options = name, cls, own, options
        self._found: object = None

    def __get__(self, instance: object, owner: type[object]) -> object:
        if self._found is None:
            read = dataclasses.dataclass(init=False, repr=False, eq=False, **self._options)
            found = vars(read(type(self._class.__name__, (), self._own)))[self._name]
            if isinstance(found, dict):
                inherited = [getattr(base, self._name, {}) for base in self._class.__mro__[:0:-1]]
                found = {name: field for fields in (*inherited, found) for name, field in fields.items()}
            self._found = found
        return self._found


def _put_off(cls: type[object], name: str, make: Callable[[type[object]], Method]) -> Method:
    """A method that puts another in its place. Threads may do this at the same time: each makes the same."""

    def first(self: object, *values: object, **named: object) -> object:
        method = make(cls)
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        type.__setattr__(cls, name, method)
        return method(self, *values, **named)

    return first


def _fields(cls: type[object]) -> tuple[Field[Any], ...]:  # Any: of all types
    return dataclasses.fields(cls)  # type: ignore[arg-type]  # it is a dataclass


def _constructor(cls: type[object]) -> Method:
    names: dict[str, object] = {"_assign": object.__setattr__, "_MISSING": MISSING}
    parameters, body = [], []
    for field in sorted(_fields(cls), key=lambda field: bool(field.kw_only)):
        name = field.name
        if not field.init:
            raise TypeError(
                f"{cls.__qualname__}.{name}: fields that the constructor does not take are Python's `dataclass`'s"
            )
        parameter, value = name, name
        if field.default is not MISSING:
            names[f"_default_{name}"] = field.default
            parameter += f"=_default_{name}"
        elif field.default_factory is not MISSING:
            names[f"_make_{name}"] = field.default_factory
            parameter += "=_MISSING"
            value = f"_make_{name}() if {name} is _MISSING else {name}"
        parameters += ["*"] if field.kw_only and "*" not in parameters else []
        parameters.append(parameter)
        setter = getattr(getattr(cls, name, None), "__set__", None)
        names[f"_set_{name}"] = setter
        body.append(f"_assign(self, {name!r}, {value})" if setter is None else f"_set_{name}(self, {value})")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    made = _compiled(cls, f"def __init__({', '.join(['self', *parameters])}):", body or ["pass"], names)
    made.__annotations__ = {**{field.name: field.type for field in _fields(cls)}, "return": None}
    return made


def _equality(cls: type[object]) -> Method:
    names = [field.name for field in _fields(cls) if field.compare]
    compared = f"if other.__class__ is self.__class__: return {_values('self', names)} == {_values('other', names)}"
    return _compiled(cls, "def __eq__(self, other):", [compared, "return NotImplemented"])


def _hash(cls: type[object]) -> Method:
    names = [field.name for field in _fields(cls) if (field.compare if field.hash is None else field.hash)]
    return _compiled(cls, "def __hash__(self):", [f"return hash({_values('self', names)})"])


def _values(name: str, fields: Sequence[str]) -> str:
    return "(" + "".join(f"{name}.{field}, " for field in fields) + ")"


def _text(cls: type[object]) -> Method:
    shown = [field.name for field in _fields(cls) if field.repr]

    @recursive_repr()
    def __repr__(self: object) -> str:
        return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    return __repr__


def _compiled(
    cls: type[object], head: str, body: Sequence[str], names: Mapping[str, object] = MappingProxyType({})
) -> Method:
    found: dict[str, Any] = {"__name__": cls.__module__, **names}  # Any: the function that `exec` defines is in it
    exec("\n    ".join([head, *body]), found)
    made: Method = found[head[4 : head.index("(")]]
    return made


def _assign(self: object, name: str, given: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: object) -> tuple[Callable[..., object], tuple[object, ...]]:
    """Pickles and copies are made by the constructor: the default way assigns to fields."""
    return _again, (type(self), *(getattr(self, field.name) for field in _fields(type(self))))


def _again(cls: type[object], *values: object) -> object:
    return cls(**{field.name: value for field, value in zip(_fields(cls), values, strict=True)})


_FROZEN = MappingProxyType({"__setattr__": _assign, "__delattr__": _delete, "__reduce__": _reduce})
"""What all frozen classes have, unless they define it themselves."""

_FROZEN_BY_IDENTITY = _decorated(frozen=True, slots=True, eq=False, repr=False)
