"""docs/develop/compiler.md names every module of the compiler, and none that is not there."""

from __future__ import annotations

import re

from tests.project.source import ROOT

PAGE = (ROOT / "docs" / "develop" / "compiler.md").read_text(encoding="utf-8")


def test_the_page_of_the_compiler_names_its_modules() -> None:
    modules = {path.name for path in (ROOT / "src" / "dalembert" / "codegen").glob("*.py")} - {"__init__.py", "kernel.py"}
    named = set(re.findall(r"\b\w+\.py\b", PAGE))
    assert named == modules
    assert "kernel.build" in PAGE
