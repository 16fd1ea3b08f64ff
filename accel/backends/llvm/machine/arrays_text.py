"""LLVM text of functions over NumPy arrays and Python references: what compiled calls do besides running kernels.

All of them hold the GIL from beginning to end and run no Python code, so that signal handlers never see them half done. A
function that gives a pointer gives a new reference, or null with a Python exception set. Extents are i64, sizes are bytes.
"""

from __future__ import annotations

from accel.backends.llvm.machine.blocks_text import ALIGNMENT, LARGE, PAGE, PAGED, SMALL, blocks_text
from accel.backends.llvm.machine.references_text import references_text

TYPE, DATA, RANK, EXTENTS, STRIDES, BASE, ELEMENT, FLAGS = 8, 16, 24, 32, 40, 48, 56, 64
"""Bytes from the beginning of an array object to what it says of itself, in every NumPy 1 and 2."""

C_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400
"""Bits of its flags."""

FLAGGED = C_CONTIGUOUS | ALIGNED | WRITEABLE
"""Those of a new array."""

IMPORTS = (
    "Py_IncRef", "Py_DecRef", "PyErr_Clear", "PyErr_NoMemory", "PyErr_Occurred",
    "PyTuple_New", "PyTuple_GetItem", "PyTuple_Size",
    "PyLong_AsSsize_t", "PyObject_Vectorcall",
)  # fmt: skip
"""What the text uses of Python's C interface."""

EXPORTS = (
    "accel_take", "accel_take_line", "accel_arguments", "accel_is", "accel_is_of", "accel_view", "accel_result",
    "accel_set", "accel_keep", "accel_spare", "accel_release",
    "accel_otherwise", "accel_python_take", "accel_python_clear",
)  # fmt: skip


def arrays_text() -> str:
    """The module. It imports `IMPORTS`, NumPy's `PyArray_NewFromDescr` and `PyArray_SetBaseObject`, and the addresses of
    `@array_type`, `@bytes_type` (uint8's descriptor) and `@blocks` (`LIST_BYTES`, all zero at first)."""
    return _DECLARATIONS + objects_text() + _NEW + blocks_text() + _ARRAYS + references_text(FLAGGED, LARGE)


_DECLARATIONS = """@array_type = external global i8
@bytes_type = external global i8
@blocks = external global i8
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare void @PyErr_Clear()
declare ptr @PyErr_Occurred()
declare ptr @PyErr_NoMemory()
declare ptr @PyTuple_New(i64)
declare ptr @PyTuple_GetItem(ptr, i64)
declare i64 @PyTuple_Size(ptr)
declare i64 @PyLong_AsSsize_t(ptr)
declare ptr @PyObject_Vectorcall(ptr, ptr, i64, ptr)
declare ptr @PyArray_NewFromDescr(ptr, ptr, i32, ptr, ptr, ptr, i32, ptr)
declare i32 @PyArray_SetBaseObject(ptr, ptr)
declare {i64, i1} @llvm.umul.with.overflow.i64(i64, i64)
declare i64 @llvm.ctlz.i64(i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
"""


def objects_text() -> str:
    """Functions that read an array object: `@data(x)` and so on, `@is_dense(x)`, `@is_aligned(x)`; and `@based(array, base)`.

    The module declares what they use of Python's and NumPy's interfaces.
    """
    fields = (
        ("type", TYPE, "ptr"), ("data", DATA, "ptr"), ("rank", RANK, "i32"), ("extents", EXTENTS, "ptr"),
        ("strides", STRIDES, "ptr"), ("base", BASE, "ptr"), ("element", ELEMENT, "ptr"), ("flags", FLAGS, "i32"),
    )  # fmt: skip
    read = "".join(
        f"""
define internal {type_} @{name}(ptr %x) alwaysinline #0 {{
  %place = getelementptr i8, ptr %x, i64 {place}
  %value = load {type_}, ptr %place
  ret {type_} %value
}}"""
        for name, place, type_ in fields
    )
    return read + _flag("is_dense", C_CONTIGUOUS) + _flag("is_aligned", ALIGNED) + _BASED


def _flag(name: str, bit: int) -> str:
    return f"""
define internal i1 @{name}(ptr %x) alwaysinline #0 {{
  %flags = call i32 @flags(ptr %x)
  %its = and i32 %flags, {bit}
  %is = icmp ne i32 %its, 0
  ret i1 %is
}}"""


_BASED = """
; A new array, or null, whose elements lie in the memory of the array %base, which it refers to from now on. Null, and the new
; array is dropped, if it cannot.
define internal ptr @based(ptr %array, ptr %base) #0 {
entry:
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %none, label %base1
base1:
  call void @Py_IncRef(ptr %base)
  %wrong = call i32 @PyArray_SetBaseObject(ptr %array, ptr %base)
  %bad = icmp ne i32 %wrong, 0
  br i1 %bad, label %drop, label %done
drop:
  call void @Py_DecRef(ptr %array)
  br label %none
none:
  ret ptr null
done:
  ret ptr %array
}
"""


_NEW = f"""
; A C-contiguous array whose elements lie at %data, or in memory of its own if that is null.
define internal ptr @new(ptr %element, i64 %rank, ptr %extents, ptr %data) #0 {{
  %own = icmp eq ptr %data, null
  %flags = select i1 %own, i32 0, i32 {FLAGGED} ; with memory of its own, flags would ask for Fortran's order
  %dimensions = trunc i64 %rank to i32
  call void @Py_IncRef(ptr %element)
  %array = call ptr @PyArray_NewFromDescr(
    ptr @array_type, ptr %element, i32 %dimensions, ptr %extents, ptr null, ptr %data, i32 %flags, ptr null
  )
  ret ptr %array
}}
"""

_ARRAYS = f"""
; A C-contiguous array whose elements lie at %data, in the memory of the array %base.
define internal ptr @within(ptr %element, i64 %rank, ptr %extents, ptr %data, ptr %base) #0 {{
  %array = call ptr @new(ptr %element, i64 %rank, ptr %extents, ptr %data)
  %result = call ptr @based(ptr %array, ptr %base)
  ret ptr %result
}}

; An uninitialised C-contiguous array; a large one begins at a cache line, a larger one with a page.
define ptr @accel_take(ptr %element, i64 %item, i64 %rank, ptr %extents) #0 {{
  %array = call ptr @take(ptr %element, i64 %item, i64 %rank, ptr %extents, i64 {SMALL})
  ret ptr %array
}}

; The same, where also a small one begins at a cache line if it is longer than that: it will be used many times.
define ptr @accel_take_line(ptr %element, i64 %item, i64 %rank, ptr %extents) #0 {{
  %array = call ptr @take(ptr %element, i64 %item, i64 %rank, ptr %extents, i64 {ALIGNMENT})
  ret ptr %array
}}

; The same, where arrays begin at a cache line from %least bytes on.
define internal ptr @take(ptr %element, i64 %item, i64 %rank, ptr %extents, i64 %least) #0 {{
entry:
  %size = call i64 @size(i64 %item, i64 %rank, ptr %extents)
  %over = icmp slt i64 %size, 0
  br i1 %over, label %impossible, label %some
impossible:
  %null = call ptr @PyErr_NoMemory()
  ret ptr null
some:
  %small = icmp slt i64 %size, %least
  br i1 %small, label %plain, label %aligned
plain:
  %array = call ptr @new(ptr %element, i64 %rank, ptr %extents, ptr null)
  ret ptr %array
aligned:
  %paged = icmp sge i64 %size, {PAGED}
  %unit = select i1 %paged, i64 {PAGE}, i64 {ALIGNMENT}
  %total = add i64 %size, %unit
  %large = icmp sge i64 %size, {LARGE}
  br i1 %large, label %listed, label %unlisted
listed:
  %block1 = call ptr @block(i64 %total)
  br label %made
unlisted:
  %block2 = call ptr @fresh(i64 %total)
  br label %made
made:
  %block = phi ptr [%block1, %listed], [%block2, %unlisted]
  %failed = icmp eq ptr %block, null
  br i1 %failed, label %none, label %place
place:
  %start = call ptr @data(ptr %block)
  %address = ptrtoint ptr %start to i64
  %below = sub i64 %unit, 1
  %up = add i64 %address, %below
  %mask = sub i64 0, %unit
  %first = and i64 %up, %mask
  %data = inttoptr i64 %first to ptr
  %result = call ptr @within(ptr %element, i64 %rank, ptr %extents, ptr %data, ptr %block)
  call void @Py_DecRef(ptr %block)
  ret ptr %result
none:
  ret ptr null
}}

; Whether an object is an array of just this type of elements and rank, and aligned.
define i1 @accel_is_of(ptr %x, ptr %element, i64 %rank) #0 {{
entry:
  %type = call ptr @type(ptr %x)
  %array = icmp eq ptr %type, @array_type
  br i1 %array, label %look, label %no
look:
  %its = call ptr @element(ptr %x)
  %same = icmp eq ptr %its, %element
  %dimensions32 = call i32 @rank(ptr %x)
  %dimensions = zext i32 %dimensions32 to i64
  %equal = icmp eq i64 %dimensions, %rank
  %aligned = call i1 @is_aligned(ptr %x)
  %known = and i1 %same, %equal
  %good = and i1 %known, %aligned
  ret i1 %good
no:
  ret i1 false
}}

; Whether kernels can read an object as it lies: such an array, and the elements of a row are adjacent.
define i1 @accel_is(ptr %x, ptr %element, i64 %item, i64 %rank) #0 {{
entry:
  %good = call i1 @accel_is_of(ptr %x, ptr %element, i64 %rank)
  br i1 %good, label %rows, label %no
rows:
  %dense = call i1 @is_dense(ptr %x)
  br i1 %dense, label %yes, label %last
last:
  %some = icmp ne i64 %rank, 0
  br i1 %some, label %stride, label %no
stride:
  %strides = call ptr @strides(ptr %x)
  %before = sub i64 %rank, 1
  %place = getelementptr i64, ptr %strides, i64 %before
  %step = load i64, ptr %place
  %adjacent = icmp eq i64 %step, %item
  br i1 %adjacent, label %yes, label %no
yes:
  ret i1 true
no:
  ret i1 false
}}

; The first elements of a C-contiguous array under other extents, in the same memory; null, perhaps without an exception, if it
; is not contiguous or the extents are more than an address can count. The array must have as many elements.
define ptr @accel_view(ptr %x, ptr %element, i64 %item, i64 %rank, ptr %extents) #0 {{
entry:
  %size = call i64 @size(i64 %item, i64 %rank, ptr %extents)
  %over = icmp slt i64 %size, 0
  br i1 %over, label %none, label %known
known:
  %dense = call i1 @is_dense(ptr %x)
  br i1 %dense, label %make, label %none
make:
  %data = call ptr @data(ptr %x)
  %view = call ptr @within(ptr %element, i64 %rank, ptr %extents, ptr %data, ptr %x)
  ret ptr %view
none:
  ret ptr null
}}

; Whether the array has these extents.
define internal i1 @has(ptr %x, i64 %rank, ptr %extents) #0 {{
entry:
  %its = call ptr @extents(ptr %x)
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %same]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %body, label %yes
body:
  %place1 = getelementptr i64, ptr %its, i64 %k
  %place2 = getelementptr i64, ptr %extents, i64 %k
  %one = load i64, ptr %place1
  %other = load i64, ptr %place2
  %equal = icmp eq i64 %one, %other
  br i1 %equal, label %same, label %no
same:
  %k1 = add i64 %k, 1
  br label %head
yes:
  ret i1 true
no:
  ret i1 false
}}

; Whether at least half of the memory that the array keeps from being used again is its elements: %size bytes. What a filter
; keeps lies in a block for all that it was given; what took an argument's memory, in an array of the same elements.
define internal i1 @fills(ptr %x, i64 %item, i64 %size) #0 {{
entry:
  %base = call ptr @base(ptr %x)
  %alone = icmp eq ptr %base, null
  br i1 %alone, label %yes, label %look
look:
  %type = call ptr @type(ptr %base)
  %array = icmp eq ptr %type, @array_type
  %element = call ptr @element(ptr %base)
  %bytes = icmp eq ptr %element, @bytes_type
  %its = call ptr @element(ptr %x)
  %same = icmp eq ptr %element, %its
  %known = or i1 %bytes, %same
  %block = and i1 %array, %known
  br i1 %block, label %measure, label %no
measure:
  %extents = call ptr @extents(ptr %base)
  %rank32 = call i32 @rank(ptr %base)
  %rank = zext i32 %rank32 to i64
  %unit = select i1 %bytes, i64 1, i64 %item
  %all = call i64 @size(i64 %unit, i64 %rank, ptr %extents)
  %twice = mul i64 %size, 2
  %enough = icmp sge i64 %twice, %all
  ret i1 %enough
yes:
  ret i1 true
no:
  ret i1 false
}}

; Whether no other object has the memory of an array that only the caller refers to, as far as can be seen: it is its own, or a
; block of this module.
define internal i1 @is_sole(ptr %x) #0 {{
entry:
  %base = call ptr @base(ptr %x)
  %own = icmp eq ptr %base, null
  br i1 %own, label %yes, label %look
look:
  %type = call ptr @type(ptr %base)
  %array = icmp eq ptr %type, @array_type
  br i1 %array, label %bytes, label %no
bytes:
  %element = call ptr @element(ptr %base)
  %block = icmp eq ptr %element, @bytes_type
  br i1 %block, label %count, label %no
count:
  %alone = call i1 @is_alone(ptr %base)
  ret i1 %alone
yes:
  ret i1 true
no:
  ret i1 false
}}

; The array as a result: itself if only the caller refers to it, nobody else has its memory, as is known (%owned) or seen, and
; it has these extents and no much larger block behind it; else a new array for a copy.
; Null, perhaps without an exception, if it cannot be copied.
define ptr @accel_result(ptr %x, i1 %owned, ptr %element, i64 %item, i64 %rank, ptr %extents) #0 {{
entry:
  %size = call i64 @size(i64 %item, i64 %rank, ptr %extents)
  %over = icmp slt i64 %size, 0
  br i1 %over, label %none, label %mine
mine:
  %references = load i32, ptr %x
  %only = icmp eq i32 %references, 1
  br i1 %only, label %memory, label %copy
memory:
  br i1 %owned, label %shape, label %shared
shared:
  %sole = call i1 @is_sole(ptr %x)
  br i1 %sole, label %shape, label %copy
shape:
  %same = call i1 @has(ptr %x, i64 %rank, ptr %extents)
  %fills = call i1 @fills(ptr %x, i64 %item, i64 %size)
  %itself = and i1 %same, %fills
  br i1 %itself, label %give, label %copy
give:
  call void @Py_IncRef(ptr %x)
  ret ptr %x
copy:
  %dense = call i1 @is_dense(ptr %x)
  br i1 %dense, label %take, label %none
take:
  %result = call ptr @accel_take(ptr %element, i64 %item, i64 %rank, ptr %extents)
  ret ptr %result
none:
  ret ptr null
}}
"""
