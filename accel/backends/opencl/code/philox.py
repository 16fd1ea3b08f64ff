"""OpenCL C for random numbers: the function that gives number `position` of a key (`accel/ast/meaning/philox.py`).

A work-item computes its own number only, though its counter would give four.
"""

from __future__ import annotations

from accel.ast.meaning.philox import FACTORS, ROUNDS, STEPS
from accel.backends.opencl.code.writer import SCALAR_LOOP

PHILOX = f"""\
static ulong philox(ulong low, ulong high, ulong position) {{
  ulong a = (position >> 2) + 1, b = 0, c = 0, d = 0;
{SCALAR_LOOP}
  for (int turn = 0; turn < {ROUNDS}; turn++) {{
    ulong e = mul_hi(c, {FACTORS[1]:#x}UL) ^ b ^ low, f = mul_hi(a, {FACTORS[0]:#x}UL) ^ d ^ high;
    b = c * {FACTORS[1]:#x}UL, d = a * {FACTORS[0]:#x}UL;
    a = e, c = f;
    low += {STEPS[0]:#x}UL, high += {STEPS[1]:#x}UL;
  }}
  return position & 2 ? (position & 1 ? d : c) : (position & 1 ? b : a);
}}"""
