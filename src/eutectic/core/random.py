"""Random numbers from keys, as `mx.random`."""

from eutectic.ops.random import (
    bernoulli, gumbel, key, normal, randint, seed, split, state, uniform)

__all__ = ["bernoulli", "gumbel", "key", "normal", "randint", "seed", "split", "state", "uniform"]
