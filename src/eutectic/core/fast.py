"""Fused layers and attention."""

from eutectic.ops.attention import scaled_dot_product_attention
from eutectic.ops.fast import cross_entropy, layer_norm, rms_norm
from eutectic.ops.rotary import rope

__all__ = ["cross_entropy", "layer_norm", "rms_norm", "rope", "scaled_dot_product_attention"]
