"""LLVM text of a sort of short rows, of which each lane of a vector has one: a network of comparisons, the same for all.

In a network [Knuth, The Art of Computer Programming 5.2.2, algorithm M] it does not depend on the elements which two are
compared next, so nothing branches. Keys are signed integers whose order is that of the elements. For places, a key and its
place are one number, or two that are compared one after the other, so that none are equal: then any network keeps the order of
equal elements.
"""

from __future__ import annotations

from collections.abc import Sequence

from accel.ast.tree.types import BOOL, ScalarType
from accel.backends.llvm.machine.target import HOST_ATTRIBUTES
from accel.backends.llvm.sorting.networks_frame import MOST, VECTOR_BYTES, Word, key_bytes, lanes


def network_text(kind: ScalarType, places: bool) -> str:
    """The module of `@network`, from a frame to 0, or something else if it was interrupted; for elements of `kind`.

    `places`: whether it writes where elements stand, as i64, and not the elements.
    """
    return "\n".join([_whole(kind, places), _groups(_Text(kind, places)), HOST_ATTRIBUTES])


def _words(words: Sequence[Word]) -> str:
    """Loads of words of the frame, called by their names."""
    lines = []
    for word in words:
        name = word.name.lower()
        lines.append(f"  %{name}.at = getelementptr i64, ptr %frame, i64 {int(word)}")
        lines.append(f"  %{name} = load i64, ptr %{name}.at")
    return "\n".join(lines)


def _whole(kind: ScalarType, places: bool) -> str:
    size = lanes(kind, places)
    return f"""
declare i64 @accel_run(ptr, ptr, i64, i64, i64, double)

define i64 @network(ptr %frame) #0 {{
{_words((Word.THREADS, Word.ROWS, Word.NANOSECONDS, Word.CHUNK))}
  %more = add i64 %rows, {size - 1}
  %groups = udiv i64 %more, {size}
  %time = sitofp i64 %nanoseconds to double
  %outcome = call i64 @accel_run(ptr @network_groups, ptr %frame, i64 %groups, i64 %chunk, i64 %threads, double %time)
  ret i64 %outcome
}}
"""


def _groups(text: _Text) -> str:
    """The groups low .. high-1: their keys are made, put in order in the first cache, and written. Rows that are missing in the
    last one are the last row."""
    size, many = text.lanes, f"<{text.lanes} x i64>"
    numbers = ", ".join(f"i64 {number}" for number in range(size))
    return f"""
define internal void @network_groups(ptr %frame, i64 %low, i64 %high) #0 {{
entry:
{_words((Word.ROWS, Word.COUNT, Word.SOURCE, Word.RESULT, Word.FIRST, Word.FLIP, Word.TABLE, Word.COMPARISONS))}
  %source.rows = inttoptr i64 %source to ptr
  %result.rows = inttoptr i64 %result to ptr
  %pairs = inttoptr i64 %table to ptr
  %zeros.at = getelementptr i64, ptr %frame, i64 {int(Word.ZEROS)}
  %keys = alloca [{MOST} x {text.key}], align {VECTOR_BYTES}
  %standing = alloca [{MOST} x {text.key}], align {VECTOR_BYTES}
  %last = sub i64 %rows, 1
  %last.0 = insertelement {many} poison, i64 %last, i64 0
  %last.all = shufflevector {many} %last.0, {many} poison, <{size} x i32> zeroinitializer
  %count.0 = insertelement {many} poison, i64 %count, i64 0
  %count.all = shufflevector {many} %count.0, {many} poison, <{size} x i32> zeroinitializer
{text.broadcast("flipped", "%flip")}
  br label %group
group:
  %number = phi i64 [ %low, %entry ], [ %number.next, %after ]
  %own = mul i64 %number, {size}
  %own.0 = insertelement {many} poison, i64 %own, i64 0
  %own.all = shufflevector {many} %own.0, {many} poison, <{size} x i32> zeroinitializer
  %row.any = add {many} %own.all, <{numbers}>
  %row = call {many} @llvm.smin.v{size}i64({many} %row.any, {many} %last.all)
  %begin = mul {many} %row, %count.all
  br label %load
{_one_group(text)}
after:
  %number.next = add i64 %number, 1
  %again = icmp slt i64 %number.next, %high
  br i1 %again, label %group, label %done
done:
  ret void
}}
"""


def _one_group(text: _Text) -> str:
    """Its keys are made, put in order and written."""
    return f"""\
load:
  %i = phi i64 [ 0, %group ], [ %i.next, %load ]
{text.load()}
  %i.next = add i64 %i, 1
  %loads = icmp slt i64 %i.next, %count
  br i1 %loads, label %load, label %compare
compare:
  %k = phi i64 [ 0, %load ], [ %k.next, %compare ]
{text.compare()}
  %k.next = add i64 %k, 1
  %compares = icmp slt i64 %k.next, %comparisons
  br i1 %compares, label %compare, label %store
store:
  %j = phi i64 [ 0, %compare ], [ %j.next, %store ]
{text.store()}
  %j.next = add i64 %j, 1
  %stores = icmp slt i64 %j.next, %first
  br i1 %stores, label %store, label %after"""


class _Text:
    """What differs between types of elements, and between elements and places."""

    def __init__(self, kind: ScalarType, places: bool) -> None:
        self._kind, self._places = kind, places
        self.lanes = lanes(kind, places)
        self._element = f"<{self.lanes} x i{8 * kind.bytes}>"
        self.key = f"<{self.lanes} x i{8 * key_bytes(kind, places)}>"
        self._apart = places and kind.bytes == 8
        """Whether a key and its place are two numbers."""

    def broadcast(self, name: str, number: str) -> str:
        """%`name` := an i64 in all lanes, as what is compared."""
        bits = 8 * key_bytes(self._kind, self._places)
        narrow = f"add i64 {number}, 0" if bits == 64 else f"trunc i64 {number} to i{bits}"
        return f"""\
  %{name}.one = {narrow}
  %{name}.0 = insertelement {self.key} poison, i{bits} %{name}.one, i64 0
  %{name} = shufflevector {self.key} %{name}.0, {self.key} poison, <{self.lanes} x i32> zeroinitializer"""

    def load(self) -> str:
        """Makes the keys of the elements at %i."""
        bits = 8 * self._kind.bytes
        widened = "add" if self.key == self._element else "sext"
        whole = (
            f"add {self.key} %order, {self._all(0)}"
            if widened == "add"
            else f"sext {self._element} %order to {self.key}"
        )
        return f"""\
{self._where("from", "%i", "%source.rows", f"i{bits}")}
  %bits = call {self._element} @llvm.masked.gather.v{self.lanes}i{bits}.v{self.lanes}p0({self._pointers} align \
{self._kind.bytes} %from, <{self.lanes} x i1> {self._mask}, {self._element} poison)
{self._ordered(bits)}
  %whole = {whole}
  %turned = xor {self.key} %whole, %flipped
{self._with_place() if self._places and not self._apart else f"  %kept = add {self.key} %turned, {self._all(0)}"}
  %key.at = getelementptr {self.key}, ptr %keys, i64 %i
  store {self.key} %kept, ptr %key.at, align {VECTOR_BYTES}
{self._standing() if self._apart else ""}"""

    def _where(self, name: str, place: str, base: str, type_: str) -> str:
        """%`name` := the addresses of the elements of that place in each row; %`name`.all is the place."""
        many = f"<{self.lanes} x i64>"
        return f"""\
  %{name}.0 = insertelement {many} poison, i64 {place}, i64 0
  %{name}.all = shufflevector {many} %{name}.0, {many} poison, <{self.lanes} x i32> zeroinitializer
  %{name}.index = add {many} %begin, %{name}.all
  %{name} = getelementptr {type_}, ptr {base}, {many} %{name}.index"""

    def _ordered(self, bits: int) -> str:
        """%order := the signed numbers in whose order the elements with %bits stand."""
        vector, least, most = self._element, -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        if self._kind is BOOL:
            return f"""\
  %true = icmp ne {vector} %bits, {self._all(0, bits)}
  %order = zext <{self.lanes} x i1> %true to {vector}"""
        if not self._kind.is_float:
            return f"  %order = xor {vector} %bits, {self._all(0 if self._kind.is_signed else least, bits)}"
        infinite = {16: 0x7C00, 32: 0x7F800000, 64: 0x7FF0000000000000}[bits]
        return f"""\
  %negative.zero = icmp eq {vector} %bits, {self._all(least, bits)}
{self._zeros(bits)}
  %sign = ashr {vector} %plain, {self._all(bits - 1, bits)}
  %turn = and {vector} %sign, {self._all(most, bits)}
  %number.order = xor {vector} %plain, %turn
  %magnitude = and {vector} %bits, {self._all(most, bits)}
  %nan = icmp sgt {vector} %magnitude, {self._all(infinite, bits)}
  %order = select <{self.lanes} x i1> %nan, {vector} {self._all(most, bits)}, {vector} %number.order"""

    def _zeros(self, bits: int) -> str:
        """%plain := the bits of an element, for places without the sign of zeros; else it is said that there is one."""
        if self._places:
            chosen = f"{self._element} {self._all(0, bits)}, {self._element} %bits"
            return f"  %plain = select <{self.lanes} x i1> %negative.zero, {chosen}"
        return f"""\
  %plain = add {self._element} %bits, {self._all(0, bits)}
  %some.zero = call i1 @llvm.vector.reduce.or.v{self.lanes}i1(<{self.lanes} x i1> %negative.zero)
  %zero.before = load atomic i64, ptr %zeros.at monotonic, align 8
  %zero.one = zext i1 %some.zero to i64
  %zero.now = or i64 %zero.before, %zero.one
  store atomic i64 %zero.now, ptr %zeros.at monotonic, align 8"""

    def _with_place(self) -> str:
        """%kept := %turned and, in the lower half, the place."""
        return f"""\
  %high.half = shl {self.key} %turned, {self._all(32)}
  %kept = or {self.key} %high.half, %from.all"""

    def _standing(self) -> str:
        return f"""\
  %standing.at = getelementptr {self.key}, ptr %standing, i64 %i
  store {self.key} %from.all, ptr %standing.at, align {VECTOR_BYTES}"""

    def compare(self) -> str:
        """Puts two elements in order."""
        pair = f"""\
  %k.pair = mul i64 %k, 2
  %one.place = getelementptr i32, ptr %pairs, i64 %k.pair
  %other.place = getelementptr i32, ptr %one.place, i64 1
  %one.far = load i32, ptr %one.place
  %other.far = load i32, ptr %other.place
  %one.at = getelementptr i8, ptr %keys, i32 %one.far
  %other.at = getelementptr i8, ptr %keys, i32 %other.far
  %one = load {self.key}, ptr %one.at, align {VECTOR_BYTES}
  %other = load {self.key}, ptr %other.at, align {VECTOR_BYTES}"""
        return "\n".join([pair, *(self._two_numbers() if self._apart else self._one_number())])

    def _one_number(self) -> list[str]:
        name = f"v{self.lanes}i{8 * key_bytes(self._kind, self._places)}"
        return [
            f"""\
  %{result} = call {self.key} @llvm.{operator}.{name}({self.key} %one, {self.key} %other)
  store {self.key} %{result}, ptr %{place}, align {VECTOR_BYTES}"""
            for result, operator, place in (("less", "smin", "one.at"), ("greater", "smax", "other.at"))
        ]

    def _two_numbers(self) -> list[str]:
        masks = f"<{self.lanes} x i1>"
        lines = [
            f"""\
  %{name}.standing.at = getelementptr i8, ptr %standing, i32 %{name}.far
  %{name}.standing = load {self.key}, ptr %{name}.standing.at, align {VECTOR_BYTES}"""
            for name in ("one", "other")
        ]
        lines += [
            f"""\
  %less = icmp sgt {self.key} %one, %other
  %equal = icmp eq {self.key} %one, %other
  %later = icmp sgt {self.key} %one.standing, %other.standing
  %equal.later = and {masks} %equal, %later
  %change = or {masks} %less, %equal.later"""
        ]
        for name, rest in (("one", ""), ("other", ""), ("one", ".standing"), ("other", ".standing")):
            then = "other" if name == "one" else "one"
            lines.append(
                f"""\
  %{name}{rest}.new = select {masks} %change, {self.key} %{then}{rest}, {self.key} %{name}{rest}
  store {self.key} %{name}{rest}.new, ptr %{name}{rest}.at, align {VECTOR_BYTES}"""
            )
        return lines

    def store(self) -> str:
        """Writes the elements, or the places, that come at %j."""
        written, type_ = self._written()
        bits = 64 if self._places else 8 * self._kind.bytes
        return f"""\
{self._where("to", "%j", "%result.rows", f"i{bits}")}
  %sorted.at = getelementptr {self.key}, ptr {"%standing" if self._apart else "%keys"}, i64 %j
  %sorted = load {self.key}, ptr %sorted.at, align {VECTOR_BYTES}
{written}
  call void @llvm.masked.scatter.v{self.lanes}i{bits}.v{self.lanes}p0({type_} %given, {self._pointers} align \
{bits // 8} %to, <{self.lanes} x i1> {self._mask})"""

    def _written(self) -> tuple[str, str]:
        """%given := what stands for %sorted; and its type."""
        if self._places:
            low = (1 << 32) - 1 if not self._apart else -1
            return f"  %given = and {self.key} %sorted, {self._all(low)}", self.key
        bits, vector = 8 * self._kind.bytes, self._element
        whole = (
            f"add {vector} %sorted, {self._all(0, bits)}"
            if vector == self.key
            else f"trunc {self.key} %sorted to {vector}"
        )
        if self._kind.is_float:
            return (
                f"""\
  %order.back = {whole}
  %sign.back = ashr {vector} %order.back, {self._all(bits - 1, bits)}
  %turn.back = and {vector} %sign.back, {self._all((1 << (bits - 1)) - 1, bits)}
  %given = xor {vector} %order.back, %turn.back""",
                vector,
            )
        raised = 0 if self._kind.is_signed or self._kind is BOOL else -(1 << (bits - 1))
        return f"  %order.back = {whole}\n  %given = xor {vector} %order.back, {self._all(raised, bits)}", vector

    @property
    def _pointers(self) -> str:
        return f"<{self.lanes} x ptr>"

    @property
    def _mask(self) -> str:
        return "<" + ", ".join(["i1 true"] * self.lanes) + ">"

    def _all(self, number: int, bits: int | None = None) -> str:
        """A number in all lanes, of keys or of `bits`."""
        bits = bits or 8 * key_bytes(self._kind, self._places)
        return "<" + ", ".join([f"i{bits} {number}"] * self.lanes) + ">"
