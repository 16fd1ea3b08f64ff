"""Frozen dataclasses with slots whose methods are compiled when their first object is made.

In: a class of fields without defaults. Out: what `@dataclass(frozen=True, slots=True)` makes of it. With `@frozen` its
objects compare by identity and have Python's `repr`; with `@frozen_value` both come from the fields.

`dataclass` writes the text of methods for each class, which Python compiles whenever the class is imported; no cache of
bytecode saves that. It takes 0.2 to 0.3 ms a class, a third of the time of `import accel`, which defines all nodes and types; a
program has few kinds of them. Modules that are imported when a program is compiled have ordinary dataclasses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass
from types import MappingProxyType
from typing import Any, NoReturn, TypeVar, dataclass_transform

C = TypeVar("C")


@dataclass_transform(eq_default=False, frozen_default=True)
def frozen(cls: type[C]) -> type[C]:
    """The class with slots. It is another class than the one given, so its methods may not use `super()`."""
    return _with_slots(cls, ())


@dataclass_transform(eq_default=True, frozen_default=True)
def frozen_value(cls: type[C]) -> type[C]:
    """The class with slots, whose objects are equal if they are of the same class and their fields are equal."""
    return _with_slots(cls, ("__repr__", "__eq__", "__hash__"))


def quickly_made(cls: type[C]) -> type[C]:
    """A frozen dataclass with slots, with a constructor that takes two thirds of the time of the one that it has. It makes what
    is unpickled, too."""
    type.__setattr__(cls, "__init__", _constructor(cls))
    type.__setattr__(cls, "__reduce__", _reduce)
    return cls


def _with_slots(cls: type[C], compiled: tuple[str, ...]) -> type[C]:
    """The class, whose first object brings the methods `compiled`; `__init__` comes last, since it says that all are there."""
    fields = tuple(cls.__annotations__)
    own = {name: found for name, found in vars(cls).items() if name not in ("__dict__", "__weakref__")}

    def __init__(self: C, *values: object, **named: object) -> None:
        # Threads may do this at the same time, and signal handlers meanwhile: each takes the methods from a class of its own.
        complete = (
            dataclass(frozen=True, init=False)(type(cls.__name__, cls.__bases__, dict(own))) if compiled else made
        )
        for name in compiled:
            type.__setattr__(made, name, vars(complete)[name])
        constructor = _constructor(made)
        type.__setattr__(made, "__init__", constructor)
        constructor(self, *values, **named)

    slots = {"__slots__": fields, "__match_args__": fields, "__qualname__": cls.__qualname__, "__init__": __init__}
    made: type[C] = type(cls.__name__, cls.__bases__, _METHODS | own | slots)
    return made


def _constructor(cls: type[object]) -> Callable[..., None]:
    """`__init__` of a class with slots, which calls their setters. A dataclass has `object.__setattr__` find them each time."""
    fields = cls.__annotations__
    setters = {f"set_{name}": vars(cls)[name].__set__ for name in fields}
    body = "".join(f"\n    set_{name}(self, {name})" for name in fields)
    names: dict[str, Any] = {
        "__name__": cls.__module__,
        **setters,
    }  # Any: the function that `exec` defines is one of them
    exec(f"def __init__(self, {', '.join(fields)}):{body or ' pass'}", names)
    constructor: Callable[..., None] = names["__init__"]
    constructor.__qualname__ = f"{cls.__qualname__}.__init__"
    constructor.__annotations__ = {**fields, "return": None}
    return constructor


def _assign(self: object, name: str, given: object) -> NoReturn:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _delete(self: object, name: str) -> NoReturn:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _reduce(self: object) -> tuple[type[object], tuple[object, ...]]:
    """Pickles and copies are made by the constructor: the default way assigns to fields."""
    return type(self), tuple([getattr(self, field) for field in vars(type(self))["__match_args__"]])


_METHODS = MappingProxyType({"__setattr__": _assign, "__delattr__": _delete, "__reduce__": _reduce})
"""What all these classes have, unless they define it themselves."""
