"""A small writer of LLVM functions: values in order, structured loops and branches.

Loop-carried values are phis, because the text is compiled without a pass pipeline.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager


class Loop:
    """The values of one `Fn.loop`: the counter, the carried values and what follows them."""

    def __init__(self, i: str, values: list[str]) -> None:
        self.i = i
        self.values = values
        self.following: list[str] = []

    def carry(self, *values: str) -> None:
        """Set the carried values of the next iteration."""
        self.following = list(values)


class Fn:
    """One LLVM function being written; every value is named %tN in order."""

    def __init__(self, name: str, args: Sequence[str], *, internal: bool = True) -> None:
        self.name = name
        self.lines: list[str] = []
        self.intrinsics: set[str] = set()
        self.block = "entry"
        linkage = "internal " if internal else ""
        self._head = f"define {linkage}void @{name}({', '.join(args)}) #0 {{\nentry:"
        self._values = 0
        self._labels = 0

    def text(self) -> str:
        return "\n".join([self._head, *self.lines, "  ret void", "}"])

    # -- single instructions ---------------------------------------------------------------------
    def put(self, line: str) -> None:
        self.lines.append("  " + line)

    def v(self, expression: str) -> str:
        """Bind an instruction's value to a fresh name."""
        self._values += 1
        name = f"%t{self._values}"
        self.lines.append(f"  {name} = {expression}")
        return name

    def add(self, a: str | int, b: str | int) -> str:
        return self.v(f"add i64 {a}, {b}")

    def sub(self, a: str | int, b: str | int) -> str:
        return self.v(f"sub i64 {a}, {b}")

    def mul(self, a: str | int, b: str | int) -> str:
        return self.v(f"mul i64 {a}, {b}")

    def div(self, a: str | int, b: str | int) -> str:
        return self.v(f"udiv i64 {a}, {b}")

    def ceil_div(self, a: str, b: str | int) -> str:
        return self.div(self.add(a, self.sub(b, 1)), b)

    def cmp(self, how: str, a: str | int, b: str | int) -> str:
        return self.v(f"icmp {how} i64 {a}, {b}")

    def both(self, a: str, b: str) -> str:
        return self.v(f"and i1 {a}, {b}")

    def either(self, a: str, b: str) -> str:
        return self.v(f"or i1 {a}, {b}")

    def select(self, condition: str, a: str | int, b: str | int, ty: str = "i64") -> str:
        return self.v(f"select i1 {condition}, {ty} {a}, {ty} {b}")

    def min(self, a: str | int, b: str | int) -> str:
        return self.call("i64", "llvm.smin.i64", f"i64 {a}", f"i64 {b}")

    def max(self, a: str | int, b: str | int) -> str:
        return self.call("i64", "llvm.smax.i64", f"i64 {a}", f"i64 {b}")

    def at(self, base: str, index: str | int, element: str = "i64") -> str:
        """The address of base[index]."""
        return self.v(f"getelementptr {element}, ptr {base}, i64 {index}")

    def load(self, ty: str, pointer: str, align: int) -> str:
        return self.v(f"load {ty}, ptr {pointer}, align {align}")

    def store(self, ty: str, value: str | int, pointer: str, align: int) -> None:
        self.put(f"store {ty} {value}, ptr {pointer}, align {align}")

    def call(self, ty: str, function: str, *args: str) -> str:
        """Call a function; an intrinsic (llvm.*) is declared along with the module."""
        if function.startswith("llvm."):
            types = ", ".join(a.rsplit(" ", 1)[0] if not a.endswith(")") else a.split(" ")[0]
                              for a in args)
            self.intrinsics.add(f"declare {ty} @{function}({types})")
        text = f"call {ty} @{function}({', '.join(args)})"
        if ty == "void":
            self.put(text)
            return ""
        return self.v(text)

    def splat(self, scalar_type: str, vector_type: str, lanes: int, value: str) -> str:
        one = self.v(f"insertelement {vector_type} poison, {scalar_type} {value}, i32 0")
        return self.v(f"shufflevector {vector_type} {one}, {vector_type} poison, "
                      f"<{lanes} x i32> zeroinitializer")

    # -- structure -------------------------------------------------------------------------------
    def label(self, stem: str) -> str:
        self._labels += 1
        return f"{stem}{self._labels}"

    def start(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    @contextmanager
    def loop(self, start: str | int, stop: str | int, step: str | int = 1,
             carried: Sequence[tuple[str, str]] = ()) -> Iterator[Loop]:
        """`for i in range(start, stop, step)`; `carried` are (type, initial value) pairs.

        After the block, `Loop.values` hold the values at the exit.
        """
        head, body, done = self.label("head"), self.label("body"), self.label("done")
        before = self.block
        self.put(f"br label %{head}")
        self.start(head)
        where = len(self.lines)
        self._values += 1
        counter = f"%t{self._values}"
        values = []
        for _ in carried:
            self._values += 1
            values.append(f"%t{self._values}")
        more = self.cmp("slt", counter, stop)
        self.put(f"br i1 {more}, label %{body}, label %{done}")
        self.start(body)
        loop = Loop(counter, values)
        yield loop
        after = self.add(counter, step)
        latch = self.block
        self.put(f"br label %{head}")
        phis = [f"  {counter} = phi i64 [{start}, %{before}], [{after}, %{latch}]"]
        phis += [f"  {name} = phi {ty} [{init}, %{before}], [{following}, %{latch}]"
                 for name, (ty, init), following in zip(values, carried, loop.following)]
        self.lines[where:where] = phis
        self.start(done)

    @contextmanager
    def when(self, condition: str) -> Iterator[None]:
        """`if condition:`"""
        then, done = self.label("then"), self.label("done")
        self.put(f"br i1 {condition}, label %{then}, label %{done}")
        self.start(then)
        yield
        self.put(f"br label %{done}")
        self.start(done)

    @contextmanager
    def otherwise(self, condition: str) -> Iterator[None]:
        """`if not condition:`"""
        with self.when(self.v(f"xor i1 {condition}, true")):
            yield

    def merge(self, ty: str, *pairs: tuple[str, str]) -> str:
        """A phi of (value, block label) pairs."""
        return self.v(f"phi {ty} " + ", ".join(f"[{v}, %{b}]" for v, b in pairs))

    def leave_if(self, condition: str) -> None:
        """`if condition: return`"""
        out, on = self.label("out"), self.label("on")
        self.put(f"br i1 {condition}, label %{out}, label %{on}")
        self.lines.append(f"{out}:")
        self.put("ret void")
        self.start(on)


def get(f: Fn, slot: int, ty: str = "i64") -> str:
    """Load a parameter from the slots at %p."""
    return f.load(ty, f.at("%p", int(slot)), 8)


def entry_offset(f: Fn, table: str, batch: str) -> str:
    """The element offset of a batch entry; 0 without a table of offsets."""
    outside = f.block
    with f.when(f.v(f"icmp ne ptr {table}, null")):
        loaded = f.load("i64", f.at(table, batch), 8)
        inside = f.block
    return f.merge("i64", (loaded, inside), ("0", outside))


def module(functions: Sequence[Fn], attributes: str, extra: Sequence[str] = ()) -> str:
    """The text of a module: declarations, functions, attributes.

    `optnone`: loops and addresses are written as they should run. LLVM's passes would halve the
    speed of compilation and chain the microkernel's addresses to each other.
    """
    declarations = sorted({d for f in functions for d in f.intrinsics})
    return "\n".join([*extra, *declarations, *(f.text() for f in functions),
                      f"attributes #0 = {{ {attributes} optnone noinline }}", ""])
