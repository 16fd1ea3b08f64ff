"""Scalar expressions as the user would write them, in Python's operators and accel's functions.

In: scalar nodes, and names for the arrays that they read. Out: text of a length linear in the number of nodes: what is used
twice, or is long, is named by `let` in the innermost function that it depends on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count
from typing import TypeAlias, assert_never

from accel.ast.tree.nodes import (
    ArrayNode,
    Conditional,
    Function,
    Index,
    Literal,
    MakeTuple,
    Operation,
    Parameter,
    Project,
    ScalarNode,
    ShapeOf,
    While,
)
from accel.ast.tree.operators import Operator
from accel.ast.tree.types import BOOL, ComplexType, MaybeType
from accel.ast.tree.walk import operands, postorder
from accel.errors import AccelInternalError

Text: TypeAlias = tuple[str, int]
"""A text, and how strongly its outermost operator binds."""

Free: TypeAlias = Mapping[ScalarNode, frozenset[Parameter]]
"""The variables that nodes depend on."""

LONG = 60
"""A part of an expression with more characters than this gets a name."""

_ATOM, _CALL = 100, 90
_INFIX: Mapping[Operator, tuple[str, int]] = {
    Operator.POW: ("**", 60),
    Operator.MUL: ("*", 50),
    Operator.MOD: ("%", 50),
    Operator.ADD: ("+", 45),
    Operator.SUB: ("-", 45),
    Operator.SHIFT_LEFT: ("<<", 40),
    Operator.SHIFT_RIGHT: (">>", 40),
    Operator.AND: ("&", 35),
    Operator.XOR: ("^", 30),
    Operator.OR: ("|", 25),
    Operator.LT: ("<", 20),
    Operator.LE: ("<=", 20),
    Operator.GT: (">", 20),
    Operator.GE: (">=", 20),
    Operator.EQ: ("==", 20),
    Operator.NE: ("!=", 20),
}
_PREFIX: Mapping[Operator, str] = {Operator.NEG: "-", Operator.NOT: "~"}
_FUNCTIONS: Mapping[Operator, str] = {
    Operator.SHIFT_LEFT: "shiftL",
    Operator.ROTATE_LEFT: "rotateL",
    Operator.ROTATE_RIGHT: "rotateR",
    Operator.POP_COUNT: "popCount",
    Operator.COUNT_LEADING_ZEROS: "countLeadingZeros",
    Operator.COUNT_TRAILING_ZEROS: "countTrailingZeros",
    Operator.CEIL: "ceiling",
    Operator.TRUNC: "truncate",
    Operator.IS_NAN: "isNaN",
    Operator.IS_INFINITE: "isInfinite",
}


class Names:
    """Fresh names for the variables of one text, and the names of the arrays that it reads."""

    def __init__(self, arrays: Mapping[ArrayNode, str]) -> None:
        self.arrays = arrays
        self._parameters: dict[Parameter, str] = {}
        self._variables = count()
        self._shared = count()

    def parameter(self, parameter: Parameter) -> str:
        """The name of a variable."""
        if parameter not in self._parameters:
            self._parameters[parameter] = f"x{next(self._variables)}"
        return self._parameters[parameter]

    def shared(self) -> str:
        """A fresh name for an expression that is used twice."""
        return f"t{next(self._shared)}"


def function_text(function: Function, names: Names) -> str:
    """`lambda x0, x1: …`."""
    parameters = ", ".join(names.parameter(parameter) for parameter in function.parameters)
    return f"lambda {parameters}: {expression_text(function.body, names)}"


def expression_text(root: ScalarNode, names: Names) -> str:
    """An expression; its variables that have no name yet get one."""
    return _scope(root, _free(root), names, {})


def _free(root: ScalarNode) -> Free:
    """The variables that each node depends on."""
    free: dict[ScalarNode, frozenset[Parameter]] = {}
    for node in postorder((root,), operands):
        if isinstance(node, Parameter):
            free[node] = frozenset({node})
            continue
        # Most nodes depend on what one operand depends on: sharing that set keeps long chains cheap.
        parts = list(dict.fromkeys(free[operand] for operand in operands(node)))
        inner = parts[0] if len(parts) == 1 else frozenset[Parameter]().union(*parts)
        free[node] = free[node.initial] | (inner - {node.parameter}) if isinstance(node, While) else inner
    return free


def _scope(root: ScalarNode, free: Free, names: Names, known: Mapping[ScalarNode, str]) -> str:
    """The text of an expression, where the nodes `known` from outer scopes have names. Recurs on loops in loops only."""

    def parts(node: ScalarNode) -> tuple[ScalarNode, ...]:
        if node in known:
            return ()
        return (node.initial, *_imports(node, free)) if isinstance(node, While) else operands(node)

    order = postorder((root,), parts)
    uses = dict.fromkeys(order, 0)
    for node in order:
        for part in parts(node):
            # What a loop uses from outside is named before the loop, once for all iterations.
            uses[part] += 2 if isinstance(node, While) and part is not node.initial else 1
    lets: list[str] = []
    named = dict(known)
    texts: dict[ScalarNode, Text] = {}
    for node in order:
        if node in known:
            texts[node] = known[node], _ATOM
            continue
        texts[node] = _loop(node, texts, free, names, named) if isinstance(node, While) else _node(node, texts, names)
        if node is not root and not _is_small(node) and (uses[node] > 1 or len(texts[node][0]) > LONG):
            named[node] = names.shared()
            lets.append(f"{named[node]} = {texts[node][0]}")
            texts[node] = named[node], _ATOM
    return f"let {'; '.join(lets)} in {texts[root][0]}" if lets else texts[root][0]


def _loop(
    node: While, texts: Mapping[ScalarNode, Text], free: Free, names: Names, named: Mapping[ScalarNode, str]
) -> Text:
    variable = names.parameter(node.parameter)
    test, step = (_scope(part, free, names, named) for part in (node.condition, node.body))
    return f"while_(lambda {variable}: {test}, lambda {variable}: {step}, {texts[node.initial][0]})", _CALL


def _imports(loop: While, free: Free) -> tuple[ScalarNode, ...]:
    """What a loop's functions use from outside of the loop."""
    inside = loop.parameter

    def within(node: ScalarNode) -> tuple[ScalarNode, ...]:
        return operands(node) if inside in free[node] else ()

    nodes = postorder((loop.condition, loop.body), within)
    return tuple(node for node in nodes if inside not in free[node])


def _is_small(node: ScalarNode) -> bool:
    if isinstance(node, Project):
        return isinstance(node.source, (Parameter, ShapeOf))
    return isinstance(node, (Literal, Parameter, ShapeOf)) or (isinstance(node, MakeTuple) and not node.items)


def _node(node: ScalarNode, texts: Mapping[ScalarNode, Text], names: Names) -> Text:
    """The text of a node other than a loop, from those of its operands."""

    def plain(part: ScalarNode) -> str:
        return texts[part][0]

    match node:
        case Literal(value=value):
            return str(value), _ATOM if not str(value).startswith("-") else 55
        case Parameter():
            return names.parameter(node), _ATOM
        case Operation():
            return _operation(node, texts)
        case MakeTuple(items=items):
            return _tuple(node, [plain(item) for item in items]), _ATOM
        case Project(source, position):
            if isinstance(source.type, MaybeType):
                return f"{'fromJust' if position else 'isJust'}({plain(source)})", _CALL
            if isinstance(source.type, ComplexType):
                return f"{'imag' if position else 'real'}({plain(source)})", _CALL
            return f"{_within(texts[source], _CALL)}[{position}]", _CALL
        case Conditional(condition, then, orelse):
            return _choice(node, plain(condition), plain(then), plain(orelse), texts)
        case Index(array, index):
            place = plain(index)
            if isinstance(index, MakeTuple):
                place = place[1:-1].rstrip(",") or "()"
            return f"{names.arrays[array]}[{place}]", _CALL
        case ShapeOf(array):
            return f"{names.arrays[array]}.shape", _CALL
        case While():
            raise AccelInternalError("loops are written by _loop")
        case _:
            assert_never(node)


def _operation(node: Operation, texts: Mapping[ScalarNode, Text]) -> Text:
    arguments = [texts[argument] for argument in node.arguments]
    operator = node.operator
    if operator is Operator.DIV:
        symbol, strength = ("/" if node.type.is_float else "//"), 50
    elif operator in _INFIX:
        symbol, strength = _INFIX[operator]
    elif operator in _PREFIX:
        return _PREFIX[operator] + _within(arguments[0], 55), 55
    else:
        given = [text for text, _ in arguments]
        if operator in (Operator.CAST, Operator.BITCAST):
            given.append(str(node.type))
        return f"{_FUNCTIONS.get(operator, str(operator))}({', '.join(given)})", _CALL
    # Comparisons chain in Python, and ** binds to the right: those need parentheses on either side.
    left = strength + 1 if operator is Operator.POW or strength == 20 else strength
    return f"{_within(arguments[0], left)} {symbol} {_within(arguments[1], strength + 1)}", strength


def _tuple(node: MakeTuple, items: Sequence[str]) -> str:
    if isinstance(node.type, MaybeType):
        flag = node.items[0]
        if isinstance(flag, Literal):
            return f"just({items[1]})" if flag.value else "nothing()"
        return f"maybe({items[0]}, {items[1]})"
    if isinstance(node.type, ComplexType):
        return f"mkComplex({items[0]}, {items[1]})"
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"


def _choice(node: Conditional, condition: str, then: str, orelse: str, texts: Mapping[ScalarNode, Text]) -> Text:
    """`cond`, or the `&` and `|` of bools that it stands for."""
    if node.type is BOOL:
        test = texts[node.condition]
        if isinstance(node.orelse, Literal) and node.orelse.value is False:
            return f"{_within(test, 35)} & {_within(texts[node.then], 36)}", 35
        if isinstance(node.then, Literal) and node.then.value is True:
            return f"{_within(test, 25)} | {_within(texts[node.orelse], 26)}", 25
    return f"cond({condition}, {then}, {orelse})", _CALL


def _within(part: Text, strength: int) -> str:
    """The text of an operand, in parentheses if it binds less strongly than needed."""
    text, own = part
    return text if own >= strength else f"({text})"
