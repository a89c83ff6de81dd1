"""Running one program in every way that must give the same bits, and comparing."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from programs import Program, expression, make, to_numpy

import eutectic.core as mx
from eutectic.runtime import pool

Bits = list[tuple[str, tuple[int, ...], bytes]]

# Two NaNs that meet. IEEE 754 leaves open whose payload and sign the result of an operation on two
# NaNs carries; processors take the first operand's, and LLVM, which counts such results as equal,
# swaps the operands of sums and products as it likes, e.g. to read the second from memory. So the
# bits of a NaN are compared only where no two NaNs can have met; that there is a NaN always is.
# Nor has a NaN that is made of numbers, as 0/0, a sign: the processor's is negative, that of LLVM,
# where it knows the operands, is positive.


@dataclass(frozen=True)
class Difference:
    """Two ways of running a program that do not agree, or a way that failed."""

    way: str
    output: int
    detail: str

    def __str__(self) -> str:
        return f"{self.way}: output {self.output}: {self.detail}"


def bits_of(arrays: Sequence[mx.array]) -> Bits:
    """Type, shape and bytes of each array; computes all of them."""
    mx.eval(*arrays)
    return [(a.dtype.name, a.shape, bytes(a)) for a in arrays]


def plain(p: Program, inputs: Sequence[mx.array]) -> list[mx.array]:
    """Every value of the program, computed one operation at a time."""
    values = list(inputs)
    for s in p.steps:
        values.append(expression(s.text)([values[o] for o in s.operands]))
    mx.eval(*values)
    return values


def compare(way: str, expected: Bits, found: Bits, payloads: bool = True) -> list[Difference]:
    """The outputs that differ in type, shape or any bit; `payloads=False`: any NaN is like any."""
    out = []
    for i, (e, f) in enumerate(zip(expected, found)):
        if e != f and (payloads or e[:2] != f[:2] or one_nan(e[0], e[2]) != one_nan(f[0], f[2])):
            out.append(Difference(way, i, _describe(e, f)))
    if len(expected) != len(found):
        out.append(Difference(way, -1, f"{len(found)} outputs, not {len(expected)}"))
    return out


def one_nan(dtype: str, raw: bytes) -> bytes:
    """The bytes of elements with all NaNs made the same."""
    if dtype == "bfloat16":
        u = np.frombuffer(raw, np.uint16)
        return np.where((u & 0x7FFF) > 0x7F80, np.uint16(0x7FC0), u).tobytes()
    kind = {"complex64": "float32"}.get(dtype, dtype)
    if not kind.startswith("float"):
        return raw
    x = np.frombuffer(raw, kind)
    return np.where(np.isnan(x), np.array(np.nan, kind), x).tobytes()


_MOVES = ("reshape", "transpose", "broadcast_to", "expand_dims", "squeeze", "flatten", "swapaxes",
          "moveaxis", "flip", "concatenate", "stack", "split", "pad", "tile", "repeat", "roll",
          "maximum", "minimum", "where", "clip", "view", "astype", "max", "min")
"""Operations that give each element of an operand on as it is, or make it something else alone."""

_SIMPLE = ("add", "subtract", "multiply", "divide", "negative", "abs", "square", "sqrt")
"""Operations of one instruction; inside others a NaN may meet one made from it."""


def nans_may_meet(p: Program, values: Sequence[mx.array]) -> bool:
    """Whether an operation of the program may have had two NaNs of different bits as operands."""
    for i, s in enumerate(p.steps):
        names = re.findall(r"mx\.(\w+)\(", s.text)
        if all(n in _MOVES for n in names):
            continue
        result = values[len(p.sources) + i]
        operand_nans = sum(_has_nan(values[o]) for o in set(s.operands))
        if not operand_nans and _has_nan(result):
            return True
        if operand_nans > 1 or (operand_nans and (len(names) > 1 or "nan" in s.text)):
            return True
        if operand_nans and len(set(s.operands)) < len(s.operands):
            return True  # LLVM drops the negations of (-x) * (-x)
        if (len(names) != 1 or names[0] not in _SIMPLE or result.dtype is mx.complex64) and (
                _has_nan(result)):
            return True
    return False


def _has_nan(a: mx.array) -> bool:
    return a.dtype.name[0] in "bfc" and a.dtype.name != "bool" and bool(np.isnan(to_numpy(a)).any())


def _describe(e: tuple[str, tuple[int, ...], bytes], f: tuple[str, tuple[int, ...], bytes]) -> str:
    if e[:2] != f[:2]:
        return f"{f[0]}{list(f[1])} in the place of {e[0]}{list(e[1])}"
    size = max(1, len(e[2]) // max(1, int(np.prod(e[1]))))
    unsigned = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[size]
    a, b = np.frombuffer(e[2], unsigned), np.frombuffer(f[2], unsigned)
    where = np.flatnonzero(a != b)
    nan = ""
    if e[0] in ("float16", "float32", "float64", "complex64"):
        kind = {"complex64": np.float32}.get(e[0]) or np.dtype(e[0])
        x, y = np.frombuffer(e[2], kind), np.frombuffer(f[2], kind)
        plain_differs = ~((x == y) & (np.signbit(x) == np.signbit(y)) | np.isnan(x) & np.isnan(y))
        nan = "" if plain_differs.any() else " (nan payloads only)"
    elif e[0] == "bfloat16":
        is_nan = ((a & 0x7FFF) > 0x7F80) & ((b & 0x7FFF) > 0x7F80)
        nan = "" if (~is_nan)[where].any() else " (nan payloads only)"
    first = int(where[0])
    return (f"{e[0]}{list(e[1])}: {len(where)} of {a.size} differ{nan}, first at {first}: "
            f"{a[first]:#x} expected, {b[first]:#x} found")


def check(p: Program, threads: Sequence[int] = (1, 3), parts: bool = True) -> list[Difference]:
    """Run a program in every way; the differences."""
    made = [make(s) for s in p.sources]
    strided = [m[0] for m in made]
    straight = [m[1] for m in made]
    before = bits_of([*strided, *straight])
    found: list[Difference] = []
    count = pool.get_num_threads()
    try:
        pool.set_num_threads(2)
        values = plain(p, strided)
        expected = bits_of([values[o] for o in p.outputs])
        found += against_numpy(p, values)
        payloads = not nans_may_meet(p, values)
        found += compare("plain, inputs in row-major order", expected,
                         bits_of([plain(p, straight)[o] for o in p.outputs]), payloads)
        f = mx.compile(p.function())
        found += _run("compiled", expected, f, strided, payloads)
        found += _run("compiled, second call", expected, f, strided, payloads)
        found += _run("compiled, inputs in row-major order", expected, f, straight, payloads)
        for n in threads:
            pool.set_num_threads(n)
            found += _run(f"compiled, {n} threads", expected, f, strided, payloads)
            again = plain(p, strided)
            found += compare(f"plain, {n} threads", expected,
                             bits_of([again[o] for o in p.outputs]), payloads)
        pool.set_num_threads(2)
        if parts and len(p.steps) > 1:
            found += _parts(p, strided, expected, payloads)
        found += compare("inputs after all runs", before, bits_of([*strided, *straight]))
    finally:
        pool.set_num_threads(count)
    return found


def _run(way: str, expected: Bits, f: Callable[..., list[mx.array]],
         inputs: Sequence[mx.array], payloads: bool) -> list[Difference]:
    return compare(way, expected, bits_of(f(*inputs)), payloads)


def _parts(p: Program, inputs: Sequence[mx.array], expected: Bits,
           payloads: bool) -> list[Difference]:
    """Compile the program in two parts, cut at a place that depends on its text."""
    cut = random.Random(p.source_text()).randint(1, len(p.steps) - 1)
    first, passed = p.first_part(cut)
    names: dict[str, Any] = {"mx": mx, "__name__": "program"}
    exec(p.second_text(cut, passed), names)
    between = mx.compile(first.function())(*inputs)
    return _run(f"compiled in two parts at step {cut}", expected, mx.compile(names["program"]),
                between, payloads)


def against_numpy(p: Program, values: Sequence[mx.array]) -> list[Difference]:
    """Compare each step with its NumPy reference on the plain operands."""
    out = []
    n = len(p.sources)
    for i, s in enumerate(p.steps):
        if s.reference is None:
            continue
        operands = [values[o] for o in s.operands]
        result = values[n + i]
        with np.errstate(all="ignore"):
            answer = s.reference([to_numpy(o) for o in operands], [o.dtype for o in operands],
                                 result.dtype)
        if answer is None:
            continue
        expected, bound = answer
        actual = to_numpy(result)
        why = _wrong(actual, np.asarray(expected), bound)
        if why:
            out.append(Difference(f"NumPy reference of step {n + i}, {s.text}", -1, why))
    return out


def _wrong(actual: np.ndarray, expected: np.ndarray, bound: Any) -> str:
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, NumPy's is {expected.shape}"
    if expected.dtype.kind in "biu" and actual.dtype.kind in "biu":
        bad = actual != expected.astype(actual.dtype)
    else:
        with np.errstate(all="ignore"):
            e = expected.astype(np.complex128 if expected.dtype.kind == "c" else np.float64)
            a = actual.astype(e.dtype)
            near = np.abs(a - e) <= bound
            # An overflow to infinity is right where the exact value is at the edge of the range.
            near |= (np.isinf(a) & np.isfinite(e) & (actual.dtype.itemsize < 8)
                     & (np.abs(e) > 6e4))
            bad = ~(near | (a == e) | (np.isnan(a) & np.isnan(e)))
    if not bad.any():
        return ""
    at = int(np.flatnonzero(bad)[0])
    return (f"{int(bad.sum())} of {bad.size} wrong, first at {at}: {actual.flat[at]!r}, NumPy "
            f"gives {expected.flat[at]!r}")
