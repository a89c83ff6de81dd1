"""The mathematics library: functions from `Value`s to `Value`, built from exact primitives only.

Every function is branch-free and takes 'f32' or 'f64' values; those that exist for complex numbers
take a `Complex` as well. float16 and bfloat16 are computed in f32 and rounded by the caller.
Accuracy is stated in docs/accuracy.md.
"""

from __future__ import annotations

from collections.abc import Callable

from eutectic.kernel.mathlib import complex as _complex
from eutectic.kernel.mathlib import exponential as _exponential
from eutectic.kernel.mathlib import hyperbolic as _hyperbolic
from eutectic.kernel.mathlib import power as _power
from eutectic.kernel.mathlib import trigonometric as _trigonometric
from eutectic.kernel.mathlib.exponential import logaddexp, sigmoid
from eutectic.kernel.mathlib.integer import (bf16_bits, bf16_value, int_floor_divide, int_power,
                                             int_remainder, int_truncate_divide, left_shift,
                                             right_shift, round_bf16, round_f16, threefry2x32)
from eutectic.kernel.mathlib.power import floor_divide, remainder, rsqrt
from eutectic.kernel.mathlib.special import erf, erfinv
from eutectic.kernel.mathlib.trigonometric import arctan2
from eutectic.kernel.scalar import Complex, Value, fabs


def _either(real: Callable, complex_: Callable) -> Callable:
    """A function that picks the complex form for `Complex` arguments."""
    def function(*args):
        return (complex_ if isinstance(args[0], Complex) else real)(*args)
    function.__name__ = function.__qualname__ = real.__name__
    function.__doc__ = real.__doc__
    return function


def _divide(x: Value, y: Value) -> Value:
    """x / y."""
    return x / y


exp = _either(_exponential.exp, _complex.exp)
expm1 = _either(_exponential.expm1, _complex.expm1)
log = _either(_exponential.log, _complex.log)
log2 = _either(_exponential.log2, _complex.log2)
log10 = _either(_exponential.log10, _complex.log10)
log1p = _either(_exponential.log1p, _complex.log1p)
exp2 = _exponential.exp2
sin = _either(_trigonometric.sin, _complex.sin)
cos = _either(_trigonometric.cos, _complex.cos)
tan = _either(_trigonometric.tan, _complex.tan)
arcsin = _either(_trigonometric.arcsin, _complex.arcsin)
arccos = _either(_trigonometric.arccos, _complex.arccos)
arctan = _either(_trigonometric.arctan, _complex.arctan)
sinh = _either(_hyperbolic.sinh, _complex.sinh)
cosh = _either(_hyperbolic.cosh, _complex.cosh)
tanh = _either(_hyperbolic.tanh, _complex.tanh)
arcsinh = _either(_hyperbolic.arcsinh, _complex.arcsinh)
arccosh = _either(_hyperbolic.arccosh, _complex.arccosh)
arctanh = _either(_hyperbolic.arctanh, _complex.arctanh)
sqrt = _either(_power.sqrt, _complex.sqrt)
square = _either(_power.square, _complex.square)
reciprocal = _either(_power.reciprocal, _complex.reciprocal)
power = _either(_power.power, _complex.power)
divide = _either(_divide, _complex.divide)
absolute = _either(fabs, _complex.abs_)
angle = _complex.angle
sign_complex = _complex.sign
conjugate = _complex.conjugate

__all__ = ["absolute", "angle", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2",
           "arctanh", "bf16_bits", "bf16_value", "conjugate", "cos", "cosh", "divide", "erf",
           "erfinv", "exp", "exp2", "expm1", "floor_divide", "int_floor_divide", "int_power",
           "int_remainder", "int_truncate_divide", "left_shift", "log", "log10", "log1p", "log2",
           "logaddexp", "power", "reciprocal", "remainder", "right_shift", "round_bf16",
           "round_f16", "rsqrt", "sigmoid", "sign_complex", "sin", "sinh", "sqrt", "square", "tan",
           "tanh", "threefry2x32"]
