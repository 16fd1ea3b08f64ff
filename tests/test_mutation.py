"""The faults of `python -m tests.mutation` can be planted: their texts are there, once, and the tests that they name, too."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache

import pytest

from tests.mutation.copied import ROOT
from tests.mutation.fault import Fault
from tests.mutation.table import STAGES, chosen, listed

ALL = [fault for faults in STAGES.values() for fault in faults]

of_each_stage = pytest.mark.parametrize("faults", STAGES.values(), ids=STAGES)


@of_each_stage
def test_each_fault_can_be_planted(faults: tuple[Fault, ...]) -> None:
    for fault in faults:
        whole = (ROOT / "accel" / fault.file).read_text(encoding="utf-8")
        assert whole.count(fault.old) == 1, fault.name
        assert fault.old != fault.new, fault.name
        compile(whole.replace(fault.old, fault.new), fault.file, "exec", dont_inherit=True)


@cache
def functions(file: str) -> frozenset[str]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@of_each_stage
def test_the_tests_of_each_fault_are_there(faults: tuple[Fault, ...]) -> None:
    assert all(fault.tests for fault in faults)
    for test in {test for fault in faults for test in fault.tests}:
        file, _, name = test.partition("::")
        assert (ROOT / file).is_file(), test
        assert not name or name.partition("[")[0] in functions(file), test


def test_names_are_unique() -> None:
    assert [name for name, count in Counter(fault.name for fault in ALL).items() if count > 1] == []


def test_the_list_names_and_counts_the_faults() -> None:
    lines = list(listed(STAGES))
    assert all(fault.name in line for fault, line in zip(ALL, lines, strict=False))
    rows = [line.split() for line in lines[len(ALL) + 1 :]]
    assert [row[0] for row in rows] == list(STAGES)
    assert sum(int(row[1]) for row in rows) == len(ALL)


def test_a_stage_is_chosen_by_its_whole_name() -> None:
    """Names of faults hold `ir` and `ast` as well: of "first", "last"."""
    assert {stage for stage, faults in chosen(["ir"]).items() if faults} == {"ir"}
    found = chosen(["ir", "carry"])
    assert found["ir"] == STAGES["ir"]
    assert all("carry" in fault.name for stage, faults in found.items() for fault in faults if stage != "ir")
    assert chosen([]) == STAGES
