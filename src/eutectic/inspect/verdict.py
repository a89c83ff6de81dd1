"""Whether compiling is worth it, and why: decided from measured numbers by the rules below.

Three shares of the plain call's time say what it is bound by:

- *around kernels*: the time outside machine code (recording, planning, Python between kernels);
- *memory*: the least time in which this machine's memory moves the bytes of its kernels;
- *arithmetic*: the least time in which its arithmetic units issue the kernels' instructions.

The largest decides if it is at least `BOUND`; else the function is bound by no single thing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from eutectic.inspect.units import (
    bytes_text, count_text, percent_text, seconds_text, times_text)

FASTER = 1.05
"""A smaller speed-up (or a larger slow-down than its inverse) counts as a difference only beyond
this factor, and only where the quartiles of the two do not overlap."""
BOUND = 0.4
"""Least share of the plain call's time that names what it is bound by."""
PRODUCT = 0.8
"""Least part of the arithmetic in matrix products for the function to be one of them."""
NOISY = 0.15
"""Spread (distance of the quartiles over the median) above which a measurement is called noisy."""
MANY_CALLS = 100_000
"""More calls than this before compiling pays: not worth it."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One side's numbers that the verdict needs; seconds a call."""

    median: float
    lower: float
    upper: float
    kernels: int
    moved: int
    """Bytes read and written."""
    around: float
    """Seconds outside kernels."""
    memory: float
    """Least seconds for the bytes, by the machine's measured bandwidth."""
    arithmetic: float
    """Least seconds for the instructions, by the machine's measured rate."""

    def share(self, seconds: float) -> float:
        """A part of this side's time, at most 1."""
        return min(seconds / self.median, 1.0) if self.median else 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The conclusion: `worth` it or not, what explains it, and the sentence."""

    worth: bool
    bound: str
    """Of the plain call: 'launch', 'memory', 'compute' or 'mixed'; 'one kernel', 'matrix product'
    or 'nothing' where fusion has nothing to do."""
    left: str
    """Of the compiled call: 'launch', 'memory', 'compute', 'mixed' or 'nothing'."""
    calls: float
    """Calls after which compiling has paid; infinite if it never does."""
    sentence: str


def judge(plain: Timed, compiled: Timed, first_call: float, product_part: float = 0.0) -> Verdict:
    """Decide from the numbers of both sides and the cost of the first call.

    >>> slow = Timed(10e-3, 9.9e-3, 10.1e-3, 61, 120 << 20, 1e-3, 8e-3, 2e-3)
    >>> fast = Timed(2e-3, 1.9e-3, 2.1e-3, 1, 1 << 20, 1e-5, 1e-4, 1.9e-3)
    >>> verdict = judge(slow, fast, 0.08)
    >>> verdict.worth, verdict.bound, verdict.left, verdict.calls
    (True, 'memory', 'compute', 10)
    """
    bound, left = bound_of(plain), bound_of(compiled)
    if product_part >= PRODUCT and (bound == "compute" or plain.kernels == 1):
        bound = "matrix product"
    elif plain.kernels == 1:
        bound = "one kernel"
    speedup = plain.median / compiled.median if compiled.median else 1.0
    apart = compiled.upper < plain.lower or plain.upper < compiled.lower
    saving = plain.median - compiled.median
    calls = math.inf
    worth = False
    if speedup >= FASTER and apart:
        calls = math.ceil(first_call / saving)
        worth = calls <= MANY_CALLS
        gain = f"{times_text(speedup)} faster"
        head = (f"Worth it after {count_text(calls, 'call')}: {gain}." if worth else
                f"Not worth it: {gain}, but the first call takes {seconds_text(first_call)}, "
                f"which {calls:,} calls make up for.")
    elif speedup <= 1 / FASTER and apart:
        head = f"Not worth it: compiled takes {1 / speedup:.2f} times as long."
    else:
        head = f"Not worth it: no difference beyond the spread ({times_text(speedup)})."
    parts = [head, _why(bound, plain, compiled)]
    if worth:
        parts += [_saved(plain, compiled), _left(left, compiled)]
    return Verdict(worth, bound, left, calls, " ".join([p for p in parts if p]))


def bound_of(side: Timed) -> str:
    """The largest of the three shares of a call's time, if it decides."""
    if side.kernels == 0:
        return "nothing"
    shares = {"launch": side.share(side.around), "memory": side.share(side.memory),
              "compute": side.share(side.arithmetic)}
    bound = max(shares, key=lambda k: shares[k])
    return bound if shares[bound] >= BOUND else "mixed"


def _why(bound: str, plain: Timed, compiled: Timed) -> str:
    if bound == "nothing":
        return "It computes nothing: its results are its inputs, or views of them."
    if bound == "one kernel":
        return "It is one kernel already: there is nothing to fuse."
    if bound == "matrix product":
        if plain.kernels == 1:
            return "It is a single matrix product: both run the same code."
        return "Its time goes into matrix products, which run the same code either way."
    fused = (f"{plain.kernels} kernels became {compiled.kernels}"
             if compiled.kernels != plain.kernels else f"all {plain.kernels} kernels are left")
    around, memory, arithmetic = [percent_text(plain.share(s)) for s in (
        plain.around, plain.memory, plain.arithmetic)]
    if bound == "launch":
        return f"Launch-bound: {around} of the plain call passes between its kernels; {fused}."
    if bound == "memory":
        return f"Memory-bound: moving bytes takes {memory} of the plain call at least; {fused}."
    if bound == "compute":
        return (f"Compute-bound: arithmetic takes {arithmetic} of the plain call at least, and "
                f"fusing does not change it; {fused}.")
    return (f"No single limit: {around} of the plain call passes between its kernels, moving bytes "
            f"takes {memory} at least and arithmetic {arithmetic}; {fused}.")


def _saved(plain: Timed, compiled: Timed) -> str:
    """Where the saved time was spent."""
    saving = plain.median - compiled.median
    part = min(max((plain.around - compiled.around) / saving, 0.0), 1.0)
    text = f"Of the {seconds_text(saving)} saved, {percent_text(part)} was spent between kernels"
    if plain.moved > compiled.moved and part < 0.95:
        text += (f", the rest in them: they move {bytes_text(compiled.moved)} instead of "
                 f"{bytes_text(plain.moved)}")
    return text + "."


def _left(left: str, compiled: Timed) -> str:
    """What the compiled call is bound by."""
    share = {"launch": compiled.around, "memory": compiled.memory, "compute": compiled.arithmetic}
    if left not in share:
        return ""
    what = {"launch": "is spent around its kernels", "memory": "is needed for moving its bytes",
            "compute": "is needed for its arithmetic"}[left]
    return f"Of the compiled call, {percent_text(compiled.share(share[left]))} {what}."
