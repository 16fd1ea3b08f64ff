"""LLVM text of a radix sort's steps, each of which works on chunks of a row, on several threads.

A row is sorted by eight bits of its keys at a time, from the lowest to the highest, in passes that keep the order of equal
ones. Keys are unsigned numbers whose order is that of the elements (`accel/labelled/meaning/sorting.py`). With each moves its
place in the row, as 32 bits, if that is asked for; if not, keys are made elements again. Every chunk has a table for each
digit: first how often it has each value, then where the next one goes.
"""

from __future__ import annotations

from accel.ast.tree.types import BOOL, F16, ScalarType
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.backends.llvm.sorting.radix_frame import STEPS, VALUES, Word, digits
from accel.backends.llvm.text.code import memory_type

STEP = 1 << 20
"""Elements of a chunk after which a step looks whether the user has interrupted: some milliseconds."""


def _key_type(kind: ScalarType) -> str:
    return f"i{8 * kind.bytes}"


def radix_text(kind: ScalarType, places: bool) -> str:
    """The module for rows of elements of `kind`. `places`: whether these are moved, and not the elements made again."""
    bodies = (_encode(kind, places), _count(kind), _move(kind, places), _decode(kind))
    functions = [_step(name, body) for name, body in zip(STEPS, bodies, strict=True)]
    pool = ["declare i64 @accel_run(ptr, ptr, i64, i64, i64, double)", "declare i64 @accel_poll(ptr) cold"]
    return "\n".join([*pool, *functions, HOST_ATTRIBUTES])


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


def _over(kind: ScalarType, before: str, first: str, each: str) -> str:
    """For each chunk `first`, then for each index %i of it `each`; `before` stands at the start.

    %table is the first of the chunk's tables.
    """
    return f"""\
entry:
{_words(Word.COUNT, Word.CHUNK)}
{_pointers(Word.KEYS, Word.PLACES, Word.TABLES)}
{before}
  br label %chunks
chunks:
  %number = phi i64 [ %low, %entry ], [ %number.next, %after ]
  %from = mul i64 %number, %chunk
  %end = add i64 %from, %chunk
  %to = call i64 @llvm.smin.i64(i64 %end, i64 %count)
  %table.number = mul i64 %number, {digits(kind) * VALUES}
  %table = getelementptr i32, ptr %tables.at, i64 %table.number
{first}
  %some = icmp slt i64 %from, %to
  br i1 %some, label %step, label %after
step:
  %step.low = phi i64 [ %from, %chunks ], [ %step.high, %look ]
  %step.end = add i64 %step.low, {STEP}
  %step.high = call i64 @llvm.smin.i64(i64 %step.end, i64 %to)
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
  %rest = icmp slt i64 %step.high, %to
  br i1 %rest, label %look, label %after
look:
  %stopped = call i64 @accel_poll(ptr %frame)
  %goes.on = icmp eq i64 %stopped, 0
  br i1 %goes.on, label %step, label %done
after:
  %number.next = add i64 %number, 1
  %again = icmp slt i64 %number.next, %high
  br i1 %again, label %chunks, label %done
done:
  ret void"""


_IN_ORDER = "  %place = add i64 %i, 0"

_PLACED = """\
  %place.at = getelementptr i32, ptr %places.at, i64 %i
  br i1 %ordered, label %given, label %own
given:
  %place.given = load i32, ptr %place.at
  %place.wide = zext i32 %place.given to i64
  br label %known
own:
  %place.own = trunc i64 %i to i32
  store i32 %place.own, ptr %place.at
  br label %known
known:
  %place = phi i64 [ %place.wide, %given ], [ %i, %own ]"""


def _encode(kind: ScalarType, places: bool) -> str:
    """Makes keys and, unless they are given, places; counts all digits."""
    key, element = _key_type(kind), memory_type(kind)
    each = f"""\
{_PLACED if places else _IN_ORDER}
  %element.at = getelementptr {element}, ptr %source.at, i64 %place
  %element = load {element}, ptr %element.at
{_key(kind, places)}
  %key = xor {key} %raised, %flipped
  %key.at = getelementptr {key}, ptr %keys.at, i64 %i
  store {key} %key, ptr %key.at
{"".join(_counted(kind, str(digit), f"d{digit}") for digit in range(digits(kind)))}"""
    flip = "%flipped = add i64 %flip, 0" if kind.bits == 64 else f"%flipped = trunc i64 %flip to {key}"
    before = (
        f"{_pointers(Word.SOURCE)}\n{_words(Word.GIVEN, Word.FLIP)}\n  {flip}\n  %ordered = icmp ne i64 %given.word, 0"
    )
    return _over(kind, before.replace("%given ", "%given.word "), _cleared(digits(kind)), each)


def _key(kind: ScalarType, places: bool) -> str:
    """%raised := the unsigned number that stands for %element. Without `places`, -0.0 is less than +0.0."""
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


def _counted(kind: ScalarType, digit: str, name: str) -> str:
    """Adds one to the count of the digit of %key."""
    return f"""\
{_digit(kind, digit, name)}
  %{name}.old = load i32, ptr %{name}.at
  %{name}.new = add i32 %{name}.old, 1
  store i32 %{name}.new, ptr %{name}.at
"""


def _digit(kind: ScalarType, digit: str, name: str) -> str:
    """%`name`.at := the place in the table of %key's digit of that number, an i64."""
    key = _key_type(kind)
    wide = f"%{name}.wide = zext {key} %key to i64" if kind.bits < 64 else f"%{name}.wide = add i64 %key, 0"
    return f"""\
  {wide}
  %{name}.shift = mul i64 {digit}, 8
  %{name}.shifted = lshr i64 %{name}.wide, %{name}.shift
  %{name}.value = and i64 %{name}.shifted, {VALUES - 1}
  %{name}.first = mul i64 {digit}, {VALUES}
  %{name}.entry = add i64 %{name}.first, %{name}.value
  %{name}.at = getelementptr i32, ptr %table, i64 %{name}.entry"""


def _cleared(tables: int) -> str:
    return f"  call void @llvm.memset.p0.i64(ptr %table, i8 0, i64 {4 * tables * VALUES}, i1 false)"


def _count(kind: ScalarType) -> str:
    """Counts one digit anew: what a move has made is in another order."""
    key = _key_type(kind)
    first = f"""\
  %own.number = mul i64 %digit, {VALUES}
  %own = getelementptr i32, ptr %table, i64 %own.number
  call void @llvm.memset.p0.i64(ptr %own, i8 0, i64 {4 * VALUES}, i1 false)"""
    each = f"""\
  %key.at = getelementptr {key}, ptr %keys.at, i64 %i
  %key = load {key}, ptr %key.at
{_counted(kind, "%digit", "d")}"""
    return _over(kind, _words(Word.DIGIT), first, each)


def _move(kind: ScalarType, places: bool) -> str:
    """Moves keys, and places, to where the table says, in which they are counted."""
    key = _key_type(kind)
    with_places = """\
  %place.at = getelementptr i32, ptr %places.at, i64 %i
  %place = load i32, ptr %place.at
  %place.target = getelementptr i32, ptr %next_places.at, i64 %target.wide
  store i32 %place, ptr %place.target"""
    each = f"""\
  %key.at = getelementptr {key}, ptr %keys.at, i64 %i
  %key = load {key}, ptr %key.at
{_digit(kind, "%digit", "d")}
  %target = load i32, ptr %d.at
  %target.next = add i32 %target, 1
  store i32 %target.next, ptr %d.at
  %target.wide = zext i32 %target to i64
  %key.target = getelementptr {key}, ptr %next_keys.at, i64 %target.wide
  store {key} %key, ptr %key.target
{with_places if places else ""}"""
    before = f"{_words(Word.DIGIT)}\n{_pointers(Word.NEXT_KEYS, Word.NEXT_PLACES)}"
    return _over(kind, before, "", each)


def _decode(kind: ScalarType) -> str:
    """Writes the elements for which the keys stand."""
    key = _key_type(kind)
    least = 1 << (kind.bits - 1)
    if kind.is_float:
        number = f"""\
  %sign = ashr {key} %key, {kind.bits - 1}
  %other = xor {key} %sign, -1
  %mask = or {key} %other, {least}
  %element = xor {key} %key, %mask"""
    else:
        number = f"  %element = xor {key} %key, {least if kind.is_signed else 0}"
    each = f"""\
  %key.at = getelementptr {key}, ptr %keys.at, i64 %i
  %key = load {key}, ptr %key.at
{number}
  %element.at = getelementptr {key}, ptr %source.at, i64 %i
  store {key} %element, ptr %element.at"""
    return _over(kind, _pointers(Word.SOURCE), "", each)
