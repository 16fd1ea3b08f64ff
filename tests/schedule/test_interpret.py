"""No schedule changes a bit: nests in the order of schedules against nests in their own order."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from math import log2

import numpy as np
import pytest

from accel import settings
from accel.ast.tree.leaves import to_host
from accel.errors import AccelError, AccelInternalError
from accel.explanation.explain import subject
from accel.ir.meaning.interpret import interpret
from accel.ir.nodes import Nest
from accel.labelled.meaning.environment import Element, Environment
from accel.labelled.meaning.order import fold
from accel.schedule import rules
from accel.schedule.machine import PROCESSOR, WorkItems
from accel.schedule.meaning.interpret import run_scheduled
from accel.schedule.meaning.tree import Steps, Tree
from accel.schedule.nodes import Parameter, Schedule
from accel.schedule.templates.choose import schedules
from tests.differential.check import loaded
from tests.differential.data import inputs
from tests.differential.generate import generate
from tests.marks import one_in
from tests.schedule import programs
from tests.schedule.check import check
from tests.schedule.derive import PARAMETERS, drawn
from tests.schedule.programs import EXAMPLES, Example


@pytest.mark.parametrize("seed", one_in(12, range(96)))
def test_random_derivations_of_random_nests(seed: int) -> None:
    program = generate(seed)
    try:
        found = subject(loaded(program), inputs(program), settings.changed({"strategy": ("greedy", "none")[seed % 2]}))
    except AccelError:  # sizes that do not fit are drawn, too
        return
    assert found.data is not None
    data = [to_host(leaf) for leaf in found.data]
    check(found.staged.loops, data, lambda nest: schedules(nest, PROCESSOR).ways[0].schedule)
    draw = random.Random(seed)
    check(found.staged.loops, data, lambda nest: drawn(draw, nest, 30))


@pytest.mark.parametrize("number", one_in(6, range(6)))
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_random_derivations_of_larger_nests(example: Callable[[], Example], number: int) -> None:
    made, draw = example(), random.Random(number)
    check(made.loops, made.arguments, lambda nest: drawn(draw, nest, 25))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_templates(example: Callable[[], Example]) -> None:
    """The best template of each nest, and rows."""
    made = example()
    check(made.loops, made.arguments, lambda nest: schedules(nest, PROCESSOR).ways[0].schedule)
    check(made.loops, made.arguments, lambda nest: schedules(nest, PROCESSOR).last)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.__name__)
def test_work_items(example: Callable[[], Example]) -> None:
    """The best way of each nest, and the last; of slices, none of which makes all that a nest makes, the nest's own order."""

    def chosen(nest: Nest, way: int) -> Schedule:
        first, *others = schedules(nest, WorkItems(gpu=True)).ways[way].schedules
        return rules.original(nest) if others else first

    made = example()
    check(made.loops, made.arguments, lambda nest: chosen(nest, 0))
    check(made.loops, made.arguments, lambda nest: chosen(nest, -1))


def kept(example: Example, derive: Callable[[Schedule], Schedule]) -> Mapping[str, int]:
    """How many partial results the only nest keeps in an order of its own."""
    found: dict[str, int] = {}

    def scheduled(nest: Nest) -> Schedule:
        return derive(rules.original(nest))

    def run(nest: Nest, env: Environment) -> None:
        found.update(run_scheduled(scheduled(nest), env, PARAMETERS))

    check(example.loops, example.arguments, scheduled)
    interpret(example.loops, example.arguments, run)
    return found


def flips(schedule: Schedule, *places: int) -> Schedule:
    """Flips at these places, one after the other."""
    for at in places:
        schedule = rules.flip(schedule, at)
    return schedule


def test_a_row_of_one_block_keeps_its_lanes() -> None:
    """One result at a time: 64 lanes, whatever there are of rows."""
    assert kept(programs.rows(3, 200), lambda own: own)["e1"] == 64


def test_lanes_one_after_the_other_keep_a_value_for_each_level() -> None:
    """1 + log2 L partial results: the reversed bits let lanes that join follow each other."""
    example = programs.dot(4096)
    lanes_outside = kept(example, lambda own: flips(rules.subdivide(own, 0, 64), 1))
    assert lanes_outside == {"e2": 1 + log2(64)}
    assert kept(example, lambda own: rules.subdivide(own, 0, 64)) == {"e2": 64}


def test_a_fold_that_is_streamed_keeps_all_its_results() -> None:
    """Columns: what is read goes by once, and each column has its lanes."""
    example = programs.columns(64 * 3, 4)
    assert kept(example, lambda own: flips(own, 0)) == {"e2": 64 * 4}
    assert kept(example, lambda own: own) == {"e2": 64}
    by_two = kept(example, lambda own: flips(rules.subdivide(own, 0, 2), 1))
    assert by_two == {"e2": 64 * 2}


def test_the_registers_of_a_tile_are_what_a_tile_keeps() -> None:
    """A product by tiles of 2 * 4 whose steps run inside of lanes: so many results for each level of the tree."""

    def tiled(own: Schedule) -> Schedule:
        cut = rules.subdivide(rules.subdivide(rules.subdivide(own, 2, 32), 1, 4), 0, Parameter("few", 2))
        cut = rules.subdivide(cut, 1, 2)
        # i few/2, i 2, j, j 4, block, step, lane -> i, i, j, block, lane, step, i 2, j 4
        return flips(cut, 6, 4, 5, 6, 2, 3, 4, 5)

    most = kept(programs.matmul(4, 8, 32 * 5), tiled)["e5"]
    assert most <= 2 * 4 * (1 + log2(32)) + 2 * 4


def test_what_is_packed_is_computed_once() -> None:
    """The product's factors: each is read once for each pack, not once for each iteration."""
    example = programs.matmul(3, 4, 33)
    (nest,) = example.nests
    schedule = rules.pack(rules.original(nest), ["e0_l2"], 0)
    reads: list[object] = []

    class Counted(np.ndarray[tuple[int, ...], np.dtype[np.float64]]):
        def item(self, *index: int) -> object:  # type: ignore[override]  # of all that it may be asked
            reads.append(index)
            return np.asarray(self).item(*index)

    arguments = [example.arguments[0].view(Counted), example.arguments[1]]
    interpret(example.loops, arguments, lambda nest, env: void(run_scheduled(schedule, env, {})))
    assert len(reads) == len(set(reads)) == 3 * 33


def void(_: object) -> None:
    """Nothing."""


@pytest.mark.parametrize("commutes", [True, False])
@pytest.mark.parametrize("count", [1, 2, 31, 32, 33, 100, 4096, 4097, 9000, 5 * 4096 + 1])
def test_the_tree_is_that_of_the_order(count: int, commutes: bool) -> None:
    """Written down as text, with lanes and blocks in any order: only elements of one lane must rise."""
    width = 32
    draw = random.Random(count)

    def lane(number: int) -> tuple[int, int]:
        block, place = divmod(number, 4096)
        return block, place % width if commutes else place // (4096 // width)

    order = {place: draw.random() for place in {lane(number) for number in range(count)}}
    numbers = sorted(range(count), key=lambda number: (order[lane(number)], number))
    place = iter(numbers)
    names: list[str] = [f"{number}," for number in range(count)]

    def joined(left: Element, right: Element) -> Element:
        names.append(f"({names[int(left[0])]}{names[int(right[0])]})")
        return (len(names) - 1,)

    tree = Tree(
        Steps(lambda element: element, joined, joined), None, count, width, lambda: next(place), commutes=commutes
    )
    for number in numbers:
        tree.step((number,))
    total = tree.total()
    assert total is not None
    assert names[int(total[0])] == fold(names[:count], lambda a, b: f"({a}{b})", commutes, width)


def test_elements_of_a_lane_must_rise() -> None:
    numbers = iter([32, 0])
    tree = Tree(Steps(lambda a: a, lambda a, b: a, lambda a, b: a), None, 64, 32, lambda: next(numbers), commutes=True)
    with pytest.raises(AccelInternalError, match="comes as its element 0"):
        tree.step((0,))
