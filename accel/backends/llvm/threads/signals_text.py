"""LLVM text by which kernels let Python look for signals, so that Ctrl-C ends them.

Only the calling thread asks Python, where workers have no thread state; and not more often than `POLL_MILLISECONDS` say, since
another thread may have the GIL. Jobs that are shorter count together: when a thread looked last is known from one to the next.
"""

from __future__ import annotations

from accel.backends.llvm.machine.system import System
from accel.backends.llvm.threads.page import LOOKED, LOOKED_AT

POLL_MILLISECONDS = 50
"""How often a thread lets Python see signals, in long jobs and loops and in many short ones."""


def signals_text(system: System) -> str:
    """Functions for the modules of `pool_text.py` and `run_text.py`.

    `@interrupted` is called after chunks, `@accel_poll` by loops. Their `@page` holds when threads looked last.
    """
    return f"{_clock_text(system.clock)}\n" + _ASKING + _LOOKING


_ASKING = """\
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare i32 @PyErr_CheckSignals()
declare ptr @PyErr_Occurred()
declare i32 @PyGILState_Check()
declare ptr @PyGILState_GetThisThreadState()

; With the GIL: lets Python handle signals; gives true if an exception is set, perhaps by @accel_poll.
define internal i1 @raised() #0 {
  %known = call ptr @PyErr_Occurred()
  %before = icmp ne ptr %known, null
  br i1 %before, label %yes, label %look
look:
  %failed = call i32 @PyErr_CheckSignals()
  %now = icmp ne i32 %failed, 0
  ret i1 %now
yes:
  ret i1 true
}

"""

_LOOKING = f"""\
; Whether it is time for a thread to look again, given its Python state; then that is noted.
define internal i1 @due(ptr %thread) #0 {{
  %lastp = call ptr @looked(ptr %thread)
  %now = call i64 @milliseconds()
  %last = load atomic i64, ptr %lastp monotonic, align 8
  %gone = sub i64 %now, %last
  %due = icmp sgt i64 %gone, {POLL_MILLISECONDS}
  br i1 %due, label %note, label %done
note:
  store atomic i64 %now, ptr %lastp monotonic, align 8
  br label %done
done:
  ret i1 %due
}}

; Where the page says when a thread looked last.
define internal ptr @looked(ptr %thread) #0 {{
  %address = ptrtoint ptr %thread to i64
  %shifted = lshr i64 %address, 8
  %number = and i64 %shifted, {LOOKED - 1}
  %offset = shl i64 %number, 3
  %place = add i64 %offset, {LOOKED_AT}
  %lastp = getelementptr i8, ptr @page, i64 %place
  ret ptr %lastp
}}

; Whether a loop in a kernel shall end: 1 if the word %stop says so or, on the calling thread, if the user has interrupted. That
; thread lets others have the GIL if it holds it, as it does in small kernels.
define i64 @accel_poll(ptr %stop) #0 {{
entry:
  %set = load atomic i64, ptr %stop monotonic, align 8
  %stopped = icmp ne i64 %set, 0
  br i1 %stopped, label %yes, label %whose
whose:
  %thread = call ptr @PyGILState_GetThisThreadState()
  %worker = icmp eq ptr %thread, null
  br i1 %worker, label %no, label %when
when:
  %due = call i1 @due(ptr %thread)
  br i1 %due, label %look, label %no
look:
  %holds = call i32 @PyGILState_Check()
  %held = icmp ne i32 %holds, 0
  br i1 %held, label %let, label %take
let:
  %saved = call ptr @PyEval_SaveThread()
  call void @PyEval_RestoreThread(ptr %saved)
  %interrupted1 = call i1 @raised()
  br i1 %interrupted1, label %tell, label %no
take:
  call void @PyEval_RestoreThread(ptr %thread)
  %interrupted2 = call i1 @raised()
  %again = call ptr @PyEval_SaveThread()
  br i1 %interrupted2, label %tell, label %no
tell: ; whoever runs the chunks finds it due to look, and the exception set
  %lastp = call ptr @looked(ptr %thread)
  store atomic i64 0, ptr %lastp monotonic, align 8
  br label %yes
yes:
  ret i64 1
no:
  ret i64 0
}}

; Lets Python handle signals if it is time; gives true if an exception is set. %python: the saved thread state.
define internal i1 @interrupted(ptr %python) #0 {{
  %thread = load ptr, ptr %python
  %due = call i1 @due(ptr %thread)
  br i1 %due, label %look, label %no
look:
  call void @PyEval_RestoreThread(ptr %thread)
  %yes = call i1 @raised()
  %again = call ptr @PyEval_SaveThread()
  store ptr %again, ptr %python
  ret i1 %yes
no:
  ret i1 false
}}
"""


def _clock_text(clock: int | None) -> str:
    """`@milliseconds`, which never goes back."""
    if clock is None:
        return """declare i64 @GetTickCount64()
define internal i64 @milliseconds() #0 {
  %now = call i64 @GetTickCount64()
  ret i64 %now
}"""
    return f"""declare i32 @clock_gettime(i32, ptr)
define internal i64 @milliseconds() #0 {{
  %time = alloca [2 x i64]
  %failed = call i32 @clock_gettime(i32 {clock}, ptr %time)
  %seconds = load i64, ptr %time
  %rest = getelementptr i64, ptr %time, i64 1
  %nanoseconds = load i64, ptr %rest
  %a = mul i64 %seconds, 1000
  %b = sdiv i64 %nanoseconds, 1000000
  %c = add i64 %a, %b
  ret i64 %c
}}"""
