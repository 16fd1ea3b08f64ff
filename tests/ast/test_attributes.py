"""An attribute that NumPy's arrays have is refused with what to write instead; `hasattr` and copies of handles work."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped

ANY: Any = A  # Any: mypy refuses these calls, too
XS: Any = A.use(np.ones((2, 3)))  # Any: mypy refuses these attributes, too


def test_a_method_of_numpy_says_what_to_write() -> None:
    with pytest.raises(
        A.AccelAttributeError,
        match=r"(?s)an Acc has no attribute 'sum'.*test_attributes\.py:\d+ in .*hint: write `A.sum\(XS\)`",
    ):
        XS.sum()


def test_another_attribute_is_missing() -> None:
    assert not hasattr(XS, "nothing_of_the_kind")
    with pytest.raises(
        A.AccelAttributeError,
        match=r"(?s)an Acc has no attribute 'nothing_of_the_kind'.*hint: functions take it: `A\.sum",
    ):
        XS.nothing_of_the_kind  # noqa: B018  # the access is what is tested


def test_a_field_is_read_by_its_place_or_its_record() -> None:
    def real(p: Any) -> Any:  # Any: mypy refuses it, too
        return p.real

    points: Any = A.use(np.zeros(3, [("x", "f4"), ("real", "f8")]))
    with pytest.raises(
        A.AccelAttributeError,
        match=r"(?s)no attribute 'real'.*hint: write `p\[1\]`, or `R\.real\(p\)` with a record class",
    ):
        A.map(real, points)


def test_the_fields_of_an_array_are_mapped() -> None:
    points: Any = A.use(np.zeros(3, [("x", "f4"), ("sum", "f8")]))
    with pytest.raises(
        A.AccelAttributeError,
        match=r"(?s)an Acc has no attribute 'x'.*hint: write `A\.map\(R\.x, xs\)` with a record class",
    ):
        points.x  # noqa: B018  # the access is what is tested


@pytest.mark.parametrize(
    ("mistake", "hint"),
    [
        (lambda xs, ns: A.append(ns, xs), "convert one: `A.map(lambda x: A.cast(x, np.float32), ns)`"),
        (lambda xs, ns: A.concatOn(0, xs, ns), "convert one: `A.map(lambda x: A.cast(x, np.float32), ns)`"),
        (lambda xs, ns: A.update(ns, slice(0, 2), xs), "convert one: `A.map(lambda x: A.cast(x, np.float32), ns)`"),
        (lambda xs, ns: A.searchsorted(xs, ns), "convert one: `A.map(lambda x: A.cast(x, np.float32), ns)`"),
        (
            lambda xs, ns: A.append(A.zip(xs, xs), A.zip(xs, ns)),
            "take parts of one type: `A.map(lambda t: t[0], xs)`, `A.map(lambda m: A.fromMaybe(default, m), xs)`",
        ),
    ],
)
def test_the_wider_of_two_types_is_what_to_convert_to(mistake: Any, hint: str) -> None:  # Any: as above
    with pytest.raises(A.AccelTypeError, match="arrays of one element type") as caught:
        mistake(A.use(np.ones(2, np.float32)), A.use(np.ones(2, np.int64)))
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("mistake", "hint"),
    [
        (lambda: ANY.cond(ANY.lift(1, 2), 1, 2), "an item of a tuple is taken by `t[0]`"),
        (lambda: ANY.take(ANY.just(1), XS), "the value of a maybe is `A.fromMaybe(default, m)`"),
        (lambda: ANY.backpermute((2,), lambda ix: ANY.index(ix[0]), XS), "for each dimension: `A.index(i, j)`"),
        (lambda: ANY.lift(1, 2) + ANY.constant(1.0), "an item of a tuple is taken by `t[0]`"),
        (lambda: ANY.gather(ANY.use(np.zeros(2)), ANY.use(np.zeros(2))), "such as `A.map(A.floor, indices)` of floats"),
        (lambda: ANY.expand(lambda n: n, lambda n, _: n, XS), "`A.flatten(xs)` gives an array rank 1"),
        (lambda: ANY.random.split(ANY.random.key(1), "2"), "`left, right = A.random.split(key, 2)`"),
        (lambda: ANY.compute(1), "an array enters a program by `A.use(x)`"),
    ],
)
def test_what_does_not_fit_says_what_to_do(mistake: Any, hint: str) -> None:  # Any: mypy refuses these, too
    with pytest.raises(A.AccelTypeError) as caught:
        mistake()
    assert hint in (caught.value.hint or "")


@pytest.mark.parametrize(("place", "start"), [(-1, "none counts from the end: "), (3, "the last of n is `n - 1`; ")])
def test_indices_outside_say_where_the_last_one_is(place: int, start: str) -> None:
    with pytest.raises(A.AccelIndexError) as caught:
        A.run(A.unit(A.use(np.arange(3))[place]), backend="interpreter")
    assert (caught.value.hint or "").startswith(start)


def test_an_array_has_no_value_to_format() -> None:
    assert f"{XS}" == repr(XS)
    with pytest.raises(A.AccelStagingError, match="an Acc has no value to format yet"):
        format(XS, ".2f")


@pytest.mark.parametrize(
    ("mistake", "message"),
    [
        (lambda: None, r"(?s)what the function returns .* got None.*is a `return` missing\?"),
        (lambda: A.constant(1), r"(?s)got i64.*write `A.unit\(e\)`"),
        (lambda: (XS, lambda: XS), r"(?s)got a function.*`A.runN\(f\)`"),
        (lambda: {"xs": XS}, r"(?s)got a dict.*wrap NumPy arrays"),
    ],
)
def test_what_is_no_result(mistake: Any, message: str) -> None:
    with pytest.raises(A.AccelTypeError, match=message):
        A.runN(mistake)()


@pytest.mark.llvm
def test_copies_of_handles_are_themselves() -> None:
    assert copy.copy(XS) is XS
    assert copy.deepcopy({"xs": XS})["xs"] is XS
    squared = A.map(lambda x: copy.deepcopy(x) * copy.copy(x), A.use(np.array([3.0])))
    assert A.run(squared).tolist() == [9.0]


@pytest.mark.llvm
def test_quotient_and_remainder() -> None:
    xs = np.array([-7, 7, 8])

    def both(x: A.Exp[np.int64]) -> A.Exp[tuple[np.int64, np.int64, np.int64, np.int64]]:
        return A.lift(*divmod(x, 3), *divmod(100, x))

    found = untyped.run(A.map(both, A.use(xs)))
    for leaf, expected in zip(found, (*divmod(xs, 3), *divmod(100, xs)), strict=True):
        np.testing.assert_array_equal(leaf, expected)
    bools: Any = A.use(np.ones(2, bool))  # Any: mypy refuses it, too
    with pytest.raises(A.AccelTypeError, match=r"test_attributes\.py"):
        A.map(lambda x: divmod(x, True)[0], bools)


def test_powers_with_a_modulus() -> None:
    def power(x: Any) -> Any:  # Any: mypy refuses it, too
        return pow(x, 2, 3)

    with pytest.raises(A.AccelTypeError, match=r"(?s)test_attributes\.py:\d+ in power.*write `x\*\*n % m`"):
        A.map(power, A.use(np.arange(4)))


def test_what_stands_for_a_value_is_no_function_to_anybody() -> None:
    """Calls say so; and who is given one in a function's place says what belongs there, as before."""
    for handle in (XS, XS[0, 0]):
        with pytest.raises(A.AccelTypeError, match=r"(?s)is no function.*test_attributes\.py:\d+ in .*hint: "):
            handle(1)
        with pytest.raises(A.AccelTypeError, match="the function of map must be a function of 1 argument, got "):
            A.map(handle, XS)
        with pytest.raises(A.AccelTypeError, match="runN takes a function"):
            ANY.runN(handle)


def test_handles_are_not_changed() -> None:
    for handle in (XS, XS[0, 0]):
        with pytest.raises(A.AccelAttributeError, match=r"the shape of an (Acc|Exp) is not changed"):
            handle.shape = (3, 2)
        with pytest.raises(A.AccelAttributeError, match=r"the node of an (Acc|Exp) is not deleted"):
            del handle.node
        with pytest.raises(A.AccelTypeError, match="is not changed"):
            handle[0] = 1
        with pytest.raises(A.AccelTypeError, match="is not changed"):
            del handle[0]
