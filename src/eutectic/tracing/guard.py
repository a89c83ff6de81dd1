"""What a call must look like for an entry to be right, written as the native guard's program.

The walks that make a call's key (`environment`, `function`) write an instruction for every place
they look at and everything they find there, so that the program holds exactly where the key is
equal. Whatever the native guard cannot check makes the program `partial`: then keys decide.
`runtime.call_record` documents the instructions.
"""

from __future__ import annotations

import gc
import struct
from typing import Any

import numpy as np

from eutectic.array import array
from eutectic.dtype import Dtype, float32, float64
from eutectic.runtime.call_record import Convert, Op
from eutectic.tree import container_kind, has_attributes

MAX_REGISTERS = 1 << 20
_MASK = (1 << 64) - 1
_INT64 = range(-(1 << 63), 1 << 63)


class Guard:
    """A guard program in the making. Registers 0 and 1 hold the call's args and kwargs."""

    def __init__(self) -> None:
        self.words: list[int] = []
        self.keep: list[Any] = []
        """Objects whose addresses stand in the program."""
        self.partial = ""
        """Why the program does not check everything, or nothing."""
        self.count = 2
        self.arrays: list[tuple[int, int]] = []
        """(register, index of its instruction's input word), in the order of the call's arrays."""
        self.registers: dict[int, int] = {}
        """Register by id of captured arrays and containers met so far."""
        self.given: dict[int, int] = {}
        """Register by place, among the arguments' leaves, of numbers that each call gives."""
        self.looked_into: set[int] = set()
        """Arguments that are neither arrays nor constants, by their ids."""
        self.objects: list[int] = []
        """Registers of these, in the order of the arguments."""
        self.leaves = 0
        """Leaves of the arguments met so far."""

    def register(self) -> int:
        self.count += 1
        return self.count - 1

    def emit(self, op: Op, *operands: Any) -> None:
        """Append an instruction; operands other than ints are objects (`Ref` where one may be)."""
        words = [int(op)]
        for x in operands:
            if type(x) is int:
                words.append(x & _MASK)
                continue
            if type(x) is Ref:
                x = x.it
            self.keep.append(x)
            words.append(id(x))
        self.words += words + [0] * (6 - len(words))

    def load(self, x: Any) -> int:
        """A register that holds `x` itself."""
        r = self.register()
        self.emit(Op.LOAD, r, Ref(x))
        return r

    def give_up(self, why: str, r: int = -1) -> None:
        """The program cannot check something: what register r holds, or something else."""
        self.partial = self.partial or why

    # -- what stands in a register ----------------------------------------------------------------

    def is_(self, r: int, x: Any) -> None:
        self.emit(Op.IS, r, Ref(x))

    def constant(self, r: int, x: Any) -> None:
        """r is a constant equal to `x` in type and value."""
        t = type(x)
        if x is None or t is bool or x is ...:
            self.is_(r, x)
        elif t is int and x in _INT64:
            self.emit(Op.TYPE, r, t)
            self.emit(Op.INT, r, x)
        elif t is float:
            self.emit(Op.TYPE, r, t)
            self.emit(Op.FLOAT, r, struct.unpack("<q", struct.pack("<d", x))[0])
        elif t is str:
            self.emit(Op.TYPE, r, t)
            self.emit(Op.STR, r, x)
        else:
            self.is_(r, x)

    def array(self, r: int, a: array) -> None:
        """r is an array of the shape, dtype and strides of `a`."""
        n = a._n
        self.arrays.append((r, len(self.words) + 5))
        self.emit(Op.ARRAY, r, n.shape, n.dtype, Ref(n.data.strides), -1)

    def number(self, r: int, kind: type, dtype: Dtype, index: int) -> bool:
        """The number in r is input `index`, as a pattern of the dtype; False where it cannot be."""
        if dtype is float32 or dtype is float64:
            how = Convert.FLOAT_FLOAT if kind is float else Convert.INT_FLOAT
        elif dtype.is_int and kind is int:
            how = Convert.INT_SIGNED if dtype.is_signed else Convert.INT_UNSIGNED
        else:
            return False
        self.emit(Op.NUMBER, r, int(how), 8 * dtype.size, 0, index)
        return True

    def sequence(self, r: int, x: Any, t: type) -> list[int]:
        """r is a list or tuple of type t and the length of `x`; registers of its items."""
        tuples = isinstance(x, tuple)
        self.emit(Op.TYPE, r, t)
        self.emit(Op.TUPLE if tuples else Op.LIST, r, len(x))
        items = []
        for i in range(len(x)):
            item = self.register()
            self.emit(Op.TUPLE_ITEM if tuples else Op.LIST_ITEM, item, r, i)
            items.append(item)
        return items

    def dict(self, r: int, x: dict[Any, Any], t: type | None) -> list[int]:
        """r is a dict with the keys of `x` in their order; registers of its values."""
        if t is not None:
            self.emit(Op.TYPE, r, t)
        self.emit(Op.DICT, r, len(x))
        values = []
        for k in x:
            value = self.register()
            self.emit(Op.DICT_ITEM, value, r, Ref(k), str if type(k) is str else 0)
            values.append(value)
        return values

    def set(self, r: int, x: Any) -> None:
        """r is a set of the type and the names of `x`."""
        if type(x) not in (set, frozenset) or any(type(v) is not str for v in x):
            self.give_up("a set of other than strings")
            return
        self.emit(Op.TYPE, r, type(x))
        self.emit(Op.SET, r, len(x))
        for v in x:
            self.emit(Op.SET_ITEM, r, v)

    def name(self, r: int, key: str, present: bool) -> int:
        """The register of r[key], where r is a dict; checks that it is absent otherwise."""
        if not present:
            self.emit(Op.NO_NAME, r, key)
            return -1
        value = self.register()
        self.emit(Op.NAME, value, r, key)
        return value

    def namespace(self, kind: type) -> int:
        """The register of the dict in which a class of the user's has its own names."""
        return self.load(gc.get_referents(vars(kind))[0])

    def tree(self, r: int, x: Any, captured: bool) -> None:
        """r is a tree as `eutectic.tree` sees it: its structure, arrays and constants.

        In captured trees an object met again must be met again; arguments are values.
        """
        if captured and type(x) not in _PLAIN:
            again = self.registers.get(id(x))
            if again is not None:
                self.emit(Op.SAME, r, again)
                return
            self.registers[id(x)] = r
        t = type(x)
        if not captured and x is not None and not container_kind(t):
            self.leaves += 1
            if self.leaves - 1 in self.given:
                self.given[self.leaves - 1] = r
                self.emit(Op.TYPE, r, t)
                return
        if t is array:
            if x._n.data is None:
                self.give_up("an array is not computed")
                return
            self.array(r, x)
        elif x is None or t in _PLAIN or t is Dtype:
            self.constant(r, x)
        else:
            kind = container_kind(t)
            if kind == "dict":
                for value, item in zip(self.dict(r, x, t), x.values()):
                    self.tree(value, item, captured)
                if not captured and has_attributes(t) and hasattr(x, "__dict__"):
                    self.attributes(r, x)
            elif kind == "sequence":
                for value, item in zip(self.sequence(r, x, t), x):
                    self.tree(value, item, captured)
            elif kind or isinstance(x, (array, np.ndarray, np.generic)) or hasattr(
                    x, "__mlx_array__"):
                self.give_up(f"a {t.__name__} among the arguments")
            else:
                self.is_(r, x)
                if id(x) in self.looked_into:
                    self.objects.append(r)


    def attributes(self, r: int, x: Any) -> None:
        """r has the attributes of `x`, as `eutectic.tree` compares them."""
        place = self.register()
        self.emit(Op.ATTRIBUTES, place, r)
        for value, item in zip(self.dict(place, vars(x), None), vars(x).values()):
            if type(item) in (set, frozenset):
                self.set(value, item)
            elif type(item) in _PLAIN:
                self.constant(value, item)
            else:
                self.is_(value, item)


_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...))


class Ref:
    """Marks an operand that may be an int as an object."""

    __slots__ = ("it",)

    def __init__(self, it: Any) -> None:
        self.it = it
