"""The compiled call as data: what the words of a record and of its three programs mean.

`tracing.native` writes records, the machine code of `runtime.call_text` reads them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Word(IntEnum):
    """Words of a record. The frame of a call is zeroed words: what it owns first, in this order."""

    HITS = 0
    FRAME = 1
    """Words in a frame; registers begin at 0."""
    OWNED = 2
    """Words at the frame's beginning that hold references: registers, data, buffers, results."""
    DATA = 3
    BUFFERS = 4
    RESULTS = 5
    STACK = 6
    POSITIONS = 7
    """Place of each register's dict iteration."""
    ADDRESSES = 8
    GUARD = 9
    PLAN = 10
    INPUTS = 11
    FRESH = 12
    SIZES = 13
    """Table of Python integers: bytes of each fresh buffer."""
    OUTPUTS = 14
    OUTPUT_TABLE = 15
    BUILD = 16
    """Result program, or 0: a list of the results is returned."""
    CAPTURED = 17
    CAPTURED_TABLE = 18
    """Pairs (address, data) of the last inputs."""
    FILL = 19
    TYPES = 20
    TABLE = 21
    """Scratch of DISTINCT: a power of two of words."""
    TABLE_MASK = 22
    CAPTURED_AT = 23
    """The first captured input."""


SHAPE, DTYPE, DATA = 3, 4, 5
"""Positions in `Offsets.node`."""


class Known(IntEnum):
    """Objects every record refers to, in the table at `Word.TYPES`."""

    ARRAY = 0
    NODE = 1
    DATA = 2
    OWN_BUFFER = 3
    FOREIGN_BUFFER = 4
    NONE = 5
    INPUT = 6
    EMPTY = 7
    MISS = 8
    ALLOC = 9
    LIST = 10
    SEQUENCE = 11
    """The kinds of containers, as `tree.container_kind` names them; DICT and NO_CONTAINER too."""
    DICT = 12
    NO_CONTAINER = 13


class Op(IntEnum):
    """Guard instructions: six words (op, a, b, c, d, e); r[i] is a register."""

    END = 0
    TYPE = 1
    """The type of r[a] is b."""
    TUPLE = 2
    """The tuple r[a] has b items; LIST and DICT likewise."""
    LIST = 3
    DICT = 4
    TUPLE_ITEM = 5
    """r[a] = r[b][c]."""
    LIST_ITEM = 6
    DICT_ITEM = 7
    """r[a] = the next value of the dict r[b], whose key is c (compared as a string if d)."""
    ARRAY = 8
    """r[a] is an array of shape b, dtype c, strides d; input e (-1: none) is its address."""
    IS = 9
    """r[a] is the object b."""
    SAME = 10
    """r[a] is r[b]."""
    INT = 11
    """The int r[a] is b."""
    FLOAT = 12
    """The float r[a] has the bits b."""
    STR = 13
    """The str r[a] equals b."""
    LOAD = 14
    """r[a] = the object b."""
    CELL = 15
    """r[a] = content of the cell b."""
    NAME = 16
    """r[a] = r[b][c], where r[b] is a dict with string keys."""
    NO_NAME = 17
    """The dict r[a] has no key b."""
    ATTRIBUTES = 18
    """r[a] = r[b].__dict__."""
    FUNCTION = 19
    """The function r[a] has code b, defaults c and keyword defaults d (0: none)."""
    METHOD = 20
    """r[a], r[b] = function and self of the bound method r[c]."""
    DISTINCT = 21
    """The c registers whose numbers stand at the address b are different objects."""
    MEMBER = 22
    """r[a] = the attribute c of the class r[b]."""
    SET = 23
    """The set r[a] has b items."""
    SET_ITEM = 24
    """The object b is in the set r[a]."""
    NUMBER = 25
    """The int or float r[a], converted as b (`Convert`) to width c, is input e."""


class Convert(IntEnum):
    """How a Python number becomes a bit pattern; what does not fit is a miss."""

    FLOAT_FLOAT = 0
    INT_FLOAT = 1
    INT_SIGNED = 2
    INT_UNSIGNED = 3


class Build(IntEnum):
    """Result instructions: three words (op, a, b), on a stack."""

    END = 0
    RESULT = 1
    CONSTANT = 2
    TUPLE = 3
    LIST = 4
    DICT = 5
    """a items with the keys at address b."""


class Fill(IntEnum):
    """Fill instructions: four words (op, register, key or index, result)."""

    END = 0
    NODE = 1
    """The array in the register stands for the result's node."""
    DICT = 2
    LIST = 3


@dataclass(frozen=True, slots=True)
class Offsets:
    """Where slots lie in objects, in bytes; `tracing.native` finds them by looking."""

    type: int
    array_node: int
    node: tuple[int, ...]
    """prim, inputs, attrs, shape, dtype, data, trace, source."""
    data: tuple[int, ...]
    """buffer, offset, strides."""
    buffer_ptr: int
