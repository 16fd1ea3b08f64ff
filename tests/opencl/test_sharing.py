"""How many work-items share a row is said twice, to the host and in C: both say the same."""

from __future__ import annotations

import re

import pytest

from accel.backends.opencl.code.kernel import Sharing
from accel.backends.opencl.code.writer import Writer
from accel.labelled.array import Extent


def written(sharing: Sharing, total: int) -> int:
    """What the C code comes to: a loop that counts bits, whose condition Python can read."""
    writer = Writer()
    sharing.write(writer, str(total))
    declared, loop = [line.strip() for line in writer.text.splitlines()]
    start, condition = re.fullmatch(r"int bits = (\d+);", declared), re.fullmatch(r"while \((.*)\) \+\+bits;", loop)
    assert start is not None
    assert condition is not None
    text, bits = condition[1].replace("(position_t)", "").replace("&&", "and"), int(start[1])
    while eval(text, {}, {"bits": bits}):
        bits += 1
    return 1 << bits


@pytest.mark.parametrize(("most", "each", "least"), [(64, 1, 1), (64, 8, 1), (256, 16, 32), (1, 4, 1)])
def test_the_host_and_the_kernel_say_the_same(most: int, each: int, least: int) -> None:
    for total in (*range(70), *(each * power + off for power in (16, 32, 64, 128) for off in (-1, 0, 1)), 1 << 40):
        sharing = Sharing((Extent(None, total),), most, each, least)
        found = sharing.value(lambda variable: 0)
        assert found == written(sharing, total)
        needed = next((n for n in (1 << bit for bit in range(60)) if n * each >= total), 0)
        assert found == min(max(needed, least), most)
