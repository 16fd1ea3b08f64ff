"""The states of loops in C: a struct of leaves, its merge, and the order in which one work-item combines elements.

In: a `State`. Out: type and function definitions in the prelude, and an `Accumulator` that writes how the state is reset,
stepped and read. An exact state is merged as elements come. The others go through `docs/order.md`'s order of folds or of
scans, emulated by one work-item: `accel.labelled.meaning.order` is the reference for both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum

from accel.ast.tree.types import ScalarType
from accel.backends.opencl.code.functions import Context, inline
from accel.backends.opencl.code.naming import ERROR, array_name, size_name, variables
from accel.backends.opencl.code.spelling import c_type
from accel.backends.opencl.code.writer import ROLLED_LOOP, ZEROS, Writer
from accel.ir import mentions
from accel.ir.nodes import State
from accel.labelled.array import Extent
from accel.labelled.meaning.order import BLOCK, SCAN_VECTOR, lanes
from accel.labelled.meaning.products import steps
from accel.labelled.programs import loaded
from accel.labelled.scalar import Function
from accel.schedule.machine import struct_bytes
from accel.support.dataclass import dataclass


class Machine(Enum):
    """How one work-item combines the elements that come."""

    PLAIN = "plain"
    FOLD = "fold"
    SCAN = "scan"


@dataclass(frozen=True, slots=True)
class StateType:
    """A state's C names. `name` is the struct; `passed` is what its functions take besides: `, a, b` or nothing."""

    name: str
    state: State
    passed: str
    taken: str

    @property
    def lanes(self) -> int:
        """How many lanes a block of a fold has."""
        return lanes(self.state.types)

    @property
    def machine(self) -> Machine:
        """The order in which elements are combined."""
        if self.state.monoid.exact:
            return Machine.PLAIN
        return Machine.SCAN if self.state.running else Machine.FOLD

    @property
    def bytes(self) -> int:
        """The struct's size."""
        return struct_bytes(self.state.types)

    def merge(self, left: str, right: str) -> str:
        """The merge of two values, the one visited earlier first."""
        return f"{self.name}_merge({left}, {right}{self.passed})"

    @property
    def element(self) -> str:
        """The struct of an element: that of a value, unless it holds factors of products."""
        return f"{self.name}_element" if self.state.products else self.name

    def first(self, element: str) -> str:
        """The value that begins with an element."""
        return f"{self.name}_first({element})" if self.state.products else element

    def following(self, value: str, element: str) -> str:
        """The value that goes on with an element."""
        return f"{self.name}_following({value}, {element})" if self.state.products else self.merge(value, element)


def state_type(state: State, context: Context) -> StateType:
    """Define the state's struct and its merge, or find those of a state with the same."""
    arrays = sorted(loaded(state.merge), key=lambda array: (array.label, array.leaf))
    operands = [*mentions.function_operands(state.merge), *mentions.shape_extents(arrays)]
    sizes = variables(operand for operand in operands if isinstance(operand, Extent))
    declared = [f"__global {c_type(array.element)}* {array_name(array)}" for array in arrays]
    declared += [f"position_t {size_name(variable)}" for variable in sizes]
    used = [*map(array_name, arrays), *map(size_name, sizes)]
    if context.flagged(state.merge):
        declared.append(f"volatile __global long* {ERROR}")
        used.append(ERROR)
    passed, taken = ("".join(f", {each}" for each in some) for some in (used, declared))
    key = "\n".join([*_definitions(StateType("STATE", state, passed, taken), context), str(state.monoid.commutes)])
    made = StateType(context.states.setdefault(key, f"state{len(context.states)}"), state, passed, taken)
    if made.name not in context.prelude:
        for name, text in zip(
            ("", "_merge", "_element", "_first", "_following"), _definitions(made, context), strict=False
        ):
            context.prelude.function(made.name + name, text)
    return made


def _definitions(made: StateType, context: Context) -> list[str]:
    """The struct and its merge; for products the struct of an element, and what begins and goes on with one."""
    defined = [_typedef(made.state.types, made.name), _merge(made, context)]
    if made.state.products:
        found = steps(made.state.merge, made.state.monoid, made.state.types, made.state.products)
        element = leaf_names("e", len(made.state.element))
        value = leaf_names("a", len(made.state.types))
        defined.append(_typedef(made.state.element, made.element))
        defined.append(_function(made, "first", f"{made.element} e", found.first, element, context))
        taken = f"{made.name} a, {made.element} e"
        defined.append(_function(made, "following", taken, found.following, [*value, *element], context))
    return defined


def _typedef(kinds: Sequence[ScalarType], name: str) -> str:
    fields = " ".join(f"{c_type(kind)} f{leaf};" for leaf, kind in enumerate(kinds))
    return f"typedef struct {{ {fields} }} {name};"


def leaf_names(value: str, count: int) -> list[str]:
    """The leaves of a value of a state's struct."""
    return [f"{value}.f{leaf}" for leaf in range(count)]


def _merge(made: StateType, context: Context) -> str:
    count = len(made.state.finals)
    taken = f"{made.name} a, {made.name} b{made.taken}"
    return _function(
        made, "merge", taken, made.state.merge, [*leaf_names("a", count), *leaf_names("b", count)], context
    )


def _function(
    made: StateType, name: str, taken: str, function: Function, arguments: Sequence[str], context: Context
) -> str:
    """A function of the state: `taken` are its parameters, `arguments` the leaves of these."""
    writer = Writer()
    results = inline(function, arguments, writer, context)
    writer.line(f"{made.name} result = {{{', '.join(results)}}};")
    writer.line("return result;")
    head = f"static {made.name} {made.name}_{name}({taken}) {{"
    return "\n".join([head, writer.text, "}"])


class Accumulator:
    """A state in the hands of one work-item: the variable `variable` and what belongs to it."""

    def __init__(
        self, made: StateType, variable: str, context: Context, machine: Machine | None = None, after: str | None = None
    ) -> None:
        """`after`: on the plain machine, a condition that holds for all elements but the first, if there is one at hand."""
        self.made = made
        self.variable = variable
        self.machine = machine or made.machine
        self._after = after
        self._seeded = False
        if self.machine is not Machine.PLAIN:
            text = _scan_machine(made) if self.machine is Machine.SCAN else _fold_machine(made)
            context.prelude.function(f"{made.name}_{self.machine.value}", text)

    @property
    def counted(self) -> str:
        """The condition that there was an element or, but for folds in their order, a seed."""
        if self.machine is Machine.PLAIN:
            return "1" if self._seeded else f"{self.variable}_some"
        return f"({self.variable}.count > 0)"

    def begin(self, writer: Writer, seed: str | None) -> None:
        """Reset the state. A fold in its order takes its seed at the end instead (`total`)."""
        name, variable = self.made.name, self.variable
        self._seeded = seed is not None
        if self.machine is not Machine.PLAIN:
            writer.line(f"{name}_{self.machine.value} {variable};")
            writer.line(f"{variable}.count = 0;")
        if self.machine is Machine.SCAN:
            writer.line(f"{variable}.carried = {int(self._seeded)};")
            writer.line(f"{variable}.carry = {variable}.total = {seed or f'({name}){ZEROS}'};")
        if self.machine is Machine.PLAIN:
            writer.line(f"{name} {variable} = {seed or ZEROS};")
            if seed is None and self._after is None:
                writer.line(f"int {variable}_some = 0;")

    def resume(self, writer: Writer, value: str, some: str) -> None:
        """Begin where the blocks before have ended: at `value`, seed included, if the condition `some` holds."""
        name, variable = self.made.name, self.variable
        if self.machine is Machine.SCAN:
            writer.line(f"{name}_scan {variable};")
            writer.line(f"{variable}.count = 0;")
            writer.line(f"{variable}.carried = {some};")
            writer.line(f"{variable}.carry = {variable}.total = {value};")
            return
        writer.line(f"{name} {variable} = {value};")
        self._seeded = self.made.state.initial is not None
        if not self._seeded:
            writer.line(f"int {variable}_some = {some};")

    def step(self, writer: Writer, value: str) -> None:
        """Combine one more element."""
        variable = self.variable
        if self.machine is not Machine.PLAIN:
            writer.line(f"{self.made.name}_{self.machine.value}_step(&{variable}, {value}{self.made.passed});")
            return
        merged = self.made.following(variable, value)
        if self._seeded:
            writer.line(f"{variable} = {merged};")
            return
        with writer.block(f"if ({self._after or f'{variable}_some'})"):
            writer.line(f"{variable} = {merged};")
        with writer.block("else"):
            writer.line(f"{variable} = {self.made.first(value)};")
            if self._after is None:
                writer.line(f"{variable}_some = 1;")

    @property
    def running(self) -> str:
        """The value so far, seed included."""
        return f"{self.variable}.total" if self.machine is Machine.SCAN else self.variable

    def total(self, writer: Writer, seed: str | None) -> str:
        """The final value; meaningless without a seed and without elements."""
        if self.machine is not Machine.FOLD:
            return self.running
        result = writer.fresh("total")
        final = f"{self.made.name}_fold_final(&{self.variable}{self.made.passed})"
        if seed is None:
            writer.line(f"{self.made.name} {result} = {ZEROS};")
            writer.line(f"if {self.counted} {result} = {final};")
        else:
            writer.line(f"{self.made.name} {result} = {seed};")
            writer.line(f"if {self.counted} {result} = {self.made.merge(seed, final)};")
        return result


def struct(writer: Writer, type_: str, leaves: Sequence[str]) -> str:
    """A new variable of a struct."""
    name = writer.fresh("value")
    writer.line(f"{type_} {name} = {{{', '.join(leaves)}}};")
    return name


@dataclass(frozen=True, slots=True)
class BlockTree:
    """What the blocks of a fold come to, one after the other in the hands of one work-item: neighbours join in pairs, level by
    level, if the order shows."""

    made: StateType
    levels: str

    def add(self, writer: Writer, place: str, number: str, is_last: str) -> None:
        """Take what block `number` has come to, at a place, which gets what all have come to if `is_last`."""
        made, levels = self.made, self.levels
        if made.machine is Machine.PLAIN:
            writer.line(f"{levels}[0] = {number} ? {made.merge(f'{levels}[0]', place)} : {place};")
            writer.line(f"if ({is_last}) {place} = {levels}[0];")
            return
        writer.line(f"{made.name}_fold_push({levels}, {number}, {place}{made.passed});")
        joined = f"{made.name}_fold_join({levels}, {number} + 1, {place}, 0{made.passed})"
        writer.line(f"if ({is_last}) {place} = {joined};")


def block_tree(writer: Writer, made: StateType, context: Context) -> BlockTree:
    """A new one."""
    levels = writer.fresh("levels")
    if made.machine is Machine.PLAIN:
        writer.line(f"{made.name} {levels}[1];")
    else:
        context.prelude.function(f"{made.name}_{Machine.FOLD.value}", _fold_machine(made))
        writer.line(f"{made.name} {levels}[{_TREE}];")
    return BlockTree(made, levels)


_TREE = 40
"""Levels of the tree of blocks: enough for 2^40 blocks."""


def _fold_machine(made: StateType) -> str:
    name, width = made.name, made.lanes
    run = 1 if made.state.monoid.commutes else BLOCK // width
    parts = f"{name} lane[{width}];" if made.state.monoid.commutes else f"{name} run;"
    shared = f"""typedef struct {{ long count; {name} tree[{_TREE}]; {parts} }} {name}_fold;
static void {name}_fold_push({name}* tree, long number, {name} value{made.taken}) {{
  int level = 0;
{ROLLED_LOOP}
  for (; (number >> level) & 1; ++level) value = {made.merge("tree[level]", "value")};
  tree[level] = value;
}}
static {name} {name}_fold_join({name}* tree, long parts, {name} rest, int some{made.taken}) {{
{ROLLED_LOOP}
  for (int level = 0; parts >> level; ++level)
    if ((parts >> level) & 1) {{
      rest = some ? {made.merge("tree[level]", "rest")} : tree[level];
      some = 1;
    }}
  return rest;
}}
"""
    return shared + (_lanes_machine(made) if made.state.monoid.commutes else _runs_machine(made, run))


def _lanes_machine(made: StateType) -> str:
    name, width = made.name, made.lanes
    return f"""static {name} {name}_fold_block({name}* lane, int lanes{made.taken}) {{
{ROLLED_LOOP}
  for (int reach = {width // 2}; reach > 0; reach /= 2)
{ROLLED_LOOP}
    for (int l = 0; l < reach && l + reach < lanes; ++l) lane[l] = {made.merge("lane[l]", "lane[l + reach]")};
  return lane[0];
}}
static void {name}_fold_step({name}_fold* fold, {made.element} value{made.taken}) {{
  int i = (int)(fold->count & {BLOCK - 1}), l = i & {width - 1};
  fold->lane[l] = i < {width} ? {made.first("value")} : {made.following("fold->lane[l]", "value")};
  if (i == {BLOCK - 1}) {{
    {name} block = {name}_fold_block(fold->lane, {width}{made.passed});
    {name}_fold_push(fold->tree, fold->count / {BLOCK}, block{made.passed});
  }}
  fold->count += 1;
}}
static {name} {name}_fold_final({name}_fold* fold{made.taken}) {{
  int rest = (int)(fold->count & {BLOCK - 1});
  {name} last = fold->lane[0];
  if (rest) last = {name}_fold_block(fold->lane, min(rest, {width}){made.passed});
  return {name}_fold_join(fold->tree, fold->count / {BLOCK}, last, rest != 0{made.passed});
}}"""


def _runs_machine(made: StateType, run: int) -> str:
    # A block has a power of two of runs, so joining runs in pairs joins blocks in pairs as well.
    name = made.name
    return f"""static void {name}_fold_step({name}_fold* fold, {name} value{made.taken}) {{
  int i = (int)(fold->count & {run - 1});
  fold->run = i == 0 ? value : {made.merge("fold->run", "value")};
  if (i == {run - 1}) {name}_fold_push(fold->tree, fold->count / {run}, fold->run{made.passed});
  fold->count += 1;
}}
static {name} {name}_fold_final({name}_fold* fold{made.taken}) {{
  return {name}_fold_join(fold->tree, fold->count / {run}, fold->run, (fold->count & {run - 1}) != 0{made.passed});
}}"""


def _scan_machine(made: StateType) -> str:
    name, width = made.name, SCAN_VECTOR
    return f"""typedef struct {{
  long count; int carried; {name} carry, vector, total, zero, one[{width}], two[{width}];
}} {name}_scan;
static void {name}_scan_step({name}_scan* scan, {name} value{made.taken}) {{
  int i = (int)(scan->count & {BLOCK - 1}), l = i & {width - 1};
  if (i == 0 && scan->count) {{
    scan->carry = scan->total;
    scan->carried = 1;
  }}
  {name} one = l >= 1 ? {made.merge("scan->zero", "value")} : value;
  {name} two = l >= 2 ? {made.merge("scan->one[l - 2]", "one")} : one;
  {name} local_ = l >= 4 ? {made.merge("scan->two[l - 4]", "two")} : two;
  scan->zero = value;
  scan->one[l] = one;
  scan->two[l] = two;
  {name} in_block = i < {width} ? local_ : {made.merge("scan->vector", "local_")};
  if (l == {width - 1}) scan->vector = in_block;
  scan->total = scan->carried ? {made.merge("scan->carry", "in_block")} : in_block;
  scan->count += 1;
}}"""


@contextmanager
def guarded(writer: Writer, condition: str | None) -> Iterator[None]:
    """A block under the condition, or none."""
    if condition is None:
        yield
        return
    with writer.block(f"if ({condition})"):
        yield
