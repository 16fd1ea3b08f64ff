"""LLVM text of `@accel_run`, by which kernels run their chunks: with a pool, and the whole module where there is none.

Without a pool the calling thread does all chunks in order, and lets Python look for signals after each.
"""

from __future__ import annotations

from accel.backends.llvm.machine.system import System
from accel.backends.llvm.threads.signals_text import signals_text


def fence(*, x86: bool) -> str:
    """Makes what a thread has stored past the caches visible before what follows. It waits until memory has all that, so each
    thread does it once, when it has done its part of a job. Kernels have none. (What runs without a job is shorter than
    `ALONE`, in which nothing writes as much as a last cache holds.)"""
    return "call void @llvm.x86.sse.sfence()" if x86 else "fence seq_cst"


def run_text(*, x86: bool) -> str:
    """`@accel_run`, and `@alone` for a thread that has no help. The module has `@together`, for several threads."""
    declare = "declare void @llvm.x86.sse.sfence()\n" if x86 else ""
    return declare + _RUN.replace("FENCE", fence(x86=x86))


_RUN = """\
define internal i1 @alone(ptr %function, ptr %frame, i64 %n, i64 %chunk, ptr %python) #0 {
entry:
  br label %work
work:
  %low = phi i64 [0, %entry], [%top, %next]
  %top = add i64 %low, %chunk
  %short = icmp slt i64 %top, %n
  %high = select i1 %short, i64 %top, i64 %n
  call void %function(ptr %frame, i64 %low, i64 %high)
  %stop = call i1 @interrupted(ptr %python)
  br i1 %stop, label %cancel, label %next
next:
  br i1 %short, label %work, label %done
cancel:
  ret i1 true
done:
  ret i1 false
}

; function(frame, low, high) over 0 .. n-1 (n > 0) in chunks, without the GIL. %time: about how many nanoseconds it takes on
; one thread. Gives 1 if a Python exception was set.
define i64 @accel_run(ptr %function, ptr %frame, i64 %n, i64 %chunk, i64 %threads, double %time) #0 {
entry:
  %python = alloca ptr
  %thread = call ptr @PyEval_SaveThread()
  store ptr %thread, ptr %python
  %several = icmp sgt i64 %threads, 1
  %long = icmp sgt i64 %n, %chunk
  %parallel = and i1 %several, %long
  br i1 %parallel, label %pool, label %serial
pool:
  %a = call i1 @together(ptr %function, ptr %frame, i64 %n, i64 %chunk, i64 %threads, double %time, ptr %python)
  br label %done
serial:
  %b = call i1 @alone(ptr %function, ptr %frame, i64 %n, i64 %chunk, ptr %python)
  br label %done
done:
  %stop = phi i1 [%a, %pool], [%b, %serial]
  FENCE
  %again = load ptr, ptr %python
  call void @PyEval_RestoreThread(ptr %again)
  %result = zext i1 %stop to i64
  ret i64 %result
}
"""


def alone_text(system: System, *, x86: bool) -> str:
    """The module where there is no pool: there `@together` is `@alone`, however many threads are asked for."""
    return f"""
@page = external global i8
{signals_text(system)}
{run_text(x86=x86)}
define internal i1 @together(ptr %function, ptr %frame, i64 %n, i64 %chunk, i64 %wanted, double %time, ptr %python) #0 {{
  %stop = call i1 @alone(ptr %function, ptr %frame, i64 %n, i64 %chunk, ptr %python)
  ret i1 %stop
}}
"""
