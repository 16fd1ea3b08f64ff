"""LLVM text of the pool's threads on Linux: how they are made, what they do, and how they sleep. See `pool_text.py`."""

from __future__ import annotations

from accel.backends.llvm.threads.page import (
    COUNT_AT,
    RANGE_BITS,
    RANGES_AT,
    SLEEPERS_AT,
    STARTED_AT,
    STATE_AT,
    WOKEN_AT,
)

SPINS = 8000
"""Pauses that a worker makes before it sleeps: about 0.2 ms, so that back-to-back kernels find it awake."""


def worker_text(futex: int, pause: str, environment: str, fence: str) -> str:
    """`@start`, for a module that has `@drain`. `futex` is a system call's number; `pause` lets the processor wait a moment;
    `environment` sets its registers for floats; `fence` has others see what it has stored."""
    return _born(environment) + _waiting(futex, pause) + _at_work(fence) + _START


def _born(environment: str) -> str:
    """What a thread of the pool does, up to where it waits for the first job."""
    return f"""\
define internal ptr @worker(ptr %mine) #0 {{
entry:
  %mask = alloca [16 x i64]
  call void @llvm.memset.p0.i64(ptr %mask, i8 -1, i64 128, i1 false)
  %masked = call i32 @pthread_sigmask(i32 2, ptr %mask, ptr null)
  {environment}
  %address = ptrtoint ptr %mine to i64
  %first = getelementptr i8, ptr @page, i64 {RANGES_AT}
  %base = ptrtoint ptr %first to i64
  %distance = sub i64 %address, %base
  %me = lshr i64 %distance, {RANGE_BITS}
  %state = getelementptr i8, ptr @page, i64 {STATE_AT}
  %sleepers = getelementptr i8, ptr @page, i64 {SLEEPERS_AT}
  %wokenp = getelementptr i8, ptr @page, i64 {WOKEN_AT}
  %made = load atomic i32, ptr %wokenp monotonic, align 4
  call void @accel_step_aside(i32 %made)
  br label %wait
"""


def _waiting(futex: int, pause: str) -> str:
    """It waits for a job, first awake, then asleep."""
    return f"""\
wait:
  %last = phi i32 [0, %entry], [%epoch, %leave]
  br label %spin
spin:
  %i = phi i32 [0, %wait], [%i1, %again]
  %e = load atomic i32, ptr @page acquire, align 4
  %new = icmp ne i32 %e, %last
  br i1 %new, label %wake, label %idle
idle:
  %tired = icmp sge i32 %i, {SPINS}
  br i1 %tired, label %sleep, label %again
again:
  {pause}
  %i1 = add i32 %i, 1
  br label %spin
sleep:
  %s0 = atomicrmw add ptr %sleepers, i32 1 seq_cst
  %s1 = call i64 (i64, ...) @syscall(i64 {futex}, ptr @page, i64 128, i32 %last, ptr null)
  %s2 = atomicrmw sub ptr %sleepers, i32 1 seq_cst
  %es = load atomic i32, ptr @page acquire, align 4
  %news = icmp ne i32 %es, %last
  br i1 %news, label %aside, label %sleep
aside:
  %woken = load atomic i32, ptr %wokenp monotonic, align 4
  call void @accel_step_aside(i32 %woken)
  br label %wake
"""


def _at_work(fence: str) -> str:
    """It takes part in the job, if that still lets workers in and wants this one, and waits again."""
    return f"""\
wake:
  %epoch = phi i32 [%e, %spin], [%es, %aside]
  %before = atomicrmw add ptr %state, i64 2 seq_cst
  %bit = and i64 %before, 1
  %open = icmp ne i64 %bit, 0
  br i1 %open, label %invited, label %leave
invited:
  %countp = getelementptr i8, ptr @page, i64 {COUNT_AT}
  %count = load i64, ptr %countp
  %wanted = icmp slt i64 %me, %count
  br i1 %wanted, label %work, label %leave
work:
  %ignored = call i1 @drain(i64 %me, ptr null)
  {fence}
  br label %leave
leave:
  %after = atomicrmw sub ptr %state, i64 2 seq_cst
  br label %wait
}}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

"""


_START = f"""\
; Threads for %count participants; gives how many there are.
define internal i64 @start(i64 %count) #0 {{
entry:
  %startedp = getelementptr i8, ptr @page, i64 {STARTED_AT}
  %id = alloca i64
  br label %look
look:
  %started = load i64, ptr %startedp
  %have = add i64 %started, 1
  %enough = icmp sge i64 %have, %count
  br i1 %enough, label %done, label %create
create:
  %offset = shl i64 %have, {RANGE_BITS}
  %offset1 = add i64 %offset, {RANGES_AT}
  %range = getelementptr i8, ptr @page, i64 %offset1
  %here = call i32 @sched_getcpu()
  %wokenp = getelementptr i8, ptr @page, i64 {WOKEN_AT}
  store atomic i32 %here, ptr %wokenp monotonic, align 4
  %failed = call i32 @pthread_create(ptr %id, ptr null, ptr @worker, ptr %range)
  %ok = icmp eq i32 %failed, 0
  br i1 %ok, label %count_it, label %refused
count_it:
  store i64 %have, ptr %startedp
  br label %look
refused:
  ret i64 %have
done:
  ret i64 %count
}}

"""
