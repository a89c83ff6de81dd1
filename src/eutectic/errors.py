"""Errors. User errors read `[op] what is wrong with shape (2,3).`; internal ones are bugs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class EutecticError(Exception):
    """Base of every error that Eutectic raises on purpose."""


class ShapeError(EutecticError, ValueError):
    """Shapes, ranks or sizes that do not go together."""


class DtypeError(EutecticError, ValueError, TypeError):
    """A dtype that the operation does not take."""


class ArgumentError(EutecticError, ValueError):
    """An argument whose value is out of range."""


class ArgumentTypeError(EutecticError, TypeError):
    """An argument of a Python type that the operation does not take."""


class AxisError(EutecticError, ValueError, IndexError):
    """An axis outside the array's dimensions."""


class LinalgError(EutecticError, ValueError, RuntimeError):
    """A matrix whose decomposition or inverse does not exist; raised when it is computed."""


class IndexingError(EutecticError, ValueError, IndexError):
    """An index that the array does not take."""


class MissingKeyError(EutecticError, KeyError):
    """A name that a container does not have."""

    __str__ = Exception.__str__  # a KeyError shows the text in quotes


class TraceError(EutecticError, ValueError, RuntimeError):
    """A placeholder of a trace was used where a value is needed.

    `point` is the place, as `tracing.breaks.Break`: operation, function, file, line and its text.
    """

    def __init__(self, message: str, point: Any = None) -> None:
        super().__init__(message)
        self.point = point


class CompileWarning(UserWarning):
    """Something about a compiled function that its user can do better; said once a function."""


class TraceCountError(EutecticError, AssertionError):
    """A compiled function was traced more often than a test allows."""


class TransformError(EutecticError, ValueError):
    """A derivative or a vectorisation that an operation does not have."""


class MutationError(EutecticError, ValueError):
    """An attempt to change memory that may not change."""


class AllocationError(EutecticError, MemoryError):
    """Memory that cannot be had."""


class DeviceError(EutecticError, ValueError, RuntimeError):
    """A device that is not there, that fails, or that cannot do what is asked of it."""


class FormatError(EutecticError, ValueError, RuntimeError):
    """A file that does not hold what its format demands, or a format that is not known."""


class FileError(EutecticError, OSError, RuntimeError):
    """A file that cannot be opened, read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that is not there."""


class ExportError(EutecticError, ValueError, RuntimeError):
    """A function that cannot be exported, or arguments that no exported trace fits."""


class InternalError(EutecticError, RuntimeError):
    """A bug in Eutectic: an invariant of the compiler does not hold."""


def show_shape(shape: Iterable[int]) -> str:
    """Write a shape as the error texts do.

    >>> show_shape((2, 3))
    '(2,3)'
    """
    dims = tuple(shape)
    return "(" + ",".join(map(str, dims)) + ("," if len(dims) == 1 else "") + ")"
