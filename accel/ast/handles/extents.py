"""What is known about extents while the program is built, and the errors that can be found from it.

In: handles. Out: extents, None where one is known at run time only. Raises `AccelTypeError` for ranks and
`AccelShapeError` for extents that do not fit, naming the user's call and the lines that built the operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from accel.ast.handles.acc import Acc, Extents
from accel.ast.tree.nodes import Literal, MakeTuple, ScalarNode
from accel.errors import AccelShapeError, AccelTypeError, AccelValueError, Where

LARGEST_EXTENT: Final = 1 << 47
"""The largest extent that an array may have: a vector of that many bytes fills the addresses that a process has.

Every extent is compared with it where it enters a program: those of arguments, also of arrays that hold no element or repeat
one, those that are written, and those that are computed. What is concluded from sizes assumes no more than this
(`accel/labelled/scalars/ranges.py`).
"""


OTHER_SIZE: Final = "leave elements out before, by `A.take`, or add some, by `A.append`"
"""What to do where a reshape is asked for another number of elements."""

SMALLER: Final = "is a number something else than an extent? Large arrays are computed in parts, by one call for each"
"""What to do about an array that no machine can hold."""

LESS_MEMORY: Final = "run parts of the arrays one after the other, or drop results that are no longer used: `del xs`"
"""What to do where the machine has no room for an array."""

_LEAST: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "expand": ("sizes that are not negative, got {}", "where one may turn out less than 0 write `A.max(size, 0)`"),
        "subdivide": ("blocks of 1 or more, got {}", "where they may turn out smaller write `A.max(b, 1)`"),
        "topK": ("a k that is not negative, got {}", "where it may turn out less than 0 write `A.max(k, 0)`"),
        **dict.fromkeys(
            ("foldSegOffsets", "fold1SegOffsets"),
            (
                "at least one offset, got none",
                "there is one more than segments: of no segments the offsets are `[0]`",
            ),
        ),
    }
)
"""What combinators need that have other words for an extent that may not be negative, and what to do."""


def require_extents(extents: Extents, where: Where | None, name: str = "", hint: str | None = None) -> None:
    """Raises `AccelShapeError` if an extent of what `name` makes is negative (then with the hint) or larger than
    `LARGEST_EXTENT`."""
    for extent in extents:
        if extent is not None and extent < 0:
            needed, advice = _LEAST.get(
                name,
                ("extents that are not negative, got {}", "where one may turn out less than 0 write `A.max(n, 0)`"),
            )
            raise AccelShapeError(f"{name} needs {needed.format(_listed(extents))}", where, hint=hint or advice)
    for extent in extents:
        if extent is not None and extent > LARGEST_EXTENT:
            if name == "expand":  # the extent is not the sum, which may have wrapped
                hint = "is one of the sizes something else than a size? `A.min(size, n)` bounds it"
                message = "expand needs sizes that come to at most 2**47 elements, got more"
                raise AccelShapeError(message, where, hint=hint)
            message = f"an extent is too large: {_listed(extents)}; the largest is 2**47"
            raise AccelShapeError(message, where, hint=SMALLER)


def _listed(extents: Extents) -> str:
    """One extent as a number, several as a shape."""
    return str(extents[0]) if len(extents) == 1 else show(extents)


def equal_extents(name: str, arrays: Sequence[Acc[Any]], where: Where | None) -> Extents:
    """The common extents of arrays that `name` needs to be of equal shape."""
    first = arrays[0]
    for array in arrays:
        if array.extents != first.extents:
            break
    else:
        return first.extents
    require_one_rank(name, arrays, where)
    known = list(first.extents)
    givers = [first] * first.rank
    for array in arrays[1:]:
        for axis, extent in enumerate(array.extents):
            if known[axis] is None:
                known[axis], givers[axis] = extent, array
            elif extent is not None and extent != known[axis]:
                giver = givers[axis]
                texts = show(giver.extents), show(array.extents)
                raise unequal(name, *texts, where, giver.node.where, array.node.where)
    return tuple(known)


def require_one_rank(name: str, arrays: Sequence[Acc[Any]], where: Where | None) -> None:
    """Raises `AccelTypeError` unless the arrays, of which `name` reads elements together, have one rank."""
    first = arrays[0]
    for array in arrays[1:]:
        if array.rank != first.rank:
            others = tuple(_made_here(show(each.extents), each.node.where) for each in (first, array))
            message = f"{name} needs arrays of one rank, got {first.rank} and {array.rank}"
            hint = "nothing is repeated by itself: `A.replicate((n, A.All), xs)` makes n rows of a vector"
            raise AccelTypeError(message, where, others=others, hint=hint)


def intersection(arrays: Sequence[Acc[Any]]) -> Extents:
    """The extents of the largest shape that fits into all `arrays`, where all of theirs are known."""
    columns = zip(*(array.extents for array in arrays), strict=True)
    return tuple(_least(column) for column in columns)


def shape_extents(name: str, shape: ScalarNode, where: Where | None) -> Extents:
    """The extents of a shape that `name` was given with numbers. Raises `AccelShapeError` if one is negative or too large."""
    assert isinstance(shape, MakeTuple)
    extents = tuple(int(item.value) if isinstance(item, Literal) else None for item in shape.items)
    hint = "no extent is inferred: write `A.size(xs) // n`" if -1 in extents else None
    require_extents(extents, where, name, hint)
    return extents


def show(extents: Extents) -> str:
    """Extents as users write shapes, `?` for those not yet known."""
    inner = ", ".join("?" if extent is None else str(extent) for extent in extents)
    return f"({inner},)" if len(extents) == 1 else f"({inner})"


def product(extents: Extents) -> int | None:
    """The number of elements, if known."""
    total = 1
    for extent in extents:
        if extent == 0:
            return 0
    for extent in extents:
        if extent is None:
            return None
        total *= extent
    return total


def _least(column: tuple[int | None, ...]) -> int | None:
    known = [extent for extent in column if extent is not None]
    return min(known) if len(known) == len(column) else None


_TRIMMING = ("zip", "izip", "scatter", "gatherIf")
"""How the names of combinators begin that take `trim`."""


def no_largest(k: int, extent: int, where: Where | None) -> AccelValueError:
    """A row of `extent` elements, of which `topK` is asked for more."""
    hint = "where it may turn out larger write `A.min(k, n)` for rows of n elements"
    return AccelValueError(f"topK: a row of {extent} elements has no {k} largest", where, hint=hint)


def no_axis(name: str, axis: int, rank: int, where: Where | None) -> AccelValueError:
    """An axis that an array of that rank lacks."""
    hint = (
        f"axes are 0 to {rank - 1} from the outermost, -1 to -{rank} from the innermost"
        if rank
        else "a scalar has none"
    )
    return AccelValueError(f"{name}: an array of rank {rank} has no axis {axis}", where, hint=hint)


def undivided(extents: Extents, axis: int, block: int, where: Where | None, made: Where | None) -> AccelShapeError:
    """A dimension that `subdivide` cannot cut into such blocks."""
    if block < 1:
        needed, advice = _LEAST["subdivide"]
        return AccelShapeError(f"subdivide needs {needed.format(block)}", where, hint=advice)
    shape = show(extents)
    message = f"subdivide: blocks of {block} do not divide extent {extents[axis]} of dimension {axis} of {shape}"
    hint = "what is left is cut off by `A.takeOn(axis, n // block * block, xs)`, or filled up by `A.concatOn`"
    return AccelShapeError(message, where, others=(_made_here(shape, made),), hint=hint)


def unequal(
    name: str,
    left: str,
    right: str,
    where: Where | None,
    left_where: Where | None,
    right_where: Where | None,
) -> AccelShapeError:
    """Two operands of the combinator `name` have different shapes, which are given as texts: `(3, ?)`, `(n0, 3)`."""
    return AccelShapeError(
        f"{name} needs arrays of equal shape, got {left} and {right}",
        where,
        others=(_made_here(left, left_where), _made_here(right, right_where)),
        hint="for the part that they share write `trim=True`"
        if name.startswith(_TRIMMING)
        else "shorten one by `A.take(n, xs)`; nothing is repeated by itself: `A.replicate((n, A.All), xs)`",
    )


def _made_here(shape: str, where: Where | None) -> tuple[str, Where | None]:
    return f"{shape} was made here:", where
