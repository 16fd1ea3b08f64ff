"""Arrays of complex numbers between arrays of their parts."""

from __future__ import annotations

from dataclasses import dataclass

from accel.ast.tree.types import F32, F64
from tests.differential.elementwise import name_of
from tests.differential.forms import Form, Formed, form_of
from tests.differential.programs import ArrayType, Node, Types, require
from tests.differential.world import World

FORMS = ("map", "zipWith", "fold", "scanl1", "gather")
UNARY = (
    "A.mul(z, z)",
    "A.add(z, 2j)",
    "A.div(1 - 0.5j, z)",
    "A.cond(A.eq(z, A.conjugate(z)), A.sub(z, 3), A.mul(1j, z))",
    "A.select(A.real(z) < A.imag(z), z, A.mkComplex(A.imag(z), A.real(z)))",
)
BINARY = ("A.add(z, w)", "A.sub(z, w)", "A.mul(z, w)", "A.div(z, w)", "A.mkComplex(A.real(w), A.imag(z))")
COMBINERS = ("A.add(z, w)", "A.mul(z, w)", "A.add(A.add(z, w), A.mul(z, w))", "A.mkComplex(A.real(z), A.imag(w))")


@dataclass(frozen=True, slots=True)
class ComplexNumbers:
    """Two arrays of floats as one of complex numbers, what is made of it, and the parts of that; or of complex numbers, these.

    numbers: which formula.
    """

    name: str

    def infer(self, node: Node, types: Types) -> tuple[ArrayType, ...]:
        first, second = (types(ref) for ref in node.arguments)
        own = form_of(first.element) is Form.COMPLEX
        require(first == second and (own or len(first.element) == 1))
        require(node.element == (first.element if own else first.element * 2))
        require(first.element[0] in (F32, F64) and first.rank > 0 and not first.has_many_rows)
        require(self.name != "gather" or first.rank == 1)
        return (ArrayType(node.element, first.dims[:-1] if self.name == "fold" else first.dims),)

    def source(self, node: Node) -> str:
        parts, (number,) = [name_of(ref) for ref in node.arguments], node.numbers
        own = form_of(node.element) is Form.COMPLEX
        numbers = parts[0] if own else f"A.zipWith(A.mkComplex, {', '.join(parts)})"
        unary, binary, combiner = (texts[number % len(texts)] for texts in (UNARY, BINARY, COMBINERS))
        kind = node.element[0].dtype.name
        seed = f"A.mkComplex(A.constant(0.5, np.{kind}), A.constant(-2.0, np.{kind}))"
        found = {
            "map": f"A.map(lambda z: {unary}, {numbers})",
            "zipWith": f"A.zipWith(lambda z, w: {binary}, {numbers}, A.reverse({numbers}))",
            "fold": f"A.fold(lambda z, w: {combiner}, {seed}, {numbers})",
            "scanl1": f"A.scanl1(lambda z, w: {combiner}, {numbers})",
            "gather": f"A.gather(A.generate({parts[0]}.shape, lambda ix: A.unindex(ix)[0] // 2), {numbers})",
        }[self.name]
        return found if own else f"A.map(lambda z: A.lift(A.real(z), A.imag(z)), {found})"


def propose_complex_numbers(world: World) -> Node | None:
    """Two arrays of floats, also one twice."""
    kinds = [(F32,), (F64,), *(Formed(Form.COMPLEX, (part, part)) for part in (F32, F64))]
    first = world.array(lambda array: array.rank > 0 and array.element in kinds)
    if first is None:
        return None
    second = world.array(lambda array: array == first[1]) or first
    element = first[1].element if form_of(first[1].element) is Form.COMPLEX else first[1].element * 2
    name, number = world.draw.pick(FORMS), world.draw.below(60)
    return Node(ComplexNumbers(name), (first[0], second[0]), (), (number,), element)
