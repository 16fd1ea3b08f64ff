"""A labelled program as text, one line per binding: `%3 = map (λ_ x1. add x1 1.0) %1 : f64[n0]`.

Stable, and complete but for places in the user's program and the user's names of combinators: programs with the same
text mean the same, so the text is the key under which compiled programs are found again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import assert_never

from accel.labelled.algebra import Monoid
from accel.labelled.array import Array, Label, Shape, SizeVariable
from accel.labelled.nodes import (
    Acond,
    Awhile,
    Backpermute,
    Binding,
    BindSizes,
    Copy,
    Filter,
    Fold,
    FoldSegments,
    Force,
    Gather,
    Generate,
    HostCall,
    Map,
    Operation,
    Program,
    RequireEqual,
    Reshape,
    Scan,
    ScanSegments,
    Scatter,
    Sort,
    Use,
)
from accel.labelled.programs import programs
from accel.labelled.scalar import Function
from accel.labelled.scalar_text import function_text, products_text, shape_text


def text(program: Program) -> str:
    """The program: its parameters' requirements, its bindings, its results."""
    return "\n".join(_lines(program, _Names(program)))


def binding_text(binding: Binding, program: Program) -> str:
    """One binding of `program`, the first line of it if it has several."""
    return next(_binding(binding, (), _Names(program)))


class _Names:
    """`%3`, or `%3.1` where a label has several leaves."""

    def __init__(self, program: Program) -> None:
        self._several: set[Label] = set()
        for part in programs(program):
            arrays = [array for binding in part.bindings for array in binding.arrays]
            arrays += [array for parameter in part.parameters for array in parameter]
            self._several.update(array.label for array in arrays if array.leaf)

    def __call__(self, array: Array) -> str:
        return f"%{array.label}.{array.leaf}" if array.label in self._several else f"%{array.label}"


def _lines(program: Program, names: _Names) -> Iterator[str]:
    for equality in program.equalities:
        yield f"require {shape_text(equality.left)} = {shape_text(equality.right)}"
    for binding in program.bindings:
        yield from _binding(binding, program.own_shapes, names)
    yield f"return {_arrays(program.results, names)}".rstrip()


def _binding(binding: Binding, own_shapes: Sequence[Shape], names: _Names) -> Iterator[str]:
    head, inner = _operation(binding.operation, names)
    head += _own_shape(binding, own_shapes)
    types = ", ".join(f"{array.element}{shape_text(array.shape)}" for array in binding.arrays)
    after = " ".join(["after", *(f"%{label}" for label in binding.after)]) if binding.after else ""
    parts = [f"%{binding.label} = {head}", f": {types}" if types else "", after]
    yield " ".join(part for part in parts if part)
    for title, part in inner:
        parameters = " ".join(
            f"({', '.join(f'{names(leaf)} : {leaf.element}{shape_text(leaf.shape)}' for leaf in parameter)})"
            for parameter in part.parameters
        )
        yield f"  {title} {parameters}".rstrip()
        for line in _lines(part, names):
            yield "    " + line


def _own_shape(binding: Binding, own_shapes: Sequence[Shape]) -> str:
    """` of [n1]`: a parameter's shape in variables of its own, where unification has changed it."""
    if not isinstance(binding.operation, Use) or binding.operation.parameter >= len(own_shapes):
        return ""
    own = own_shapes[binding.operation.parameter]
    return f" of {shape_text(own)}" if any(array.shape != own for array in binding.arrays) else ""


def _operation(operation: Operation, names: _Names) -> tuple[str, list[tuple[str, Program]]]:
    """The right side of a binding, and its sub-programs with their titles."""
    match operation:
        case Acond(condition, then, orelse):
            return f"acond {names(condition)}", [("then", then), ("else", orelse)]
        case Awhile(condition, body, initial):
            return f"awhile {_arrays(initial, names)}", [("while", condition), ("do", body)]
        case _:
            return " ".join(filter(None, _words(operation, names))), []


def _words(operation: Operation, names: _Names) -> list[str]:
    match operation:
        case Use(parameter):
            return ["use", str(parameter)]
        case Generate(function):
            return ["generate", _function(function, names)]
        case Map(function, inputs):
            return ["map", _function(function, names), _arrays(inputs, names)]
        case Backpermute(function, inputs, shrinking, inside):
            head = "backpermute" + _flags("shrinking" if shrinking else "", "inside" if inside else "")
            return [head, _function(function, names), _arrays(inputs, names)]
        case Gather(indices, inputs):
            return ["gather", _group(indices, names), _arrays(inputs, names)]
        case Scatter(combine, destinations, keep, indices, values, monoid, unique):
            parts = [_group(destinations, names), "" if keep is None else f"if {names(keep)}"]
            parts += [_group(indices, names), _group(values, names)]
            return ["scatter" + ("[unique]" if unique else _algebra(monoid)), _function(combine, names), *parts]
        case Copy(inputs, last):
            return ["copy last" if last else "copy", _arrays(inputs, names)]
        case Fold(combine, initial, inputs, monoid):
            joined = f"{operation.dimensions} dimensions" if operation.dimensions > 1 else ""
            products = products_text(operation.products, len(combine.body.results))
            head = ("fold" if initial else "fold1") + _algebra(monoid, joined, products)
            return [head, _function(combine, names), _seed(initial, names), _arrays(inputs, names)]
        case FoldSegments(combine, initial, starts, ends, inputs, monoid):
            products = products_text(operation.products, len(combine.body.results))
            head = ("foldSegments" if initial else "fold1Segments") + _algebra(monoid, products)
            described = [_function(combine, names), _seed(initial, names), _group((starts, ends), names)]
            return [head, *described, _arrays(inputs, names)]
        case ScanSegments(combine, initial, starts, ends, inputs, direction, form, monoid):
            head = "scanSegments" + _algebra(monoid, direction.value, form.value)
            described = [_function(combine, names), _seed(initial, names), _group((starts, ends), names)]
            return [head, *described, _arrays(inputs, names)]
        case Scan(combine, initial, inputs, direction, form, monoid):
            head = "scan" + _algebra(monoid, direction.value, form.value)
            return [head, _function(combine, names), _seed(initial, names), _arrays(inputs, names)]
        case Filter(predicate, inputs):
            return ["filter", _function(predicate, names), _arrays(inputs, names)]
        case Reshape(inputs):
            return ["reshape", _arrays(inputs, names)]
        case Sort(inputs, places, descending):
            flags = _flags("places" if places else "", "descending" if descending else "")
            return ["sort" + flags, _arrays(inputs, names)]
        case HostCall(called, inputs):
            return [called.name, _arrays(inputs, names)]
        case Force(inputs):
            return ["force", _arrays(inputs, names)]
        case BindSizes(variables, function):
            return ["sizes", _variables(variables), _function(function, names)]
        case RequireEqual(left, right, message=message):
            said = [] if message is None else [repr(message)]
            return ["require", shape_text(left), "=", shape_text(right), *said]
        case Acond() | Awhile():
            return []  # printed with their sub-programs
        case _:
            assert_never(operation)


def _function(function: Function, names: _Names) -> str:
    return f"({function_text(function, names)})"


def _seed(initial: Function | None, names: _Names) -> str:
    return "" if initial is None else _function(initial, names)


def _arrays(arrays: Sequence[Array], names: _Names) -> str:
    return " ".join(map(names, arrays))


def _group(arrays: Sequence[Array], names: _Names) -> str:
    return f"({_arrays(arrays, names)})"


def _variables(variables: Sequence[SizeVariable]) -> str:
    return " ".join(f"n{variable.number}" for variable in variables)


def _flags(*flags: str) -> str:
    shown = [flag for flag in flags if flag]
    return f"[{', '.join(shown)}]" if shown else ""


def _algebra(monoid: Monoid, *more: str) -> str:
    return _flags(*more, "exact" if monoid.exact else "", "commutes" if monoid.commutes else "")
