"""The examples in docstrings of public names print what they say."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import accel as A

WITH_EXAMPLES = [name for name in A.__all__ if ">>> " in (getattr(A, name).__doc__ or "")]


@pytest.mark.llvm
@pytest.mark.solver
@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples(name: str) -> None:
    text = getattr(A, name).__doc__
    test = doctest.DocTestParser().get_doctest(text, {"A": A, "np": np}, name, None, 0)
    report: list[str] = []
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE).run(test, out=report.append)
    assert not report, "".join(report)
