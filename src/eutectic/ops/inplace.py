"""In-place operators: the array object gets the result's node; holders of the old one keep it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from eutectic.array import array
from eutectic.errors import DtypeError
from eutectic.ops.arithmetic import (
    add, divide, floor_divide, multiply, power, remainder, subtract)
from eutectic.ops.bitwise import bitwise_and, bitwise_or, bitwise_xor, left_shift, right_shift
from eutectic.ops.matrix import matmul
from eutectic.ops.registry import can_operate


def _in_place(operation: Callable[..., array]) -> Callable[[array, Any], Any]:
    def method(self: array, other: Any) -> Any:
        if not can_operate(other):
            return NotImplemented
        self._n = operation(self, other)._n
        return self

    return method


_divide = _in_place(divide)


def _divide_in_place(self: array, other: Any) -> Any:
    if not (self._n.dtype.is_float or self._n.dtype.is_complex):
        raise DtypeError(f"[divide] in place cannot turn {self._n.dtype.name} into a floating "
                         "type; use x = x / y.")
    return _divide(self, other)


for _name, _operation in (
        ("add", add), ("sub", subtract), ("mul", multiply), ("floordiv", floor_divide),
        ("mod", remainder), ("pow", power), ("and", bitwise_and), ("or", bitwise_or),
        ("xor", bitwise_xor), ("lshift", left_shift), ("rshift", right_shift),
        ("matmul", matmul)):
    setattr(array, f"__i{_name}__", _in_place(_operation))
array.__itruediv__ = _divide_in_place  # type: ignore[attr-defined]
