"""What programs are made of: names of the language, element types, ranks. Counted once for each program that has them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from tests.differential.forms import form_of
from tests.differential.programs import ArrayType, Program, infer
from tests.differential.source import function_source

NAME = re.compile(r"\bA\.((?:random\.|boundary\.)?\w+)")
"""A name of accel in a program's text."""


def names(text: str) -> set[str]:
    """The names of accel that a text has."""
    return set(NAME.findall(text))


def met(program: Program) -> set[str]:
    """Every name, and, in parentheses, every kind of array."""
    arrays = [array for results in infer(program) for array in results]
    return names(function_source(program)) | {f"({kind})" for array in arrays for kind in kinds(array)}


def kinds(array: ArrayType) -> Iterator[str]:
    """What an array is like: its scalars, whether they are several, its rank, whether it is empty or huge."""
    yield from {leaf.value for leaf in array.element}
    if len(array.element) > 1:
        yield form_of(array.element).value
    yield f"rank {array.rank}"
    if array.is_known and array.size == 0:
        yield "empty"
    if array.is_huge:
        yield "huge extent"


def counted(programs: Iterable[Program]) -> Counter[str]:
    """In how many of the programs each occurs."""
    return Counter(word for program in programs for word in met(program))
