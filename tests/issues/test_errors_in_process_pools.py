"""Errors of accel cross from one process to another: same class, same place in the user's program, same text.

Once: a pool showed "TypeError: cannot pickle code objects" instead of the index that was out of bounds.
"""

from __future__ import annotations

import copy
import inspect
import linecache
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import accel as A
from accel import errors
from accel.commands import explain
from accel.errors import AccelError, Where, here
from tests import untyped
from tests.marks import one_in


def classes_of(module: ModuleType) -> Iterator[type[Exception]]:
    for _, found in inspect.getmembers(module, inspect.isclass):
        if issubclass(found, Exception) and found.__module__ == module.__name__:
            yield found


ERRORS = [kind for kind in classes_of(errors) if issubclass(kind, AccelError)]
OTHERS = [kind for kind in [*classes_of(errors), *classes_of(explain)] if not issubclass(kind, AccelError)]


class Special(A.AccelIndexError):
    """A user's own, with another constructor."""

    def __init__(self, code: int, *, name: str) -> None:
        super().__init__(f"{name} failed with {code}", here(), hint="ask")
        self.code = code


class Late(A.AccelDeviceError, OSError):
    """Objects of this class are laid out as those of its second base are."""


def through(how: str, error: AccelError) -> AccelError:
    match how:
        case "copy":
            again = copy.copy(error)
        case "deepcopy":
            again = copy.deepcopy(error)
        case _:
            again = pickle.loads(pickle.dumps(error, int(how)))
    assert isinstance(again, AccelError)
    return again


WAYS = ["copy", "deepcopy", *map(str, range(pickle.HIGHEST_PROTOCOL + 1))]


def assert_alike(again: AccelError, error: AccelError) -> None:
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert (again.message, again.hint) == (error.message, error.hint)
    places = [again.where, *(place for _, place in again.others)]
    expected = [error.where, *(place for _, place in error.others)]
    assert [place and place.written() for place in places] == [place and place.written() for place in expected]
    assert [what for what, _ in again.others] == [what for what, _ in error.others]


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("kind", [*ERRORS, Late])
def test_every_class_comes_back(kind: type[AccelError], how: str) -> None:
    first, second = here(), here()
    error = kind("what", first, others=(("made here:", second), ("nowhere:", None)), hint="do")
    again = through(how, error)
    assert_alike(again, error)
    assert "    first, second = here(), here()\n                    ^^^^^^" in str(again)
    assert_alike(through(how, kind("nothing else")), kind("nothing else"))
    for base in kind.__mro__:
        assert isinstance(again, base)


@pytest.mark.parametrize("how", WAYS)
def test_a_subclass_with_another_constructor_comes_back(how: str) -> None:
    error = Special(7, name="it")
    error.add_note("a note")
    again = through(how, error)
    assert_alike(again, error)
    assert isinstance(again, Special)
    assert again.code == 7
    assert again.__notes__ == ["a note"]
    place = here()
    moved = again.moved({again.where: place} if again.where else {})
    assert isinstance(moved, Special)
    assert (moved.code, moved.where) == (7, place)
    assert str(moved).startswith("it failed with 7\n")
    assert "place = here()" in str(moved)
    assert again.where is not place


@pytest.mark.parametrize("kind", OTHERS)
def test_other_classes_come_back(kind: type[Exception]) -> None:
    again = pickle.loads(pickle.dumps(kind("what")))
    assert type(again) is kind
    assert again.args == ("what",)


def test_a_place_that_came_back_can_be_moved_and_sent_again() -> None:
    error = through("5", A.AccelIndexError("what", here(), others=(("and", here()),)))
    ((_, other),) = error.others
    assert error.where is not None
    assert other is not None
    moved = error.moved({other: error.where})
    assert moved.others[0][1] is error.where
    assert_alike(through("2", moved), moved)


def test_copies_of_a_place_are_the_place() -> None:
    """Places are looked up by identity."""
    place = here()
    assert copy.copy(place) is place
    assert copy.deepcopy([place])[0] is place


def test_the_place_needs_no_file(tmp_path: Path) -> None:
    """The line is in the pickle: the other process may have no such file, and no such code."""
    file = tmp_path / "gone.py"
    file.write_text("from accel.errors import here\ndef é(): return (1, here())\nplace = é()[1]\n", encoding="utf-8")
    names: dict[str, Where] = {}
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), names)
    error = A.AccelShapeError("what", names["place"])
    sent = pickle.dumps(error)
    file.unlink()
    linecache.clearcache()
    code = (
        "import pickle, sys; error = pickle.load(sys.stdin.buffer); print(ascii([str(error), error.where.excerpt()]))"
    )
    done = subprocess.run([sys.executable, "-c", code], input=sent, capture_output=True, check=True)
    assert done.stdout.decode().strip() == ascii([str(error), str(error).split("\n", 1)[1]])
    assert "def é(): return (1, here())\n                        ^^^^^^" in str(error)


def wrong(backend: str) -> object:
    return A.run(A.gather(A.use(np.array([9])), A.use(np.arange(3))), backend=backend)


def executor() -> Callable[[], object]:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        return pool.submit(wrong, "llvm").result


def pool() -> Callable[[], object]:
    with multiprocessing.get_context("spawn").Pool(1) as workers:
        found = workers.apply_async(wrong, ("interpreter",))
        found.wait()
        return found.get


@pytest.mark.parametrize("start", one_in(2, [executor, pool]))
def test_pools_show_the_error_itself(start: Callable[[], Callable[[], object]]) -> None:
    with pytest.raises(A.AccelIndexError) as caught:
        start()()
    error = caught.value
    assert error.message == "index (9,) is out of bounds for an array of shape (3,)"
    assert error.where is not None
    assert (error.where.file, error.where.function) == (__file__, "wrong")
    assert error.where.call() == "A.gather(A.use(np.array([9])), A.use(np.arange(3)))"
    assert str(error).splitlines()[2] == f"    return A.run({error.where.call()}, backend=backend)"


def test_copies_of_a_compiled_function_are_the_function() -> None:
    """Once: a compiled function could not be copied, as it holds a lock."""
    add = untyped.runN(lambda xs: A.map(lambda x: x + 1, xs))
    assert copy.copy(add) is add
    assert copy.deepcopy({"add": add})["add"] is add
