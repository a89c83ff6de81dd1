"""Optimizers and learning-rate schedules, as `mlx.optimizers`."""

from eutectic.nn.layers.base import Module
from eutectic.optimizers.optimizers import (
    SGD, AdaDelta, Adafactor, Adagrad, Adam, Adamax, AdamW, Lion, MultiOptimizer, Muon, Optimizer,
    RMSprop, clip_grad_norm)
from eutectic.optimizers.schedulers import (
    cosine_decay, exponential_decay, join_schedules, linear_schedule, step_decay)
from eutectic.utils import tree_flatten, tree_map, tree_merge, tree_reduce, tree_unflatten

__all__ = [
    "AdaDelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "MultiOptimizer", "Muon",
    "Optimizer", "RMSprop", "SGD", "clip_grad_norm",
    "cosine_decay", "exponential_decay", "join_schedules", "linear_schedule", "step_decay",
    "Module", "tree_flatten", "tree_map", "tree_merge", "tree_reduce", "tree_unflatten"]
