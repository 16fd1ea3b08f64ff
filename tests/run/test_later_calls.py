"""Calls with arrays on a device, or with `keep`, of kinds that came before: a shorter way to the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import accel as A
from accel import execution
from tests import untyped

RECORDS = np.array([(1, 2.5), (3, 4.5)], dtype=[("a", np.int32), ("b", np.float64)])


@pytest.mark.parametrize(
    "given",
    [
        (np.arange(4.0),),
        (np.array([1 + 2j, 3j]),),
        (RECORDS,),
        (np.float32(2.5),),
        (np.arange(6.0).reshape(2, 3), np.arange(4.0)),
    ],
    ids=lambda given: str(given[0].dtype),
)
def test_later_calls_are_as_the_first(given: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    def program(*arrays: A.Acc[Any]) -> A.Acc[Any]:
        return arrays[0] if len(arrays) == 1 else A.map(lambda x: x + 1, arrays[0])

    function = untyped.runN(program)
    wanted = function(*given)
    mixed = (A.put(given[0]), *given[1:])  # with one of NumPy's where there are two
    for arguments, named in ((mixed, {}), (given, {"keep": True}), (mixed, {"keep": True})):
        for number in range(4):
            if number and not isinstance(given[0], np.generic):
                monkeypatch.setattr(function, "_prepared", None)  # the first call alone is prepared
            found = function(*arguments, **named)
            assert isinstance(found, A.DeviceArray)
            np.testing.assert_array_equal(found.get(), wanted)
        monkeypatch.undo()
    room = np.empty_like(wanted)
    for _ in range(3):
        assert function(*mixed, out=room) is room
        np.testing.assert_array_equal(room, wanted)


def test_results_stay_there_if_another_argument_is_donated() -> None:
    function = untyped.runN(lambda xs, ys: A.zipWith(A.add, xs, ys))
    for _ in range(3):
        found = function(A.put(np.arange(3.0)), np.ones(3), donate=(1,))
        assert isinstance(found, A.DeviceArray)
        np.testing.assert_array_equal(found.get(), [1, 2, 3])


def test_fields_have_the_names_of_this_call() -> None:
    for program in (lambda ps: ps, lambda ps: A.map(lambda p: p, ps)):
        function = untyped.runN(program)
        renamed = RECORDS.astype([("c", np.int32), ("d", np.float64)])
        for given in (RECORDS, RECORDS, renamed, RECORDS, renamed):
            for arguments, named in (((A.put(given),), {}), ((given,), {"keep": True})):
                found = function(*arguments, **named)
                assert found.dtype.names == given.dtype.names
                np.testing.assert_array_equal(found.get(), given)


def test_what_others_call_meanwhile_is_not_taken_for_what_this_call_asks() -> None:
    """Between what a call finds under its settings and what it does with that, another call comes under others."""

    class Between(execution.RunN[Any, Any]):
        other = False

        @property
        def _ways(self) -> Any:
            return self.__dict__["ways"]

        @_ways.setter
        def _ways(self, found: Any) -> None:
            self.__dict__["ways"] = found
            if self.other:
                self.other = False
                with A.using(checks="none"):
                    self(swapped)

    swapped = np.zeros(3, ">f8")  # which no compiled code takes
    function = Between(lambda xs: A.map(lambda x: x / x, xs), {})
    for _ in range(3):
        function.other = True
        with A.using(checks="all"), pytest.raises(A.AccelNaNError):
            function(swapped)
