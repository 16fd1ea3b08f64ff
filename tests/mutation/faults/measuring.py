"""Faults of choosing ways by measurement, and of what is predicted for them."""

from __future__ import annotations

from tests.mutation.fault import Fault

_MEASURE = "tests/run/test_measure.py"
_PREDICT = "tests/schedule/test_predict.py"

FAULTS = (
    Fault(
        "the slowest way is taken",
        "backends/measure/measuring.py",
        "least, best = min(",
        "least, best = max(",
        (_MEASURE,),
    ),
    Fault(
        "noise changes ways",
        "backends/measure/measuring.py",
        "(1 - GAIN) * first",
        "(1 + GAIN) * first",
        (_MEASURE,),
    ),
    Fault(
        "what was chosen is not what runs",
        "backends/measure/measuring.py",
        "measuring.backend.compile(measuring.program, measuring.chosen(found))",
        "measuring.backend.compile(measuring.program, measuring.schedules)",
        (_MEASURE,),
    ),
    Fault(
        "all variants are the first way",
        "backends/measure/timing.py",
        "ways=ways[each.nest][first[each.nest] :]",
        "ways=ways[each.nest]",
        (_MEASURE,),
    ),
    Fault(
        "sizes of all classes share a choice",
        "backends/measure/size_class.py",
        "str(extent.bit_length())",
        "str(extent // extent)",
        (_MEASURE,),
    ),
    Fault(
        "times of other files of accel count",
        "backends/measure/kept.py",
        'f"{own_files()}\\n{backend.name}',
        'f"{backend.name}',
        (f"{_MEASURE}::test_other_files_of_accel_measure_again",),
    ),
    Fault(
        "another processor's times count",
        "backends/measure/kept.py",
        "\\n{backend.processor}\\n",
        "\\n",
        (_MEASURE,),
    ),
    Fault(
        "times of other ways count",
        "backends/measure/kept.py",
        "len(value) != count",
        "len(value) < count",
        (_MEASURE,),
    ),
    Fault(
        "hopeless ways are tried",
        "backends/measure/timing.py",
        "guess < HOPELESS * least",
        "guess > least",
        (_PREDICT,),
    ),
)
