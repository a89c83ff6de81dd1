"""Structural operations: conversion, views, placing, reductions, products.

Everything else is built from these and from the elementwise bodies of `ops`. The functions here
build nodes from nodes; argument checking belongs to `ops`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, wraps
from typing import Any

import numpy as np

from eutectic.dtype import Dtype, float32, int64, uint8
from eutectic.graph.ir import CONST, IOTA, Node
from eutectic.kernel import reductions
from eutectic.kernel.prim import Prim
from eutectic.kernel.rounding import odd_f32
from eutectic.kernel.scalar import (
    Complex, Value, bits_to_float, const_bits, convert, pattern, quieted)
from eutectic.kernel.memory import gather_offset, load_element


def _cast_body(v: Value | Complex, to: str) -> Value | Complex:
    if isinstance(v, Complex):
        if to == "c64":
            return v
        return v.re.ne(0) | v.im.ne(0) if to == "bool" else convert(v.re, to)
    if to == "c64":
        return Complex(quieted(convert(v, "f32")), const_bits(0, "f32"))
    if to == "f32":
        return quieted(convert(v, to))
    return odd_f32(v) if to == "half" else convert(v, to)


CAST = Prim("astype", "elementwise", body=_cast_body)
COPY = Prim("copy", "elementwise", body=lambda v: v)
TRANSPOSE = Prim("transpose", "view")
"""attrs = (permutation,)"""
SLICE = Prim("slice", "view")
"""attrs = (starts, steps): element i of an axis is element start + i*step of the input's."""
RESHAPE = Prim("reshape", "view")
BROADCAST = Prim("broadcast_to", "view")
"""Input axes of length 1, or missing in front, repeat."""
CONCATENATE = Prim("concatenate", "place")
"""attrs = (axis,): the inputs one after another."""
PAD = Prim("pad", "place")
"""inputs (a, fill value of shape ()), attrs = (low,): a placed at `low` in a filled array."""
JOIN = Prim("join", "place")
"""attrs = (starts,): the inputs as boxes that cover the result, input i from coordinates starts[i]
on. Fusion makes it where a consumer of joined arrays is computed part by part."""
MATMUL = Prim("matmul", "contract")
"""inputs (..., M, K) and (..., K, N) with equal batch axes."""


def _gather_body(address: Value, *operands: Any) -> Value | Complex:
    return load_element(address + gather_offset(*operands[:-1]), operands[-1])


GATHER = Prim("gather", "elementwise", body=_gather_body)
"""inputs (a, index, ...), attrs = (axes,): for each axis of a, the axis of the result whose
coordinate it takes, or -1 - j where index j (which broadcasts to the result) chooses it."""
COMBINE = {name: Prim(f"scatter_{name}", "elementwise", body=body)
           for name, body in reductions.COMBINE_BODY.items()}
"""What a scatter does with an element that is there and one that comes."""
SCATTER = Prim("scatter", "place")
"""inputs (a, updates, index, ...), attrs = (axes, mode): a with its elements at the indices
replaced by updates ('set') or combined with them ('sum', 'prod', 'div', 'max', 'min'), one update
after another in row-major order; axes as GATHER's, with axes of the updates."""
UPDATE = Prim("update", "scatter")
"""The updates of a scatter on their way into its memory: inputs (updates, index, ...)."""
SCAN = {name: Prim(f"cum{name}", "scan", reduction=r) for name, r in reductions.REDUCTIONS.items()
        if name in ("sum", "prod", "max", "min")}
"""Running reductions along the last axis, attrs = (inclusive,)."""
REDUCE = {name: Prim(name, "reduction", reduction=r) for name, r in reductions.REDUCTIONS.items()}
"""attrs = (axes,) sorted; reduced axes are dropped from the shape."""


def const(value: int | float | bool | complex, dtype: Dtype) -> Node:
    """A scalar of a dtype, rounded to it."""
    return Node(CONST, (), (const_pattern(value, dtype),), (), dtype)


def const_pattern(value: Any, dtype: Dtype) -> int:
    """Bit pattern in memory of a Python number in a dtype (halves rounded to nearest even)."""
    if dtype.is_half:
        # One rounding from the exact number: through float32 it would be two.
        return _half_pattern(pattern(value, "f64"), dtype.name)
    if dtype.is_complex:
        z = complex(value)
        return pattern(z.real, "f32") | pattern(z.imag, "f32") << 32
    return pattern(value.real if isinstance(value, complex) else value, dtype.compute)


@lru_cache(maxsize=1024)
def _half_pattern(bits: int, name: str) -> int:
    # The cache tells -0.0 from 0.0, which are equal: the number comes as its bits.
    value = bits_to_float(bits, 64)
    if name == "float16":
        with np.errstate(over="ignore"):
            return int(np.float16(value).view(np.uint16))
    if value != value:
        return 0x7FC0 | (bits >> 48 & 0x8000)
    # Round to odd at float32 keeps enough for a second rounding to be exact.
    with np.errstate(over="ignore"):
        single = np.float32(value)
    if np.isfinite(single) and float(single) != value:
        if abs(float(single)) > abs(value):
            single = np.nextafter(single, np.float32(0))
        b = int(single.view(np.uint32)) | 1
    else:
        b = int(single.view(np.uint32))
    return (b + 0x7FFF + (b >> 16 & 1)) >> 16


def cast(a: Node, dtype: Dtype) -> Node:
    """a in another dtype; a itself where it has it already."""
    if a.dtype is dtype:
        return a
    # Of a number that float32 does not hold, rounding it to float32 and then to the half is wrong.
    twice = dtype.is_half and a.dtype.compute in ("i32", "u32", "i64", "u64", "f64")
    return Node(CAST, (a,), ("half" if twice else dtype.compute,), a.shape, dtype)


def transpose(a: Node, perm: tuple[int, ...]) -> Node:
    if perm == tuple(range(len(perm))):
        return a
    return Node(TRANSPOSE, (a,), (perm,), tuple([a.shape[p] for p in perm]), a.dtype)


def slice_(a: Node, starts: tuple[int, ...], steps: tuple[int, ...],
           shape: tuple[int, ...]) -> Node:
    if shape == a.shape and not any(starts) and all(s == 1 for s in steps):
        return a
    return Node(SLICE, (a,), (starts, steps), shape, a.dtype)


def reshape(a: Node, shape: tuple[int, ...]) -> Node:
    return a if shape == a.shape else Node(RESHAPE, (a,), (), shape, a.dtype)


def broadcast(a: Node, shape: tuple[int, ...]) -> Node:
    return a if shape == a.shape else Node(BROADCAST, (a,), (), shape, a.dtype)


def iota(shape: tuple[int, ...], axis: int) -> Node:
    return Node(IOTA, (), (axis,), shape, int64)


def concatenate(parts: Sequence[Node], axis: int) -> Node:
    if len(parts) == 1:
        return parts[0]
    shape = list(parts[0].shape)
    shape[axis] = sum([p.shape[axis] for p in parts])
    return Node(CONCATENATE, tuple(parts), (axis,), tuple(shape), parts[0].dtype)


def pad(a: Node, low: tuple[int, ...], high: tuple[int, ...], fill: Node) -> Node:
    shape = tuple([lo + d + hi for lo, d, hi in zip(low, a.shape, high)])
    return a if shape == a.shape else Node(PAD, (a, fill), (low,), shape, a.dtype)


def reduce(name: str, a: Node, axes: tuple[int, ...], keepdims: bool = False) -> Node:
    """Reduce over sorted non-negative axes; several runs of axes are reduced innermost first."""
    prim = REDUCE[name]
    assert prim.reduction is not None
    dtype = prim.reduction.result(a.dtype)
    full = a.shape
    runs = _runs(axes)
    if len(runs) > 1:
        # Partial results of the halves stay in float32, so that one rounding remains.
        half = a.dtype if a.dtype.is_half and name in ("sum", "prod") else None
        out = a
        if half is not None:
            out = cast(a, float32)
        for run in reversed(runs):
            out = _reduce_run(prim, out, run)
        out = cast(out, half) if half is not None else out
    else:
        out = _reduce_run(prim, a, axes) if axes else cast(a, dtype)
    if keepdims:
        shape = tuple([1 if i in axes else d for i, d in enumerate(full)])
        out = reshape(out, shape)
    return out


def _reduce_run(prim: Prim, a: Node, axes: tuple[int, ...]) -> Node:
    shape = tuple([d for i, d in enumerate(a.shape) if i not in axes])
    assert prim.reduction is not None
    return Node(prim, (a,), (axes,), shape, prim.reduction.result(a.dtype))


def _runs(axes: tuple[int, ...]) -> list[tuple[int, ...]]:
    runs: list[list[int]] = []
    for ax in axes:
        if runs and runs[-1][-1] == ax - 1:
            runs[-1].append(ax)
        else:
            runs.append([ax])
    return [tuple(r) for r in runs]


def matmul(a: Node, b: Node) -> Node:
    """Product of equal-batch operands of one inexact dtype."""
    return Node(MATMUL, (a, b), (), (*a.shape[:-1], b.shape[-1]), a.dtype)


def identity_value(bits: int, dtype: Dtype) -> int | float | bool:
    """The Python number of an identity's bit pattern (in the compute type of a dtype)."""
    if dtype.is_float or dtype.is_complex:
        return bits_to_float(bits, 64 if dtype.compute == "f64" else 32)
    return bits - (1 << 8 * dtype.size) if dtype.is_signed and bits >> (
        8 * dtype.size - 1) else bits


def scan(name: str, a: Node, inclusive: bool = True) -> Node:
    """Running `sum`, `prod`, `max` or `min` along the last axis, in a's dtype.

    The order is fixed: within a block of LANES elements, doubling steps; blocks in sequence.
    """
    n = Node(SCAN[name], (a,), (inclusive,), a.shape, a.dtype)
    return n if a.shape[-1] > 1 else short_scan(n)


def short_scan(n: Node) -> Node:
    """A scan of at most one element: the element, or the identity where it does not count."""
    if n.attrs[0]:
        return n.inputs[0]
    assert n.prim.reduction is not None
    bits = n.prim.reduction.identity(n.dtype.compute)[0][1]
    return broadcast(const(identity_value(bits, n.dtype), n.dtype), n.shape)


def scatter(a: Node, updates: Node, indices: Sequence[Node], axes: tuple[int, ...],
            mode: str) -> Node:
    """`a` changed at places chosen by integer arrays; see SCATTER."""
    return Node(SCATTER, (a, updates, *indices), (axes, mode), a.shape, a.dtype)


def gather(a: Node, indices: Sequence[Node], axes: tuple[int, ...], shape: tuple[int, ...]) -> Node:
    """Elements of `a` chosen by integer arrays; see GATHER."""
    return Node(GATHER, (a, *indices), (axes,), shape, a.dtype)


def opaque(name: str, call: Callable[..., Any], inputs: Sequence[Node], attrs: tuple[Any, ...],
           outs: Sequence[tuple[tuple[int, ...], Dtype]]) -> list[Node]:
    """Results of a Python function of NumPy arrays: `call(*inputs, *attrs)`, a tuple of several.

    Inputs come as read-only views in the dtype's NumPy type (bfloat16: its bits as uint16).
    """
    if len(outs) == 1:
        return [Node(opaque_prim(name, call), tuple(inputs), attrs, *outs[0])]
    return parts(packed(opaque_prim(name, call, True), inputs, attrs, outs))


def packed(prim: Prim, inputs: Sequence[Node], attrs: tuple[Any, ...],
           outs: Sequence[tuple[tuple[int, ...], Dtype]]) -> Node:
    """The node that computes several results, as bytes; `parts` takes them out of it.

    Its last attribute says where they lie: (byte offset, shape, dtype) of each.
    """
    offsets = [0]
    for shape, dtype in outs:
        size = dtype.size
        for d in shape:
            size *= d
        offsets.append(-(-(offsets[-1] + size) // 64) * 64)
    layout = tuple([(at, shape, dtype) for at, (shape, dtype) in zip(offsets, outs)])
    return Node(prim, tuple(inputs), (*attrs, layout), (offsets[-1],), uint8)


def parts(whole: Node) -> list[Node]:
    """The results of an opaque operation with several."""
    return [Node(PART, (whole,), (at, shape, dtype), shape, dtype)
            for at, shape, dtype in whole.attrs[-1]]


def part_index(n: Node) -> int:
    """Which of the results a part is."""
    return int(n.inputs[0].attrs[-1].index(n.attrs))


def has_parts(n: Node) -> bool:
    """Whether a node computes several results, as bytes."""
    return n.prim in _SEVERAL


_SEVERAL: set[Prim] = set()


def opaque_prim(name: str, call: Callable[..., Any], several: bool = False) -> Prim:
    """The operation that computes `call`; with `several` results, as bytes of one array."""
    return _opaque_prim(name, call, several)


@cache
def _opaque_prim(name: str, call: Callable[..., Any], several: bool) -> Prim:
    prim = Prim(name, "opaque", call=_packed(call) if several else call)
    if several:
        _SEVERAL.add(prim)
    return prim


@cache
def _packed(call: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(call)
    def run(*args: Any) -> np.ndarray:
        *rest, layout = args
        end, shape, dtype = layout[-1]
        out = np.empty(-(-(end + math.prod(shape) * dtype.size) // 64) * 64, np.uint8)
        for (at, shape, dtype), value in zip(layout, call(*rest)):
            part = np.ascontiguousarray(value, dtype.np).reshape(shape)
            out[at:at + part.nbytes] = part.reshape(-1).view(np.uint8)
        return out
    return run


def _part(whole: np.ndarray, at: int, shape: tuple[int, ...], dtype: Dtype) -> np.ndarray:
    size = math.prod(shape) * dtype.size
    return whole[at:at + size].view(dtype.np).reshape(shape)


PART = Prim("part", "opaque", call=_part)
"""One of several results of an opaque operation: attrs = (byte offset, shape, dtype)."""
