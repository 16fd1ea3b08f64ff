"""LLVM text of the memory that launches work in: of one that is done is kept what the next one takes.

Packs of products are such memory. Given back to C, it goes back to the system whenever what it borders on does, such as NumPy's
arrays; then its pages are fresh, and to touch them first takes as long as small products do. So one piece is kept in a word of
the page (`page.py`). Who takes it leaves none there, and several that work at the same time have theirs from C.
"""

from __future__ import annotations

from accel.backends.llvm.machine.system import System
from accel.backends.llvm.threads.page import SCRATCH_AT

KEPT = 1 << 26
"""Bytes of the largest piece that is kept."""

LARGE = 1 << 22
"""Bytes from which on huge pages, of 2 MB as a rule, are asked for. In pages of 4 KB a product of two matrices of 2048 x 2048
float32 took a fifth more time: the system clears each page, and processors look up every one."""

_HEAD = 64
"""Bytes before the memory, of which the first word says how many there are in all."""

_PAGE = 1 << 12
"""Bytes. What begins in between is not asked for."""


def scratch_text(system: System) -> str:
    """`@accel_scratch` and `@accel_scratch_done`, for a module that has `@page`."""
    return _taken(system) + _DONE


def _taken(system: System) -> str:
    advice = system.huge_pages
    declare = "" if advice is None else "declare i32 @madvise(ptr, i64, i32)"
    advise = "" if advice is None else f"  call i32 @madvise(ptr %first, i64 %whole, i32 {advice})"
    return f"""
declare ptr @malloc(i64)
declare void @free(ptr)
{declare}

; Memory of %bytes, or more, that nobody else works in; null if there is none.
define ptr @accel_scratch(i64 %bytes) #0 {{
entry:
  %all = add i64 %bytes, {_HEAD}
  %slot = getelementptr i8, ptr @page, i64 {SCRATCH_AT}
  %kept = atomicrmw xchg ptr %slot, i64 0 acquire
  %some = icmp ne i64 %kept, 0
  br i1 %some, label %look, label %new
look:
  %piece = inttoptr i64 %kept to ptr
  %its = load i64, ptr %piece
  %fits = icmp uge i64 %its, %all
  br i1 %fits, label %done, label %drop
drop:
  call void @free(ptr %piece)
  br label %new
new:
  %made = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %made, null
  br i1 %none, label %nothing, label %size
size:
  store i64 %all, ptr %made
  %large = icmp uge i64 %all, {LARGE}
  br i1 %large, label %advise, label %done
advise:
  %behind = getelementptr i8, ptr %made, i64 {_PAGE - 1}
  %first = call ptr @llvm.ptrmask.p0.i64(ptr %behind, i64 {-_PAGE})
  %whole = sub i64 %all, {_PAGE}
{advise}
  br label %done
done:
  %found = phi ptr [ %piece, %look ], [ %made, %size ], [ %made, %advise ]
  %memory = getelementptr i8, ptr %found, i64 {_HEAD}
  ret ptr %memory
nothing:
  ret ptr null
}}

"""


_DONE = f"""\
; Nobody works in it any more.
define void @accel_scratch_done(ptr %memory) #0 {{
entry:
  %piece = getelementptr i8, ptr %memory, i64 {-_HEAD}
  %its = load i64, ptr %piece
  %much = icmp ugt i64 %its, {KEPT}
  br i1 %much, label %drop, label %keep
keep:
  %slot = getelementptr i8, ptr @page, i64 {SCRATCH_AT}
  %number = ptrtoint ptr %piece to i64
  %before = atomicrmw xchg ptr %slot, i64 %number acq_rel
  %other = inttoptr i64 %before to ptr
  br label %drop
drop:
  %dropped = phi ptr [ %piece, %entry ], [ %other, %keep ]
  call void @free(ptr %dropped)
  ret void
}}
"""
