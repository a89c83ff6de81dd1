"""Random numbers from keys, as `mx.random`."""

from eutectic.ops.distributions import (
    categorical, laplace, multivariate_normal, permutation, truncated_normal)
from eutectic.ops.random import (
    bernoulli, gumbel, key, normal, randint, seed, split, state, uniform)

__all__ = [
    "bernoulli", "categorical", "gumbel", "key", "laplace", "multivariate_normal", "normal",
    "permutation", "randint", "seed", "split", "state", "truncated_normal", "uniform",
]
