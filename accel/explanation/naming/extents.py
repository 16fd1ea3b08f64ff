"""What extents are, in the user's words: `n0` is the rows of `img`.

In: all operations of a program, and the names of their arrays. Out: a description for every extent that is only known when the
program runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from accel.labelled.array import Array
from accel.labelled.nodes import Binding, BindSizes, Reshape, Use
from accel.labelled.scalar import Block, Load
from accel.labelled.scalar_text import plain_name


def extents(bindings: Iterable[Binding], names: Mapping[Array, str]) -> dict[str, str]:
    """`n0` to `rows of img`, in order of their numbers: what computes it, if that is one element of an array; else what it is
    an extent of, an input before other arrays, and one that has a name before one that has none.
    """
    found: dict[int, tuple[int, str]] = {}
    for binding in bindings:
        for number, rank, words in _described(binding, names):
            if number not in found or rank < found[number][0]:
                found[number] = rank, words
    return {f"n{number}": found[number][1] for number in sorted(found)}


def _described(binding: Binding, names: Mapping[Array, str]) -> Iterator[tuple[int, int, str]]:
    """The number of an extent, how good the description is (less is better), and the description."""
    match binding.operation:
        case BindSizes((variable,), function):
            match function.body:
                case Block((Load(out, array, ()),), (result,)) if result == out:
                    yield variable.number, 0, f"value of {_called(array, names)}"
                case _:
                    pass
        case operation:
            for array in binding.arrays:
                rank = 0 if isinstance(operation, Use) else 1 if array in names else 2
                for dimension, extent in enumerate(array.shape):
                    if extent.variable is not None and extent.offset == 0:
                        yield extent.variable.number, rank, _words(binding, array, dimension, names)


def _words(binding: Binding, array: Array, dimension: int, names: Mapping[Array, str]) -> str:
    match binding.operation:
        case Reshape((source, *_)) if len(array.shape) == 1 and array not in names:
            return f"size of {_called(source, names)}"
        case _:
            what = {1: ("length",), 2: ("rows", "columns")}.get(len(array.shape))
            return f"{what[dimension] if what else f'extent {dimension}'} of {_called(array, names)}"


def _called(array: Array, names: Mapping[Array, str]) -> str:
    """The variable, or the label where there is none."""
    return names.get(array, plain_name(array))
