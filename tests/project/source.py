"""Where the project's own files are, for the tests about the project itself."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "dalembert"


def modules() -> list[Path]:
    """Every module of the package."""
    return sorted(PACKAGE.rglob("*.py"))


def name_of(module: Path) -> str:
    """The path of a module for a message, from the package's folder on."""
    return module.relative_to(PACKAGE).as_posix()


@cache
def imported(module: Path) -> list[tuple[str, int]]:
    """The full names a module imports, at its top or inside functions, and the lines; `from x import y` gives `x.y`."""
    return list(_imports(module))


def _imports(module: Path) -> Iterator[tuple[str, int]]:
    package = ["dalembert", *module.relative_to(PACKAGE).parts[:-1]]
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *filter(None, [node.module])])
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def run_python(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run this interpreter on the source in `folder`, warnings being errors, without windows."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env=environment,
        check=False,
    )
