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
"""Least factor, up or down, that counts as a difference."""
AGREE = 0.75
"""Part of the rounds, in each of which both sides were timed, that must agree on who is faster."""
BOUND = 1 / 3
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

    outcome: str
    """'worth it', 'not worth it', 'no difference' or 'cannot tell' (too noisy)."""
    bound: str
    """Of the plain call: 'launch', 'memory', 'compute' or 'mixed'; 'one kernel', 'matrix product'
    or 'nothing' where fusion has nothing to do."""
    left: str
    """Of the compiled call: 'launch', 'memory', 'compute', 'mixed' or 'nothing'."""
    calls: float
    """Calls after which compiling has paid; infinite if it never does."""
    sentence: str

    @property
    def worth(self) -> bool:
        """Whether compiling is worth it."""
        return self.outcome == "worth it"


def judge(plain: Timed, compiled: Timed, first_call: float, wins: float = 1.0,
          product_part: float = 0.0, identical: bool = True) -> Verdict:
    """Decide from both sides' numbers, the cost of the first call, the part of the rounds in which
    compiled was the faster one, and whether the results were the same bits.

    >>> slow = Timed(10e-3, 61, 120 << 20, around=1e-3, memory=8e-3, arithmetic=2e-3)
    >>> fast = Timed(2e-3, 1, 1 << 20, around=1e-5, memory=1e-4, arithmetic=1.9e-3)
    >>> verdict = judge(slow, fast, first_call=0.08)
    >>> verdict.outcome, verdict.bound, verdict.left, verdict.calls
    ('worth it', 'memory', 'compute', 10)
    """
    bound, left = bound_of(plain), bound_of(compiled)
    if product_part >= PRODUCT and (bound == "compute" or plain.kernels == 1):
        bound = "matrix product"
    elif plain.kernels == 1:
        bound = "one kernel"
    speedup = plain.median / compiled.median if compiled.median else 1.0
    saving = plain.median - compiled.median
    calls = math.inf
    if not identical:
        outcome = "not worth it"
        head = (f"Not worth it as it is: the compiled results DIFFER from the plain ones "
                f"({times_text(speedup)}).")
    elif 1 / FASTER < speedup < FASTER:
        outcome = "no difference"
        head = f"Not worth it: no difference ({times_text(speedup)})."
    elif (wins if speedup > 1 else 1 - wins) < AGREE:
        outcome = "cannot tell"
        head = (f"Cannot tell: {times_text(speedup)} by the medians, but compiled was faster in "
                f"only {percent_text(wins)} of the rounds." if speedup > 1 else
                f"Cannot tell: {times_text(speedup)} by the medians, but compiled was faster in "
                f"{percent_text(wins)} of the rounds.")
    elif speedup < 1:
        outcome = "not worth it"
        head = f"Not worth it: compiled takes {1 / speedup:.2f} times as long."
    else:
        calls = math.ceil(first_call / saving)
        outcome = "worth it" if calls <= MANY_CALLS else "not worth it"
        gain = f"{times_text(speedup)} faster"
        head = (f"Worth it after {count_text(calls, 'call')}: {gain}."
                if calls <= MANY_CALLS else
                f"Not worth it: {gain}, but it takes {calls:,} calls to make up for the first, of "
                f"{seconds_text(first_call)}.")
    parts = [head, _why(bound, plain, compiled)]
    if outcome == "worth it":
        parts += [_saved(plain, compiled), _left(left, compiled)]
    return Verdict(outcome, bound, left, calls, " ".join([p for p in parts if p]))


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
        return "It computes nothing: its results are inputs, views of them, or constants."
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
            "compute": "is needed for its arithmetic, at the rates of its own instructions (the "
                       "table's 100 % is fma alone)"}[left]
    return f"Of the compiled call, {percent_text(compiled.share(share[left]))} {what}."
