"""Who takes which chunks of a chain: a word that threads change together, from which each claims its next chunks."""

from __future__ import annotations

from collections.abc import Callable

from accel.backends.llvm.machine.system import is_x86, pause
from accel.backends.llvm.text.code import Code
from accel.backends.llvm.text.routine import Routine

AHEAD = 8
"""How many chunks' totals are found out at once: together they stay in a core's cache until they are read again."""

LOOKS = 64
"""How often a thread looks for what the chunk before its next one hands over, before it finds out totals instead, if nobody
leads: whoever had to wait for this thread is about to say it, within a microsecond."""

_FIELD = 16
"""Bits of each part of the word of claims: the first chunk behind all that were taken, the first of the gap, the first behind
the gap, and whether somebody leads. There is no gap where its ends are the same."""

LEADS = 1 << 3 * _FIELD


def claim(routine: Routine, place: str, chunks: str, gap: int, is_there: Callable[[str], str]) -> tuple[str, str, str]:
    """Takes chunks by the word at `place`; gives the first, the one behind the last, and whether all before them handed over.

    Returns from the function if there are none. `is_there`: whether a chunk has what it begins with.

    Who can begin at once takes one, in the gap if there is one. Who must find out totals meanwhile takes several behind all
    that are taken, and leaves a gap to whoever leads; where nothing is left but the gap, it takes that.
    """
    code = routine.code
    head, some, none, again, claims, taken = (routine.label() for _ in range(6))
    looks = routine.slot("i64")
    routine.store("i64", "0", looks)
    routine.jump(head)
    routine.place(head)
    word = code.emit(f"load atomic i64, ptr {place} monotonic, align 8")
    number, low, end = (_field(routine, word, field) for field in range(3))
    has_gap = code.emit(f"icmp slt i64 {low}, {end}")
    more = code.emit(f"icmp slt i64 {number}, {chunks}")
    routine.branch(code.emit(f"or i1 {has_gap}, {more}"), some, none)
    routine.place(none)
    code.line("ret void")
    routine.place(some)
    ready = is_there(code.emit(f"select i1 {has_gap}, i64 {low}, i64 {number}"))
    looked = code.emit(f"add i64 {routine.load('i64', looks)}, 1")
    routine.store("i64", looked, looks)
    enough = code.emit(f"icmp sgt i64 {looked}, {LOOKS}")
    settled = code.emit(f"or i1 {code.emit(f'or i1 {ready}, {_leads(routine, word)}')}, {enough}")
    routine.branch(settled, claims, again)
    routine.place(again)
    wait(code)
    routine.jump(head)
    routine.place(claims)
    first, last, new = _taken(routine, word, (number, low, end, has_gap, more, ready), chunks, gap)
    pair = code.emit(f"cmpxchg ptr {place}, i64 {word}, i64 {new} monotonic monotonic")
    routine.branch(code.emit(f"extractvalue {{i64, i1}} {pair}, 1"), taken, head)
    routine.place(taken)
    return first, last, ready


def _taken(
    routine: Routine,
    word: str,
    claims: tuple[str, str, str, str, str, str],
    chunks: str,
    gap: int,
) -> tuple[str, str, str]:
    """The chunks that `claim` gives if nobody else takes any meanwhile, and the word then. claims: the first chunk behind all
    that were taken, both ends of the gap, whether there is one, whether there are chunks behind all that were taken, and
    whether all before the next one handed over."""
    code, (number, low, end, has_gap, more, ready) = routine.code, claims
    late = code.emit(f"xor i1 {ready}, true")
    behind = code.emit(f"and i1 {late}, {more}")
    in_gap = code.emit(f"and i1 {has_gap}, {code.emit(f'xor i1 {behind}, true')}")
    beyond = code.emit(f"add i64 {number}, {gap}")
    leads = _leads(routine, word)
    lacks = code.emit(f"xor i1 {has_gap}, true")
    room = code.emit(f"icmp slt i64 {beyond}, {chunks}")
    opens = code.emit(f"and i1 {code.emit(f'and i1 {late}, {leads}')}, {code.emit(f'and i1 {lacks}, {room}')}")
    begin = code.emit(f"select i1 {in_gap}, i64 {low}, i64 {number}")
    first = code.emit(f"select i1 {opens}, i64 {beyond}, i64 {begin}")
    count = code.emit(f"select i1 {ready}, i64 1, i64 {AHEAD}")
    limit = code.emit(f"select i1 {in_gap}, i64 {end}, i64 {chunks}")
    last = routine.least(code.emit(f"add i64 {first}, {count}"), limit)
    new_low = code.emit(
        f"select i1 {in_gap}, i64 {last}, i64 {code.emit(f'select i1 {opens}, i64 {number}, i64 {low}')}"
    )
    fields = [
        code.emit(f"select i1 {in_gap}, i64 {number}, i64 {last}"),
        code.emit(f"shl i64 {new_low}, {_FIELD}"),
        code.emit(f"shl i64 {code.emit(f'select i1 {opens}, i64 {beyond}, i64 {end}')}, {2 * _FIELD}"),
        code.emit(f"select i1 {code.emit(f'or i1 {ready}, {leads}')}, i64 {LEADS}, i64 0"),
    ]
    new = fields[0]
    for field in fields[1:]:
        new = code.emit(f"or i64 {new}, {field}")
    return first, last, new


def wait(code: Code) -> None:
    """Emits what a thread does between two looks at what another one writes."""
    symbol, operand = pause(x86=is_x86())
    code.declare("void", symbol, operand.partition(" ")[0])
    code.line(f"call void @{symbol}({operand})")


def _leads(routine: Routine, word: str) -> str:
    """Whether somebody leads."""
    return routine.code.emit(f"icmp uge i64 {word}, {LEADS}")


def _field(routine: Routine, word: str, number: int) -> str:
    shifted = routine.code.emit(f"lshr i64 {word}, {number * _FIELD}")
    return routine.code.emit(f"and i64 {shifted}, {(1 << _FIELD) - 1}")
