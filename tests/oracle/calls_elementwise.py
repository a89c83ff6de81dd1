"""Calls of elementwise functions, operators and methods."""

from __future__ import annotations

REAL = ("f", "s", "s16", "h", "b", "i", "i8", "u8", "u64", "m", "z", "o")
UNARY = [
    "abs", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh",
    "asin", "asinh", "atan", "atanh", "bitwise_invert", "ceil", "conj", "conjugate", "cos",
    "cosh", "degrees", "erf", "erfinv", "exp", "expm1", "floor", "imag", "isfinite", "isinf",
    "isnan", "isneginf", "isposinf", "log", "log10", "log1p", "log2", "logical_not",
    "nan_to_num", "negative", "positive", "radians", "real", "reciprocal", "round", "rsqrt",
    "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "stop_gradient", "tan", "tanh", "trunc"]
BINARY = [
    "add", "arctan2", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "divide", "divmod", "equal", "floor_divide",
    "greater", "greater_equal", "left_shift", "less", "less_equal", "logaddexp", "logical_and",
    "logical_or", "logical_xor", "maximum", "minimum", "multiply", "not_equal", "pow", "power",
    "remainder", "right_shift", "subtract"]
OPERATORS = [
    "add", "and", "div", "eq", "floordiv", "ge", "gt", "le", "lshift", "lt", "mod", "mul", "ne",
    "or", "pow", "radd", "rdiv", "rfloordiv", "rmod", "rmul", "rpow", "rshift", "rsub",
    "rtruediv", "sub", "truediv", "xor"]
IN_PLACE = [
    "iadd", "iand", "ifloordiv", "ilshift", "imod", "imul", "ior", "ipow", "irshift", "isub",
    "itruediv", "ixor"]


def unary(name: str) -> list[str]:
    return [f"mx.{name}({x})" for x in (*REAL, "c", "u", "3", "2.5")] + [f"mx.{name}()"]


def binary(name: str) -> list[str]:
    if "shift" in name:
        pairs = ["i, p", "i8, w8", "u32, w32", "i, 2", "u8, 1", "f, g", "m, n", "u64, w64"]
    else:
        pairs = ["f, g", "h, h2", "b, b2", "i, j", "i8, j8", "u8, w8", "u64, w64", "m, n", "f, 2",
                 "2, f", "i, 2.5", "i, f", "h, b", "h, f", "u8, i8", "u64, i64", "m, f", "m, 1",
                 "i, m", "s, s[::-1]", "s, s", "c, d", "c, f", "c, 2", "f, w", "f, v", "t, f",
                 "o, o", "z, f", "u32, i"]
    if name == "divmod":  # mlx: the process ends with SIGFPE
        pairs.remove("i, m")
    if name in ("power", "pow"):
        pairs += ["i, p", "p, 3", "2, p", "u, f"]
    return [f"mx.{name}({pair})" for pair in pairs] + [f"mx.{name}(f)"]


def methods() -> dict[str, list[str]]:
    out = {f"__{op}__": [f"{x}.__{op}__({y})" for x, y in (
        ("i", "p"), ("f", "g"), ("f", "2"), ("m", "n"), ("i", "2"), ("u8", "3"), ("h", "1.5"))]
        for op in OPERATORS}
    out["__div__"] = ["f.__div__(g)", "i.__div__(p)"]
    out["__rdiv__"] = ["f.__rdiv__(2)", "i.__rdiv__(2)"]
    for op in IN_PLACE:
        out[f"__{op}__"] = [f"change({x}, '__{op}__', {y})" for x, y in (
            ("i", "p"), ("f", "g"), ("f", "2"), ("i", "2"), ("u8", "w8"), ("h", "1.5"),
            ("m", "n"))]
    for op in ("abs", "neg", "pos", "invert"):
        out[f"__{op}__"] = [f"{x}.__{op}__()" for x in ("f", "i", "u8", "m", "c", "h")]
    for name in ("abs", "conj", "cos", "exp", "log", "log10", "log1p", "log2", "reciprocal",
                 "round", "rsqrt", "sin", "sqrt", "square"):
        out[name] = [f"{x}.{name}()" for x in ("u", "p", "h", "c", "m")]
    out["round"] += ["f.round(1)", "s.round(decimals=-1)"]
    out["real"], out["imag"] = ["c.real", "f.real"], ["c.imag", "f.imag"]
    return out


CORE: dict[str, list[str]] = (
    {name: unary(name) for name in UNARY} | {name: binary(name) for name in BINARY} | {
        "allclose": ["mx.allclose(f, f)", "mx.allclose(f, g)", "mx.allclose(s, s)",
                     "mx.allclose(s, s, equal_nan=True)", "mx.allclose(f, f + 0.1, atol=0.2)",
                     "mx.allclose(i, i, rtol=0.0)"],
        "array_equal": ["mx.array_equal(f, f)", "mx.array_equal(f, t)", "mx.array_equal(s, s)",
                        "mx.array_equal(s, s, equal_nan=True)", "mx.array_equal(i, f)"],
        "isclose": ["mx.isclose(f, g)", "mx.isclose(s, s)", "mx.isclose(s, s, equal_nan=True)",
                    "mx.isclose(i, i + 1)", "mx.isclose(f, f + 1e-6, 1e-5, 1e-8)",
                    "mx.isclose(f, 1.0)", "mx.isclose(s, s[::-1])"],
        "clip": ["mx.clip(f, -1, 1)", "mx.clip(i, -3, None)", "mx.clip(f, None, 0.5)",
                 "mx.clip(i, 0.5, 2.5)", "mx.clip(f, g, f)", "mx.clip(s, -1, 1)", "mx.clip(f)",
                 "mx.clip(f, None, None)", "mx.clip(u8, 2, 5)", "mx.clip(h, -1, 1)",
                 "mx.clip(f, 1, -1)"],
        "where": ["mx.where(m, f, g)", "mx.where(m, f, 0)", "mx.where(m, 1, 2)",
                  "mx.where(m, i, f)", "mx.where(i, f, g)", "mx.where(m, h, b)",
                  "mx.where(m, t, 1.0)", "mx.where(f, i, j)", "mx.where(m, f, v)",
                  "mx.where(True, f, g)", "mx.where(m, u8, 1.5)", "mx.where(m, c, f)"],
        "nan_to_num": ["mx.nan_to_num(s, nan=1.0)", "mx.nan_to_num(s, 1.0, 2.0, 3.0)",
                       "mx.nan_to_num(s16, posinf=5.0)", "mx.nan_to_num(s)", "mx.nan_to_num(i)",
                       "mx.nan_to_num(b, neginf=0)"],
        "round": ["mx.round(f)", "mx.round(f, 2)", "mx.round(f, decimals=-1)", "mx.round(s)",
                  "mx.round(i)", "mx.round(i, -1)", "mx.round(h, 1)", "mx.round(c, 1)",
                  "mx.round(s * 2)", "mx.round(m)"],
    })
METHODS = methods()
