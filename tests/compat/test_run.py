"""`eutectic run`: MLX programs unchanged; everything but `mlx` is as under `python`."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

import eutectic
from eutectic.compat import imports, run
from eutectic.errors import ArgumentError

PROGRAMS = Path(__file__).parent / "programs"
SRC = str(Path(eutectic.__file__).parents[1])
RUN = ("-m", "eutectic", "run")

# An `mlx` that is installed, as far as Python can tell; importing it is what must not happen.
DECOY = {"mlx/__init__.py": "raise SystemExit('the installed mlx was imported')",
         "mlx/core.py": "", "mlx/utils.py": "", "mlx/nn/__init__.py": ""}


def python(*words: str, cwd: Path | None = None, path: str = "", **env: str
           ) -> subprocess.CompletedProcess[str]:
    full = {k: v for k, v in os.environ.items() if k != "EUTECTIC_DEBUG"} | env
    full["PYTHONPATH"] = os.pathsep.join(filter(None, (path, SRC)))
    return subprocess.run([sys.executable, *words], cwd=cwd, env=full, capture_output=True,
                          text=True, check=False, timeout=120)


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


# ---- programs -----------------------------------------------------------------------------------


def test_a_training_loop() -> None:
    done = python(*RUN, str(PROGRAMS / "regression.py"), "100")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "w ['1.00', '-2.00', '3.00']\nb ['0.50']\n"


def test_a_network() -> None:
    done = python(*RUN, str(PROGRAMS / "network.py"), "60")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "eutectic.nn eutectic.optimizers.optimizers True True\n"


def test_ways_to_import() -> None:
    done = python(*RUN, str(PROGRAMS / "features.py"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "Device(cpu, 0) (2,)\n"


@pytest.mark.skipif(importlib.util.find_spec("einops") is None, reason="einops is not installed")
def test_einops() -> None:
    done = python(*RUN, str(PROGRAMS / "with_einops.py"))
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "einops\n")


def test_as_a_module_and_in_a_notebook(tmp_path: Path) -> None:
    code = "import eutectic.compat.mlx\nimport mlx.core as mx\nprint(mx.__name__)"
    done = python("-c", code)
    assert (done.stdout, done.stderr) == ("eutectic.core\n", "")
    write(tmp_path, {"test_it.py": "import mlx.core as mx\n"
                                   "def test_it(): assert mx.__name__ == 'eutectic.core'\n"})
    done = python("-m", "pytest", "-q", "-p", "eutectic.compat.mlx", cwd=tmp_path)
    assert done.returncode == 0, done.stdout


# ---- the installed mlx --------------------------------------------------------------------------


def test_an_installed_mlx_is_not_loaded(tmp_path: Path) -> None:
    decoy = str(write(tmp_path / "decoy", DECOY))
    shown = "import sys, mlx.core, mlx.utils\n" \
            "print(mlx.core.__name__, mlx.utils.__name__, mlx.__path__)\n" \
            "print([m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'mlx'" \
            " and 'eutectic' not in (getattr(m, '__file__', None) or 'eutectic')])\n"
    script = write(tmp_path, {"p.py": shown, "mlx/__init__.py": "raise SystemExit('beside')"})
    done = python(*RUN, "p.py", cwd=script, path=decoy)
    assert done.stdout == "eutectic.core eutectic.utils []\n[]\n", done.stderr
    assert "installed mlx was imported" in python(
        "-c", "import mlx.core", cwd=tmp_path / "decoy").stderr


@pytest.mark.skipif(importlib.util.find_spec("mlx") is None, reason="mlx is not installed")
def test_the_real_mlx_is_not_loaded() -> None:
    code = "import eutectic.compat.mlx, sys, mlx.core, mlx.utils\n" \
           "print([n for n in sys.modules if n.startswith('mlx')])\n" \
           "print(any('libmlx' in line for line in open('/proc/self/maps')))"
    assert python("-c", code).stdout == "['mlx', 'mlx.core', 'mlx.utils']\nFalse\n"


def test_one_line_under_debug(tmp_path: Path) -> None:
    write(tmp_path, {"p.py": "import mlx.core"})
    done = python(*RUN, "p.py", cwd=tmp_path, EUTECTIC_DEBUG="1")
    assert re.fullmatch(r"eutectic: import mlx gives Eutectic \S+(, not the installed mlx \S+)?\n",
                        done.stderr)
    assert python(*RUN, "p.py", cwd=tmp_path).stderr == ""


def test_too_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlx", sys)
    with pytest.raises(ArgumentError, match=r"\[compat\] mlx has been imported already"):
        imports.install()


def test_install_and_uninstall() -> None:
    code = """
import sys, eutectic.core
from eutectic.compat import imports
imports.install(); imports.install()
import mlx.core, mlx.core.random
assert mlx.core is eutectic.core and mlx.core.random is eutectic.core.random
assert eutectic.core.__spec__.name == eutectic.core.__name__ == "eutectic.core"
imports.uninstall(); imports.uninstall()
assert not [n for n in sys.modules if n.startswith("mlx")]
sys.path[:] = [p for p in sys.path if "eutectic" in p]
try:
    import mlx
except ModuleNotFoundError:
    print("gone")
imports.install()
import mlx.core
assert mlx.core is eutectic.core
"""
    done = python("-c", code)
    assert (done.stdout, done.stderr) == ("gone\n", "")


@pytest.mark.parametrize("name", ["mlx.compat", "mlx.inspect", "mlx.core.nothing", "mlx.data"])
def test_what_is_not_there(name: str) -> None:
    code = f"""
import eutectic.compat.mlx
try:
    import {name}
except ModuleNotFoundError as error:
    print(error.name, "|", error)
"""
    done = python("-c", code)
    assert done.stdout.startswith(f"{name} | {name} is not there yet: Eutectic "), done.stderr


# ---- as under python ----------------------------------------------------------------------------

WHO = """
import os, sys
main = sys.modules["__main__"]
print(sys.argv, __name__, __file__, sys.path[0], os.getcwd(), __package__, __doc__)
print(vars(main) is globals(), __spec__ and __spec__.name, type(__loader__).__name__)
"""


def alike(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run under python and under us; outcomes must be the same."""
    plain, ours = python(*words, cwd=folder), python(*RUN, *words, cwd=folder)
    assert ours.stdout == plain.stdout
    assert ours.stderr.replace("eutectic run", "python") == plain.stderr
    assert ours.returncode == plain.returncode
    return ours


def test_what_a_script_sees(tmp_path: Path) -> None:
    write(tmp_path, {"a/p.py": '"""doc"""\nimport beside\n' + WHO, "a/beside.py": "",
                     "x.py": "# -*- coding: latin-1 -*-\nprint(len('\xe9'))"})
    alike(tmp_path, "a/p.py")
    alike(tmp_path, "a/p.py", "--help", "-m", "x", "--", "run")
    alike(tmp_path, "x.py")
    alike(tmp_path / "a", str(tmp_path / "a" / "p.py"), "1")
    os.symlink("a/p.py", tmp_path / "link.py")
    alike(tmp_path, "link.py")


def test_what_a_module_sees(tmp_path: Path) -> None:
    write(tmp_path, {"pack/__init__.py": "", "pack/__main__.py": "from . import inner\n" + WHO,
                     "pack/inner.py": WHO})
    alike(tmp_path, "-m", "pack", "--help", "-c")
    alike(tmp_path, "-m", "pack.inner", "run")
    done = alike(tmp_path, "-m", "nothing.like.that")
    assert done.returncode == 1


def test_folders_and_archives(tmp_path: Path) -> None:
    write(tmp_path, {"app/__main__.py": "import part\n" + WHO, "app/part.py": ""})
    with zipfile.ZipFile(tmp_path / "app.zip", "w") as z:
        z.write(tmp_path / "app" / "__main__.py", "__main__.py")
        z.write(tmp_path / "app" / "part.py", "part.py")
    alike(tmp_path, "app", "1")
    alike(tmp_path, "app.zip", "1")


@pytest.mark.parametrize("body", [
    "raise ValueError('x')", "def f():\n    1 / 0\ntry:\n    f()\nexcept Exception as e:\n"
    "    raise KeyError(3) from e", "exit()", "import sys\nsys.exit(7)", "exit('text')",
    "raise SystemExit(None)", "import os\nos._exit(5)", "def f(:", "  x\n y",
    "import sys\nsys.excepthook = lambda *e: print('mine', e[0].__name__, e[2].tb_lineno)\n1 / 0",
    "import atexit, sys\natexit.register(print, 'end')\nprint('to be flushed', end='')\n1 / 0",
    "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start()",
    "raise RuntimeError('a\\nb')", "class E(BaseException): pass\nraise E",
], ids=range(14))
def test_ends_as_python_does(body: str, tmp_path: Path) -> None:
    write(tmp_path, {"p.py": body})
    alike(tmp_path, "p.py")


@pytest.mark.parametrize("body", ["1 / 0", "exit(7)", "def f(:"])
def test_modules_end_as_python_does(body: str, tmp_path: Path) -> None:
    write(tmp_path, {"p.py": body})
    alike(tmp_path, "-m", "p")


def test_interrupts(tmp_path: Path) -> None:
    write(tmp_path, {"p.py": "import atexit, time\natexit.register(print, 'end', flush=True)\n"
                             "print('on', flush=True)\ntime.sleep(60)\n"})
    found = []
    for words in (("p.py",), (*RUN, "p.py")):
        process = subprocess.Popen(
            [sys.executable, *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env=os.environ | {"PYTHONPATH": SRC})
        assert process.stdout is not None
        assert process.stdout.readline() == "on\n"
        time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        found.append((*process.communicate(timeout=60), process.returncode))
    assert found[0] == found[1]
    assert found[0][2] == -signal.SIGINT


def test_wrong_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["-x"], ["-m"]):
        assert run.main(words) == 2
        assert "usage: eutectic run" in capsys.readouterr().err
    assert run.main(["-h"]) == 0
    assert "usage: eutectic run" in capsys.readouterr().out
    done = python(*RUN, "nope.py", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (f"eutectic run: can't open file '{tmp_path}/nope.py': [Errno 2] No such "
                           "file or directory\n")
    assert "run a program that imports mlx" in python("-m", "eutectic", "--help").stdout


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("as_module", [False, True], ids=["script", "module"])
def test_processes_of_a_program(method: str, as_module: bool, tmp_path: Path) -> None:
    """Started in any way, they see Eutectic as `mlx`, and find the program's names."""
    write(tmp_path, {"p.py": f"""
import multiprocessing, pickle, sys
import mlx.core as mx
class A:
    pass
def work(x):
    assert sys.argv[1:] == ["--argument"]
    return mx.__name__, type(x).__name__, sys.modules["__main__"].A is A
if __name__ == "__main__":
    assert type(pickle.loads(pickle.dumps(A()))) is A
    with multiprocessing.get_context({method!r}).Pool(1) as pool:
        print(pool.map(work, [A(), A()]))
"""})
    decoy = str(write(tmp_path / "decoy", DECOY))
    words = ("-m", "p") if as_module else ("p.py",)
    done = python(*RUN, *words, "--argument", cwd=tmp_path, path=decoy)
    assert (done.stdout, done.returncode) == (
        "[('eutectic.core', 'A', True), ('eutectic.core', 'A', True)]\n", 0), done.stderr
