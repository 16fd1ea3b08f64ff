"""No two things of a text in OpenCL C have one name: types, functions, parameters, variables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from accel.ast.combinators.host.arrays import use
from accel.backends.opencl.code.prelude import Prelude
from accel.backends.opencl.code.writer import Writer, fresh_names
from accel.backends.opencl.program import PLAIN, opencl_text
from accel.errors import AccelInternalError
from accel.schedule.templates.choose import program_schedules
from tests.opencl.check import loops
from tests.opencl.programs import ALL

WAYS = (PLAIN, replace(PLAIN, gpu=True, look_back=True))

TYPE = r"(?:(?:u?(?:char|short|int|long)|float|double|state\d+(?:_[a-z]+)?)\d*)"
"""Of types that accel declares, the names as they are made, not as they are found in a text: a clash may hide one there."""

FUNCTION = re.compile(
    rf"^(?:__kernel .*?void|static(?: inline)? (?:void|{TYPE})) (\w+)\(([^{{;]*)\) {{(.*?)^}}", re.M | re.S
)
DECLARED = re.compile(rf"\b{TYPE}\*? (?:restrict )?([A-Za-z_]\w*)(?! *\()")


def outside(text: str) -> Iterator[str]:
    """Names of a whole text: of its functions and its types."""
    yield from (found[1] for found in FUNCTION.finditer(text))
    yield from re.findall(r"^(?:typedef .*}|}) (\w+);", text, re.M)


def test_what_names_are_looked_for_in() -> None:
    kernel = "__kernel void nest0_map(\n    __global long* a,\n    long n1) {\n  int b = 1;\n}\n"
    text = "typedef struct { long f0; } state0;\n" + kernel
    (found,) = FUNCTION.finditer(text)
    assert list(outside(text)) == ["nest0_map", "state0"]
    assert DECLARED.findall(found[2]) == ["a", "n1"]
    assert DECLARED.findall(found[3]) == ["b"]


@pytest.mark.parametrize("name", ALL)
def test_variables_hide_no_type_no_function_and_no_parameter(name: str) -> None:
    planned, _ = loops("greedy", ALL[name].program(*map(use, ALL[name].data(100))))
    for features in WAYS:
        text = opencl_text(program_schedules(planned, features.machine), features)
        every = list(outside(text))
        assert len(every) == len(set(every))
        for function in FUNCTION.finditer(text):
            parameters, variables = DECLARED.findall(function[2]), DECLARED.findall(function[3])
            assert len(parameters) == len(set(parameters))
            assert not {*every, *parameters} & set(variables)
            assert not set(every) & set(parameters)
            fresh = [each for each in variables if fresh_names(each)]
            assert len(fresh) == len(set(fresh))


def test_fresh_names_are_no_other_ones() -> None:
    writer = Writer()
    names = [writer.fresh(word) for word in ("state", "total", "state", "n", "half")]
    assert names == ["state_1", "total_2", "state_3", "n_4", "half_5"]
    assert fresh_names(f"{', '.join(names)}, state3, n4, half4, v_5, s_v_5, array1_0, add_f16, lanes0_1") == names


@pytest.mark.parametrize(
    "line", ["long total_2 = 0;", "total_2 += 1;", "for (int total_2 = 0;;)", "{ state0 a = total_2; }"]
)
def test_a_name_of_the_form_of_fresh_ones_that_is_none_is_refused(line: str) -> None:
    writer, other = Writer(), Writer()
    writer.line(f"long {writer.fresh('total')} = 0;")
    other.fresh()
    other.line(f"long {other.fresh('total')} = 0;")
    with pytest.raises(AccelInternalError, match="total_2 is no fresh name"):
        writer.line(line)
    with pytest.raises(AccelInternalError, match="no word"):
        writer.fresh("v")
    with pytest.raises(AccelInternalError, match="no word"):
        writer.fresh("total2")


def test_a_function_has_a_name_of_its_own() -> None:
    prelude = Prelude()
    prelude.function("total", "static int total(void) { return 1; }")
    prelude.function("total", "static int total(void) { return 1; }")
    with pytest.raises(AccelInternalError, match="the name total is taken"):
        prelude.function("total", "static int total(void) { return 2; }")
    with pytest.raises(AccelInternalError, match="the name total_1 is taken"):
        prelude.function("total_1", "static int total_1(void) { return 1; }")
