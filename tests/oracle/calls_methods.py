"""Calls of the array's methods with every form of their arguments, right and wrong."""

from __future__ import annotations

ARRAYS = ["f", "t", "i", "m", "c", "h", "b", "u8", "o", "z", "w", "s", "f64"]

# `method: arguments; arguments`, for each of ARRAYS; `-` stands for none.
_ARGUMENTS = """
reshape: (); -1; (-1,); [-1]; -1, 1; 0; (0,); 0, -1; -1, -1; 12; (3, 4); 4, 3; [4, 3]; (2, 2, 3);
    -2; 1.5; None; 'a'; mx.array([12]); shape=(4, 3); 1, 12, 1; (1,); 1; []; 6, -1; 5, -1; (2, 3.0);
    np.array([4, 3]); (4, 6); (4, 3), 1; np.int64(-1)
round: -; 1; decimals=1; -1; decimals=-2; 0; 1.5; None; 'a'; mx.array(1); 1, 2
rsqrt: -; 1
sin: -; 1
sqrt: -; 1
square: -; 1
split: -; 2; 3; 1; 0; -1; 2, 1; 2, -1; 2, 2; 2, axis=0; [1]; [1, 2]; (1,); []; [2, 1]; [0]; [5];
    [-1]; [1, -1]; 1.5; None; 'a'; indices_or_sections=3; indices_or_sections=[1], axis=1; 4, 1;
    [1.0]; True; np.array([1])
squeeze: -; 0; -1; (0,); [0]; (); []; (0, 0); 5; -5; None; 1.5; 'a'; axis=0; axis=(0,); (0, 1)
std: -; 0; -1; (0, 1); axis=0; keepdims=True; ddof=1; ddof=5; axis=None, ddof=2; 5; (); []; (0, 0);
    'a'; 1.5; ddof=-1; axis=-3
sum: 0; -1; axis=0; 5; (0, 0); 'a'; 1.5; axis=-3; [0]; axis=[-1]; True; (); 0, 1
swapaxes: -; 0; 0, 1; -1, 0; 0, 0; 0, 5; -5, 0; axis1=0, axis2=1; 0, 1.5; None, 1; 'a', 0; 1, 2
tolist: -; 1
transpose: -; 0; 1, 0; (1, 0); [1, 0]; 0, 0; -1, 0; (-1, -2); 0, 1, 2; 2, 1, 0; [2, 0, 1]; (); [];
    5; 1.5; 'a'; axes=(1, 0); axes=[1, 0]; *[1, 0]; mx.array([1, 0]); None; (0,), (1,)
var: -; 0; -1; (0, 1); axis=0; keepdims=True; ddof=1; ddof=5; 5; (); []; 'a'; 1.5; ddof=-1
view: -; mx.int32; mx.uint8; mx.float16; mx.int64; mx.complex64; mx.bool_; mx.float64;
    dtype=mx.int16; 'int32'; None; int; np.int32; float; mx.float32; mx.bfloat16
astype: -; mx.float16; mx.bool_; 'int32'; int; float; None; mx.complex64; np.float32
flatten: -; 0; 1; 0, 1; -1; 1, 0; 5; 0, -1; start_axis=1; end_axis=0; -3; None; 1.5; -2, -1; 0, 5
moveaxis: -; 0; 0, 1; 0, -1; -1, 0; 0, 5; source=0, destination=1; 1, 1; None, 0; 0, 1.5;
    (0, 1), (1, 0)
diagonal: -; 1; -1; 0, 1, 0; 0, 0, 0; 5; offset=1; axis1=0, axis2=-1; 0, 0, 5; -5; None; 1.5
diag: -; 1; -1; k=1; 5; -5; None; 1.5
item: -; 0; 1
"""
# Left out: `reshape()` without a shape, where mlx ends the process with SIGSEGV; reductions of
# nothing, from which mlx may not return.
_REDUCTIONS = ("std", "sum", "var")


def _methods() -> dict[str, list[str]]:
    out = {}
    for line in _ARGUMENTS.replace("\n    ", " ").strip().splitlines():
        name, _, forms = line.partition(": ")
        out[name] = [f"{a}.{name}({'' if form == '-' else form})" for a in ARRAYS
                     if a != "o" or name not in _REDUCTIONS
                     for form in map(str.strip, forms.split("; "))]
    return out


METHODS = _methods()
