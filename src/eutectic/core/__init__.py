"""The facade, used as `import eutectic.core as mx`: explicit re-exports only."""

from eutectic.array import array
from eutectic.config import VERSION
from eutectic.core import cuda, fast, fft, linalg, metal, random
from eutectic.core.array_api import (
    array_namespace_info as __array_namespace_info__)  # noqa: F401 - the standard's name
from eutectic.core.reports import explain, measure
from eutectic.dtype import (
    Dtype, DtypeCategory, bfloat16, bool_, complex64, complexfloating, float16, float32, float64,
    floating, generic, inexact, int8, int16, int32, int64, integer, issubdtype, number,
    signedinteger, uint8, uint16, uint32, uint64, unsignedinteger)
from eutectic.export.api import FunctionExporter, export_function, exporter, import_function
from eutectic.export.dot import export_to_dot
from eutectic.files.api import (
    load, save, save_gguf, save_safetensors, savez, savez_compressed)
from eutectic.ops import (  # noqa: F401 - they add methods and rules
    convolution_derivatives, inplace, library_derivatives, linalg_derivatives)
from eutectic.ops.advanced_indexing import ArrayAt
from eutectic.ops.arithmetic import abs_ as abs
from eutectic.ops.arithmetic import (
    add, conjugate, degrees, divide, floor_divide, imag, logaddexp, maximum, minimum, multiply,
    negative, positive, power, radians, real, reciprocal, remainder, rsqrt, sign, sqrt, square,
    stop_gradient, subtract)
from eutectic.ops.arithmetic import conjugate as conj
from eutectic.ops.arithmetic import divmod_ as divmod
from eutectic.ops.arithmetic import power as pow
from eutectic.ops.bitwise import (
    bitwise_and, bitwise_invert, bitwise_or, bitwise_xor, left_shift, right_shift)
from eutectic.ops.bitwise import left_shift as bitwise_left_shift
from eutectic.ops.bitwise import right_shift as bitwise_right_shift
from eutectic.ops.blockwise import block_masked_mm, gather_mm, segmented_mm
from eutectic.ops.comparison import (
    allclose, array_equal, clip, equal, greater, greater_equal, isclose, isfinite, isinf, isnan,
    isneginf, isposinf, less, less_equal, logical_and, logical_not, logical_or, logical_xor,
    nan_to_num, not_equal, where)
from eutectic.ops.contractions import inner, kron, outer, tensordot, vecdot
from eutectic.ops.convolution import (
    conv1d, conv2d, conv3d, conv_general, conv_transpose1d, conv_transpose2d, conv_transpose3d,
    convolve)
from eutectic.ops.creation import (
    arange, diag, diagonal, e, empty, empty_like, euler_gamma, eye, full, full_like,
    identity, inf, linspace, meshgrid, nan, newaxis, ones, ones_like, pi, trace, tri, tril, triu,
    zeros, zeros_like)
from eutectic.ops.cumulative import cummax, cummin, cumprod, cumsum, diff, logcumsumexp
from eutectic.ops.cumulative import cumprod as cumulative_prod
from eutectic.ops.cumulative import cumsum as cumulative_sum
from eutectic.ops.devices import (
    Device, DeviceType, Stream, StreamContext, ThreadLocalStream, clear_streams, cpu,
    default_device, default_stream, device_count, device_info, gpu, is_available, new_stream,
    new_thread_local_stream, new_thread_unsafe_stream, set_default_device, set_default_stream,
    stream, synchronize)
from eutectic.ops.einsum import einsum, einsum_path
from eutectic.ops.evaluation import (
    async_eval, clear_cache, get_active_memory, get_array_buffer_size, get_cache_memory,
    get_memory_limit, get_peak_memory, reset_peak_memory, set_cache_limit, set_memory_limit,
    set_wired_limit)
from eutectic.ops.evaluation import eval_ as eval
from eutectic.ops.functions import (
    arccos, arccosh, arcsin, arcsinh, arctan, arctan2, arctanh, ceil, cos, cosh, erf, erfinv, exp,
    expm1, floor, log, log1p, log2, log10, sigmoid, sin, sinh, tan, tanh, trunc)
from eutectic.ops.functions import arccos as acos
from eutectic.ops.functions import arccosh as acosh
from eutectic.ops.functions import arcsin as asin
from eutectic.ops.functions import arcsinh as asinh
from eutectic.ops.functions import arctan as atan
from eutectic.ops.functions import arctan2 as atan2
from eutectic.ops.functions import arctanh as atanh
from eutectic.ops.functions import round_ as round
from eutectic.ops.interchange import ArrayLike, asarray, from_dlpack
from eutectic.ops.hadamard import hadamard_transform
from eutectic.ops.joining import (
    concatenate, pad, repeat, roll, split, stack, tile, unstack)
from eutectic.ops.joining import concatenate as concat
from eutectic.ops.matrix import addmm, matmul
from eutectic.ops.norm import norm as matrix_norm
from eutectic.ops.reductions import all_ as all
from eutectic.ops.reductions import any_ as any
from eutectic.ops.reductions import (
    argmax, argmin, count_nonzero, logsumexp, mean, minmax, prod, softmax, std, var)
from eutectic.ops.reductions import max_ as max
from eutectic.ops.reductions import min_ as min
from eutectic.ops.reductions import sum_ as sum
from eutectic.ops.sorting import (
    argpartition, argsort, median, partition, searchsorted, sort, topk, unique)
from eutectic.ops.taking import as_strided, put_along_axis, slice_update, take, take_along_axis
from eutectic.ops.taking import slice_ as slice
from eutectic.ops.types import (
    PrintOptions, can_cast, finfo, get_printoptions, iinfo, isdtype, printoptions, result_type,
    set_printoptions)
from eutectic.ops.views import (
    astype, atleast_1d, atleast_2d, atleast_3d, broadcast_arrays, broadcast_shapes, broadcast_to,
    contiguous, expand_dims, flatten, flip, matrix_transpose, moveaxis, reshape, squeeze, swapaxes,
    transpose, unflatten, view)
from eutectic.ops.views import transpose as permute_dims
from eutectic.ops.windows import bartlett, blackman, hamming, hanning

from eutectic.tracing.function import compile, disable_compile, enable_compile
from eutectic.tracing.stats import assert_max_traces, compile_stats
from eutectic.transforms.autodiff import jvp, vjp
from eutectic.transforms.custom import checkpoint, custom_function, depends
from eutectic.transforms.gradient import grad, value_and_grad
from eutectic.transforms.loops import cond, scan, while_loop
from eutectic.transforms.vectorise import vmap
from eutectic.tree import register_container

__version__ = f"0.32.0+eutectic.{VERSION}"
"""The version of MLX whose API this is, then our own: programs compare it with what they need."""

__all__ = [
    # arrays and their types
    "ArrayAt",
    "ArrayLike", "Dtype", "DtypeCategory", "array", "bfloat16", "bool_", "complex64",
    "complexfloating",
    "float16", "float32", "float64", "floating", "generic", "inexact", "int8", "int16", "int32",
    "int64", "integer", "issubdtype", "number", "signedinteger", "uint8", "uint16", "uint32",
    "uint64", "unsignedinteger", "can_cast", "finfo", "iinfo", "isdtype", "result_type",
    "PrintOptions", "get_printoptions", "printoptions", "set_printoptions",
    # constants
    "e", "euler_gamma", "inf", "nan", "newaxis", "pi",
    # arithmetic
    "abs", "add", "conj", "conjugate", "degrees", "divide", "divmod", "floor_divide", "imag",
    "logaddexp", "maximum", "minimum", "multiply", "negative", "positive", "pow", "power",
    "radians", "real", "reciprocal", "remainder", "rsqrt", "sign", "sqrt", "square",
    "stop_gradient", "subtract",
    # functions
    "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "asin", "asinh", "atan", "atan2", "atanh", "ceil", "cos", "cosh", "erf", "erfinv", "exp",
    "expm1", "floor", "log", "log10", "log1p", "log2", "round", "sigmoid", "sin", "sinh", "tan",
    "tanh", "trunc",
    # bits
    "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "left_shift", "right_shift",
    # comparison and choice
    "allclose", "array_equal", "clip", "equal", "greater", "greater_equal", "isclose", "isfinite",
    "isinf", "isnan", "isneginf", "isposinf", "less", "less_equal", "logical_and", "logical_not",
    "logical_or", "logical_xor", "nan_to_num", "not_equal", "where",
    # creation
    "arange", "asarray", "diag", "diagonal", "empty", "empty_like", "eye", "from_dlpack", "full",
    "full_like", "identity", "linspace", "meshgrid", "ones", "ones_like", "trace", "tri", "tril",
    "triu", "zeros", "zeros_like", "fast", "random",
    # shapes
    "astype", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "broadcast_shapes",
    "broadcast_to", "concat", "concatenate", "contiguous", "expand_dims", "flatten", "flip",
    "matrix_transpose", "moveaxis", "pad", "permute_dims", "repeat", "reshape", "roll", "split",
    "squeeze", "stack", "swapaxes", "tile", "transpose", "unflatten", "unstack", "view",
    # indices
    "as_strided", "put_along_axis", "slice", "slice_update", "take", "take_along_axis",
    # reductions
    "all", "any", "argmax", "argmin", "count_nonzero", "logsumexp", "max", "mean", "min", "minmax",
    "prod", "softmax", "std", "sum", "var",
    # running reductions
    "cummax", "cummin", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum", "diff",
    "logcumsumexp",
    # order
    "argpartition", "argsort", "median", "partition", "searchsorted", "sort", "topk", "unique",
    # products of parts
    "block_masked_mm", "gather_mm", "hadamard_transform", "segmented_mm",
    # products and convolutions
    "conv1d", "conv2d", "conv3d", "conv_general", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "convolve",
    "addmm", "einsum", "einsum_path", "inner", "kron", "matmul", "outer", "tensordot", "vecdot",
    # linear algebra, Fourier transforms, windows
    "bartlett", "blackman", "fft", "hamming", "hanning", "linalg", "matrix_norm",
    # files
    "load", "save", "save_gguf", "save_safetensors", "savez", "savez_compressed",
    "FunctionExporter", "export_function", "export_to_dot", "exporter", "import_function",
    # compiling
    "compile", "disable_compile", "enable_compile", "grad", "jvp", "value_and_grad", "vjp",
    "checkpoint", "custom_function", "depends", "vmap", "explain", "measure",
    "assert_max_traces", "compile_stats", "register_container",
    "cond", "scan", "while_loop",
    # evaluation, devices, memory
    "Device", "DeviceType", "Stream", "StreamContext", "ThreadLocalStream", "async_eval",
    "clear_cache", "clear_streams", "cpu", "default_device", "default_stream",
    "device_count", "device_info", "eval", "get_active_memory", "get_array_buffer_size",
    "get_cache_memory", "get_memory_limit", "get_peak_memory", "gpu", "is_available", "new_stream",
    "new_thread_local_stream", "new_thread_unsafe_stream", "reset_peak_memory", "set_cache_limit",
    "set_default_device", "set_default_stream", "set_memory_limit", "set_wired_limit", "stream",
    "synchronize", "cuda", "metal",
]
