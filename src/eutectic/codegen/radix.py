"""The two loops of a radix sort: counting the digits of words, and moving words to their places.

A digit is eight bits of a word. Both loops take a range of words, so that threads share a pass;
a pass keeps the order of words with the same digit, whoever does which part.
"""

from __future__ import annotations

import hashlib
from enum import IntEnum
from functools import lru_cache

from eutectic.codegen.blocks import Function, Module

DIGITS = 256


class Slot(IntEnum):
    """Words of the parameter block."""

    SOURCE = 0
    TABLE = 1  # an i64 for each digit: how many there are; then, where the next one goes
    OUT = 2
    SHIFT = 3  # of the digit in the word
    FLIP = 4  # bits that change in the digit: the sign of signed words


@lru_cache(maxsize=8)
def emit(width: int, kept: int) -> tuple[str, str, str]:
    """LLVM text for words of `width` bits, and the names of the functions that count and move.

    Moving keeps the low `kept` bits of a word.
    """
    m = Module()
    _Pass(m, width).count()
    _Pass(m, width).move(kept)
    text = m.text()
    stem = "radix_" + hashlib.sha256(text.encode()).hexdigest()[:16]
    return text.replace("@RADIX", f"@{stem}"), f"{stem}_count", f"{stem}_move"


class _Pass:
    """One function over the words [lo, hi)."""

    def __init__(self, m: Module, width: int) -> None:
        self.fn = Function(m)
        self.word = f"i{width}"
        self.size = width // 8
        self.fn.start("entry")
        self.source = self.fn.slot(Slot.SOURCE, "ptr")
        self.table = self.fn.slot(Slot.TABLE, "ptr")
        self.shift, self.flip = self.fn.slot(Slot.SHIFT), self.fn.slot(Slot.FLIP)

    def count(self) -> None:
        fn = self.fn
        with fn.loop("%lo", "%hi") as i:
            entry, seen = self._entry(self._load(i))
            fn.line(f"store i64 {fn.add(seen, 1)}, ptr {entry}, align 8")
        self._end("count")

    def move(self, kept: int) -> None:
        fn = self.fn
        out = fn.slot(Slot.OUT, "ptr")
        with fn.loop("%lo", "%hi") as i:
            word = self._load(i)
            entry, place = self._entry(word)
            fn.line(f"store i64 {fn.add(place, 1)}, ptr {entry}, align 8")
            if kept != 8 * self.size:
                word = fn.bind(f"trunc {self.word} {word} to i{kept}")
            to = fn.at(out, fn.mul(place, kept // 8))
            fn.line(f"store i{kept} {word}, ptr {to}, align {kept // 8}")
        self._end("move")

    def _load(self, i: str) -> str:
        at = self.fn.at(self.source, self.fn.mul(i, self.size))
        return self.fn.bind(f"load {self.word}, ptr {at}, align {self.size}")

    def _entry(self, word: str) -> tuple[str, str]:
        """The address of the table's entry for a word, and what it holds."""
        fn = self.fn
        wide = word if self.size == 8 else fn.bind(f"zext {self.word} {word} to i64")
        digit = fn.bind(f"and i64 {fn.bind(f'lshr i64 {wide}, {self.shift}')}, {DIGITS - 1}")
        digit = fn.bind(f"xor i64 {digit}, {self.flip}")
        entry = fn.bind(f"getelementptr i64, ptr {self.table}, i64 {digit}")
        return entry, fn.bind(f"load i64, ptr {entry}, align 8")

    def _end(self, what: str) -> None:
        self.fn.line("ret void")
        self.fn.define(what, f"void @RADIX_{what}(ptr %params, i64 %lo, i64 %hi)")
