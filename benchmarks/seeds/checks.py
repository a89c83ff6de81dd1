"""The checks behind docs/claims.md: what is run for a fact, and how the verdict follows.

A check gets what it needs to run and returns an outcome. Those in `ALONE` run in a process of
their own and return numbers; the others read the table of the systems.
"""

from __future__ import annotations

import itertools
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import seeds

HOLDS, PARTLY, NOT_HERE, NO = "holds", "holds in part", "no longer so", "does not hold"

SAME = 1.1
"""Speed-ups below this are called none."""

Numbers = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a check found: a verdict, and what was run and measured, in words."""

    verdict: str
    measured: str


# ---- checks with a process of their own ---------------------------------------------------------


def _measured(function: Callable[..., Any], *args: Any, quick: bool) -> Any:
    from eutectic.inspect.measure import measure_call

    return measure_call(function, args, {}, budget=0.05 if quick else 2.0)


def _sides(found: Any) -> Numbers:
    return {"plain": found.plain.median * 1e3, "compiled": found.compiled.median * 1e3,
            "speedup": found.speedup, "plain_kernels": found.plain.kernels,
            "compiled_kernels": found.compiled.kernels, "identical": found.identical,
            "plain_moved": found.plain.work.moved / 2**20,
            "compiled_moved": found.compiled.work.moved / 2**20,
            "first": found.first.cold.total * 1e3, "new_shape": found.first.memory.total * 1e3}


def _heavy(n: int, loops: int, quick: bool) -> Numbers:
    from eutectic.inspect.seed import data, heavy_of

    return _sides(_measured(heavy_of(loops), data(min(n, 64) if quick else n), quick=quick))


def tanh_512(quick: bool) -> Numbers:
    return _heavy(512, 20, quick)


def tanh_4096(quick: bool) -> Numbers:
    return _heavy(4096, 20, quick)


def tanh_once(quick: bool) -> Numbers:
    return _heavy(512, 1, quick)


def single_kernel(quick: bool) -> Numbers:
    import eutectic.core as mx

    return _sides(_measured(lambda x: x * 2, mx.ones((1 << (10 if quick else 24),)), quick=quick))


def matmul(quick: bool) -> Numbers:
    import eutectic.core as mx

    n = 32 if quick else 1024
    a, b = mx.random.normal((n, n)), mx.random.normal((n, n))
    return _sides(_measured(lambda a, b: a @ b, a, b, quick=quick))


def small_kernels(quick: bool) -> Numbers:
    """A hundred operations on 256 numbers each."""
    import eutectic.core as mx

    def function(x: Any) -> Any:
        for _ in range(50):
            x = mx.abs(x * 1.01)
        return x

    return _sides(_measured(function, mx.random.normal((256,)), quick=quick))


def tracing(quick: bool) -> Numbers:
    """How often the Python of a function runs in 100 calls."""
    import eutectic.core as mx

    runs = itertools.count()  # not a list: its length would be a part of what is captured

    def function(x: Any) -> Any:
        next(runs)
        return mx.tanh(x) + 1

    compiled = mx.compile(function)
    for _ in range(100):
        mx.eval(compiled(mx.ones((4,))))
    same = next(runs)
    mx.eval(compiled(mx.ones((4,), mx.float16)), compiled(mx.ones((5,))))
    return {"same": same, "others": next(runs) - same - 1}


def shapes(quick: bool) -> Numbers:
    """A function at 20 shapes, compiled as it is and with shapeless=True."""
    import eutectic.core as mx

    def function(x: Any) -> Any:
        next(runs)
        for _ in range(20):
            x = mx.tanh(x * 1.001 + 0.001)
        return x.sum()

    found: Numbers = {}
    for shapeless in (False, True):
        runs = itertools.count()
        compiled: Any = mx.compile(function, shapeless=shapeless)
        mx.eval(compiled(mx.ones((64, 63))))
        for passes in ("new", "known"):
            start = time.perf_counter()
            for n in range(64, 84):
                mx.eval(compiled(mx.ones((64, n))))
            key = f"{passes}_shapeless" if shapeless else passes
            found[key] = (time.perf_counter() - start) / 20 * 1e3
        found["runs_shapeless" if shapeless else "runs"] = next(runs)
    return found


def tolist(quick: bool) -> Numbers:
    """`.tolist()` in a compiled function: the error, a plain way on, and the way around."""
    import eutectic.core as mx
    from eutectic.errors import TraceError

    def function(x: Any, frequencies: Any) -> Any:
        return sum(mx.cos(f * x) for f in frequencies.tolist())

    def rewritten(x: Any, frequencies: Any) -> Any:
        return sum(mx.cos(frequencies[i] * x) for i in range(len(frequencies)))

    x, frequencies = mx.arange(8) * 0.25, mx.array([0.5, 1.0, 2.0])
    expected = function(x, frequencies)
    found: Numbers = {}
    try:
        mx.compile(function)(x, frequencies)
    except TraceError as error:
        found["error"] = " ".join(str(error).split()).split(". ")[0]
        found["line"] = "frequencies.tolist()" in str(error)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        broken = mx.compile(function, on_break="plain")(x, frequencies)
    found["plain"] = bool(mx.array_equal(broken, expected))
    found["rewritten"] = bool(mx.array_equal(mx.compile(rewritten)(x, frequencies), expected))
    captured = mx.array([0.5, 1.0, 2.0]).tolist()
    outside = mx.compile(lambda x: sum(mx.cos(f * x) for f in captured))(x)
    found["outside"] = bool(mx.array_equal(outside, expected))
    return found


SCALE: Any = 2.0
TABLE: Any = None


def python_globals(quick: bool, package: str = "eutectic") -> Numbers:
    """A number and an array that a compiled function reads as globals, changed between calls."""
    import importlib

    global SCALE, TABLE
    mx = importlib.import_module(f"{package}.core")
    SCALE, TABLE = 2.0, mx.array([1.0])
    compiled = mx.compile(lambda x: x * SCALE + TABLE)
    x = mx.array([1.0])
    first = compiled(x).item()
    SCALE = 3.0
    number = compiled(x).item()
    TABLE = mx.array([5.0])
    return {"first": first, "number": number, "array": compiled(x).item()}


def mlx_globals(quick: bool) -> Numbers:
    return python_globals(quick, "mlx")


def eval_tree(quick: bool) -> Numbers:
    """Walking the parameters and the optimizer's state of 113M parameters in eval."""
    import eutectic.core as mx
    import eutectic.nn as nn
    from eutectic import optimizers

    layers = 2 if quick else 12
    width = 8 if quick else 64  # about as many arrays as the large model has, of other sizes
    model = nn.Sequential(*[nn.Sequential(*[nn.Linear(width, width) for _ in range(4)],
                                          nn.RMSNorm(width), nn.RMSNorm(width))
                            for _ in range(layers)])
    optimizer = optimizers.AdamW(1e-3)
    optimizer.init(model.trainable_parameters())
    mx.eval(model.parameters(), optimizer.state)
    from eutectic.utils import tree_flatten

    times = []
    for _ in range(50):
        start = time.perf_counter()
        mx.eval(model.parameters(), optimizer.state)
        times.append(time.perf_counter() - start)
    return {"us": sorted(times)[25] * 1e6,
            "arrays": len(tree_flatten([model.parameters(), optimizer.state]))}


def forward(quick: bool) -> Numbers:
    """Forward pass alone, and with loss, of the transformer and the anchor network."""
    import eutectic.core as mx

    found: Numbers = {}
    for name in ("anchor", "train"):
        system = seeds.build("eutectic", name, "tiny" if quick else "full")
        for part, function in (("forward", system.forward), ("loss", system.loss)):
            m = _measured(function, *system.batch, quick=quick)
            found[f"{name}_{part}"], found[f"{name}_{part}_same"] = m.speedup, m.identical
    mx.clear_cache()
    return found


def training_run(quick: bool) -> Numbers:
    """Losses, weights, and layouts of weights over some steps of the anchor network."""
    import numpy as np
    from eutectic.utils import tree_flatten

    losses, layouts, steps = [], [], 3 if quick else 50
    for compiled in (False, True):
        system = seeds.build("eutectic", "anchor", "tiny" if quick else "full")
        step = system.compile() if compiled else system.step
        losses.append([np.array(system.run(step)).tobytes() for _ in range(steps)])
        layouts.append([(path, x.shape, str(x.dtype)) for path, x in tree_flatten(system.state())])
    return {"steps": steps, "identical": losses[0] == losses[1], "layout": layouts[0] == layouts[1],
            "first": float(np.frombuffer(losses[0][0], np.float32)[0]),
            "last": float(np.frombuffer(losses[0][-1], np.float32)[0])}


def feature(quick: bool) -> Numbers:
    import inspect

    import eutectic.core as mx

    @mx.compile
    def decorated(x: Any) -> Any:
        return x + 1

    return {"signature": str(inspect.signature(mx.compile)),
            "works": decorated(mx.array(1)).item() == 2}


ALONE: dict[str, Callable[[bool], Numbers]] = {
    f.__name__: f for f in (
        tanh_512, tanh_4096, tanh_once, single_kernel, matmul, small_kernels, tracing, shapes,
        tolist, python_globals, mlx_globals, eval_tree, forward, training_run, feature)}


# ---- verdicts -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Found:
    """Everything that was measured: numbers by name, rows of the systems by name and framework."""

    numbers: dict[str, Numbers]
    systems: dict[str, dict[str, Any]]

    def own(self, name: str) -> Numbers:
        return self.systems[name]["eutectic"]

    def speedup(self, name: str) -> float:
        row = self.own(name)
        return row["plain"] / row["compiled"]

    def gain(self, name: str) -> str:
        row = self.own(name)
        return f"{name}: {row['plain']:.2f} ms plain, {row['compiled']:.2f} compiled, " \
               f"{self.speedup(name):.2f}x, {row['plain_kernels']:.0f} -> " \
               f"{row['compiled_kernels']:.0f} kernels"

    def same(self, name: str) -> bool:
        row = self.own(name)
        return row["identical"] and row["threads"]

    def beside(self, name: str) -> str:
        """What mlx does with a system, where it is installed."""
        row = self.systems[name].get("mlx")
        if row is None:
            return ""
        if "error" in row:
            return f" mlx fails: \"{row['error']}\"."
        return f" mlx: {row['plain']:.2f} ms plain, {row['compiled']:.2f} compiled."


def _times(n: Numbers) -> str:
    return f"{n['plain']:.3f} ms plain, {n['compiled']:.3f} compiled, {n['speedup']:.2f}x"


def _if(condition: bool, otherwise: str = NO) -> str:
    return HOLDS if condition else otherwise


def _fusion(f: Found) -> Outcome:
    n, t = f.numbers["tanh_512"], f.numbers["tracing"]
    return Outcome(
        _if(n["compiled_kernels"] < n["plain_kernels"] and (t["same"], t["others"]) == (1, 2)
            and n["compiled_moved"] < n["plain_moved"]),
        f"Twenty tanh: {n['plain_kernels']} kernels become {n['compiled_kernels']}, and "
        f"{n['plain_moved']:.1f} MiB moved become {n['compiled_moved']:.1f}. The function's Python "
        f"ran {t['same']} time in 100 calls, and {t['others']} times more for another dtype and "
        "another shape.")


def _tanh(f: Found) -> Outcome:
    n = f.numbers["tanh_512"]
    return Outcome(_if(1.5 < n["speedup"] < 10), f"{_times(n)}. Bits identical: "
                   f"{'yes' if n['identical'] else 'NO'}.")


def _sizes(f: Found) -> Outcome:
    small, large = (f.numbers[name]["speedup"] for name in ("tanh_512", "tanh_4096"))
    word = "holds" if 0.8 < large / small < 1.25 else "grows" if large > small else "shrinks"
    return Outcome("answered", f"It {word}: {small:.2f}x at 512, {large:.2f}x at 4096 "
                   f"({_times(f.numbers['tanh_4096'])}).")


def _loops(f: Found) -> Outcome:
    many, one = f.numbers["tanh_512"]["speedup"], f.numbers["tanh_once"]
    word = "shrinks" if one["speedup"] < 0.8 * many else "stays"
    return Outcome("answered", f"It {word}: {many:.2f}x with twenty, {one['speedup']:.2f}x with "
                   f"one, whose {one['plain_kernels']} kernels (a product, a sum, tanh, the "
                   f"reduction) become {one['compiled_kernels']}.")


def _first_call(f: Found) -> Outcome:
    n = f.numbers["tanh_512"]
    calls = n["first"] / max(n["plain"] - n["compiled"], 1e-9)
    slowest = max(f.systems, key=lambda name: f.own(name)["first"])
    return Outcome(_if(calls > 5), f"Twenty tanh: the first call takes {n['first']:.0f} ms with "
                   f"empty caches, paid back after {max(calls, 0):.0f} calls; "
                   f"the slowest first call among the systems is {slowest}'s, "
                   f"{f.own(slowest)['first'] / 1e3:.1f} s.")


def _shapes(f: Found) -> Outcome:
    n = f.numbers["shapes"]
    return Outcome(PARTLY, f"Each of 20 new shapes is a new trace (the function's Python runs "
                   f"{n['runs']} times with the first), but no new machine code: {n['new']:.2f} ms "
                   f"a call at a new shape, {n['known']:.3f} at a known one. With "
                   f"`shapeless=True` it runs {n['runs_shapeless']} time: "
                   f"{n['new_shapeless']:.2f} ms.")


def _bits(f: Found) -> Outcome:
    wrong = [name for name in f.systems if not f.same(name)]
    names = ("tanh_512", "tanh_4096", "tanh_once", "single_kernel", "matmul", "small_kernels")
    wrong += [name for name in names if not f.numbers[name]["identical"]]
    return Outcome(_if(not wrong), f"Bit-identical in {len(f.systems)} systems (losses, parameters "
                   f"and optimizer state; on one thread and on all) and {len(names)} functions"
                   + (f", except in {', '.join(wrong)}." if wrong else "."))


def _none(name: str, limit: float) -> Callable[[Found], Outcome]:
    def check(f: Found) -> Outcome:
        n = f.numbers[name]
        return Outcome(_if(n["speedup"] < limit), f"{_times(n)}.")

    return check


def _small_kernels(f: Found) -> Outcome:
    n = f.numbers["small_kernels"]
    return Outcome(_if(n["speedup"] > 2), f"{n['plain_kernels']} operations on 256 numbers: "
                   f"{_times(n)}, {n['compiled_kernels']} kernel.")


def _anchor(f: Found) -> Outcome:
    a, p = f.speedup("anchor"), f.speedup("pairwise")
    return Outcome(_if(a > 1.5 * p), f"{f.gain('anchor')}; {f.gain('pairwise')}."
                   + f.beside("anchor"))


def _pairwise(f: Found) -> Outcome:
    return Outcome(_if(1 < f.speedup("pairwise") < 2, PARTLY),
                   f"{f.gain('pairwise')}." + f.beside("pairwise"))


def _resonance(f: Found) -> Outcome:
    row = f.own("resonance")
    works = f.same("resonance") and row["traces"] == 1
    return Outcome(_if(not works, NOT_HERE), f"The loop is unrolled in one trace: "
                   f"{f.gain('resonance')}, first call {row['first'] / 1e3:.1f} s. With `mx.scan`: "
                   f"{f.gain('resonance_scan')}, first call "
                   f"{f.own('resonance_scan')['first'] / 1e3:.1f} s. Values asked for in the loop "
                   "are the check `tolist`." + f.beside("resonance"))


def _rotational(f: Found) -> Outcome:
    row = f.own("rotational")
    works = f.same("rotational") and row["traces"] == 2
    return Outcome(
        "settled: it works" if works else NO,
        f"`inputs` and `outputs` list the state once, the optimizer replaces it on each step: "
        f"{f.gain('rotational')}; bits identical: {'yes' if f.same('rotational') else 'NO'}; "
        f"{row['traces']:.0f} traces, the second when there are moments. What a function reads "
        "and writes outside is found again at each call." + f.beside("rotational"))


def _lohe(f: Found) -> Outcome:
    both = min(f.speedup("lohe"), f.speedup("lohe_v2"))
    return Outcome(_if(both > SAME), f"{f.gain('lohe')}; {f.gain('lohe_v2')}. What the gap was is "
                   "not said." + f.beside("lohe"))


def _works(name: str) -> Callable[[Found], Outcome]:
    def check(f: Found) -> Outcome:
        return Outcome(_if(f.same(name)), f"{f.gain(name)}; bits identical: "
                       f"{'yes' if f.same(name) else 'NO'}." + f.beside(name))

    return check


def _ffn_dft(f: Found) -> Outcome:
    return Outcome("not measured", "Specialisation is a statement about a trained model. The block "
                   f"compiles: {f.gain('ffn_dft')}." + f.beside("ffn_dft"))


def _decode(f: Found) -> Outcome:
    row = f.own("decode")
    return Outcome(
        _if(f.same("decode") and min(f.speedup("decode"), f.speedup("decode_fixed")) > 1, PARTLY),
        f"Compiling works on it. A cache that grows, `shapeless=True`: {f.gain('decode')} (a "
        f"token), {row['traces']:.0f} lengths; a cache of fixed length: {f.gain('decode_fixed')}."
        + f.beside("decode") + f.beside("decode_fixed"))


TRAINING = ("anchor", "pairwise", "resonance", "rotational", "lohe", "lohe_v2", "versor",
            "ffn_dft", "train")


def _training(f: Found) -> Outcome:
    percents = {name: (f.speedup(name) - 1) * 100 for name in TRAINING}
    listed = ", ".join(f"{name} {p:.0f} %" for name, p in percents.items())
    return Outcome(_if(min(percents.values()) > 0, PARTLY), f"Training steps are faster by: "
                   f"{listed}." + f.beside("train"))


def _percent(f: Found) -> Outcome:
    percents = [(f.speedup(name) - 1) * 100 for name in TRAINING]
    middle = statistics.median(percents)
    more, less = sum(p > 50 for p in percents), sum(p < 30 for p in percents)
    return Outcome("more here" if middle > 50 else "less here" if middle < 30 else HOLDS,
                   f"Of {len(percents)} training steps {more} gain more than 50 %, {less} less "
                   f"than 30; the median is {middle:.0f} %. Plain calls pay for each operation in "
                   "Python, which weighs most where arrays are small.")


def _forward(f: Found) -> Outcome:
    n = f.numbers["forward"]
    parts = [f"{name} {part} {n[f'{name}_{part}']:.2f}x" for name in ("anchor", "train")
             for part in ("forward", "loss")]
    faster = all(n[f"{name}_{part}"] > SAME for name in ("anchor", "train")
                 for part in ("forward", "loss"))
    return Outcome("settled: faster" if faster else "settled: depends on the model",
                   f"Without gradients, forward pass alone and with the loss: {', '.join(parts)}. "
                   "What runs forward only gains where it has small operations to fuse.")


def _divergence(f: Found) -> Outcome:
    n = f.numbers["training_run"]
    return Outcome(_if(n["identical"]), f"{n['steps']} steps of the anchor network: the same "
                   f"losses to the last bit, from {n['first']:.4f} to {n['last']:.4f}.")


def _layout(f: Found) -> Outcome:
    n = f.numbers["training_run"]
    return Outcome(_if(n["layout"]), "The compiled run has the same parameters and optimizer "
                   "state, by path, shape and dtype; the function is the same one, not a variant.")


def _tolist(f: Found) -> Outcome:
    n = f.numbers["tolist"]
    ok = n.get("line") and n["plain"] and n["rewritten"] and n["outside"]
    return Outcome(
        PARTLY if ok else HOLDS,
        "`.tolist()` on a traced array still has no value to give. It raises "
        f"`{n.get('error', 'nothing')}`, with the user's line: {'yes' if n.get('line') else 'NO'}. "
        "Three ways on, each with the plain result: `on_break=\"plain\"`, arrays instead of "
        "numbers, the list made before the call: "
        f"{', '.join('yes' if n[k] else 'NO' for k in ('plain', 'rewritten', 'outside'))}.")


def _globals(f: Found) -> Outcome:
    def text(n: Numbers) -> str:
        return f"{n['first']:g}, then {n['number']:g} and {n['array']:g}"

    own, mlx = f.numbers["python_globals"], f.numbers.get("mlx_globals")
    beside = f" mlx: {text(mlx)}." if mlx else ""
    seen = (own["number"], own["array"]) == (4, 8)
    return Outcome(NOT_HERE if seen else HOLDS, "x * SCALE + TABLE at 1, with SCALE 2 then 3 and "
                   f"TABLE [1] then [5]: {text(own)}; plainly it is 3, then 4 and 8.{beside}")


def _eval_tree(f: Found) -> Outcome:
    n = f.numbers["eval_tree"]
    return Outcome(PARTLY, f"`mx.eval` does walk the tree: {n['arrays']} arrays that are computed "
                   f"take {n['us']:.0f} us, whatever their sizes.")


def _feature(f: Found) -> Outcome:
    n = f.numbers["feature"]
    return Outcome(_if(n["works"]), f"A function of Python, `compile{n['signature']}`, and a "
                   "decorator.")


CHECKS: dict[str, Callable[[Found], Outcome]] = {
    "fusion": _fusion, "tanh": _tanh, "sizes": _sizes, "loops": _loops, "first_call": _first_call,
    "shapes": _shapes, "bits": _bits, "single_kernel": _none("single_kernel", 1.25),
    "matmul": _none("matmul", 1.25), "small_kernels": _small_kernels, "anchor": _anchor,
    "pairwise": _pairwise, "resonance": _resonance, "rotational": _rotational, "lohe": _lohe,
    "versor": _works("versor"), "ffn_dft": _ffn_dft, "decode": _decode, "training": _training,
    "percent": _percent, "forward": _forward, "divergence": _divergence, "layout": _layout,
    "tolist": _tolist, "globals": _globals, "eval_tree": _eval_tree, "feature": _feature}
