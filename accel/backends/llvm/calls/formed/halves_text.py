"""LLVM text of the halves of complex arrays: as two arrays, and joined again."""

from __future__ import annotations

from accel.backends.llvm.machine.arrays_text import ALIGNED
from accel.backends.llvm.text.words import FAILED, FAULTS, THREADS

C64, C128 = 1, 2
"""The kinds of complex numbers, in the tables of `forms_text.py`."""

_PART = 1 << 17
"""Elements that a thread joins at once."""

_NANOSECONDS = 1 / 2
"""That an element takes."""

_TO, _REAL, _IMAGINARY, _ELEMENTS, _KIND, _WORDS = range(THREADS + 1, THREADS + 7)


def halves_text() -> str:
    """`@halves` and `@joined`, for a module that has what `forms_text.py` declares, and of array objects."""
    return _DECLARATIONS + _HALVES + _JOIN


def kernels_text() -> str:
    """The module with the loops over elements that these call."""
    return "".join(_split_text(bits) + _join_text(bits) for bits in (32, 64))


_DECLARATIONS = """
declare void @split32(ptr, ptr, ptr, i64)
declare void @split64(ptr, ptr, ptr, i64)
declare void @join32(ptr, ptr, ptr, i64, i64)
declare void @join64(ptr, ptr, ptr, i64, i64)
"""


def _lanes(numbers: list[int]) -> str:
    return f"<{len(numbers)} x i32> <{', '.join(f'i32 {number}' for number in numbers)}>"


def _split_text(bits: int) -> str:
    """`@splitN`: the real and the imaginary parts of complex numbers, as integers, whose bits no register changes."""
    lanes, item, size = 512 // bits, f"i{bits}", bits // 8
    vector, pair = f"<{lanes} x {item}>", f"<{2 * lanes} x {item}>"
    return f"""
define void @split{bits}(ptr %from, ptr %real, ptr %imaginary, i64 %n) #0 {{
entry:
  %whole = and i64 %n, -{lanes}
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %body]
  %more = icmp slt i64 %k, %whole
  br i1 %more, label %body, label %tail
body:
  %twice = shl i64 %k, 1
  %place = getelementptr {item}, ptr %from, i64 %twice
  %both = load {pair}, ptr %place, align {size}
  %a = shufflevector {pair} %both, {pair} poison, {_lanes(list(range(0, 2 * lanes, 2)))}
  %b = shufflevector {pair} %both, {pair} poison, {_lanes(list(range(1, 2 * lanes, 2)))}
  %reals = getelementptr {item}, ptr %real, i64 %k
  store {vector} %a, ptr %reals, align {size}
  %imaginaries = getelementptr {item}, ptr %imaginary, i64 %k
  store {vector} %b, ptr %imaginaries, align {size}
  %k1 = add i64 %k, {lanes}
  br label %head
tail:
  %t = phi i64 [%whole, %head], [%t1, %one]
  %rest = icmp slt i64 %t, %n
  br i1 %rest, label %one, label %done
one:
  %double = shl i64 %t, 1
  %first = getelementptr {item}, ptr %from, i64 %double
  %second = getelementptr {item}, ptr %first, i64 1
  %x = load {item}, ptr %first
  %y = load {item}, ptr %second
  %realp = getelementptr {item}, ptr %real, i64 %t
  store {item} %x, ptr %realp
  %imaginaryp = getelementptr {item}, ptr %imaginary, i64 %t
  store {item} %y, ptr %imaginaryp
  %t1 = add i64 %t, 1
  br label %tail
done:
  ret void
}}
"""


def _join_text(bits: int) -> str:
    """`@joinN`: the same backwards, for the elements from %low to %high - 1."""
    lanes, item, size = 512 // bits, f"i{bits}", bits // 8
    vector, pair = f"<{lanes} x {item}>", f"<{2 * lanes} x {item}>"
    mixed = [place + lanes * half for place in range(lanes) for half in (0, 1)]
    return f"""
define void @join{bits}(ptr %to, ptr %real, ptr %imaginary, i64 %low, i64 %high) #0 {{
entry:
  %n = sub i64 %high, %low
  %vectors = and i64 %n, -{lanes}
  %whole = add i64 %low, %vectors
  br label %head
head:
  %k = phi i64 [%low, %entry], [%k1, %body]
  %more = icmp slt i64 %k, %whole
  br i1 %more, label %body, label %tail
body:
  %reals = getelementptr {item}, ptr %real, i64 %k
  %a = load {vector}, ptr %reals, align {size}
  %imaginaries = getelementptr {item}, ptr %imaginary, i64 %k
  %b = load {vector}, ptr %imaginaries, align {size}
  %both = shufflevector {vector} %a, {vector} %b, {_lanes(mixed)}
  %twice = shl i64 %k, 1
  %place = getelementptr {item}, ptr %to, i64 %twice
  store {pair} %both, ptr %place, align {size}
  %k1 = add i64 %k, {lanes}
  br label %head
tail:
  %t = phi i64 [%whole, %head], [%t1, %one]
  %rest = icmp slt i64 %t, %high
  br i1 %rest, label %one, label %done
one:
  %realp = getelementptr {item}, ptr %real, i64 %t
  %x = load {item}, ptr %realp
  %imaginaryp = getelementptr {item}, ptr %imaginary, i64 %t
  %y = load {item}, ptr %imaginaryp
  %double = shl i64 %t, 1
  %first = getelementptr {item}, ptr %to, i64 %double
  store {item} %x, ptr %first
  %second = getelementptr {item}, ptr %first, i64 1
  store {item} %y, ptr %second
  %t1 = add i64 %t, 1
  br label %tail
done:
  ret void
}}
"""


_HALVES = f"""
; How many elements an array has.
define internal i64 @elements(ptr %x) #0 {{
entry:
  %rank = call i32 @rank(ptr %x)
  %extents = call ptr @extents(ptr %x)
  br label %head
head:
  %k = phi i32 [0, %entry], [%k1, %body]
  %n = phi i64 [1, %entry], [%product, %body]
  %more = icmp slt i32 %k, %rank
  br i1 %more, label %body, label %done
body:
  %place = getelementptr i64, ptr %extents, i32 %k
  %extent = load i64, ptr %place
  %product = mul i64 %n, %extent
  %k1 = add i32 %k, 1
  br label %head
done:
  ret i64 %n
}}

; Every second part of a complex array, from %data on, where it is. A new reference or null.
define internal ptr @seen(ptr %x, ptr %part, ptr %data) #0 {{
  %rank = call i32 @rank(ptr %x)
  %extents = call ptr @extents(ptr %x)
  %strides = call ptr @strides(ptr %x)
  call void @Py_IncRef(ptr %part)
  %view = call ptr @PyArray_NewFromDescr(
    ptr @array_type, ptr %part, i32 %rank, ptr %extents, ptr %strides, ptr %data, i32 {ALIGNED}, ptr null
  )
  %result = call ptr @based(ptr %view, ptr %x)
  ret ptr %result
}}

; Puts the real and the imaginary parts of a complex array, two new references, or null, to %to. Gives whether they are there.
define internal i1 @halves(ptr %x, i64 %kind, i64 %most, ptr %to) #0 {{
entry:
  %second = getelementptr ptr, ptr %to, i64 1
  store ptr null, ptr %to
  store ptr null, ptr %second
  %type = call ptr @type(ptr %x)
  %array = icmp eq ptr %type, @array_type
  br i1 %array, label %look, label %no
look:
  %long = icmp eq i64 %kind, {C128}
  %whole = select i1 %long, ptr @c128, ptr @c64
  %part = select i1 %long, ptr @f64, ptr @f32
  %half = select i1 %long, i64 8, i64 4
  %its = call ptr @element(ptr %x)
  %same = icmp eq ptr %its, %whole
  %aligned = call i1 @is_aligned(ptr %x)
  %good = and i1 %same, %aligned
  br i1 %good, label %how, label %no
how:
  %data = call ptr @data(ptr %x)
  %views = icmp slt i64 %most, 0
  br i1 %views, label %view, label %size
view:
  %behind = getelementptr i8, ptr %data, i64 %half
  %a = call ptr @seen(ptr %x, ptr %part, ptr %data)
  store ptr %a, ptr %to
  %b = call ptr @seen(ptr %x, ptr %part, ptr %behind)
  store ptr %b, ptr %second
  br label %made
size:
  %n = call i64 @elements(ptr %x)
  %few = icmp sle i64 %n, %most
  %dense = call i1 @is_dense(ptr %x)
  %able = and i1 %few, %dense
  br i1 %able, label %copy, label %no
copy:
  %rank32 = call i32 @rank(ptr %x)
  %rank = zext i32 %rank32 to i64
  %extents = call ptr @extents(ptr %x)
  %c = call ptr @accel_take(ptr %part, i64 %half, i64 %rank, ptr %extents)
  store ptr %c, ptr %to
  %d = call ptr @accel_take(ptr %part, i64 %half, i64 %rank, ptr %extents)
  store ptr %d, ptr %second
  %none1 = icmp eq ptr %c, null
  %none2 = icmp eq ptr %d, null
  %none = or i1 %none1, %none2
  br i1 %none, label %no, label %fill
fill:
  %reals = call ptr @data(ptr %c)
  %imaginaries = call ptr @data(ptr %d)
  br i1 %long, label %fill64, label %fill32
fill32:
  call void @split32(ptr %data, ptr %reals, ptr %imaginaries, i64 %n)
  ret i1 true
fill64:
  call void @split64(ptr %data, ptr %reals, ptr %imaginaries, i64 %n)
  ret i1 true
made:
  %no1 = icmp ne ptr %a, null
  %no2 = icmp ne ptr %b, null
  %all = and i1 %no1, %no2
  ret i1 %all
no:
  ret i1 false
}}
"""

_JOIN = f"""
define internal void @join(i64 %kind, ptr %to, ptr %real, ptr %imaginary, i64 %low, i64 %high) #0 {{
  %long = icmp eq i64 %kind, {C128}
  br i1 %long, label %join64, label %join32
join32:
  call void @join32(ptr %to, ptr %real, ptr %imaginary, i64 %low, i64 %high)
  ret void
join64:
  call void @join64(ptr %to, ptr %real, ptr %imaginary, i64 %low, i64 %high)
  ret void
}}

define internal void @join_parts(ptr %frame, i64 %first, i64 %last) #0 {{
  %top = getelementptr i64, ptr %frame, i64 {_TO}
  %to = load ptr, ptr %top
  %realp = getelementptr i64, ptr %frame, i64 {_REAL}
  %real = load ptr, ptr %realp
  %imaginaryp = getelementptr i64, ptr %frame, i64 {_IMAGINARY}
  %imaginary = load ptr, ptr %imaginaryp
  %elementsp = getelementptr i64, ptr %frame, i64 {_ELEMENTS}
  %elements = load i64, ptr %elementsp
  %kindp = getelementptr i64, ptr %frame, i64 {_KIND}
  %kind = load i64, ptr %kindp
  %low = mul i64 %first, {_PART}
  %full = mul i64 %last, {_PART}
  %less = icmp slt i64 %elements, %full
  %high = select i1 %less, i64 %elements, i64 %full
  call void @join(i64 %kind, ptr %to, ptr %real, ptr %imaginary, i64 %low, i64 %high)
  ret void
}}

; The complex array of two arrays of one shape, C-contiguous ones: a new reference, or null.
define internal ptr @joined(i64 %kind, ptr %a, ptr %b, i64 %threads) #0 {{
entry:
  %frame = alloca [{_WORDS} x i64]
  %long = icmp eq i64 %kind, {C128}
  %whole = select i1 %long, ptr @c128, ptr @c64
  %bytes = select i1 %long, i64 16, i64 8
  %rank32 = call i32 @rank(ptr %a)
  %rank = zext i32 %rank32 to i64
  %extents = call ptr @extents(ptr %a)
  %array = call ptr @accel_take(ptr %whole, i64 %bytes, i64 %rank, ptr %extents)
  %failed = icmp eq ptr %array, null
  br i1 %failed, label %none, label %fill
fill:
  %to = call ptr @data(ptr %array)
  %real = call ptr @data(ptr %a)
  %imaginary = call ptr @data(ptr %b)
  %n = call i64 @elements(ptr %a)
  %many = icmp sgt i64 %n, {_PART}
  br i1 %many, label %parts, label %at_once
at_once:
  call void @join(i64 %kind, ptr %to, ptr %real, ptr %imaginary, i64 0, i64 %n)
  ret ptr %array
parts:
  %failedp = getelementptr i64, ptr %frame, i64 {FAILED}
  store i64 0, ptr %failedp
  %faultsp = getelementptr i64, ptr %frame, i64 {FAULTS}
  store i64 0, ptr %faultsp
  %top = getelementptr i64, ptr %frame, i64 {_TO}
  store ptr %to, ptr %top
  %realp = getelementptr i64, ptr %frame, i64 {_REAL}
  store ptr %real, ptr %realp
  %imaginaryp = getelementptr i64, ptr %frame, i64 {_IMAGINARY}
  store ptr %imaginary, ptr %imaginaryp
  %elementsp = getelementptr i64, ptr %frame, i64 {_ELEMENTS}
  store i64 %n, ptr %elementsp
  %kindp = getelementptr i64, ptr %frame, i64 {_KIND}
  store i64 %kind, ptr %kindp
  %less = sub i64 %n, 1
  %before = sdiv i64 %less, {_PART}
  %count = add i64 %before, 1
  %size = sitofp i64 %n to double
  %time = fmul double %size, {_NANOSECONDS:e}
  %stopped = call i64 @accel_run(ptr @join_parts, ptr %frame, i64 %count, i64 1, i64 %threads, double %time)
  %good = icmp eq i64 %stopped, 0
  br i1 %good, label %done, label %drop
drop:
  call void @Py_DecRef(ptr %array)
  ret ptr null
done:
  ret ptr %array
none:
  call void @PyErr_Clear() ; Python says that there is no memory
  ret ptr null
}}
"""
