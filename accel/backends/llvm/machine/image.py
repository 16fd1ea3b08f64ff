"""Object code as an image: the bytes that lie in memory, wherever that is, and the addresses that it must be told.

In: ELF files for x86-64, as LLVM writes them for code that may lie anywhere. Out: an `Image`. What such code says of its own
parts is relative to a table of addresses (the global offset table; System V ABI for AMD64, section 4.4), which here stands at
the image's end. So an image is linked once; whoever loads it fills in the table, and nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping, Sequence

from accel.support.dataclass import frozen

_IDENTITY = b"\x7fELF\x02\x01\x01"
"""64 bits, little-endian."""
_RELOCATABLE, _X86_64 = 1, 62

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QIIq")
_WORD = struct.Struct("<q")

_SYMBOLS, _RELOCATIONS, _ZEROS = 2, 4, 8
"""Kinds of sections; one of zeros has no bytes in the file."""

_WRITABLE, _LOADED = 1, 2
"""Marks of sections."""

_UNDEFINED, _RESERVED = 0, 0xFF00
"""Sections of symbols that are defined elsewhere; from `_RESERVED` on such numbers mean something else."""

_DISTANCE_FROM_TABLE, _PLACE_IN_TABLE, _DISTANCE_OF_TABLE = 25, 27, 29
"""Relocations, by what is written: a symbol's distance from the table (`R_X86_64_GOTOFF64`), where in the table its address
stands (`R_X86_64_GOT64`), the table's distance from here (`R_X86_64_GOTPC64`)."""


class Unlinkable(Exception):
    """An object file of another kind than is linked here."""


@frozen
class Image:
    """code: all bytes. symbols: where in it those stand that are seen from outside.

    table: where in it addresses are to be written, and of what: a place in the image, or a symbol that it does not define.
    """

    code: bytes
    symbols: Mapping[str, int]
    table: Mapping[int, int | str]


@frozen
class _Section:
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


@frozen
class _File:
    """An object file. places: where in the image its sections stand, if they are loaded.

    symbols: in their order, where each stands, or its name if another file defines it; None for those that are no places.
    """

    content: bytes
    sections: Sequence[_Section]
    places: Sequence[int | None]
    symbols: Sequence[int | str | None]


def linked(objects: Sequence[bytes]) -> Image:
    """The image of object files, which may call each other. Raises `Unlinkable` for files of other kinds."""
    code, defined, table = bytearray(), dict[str, int](), dict[int | str, int]()
    try:
        files = [_file(content, code, defined) for content in objects]
        start = _room(code, 0, _WORD.size)
        for file in files:
            for place, value in _relocations(file, start, defined, table):
                _WORD.pack_into(code, place, value)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise Unlinkable(f"no object file: {error}") from error
    code += bytes(_WORD.size * len(table))
    return Image(bytes(code), defined, {start + _WORD.size * number: what for what, number in table.items()})


def _file(content: bytes, code: bytearray, defined: dict[str, int]) -> _File:
    """The file, whose sections are copied to the end of the code, and whose symbols are put among those that are `defined`."""
    identity, kind, machine, _, _, _, start, *_, size, count, _ = _HEADER.unpack_from(content)
    if not identity.startswith(_IDENTITY) or (kind, machine, size) != (_RELOCATABLE, _X86_64, _SECTION.size):
        raise Unlinkable("no object file for x86-64")
    sections = [_Section(*_SECTION.unpack_from(content, start + number * size)) for number in range(count)]
    places = [_copied(section, content, code) for section in sections]
    symbols: list[int | str | None] = []
    for section in sections:
        if section.kind == _SYMBOLS:
            names = sections[section.link].offset
            for name, marks, _, number, value, _ in _SYMBOL.iter_unpack(_bytes(section, content)):
                text = content[names + name : content.index(b"\0", names + name)].decode("ascii")
                place = places[number] if number < _RESERVED else None
                symbols.append(text if number == _UNDEFINED else None if place is None else place + value)
                if marks >> 4 and place is not None:  # not local
                    defined[text] = place + value
    return _File(content, sections, places, symbols)


def _copied(section: _Section, content: bytes, code: bytearray) -> int | None:
    """Where the section stands now, if it is loaded."""
    if not section.flags & _LOADED:
        return None
    if section.flags & _WRITABLE:
        raise Unlinkable("memory that is written")
    place = _room(code, section.size, max(1, section.alignment))
    if section.kind != _ZEROS:
        code[place : place + section.size] = _bytes(section, content)
    return place


def _bytes(section: _Section, content: bytes) -> bytes:
    found = content[section.offset : section.offset + section.size]
    if len(found) < section.size:
        raise Unlinkable("a section that is cut")
    return found


def _room(code: bytearray, size: int, alignment: int) -> int:
    """The place of so many zeros behind what there is."""
    place = -(-len(code) // alignment) * alignment
    code += bytes(place + size - len(code))
    return place


def _relocations(
    file: _File, start: int, defined: Mapping[str, int], table: dict[int | str, int]
) -> Iterator[tuple[int, int]]:
    """Where in the image to write which words. `table`: what the table at `start` has addresses of, with their numbers."""
    for section in file.sections:
        place = file.places[section.info] if section.kind == _RELOCATIONS else None
        if place is None:
            continue
        for offset, kind, symbol, addend in _RELOCATION.iter_unpack(_bytes(section, file.content)):
            target = file.symbols[symbol]
            if isinstance(target, str):
                target = defined.get(target, target)
            if kind == _DISTANCE_OF_TABLE:
                value = start - place - offset
            elif kind == _PLACE_IN_TABLE and target is not None:
                value = _WORD.size * table.setdefault(target, len(table))
            elif kind == _DISTANCE_FROM_TABLE and isinstance(target, int):
                value = target - start
            else:
                raise Unlinkable(f"a relocation of kind {kind}")
            yield place + offset, value + addend
