"""Operations that make arrays of random numbers."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import F32, F64, I64, U64
from tests.differential.elementwise import shape_text
from tests.differential.programs import ArrayType, Node, Types
from tests.differential.world import World, dims

KINDS = (("bits", U64), ("uniform", F64), ("uniform", F32), ("integers", I64))
ELEMENTARY = (("normal", F64), ("normal", F32))


@dataclass(frozen=True, slots=True)
class Random:
    """`random.bits`, `uniform`, `normal` and `integers`.

    numbers: a seed, whether the key is one of two made of it, then the extents.
    """

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        return (ArrayType(node.element, dims(*node.numbers[2:])),)

    def source(self, node: Node) -> str:
        seed, made, *extents = node.numbers
        key = f"A.random.key({seed})"
        if made:
            key = f"A.random.split({key}, 2)[1]"
        given = {"bits": "", "integers": f", {-seed}, {seed + 5}"}.get(self.name, f", np.{node.element[0].dtype.name}")
        return f"A.random.{self.name}({key}, {shape_text(tuple(extents))}{given})"


def propose_random(world: World) -> Node | None:
    """Of rank 0 to 3."""
    name, kind = world.draw.pick(KINDS + ELEMENTARY if world.elementary else KINDS)
    extents = world.extents_of(world.draw.pick((0, 1, 1, 2, 3, 5)))
    numbers = (world.draw.below(1 << 40), world.draw.below(2), *extents)
    return Node(Random(name), (), (), numbers, (kind,))
