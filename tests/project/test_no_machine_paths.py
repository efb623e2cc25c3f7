"""Nothing in the repository depends on the machine it was written on."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.project.source import ROOT

FOLDERS = ("work", "root", "home", "Users", "tmp", "mnt")
MACHINE_PATH = re.compile(rf"(?<![\w.$}}>/])/(?:{'|'.join(FOLDERS)})/[\w.]|(?<!\w)[A-Z]:\\\\?Users")


def tracked() -> list[str]:
    """The files git tracks, or would: those not ignored."""
    if shutil.which("git") is None or not (ROOT / ".git").exists():
        return []
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    return sorted(filter(None, subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")))


@pytest.mark.skipif(not tracked(), reason="not a git checkout")
def test_no_file_names_a_path_of_one_machine():
    found = []
    for name in tracked():
        path = ROOT / name
        if not path.is_file() or b"\0" in path.read_bytes()[:8000]:
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        found += [f"{name}:{number}: {line.strip()}" for number, line in enumerate(lines, start=1) if MACHINE_PATH.search(line)]
    assert found == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_pattern_finds_what_it_is_for(folder):
    assert MACHINE_PATH.search(f"open('/{folder}/someone/file.txt')")
    assert not MACHINE_PATH.search(f"see docs/{folder}/page.md or https://example.org/{folder}/page")
