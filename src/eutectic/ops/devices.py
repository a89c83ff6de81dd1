"""Devices and streams. There is one device, the CPU; streams are names for its order of work."""

from __future__ import annotations

import functools
import itertools
import platform
import threading
from collections.abc import Callable
from enum import Enum
from types import TracebackType
from typing import Any, TypeVar, cast

from eutectic.errors import ArgumentError, ArgumentTypeError
from eutectic.runtime import buffers


class DeviceType(Enum):
    """A kind of device: `cpu` or `gpu`."""

    cpu = 0
    gpu = 1

    def __repr__(self) -> str:
        return f"DeviceType.{self.name}"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Device):
            return other.type is self and other.index == 0
        return self is other

    def __hash__(self) -> int:
        return hash(self.name)


cpu = DeviceType.cpu
gpu = DeviceType.gpu


class Device:
    """A device: a kind and an index. Only the CPU with index 0 is there."""

    __slots__ = ("index", "type")

    def __init__(self, type: DeviceType, index: int = 0) -> None:
        if not isinstance(type, DeviceType):
            raise ArgumentTypeError(f"[Device] needs mx.cpu or mx.gpu, not {type!r}.")
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

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, (self.type, self.index)


class Stream:
    """A sequence of work on a device; on the CPU all of them run in program order."""

    __slots__ = ("device", "index")

    def __init__(self, device: Device, index: int = 0) -> None:
        if not isinstance(device, Device):
            raise ArgumentTypeError(f"[Stream] needs a Device, not {device!r}.")
        self.device = device
        self.index = index

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.device}, {self.index})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Stream) and type(other) is type(self) and (
            self.device, self.index) == (other.device, other.index)

    def __hash__(self) -> int:
        return hash((self.device, self.index))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.device, self.index)


class ThreadLocalStream(Stream):
    """A stream that stands for one of its own on each thread."""

    __slots__ = ()


class StreamContext:
    """The context manager that `stream` returns: operations run on a stream or device."""

    def __init__(self, s: Stream | Device | DeviceType) -> None:
        self._on = _stream("stream", s)

    def __enter__(self) -> None:
        self._former = _default_stream()
        _thread.stream = self._on

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        _thread.stream = self._former


_DEVICE = Device(cpu)
_STREAM = Stream(_DEVICE)
_thread = threading.local()
_indices = itertools.count(1)
_local_indices = itertools.count()


def _default_stream() -> Stream:
    return getattr(_thread, "stream", _STREAM)


def _device(name: str, device: Any) -> Device:
    if isinstance(device, Stream):
        device = device.device
    if not isinstance(device, (Device, DeviceType)):
        raise ArgumentTypeError(f"[{name}] needs a device, not a {type(device).__name__}.")
    if device != _DEVICE:
        raise ArgumentError(f"[{name}] there is no device {device!r}; only the CPU is there.")
    return _DEVICE


def _stream(name: str, s: Any) -> Stream:
    _device(name, s)
    return s if isinstance(s, Stream) else _default_stream()


def check_stream(name: str, stream: Any) -> None:
    """Refuse what is no stream and no device that is there, as the `stream` of an operation."""
    if not isinstance(stream, (Stream, Device, DeviceType)):
        raise ArgumentTypeError(f"[{name}] stream must be a stream or a device, not a "
                                f"{type(stream).__name__}.")
    _device(name, stream)


_Operation = TypeVar("_Operation", bound=Callable[..., Any])


def streamed(operation: _Operation) -> _Operation:
    """Let an operation refuse a wrong `stream`, which else it would not look at."""
    name = operation.__name__.strip("_").removesuffix("_method")
    code = operation.__code__  # type: ignore[attr-defined]
    positional = code.co_varnames[:code.co_argcount]
    checked: Callable[..., Any]

    if "stream" in positional:
        place = positional.index("stream")

        def checked(*args: Any, **kwargs: Any) -> Any:
            stream = args[place] if len(args) > place else kwargs.get("stream")
            if stream is not None:
                check_stream(name, stream)
            return operation(*args, **kwargs)
    else:
        def checked(*args: Any, stream: Any = None, **kwargs: Any) -> Any:
            if stream is not None:
                check_stream(name, stream)
            return operation(*args, **kwargs)

    functools.update_wrapper(checked, operation)
    return cast(_Operation, checked)


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
    if not isinstance(device, (Device, DeviceType)):
        raise ArgumentTypeError(f"[is_available] needs a device, not a {type(device).__name__}.")
    return device == _DEVICE


def device_count(device_type: DeviceType) -> int:
    """Number of devices of a kind.

    >>> import eutectic.core as mx
    >>> mx.device_count(mx.cpu)
    1
    """
    if not isinstance(device_type, DeviceType):
        raise ArgumentTypeError("[device_count] needs mx.cpu or mx.gpu, not "
                                f"{device_type!r}.")
    return 1 if device_type is cpu else 0


def device_info(d: Device | DeviceType | None = None) -> dict[str, str | int]:
    """What is known of a device: architecture, name, bytes of memory; nothing of one not there.

    >>> import eutectic.core as mx
    >>> sorted(mx.device_info())
    ['architecture', 'device_name', 'memory_size']
    >>> mx.device_info(mx.gpu)
    {}
    """
    if d is not None and not isinstance(d, (Device, DeviceType)):
        raise ArgumentTypeError(f"[device_info] needs a device, not a {type(d).__name__}.")
    return dict(_cpu_info()) if d is None or d == _DEVICE else {}


@functools.cache
def _cpu_info() -> dict[str, str | int]:
    architecture = name = platform.machine()
    try:
        with open("/proc/cpuinfo") as file:
            for line in file:
                key, _, value = line.partition(":")
                if key.strip() in ("model name", "Model"):
                    name = value.strip()
                    break
    except OSError:
        pass
    return {"architecture": architecture, "device_name": name,
            "memory_size": buffers.physical_memory()}


def default_stream(device: Device | DeviceType) -> Stream:
    """The stream of a device that this thread's operations run on.

    >>> import eutectic.core as mx
    >>> mx.default_stream(mx.cpu)
    Stream(Device(cpu, 0), 0)
    """
    _device("default_stream", device)
    return _default_stream()


def set_default_stream(stream: Stream) -> None:
    """Choose the stream that this thread's operations run on.

    >>> import eutectic.core as mx
    >>> mx.set_default_stream(mx.default_stream(mx.cpu))
    """
    if not isinstance(stream, Stream):
        raise ArgumentTypeError(f"[set_default_stream] needs a stream, not a "
                                f"{type(stream).__name__}.")
    _thread.stream = _stream("set_default_stream", stream)


def new_stream(device: Device | DeviceType) -> Stream:
    """Make a stream of a device.

    >>> import eutectic.core as mx
    >>> mx.new_stream(mx.cpu) == mx.default_stream(mx.cpu)
    False
    """
    return Stream(_device("new_stream", device), next(_indices))


def new_thread_local_stream(device: Device | DeviceType) -> ThreadLocalStream:
    """Make a stream that stands for one of its own on each thread.

    >>> import eutectic.core as mx
    >>> with mx.stream(mx.new_thread_local_stream(mx.cpu)):
    ...     x = mx.zeros(2)
    """
    return ThreadLocalStream(_device("new_thread_local_stream", device), next(_local_indices))


def new_thread_unsafe_stream(device: Device | DeviceType) -> Stream:
    """Make a stream; here it is as safe as any other.

    >>> import eutectic.core as mx
    >>> mx.new_thread_unsafe_stream(mx.cpu).device
    Device(cpu, 0)
    """
    return Stream(_device("new_thread_unsafe_stream", device), next(_indices))


def clear_streams() -> None:
    """Forget this thread's default stream.

    >>> import eutectic.core as mx
    >>> mx.clear_streams()
    """
    _thread.__dict__.pop("stream", None)


def stream(s: Stream | Device | DeviceType) -> StreamContext:
    """A context manager under which operations run on a stream or device.

    >>> import eutectic.core as mx
    >>> with mx.stream(mx.cpu):
    ...     x = mx.zeros(2)
    """
    return StreamContext(s)


def synchronize(stream: Any = None) -> None:
    """Wait for the work of a stream: nothing, as evaluation returns when it is done.

    >>> import eutectic.core as mx
    >>> mx.synchronize()
    """
    if stream is not None:
        _device("synchronize", stream)
