"""The inside of a nest, where conditions on its indices are decided: what the splitting of a loop is about.

In: a nest. Out: the iterations in which no comparison of an index with the beginning or the end of its loop, no clamp, mirror
or remainder of it makes a difference, as margins of its loops; and the innermost loop's statements as they are there, without
these conditions, and without the bounds checks and branches that hang on them. The statements are made of the nest's own by
the simplifier of scalar code, which changes no bit (`accel/labelled/scalars/simplify.py`), from what is known of the indices
there: so whoever wrote the conditions, `stencil` or a user, has them at the edges only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from accel.ir.indices import Indices, arguments, extent_of
from accel.ir.mentions import function_statements, loops
from accel.ir.nodes import For, LoopBody, LoopDirection, Nest, OneToOne, Stream
from accel.ir.work import element_work
from accel.labelled.scalar import If, Load, Statement
from accel.labelled.work import INSTRUCTIONS
from accel.schedule.nodes import Margin
from accel.schedule.splitting.conditions import thresholds

WIDEST = 64
"""Wider edges are none: a condition that holds so far from the end is no boundary."""


def inside(nest: Nest) -> tuple[Margin, ...]:
    """The margins of the loops that have some, outermost first; none if no condition would be decided by them.

    Where the innermost loop's own are enough they stand alone: what depends on outer indices only costs nothing in it.
    """
    every = loops(nest)
    if not every or every[-1].direction is not LoopDirection.UP or extent_of(every[-1]) is None:
        return ()
    known = {
        loop.index.name: (depth, extent) for depth, loop in enumerate(every) if (extent := extent_of(loop)) is not None
    }
    found: dict[int, tuple[int, int]] = {}
    for statement in _functions(every[-1]):
        places = {p: known[a.name] for p, a in arguments(statement) if isinstance(a, Stream) and a.name in known}
        for depth, low, high in thresholds(statement.function, places):
            if max(low, high) <= WIDEST:
                before, after = found.get(depth, (0, 0))
                found[depth] = max(before, low), max(after, high)
    margins = tuple(Margin(depth, *found[depth]) for depth in sorted(found) if any(found[depth]))
    own = tuple(margin for margin in margins if margin.depth == len(every) - 1)
    some = own if _branches(statements(nest, own)) == _branches(statements(nest, margins)) else margins
    own_work = element_work([*every[-1].body.before, *every[-1].body.after], INSTRUCTIONS)
    return some if element_work(statements(nest, some), INSTRUCTIONS) < own_work else ()


def statements(nest: Nest, margins: Sequence[Margin]) -> tuple[LoopBody, ...]:
    """Those of the innermost loop, as they are within these margins. They make the same streams."""
    every = loops(nest)
    indices = Indices(every, {margin.depth: (margin.low, margin.high) for margin in margins})
    return tuple(map(indices.simplified, (*every[-1].body.before, *every[-1].body.after)))


def _functions(loop: For) -> Iterator[OneToOne]:
    return (each for each in (*loop.body.before, *loop.body.after) if isinstance(each, OneToOne))


def _branches(some: Sequence[LoopBody]) -> int:
    """How many conditionals statements have, and loads that are checked."""
    functions = [each.function for each in some if isinstance(each, OneToOne)]
    return sum(_is_branch(statement) for function in functions for statement in function_statements(function))


def _is_branch(statement: Statement) -> bool:
    checked = isinstance(statement, Load) and not statement.inside and not statement.inside_block
    return checked or isinstance(statement, If)
