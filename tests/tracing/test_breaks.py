"""Where Python wants the value of a placeholder: the message, and calls that go on plainly."""

from __future__ import annotations

import bisect
import copy
import io
import itertools
import logging
import math
import pickle
import random
import threading
import traceback
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import eutectic.core as mx
from eutectic.config import config
from eutectic.errors import ArgumentError, CompileWarning, TraceError
from eutectic.tracing import native


@pytest.fixture(params=["native", "python"])
def path(request, monkeypatch):
    """A test with this runs with the native call and without it."""
    if request.param == "python":
        monkeypatch.setattr(native, "run", lambda: None)


def ints(*values: int) -> mx.array:
    return mx.array(values)


# ---- Messages ------------------------------------------------------------------------------------

# (a line of a program, operation, part of the remedy); x is a float of shape (), v has shape (3,),
# i is an integer of shape ().
LINES: list[tuple[str, str, str]] = [
    ("x.item()", "item", "Keep it an array"),
    ("v.tolist()", "tolist", "Compute with the array itself"),
    ("bool(x)", "bool", "mx.where"),
    ("y = 1 if x > 0 else 2", "bool", "mx.where"),
    ("while x > 0: x = x - 1", "bool", "mx.where"),
    ("assert x > 0", "bool", "mx.where"),
    ("y = x > 0 and x < 1", "bool", "logical_and"),
    ("y = not x", "bool", "logical_not"),
    ("y = max(x, x + 1)", "bool", "mx.where"),
    ("y = sorted([x, x + 1])", "bool", "mx.where"),
    ("y = [i + 0] == [i + 0]", "bool", "mx.where"),
    ("y = any([x > 0])", "bool", "mx.where"),
    ("bisect.bisect([0.5], x)", "bool", "mx.where"),
    ("y = 1.0 in v", "in", "(x == value).any()"),
    ("int(x)", "int", "x.astype(mx.int32)"),
    ("math.floor(x)", "float", "x.astype(mx.float32)"),
    ("float(x)", "float", "x.astype(mx.float32)"),
    ("math.sqrt(x)", "float", "mx's functions in the place of math's"),
    ("complex(x)", "complex", "x.astype(mx.complex64)"),
    ("y = [0, 1, 2][i]", "index", "mx.take"),
    ("y = list(range(i))", "index", "Python argument"),
    ("y = 'ab' * i", "index", "Python argument"),
    ("hex(i)", "index", "Python argument"),
    ("y = v[:i]", "index", "Python argument"),
    ("y = mx.linalg.norm(v, ord=x)", "float", "Keep it an array"),
    ("y = mx.fft.fftfreq(3, x)", "float", "Keep it an array"),
    ("y = mx.zeros((i,))", "index", "Python argument"),
    ("print(x)", "print", "print it outside"),
    ("repr(v)", "print", "print it outside"),
    ("str(v)", "print", "print it outside"),
    ("y = '%s' % v", "print", "print it outside"),
    ("y = f'{x:.3f}'", "format", "format it outside"),
    ("y = '{}'.format(v)", "print", "print it outside"),
    ("np.asarray(v)", "numpy", "mx's functions in the place of NumPy's"),
    ("np.array(v)", "numpy", "mx's functions in the place of NumPy's"),
    ("np.sin(v)", "numpy", "mx's functions in the place of NumPy's"),
    ("np.ones(3)[...] = v", "numpy", "mx's functions in the place of NumPy's"),
    ("np.from_dlpack(v)", "dlpack", "hand it on outside"),
    ("bytes(v)", "bytes", "read its bytes outside"),
    ("pickle.dumps(v)", "pickle", "pickle it outside"),
    ("mx.eval(v)", "eval", "Leave it out"),
    ("mx.eval({'a': [v]}, 1)", "eval", "Leave it out"),
    ("mx.async_eval(v)", "eval", "Leave it out"),
    ("y = v[v > 0]", "mask index", "mx.where with the mask"),
    ("mx.save(io.BytesIO(), v)", "save", "write it outside"),
    ("mx.savez(io.BytesIO(), v=v)", "savez", "write it outside"),
    ("mx.save_safetensors(io.BytesIO(), {'v': v})", "save_safetensors", "write it outside"),
]


@pytest.mark.parametrize(("line", "operation", "remedy"), LINES, ids=[e[0] for e in LINES])
def test_each_way_of_needing_a_value(line: str, operation: str, remedy: str, tmp_path: Any) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"def helper(x, v, i):\n    x, v, i = x * 1, v * 1, i * 1\n    {line}\n"
                       "    return x\n\n\ndef step(x, v, i):\n    return helper(x, v, i) + 1\n")
    names: dict[str, Any] = {"mx": mx, "np": np, "math": math, "io": io, "pickle": pickle,
                             "bisect": bisect}
    exec(compile(program.read_text(), str(program), "exec"), names)
    args = mx.array(1.5), mx.array([1.0, 2.0, 3.0]), mx.array(2)
    with pytest.raises(TraceError) as found:
        mx.compile(names["step"])(*args)
    text = str(found.value)
    where = f'  File "{program}", line 3, in helper\n    {line}\n'
    head, _, rest = text.partition(where)
    assert rest, text
    assert head.startswith(f"[{operation}] ") and "traces 'step'" in " ".join(head.split())
    joined = " ".join(rest.split())
    assert remedy in joined and 'on_break="plain"' in joined
    assert all(len(s) <= 100 for s in (head + rest).splitlines())
    point = found.value.point
    assert (point.operation, point.function, point.within) == (operation, "step", "helper")
    assert (point.file, point.line, point.text) == (str(program), 3, line)
    # The message goes where the user's line is the last of the traceback that is the user's own.
    last = [f for f in traceback.extract_tb(found.tb) if f.filename == str(program)][-1]
    assert (last.lineno, last.name) == (3, "helper")


@pytest.mark.parametrize(("line", "operation", "remedy"), LINES, ids=[e[0] for e in LINES])
def test_each_of_them_runs_plainly(line: str, operation: str, remedy: str) -> None:
    if line.startswith("while"):
        line = "while x > 0:\n        x = x - 1"
    names: dict[str, Any] = {"mx": mx, "np": np, "math": math, "io": io, "pickle": pickle,
                             "bisect": bisect, "print": lambda x: str(x)}
    exec(f"def step(x, v, i):\n    x, v, i = x * 1, v * 1, i * 1\n    y = None\n    {line}\n"
         "    return x + 1, v, y\n", names)
    args = mx.array(1.5), mx.array([1.0, 2.0, 3.0]), mx.array(2)
    f = mx.compile(names["step"], on_break="plain")
    want = repr(names["step"](*args))
    with pytest.warns(CompileWarning, match=r"\[compile\] 'step' runs uncompiled"):
        assert repr(f(*args)) == want
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert repr(f(*args)) == want
    found = mx.compile_stats(f)
    assert (found.traces, found.misses, found.broken_calls) == (0, 2, 2)
    assert [(b.operation, n) for b, n in found.breaks] == [(operation, 2)]


def test_what_needs_no_value_is_no_break() -> None:
    def step(x):
        assert len(x) == 3 and x.shape == (3,) and x.ndim == 1 and x.dtype == mx.float32
        a, b, c = x
        assert [r.shape for r in x] == [()] * 3
        copy.deepcopy(x)
        return {x: a + b + c}[x] + x[0].astype(mx.int32)

    assert mx.compile(step)(mx.ones((3,))).item() == 4


def test_len_and_iteration_of_no_axes_fail_as_they_do_plainly() -> None:
    for use in (len, iter, list):
        with pytest.raises(TypeError, match="has no axes"):
            use(mx.array(1.0))
        with pytest.raises(TypeError, match="has no axes"):
            mx.compile(lambda x, use=use: use(x), on_break="plain")(mx.array(1.0))


def test_a_program_without_source() -> None:
    names: dict[str, Any] = {}
    exec(compile("def step(x):\n    return x.item()\n", "<made>", "exec"), names)
    with pytest.raises(TraceError) as found:
        mx.compile(names["step"])(mx.array(1.0))
    assert 'File "<made>", line 2, in step\nKeep it an array' in str(found.value)


def test_a_derivative_inside_names_the_line_as_well() -> None:
    def loss(w):
        return (w * w).sum() * w.sum().item()

    with pytest.raises(TraceError, match=r"(?s)^\[item\].*traces 'step'.*w\.sum\(\)\.item\(\)"):
        mx.compile(lambda: None)  # another compiled function has nothing to do with it
        @mx.compile
        def step(w):
            return mx.grad(loss)(w)
        step(mx.ones((2,)))


def test_vmap_says_that_it_is_vmap() -> None:
    def one(x):
        return x.item()

    for f in (mx.vmap(one), mx.compile(mx.vmap(one)), mx.vmap(mx.compile(one, on_break="plain"))):
        with pytest.raises(TraceError) as found:
            f(mx.ones((2,)))
        text = " ".join(str(found.value).split())
        assert "stands for every entry of a batch while mx.vmap calls 'one'" in text
        assert "on_break" not in text


@pytest.mark.parametrize("value", ["Plain", "", None, True])
def test_on_break_is_one_of_two(value: Any) -> None:
    with pytest.raises(ArgumentError, match="on_break must be 'error' or 'plain'"):
        mx.compile(lambda x: x, on_break=value)


def test_compiled_again_with_another_on_break() -> None:
    f = mx.compile(lambda x: x * 2 if x.item() > 0 else x)
    g = mx.compile(f, on_break="plain")
    assert mx.compile(g) is g and mx.compile(g, on_break="plain") is g and g is not f
    with pytest.raises(TraceError):
        f(mx.array(1.0))
    with pytest.warns(CompileWarning):
        assert g(mx.array(1.0)).item() == 2


# ---- Going on plainly ----------------------------------------------------------------------------


pytestmark = pytest.mark.filterwarnings("ignore::eutectic.errors.CompileWarning")


def same(a: Any, b: Any) -> bool:
    return repr(a) == repr(b)


def test_signatures_that_need_no_value_stay_compiled(path) -> None:
    @mx.compile
    def never(x):
        return x

    def step(x, log):
        if log:
            print(end=str(x.sum())[:0])
        return x * 2

    f = mx.compile(step, on_break="plain")
    for _ in range(4):
        assert f(mx.ones((2,)), False).tolist() == [2, 2]
        assert f(mx.ones((2,)), True).tolist() == [2, 2]
    found = f.stats
    assert (found.traces, found.hits, found.misses, found.broken_calls) == (1, 3, 5, 4)


def test_nothing_runs_twice(path) -> None:
    counter = itertools.count()
    draws = random.Random(3)
    kinds: list[str] = []

    def step(x):
        k = next(counter)
        kinds.append("before")
        scale = draws.random()
        if x.sum().item() > 2:
            kinds.append("after")
        return x * scale + k

    f = mx.compile(step, on_break="plain")
    other = random.Random(3)
    for k in range(4):
        assert same(f(mx.ones((3,))), mx.ones((3,)) * other.random() + k)
    assert kinds == ["before", "after"] * 4


def test_captured_state_is_what_plain_calls_leave(path) -> None:
    def made():
        state = {"w": mx.ones((2,)), "n": 0, "list": [mx.array(0)], "seen": []}

        def step(x):
            state["w"] = state["w"] + x
            state["n"] += 1
            state["list"][0] += 1
            state["seen"].append(state["w"].sum().item())
            state["new"] = x * 2
            return state["w"].mean()
        return state, step

    for given in (False, True):
        plain_state, plain = made()
        state, step = made()
        f = (mx.compile(step, inputs=state, outputs=state, on_break="plain") if given
             else mx.compile(step, on_break="plain"))
        cell = state["list"][0]
        for k in range(4):
            assert same(f(mx.array([1.0, k])), plain(mx.array([1.0, k])))
            assert same(state, plain_state)
        assert state["list"][0] is cell and f.stats.broken_calls == 4


def test_state_on_self_and_methods(path) -> None:
    class Model:
        def __init__(self):
            self.w, self.best, self.steps = mx.ones((2,)), None, 0

        def plain(self, x):
            self.steps += 1
            loss = (self.w * x).sum()
            if self.best is None or loss < self.best:
                self.best = loss
            self.w = self.w - 0.5 * x
            return loss

        step = mx.compile(plain, on_break="plain")

    a, b, other = Model(), Model(), Model()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for k in range(4):
            x = mx.array([1.0, k])
            assert same(a.step(x), b.plain(x))
            assert same((a.w, a.best, a.steps), (b.w, b.best, b.steps))
            other.step(x)
    # Once for the function, not once for each instance.
    assert [w.category for w in told] == [CompileWarning]
    assert "'plain'" in str(told[0].message) and told[0].filename == __file__
    assert "if self.best is None or loss < self.best:" in str(told[0].message)


def test_random_state_advances_once(path) -> None:
    def step(x):
        y = x + mx.random.normal((3,))
        if y.sum().item() > 1e9:
            return x
        return y * mx.random.uniform()

    f = mx.compile(step, on_break="plain")
    mx.random.seed(7)
    want = [step(mx.ones((3,))).tolist() for _ in range(4)]
    mx.random.seed(7)
    assert [f(mx.ones((3,))).tolist() for _ in range(4)] == want


def test_arguments_that_are_changed(path) -> None:
    @dataclass
    class Box:
        a: Any
        n: int = 0

    def step(x, items, table, box, *, out):
        x += 1
        items.append(x.sum().item())
        items.insert(0, items[1])
        table["new"], table["old"] = table.pop("old"), x
        box.n += 1
        box.a = box.a * 2
        out[0][...] = x
        del out[1:]
        return items, (x, out), box

    def given():
        inner = [mx.array(5.0)]
        return (mx.ones((2,)), [1, inner], {"old": inner}, Box(mx.array(3.0))), {
            "out": [mx.zeros((2,)), 2, 3]}

    f = mx.compile(step, on_break="plain")
    want_args, want_kwargs = given()
    want = step(*want_args, **want_kwargs)
    for _ in range(3):
        args, kwargs = given()
        got = f(*args, **kwargs)
        assert same((got, args, kwargs), (want, want_args, want_kwargs))
        # The caller's own objects, not copies.
        assert got[0] is args[1] and got[1][0] is args[0] and got[1][1] is kwargs["out"]
        assert got[2] is args[3] and args[1][0] is args[1][2] is args[2]["new"]


def test_numpy_arguments_are_arrays_as_in_compiled_calls(path) -> None:
    seen = []

    def step(x, rows):
        seen.append(type(x) is type(rows[0]) is mx.array)
        rows.append(x.sum().item())
        return x * 2

    f = mx.compile(step, on_break="plain")
    for _ in range(3):
        rows = [np.zeros(2)]
        got = f(np.array([1.0, 2.0]), rows)
        assert type(got) is mx.array and got.tolist() == [2, 4]
        assert isinstance(rows[0], np.ndarray) and rows[1] == 3.0
    assert seen == [True] * 3


def test_errors_after_the_break_are_the_functions_own(path) -> None:
    log: list[float] = []

    def step(x):
        log.append(x.item())
        raise KeyError("mine")

    f = mx.compile(step, on_break="plain")
    for k in range(3):
        with pytest.raises(KeyError, match="mine"):
            f(mx.array(float(k)))
    assert log == [0, 1, 2]
    assert mx.compile(lambda x: x + 1)(mx.array(1.0)).item() == 2


def test_errors_before_the_break_restore_as_ever(path) -> None:
    state = [mx.array(1.0)]

    def step(x, fail):
        state[0] = state[0] + x
        if fail:
            raise KeyError("mine")
        return state[0].item()

    f = mx.compile(step, inputs=state, outputs=state, on_break="plain")
    with pytest.raises(KeyError):
        f(mx.array(1.0), True)
    assert state[0].item() == 1
    assert f(mx.array(1.0), False) == 2 and state[0].item() == 2


def test_a_value_that_is_needed_where_errors_are_swallowed() -> None:
    def step(x):
        try:
            return x * float(x)
        except ValueError:
            return x

    assert mx.compile(step, on_break="plain")(mx.array(3.0)).item() == 9


def test_logging_of_arrays(caplog: pytest.LogCaptureFixture) -> None:
    def step(x):
        logging.getLogger("here").warning("x is %s", x.sum())
        return x * 2

    f = mx.compile(step, on_break="plain")
    for _ in range(2):
        assert f(mx.ones((2,))).tolist() == [2, 2]
    assert [r.getMessage() for r in caplog.records] == ["x is array(2, dtype=float32)"] * 2


def test_gradients(path) -> None:
    def loss(w, x):
        s = (w * x).sum()
        if s > 0:
            s = s * s
        for _ in range(int(s)):
            s = s + w[0]
        return s

    f = mx.compile(loss, on_break="plain")
    w, x = mx.array([1.0, 2.0]), mx.array([1.0, 0.5])
    pairs = [(mx.grad(f), mx.grad(loss)), (mx.value_and_grad(f), mx.value_and_grad(loss)),
             (mx.compile(mx.grad(loss), on_break="plain"), mx.grad(loss)),
             (mx.compile(mx.grad(f), on_break="plain"), mx.grad(loss)),
             (mx.compile(mx.grad(f)), mx.grad(loss)),
             (mx.grad(lambda w, x: mx.grad(f)(w, x).sum()),
              mx.grad(lambda w, x: mx.grad(loss)(w, x).sum()))]
    for got, want in pairs:
        for _ in range(3):
            assert same(got(w, x), want(w, x))
            assert same(got(w, -x), want(w, -x))
    assert pairs[0][0].stats.broken_calls == 6


def test_vmap_over_what_is_shared(path) -> None:
    def scaled(x, k):
        return x * 2 if k.item() > 0 else -x

    f = mx.vmap(mx.compile(scaled, on_break="plain"), in_axes=(0, None))
    xs = mx.array([[1.0], [2.0]])
    for k in (1.0, -1.0, 1.0):
        assert same(f(xs, mx.array(k)), mx.vmap(scaled, in_axes=(0, None))(xs, mx.array(k)))
    assert f.stats.broken_calls == 3


def test_inside_another_compiled_function(path) -> None:
    @mx.compile
    def helper(x):
        return mx.exp(x)

    def branch(x):
        return helper(x) if x.sum().item() > 0 else -x

    inner = mx.compile(branch, on_break="plain")

    def step(x):
        return inner(x * 2) + 1

    for outer in (mx.compile(step), mx.compile(step, on_break="plain")):
        for k in (1.0, -1.0, 1.0):
            assert same(outer(mx.array([k])), branch(mx.array([k]) * 2) + 1)
        found = outer.stats
        assert (found.traces, found.broken_calls) == (0, 3)
        assert found.breaks[0][0].function == "step" and found.breaks[0][0].within == "branch"
    # What runs plainly calls compiled functions as such.
    assert inner.stats.broken_calls == 4 and helper.stats.hits > 0

    def needs(x):
        inner(x)
        return x.item()

    with pytest.raises(TraceError, match="needs"):  # its own need, which it does not allow
        mx.compile(lambda x: needs(x * 1) if mx.compile(lambda y: y)(x) is None else
                   x.item())(mx.array(1.0))


def test_explain_and_measure_do_not_run_it() -> None:
    seen = []

    def step(x):
        seen.append(1)
        return x if x.item() > 0 else -x

    f = mx.compile(step, on_break="plain")
    with pytest.raises(TraceError, match=r"(?s)\[item\].*if x\.item\(\) > 0") as found:
        mx.explain(f, mx.array(1.0))
    assert "on_break" not in str(found.value)
    f(mx.array(1.0))
    assert f.stats.broken_calls == 1


def test_results_are_ordinary_arrays(path) -> None:
    kept = []

    def step(x):
        y = x * 2
        kept.append(y + 1)
        if y.sum().item() < 0:
            return x
        return y

    f = mx.compile(step, on_break="plain")
    g = mx.compile(lambda x: x + 1)
    y = f(mx.ones((2,)))
    assert g(y).tolist() == [3, 3] and g(kept[0]).tolist() == [4, 4]
    assert mx.grad(lambda x: (f(x) * x).sum())(mx.ones((2,))).tolist() == [4, 4]
    x = mx.ones((2,))
    assert mx.compile(lambda x: x if x.sum().item() else x + 1, on_break="plain")(x) is x


def test_values_of_derivatives_are_arguments_before_they_are_computed(path) -> None:
    value, gradient = mx.value_and_grad(lambda x: (x * x).sum())(mx.ones((3,)))
    f = mx.compile(lambda v, g: v + g)
    assert f(value, gradient).tolist() == [5, 5, 5]
    w = mx.vmap(lambda x: x * 2)(mx.ones((3,)))
    assert f(w, w).tolist() == [4, 4, 4]


def test_threads(path) -> None:
    def step(x, k):
        return x * 2 if x.sum().item() > k else -x

    f = mx.compile(step, on_break="plain")
    wrong: list[Any] = []

    def run(k):
        for j in range(20):
            x = mx.full((2,), float(j))
            if not same(f(x, k), step(x, k)):
                wrong.append((j, k))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong and f.stats.broken_calls == 80


def test_remembered_signatures_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "compile_cache_entries", 4)
    f = mx.compile(lambda x: x.tolist(), on_break="plain")
    for n in range(20):
        assert f(mx.zeros((n,))) == [0] * n
    assert len(f.history.broken) == 4 and f.stats.broken_calls == 20
    f.clear()
    assert not f.history.broken and f(mx.zeros((1,))) == [0]


def test_switched_off() -> None:
    f = mx.compile(lambda x: x.item(), on_break="plain")
    mx.disable_compile()
    try:
        assert f(mx.array(2.0)) == 2
    finally:
        mx.enable_compile()
    assert (f.stats.plain_calls, f.stats.broken_calls) == (1, 0)


def test_debug_prints_a_line(capsys: pytest.CaptureFixture[str],
                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "debug", 1)

    def step(x):
        return x.item()

    mx.compile(step, on_break="plain")(mx.array(2.0))
    err = capsys.readouterr().err
    assert "eutectic: step runs plainly: .item() in step (" in err
    assert "test_breaks.py:" in err and err.rstrip().endswith("return x.item()")
