"""Whether a loop program is well formed; run between all passes in tests, and under `ACCEL_VERIFY=1`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import assert_never

from accel.ast.tree.types import BOOL, I64, ScalarType
from accel.errors import AccelInternalError
from accel.ir.flow import made, needed, state_needs
from accel.ir.mentions import functions, statements, states
from accel.ir.nodes import (
    Branch,
    For,
    Guard,
    HostCall,
    HostSizes,
    Launch,
    Level,
    LoopBody,
    LoopDirection,
    ManyToOne,
    Nest,
    OneToMaybe,
    OneToOne,
    Operand,
    Program,
    Read,
    Remap,
    Repeat,
    Require,
    Scatter,
    Sort,
    State,
    Step,
    Stream,
    View,
    Within,
    Write,
)
from accel.ir.text import nest_text, statement_text, text
from accel.labelled.algebra import may_be_products
from accel.labelled.array import Array, Extent
from accel.labelled.programs import loaded
from accel.labelled.scalar import Function, operand_type


def verify(program: Program) -> None:
    """Raises `AccelInternalError` with the text of what is wrong unless

    1. every array is made once, before the steps that use it, and is not used after a scatter destroyed it;
    2. every nest is well formed: see `verify_nest`.
    """
    pending: list[tuple[Program, frozenset[Array]]] = [(program, frozenset())]
    while pending:
        part, outer = pending.pop()
        pending += _verify_part(part, outer)


def _verify_part(program: Program, outer: frozenset[Array]) -> list[tuple[Program, frozenset[Array]]]:
    visible = set(outer).union(*program.parameters)
    inner: list[tuple[Program, frozenset[Array]]] = []
    for step in program.steps:
        used, gone, fresh, parts = _step(step)
        if not visible >= used:
            names = sorted((array.label, array.leaf) for array in used - visible)
            raise AccelInternalError(f"a step uses arrays {names} that are not there:\n{text(program)}")
        inner += [(part, frozenset(visible)) for part in parts]
        visible -= gone
        if not visible.isdisjoint(fresh):
            raise AccelInternalError(f"an array is made twice:\n{text(program)}")
        visible |= fresh
    if not visible.issuperset(program.results):
        raise AccelInternalError(f"a result is not there:\n{text(program)}")
    return inner


def _step(step: Step) -> tuple[set[Array], set[Array], set[Array], tuple[Program, ...]]:
    """The arrays that a step uses, destroys and makes, and its sub-programs."""
    match step:
        case Launch(nest):
            verify_nest(nest)
            destroyed, results = {old for old, _ in nest.in_place}, {new for _, new in nest.in_place}
            fresh = {output.array for output in nest.outputs} | results
            return _read(nest) | destroyed, destroyed, fresh, ()
        case View(arrays, sources):
            return set(sources), set(), set(arrays), ()
        case Sort(array, sources):
            return set(sources), set(), {array}, ()
        case HostCall(arrays, _, sources):
            return set(sources), set(), set(arrays), ()
        case HostSizes(_, function):
            return set(loaded(function)), set(), set(), ()
        case Require():
            return set(), set(), set(), ()
        case Branch(condition, then, orelse, arrays):
            return {condition}, set(), set(arrays), (then, orelse)
        case Repeat(condition, body, initial, arrays):
            return set(initial), set(), set(arrays), (condition, body)
        case _:
            assert_never(step)


def _read(nest: Nest) -> set[Array]:
    """The arrays that a nest reads, by statements and in scalar functions."""
    found = {statement.array for statement in statements(nest) if isinstance(statement, Read)}
    return found.union(*map(loaded, functions(nest)))


def verify_nest(nest: Nest) -> None:
    """Raises `AccelInternalError` with the nest's text unless

    1. every stream is bound once, before it is used, in the same level or around it; finals after their loop;
    2. a stream is used only where its guard holds: the user's guard is that guard or was made under it;
    3. operands have the types of the functions' parameters; indices have the ranks of their arrays;
    4. every state is stepped once, inside the loop that lists it; `before` only where there is a seed;
    5. every output is written by one statement, and only outputs are; scatters write results that share a buffer.
    """
    try:
        _Scope().level(nest.body, {})
        _verify_outputs(nest)
        _verify_steps(nest)
    except AccelInternalError as error:
        raise AccelInternalError(f"{error.message}:\n{nest_text(nest)}") from None


def _verify_outputs(nest: Nest) -> None:
    shared = {new for _, new in nest.in_place}
    stores = Counter(each.array for each in statements(nest) if isinstance(each, Write))
    written = Counter({array: times for array, times in stores.items() if array not in shared})
    if written != Counter(output.array for output in nest.outputs):
        raise AccelInternalError("outputs are not those that are written, once each")
    scattered = Counter(array for each in statements(nest) if isinstance(each, Scatter) for array in each.arrays)
    if scattered + (stores - written) != Counter(new for _, new in nest.in_place):
        raise AccelInternalError("what is scattered to shares no buffer, or the other way round")
    if not {count.array for count in nest.counts} <= written.keys():
        raise AccelInternalError("a count is not written")
    for output in nest.outputs:
        if len(output.capacity) != len(output.array.shape):
            raise AccelInternalError(f"output {output.array.label} has another rank than its capacity")


def _verify_steps(nest: Nest) -> None:
    """Each state is stepped once, below the level of its loop."""
    stepped = Counter(each.state for each in statements(nest) if isinstance(each, ManyToOne))
    if stepped != Counter(state.name for state in states(nest)):
        raise AccelInternalError("states are not those that are stepped, once each")


class _Scope:
    """Walks down the levels; recursion is as deep as ranks are."""

    def __init__(self) -> None:
        self._seen: set[str] = set()
        self._existence: dict[str, Guard] = {}  # under which guard a stream exists
        self._parents: dict[str, Guard] = {}  # under which guard a guard was made
        self._directions: dict[str, LoopDirection] = {}  # of loops, by their indices

    def level(self, level: Level, open_states: dict[str, State]) -> None:
        """One level, given the states of the loops around it; what it binds is forgotten at its end."""
        bound: list[str] = []
        for statement in level.before:
            bound += self._statement(statement, open_states)
        if level.loop is not None:
            bound += self._loop(level.loop, open_states)
        for statement in level.after:
            bound += self._statement(statement, open_states)
        for name in bound:
            del self._existence[name]

    def _loop(self, loop: For, open_states: dict[str, State]) -> list[str]:
        _require(loop.index.type is I64, f"loop index {loop.index.name} is no i64")
        if isinstance(loop.extent, Stream):
            self._use(loop.extent, None)
        for state in loop.states:
            self._enter(state)
        self._bind(loop.index, None)
        self._directions[loop.index.name] = loop.direction
        self.level(loop.body, {**open_states, **{state.name: state for state in loop.states}})
        del self._existence[loop.index.name]
        finals = [(final, state.when) for state in loop.states for final in state.finals]
        for final, guard in finals:
            self._bind(final, guard)
        return [final.name for final, _ in finals]

    def _enter(self, state: State) -> None:
        for stream in state_needs(state):
            self._use(stream, state.when)
        kinds = state.types
        sums = may_be_products(state.monoid, kinds) if state.products else []
        _require(set(state.products) <= set(sums), f"state {state.name} is no sum of products")
        _require(not (state.products and state.running), f"state {state.name} is read while it adds products")
        if state.initial is not None:
            _require(kinds == list(map(_type, state.initial)), f"state {state.name} starts from other types")
        _fits(state.merge, [*state.finals, *state.finals], kinds, f"state {state.name}")

    def _statement(self, statement: LoopBody, open_states: dict[str, State]) -> list[str]:
        try:
            for stream in needed(statement):
                self._use(stream, None if stream == statement.when else statement.when)
            _types(statement, open_states)
            if isinstance(statement, Within):
                ends = LoopDirection.DOWN if statement.first else LoopDirection.UP
                numbered = [self._directions.get(index.name) for index in statement.loops or (statement.index,)]
                _require(
                    all(direction is ends for direction in numbered),
                    "what is within an array is not the first iterations of a loop",
                )
        except AccelInternalError as error:
            raise AccelInternalError(f"{error.message}, in `{statement_text(statement)}`") from None
        match statement:
            case OneToMaybe(out=out, when=when) | Within(out=out, when=when):
                self._bind(out, None)  # false where its own guard is false
                self._parents[out.name] = when
            case ManyToOne(state=state, before=before, after=after, when=when):
                for stream in before:
                    self._bind(stream, open_states[state].when)
                for stream in after:
                    self._bind(stream, when)
            case _:
                for stream in made(statement):
                    self._bind(stream, statement.when)
        return [stream.name for stream in made(statement)]

    def _bind(self, stream: Stream, guard: Guard) -> None:
        _require(stream.name not in self._seen, f"{stream.name} is bound twice")
        self._seen.add(stream.name)
        self._existence[stream.name] = guard

    def _use(self, stream: Stream, guard: Guard) -> None:
        _require(stream.name in self._existence, f"{stream.name} is used before it is bound")
        wanted = self._existence[stream.name]
        while wanted is not None and guard is not None and guard != wanted:
            guard = self._parents[guard.name]
        _require(wanted is None or guard == wanted, f"{stream.name} is used where it need not exist")


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise AccelInternalError(message)


def _type(operand: Operand) -> ScalarType:
    return I64 if isinstance(operand, Extent) else operand.type


def _fits(function: Function, arguments: Sequence[Operand], results: Sequence[ScalarType], what: str) -> None:
    """Arguments and results of a call have the function's types; results that are extents count as i64."""
    parameters = [parameter.type for parameter in function.parameters]
    _require(parameters == list(map(_type, arguments)), f"{what}: arguments are not what the function takes")
    given = [operand_type(result) for result in function.body.results]
    _require(given == list(results), f"{what}: results are not what the function gives")


def _index(index: Sequence[Operand], array: Array) -> None:
    _require(len(index) == len(array.shape), "an index has another rank than its array")
    _require(all(_type(operand) is I64 for operand in index), "an index is no i64")


def _types(statement: LoopBody, open_states: dict[str, State]) -> None:
    if statement.when is not None:
        _require(statement.when.type is BOOL, "a guard is no bool")
    match statement:
        case OneToOne(outs, function, arguments):
            _fits(function, arguments, [out.type for out in outs], "call")
        case OneToMaybe() | Within():
            _fits(statement.function, statement.arguments, [BOOL], "guard")
            _require(statement.out.type is BOOL, "a guard is no bool")
        case ManyToOne(name, values, before, after):
            _require(name in open_states, f"state {name} is not of a loop around its step")
            state = open_states[name]
            kinds = state.types
            _require(state.element == list(map(_type, values)), f"state {name} is stepped with other types")
            _require(not (before or after) or state.running, f"state {name} is read, but not running")
            _require(not before or state.initial is not None, f"state {name} is read before its first step")
            for streams in (before, after):
                _require(not streams or kinds == [stream.type for stream in streams], f"{name} is read as other types")
        case Remap(outs, arguments, bounds):
            _require(len(outs) == len(arguments) == len(bounds), "a mapped index has another rank than its bounds")
            _require(all(_type(each) is I64 for each in (*outs, *arguments)), "an index is no i64")
        case Read(out, array, index):
            _index(index, array)
            _require(out.type is array.element, "an element is read as another type")
        case Write(array, index, value):
            _index(index, array)
            _require(_type(value) is array.element, "an element is written as another type")
        case Scatter(arrays, index, values, combine):
            for array in arrays:
                _index(index, array)
            kinds = [array.element for array in arrays]
            parameters = [parameter.type for parameter in combine.parameters]
            _require(parameters == [*map(_type, values), *kinds], "a scatter combines other types")
        case _:
            assert_never(statement)
