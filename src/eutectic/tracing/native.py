"""The native compiled call: records of entries, and the function that runs them; a walk of trees.

`run(record.address, args, kwargs)` returns what the compiled function returns, or `MISS` where the
record's guard does not hold. It is chosen when it is first wanted, by looking at where this
interpreter puts the slots of our objects and by a trial; without it the Python path does the same.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from array import array as words_array
from collections.abc import Callable, Sequence
from typing import Any

from eutectic import tree
from eutectic.array import array, wrap
from eutectic.dtype import float32
from eutectic.engine.plan import Plan, Result
from eutectic.graph.ir import INPUT, Node
from eutectic.graph.layout import Data
from eutectic.runtime import buffers, driver, jit
from eutectic.runtime.call_record import Build, Fill, Known, Offsets, Op, Word
from eutectic.runtime.call_text import native_text
from eutectic.runtime.driver import NativePlan
from eutectic.tracing.effects import Effect, Place
from eutectic.tracing.guard import MAX_REGISTERS, Guard
from eutectic.tracing.state import Slot
from eutectic.tree import TreeDef, container_parts, flatten

_TRIALS = 5

MISS = object()
"""What the native call returns where a record does not fit."""

Run = Callable[[int, tuple[Any, ...], "dict[str, Any]"], Any]


class Record:
    """An entry as the native call reads it; holds everything its words point to."""

    __slots__ = ("_keep", "_words", "address", "entry", "finish", "run")

    def __init__(self, words: words_array[int], keep: list[Any], run: Run, entry: Any,
                 finish: Callable[[list[array]], Any] | None) -> None:
        self._words = words
        self._keep = keep
        self.address = words.buffer_info()[0]
        self.run = run
        self.entry = entry
        self.finish = finish
        """Makes the result from the list of output arrays where the native call does not."""

    @property
    def hits(self) -> int:
        """Calls that this record served."""
        return self._words[Word.HITS]


class Recorder:
    """Collects what a record consists of; `record` puts it together."""

    def __init__(self, run: Run, guard: Guard, plan: Plan, used: Sequence[int],
                 captured: Sequence[Node], outputs: Sequence[Node]) -> None:
        self.run = run
        self.guard = guard
        self.plan = plan
        self.used = used
        self.captured = captured
        self.outputs = outputs
        self.fill: list[int] = []
        self.build: list[int] = []
        self.keep: list[Any] = []
        self.depth = 0
        """Entries the result program needs on its stack, at most."""

    # -- captured containers ----------------------------------------------------------------------

    def change(self, position: int, output: int) -> None:
        """The array at a position of the call's arrays stands for an output after the call."""
        self.fill += [int(Fill.NODE), self.guard.arrays[position][0], 0, output]

    def container(self, tree: Any, shape: Any) -> bool:
        """Write a container's changes; False where they are more than replacing its arrays."""
        if isinstance(shape, Slot):
            if shape.output == -1:
                return True
            if shape.output == -2:
                return shape.value is tree
            register = self.guard.registers.get(id(tree))
            if register is None or not shape.in_place or type(tree) is not array:
                return False
            self.fill += [int(Fill.NODE), register, 0, shape.output]
            return True
        if shape[0] == "dict" and isinstance(tree, dict) and list(tree) == list(shape[1]):
            return all(self._item(Fill.DICT, tree, k, tree[k], s) for k, s in shape[1].items())
        if shape[0] == "list" and isinstance(tree, list) and len(tree) == len(shape[1]):
            return all(self._item(Fill.LIST, tree, i, tree[i], s)
                        for i, s in enumerate(shape[1]))
        return shape[0] == "tree" and all(isinstance(s, Slot) and s.output == -1
                                           for s in shape[1])

    def _item(self, op: Fill, tree: Any, key: Any, old: Any, shape: Any) -> bool:
        if isinstance(shape, Slot) and shape.output >= 0 and not (
                shape.in_place and type(old) is array):
            register = self.guard.registers.get(id(tree))
            if register is None:
                return False
            self.keep.append(key)
            self.fill += [int(op), register, id(key) if op is Fill.DICT else key, shape.output]
            return True
        return self.container(old, shape)

    def effect(self, e: Effect, place: Place) -> bool:
        """Write what a call writes to a place that was not declared, as `container` does."""
        holder, content = place.holder, place.content()
        if e.gone or list(content) != list(e.shapes) or not isinstance(holder, (dict, list)):
            return False
        op = Fill.DICT if isinstance(holder, dict) else Fill.LIST
        # A container that the function put there is made anew by each call, not filled.
        return all(
            isinstance(s, Slot) and (s.output == -1 or self._item(op, holder, k, content[k], s))
            for k, s in e.shapes.items())

    # -- results ----------------------------------------------------------------------------------

    def result(self, treedef: TreeDef, leaves: Sequence[Any]) -> bool:
        """Write the result program; False for containers that only Python makes."""
        found = iter(leaves)
        if not self._result(treedef, found, 0):
            self.build = []
            return False
        self.build += [int(Build.END), 0, 0]
        return True

    def _result(self, tree: TreeDef, found: Any, depth: int) -> bool:
        self.depth = max(self.depth, depth + 1)
        parts = container_parts(tree)
        if parts is None:
            leaf = next(found)
            if type(leaf) is int:
                self.build += [int(Build.RESULT), leaf, 0]
            else:
                self._constant(leaf[1])
            return True
        kind, keys, children = parts
        if kind is type(None):
            self._constant(None)
            return True
        ops: dict[type, Build] = {tuple: Build.TUPLE, list: Build.LIST, dict: Build.DICT}
        op = ops.get(kind)
        if op is None:
            return False
        for i, child in enumerate(children):
            if not self._result(child, found, depth + i):
                return False
        table = 0
        if kind is dict:
            self.keep.append(keys)
            table = self.table([id(k) for k in keys])
        self.build += [int(op), len(children), table]
        return True

    def _constant(self, x: Any) -> None:
        self.keep.append(x)
        self.build += [int(Build.CONSTANT), id(x), 0]

    # -- everything together ----------------------------------------------------------------------

    def table(self, words: Sequence[int]) -> int:
        """Address of a table of words that lives as long as the record."""
        made = words_array("q", words or [0])
        self.keep.append(made)
        return made.buffer_info()[0]

    def distinct(self, first: int) -> None:
        """The captured arrays, from position `first` on, must be different objects."""
        registers = [r for r, _ in self.guard.arrays[first:]]
        if len(registers) > 1:
            self.guard.emit(Op.DISTINCT, 0, self.table(registers), len(registers))

    def record(self, entry: Any, finish: Callable[[list[array]], Any] | None) -> Record | None:
        """The record, or None where the native call cannot take it."""
        g, plan = self.guard, self.plan
        native = NativePlan([]) if not plan.segments else plan.native_plan
        if g.partial or native is None:
            return None
        given = plan.n_inputs + plan.scalar_inputs
        for index, position in enumerate(self.used):
            g.words[g.arrays[position][1]] = index
        known = _known()
        fresh = [*plan.fresh, *([plan.arena] if plan.arena else [])]
        sizes = [int(n) for n in fresh]
        captured = [(n.data.ptr, id(n.data)) for n in self.captured]
        outputs: list[int] = []
        for n, r in zip(self.outputs, plan.results, strict=True):
            self.keep += [r, r.offset, n.shape, r.strides]
            outputs += [r.buffer, r.offset, id(r.offset), id(n.shape), id(n.dtype), id(r.strides)]
        self.keep += [plan, sizes, self.captured, known, self.outputs, g.keep, native, entry]
        table_bits = max(2 * len(g.arrays), 1).bit_length()
        w = [0] * len(Word)
        w[Word.DATA] = g.count
        w[Word.BUFFERS] = w[Word.DATA] + given
        w[Word.RESULTS] = w[Word.BUFFERS] + len(fresh)
        w[Word.STACK] = w[Word.OWNED] = w[Word.RESULTS] + len(self.outputs)
        w[Word.POSITIONS] = w[Word.STACK] + self.depth
        w[Word.ADDRESSES] = w[Word.POSITIONS] + g.count
        w[Word.FRAME] = w[Word.ADDRESSES] + given + len(fresh) + 1
        if w[Word.FRAME] > MAX_REGISTERS:
            return None
        w[Word.GUARD] = self.table(_signed([*g.words, *[0] * 6]))
        w[Word.PLAN] = native.address
        w[Word.INPUTS] = given
        w[Word.CAPTURED_AT] = plan.n_inputs - len(captured)
        w[Word.FRESH] = len(fresh)
        w[Word.SIZES] = self.table([id(n) for n in sizes])
        w[Word.OUTPUTS] = len(self.outputs)
        w[Word.OUTPUT_TABLE] = self.table(outputs)
        w[Word.BUILD] = self.table(self.build) if finish is None else 0
        w[Word.CAPTURED] = len(captured)
        w[Word.CAPTURED_TABLE] = self.table([x for pair in captured for x in pair])
        w[Word.FILL] = self.table([*self.fill, 0, 0, 0, 0])
        w[Word.TYPES] = known.buffer_info()[0]
        w[Word.TABLE] = self.table([0] * (1 << table_bits))
        w[Word.TABLE_MASK] = (1 << table_bits) - 1
        return Record(words_array("q", _signed(w)), self.keep, self.run, entry, finish)


def _signed(words: list[int]) -> list[int]:
    return [w - (1 << 64) if w >> 63 > 0 else w for w in words]


@functools.cache
def _known() -> words_array[int]:
    """The table of objects that every record refers to; they live as long as the process."""
    objects = dict.fromkeys(Known)
    objects.update({
        Known.ARRAY: array, Known.NODE: Node, Known.DATA: Data,
        Known.OWN_BUFFER: buffers.OwnBuffer, Known.FOREIGN_BUFFER: buffers.ForeignBuffer,
        Known.NONE: None, Known.INPUT: INPUT, Known.EMPTY: (), Known.MISS: MISS,
        Known.ALLOC: buffers.alloc, Known.LIST: list, Known.SEQUENCE: tree.SEQUENCE,
        Known.DICT: tree.DICT, Known.NO_CONTAINER: tree.NO_CONTAINER,
    })
    return words_array("q", [id(x) for x in objects.values()])


# ---- choosing the native call -------------------------------------------------------------------


def run() -> Run | None:
    """The native call; None where this interpreter does not take it, or it is being prepared."""
    if load.cache_info().currsize:
        return load()
    if driver.preparing() or driver.ready() is None:
        return None
    if not _compiled_before():
        driver.prepare()
        return None
    return load()


def preparing() -> bool:
    """Whether `run` may give the native call later."""
    return not load.cache_info().currsize


def _compiled_before() -> bool:
    try:
        return jit.is_cached(native_text(_offsets()))
    except RuntimeError:
        return True


@functools.cache
def load() -> Run | None:
    """As `run`, but compiling where that is needed."""
    global _walk
    try:
        offsets = _offsets()
        driver.load()
        text = native_text(offsets)
        module = jit.compile_module(text, ["ev_py_call", "ev_py_walk"])
        found = driver.builtin("call", module["ev_py_call"])
        walk = driver.builtin("walk", module["ev_py_walk"])
        # Other threads use some of the objects whose references a trial counts.
        if not any(_trial(found) and _trial_walk(walk) for _ in range(_TRIALS)):
            return None
        _walk = functools.partial(walk, _known().buffer_info()[0], tree.kinds)
        return found
    except Exception:  # whatever it is, the Python path stands in
        return None


driver.also_prepare(load)

_walk: Callable[[Any, list[array]], Any] | None = None


def without_value(trees: Any) -> list[array] | None:
    """The arrays of trees that have no value yet; None where only Python can tell.

    >>> without_value([array(1), {"a": 2}]) is None or len(without_value([array(1)])) == 1
    True
    """
    if _walk is None:
        return None
    pending: list[array] = []
    return None if _walk(trees, pending) is MISS else pending


def _offsets() -> Offsets:
    """Where slots lie, found by looking for known objects in scratch instances."""
    if (sys.implementation.name != "cpython" or not (3, 10) <= sys.version_info[:2] <= (3, 14)
            or sys.abiflags or ctypes.sizeof(ctypes.c_void_p) != 8):
        raise RuntimeError("not a default build of CPython")
    x = array.__new__(array)
    n = Node.__new__(Node)
    d = Data.__new__(Data)
    b = buffers.ForeignBuffer()
    kinds = {_slot_of_type(o, k) for o, k in ((x, array), (n, Node), (d, Data))}
    (kind,) = kinds
    node = ("prim", "inputs", "attrs", "shape", "dtype", "data", "trace", "source")
    own = [name for name in Node.__slots__ if name != "__weakref__"]
    if sorted(node) != sorted(own) or sorted(Data.__slots__) != ["buffer", "offset", "strides"]:
        raise RuntimeError("unknown slots")
    return Offsets(kind, _slot(x, "_n"), tuple([_slot(n, name) for name in node]),
                   tuple([_slot(d, name) for name in ("buffer", "offset", "strides")]),
                   _slot(b, "ptr"))


def _memory(x: Any) -> list[int]:
    size = type(x).__basicsize__ // 8
    return list((ctypes.c_size_t * size).from_address(id(x)))


def _slot_of_type(x: Any, kind: type) -> int:
    return 8 * _only(_memory(x), id(kind))


def _slot(x: Any, name: str) -> int:
    marker = object()
    setattr(x, name, marker)
    at = _only(_memory(x), id(marker))
    delattr(x, name)
    if _memory(x)[at] != 0:
        raise RuntimeError(f"slot {name} is not plain memory")
    return 8 * at


def _only(memory: list[int], word: int) -> int:
    if memory.count(word) != 1:
        raise RuntimeError("an object is not where it should be")
    return memory.index(word)


def _trial_walk(walk: Callable[..., Any]) -> bool:
    """Walk a tree that holds each kind of object; compare what is found and reference counts."""
    node = Node(INPUT, (), (), (2, 1), float32)
    node.data = Data(buffers.alloc(64), 8, (1, 2))
    a, lazy = wrap(node), wrap(Node(INPUT, (), (), (2, 1), float32))
    kinds = {list: tree.SEQUENCE, tuple: tree.SEQUENCE, dict: tree.DICT, int: tree.NO_CONTAINER}
    trees = [a, (lazy, {"k": a, "m": [lazy]}), 7]
    held = (a, lazy, node, trees, trees[1])
    before = [sys.getrefcount(x) for x in held]
    found: list[array] = []
    done = walk(_known().buffer_info()[0], kinds, trees, found)
    good = done is None and [id(x) for x in found] == [id(lazy)] * 2
    found.clear()
    missed = walk(_known().buffer_info()[0], kinds, [trees, "text"], found)
    found.clear()
    return good and missed is MISS and [sys.getrefcount(x) for x in held] == before


def _trial(native: Run) -> bool:
    """Run a record that uses each part of the native call; compare results and reference counts."""
    node = Node(INPUT, (), (), (2, 1), float32)
    node.data = Data(buffers.alloc(64), 8, (1, 2))
    a = wrap(node)
    args: tuple[Any, ...] = ([a, 7], {"k": (None, 2.5, "text")})
    guard = Guard()
    for i, r in enumerate(guard.sequence(0, args, tuple)):
        guard.tree(r, args[i], False)
    guard.dict(1, {}, dict)
    plan = Plan(1, [64], 0, [Result(0, 4, (3, 4)), Result(1, 0, None)], [], [], [])
    recorder = Recorder(native, guard, plan, [0], [], [node, node])
    _, treedef = flatten({"x": [0, 0], "y": (0, None)})
    if not recorder.result(treedef, [0, 1, ("constant", "z")]):
        return False
    record = recorder.record(None, None)
    if record is None:
        return False
    held = (a, node, node.data, node.data.buffer, node.shape, float32, args, INPUT, MISS)
    before = [sys.getrefcount(x) for x in held]
    for _ in range(3):
        out = native(record.address, args, {})
        first, second = out["x"]
        good = (type(first) is array and out["y"] == ("z", None) and list(out) == ["x", "y"]
                and first._n.data.buffer is node.data.buffer and first._n.data.offset == 12
                and first._n.data.strides == (3, 4) and first.shape == (2, 1)
                and first._n.dtype is float32 and first._n.prim is INPUT
                and first._n.inputs == () and first._n.attrs == () and first._n.trace is None
                and first._n.source is None and second._n.data.offset == 0
                and type(second._n.data.buffer) is buffers.OwnBuffer
                and second._n.data.strides is None)
        if not good or native(record.address, ([a, 8], args[1]), {}) is not MISS:
            return False
    del out, first, second
    return [sys.getrefcount(x) for x in held] == before and record.hits == 3
