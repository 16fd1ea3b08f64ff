"""Other ways to run: `run1` for functions of one array, `runAsync` in a thread of its own, `stream` for many arrays in turn.

In: what `run` and `runN` take. Out: what they give, or a `Future` or an iterator of it. Users see them through `running.py`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextvars import copy_context
from threading import Thread
from typing import Any, Unpack

from accel import settings as setting
from accel.ast.handles.function import takes
from accel.ast.handles.habits.values import is_function
from accel.ast.handles.literals import describe
from accel.calling.annotations import NOT_GIVEN
from accel.errors import AccelTypeError, here
from accel.execution import RunN, require_program, run, runN
from accel.settings import Given


def run1(f: object = NOT_GIVEN, **given: Unpack[Given]) -> Callable[..., object]:
    """`runN` of a function of one array; also a decorator, with or without settings.

    Raises `AccelTypeError` for a function that does not take one array. Accelerate's `run1`.
    `A.run1(A.sum)(np.arange(4))` is 6.

    >>> double = A.run1(lambda xs: A.map(lambda x: x * 2, xs))
    >>> double(np.arange(3))
    array([0, 2, 4])
    """
    if f is not NOT_GIVEN:
        return _of_one("run1", f, given)
    setting.check(given)
    return functools.partial(run1, **given)


def runAsync(acc: object, *, keep: bool = False, **given: Unpack[Given]) -> Future[Any]:  # Any: what `run` gives
    """Compile and run a program in a thread of its own; gives a `concurrent.futures.Future` of what `run` gives.

    It runs under the settings of this call, and `given`; `keep` is `run`'s. What the program raises, `result()` raises. A
    program that has begun cannot be cancelled. Arrays that it reads must not be written to before it is done. Raises
    `AccelTypeError` at once for what is no program. Accelerate's `runAsync`.
    `A.runAsync(A.sum(A.use(np.arange(4)))).result()` is 6.

    >>> A.runAsync(A.sum(A.use(np.arange(4)))).result()
    array(6)
    """
    setting.check(given)
    require_program(acc)
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()
    context = copy_context()

    def work() -> None:
        try:
            result = context.run(run, acc, keep=keep, **given)
        except BaseException as error:  # whoever asks for the result shall have it
            future.set_exception(error)
        else:
            future.set_result(result)

    Thread(target=work, name="accel runAsync").start()
    return future


def stream(f: object, iterable: Iterable[object], **given: Unpack[Given]) -> Iterator[Any]:  # Any: what `runN` gives
    """What a function of one array gives for each array of an iterable, in order, each when it is asked for.

    The function is compiled once for each combination of ranks and element types. `f` may be compiled already (`runN`). Raises
    `AccelTypeError` at once for another function and for what cannot be iterated over. Accelerate's `stream`.
    `list(A.stream(A.sum, [np.arange(3), np.arange(4)]))` is `[3, 6]`.

    >>> list(A.stream(A.sum, [np.arange(3), np.arange(4)]))
    [array(3), array(6)]
    """
    function = f if isinstance(f, RunN) and not given else _of_one("stream", f, given)
    if not isinstance(iterable, Iterable) or getattr(iterable, "shape", None) == ():
        hint = "it takes a list of arrays, or what gives one after the other: `A.stream(f, [xs, ys])`"
        raise AccelTypeError(f"stream takes an iterable of arrays, got {describe(iterable)}", here(), hint=hint)
    return map(function, iterable)


def _of_one(name: str, f: object, given: Given) -> Callable[..., object]:
    if is_function(f) and not takes(f, 1):
        raise AccelTypeError(f"{name} takes a function of one array", here(), hint="functions of several: `A.runN`")
    return runN(f, **given)
