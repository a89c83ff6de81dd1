"""Functions that kernels share: strided copies, and the odometer over outer dimensions.

They live in one module of their own, loaded once, so that no kernel pays for compiling them.
"""

from __future__ import annotations

from eutectic.kernel.spec import FIRST_ARG

NAMES = ("ev_decode", "ev_advance", *(f"ev_{what}{size}" for what in ("gather", "scatter")
                                      for size in (1, 2, 4, 8)))

DECLARATIONS = {
    "ev_decode": "declare void @ev_decode(ptr, i64, ptr, ptr, i64, i64)",
    "ev_advance": "declare void @ev_advance(ptr, ptr, ptr, i64, i64)",
    **{n: f"declare void @{n}(ptr, ptr, i64, i64)" for n in NAMES[2:]},
}


def support_text() -> str:
    """LLVM text of the module.

    `ev_gather(buf, p, stride, n)` copies n strided elements into `buf`, `ev_scatter` out of it.
    `ev_decode(params, row, idx, base, args, table)` sets the outer indices and each argument's row
    address from a row number; `ev_advance(params, idx, base, args, table)` steps to the next row.
    """
    parts = [_copy(what, size) for size in (1, 2, 4, 8) for what in ("gather", "scatter")]
    return "\n".join([*parts, _DECODE, _ADVANCE, "attributes #0 = { nounwind }", ""])


def _copy(what: str, size: int) -> str:
    ty = f"i{8 * size}"
    align = size if size < 8 else 4
    src, dst = ("%p", "%stride"), ("%buf", str(size))
    if what == "scatter":
        src, dst = dst, src
    return f"""define void @ev_{what}{size}(ptr %buf, ptr %p, i64 %stride, i64 %n) #0 {{
entry:
  br label %loop
loop:
  %i = phi i64 [0, %entry], [%i2, %loop]
  %so = mul i64 %i, {src[1]}
  %s = getelementptr i8, ptr {src[0]}, i64 %so
  %v = load {ty}, ptr %s, align {align}
  %do = mul i64 %i, {dst[1]}
  %d = getelementptr i8, ptr {dst[0]}, i64 %do
  store {ty} %v, ptr %d, align {align}
  %i2 = add i64 %i, 1
  %c = icmp ult i64 %i2, %n
  br i1 %c, label %loop, label %done
done:
  ret void
}}"""


_DECODE = """define void @ev_decode(ptr %params, i64 %row, ptr %idx, ptr %base, i64 %args_n,
                       i64 %table) #0 {
entry:
  %ndp = getelementptr i64, ptr %params, i64 1
  %nd = load i64, ptr %ndp
  %words = add i64 %args_n, 1
  br label %init
init:
  %j = phi i64 [0, %entry], [%j2, %init]
  %js = add i64 %j, {FIRST}
  %sp = getelementptr i64, ptr %params, i64 %js
  %sv = load i64, ptr %sp
  %bp = getelementptr i64, ptr %base, i64 %j
  store i64 %sv, ptr %bp
  %j2 = add i64 %j, 1
  %jc = icmp ult i64 %j2, %args_n
  br i1 %jc, label %init, label %dims
dims:
  %d = phi i64 [%nd, %init], [%d1, %dimend]
  %r = phi i64 [%row, %init], [%q, %dimend]
  %more = icmp ne i64 %d, 0
  br i1 %more, label %dim, label %done
dim:
  %d1 = sub i64 %d, 1
  %to = mul i64 %d1, %words
  %t = add i64 %to, %table
  %tp = getelementptr i64, ptr %params, i64 %t
  %size = load i64, ptr %tp
  %q = udiv i64 %r, %size
  %qs = mul i64 %q, %size
  %i = sub i64 %r, %qs
  %ip = getelementptr i64, ptr %idx, i64 %d1
  store i64 %i, ptr %ip
  br label %args
args:
  %k = phi i64 [0, %dim], [%k2, %args]
  %k2 = add i64 %k, 1
  %stp = getelementptr i64, ptr %tp, i64 %k2
  %st = load i64, ptr %stp
  %off = mul i64 %st, %i
  %kbp = getelementptr i64, ptr %base, i64 %k
  %kb = load i64, ptr %kbp
  %kn = add i64 %kb, %off
  store i64 %kn, ptr %kbp
  %kc = icmp ult i64 %k2, %args_n
  br i1 %kc, label %args, label %dimend
dimend:
  br label %dims
done:
  ret void
}""".replace("{FIRST}", str(FIRST_ARG))

_ADVANCE = """define void @ev_advance(ptr %params, ptr %idx, ptr %base, i64 %args_n,
                        i64 %table) #0 {
entry:
  %ndp = getelementptr i64, ptr %params, i64 1
  %nd = load i64, ptr %ndp
  %words = add i64 %args_n, 1
  br label %dims
dims:
  %d = phi i64 [%nd, %entry], [%d1, %wrapped]
  %more = icmp ne i64 %d, 0
  br i1 %more, label %dim, label %done
dim:
  %d1 = sub i64 %d, 1
  %to = mul i64 %d1, %words
  %t = add i64 %to, %table
  %tp = getelementptr i64, ptr %params, i64 %t
  %size = load i64, ptr %tp
  %ip = getelementptr i64, ptr %idx, i64 %d1
  %i = load i64, ptr %ip
  %i1 = add i64 %i, 1
  %over = icmp uge i64 %i1, %size
  %inew = select i1 %over, i64 0, i64 %i1
  store i64 %inew, ptr %ip
  %delta = sub i64 %inew, %i
  br label %args
args:
  %k = phi i64 [0, %dim], [%k2, %args]
  %k2 = add i64 %k, 1
  %stp = getelementptr i64, ptr %tp, i64 %k2
  %st = load i64, ptr %stp
  %off = mul i64 %st, %delta
  %kbp = getelementptr i64, ptr %base, i64 %k
  %kb = load i64, ptr %kbp
  %kn = add i64 %kb, %off
  store i64 %kn, ptr %kbp
  %kc = icmp ult i64 %k2, %args_n
  br i1 %kc, label %args, label %wrapped
wrapped:
  br i1 %over, label %dims, label %done
done:
  ret void
}"""
