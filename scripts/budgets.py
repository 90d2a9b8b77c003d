"""Check the house's budgets: length of files and functions, names of modules, docstrings.

    python scripts/budgets.py [ROOT]

Every finding is one line, `file:line message`; the exit code is 1 when one of them is not a warning.
"""

import argparse
import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath

FOLDERS = ("reqall", "scripts", "examples")
FILE_LINES = (250, 400)
FUNCTION_LINES = (40, 60)
"""The longest that passes in silence, and the longest that passes with a warning."""

VAGUE = frozenset({"utils", "helpers", "manager", "base", "misc"})

Function = ast.FunctionDef | ast.AsyncFunctionDef
Named = Function | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Finding:
    """One broken rule; `line` counts from 1."""

    file: PurePath
    line: int
    message: str
    fails: bool = True

    def __str__(self) -> str:
        return f"{self.file.as_posix()}:{self.line} {'' if self.fails else 'warning: '}{self.message}"


def check(root: Path) -> Iterator[Finding]:
    """Check every Python file under the house's folders of `root`; a root without any is a finding."""
    files = [file for folder in FOLDERS for file in sorted((root / folder).rglob("*.py"))]
    shown = [(file, file.relative_to(root)) for file in files]
    visible = [(file, name) for file, name in shown if not any(part.startswith(".") for part in name.parts)]
    if not visible:
        yield Finding(root, 1, f"no Python file under {', '.join(FOLDERS)}")
    for file, name in visible:
        yield from check_file(name, file.read_text(encoding="utf-8"))


def check_file(name: PurePath, source: str) -> Iterator[Finding]:
    """Check one file; `name` is its path below the root."""
    yield from _length(name, 1, "file", len(source.splitlines()), FILE_LINES)
    vague = [part for part in (*name.parts[1:-1], name.stem) if part.strip("_") in VAGUE]
    for part in vague:
        yield Finding(name, 1, f"the name {part!r} says nothing: name the module after what it holds")
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        yield Finding(name, error.lineno or 1, f"does not parse: {error.msg}")
        return
    for node in ast.walk(tree):
        if isinstance(node, Function):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            yield from _length(name, node.lineno, f"function {node.name!r}", length, FUNCTION_LINES)
    if not _is_test(name):
        yield from _docstrings(name, tree)


def _length(name: PurePath, line: int, what: str, length: int, budget: tuple[int, int]) -> Iterator[Finding]:
    warns, fails = budget
    if length > fails:
        yield Finding(name, line, f"{what} has {length} lines, more than {fails}")
    elif length > warns:
        yield Finding(name, line, f"{what} has {length} lines, more than {warns}", fails=False)


def _docstrings(name: PurePath, tree: ast.Module) -> Iterator[Finding]:
    """Report public names without a docstring; what stands inside a private name is private."""
    private_module = name.stem.startswith("_") and not name.stem.startswith("__")
    if private_module:
        return
    if not ast.get_docstring(tree):
        yield Finding(name, 1, "module without a docstring")
    for node in _public(tree):
        if not ast.get_docstring(node):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            yield Finding(name, node.lineno, f"{kind} {node.name!r} without a docstring")


def _public(parent: ast.AST) -> Iterator[Named]:
    """Walk public classes, functions and methods, also under `if` and `try`, but not inside a function."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, Named):
            if node.name.startswith("_") or _speaks_for_another(node):
                continue
            yield node
        if not isinstance(node, Function):
            yield from _public(node)


def _speaks_for_another(node: Named) -> bool:
    """Say whether the docstring stands elsewhere: an overload, an override, a property's setter."""
    names = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return bool(names & {"overload", "override", "setter", "deleter"})


def _is_test(name: PurePath) -> bool:
    return "tests" in name.parts or name.stem == "conftest" or name.stem.startswith("test_")


def main() -> int:
    """Print every finding; return 1 when one of them fails."""
    parser = argparse.ArgumentParser(description="Check the house's budgets.")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parent.parent)
    findings = list(check(parser.parse_args().root))
    for finding in findings:
        print(finding)
    return int(any(finding.fails for finding in findings))


if __name__ == "__main__":
    sys.exit(main())
