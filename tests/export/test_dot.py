"""`export_to_dot`: the text, its names, where it goes."""

from __future__ import annotations

import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import eutectic.core as mx
from eutectic.errors import ArgumentError, ArgumentTypeError

GOLDEN = """\
digraph {
{ rank=source; "x" [tooltip="float32[2,3]"]; }
{ op0 [label="exp", shape=rectangle]; }
"x" -> op0
{ "A" [tooltip="float32[2,3]"]; }
op0 -> "A"
{ op1 [label="sum (0,)", shape=rectangle]; }
"A" -> op1
{ rank=sink; "total \\"of\\" it" [tooltip="float32[3]"]; }
op1 -> "total \\"of\\" it"
{ op2 [label="transpose (1,0)", shape=rectangle]; }
"x" -> op2
{ "B" [tooltip="float32[3,2]"]; }
op2 -> "B"
{ op3 [label="matmul", shape=rectangle]; }
"A" -> op3
"B" -> op3
{ rank=sink; "C" [tooltip="float32[2,2]"]; }
op3 -> "C"
}
"""


def text(*args: Any, **kwargs: Any) -> str:
    file = io.StringIO()
    mx.export_to_dot(file, *args, **kwargs)
    return file.getvalue()


def graph() -> tuple[Any, dict[str, mx.array]]:
    x = mx.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    y = mx.exp(x)
    total = y.sum(axis=0)
    return [total, {"product": y @ x.T}], {"x": x, 'total "of" it': total}


def test_text() -> None:
    found, named = graph()
    assert text(found, **named) == GOLDEN
    again, names = graph()
    assert text(*again, **names) == GOLDEN


def test_computed_arrays_are_sources() -> None:
    x = mx.exp(mx.array(1.0))
    mx.eval(x)
    assert text(x) == 'digraph {\n{ rank=source; "A" [tooltip="float32[]"]; }\n}\n'
    assert '"const 0x40000000"' not in text(x) and 'label="const 0x40000000"' in text(x * 2.0)


def test_named_arrays_alone_are_results() -> None:
    x = mx.array(1.0)
    found = text(y=mx.sin(x))
    assert 'rank=sink; "y"' in found and 'label="sin"' in found


def test_files(tmp_path: Path) -> None:
    found, named = graph()
    for path in (tmp_path / "a.dot", str(tmp_path / "b")):
        mx.export_to_dot(path, found, **named)
        assert Path(path).read_text() == GOLDEN
    binary = io.BytesIO()
    mx.export_to_dot(binary, found, **named)
    assert binary.getvalue().decode() == GOLDEN


def test_errors() -> None:
    for args, kwargs in ((("x",), {}), ((mx.array(1.0), 2), {}), ((), {"x": 3})):
        with pytest.raises(ArgumentTypeError, match=r"\[export_to_dot\]"):
            text(*args, **kwargs)
    with pytest.raises(ArgumentError, match="at least one array"):
        text()
    with pytest.raises(ArgumentError, match="a path or an open file, not a int"):
        mx.export_to_dot(3, mx.array(1.0))


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
def test_graphviz_reads_it() -> None:
    found, named = graph()
    subprocess.run(["dot", "-Tsvg"], input=text(found, **named).encode(), check=True,
                   stdout=subprocess.DEVNULL)
