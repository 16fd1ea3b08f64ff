"""Faults of the stage `ast`: what operators mean, literals, types, sharing, combinators, errors at the user's line."""

from __future__ import annotations

from tests.mutation.fault import Fault

_SEMANTICS = "tests/scalar/test_semantics.py"
_SCALARS = "tests/ast/test_scalars.py"
_COMBINATORS = "tests/ast/test_combinators.py"
_MISTAKES = "tests/errors/test_errors.py"
_ARITIES = "tests/ast/test_arities.py"
_CALLS = "tests/ast/test_calls.py"
_RAW = "tests/issues/test_raw_errors_of_python.py"

FAULTS = (
    Fault(
        "the reference wraps unsigned integers as signed ones",
        "ast/meaning/semantics.py",
        "mask, least = (1 << kind.bits) - 1, kind.minimum\n",
        "mask, least = (1 << kind.bits) - 1, -(1 << kind.bits - 1)\n",
        (f"{_SEMANTICS}::test_numpy_gives_the_same_where_it_defines_a_result",),
    ),
    Fault(
        "the reference rounds quotients down",
        "ast/meaning/semantics.py",
        "return magnitude if (x < 0) == (y < 0) else -magnitude",
        "return magnitude if (x < 0) == (y < 0) else x // y",
        (f"{_SEMANTICS}::test_stated_values",),
    ),
    Fault(
        "the reference shifts negative numbers to 0",
        "ast/meaning/semantics.py",
        "return x >> (amount if 0 <= amount < width else width)",
        "return x >> amount if 0 <= amount < width else 0",
        (f"{_SEMANTICS}::test_stated_values",),
    ),
    Fault(
        "the reference takes -0.0 for 0.0 in minima",
        "ast/meaning/semantics.py",
        "return x if math.copysign(1.0, x) < 0 else y",
        "return x",
        (f"{_SEMANTICS}::test_stated_values",),
    ),
    Fault(
        "the reference rounds wide integers twice",
        "ast/meaning/semantics.py",
        "return lambda x: nearest(target, Fraction(x)) if x else 0.0",
        "return lambda x: ROUNDING[target](float(x))",
        (f"{_SEMANTICS}::test_stated_values", "tests/issues/test_greatest_integers_beside_floats.py"),
    ),
    Fault(
        "the flag of a maybe comes last",
        "ast/tree/types.py",
        "return (BOOL, *leaves(value))",
        "return (*leaves(value), BOOL)",
        (_SCALARS, _COMBINATORS, "tests/test_structure.py", "tests/labelled/test_documents.py"),
    ),
    Fault(
        "a literal may be one too large",
        "ast/handles/literals.py",
        "if not expected.minimum <= value <= expected.maximum:",
        "if not expected.minimum <= value <= expected.maximum + 1:",
        (f"{_SCALARS}::test_literals_fit_their_types_to_the_last",),
    ),
    Fault(
        "operands of different types meet",
        "ast/handles/operations.py",
        "return one == other or MaybeType in (type(one), type(other))",
        "return type(one) is type(other)",
        (_MISTAKES,),
    ),
    Fault(
        "`&` evaluates its right side in any case",
        "ast/handles/operations.py",
        'if common_type("&", (left, right), where) is BOOL:',
        'if common_type("&", (left, right), where) is None:',
        (_SCALARS, "tests/ast/test_ast_text.py"),
    ),
    Fault(
        "nested parallelism is let through",
        "ast/handles/function.py",
        "if isinstance(node, Parameter) and node not in bound:",
        "if isinstance(node, Parameter) and node in bound and node.type is None:",
        (_MISTAKES,),
    ),
    Fault(
        "shapes that are known are not compared",
        "ast/handles/extents.py",
        "elif extent is not None and extent != known[axis]:",
        "elif extent is not None and extent < 0:",
        (_MISTAKES,),
    ),
    Fault(
        "a trimmed zip has the larger extent",
        "ast/handles/extents.py",
        "return min(known) if len(known) == len(column) else None",
        "return max(known) if len(known) == len(column) else None",
        (_COMBINATORS, "tests/ast/test_use.py", _MISTAKES),
    ),
    Fault(
        "positions are column-major",
        "ast/handles/tuples.py",
        "position = coordinate if axis == 0 else position * extent + coordinate",
        "position = coordinate if axis == 0 else position + extent * coordinate",
        (_COMBINATORS,),
    ),
    Fault(
        "a negative count drops elements",
        "ast/combinators/parts.py",
        "dropped = count if number is not None and number >= 0 else max(count, 0)",
        "dropped = count if number is not None else max(count, 0)",
        (_COMBINATORS,),
    ),
    Fault(
        "`take` beyond the end has as many elements as it says",
        "ast/combinators/parts.py",
        "size = min(count, extent) if number is not None and number >= 0 else min(max(count, 0), extent)",
        "size = count if number is not None and number >= 0 else min(max(count, 0), extent)",
        (_COMBINATORS,),
    ),
    Fault(
        "a scan from the right with a seed combines it on the left",
        "ast/combinators/folds.py",
        "return map_arrays(name, lambda x: f(x, start), (inclusive,))",
        "return map_arrays(name, lambda x: f(start, x), (inclusive,))",
        (_COMBINATORS,),
    ),
    Fault(
        "of equal elements the last is the greatest",
        "ast/combinators/gathering/extremes.py",
        "lift(best, min(place(left), place(right)))",
        "lift(best, max(place(left), place(right)))",
        ("tests/ast/test_filters.py",),
    ),
    Fault(
        "a NaN is nowhere",
        "ast/combinators/gathering/extremes.py",
        "stands | isNaN(pair[0]) if kind.is_float else stands",
        "stands",
        ("tests/ast/test_filters.py",),
    ),
    Fault(
        "an element that makes none begins where the next does",
        "ast/combinators/gathering/expansion.py",
        "cond(size > 0, just",
        "cond(size >= 0, just",
        ("tests/ast/test_filters.py",),
    ),
    Fault(
        "the reference takes what no 16 bits hold for +infinity",
        "ast/meaning/rounding.py",
        "return math.copysign(math.inf, x)",
        "return math.inf",
        (f"{_SEMANTICS}::test_stated_values",),
    ),
    Fault(
        "errors of a user's function are taken for calls that do not fit",
        "ast/combinators/refused_calls.py",
        "trace is None or trace.tb_next is not None:",
        "trace is None:",
        (_CALLS,),
    ),
    Fault(
        "public functions cannot be pickled",
        "ast/combinators/refused_calls.py",
        "call.__module__ = module",
        "call.__doc__ = module",
        (f"{_CALLS}::test_functions_can_be_sent_to_another_process",),
    ),
    Fault(
        "functions of random numbers leave wrong calls to Python",
        "__init__.py",
        "    vars(random).update(_checked(vars(random), random.__all__, random.__name__))\n",
        "",
        (_CALLS,),
    ),
    Fault(
        "functions that are imported later leave wrong calls to Python",
        "__init__.py",
        "found = _checked_call(getattr(import_module(_LATER[name]), name), __name__)",
        "found = getattr(import_module(_LATER[name]), name)",
        (_CALLS,),
    ),
    Fault(
        "a missing seed is not told from another missing argument",
        "ast/combinators/refused_calls.py",
        "if name in _UNSEEDED and not named",
        "if name in _ASCENDING and not named",
        (f"{_CALLS}::test_what_is_written_instead_of_a_missing_seed_runs", _MISTAKES),
    ),
    Fault(
        "slices that pick nothing are checked",
        "ast/combinators/reorder.py",
        "index >= extent and 0 not in extents)",
        "index >= extent)",
        ("tests/issues/test_slices_without_elements.py",),
    ),
    Fault(
        "arrays have one dimension more than NumPy's",
        "ast/tree/types.py",
        "    if rank > RANKS:\n",
        "    if rank > RANKS + 1:\n",
        (_RAW,),
    ),
    Fault(
        "the class of Exps is called with one",
        "ast/handles/function.py",
        "is_function(function) or function is Exp:",
        "is_function(function):",
        (_RAW,),
    ),
    Fault(
        "digits that are no numbers are threads",
        "settings.py",
        "threads.isdecimal()",
        "threads.isdigit()",
        (_RAW,),
    ),
)
