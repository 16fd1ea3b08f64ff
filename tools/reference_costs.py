"""What the functions of each section of the reference cost, and what they raise.

What more there is to say of one of them stands in its docstring.
"""

from __future__ import annotations

from collections.abc import Mapping

COSTS_AND_ERRORS: Mapping[str, str] = {
    "Running programs": """A call costs what its program does, and half a microsecond to some hundred beside that
([benchmarks.md](benchmarks.md)); the first one of a program plans and compiles, in milliseconds to seconds. What the
data break is raised by it: `AccelShapeError`, `AccelIndexError`, `AccelValueError`, `AccelMemoryError`;
`AccelDeviceError` where a backend is missing; `AccelValueError` for settings that there are not.""",
    "Looking at programs": """`explain` plans a program and runs nothing; `profile` runs it. Both raise what building
and running the program do.""",
    "Making arrays": """One loop that reads nothing, or none: who reads such an array computes its elements.
`AccelShapeError` for a negative extent, or one above 2^47; `AccelTypeError` for elements that have no type.""",
    "Maps and zips": """One loop that reads each array once and writes the result, or part of another loop, since maps
fuse with what they read and with what reads them; `zip` and `unzip` alone cost nothing. `AccelTypeError` for
functions that give no `Exp`, and for operands that are no arrays; `AccelShapeError` for unequal shapes, at the call
where they are known and else when run; `AccelStagingError` for arrays that depend on an element.""",
    "Folds and scans": """One loop, in lanes and on all threads. A fold reads each element once and writes one for each
row, a scan one for each element. Both fuse with what they read; what is made of a fold's or a scan's result runs in
the same loop. `AccelTypeError` where the function gives another type than it takes; `AccelValueError` for an empty
row without an initial value. What asks for a size, or an element, costs nothing or one load: `AccelIndexError` behind
the ends.""",
    "Segments": """One loop over segments, for several dimensions in each row, and in it one over elements: each is
read once, and threads share segments by their elements. It fuses with what it reads and with what is made of its
results ([ast.md](ast.md), "Segments"). `AccelShapeError` for descriptors that are wrong, `AccelTypeError` for those
that are no integers; as for folds and scans otherwise.""",
    "Parts, order and shape": """None of these has a loop where another one reads its result, which then reads
elsewhere; alone each copies its result. `AccelShapeError` and `AccelIndexError` for what lies outside,
`AccelTypeError` for wrong ranks, `AccelValueError` for axes that there are not.""",
    "Gathers, scatters and filters": """One loop over the results (gathers) or the elements (scatters, filters), fused
with what they read, and gathers and filters with what reads them. Each element that stands at a random place costs a
line of cache. `AccelIndexError` for places outside of an array, `AccelShapeError` for unequal shapes;
`AccelValueError` for an empty row of `argmin` and `argmax`.""",
    "Sorting and searching": """A sort is a step of its own: its keys are stored before it, its result after it, and it
takes as many passes as keys have bytes, or n log n steps ([sorting.md](sorting.md)). `searchsorted` is a map of log n
steps for each element. `AccelTypeError` for elements without an order; `AccelValueError` or `AccelIndexError` for
more elements than there are.""",
    "Stencils": """One loop that reads each element once from memory, and fuses with what is made of its results; its
inside has neither tests nor checks. A cheap map that it reads is computed at each neighbour; what is
more work is stored first ([ast.md](ast.md#stencils)). `AccelTypeError` for neighbours whose offsets are no
numbers, or too few of them; the boundary's function may break what a map's may.""",
    "Linear algebra": """Products are folds of maps, and run in tiles: n · m · k multiplications and additions, each
operand read about once from memory ([llvm.md](llvm.md)). `AccelShapeError` for extents that do not agree,
`AccelTypeError` for elements of unequal types.""",
    "Control, and calls of the host": """What stands inside costs what it costs for each turn, `acond` one of its
branches; a state that is scattered into is not copied. `compute` stores an array. Calls of the host copy to it where
the device is another. `AccelTypeError` where turns change types, `AccelShapeError` where branches have unequal ranks,
`AccelAssertionError` from `assert_`; what a called function raises goes on.""",
    "Numbers": """One instruction, some tens for elementary functions ([scalars.md](scalars.md) has their errors), in
lanes where the loop runs in lanes. `AccelTypeError` for types that an operation does not have; when run nothing, but
with `checks="all"` `AccelZeroDivisionError` and `AccelNaNError`.""",
    "Bits": """One instruction or a few. `AccelTypeError` for elements that are no integers.""",
    "Tuples, indices, maybes and choices": """Tuples, indices and maybes cost nothing: their parts lie in registers, or
in arrays of their own. `cond` and `match` compute one side, `select` both; `while_` and `sfoldl` are loops inside of
an element. `AccelTypeError` for sides of unequal types, and for bare Python tuples; `AccelIndexError` for a row
outside of an array.""",
}
