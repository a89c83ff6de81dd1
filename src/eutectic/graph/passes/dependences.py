"""Which groups need which others' results, kept up while groups grow and merge."""

from __future__ import annotations

from eutectic.graph.passes.groups import Group


class Dependences:
    """Readers of each group, direct and through others, as sets of bits.

    Searching the groups for each question instead makes fusion quadratic: half of the first call
    of a step of 5,000 operations (decision 0013).
    """

    def __init__(self) -> None:
        self._bits: dict[Group, int] = {}
        """Bits that stand for a group: its own and those of groups merged into it."""
        self._readers: dict[Group, int] = {}
        self._count = 0

    def add(self, reader: Group, read: Group) -> None:
        """Note that `reader` needs what `read` computes."""
        if reader is not read:
            self._add_readers(read, self._enter(reader) | self._readers[reader])

    def depends(self, g: Group, on: Group) -> bool:
        """Whether `g` reads, directly or through other groups, what `on` computes."""
        return bool(self._readers.get(on, 0) & self._bits.get(g, 0))

    def apart(self, a: Group, b: Group) -> bool:
        """Whether neither depends on the other."""
        return not self.depends(a, b) and not self.depends(b, a)

    def merge(self, a: Group, b: Group) -> None:
        """Let `a` stand for `b`, too; they are apart."""
        bits, readers = self._enter(a) | self._enter(b), self._readers[a] | self._readers[b]
        del self._bits[b], self._readers[b]
        for g, found in self._readers.items():
            if found & bits:
                self._readers[g] = found | bits | readers
        self._bits[a], self._readers[a] = bits, readers

    def _enter(self, g: Group) -> int:
        if g not in self._bits:
            self._bits[g] = 1 << self._count
            self._readers[g] = 0
            self._count += 1
        return self._bits[g]

    def _add_readers(self, g: Group, new: int) -> None:
        mine = self._enter(g)
        if new & ~self._readers[g]:
            self._readers[g] |= new
            for h, found in self._readers.items():
                if found & mine:
                    self._readers[h] = found | new
