"""LLVM text of what stands around a call whose arguments are not its arrays: tuples of these, and complex numbers.

In: a table that says how a function's arguments are nested, and its results (`forms.py`). Out: the module with
`@accel_python_formed(self, arguments, number)`, for programs of all forms. It takes tuples to pieces, gives the halves of each
complex array as two arrays, calls the program's own call, and puts together what that gives. Small arrays are copied for it, of
large ones it makes views. It holds the GIL but while it joins many elements, and runs no Python code but the call.

Whatever is not as usual makes it drop all and hand the arguments to `self[0]`, as a call does (`call_text.py`).
"""

from __future__ import annotations

from accel.backends.llvm.calls.formed.halves_text import C128, halves_text
from accel.backends.llvm.machine.arrays_text import objects_text

LEAF, TUPLE = 0, C128 + 1
"""Kinds of the parts of a form, beside `C64` and `C128`."""

MOST = 64
"""The most parts that a form may have."""

ARGUMENTS, PARTS, COPIED, ON_THREADS, RESULTS, MADE = range(6)
"""The first words of a table: how many arguments there are; how many parts they have; the most elements of a complex array that
are copied, or -1 for views of all; how many threads join halves; how many arrays the call gives; and of how many parts the
results are made, 0 if they are what the call gives."""

HEAD = 6
"""How many words these are. Behind them are five words for each part of the arguments, outermost parts first: its kind; in
which part it lies, or -1; its place there; and if it is a tuple, how many items it has, and its class. Then three for each part
of the results, innermost parts first: its kind, how many items it has, and its class."""

WORDS_TAKEN, WORDS_MADE = 5, 3
"""So many words."""

EXPORTS = ("accel_python_formed", "accel_python_nothing")

IMPORTS = (
    "Py_IncRef", "Py_DecRef", "PyErr_Clear", "PyErr_Occurred", "PyTuple_New", "PyTuple_GetItem", "PyTuple_SetItem",
    "PyTuple_Size", "PyType_GenericAlloc", "PyBytes_AsString", "PyObject_Vectorcall",
)  # fmt: skip
"""What the text uses of Python's C interface, beside the types' addresses, `@array_type` and `@tuple_type`."""


def forms_text() -> str:
    """The module. Beside `IMPORTS` it imports the loops of `halves_text.py`, functions of `arrays_text.py`, of the pool and of
    NumPy, and the addresses of NumPy's descriptors `@f32`, `@f64`, `@c64` and `@c128`."""
    return _DECLARATIONS + objects_text() + halves_text() + _TAKEN + _PUT + _CALL


_DECLARATIONS = """@array_type = external global i8
@tuple_type = external global i8
@f32 = external global i8
@f64 = external global i8
@c64 = external global i8
@c128 = external global i8
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare void @PyErr_Clear()
declare ptr @PyErr_Occurred()
declare ptr @PyTuple_New(i64)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare i64 @PyTuple_Size(ptr)
declare ptr @PyType_GenericAlloc(ptr, i64)
declare ptr @PyBytes_AsString(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare ptr @accel_take(ptr, i64, i64, ptr)
declare void @accel_release(ptr, i64)
declare ptr @accel_otherwise(ptr, ptr, i64)
declare i64 @accel_run(ptr, ptr, i64, i64, i64, double)
"""


_TAKEN = f"""
; Takes arguments to pieces, as the table says: puts the call's arrays to %leaves and their number to %counts, new references
; among them also to %made and their number to the second word of %counts. Gives whether all is as the table says.
define internal i1 @taken(ptr %table, ptr %given, ptr %leaves, ptr %made, ptr %counts) #0 {{
entry:
  %parts = alloca [{MOST} x ptr]
  %second = getelementptr i64, ptr %counts, i64 1
  store i64 0, ptr %counts
  store i64 0, ptr %second
  %numberp = getelementptr i64, ptr %table, i64 {PARTS}
  %number = load i64, ptr %numberp
  %mostp = getelementptr i64, ptr %table, i64 {COPIED}
  %most = load i64, ptr %mostp
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %next]
  %more = icmp slt i64 %k, %number
  br i1 %more, label %part, label %yes
part:
  %words = mul i64 %k, {WORDS_TAKEN}
  %word = add i64 %words, {HEAD}
  %kindp = getelementptr i64, ptr %table, i64 %word
  %kind = load i64, ptr %kindp
  %insidep = getelementptr i64, ptr %kindp, i64 1
  %inside = load i64, ptr %insidep
  %placep = getelementptr i64, ptr %kindp, i64 2
  %place = load i64, ptr %placep
  %itemsp = getelementptr i64, ptr %kindp, i64 3
  %items = load i64, ptr %itemsp
  %outer = icmp slt i64 %inside, 0
  br i1 %outer, label %argument, label %item
argument:
  %givenp = getelementptr ptr, ptr %given, i64 %place
  %x1 = load ptr, ptr %givenp
  br label %object
item:
  %tuplep = getelementptr ptr, ptr %parts, i64 %inside
  %tuple = load ptr, ptr %tuplep
  %x2 = call ptr @PyTuple_GetItem(ptr %tuple, i64 %place)
  br label %object
object:
  %x = phi ptr [%x1, %argument], [%x2, %item]
  %leaf = load i64, ptr %counts
  %to = getelementptr ptr, ptr %leaves, i64 %leaf
  switch i64 %kind, label %complex [i64 {LEAF}, label %one i64 {TUPLE}, label %several]
one:
  store ptr %x, ptr %to
  %leaf1 = add i64 %leaf, 1
  store i64 %leaf1, ptr %counts
  br label %next
several:
  %type = call ptr @type(ptr %x)
  %classp = getelementptr i64, ptr %kindp, i64 4
  %class = load ptr, ptr %classp
  %is_tuple = icmp eq ptr %type, %class
  br i1 %is_tuple, label %count, label %no
count:
  %its = call i64 @PyTuple_Size(ptr %x)
  %right = icmp eq i64 %its, %items
  %partp = getelementptr ptr, ptr %parts, i64 %k
  store ptr %x, ptr %partp
  br i1 %right, label %next, label %no
complex:
  %halves = call i1 @halves(ptr %x, i64 %kind, i64 %most, ptr %to)
  %before = load i64, ptr %second
  %a = load ptr, ptr %to
  %to2 = getelementptr ptr, ptr %to, i64 1
  %b = load ptr, ptr %to2
  %keep1 = getelementptr ptr, ptr %made, i64 %before
  store ptr %a, ptr %keep1
  %keep2 = getelementptr ptr, ptr %keep1, i64 1
  store ptr %b, ptr %keep2
  %after = add i64 %before, 2
  store i64 %after, ptr %second
  %leaf2 = add i64 %leaf, 2
  store i64 %leaf2, ptr %counts
  br i1 %halves, label %next, label %no
next:
  %k1 = add i64 %k, 1
  br label %head
yes:
  ret i1 true
no:
  ret i1 false
}}
"""

_PUT = f"""
; What a call gave, one array or a tuple of %results, as the table says: a new reference, or null.
define internal ptr @put(ptr %table, ptr %found, i64 %results) #0 {{
entry:
  %stack = alloca [{MOST} x ptr]
  %top = alloca i64
  store i64 0, ptr %top
  %numberp = getelementptr i64, ptr %table, i64 {MADE}
  %number = load i64, ptr %numberp
  %partsp = getelementptr i64, ptr %table, i64 {PARTS}
  %parts = load i64, ptr %partsp
  %words = mul i64 %parts, {WORDS_TAKEN}
  %word = add i64 %words, {HEAD}
  %steps = getelementptr i64, ptr %table, i64 %word
  %threadsp = getelementptr i64, ptr %table, i64 {ON_THREADS}
  %threads = load i64, ptr %threadsp
  %single = icmp eq i64 %results, 1
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %push]
  %leaf = phi i64 [0, %entry], [%leaf1, %push]
  %more = icmp slt i64 %k, %number
  br i1 %more, label %part, label %done
part:
  %before = mul i64 %k, {WORDS_MADE}
  %kindp = getelementptr i64, ptr %steps, i64 %before
  %kind = load i64, ptr %kindp
  %itemsp = getelementptr i64, ptr %kindp, i64 1
  %items = load i64, ptr %itemsp
  %depth = load i64, ptr %top
  %several = icmp eq i64 %kind, {TUPLE}
  br i1 %several, label %tuple, label %array
tuple:
  %classp = getelementptr i64, ptr %kindp, i64 2
  %class = load ptr, ptr %classp
  %unnamed = icmp eq ptr %class, @tuple_type
  br i1 %unnamed, label %new, label %named
new:
  %made1 = call ptr @PyTuple_New(i64 %items)
  br label %filling
named:
  %made2 = call ptr @PyType_GenericAlloc(ptr %class, i64 %items)
  br label %filling
filling:
  %made = phi ptr [%made1, %new], [%made2, %named]
  %none = icmp eq ptr %made, null
  %below = sub i64 %depth, %items
  br i1 %none, label %failed, label %fill
fill:
  %j = phi i64 [0, %filling], [%j1, %move]
  %rest = icmp slt i64 %j, %items
  br i1 %rest, label %move, label %filled
move:
  %at = add i64 %below, %j
  %fromp = getelementptr ptr, ptr %stack, i64 %at
  %from = load ptr, ptr %fromp
  %ignored = call i32 @PyTuple_SetItem(ptr %made, i64 %j, ptr %from)
  %j1 = add i64 %j, 1
  br label %fill
filled:
  store i64 %below, ptr %top
  br label %push
array:
  br i1 %single, label %only, label %among
only:
  br label %first
among:
  %x1 = call ptr @PyTuple_GetItem(ptr %found, i64 %leaf)
  br label %first
first:
  %x = phi ptr [%found, %only], [%x1, %among]
  %after1 = add i64 %leaf, 1
  %plain = icmp eq i64 %kind, {LEAF}
  br i1 %plain, label %itself, label %complex
itself:
  call void @Py_IncRef(ptr %x)
  br label %push
complex:
  %y = call ptr @PyTuple_GetItem(ptr %found, i64 %after1)
  %after2 = add i64 %leaf, 2
  %both = call ptr @joined(i64 %kind, ptr %x, ptr %y, i64 %threads)
  %bad = icmp eq ptr %both, null
  br i1 %bad, label %failed, label %push
push:
  %value = phi ptr [%made, %filled], [%x, %itself], [%both, %complex]
  %leaf1 = phi i64 [%leaf, %filled], [%after1, %itself], [%after2, %complex]
  %now = load i64, ptr %top
  %to = getelementptr ptr, ptr %stack, i64 %now
  store ptr %value, ptr %to
  %up = add i64 %now, 1
  store i64 %up, ptr %top
  %k1 = add i64 %k, 1
  br label %head
done:
  %result = load ptr, ptr %stack
  ret ptr %result
failed:
  %left = load i64, ptr %top
  call void @accel_release(ptr %stack, i64 %left)
  ret ptr null
}}
"""

_CALL = f"""
; Gives an empty tuple: what stands behind a call that is none of its own, to say that something is not as usual.
define ptr @accel_python_nothing(ptr %self, ptr %given, i64 %number) #0 {{
  %nothing = call ptr @PyTuple_New(i64 0)
  ret ptr %nothing
}}

; %self: what takes anything; the call; the table's bytes.
define ptr @accel_python_formed(ptr %self, ptr %given, i64 %number) #0 {{
entry:
  %leaves = alloca [{2 * MOST} x ptr]
  %made = alloca [{2 * MOST} x ptr]
  %counts = alloca [2 x i64]
  %second = getelementptr i64, ptr %counts, i64 1
  store i64 0, ptr %second
  %bytes = call ptr @PyTuple_GetItem(ptr %self, i64 2)
  %table = call ptr @PyBytes_AsString(ptr %bytes)
  %wanted = load i64, ptr %table
  %as_many = icmp eq i64 %number, %wanted
  br i1 %as_many, label %take, label %unusual
take:
  %good = call i1 @taken(ptr %table, ptr %given, ptr %leaves, ptr %made, ptr %counts)
  br i1 %good, label %run, label %unusual
run:
  %call = call ptr @PyTuple_GetItem(ptr %self, i64 1)
  %count = load i64, ptr %counts
  %found = call ptr @PyObject_Vectorcall(ptr %call, ptr %leaves, i64 %count, ptr null)
  %raised = icmp eq ptr %found, null
  br i1 %raised, label %failed, label %look
look:
  %resultsp = getelementptr i64, ptr %table, i64 {RESULTS}
  %results = load i64, ptr %resultsp
  %type = call ptr @type(ptr %found)
  %single = icmp eq i64 %results, 1
  %of = select i1 %single, ptr @array_type, ptr @tuple_type
  %right = icmp eq ptr %type, %of
  br i1 %right, label %size, label %other
size:
  br i1 %single, label %usual, label %items
items:
  %its = call i64 @PyTuple_Size(ptr %found)
  %all = icmp eq i64 %its, %results
  br i1 %all, label %usual, label %other
usual:
  %numberp = getelementptr i64, ptr %table, i64 {MADE}
  %parts = load i64, ptr %numberp
  %flat = icmp eq i64 %parts, 0
  br i1 %flat, label %same, label %make
make:
  %result = call ptr @put(ptr %table, ptr %found, i64 %results)
  call void @Py_DecRef(ptr %found)
  %none = icmp eq ptr %result, null
  br i1 %none, label %failed, label %same
same:
  %answer = phi ptr [%found, %usual], [%result, %make]
  %news = load i64, ptr %second
  call void @accel_release(ptr %made, i64 %news)
  ret ptr %answer
other:
  call void @Py_DecRef(ptr %found)
  br label %unusual
unusual:
  call void @PyErr_Clear()
  br label %failed
failed:
  %left = load i64, ptr %second
  call void @accel_release(ptr %made, i64 %left)
  %again = call ptr @accel_otherwise(ptr %self, ptr %given, i64 %number)
  ret ptr %again
}}
"""
