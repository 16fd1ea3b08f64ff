"""The generator knows the language: every public function occurs in what it may print, but for those that are named here."""

from __future__ import annotations

import inspect
from itertools import product
from random import Random

import pytest

import accel as A
from accel.ast.tree.types import BOOL, F32, I64, ScalarType
from tests.differential.draw import Draw
from tests.differential.elementwise import Input
from tests.differential.forms import Form, Formed
from tests.differential.generate import PROPOSALS
from tests.differential.met import names
from tests.differential.programs import ArrayType, Element, Ref
from tests.differential.scalars import Scope, operators
from tests.differential.world import World, dims

DRAWS = 160
"""How often a proposal of weight 1 is asked, in a world of arrays of many types."""

LANGUAGE = ("accel.ast.combinators", "accel.ast.scalars", "accel.ast.handles", "accel.random")

LEFT_OUT = {
    "use": "a printed program's arguments are used where it is called",
    "cis": "an elementary function of a real number, tested with the other scalar functions",
    "magnitude": "as `cis`",
    "phase": "as `cis`",
}
"""Functions that no random program has, and why."""


def public() -> set[str]:
    """The functions of the language, by the names that a program writes."""
    found = {name for name, value in vars(A).items() if not name.startswith("_") and _is_of_language(value)}
    return found | {f"random.{name}" for name, value in vars(A.random).items() if _is_of_language(value)}


def _is_of_language(value: object) -> bool:
    """Whether it is a function of the language; what stands before one answers to calls that do not fit."""
    return inspect.isfunction(value) and inspect.unwrap(value).__module__.startswith(LANGUAGE)


def world() -> World:
    """Arrays of all element types, of ranks 0 to 4, two of each: whatever a proposal asks for is there."""
    found = World(Draw(1), [BOOL, I64], [1, 2, 3, 8], True, False, 2_000, 10)
    plain: list[Element] = [(kind,) for kind in ScalarType]
    several = [(I64, *(F32,) * count) for count in range(1, 9)]
    formed: list[Element] = [Formed(form, (BOOL, I64)) for form in (Form.RECORD, Form.MAYBE)]
    formed += [Formed(Form.NESTED, (BOOL, I64, I64)), Formed(Form.COMPLEX, (F32, F32))]
    elements = [*plain, *several, *formed]
    for element, rank in product(elements, range(5)):
        found.arrays += [(Ref(len(found.arrays)), ArrayType(element, dims(*(2,) * rank))) for _ in range(2)]
    return found


@pytest.fixture(scope="module")
def printed() -> set[str]:
    """All names of accel that a random program may have."""
    here, random = world(), Random(1)
    found: set[str] = set()
    for weight, propose in PROPOSALS:
        for _ in range(DRAWS * weight):
            random.shuffle(here.arrays)  # a proposal likes those at the end
            node = propose(here)
            if node is not None and not isinstance(node.operation, Input):
                found |= names(node.operation.source(node))
    for kind in ScalarType:
        templates = operators(kind, Scope((), (), list(ScalarType), True))
        found |= {name for template, _ in templates for name in names(template)}
    return found


def test_every_function_is_known(printed: set[str]) -> None:
    assert public() - printed == set(LEFT_OUT)


def test_every_boundary_is_known(printed: set[str]) -> None:
    boundaries = {name for name in printed if name.startswith("boundary.")}
    assert boundaries == {f"boundary.{name}" for name in ("clamp", "mirror", "wrap", "constant", "function")}
