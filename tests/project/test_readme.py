"""README and documentation: what they show runs, what they name exists."""

from __future__ import annotations

import re
import shlex

import pytest

import dalembert as dal
from tests.project.source import PACKAGE, ROOT, run_python

README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
COMMANDS = [line for language, text in BLOCKS if language == "sh" for line in text.splitlines() if line.strip()]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def test_every_block_is_of_a_kind_that_is_tested():
    assert {language for language, _ in BLOCKS} == {"python", "sh", "text"}
    assert all(line.split()[0] in ("make", "dalembert") for line in COMMANDS)


def test_the_python_block_prints_what_the_readme_says(tmp_path):
    script = next(text for language, text in BLOCKS if language == "python")
    shown = next(text for language, text in BLOCKS if language == "text")
    done = run_python("-c", script, folder=tmp_path)
    assert (done.stdout, done.stderr) == (shown, "")


@pytest.mark.parametrize("command", [line for line in COMMANDS if line.startswith("dalembert")])
def test_a_command_of_the_readme_runs(command, tmp_path):
    done = run_python("-m", *shlex.split(command), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


def test_every_make_target_that_is_named_exists():
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    named = set(re.findall(r"make (demo|test|quick|bench|lint|docs|clean|\w+)`", "".join(page.read_text() for page in PAGES)))
    named |= {line.split()[1] for line in COMMANDS if line.startswith("make")}
    assert {"demo", "test"} <= named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_to_a_file_leads_somewhere(page):
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    local = [link for link in links if not link.startswith(("http:", "https:"))]
    assert [link for link in local if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_module_that_is_named_exists(page):
    """`codegen/workers.py` is a file of the package, `tests/robots.py` one of the repository."""
    named = set(re.findall(r"(?<![\w/.])\w+(?:/\w+)*/\w+\.py\b", page.read_text(encoding="utf-8")))
    assert [name for name in sorted(named) if not any((folder / name).exists() for folder in (PACKAGE, ROOT))] == []


def test_the_readme_counts_the_catalogue_right():
    arms, mechanisms = len(dal.robots.CATALOGUE), len(dal.mechanisms.CATALOGUE)
    assert f"**Catalogue**: {arms} arms, from the pendulum to the Panda, and {mechanisms} mechanisms" in README


def test_the_changelog_names_every_public_function():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    packages = ("mechanisms", "plots", "robots", "trajectory", "transfer")
    functions = [name for name in dal.__all__ if name.islower() and name not in packages]
    assert [name for name in functions if f"`{name}`" not in changelog] == []
