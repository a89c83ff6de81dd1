"""Loading a relocatable ELF object for x86-64: map, relocate, protect.

It covers what LLVM emits for position-independent, self-contained code, so that a warm start needs
no LLVM at all (docs/decisions/0001-loading-code.md). Anything else raises `UnsupportedObject`, and
the caller falls back to LLVM's own loader. Numbers: System V ABI, AMD64 supplement, chapter 4.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import platform
import struct
import sys
from collections.abc import Callable

Resolver = Callable[[str], "int | None"]
"""Gives the address of a symbol outside the object, or None."""


class UnsupportedObject(Exception):
    """The object needs something that this loader does not do."""


class UnresolvedSymbol(Exception):
    """The object refers to a symbol that the process does not have."""


_EHDR = struct.Struct("<16sHHIQQQIHHHHHH")
_SHDR = struct.Struct("<IIQQQQIIQQ")
_SYM = struct.Struct("<IBBHQQ")
_RELA = struct.Struct("<QQq")
_I32 = struct.Struct("<i")
_U64 = struct.Struct("<Q")

_ET_REL, _EM_X86_64 = 1, 62
_SHT_PROGBITS, _SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS, _SHT_REL = 1, 2, 4, 8, 9
_SHF_WRITE, _SHF_ALLOC, _SHF_TLS = 1, 2, 0x400
_SHN_UNDEF, _SHN_ABS, _SHN_RESERVED = 0, 0xFFF1, 0xFF00

_R_64, _R_PC32, _R_PLT32, _R_PC64 = 1, 2, 4, 24
_R_GOT = (9, 41, 42)  # GOTPCREL, GOTPCRELX, REX_GOTPCRELX

_STUB = b"\xff\x25\x02\x00\x00\x00\x0f\x0b"  # jmp *[rip+2]; ud2; then the address
_STUB_BYTES = 16


def supported() -> bool:
    """Whether this process can run what `load` maps."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 2**32


def _round(value: int, align: int) -> int:
    return (value + align - 1) & -align


@functools.cache
def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int,
                          ctypes.c_int, ctypes.c_long]
    libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    return libc


_Symbol = tuple[str, int, int, int]
"""Name, binding, section, value."""
_Relocations = tuple[list[tuple[int, int, int]], int]
"""Entries (offset, symbol and type, addend) and the section they change."""


class _Section:
    __slots__ = ("align", "flags", "info", "kind", "offset", "place", "size")

    def __init__(self, header: tuple[int, ...]) -> None:
        _, self.kind, self.flags, _, self.offset, self.size, _, self.info, self.align, _ = header
        self.place = -1
        """Offset in the mapping; -1 for a section that is not loaded."""


def load(data: bytes, resolve: Resolver) -> dict[str, int]:
    """Map a relocatable object and return the addresses of its global symbols.

    The mapping is never undone: a kernel may run on a native thread up to the process's end. Code
    and constants end up read-execute, data read-write; nothing is both writable and executable.
    Raises `UnsupportedObject` or `UnresolvedSymbol`.
    """
    try:
        return _load(data, resolve)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise UnsupportedObject(f"malformed object: {error}") from error


def _load(data: bytes, resolve: Resolver) -> dict[str, int]:
    sections, symbols, relocations = _parse(data)
    # One pass over the relocations finds which outside symbols need a stub or a GOT slot.
    stubs: dict[int, int] = {}
    slots: dict[int, int] = {}
    for entries, _ in relocations:
        for _, info, _ in entries:
            kind, symbol = info & 0xFFFFFFFF, info >> 32
            if kind in _R_GOT:
                slots.setdefault(symbol, 0)
            elif kind == _R_PLT32 and symbols[symbol][2] == _SHN_UNDEF:
                stubs.setdefault(symbol, 0)

    size, writable_at = _lay_out(sections, stubs, slots)
    libc = _libc()
    base = libc.mmap(None, size, mmap.PROT_READ | mmap.PROT_WRITE,
                     mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if base is None or base == ctypes.c_void_p(-1).value:
        raise MemoryError(f"cannot map {size} bytes of code")
    try:
        image = (ctypes.c_char * size).from_address(base)
        view = memoryview(image).cast("B")
        for section in sections:
            if section.place >= 0 and section.kind != _SHT_NOBITS:
                end = section.offset + section.size
                view[section.place:section.place + section.size] = data[section.offset:end]
        addresses = _addresses(sections, symbols, base, resolve)
        _relocate(view, base, sections, symbols, addresses, relocations, stubs, slots)
        if writable_at and libc.mprotect(base, writable_at, mmap.PROT_READ | mmap.PROT_EXEC):
            raise UnsupportedObject("the system refuses executable memory")
    except BaseException:
        libc.munmap(base, size)
        raise
    return {
        name: address
        for (name, binding, index, _), address in zip(symbols, addresses, strict=True)
        if name and binding and index != _SHN_UNDEF
    }


def _parse(data: bytes) -> tuple[list[_Section], list[_Symbol], list[_Relocations]]:
    """Split the object into sections, symbols and the relocations of loaded sections."""
    ident, kind, machine, _, _, _, shoff, _, _, _, _, shentsize, shnum, _ = _EHDR.unpack_from(data)
    if ident[:6] != b"\x7fELF\x02\x01" or kind != _ET_REL or machine != _EM_X86_64:
        raise UnsupportedObject("not a relocatable ELF object for x86-64")
    headers = [_SHDR.unpack_from(data, shoff + i * shentsize) for i in range(shnum)]
    sections = [_Section(header) for header in headers]
    symbols: list[_Symbol] = []
    relocations: list[_Relocations] = []
    for header in headers:
        kind, offset, size, link, info = header[1], header[4], header[5], header[6], header[7]
        if kind == _SHT_SYMTAB:
            names_at = headers[link][4]
            for name, sym_info, _, index, value, _ in _SYM.iter_unpack(data[offset:offset + size]):
                if index >= _SHN_RESERVED and index != _SHN_ABS:
                    raise UnsupportedObject("common symbol")
                start = names_at + name
                text = data[start:data.index(b"\0", start)].decode() if name else ""
                symbols.append((text, sym_info >> 4, index, value))
        elif kind == _SHT_RELA and _is_loaded(sections[info]):
            relocations.append((list(_RELA.iter_unpack(data[offset:offset + size])), info))
        elif kind == _SHT_REL:
            raise UnsupportedObject("relocations without addends")
    return sections, symbols, relocations


def _is_loaded(section: _Section) -> bool:
    # Unwind tables (.eh_frame has its own section type on x86-64) are left out: no kernel throws.
    return bool(section.flags & _SHF_ALLOC) and section.kind in (_SHT_PROGBITS, _SHT_NOBITS)


def _lay_out(
    sections: list[_Section], stubs: dict[int, int], slots: dict[int, int]
) -> tuple[int, int]:
    """Give each loaded section, stub and GOT slot its offset; return (size, start of data)."""
    at = 0
    for writable in (0, _SHF_WRITE):
        for section in sections:
            if _is_loaded(section) and section.flags & _SHF_WRITE == writable and section.size:
                if section.flags & _SHF_TLS:
                    raise UnsupportedObject("thread-local storage")
                if section.align > mmap.PAGESIZE:
                    raise UnsupportedObject(f"alignment {section.align}")
                at = _round(at, max(section.align, 1))
                section.place = at
                at += section.size
        if not writable:
            at = _round(at, _STUB_BYTES)
            for table, step in ((stubs, _STUB_BYTES), (slots, 8)):
                for symbol in table:
                    table[symbol] = at
                    at += step
            at = writable_at = _round(at, mmap.PAGESIZE)
    return _round(max(at, 1), mmap.PAGESIZE), writable_at


def _addresses(
    sections: list[_Section], symbols: list[_Symbol], base: int, resolve: Resolver
) -> list[int]:
    found = []
    for name, _, index, value in symbols:
        if index == _SHN_ABS:
            found.append(value)
        elif index != _SHN_UNDEF:
            place = sections[index].place
            found.append(base + place + value if place >= 0 else 0)
        elif not name:
            found.append(0)
        else:
            address = resolve(name)
            if not address:
                raise UnresolvedSymbol(name)
            found.append(address)
    return found


def _relocate(
    view: memoryview, base: int, sections: list[_Section], symbols: list[_Symbol],
    addresses: list[int], relocations: list[_Relocations], stubs: dict[int, int],
    slots: dict[int, int],
) -> None:
    for symbol, at in stubs.items():
        view[at:at + 8] = _STUB
        _U64.pack_into(view, at + 8, addresses[symbol])
    for symbol, at in slots.items():
        _U64.pack_into(view, at, addresses[symbol])
    for entries, target in relocations:
        section = sections[target]
        for offset, info, addend in entries:
            kind, symbol = info & 0xFFFFFFFF, info >> 32
            at = section.place + offset
            if not 0 <= offset <= section.size - (8 if kind in (_R_64, _R_PC64) else 4):
                raise UnsupportedObject("relocation outside its section")
            if kind == _R_64:
                _U64.pack_into(view, at, (addresses[symbol] + addend) & 0xFFFFFFFFFFFFFFFF)
                continue
            if kind == _R_PC64:
                _U64.pack_into(view, at, (addresses[symbol] + addend - base - at) & (2**64 - 1))
                continue
            if kind == _R_PC32 or (kind == _R_PLT32 and symbol not in stubs):
                distance = addresses[symbol] - base
            elif kind == _R_PLT32:
                distance = stubs[symbol]
            elif kind in _R_GOT:
                distance = slots[symbol]
            else:
                raise UnsupportedObject(f"relocation type {kind}")
            distance += addend - at
            if not -(2**31) <= distance < 2**31:
                raise UnsupportedObject(f"{symbols[symbol][0]} is out of reach")
            _I32.pack_into(view, at, distance)
