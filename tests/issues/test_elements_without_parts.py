"""Arrays of `()` have a shape and no data: every operation takes them, and what is counted of them is right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import accel as A
from tests import untyped
from tests.untyped import accel as U

XS = np.arange(5)
# Any: tuples without items have no type parameters that mypy could follow.
UNITS: Any = A.fill((3, 2), A.lift())
LINE: Any = A.map(lambda _: A.lift(), A.use(XS))


def _first(p: Any, _: Any) -> Any:
    return p


SHAPED: dict[str, tuple[Callable[[], Any], tuple[int, ...]]] = {
    "unit": (lambda: U.unit(U.lift()), ()),
    "fill": (lambda: UNITS, (3, 2)),
    "map": (lambda: LINE, (5,)),
    "fold": (lambda: U.fold(_first, U.lift(), UNITS), (3,)),
    "foldSeg": (lambda: U.foldSeg(_first, U.lift(), LINE, U.use(np.array([2, 3]))), (2,)),
    "scanl": (lambda: U.scanl(_first, U.lift(), UNITS), (3, 3)),
    "scanl1Seg": (lambda: U.scanl1Seg(_first, LINE, U.use(np.array([2, 3]))), (5,)),
    "scanrTotal": (lambda: U.scanrTotal(_first, U.lift(), UNITS)[1], (3,)),
    "gather": (lambda: U.gather(U.use(np.array([4, 0])), LINE), (2,)),
    "append": (lambda: U.append(LINE, LINE), (10,)),
    "permute": (lambda: U.permute(_first, LINE, lambda ix: U.just(ix), LINE), (5,)),
    "compute": (lambda: U.compute(UNITS), (3, 2)),
    "iterate": (lambda: U.iterate(2, lambda x: U.drop(1, x), LINE), (3,)),
    "iterate of several": (
        lambda: U.iterate(2, lambda s: (U.tail(s[0]), U.append(s[1], LINE)), (U.use(XS), LINE))[1],
        (15,),
    ),
    "awhile": (lambda: U.awhile(lambda x: U.unit(U.length(x) > 2), lambda x: U.tail(x), LINE), (2,)),
    "acond": (lambda: U.acond(U.the(U.use(np.array(True))), U.drop(1, LINE), LINE), (4,)),
    "acond in iterate": (
        lambda: U.iterate(3, lambda x: U.acond(U.length(x) > 3, U.init(x), U.reverse(x)), LINE),
        (3,),
    ),
    "filter": (lambda: U.filter(lambda _: U.constant(True), UNITS)[0], (6,)),
    "filter of nothing": (lambda: U.filter(lambda _: U.constant(False), UNITS)[0], (0,)),
}


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
@pytest.mark.parametrize("name", SHAPED)
def test_it_has_its_shape(name: str, backend: str) -> None:
    program, shape = SHAPED[name]
    array = program()
    sizes = untyped.run(tuple(A.unit(array.shape[axis]) for axis in range(len(shape))), backend=backend)
    assert tuple(int(size) for size in sizes) == shape
    assert A.run(array, backend=backend) == ()


@pytest.mark.parametrize("backend", ["interpreter", "llvm"])
def test_a_filter_counts_them(backend: str) -> None:
    counts = A.run(A.filter(lambda _: A.constant(True), UNITS)[1], backend=backend)
    assert counts.tolist() == [2, 2, 2]
