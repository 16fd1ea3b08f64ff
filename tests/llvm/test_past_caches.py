"""Which stores go past the caches, by what is known of the processor, and by what a program reads of what it writes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.loops import schedule
from accel.backends.llvm.machine.processor import Processor, known_processor, last_cache
from accel.backends.llvm.module import module_text
from accel.ir import mentions
from accel.schedule.machine import PROCESSOR
from accel.schedule.templates.choose import program_schedules
from tests.llvm.processors import processor
from tests.schedule.programs import lowered


class _Host:
    """A host with another processor."""

    def __init__(self, processor: Processor) -> None:
        self.processor = processor


def test_what_is_known_of_processors() -> None:
    assert known_processor("znver5", 32 << 20) == Processor(True, True, True, False, False, False, 32 << 20)
    assert known_processor("znver1", 8 << 20) == Processor(True, True, True, True, True, True, 8 << 20)
    assert known_processor("sapphirerapids", 260 << 20) == Processor(False, False, False, False, False, False, 32 << 20)
    assert known_processor("znver4", None).half_units
    assert known_processor("haswell", 8 << 20).cached_bytes == 8 << 20
    assert known_processor("generic", None).cached_bytes == 32 << 20


def test_the_last_cache(tmp_path: Path) -> None:
    assert last_cache(tmp_path) is None
    for number, size in enumerate(("48K", "2048K", "16M", "many", "")):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "size").write_text(f"{size}\n", encoding="ascii")
    assert last_cache(tmp_path) == 16 << 20


def two(xs: A.Acc[A.Vector[np.float64]]) -> Any:
    return A.map(lambda x: x * 2, A.compute(A.map(lambda x: x + 1, xs)))


def turns(xs: A.Acc[A.Vector[np.float64]]) -> Any:
    return A.iterate(9, lambda ys: A.map(lambda y: y + 1, ys), xs)


@pytest.mark.parametrize(("program", "kept"), [(two, 1), (turns, 1), (lambda xs: A.map(lambda x: x + 1, xs), 0)])
def test_what_is_read_again_is_kept_where_processors_keep(
    program: Any, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes that count, of an iteration, are none in nests of which the program reads what they make."""
    made = program_schedules(lowered(program, np.ones(5)).loops, PROCESSOR)
    outputs = [output.array for each in made.nests for output in each.nest.outputs]
    floats = [array for array in outputs if array.element.bytes == 8 and array.shape]
    assert sum(array in made.read for array in floats) == kept

    texts = []
    for keeps in (False, True):
        given = processor(keeps_stores=keeps, cached_bytes=12_345_678)
        monkeypatch.setattr(schedule, "host", partial(_Host, given))
        text = str(module_text(made.nests, read=made.read)[0])
        assert "12345678" in text
        texts.append(text)
    assert (texts[0] == texts[1]) == (kept == 0)


def test_what_is_only_a_result_is_not_read() -> None:
    program = lowered(lambda xs: A.map(lambda x: x + 1, xs), np.ones(5)).loops
    assert set(program.results).isdisjoint(mentions.read(program))
    assert {leaf for parameter in program.parameters for leaf in parameter} <= mentions.read(program)
