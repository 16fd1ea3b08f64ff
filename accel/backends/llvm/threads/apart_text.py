"""LLVM text by which a worker leaves the processor of the thread that woke it, on Linux.

A thread that wakes another one goes on. Where no processor is idle, though others are busy with what matters less, the system
lets the one that wakes up begin on the same processor, and both wait for each other, for milliseconds. A worker that finds
itself there asks to run anywhere else, and when it does, to be allowed everything that it was before.
"""

from __future__ import annotations

MASK_BYTES = 128
"""Of a set of processors, as C's library has it."""


def apart_text() -> str:
    """`@accel_step_aside(processor)`: the calling thread leaves the processor, if it is on it and may run elsewhere."""
    words = MASK_BYTES // 8
    return f"""
declare i32 @sched_getcpu()
declare i32 @sched_getaffinity(i32, i64, ptr)
declare i32 @sched_setaffinity(i32, i64, ptr)

define void @accel_step_aside(i32 %processor) #0 {{
entry:
  %allowed = alloca [{words} x i64]
  %here = call i32 @sched_getcpu()
  %there = icmp eq i32 %here, %processor
  %known = icmp ult i32 %here, {MASK_BYTES * 8}
  %both = and i1 %there, %known
  br i1 %both, label %ask, label %stay
ask:
  %failed = call i32 @sched_getaffinity(i32 0, i64 {MASK_BYTES}, ptr %allowed)
  %asked = icmp eq i32 %failed, 0
  br i1 %asked, label %without, label %stay
without:
  %number = zext i32 %here to i64
  %place = lshr i64 %number, 6
  %word = getelementptr i64, ptr %allowed, i64 %place
  %all = load i64, ptr %word
  %low = and i64 %number, 63
  %bit = shl i64 1, %low
  %others = xor i64 %bit, -1
  %rest = and i64 %all, %others
  store i64 %rest, ptr %word
  ; Fails, and changes nothing, if there are no others.
  %refused = call i32 @sched_setaffinity(i32 0, i64 {MASK_BYTES}, ptr %allowed)
  %moved = icmp eq i32 %refused, 0
  br i1 %moved, label %restore, label %stay
restore:
  store i64 %all, ptr %word
  %again = call i32 @sched_setaffinity(i32 0, i64 {MASK_BYTES}, ptr %allowed)
  br label %stay
stay:
  ret void
}}
"""
