"""Octave, which runs exported MATLAB files: one process for all calls of a test."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dalembert.model import Robot
from tests.unit.export.programs import arrays_for, by_kernel, program_of

OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
needs_octave = pytest.mark.skipif(OCTAVE is None, reason="Octave is not installed (octave-cli)")
_END = "end of script"
_TIME_LIMIT = 120  # s: the longest script takes two, on a quiet machine
# Seventeen digits tell every double from its neighbours. Octave prints NaN, Inf and -Inf as Python reads them.
_SHOW = """\
function show(x)
printf('%s %s\\n', class(x), sprintf('%d ', size(x)));
if ischar(x)
    printf('%s\\n', x);
else
    printf('%.17g ', x);
    printf('\\n');
end
end
"""


def run(script: str, files: Mapping[str, str], folder: Path) -> list[Any]:
    """Run a script beside these files; what it hands to `show(x)` comes back in order: arrays, and texts as texts."""
    assert OCTAVE is not None
    for name, text in {**files, "show": _SHOW}.items():
        (folder / f"{name}.m").write_text(text, encoding="ascii")
    last = f"show(lastwarn());\nprintf('{_END}\\n');\n"
    (folder / "calls.m").write_text(f"1;\n{script}\n{last}", encoding="ascii")
    command = [OCTAVE, "--norc", "--no-history", "--quiet", "--no-gui", "calls.m"]
    done = subprocess.run(
        command,
        cwd=folder,
        env=os.environ | {"LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=_TIME_LIMIT,
    )
    # Not the exit code and not stderr: some versions of Octave complain while they end, with everything done.
    *lines, end = done.stdout.splitlines() or [""]
    assert end == _END, f"Octave stopped: {done.stderr}"
    *shown, warning = map(_read, lines[::2], lines[1::2])
    assert warning == ""
    return shown


def literal(x: Any) -> str:
    """An array as Octave reads it: a number, a column, or entries with a shape."""
    array = np.asarray(x, dtype=float)
    entries = ", ".join(map(repr, array.ravel(order="F").tolist())).replace("nan", "NaN").replace("inf", "Inf")
    shape = (*array.shape, 1) if array.ndim == 1 else array.shape
    return f"reshape([{entries}], {list(shape)})" if shape else entries


def call(function: str, arrays: list[np.ndarray], outputs: int = 1) -> str:
    """A line that calls a function and shows all its results."""
    results = [f"r{k}" for k in range(outputs)]
    shown = " ".join(f"show({name});" for name in results)
    return f"[{', '.join(results)}] = {function}({', '.join(map(literal, arrays))}); {shown}"


def beside_kernels(text: str, robot: Robot, quantities: Sequence[str], folder: Path) -> list[tuple[str, Any, Any]]:
    """Run a file `arm` of several quantities; for each of their results the quantity, what Octave and what the kernel gives."""
    arrays = {quantity: arrays_for(program_of(robot, quantity), ()) for quantity in quantities}
    expected = {quantity: by_kernel(robot, quantity, arrays[quantity]) for quantity in quantities}
    calls = [call(f"f.{quantity}", arrays[quantity], len(expected[quantity])) for quantity in quantities]
    found = run("\n".join(["f = arm();", *calls]), {"arm": text}, folder)
    pairs = [(quantity, result) for quantity in quantities for result in expected[quantity]]
    return [(quantity, a.reshape(b.shape), b) for a, (quantity, b) in zip(found, pairs, strict=True)]


def _read(head: str, body: str) -> Any:
    """A value from its two lines."""
    kind, *shape = head.split()
    if kind == "char":
        return body
    numbers = np.array(list(map(float, body.split())), dtype={"double": np.float64, "single": np.float32}[kind])
    return numbers.reshape([int(n) for n in shape], order="F")
