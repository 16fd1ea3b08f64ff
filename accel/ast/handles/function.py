"""Tracing: a Python function over handles becomes a closed scalar function, once.

In: what the user passes to a combinator, and the types of its parameters. Out: `Function`. Raises `AccelTypeError` for
results that are no `Exp`, and `AccelStagingError` where an array computation depends on a scalar variable (nested
parallelism: docs/ast.md, "Two levels").
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Container, Sequence
from typing import Any

import numpy as np

from accel.ast.handles.exp import Exp, raw
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe, require_definite, typed, untyped
from accel.ast.tree.nodes import Function, Literal, Parameter, ScalarNode, While
from accel.ast.tree.structure import scalar_function
from accel.ast.tree.types import BOOL, C64, F32, ComplexType, ElementType, ScalarType, TupleType
from accel.ast.tree.walk import escaping, operands, postorder
from accel.errors import NUMPY, AccelStagingError, AccelTypeError, Where
from accel.support.numpy_names import NUMPY_FUNCTION


def trace(
    function: Callable[..., object],
    parameters: Sequence[ElementType],
    what: str,
    where: Where | None,
    *,
    result: ElementType | None = None,
) -> Function:
    """`function` as a scalar function of parameters of these types.

    `what` names its role in errors, such as "the function of map"; `result` is the type it must give, if that is fixed.
    """
    bound = tuple([Parameter(kind, where) for kind in parameters])
    body = call(function, bound, what, where, result=result)
    if result is None:
        require_definite(body, f"the result of {what}", where)
    return scalar_function(bound, body)


def call(
    function: Callable[..., object],
    parameters: Sequence[Parameter],
    what: str,
    where: Where | None,
    *,
    result: ElementType | None = None,
) -> ScalarNode:
    """What `function` returns at these variables, of type `result` if that is fixed."""
    handles: list[Exp[Any]] = [Exp(parameter) for parameter in parameters]
    hint = None
    if len(parameters) == 1 and not isinstance(parameters[0].type, ScalarType):
        hint = _hint_of_tuple(parameters[0].type)
    value = apply(function, handles, what, where, hint)
    if isinstance(value, Exp):
        body: ScalarNode = value.node
    else:
        body = expect_exp(value, what, where, [parameter.type for parameter in parameters], result)
    if result is None or body.type is result:
        return body
    return typed(body, result, f"the result of {what}", where)


def _lambda(count: int) -> str:
    """A function of so many arguments, as its beginning."""
    names = "xyzuvw" if count <= len("xyzuvw") else [f"x{number}" for number in range(count)]
    return f"lambda {', '.join(names[:count])}: …"


def _hint_of_tuple(kind: ElementType) -> str | None:
    is_tuple = isinstance(kind, TupleType)
    return "it takes one tuple: `lambda p: …`, with `p[0]` or `a, b = A.unlift(p)`" if is_tuple else None


def apply(
    function: Callable[..., object],
    arguments: Sequence[object],
    what: str,
    where: Where | None,
    hint: str | None = None,
) -> object:
    """What the user's `function` returns. Raises `AccelTypeError` if it is not a function of that many arguments."""
    count = len(arguments)
    if not is_function(function) or function is Exp:  # which a user does not call
        wanted = f"a function of {count} argument{'s' * (count != 1)}"
        message = f"{what} must be {wanted}, got {describe(raw(function))}"
        raise AccelTypeError(message, where, hint=hint or f"write `{_lambda(count)}`")
    try:
        return function(*arguments)
    except RecursionError:
        raise AccelStagingError(f"{what} calls itself too deeply", where, hint=_NO_RECURSION) from None
    except TypeError as error:
        if not takes(function, count):
            wanted = f"{what} must take {count} argument{'s' * (count != 1)}"
            raise AccelTypeError(wanted, where, hint=hint or f"write `{_lambda(count)}`") from None
        if "__array_ufunc__" in str(error):  # NumPy's way to say so
            raise _numpy_function(error, where) from None
        if _is_of_the_call(error):
            raise _not_of_exps(error, what, where) from error
        raise
    except ValueError as error:
        if _is_of_the_call(error):
            raise _not_of_exps(error, what, where) from error
        raise


_NO_RECURSION = (
    "recursion has no end while the program is built, where both sides of `A.cond` and `A.acond` are: "
    "write `A.while_` or `A.awhile`"
)


def _not_of_exps(error: Exception, what: str, where: Where | None) -> AccelTypeError:
    message = f"{what} does not take Exps: {error}"
    return AccelTypeError(message, where, hint="write a function of Exps: `lambda x: …`")


def _is_of_the_call(error: Exception) -> bool:
    """Whether no line of a function raised it, but Python, which could not call that: a builtin, or an alias of a class."""
    trace = None if error.__traceback__ is None else error.__traceback__.tb_next
    while trace is not None and trace.tb_frame.f_code.co_filename == typing.__file__:
        trace = trace.tb_next
    return trace is None


def apply_to_arrays(function: Callable[..., object], arrays: Sequence[object], where: Where | None) -> object:
    """What the user's function over arrays returns. Raises `AccelTypeError` if it does not take so many."""
    count = len(arrays)
    if not takes(function, count):
        name = getattr(function, "__name__", "the function")
        hint = f"its parameters are {inspect.signature(function)}"
        raise AccelTypeError(f"{name} does not take {count} array{'s' * (count != 1)}", where, hint=hint)
    return apply(function, arrays, "the function", where)


def takes(function: Callable[..., object], count: int) -> bool:
    """Whether a function may be called with `count` arguments; True where Python cannot tell."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # a builtin without a signature
        return True
    return True


def _numpy_function(error: TypeError, where: Where | None) -> AccelTypeError:
    """What to say to a NumPy function in scalar code: where it stands, if it is not itself what the combinator was given."""
    trace = None if error.__traceback__ is None else error.__traceback__.tb_next
    while trace is not None and not trace.tb_frame.f_code.co_filename.startswith(NUMPY):
        where = Where(trace.tb_frame.f_code, trace.tb_lasti)
        trace = trace.tb_next
    hint = "write accel's: `A.sqrt(x)` for `np.sqrt(x)`, `A.max(x, y)` for `np.maximum(x, y)`"
    return AccelTypeError(NUMPY_FUNCTION, where, hint=hint)


def expect_exp(
    value: object,
    what: str,
    where: Where | None,
    given: Sequence[ElementType] = (),
    result: ElementType | None = None,
) -> ScalarNode:
    """The node of what the user's function returned: an `Exp`, or a number whose type is clear.

    That is a bool, a NumPy scalar, and any number where the type of the `result` is fixed. Raises `AccelTypeError`, which says
    what to return, for anything else. `given` are the types of its parameters, one of which a number probably should have.
    """
    if isinstance(value, Exp):
        return value.node
    if isinstance(value, (bool, int, float, complex, np.generic)):
        if isinstance(result, ScalarType | ComplexType):
            return typed(value, result, f"the result of {what}", where)
        if isinstance(value, (bool, np.generic)):
            return untyped(value, f"the result of {what}", where)
    if isinstance(value, tuple):
        items = ", ".join("…" for _ in value)
        hint = f"write `A.lift({items})`, or `A.index({items})` for an index"
    elif value is None:
        hint = "is a `return` missing?"
    elif isinstance(value, (int, float, complex)):
        hint = f"write `{_constant(value, given)}`, with the type that is meant"
    else:
        hint = "one element of an array is read by `xs[index]`, that of a scalar array by `A.the(xs)`"
    message = f"{what} must return an Exp, but returned {describe(value)}"
    raise AccelTypeError(message, where, hint=hint)


def _constant(value: complex, given: Sequence[ElementType]) -> str:
    """A Python number as an expression, of the last of the given types that it may have."""
    if isinstance(value, complex):
        complexes = [kind for kind in given if isinstance(kind, ComplexType)]
        return f"A.constant({value!r}, np.{(complexes or [C64])[-1].dtype})"
    kinds = [kind for kind in given if isinstance(kind, ScalarType | ComplexType) and kind is not BOOL]
    fitting = [kind for kind in kinds if isinstance(kind, ComplexType) or kind.is_float or isinstance(value, int)]
    return f"A.constant({value!r}, np.{(fitting or [F32])[-1].dtype})"


def forbid_nested(name: str, nodes: Sequence[ScalarNode | Function | None], where: Where | None) -> None:
    """Raise `AccelStagingError` if scalar code of the array computation `name` depends on a variable of an outer function.

    Arrays that the code indexes have passed this check when they were built.
    """
    roots: list[ScalarNode] = []
    for node in nodes:
        if isinstance(node, Function):
            if node.key is None:  # else it is closed
                roots.append(node.body)
        elif node is not None and type(node) is not Literal:
            roots.append(node)
    if not roots:
        return
    bound = {parameter for node in nodes if isinstance(node, Function) for parameter in node.parameters}
    if _only_uses(roots, bound):
        return
    code = postorder(roots, operands)
    loops = [node for node in code if isinstance(node, While)]
    bound.update(loop.parameter for loop in loops)
    for node in code:
        if isinstance(node, Parameter) and node not in bound:
            raise _nested(name, node, where)
    if loops:
        _forbid_leaks(roots, code, loops, where)


def _only_uses(roots: Sequence[ScalarNode], bound: Container[ScalarNode]) -> bool:
    """Whether code has no loops, and no variables but these, in less time than an order takes."""
    pending, seen = list(roots), set[ScalarNode]()
    while pending:
        node = pending.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, Parameter):
            if node not in bound:
                return False
        elif isinstance(node, While):
            return False
        else:
            pending += operands(node)
    return True


def _forbid_leaks(
    roots: Sequence[ScalarNode], code: Sequence[ScalarNode], loops: Sequence[While], where: Where | None
) -> None:
    """Raise `AccelStagingError` if the variable of one of these scalar loops is used outside of it."""
    variables = {loop.parameter for loop in loops}

    def bound(node: ScalarNode) -> tuple[ScalarNode, ...]:
        return (node.parameter,) if isinstance(node, While) else ()

    free = escaping(code, operands, variables.__contains__, bound, roots)
    for loop in loops:
        if loop.parameter in free:
            raise _leaked(loop, roots, where)


def _nested(name: str, parameter: Parameter, where: Where | None) -> AccelStagingError:
    return AccelStagingError(
        f"{name} starts an array computation that depends on a variable of a scalar function (nested parallelism)",
        where,
        others=(("the scalar function belongs to the combinator here:", parameter.where),),
        hint="compute all its results at once in an array of one more dimension (`A.replicate`, `A.generate`) and index"
        " that, or loop over the elements by `A.while_`",
    )


def _leaked(loop: While, roots: Sequence[ScalarNode], where: Where | None) -> AccelStagingError:
    def outside(node: ScalarNode) -> tuple[ScalarNode, ...]:
        return (loop.initial,) if node is loop else operands(node)

    users = (node.where for node in postorder(roots, outside) if loop.parameter in outside(node))
    return AccelStagingError(
        "the variable of a while_ is used outside of its functions",
        next(users, where),
        others=(("the while_ is here:", loop.where),),
        hint="return it from the step; several values are carried in one tuple: `A.lift(…, …)`",
    )
