"""LLVM text of the thread pool on Linux: one page of shared state, workers in pthreads, sleeping on a futex.

A job is `function(frame, low, high)` over 0 .. n-1 in chunks. Each participant has a range of its own (so that the same
thread meets the same data again), then steals from the others'. The caller never waits for a worker that has not started:
`state` holds an open bit and twice the number of workers inside; a worker that finds the bit clear leaves again. A caller
that finds the pool busy (another thread's call, or that of a signal handler in the middle of a job) works through its chunks
alone. The frame's word `FAILED` ends loops that may never end: a check that fails sets it, and an interrupt.

A handler may also fork. The child has no workers, and the chunks that they had begun are lost: there the job ends as if it were
interrupted, without an exception.

`page.py` says what the page holds.
"""

from __future__ import annotations

from accel.backends.llvm.machine.system import System, pause
from accel.backends.llvm.text.words import FAILED
from accel.backends.llvm.threads.apart_text import apart_text
from accel.backends.llvm.threads.page import (
    BUSY_AT,
    CHUNK_AT,
    COUNT_AT,
    ENDED_AT,
    FORKS_AT,
    FRAME_AT,
    FUNCTION_AT,
    RANGE_BITS,
    RANGES_AT,
    SLEEPERS_AT,
    STATE_AT,
    WOKEN_AT,
)
from accel.backends.llvm.threads.run_text import fence, run_text
from accel.backends.llvm.threads.signals_text import signals_text
from accel.backends.llvm.threads.worker_text import worker_text

MONOTONIC = 1
"""Linux's clock of nanoseconds, which never goes back."""

SOON = 200_000
"""Nanoseconds after the end of a job in which another one may wake workers, however short it is: as long as they would have
stayed awake. Jobs that come one after the other are worth it."""

LONG = 200_000.0
"""Nanoseconds of a job that wakes workers whenever it comes. To wake one takes the caller some microseconds, and 25 to 60 until
it works; more where it first has to leave the caller's own processor."""


def pool_text(system: System, futex: int, *, x86: bool) -> str:
    """The module: `accel_run`, called by kernels. `futex` is a system call's number; `x86` is x86-64, else it is AArch64."""
    moment = "call void @{}({})".format(*pause(x86=x86))
    environment = "call void @llvm.x86.sse.ldmxcsr(ptr @default_mxcsr)" if x86 else ""
    together = _BEGIN + _SHARE + _wake(futex) + _CLOSE + _join(moment)
    return _head(system, x86=x86) + _DRAIN + worker_text(futex, moment, environment, fence(x86=x86)) + together


def _head(system: System, *, x86: bool) -> str:
    """What the functions below call."""
    symbol, operand = pause(x86=x86)
    declare = f"declare void @{symbol}({operand.partition(' ')[0]})"
    if x86:
        declare += "\ndeclare void @llvm.x86.sse.ldmxcsr(ptr)\n@default_mxcsr = internal constant i32 8064"
    return f"""
@page = external global i8
{declare}
declare i64 @syscall(i64, ...)
declare i32 @sched_yield()

define internal i64 @nanoseconds() #0 {{
  %time = alloca [2 x i64]
  %failed = call i32 @clock_gettime(i32 {MONOTONIC}, ptr %time)
  %seconds = load i64, ptr %time
  %rest = getelementptr i64, ptr %time, i64 1
  %nanoseconds = load i64, ptr %rest
  %a = mul i64 %seconds, 1000000000
  %b = add i64 %a, %nanoseconds
  ret i64 %b
}}
declare i32 @pthread_create(ptr, ptr, ptr, ptr)
declare i32 @pthread_sigmask(i32, ptr, ptr)
{signals_text(system)}
{run_text(x86=x86)}
{apart_text()}
"""


_DRAIN = f"""\
; Chunks of every participant's range, %me's first. %python is null in workers. Gives true if interrupted.
define internal i1 @drain(i64 %me, ptr %python) #0 {{
entry:
  %functionp = getelementptr i8, ptr @page, i64 {FUNCTION_AT}
  %function = load ptr, ptr %functionp
  %framep = getelementptr i8, ptr @page, i64 {FRAME_AT}
  %frame = load ptr, ptr %framep
  %chunkp = getelementptr i8, ptr @page, i64 {CHUNK_AT}
  %chunk = load i64, ptr %chunkp
  %countp = getelementptr i8, ptr @page, i64 {COUNT_AT}
  %count = load i64, ptr %countp
  %caller = icmp ne ptr %python, null
  %forksp = getelementptr i8, ptr @page, i64 {FORKS_AT}
  %forks = load atomic i64, ptr %forksp monotonic, align 8
  br label %victim
victim:
  %k = phi i64 [0, %entry], [%k1, %next]
  %t0 = add i64 %me, %k
  %t = urem i64 %t0, %count
  %offset = shl i64 %t, {RANGE_BITS}
  %offset1 = add i64 %offset, {RANGES_AT}
  %range = getelementptr i8, ptr @page, i64 %offset1
  %endp = getelementptr i8, ptr %range, i64 8
  %end = load i64, ptr %endp
  br label %look
look:
  %seen = load atomic i64, ptr %range monotonic, align 8
  %some = icmp slt i64 %seen, %end
  br i1 %some, label %claim, label %next
claim:
  %low = atomicrmw add ptr %range, i64 %chunk monotonic
  %mine = icmp slt i64 %low, %end
  br i1 %mine, label %work, label %next
work:
  %top = add i64 %low, %chunk
  %short = icmp slt i64 %top, %end
  %high = select i1 %short, i64 %top, i64 %end
  call void %function(ptr %frame, i64 %low, i64 %high)
  br i1 %caller, label %poll, label %look
poll:
  %interrupted = call i1 @interrupted(ptr %python)
  %forks1 = load atomic i64, ptr %forksp monotonic, align 8
  %forked = icmp ne i64 %forks1, %forks
  %stop = or i1 %interrupted, %forked
  br i1 %stop, label %cancel, label %look
cancel:
  ret i1 true
next:
  %k1 = add i64 %k, 1
  %more = icmp slt i64 %k1, %count
  br i1 %more, label %victim, label %done
done:
  ret i1 false
}}

"""


_BEGIN = f"""\
define internal i1 @together(ptr %function, ptr %frame, i64 %n, i64 %chunk, i64 %wanted, double %time, ptr %python) #0 {{
entry:
  %busyp = getelementptr i8, ptr @page, i64 {BUSY_AT}
  %busy = atomicrmw xchg ptr %busyp, i32 1 acquire
  %free = icmp eq i32 %busy, 0
  br i1 %free, label %begin, label %serial
serial:
  %r = call i1 @alone(ptr %function, ptr %frame, i64 %n, i64 %chunk, ptr %python)
  ret i1 %r
begin:
  %forksp = getelementptr i8, ptr @page, i64 {FORKS_AT}
  %forks = load atomic i64, ptr %forksp monotonic, align 8
  %failedp = getelementptr i64, ptr %frame, i64 {FAILED}
  %count = call i64 @start(i64 %wanted)
  %state = getelementptr i8, ptr @page, i64 {STATE_AT}
  %functionp = getelementptr i8, ptr @page, i64 {FUNCTION_AT}
  store ptr %function, ptr %functionp
  %framep = getelementptr i8, ptr @page, i64 {FRAME_AT}
  store ptr %frame, ptr %framep
  %chunkp = getelementptr i8, ptr @page, i64 {CHUNK_AT}
  store i64 %chunk, ptr %chunkp
  %countp = getelementptr i8, ptr @page, i64 {COUNT_AT}
  store i64 %count, ptr %countp
  %n1 = sub i64 %n, 1
  %chunks0 = sdiv i64 %n1, %chunk
  %chunks = add i64 %chunks0, 1
  br label %share
"""
"""A job: if no other one is under way, it is written to the page."""

_SHARE = f"""\
share:
  %t = phi i64 [0, %begin], [%t1, %share]
  %t1 = add i64 %t, 1
  %a = mul i64 %chunks, %t
  %b = sdiv i64 %a, %count
  %low = mul i64 %b, %chunk
  %c = mul i64 %chunks, %t1
  %d = sdiv i64 %c, %count
  %top = mul i64 %d, %chunk
  %short = icmp slt i64 %top, %n
  %high = select i1 %short, i64 %top, i64 %n
  %offset = shl i64 %t, {RANGE_BITS}
  %offset1 = add i64 %offset, {RANGES_AT}
  %range = getelementptr i8, ptr @page, i64 %offset1
  store atomic i64 %low, ptr %range monotonic, align 8
  %endp = getelementptr i8, ptr %range, i64 8
  store i64 %high, ptr %endp
  %more = icmp slt i64 %t1, %count
  br i1 %more, label %share, label %open
"""
"""Each participant gets a range of chunks, all of nearly the same length."""


def _wake(futex: int) -> str:
    """Workers may come in; those that sleep are woken if that is worth it."""
    return f"""\
open:
  %o = atomicrmw or ptr %state, i64 1 seq_cst
  %e = atomicrmw add ptr @page, i32 1 seq_cst
  %sleepersp = getelementptr i8, ptr @page, i64 {SLEEPERS_AT}
  %sleepers = load atomic i32, ptr %sleepersp seq_cst, align 4
  %asleep = icmp sgt i32 %sleepers, 0
  br i1 %asleep, label %drowsy, label %work
drowsy:
  %enough = fcmp oge double %time, {LONG:e}
  br i1 %enough, label %wake, label %row
row:
  %begun = call i64 @nanoseconds()
  %endedp = getelementptr i8, ptr @page, i64 {ENDED_AT}
  %ended = load i64, ptr %endedp
  %gone = sub i64 %begun, %ended
  %soon = icmp slt i64 %gone, {SOON}
  br i1 %soon, label %wake, label %work
wake:
  %here = call i32 @sched_getcpu()
  %wokenp = getelementptr i8, ptr @page, i64 {WOKEN_AT}
  store atomic i32 %here, ptr %wokenp monotonic, align 4
  %w = call i64 (i64, ...) @syscall(i64 {futex}, ptr @page, i64 129, i32 2147483647)
  br label %work
"""


_CLOSE = f"""\
work:
  %stop = call i1 @drain(i64 0, ptr %python)
  %forks1 = load atomic i64, ptr %forksp monotonic, align 8
  %same = icmp eq i64 %forks1, %forks
  br i1 %same, label %drained, label %forked
forked:
  ret i1 true
drained:
  br i1 %stop, label %tell, label %close
tell:
  store atomic i64 1, ptr %failedp monotonic, align 8
  br label %cancel
cancel:
  %ct = phi i64 [0, %tell], [%ct1, %cancel]
  %co = shl i64 %ct, {RANGE_BITS}
  %co1 = add i64 %co, {RANGES_AT}
  %crange = getelementptr i8, ptr @page, i64 %co1
  store atomic i64 4611686018427387904, ptr %crange monotonic, align 8
  %ct1 = add i64 %ct, 1
  %cmore = icmp slt i64 %ct1, %count
  br i1 %cmore, label %cancel, label %close
close:
  %cl = atomicrmw and ptr %state, i64 -2 seq_cst
  br label %join
"""
"""The caller works, too. If it is to stop, all ranges are emptied. Then no worker comes in any more."""


def _join(pause: str) -> str:
    """The caller waits until no worker is inside."""
    return f"""\
join:
  %j = phi i32 [0, %close], [%j1, %relaxed]
  %inside = load atomic i64, ptr %state acquire, align 8
  %over = icmp eq i64 %inside, 0
  br i1 %over, label %done, label %relax
relax:
  %turn = and i32 %j, 1023
  %long = icmp eq i32 %turn, 1023
  br i1 %long, label %yield, label %pause
yield:
  %y = call i32 @sched_yield()
  %late = call i1 @interrupted(ptr %python)
  br i1 %late, label %tell_late, label %relaxed
tell_late:
  store atomic i64 1, ptr %failedp monotonic, align 8
  br label %relaxed
pause:
  {pause}
  br label %relaxed
relaxed:
  %j1 = add i32 %j, 1
  br label %join
done:
  %forks2 = load atomic i64, ptr %forksp monotonic, align 8
  %still = icmp eq i64 %forks2, %forks
  br i1 %still, label %free_it, label %forked
free_it:
  %now = call i64 @nanoseconds()
  %nowp = getelementptr i8, ptr @page, i64 {ENDED_AT}
  store i64 %now, ptr %nowp
  store atomic i32 0, ptr %busyp release, align 4
  ret i1 %stop
}}
"""
