"""Losses: of predictions and targets, reduced to a scalar or not."""

from __future__ import annotations

import math
from typing import Literal, get_args

import eutectic.core as mx
from eutectic.core import array
from eutectic.errors import ArgumentError, ShapeError, show_shape

__all__ = [
    "binary_cross_entropy", "cosine_similarity_loss", "cross_entropy", "gaussian_nll_loss",
    "hinge_loss", "huber_loss", "kl_div_loss", "l1_loss", "log_cosh_loss", "margin_ranking_loss",
    "mse_loss", "nll_loss", "smooth_l1_loss", "triplet_loss"]

Reduction = Literal["none", "mean", "sum"]


def _reduce(loss: array, reduction: str) -> array:
    if reduction not in get_args(Reduction):
        raise ArgumentError(f"[losses] reduction must be one of {', '.join(get_args(Reduction))}, "
                            f"not {reduction!r}.")
    if reduction == "mean":
        return mx.mean(loss)
    return mx.sum(loss) if reduction == "sum" else loss


def _same_shapes(name: str, **arrays: array) -> None:
    (first, a), *rest = arrays.items()
    for other, b in rest:
        if a.shape != b.shape:
            raise ShapeError(f"[{name}] {first} have shape {show_shape(a.shape)}, {other} "
                             f"{show_shape(b.shape)}.")


def _weighted(name: str, loss: array, weights: array | None) -> array:
    if weights is None:
        return loss
    if weights.shape != loss.shape:
        raise ShapeError(f"[{name}] weights have shape {show_shape(weights.shape)}, the losses "
                         f"{show_shape(loss.shape)}.")
    return loss * weights


def cross_entropy(logits: array, targets: array, weights: array | None = None, axis: int = -1,
                  label_smoothing: float = 0.0, reduction: Reduction = "none") -> array:
    """Cross entropy of the distributions softmax(logits) along an axis and the targets.

    Targets are class indices, of the shape of the logits without the axis, or probabilities, of
    the same shape. `label_smoothing` moves that part of them to the uniform distribution.
    `weights`, of the shape without the axis, multiply the losses; a mean is over their number.

    Raises ShapeError for other shapes, ArgumentError unless 0 <= label_smoothing < 1.

    >>> cross_entropy(mx.array([[2.0, -1.0], [-1.0, 2.0]]), mx.array([0, 1]))
    array([0.0485873, 0.0485873], dtype=float32)
    """
    if not 0 <= label_smoothing < 1:
        raise ArgumentError("[cross_entropy] label_smoothing must be in [0, 1), got "
                            f"{label_smoothing}.")
    probabilities = targets.ndim == logits.ndim
    wanted = list(logits.shape)
    if not probabilities:
        del wanted[axis]
    if tuple(wanted) != targets.shape:
        raise ShapeError(f"[cross_entropy] targets of shape {show_shape(targets.shape)} do not "
                         f"fit logits of shape {show_shape(logits.shape)} along axis {axis}.")
    if probabilities:
        score = mx.sum(logits * targets, axis=axis)
    else:
        score = mx.take_along_axis(logits, mx.expand_dims(targets, axis), axis).squeeze(axis)
    total = mx.logsumexp(logits, axis=axis)
    if label_smoothing > 0:
        loss = -((1 - label_smoothing) * score + label_smoothing * mx.mean(logits, axis=axis)
                 ) + total
    else:
        loss = total - score
    return _reduce(_weighted("cross_entropy", loss, weights), reduction)


def binary_cross_entropy(inputs: array, targets: array, weights: array | None = None,
                         with_logits: bool = True, reduction: Reduction = "mean") -> array:
    """Cross entropy of probabilities and targets in [0, 1], element by element.

    Inputs are logits (sigmoid gives the probability) or, `with_logits=False`, probabilities, whose
    logarithms are at least -100. `weights`, of the same shape, multiply the losses.

    Raises ShapeError for shapes that differ.

    >>> binary_cross_entropy(mx.array([0.0, 100.0]), mx.array([1.0, 1.0]), reduction="none")
    array([0.693147, 0], dtype=float32)
    """
    _same_shapes("binary_cross_entropy", inputs=inputs, targets=targets)
    if with_logits:
        loss = mx.logaddexp(0.0, inputs) - inputs * targets
    else:
        yes = mx.clip(mx.log(inputs), a_min=-100, a_max=None)
        no = mx.clip(mx.log(1 - inputs), a_min=-100, a_max=None)
        loss = -(targets * yes + (1 - targets) * no)
    return _reduce(_weighted("binary_cross_entropy", loss, weights), reduction)


def l1_loss(predictions: array, targets: array, reduction: Reduction = "mean") -> array:
    """|predictions - targets|.

    Raises ShapeError for shapes that differ.

    >>> l1_loss(mx.array([1.0, 4.0]), mx.array([0.0, 2.0]))
    array(1.5, dtype=float32)
    """
    _same_shapes("l1_loss", predictions=predictions, targets=targets)
    return _reduce(mx.abs(predictions - targets), reduction)


def mse_loss(predictions: array, targets: array, reduction: Reduction = "mean") -> array:
    """(predictions - targets)^2.

    Raises ShapeError for shapes that differ.

    >>> mse_loss(mx.array([1.0, 4.0]), mx.array([0.0, 2.0]))
    array(2.5, dtype=float32)
    """
    _same_shapes("mse_loss", predictions=predictions, targets=targets)
    return _reduce(mx.square(predictions - targets), reduction)


def nll_loss(inputs: array, targets: array, axis: int = -1,
             reduction: Reduction = "none") -> array:
    """-inputs[target] along an axis: the negative logarithm of the target's probability.

    Inputs are logarithms of probabilities, targets class indices of the shape without the axis.

    >>> nll_loss(mx.array([[-0.5, -1.0]]), mx.array([1]))
    array([1], dtype=float32)
    """
    chosen = mx.take_along_axis(inputs, mx.expand_dims(targets, axis), axis).squeeze(axis)
    return _reduce(-chosen, reduction)


def gaussian_nll_loss(inputs: array, targets: array, vars: array, full: bool = False,
                      eps: float = 1e-6, reduction: Reduction = "mean") -> array:
    """(log(v) + (inputs - targets)^2 / v) / 2 with v = max(vars, eps).

    The negative log likelihood of normal distributions with means `inputs`, without its constant
    log(2 pi) / 2 unless `full`.

    Raises ShapeError for shapes that differ.

    >>> gaussian_nll_loss(mx.array([1.0]), mx.array([3.0]), mx.array([1.0]))
    array(2, dtype=float32)
    """
    _same_shapes("gaussian_nll_loss", inputs=inputs, targets=targets, vars=vars)
    v = mx.maximum(vars, eps)
    loss = 0.5 * (mx.log(v) + mx.square(targets - inputs) / v)
    return _reduce(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


def kl_div_loss(inputs: array, targets: array, axis: int = -1,
                reduction: Reduction = "none") -> array:
    """sum(exp(targets) * (targets - inputs)) along an axis, of logarithms of probabilities.

    >>> kl_div_loss(mx.log(mx.array([[0.5, 0.5]])), mx.log(mx.array([[0.5, 0.5]])))
    array([0], dtype=float32)
    """
    return _reduce(mx.sum(mx.exp(targets) * (targets - inputs), axis=axis), reduction)


def smooth_l1_loss(predictions: array, targets: array, beta: float = 1.0,
                   reduction: Reduction = "mean") -> array:
    """d^2 / (2 beta) where d = |predictions - targets| < beta, else d - beta / 2.

    Raises ShapeError for shapes that differ.

    >>> smooth_l1_loss(mx.array([1.0, 4.0]), mx.array([0.5, 2.0]), reduction="none")
    array([0.125, 1.5], dtype=float32)
    """
    _same_shapes("smooth_l1_loss", predictions=predictions, targets=targets)
    d = mx.abs(predictions - targets)
    if beta == 0:
        return _reduce(d, reduction)
    loss = mx.where(d < beta, 0.5 * mx.square(d) / beta, d - 0.5 * beta)
    return _reduce(loss, reduction)


def triplet_loss(anchors: array, positives: array, negatives: array, axis: int = -1, p: int = 2,
                 margin: float = 1.0, eps: float = 1e-6, reduction: Reduction = "none") -> array:
    """max(|anchors - positives| - |anchors - negatives| + margin, 0) of p-norms along an axis.

    `eps` is added to the sums of p-th powers before the root.

    >>> triplet_loss(mx.array([[0.0]]), mx.array([[1.0]]), mx.array([[3.0]]), margin=4.0)
    array([2], dtype=float32)
    """
    near = _distance(anchors - positives, p, axis, eps)
    far = _distance(anchors - negatives, p, axis, eps)
    return _reduce(mx.maximum(near - far + margin, 0), reduction)


def _distance(d: array, p: int, axis: int, eps: float) -> array:
    if p == 2:
        return mx.sqrt(mx.sum(mx.square(d), axis=axis) + eps)
    return mx.power(mx.sum(mx.power(mx.abs(d), p), axis=axis) + eps, 1.0 / p)


def hinge_loss(inputs: array, targets: array, reduction: Reduction = "none") -> array:
    """max(1 - inputs * targets, 0), with targets -1 or 1.

    >>> hinge_loss(mx.array([0.5, -1.0]), mx.array([1.0, 1.0]))
    array([0.5, 2], dtype=float32)
    """
    return _reduce(mx.maximum(1 - inputs * targets, 0), reduction)


def huber_loss(inputs: array, targets: array, delta: float = 1.0,
               reduction: Reduction = "none") -> array:
    """d^2 / 2 where d = |inputs - targets| <= delta, else delta * (d - delta / 2).

    >>> huber_loss(mx.array([1.0, 4.0]), mx.array([0.5, 2.0]))
    array([0.125, 1.5], dtype=float32)
    """
    d = mx.abs(inputs - targets)
    loss = mx.where(d <= delta, 0.5 * mx.square(d), delta * (d - 0.5 * delta))
    return _reduce(loss, reduction)


def log_cosh_loss(inputs: array, targets: array, reduction: Reduction = "none") -> array:
    """log(cosh(inputs - targets)), without overflow.

    >>> log_cosh_loss(mx.array([0.0, 100.0]), mx.array([0.0, 0.0]))
    array([0, 99.3069], dtype=float32)
    """
    d = inputs - targets
    return _reduce(mx.logaddexp(d, -d) - math.log(2), reduction)


def cosine_similarity_loss(x1: array, x2: array, axis: int = 1, eps: float = 1e-8,
                           reduction: Reduction = "none") -> array:
    """x1 . x2 / max(|x1| |x2|, eps) along an axis.

    >>> cosine_similarity_loss(mx.array([[3.0, 4.0]]), mx.array([[6.0, 8.0]]))
    array([1], dtype=float32)
    """
    lengths = mx.linalg.norm(x1, axis=axis) * mx.linalg.norm(x2, axis=axis)
    return _reduce(mx.sum(x1 * x2, axis=axis) / mx.maximum(lengths, eps), reduction)


def margin_ranking_loss(inputs1: array, inputs2: array, targets: array, margin: float = 0.0,
                        reduction: Reduction = "none") -> array:
    """max(-targets * (inputs1 - inputs2) + margin, 0): a target of 1 ranks the first input higher.

    Raises ShapeError for shapes that differ.

    >>> margin_ranking_loss(mx.array([1.0]), mx.array([3.0]), mx.array([1]))
    array([2], dtype=float32)
    """
    _same_shapes("margin_ranking_loss", inputs1=inputs1, inputs2=inputs2, targets=targets)
    return _reduce(mx.maximum(-targets * (inputs1 - inputs2) + margin, 0), reduction)
