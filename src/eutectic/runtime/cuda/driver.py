"""The CUDA driver API, through ctypes: the library that comes with the driver, and nothing else.

`available()` says whether there is a GPU, and `missing()` why not. All other functions raise
`DeviceError` with the driver's own words where something fails.
"""

from __future__ import annotations

import ctypes
import functools
import threading
from dataclasses import dataclass
from typing import Any

from eutectic.errors import DeviceError

_LIBRARY = "libcuda.so.1"
_POINTER = ctypes.c_void_p
_MAJOR, _MINOR, _PROCESSORS = 75, 76, 16
"""Attributes of a device: its architecture, its number of multiprocessors."""
_RELEASE_THRESHOLD = 4
"""Attribute of a memory pool: the bytes it keeps when it is waited for."""
_NEWEST = 90
"""The newest architecture that code is made for; newer GPUs run it too."""
_NON_BLOCKING = 1
_CAPTURE_RELAXED = 2
_NOT_READY = 600
_NO_TIMING = 2

_SIGNATURES: dict[str, tuple[Any, ...]] = {
    "cuInit": (ctypes.c_uint,),
    "cuDeviceGetCount": (_POINTER,),
    "cuDeviceGet": (_POINTER, ctypes.c_int),
    "cuDeviceGetName": (ctypes.c_char_p, ctypes.c_int, ctypes.c_int),
    "cuDeviceGetAttribute": (_POINTER, ctypes.c_int, ctypes.c_int),
    "cuDeviceTotalMem_v2": (_POINTER, ctypes.c_int),
    "cuDevicePrimaryCtxRetain": (_POINTER, ctypes.c_int),
    "cuCtxSetCurrent": (_POINTER,),
    "cuDeviceGetDefaultMemPool": (_POINTER, ctypes.c_int),
    "cuMemPoolSetAttribute": (_POINTER, ctypes.c_int, _POINTER),
    "cuStreamCreate": (_POINTER, ctypes.c_uint),
    "cuStreamSynchronize": (_POINTER,),
    "cuMemAllocAsync": (_POINTER, ctypes.c_size_t, _POINTER),
    "cuMemFreeAsync": (ctypes.c_uint64, _POINTER),
    "cuMemHostAlloc": (_POINTER, ctypes.c_size_t, ctypes.c_uint),
    "cuMemFreeHost": (_POINTER,),
    "cuMemcpyHtoDAsync_v2": (ctypes.c_uint64, _POINTER, ctypes.c_size_t, _POINTER),
    "cuMemcpyDtoHAsync_v2": (_POINTER, ctypes.c_uint64, ctypes.c_size_t, _POINTER),
    "cuModuleLoadData": (_POINTER, ctypes.c_char_p),
    "cuModuleGetFunction": (_POINTER, _POINTER, ctypes.c_char_p),
    "cuLaunchKernel": (_POINTER, *[ctypes.c_uint] * 7, _POINTER, _POINTER, _POINTER),
    "cuEventCreate": (_POINTER, ctypes.c_uint),
    "cuEventRecord": (_POINTER, _POINTER),
    "cuEventQuery": (_POINTER,),
    "cuEventSynchronize": (_POINTER,),
    "cuEventElapsedTime": (_POINTER, _POINTER, _POINTER),
    "cuEventDestroy_v2": (_POINTER,),
    "cuStreamBeginCapture_v2": (_POINTER, ctypes.c_int),
    "cuStreamEndCapture": (_POINTER, _POINTER),
    "cuGraphInstantiateWithFlags": (_POINTER, _POINTER, ctypes.c_ulonglong),
    "cuGraphLaunch": (_POINTER, _POINTER),
    "cuGraphExecDestroy": (_POINTER,),
    "cuGraphDestroy": (_POINTER,),
    "cuGetErrorString": (ctypes.c_int, _POINTER),
}


@functools.cache
def _library() -> tuple[Any, str]:
    """(the library or None, why it is missing)."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError as error:
        return None, f"no NVIDIA driver: {error}"
    for name, arguments in _SIGNATURES.items():
        try:
            function = getattr(library, name)
        except AttributeError:
            return None, f"the NVIDIA driver is too old: it has no {name}"
        function.argtypes = arguments
        function.restype = ctypes.c_int
    code = library.cuInit(0)
    if code:
        return None, f"the NVIDIA driver does not start: {_words(library, code)}"
    count = ctypes.c_int()
    code = library.cuDeviceGetCount(ctypes.byref(count))
    if code or not count.value:
        return None, "the NVIDIA driver sees no GPU"
    return library, ""


def _words(library: Any, code: int) -> str:
    text = ctypes.c_char_p()
    library.cuGetErrorString(code, ctypes.byref(text))
    return f"{(text.value or b'unknown error').decode()} ({code})"


def available() -> bool:
    """Whether there is a GPU that kernels can run on."""
    return _library()[0] is not None


def missing() -> str:
    """Why there is no GPU; empty where there is one."""
    return _library()[1]


def call(name: str, *arguments: Any) -> None:
    """Call a function of the driver; an error of an earlier launch may show here."""
    library, why = _library()
    if library is None:
        raise DeviceError(f"[gpu] {why}.")
    code = getattr(library, name)(*arguments)
    if code:
        raise DeviceError(f"[gpu] {name}: {_words(library, code)}.")


def _made(name: str, kind: Any, *arguments: Any) -> Any:
    """The value that a function of the driver writes to its first argument."""
    out = kind()
    call(name, ctypes.byref(out), *arguments)
    return out.value


@dataclass(frozen=True, slots=True)
class Properties:
    """What is known of a GPU."""

    name: str
    architecture: str
    """As LLVM names it."""
    memory: int
    processors: int


class Device:
    """The first GPU: its context, its stream, its memory pool. Made once; see `device`."""

    def __init__(self) -> None:
        number = _made("cuDeviceGet", ctypes.c_int, 0)
        self.context = _made("cuDevicePrimaryCtxRetain", _POINTER, number)
        call("cuCtxSetCurrent", self.context)
        text = ctypes.create_string_buffer(256)
        call("cuDeviceGetName", text, len(text), number)
        major, minor, processors = (
            _made("cuDeviceGetAttribute", ctypes.c_int, a, number)
            for a in (_MAJOR, _MINOR, _PROCESSORS))
        self.properties = Properties(text.value.decode(), f"sm_{min(10 * major + minor, _NEWEST)}",
                                     _made("cuDeviceTotalMem_v2", ctypes.c_size_t, number),
                                     processors)
        pool = _made("cuDeviceGetDefaultMemPool", _POINTER, number)
        keep = ctypes.c_uint64((1 << 64) - 1)
        call("cuMemPoolSetAttribute", pool, _RELEASE_THRESHOLD, ctypes.byref(keep))
        self.stream = _made("cuStreamCreate", _POINTER, _NON_BLOCKING)
        self._threads = threading.local()
        self._threads.ready = True

    def enter(self) -> None:
        """Make the context the calling thread's."""
        if not getattr(self._threads, "ready", False):
            call("cuCtxSetCurrent", self.context)
            self._threads.ready = True

    def synchronize(self) -> None:
        """Wait for all work that was given to the stream."""
        self.enter()
        call("cuStreamSynchronize", self.stream)


_lock = threading.Lock()
_device: Device | None = None


def device() -> Device:
    """The GPU, ready for the calling thread. Raises DeviceError where there is none."""
    global _device
    if _device is None:
        with _lock:
            if _device is None:
                _device = Device()
    _device.enter()
    return _device


class DeviceBuffer:
    """Memory of the GPU at `ptr`, in the order of its stream; freed with its last reference."""

    __slots__ = ("device", "nbytes", "ptr")

    def __init__(self, nbytes: int) -> None:
        self.device = device()
        self.nbytes = nbytes
        self.ptr = _made("cuMemAllocAsync", ctypes.c_uint64, max(nbytes, 1), self.device.stream)

    def __del__(self) -> None:
        if hasattr(self, "ptr"):  # else it was never allocated
            self.device.enter()
            call("cuMemFreeAsync", self.ptr, self.device.stream)

    def write(self, address: int) -> None:
        """Copy from host memory. It may be overwritten as soon as this returns."""
        if self.nbytes:
            self.device.enter()
            call("cuMemcpyHtoDAsync_v2", self.ptr, address, self.nbytes, self.device.stream)
            self.device.synchronize()

    def read(self, address: int, nbytes: int) -> None:
        """Copy the first bytes to host memory, after all work before."""
        if nbytes:
            self.device.enter()
            call("cuMemcpyDtoHAsync_v2", address, self.ptr, nbytes, self.device.stream)
            self.device.synchronize()


class HostBuffer:
    """Page-locked memory of the host, which the GPU copies from by itself."""

    __slots__ = ("device", "ptr")

    def __init__(self, nbytes: int) -> None:
        self.device = device()
        self.ptr = _made("cuMemHostAlloc", _POINTER, max(nbytes, 1), 0)

    def __del__(self) -> None:
        if hasattr(self, "ptr"):
            self.device.enter()
            call("cuMemFreeHost", self.ptr)


class Event:
    """A point in the stream's work."""

    __slots__ = ("device", "handle")

    def __init__(self, timing: bool = False) -> None:
        self.device = device()
        self.handle = _made("cuEventCreate", _POINTER, 0 if timing else _NO_TIMING)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.device.enter()
            call("cuEventDestroy_v2", self.handle)

    def record(self) -> None:
        call("cuEventRecord", self.handle, self.device.stream)

    def reached(self) -> bool:
        """Whether the work before it is done (true of one never recorded)."""
        code = _library()[0].cuEventQuery(self.handle)
        if code == _NOT_READY:
            return False
        if code:
            raise DeviceError(f"[gpu] cuEventQuery: {_words(_library()[0], code)}.")
        return True

    def wait(self) -> None:
        call("cuEventSynchronize", self.handle)

    def since(self, earlier: Event) -> float:
        """Seconds from another event to this one; both with `timing` and reached."""
        return float(_made("cuEventElapsedTime", ctypes.c_float, earlier.handle,
                           self.handle)) * 1e-3


class Graph:
    """Work recorded once that is launched by one call."""

    __slots__ = ("device", "handle")

    def __init__(self, work: Any) -> None:
        """Record what `work()` gives to the stream."""
        self.device = device()
        stream = self.device.stream
        call("cuStreamBeginCapture_v2", stream, _CAPTURE_RELAXED)
        try:
            work()
        finally:
            graph = _made_last("cuStreamEndCapture", stream)
        self.handle = _made("cuGraphInstantiateWithFlags", _POINTER, graph, 0)
        call("cuGraphDestroy", graph)

    def __del__(self) -> None:
        if hasattr(self, "handle"):
            self.device.enter()
            call("cuGraphExecDestroy", self.handle)

    def launch(self) -> None:
        call("cuGraphLaunch", self.handle, self.device.stream)


def _made_last(name: str, first: Any) -> Any:
    out = _POINTER()
    call(name, first, ctypes.byref(out))
    return out.value


def load(ptx: str, names: list[str]) -> list[int]:
    """Load a module of PTX; the handles of its kernels. A module stays loaded."""
    device()
    module = _made("cuModuleLoadData", _POINTER, ptx.encode())
    return [_made("cuModuleGetFunction", _POINTER, module, name.encode()) for name in names]


def launch(function: int, blocks: int, threads: int, shared: int, params: int,
           total: int) -> None:
    """Give a kernel to the stream: `params` is the address of its parameter block there."""
    words = ctypes.c_uint64(params), ctypes.c_uint64(total)
    pointers = (_POINTER * 2)(*[ctypes.addressof(w) for w in words])
    call("cuLaunchKernel", function, blocks, 1, 1, threads, 1, 1, shared, device().stream,
         pointers, None)
