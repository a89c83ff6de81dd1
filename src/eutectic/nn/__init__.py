"""Neural networks, as `mlx.nn`: layers, losses, initializers, gradients of modules."""

from eutectic.nn.layers import *  # noqa: F403 - all that its __all__ names
from eutectic.nn.layers import __all__ as _layers
from eutectic.nn import init, losses, utils  # the layers come first: some need nn.utils
from eutectic.nn.utils import value_and_grad

__all__ = ["init", "losses", "utils", "value_and_grad", *_layers]
