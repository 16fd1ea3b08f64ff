"""The rules of [vB24 Fig. 2] as printed: what `[I1|O1] > [I2|O2] >> [I|O]` can be derived, by trying every rule."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import TypeAlias

Element: TypeAlias = tuple[str, int | None]
"""`x:d`, or `x` in no known order."""
Elements: TypeAlias = frozenset[Element]
Result: TypeAlias = tuple[Elements, Elements]


def _absent(element: Element, elements: Elements) -> bool:
    """`p ∉ A`: no such array in any order."""
    return all(name != element[0] for name, _ in elements)


@cache
def derivable(first_in: Elements, first_out: Elements, second_in: Elements, second_out: Elements) -> frozenset[Result]:
    """All `(I, O)` with `[first_in|first_out] > [second_in|second_out] >> [I|O]`."""
    if not (first_in or first_out or second_in or second_out):
        return frozenset({(frozenset(), frozenset())})  # EMPTY
    return frozenset(_last_steps(first_in, first_out, second_in, second_out))


def _last_steps(i1: Elements, o1: Elements, i2: Elements, o2: Elements) -> Iterator[Result]:
    """The conclusions of every rule that can be the last one of a derivation."""
    for p in o1 & i2:
        if p[1] is not None and _absent(p, i2 - {p}):
            for made_in, made_out in derivable(i1, o1 - {p}, i2 - {p}, o2):
                yield made_in, made_out  # VERTICAL
                yield made_in, made_out | {p}  # DIAGONAL
    for p in i1 & i2:
        if p[1] is not None:
            for made_in, made_out in derivable(i1 - {p}, o1, i2 - {p}, o2):
                yield made_in | {p}, made_out  # HORIZONTAL
    for p in i1:
        if _absent(p, o2):
            for made_in, made_out in derivable(i1 - {p}, o1, i2, o2):
                yield made_in | {p}, made_out  # INTROI1
    for p in i2:
        if _absent(p, o1):
            for made_in, made_out in derivable(i1, o1, i2 - {p}, o2):
                yield made_in | {p}, made_out  # INTROI2
    for p in o1:
        if _absent(p, i2):
            for made_in, made_out in derivable(i1, o1 - {p}, i2, o2):
                yield made_in, made_out | {p}  # INTROO1
    for p in o2:
        if _absent(p, i1):
            for made_in, made_out in derivable(i1, o1, i2, o2 - {p}):
                yield made_in, made_out | {p}  # INTROO2
