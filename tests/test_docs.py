"""Every example runs: docstrings below src/eutectic, and the python blocks of the Markdown pages.

- Docstrings are found in the syntax tree, so that no decorator can hide one. An example sees its
  module's names, `mx` (eutectic.core) and `np`.
- The ```python blocks of a page run in order and share a namespace. A block after a line
  `<!-- not run -->` is left out.
"""

from __future__ import annotations

import ast
import doctest
import importlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
NOT_RUN = "<!-- not run -->"
BLOCK = re.compile(r"^```python[^\n]*\n(?P<code>.*?)^```\s*$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Docstring:
    """A docstring with examples, and where it stands."""

    path: Path
    name: str
    line: int
    text: str

    @property
    def module(self) -> str:
        parts = self.path.relative_to(SRC).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def label(self) -> str:
        return f"{self.path.relative_to(SRC)}:{self.name or 'module'}"


def docstrings(path: Path) -> Iterator[Docstring]:
    """The docstrings of a file that hold examples."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))

    def visit(node: ast.AST, name: str) -> Iterator[Docstring]:
        kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, kinds):
            text = ast.get_docstring(node, clean=True)
            if text and ">>>" in text:
                yield Docstring(path, name, node.body[0].lineno, text)
        for child in ast.iter_child_nodes(node):
            inner = getattr(child, "name", "") if isinstance(child, kinds) else ""
            yield from visit(child, f"{name}.{inner}".strip(".") if inner else name)

    return visit(tree, "")


def examples() -> list[Docstring]:
    return [doc for path in sorted((SRC / "eutectic").rglob("*.py")) for doc in docstrings(path)]


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("doc", examples(), ids=lambda doc: doc.label)
def test_docstring(doc: Docstring) -> None:
    names = vars(importlib.import_module(doc.module)).copy()
    names.setdefault("mx", importlib.import_module("eutectic.core"))
    names.setdefault("np", np)
    run_doctest(doc.text, names, doc.label, str(doc.path), doc.line)


def blocks(text: str) -> Iterator[tuple[int, str]]:
    """The python blocks of a page that are to run: (lines before the code, code)."""
    for found in BLOCK.finditer(text):
        if not text[: found.start()].rstrip().endswith(NOT_RUN):
            yield text.count("\n", 0, found.start("code")), found["code"]


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__main__"}
    for before, code in blocks(page.read_text(encoding="utf-8")):
        if code.lstrip().startswith(">>>"):
            run_doctest(code, names, page.name, str(page), before)
        else:
            # The blank lines make the line numbers of errors those of the page.
            source = "\n" * before + code
            exec(compile(source, str(page), "exec", dont_inherit=True), names)


def run_doctest(text: str, names: dict[str, object], label: str, file: str, line: int) -> None:
    """Run the examples of a text; fail with doctest's own report."""
    test = doctest.DocTestParser().get_doctest(text, names, label, file, line)
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    result = runner.run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    if result.failed:
        pytest.fail("".join(report), pytrace=False)


def test_blocks_are_found() -> None:
    """The reader of pages itself: what runs, what is left out, and the line numbers."""
    page = (
        "# Title\n\n```python\na = 1\n```\n\n```\nshell\n```\n\n"
        f"{NOT_RUN}\n```python\nleft out\n```\n\n```python\nb = a\n```\n"
    )
    assert list(blocks(page)) == [(3, "a = 1\n"), (16, "b = a\n")]


def test_wrong_examples_fail() -> None:
    with pytest.raises(pytest.fail.Exception, match="Expected"):
        run_doctest(">>> 1 + 1\n3\n", {}, "example", "file", 0)
