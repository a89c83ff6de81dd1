"""What can be exported and how it is called: signatures, constants, state, other processes."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exported import content, file_of, imported

import eutectic.core as mx
from eutectic.errors import (
    ArgumentError, ArgumentTypeError, EutecticError, ExportError, FileError)


def test_by_position_and_keyword_however_given() -> None:
    f = imported(lambda x, y: x - y, mx.array([1.0, 2.0]), y=mx.array(3.0))
    x, y = mx.array([5.0, 6.0]), mx.array(1.0)
    for args, kwargs in (((x,), {"y": y}), (((x,), {"y": y}), {}), (([x], {"y": y}), {}),
                         (((x,),), {"y": y})):
        [out] = f(*args, **kwargs)
        assert out.tolist() == [4.0, 5.0]
    both = imported(lambda x, y: x - y, (x,), {"y": y})
    assert both(x, y=y)[0].tolist() == [4.0, 5.0]
    named = imported(lambda *, b, a: (a, b), b=x, a=y)
    assert [v.tolist() for v in named({"a": y, "b": x})] == [1.0, [5.0, 6.0]]


@pytest.mark.parametrize("args", [
    (1.0,), ([mx.array(1.0)], mx.array(1.0)), (mx.array(1.0), {"y": mx.array(1.0)}),
    ((mx.array(1.0), 2),), ({"y": 1},), ({1: mx.array(1.0)},), (np.ones(2),), (None,)])
def test_other_arguments(args: Any) -> None:
    f = imported(lambda x: x, mx.array(1.0))
    for call in (lambda: f(*args), lambda: mx.export_function(io.BytesIO(), mx.exp, *args)):
        with pytest.raises(ArgumentError, match=r"give arrays by position and keyword"):
            call()


def test_results_are_a_tuple() -> None:
    one, two = mx.array(1.0), mx.array(2.0)
    assert len(imported(lambda x: x, one)(two)) == 1
    assert len(imported(lambda x: [x, x + 1], one)(two)) == 2
    f = imported(lambda: (mx.array(2.0),))
    assert f()[0].item() == 2.0
    for results in ({"a": one}, [one, [one]], 3, None, (one, 3), ()):
        with pytest.raises(ExportError, match=r"must return an array, or a tuple or list"):
            mx.export_function(io.BytesIO(), lambda x, r=results: r, one)


def test_no_trace_fits() -> None:
    f = imported(lambda x, y: x + y, mx.ones((2,)), y=mx.array(1))
    for args, kwargs in (((mx.ones((3,)),), {"y": mx.array(1)}), ((mx.ones((2,)),), {}),
                         ((mx.ones((2,)),), {"z": mx.array(1)}), ((), {}),
                         ((mx.ones((2,), mx.int32),), {"y": mx.array(1)}),
                         ((mx.ones((1, 2)),), {"y": mx.array(1)})):
        with pytest.raises(ExportError) as e:
            f(*args, **kwargs)
        assert str(e.value).startswith("[import_function::call] no exported trace of <BytesIO> ")
        assert str(e.value).endswith("It has:\n 1. (float32[2], y=int32[])")
    assert isinstance(e.value, (ValueError, RuntimeError))


def test_several_traces(tmp_path: Path) -> None:
    path = str(tmp_path / "total.mlxfn")
    weights = mx.arange(1000).astype(mx.float32)

    def total(*xs: mx.array) -> mx.array:
        return sum(x.sum() for x in xs) * weights[3]

    with mx.exporter(path, total, metadata="three") as export:
        assert isinstance(export, mx.FunctionExporter)
        for n in (1, 2, 3):
            export(*[mx.ones((n,))] * n)
        with pytest.raises(ExportError, match=r"\(float32\[1\]\) was exported already"):
            export(mx.zeros((1,)))
        assert not os.path.exists(path)
    with pytest.raises(ExportError, match="the exporter is closed"):
        export(mx.zeros((4,)))
    export.close()
    f, metadata = mx.import_function(path, return_metadata=True)
    assert metadata == "three"
    assert [f(*[mx.ones((n,))] * n)[0].item() for n in (1, 2, 3)] == [3.0, 12.0, 27.0]
    assert os.path.getsize(path) < 8000  # the weights are there once
    assert repr(f).startswith("<imported total.mlxfn: (float32[1]); (float32[2], float32[2]); ")


def test_an_error_in_the_block_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f"
    with pytest.raises(KeyError), mx.exporter(str(path), mx.exp) as export:
        export(mx.array(1.0))
        raise KeyError
    assert not path.exists()
    with pytest.raises(ExportError, match="closed"):
        export(mx.array(1.0))
    with pytest.raises(FileError, match=r"\[export_function\]"):
        mx.export_function(str(tmp_path / "none" / "f"), mx.exp, mx.array(1.0))


def test_what_is_read_elsewhere_becomes_a_constant() -> None:
    state = {"w": mx.array([1.0, 2.0]), "steps": 3}
    f = imported(lambda x: x * state["w"] + state["steps"], mx.ones((2,)))
    state["w"] += 10
    state["steps"] = 7
    assert f(mx.ones((2,)))[0].tolist() == [4.0, 5.0]
    compiled = imported(mx.compile(lambda x: x * state["w"], inputs=state), mx.ones((2,)))
    assert compiled(mx.ones((2,)))[0].tolist() == [11.0, 12.0]


def test_writes_are_left_out_and_told() -> None:
    state = {"count": mx.array(0)}

    def step(x: mx.array) -> mx.array:
        state["count"] = state["count"] + 1
        return x * state["count"]
    with pytest.warns(UserWarning, match=r"\[export_function\] step changes arrays besides"):
        f = imported(step, mx.array(1))
    assert state["count"].item() == 0
    assert [f(mx.array(5))[0].item() for _ in range(2)] == [5, 5]
    with pytest.warns(UserWarning, match="changes arrays besides its results"):
        imported(mx.compile(step, inputs=state, outputs=state), mx.array(1))


def test_random_numbers() -> None:
    mx.random.seed(5)
    with pytest.warns(UserWarning, match="draws random numbers without a key"):
        f = imported(lambda x: x + mx.random.uniform(shape=(2,)), mx.zeros((2,)))
    drawn = mx.random.uniform(shape=(2,)).tolist()  # exporting has drawn nothing
    assert f(mx.zeros((2,)))[0].tolist() == drawn == f(mx.zeros((2,)))[0].tolist()
    keyed = imported(lambda k: mx.random.normal((3,), key=k), mx.random.key(0))
    for seed in (1, 2):
        assert keyed(mx.random.key(seed))[0].tolist() == mx.random.normal(
            (3,), key=mx.random.key(seed)).tolist()


def test_constants_of_every_dtype_and_layout() -> None:
    for dtype in (mx.bool_, mx.uint8, mx.int64, mx.float16, mx.bfloat16, mx.float64, mx.complex64):
        c = mx.array([[0, 1, 2], [3, 4, 5]]).astype(dtype)
        for view in (c, c.T, c[:, ::-1], c[1:], mx.broadcast_to(c[0], (2, 3)), c[:0], c[0, 0]):
            mx.eval(view)
            f = imported(lambda x, v=view: (x, v), mx.array(1.0))
            assert bytes(f(mx.array(1.0))[1]) == bytes(view)
    special = mx.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], mx.float32)
    assert bytes(imported(lambda: special * 1)()[0]) == bytes(special)


def test_it_is_a_function_like_others() -> None:
    w = mx.array([[1.0, 2.0], [3.0, 4.0]])

    def fun(x: mx.array) -> mx.array:
        return mx.tanh(x @ w).sum(axis=-1)
    f = imported(fun, mx.ones((2,)))
    x = mx.array([0.5, -0.25])
    assert bytes(mx.compile(lambda x: f(x)[0] * 2)(x)) == bytes(fun(x) * 2)
    assert bytes(mx.grad(lambda x: f(x)[0])(x)) == bytes(mx.grad(fun)(x))
    rows = mx.stack([x, x + 1, x * 2])
    assert bytes(mx.vmap(f)(rows)[0]) == bytes(mx.vmap(fun)(rows))
    again = imported(f, x)
    assert bytes(again(x)[0]) == bytes(fun(x))
    assert bytes(imported(mx.grad(fun), x)(x)[0]) == bytes(mx.grad(fun)(x))
    assert bytes(imported(mx.compile(fun), x)(x)[0]) == bytes(fun(x))


def test_functions_with_derivatives_of_their_own() -> None:
    @mx.custom_function
    def f(x: mx.array) -> mx.array:
        return x * x

    @f.vjp
    def rule(x: mx.array, g: mx.array, y: mx.array) -> mx.array:
        return g * 100
    x = mx.array(3.0)
    plain = imported(f, x)
    assert plain(x)[0].item() == 9.0
    assert mx.grad(lambda x: plain(x)[0])(x).item() == 6.0  # of its operations
    assert imported(mx.grad(f), x)(x)[0].item() == 100.0
    again = imported(mx.checkpoint(lambda x: mx.sin(x) * x), x)
    assert bytes(again(x)[0]) == bytes(mx.sin(x) * x)
    both = imported(lambda x: mx.depends(x, mx.exp(x)), x)
    assert both(x)[0].item() == 3.0


def test_unused_and_repeated_arguments() -> None:
    f = imported(lambda x, y: (x, x), mx.array(1.0), mx.array(2.0))
    assert [v.item() for v in f(mx.array(3.0), mx.array(4.0))] == [3.0, 3.0]
    one = mx.array(1.0)
    g = imported(lambda x, y: x - y, one, one)
    assert g(mx.array(3.0), mx.array(4.0))[0].item() == -1.0


def test_operations_that_files_do_not_hold() -> None:
    from eutectic.array import wrap
    from eutectic.graph import prims
    [unknown] = prims.opaque("mine", lambda x: x, (mx.array(1.0)._n,), (), [((), mx.float32)])
    with pytest.raises(ExportError, match=r"cannot be exported: mine.* is not an operation that"):
        mx.export_function(io.BytesIO(), lambda x: x + wrap(prims.opaque(
            "mine", lambda v: v, (x._n,), (), [((), mx.float32)])[0]), mx.array(1.0))
    assert unknown.prim.name == "mine"


def test_errors_of_the_function_are_its_own() -> None:
    with pytest.raises(ZeroDivisionError):
        mx.export_function(io.BytesIO(), lambda x: 1 // 0, mx.array(1.0))
    with pytest.raises(EutecticError, match=r"\[item\]"):
        mx.export_function(io.BytesIO(), lambda x: x * x.item(), mx.array(1.0))
    for bad in (3, None):
        with pytest.raises(ArgumentTypeError, match="cannot export a"):
            mx.export_function(io.BytesIO(), bad, mx.array(1.0))
    with pytest.raises(ArgumentTypeError, match="metadata must be a str"):
        mx.export_function(io.BytesIO(), mx.exp, mx.array(1.0), metadata=3)
    with pytest.raises(ArgumentError, match="metadata is only for files"):
        mx.export_function(print, mx.exp, mx.array(1.0), metadata="x")
    with pytest.raises(ArgumentError, match="the file must be a path"):
        mx.export_function(3, mx.exp, mx.array(1.0))


def test_callback() -> None:
    told: list[dict[str, Any]] = []
    w = mx.array([2.0, 3.0])
    mx.export_function(told.append, lambda x, y: mx.exp(x) * w + y, mx.ones((2,)), y=mx.array(1.0))
    assert [t["type"] for t in told] == [
        "inputs", "keyword_inputs", "outputs", "constants", "primitive", "primitive", "primitive"]
    assert told[0]["inputs"] == [("A", (2,), mx.float32), ("B", (), mx.float32)]
    assert told[1]["keywords"] == [("y", "B")]
    assert told[2]["outputs"] == [("F", (2,), mx.float32)]
    [(name, constant)] = told[3]["constants"]
    assert (name, constant.tolist()) == ("C", [2.0, 3.0])
    assert told[5] == {
        "type": "primitive", "name": "multiply", "arguments": [],
        "inputs": [("D", (2,), mx.float32), ("C", (2,), mx.float32)],
        "outputs": [("E", (2,), mx.float32)]}


def test_equal_functions_give_equal_files() -> None:
    first, second = [file_of(lambda x: mx.exp(x) @ mx.array([[1.0], [2.0]]), mx.ones((3, 2)))
                     for _ in range(2)]
    assert first == second
    assert content(first)["metadata"] == ""


CHILD = """
import sys
import eutectic.core as mx
f = mx.import_function(sys.argv[1])
x = mx.load(sys.argv[2])
out = f(x)
assert "secret" not in sys.modules
mx.savez(sys.argv[3], *out, *mx.compile(f)(x))
"""


def test_another_process_has_only_eutectic(tmp_path: Path) -> None:
    """The function's module is not there, and nothing but its operations is needed."""
    (tmp_path / "secret.py").write_text(
        "import eutectic.core as mx\n"
        "W = mx.random.normal((8, 8), key=mx.random.key(1))\n"
        "class Model:\n"
        "    def __call__(self, x):\n"
        "        h = mx.fast.rms_norm(mx.tanh(x @ W), None, 1e-5)\n"
        "        return mx.softmax(h, axis=-1), mx.sort(h, axis=0), h.argmax(-1)\n")
    sys.path.insert(0, str(tmp_path))
    try:
        model = __import__("secret").Model()
    finally:
        sys.path.remove(str(tmp_path))
        del sys.modules["secret"]
    x = mx.random.normal((5, 8), key=mx.random.key(2))
    mx.export_function(str(tmp_path / "f.mlxfn"), model, x)
    mx.save(str(tmp_path / "x.npy"), x)
    (tmp_path / "elsewhere").mkdir()
    subprocess.run([sys.executable, "-c", CHILD, str(tmp_path / "f.mlxfn"),
                    str(tmp_path / "x.npy"), str(tmp_path / "out.npz")],
                   check=True, cwd=tmp_path / "elsewhere", timeout=120)
    out = mx.load(str(tmp_path / "out.npz"))
    for i, expected in enumerate(model(x)):
        assert bytes(out[f"arr_{i}"]) == bytes(out[f"arr_{i + 3}"]) == bytes(expected)


def test_large_constants_lie_in_the_file(tmp_path: Path) -> None:
    w = mx.random.normal((1024, 512), key=mx.random.key(0))
    mx.export_function(tmp_path / "f", lambda x: x @ w, mx.ones((1, 1024)))
    before = mx.get_active_memory()
    f = mx.import_function(tmp_path / "f")
    assert mx.get_active_memory() - before < 1 << 16
    x = mx.random.normal((1, 1024), key=mx.random.key(1))
    assert bytes(f(x)[0]) == bytes(x @ w)


def test_an_operation_that_runs_entry_by_entry_is_refused(tmp_path: Path) -> None:
    """Under vmap, functions of other libraries that know no batches run once an entry."""
    x = mx.array([[3.0, 1.0, 1.0], [2.0, 2.0, 5.0]])
    sequences = mx.sort(x)
    for f, args, name in (
            (mx.vmap(lambda a: mx.unique(a, 2)), (x,), "unique"),
            (mx.vmap(lambda a: mx.unique(a, 2, return_counts=True)[1]), (x,), "unique"),
            (mx.vmap(mx.vmap(lambda a: mx.unique(a, 2))), (x[None],), "unique"),
            (mx.vmap(lambda s, v: mx.searchsorted(s, v)), (sequences, x), "searchsorted")):
        path = tmp_path / name
        with pytest.raises(ExportError, match=rf"cannot be exported: {name}.* is not an operation"):
            mx.export_function(path, f, *args)
        assert not path.exists()
    [found] = imported(mx.vmap(lambda v: mx.searchsorted(sequences[0], v)), x)(x)
    assert found.tolist() == mx.searchsorted(sequences[0], x).tolist()


def test_arguments_that_are_one_array_are_two_in_the_file(tmp_path: Path) -> None:
    x = mx.array([1.0, 2.0])
    mx.export_function(str(tmp_path / "f"), lambda x, y: x * 2 + y, x, x)
    assert mx.import_function(str(tmp_path / "f"))(x, x + 10)[0].tolist() == [13.0, 16.0]
