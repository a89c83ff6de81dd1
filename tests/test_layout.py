"""The shape of the source tree: import direction, file sizes, honest excepts, docstrings."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

SRC = Path(__file__).parents[1] / "src"
PACKAGE = SRC / "eutectic"
MAX_LINES = 600

# Low to high. A module imports from its own layer and from those before it.
LAYERS = (
    ("__init__", "config", "errors", "dtype", "tree"),
    ("kernel",),
    ("graph",),
    ("codegen",),
    ("runtime",),
    ("engine",),
    ("array",),
    ("tracing",),
    ("ops", "files"),
    ("transforms",),
    ("export",),
    ("core",),
    ("nn", "optimizers", "utils"),
    ("inspect", "compat", "cli", "__main__"),
)
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

# Imports of a higher layer, each inside a function or under TYPE_CHECKING, each with its reason.
# Keys: (importing module, imported part).
ALLOWED_UPWARD: dict[tuple[str, str], str] = {
    ("eutectic.kernel.prim", "graph"): "type names: a composite operation lowers a node to nodes",
    ("eutectic.core.reports", "inspect"): "explain and measure look at everything below the facade",
}


@dataclass(frozen=True)
class Import:
    """One import statement as the layout test sees it."""

    line: int
    target: str  # the imported module, dotted
    deferred: bool  # inside a function or under TYPE_CHECKING


def source_files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def module_name(path: Path) -> str:
    """`.../src/eutectic/graph/__init__.py` -> `eutectic.graph`."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(module: str) -> str:
    """The name that has a layer: `eutectic.graph.ir` -> `graph`, `eutectic` -> `__init__`."""
    names = module.split(".")
    return names[1] if len(names) > 1 else "__init__"


def is_module(name: str) -> bool:
    path = SRC.joinpath(*name.split("."))
    return path.is_dir() or path.with_suffix(".py").is_file()


def imports(path: Path) -> Iterator[Import]:
    """Every import of one of our own modules in a file."""
    module = module_name(path)
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    for node, deferred in walk(tree, False):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([node.module] if node.module else [])])
            named = [f"{base}.{alias.name}" for alias in node.names]
            targets = [name if is_module(name) else base for name in named]
        else:
            continue
        for target in sorted(set(targets)):
            if target.split(".")[0] == "eutectic":
                yield Import(node.lineno, target, deferred)


def walk(node: ast.AST, deferred: bool) -> Iterator[tuple[ast.AST, bool]]:
    """All nodes below `node`, with whether each is only reached later (or by a type checker)."""
    for child in ast.iter_child_nodes(node):
        yield child, deferred
        later = deferred or isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            later = True
        yield from walk(child, later)


@pytest.fixture(scope="module")
def files() -> list[Path]:
    found = source_files()
    assert len(found) > 10, f"only {len(found)} source files below {PACKAGE}"
    return found


def test_every_part_has_a_layer(files: list[Path]) -> None:
    unknown = {part_of(module_name(path)) for path in files} - LEVEL.keys()
    assert not unknown, f"no layer in tests/test_layout.py for: {sorted(unknown)}"


def test_import_direction(files: list[Path]) -> None:
    wrong, used = [], set()
    for path in files:
        module = module_name(path)
        for found in imports(path):
            source, target = part_of(module), part_of(found.target)
            if LEVEL.get(target, -1) <= LEVEL.get(source, -1):
                continue
            if found.deferred and (module, target) in ALLOWED_UPWARD:
                used.add((module, target))
                continue
            kind = "deferred import, not in ALLOWED_UPWARD" if found.deferred else "import"
            where = f"{path.relative_to(SRC)}:{found.line}"
            wrong.append(f"{where}: {source} is below {target} ({found.target}): {kind}")
    assert not wrong, "imports against the layer order:\n" + "\n".join(wrong)
    unused = ALLOWED_UPWARD.keys() - used
    assert not unused, f"no longer needed in ALLOWED_UPWARD: {sorted(unused)}"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from ..core import exp", [("eutectic.core", False)]),
        ("from .. import core", [("eutectic.core", False)]),
        ("from . import ir", [("eutectic.graph.ir", False)]),
        ("import eutectic.nn.layers as x", [("eutectic.nn.layers", False)]),
        ("import numpy.core", []),
        ("def f():\n    from ..core import exp", [("eutectic.core", True)]),
        ("if TYPE_CHECKING:\n    from ..array import array", [("eutectic.array", True)]),
        ("class A:\n    from ..core import exp", [("eutectic.core", False)]),
        ("try:\n    from ..core import exp\nfinally:\n    pass", [("eutectic.core", False)]),
    ],
)
def test_imports_are_seen(
    code: str, expected: list[tuple[str, bool]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader of imports itself, on a small tree."""
    for name in ("core", "graph", "nn"):
        (tmp_path / "eutectic" / name).mkdir(parents=True)
    (tmp_path / "eutectic" / "graph" / "ir.py").touch()
    file = tmp_path / "eutectic" / "graph" / "fuse.py"
    file.write_text(code)
    monkeypatch.setitem(globals(), "SRC", tmp_path)
    assert [(found.target, found.deferred) for found in imports(file)] == expected


def test_file_sizes(files: list[Path]) -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in files}
    long = {str(path.relative_to(SRC)): n for path, n in lengths.items() if n > MAX_LINES}
    assert not long, f"above {MAX_LINES} lines: {long}"


def test_no_swallowed_exceptions(files: list[Path]) -> None:
    found = []
    for path in files:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if why := swallows(node):
                found.append(f"{path.relative_to(SRC)}:{node.lineno}: {why}")
    assert not found, "\n".join(found)


def swallows(node: ast.AST) -> str | None:
    """Why this statement hides every error, or None."""
    if isinstance(node, ast.ExceptHandler):
        if node.type is None:
            return "bare except"
        if names_everything(node.type) and all(is_nothing(line) for line in node.body):
            return f"except {ast.unparse(node.type)} that does nothing"
    if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "suppress":
        if any(names_everything(arg) for arg in node.args):
            return f"{ast.unparse(node)} hides every error"
    return None


def names_everything(node: ast.expr) -> bool:
    parts = node.elts if isinstance(node, ast.Tuple) else [node]
    return any(ast.unparse(part) in ("Exception", "BaseException") for part in parts)


def is_nothing(node: ast.stmt) -> bool:
    constant = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    return constant or isinstance(node, (ast.Pass, ast.Continue))


@pytest.mark.parametrize(
    "code",
    [
        "try:\n    f()\nexcept:\n    g()",
        "try:\n    f()\nexcept Exception:\n    pass",
        "try:\n    f()\nexcept (ValueError, BaseException):\n    ...",
        "for x in y:\n    try:\n        f()\n    except Exception:\n        continue",
        "with contextlib.suppress(Exception):\n    f()",
    ],
)
def test_swallowed_exceptions_are_seen(code: str) -> None:
    assert any(swallows(node) for node in ast.walk(ast.parse(code)))


def test_public_names_have_docstrings() -> None:
    missing = []
    for part in ("core", "nn", "optimizers", "utils"):
        module = importlib.import_module(f"eutectic.{part}")
        assert public_names(module), f"eutectic.{part} has no public names"
        missing += undocumented(module, f"{part}.")
    assert not missing, f"{len(missing)} public names without a docstring: {missing}"


def undocumented(module: object, prefix: str = "") -> Iterator[str]:
    """Public functions, classes and namespaces below a module that say nothing of themselves.

    Plain values (`pi`, dtypes) have no docstring of their own and are left out.
    """
    for name in public_names(module):
        value = getattr(module, name)
        if inspect.ismodule(value):
            if value.__name__.startswith("eutectic."):
                yield from undocumented(value, f"{prefix}{name}.")
        elif isinstance(value, type):
            if not (value.__dict__.get("__doc__") or "").strip():
                yield prefix + name
        elif callable(value):
            doc = getattr(value, "__doc__", None)
            if not (doc or "").strip() or (inspect.getdoc(type(value)) == inspect.cleandoc(doc)):
                yield prefix + name


def public_names(module: object) -> list[str]:
    names = getattr(module, "__all__", None)
    return list(names) if names is not None else [n for n in vars(module) if n[0] != "_"]


def test_files_of_tests_have_names_of_their_own() -> None:
    """Modules of tests are imported by their last name: two of one name stop the collection."""
    names = Counter(path.name for path in Path(__file__).parent.rglob("test_*.py"))
    assert [name for name, n in names.items() if n > 1] == []
