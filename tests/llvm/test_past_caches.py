"""Which stores go past the caches, by what is known of the processor, and by what a program reads of what it writes."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import accel as A
from accel.backends.llvm.loops import schedule
from accel.backends.llvm.machine.processor import Processor, Registers, known_processor, last_cache
from accel.backends.llvm.module import module_text
from accel.ir import mentions
from accel.schedule.machine import PROCESSOR
from accel.schedule.templates.choose import program_schedules
from tests.llvm.processors import INSTRUCTIONS, compile_for, compiled_texts, processor
from tests.schedule.programs import lowered

TRAITS = ("slow_gathers", "keeps_stores", "adds_apart", "extremes_add", "slow_masks", "quick_divisions", "half_units")


class _Host:
    """A host with another processor."""

    def __init__(self, processor: Processor) -> None:
        self.processor = processor


def test_what_is_known_of_processors() -> None:
    traits = {
        "znver5": ["slow_gathers", "keeps_stores", "adds_apart"],
        "znver4": ["slow_gathers", "keeps_stores", "adds_apart", "extremes_add", "half_units"],
        "znver1": ["slow_gathers", "keeps_stores", "adds_apart", "slow_masks", "quick_divisions", "half_units"],
        "sapphirerapids": [],
    }
    for name, expected in traits.items():
        found = known_processor(name, {}, 8 << 20, x86=True)
        assert [trait for trait in TRAITS if getattr(found, trait)] == expected
        assert (found.asked_ahead > 0, found.few_far_rows, found.reads_on) == (not expected,) * 3
    sizes = [known_processor("haswell", {}, cache, x86=True).cached_bytes for cache in (8 << 20, 260 << 20, None)]
    assert sizes == [8 << 20, 32 << 20, 32 << 20]


def test_what_llvm_says_of_processors() -> None:
    old = known_processor("nehalem", {"sse4.2": True}, None, x86=True)
    assert (old.registers, [name for name in INSTRUCTIONS if getattr(old, name)]) == (Registers(16, 16), ["registers"])
    features = dict.fromkeys(("avx", "avx2", "fma", "f16c"), True)
    middle = known_processor("haswell", features, None, x86=True)
    assert (middle.registers, middle.permutes_words) == (Registers(32, 16), True)
    assert [name for name in INSTRUCTIONS if not getattr(middle, name)] == ["has_avx512", "has_avx512dq"]
    new = known_processor("skylake-avx512", {**features, "avx512f": True, "avx512dq": True}, None, x86=True)
    assert (new.registers, new.permutes_words) == (Registers(64, 32), False)
    assert all(getattr(new, name) for name in INSTRUCTIONS)
    other = known_processor("neoverse-n1", {"neon": True}, None, x86=False)
    assert other.registers == Registers(16, 32)
    assert [name for name in INSTRUCTIONS if getattr(other, name)] == ["registers", "has_fma", "has_halves"]


def test_the_last_cache(tmp_path: Path) -> None:
    assert last_cache(str(tmp_path)) is None
    for number, size in enumerate(("48K", "2048K", "16M", "many", "")):
        (tmp_path / f"index{number}").mkdir()
        (tmp_path / f"index{number}" / "size").write_text(f"{size}\n", encoding="ascii")
    assert last_cache(str(tmp_path)) == 16 << 20


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


@pytest.mark.llvm
@pytest.mark.parametrize("width", [2048, 2050, 16])
def test_rows_that_are_scanned_go_past_the_caches_if_they_are_long(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes of a row decide at the call; the results are the same."""
    compile_for(monkeypatch, processor(cached_bytes=12_345))
    monkeypatch.setenv("ACCEL_CACHE_DIR", "")
    texts = compiled_texts(monkeypatch)
    xs = np.arange(9 * width, dtype=np.int32).reshape(9, width)
    found = A.run(A.scanl1(A.add, A.use(xs)), backend="llvm")
    assert (found == np.cumsum(xs, 1)).all()
    (decided,) = [text for text in texts if "12345\n" in text]
    assert re.search(rf"icmp sge i64 %v\d+, {schedule.LONG_ROW}\n", decided)


def test_what_is_only_a_result_is_not_read() -> None:
    program = lowered(lambda xs: A.map(lambda x: x + 1, xs), np.ones(5)).loops
    assert set(program.results).isdisjoint(mentions.read(program))
    assert {leaf for parameter in program.parameters for leaf in parameter} <= mentions.read(program)


@pytest.mark.llvm
def test_phases_of_several_widths_store_whole_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored past the caches is aligned for the widest phase, or the process ends."""
    compile_for(monkeypatch, processor(cached_bytes=1))

    def packed(xs: A.Acc[A.Vector[np.float64]]) -> A.Acc[A.Vector[np.int8]]:
        def parts(q: A.Exp[np.int64]) -> A.Exp[np.int8]:
            quotient = A.cast(A.constant(7.0) // A.cast(q + 1, np.float64), np.int8)
            shifted = A.shiftR(A.constant(5, np.int8), q)
            return quotient ^ (shifted * A.cond(q > 3, A.cast(q, np.int8), A.constant(8, np.int8)))

        return A.map(parts, A.searchsorted(A.sort(xs), xs))

    for count in (64, 65, 700, 4001):
        xs = np.random.default_rng(count).random(count)
        built = packed(A.use(xs))
        assert A.run(built, backend="llvm").tobytes() == A.run(built, backend="interpreter").tobytes()
