"""The command line: output, JSON, errors and exit statuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import eutectic.core as mx
from eutectic.cli import main
from eutectic.config import VERSION
from eutectic.errors import ArgumentError
from eutectic.inspect.inputs import DTYPES, load_function, make_input
from eutectic.runtime import diskcache, pool

USER = '''
import eutectic.core as mx

def gelu(x):
    return x * 0.5 * (1 + mx.erf(x / 2 ** 0.5))

def mlp(x, w, b):
    return mx.tanh(x @ w + b).sum(axis=1)

def scaled(x, k):
    return x * k

def wrong(x):
    return inner(x)

def inner(x):
    return mx.reshape(x, (7,))

def talks(x):
    print("hello")
    return x * 2

def untraceable(x):
    return x if x.sum() > 0 else -x

class Model:
    @staticmethod
    def forward(x):
        return mx.exp(x) + 1

number = 3
'''


@pytest.fixture(autouse=True)
def user_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module of the user's in the current directory."""
    (tmp_path / "usermodule.py").write_text(USER)
    (tmp_path / "broken.py").write_text("import json\n\nvalue = json.loads('{')\n")
    (tmp_path / "talking.py").write_text("print('imported')\nfrom usermodule import talks\n")
    (tmp_path / "lacking.py").write_text("import no_such_module_here\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("usermodule", "broken", "lacking", "talking"):
        monkeypatch.delitem(sys.modules, name, raising=False)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(arguments)
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err, "colours although nobody looks"
    return status, out, err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version") == (0, f"eutectic {VERSION}\n", "")
    for arguments in ((), ("--help",), ("measure", "--help")):
        status, out, _ = run(capsys, *arguments)
        assert status == 0 and "measure" in out


def test_measure_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "measure", "usermodule:gelu", "--input", "float32[8,8]",
                           "--budget", "0.01")
    assert (status, err) == (0, "")
    assert out.startswith("gelu(float32[8,8]) on ")
    assert "pays" in out and "identical" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("command", [("measure", "--budget", "0.01"), ("explain",)])
def test_what_users_code_prints_is_not_in_the_json(
        command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, *command, "talking:talks", "--input", "f32[8]", "--json")
    assert status == 0 and json.loads(out)["name"] == "talks"
    assert err.startswith("imported\nhello\n")


def test_measure_json(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "measure", "usermodule.py:mlp", "--input", "f32[4,8]", "--input",
                         "f32[8,2]", "--input", "f32[2]", "--budget", "0.01", "--json")
    found = json.loads(out)
    assert status == 0
    assert found["inputs"] == ["float32[4,8]", "float32[8,2]", "float32[2]"]
    assert found["identical"] is True
    assert found["compiled"]["kernels"] < found["plain"]["kernels"]


def test_measure_the_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "measure", "--budget", "0.01")
    assert status == 0
    assert out.startswith("heavy(float32[512,512])")
    assert "0.969 ms plain, 0.305 ms compiled, 3.18x" in " ".join(out.split())


def test_measure_sweep(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "measure", "--shapes", "8,16", "--loops", "2", "--budget", "0.001")
    assert status == 0
    assert "(16, 16)" in out and "the speed-up" in out
    status, out, _ = run(capsys, "measure", "--sweep", "--shapes", "8", "--loops", "2,1",
                         "--budget", "0.001", "--json")
    assert [p["loops"] for p in json.loads(out)["points"]] == [2, 1]


def test_threads(capsys: pytest.CaptureFixture[str]) -> None:
    before = pool.get_num_threads()
    try:
        run(capsys, "measure", "usermodule:gelu", "--input", "f32[8]", "--threads", "1",
            "--budget", "0.001")
        assert pool.get_num_threads() == 1
    finally:
        pool.set_num_threads(before)


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    given = ["explain", "usermodule:mlp", "--input", "f32[4,8]", "--input", "f32[8,2]", "--input",
             "f32[2]"]
    status, out, err = run(capsys, *given)
    assert (status, err) == (0, "")
    assert "kernel 0: matrix product" in out
    assert "usermodule.py:8: " in out and "return mx.tanh(x @ w + b).sum(axis=1)" in out
    assert "not fused" in out
    status, out, _ = run(capsys, *given, "--json")
    assert json.loads(out)["name"] == "mlp"
    status, out, _ = run(capsys, *given, "--graphs")
    assert "after cse\ngraph mlp" in out
    status, out, _ = run(capsys, *given, "--kernel", "0", "--llvm", "--asm")
    assert "kernel 1" not in out
    assert "define void @" in out and ".text" in out
    status, _, err = run(capsys, *given, "--kernel", "9")
    assert status == 2 and "there is no kernel 9" in err


def test_explain_the_benchmark(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "explain")
    assert status == 0
    assert "61 operations in 1 kernel" in out


def test_methods_are_found(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "explain", "usermodule:Model.forward", "--input", "f16[3]")
    assert status == 0 and out.startswith("forward(float16[3])")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["usermodule:nothing"], "usermodule has no 'nothing'; it has "),
        (["nomodule:f"], "there is no module 'nomodule'"),
        (["nofile.py:f"], "there is no file 'nofile.py'"),
        (["usermodule"], "names no function"),
        (["usermodule:number"], "is a int, not a function"),
        (["usermodule:gelu"], "missing a required argument: 'x'"),
        (["usermodule:gelu", "--input", "q8[3]"], "'q8' in 'q8[3]' is no data type"),
        (["usermodule:gelu", "--input", "f32[3"], "cannot read 'f32[3'"),
        (["usermodule:gelu", "--input", "f32[,3]"], "has an empty size"),
        (["--input", "f32[3]"], "the benchmark has inputs of its own"),
        (["--threads", "65"], "65 is not between 1 and 64"),
        (["--threads", "0"], "'0' is not a number from 1 on"),
        (["--budget", "-1"], "'-1' is not a number of seconds"),
        (["--shapes", "512,x"], "'x' is not a number from 1 on"),
        (["usermodule:gelu", "--sweep"], "it takes no function"),
        (["--nonsense"], "unrecognized arguments"),
    ],
)
def test_wrong_usage(arguments: list[str], message: str,
                     capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "measure", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_failures_show_the_users_frames_only(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, err = run(capsys, "measure", "usermodule:wrong", "--input", "f32[3]")
    assert (status, out) == (1, "")
    assert "in wrong\n    return inner(x)" in err and "in inner\n" in err
    assert "ShapeError: [reshape]" in err
    assert os.path.join("eutectic", "ops") not in err


def test_other_failures(capsys: pytest.CaptureFixture[str]) -> None:
    status, _, err = run(capsys, "explain", "usermodule:untraceable", "--input", "f32[3]")
    assert status == 1 and "TraceError: [bool]" in err
    status, _, err = run(capsys, "measure", "broken:f")
    assert status == 1 and 'broken.py", line 3' in err and "JSONDecodeError" in err
    status, _, err = run(capsys, "measure", "lacking:f")
    assert status == 1 and "No module named 'no_such_module_here'" in err


def test_cache(capsys: pytest.CaptureFixture[str], tmp_path: Path,
               monkeypatch: pytest.MonkeyPatch) -> None:
    cache = diskcache.DiskCache(tmp_path / "cache", 1 << 20)
    monkeypatch.setattr(diskcache, "_default", cache)
    assert cache.put("a" * 64, b"x" * 5000)
    status, out, _ = run(capsys, "cache")
    assert status == 0 and str(tmp_path / "cache") in out and "of at most 1.0 MiB" in out
    status, out, _ = run(capsys, "cache", "clear")
    assert status == 0 and out.startswith("removed 5.0 KiB from ")
    status, out, _ = run(capsys, "cache", "--json")
    assert json.loads(out)["bytes"] == 0
    monkeypatch.setattr(diskcache, "_default", diskcache.DiskCache(None, 0))
    status, out, _ = run(capsys, "cache")
    assert "the disk cache is off: no home directory" in out


def test_as_a_process(tmp_path: Path) -> None:
    """`python -m eutectic`, piped: module from the current directory, status, nothing coloured."""
    command = [sys.executable, "-m", "eutectic", "explain", "usermodule:gelu", "--input", "f32[4]"]
    env = os.environ | {"PYTHONPATH": str(Path(mx.__file__).parents[2]), "FORCE_COLOR": ""}
    env.pop("FORCE_COLOR")
    child = subprocess.run(command, capture_output=True, text=True, env=env, cwd=tmp_path)
    assert (child.returncode, child.stderr) == (0, "")
    assert "usermodule.py:5: 2 multiply, divide, erf, add" in child.stdout
    assert "\x1b" not in child.stdout


# ---- inputs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", DTYPES)
def test_inputs_of_every_dtype(name: str) -> None:
    a = make_input(f"{name}[3, 4]")
    assert (a.shape, a.dtype) == ((3, 4), DTYPES[name])
    assert mx.array_equal(a, make_input(f"{name}[3,4]")).item()


def test_other_inputs() -> None:
    assert make_input("f32[]").shape == ()
    assert make_input("f32[5,]").shape == (5,)
    assert [make_input(s) for s in ("3", "-2", "2.5", "1e-3", "True", "None")] == [
        3, -2, 2.5, 1e-3, True, None]
    assert type(make_input("3")) is int
    first, second = make_input("f32[8]", 0), make_input("f32[8]", 1)
    assert not mx.array_equal(first, second).item()
    with pytest.raises(ArgumentError, match="cannot read"):
        make_input("f32")


def test_functions_of_files_and_modules() -> None:
    assert load_function("usermodule:scaled")(3, 2) == 6
    assert load_function("./usermodule.py:scaled")(3, 2) == 6
