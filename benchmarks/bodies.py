"""Run scalar bodies over NumPy arrays: what the accuracy script and the tests of kernels share."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from eutectic.codegen.scalars import Emitter, element_type, vector_type
from eutectic.kernel.scalar import Complex, Value
from eutectic.runtime.jit import compile_module

NUMPY = {"bool": np.uint8, "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
         "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "f16": np.float16,
         "f32": np.float32, "f64": np.float64}


class Kernel:
    """An elementwise kernel of a body; call it with one array an argument ('c64': complex64)."""

    def __init__(self, body: Callable, types: Sequence[str], width: int = 64) -> None:
        self.types, self.width = tuple(types), width
        arguments, self._flat = [], []
        for ty in self.types:
            if ty == "c64":
                pair = [Value("arg", "f32"), Value("arg", "f32")]
                arguments.append(Complex(*pair))
                self._flat += pair
            else:
                arguments.append(Value("arg", ty))
                self._flat.append(arguments[-1])
        result = body(*arguments)
        self.is_complex = isinstance(result, Complex)
        self.single = isinstance(result, Value)
        self.outputs = ([result] if self.single else [result.re, result.im] if self.is_complex
                        else list(result))
        text = self._text()
        name = f"body_{hashlib.sha256(text.encode()).hexdigest()[:16]}"
        address = compile_module(text.replace("@NAME", f"@{name}"), [name])[name]
        count = len(self._flat) + len(self.outputs)
        self.run = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * count, ctypes.c_int64)(address)

    def _text(self) -> str:
        w, e = self.width, Emitter(self.width)
        bound = {}
        for k, v in enumerate(self._flat):
            stored = "u8" if v.ty == "bool" else v.ty
            e.line(f"%p{k} = getelementptr {element_type(stored)}, ptr %a{k}, i64 %i")
            e.line(f"%l{k} = load {vector_type(stored, w)}, ptr %p{k}, align 1")
            bound[id(v)] = f"%l{k}"
            if v.ty == "bool":
                e.line(f"%b{k} = trunc {vector_type('u8', w)} %l{k} to {vector_type('bool', w)}")
                bound[id(v)] = f"%b{k}"
        for k, (v, r) in enumerate(zip(self.outputs, e.body(self.outputs, bound))):
            stored = "u8" if v.ty == "bool" else v.ty
            if v.ty == "bool":
                r = e.bind(f"zext {vector_type('bool', w)} {r} to {vector_type('u8', w)}")
            e.line(f"%q{k} = getelementptr {element_type(stored)}, ptr %o{k}, i64 %i")
            e.line(f"store {vector_type(stored, w)} {r}, ptr %q{k}, align 1")
        names = [f"%a{k}" for k in range(len(self._flat))]
        names += [f"%o{k}" for k in range(len(self.outputs))]
        return "\n".join([
            *sorted(e.declares),
            f"define void @NAME({', '.join(f'ptr noalias {n}' for n in names)}, i64 %n) #0 {{",
            "entry:", "  br label %loop", "loop:",
            "  %i = phi i64 [0, %entry], [%next, %loop]", *e.lines,
            f"  %next = add i64 %i, {w}", "  %more = icmp ult i64 %next, %n",
            "  br i1 %more, label %loop, label %done", "done:", "  ret void", "}",
            'attributes #0 = { nounwind "prefer-vector-width"="512" }', ""])

    def __call__(self, *arrays: np.ndarray):
        inputs: list[np.ndarray] = []
        for ty, x in zip(self.types, arrays):
            if ty == "c64":
                x = np.asarray(x, np.complex64).ravel()
                inputs += [np.ascontiguousarray(x.real), np.ascontiguousarray(x.imag)]
            else:
                inputs.append(np.ascontiguousarray(np.asarray(x, NUMPY[ty]).ravel()))
        n = len(inputs[0])
        pad = -n % self.width
        if pad:
            inputs = [np.concatenate([x, np.repeat(x[-1:], pad)]) for x in inputs]
        results = [np.empty(n + pad, NUMPY[v.ty]) for v in self.outputs]
        self.run(*[x.ctypes.data for x in inputs + results], n)
        results = [r[:n] for r in results]
        if self.is_complex:
            z = np.empty(n, np.complex64)
            z.real, z.imag = results
            return z
        return results[0] if self.single else results
