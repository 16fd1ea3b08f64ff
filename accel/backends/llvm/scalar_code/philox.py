"""LLVM text for random numbers: `accel/ast/meaning/philox.py` in scalars, and in lanes without doing work twice.

In: the halves of a key and a position, i64 in every lane. Out: the number. Four numbers come from one counter, at the price
of one. So the lanes of a vector look for the counters that they have in common: if all have one key, and lie close behind the
first one's position, each counter from there to the last is computed once, and every lane picks its number. Else each computes
its own. It takes products of 64 by 64 bits, which processors have for scalars only (those with AVX-512 as well).
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.meaning.philox import FACTORS, ROUNDS, STEPS
from accel.backends.llvm.text.code import FUNCTION_ATTRIBUTES, Code


def philox(code: Code, low: str, high: str, position: str) -> str:
    """Number `position` of a key in each lane."""
    type_ = code.vector("i64")
    symbol = "accel.philox" + ("" if code.lanes == 1 else f".v{code.lanes}")
    if symbol not in code.declarations:
        code.declarations[symbol] = _scalar(symbol) if code.lanes == 1 else _vector(code, symbol)
    return code.emit(f"call {type_} @{symbol}({type_} {low}, {type_} {high}, {type_} {position})")


def _rounds(low: str, high: str, counter: str) -> tuple[list[str], tuple[str, ...]]:
    """The lines that compute the four numbers of a counter, and where these are."""
    lines: list[str] = []
    words = (counter, "0", "0", "0")
    keys = (low, high)
    for turn in range(ROUNDS):
        first, second = (f"%first{turn}", words[0], FACTORS[0]), (f"%second{turn}", words[2], FACTORS[1])
        for name, word, factor in (first, second):
            lines += [
                f"{name}.wide = zext i64 {word} to i128",
                f"{name}.product = mul i128 {name}.wide, {factor}",
                f"{name}.low = trunc i128 {name}.product to i64",
                f"{name}.shifted = lshr i128 {name}.product, 64",
                f"{name}.high = trunc i128 {name}.shifted to i64",
            ]
        for name, word, key in (("%second", words[1], keys[0]), ("%first", words[3], keys[1])):
            lines += [
                f"{name}{turn}.mixed = xor i64 {name}{turn}.high, {word}",
                f"{name}{turn}.keyed = xor i64 {name}{turn}.mixed, {key}",
            ]
        words = (f"%second{turn}.keyed", f"%second{turn}.low", f"%first{turn}.keyed", f"%first{turn}.low")
        lines += [f"%key{turn}.{half} = add i64 {key}, {STEPS[half]}" for half, key in enumerate(keys)]
        keys = (f"%key{turn}.0", f"%key{turn}.1")
    return lines, words


def _scalar(symbol: str) -> str:
    lines, words = _rounds("%low", "%high", "%counter")
    body = "\n  ".join(lines)
    return f"""\
define internal i64 @{symbol}(i64 %low, i64 %high, i64 %position) {FUNCTION_ATTRIBUTES} {{
  %before = lshr i64 %position, 2
  %counter = add i64 %before, 1
  {body}
  %odd = trunc i64 %position to i1
  %upper.bits = lshr i64 %position, 1
  %upper = trunc i64 %upper.bits to i1
  %early = select i1 %odd, i64 {words[1]}, i64 {words[0]}
  %late = select i1 %odd, i64 {words[3]}, i64 {words[2]}
  %number = select i1 %upper, i64 %late, i64 %early
  ret i64 %number
}}"""


def _vector(code: Code, symbol: str) -> str:
    """Lanes whose places from the first one's counter on are below the size of the room `%numbers` are close.

    Behind the last position comes the first: lanes in which nobody reads the number may begin before that.
    """
    lanes, type_ = code.lanes, code.vector("i64")
    room = 4 * lanes
    bits, flags = f"i{lanes}", code.vector("i1")
    own = f"<{', '.join(f'i64 {4 * lane}' for lane in range(lanes))}>"
    maximum = f"llvm.vector.reduce.umax.v{lanes}i64"
    gather = f"llvm.masked.gather.v{lanes}i64.v{lanes}p0"
    code.declare("i64", maximum, type_)
    code.declare(type_, gather, f"{code.vector('ptr')}, {flags}, {type_}")
    return f"""\
define internal {type_} @{symbol}({type_} %low, {type_} %high, {type_} %position) {FUNCTION_ATTRIBUTES} {{
entry:
  %numbers = alloca [{room} x i64], align 64
{_differing(code, "low")}
{_differing(code, "high")}
  %keys.bits = or {bits} %low.bits, %high.bits
  %one.key = icmp eq {bits} %keys.bits, 0
  %position.first = extractelement {type_} %position, i64 0
  %start = and i64 %position.first, -4
  %start.head = insertelement {type_} poison, i64 %start, i64 0
  %start.all = shufflevector {type_} %start.head, {type_} poison, <{lanes} x i32> zeroinitializer
  %behind = sub {type_} %position, %start.all
  %last = call i64 @{maximum}({type_} %behind)
  %near = icmp ult i64 %last, {room}
  %close = and i1 %one.key, %near
  %counters = lshr {type_} %position, splat (i64 2)
  %within = and {type_} %position, splat (i64 3)
  %alone = add {type_} %within, {own}
  %places = select i1 %close, {type_} %behind, {type_} %alone
  %last.counter = lshr i64 %last, 2
  %first.counter = lshr i64 %position.first, 2
  %turns.close = add i64 %last.counter, 1
  %turns = select i1 %close, i64 %turns.close, i64 {lanes}
  br label %loop
{_counters(type_)}
pick:
  %pointers = getelementptr i64, ptr %numbers, {type_} %places
  %picked = call {type_} @{gather}({code.vector("ptr")} align 8 %pointers, {flags} splat (i1 true), {type_} poison)
  ret {type_} %picked
}}"""


def _counters(type_: str) -> str:
    """The numbers of one counter after the other: of those from the first on, or of each lane's own."""
    lines, words = _rounds("%low.one", "%high.one", "%counter")
    body = "\n  ".join(lines)
    return f"""\
loop:
  %turn = phi i64 [ 0, %entry ], [ %next, %loop ]
  %lane = select i1 %close, i64 0, i64 %turn
  %low.one = extractelement {type_} %low, i64 %lane
  %high.one = extractelement {type_} %high, i64 %lane
  %counter.alone = extractelement {type_} %counters, i64 %turn
  %counter.far = add i64 %first.counter, %turn
  %counter.close = and i64 %counter.far, {(1 << 62) - 1}
  %before = select i1 %close, i64 %counter.close, i64 %counter.alone
  %counter = add i64 %before, 1
  {body}
  %here.number = shl i64 %turn, 2
  %here = getelementptr i64, ptr %numbers, i64 %here.number
  {_stores(words)}
  %next = add i64 %turn, 1
  %more = icmp ult i64 %next, %turns
  br i1 %more, label %loop, label %pick"""


def _differing(code: Code, half: str) -> str:
    """`%<half>.bits`: in which lanes a half of the key is another than in the first one."""
    lanes, type_ = code.lanes, code.vector("i64")
    return f"""\
  %{half}.first = extractelement {type_} %{half}, i64 0
  %{half}.head = insertelement {type_} poison, i64 %{half}.first, i64 0
  %{half}.all = shufflevector {type_} %{half}.head, {type_} poison, <{lanes} x i32> zeroinitializer
  %{half}.differ = icmp ne {type_} %{half}, %{half}.all
  %{half}.bits = bitcast {code.vector("i1")} %{half}.differ to i{lanes}"""


def _stores(words: Sequence[str]) -> str:
    """The numbers of a counter to `%here`."""
    return "\n  ".join(
        line
        for number, word in enumerate(words)
        for line in (
            f"%place{number} = getelementptr i64, ptr %here, i64 {number}",
            f"store i64 {word}, ptr %place{number}",
        )
    )
