"""The typed entrances `run` and `runN`. Written by `tools/running.py`: change that, not this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import numpy as np
from typing_extensions import Unpack

from accel.ast.acc import Acc, Array
from accel.execution import RunN, check_function, run_nodes
from accel.settings import Given

S1 = TypeVar("S1", bound=tuple[Any, ...])
G1 = TypeVar("G1", bound=np.generic)
S2 = TypeVar("S2", bound=tuple[Any, ...])
G2 = TypeVar("G2", bound=np.generic)
S3 = TypeVar("S3", bound=tuple[Any, ...])
G3 = TypeVar("G3", bound=np.generic)
S4 = TypeVar("S4", bound=tuple[Any, ...])
G4 = TypeVar("G4", bound=np.generic)
S5 = TypeVar("S5", bound=tuple[Any, ...])
G5 = TypeVar("G5", bound=np.generic)
S6 = TypeVar("S6", bound=tuple[Any, ...])
G6 = TypeVar("G6", bound=np.generic)
Sa = TypeVar("Sa", bound=tuple[Any, ...])
Ga = TypeVar("Ga", bound=np.generic)
Sb = TypeVar("Sb", bound=tuple[Any, ...])
Gb = TypeVar("Gb", bound=np.generic)
Sc = TypeVar("Sc", bound=tuple[Any, ...])
Gc = TypeVar("Gc", bound=np.generic)
Sd = TypeVar("Sd", bound=tuple[Any, ...])
Gd = TypeVar("Gd", bound=np.generic)


@overload
def run(a: Acc[Array[Sa, Ga]], **given: Unpack[Given]) -> np.ndarray[Sa, np.dtype[Ga]]: ...
@overload
def run(
    a: tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]]], **given: Unpack[Given]
) -> tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]]]: ...
@overload
def run(
    a: tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]]], **given: Unpack[Given]
) -> tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]], np.ndarray[Sc, np.dtype[Gc]]]: ...
@overload
def run(
    a: tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]], Acc[Array[Sd, Gd]]], **given: Unpack[Given]
) -> tuple[
    np.ndarray[Sa, np.dtype[Ga]],
    np.ndarray[Sb, np.dtype[Gb]],
    np.ndarray[Sc, np.dtype[Gc]],
    np.ndarray[Sd, np.dtype[Gd]],
]: ...
@overload
def run(
    a: Acc[Array[Sa, tuple[Ga, Gb]]], **given: Unpack[Given]
) -> tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sa, np.dtype[Gb]]]: ...
@overload
def run(
    a: Acc[Array[Sa, tuple[Ga, Gb, Gc]]], **given: Unpack[Given]
) -> tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sa, np.dtype[Gb]], np.ndarray[Sa, np.dtype[Gc]]]: ...
@overload
def run(a: Acc[Any] | tuple[Any, ...], **given: Unpack[Given]) -> Any: ...
def run(a: object, **given: Unpack[Given]) -> object:
    """Evaluate an `Acc`, or a nested tuple of them together (what they share is computed once).

    Gives one fresh C-contiguous NumPy array per `Acc`; for arrays of tuples, a tuple of arrays. `given` are settings for this
    call, see `using`. Raises `AccelShapeError`, `AccelIndexError` and `AccelValueError` for what the data break, and
    `AccelDeviceError` if the backend is missing.
    """
    return run_nodes(a, given)


@overload
def runN(
    f: Callable[[Acc[Array[S1, G1]]], Acc[Array[Sa, Ga]]], **given: Unpack[Given]
) -> RunN[[np.ndarray[S1, np.dtype[G1]]], np.ndarray[Sa, np.dtype[Ga]]]: ...
@overload
def runN(
    f: Callable[[Acc[Array[S1, G1]]], tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]]]], **given: Unpack[Given]
) -> RunN[[np.ndarray[S1, np.dtype[G1]]], tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]]]]: ...
@overload
def runN(
    f: Callable[[Acc[Array[S1, G1]]], tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]]]],
    **given: Unpack[Given],
) -> RunN[
    [np.ndarray[S1, np.dtype[G1]]],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]], np.ndarray[Sc, np.dtype[Gc]]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]]], tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]], Acc[Array[Sd, Gd]]]
    ],
    **given: Unpack[Given],
) -> RunN[
    [np.ndarray[S1, np.dtype[G1]]],
    tuple[
        np.ndarray[Sa, np.dtype[Ga]],
        np.ndarray[Sb, np.dtype[Gb]],
        np.ndarray[Sc, np.dtype[Gc]],
        np.ndarray[Sd, np.dtype[Gd]],
    ],
]: ...
@overload
def runN(
    f: Callable[[Acc[Array[S1, G1]], Acc[Array[S2, G2]]], Acc[Array[Sa, Ga]]], **given: Unpack[Given]
) -> RunN[[np.ndarray[S1, np.dtype[G1]], np.ndarray[S2, np.dtype[G2]]], np.ndarray[Sa, np.dtype[Ga]]]: ...
@overload
def runN(
    f: Callable[[Acc[Array[S1, G1]], Acc[Array[S2, G2]]], tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]]]],
    **given: Unpack[Given],
) -> RunN[
    [np.ndarray[S1, np.dtype[G1]], np.ndarray[S2, np.dtype[G2]]],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]]], tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]]]
    ],
    **given: Unpack[Given],
) -> RunN[
    [np.ndarray[S1, np.dtype[G1]], np.ndarray[S2, np.dtype[G2]]],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]], np.ndarray[Sc, np.dtype[Gc]]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]]],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]], Acc[Array[Sd, Gd]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [np.ndarray[S1, np.dtype[G1]], np.ndarray[S2, np.dtype[G2]]],
    tuple[
        np.ndarray[Sa, np.dtype[Ga]],
        np.ndarray[Sb, np.dtype[Gb]],
        np.ndarray[Sc, np.dtype[Gc]],
        np.ndarray[Sd, np.dtype[Gd]],
    ],
]: ...
@overload
def runN(
    f: Callable[[Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]]], Acc[Array[Sa, Ga]]],
    **given: Unpack[Given],
) -> RunN[
    [np.ndarray[S1, np.dtype[G1]], np.ndarray[S2, np.dtype[G2]], np.ndarray[S3, np.dtype[G3]]],
    np.ndarray[Sa, np.dtype[Ga]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]]], tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]]]
    ],
    **given: Unpack[Given],
) -> RunN[
    [np.ndarray[S1, np.dtype[G1]], np.ndarray[S2, np.dtype[G2]], np.ndarray[S3, np.dtype[G3]]],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]]],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [np.ndarray[S1, np.dtype[G1]], np.ndarray[S2, np.dtype[G2]], np.ndarray[S3, np.dtype[G3]]],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]], np.ndarray[Sc, np.dtype[Gc]]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]]],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]], Acc[Array[Sd, Gd]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [np.ndarray[S1, np.dtype[G1]], np.ndarray[S2, np.dtype[G2]], np.ndarray[S3, np.dtype[G3]]],
    tuple[
        np.ndarray[Sa, np.dtype[Ga]],
        np.ndarray[Sb, np.dtype[Gb]],
        np.ndarray[Sc, np.dtype[Gc]],
        np.ndarray[Sd, np.dtype[Gd]],
    ],
]: ...
@overload
def runN(
    f: Callable[[Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]], Acc[Array[S4, G4]]], Acc[Array[Sa, Ga]]],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
    ],
    np.ndarray[Sa, np.dtype[Ga]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]], Acc[Array[S4, G4]]],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
    ],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]], Acc[Array[S4, G4]]],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
    ],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]], np.ndarray[Sc, np.dtype[Gc]]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]], Acc[Array[S4, G4]]],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]], Acc[Array[Sd, Gd]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
    ],
    tuple[
        np.ndarray[Sa, np.dtype[Ga]],
        np.ndarray[Sb, np.dtype[Gb]],
        np.ndarray[Sc, np.dtype[Gc]],
        np.ndarray[Sd, np.dtype[Gd]],
    ],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]], Acc[Array[S4, G4]], Acc[Array[S5, G5]]],
        Acc[Array[Sa, Ga]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
        np.ndarray[S5, np.dtype[G5]],
    ],
    np.ndarray[Sa, np.dtype[Ga]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]], Acc[Array[S4, G4]], Acc[Array[S5, G5]]],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
        np.ndarray[S5, np.dtype[G5]],
    ],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]], Acc[Array[S4, G4]], Acc[Array[S5, G5]]],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
        np.ndarray[S5, np.dtype[G5]],
    ],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]], np.ndarray[Sc, np.dtype[Gc]]],
]: ...
@overload
def runN(
    f: Callable[
        [Acc[Array[S1, G1]], Acc[Array[S2, G2]], Acc[Array[S3, G3]], Acc[Array[S4, G4]], Acc[Array[S5, G5]]],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]], Acc[Array[Sd, Gd]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
        np.ndarray[S5, np.dtype[G5]],
    ],
    tuple[
        np.ndarray[Sa, np.dtype[Ga]],
        np.ndarray[Sb, np.dtype[Gb]],
        np.ndarray[Sc, np.dtype[Gc]],
        np.ndarray[Sd, np.dtype[Gd]],
    ],
]: ...
@overload
def runN(
    f: Callable[
        [
            Acc[Array[S1, G1]],
            Acc[Array[S2, G2]],
            Acc[Array[S3, G3]],
            Acc[Array[S4, G4]],
            Acc[Array[S5, G5]],
            Acc[Array[S6, G6]],
        ],
        Acc[Array[Sa, Ga]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
        np.ndarray[S5, np.dtype[G5]],
        np.ndarray[S6, np.dtype[G6]],
    ],
    np.ndarray[Sa, np.dtype[Ga]],
]: ...
@overload
def runN(
    f: Callable[
        [
            Acc[Array[S1, G1]],
            Acc[Array[S2, G2]],
            Acc[Array[S3, G3]],
            Acc[Array[S4, G4]],
            Acc[Array[S5, G5]],
            Acc[Array[S6, G6]],
        ],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
        np.ndarray[S5, np.dtype[G5]],
        np.ndarray[S6, np.dtype[G6]],
    ],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]]],
]: ...
@overload
def runN(
    f: Callable[
        [
            Acc[Array[S1, G1]],
            Acc[Array[S2, G2]],
            Acc[Array[S3, G3]],
            Acc[Array[S4, G4]],
            Acc[Array[S5, G5]],
            Acc[Array[S6, G6]],
        ],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
        np.ndarray[S5, np.dtype[G5]],
        np.ndarray[S6, np.dtype[G6]],
    ],
    tuple[np.ndarray[Sa, np.dtype[Ga]], np.ndarray[Sb, np.dtype[Gb]], np.ndarray[Sc, np.dtype[Gc]]],
]: ...
@overload
def runN(
    f: Callable[
        [
            Acc[Array[S1, G1]],
            Acc[Array[S2, G2]],
            Acc[Array[S3, G3]],
            Acc[Array[S4, G4]],
            Acc[Array[S5, G5]],
            Acc[Array[S6, G6]],
        ],
        tuple[Acc[Array[Sa, Ga]], Acc[Array[Sb, Gb]], Acc[Array[Sc, Gc]], Acc[Array[Sd, Gd]]],
    ],
    **given: Unpack[Given],
) -> RunN[
    [
        np.ndarray[S1, np.dtype[G1]],
        np.ndarray[S2, np.dtype[G2]],
        np.ndarray[S3, np.dtype[G3]],
        np.ndarray[S4, np.dtype[G4]],
        np.ndarray[S5, np.dtype[G5]],
        np.ndarray[S6, np.dtype[G6]],
    ],
    tuple[
        np.ndarray[Sa, np.dtype[Ga]],
        np.ndarray[Sb, np.dtype[Gb]],
        np.ndarray[Sc, np.dtype[Gc]],
        np.ndarray[Sd, np.dtype[Gd]],
    ],
]: ...
@overload
def runN(f: Callable[..., Any], **given: Unpack[Given]) -> RunN[..., Any]: ...
def runN(f: object, **given: Unpack[Given]) -> RunN[..., Any]:
    """Compile a function over `Acc`s, to be called with NumPy arrays; also a decorator.

    Compiled once for each combination of ranks and dtypes that it is called with; sizes do not matter. `given` are settings
    for all its calls, see `using`. A call raises what `run` raises, and `AccelTypeError` if an argument is not what the
    function is annotated with.
    """
    return RunN(check_function(f), given)
