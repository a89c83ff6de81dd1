"""The array class: a handle on a node of the lazy graph.

An array is immutable in the sense that matters to the graph: a node never changes its value.
Assignment (`x[i] = v`) and in-place operators give the array object another node, so whoever
recorded the old one keeps its value. Views handed to NumPy and through DLPack are read-only.

Operations become methods when their modules below `ops` are imported.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eutectic.dtype import (
    PROMOTE, Dtype, bfloat16, bool_, complex64, float32, float64, from_numpy, int32, int64,
    scalar_dtype)
from eutectic.engine.evaluate import evaluate
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, DtypeError, ShapeError, show_shape)
from eutectic.graph import number, prims
from eutectic.graph.ir import INPUT, Node, blocking
from eutectic.runtime import buffers, dlpack
from eutectic.graph.layout import Data

_SCALARS = frozenset((bool, int, float, complex))


class array:
    """An N-dimensional array; its value is computed when it is needed.

    `array(val, dtype=None)` takes a number, nested lists and tuples of numbers and arrays, an
    array, NumPy data, any buffer or DLPack object, or an object with `__mlx_array__`. Without a
    dtype, Python integers become int32 (int64 where one does not fit), floats and NumPy's float64
    become float32, and complex numbers complex64. The data is copied.

    Raises ShapeError for ragged lists, DtypeError for data of a foreign type.

    >>> import eutectic.core as mx
    >>> mx.array([[1, 2], [3, 4.5]])
    array([[1, 2],
           [3, 4.5]], dtype=float32)
    """

    __slots__ = ("__weakref__", "_n")
    _n: Node

    __array_priority__ = 1000  # ndarray + array is an array, not an ndarray
    __hash__ = object.__hash__

    def __init__(self, val: Any, dtype: Dtype | None = None) -> None:
        self._n = build(val, dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of the axes."""
        return self._n.shape

    @property
    def dtype(self) -> Dtype:
        """Data type of the elements."""
        return self._n.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._n.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return self._n.size

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return self._n.dtype.size

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._n.size * self._n.dtype.size

    if TYPE_CHECKING:  # added by the modules below `ops`
        T: array
        mT: array
        real: array
        imag: array

        def __getattr__(self, name: str) -> Any: ...
        def __getitem__(self, index: Any) -> array: ...
        def __setitem__(self, index: Any, value: Any) -> None: ...
        def __eq__(self, other: object) -> array: ...  # type: ignore[override]
        def __ne__(self, other: object) -> array: ...  # type: ignore[override]
        def __lt__(self, other: Any) -> array: ...
        def __le__(self, other: Any) -> array: ...
        def __gt__(self, other: Any) -> array: ...
        def __ge__(self, other: Any) -> array: ...
        def __add__(self, other: Any) -> array: ...
        def __radd__(self, other: Any) -> array: ...
        def __sub__(self, other: Any) -> array: ...
        def __rsub__(self, other: Any) -> array: ...
        def __mul__(self, other: Any) -> array: ...
        def __rmul__(self, other: Any) -> array: ...
        def __truediv__(self, other: Any) -> array: ...
        def __rtruediv__(self, other: Any) -> array: ...
        def __floordiv__(self, other: Any) -> array: ...
        def __rfloordiv__(self, other: Any) -> array: ...
        def __mod__(self, other: Any) -> array: ...
        def __rmod__(self, other: Any) -> array: ...
        def __pow__(self, other: Any) -> array: ...
        def __rpow__(self, other: Any) -> array: ...
        def __matmul__(self, other: Any) -> array: ...
        def __rmatmul__(self, other: Any) -> array: ...
        def __and__(self, other: Any) -> array: ...
        def __rand__(self, other: Any) -> array: ...
        def __or__(self, other: Any) -> array: ...
        def __ror__(self, other: Any) -> array: ...
        def __xor__(self, other: Any) -> array: ...
        def __rxor__(self, other: Any) -> array: ...
        def __lshift__(self, other: Any) -> array: ...
        def __rshift__(self, other: Any) -> array: ...
        def __neg__(self) -> array: ...
        def __pos__(self) -> array: ...
        def __abs__(self) -> array: ...
        def __invert__(self) -> array: ...

    def item(self) -> Any:
        """Return the only element as a Python number.

        Raises ShapeError unless there is exactly one element.

        >>> import eutectic.core as mx
        >>> mx.array([2.5]).item()
        2.5
        """
        return _only(self, "item")

    def tolist(self) -> Any:
        """Return the elements as nested lists of Python numbers.

        >>> import eutectic.core as mx
        >>> mx.array([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        return readable(self, "tolist").tolist()

    def __len__(self) -> int:
        if not self._n.shape:
            raise ArgumentTypeError("[len] the array has no axes.")
        return self._n.shape[0]

    def __iter__(self) -> Iterator[array]:
        if not self._n.shape:
            raise ArgumentTypeError("[iter] the array has no axes.")
        return map(self.__getitem__, range(self._n.shape[0]))

    def __contains__(self, value: Any) -> bool:
        return bool(_only((self == value).any(), "in"))

    def __bool__(self) -> bool:
        return bool(_only(self, "bool"))

    def __int__(self) -> int:
        return int(_only(self, "int"))

    def __float__(self) -> float:
        return float(_only(self, "float"))

    def __complex__(self) -> complex:
        return complex(_only(self, "complex"))

    def __index__(self) -> int:
        if not self._n.dtype.is_int or self._n.shape:
            raise ArgumentTypeError("[index] only an integer array of shape () is an index, not "
                                    f"{self._n.dtype.name} of shape {show_shape(self._n.shape)}.")
        return int(_only(self, "index"))

    def __repr__(self) -> str:
        return f"array({show(self, 6)}, dtype={self._n.dtype.name})"

    def __format__(self, spec: str) -> str:
        if not self._n.shape:
            return format(_only(self, "format"), spec)
        return format(repr(self), spec)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        a = readable(self, "numpy")
        if dtype is not None and np.dtype(dtype) != a.dtype:
            if copy is False:
                raise ArgumentError(f"[numpy] {self._n.dtype.name} becomes {np.dtype(dtype)} only "
                                    "by copying.")
            return a.astype(dtype)
        return a.copy() if copy else a

    def __buffer__(self, flags: int) -> memoryview:
        if self._n.dtype is bfloat16:
            raise BufferError("[buffer] no buffer format for bfloat16; convert it by "
                              "astype(mx.float32) or view(mx.uint16).")
        return memoryview(readable(self, "buffer"))  # type: ignore[arg-type]

    def __bytes__(self) -> bytes:
        return numpy_view(self, "bytes").tobytes()

    def __dlpack__(self, *, stream: Any = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"[dlpack] the array is on the CPU, not on the device {dl_device}.")
        view = numpy_view(self, "dlpack")
        if copy:
            view = view.copy()
        elif max_version is None or tuple(max_version) < (1, 0):
            # Before version 1 nothing can say that memory is read-only: it is the consumer's
            # part not to change it. What others hold we do not hand on in this way.
            if not need_value(self, "dlpack").buffer.readonly:
                view.flags.writeable = True
            elif copy is False:
                raise BufferError("[dlpack] read-only memory needs a consumer of version 1.0.")
            else:
                view = view.copy()
        return dlpack.exported(view, self._n.dtype is bfloat16, max_version)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __copy__(self) -> array:
        return wrap(self._n)

    def __deepcopy__(self, memo: Any) -> array:
        return wrap(self._n)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_unpickle, (np.array(numpy_view(self, "pickle"), order="C"), self._n.dtype))


_new = object.__new__


def wrap(node: Node) -> array:
    """An array that stands for a node."""
    a = _new(array)
    a._n = node
    return a


def _unpickle(data: np.ndarray, dtype: Dtype) -> array:
    return wrap(_copied(data, dtype))


# Values of arrays

def need_value(a: array, operation: str) -> Data:
    """Memory that holds the value of `a`, computed now where it is not known yet.

    Raises TraceError for a placeholder of a trace, naming the operation and the user's line.
    """
    n = a._n
    if n.data is None:
        if n.trace is not None:
            while (trace := blocking(n)) is not None:
                trace.value_needed(operation, n)  # raises, or gives the placeholders their values
        evaluate([n])
    return n.data


def numpy_view(a: array, operation: str) -> np.ndarray:
    """The elements as a read-only NumPy array of the same memory; bfloat16 as uint16."""
    data = need_value(a, operation)
    n = a._n
    if 0 in n.shape:
        empty = np.empty(n.shape, n.dtype.np)
        empty.flags.writeable = False
        return empty
    size = n.dtype.size
    strides = None if data.strides is None else [s * size for s in data.strides]
    view = buffers.as_numpy(data.buffer, n.shape, strides, n.dtype.np, data.offset)
    view.flags.writeable = False
    return view


def readable(a: array, operation: str) -> np.ndarray:
    """Like `numpy_view`, but bfloat16 comes as float32, which holds its values exactly."""
    v = numpy_view(a, operation)
    return _widened(v) if a._n.dtype is bfloat16 else v


def _widened(bits: np.ndarray) -> np.ndarray:
    return np.asarray(np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


def _only(a: array, operation: str) -> Any:
    if a._n.size != 1:
        raise ShapeError(f"[{operation}] only an array of one element is a Python number, not one "
                         f"of shape {show_shape(a._n.shape)}.")
    return readable(a, operation).item()


# Printing

_EDGE = 3
_precision = 6


def set_precision(digits: int) -> int:
    """Set the significant digits that printing shows; returns the former number."""
    global _precision
    former, _precision = _precision, digits
    return former


def show(a: array, indent: int) -> str:
    """The elements as MLX prints them; axes longer than six keep three at either end."""
    view = numpy_view(a, "print")
    return _show(view, a._n.dtype, indent)


def _show(v: np.ndarray, dtype: Dtype, indent: int) -> str:
    if v.ndim == 0:
        return _number(v, dtype)
    if v.size == 0 and v.shape[0] == 0:
        return "[]"
    n = v.shape[0]
    picks = range(n) if n <= 2 * _EDGE else (*range(_EDGE), None, *range(n - _EDGE, n))
    parts = ["..." if i is None else _show(v[i, ...], dtype, indent + 1) for i in picks]
    return "[" + (", " if v.ndim == 1 else ",\n" + " " * (indent + 1)).join(parts) + "]"


def _number(v: np.ndarray, dtype: Dtype) -> str:
    if dtype is bool_ or dtype.is_int:
        return str(v.item())
    if dtype.is_complex:
        z = v.item()
        im = f"{z.imag:.{_precision}g}"
        return f"{z.real:.{_precision}g}{'' if im[0] == '-' else '+'}{im}j"
    x = _widened(v).item() if dtype is bfloat16 else v.item()
    return f"{x:.{_precision}g}"


# Construction

def build(val: Any, dtype: Dtype | None = None) -> Node:
    """The node of `array(val, dtype)`."""
    if dtype is not None and not isinstance(dtype, Dtype):
        raise ArgumentTypeError(f"[array] dtype must be a Dtype, not a {type(dtype).__name__}.")
    t = type(val)
    if t in _SCALARS:
        return scalar(val, dtype)
    if isinstance(val, array):
        return val._n if dtype is None else prims.cast(val._n, dtype)
    if isinstance(val, (list, tuple)):
        return _from_list(val, dtype)
    if isinstance(val, (np.ndarray, np.generic)):
        return copy_numpy(val, dtype)
    if isinstance(val, (bool, int, float, complex)):
        return scalar(val, dtype)
    if hasattr(val, "__mlx_array__"):
        return build(val.__mlx_array__(), dtype)
    if hasattr(val, "__dlpack__"):
        if getattr(val, "requires_grad", False):  # torch would refuse; a copy takes the values only
            val = val.detach()
        view, found = import_dlpack(val, "array")
        return copy_numpy(view, dtype, found)
    if hasattr(val, "__array__"):
        return copy_numpy(np.asarray(val), dtype)
    try:
        memory = memoryview(val)
    except TypeError:
        raise ArgumentTypeError(f"[array] cannot make an array of a {t.__name__}; give numbers, "
                                "nested lists, arrays or a buffer.") from None
    return copy_numpy(np.asarray(memory), dtype)


def scalar(value: Any, dtype: Dtype | None) -> Node:
    """A constant node; integers wrap where an integer dtype asked for does not hold them."""
    if type(value) is number.Number:
        return value.node(_given, "array", dtype)
    if dtype is None:
        dtype = scalar_dtype(value)
        if type(value) is int and not -(1 << 63) <= value < 1 << 63:
            raise ArgumentError(f"[array] the integer {value} does not fit int64.")
    if not dtype.is_complex and isinstance(value, complex):
        value = value != 0 if dtype is bool_ else value.real
    if (dtype.is_int or dtype is bool_) and isinstance(value, float):
        value = value != 0 if dtype is bool_ else int(_converted(value, dtype))
    return prims.const(value, dtype)


def _given(name: str, value: Any, dtype: Dtype | None) -> Node:
    return scalar(value, dtype)


def _converted(value: float, dtype: Dtype) -> int:
    """A float as an integer by the rule of `kernel.scalar.convert`."""
    wide = 32 if dtype.size < 4 or dtype.compute == "i32" else 64
    low, high = -(1 << (wide - 1)), (1 << (wide - 1)) - 1
    if dtype.compute == "u64" and value >= 0:
        low, high = 0, (1 << 64) - 1
    if value != value:
        return 0
    return low if value <= low else high if value >= high else int(value)


def import_dlpack(val: Any, name: str) -> tuple[np.ndarray, Dtype | None]:
    """(memory of an object with DLPack, its dtype); bfloat16 as uint16, None: no dtype for it."""
    try:
        view, is_bfloat16 = dlpack.imported(val)
    except (BufferError, TypeError, RuntimeError, ValueError) as e:
        raise DtypeError(f"[{name}] cannot import the {type(val).__name__}: {e}.") from e
    return view, bfloat16 if is_bfloat16 else from_numpy(view.dtype)


def copy_numpy(val: Any, dtype: Dtype | None, found: Dtype | None = None) -> Node:
    """A leaf with a copy of NumPy data; `found` names the data's dtype where NumPy's does not."""
    a = np.asarray(val)
    found = found or from_numpy(a.dtype)
    if found is None and a.dtype == np.complex128:
        found = complex64
        if dtype is None or dtype is complex64:
            a = a.astype(np.complex64)
        elif not dtype.is_complex:
            a, found = a.real, float64
    if found is None:
        raise DtypeError(f"[array] no data type for NumPy's {a.dtype}.")
    if dtype is None:
        dtype = float32 if found is float64 else found
    if found is bfloat16:
        a = a.view(np.uint16)
    return _copied(_as_dtype(a, found, dtype), dtype)


def _as_dtype(a: np.ndarray, found: Dtype, dtype: Dtype) -> np.ndarray:
    """NumPy data of a dtype in the memory form of another."""
    if dtype is found:
        return a if a.dtype.isnative else a.astype(a.dtype.newbyteorder("="))
    if found is bfloat16:
        a = _widened(a)
    with np.errstate(all="ignore"):
        if dtype is bfloat16:
            return _bfloat16_bits(a.astype(np.float64))
        if a.dtype.kind == "c" and not dtype.is_complex:
            a = a.real if dtype is not bool_ else a
        if a.dtype.kind == "f" and dtype.is_int:
            return _float_to_int(a, dtype)
        return a.astype(dtype.np)


def _float_to_int(a: np.ndarray, dtype: Dtype) -> np.ndarray:
    flat = [_converted(float(x), dtype) for x in a.ravel()] if not np.all(
        np.abs(a) < 2.0 ** 31) else a.astype(np.int64).ravel()
    mask = (1 << 8 * dtype.size) - 1
    unsigned = f"u{dtype.size}"
    if isinstance(flat, list):
        bits = np.array([x & mask for x in flat], dtype=unsigned)
    else:
        bits = flat.astype(unsigned)
    return bits.view(dtype.np).reshape(a.shape)


def _bfloat16_bits(a: np.ndarray) -> np.ndarray:
    # Round to odd at float32 keeps enough for the second rounding to be exact.
    single = a.astype(np.float32)
    bits = single.view(np.uint32).copy()
    toward_zero = np.isfinite(single) & (np.abs(single.astype(np.float64)) > np.abs(a))
    inexact = np.isfinite(single) & (single.astype(np.float64) != a)
    bits = np.where(toward_zero, bits - 1, bits)
    bits = np.where(inexact, bits | 1, bits)
    rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    nan = np.isnan(single)
    return np.where(nan, bits >> 16 & 0x8000 | 0x7FC0, rounded).astype(np.uint16)


def _copied(a: np.ndarray, dtype: Dtype) -> Node:
    """A leaf that holds a copy of NumPy data which already has the dtype's memory form."""
    n = Node(INPUT, (), (), a.shape, dtype)
    c = np.ascontiguousarray(a)
    buffer = buffers.alloc(max(c.nbytes, 1))
    if c.nbytes:
        ctypes.memmove(buffer.ptr, c.ctypes.data, c.nbytes)
    n.data = Data(buffer)
    return n


def _from_list(val: Sequence[Any], dtype: Dtype | None) -> Node:
    if _holds_arrays(val):
        return _stacked([_element(x) for x in val], dtype)
    shape = _list_shape(val)
    flat: list[Any] = list(val)
    for _ in range(len(shape) - 1):
        flat = [x for row in flat for x in row]
    if any(type(x) not in _SCALARS for x in flat):
        flat = [_number_in_list(x) for x in flat]
    if dtype is None:
        dtype = _list_dtype(flat)
    a: np.ndarray
    if dtype.is_complex or any(type(x) is complex for x in flat):
        z = np.array(flat, np.complex128)
        if dtype.is_complex or dtype is bool_:
            a, found = z.astype(np.complex64), complex64
        else:
            a, found = z.real, float64
    elif any(isinstance(x, float) for x in flat) or dtype.is_float:
        a, found = np.array(flat, np.float64), float64
    else:
        mask = (1 << 8 * dtype.size) - 1
        try:
            a, found = np.array(flat, np.int64), int64
        except OverflowError:
            if not dtype.is_int:
                raise ArgumentError("[array] an integer does not fit int64.") from None
            a = np.array([x & mask for x in flat], f"u{dtype.size}").view(dtype.np)
            found = dtype
    return _copied(_as_dtype(a.reshape(shape), found, dtype), dtype)


def _list_dtype(flat: list[Any]) -> Dtype:
    kinds = set(map(type, flat))
    if not kinds:
        return float32
    if complex in kinds:
        return complex64
    if any(issubclass(k, float) for k in kinds):
        return float32
    if kinds == {bool}:
        return bool_
    low, high = min(flat), max(flat)
    if not (low >= -(1 << 63) and high < 1 << 63):
        raise ArgumentError(f"[array] the integer {low if low < 0 else high} does not fit int64.")
    return int32 if low >= -(1 << 31) and high < 1 << 31 else int64


def _list_shape(val: Any) -> tuple[int, ...]:
    """Shape of nested lists, down to numbers and arrays; an error where rows differ."""
    if not isinstance(val, (list, tuple)):
        return ()
    shapes = [_list_shape(x) for x in val] if any(isinstance(x, (list, tuple)) for x in val) else []
    for s in shapes[1:]:
        if s != shapes[0]:
            raise _ragged(shapes[0], s)
    return (len(val), *(shapes[0] if shapes else ()))


def _holds_arrays(val: Sequence[Any]) -> bool:
    return any(_holds_arrays(x) if isinstance(x, (list, tuple)) else
               isinstance(x, (array, np.ndarray)) or hasattr(x, "__mlx_array__")
               for x in val if type(x) not in _SCALARS)


def _number_in_list(x: Any) -> Any:
    if isinstance(x, np.generic) and x.dtype.kind in "biufc":
        return x.item()
    if isinstance(x, (bool, int, float, complex)):
        return x
    raise ArgumentTypeError(f"[array] cannot take a {type(x).__name__} in a list.")


def _element(x: Any) -> Node:
    return build(x) if isinstance(x, (list, tuple, array, np.ndarray)) or hasattr(
        x, "__mlx_array__") else build(_number_in_list(x))


def _stacked(nodes: list[Node], dtype: Dtype | None) -> Node:
    inner = nodes[0].shape
    for n in nodes[1:]:
        if n.shape != inner:
            raise _ragged(inner, n.shape)
    if dtype is None:
        dtype = nodes[0].dtype
        for n in nodes[1:]:
            dtype = PROMOTE[dtype.index][n.dtype.index]
    rows = [prims.reshape(prims.cast(n, dtype), (1, *inner)) for n in nodes]
    return prims.concatenate(rows, 0)


def _ragged(a: tuple[int, ...], b: tuple[int, ...]) -> ShapeError:
    return ShapeError(f"[array] the nested lists are ragged: rows of shapes {show_shape(a)} and "
                      f"{show_shape(b)} stand side by side.")
