"""Scalar functions in C: their statements, written where the function is applied.

In: a `Function` and atoms for its parameters. Out: lines in a `Writer` and atoms for its results. Blocks nest as deep as the
user's conditionals do, so an explicit stack of pending work takes the place of recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import assert_never

from accel.ast.tree.types import ScalarType
from accel.backends.opencl.code.checks import has_checks, is_open, may_not_end, misleads
from accel.backends.opencl.code.naming import ERROR, element, extent_number, extent_text, index_text
from accel.backends.opencl.code.prelude import Prelude
from accel.backends.opencl.code.scalar import expression
from accel.backends.opencl.code.spelling import c_type, constant
from accel.backends.opencl.code.writer import Writer
from accel.backends.opencl.machine.features import Features
from accel.backends.sites import IndexSite, Site
from accel.ir import mentions
from accel.ir.nodes import Nest, Remap, Stream
from accel.labelled.array import Extent
from accel.labelled.scalar import Block, Compute, Constant, Function, If, Load, Operand, Statement, Variable, While
from accel.support.dataclass import dataclass

LOOK = 1 << 10
"""So many turns after another a scalar loop that may go on for ever looks whether it is to stop."""


@dataclass(slots=True)
class Context:
    """What is the same for all code of one program.

    `kernels` and `states`: the names of those already written, by their text without names, so that equal nests share them.
    `sites`: where a failing check is written down, for the kernel that finds out which one failed first; None in the
    kernels that compute, which only raise the flag. `trusts`: no check can fail that an index proved to be in bounds rests on.
    `looks`: scalar loops that may go on for ever look whether the flag is raised. `bounded`: streams that are at most some
    extent, since they are checked.
    """

    features: Features
    prelude: Prelude
    sites: list[Site] | None = None
    trusts: bool = False
    looks: bool = False
    bounded: frozenset[Stream] = frozenset()
    kernels: dict[str, str] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)

    def of(self, nest: Nest) -> Context:
        """The same for the code of one nest."""
        checked = (each.outs for each in mentions.statements(nest) if isinstance(each, Remap))
        bounded = frozenset(out for outs in checked for out in outs)
        trusts = not misleads(nest)
        looks = not trusts or (self.features.stops and may_not_end(nest))
        return replace(self, trusts=trusts, looks=looks, bounded=bounded)

    def has_record(self, nest: Nest) -> bool:
        """Whether kernels of the nest whose code this is of get a record: they may raise the flag there, or look at it."""
        return self.looks or has_checks(nest)

    def flagged(self, function: Function) -> bool:
        """Whether a function's code mentions the flag."""
        return any(
            (self.looks and is_open(each)) or (isinstance(each, Load) and not self.trusts)
            for each in mentions.function_statements(function)
        )

    def fail(self, writer: Writer, index: Sequence[str], site: Site) -> None:
        """Record that a check failed; `index` begins with the offending one, if there is one."""
        if self.sites is None:
            writer.line(f"{ERROR}[0] = 1;")
            return
        self.sites.append(site)
        with writer.block(f"if ({ERROR}[0] == 0)"):
            writer.line(f"{ERROR}[0] = {len(self.sites)};")
            for axis, text in enumerate([*index, *map(index_text, site.more)], 1):
                writer.line(f"{ERROR}[{axis}] = {text};")

    def checked(self, writer: Writer, index: Sequence[str], site: IndexSite) -> str:
        """Test an index against the site's shape; gives the condition under which it is inside."""
        pairs = zip(index, site.shape, strict=True)
        inside = " && ".join(f"(ulong){text} < (ulong){extent_text(extent)}" for text, extent in pairs) or "1"
        name = writer.fresh("inside")
        writer.line(f"const int {name} = {inside};")
        with writer.block(f"if (!{name})"):
            self.fail(writer, index, site)
        return name


def inline(function: Function, arguments: Sequence[str], writer: Writer, context: Context) -> list[str]:
    """Write the function's body; gives its results as atoms."""
    names = dict(zip((parameter.number for parameter in function.parameters), arguments, strict=True))
    body = _Body(writer, context, names)
    body.run(function.body)
    return [body.atom(result) for result in function.body.results]


class _Body:
    """One application of a function. `_pending` holds what is still to be written, the next thing last."""

    def __init__(self, writer: Writer, context: Context, names: dict[int, str]) -> None:
        self._writer = writer
        self._context = context
        self._names = names
        self._pending: list[Statement | Callable[[], None]] = []

    def atom(self, operand: Operand) -> str:
        match operand:
            case Variable(number):
                return self._names[number]
            case Constant():
                return constant(operand)
            case Extent():
                return extent_number(operand)
            case _:
                assert_never(operand)

    def run(self, block: Block) -> None:
        self._push(block)
        while self._pending:
            task = self._pending.pop()
            match task:
                case Compute():
                    self._compute(task)
                case Load():
                    self._load(task)
                case If():
                    self._if(task)
                case While():
                    self._while(task)
                case _:
                    task()

    def _push(self, block: Block) -> None:
        self._pending += reversed(block.statements)

    def _declare(self, kind: ScalarType, value: str | None, variable: Variable | None = None) -> str:
        name = self._writer.fresh()
        self._writer.line(f"{c_type(kind)} {name}{'' if value is None else f' = {value}'};")
        if variable is not None:
            self._names[variable.number] = name
        return name

    def _compute(self, statement: Compute) -> None:
        types = [kind_of(argument) for argument in statement.arguments]
        atoms = [self.atom(argument) for argument in statement.arguments]
        result, context = statement.out.type, self._context
        text = expression(statement.operator, result, types, atoms, context.features, context.prelude)
        self._declare(result, text, statement.out)

    def _load(self, statement: Load) -> None:
        writer, array = self._writer, statement.array
        index = [self.atom(argument) for argument in statement.index]
        if self._context.trusts or not index:
            self._declare(array.element, element(array, index), statement.out)
            return
        inside = self._context.checked(writer, index, IndexSite(array.shape, statement.where))
        self._declare(array.element, f"{inside} ? {element(array, index)} : 0", statement.out)

    def _if(self, statement: If) -> None:
        writer = self._writer
        outs = [self._declare(out.type, None, out) for out in statement.outs]

        def results(block: Block) -> Callable[[], None]:
            return lambda: self._assign(outs, [self.atom(result) for result in block.results])

        self._pending += [writer.close, results(statement.orelse)]
        self._push(statement.orelse)
        self._pending += [writer.otherwise, results(statement.then)]
        self._push(statement.then)
        writer.open(f"if ({self.atom(statement.condition)})")

    def _while(self, statement: While) -> None:
        writer = self._writer
        pairs = zip(statement.parameters, statement.initial, strict=True)
        states = [self._declare(parameter.type, self.atom(initial), parameter) for parameter, initial in pairs]
        for out, state in zip(statement.outs, states, strict=True):
            self._names[out.number] = state

        looks = self._context.looks and is_open(statement)
        leave = self._look() if looks else "if (!%s) break;"

        def again() -> None:
            atoms = [self.atom(result) for result in statement.body.results]
            fresh = [self._declare(p.type, atom) for p, atom in zip(statement.parameters, atoms, strict=True)]
            self._assign(states, fresh)

        self._pending += [writer.close] * (2 if looks else 1)
        self._pending.append(again)
        self._push(statement.body)
        self._pending.append(lambda: writer.line(leave % self.atom(statement.condition.results[0])))
        self._push(statement.condition)
        if not looks:
            writer.open("for (;;)")

    def _look(self) -> str:
        """Begin a loop in a loop, which is gone on with as long as the flag is not raised: it is only looked at in the outer
        one, and both end at once, so that compilers have one condition in each turn. How the inner one ends, with its
        condition for `%s`."""
        more, turn = self._writer.fresh("more"), self._writer.fresh("turn")
        self._writer.line(f"int {more} = 1;")
        self._writer.open(f"while ({more} && !{ERROR}[0])")
        self._writer.open(f"for (int {turn} = 0;; ++{turn})")
        return f"if (!({more} = %s) | {turn} == {LOOK}) break;"

    def _assign(self, names: Sequence[str], values: Sequence[str]) -> None:
        for name, value in zip(names, values, strict=True):
            self._writer.line(f"{name} = {value};")


def kind_of(operand: Operand) -> ScalarType:
    """The operand's type; an extent is an i64."""
    match operand:
        case Variable(_, kind):
            return kind
        case Constant(kind):
            return kind
        case Extent():
            return ScalarType.I64
        case _:
            assert_never(operand)
