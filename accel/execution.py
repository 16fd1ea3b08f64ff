"""Running programs: `run` for one that holds its arrays, `runN` for a function that is compiled once and called often.

In: `Acc` handles, or a function over them and host arrays. Out: NumPy arrays, fresh and C-contiguous. A program is
found again by its structure, not by its sizes; `runN` skips even the building when it is called with the ranks and dtypes of
last time. Users see `run` and `runN` through `running.py`, which has their types.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, Self, TypeVar, Unpack, overload

import numpy as np

from accel import settings as setting
from accel.ast.combinators.host.arrays import leaves_of_all, use
from accel.ast.combinators.host.foreign import as_array
from accel.ast.handles.acc import Acc
from accel.ast.handles.function import apply_to_arrays
from accel.ast.handles.literals import describe
from accel.ast.tree import structure
from accel.ast.tree.leaves import Leaf
from accel.ast.tree.nodes import ArrayNode, ArrayParameter, Key, Use
from accel.ast.tree.types import ArrayType, ComplexType, ScalarType
from accel.backends.direct import Direct
from accel.backends.residence import fetched_results, kept_results
from accel.calling import kept_programs
from accel.calling.annotations import NOT_GIVEN, contradiction, demand_of_result, demands, function_of_arrays, refused
from accel.calling.forms import Shaped, nodes_of
from accel.calling.kinds import kinds_of, with_arrays
from accel.calling.specialised import Specialised
from accel.calling.ways import General, Ways, ways_under
from accel.device_array import DeviceArray
from accel.errors import AccelError, AccelTypeError, Where, here
from accel.settings import Given, Settings
from accel.structure import Nested, flatten, records_of
from accel.support import source
from accel.support.cache import Cache
from accel.support.dataclass import frozen
from accel.support.forks import load

if TYPE_CHECKING:
    from accel.backends.protocol import Executable
    from accel.calling.asked import Asked
    from accel.calling.building import Built
    from accel.labelled.nodes import Program

P = ParamSpec("P")
R = TypeVar("R")
L = TypeVar("L")


def require_program(acc: object) -> None:
    """Raises `AccelTypeError` for what `run` does not take."""
    nodes_of(acc, "what is run")


@frozen
class _Rebuilt:
    """What `run` does for programs of one structure. `inputs`: the numbers of the arrays that the program takes, in order.

    `program` is what the executable's errors are about; None: it raises `Unusual` instead.
    """

    executable: Executable
    inputs: tuple[int, ...]
    program: Program | None


_REBUILT: Cache[tuple[Key, setting.Key], _Rebuilt] = Cache(512)
"""One per process: programs that are built again need no stage at all."""


class Unusual(Exception):
    """A program that only its machine code is known of meets what that does not take."""


def _unusual() -> NoReturn:
    raise Unusual


def _built(
    nodes: Sequence[ArrayNode],
    parameters: Sequence[ArrayParameter],
    settings: Settings,
    given: Sequence[Leaf] = (),
) -> Built:
    load("accel.calling.building")
    from accel.calling.building import built  # and with it all stages

    return built(nodes, parameters, settings, given)


def run(acc: object, *, keep: bool = False, **given: Unpack[Given]) -> object:
    """Evaluate an `Acc`, or a nested tuple of them together (what they share is computed once).

    Gives one fresh C-contiguous NumPy array per `Acc`; for arrays of tuples, a tuple of arrays. `keep`: results stay on the
    device, and each is a `DeviceArray`. `given` are settings for this call, see `using`. Raises `AccelShapeError`,
    `AccelIndexError` and `AccelValueError` for what the data break, and `AccelDeviceError` if the backend is missing, or if an
    array lies on another device than the backend's.

    >>> A.run(A.fold(A.add, 0, A.zipWith(A.mul, A.use(np.arange(3.0)), A.use(np.arange(3.0)))))
    array(5.)
    """
    settings = setting.changed(given)
    nodes, shaped = nodes_of(acc, "what is run")
    if keep:
        return shaped.left_there(_results(nodes, settings, kept_results), settings.backend)
    return shaped.assemble(_results(nodes, settings, fetched_results))


def _results(
    nodes: Sequence[ArrayNode], settings: Settings, run: Callable[[Executable, Sequence[Leaf]], list[L]]
) -> list[L]:
    """The results, by `fetched_results` or `kept_results`."""
    found = structure.structure(nodes)
    known = _known(found.key, settings)
    if known is not None:
        data = [leaf for number in known.inputs for leaf in found.uses[number].data]
        try:
            return run(known.executable, data)
        except Unusual:
            pass  # what is wrong is found out by all stages
        except AccelError as error:
            if known.program is None:
                raise
            load("accel.calling.relocation")
            from accel.calling.relocation import moves

            raise error.moved(moves(known.program, _built(nodes, (), settings).program)) from error.__cause__
    made = _built(nodes, (), settings)
    inputs = _inputs(found, made.constants)
    _remember(found.key, settings, _Rebuilt(made.executable, inputs, made.program))
    results = run(made.executable, [leaf for constant in made.constants for leaf in constant.data])
    if known is None:
        _keep(found.key, settings, inputs, made)
    return results


def _inputs(found: structure.Structure, constants: Sequence[Use]) -> tuple[int, ...]:
    """Which of the structure's arrays the program takes, in its own order."""
    numbers = {(use.types, *map(id, use.data)): number for number, use in enumerate(found.uses)}
    return tuple([numbers[use.types, *map(id, use.data)] for use in constants])


def _known(key: Key, settings: Settings) -> _Rebuilt | None:
    """What was found out of programs of this structure, by this process or an earlier one."""
    if settings.sizes == "actual":
        return None
    try:
        known = _REBUILT.find((key, setting.key(settings)))
    except TypeError:  # something in the program has no hash
        return None
    if known is None:
        recalled = kept_programs.recall(key, settings, _unusual)
        if recalled is not None:
            known = _Rebuilt(recalled[1], recalled[0], None)
            _remember(key, settings, known)
    return known


def _remember(key: Key, settings: Settings, known: _Rebuilt) -> None:
    if settings.sizes != "actual":
        with contextlib.suppress(TypeError):  # something in the program has no hash
            _REBUILT.keep((key, setting.key(settings)), known)


def _keep(key: Key, settings: Settings, inputs: tuple[int, ...], made: Built) -> None:
    """Keeps a program for other processes."""
    if made.settled and isinstance(made.executable, Direct) and made.executable.code is not None:
        kept_programs.keep(key, settings, inputs, made.executable.code)


def _host(argument: object) -> Use:
    """An argument as `use` takes it."""
    node = use(argument).node
    assert isinstance(node, Use)
    return node


class RunN(Generic[P, R]):
    """A compiled function over arrays: call it with arrays of NumPy or of a device.

    Compiled when first called with arguments of some ranks and dtypes; sizes do not matter. May be called from several
    threads at once. Copies are the object itself.
    """

    def __init__(self, function: Callable[..., object], given: Given) -> None:
        setting.check(given)
        functools.update_wrapper(self, function)
        self._function = function
        self._given = given
        self._demands = demands(function)
        self._result = demand_of_result(function)
        self._specialised: Cache[tuple[setting.Key, tuple[Nested[ArrayType], ...], tuple[object, ...]], Specialised] = (
            Cache(64)
        )
        self._ways: tuple[Ways, ...] = ()
        """Those under the settings of the last call, then those under others of late."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> str | tuple[Callable[..., object], tuple[object, ...]]:
        """By its name, where that leads to it, as after a decorator; else the function and the settings."""
        found: object = sys.modules.get(self.__module__)
        name = getattr(self, "__qualname__", "")
        for part in name.split("."):
            found = getattr(found, part, None)
        return name if found is self else (RunN, (self._function, self._given))

    def __repr__(self) -> str:
        return f"runN({getattr(self._function, '__name__', self._function)})"

    @overload
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R: ...
    # Any: a type of parameters takes no keyword beside it
    @overload
    def __call__(self, /, *args: Any, out: R, donate: Sequence[int] = ()) -> R: ...
    @overload
    def __call__(self, /, *args: Any, donate: Sequence[int]) -> R: ...
    @overload
    def __call__(self, /, *args: Any, keep: bool) -> Any: ...
    def __call__(self, /, *args: Any, **kwargs: Any) -> R:
        """Run on these arguments; raises what the program's checks find.

        Results are `DeviceArray`s if an argument is one, or with `keep=True`.
        out: an array for the result, or a tuple of them for several, to be returned with the results in it.
        donate: the numbers of arguments whose memory results may take: see `accel/calling`.
        """
        # The usual call: plain arrays of kinds that came before, under the same settings. What else it may be the functions of
        # the chain find out, which end with `_general`.
        ways = self._ways
        if ways and ways[0].settings is setting.innermost():
            if not kwargs:
                return ways[0].chain(*args)  # type: ignore[return-value]  # R by construction
            if len(kwargs) == 1:
                (name,) = kwargs
                found = ways[0].asked(args, name, kwargs[name])
                if found is not None:
                    return found[0]  # type: ignore[return-value]  # R by construction
        if not kwargs:
            return self._general(*args)  # type: ignore[return-value]  # R is what the traced function stands for
        load("accel.calling.asked")
        from accel.calling.asked import asked

        return self._whole(args, asked(args, **kwargs))  # type: ignore[return-value]  # R, or an array on the device

    def _ways_now(self) -> Ways:
        """The short ways under the settings in force."""
        now = setting.innermost()
        ways = ways_under(now, self._ways, setting.may_be_kept(now), lambda: General(self._general))
        self._ways = ways
        return ways[0]  # whatever others have put there since, under their settings

    def _prepared(self, args: Sequence[object]) -> tuple[list[Use], Specialised, Settings]:
        """The arguments as `use` takes them, and what runs them under the settings in force."""
        if any(isinstance(argument, Acc) for argument in args):
            hint = "within a program call the function that it was made of: `f.__wrapped__(xs)`"
            raise AccelTypeError("a compiled function takes arrays of the host, not of a program", here(), hint=hint)
        for number, argument in enumerate(args):
            if isinstance(argument, bool | int | float | complex | list) and not isinstance(argument, np.generic):
                message = f"argument {number} of {self._name()} must be an array, got {describe(argument)}"
                where = here()
                spelt = source.texts(None, where, ["value"] * len(args))[number]
                element = self._demands[number].element if number < len(self._demands) else None
                scalar = element if isinstance(element, ScalarType | ComplexType) else None
                raise AccelTypeError(message, where, hint=f"write `{as_array(argument, spelt, scalar)}`")
        hosts = [_host(argument) for argument in args]
        types = tuple(host.types[0] for host in hosts)
        self._check(types)
        settings = setting.changed(self._given)
        records = tuple([records_of(kind.element) for kind in types])
        found = self._specialised.get(
            (setting.key(settings), types, records), lambda: self._specialise(types, hosts, settings)
        )
        return hosts, found, settings

    def _general(self, *args: object) -> object:
        """A call that asks for nothing by name, with arguments of any kinds: the end of the chain."""
        arrays = with_arrays(args)
        if arrays is not None:
            return self(*arrays)  # type: ignore[call-overload]  # arguments of any kind, as they came
        kinds = kinds_of(args)
        ways = self._ways_now()
        known = None if kinds is None else ways.find(kinds)
        if known is None:
            return self._whole(args, None)
        leaves = leaves_of_all(args)
        ways.shorten(known, leaves)
        return known.run(leaves)

    def _whole(self, args: Sequence[object], asked: Asked | None) -> object:
        """A call of which nothing is known, or not enough, and what it asks for by name."""
        args = with_arrays(args) or args
        hosts, found, settings = self._prepared(args)
        data = [*_leaves(hosts), *found.constants]
        if settings.sizes == "actual":
            found = _for_sizes(found, settings, data)
        known = self._ways_now().remember(kinds_of(args), found, settings)
        if asked is not None:
            asked.require_apart(found.constants)
        if (asked is not None and asked.keep) or any(isinstance(part, DeviceArray) for part in flatten(args)):
            kept = found.keep(data, settings.backend)
            return kept if asked is None else asked.stored(kept)
        if asked is None:
            return found.run(data)
        done = None if known is None else asked.of(known, args, self._general)
        return asked.stored(found.run(data) if done is None else done[0])

    def _check(self, types: Sequence[ArrayType]) -> None:
        for number, (kind, demand) in enumerate(zip(types, self._demands, strict=False)):
            if not demand.admits(kind):
                raise refused(self._name(), number, kind, demand)

    def _name(self) -> str:
        return getattr(self._function, "__name__", "the function")

    def _specialise(self, types: Sequence[ArrayType], hosts: Sequence[Use], settings: Settings) -> Specialised:
        where = here()
        parameters = [ArrayParameter((kind,), where) for kind in types]
        handles = [Acc[Any](node, (None,) * node.types[0].rank) for node in parameters]  # Any: types known at run time
        result = apply_to_arrays(self._function, handles, where)
        nodes, shaped = nodes_of(result, "what the function returns")
        found = contradiction(shaped.form, self._result)
        if found is not None:
            hint = "return what is annotated, or leave the annotation open by a type variable"
            raise AccelTypeError(f"the result of {self._name()}{found}", where, hint=hint)
        return self._compiled(nodes, parameters, hosts, settings, shaped, where)

    def _compiled(
        self,
        nodes: Sequence[ArrayNode],
        parameters: Sequence[ArrayParameter],
        hosts: Sequence[Use],
        settings: Settings,
        shaped: Shaped,
        where: Where | None,
    ) -> Specialised:
        if settings.sizes == "actual":
            now = _built(nodes, parameters, settings, [leaf for host in hosts for leaf in host.data])
            return Specialised(now.executable, lambda: now, _leaves(now.constants), shaped, where)
        made = functools.cache(functools.partial(_built, nodes, parameters, settings))
        found = structure.structure([*parameters, *nodes])
        recalled = kept_programs.recall(found.key, settings, lambda: made().executable)
        if recalled is not None:
            inputs, executable = recalled
            constants = _leaves([found.uses[number] for number in inputs])
            return Specialised(executable, made, constants, shaped, where)
        done = made()
        _keep(found.key, settings, _inputs(found, done.constants), done)
        # Without the settings, which may hold a cost function of the user's.
        return Specialised(done.executable, lambda: done, _leaves(done.constants), shaped, where)


def _for_sizes(found: Specialised, settings: Settings, data: Sequence[Leaf]) -> Specialised:
    """The same, compiled for the sizes of these arrays."""
    load("accel.calling.building")
    from accel.calling.building import compiled

    executable = compiled(found.built().program, settings, data)[0]
    return Specialised(executable, found.built, found.constants, found.result, found.where)


def _leaves(constants: Sequence[Use]) -> tuple[Leaf, ...]:
    return tuple([leaf for constant in constants for leaf in constant.data])


def runN(f: object = NOT_GIVEN, **given: Unpack[Given]) -> Callable[..., object]:
    """Compile a function over `Acc`s, to be called with arrays; also a decorator, with or without settings.

    Compiled once for each combination of ranks and dtypes that it is called with; sizes do not matter. `given` are settings
    for all its calls, see `using`. Arguments are what `use` takes. Results are NumPy arrays, fresh ones; called with a
    `DeviceArray`, or with `keep=True` beside its arguments, it gives `DeviceArray`s. A call raises what `run` raises, and
    `AccelTypeError` if an argument is not what the function is annotated with.

    >>> dot = A.runN(lambda xs, ys: A.fold(A.add, 0, A.zipWith(A.mul, xs, ys)))
    >>> dot(np.arange(3.0), np.arange(3.0))
    array(5.)
    """
    if f is not NOT_GIVEN:
        return RunN(function_of_arrays(f), given)
    setting.check(given)
    return functools.partial(runN, **given)
