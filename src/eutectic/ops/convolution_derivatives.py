"""Derivatives of convolutions, which are convolutions.

With y[p] = sum over k of x[p*stride + k*dilation - low] * w[k], the input's cotangent is the
cotangent dilated by the stride against the turned kernel, and the weight's is the input against the
cotangent as a kernel dilated by the stride, with the batch as channels.
"""

from __future__ import annotations

from eutectic.graph import prims
from eutectic.graph.ir import Node
from eutectic.ops.convolution import CONVOLUTION, SEQUENCES
from eutectic.ops.derivatives import structural


@structural(CONVOLUTION)
def _convolution(g: Node, n: Node) -> list[Node | None]:
    return [_of_input(g, n), _of_weight(g, n)]


def _of_input(g: Node, n: Node) -> Node:
    stride, low, dilation, input_dilation, groups = n.attrs
    x, w = n.inputs
    rank = len(stride)
    kernel = w.shape[1:-1]
    # (groups, outputs, kernel, channels) with outputs and channels exchanged, positions turned.
    split = prims.reshape(w, (groups, w.shape[0] // groups, *w.shape[1:]))
    turned = prims.transpose(split, (0, rank + 2, *range(2, rank + 2), 1))
    starts = (0, 0, *[k - 1 for k in kernel], 0)
    steps = (1, 1, *[-1] * rank, 1)
    turned = prims.slice_(turned, starts, steps, turned.shape)
    weight = prims.reshape(turned, (x.shape[-1], *kernel, w.shape[0] // groups))
    reach = tuple([d * (k - 1) - a for d, k, a in zip(dilation, kernel, low)])
    attrs = (input_dilation, reach, dilation, stride, groups)
    return Node(CONVOLUTION, (g, weight), attrs, x.shape, x.dtype)


def _of_weight(g: Node, n: Node) -> Node:
    stride, low, dilation, input_dilation, groups = n.attrs
    x, w = n.inputs
    rank = len(stride)
    swap = (rank + 1, *range(1, rank + 1), 0)
    parts = []
    for i in range(groups):
        a = prims.transpose(_channels(x, i, groups), swap)  # channels as batch, batch as channels
        k = prims.transpose(_channels(g, i, groups), swap)
        shape = (a.shape[0], *w.shape[1:-1], k.shape[0])
        part = Node(CONVOLUTION, (a, k), (dilation, low, stride, input_dilation, 1), shape, x.dtype)
        parts.append(prims.transpose(part, swap))
    return prims.concatenate(parts, 0)


def _channels(n: Node, i: int, groups: int) -> Node:
    size = n.shape[-1] // groups
    starts = (*[0] * (len(n.shape) - 1), i * size)
    return prims.slice_(n, starts, (1,) * len(n.shape), (*n.shape[:-1], size))


@structural(SEQUENCES)
def _sequences(g: Node, n: Node) -> list[Node | None]:
    a, v = [prims.reshape(i, (1, i.size, 1)) for i in n.inputs]
    one, zero = (1,), (0,)
    same = Node(CONVOLUTION, (a, v), (one, zero, one, one, 1), (1, n.size, 1), n.dtype)
    found = _convolution(prims.reshape(g, same.shape), same)
    return [prims.reshape(c, i.shape) for c, i in zip(found, n.inputs) if c is not None]
