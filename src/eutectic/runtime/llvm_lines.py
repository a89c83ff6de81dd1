"""Writing functions of LLVM text line by line, with numbered temporaries and checked exits."""

from __future__ import annotations


class Lines:
    """Lines of LLVM text with numbered temporaries."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def do(self, text: str) -> str:
        self._count += 1
        self.lines.append(f"  %t{self._count} = {text}")
        return f"%t{self._count}"

    def put(self, text: str) -> None:
        self.lines.append(f"  {text}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def load(self, pointer: str, at: int = 0, type: str = "ptr") -> str:
        return self.do(f"load {type}, ptr {self.byte(pointer, at)}")

    def store(self, value: str, pointer: str, at: int = 0, type: str = "ptr") -> None:
        self.put(f"store {type} {value}, ptr {self.byte(pointer, at)}")

    def byte(self, pointer: str, at: int) -> str:
        return self.do(f"getelementptr i8, ptr {pointer}, i64 {at}") if at else pointer

    def word(self, pointer: str, index: str) -> str:
        """Address of the 64-bit word `index`."""
        return self.do(f"getelementptr i64, ptr {pointer}, i64 {index}")

    def read(self, pointer: str, index: str, type: str = "ptr") -> str:
        return self.load(self.word(pointer, index), type=type)

    def call(self, type: str, name: str, *arguments: str) -> str:
        return self.do(f"call {type} @{name}({', '.join(arguments)})")

    def jump(self, condition: str, then: str, other: str) -> None:
        self.put(f"br i1 {condition}, label %{then}, label %{other}")

    def go(self, label: str) -> None:
        self.put(f"br label %{label}")

    def require(self, condition: str, other: str = "miss") -> str:
        """Go on, in the block whose name is returned, only where `condition` holds."""
        self._count += 1
        name = f"l{self._count}"
        self.jump(condition, name, other)
        self.label(name)
        return name

    def equal(self, a: str, b: str, type: str = "ptr") -> str:
        return self.do(f"icmp eq {type} {a}, {b}")

    def loop(self, name: str, count: str) -> str:
        """Begin a loop over [0, count) with the variable `%NAME_i`; returns the index."""
        self.put(f"store i64 0, ptr %{name}_i")
        self.go(f"{name}_next")
        self.label(f"{name}_next")
        index = self.load(f"%{name}_i", type="i64")
        self.jump(self.do(f"icmp slt i64 {index}, {count}"), f"{name}_body", f"{name}_end")
        self.label(f"{name}_body")
        return index

    def end_loop(self, name: str) -> None:
        """End the body of the loop; what follows runs after the last turn."""
        one = self.do(f"add i64 {self.load(f'%{name}_i', type='i64')}, 1")
        self.store(one, f"%{name}_i", type="i64")
        self.go(f"{name}_next")
        self.label(f"{name}_end")
