"""Wrong programs, one to a function; `test_mistakes.py` holds the whole message of each (tests/golden/test_mistakes).

Most are wrong for mypy, too (tests/typing): values of type `Any` stand for users who do not run it.
"""

# The elements of arrays that `use` refuses.
# mypy: disable-error-code="type-var"

from __future__ import annotations

import math
from typing import Any

import numpy as np

import accel as A

# Any: these programs are wrong on purpose.
v: Any = A.use(np.ones(4, np.float32))
w: Any = A.use(np.ones(4, np.float64))
i: Any = A.use(np.arange(4, dtype=np.int32))
m: Any = A.use(np.ones((3, 4), np.float32))
s: Any = A.unit(np.float32(1))
b: Any = A.fill((4,), True)
pairs: Any = A.zip(v, i)
x: Any = v[0]
n: Any = i[0]


def untyped(value: Any) -> Any:
    """`value`, about which mypy knows nothing."""
    return value


def mixed_operands() -> object:
    return A.map(lambda e: e * w[0], v)


def mixed_elements() -> object:
    return A.zipWith(A.mul, v, w)


def bool_plus_bool() -> object:
    return A.map(lambda e: e + e, b)


def tuple_plus_tuple() -> object:
    return A.map(lambda p: p + p, pairs)


def integer_division() -> object:
    return A.map(lambda k: k / 2, i)


def float_floor_division() -> object:
    return A.map(lambda e: e // 2, v)


def sine_of_an_integer() -> object:
    return A.map(A.sin, i)


def literal_too_large() -> object:
    return A.map(lambda e: e + 300, A.fill((2,), np.uint8(1)))


def float_literal_for_integers() -> object:
    return A.fold(A.add, 0.5, i)


def bool_literal_for_floats() -> object:
    return A.map(lambda e: e + True, v)


def float_literal_overflows() -> object:
    return A.map(lambda e: e * 1e300, v)


def numpy_scalar_of_another_type() -> object:
    return A.map(lambda e: e * np.float64(2), v)


def operand_is_an_array() -> object:
    return A.map(lambda e: e * np.ones(3), v)


def operand_is_an_acc() -> object:
    return A.map(lambda e: e * s, v)


def operator_on_an_array() -> object:
    return v * 2


def operator_on_a_numpy_array() -> object:
    return np.ones(4, np.float32) * v


def comparison_of_an_array() -> object:
    return A.acond(v == 0, v, v)


def shapes_differ() -> object:
    xs = A.use(np.zeros((3, 4)))
    ys = A.use(np.zeros((3, 5)))
    return A.zipWith(A.add, xs, ys)


def ranks_differ() -> object:
    return A.zipWith(A.add, v, m)


def fold_of_a_scalar() -> object:
    return A.fold(A.add, 0, s)


def fold_changes_the_type() -> object:
    return A.fold(lambda a, b: a < b, 0, v)


def seed_of_another_type() -> object:
    return A.fold(A.add, w[0], v)


def seed_missing() -> object:
    return A.fold(A.add, untyped(None), v)


def predicate_gives_a_float() -> object:
    return A.filter(lambda e: e + 1, v)


def result_is_a_tuple() -> object:
    return A.map(untyped(lambda e: (e, e)), v)


def result_is_a_number() -> object:
    return A.map(untyped(lambda e: 1), v)


def result_is_missing() -> object:
    return A.map(untyped(lambda e: None), v)


def result_is_an_acc() -> object:
    return A.map(lambda e: s, v)


def no_function() -> object:
    return A.map(untyped(3), v)


def function_of_another_arity() -> object:
    return A.map(untyped(lambda e, f: e), v)


def result_is_a_numpy_scalar() -> object:
    return A.map(untyped(lambda e: np.float32(1)), v)


def function_of_math() -> object:
    return A.map(untyped(lambda e: math.sqrt(e)), v)


def arguments_exchanged() -> object:
    return A.map(v, untyped(lambda e: e))


def array_not_used() -> object:
    return A.map(lambda e: e, untyped(np.ones(3)))


def nested_parallelism() -> object:
    return A.map(
        lambda e: A.the(A.fold(A.add, 0, A.map(lambda f: f * e, v))),
        v,
    )


def nested_generate() -> object:
    return A.generate((4,), lambda ix: A.fill((ix[0],), x)[0])


def nested_loop() -> object:
    return A.map(lambda e: A.while_(lambda k: k < A.the(A.unit(k)), lambda k: k + 1, e), v)


def truth_value() -> object:
    return A.map(lambda e: e if e > 0 else -e, v)


def truth_of_and() -> object:
    return A.map(lambda e: (e > 0) and (e < 1), v)


def length_of_an_expression() -> object:
    return len(x)


def unpacking_an_expression() -> object:
    first, second = pairs[0]
    return first, second


def membership() -> object:
    return 1 in x


def float_of_an_expression() -> object:
    return float(x)


def int_of_an_expression() -> object:
    return int(n)


def expression_as_index() -> object:
    return [1, 2, 3][n]


def expression_to_numpy() -> object:
    return np.asarray(x)


def truth_of_an_array() -> object:
    return bool(v)


def length_of_an_array() -> object:
    return len(v)


def iteration_over_an_array() -> object:
    return list(v)


def array_to_numpy() -> object:
    return np.asarray(v)


def float_of_an_array() -> object:
    return float(s)


def membership_in_an_array() -> object:
    return 1 in v


def int_of_an_array() -> object:
    return int(s)


def array_as_index() -> object:
    return [1, 2, 3][s]


def python_slice() -> object:
    return v[1:3]


def index_of_wrong_rank() -> object:
    return m[0, 1, 2]


def one_index_for_a_matrix() -> object:
    return m[0]


def index_is_a_float() -> object:
    return v[0.5]


def index_is_i32() -> object:
    return v[n]


def item_of_a_scalar() -> object:
    return x[0]


def item_out_of_range() -> object:
    return pairs[0][2]


def branches_differ() -> object:
    return A.cond(x > 0, x, n)


def condition_is_a_float() -> object:
    return A.cond(x, x, x)


def acond_of_two_ranks() -> object:
    return A.acond(x > 0, v, m)


def acond_of_an_array() -> object:
    return A.acond(untyped(A.unit(x > 0)), v, v)


def awhile_condition_is_an_expression() -> object:
    return A.awhile(untyped(lambda q: x > 0), lambda q: q, v)


def awhile_changes_the_rank() -> object:
    return A.awhile(lambda q: A.unit(x > 0), lambda q: A.fold(A.add, 0, q), v)


def replicate_keeps_too_little() -> object:
    return A.replicate((2, A.All), m)


def slice_index_out_of_range() -> object:
    return A.slice(m, (A.All, 4))


def reshape_changes_the_size() -> object:
    return A.reshape((5, 3), m)


def negative_extent() -> object:
    return A.fill((2, -1), 0.0)


def shape_is_a_number() -> object:
    return A.generate(untyped(3), lambda ix: x)


def axis_out_of_range() -> object:
    return A.reverseOn(2, m)


def gather_by_i32() -> object:
    return A.gather(i, v)


def scatter_without_pairs() -> object:
    return A.scatterWith(A.add, v, v)


def permute_to_an_index() -> object:
    return A.permute(A.add, v, lambda ix: ix, v)


def unzip_of_scalars() -> object:
    return A.unzip3(pairs)


def list_of_numbers() -> object:
    return A.use(untyped([1, 2, 3]))


def complex_numbers() -> object:
    return A.use(np.ones(3, np.complex128))


def half_floats() -> object:
    return A.use(np.ones(3, np.float16))


def texts() -> object:
    return A.use(np.array(["a", "b"]))


def dates() -> object:
    return A.use(np.array(["2026-11-21"], dtype="datetime64[D]"))


def masked_array() -> object:
    return A.use(np.ma.masked_array([1.0, 2.0], [True, False]))


def tuple_of_unequal_arrays() -> object:
    return A.use((np.zeros(3), np.zeros(4)))


def conversion_to_a_python_type() -> object:
    return A.cast(x, untyped(float))


def bitcast_to_another_width() -> object:
    return A.bitcast(x, np.int64)


def maybe_of_a_number() -> object:
    return A.fromMaybe(0, x)


def indices_of_two_ranks() -> object:
    return A.toIndex(A.index(3, 4), untyped(A.index(1)))


def head_of_no_index() -> object:
    return A.indexHead(untyped(A.index()))


def size_of_no_shape() -> object:
    return A.shapeSize(untyped(A.lift(1.5, 2.5)))
