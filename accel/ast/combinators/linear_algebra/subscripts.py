"""The subscripts of `einsum`: a text such as `"ij,jk->ik"` becomes a name for each axis of each operand, and of the result.

In: the text and the ranks of the operands. Out: names. An ellipsis stands for axes called `...0`, `...1` and so on, counted
from the innermost of them. Raises `AccelValueError` for what is no such text, `AccelTypeError` for ranks that it does not fit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from accel.errors import AccelTypeError, AccelValueError, Where
from accel.support.dataclass import frozen

ELLIPSIS = "..."


@frozen
class Subscripts:
    """Names for the axes of the operands, in which one may stand twice (a diagonal), and for those of the result."""

    operands: tuple[tuple[str, ...], ...]
    result: tuple[str, ...]


def subscripts_of(text: str, ranks: Sequence[int], where: Where | None) -> Subscripts:
    """What the text says of operands of these ranks. Without `->`, the result has what stands once, in alphabetical order."""
    left, arrow, right = text.replace(" ", "").partition("->")
    parts = left.split(",")
    if len(parts) != len(ranks):
        message = f"einsum's subscripts {text!r} are for {len(parts)} array{'s' * (len(parts) != 1)}, got {len(ranks)}"
        hint = "each array has its subscripts, with commas between them"
        raise AccelTypeError(message, where, hint=hint)
    operands = tuple(_operand(part, rank, text, where) for part, rank in zip(parts, ranks, strict=True))
    every = [axis for operand in operands for axis in operand]
    dots = sorted({axis for axis in every if axis.startswith(ELLIPSIS)}, key=_place)
    if not arrow:
        once = sorted(axis for axis, count in Counter(every).items() if count == 1 and axis not in dots)
        return Subscripts(operands, (*dots, *once))
    return Subscripts(operands, _result(right, dots, set(every), text, where))


def _operand(part: str, rank: int, text: str, where: Where | None) -> tuple[str, ...]:
    before, dots, after = _split(part, text, where)
    missing = rank - len(before) - len(after)
    if missing < 0 or (missing and not dots):
        message = f"einsum's subscripts {part!r} are for rank {len(before) + len(after)}, but the array has rank {rank}"
        hint = (
            f"write `{before}...{after}` to keep the other axes"
            if missing > 0
            else "one letter for each axis of the array"
        )
        raise AccelTypeError(message, where, hint=hint)
    return (*before, *_dots(missing), *after)


def _result(part: str, dots: Sequence[str], known: set[str], text: str, where: Where | None) -> tuple[str, ...]:
    before, has_dots, after = _split(part, text, where)
    if dots and not has_dots:
        hint = f"write `->...{part}`, or name the axes that are summed"
        raise AccelValueError(f"einsum's result {part!r} lacks the axes of the ellipsis", where, hint=hint)
    for axis, count in Counter(before + after).items():
        if axis not in known:
            hint = "a new axis is made by `A.replicate`, before or after"
            raise AccelValueError(f"einsum's result has an axis {axis!r} that no array has", where, hint=hint)
        if count > 1:
            hint = "a diagonal is made by `A.generate(sh, lambda ix: A.cond(ix[0] == ix[1], xs[ix[0]], 0))`"
            raise AccelValueError(f"einsum's result has the axis {axis!r} twice", where, hint=hint)
    return (*before, *dots, *after)


def _split(part: str, text: str, where: Where | None) -> tuple[str, bool, str]:
    """The names before and after an ellipsis, and whether there is one."""
    before, dots, after = part.partition(ELLIPSIS)
    wrong = [letter for letter in before + after if not (letter.isascii() and letter.isalpha())]
    if wrong:
        hint = "axes are letters, operands are parted by commas, the result follows `->`, and `...` are further axes"
        raise AccelValueError(
            f"einsum's subscripts {text!r} have a {wrong[0]!r} that means nothing there", where, hint=hint
        )
    return before, bool(dots), after


def _dots(count: int) -> tuple[str, ...]:
    return tuple(f"{ELLIPSIS}{place}" for place in reversed(range(count)))


def _place(axis: str) -> int:
    """Axes of an ellipsis from the outermost to the innermost."""
    return -int(axis.removeprefix(ELLIPSIS))
