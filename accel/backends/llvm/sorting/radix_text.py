"""LLVM text of a radix sort's steps, each of which works on chunks of a row, on several threads.

A row is sorted by some bits of its keys at a time, from the lowest to the highest, in passes that keep the order of equal ones.
Keys are unsigned numbers whose order is that of the elements (`accel/labelled/meaning/sorting.py`).
What is moved are words: keys, which are made elements again, or, if places are asked for, 32 bits of a key and its place. Every
chunk has a table: first how often its digit has each value, then where the next one goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from accel.ast.tree.types import BOOL, F16, ScalarType
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.backends.llvm.sorting.radix_frame import PART, VALUES, Bound, Word, steps
from accel.backends.llvm.text.code import memory_type

STEP = 1 << 20
"""Elements of a chunk after which a step looks whether the user has interrupted: some milliseconds."""


def _key_type(kind: ScalarType) -> str:
    return f"i{8 * kind.bytes}"


def radix_text(kind: ScalarType, places: bool) -> str:
    """The module for rows of elements of `kind`. `places`: whether these are moved, and not the elements made again."""
    word = "i64" if places else _key_type(kind)
    moves = [_move(word, target, made) for target, made in ((word, _MOVED), _finished(kind, places))]
    names = steps(kind, places)
    bodies = (_encode(kind, places), _count(word), *moves, _mend())[: len(names)]
    functions = [_step(name, body) for name, body in zip(names, bodies, strict=True)]
    pool = ["declare i64 @accel_run(ptr, ptr, i64, i64, i64, double)", "declare i64 @accel_poll(ptr) cold"]
    return "\n".join([*pool, _key_function(kind, places), _RUN_BEGINS, *functions, HOST_ATTRIBUTES])


def _step(name: str, body: str) -> str:
    """A step's function, and what it runs for some of the chunks."""
    return f"""
define i64 @{name}(ptr %frame) #0 {{
{_words(Word.THREADS, Word.CHUNKS, Word.COUNT)}
  %time = sitofp i64 %count to double ; about a nanosecond each
  %outcome = call i64 @accel_run(ptr @{name}_chunks, ptr %frame, i64 %chunks, i64 1, i64 %threads, double %time)
  ret i64 %outcome
}}

define internal void @{name}_chunks(ptr %frame, i64 %low, i64 %high) #0 {{
{body}
}}
"""


def _words(*words: Word) -> str:
    """Loads of words of the frame, called by their names."""
    lines = []
    for word in words:
        name = word.name.lower()
        lines.append(f"  %{name}.place = getelementptr i64, ptr %frame, i64 {int(word)}")
        lines.append(f"  %{name} = load i64, ptr %{name}.place")
    return "\n".join(lines)


def _pointers(*words: Word) -> str:
    names = [word.name.lower() for word in words]
    return "\n".join([_words(*words), *(f"  %{name}.at = inttoptr i64 %{name} to ptr" for name in names)])


_CHUNK = """\
  %begin = add i64 %from, 0
  %finish = add i64 %to, 0"""


def _over(before: str, first: str, each: str, then: str = "", chunk: str = _CHUNK) -> str:
    """For each chunk `first`, then for each index %i of it `each`, then `then`; `before` stands at the start.

    %table is that of the chunk. `chunk`: from which index to before which one that is.
    """
    return f"""\
entry:
{_words(Word.COUNT, Word.CHUNK)}
{_pointers(Word.TABLES)}
{before}
  br label %chunks
chunks:
  %number = phi i64 [ %low, %entry ], [ %number.next, %after ]
  %from = mul i64 %number, %chunk
  %end = add i64 %from, %chunk
  %to = call i64 @llvm.smin.i64(i64 %end, i64 %count)
  %table.number = mul i64 %number, {VALUES}
  %table = getelementptr i32, ptr %tables.at, i64 %table.number
{chunk}
{first}
  %some = icmp slt i64 %begin, %finish
  br i1 %some, label %step, label %after
step:
  %step.low = phi i64 [ %begin, %chunks ], [ %step.high, %look ]
  %step.end = add i64 %step.low, {STEP}
  %step.high = call i64 @llvm.smin.i64(i64 %step.end, i64 %finish)
  br label %loop
loop:
  %i = phi i64 [ %step.low, %step ], [ %i.next, %last ]
{each}
  br label %last
last:
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %step.high
  br i1 %more, label %loop, label %stepped
stepped:
  %rest = icmp slt i64 %step.high, %finish
  br i1 %rest, label %look, label %after
look:
  %stopped = call i64 @accel_poll(ptr %frame)
  %goes.on = icmp eq i64 %stopped, 0
  br i1 %goes.on, label %step, label %done
after:
{then}
  %number.next = add i64 %number, 1
  %again = icmp slt i64 %number.next, %high
  br i1 %again, label %chunks, label %done
done:
  ret void"""


def _encode(kind: ScalarType, places: bool) -> str:
    """Makes words, of the places that words have or else of all in order, and finds the bounds of keys."""
    word = "i64" if places else _key_type(kind)
    before, first, each, then = [_ENCODING], [], [], []
    for bound, (start, taken) in _BOUNDS.items():
        name = bound.name.lower()
        slot = f"ptr %{name}.slot"
        before.append(f"  %{name}.slot = alloca i64")
        first.append(f"  store i64 {start}, {slot}")
        each.append(f"""\
  %{name}.old = load i64, {slot}
  %{name}.new = {taken.format(f"%{name}.old")}
  store i64 %{name}.new, {slot}""")
        then.append(f"""\
  %{name}.found = load i64, {slot}
  %{name}.at = getelementptr i64, ptr %table, i64 {int(bound)}
  store i64 %{name}.found, ptr %{name}.at""")
    made = f"""\
  %word.at = getelementptr {word}, ptr %words.at, i64 %i
{_PLACED if places else "  %place = add i64 %i, 0"}
  %key = call i64 @key(ptr %source.at, i64 %place, i64 %flip)
{_WITH_PLACE if places else f"  %word = {'add i64 %key, 0' if kind.bits == 64 else f'trunc i64 %key to {word}'}"}
  store {word} %word, ptr %word.at"""
    return _over(*("\n".join(lines) for lines in (before, first, [made, *each], then)))


_ENCODING = f"""\
{_pointers(Word.SOURCE, Word.WORDS)}
{_words(Word.FLIP, Word.GIVEN, Word.LEAST, Word.BEHIND)}
  %ordered = icmp ne i64 %given, 0"""

_BOUNDS: Mapping[Bound, tuple[int, str]] = MappingProxyType(
    {
        Bound.LEAST: (-1, "call i64 @llvm.umin.i64(i64 {}, i64 %key)"),
        Bound.MOST: (0, "call i64 @llvm.umax.i64(i64 {}, i64 %key)"),
        Bound.SOME: (0, "or i64 {}, %key"),
        Bound.EVERY: (-1, "and i64 {}, %key"),
    }
)
"""What each begins with, and what it is with one more key."""

_PLACED = f"""\
  br i1 %ordered, label %told, label %known
told:
  %old.word = load i64, ptr %word.at
  %old.place = and i64 %old.word, {(1 << PART) - 1}
  br label %known
known:
  %place = phi i64 [ %old.place, %told ], [ %i, %loop ]"""

_WITH_PLACE = f"""\
  %above = sub i64 %key, %least
  %part = lshr i64 %above, %behind
  %upper = shl i64 %part, {PART}
  %word = or i64 %upper, %place"""


def _key_function(kind: ScalarType, places: bool) -> str:
    """A function of the row, a place, and what keys are flipped by: to the unsigned number that stands for the element there.

    Without `places`, -0.0 is less than +0.0.
    """
    wide = "%key = add i64 %raised, 0" if kind.bits == 64 else f"%key = zext {_key_type(kind)} %raised to i64"
    flip = "%flips = add i64 %flip, 0" if kind.bits == 64 else f"%flips = lshr i64 %flip, {64 - kind.bits}"
    return f"""
define internal i64 @key(ptr %source, i64 %place, i64 %flip) alwaysinline #0 {{
  %element.at = getelementptr {memory_type(kind)}, ptr %source, i64 %place
  %element = load {memory_type(kind)}, ptr %element.at
{_raised(kind, places)}
  {wide}
  {flip}
  %flipped = xor i64 %key, %flips
  ret i64 %flipped
}}"""


def _raised(kind: ScalarType, places: bool) -> str:
    """%raised := the number as it is where keys rise."""
    key, least = _key_type(kind), 1 << (kind.bits - 1)
    if kind is BOOL:
        return "  %true = icmp ne i8 %element, 0\n  %raised = zext i1 %true to i8"
    if not kind.is_float:
        return f"  %raised = xor {key} %element, {least if kind.is_signed else 0}"
    return f"""\
{_half_bits(places) if kind is F16 else _float_bits(kind, places)}
  %sign = ashr {key} %bits, {kind.bits - 1}
  %mask = or {key} %sign, {least}
  %number.key = xor {key} %bits, %mask
  %raised = select i1 %nan, {key} -1, {key} %number.key"""


def _float_bits(kind: ScalarType, places: bool) -> str:
    """%bits := those of %element, with `places` of +0.0 for -0.0. %nan := whether it is one."""
    key, real = _key_type(kind), memory_type(kind)
    return f"""\
  %positive.zero = fadd {real} %element, {"0.0" if places else "-0.0"}
  %bits = bitcast {real} %positive.zero to {key}
  %nan = fcmp uno {real} %element, 0.0"""


def _half_bits(places: bool) -> str:
    """The same of the bits of a 16-bit float."""
    return f"""\
  %negative.zero = icmp eq i16 %element, {-0x8000 if places else "%element"}
  %bits = select i1 %negative.zero, i16 {0 if places else "%element"}, i16 %element
  %magnitude = and i16 %element, {0x7FFF}
  %nan = icmp ugt i16 %magnitude, {0x7C00}"""


_DIGIT = """\
  %word.at = getelementptr {word}, ptr %words.at, i64 %i
  %word = load {word}, ptr %word.at
  {wide}
  %above = sub i64 %wide, %base
  %shifted = lshr i64 %above, %shift
  %digit = and i64 %shifted, %mask
  %entry.at = getelementptr i32, ptr %table, i64 %digit
  %entry.old = load i32, ptr %entry.at
  %entry.new = add i32 %entry.old, 1
  store i32 %entry.new, ptr %entry.at"""
"""Adds one to what stands in the table for the digit of %word, which was %entry.old."""


def _digit(word: str) -> str:
    wide = "%wide = add i64 %word, 0" if word == "i64" else f"%wide = zext {word} %word to i64"
    return _DIGIT.format(word=word, wide=wide)


def _count(word: str) -> str:
    """Counts a digit."""
    first = """\
  %values = add i64 %mask, 1
  %size = mul i64 %values, 4
  call void @llvm.memset.p0.i64(ptr %table, i8 0, i64 %size, i1 false)"""
    return _over(f"{_pointers(Word.WORDS)}\n{_words(Word.BASE, Word.SHIFT, Word.MASK)}", first, _digit(word))


_MOVED = "  %made = add {word} %word, 0"


def _move(word: str, target: str, made: str) -> str:
    """Moves what is `made` of words, of type `target`, to where the table says, in which they are counted."""
    each = f"""\
{_digit(word)}
{made.format(word=word)}
  %target = zext i32 %entry.old to i64
  %target.at = getelementptr {target}, ptr %next.at, i64 %target
  store {target} %made, ptr %target.at"""
    return _over(f"{_pointers(Word.WORDS, Word.NEXT)}\n{_words(Word.BASE, Word.SHIFT, Word.MASK)}", "", each)


def _finished(kind: ScalarType, places: bool) -> tuple[str, str]:
    """The type of what is asked for, and %made := that, of a word: its place, or the element for which its key stands."""
    if places:
        return "i64", f"  %made = and i64 %word, {(1 << PART) - 1}"
    key, least = _key_type(kind), 1 << (kind.bits - 1)
    if not kind.is_float:
        return key, f"  %made = xor {key} %word, {least if kind.is_signed else 0}"
    return (
        key,
        f"""\
  %sign = ashr {key} %word, {kind.bits - 1}
  %other = xor {key} %sign, -1
  %inverse = or {key} %other, {least}
  %made = xor {key} %word, %inverse""",
    )


_RUN_BEGINS = f"""
define internal i64 @run_begins(ptr %words, i64 %count, i64 %index) #0 {{
entry:
  %first = icmp eq i64 %index, 0
  br i1 %first, label %done, label %look
look:
  %i = phi i64 [ %index, %entry ], [ %i.next, %same ]
  %within = icmp slt i64 %i, %count
  br i1 %within, label %compare, label %done
compare:
  %at = getelementptr i64, ptr %words, i64 %i
  %before.at = getelementptr i64, ptr %at, i64 -1
  %word = load i64, ptr %at
  %before = load i64, ptr %before.at
  %differs = xor i64 %word, %before
  %tied = icmp ult i64 %differs, {1 << PART}
  br i1 %tied, label %same, label %done
same:
  %i.next = add i64 %i, 1
  br label %look
done:
  %found = phi i64 [ %index, %entry ], [ %i, %look ], [ %i, %compare ]
  ret i64 %found
}}"""
"""The first index, from one on, whose word has another part of a key than the one before it."""


def _mend() -> str:
    """Writes the places of words. Those whose words have the same part of a key are put in order by insertion, by whole keys.

    The chunk's table has how many places were moved. It ends where these are more than the chunk has elements.
    """
    before = f"""\
{_pointers(Word.SOURCE, Word.WORDS, Word.NEXT)}
{_words(Word.FLIP)}
  %moved = alloca i64"""
    chunk = """\
  %begin = call i64 @run_begins(ptr %words.at, i64 %count, i64 %from)
  %finish = call i64 @run_begins(ptr %words.at, i64 %count, i64 %to)"""
    each = f"""\
  %word.at = getelementptr i64, ptr %words.at, i64 %i
  %word = load i64, ptr %word.at
  %place = and i64 %word, {(1 << PART) - 1}
  %place.at = getelementptr i64, ptr %next.at, i64 %i
  store i64 %place, ptr %place.at
  %inside = icmp sgt i64 %i, %begin
  br i1 %inside, label %compare, label %last
compare:
  %before.at = getelementptr i64, ptr %word.at, i64 -1
  %before = load i64, ptr %before.at
  %differs = xor i64 %word, %before
  %tied = icmp ult i64 %differs, {1 << PART}
  br i1 %tied, label %insert, label %last
insert:
  %key = call i64 @key(ptr %source.at, i64 %place, i64 %flip)
  br label %back
back:
  %j = phi i64 [ %i, %insert ], [ %j.before, %further ]
  %j.at = getelementptr i64, ptr %next.at, i64 %j
  %j.before = sub i64 %j, 1
  %other.at = getelementptr i64, ptr %next.at, i64 %j.before
  %other = load i64, ptr %other.at
  %other.key = call i64 @key(ptr %source.at, i64 %other, i64 %flip)
  %stays = icmp ule i64 %other.key, %key
  br i1 %stays, label %put, label %further
further:
  store i64 %other, ptr %j.at
  %moved.old = load i64, ptr %moved
  %moved.new = add i64 %moved.old, 1
  store i64 %moved.new, ptr %moved
  %all = icmp eq i64 %j.before, %begin
  br i1 %all, label %foremost, label %back
foremost:
  store i64 %place, ptr %other.at
  br label %judged
put:
  store i64 %place, ptr %j.at
  br label %judged
judged:
  %moved.now = load i64, ptr %moved
  %much = icmp sgt i64 %moved.now, %chunk
  br i1 %much, label %after, label %last"""
    then = "  %moved.all = load i64, ptr %moved\n  store i64 %moved.all, ptr %table"
    return _over(before, "  store i64 0, ptr %moved", each, then, chunk)
