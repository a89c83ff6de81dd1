"""Every message for bad input: (code, class, what the message says)."""

# ruff: noqa: E501 - a row of the table is a line

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic import errors
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, AxisError, DtypeError, IndexingError, ShapeError, TraceError,
    show_shape)

X = "mx.ones((2, 3))"

TABLE: list[tuple[str, type[Exception], str]] = [
    # construction
    ("mx.array([[1, 2], [3]])", ShapeError, "[array] the nested lists are ragged: rows of shapes (2,) and (1,) stand side by side."),
    ("mx.array([[1, 2], 3])", ShapeError, "[array] the nested lists are ragged: rows of shapes (2,) and ()"),
    ("mx.array([mx.ones(2), mx.ones(3)])", ShapeError, "[array] the nested lists are ragged: rows of shapes (2,) and (3,)"),
    ("mx.array('a')", ArgumentTypeError, "[array] cannot make an array of a str"),
    ("mx.array(None)", ArgumentTypeError, "[array] cannot make an array of a NoneType"),
    ("mx.array([None])", ArgumentTypeError, "[array] cannot take a NoneType in a list."),
    ("mx.array([mx.array(1), 'a'])", ArgumentTypeError, "[array] cannot take a str in a list."),
    ("mx.array(2**63)", ArgumentError, "[array] the integer 9223372036854775808 does not fit int64."),
    ("mx.array([2**63])", ArgumentError, "[array] the integer 9223372036854775808 does not fit int64."),
    ("mx.array(1, 'int32')", ArgumentTypeError, "[array] dtype must be a Dtype, not a str."),
    ("mx.array(np.array(['a']))", DtypeError, "[array] no data type for NumPy's <U1."),
    ("mx.array(np.array([{}]))", DtypeError, "[array] no data type for NumPy's object."),
    # values
    ("mx.ones(2).item()", ShapeError, "[item] only an array of one element is a Python number, not one of shape (2,)."),
    ("bool(mx.ones(2))", ShapeError, "[bool] only an array of one element"),
    ("int(mx.ones(2))", ShapeError, "[int] only an array of one element"),
    ("float(mx.ones(2))", ShapeError, "[float] only an array of one element"),
    ("complex(mx.ones(2))", ShapeError, "[complex] only an array of one element"),
    ("range(3)[mx.array(1.0)]", ArgumentTypeError, "[index] only an integer array of shape () is an index, not float32 of shape ()."),
    ("len(mx.array(1))", ArgumentTypeError, "[len] the array has no axes."),
    ("iter(mx.array(1))", ArgumentTypeError, "[iter] the array has no axes."),
    ("mx.ones(2).__array__(np.int8, copy=False)", ArgumentError, "[numpy] float32 becomes int8 only by copying."),
    # elementwise
    (f"{X} + mx.ones((2, 4))", ShapeError, "[add] shapes (2,3) and (2,4) cannot be broadcast together."),
    ("mx.add('a', 1)", ArgumentTypeError, "[add] cannot take a str as an operand; give an array or a number."),
    ("mx.exp([1])", ArgumentTypeError, "[exp] cannot take a list as an operand"),
    ("mx.array(1, mx.int8) + 1000", ArgumentError, "[add] the integer 1000 does not fit int8."),
    ("mx.array(1, mx.uint8) - -1", ArgumentError, "[subtract] the integer -1 does not fit uint8."),
    ("mx.ones(2) + 10**400", ArgumentError, "[add] the integer is too large for float32."),
    ("mx.exp(np.str_('a'))", DtypeError, "[exp] no data type for NumPy's <U1."),
    ("-mx.array(True)", DtypeError, "[negative] does not take bool; use logical_not."),
    ("mx.erf(mx.array(1j))", DtypeError, "[erf] does not take complex64; give real numbers."),
    ("mx.array([1.0]) & 1", DtypeError, "[bitwise_and] does not take float32; give integers or booleans."),
    ("~mx.array([1.0])", DtypeError, "[bitwise_invert] does not take float32; give integers or booleans."),
    ("mx.array([1.0]) << 1", DtypeError, "[left_shift] does not take float32"),
    ("mx.floor_divide(mx.array(1j), 2)", DtypeError, "[floor_divide] does not take complex64"),
    ("x = mx.array([1]); x /= 2", DtypeError, "[divide] in place cannot turn int32 into a floating type; use x = x / y."),
    ("mx.round(mx.ones(2), 1.5)", ArgumentTypeError, "[round] decimals must be an integer, not float."),
    ("mx.clip(mx.ones(2), None, None)", ArgumentError, "[clip] at most one of a_min and a_max may be None."),
    ("mx.clip(mx.ones(2), mx.ones(3), 1)", ShapeError, "[clip] shapes (2,) and (3,) and () cannot be broadcast together."),
    ("mx.where(mx.ones(2), mx.ones(3), 1)", ShapeError, "[where] shapes (2,) and (3,) and () cannot be broadcast together."),
    ("mx.nan_to_num(mx.array(1j))", DtypeError, "[nan_to_num] does not take complex64."),
    ("mx.isclose(mx.ones(2), mx.ones(3))", ShapeError, "[isclose] shapes (2,) and (3,)"),
    ("mx.array(1).astype('int8')", ArgumentTypeError, "[astype] dtype must be a Dtype, not a str."),
    # creation
    ("mx.zeros(-1)", ShapeError, "[zeros] negative length in shape (-1,)."),
    ("mx.ones((2, -1))", ShapeError, "[ones] negative length in shape (2,-1)."),
    ("mx.zeros(2.5)", ArgumentTypeError, "[zeros] shape must be an integer or a sequence of integers, not float."),
    ("mx.zeros((2, 2.5))", ArgumentTypeError, "[zeros] shape must be an integer, not float."),
    ("mx.zeros(2, 'f4')", ArgumentTypeError, "[zeros] dtype must be a Dtype, not a str."),
    ("mx.full((2, 2), mx.ones(3))", ShapeError, "[full] shapes (3,) and (2,2) cannot be broadcast together."),
    ("mx.full((), mx.ones(3))", ShapeError, "[full] shape (3,) does not broadcast to ()."),
    ("mx.zeros_like(3)", ArgumentTypeError, "[zeros_like] needs an array, not a int."),
    ("mx.arange(0, 5, 0)", ArgumentError, "[arange] step must not be 0."),
    ("mx.arange(mx.inf)", ArgumentError, "[arange] no length from 0 to inf by 1."),
    ("mx.arange(3, dtype=mx.bool_)", DtypeError, "[arange] does not make bool."),
    ("mx.arange(True)", ArgumentTypeError, "[arange] start, stop and step must be integers or floats, not bool."),
    ("mx.arange()", ArgumentTypeError, "[arange] needs a stop."),
    ("mx.arange(1, 2, 3, 4)", ArgumentTypeError, "[arange] takes at most 3 numbers, got 4."),
    ("mx.linspace(0, 1, -1)", ArgumentError, "[linspace] num must not be negative, got -1."),
    ("mx.linspace(0, 1j, 2)", ArgumentTypeError, "[linspace] stop must be a real number, not complex."),
    ("mx.eye(-1)", ShapeError, "[eye] negative length in shape (-1,-1)."),
    ("mx.tril(mx.ones(2))", ShapeError, "[tril] needs at least 2 axes, got shape (2,)."),
    ("mx.diag(mx.array(1))", ShapeError, "[diag] needs 1 or 2 axes, got shape ()."),
    ("mx.diagonal(mx.ones(2))", ShapeError, "[diagonal] needs at least 2 axes, got shape (2,)."),
    (f"mx.diagonal({X}, 0, 1, 1)", ShapeError, "[diagonal] axis1 and axis2 are both 1 for shape (2,3)."),
    ("mx.meshgrid(mx.ones(2), indexing='zz')", ArgumentError, "[meshgrid] indexing must be 'xy' or 'ij', not 'zz'."),
    ("mx.asarray([1], copy=False)", ArgumentError, "[asarray] a list becomes an array only by copying."),
    # shapes
    (f"{X}.reshape(4)", ShapeError, "[reshape] 6 elements of shape (2,3) do not fit shape (4,)."),
    (f"{X}.reshape(-1, 4)", ShapeError, "[reshape] 6 elements of shape (2,3) do not fit shape (-1,4)."),
    (f"{X}.reshape(-1, -1)", ShapeError, "[reshape] only one length of (-1,-1) may be -1."),
    ("mx.ones(0).reshape(-1, 0)", ShapeError, "[reshape] no length for -1 in (-1,0) from shape (0,)."),
    (f"{X}.reshape(2.0, 3)", ArgumentTypeError, "[reshape] shape must be an integer, not float."),
    (f"mx.transpose({X}, (0, 0))", ShapeError, "[transpose] axes (0,0) are not a permutation of those of shape (2,3)."),
    (f"mx.transpose({X}, (0, 2))", AxisError, "[transpose] axis 2 is out of range for shape (2,3)."),
    (f"mx.swapaxes({X}, 0, 2)", AxisError, "[swapaxes] axis 2 is out of range for shape (2,3)."),
    (f"mx.moveaxis({X}, -3, 0)", AxisError, "[moveaxis] axis -3 is out of range for shape (2,3)."),
    ("mx.ones(3).mT", ShapeError, "[matrix_transpose] needs at least 2 axes, got shape (3,)."),
    (f"mx.broadcast_to({X}, (3,))", ShapeError, "[broadcast_to] shape (2,3) does not broadcast to (3,)."),
    (f"mx.broadcast_to({X}, (2, 4))", ShapeError, "[broadcast_to] shapes (2,3) and (2,4) cannot be broadcast"),
    ("mx.broadcast_shapes()", ArgumentError, "[broadcast_shapes] needs at least one shape."),
    ("mx.broadcast_arrays(mx.ones(2), mx.ones(3))", ShapeError, "[broadcast_arrays] shapes (2,) and (3,)"),
    (f"mx.expand_dims({X}, 5)", AxisError, "[expand_dims] axis 5 is out of range for shape (1,1,1)."),
    (f"mx.expand_dims({X}, (0, 0))", AxisError, "[expand_dims] axis 0 is given twice"),
    (f"mx.squeeze({X}, 1)", ShapeError, "[squeeze] axis 1 of shape (2,3) does not have length 1."),
    (f"mx.squeeze({X}, 'a')", ArgumentTypeError, "[squeeze] axis must be an integer, not str."),
    (f"mx.squeeze({X}, 1.5)", ArgumentTypeError, "[squeeze] axis must be an integer or a sequence of integers, not float."),
    (f"mx.flatten({X}, 1, 0)", ShapeError, "[flatten] start_axis 1 is behind end_axis 0 for shape (2,3)."),
    ("mx.hadamard_transform(mx.ones(4), 'x')", ArgumentTypeError, "[hadamard_transform] scale must be a real number, not str."),
    ("mx.linspace(0, 'x')", ArgumentTypeError, "[linspace] stop must be a real number, not str."),
    (f"mx.nan_to_num({X}, '1')", ArgumentTypeError, "[nan_to_num] nan must be a real number, not str."),
    (f"mx.isclose({X}, 1.0, rtol='1')", ArgumentTypeError, "[isclose] rtol must be a real number, not str."),
    (f"mx.issubdtype({X}, mx.floating)", ArgumentTypeError, "[issubdtype] takes dtypes and categories, not array."),
    (f"mx.unflatten({X}, 1, (2, 2))", ShapeError, "[unflatten] 3 elements of shape (2,3) do not fit shape (2,2)."),
    (f"mx.unflatten({X}, 1, ())", ShapeError, "[unflatten] the shape must not be empty."),
    (f"{X}.view('int8')", ArgumentTypeError, "[view] dtype must be a Dtype, not a str."),
    ("mx.ones(3, mx.int8).view(mx.int16)", ShapeError, "[view] int8 of shape (3,) does not make whole elements of int16."),
    ("mx.array(1.0).view(mx.int8)", ShapeError, "[view] float32 of shape () does not make whole elements of int8."),
    # joining
    (f"mx.concatenate([{X}, mx.ones((2, 2))])", ShapeError, "[concatenate] shapes (2,3) and (2,2) differ outside axis 0."),
    ("mx.concatenate([mx.ones(2), mx.ones((2, 2))])", ShapeError, "[concatenate] shapes (2,) and (2,2) differ outside axis 0."),
    ("mx.concatenate([mx.array(1)])", AxisError, "[concatenate] axis 0 is out of range for shape ()."),
    ("mx.concatenate([])", ArgumentError, "[concatenate] needs at least one array."),
    ("mx.concatenate(3)", ArgumentTypeError, "[concatenate] needs a list of arrays, not a int."),
    ("mx.stack([mx.ones(2), mx.ones(3)])", ShapeError, "[stack] shapes (2,) and (3,) differ."),
    ("mx.stack([mx.ones(2)], axis=2)", AxisError, "[stack] axis 2 is out of range for shape (2,1)."),
    ("mx.split(mx.ones(6), 4)", ShapeError, "[split] axis 0 of shape (6,) does not split into 4 equal parts."),
    ("mx.split(mx.ones(6), 0)", ArgumentError, "[split] the number of parts must be positive, got 0."),
    ("mx.split(mx.ones(6), 2.0)", ArgumentTypeError, "[split] indices_or_sections must be an integer, not float."),
    ("mx.pad(mx.ones(3), -1)", ArgumentError, "[pad] pad_width must not be negative, got (-1, -1)."),
    ("mx.pad(mx.ones(3), 1, mode='wrap')", ArgumentError, "[pad] mode must be 'constant', 'edge', 'reflect' or 'symmetric', not 'wrap'."),
    (f"mx.pad({X}, ((1, 1),) * 3)", ShapeError, "[pad] 3 pairs for the 2 axes of shape (2,3)."),
    (f"mx.pad({X}, ((1,),))", ArgumentError, "[pad] an axis's pad_width must be a pair (low, high)."),
    (f"mx.pad({X}, (1, 2, 3))", ArgumentError, "[pad] pad_width must be an integer, a pair or a pair for each axis, got 3 integers."),
    ("mx.pad(mx.ones(0), 1, mode='edge')", ShapeError, "[pad] mode 'edge' needs elements on axis 0 of shape (0,)."),
    ("mx.pad(mx.ones(2), 1, constant_values=mx.ones(2))", ShapeError, "[pad] constant_values must be one number, not of shape (2,)."),
    ("mx.tile(mx.ones(2), -1)", ArgumentError, "[tile] reps must not be negative, got (-1,)."),
    ("mx.repeat(mx.ones(2), -1)", ArgumentError, "[repeat] repeats must not be negative, got -1."),
    ("mx.roll(mx.ones(2), (1, 2, 3), (0, 0))", AxisError, "[roll] 3 shifts for 2 axes of shape (2,)."),
    # reductions
    (f"mx.sum({X}, axis=2)", AxisError, "[sum] axis 2 is out of range for shape (2,3)."),
    (f"mx.sum({X}, axis=(0, -2))", AxisError, "[sum] axis 0 is given twice for shape (2,3)."),
    (f"{X}.mean('a')", ArgumentTypeError, "[mean] axis must be an integer, not str."),
    ("mx.max(mx.ones((0, 3)))", ShapeError, "[max] no max over axis 0 of length 0 in shape (0,3)."),
    ("mx.min(mx.ones((2, 0)), axis=1)", ShapeError, "[min] no min over axis 1 of length 0 in shape (2,0)."),
    ("mx.argmax(mx.ones(0))", ShapeError, "[argmax] no position among the zero elements of shape (0,)."),
    ("mx.argmin(mx.array([1j]))", DtypeError, "[argmin] does not take complex64."),
    ("mx.argmax(mx.ones(2), axis=1)", AxisError, "[argmax] axis 1 is out of range for shape (2,)."),
    ("mx.logsumexp(mx.ones(0))", ShapeError, "[logsumexp] no elements in shape (0,)."),
    ("mx.softmax(mx.ones(2), axis=1)", AxisError, "[softmax] axis 1 is out of range for shape (2,)."),
    ("mx.var(mx.ones(2), ddof=0.5)", ArgumentTypeError, "[var] ddof must be an integer, not float."),
    # products
    ("mx.ones(2, mx.int32) @ mx.ones(2, mx.int32)", DtypeError, "[matmul] only inexact types are supported but int32 and int32 were given."),
    (f"{X} @ {X}", ShapeError, "[matmul] shapes (2,3) and (2,3): the inner lengths 3 and 2 differ."),
    ("mx.ones((2, 2, 2)) @ mx.ones((3, 2, 2))", ShapeError, "[matmul] shapes (2,2,2) and (3,2,2): the axes before the last two"),
    ("mx.ones(2) @ mx.array(1.0)", ShapeError, "[matmul] shapes (2,) and (): both operands need at least one axis."),
    (f"mx.addmm(mx.ones(5), {X}, {X}.T)", ShapeError, "[addmm] shapes (2,2) and (5,) cannot be broadcast together."),
    (f"mx.addmm(mx.ones((2, 2, 2)), {X}, {X}.T)", ShapeError, "[addmm] shape (2,2,2) does not broadcast to (2,2)."),
    # indexing
    ("mx.ones(2)[2]", IndexingError, "[index] index 2 is out of range for axis 0 of shape (2,)."),
    (f"{X}[0, -4]", IndexingError, "[index] index -4 is out of range for axis 1 of shape (2,3)."),
    ("mx.ones(2)[0, 0]", IndexingError, "[index] 2 indices for the 1 axes of shape (2,)."),
    ("mx.array(1)[0]", IndexingError, "[index] 1 indices for the 0 axes of shape ()."),
    ("mx.ones(2)['a']", IndexingError, "[index] an index is an integer, a slice, None, ..., an array of integers or a mask, not a str."),
    ("mx.ones(2)[1.5]", IndexingError, "[index] an index is an integer, a slice, None, ..., an array of integers or a mask, not a float."),
    ("mx.ones(2)[..., ...]", IndexingError, "[index] only one ellipsis (...) is allowed in an index."),
    ("mx.ones(2)[::0]", IndexingError, "[index] a slice needs integers and a step other than 0, not slice(None, None, 0)."),
    ("mx.ones(2)['a':]", IndexingError, "[index] a slice needs integers and a step other than 0, not slice(str, None, None)."),
    ("x = mx.ones(2); x[0:2] = mx.ones(3)", ShapeError, "[index] a value of shape (3,) does not broadcast to the selected shape (2,)."),
    ("x = mx.ones(2, mx.uint8); x[0] = 300", ArgumentError, "[index] the integer 300 does not fit uint8."),
    ("x = mx.ones(2); x[0] = 'a'", ArgumentTypeError, "[index] cannot take a str as an operand"),
    # random
    ("mx.random.key(-1)", ArgumentError, "[key] the seed must be in [0, 2**64), got -1."),
    ("mx.random.key(1.5)", ArgumentTypeError, "[key] seed must be an integer, not float."),
    ("mx.random.split(mx.array([1, 2]))", DtypeError, "[split] a key has dtype uint32, not int32."),
    ("mx.random.split(mx.ones(3, mx.uint32))", ShapeError, "[split] a key has shape (2,), not (3,)."),
    ("mx.random.split(3)", ArgumentTypeError, "[split] a key is an array, not a int."),
    ("mx.random.split(mx.random.key(0), -1)", ArgumentError, "[split] num must not be negative, got -1."),
    ("mx.random.uniform(shape=(-1,))", ShapeError, "[uniform] negative length in shape (-1,)."),
    ("mx.random.uniform(dtype=mx.int32)", DtypeError, "[uniform] only floating dtypes are drawn, not int32."),
    ("mx.random.normal(dtype='f4')", ArgumentTypeError, "[normal] dtype must be a Dtype, not a str."),
    ("mx.random.uniform(mx.zeros(2), 1)", ShapeError, "[uniform] parameters of shape (2,) do not broadcast to ()."),
    ("mx.random.randint(0, 3, dtype=mx.float32)", DtypeError, "[randint] only integers and booleans are drawn, not float32."),
    ("mx.random.randint(0, 300, dtype=mx.uint8)", ArgumentError, "[randint] the bound 300 does not fit uint8."),
    ("mx.random.bernoulli(mx.array([1]))", DtypeError, "[bernoulli] the probability must be a float, not int32."),
    # types and devices
    ("mx.finfo(mx.int32)", DtypeError, "[finfo] int32 is not inexact."),
    ("mx.iinfo(mx.bool_)", DtypeError, "[iinfo] bool is not an integer type."),
    ("mx.result_type()", ArgumentError, "[result_type] needs at least one array or dtype."),
    ("mx.result_type(1.0)", ArgumentTypeError, "[result_type] takes arrays and dtypes, not a float."),
    ("mx.can_cast(1, mx.int8)", ArgumentTypeError, "[can_cast] takes an array or dtype, and a dtype."),
    ("mx.isdtype(mx.int8, 'foo')", ArgumentError, "[isdtype] there is no kind 'foo'"),
    ("mx.set_default_device(mx.gpu)", ArgumentError, "[set_default_device] there is no device DeviceType.gpu; only the CPU is there."),
    ("mx.stream(3)", ArgumentTypeError, "[stream] needs a device, not a int."),
    ("mx.is_available(3)", ArgumentTypeError, "[is_available] needs a device, not a int."),
    ("mx.device_count(3)", ArgumentTypeError, "[device_count] needs mx.cpu or mx.gpu, not 3."),
    ("mx.Stream(mx.cpu)", ArgumentTypeError, "[Stream] needs a Device, not DeviceType.cpu."),
    ("mx.set_cache_limit(-1)", ArgumentError, "[set_cache_limit] limit must not be negative, got -1."),
    ("mx.set_memory_limit(1.5)", ArgumentTypeError, "[set_memory_limit] limit must be an integer, not float."),
    ("mx.set_wired_limit('a')", ArgumentTypeError, "[set_wired_limit] limit must be an integer, not str."),
]  # fmt: skip


@pytest.mark.parametrize(("code", "kind", "message"), TABLE, ids=[c for c, _, _ in TABLE])
def test_message(code: str, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=re.escape(message)) as found:
        exec(code, {"mx": mx, "np": np})
    assert type(found.value) is kind
    assert all(len(line) <= 100 for line in str(found.value).splitlines())
    assert found.value.__cause__ is None or kind in (IndexingError, DtypeError)


PLACEHOLDERS: list[tuple[str, str]] = [
    ("x.item()", "item"), ("x.tolist()", "tolist"), ("bool(x)", "bool"), ("int(x)", "int"),
    ("float(x)", "float"), ("print(x)", "print"), ("np.asarray(x)", "numpy"), ("bytes(x)", "bytes"),
    ("f'{x}'", "format"), ("[0, 1][x.astype(mx.int32)]", "index"), ("mx.eval(x)", "eval"),
]


@pytest.mark.parametrize(("code", "operation"), PLACEHOLDERS, ids=[o for _, o in PLACEHOLDERS])
def test_placeholders_have_no_value(code: str, operation: str) -> None:
    def f(x: Any) -> Any:
        exec(compile(code, "user.py", "exec"), {"mx": mx, "np": np, "x": x + 1})
        return x

    with pytest.raises(TraceError) as found:
        mx.compile(f)(mx.array(1.0))
    text = " ".join(str(found.value).split())
    assert text.startswith(f"[{operation}] ")
    assert "needs the value of an array" in text and "while mx.compile traces 'f'" in text
    assert 'File "user.py", line 1, in <module>' in text


def test_classes_are_also_the_usual_ones() -> None:
    assert issubclass(ShapeError, ValueError)
    assert issubclass(DtypeError, ValueError)
    assert issubclass(DtypeError, TypeError)
    assert issubclass(AxisError, IndexError)
    assert issubclass(IndexingError, IndexError)
    assert issubclass(TraceError, ValueError)
    assert issubclass(errors.AllocationError, MemoryError)


def test_shapes_in_messages() -> None:
    assert [show_shape(s) for s in ((), (1,), (2, 3))] == ["()", "(1,)", "(2,3)"]
