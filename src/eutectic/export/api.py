"""`export_function`, `exporter` and `import_function`.

The rules of all operations are made when a function is first exported or imported, not when the
package is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from eutectic.array import array
from eutectic.errors import ArgumentError, ArgumentTypeError, ExportError
from eutectic.export.faults import Fault
from eutectic.files.source import open_source
from eutectic.files.target import writing
from eutectic.graph.show import type_text

if TYPE_CHECKING:
    from eutectic.export.trace import Trace

_EXPORT, _CALL = "export_function", "import_function::call"


def export_function(file_or_callback: Any, fun: Callable[..., Any], *args: Any,
                    shapeless: bool = False, metadata: str | None = None, **kwargs: Any) -> None:
    """Trace a function of arrays and write the trace to a file, for `import_function`.

    `args` and `kwargs` are example arrays, or one tuple of arrays and/or one dict from names to
    arrays; `fun` returns an array, or a tuple or list of arrays. Arrays that it reads elsewhere
    become constants of the file. With `shapeless` its axes may have other lengths in a call, as
    far as the trace permits: `fun` is called with several lengths, and an axis on which something
    depends in another way than by a polynomial keeps the example's. Axes of the same length in the
    example that must agree vary together, so let others differ.

    The file holds data only: operations by name and the bytes of constants, no code. Derivatives
    that `custom_function` gave are not in it. Instead of a file, a callback gets dicts that
    describe inputs, keyword inputs, outputs, constants and each operation.

    Raises ExportError for a function whose results are of another form, ArgumentError for
    arguments that are no arrays and for `metadata` with a callback, FileError where the file
    cannot be written.

    >>> import eutectic.core as mx
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "f.mlxfn")
    >>> weight = mx.array([2.0, 3.0])
    >>> mx.export_function(path, lambda x, y: x * weight + y, mx.zeros(2), y=mx.array(1.0))
    >>> f = mx.import_function(path)
    >>> f(mx.array([1.0, 1.0]), y=mx.array(0.5))
    (array([2.5, 3.5], dtype=float32),)
    """
    if callable(file_or_callback):
        if metadata is not None:
            raise ArgumentError(f"[{_EXPORT}] metadata is only for files, not for a callback.")
        given, named = _arguments(_EXPORT, args, kwargs)
        _check_function(fun)
        _describe(_trace(fun, given, named, shapeless), file_or_callback)
        return
    with exporter(file_or_callback, fun, shapeless=shapeless, metadata=metadata) as export:
        export(*args, **kwargs)


class FunctionExporter:
    """Several traces of one function for one file; `exporter` makes it.

    Call it with example arrays, once for each signature. The file is written by `close`, or at the
    end of a `with` block that no error leaves.

    >>> import eutectic.core as mx
    >>> isinstance(mx.exporter("f.mlxfn", mx.exp), mx.FunctionExporter)
    True
    """

    def __init__(self, file: Any, fun: Callable[..., Any], shapeless: bool,
                 metadata: str | None) -> None:
        _check_function(fun)
        if metadata is not None and not isinstance(metadata, str):
            raise ArgumentTypeError(f"[{_EXPORT}] metadata must be a str, not a "
                                    f"{type(metadata).__name__}.")
        self._file = file
        self._fun = fun
        self._shapeless = bool(shapeless)
        self._metadata = metadata or ""
        self._traces: list[Trace] = []
        self._closed = False

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Trace the function for the signature of example arrays; see `export_function`."""
        if self._closed:
            raise ExportError(f"[{_EXPORT}] the exporter is closed.")
        given, named = _arguments(_EXPORT, args, kwargs)
        trace = _trace(self._fun, given, named, self._shapeless)
        if any((t.inputs, t.keywords) == (trace.inputs, trace.keywords) for t in self._traces):
            raise ExportError(f"[{_EXPORT}] {_signature(trace)} was exported already; a signature "
                              "can be exported once.")
        self._traces.append(trace)

    def close(self) -> None:
        """Write the file; a second call does nothing."""
        from eutectic.export.format import write_function

        if self._closed:
            return
        self._closed = True
        with writing(self._file, _EXPORT, "") as target:
            write_function(target, self._traces, self._metadata)

    def __enter__(self) -> FunctionExporter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 where: TracebackType | None) -> None:
        if kind is None:
            self.close()
        self._closed = True


def exporter(file: Any, fun: Callable[..., Any], *, shapeless: bool = False,
             metadata: str | None = None) -> FunctionExporter:
    """Return a callable that traces `fun` for each signature it is called with, for one file.

    Use it in a `with` block, which writes the file at its end. Arguments as for `export_function`.
    Raises ExportError for a signature that comes twice and for calls after the end.

    >>> import eutectic.core as mx
    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "total.mlxfn")
    >>> with mx.exporter(path, lambda *xs: sum(xs)) as export:
    ...     export(mx.array(1))
    ...     export(mx.array(1), mx.array(2))
    >>> total = mx.import_function(path)
    >>> total(mx.array(5)), total(mx.array(5), mx.array(6))
    ((array(5, dtype=int32),), (array(11, dtype=int32),))
    """
    return FunctionExporter(file, fun, shapeless, metadata)


class ImportedFunction:
    """A function that was read from a file: call it with arrays that fit one of its traces."""

    __slots__ = ("__weakref__", "_name", "_traces")

    def __init__(self, name: str, traces: Sequence[Trace]) -> None:
        self._name = name
        self._traces = tuple(traces)

    def __call__(self, *args: Any, **kwargs: Any) -> tuple[array, ...]:
        given, named = _arguments(_CALL, args, kwargs)
        keywords = sorted(named)
        values = [*given, *[named[k] for k in keywords]]
        for trace in self._traces:
            lengths = trace.lengths(values, keywords)
            if lengths is None:
                continue
            try:
                return trace.call(values, lengths)
            except Fault as e:
                raise ExportError(f"[{_CALL}] {self._name} does not take "
                                  f"{_called(given, named)}: {e}.") from e
        known = "".join(f"\n {i}. {_signature(t)}" for i, t in enumerate(self._traces, 1))
        raise ExportError(f"[{_CALL}] no exported trace of {self._name} takes "
                          f"{_called(given, named)}. It has:{known}")

    def __repr__(self) -> str:
        return f"<imported {self._name}: {'; '.join(map(_signature, self._traces))}>"


def import_function(file: Any, return_metadata: bool = False) -> Any:
    """Return the function that a file holds, or a pair of it and the file's metadata.

    Call it with arrays of a signature that was exported, by position and keyword or as one tuple
    and/or one dict; it returns a tuple of arrays with the bits that the exported function gives.
    It is made of operations like any other: `compile`, `grad` and `vmap` take it. Everything in
    the file is checked when it is read, and nothing in it is executed; constants of large files
    lie in the mapped file.

    Raises MissingFileError or FileError where the file cannot be read, FormatError for a file that
    is damaged, of another version or no exported function; a call raises ExportError where no
    trace fits.

    >>> import eutectic.core as mx
    >>> import io
    >>> file = io.BytesIO()
    >>> mx.export_function(file, mx.exp, mx.zeros(3), shapeless=True, metadata="e^x")
    >>> f, metadata = mx.import_function(io.BytesIO(file.getvalue()), return_metadata=True)
    >>> f, metadata
    (<imported <BytesIO>: (float32[a])>, 'e^x')
    >>> f(mx.zeros(2))
    (array([1, 1], dtype=float32),)
    """
    from eutectic.export.format import read_function

    source = open_source(file, "import_function")
    traces, metadata = read_function(source)
    found = ImportedFunction(source.name.rpartition("/")[2], traces)
    return (found, metadata) if return_metadata else found


def _check_function(fun: Any) -> None:
    if not callable(fun):
        raise ArgumentTypeError(f"[{_EXPORT}] cannot export a {type(fun).__name__}.")


def _arguments(name: str, args: tuple[Any, ...],
               kwargs: dict[str, Any]) -> tuple[list[array], dict[str, array]]:
    """Positional and keyword arrays, however they are given."""
    given, named = list(args), dict(kwargs)
    if not named and given and type(given[-1]) is dict and len(given) <= 2:
        named = given.pop()
        if given and not isinstance(given[0], (tuple, list)):
            given = [None]
    if len(given) == 1 and isinstance(given[0], (tuple, list)):
        given = list(given[0])
    if not all(isinstance(x, array) for x in (*given, *named.values())) or not all(
            type(k) is str for k in named):
        raise ArgumentError(f"[{name}] give arrays by position and keyword, or a tuple and a dict "
                            "of them.")
    return given, named


def _trace(fun: Callable[..., Any], args: Sequence[array], kwargs: dict[str, array],
           shapeless: bool) -> Trace:
    from eutectic.export.capture import capture, capture_shapeless

    return (capture_shapeless if shapeless else capture)(_EXPORT, fun, args, kwargs)


def _signature(t: Trace) -> str:
    texts = [type_text(shape, d) for d, shape in t.inputs]
    named = [f"{k}={x}" for k, x in zip(t.keywords, texts[t.positional:])]
    return f"({', '.join(texts[:t.positional] + named)})"


def _called(given: Sequence[array], named: dict[str, array]) -> str:
    texts = [type_text(a._n.shape, a._n.dtype) for a in given]
    texts += [f"{k}={type_text(a._n.shape, a._n.dtype)}" for k, a in named.items()]
    return f"({', '.join(texts)})"


# -- callbacks -------------------------------------------------------------------------------------


def value_name(i: int) -> str:
    """A, B, ... Z, AA, AB and on."""
    name = ""
    i += 1
    while i:
        i, letter = divmod(i - 1, 26)
        name = chr(ord("A") + letter) + name
    return name


def _describe(t: Trace, callback: Callable[[dict[str, Any]], Any]) -> None:
    """Tell a callback what a trace consists of, part by part."""
    from eutectic.export.rules import NAMES

    count = len(t.inputs) + len(t.constants)
    types: list[Any] = [(value_name(i), shape, d) for i, (d, shape) in enumerate(t.inputs)]
    types += [(value_name(i), c._n.shape, c._n.dtype)
              for i, c in enumerate(t.constants, len(t.inputs))]
    types += [(value_name(i), op.shape, op.dtype) for i, op in enumerate(t.operations, count)]
    names = [value_name(i) for i in range(count)]
    callback({"type": "inputs", "inputs": types[:len(t.inputs)]})
    callback({"type": "keyword_inputs",
              "keywords": list(zip(t.keywords, names[t.positional:len(t.inputs)]))})
    callback({"type": "outputs", "outputs": [types[o] for o in t.outputs]})
    callback({"type": "constants",
              "constants": list(zip(names[len(t.inputs):], t.constants))})
    for i, op in enumerate(t.operations, count):
        callback({"type": "primitive", "name": NAMES[op.prim], "arguments": list(op.attrs),
                  "inputs": [types[k] for k in op.inputs], "outputs": [types[i]]})



