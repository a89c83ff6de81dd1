"""Where a trace ends because Python wants a value: the message, or going on plainly.

While a function is traced its arrays are placeholders. Whoever asks one for its value comes to the
`Trace` that owns it. It either raises, naming the operation, the user's line and what to do
instead; or, with `on_break="plain"`, it gives all of its placeholders the values that the call came
with, and the function goes on as the plain function would: nothing runs twice, and what it has
recorded so far is computed like any other operation.
"""

from __future__ import annotations

import contextlib
import linecache
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from eutectic.errors import TraceError, show_shape
from eutectic.graph.ir import Node, user_frame

_WIDTH = 100


class _Active(threading.local):
    depth = 0
    """How many traces this thread is inside of."""
    plain = 0
    """How many functions with `on_break="plain"` run inside of them."""


active = _Active()


@contextlib.contextmanager
def allowed() -> Iterator[None]:
    """Inside, traces of functions that do not allow it go on plainly as well."""
    active.plain += 1
    try:
        yield
    finally:
        active.plain -= 1


@dataclass(frozen=True, slots=True)
class Break:
    """A place where Python wants a value that a trace does not know."""

    operation: str
    """What wants it: 'item', 'tolist', 'bool', 'int', 'float', 'index', 'print', 'numpy', ..."""
    function: str
    """The function being compiled."""
    within: str
    """The function that the line is in."""
    file: str
    line: int
    text: str
    """The line itself; empty where its source is not at hand."""

    @property
    def call(self) -> str:
        """The operation as a program writes it, like `.item()`."""
        return _spelled(self.operation)[0]

    @property
    def remedy(self) -> str:
        """What to write instead."""
        return _spelled(self.operation)[1]

    def __str__(self) -> str:
        return f"{self.call} in {self.within} ({self.file}:{self.line})" + (
            f": {self.text}" if self.text else "")


class Trace:
    """One trace in progress, of a function that is compiled, vectorised, or a loop's."""

    __slots__ = ("_nodes", "_placeholders", "broken", "name", "on_break", "over", "plain",
                 "retains", "what")

    def __init__(self, name: str, what: str = "compile", plain: bool = False,
                 on_break: Callable[[Break], None] | None = None) -> None:
        self.name = name
        self.what = what
        """'compile', 'vmap', or the loop or choice whose function it is: 'scan', say."""
        self.plain = plain
        """Whether the call goes on plainly where a value is needed."""
        self.on_break = on_break
        """Told where a call goes on plainly; None: it may not, nothing is to run."""
        self.retains = False
        """Whether nodes keep their inputs when they are computed (see `engine.evaluate`)."""
        self.broken: Break | None = None
        self.over = False
        self._placeholders: Sequence[Node] = ()
        self._nodes: Sequence[Node] = ()

    def __repr__(self) -> str:
        return f"Trace({self.name})"

    def values(self, placeholders: Sequence[Node], nodes: Sequence[Node]) -> None:
        """The nodes whose values the placeholders get where the call goes on plainly."""
        self._placeholders, self._nodes = placeholders, nodes

    def value_needed(self, operation: str, n: Node) -> None:
        """Somebody wants the value of a node: raise TraceError, or make it known."""
        found = _break_here(operation, self.name)
        if self.over:
            raise TraceError(_left_behind(found, n), found)
        if self.on_break is None or not (self.plain or active.plain):
            raise TraceError(_message(found, n, self), found)
        self.broken = found
        self.retains = True  # a derivative in progress wants what its nodes were made of
        for p, known in zip(self._placeholders, self._nodes):
            p.data, p.trace = known.data, None
        self._placeholders = ()
        if self.on_break is not None:
            self.on_break(found)

    def end(self) -> None:
        """The function has returned, or failed."""
        self.over, self.retains = True, False


def _break_here(operation: str, function: str) -> Break:
    frame = user_frame(sys._getframe(1))
    if frame is None:
        return Break(operation, function, "", "", 0, "")
    file, line = frame.f_code.co_filename, frame.f_lineno
    return Break(operation, function, frame.f_code.co_name, file, line,
                 linecache.getline(file, line, frame.f_globals).strip())


# ---- Texts --------------------------------------------------------------------------------------

_ARGUMENT = "pass the number as a Python argument, whose value is known while tracing"
# Operation -> (as a program writes it, what to do instead). Operations that write files, which are
# named after their functions, follow below.
_OPERATIONS: dict[str, tuple[str, str]] = {
    "item": (".item()", "Keep it an array: where an operation takes a number it takes an array of "
             "shape () too. Or return the array, and call .item() outside."),
    "tolist": (".tolist()", "Compute with the array itself, or return it and call .tolist() "
               "outside."),
    "bool": ("bool()", "Use mx.where or mx.cond in the place of a Python condition, mx.while_loop "
             "in that of `while`, and mx.logical_and, logical_or and logical_not for `and`, `or` "
             "and `not`; or return the array and test it outside."),
    "in": ("`in`", "Use (x == value).any() together with mx.where, or return the array and look "
           "into it outside."),
    "int": ("int()", "Keep it an array (x.astype(mx.int32) truncates like int()), or "
            f"{_ARGUMENT}."),
    "float": ("float()", "Keep it an array (x.astype(mx.float32)), use mx's functions in the place "
              f"of math's, or {_ARGUMENT}."),
    "complex": ("complex()", f"Keep it an array (x.astype(mx.complex64)), or {_ARGUMENT}."),
    "index": ("an index, a length or a range", "Use the array itself as an index into an array "
              f"(x[i], mx.take), or {_ARGUMENT}."),
    "print": ("print() or repr()", "Return the array and print it outside."),
    "format": ("formatting", "Return the array and format it outside."),
    "numpy": ("conversion to NumPy", "Use mx's functions in the place of NumPy's, or return the "
              "array and convert it outside."),
    "buffer": ("the buffer protocol", "Return the array and read its memory outside."),
    "bytes": ("bytes()", "Return the array and read its bytes outside."),
    "dlpack": ("exchange by DLPack", "Return the array and hand it on outside."),
    "pickle": ("pickling", "Return the array and pickle it outside."),
    "eval": ("mx.eval()", "Leave it out: a compiled call computes its results before it returns."),
    "mask index": ("an index by a mask", "Use mx.where with the mask: how many elements it picks "
                   "depends on its values."),
}


def _spelled(operation: str) -> tuple[str, str]:
    return _OPERATIONS.get(operation) or (
        f"mx.{operation}()", "Return the array and write it outside.")


def told_once(found: Break) -> str:
    """What a user is told of a function whose calls go on plainly."""
    head = (f"[compile] {found.function!r} runs uncompiled for calls like this one: {found.call} "
            "needs the value of an array that is a placeholder while it is traced.")
    rest = f"{found.remedy} This is said once; mx.compile_stats counts such calls."
    return f"{wrapped(head)}\n{_place(found)}{wrapped(rest)}"


def _message(found: Break, n: Node, trace: Trace) -> str:
    head = f"[{found.operation}] {found.call} needs the value of an array, {_type(n)}, that "
    remedy = found.remedy
    if trace.what == "vmap":
        head += f"stands for every entry of a batch while mx.vmap calls {found.function!r}."
    else:
        head += f"is a placeholder while mx.{trace.what} traces {found.function!r}."
        if trace.what == "compile" and not trace.plain:
            remedy += (' Or compile with on_break="plain": calls that need a value then run '
                       "uncompiled.")
    return f"{wrapped(head)}\n{_place(found)}{wrapped(remedy)}"


def _left_behind(found: Break, n: Node) -> str:
    head = (f"[{found.operation}] the array, {_type(n)}, is a placeholder that a trace of "
            f"{found.function!r} left behind.")
    return f"{wrapped(head)}\n{_place(found)}{wrapped(LEFT_BEHIND)}"


LEFT_BEHIND = "Return it from that function, or name what the function writes to in its outputs=."


def _place(found: Break) -> str:
    """The user's line as a traceback shows it."""
    if not found.file:
        return ""
    where = f'  File "{found.file}", line {found.line}, in {found.within}\n'
    return where + (f"    {found.text}\n" if found.text else "")


def _type(n: Node) -> str:
    return f"{n.dtype.name} of shape {show_shape(n.shape)}"


def wrapped(text: str) -> str:
    """A message in lines of 100 columns, as far as names and paths allow."""
    return textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
