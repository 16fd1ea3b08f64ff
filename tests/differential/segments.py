"""Folds and scans of segments, whose lengths or offsets follow from three numbers."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

from tests.differential.elementwise import name_of
from tests.differential.programs import NEW, ArrayType, Dim, Node, Types, require
from tests.differential.reductions import check_combiner
from tests.differential.scalars import function_text
from tests.differential.world import World

LONG = 150
"""So long an array is divided into many segments now and then."""

FOLDS = ("foldSeg", "fold1Seg", "foldSegOffsets", "fold1SegOffsets")
SCANS = tuple(
    f"{form.format(end)}Seg" for form in ("scan{}", "scan{}1", "scan{}Total", "prescan{}", "postscan{}") for end in "lr"
)


def lengths(count: int, factor: int, most: int, least: int) -> list[int]:
    """How long segments are: `least + i * factor % most`."""
    return [least + i * factor % most for i in range(count)]


@dataclass(frozen=True, slots=True)
class Segments:
    """All names. numbers: how many segments, two numbers of which they follow, and 1 if they may not be there."""

    name: str

    @property
    def least(self) -> int:
        """The least length, where lengths are given: a fold without an initial value takes no empty segments."""
        return int(self.name == "fold1Seg")

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        array, (count, factor, most, faulty) = types(node.arguments[0]), node.numbers
        require(array.rank > 0 and not array.has_many_rows and count >= 0 and factor >= 0 and most > 0)
        seeded, scans = "1" not in self.name, self.name in SCANS
        check_combiner(node, array, seeded)
        if not faulty:
            require(array.dims[-1].rigid is None)
            offsets = [*accumulate(lengths(count, factor, most, self.least), initial=0)]
            if self.name.endswith("Offsets"):
                offsets = [i * factor for i in range(count + 1)]
            require(offsets[-1] <= array.dims[-1].value)
            require(seeded or scans or all(start < end for start, end in pairwise(offsets)))
        totals = ArrayType(array.element, (*array.dims[:-1], Dim(count)))
        if not scans:
            return (totals,)
        # Only running tells how many there are, as far as accel knows.
        results = ArrayType(array.element, (*array.dims[:-1], Dim(0, NEW)))
        return (results, totals) if "Total" in self.name else (results,)

    def source(self, node: Node) -> str:
        count, factor, most, _ = node.numbers
        functions = ", ".join(function_text(function, name_of) for function in node.functions)
        extent, place = (
            (count + 1, f"i * {factor}")
            if self.name.endswith("Offsets")
            else (count, f"{self.least} + i * {factor} % {most}")
        )
        numbered = f"A.enumFromN(({extent},), A.constant(0, np.int64))"
        return f"A.{self.name}({functions}, {name_of(node.arguments[0])}, A.map(lambda i: {place}, {numbered}))"


def propose_segments(world: World) -> Node | None:
    """A fold or scan of segments of the innermost dimension."""
    array = world.array(lambda array: array.rank > 0)
    if array is None:
        return None
    draw, name = world.draw, world.draw.pick(world.draw.pick((FOLDS, SCANS)))
    extent, element = array[1].dims[-1].value, array[1].element
    count, factor, most = draw.below(9), draw.below(1 + max(1, extent // 8)), draw.pick((1, 2, 3, 5, 1 + extent))
    if extent > LONG and draw.below(2):  # many short ones, which backends take some at a time
        count, factor, most = draw.below(LONG), 1 + draw.below(7), draw.pick((2, 3, 4, 5, 8))
    if world.described and draw.chance(60):  # segments of one descriptor may share a loop
        count, factor, most = draw.pick(world.described)
    world.described.append((count, factor, most))
    functions = [world.combiner(element), *([] if "1" in name else [world.value(element)])]
    return Node(
        Segments(name),
        (array[0],),
        tuple(functions),
        (count, factor, most, int(world.faulty)),
        results=1 + ("Total" in name),
    )
