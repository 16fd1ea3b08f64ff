"""Wrong programs of people who come from NumPy, or forget what is one argument; as `mistakes.py`, one to a function."""

from __future__ import annotations

from typing import Any

import numpy as np

import accel as A
from tests.ast.mistakes import i, m, pairs, untyped, v, w, x


def numpy_function() -> object:
    return A.map(lambda e: untyped(np.maximum(e, 0)), v)


def numpy_function_as_the_function() -> object:
    return A.map(untyped(np.sqrt), v)


def numpy_where() -> object:
    return A.map(lambda e: untyped(np.where(e > 0, e, 0)), v)


def numpy_array_at_an_exp() -> object:
    return A.map(lambda k: untyped(np.arange(3)[k]), i)


def python_round() -> object:
    return A.map(lambda e: round(e), v)


def python_format() -> object:
    return A.map(lambda e: A.constant(float(f"{e:.3f}"), np.float64), v)


def loop_with_two_parameters() -> object:
    return A.awhile(untyped(lambda xs, ys: A.unit(xs[0] > 0)), lambda state: state, (v, v))


def step_with_two_parameters() -> object:
    return A.awhile(lambda state: A.unit(state[0][0] > 0), untyped(lambda xs, ys: (ys, xs)), (v, v))


def iterated_function_with_two_parameters() -> object:
    return A.iterate(3, untyped(lambda xs, ys: xs), v)


def too_few_arrays() -> object:
    return A.runN(lambda xs, ys: A.zipWith(A.add, xs, ys))(np.ones(3))


def numpy_function_of_an_array() -> object:
    return A.runN(lambda xs: A.unit(untyped(np.sum(xs))))(np.ones(3))


def unknown_backend_in_a_block() -> object:
    with A.using(backend="cuda"):
        return A.run(v)


def scatter_to_narrow_indices() -> object:
    return A.scatter(i, v, v)


def scatter_of_another_length() -> object:
    return A.scatter(A.use(np.arange(3)), v, v)


def gather_with_its_arguments_exchanged() -> object:
    return A.gather(w, A.use(np.arange(4)))


def bare_position_to_permute() -> object:
    return A.permute(A.add, v, untyped(lambda ix: A.just(ix[0])), v)


def number_as_the_seed_of_pairs() -> object:
    return A.fold(lambda p, q: p, 0, pairs)


def beyond_the_address_space() -> object:
    return A.run(A.fill((1 << 40, 1 << 20), 0))


def compiled_function_within_a_program() -> object:
    inner: Any = A.runN(lambda xs: A.map(lambda e: e + 1, xs))
    return A.runN(lambda xs: inner(xs))(np.ones(3))


def arithmetic_on_an_index() -> object:
    return A.generate((4,), lambda ix: untyped(ix) * 2)


def index_and_position() -> object:
    return A.imap(untyped(lambda e, ix: e + ix), A.use(np.arange(4)))


def coordinates_as_parameters() -> object:
    return A.generate((3, 4), untyped(lambda row, column: row + column))


def explanation_for_too_many_arrays() -> object:
    return A.explain(lambda xs: A.sum(xs), np.ones(3), np.ones(3))


def builtin_as_the_function() -> object:
    return A.runN(untyped(max))(np.ones(3))


def loop_from_a_nothing() -> object:
    return A.map(lambda e: A.fromMaybe(0, A.while_(A.isNothing, lambda s: A.just(e), A.nothing())), v)


def assignment_to_an_element() -> object:
    v[0] = 1
    return v


def numpy_function_outside_of_scalar_code() -> object:
    return np.exp(v)


def bare_tuple_as_a_shape() -> object:
    return A.shapeSize(untyped((3, 4)))


def item_by_name() -> object:
    return pairs[0]["a"]


def use_of_an_acc() -> object:
    return A.use(v)


def acond_of_two_forms() -> object:
    return A.acond(x > 0, v, untyped((v, (m,))))


def awhile_forgets_a_part() -> object:
    return A.awhile(lambda q: A.unit(x > 0), untyped(lambda q: q[0]), (v, m))
