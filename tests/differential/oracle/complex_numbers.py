"""Complex numbers of a program: `Complex` elements, and the functions that take them, by the formulas of docs/scalars.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tests.differential.oracle.scalars import operate, select
from tests.differential.oracle.values import Complex, Tree, Value, number

Parts = tuple[Value, Value]


def _parts(value: object, other: object) -> Parts:
    """The parts of a complex number; a Python number has the type of the other operand."""
    if isinstance(value, Complex):
        real, imaginary = value
        assert isinstance(real, Value)
        assert isinstance(imaginary, Value)
        return real, imaginary
    assert isinstance(value, (int, float, complex))
    assert isinstance(other, Complex)
    dtype = _parts(other, value)[0].dtype
    return number(value.real, dtype), number(value.imag, dtype)


def _add(z: Parts, w: Parts) -> Tree:
    return Complex((z[0] + w[0], z[1] + w[1]))


def _sub(z: Parts, w: Parts) -> Tree:
    return Complex((z[0] - w[0], z[1] - w[1]))


def _mul(z: Parts, w: Parts) -> Tree:
    return Complex((z[0] * w[0] - z[1] * w[1], z[0] * w[1] + z[1] * w[0]))


def _div(z: Parts, w: Parts) -> Tree:
    """Smith's algorithm, both of its ways."""
    (a, b), (c, d) = z, w
    size, other = operate("abs", c), operate("abs", d)
    ratio, inverse = d / c, c / d
    scale, factor = operate("div", 1.0, c + d * ratio), operate("div", 1.0, d + c * inverse)
    wide = Complex(((a + b * ratio) * scale, (b - a * ratio) * scale))
    high = Complex(((a * inverse + b) * factor, (b * inverse - a) * factor))
    by_zero = (size == 0.0) & (other == 0.0)
    return select(by_zero, Complex((a / size, b / size)), select(size >= other, wide, high))


def _eq(z: Parts, w: Parts) -> Tree:
    return (z[0] == w[0]) & (z[1] == w[1])


def of_two(plain: Mapping[str, object]) -> dict[str, object]:
    """The functions of two numbers: of complex ones by their formulas, else as they are."""

    def either(name: str, formula: Callable[[Parts, Parts], Tree]) -> Callable[[object, object], object]:
        def function(x: object, y: object) -> object:
            if isinstance(x, Complex) or isinstance(y, Complex):
                return formula(_parts(x, y), _parts(y, x))
            found = plain[name]
            assert callable(found)
            return found(x, y)

        return function

    return {name: either(name, formula) for name, formula in _OF_TWO.items()}


_OF_TWO: Mapping[str, Callable[[Parts, Parts], Tree]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "eq": _eq,
}

COMPLEX: dict[str, object] = {
    "mkComplex": lambda real, imaginary: Complex((real, imaginary)),
    "real": lambda z: z[0],
    "imag": lambda z: z[1],
    "conjugate": lambda z: Complex((z[0], -z[1])),
}
"""What makes complex numbers, and takes them apart."""
