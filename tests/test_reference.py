"""The reference is what docstrings say now, and leaves out no public name."""

from __future__ import annotations

import re

import accel as A
from tools import reference

PAGE = reference.TARGET.read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    assert reference.generate() == PAGE, "run `python -m tools.reference`"


def test_every_public_name_has_a_heading_and_a_link_to_it() -> None:
    headings = re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)
    assert sorted(headings) == sorted(A.__all__)
    links = dict(re.findall(r"\[`(\w+)`\]\(#([\w-]+)\)", PAGE))
    assert sorted(links) == sorted(A.__all__)
    assert len(set(links.values())) == len(links)


def test_every_function_has_an_example() -> None:
    without = [name for name in A.__all__ if callable(getattr(A, name)) and not isinstance(getattr(A, name), type)]
    without = [name for name in without if ">>> " not in (getattr(A, name).__doc__ or "") and name not in PLAIN]
    assert not without


PLAIN = {"DIM0", "DIM1", "DIM2", "DIM3", "DIM4", "DIM5", "Matrix", "Num", "Scalar", "Segments", "Vector"}
"""Types that are no classes."""
