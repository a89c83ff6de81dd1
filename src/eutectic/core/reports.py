"""`explain` and `measure`; their code lies above the facade and is imported when called."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eutectic.inspect.explain import Explanation
    from eutectic.inspect.measure import Measurement


def explain(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Explanation:
    """Show what compiling `fun` for these arguments does; nothing is computed.

    The result prints, and holds as data: the trace and the graph after each pass; the kernels with
    their operations, the lines these come from, bytes, arithmetic, `text`, `llvm` and `assembly`;
    why neighbours were not fused; memory; cost by stage. `to_dict()` is for JSON. `fun` may be
    compiled already and is left as it is; then `why` says why it was traced for these arguments, or
    would be, and `holds` what it holds. Raises what `fun` raises, and TraceError where it cannot be
    compiled.

    >>> import eutectic.core as mx
    >>> found = mx.explain(lambda x: mx.exp(-x).sum(), mx.ones((8, 8)))
    >>> [k.kind for k in found.kernels], [o.op for o in found.kernels[0].operations]
    (['row'], ['negative', 'exp', 'sum'])
    """
    from eutectic.inspect.explain import explain as run

    return run(fun, *args, **kwargs)


def measure(fun: Callable[..., Any], *args: Any, **kwargs: Any) -> Measurement:
    """Time `fun(*args, **kwargs)` plain and compiled and say whether compiling is worth it.

    The result prints as a report, and holds as data: times of both with their spread, kernels,
    bytes moved and how near they come to this machine's limits, the cost of the first call, the
    calls after which it pays, whether the bits are the same, and a verdict. `to_dict()` is for
    JSON. Takes about four seconds. `fun` may be compiled already and is left as it is; arguments
    and state that it changes are put back. Raises what `fun` raises, TraceError where it cannot be
    compiled, and ArgumentError while compiling is switched off.

    >>> import eutectic.core as mx
    >>> m = mx.measure(lambda x: mx.tanh(x * 2) + 1, mx.ones((64, 64)))
    >>> m.plain.kernels, m.compiled.kernels, m.identical
    (3, 1, True)
    """
    from eutectic.inspect.measure import measure as run

    return run(fun, *args, **kwargs)
