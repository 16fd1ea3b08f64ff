"""LLVM text of `@accel_copy`: bytes from one place to another, large amounts on several threads."""

from __future__ import annotations

from accel.backends.llvm.text.words import FAILED, FAULTS, THREADS

PART = 1 << 20
"""Bytes that a thread copies at once."""

LEAST = 4 * PART
"""Bytes below which one thread copies all, at once."""

NANOSECONDS = 1 / 16
"""That a byte takes."""

_TARGET, _SOURCE, _BYTES, _WORDS = range(THREADS + 1, THREADS + 5)


def copy_text() -> str:
    """The function, for a module that has `@accel_run`."""
    return _PARTS + _COPY


_PARTS = f"""
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)

define internal void @copy_parts(ptr %frame, i64 %low, i64 %high) #0 {{
  %targetp = getelementptr i64, ptr %frame, i64 {_TARGET}
  %target = load ptr, ptr %targetp
  %sourcep = getelementptr i64, ptr %frame, i64 {_SOURCE}
  %source = load ptr, ptr %sourcep
  %bytesp = getelementptr i64, ptr %frame, i64 {_BYTES}
  %bytes = load i64, ptr %bytesp
  %start = mul i64 %low, {PART}
  %full = mul i64 %high, {PART}
  %last = icmp slt i64 %bytes, %full
  %end = select i1 %last, i64 %bytes, i64 %full
  %size = sub i64 %end, %start
  %to = getelementptr i8, ptr %target, i64 %start
  %from = getelementptr i8, ptr %source, i64 %start
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %size, i1 false)
  ret void
}}

"""

_COPY = f"""\
; Gives 1 if it was interrupted, with a Python exception set: then something may be missing.
define i64 @accel_copy(ptr %target, ptr %source, i64 %bytes, i64 %threads) #0 {{
entry:
  %frame = alloca [{_WORDS} x i64]
  %large = icmp sge i64 %bytes, {LEAST}
  br i1 %large, label %parts, label %whole
whole:
  call void @llvm.memcpy.p0.p0.i64(ptr %target, ptr %source, i64 %bytes, i1 false)
  ret i64 0
parts:
  %failedp = getelementptr i64, ptr %frame, i64 {FAILED}
  store i64 0, ptr %failedp
  %faultsp = getelementptr i64, ptr %frame, i64 {FAULTS}
  store i64 0, ptr %faultsp
  %targetp = getelementptr i64, ptr %frame, i64 {_TARGET}
  store ptr %target, ptr %targetp
  %sourcep = getelementptr i64, ptr %frame, i64 {_SOURCE}
  store ptr %source, ptr %sourcep
  %bytesp = getelementptr i64, ptr %frame, i64 {_BYTES}
  store i64 %bytes, ptr %bytesp
  %less = sub i64 %bytes, 1
  %before = sdiv i64 %less, {PART}
  %count = add i64 %before, 1
  %size = sitofp i64 %bytes to double
  %time = fmul double %size, {NANOSECONDS:e}
  %outcome = call i64 @accel_run(ptr @copy_parts, ptr %frame, i64 %count, i64 1, i64 %threads, double %time)
  ret i64 %outcome
}}
"""
