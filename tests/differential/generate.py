"""Whole random programs, from a seed."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeAlias

from accel.ast.tree.types import BOOL, F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64
from tests.differential import (
    asking,
    complex_numbers,
    control,
    elementwise,
    joining,
    keeping,
    movement,
    products,
    random_numbers,
    reductions,
    segments,
    sizes,
    stencils,
)
from tests.differential.draw import Draw
from tests.differential.programs import IllTyped, Node, Program, Ref, inferred, live
from tests.differential.sorting import propose_search, propose_sort, propose_top
from tests.differential.world import World

Proposal: TypeAlias = Callable[[World], Node | None]

PROPOSALS: tuple[tuple[int, Proposal], ...] = (
    (12, elementwise.propose_map),
    (3, elementwise.propose_generate),
    (2, elementwise.propose_fill),
    (2, elementwise.propose_zip),
    (2, elementwise.propose_unzip),
    (1, elementwise.propose_compute),
    (1, elementwise.propose_on_the_host),
    (1, elementwise.propose_enumeration),
    (1, elementwise.propose_indexed),
    (1, random_numbers.propose_random),
    (2, propose_sort),
    (1, propose_top),
    (1, propose_search),
    (5, reductions.propose_fold),
    (2, reductions.propose_reduction),
    (5, reductions.propose_scan),
    (3, reductions.propose_filter),
    (4, segments.propose_segments),
    (4, movement.propose_reorder),
    (2, movement.propose_replicate),
    (2, movement.propose_slice),
    (1, movement.propose_reshape),
    (3, movement.propose_backpermute),
    (2, movement.propose_gather),
    (3, movement.propose_permute),
    (3, movement.propose_scatter),
    (1, movement.propose_overwrite),
    (3, joining.propose_append),
    (1, joining.propose_gather_if),
    (1, joining.propose_scatter_if),
    (1, joining.propose_permute_with),
    (2, stencils.propose_stencil),
    (2, complex_numbers.propose_complex_numbers),
    (1, keeping.propose_compact),
    (1, keeping.propose_keep),
    (1, keeping.propose_expand),
    (1, keeping.propose_unique),
    (1, keeping.propose_update),
    (1, keeping.propose_run_fold),
    (1, control.propose_acond),
    (2, control.propose_awhile),
    (1, control.propose_pairs),
    (5, products.propose_product),
    (1, products.propose_rnz),
    (1, asking.propose_question),
    (1, asking.propose_row_fold),
    (1, asking.propose_places),
    (2, sizes.propose_cut),
    (2, sizes.propose_sized),
)
"""What may come next, and how often."""

SMALL = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 70)
LARGE = (4095, 4096, 4097, 8193)
LENGTHS = (1, 2, 3, 4, 5, 6, 8, 10, 16)


def new_world(draw: Draw) -> World:
    """A program's habits: few sizes, few element types, half of the operations, now and then something large."""
    scalars = list(
        dict.fromkeys(
            [draw.pick((F32, F64, I32, I64, F16)), I64, draw.pick((BOOL, I8, I16, U8, U16, U32, U64, I32, F32, F16))]
        )
    )
    large = draw.chance(3)
    extents = [draw.pick(SMALL[1:] if draw.chance(85) else SMALL) for _ in range(1 + draw.below(2))]
    if large:
        extents = [draw.pick(LARGE), 1, 2]
    return World(
        draw, scalars, extents, draw.chance(12), draw.chance(10), 20_000 if large else 2_000, 50 * draw.chance(30)
    )


def add(world: World, nodes: list[Node], node: Node) -> bool:
    """The node at the end of the program, if it is well typed and not too large."""
    try:
        types = inferred(world.types, node)
    except IllTyped:
        return False
    if any(array.size > world.limit and not array.is_hollow for array in types):
        return False
    world.types.append(types)
    made = [(Ref(len(nodes), result), array) for result, array in enumerate(types)]
    world.sizes += [entry for entry in made if entry[1].is_huge]
    world.arrays += [entry for entry in made if not entry[1].is_hollow]
    nodes.append(node)
    return True


@lru_cache(maxsize=64)
def generate(seed: int) -> Program:
    """The program of a seed: well typed, with at least one output."""
    draw = Draw(seed)
    world = new_world(draw)
    nodes: list[Node] = []
    for _ in range(1 + draw.below(3)):
        rank = draw.pick((0, 1, 1, 1, 1, 2, 2, 2, 3, 4 + draw.below(5)))
        numbers = (draw.below(1 << 16), draw.pick(elementwise.LAYOUTS), *world.extents_of(rank))
        add(world, nodes, Node(elementwise.Input(), numbers=numbers, element=(draw.pick(world.scalars),)))
    if draw.chance(15):
        for _ in range(1 + draw.below(2)):
            add(world, nodes, sizes.huge_input(draw))
    if not world.arrays:  # all were too large
        add(world, nodes, Node(elementwise.Input(), numbers=(0, 0, 1), element=(I64,)))
    allowed = draw.subset(PROPOSALS, 60)
    pool = [proposal for weight, proposal in allowed for _ in range(weight)]
    inputs, length = len(nodes), draw.pick(LENGTHS)
    for _ in range(4 * length):
        if len(nodes) >= inputs + length:
            break
        node = draw.pick(pool)(world)
        if node is not None:
            add(world, nodes, node)
    return live(Program(tuple(nodes), outputs(draw, world)))


def outputs(draw: Draw, world: World) -> tuple[Ref, ...]:
    """What the program gives: the last node's results, a few others, now and then one of them twice."""
    latest = max(ref.node for ref, _ in world.arrays)
    last = [ref for ref, _ in world.arrays if ref.node == latest]
    others = [ref for ref, _ in world.arrays if ref.node < latest and draw.chance(35)]
    again = [draw.pick(last + others)] if draw.chance(10) else []
    return tuple(last + others[:6] + again)
