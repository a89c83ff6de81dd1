"""Ways to import and to ask, as programs do."""

import importlib.util

import mlx
import mlx.core
import mlx.core as mx
import mlx.core.random
import mlx.utils
from mlx import core, utils
from mlx.core import array, float32
from mlx.core.random import uniform

assert mlx.core is mx is core
assert mlx.utils is utils
assert array is mx.array
assert mx.random.uniform is uniform
assert importlib.util.find_spec("mlx") is not None
assert not mx.metal.is_available()
assert mx.array([1.0]).dtype == float32 == mx.float32
with mx.stream(mx.cpu):
    print(mx.default_device(), uniform(shape=(2,)).shape)
