"""LLVM text of the list of blocks: large pieces of memory that are used again while their pages are warm.

Fresh pages cost more than what most kernels do with them. The page `@blocks` lists the blocks that were made last, with a
reference to each: a block that nothing else refers to is free. Arrays have their block as their base, so views of them, which
users may keep, refer to it, too.

All functions hold the GIL from beginning to end and run no Python code, so that signal handlers never see them half done.
"""

from __future__ import annotations

ALIGNMENT = 64
"""Bytes: a cache line, and the widest vector."""

SMALL = 4096
"""Bytes below which an array is not aligned: it would cost more than it gives."""

PAGED = 1 << 15
"""Bytes from which on arrays begin with a page."""

PAGE = 4096
"""Bytes. At first, processors tell loads from earlier stores by their place in a page only, and loads wait for stores that
seem to be in their way: scans took 2.5 times as long where the result lay 48 bytes further in its page than what was read.
NumPy's large arrays lie 16 bytes behind the beginning of a page. Results lie at the beginning, so that loops that go forward
store behind their loads.
"""

LARGE = 1 << 16
"""Bytes from which on blocks are listed."""

KEPT = 1 << 30
"""The most bytes of blocks that are listed."""

MOST = 64
"""The most blocks that are listed."""

LIST_BYTES = 16 + 16 * MOST
"""Of the list: how many blocks there are, the bytes of all, and for each block its address and its bytes."""


def blocks_text() -> str:
    """Functions for the module of `arrays_text.py`: `@size`, `@fresh` and `@block`, which give new references or null, and
    `@is_alone`."""
    return _BLOCKS + _ALONE


_BLOCKS = f"""
; The bytes of an array of these extents; -1 if they are more than an address can count.
define internal i64 @size(i64 %item, i64 %rank, ptr %extents) #0 {{
entry:
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %next]
  %size = phi i64 [%item, %entry], [%product, %next]
  %more = icmp slt i64 %k, %rank
  br i1 %more, label %body, label %done
body:
  %place = getelementptr i64, ptr %extents, i64 %k
  %extent = load i64, ptr %place
  %both = call {{i64, i1}} @llvm.umul.with.overflow.i64(i64 %size, i64 %extent)
  %product = extractvalue {{i64, i1}} %both, 0
  %over = extractvalue {{i64, i1}} %both, 1
  %negative = icmp slt i64 %product, 0
  %bad = or i1 %over, %negative
  %k1 = add i64 %k, 1
  br i1 %bad, label %large, label %next
next:
  br label %head
done:
  ret i64 %size
large:
  ret i64 -1
}}

; An array of %size bytes.
define internal ptr @fresh(i64 %size) #0 {{
  %extents = alloca i64
  store i64 %size, ptr %extents
  %block = call ptr @new(ptr @bytes_type, i64 1, ptr %extents, ptr null)
  ret ptr %block
}}

; Takes the block that was made first off the list.
define internal void @forget() #0 {{
  %count = load i64, ptr @blocks
  %bytesp = getelementptr i8, ptr @blocks, i64 8
  %first = getelementptr i8, ptr @blocks, i64 16
  %second = getelementptr i8, ptr @blocks, i64 32
  %block = load ptr, ptr %first
  %sizep = getelementptr i8, ptr @blocks, i64 24
  %size = load i64, ptr %sizep
  %bytes = load i64, ptr %bytesp
  %left = sub i64 %bytes, %size
  store i64 %left, ptr %bytesp
  %rest = sub i64 %count, 1
  store i64 %rest, ptr @blocks
  %moved = mul i64 %rest, 16
  call void @llvm.memmove.p0.p0.i64(ptr %first, ptr %second, i64 %moved, i1 false)
  call void @Py_DecRef(ptr %block)
  ret void
}}

define internal void @forget_all() #0 {{
entry:
  br label %head
head:
  %count = load i64, ptr @blocks
  %any = icmp ne i64 %count, 0
  br i1 %any, label %body, label %done
body:
  call void @forget()
  br label %head
done:
  ret void
}}

; Puts a block on the list, and takes off those that were made first, as long as there are too many. A block that is larger than
; all that is kept never comes on it.
define internal void @keep(ptr %block, i64 %size) #0 {{
entry:
  %never = icmp sgt i64 %size, {KEPT}
  br i1 %never, label %done, label %head
head:
  %count = load i64, ptr @blocks
  %bytesp = getelementptr i8, ptr @blocks, i64 8
  %bytes = load i64, ptr %bytesp
  %sum = add i64 %bytes, %size
  %much = icmp sgt i64 %sum, {KEPT}
  %many = icmp sge i64 %count, {MOST}
  %over = or i1 %much, %many
  br i1 %over, label %body, label %add
body:
  call void @forget()
  br label %head
add:
  call void @Py_IncRef(ptr %block)
  %offset = mul i64 %count, 16
  %before = add i64 %offset, 16
  %place = getelementptr i8, ptr @blocks, i64 %before
  store ptr %block, ptr %place
  %sizep = getelementptr i8, ptr %place, i64 8
  store i64 %size, ptr %sizep
  store i64 %sum, ptr %bytesp
  %more = add i64 %count, 1
  store i64 %more, ptr @blocks
  br label %done
done:
  ret void
}}

; A block of at least %size bytes: at most an eighth more, so that arrays of about the same size share blocks.
define internal ptr @block(i64 %least) #0 {{
entry:
  %zeros = call i64 @llvm.ctlz.i64(i64 %least, i1 false)
  %shift = sub i64 60, %zeros ; bits of %least, less four
  %unit = shl i64 1, %shift
  %mask = sub i64 %unit, 1
  %up = add i64 %least, %mask
  %not = xor i64 %mask, -1
  %size = and i64 %up, %not
  %count = load i64, ptr @blocks
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %next]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %new
body:
  %offset = mul i64 %k, 16
  %before = add i64 %offset, 16
  %place = getelementptr i8, ptr @blocks, i64 %before
  %sizep = getelementptr i8, ptr %place, i64 8
  %its = load i64, ptr %sizep
  %fits = icmp eq i64 %its, %size
  br i1 %fits, label %look, label %next
look:
  %found = load ptr, ptr %place
  %references = load i32, ptr %found
  %free = icmp eq i32 %references, 1
  br i1 %free, label %again, label %next
again:
  call void @Py_IncRef(ptr %found)
  ret ptr %found
next:
  %k1 = add i64 %k, 1
  br label %head
new:
  %made = call ptr @fresh(i64 %size)
  %failed = icmp eq ptr %made, null
  br i1 %failed, label %empty, label %done
empty:
  call void @PyErr_Clear()
  call void @forget_all()
  %second = call ptr @fresh(i64 %size)
  %hopeless = icmp eq ptr %second, null
  br i1 %hopeless, label %none, label %done
done:
  %block = phi ptr [%made, %new], [%second, %empty]
  call void @keep(ptr %block, i64 %size)
  ret ptr %block
none:
  ret ptr null
}}
"""

_ALONE = """
; Whether nothing refers to a block, which may be listed, but one object.
define internal i1 @is_alone(ptr %block) #0 {
entry:
  %references = load i32, ptr %block
  %count = load i64, ptr @blocks
  br label %head
head:
  %k = phi i64 [0, %entry], [%k1, %body]
  %more = icmp slt i64 %k, %count
  br i1 %more, label %body, label %unlisted
body:
  %offset = mul i64 %k, 16
  %before = add i64 %offset, 16
  %place = getelementptr i8, ptr @blocks, i64 %before
  %listed = load ptr, ptr %place
  %is = icmp eq ptr %listed, %block
  %k1 = add i64 %k, 1
  br i1 %is, label %found, label %head
found:
  %two = icmp eq i32 %references, 2
  ret i1 %two
unlisted:
  %one = icmp eq i32 %references, 1
  ret i1 %one
}
"""
