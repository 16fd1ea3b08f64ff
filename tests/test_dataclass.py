"""Classes made by `accel.support.dataclass` behave like those of Python's `dataclass`."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import threading
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field, fields, is_dataclass, replace

import numpy as np
import pytest

import accel as A
from accel import AccelAttributeError
from accel.ast.tree import nodes
from accel.support.dataclass import dataclass, frozen


@frozen
class Node:
    """Two fields."""

    left: object
    right: int

    def both(self) -> tuple[object, int]:
        """The fields."""
        return self.left, self.right


@dataclass(frozen=True, slots=True)
class Value:
    """Two fields."""

    left: object
    right: int

    def both(self) -> tuple[object, int]:
        """The fields."""
        return self.left, self.right


@dataclasses.dataclass(frozen=True, slots=True)
class Known:
    """Two fields."""

    left: object
    right: int

    def both(self) -> tuple[object, int]:
        """The fields."""
        return self.left, self.right


Pair = Node | Value | Known

all_kinds = pytest.mark.parametrize("kind", [Node, Value, Known])


@all_kinds
def test_fields_are_given_in_order_or_by_name(kind: type[Pair]) -> None:
    for made in (kind("a", 2), kind("a", right=2), kind(right=2, left="a")):
        assert made.both() == ("a", 2)
        match made:
            case Node(left, right) | Value(left, right) | Known(left, right):
                assert (left, right) == ("a", 2)


@all_kinds
@pytest.mark.parametrize("values", [(), (1,), (1, 2, 3)])
@pytest.mark.parametrize("named", [{}, {"left": 1}, {"middle": 1}])
def test_other_arguments_are_type_errors(
    kind: Callable[..., Pair], values: tuple[int, ...], named: dict[str, int]
) -> None:
    with pytest.raises(TypeError, match=rf"{kind.__name__}.__init__\(\) .* argument"):
        kind(*values, **named)


@pytest.mark.parametrize(
    ("kind", "name"), [(Node, "left"), (Node, "other"), (Value, "left"), (Value, "other"), (Known, "left")]
)
def test_objects_never_change(kind: type[Pair], name: str) -> None:
    made = kind(1, 2)
    assert not hasattr(made, "__dict__")
    with pytest.raises(FrozenInstanceError, match=f"cannot assign to field '{name}'"):
        setattr(made, name, 3)
    with pytest.raises(FrozenInstanceError, match=f"cannot delete field '{name}'"):
        delattr(made, name)
    assert made.both() == (1, 2)


def test_nodes_compare_by_identity() -> None:
    made, again = Node(1, 2), Node(1, 2)
    assert made != again
    assert len({made, again, made}) == 2
    assert repr(made) == object.__repr__(made)


@pytest.mark.parametrize("kind", [Value, Known])
def test_values_compare_by_their_fields(kind: type[Value | Known]) -> None:
    made, again = kind("a", 2), kind("a", 2)
    assert made == again
    assert hash(made) == hash(again) == hash(("a", 2))
    assert made not in (kind("a", 3), Node("a", 2), ("a", 2))
    assert repr(made) == f"{kind.__name__}(left='a', right=2)"


@all_kinds
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_and_copies_have_the_same_fields(kind: type[Pair], protocol: int) -> None:
    made = kind([1], 2)
    again = pickle.loads(pickle.dumps(made, protocol))
    assert type(again) is kind
    assert again.both() == ([1], 2)
    assert copy.copy(made).left is made.left
    deep = copy.deepcopy(made)
    assert type(deep) is kind
    assert deep.both() == ([1], 2)
    assert deep.left is not made.left


@all_kinds
def test_the_class_looks_the_same(kind: type[Pair]) -> None:
    kind(1, 2)  # completes it
    for name in ("__doc__", "__slots__", "__match_args__", "__module__", "__annotations__"):
        assert getattr(kind, name) == getattr(Known, name)
    assert kind.__qualname__ == kind.__name__
    assert inspect.signature(kind) == inspect.signature(Known)


def test_handles_are_frozen_dataclasses() -> None:
    """`Acc` and `Exp` have slots by hand, because their classes are generic, and the same constructor."""
    kinds: tuple[Callable[..., object], ...] = (A.Acc, A.Exp)
    for kind in kinds:
        assert is_dataclass(kind)
        with pytest.raises(TypeError, match=rf"{kind.__name__}.__init__\(\) .* argument"):
            kind()
    handle = A.use(np.arange(3))
    with pytest.raises(AccelAttributeError):
        setattr(handle, "extents", ())  # noqa: B010  # mypy refuses the assignment
    assert list(inspect.signature(A.Acc).parameters) == ["node", "extents"]


def test_methods_of_the_class_stay() -> None:
    @frozen
    class Own:
        field: int

        def __reduce__(self) -> tuple[type[int], tuple[int]]:
            return int, (self.field,)

    assert str(copy.copy(Own(3))) == "3"
    assert Own.__qualname__.endswith("<locals>.Own")


@dataclass(frozen=True, slots=True)
class Base:
    """One field with a default, one that does not count."""

    first: int
    second: str = "b"
    third: object = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Derived(Base):
    """One more."""

    last: tuple[int, ...] = ()


@dataclass(slots=True)
class Changing:
    """A list of its own, and what is computed from it."""

    found: list[int] = field(default_factory=list)
    count: int = 0

    def __post_init__(self) -> None:
        self.count += len(self.found)


@dataclass(frozen=True, kw_only=True)
class Named:
    """By name only; without slots."""

    left: int = 1
    right: int = field(default=2)


def test_defaults_and_inherited_fields() -> None:
    made = Derived(1, last=(4,))
    assert (made.first, made.second, made.third, made.last) == (1, "b", None, (4,))
    assert made == Derived(1, "b", object(), (4,))
    assert hash(made) == hash(Derived(1, "b", 5, (4,)))
    assert made != Base(1)
    assert made != Derived(1)
    assert repr(made) == "Derived(first=1, second='b', last=(4,))"
    assert Derived.__match_args__ == ("first", "second", "third", "last")
    assert [each.name for each in fields(Derived)] == list(Derived.__match_args__)
    assert replace(made, first=2, third=3) == Derived(2, last=(4,))
    assert pickle.loads(pickle.dumps(made)) == made


def test_pythons_dataclasses_may_inherit_from_them() -> None:
    @dataclasses.dataclass(frozen=True, slots=True)
    class Other(Derived):
        more: int = 3

    assert Other(1) == Other(1, "b", None, (), 3)
    with pytest.raises(TypeError, match="cannot inherit non-frozen"):
        dataclasses.dataclass(type("Changed", (Base,), {}))


def test_objects_that_change_have_no_hash_and_lists_of_their_own() -> None:
    one, two = Changing(), Changing([1, 2], 3)
    one.found.append(1)
    assert Changing() == Changing([], 0)
    assert (one.count, two.count) == (0, 5)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)
    assert copy.deepcopy(one) == one
    assert not hasattr(one, "__dict__")


def test_fields_that_are_given_by_name() -> None:
    made = Named(right=5)
    assert made == Named(left=1, right=5)
    assert (Named.right, vars(made)) == (2, {"left": 1, "right": 5})
    assert pickle.loads(pickle.dumps(made)) == replace(made, left=1)
    with pytest.raises(TypeError, match="positional"):
        Named(1)  # type: ignore[call-arg]  # what is tested
    with pytest.raises(FrozenInstanceError):
        setattr(made, "left", 2)  # noqa: B010  # mypy refuses the assignment


def test_methods_are_there_before_the_first_object() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        """A class that has no object yet."""

        left: int = 7

    made = object.__new__(Fresh)
    object.__setattr__(made, "left", 7)
    assert repr(made).endswith("Fresh(left=7)")
    assert hash(made) == hash((7,))
    assert made == Fresh()


def test_threads_may_make_the_first_objects() -> None:
    for _ in range(20):

        @dataclass(frozen=True, slots=True)
        class Fresh:
            """A class that has no object yet."""

            left: int

        made: list[Fresh] = []
        begin = threading.Barrier(4)

        def make(kind: type[Fresh], begin: threading.Barrier, made: list[Fresh]) -> None:
            begin.wait()
            made.append(kind(1))

        threads = [threading.Thread(target=make, args=(Fresh, begin, made)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(made) == 4
        assert len(set(made)) == 1


def test_all_nodes_are_made_this_way() -> None:
    classes = [found for _, found in inspect.getmembers(nodes, inspect.isclass) if found.__module__ == nodes.__name__]
    made = [found for found in classes if hasattr(found, "__match_args__")]
    assert len(made) > 25
    for found in made:
        assert vars(found)["__slots__"] == vars(found)["__match_args__"] == tuple(found.__annotations__)


def test_programs_can_be_pickled() -> None:
    xs = A.use(np.arange(3.0))
    doubled = A.map(lambda x: x * 2, xs)
    summed = A.zipWith(A.add, doubled, xs)
    again: list[A.Acc[A.Vector[np.float64]]] = pickle.loads(pickle.dumps([doubled, summed]))
    assert [A.run(each, backend="interpreter").tolist() for each in again] == [[0, 2, 4], [0, 3, 6]]
    size: A.Exp[np.int64] = pickle.loads(pickle.dumps(A.size(doubled)))
    assert A.run(A.unit(size), backend="interpreter") == 3


def test_fields_say_what_is_hashed_and_what_is_given_by_name() -> None:
    def made(with_: Callable[..., Callable[[type[object]], type[object]]]) -> type[object]:
        class Options:
            names: object = field(hash=False)
            first: int = field(kw_only=True)
            last: int = 3

        Options.__annotations__ = {"names": "object", "first": "int", "last": "int"}
        return with_(frozen=True)(Options)

    ours, pythons = made(dataclass), made(dataclasses.dataclass)
    for kind in (ours, pythons):
        make: Callable[..., object] = kind
        assert hash(make([], first=1)) == hash(make({}, first=1)) != hash(make([], first=2))
        assert make([], 5, first=1) == make([], first=1, last=5)
    assert str(inspect.signature(ours)) == str(inspect.signature(pythons))


def test_a_field_that_the_constructor_does_not_take_is_refused() -> None:
    @dataclass()
    class Counted:
        count: int = field(init=False)

    with pytest.raises(TypeError, match=r"Counted\.count: fields that the constructor does not take"):
        Counted()
