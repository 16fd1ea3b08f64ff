"""Which way a tiled nest runs: in words, and that a launch takes what they say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import pytest

import accel as A
from accel.backends.llvm import module
from accel.backends.llvm.backend import LLVMBackend
from accel.backends.llvm.machine.processor import Processor, known_processor
from accel.backends.llvm.templates.interleaved import FEWEST
from accel.backends.llvm.templates.tile.layout import host_layout
from accel.backends.llvm.templates.tile.small.blocks import Columns
from accel.backends.llvm.templates.tile.ways.choice import LEAST, OF_FOLD, TiledNest, Way, ways
from accel.backends.llvm.templates.tile.ways.conditions import (
    Adjacent,
    All,
    AtMost,
    Condition,
    Either,
    Extent,
    MultipleOf,
    Not,
    Parts,
    Plus,
    Size,
    Times,
)
from accel.backends.llvm.templates.tile.ways.single import single
from accel.backends.llvm.text.late import Late
from accel.backends.protocol import compiled
from accel.ir import mentions
from accel.schedule.templates.cpu.interleaved import LEAST as LEAST_COLUMNS
from accel.schedule.templates.cpu.interleaved import MOST as MOST_COLUMNS
from accel.schedule.templates.tile import tile
from tests.llvm.processors import compile_for
from tests.llvm.test_few_rows import SIDES, by_matrices, by_rows, sides
from tests.llvm.test_tile import Rows, program
from tests.marks import one_in

Extents: TypeAlias = Mapping[Extent, int]

VECTOR = 16
"""Rows that fill a vector, of the elements that have most lanes."""

OLDER = {"avx": True, "avx2": True, "fma": True, "f16c": True}
NEWER = {**OLDER, "avx512f": True, "avx512dq": True}

PROCESSORS = {
    "sse": known_processor("x86-64", {}, None, x86=True),
    "zen1": known_processor("znver1", OLDER, None, x86=True),
    "zen4": known_processor("znver4", NEWER, None, x86=True),
    "xeon": known_processor("sapphirerapids", NEWER, None, x86=True),
    "arm": known_processor("neoverse-n1", {}, None, x86=False),
}


def size(found: Size, extents: Extents) -> int:
    """What it is for these extents."""
    match found:
        case Extent():
            return extents[found]
        case Times(left, right):
            return size(left, extents) * size(right, extents)
        case Plus(left, right):
            return size(left, extents) + size(right, extents)
        case Parts(inner, each):
            return -(-size(inner, extents) // each)
    assert isinstance(found, int)
    return found


def holds(condition: Condition, extents: Extents) -> bool:
    """Whether it does for these extents, of arrays of which each is one piece of memory."""
    match condition:
        case AtMost(left, right):
            return size(left, extents) <= size(right, extents)
        case MultipleOf(inner, number):
            return size(inner, extents) % number == 0
        case Not(inner):
            return not holds(inner, extents)
        case All(conditions):
            return all(holds(each, extents) for each in conditions)
        case Either(left, right):
            return holds(left, extents) or holds(right, extents)
    assert isinstance(condition, Adjacent)
    return extents[Extent.COLUMNS] == 1


def of(function: Callable[..., Rows], dtype: str) -> list[Way]:
    """The ways of a product."""
    (nest,) = mentions.nests(program(function, *sides(function, (4, 5, 6), dtype)))
    found = tile(nest)
    assert found is not None
    return [*ways(TiledNest(host_layout(found), host_layout(found.turned()), single(nest, found.columns.loop)))]


def said(function: Callable[..., Rows], dtype: str, shape: tuple[int, int, int]) -> str:
    """The function that is to be compiled for rows, elements and columns, and its number; empty for rows."""
    rows, count, columns = shape
    extents = {Extent.ROWS: rows, Extent.COLUMNS: columns, Extent.ELEMENTS: count}
    few = min(columns, count) >= LEAST_COLUMNS and max(columns, count) <= MOST_COLUMNS
    if few and rows >= VECTOR and rows * columns * count >= FEWEST:
        counts = MOST_COLUMNS - LEAST_COLUMNS + 1
        return f"nest0_interleaved_2 {(columns - LEAST_COLUMNS) * counts + count - LEAST_COLUMNS}"
    if rows * columns * (count + OF_FOLD) < LEAST:
        return ""
    for way in of(function, dtype):
        if holds(way.condition, extents):
            number = 0 if way.columns is None else count * len(Columns) + way.columns.value
            return f"nest0_{way.code.name.lower()} {number}"
    return ""


@pytest.mark.parametrize("name", one_in(2, [*PROCESSORS]))
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("function", SIDES)
def test_a_launch_takes_the_first_way_that_suits_it(
    function: Callable[..., Rows], dtype: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Asked(Exception):
        """For a function."""

    def asked(late: Late, number: int) -> None:
        raise Asked(f"{late.name} {number}")

    compile_for(monkeypatch, PROCESSORS[name])
    monkeypatch.setattr(module, "late_texts", asked)
    run = compiled(LLVMBackend(1), program(function, *sides(function, (4, 5, 6), dtype)))
    taken = set()
    for rows in (1, 3, 4, 15, 40, 1000):
        for columns in (1, 2, 3, 4, 8, 16, 17, 100):
            for count in (1, 3, 16, 17, 40, 64, 65, 68, 129, 256, 300):
                try:
                    run(sides(function, (rows, count, columns), dtype))
                    found = ""
                except Asked as error:
                    found = str(error)
                assert found == said(function, dtype, (rows, count, columns)), (rows, count, columns)
                taken.add(found.partition(" ")[0])
    assert {"", "nest0_column", "nest0_turned", "nest0_tile"} <= taken


@pytest.mark.parametrize("name", ["zen1", "zen4", "arm"])
def test_in_words(name: str, golden: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> None:
    compile_for(monkeypatch, PROCESSORS[name])
    golden("\n\n".join("\n".join(map(str, of(function, "float32"))) for function in (by_matrices, by_rows)))


def test_the_code_of_a_launch_says_its_ways() -> None:
    x, y = sides(by_matrices, (4, 5, 6), "float32")
    lines = A.explain(A.matmul(A.use(x), A.use(y))).stages["llvm"].splitlines()
    expected = [f"; {way}" for way in of(by_matrices, "float32")]
    assert [line.strip() for line in lines if line.startswith("  ; ")] == expected


def test_traits_of_processors() -> None:
    def steps(found: Processor) -> tuple[int, int]:
        return found.few_steps(products=True), found.few_steps(products=False)

    assert {name: steps(found) for name, found in PROCESSORS.items()} == {
        "sse": (2, 2),
        "zen1": (2, 2),
        "zen4": (8, 3),
        "xeon": (3, 3),
        "arm": (3, 3),
    }
    assert [name for name, found in PROCESSORS.items() if found.loads_keep_up] == ["zen4"]
