"""Settings: what may be given, which one wins."""

from __future__ import annotations

import json
import threading
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import accel as A
from accel.errors import AccelValueError
from accel.ilp.problem.cost import MODELS
from accel.settings import Given, Settings, changed, current, using
from accel.support.choices import CostName
from tests import untyped


def test_defaults_are_the_cpu_and_the_optimum() -> None:
    assert current() == Settings(backend="llvm", threads=0, strategy="ilp")


def test_innermost_using_wins_and_is_undone() -> None:
    with using(backend="interpreter", strategy="none"):
        with using(backend="opencl:1"):
            assert current() == Settings(backend="opencl:1", strategy="none")
        assert current().backend == "interpreter"
    assert current() == Settings()


def test_using_is_undone_by_an_error() -> None:
    with pytest.raises(ZeroDivisionError), using(strategy="greedy"):
        raise ZeroDivisionError
    assert current() == Settings()


def test_argument_wins_over_using() -> None:
    with using(backend="opencl"):
        assert changed({"backend": "interpreter"}) == replace(Settings(), backend="interpreter")


def test_environment_is_below_using(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCEL_BACKEND", "interpreter")
    monkeypatch.setenv("ACCEL_THREADS", "2")
    assert current() == Settings(backend="interpreter", threads=2)
    with using(backend="llvm"):
        assert current() == Settings(threads=2)


@pytest.mark.llvm
def test_a_function_keeps_the_environments_settings_for_kinds_that_it_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    function: Any = A.runN(lambda xs: A.map(lambda x: x + x, xs))
    assert function(np.zeros(3), keep=True).backend == "llvm"
    monkeypatch.setenv("ACCEL_BACKEND", "interpreter")
    assert function(np.zeros(5), keep=True).backend == "llvm"
    assert function(np.zeros(5, np.float32), keep=True).backend == "interpreter"
    with using(backend="interpreter"):
        assert function(np.zeros(5), keep=True).backend == "interpreter"


@pytest.mark.parametrize("variable", ["ACCEL_BACKEND", "ACCEL_THREADS"])
def test_environment_is_checked(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "cuda")
    with pytest.raises(AccelValueError, match=f"{variable}='cuda'"):
        current()


def test_using_in_one_thread_is_not_seen_in_another() -> None:
    seen: list[Settings] = []
    with using(backend="interpreter"):
        thread = threading.Thread(target=lambda: seen.append(current()))
        thread.start()
        thread.join()
    assert seen == [Settings()]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"backend": "cuda"}, "backend='cuda' is unknown"),
        ({"backend": "llvm:1"}, "backend='llvm:1' is unknown"),
        ({"backend": "llvm:"}, "backend='llvm:' is unknown"),
        ({"backend": "opencl:"}, "backend='opencl:' is unknown"),
        ({"backend": 3}, "backend=3 is unknown"),
        ({"threads": -1}, "threads=-1 is no number of threads"),
        ({"threads": True}, "threads=True is no number of threads"),
        ({"strategy": "best"}, "strategy='best' is no setting"),
        ({"duplicate": 1}, "duplicate=1 is no setting"),
        ({"time_limit": float("nan")}, "time_limit=nan is no number of seconds"),
        ({"time_limit": 0}, "time_limit=0 is no number of seconds"),
        ({"colour": "red"}, "there is no setting 'colour'"),
    ],
)
def test_wrong_settings_are_refused(given: Given, message: str) -> None:
    with pytest.raises(AccelValueError) as caught:
        changed(given)
    assert caught.value.message == message
    assert "test_settings.py" in str(caught.value)


def test_the_choices_are_those_of_the_planner() -> None:
    assert set(get_args(CostName)) == set(MODELS)


def _as_written(default: object) -> str:
    """As Python has it, with the quotes of the pages."""
    return json.dumps(default) if isinstance(default, str) else repr(default)


def test_the_documentation_has_every_setting_with_its_default() -> None:
    page = (Path(__file__).parents[1] / "docs" / "index.md").read_text(encoding="utf-8")
    rows = [line for line in page.partition("## Settings")[2].splitlines() if line.startswith("| `")]
    documented = [row.split(" | ")[:2] for row in rows]
    settings = [[f"| `{field.name}`", f"`{_as_written(field.default)}`"] for field in fields(Settings)]
    assert sorted(documented) == sorted(settings)
    assert [field.name for field in fields(Settings)] == list(Given.__annotations__)
    assert all(field.name in str(using.__doc__) for field in fields(Settings))


@pytest.mark.parametrize("name", ["out", "donate", "keep"])
def test_what_a_call_takes_is_no_setting(name: str) -> None:
    given: Any = {name: (0,)}  # Any: no type of settings has it
    with pytest.raises(AccelValueError) as caught:
        untyped.runN(lambda xs: A.map(lambda x: x + 1, xs), **given)
    assert caught.value.hint == f"it is given with a call of the function: `f(xs, {name}=…)`"


def test_products_are_contracted_where_both_settings_allow_it() -> None:
    assert Settings().rounding == "fused"
    with using(contract=False):
        assert current().rounding == "rounded"
        assert changed({"contract": True}).rounding == "fused"
    assert changed({"contract": True, "products": "rounded"}).rounding == "rounded"


@pytest.mark.parametrize(
    "given",
    [{"deterministic": True}, {"deterministic": False}, {"checks": "none"}, {"checks": "none", "contract": True}],
)
def test_what_nothing_is_left_out_for_gives_the_same(given: Given) -> None:
    xs = np.array([1.0, 2.5, -3.0])
    with using(backend="interpreter"), using(**given):
        assert untyped.run(A.sum(A.use(xs))) == 0.5
        with pytest.raises(A.AccelIndexError):
            untyped.run(A.gather(A.use(np.array([3])), A.use(xs)))


@pytest.mark.parametrize("given", [{"deterministic": 1}, {"contract": "yes"}, {"checks": None}, {"contract": None}])
def test_these_take_nothing_else(given: Any) -> None:
    with pytest.raises(AccelValueError, match="is no setting"):
        using(**given)
