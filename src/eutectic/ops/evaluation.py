"""Computing arrays now, devices and streams (there is one: the CPU), and memory statistics."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from eutectic.array import array, need_value
from eutectic.engine.evaluate import evaluate
from eutectic.errors import ArgumentError, ArgumentTypeError
from eutectic.runtime import buffers
from eutectic.tree import is_container, leaves


def eval_(*args: Any) -> None:
    """Compute the arrays in trees of any containers.

    Raises TraceError for placeholders of a function being traced.

    >>> import eutectic.core as mx
    >>> x = mx.array([1, 2]) + 1
    >>> mx.eval({"x": x})
    """
    if len(args) == 1 and type(args[0]) is array:
        if args[0]._n.data is None:
            need_value(args[0], "eval")
        return
    pending: list[array] = []
    for x in args:
        if type(x) is array:
            if x._n.data is None:
                pending.append(x)
        else:
            _collect(x, pending)
    if pending:
        for a in pending:
            if a._n.trace is not None:
                need_value(a, "eval")
        evaluate([a._n for a in pending])


def _collect(tree: Any, pending: list[array]) -> None:
    """Append the arrays of a tree that have no value yet."""
    t = type(tree)
    if t is dict:
        tree = tree.values()
    elif t is not list and t is not tuple:
        tree = leaves(tree)
    for x in tree:
        if type(x) is array:
            if x._n.data is None:
                pending.append(x)
        elif x is not tree and is_container(x):
            _collect(x, pending)
        elif isinstance(x, array) and x._n.data is None:
            pending.append(x)


def async_eval(*args: Any) -> None:
    """Like `eval`; it may return before the values are there, and here it does not.

    >>> import eutectic.core as mx
    >>> mx.async_eval(mx.array([1, 2]) + 1)
    """
    eval_(*args)


class DeviceType:
    """A kind of device: `cpu` or `gpu`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"DeviceType.{self.name}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Device):
            return other.type is self and other.index == 0
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)


cpu = DeviceType("cpu")
gpu = DeviceType("gpu")


class Device:
    """A device: a kind and an index. Only the CPU with index 0 is there."""

    __slots__ = ("index", "type")

    def __init__(self, type: DeviceType, index: int = 0) -> None:
        self.type = type
        self.index = index

    def __repr__(self) -> str:
        return f"Device({self.type.name}, {self.index})"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DeviceType):
            return self.type is other and self.index == 0
        return isinstance(other, Device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))


class Stream:
    """A sequence of work on a device; the CPU has one, in program order."""

    __slots__ = ("device", "index")

    def __init__(self, device: Device, index: int = 0) -> None:
        self.device = device
        self.index = index

    def __repr__(self) -> str:
        return f"Stream({self.device}, {self.index})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and (self.device, self.index) == (
            other.device, other.index)

    def __hash__(self) -> int:
        return hash((self.device, self.index))


class StreamContext:
    """The context manager that `stream` returns."""

    def __init__(self, on: Any) -> None:
        self.stream = on

    def __enter__(self) -> Any:
        return self.stream

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        return None


_DEVICE = Device(cpu)
_STREAM = Stream(_DEVICE)


def _device(name: str, device: Any) -> Device:
    if isinstance(device, Stream):
        device = device.device
    if not isinstance(device, (Device, DeviceType)):
        raise ArgumentTypeError(f"[{name}] needs a device, not a {type(device).__name__}.")
    if device != _DEVICE:
        raise ArgumentError(f"[{name}] there is no device {device!r}; only the CPU is there.")
    return _DEVICE


def default_device() -> Device:
    """The device that operations run on.

    >>> import eutectic.core as mx
    >>> mx.default_device()
    Device(cpu, 0)
    """
    return _DEVICE


def set_default_device(device: Device | DeviceType) -> None:
    """Choose the device that operations run on. Raises ArgumentError for one that is not there.

    >>> import eutectic.core as mx
    >>> mx.set_default_device(mx.cpu)
    """
    _device("set_default_device", device)


def is_available(device: Device | DeviceType) -> bool:
    """Whether a device is there.

    >>> import eutectic.core as mx
    >>> mx.is_available(mx.cpu)
    True
    """
    return device == _DEVICE


def device_count(device_type: DeviceType) -> int:
    """Number of devices of a kind.

    >>> import eutectic.core as mx
    >>> mx.device_count(mx.cpu)
    1
    """
    return 1 if device_type is cpu else 0


def default_stream(device: Device | DeviceType) -> Stream:
    """The stream of a device.

    >>> import eutectic.core as mx
    >>> mx.default_stream(mx.cpu)
    Stream(Device(cpu, 0), 0)
    """
    _device("default_stream", device)
    return _STREAM


def set_default_stream(stream: Stream) -> None:
    """Choose the stream that operations run on: there is one.

    >>> import eutectic.core as mx
    >>> mx.set_default_stream(mx.default_stream(mx.cpu))
    """
    _device("set_default_stream", stream)


def new_stream(device: Device | DeviceType) -> Stream:
    """A stream of a device; on the CPU it is the one there is.

    >>> import eutectic.core as mx
    >>> mx.new_stream(mx.cpu)
    Stream(Device(cpu, 0), 0)
    """
    _device("new_stream", device)
    return _STREAM


def stream(s: Stream | Device | DeviceType) -> StreamContext:
    """A context manager under which operations run on a stream or device.

    >>> import eutectic.core as mx
    >>> with mx.stream(mx.cpu):
    ...     x = mx.zeros(2)
    """
    _device("stream", s)
    return StreamContext(_STREAM)


def synchronize(stream: Any = None) -> None:
    """Wait for the work of a stream: nothing, as evaluation returns when it is done.

    >>> import eutectic.core as mx
    >>> mx.synchronize()
    """
    if stream is not None:
        _device("synchronize", stream)


def get_active_memory() -> int:
    """Bytes in use by arrays.

    >>> import eutectic.core as mx
    >>> mx.get_active_memory() >= 0
    True
    """
    return buffers.active_memory()


def get_peak_memory() -> int:
    """Most bytes in use at one time since the start or `reset_peak_memory`.

    >>> import eutectic.core as mx
    >>> mx.get_peak_memory() >= mx.get_active_memory()
    True
    """
    return buffers.peak_memory()


def reset_peak_memory() -> None:
    """Start measuring the peak anew.

    >>> import eutectic.core as mx
    >>> mx.reset_peak_memory()
    """
    buffers.reset_peak()


def get_cache_memory() -> int:
    """Bytes kept for reuse.

    >>> import eutectic.core as mx
    >>> mx.get_cache_memory() >= 0
    True
    """
    return buffers.cache_memory()


def clear_cache() -> None:
    """Give the bytes kept for reuse back to the system.

    >>> import eutectic.core as mx
    >>> mx.clear_cache()
    """
    buffers.clear_cache()


def set_cache_limit(limit: int) -> int:
    """Set the most bytes to keep for reuse; returns the former limit.

    >>> import eutectic.core as mx
    >>> former = mx.set_cache_limit(1 << 30)
    >>> mx.set_cache_limit(former)
    1073741824
    """
    return buffers.set_cache_limit(limit)


def set_memory_limit(limit: int) -> int:
    """Set the bytes that allocation should stay below; returns the former limit.

    >>> import eutectic.core as mx
    >>> former = mx.set_memory_limit(1 << 40)
    >>> mx.set_memory_limit(former)
    1099511627776
    """
    return buffers.set_memory_limit(limit)


def get_memory_limit() -> int:
    """The bytes that allocation should stay below.

    >>> import eutectic.core as mx
    >>> mx.get_memory_limit() > 0
    True
    """
    return buffers.get_memory_limit()
