"""LLVM text of what compiled calls do with Python references, and of functions that Python calls."""

from __future__ import annotations


def references_text(flagged: int, large: int) -> str:
    """Functions for the module of `arrays_text.py`. `flagged`: the flags of a new array. `large`: bytes of a large one."""
    return _REFERENCES.replace("FLAGGED", str(flagged)).replace("LARGE", str(large)) + _PYTHON


_REFERENCES = """
; Puts an object, whose reference is given, in a place that holds one, or null.
define void @accel_set(ptr %place, ptr %x) #0 {
entry:
  %old = load ptr, ptr %place
  store ptr %x, ptr %place
  %none = icmp eq ptr %old, null
  br i1 %none, label %done, label %drop
drop:
  call void @Py_DecRef(ptr %old)
  br label %done
done:
  ret void
}

; Drops what a place holds; or puts it into one of the %count places %spares, if nothing else refers to the object, no other
; object has its memory, which is little: it is an array that some function of this module has made and
; nobody has seen. Where no place is empty, it takes the first one.
define void @accel_keep(ptr %place, ptr %spares, i64 %count) #0 {
entry:
  %x = load ptr, ptr %place
  store ptr null, ptr %place
  %none = icmp eq ptr %x, null
  br i1 %none, label %done, label %look
look:
  %references = load i32, ptr %x
  %only = icmp eq i32 %references, 1
  %flags = call i32 @flags(ptr %x)
  %needed = and i32 %flags, FLAGGED
  %plain = icmp eq i32 %needed, FLAGGED
  %may = and i1 %only, %plain
  br i1 %may, label %memory, label %drop
memory:
  %base = call ptr @base(ptr %x)
  %own = icmp eq ptr %base, null
  br i1 %own, label %head, label %block
block:
  %type = call ptr @type(ptr %base)
  %array = icmp eq ptr %type, @array_type
  br i1 %array, label %bytes, label %drop
bytes:
  %element = call ptr @element(ptr %base)
  %is_block = icmp eq ptr %element, @bytes_type
  %others = load i32, ptr %base
  %alone = icmp eq i32 %others, 1
  %free = and i1 %is_block, %alone
  br i1 %free, label %measure, label %drop
measure:
  %extents = call ptr @extents(ptr %base)
  %size = load i64, ptr %extents
  %little = icmp sle i64 %size, LARGE
  br i1 %little, label %head, label %drop
head:
  %k = phi i64 [0, %memory], [0, %measure], [%k1, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %try, label %full
try:
  %to = getelementptr ptr, ptr %spares, i64 %k
  %there = load ptr, ptr %to
  %empty = icmp eq ptr %there, null
  %k1 = add i64 %k, 1
  br i1 %empty, label %keep, label %next
next:
  br label %head
keep:
  store ptr %x, ptr %to
  ret void
full:
  call void @accel_set(ptr %spares, ptr %x)
  ret void
drop:
  call void @Py_DecRef(ptr %x)
  br label %done
done:
  ret void
}

; Takes an array of these extents out of one of the %count places %spares, which hold arrays of one rank; null if there is none.
define ptr @accel_spare(ptr %spares, i64 %count, i64 %rank, ptr %extents) #0 {
entry:
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %try, label %none
try:
  %place = getelementptr ptr, ptr %spares, i64 %k
  %x = load ptr, ptr %place
  %k1 = add i64 %k, 1
  %empty = icmp eq ptr %x, null
  br i1 %empty, label %next, label %look
look:
  %same = call i1 @has(ptr %x, i64 %rank, ptr %extents)
  br i1 %same, label %take, label %next
take:
  store ptr null, ptr %place
  ret ptr %x
next:
  br label %head
none:
  ret ptr null
}

; Drops what some places hold.
define void @accel_release(ptr %places, i64 %count) #0 {
entry:
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %body]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %done
body:
  %place = getelementptr ptr, ptr %places, i64 %k
  call void @accel_set(ptr %place, ptr null)
  %k1 = add i64 %k, 1
  br label %head
done:
  ret void
}

; The %count arrays of a call, borrowed: those that it was given, then those that the function holds, which are all items of
; %self but the first two and the last. Gives whether there are as many.
define i1 @accel_arguments(ptr %self, ptr %given, i64 %number, i64 %count, ptr %arrays) #0 {
entry:
  %items = call i64 @PyTuple_Size(ptr %self)
  %held = sub i64 %items, 3
  %sum = add i64 %number, %held
  %right = icmp eq i64 %sum, %count
  br i1 %right, label %head, label %no
head:
  %k = phi i64 [0, %entry], [%k1, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %which, label %yes
which:
  %first = icmp slt i64 %k, %number
  br i1 %first, label %one, label %other
one:
  %place1 = getelementptr ptr, ptr %given, i64 %k
  %x1 = load ptr, ptr %place1
  br label %next
other:
  %behind = sub i64 %k, %number
  %item = add i64 %behind, 2
  %x2 = call ptr @PyTuple_GetItem(ptr %self, i64 %item)
  br label %next
next:
  %x = phi ptr [%x1, %one], [%x2, %other]
  %place = getelementptr ptr, ptr %arrays, i64 %k
  store ptr %x, ptr %place
  %k1 = add i64 %k, 1
  br label %head
yes:
  ret i1 true
no:
  ret i1 false
}

; What item 0 of %self gives for the arguments, unless an exception is set.
define ptr @accel_otherwise(ptr %self, ptr %given, i64 %number) #0 {
entry:
  %raised = call ptr @PyErr_Occurred()
  %none = icmp eq ptr %raised, null
  br i1 %none, label %again, label %leave
again:
  %function = call ptr @PyTuple_GetItem(ptr %self, i64 0)
  %result = call ptr @PyObject_Vectorcall(ptr %function, ptr %given, i64 %number, ptr null)
  ret ptr %result
leave:
  ret ptr null
}
"""

_PYTHON = """
; For Python: take(dtype, bytes of an element, *extents).
define ptr @accel_python_take(ptr %self, ptr %given, i64 %number) #0 {
entry:
  %extents = alloca [64 x i64]
  %element = load ptr, ptr %given
  %itemp = getelementptr ptr, ptr %given, i64 1
  %itemo = load ptr, ptr %itemp
  %item = call i64 @PyLong_AsSsize_t(ptr %itemo)
  %rank = sub i64 %number, 2
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %body]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %body, label %done
body:
  %k1 = add i64 %k, 1
  %argument = add i64 %k, 2
  %from = getelementptr ptr, ptr %given, i64 %argument
  %object = load ptr, ptr %from
  %extent = call i64 @PyLong_AsSsize_t(ptr %object)
  %to = getelementptr i64, ptr %extents, i64 %k
  store i64 %extent, ptr %to
  %over = icmp slt i64 %extent, 0 ; more than an i64 holds
  br i1 %over, label %large, label %head
large:
  call void @PyErr_Clear()
  %null = call ptr @PyErr_NoMemory()
  ret ptr null
done:
  %array = call ptr @accel_take(ptr %element, i64 %item, i64 %rank, ptr %extents)
  ret ptr %array
}

; For Python: clear() takes all blocks off the list, and gives an empty tuple.
define ptr @accel_python_clear(ptr %self, ptr %given, i64 %number) #0 {
  call void @forget_all()
  %nothing = call ptr @PyTuple_New(i64 0)
  ret ptr %nothing
}
"""
