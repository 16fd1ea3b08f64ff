"""One LLVM function under construction: structured control flow over a `Code`, variables in stack slots.

Slots stand in the entry block, where the SROA pass turns them into registers, so no emitter has to write phi nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from accel.backends.llvm.text.code import Code

WORD = 8
"""Bytes of a word of a frame, a record or a block of arguments; every scalar in them takes one."""


class Routine:
    """The text of `define <head> { … }`. `code` writes scalars; `code.at(lanes)` writes vectors into the same text."""

    def __init__(self, head: str, *, hot: bool = True, inlined: bool = False) -> None:
        """`head` is `void @name(ptr %frame, i64 %low)`, say. `hot`: runs often enough that it is worth optimising.

        `inlined`: hot functions have a copy of it in the place of every call.
        """
        self.hot = hot
        self._attributes = "alwaysinline #0" if inlined else "#0"
        self._head = head
        self.code = Code(1)
        self._labels = 0

    def text(self) -> str:
        """The whole definition; the body must have ended with a terminator."""
        body = "\n".join([line if line[-1] == ":" else "  " + line for line in self.code.lines])
        entry = "\n".join(["  " + line for line in self.code.entry])
        return f"define {self._head} {self._attributes} {{\nentry:\n{entry}\n  br label %start\nstart:\n{body}\n}}\n"

    def declaration(self) -> str:
        """What a module needs that calls the function."""
        return f"declare {self._head}\n"

    # Memory.

    def enter(self, text: str) -> str:
        """An instruction of the entry block, which runs once before everything else; gives its register."""
        return self.code.at_entry().emit(text)

    def slot(self, type_: str, count: int = 1, align: int = 8) -> str:
        """A stack slot for `count` values of an LLVM type."""
        # SROA takes arrays apart, but no allocation of several.
        return self.enter(f"alloca {type_ if count == 1 else f'[{count} x {type_}]'}, i64 1, align {align}")

    def load(self, type_: str, pointer: str, *, align: int | None = None) -> str:
        """A load with the type's own alignment, or that which is given."""
        return self.code.emit(f"load {type_}, ptr {pointer}{'' if align is None else f', align {align}'}")

    def store(self, type_: str, value: str, pointer: str, *, align: int | None = None) -> None:
        """A store with the type's own alignment, or that which is given."""
        self.code.line(f"store {type_} {value}, ptr {pointer}{'' if align is None else f', align {align}'}")

    def offset(self, pointer: str, words: int | str) -> str:
        """The address of a word: `pointer` + 8 `words`."""
        return self.code.emit(f"getelementptr i64, ptr {pointer}, i64 {words}")

    def copy(self, target: str, source: str, size: int | str) -> None:
        """Copies `size` bytes that do not overlap."""
        self.code.declare("void", "llvm.memcpy.p0.p0.i64", "ptr, ptr, i64, i1")
        self.code.line(f"call void @llvm.memcpy.p0.p0.i64(ptr {target}, ptr {source}, i64 {size}, i1 false)")

    # Control flow.

    def label(self) -> str:
        """A label that nothing has yet."""
        self._labels += 1
        return f"b{self._labels}"

    def place(self, label: str) -> None:
        """Starts the block of that label; the block before must have ended."""
        self.code.line(f"{label}:")

    def jump(self, label: str) -> None:
        """Goes there."""
        self.code.line(f"br label %{label}")

    def branch(self, condition: str, then: str, orelse: str, *, rarely: bool = False) -> None:
        """Goes to one of two labels; `rarely`: the first one's code stands aside."""
        self.code.line(f"br i1 {condition}, label %{then}, label %{orelse}{', !prof !2' if rarely else ''}")

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """What is written inside runs only where the condition holds."""
        then, after = self.label(), self.label()
        self.branch(condition, then, after)
        self.place(then)
        yield
        self.jump(after)
        self.place(after)

    @contextmanager
    def leaving(self, condition: str, value: str) -> Iterator[None]:
        """Where the condition holds, what is written inside runs, and then the function returns `value`, `i64 2` say."""
        with self.when(condition):
            yield
            self.code.line(f"ret {value}")
            self.place(self.label())

    def leave(self, condition: str, value: str) -> None:
        """Returns `value`, `i64 2` say, from the function where the condition holds."""
        with self.leaving(condition, value):
            pass

    def run_chunks(self, function: str, frame: str, count: str, chunk: int | str, threads: str, time: str) -> str:
        """Calls `function(frame, low, high)` for `count` iterations in chunks on several threads: not 0 if interrupted.

        `function`: a symbol or a register. `time`: about how many nanoseconds all take on one thread, a double.
        """
        return self.code.emit(
            f"call i64 @accel_run(ptr {function}, ptr {frame}, i64 {count}, i64 {chunk}, i64 {threads}, double {time})"
        )

    @contextmanager
    def repeat(self) -> Iterator[Callable[[str], None]]:
        """A loop: what is written inside runs again and again, until the function that this gives is called, once, with a
        condition that does not hold."""
        head, body, after = self.label(), self.label(), self.label()
        self.jump(head)
        self.place(head)

        def while_(condition: str) -> None:
            self.branch(condition, body, after)
            self.place(body)

        yield while_
        self.jump(head)
        self.place(after)

    @contextmanager
    def count(self, low: str, high: str, step: int | str = 1) -> Iterator[str]:
        """A loop: gives `low`, `low + step`, … as long as it is less than `high`."""
        counter = self.slot("i64")
        self.store("i64", low, counter)
        with self.advance(counter, high, step) as index:
            yield index

    @contextmanager
    def advance(self, counter: str, limit: str, step: int | str) -> Iterator[str]:
        """A loop that runs while the i64 in the slot `counter`, which it may change, is less than `limit`: gives it, then
        adds `step` to it."""
        with self.repeat() as while_:
            index = self.load("i64", counter)
            while_(self.code.emit(f"icmp slt i64 {index}, {limit}"))
            yield index
            self.store("i64", self.code.emit(f"add i64 {self.load('i64', counter)}, {step}"), counter)

    def shift_while(self, slot: str, operation: str, condition: Callable[[str], str]) -> str:
        """Doubles (`shl`) or halves (`lshr`) the i64 in a slot as long as a condition on it holds; gives what it is then."""
        with self.repeat() as while_:
            value = self.load("i64", slot)
            while_(condition(value))
            self.store("i64", self.code.emit(f"{operation} i64 {value}, 1"), slot)
        return value

    def least(self, first: str, second: str) -> str:
        """The lesser of two i64."""
        less = self.code.emit(f"icmp slt i64 {first}, {second}")
        return self.code.emit(f"select i1 {less}, i64 {first}, i64 {second}")
