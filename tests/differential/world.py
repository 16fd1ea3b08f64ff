"""What a proposal of a new node may look at: the arrays so far, the features of this program, the choices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from accel.ast.tree.types import BOOL, F32, F64, ScalarType
from tests.differential.draw import Draw
from tests.differential.forms import Form, Formed, form_of
from tests.differential.programs import Apply, ArrayType, Dim, Element, Function, Ref, Variable
from tests.differential.scalars import Scope, expression, function, parameter

TINY = (1, 1, 2, 2, 3, 0)
"""Extents of arrays of many dimensions."""


@dataclass
class World:
    """The state of one generation. `extents` are the sizes that this program likes; `scalars` its element
    types. A `faulty` one may index out of bounds and fold empty rows without a seed. In one of `formed`
    percent of cases a new element is no plain scalar or tuple. `sizes` are arrays of huge extents,
    with elements or without; `types` those of all nodes."""

    draw: Draw
    scalars: list[ScalarType]
    extents: list[int]
    elementary: bool
    faulty: bool
    limit: int
    formed: int = 0
    arrays: list[tuple[Ref, ArrayType]] = field(default_factory=list)
    sizes: list[tuple[Ref, ArrayType]] = field(default_factory=list)
    types: list[tuple[ArrayType, ...]] = field(default_factory=list)
    described: list[tuple[int, int, int]] = field(default_factory=list)
    """The numbers of which the lengths of segments follow."""

    def scope(self) -> Scope:
        """What scalar functions may mention here: a few arrays to load from."""
        chosen = [self.draw.pick(self.arrays) for _ in range(2)] if self.arrays and self.draw.chance(40) else []
        return Scope((), chosen, self.scalars, self.elementary, sizes=self.sizes, faulty=self.faulty)

    def array(self, fits: Callable[[ArrayType], bool]) -> tuple[Ref, ArrayType] | None:
        """Some array that fits, recent ones rather."""
        fitting = [entry for entry in self.arrays if fits(entry[1])]
        if not fitting:
            return None
        return self.draw.pick(fitting[-4:] if self.draw.chance(70) else fitting)

    def extent(self) -> int:
        """One of the program's sizes."""
        return self.draw.pick(self.extents)

    def extents_of(self, rank: int) -> tuple[int, ...]:
        """The program's sizes, as many; small ones where they are many."""
        return tuple(self.extent() if rank <= 3 else self.draw.pick(TINY) for _ in range(rank))

    def element(self) -> Element:
        """A result type: mostly one scalar."""
        if self.draw.chance(self.formed):
            return formed_element(self.draw, self.scalars)
        return self.plain()

    def plain(self) -> Element:
        """A scalar, or a tuple of scalars."""
        count = self.draw.pick((1, 1, 1, 1, 2, 3))
        return tuple(self.draw.pick(self.scalars) for _ in range(count))

    def function(self, parameters: list[tuple[str, tuple[Variable, ...]]], result: Element) -> Function:
        """A random function of these parameters."""
        return function(self.draw, parameters, result, self.scope())

    def value(self, element: Element) -> Function:
        """A function without parameters: a seed, a filling."""
        return self.function([], element)

    def combiner(self, element: Element) -> Function:
        """A binary operator on an element type: usually associative; their order is fixed for any other as well."""
        return combiner(self.draw, element, self.scope())


def formed_element(draw: Draw, scalars: list[ScalarType]) -> Element:
    """A complex number where its parts are among the scalars, a record, a maybe, or a tuple with a tuple in it."""
    parts = [kind for kind in scalars if kind in (F32, F64)]
    form = draw.pick((Form.COMPLEX, Form.COMPLEX, Form.RECORD, Form.MAYBE, Form.NESTED))
    match form:
        case Form.COMPLEX:
            part = draw.pick(parts or [F32, F64])
            return Formed(form, (part, part))
        case Form.MAYBE:
            return Formed(form, (BOOL, draw.pick(scalars)))
    return Formed(form, [draw.pick(scalars) for _ in range(2 + draw.below(2) if form is Form.RECORD else 3)])


INFIX = ("({} + {})", "({} * {})")
CHOOSE = ("A.min({}, {})", "A.max({}, {})")
BITS = ("({} & {})", "({} | {})", "({} ^ {})")


def combiner(draw: Draw, element: Element, scope: Scope) -> Function:
    """A binary operator on an element type."""
    left, right = parameter("a", element), parameter("b", element)
    style = draw.below(10)
    if style == 0:
        inner = Scope((*left, *right), (), scope.scalars, False)
        return Function(("a", "b"), tuple(expression(draw, kind, inner, 3) for kind in element), form_of(element))
    if style == 1:
        return Function(("a", "b"), draw.pick((left, right)), form_of(element))
    templates = [("({} - {})",) if style == 2 and x.type is not BOOL else _operators(x.type) for x in left]
    leaves = zip(templates, left, right, strict=True)
    results = tuple(Apply(draw.pick(options), (x, y), x.type) for options, x, y in leaves)
    return Function(("a", "b"), results, form_of(element))


def _operators(kind: ScalarType) -> tuple[str, ...]:
    if kind.is_float:
        return INFIX + CHOOSE
    return (INFIX + CHOOSE + BITS) if kind.is_integer else BITS


def dims(*extents: int) -> tuple[Dim, ...]:
    """Known extents."""
    return tuple(Dim(extent) for extent in extents)
