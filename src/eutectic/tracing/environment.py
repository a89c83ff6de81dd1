"""What a function reads outside its arguments: closure cells, globals, defaults, and `self`.

Arrays found there become inputs that are read again at each call; numbers, strings and the like
become a part of the call's key, so rebinding one traces anew instead of giving a stale result.
Functions, classes, modules and instances of the user's own are followed; libraries are not, but a
name that comes to mean another library object is seen. The walk also writes what it finds into a
`Guard`, so that the next call need not walk.
"""

from __future__ import annotations

import collections
import contextvars
import functools
import gc
import inspect
import struct
import sys
import threading
import types
import weakref
from array import array as array_of_numbers
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

import numpy as np

from eutectic.array import array
from eutectic.dtype import Dtype
from eutectic.graph.number import Number
from eutectic.runtime.call_record import Op
from eutectic.tracing.drawn import Source, source_of
from eutectic.tracing.effects import Place
from eutectic.tracing.guard import Guard
from eutectic.tracing.libraries import is_library, is_ours, is_standard
from eutectic.tracing.paths import Surroundings

_MAX_OBJECTS = 20_000
_CONSTANTS = frozenset((bool, int, float, complex, str, bytes, type(None), type(...)))
_HOLDERS: dict[type, Callable[[Any], Any]] = {
    bytearray: bytes,
    array_of_numbers: lambda x: (x.typecode, x.tobytes()),
    collections.ChainMap: lambda x: x.maps,
    collections.UserDict: lambda x: x.data,
    collections.UserList: lambda x: x.data,
    contextvars.ContextVar: lambda x: x.get(None),
    threading.local: vars,
    types.SimpleNamespace: vars,
    weakref.ReferenceType: lambda x: x(),
}
"""Python's own objects that hold others or change, and what they hold."""
_NEVER_READ = frozenset(("__repr__", "__init_subclass__", "__del__", "__setstate__",
                         "__getstate__", "__reduce__"))
_CONSTRUCTORS = frozenset(("__init__", "__new__"))
_NATIVE = (types.MemberDescriptorType, types.GetSetDescriptorType, types.WrapperDescriptorType,
           types.MethodDescriptorType, types.ClassMethodDescriptorType)
"""Members of classes that Python makes itself."""


class Environment:
    """The places a function reads; `read` gives their arrays and the key of everything else."""

    def __init__(self, fun: Callable[..., Any]) -> None:
        self.fun = fun
        self.asks_types = False
        """Whether the code asks for `type(x)`, which nothing can stand in for."""

    def places(self, objects: Sequence[Any] = (), sources: list[Source] | None = None) -> list[
            Place]:
        """Where the function may write arrays: what it reads that can be changed.

        `sources` gets the iterators and random generators that it reaches.
        """
        walk = _Walk(_NO_GUARD)
        walk.sources = sources
        walk.all(self.fun, 0, objects, repeat(0))
        return walk.places

    def read(self, guard: Guard | None = None, objects: Sequence[Any] = ()) -> tuple[
            list[array], tuple[Any, ...]]:
        """Arrays reachable now, in a fixed order, and a hashable key of the rest.

        `objects` are arguments that the function may look into. With a guard, the checks that make
        a later read give the same are written to it.
        """
        walk = _Walk(guard or _NO_GUARD)
        walk.all(self.fun, walk.guard.load(self.fun), objects, walk.guard.objects)
        self.asks_types = walk.asks_types
        return walk.arrays, tuple(walk.key)

    def names(self, objects: Sequence[Any] = ()) -> Surroundings:
        """Names of what `read` finds."""
        found: Any = Surroundings()
        walk = _Walk(found)
        walk.sources = found.sources
        found.key = walk.key
        walk.all(self.fun, found.load(self.fun), objects, map(found.load, objects))
        return found


class _NoGuard:
    """Stands for a guard where only the key is wanted."""

    def __init__(self) -> None:
        self.registers: dict[int, int] = {}
        self.objects = repeat(0)
        self.partial = ""

    def register(self) -> int:
        return 0

    def load(self, x: Any) -> int:
        return 0

    def name(self, r: int, key: str, present: bool) -> int:
        return 0

    def namespace(self, kind: type) -> int:
        return 0

    def nothing(self, *operands: Any) -> None:
        pass

    emit = is_ = constant = array = set = give_up = nothing

    def items(self, *operands: Any) -> Iterable[int]:
        return repeat(0)

    sequence = dict = items


_NO_GUARD: Any = _NoGuard()


class _Walk:
    """One walk. `r` is the guard's register that holds the object at hand."""

    def __init__(self, guard: Guard) -> None:
        self.guard = guard
        self.arrays: list[array] = []
        self.key: list[Any] = []
        self.seen: dict[int, int] = {}
        self.count = 0
        self.alive: list[Any] = []
        """Objects whose ids are in `seen` and that nothing else may hold."""
        self.names: tuple[str, ...] = ()
        """Names in the function at hand: attributes of modules that it may read."""
        self.known: dict[str, types.CodeType] = {}
        """Names in all functions met, attributes of classes that they may read, and who does."""
        self.classes: dict[int, type] = {}
        """Classes of the user's own, of which members may be read."""
        self.constructed: set[int] = set()
        """Those that the functions may make instances of."""
        self.members_seen: set[tuple[int, str]] = set()
        self.places: list[Place] = []
        self.asks_types = False
        self.code: types.CodeType | None = None
        """Of the function at hand."""
        self.sources: list[Source] | None = None
        """Iterators and random generators met, where they are asked for."""

    def all(self, fun: Any, r: int, objects: Sequence[Any], registers: Iterable[int]) -> None:
        """The function, and arguments that are neither arrays nor constants."""
        self.callable(fun, r)
        self.arguments(fun, objects, registers)
        self.members()

    def callable(self, f: Any, r: int) -> None:
        g = self.guard
        while True:
            if isinstance(f, types.MethodType):
                fr, self_r = g.register(), g.register()
                g.emit(Op.METHOD, fr, self_r, r)
                outer = self.names, self.code
                self.code = getattr(f.__func__, "__code__", None)
                self.names = _global_names(self.code)
                self.value(f.__self__, self_r)
                self.names, self.code = outer
                f, r = f.__func__, fr
            elif isinstance(f, functools.partial):
                g.is_(r, f)
                self.alive.append(f.args)
                self.value(f.args, g.load(f.args))
                self.value(f.keywords, g.load(f.keywords))
                f = f.func
                r = g.load(f)
            else:
                break
        if isinstance(f, types.FunctionType):
            self.function(f, r)
        elif isinstance(f, (types.BuiltinFunctionType, type)):
            self.value(f, r)
        elif id(f) not in self.seen:
            self.note(f, r)
            self.contents(f, type(f), r)

    def arguments(self, fun: Any, objects: Sequence[Any], registers: Iterable[int]) -> None:
        """Look into arguments that are neither arrays nor constants, as into captured objects."""
        self.code = getattr(inspect.unwrap(getattr(fun, "__func__", fun)), "__code__", None)
        self.names = _global_names(self.code)
        for x, r in zip(objects, registers):
            self.value(x, r)

    def note(self, x: Any, r: int) -> None:
        """Remember an object that is being walked."""
        self.seen[id(x)] = self.count
        self.guard.registers[id(x)] = r
        self.count += 1

    def function(self, f: types.FunctionType, r: int) -> None:
        g = self.guard
        g.is_(r, f)
        if id(f) in self.seen:
            self.key.append(("again", self.seen[id(f)]))
            return
        self.note(f, r)
        library = is_library(f.__module__)
        if library and (not f.__closure__ or hasattr(f, "prim") or not (
                is_ours(f.__module__) or is_standard(f.__module__))):
            self.key.append(Same(f))
            return
        self.key.append(Same(f.__code__))
        outer = self.names, self.code
        self.names, self.code = _global_names(f.__code__), f.__code__
        for name in (*self.names, *_texts(f.__code__)):
            self.known.setdefault(name, f.__code__)
        for free, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            self.places.append(Place(cell, ()))
            try:
                content = cell.cell_contents
            except ValueError:  # an empty cell: the name is not bound yet
                self.key.append("unbound")
                g.give_up("a name of a closure that is not bound yet")
                continue
            cr = g.register()
            g.emit(Op.CELL, cr, cell)
            if free == "__class__":  # for `super()`: not to make instances
                self.key.append(Same(content))
                g.is_(cr, content)
                self.of_class(content)
            else:
                self.value(content, cr)
        if not library:  # a library's function is followed to the functions it was made of
            self.rest_of_function(f, r)
        self.names, self.code = outer

    def rest_of_function(self, f: types.FunctionType, r: int) -> None:
        g = self.guard
        g.emit(Op.FUNCTION, r, f.__code__, 0 if f.__defaults__ is None else f.__defaults__,
               0 if f.__kwdefaults__ is None else f.__kwdefaults__)
        attributes = g.register()
        g.emit(Op.ATTRIBUTES, attributes, r)
        own = f.__dict__
        self.places.append(Place(own))
        self.key.append(len(own))
        for (k, v), vr in zip(list(own.items()), g.dict(attributes, own, None)):
            self.key.append(k)
            (self.callable if k == "__wrapped__" else self.value)(v, vr)
        if f.__defaults__:
            for d, dr in zip(f.__defaults__, g.sequence(
                    g.load(f.__defaults__), f.__defaults__, tuple)):
                self.value(d, dr)
        if f.__kwdefaults__:
            for d, dr in zip(f.__kwdefaults__.values(), g.dict(
                    g.load(f.__kwdefaults__), f.__kwdefaults__, None)):
                self.value(d, dr)
        names = f.__globals__
        self.asks_types = self.asks_types or "type" in self.names
        globals_r = -1
        read = self.names
        if "globals" in read:
            read = tuple(dict.fromkeys((*read, *_texts(f.__code__))))
        self.places.append(Place(names, read))
        for name in read:
            if globals_r < 0:
                globals_r = g.load(names)
            if name in names:
                self.value(names[name], g.name(globals_r, name, True))
            else:
                g.name(globals_r, name, False)
                if name in sys.modules and not is_library(name):  # imported inside the function
                    self.value(sys.modules[name], g.name(g.load(sys.modules), name, True))
                elif name in ("random", "numpy"):
                    self.source(sys.modules.get(name), g.register())

    def value(self, x: Any, r: int) -> None:
        t = type(x)
        g = self.guard
        if t is array:
            at = self.seen.get(id(x))
            if at is None:
                self.note(x, r)
                self.seen[id(x)] = len(self.arrays)
                self.arrays.append(x)
                g.array(r, x)
            else:
                self.key.append(("again", at))
                g.emit(Op.SAME, r, g.registers.get(id(x), 0))
        elif t in _CONSTANTS:
            self.key.append((t, _float_key(x)))
            g.constant(r, x)
        elif t is types.FunctionType:
            self.function(x, r)
        elif t is types.MethodType or t is functools.partial:
            self.callable(x, r)
        elif isinstance(x, (types.ModuleType, types.BuiltinFunctionType, type, Dtype, Number)):
            self.key.append(Same(x))
            g.is_(r, x)
            self.source(x, r)
            if isinstance(x, types.ModuleType):
                self.module(x)
            elif isinstance(x, type):
                self.of_class(x)
                self.constructed.add(id(x))
        elif id(x) in self.seen:
            self.key.append(("again", self.seen[id(x)]))
            g.emit(Op.SAME, r, g.registers.get(id(x), 0))
        elif self.count < _MAX_OBJECTS:
            self.note(x, r)
            self.contents(x, t, r)
        else:
            g.give_up(f"more than {_MAX_OBJECTS} objects")

    def contents(self, x: Any, t: type, r: int) -> None:
        g = self.guard
        if isinstance(x, dict):
            self.key.append((t, len(x)))
            self.places.append(Place(x))
            for (k, v), vr in zip(list(x.items()), g.dict(r, x, t)):
                self.key.append(k if isinstance(k, (str, int)) else Same(k))
                self.value(v, vr)
            if t is not dict:
                self.attributes(x, r)
        elif isinstance(x, (list, tuple)):
            self.key.append((t, len(x)))
            if isinstance(x, list):
                self.places.append(Place(x))
            for v, vr in zip(list(x), g.sequence(r, x, t)):
                self.value(v, vr)
        elif isinstance(x, np.ndarray):
            self.key.append((x.dtype.str, x.shape, x.tobytes()))
            g.give_up("a NumPy array, whose content may change", r)
        elif isinstance(x, np.generic):
            self.key.append((t, x.item() if x.dtype.kind != "V" else Same(x)))
            g.is_(r, x)
        elif isinstance(x, (set, frozenset)):
            self.key.append((t, frozenset([(type(v), v) for v in x])))
            g.set(r, x)
        elif isinstance(x, collections.deque):
            self.key.append((t, len(x), x.maxlen))
            self.places.append(Place(x))
            g.give_up("a deque", r)
            for v in list(x):
                self.value(v, g.register())
        elif t is types.MappingProxyType:
            self.key.append(Same(x))
            g.is_(r, x)
            held = gc.get_referents(x)[0]
            self.value(held, g.load(held))
        elif t in _HOLDERS:
            self.key.append(t)
            g.give_up(f"a {t.__name__}", r)
            held = _HOLDERS[t](x)
            self.alive.append(held)
            self.value(held, g.register())
        elif callable(x) and hasattr(x, "__wrapped__") and is_library(t.__module__):
            self.key.append(Same(x))
            g.is_(r, x)
            wrapped = x.__wrapped__
            self.alive.append(wrapped)
            self.callable(wrapped, g.load(wrapped))
        else:
            self.instance(x, r)

    def source(self, x: Any, r: int, library: bool = True) -> None:
        """Note what gives another value each time it is asked, where that is wanted."""
        if self.sources is not None:
            found = source_of(x, self.names, library)
            if found is not None:
                self.sources.append(Source(found, r, self.code))

    def instance(self, x: Any, r: int) -> None:
        if isinstance(x, (int, float, complex, str, bytes)):  # of a class made of it
            self.key.append(_value(x))
            self.guard.is_(r, x)
        module = type(x).__module__
        library = is_library(module) and not is_ours(module)
        self.source(x, r, library)
        if library and module != "functools":  # whose descriptors hold functions
            self.key.append(Same(x))
            self.guard.is_(r, x)
        else:
            self.attributes(x, r)

    def attributes(self, x: Any, r: int) -> None:
        found = getattr(x, "__dict__", None)
        g = self.guard
        if isinstance(found, dict):
            self.key.append((type(x), len(found)))
            self.places.append(Place(found))
            g.emit(Op.TYPE, r, type(x))
            place = g.registers[id(found)] = g.register()
            g.emit(Op.ATTRIBUTES, place, r)
            for (k, v), vr in zip(list(found.items()), g.dict(place, found, None)):
                self.key.append(k)
                self.value(v, vr)
        elif not isinstance(x, dict):
            self.key.append(Same(x))
            g.is_(r, x)
        self.slots(x)
        self.of_class(type(x))

    def slots(self, x: Any) -> None:
        """Attributes that lie in slots rather than in a dict."""
        for kind in type(x).__mro__:
            if is_library(kind.__module__):
                continue
            names = kind.__dict__.get("__slots__", ())
            for name in (names,) if isinstance(names, str) else names:
                if name not in ("__dict__", "__weakref__"):
                    self.guard.give_up("an instance with slots")
                    self.key.append(name)
                    self.value(getattr(x, name, None), 0)

    # -- names: members of modules and classes that the functions may read ------------------------

    def module(self, x: types.ModuleType) -> None:
        if is_library(x.__name__):
            return
        place = -1
        for name in self.names:
            if name in x.__dict__ and (id(x), name) not in self.members_seen:
                self.members_seen.add((id(x), name))
                if place < 0:
                    place = self.guard.load(x.__dict__)
                self.key.append(name)
                self.value(x.__dict__[name], self.guard.name(place, name, True))

    def of_class(self, kind: type) -> None:
        """Look for members of a class, and of its own class."""
        while not is_library(kind.__module__) and id(kind) not in self.classes:
            self.classes[id(kind)] = kind
            kind = type(kind)

    def members(self) -> None:
        """What names in the functions met mean in the classes met, wherever these are read.

        A member may bring more names and classes.
        """
        places: dict[int, list[int]] = {}
        done = -1
        while done != (done := len(self.known) + len(self.classes) + len(self.constructed)):
            for kind in list(self.classes.values()):
                if id(kind) not in places:
                    places[id(kind)] = self.bases(kind)
                self.members_of(kind, places[id(kind)])

    def bases(self, kind: type) -> list[int]:
        """Registers of the names of each base; -1 for a library's."""
        g = self.guard
        own = [not is_library(base.__module__) for base in kind.__mro__]
        if sum(own) > 1:
            r = g.register()
            g.emit(Op.MEMBER, r, g.load(kind), "__mro__")
            g.is_(r, kind.__mro__)
            self.key.append(Same(kind.__mro__))
        places = []
        for base, mine in zip(kind.__mro__, own):
            places.append(g.namespace(base) if mine else -1)
            if mine:  # a name that is new hides another
                g.emit(Op.DICT, places[-1], len(base.__dict__))
                self.key.append(len(base.__dict__))
        return places

    def members_of(self, kind: type, places: list[int]) -> None:
        g = self.guard
        outer = self.names, self.code
        for i, base in enumerate(kind.__mro__):
            if places[i] < 0:
                continue
            for name, found in list(base.__dict__.items()):
                if (id(base), name) in self.members_seen or isinstance(found, _NATIVE) or not (
                        name in self.known or self.implicit(kind, name, found)):
                    continue
                if "super" not in self.known and any(
                        name in above.__dict__ for above in kind.__mro__[:i]):
                    continue
                self.members_seen.add((id(base), name))
                self.key.append(name)
                self.code = self.known.get(name)
                self.names = _global_names(self.code)
                self.member(found, g.name(places[i], name, True))
        self.names, self.code = outer

    def member(self, found: Any, r: int) -> None:
        g = self.guard
        if isinstance(found, property):
            functions = [f for f in (found.fget, found.fset) if f is not None]
        elif isinstance(found, (classmethod, staticmethod)):
            functions = [found.__func__]
        else:
            self.value(found, r)
            return
        self.key.append(Same(found))
        g.is_(r, found)
        for f in functions:
            self.value(f, g.load(f))

    def implicit(self, kind: type, name: str, found: Any) -> bool:
        """Whether Python may call a method without its name: `__call__`, `__getattr__`."""
        return (name[:2] == "__" and isinstance(found, (
            types.FunctionType, staticmethod, classmethod)) and name not in _NEVER_READ
            and (name not in _CONSTRUCTORS or id(kind) in self.constructed))


class Same:
    """A key part that is equal only for the same living object."""

    __slots__ = ("it",)

    def __init__(self, it: Any) -> None:
        self.it = it

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.it is self.it

    def __hash__(self) -> int:
        return id(self.it)


def _float_key(x: Any) -> Any:
    """Tell -0.0 from 0.0 and a nan by its bits, and let it equal itself."""
    if type(x) is float:
        return x.hex() if x == x else struct.pack("<d", x)
    if isinstance(x, np.generic):
        return (x.dtype.str, x.tobytes())
    if isinstance(x, float):
        return (float.hex(x), x) if x == x else struct.pack("<d", x)
    if type(x) is complex:
        return (_float_key(x.real), _float_key(x.imag))
    return x


def _value(x: Any) -> Any:
    """The number or text in an instance of a subclass, whatever its methods say."""
    if isinstance(x, float):
        return struct.pack("<d", x)
    if isinstance(x, complex):
        return struct.pack("<dd", x.real, x.imag)
    kind = next(t for t in (int, str, bytes) if isinstance(x, t))
    return kind.__repr__(x)


def constant_key(x: Any) -> Any:
    """Key of a constant: its type and value, with True, 1 and 1.0 distinct."""
    return (type(x), _float_key(x))


@functools.lru_cache(4096)
def _global_names(code: types.CodeType | None) -> tuple[str, ...]:
    """Names that the code, and functions defined inside it, may read from the globals."""
    if code is None:
        return ()
    names = dict.fromkeys(code.co_names)
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            names.update(dict.fromkeys(_global_names(c)))
    return tuple(names)


@functools.lru_cache(4096)
def _texts(code: types.CodeType) -> tuple[str, ...]:
    """Names that stand in the code as text: `getattr(x, "name")`."""
    found: dict[str, None] = {}
    for c in code.co_consts:
        if isinstance(c, types.CodeType):
            found.update(dict.fromkeys(_texts(c)))
        elif isinstance(c, str) and c.isidentifier():
            found[c] = None
    return tuple(found)
