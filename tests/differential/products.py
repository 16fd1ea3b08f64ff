"""Linear algebra, all of it told by subscripts; `nzip` is a map, `rnz` a fold of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import prod

from tests.differential.elementwise import PARAMETERS, name_of
from tests.differential.programs import ArrayType, Dim, Element, Node, Types, require
from tests.differential.reductions import check_combiner
from tests.differential.scalars import check, function_text, parameter
from tests.differential.world import World

FORMS = (
    ("A.dot({}, {})", "i,i->"),
    ("A.dot({}, {})", "ij,j->i"),
    ("A.dot({}, {})", "ij,jk->ik"),
    ("A.dot({}, {})", "ij,ljk->ilk"),
    ("A.matmul({}, {})", "i,i->"),
    ("A.matmul({}, {})", "i,ij->j"),
    ("A.matmul({}, {})", "ij,j->i"),
    ("A.matmul({}, {})", "ij,jk->ik"),
    ("A.matmul({}, {})", "bij,bjk->bik"),
    ("A.matmul({}, {})", "bij,jk->bik"),
    ("A.matmul({}, {})", "ij,bjk->bik"),
    ("A.outer({}, {})", "i,j->ij"),
    ("A.tensordot({}, {}, 0)", "i,jk->ijk"),
    ("A.tensordot({}, {}, 1)", "ij,jkl->ikl"),
    ("A.tensordot({}, {})", "ij,ij->"),
    ("A.tensordot({}, {}, ((0,), (1,)))", "ki,jk->ij"),
    ("A.tensordot({}, {})", "ijk,jkl->il"),
    ("A.tensordot({}, {}, ((1, 2), (2, 0)))", "ijk,klj->il"),
    *((f"A.einsum({text!r}, {{}})", text) for text in ("ij->ji", "ii->i", "ii->", "ij->i", "ij->j", "ij->", "ijk->ki")),
    *((f"A.einsum({text!r}, {{}}, {{}})", text) for text in ("ij,jk->ik", "ij,kj->ik", "ij,ij->ij", "i,ij->ij")),
    *((f"A.einsum({text!r}, {{}}, {{}})", text) for text in ("ij,ij->", "ijk,kl->ijl", "ij,ij->j", "i,j->ji")),
    *(
        (f"A.einsum({text!r}, {{}}, {{}})", text)
        for text in ("ikl,kjl->ij", "abk,kcd->abcd", "abk,kcd->acbd", "ijk,jk->i")
    ),
    *((f"A.einsum({text!r}, {{}}, {{}}, {{}})", text) for text in ("ij,jk,j->ik", "i,i,i->i", "ij,jk,kl->il")),
)
"""How a product is written, and what it is by NumPy's subscripts."""

TRIES = 5
MOST = 1 << 13
"""The most products that are computed."""


@dataclass(frozen=True, slots=True)
class Product:
    """One of the forms. numbers: which."""

    name: str = "product"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        inner, result = FORMS[node.numbers[0]][1].split("->")
        arrays, letters = [types(ref) for ref in node.arguments], inner.split(",")
        element = arrays[0].element
        require(len(element) == 1 and all(array.element == element for array in arrays))
        # Of three floats, which two are multiplied first makes a difference.
        require(len(arrays) < 3 or not element[0].is_float)
        found: dict[str, Dim] = {}
        for array, axes in zip(arrays, letters, strict=True):
            require(array.rank == len(axes) and not array.is_huge)
            for letter, dim in zip(axes, array.dims, strict=True):
                require(found.setdefault(letter, dim) == dim)
        require(prod(dim.value + (0 if dim.rigid is None else 64) for dim in found.values()) <= MOST)
        return (ArrayType(element, tuple(found[letter] for letter in result)),)

    def source(self, node: Node) -> str:
        return FORMS[node.numbers[0]][0].format(*map(name_of, node.arguments))


def propose_product(world: World) -> Node | None:
    """Arrays whose ranks and extents fit the subscripts of one of a few forms."""
    tried = (_arguments(world, world.draw.below(len(FORMS))) for _ in range(TRIES))
    return next((node for node in tried if node is not None), None)


def _arguments(world: World, number: int) -> Node | None:
    arguments, extents, element = [], dict[str, Dim](), None
    for axes in FORMS[number][1].split("->")[0].split(","):
        array = world.array(partial(_fits, axes, extents, element))
        if array is None:
            return None
        arguments.append(array[0])
        element = array[1].element
        extents |= zip(axes, array[1].dims, strict=True)
    return Node(Product(), tuple(arguments), (), (number,))


def _fits(axes: str, extents: Mapping[str, Dim], element: Element | None, array: ArrayType) -> bool:
    """Whether an array may be multiplied, with the axes of these letters, where some extents are given."""
    if array.rank != len(axes) or len(array.element) != 1 or element not in (None, array.element):
        return False
    return all(extents.get(letter, dim) == dim for letter, dim in zip(axes, array.dims, strict=True))


@dataclass(frozen=True, slots=True)
class Rnz:
    """`rnz`. functions: the operator, what is reduced, the seed if any. numbers: 1 if rows may be empty."""

    name: str = "rnz"

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        arrays = [types(ref) for ref in node.arguments]
        require(all(array.dims == arrays[0].dims for array in arrays) and arrays[0].rank > 0)
        leaves = [parameter(name, array.element) for name, array in zip(PARAMETERS, arrays, strict=False)]
        reduce, inner, *seed = node.functions
        require(check(inner, node.element, leaves))
        made = ArrayType(node.element, arrays[0].dims)
        check_combiner(Node(self, (), (reduce, *seed)), made, bool(seed))
        if not seed and not node.numbers[0]:
            require(made.dims[-1].rigid is None and made.dims[-1].value > 0)
        return (ArrayType(node.element, made.dims[:-1]),)

    def source(self, node: Node) -> str:
        reduce, inner, *seed = (function_text(function, name_of) for function in node.functions)
        arrays = ", ".join(map(name_of, node.arguments))
        return f"A.rnz({reduce}, {inner}, {arrays}{f', seed={seed[0]}' if seed else ''})"


def propose_rnz(world: World) -> Node | None:
    """One to three arrays of equal extents."""
    first = world.array(lambda array: array.rank > 0)
    if first is None:
        return None
    arrays = [first]
    for _ in range(world.draw.below(3)):
        arrays.append(world.array(lambda array: array.dims == first[1].dims) or first)
    element = world.element()
    leaves = [(name, parameter(name, array.element)) for name, (_, array) in zip(PARAMETERS, arrays, strict=False)]
    functions = [world.combiner(element), world.function(leaves, element)]
    if world.draw.chance(60):
        functions.append(world.value(element))
    return Node(Rnz(), tuple(ref for ref, _ in arrays), tuple(functions), (int(world.faulty),), element)
