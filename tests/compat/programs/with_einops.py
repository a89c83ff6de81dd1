"""einops on arrays: its own backend for mlx finds us."""

import mlx.core as mx
from einops import pack, rearrange, reduce, unpack

x = mx.arange(24).reshape(2, 3, 4)
y = rearrange(x, "a b c -> c (b a)")
assert isinstance(y, mx.array)
assert mx.array_equal(y, x.transpose(2, 1, 0).reshape(4, 6)).item()
assert mx.array_equal(reduce(x, "a b c -> b", "max"), x.max(axis=(0, 2))).item()
joined, shapes = pack([x.reshape(-1), x[0, 0]], "*")
assert [a.shape for a in unpack(joined, shapes, "*")] == [(24,), (4,)]
f = mx.compile(lambda a: rearrange(a * 2, "a b c -> (a c) b"))
assert mx.array_equal(f(x), (x * 2).transpose(0, 2, 1).reshape(8, 3)).item()
print("einops")
