"""Xacro into URDF, by the package xacrodoc, in a process of its own.

Macros can compute anything, and only a process can always be stopped when it takes too long.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
import subprocess
import sys

from ..errors import FormatError, MissingExtraError, Place
from ..wording import cut

SECONDS = 30.0
"""How long an expansion may take."""

_PROGRAM = """
import sys
output, sys.stdout = sys.stdout.buffer, sys.stderr
try:
    from xacrodoc import XacroDoc
    text = XacroDoc.from_file(sys.argv[1]).to_urdf_string()
except BaseException as error:
    sys.exit("\\n" + (" ".join(str(error).split()) or type(error).__name__))
content = text.encode("utf-8", "surrogatepass")
if len(content) > int(sys.argv[2]):
    sys.exit("\\nit gives more URDF than a robot file may have")
output.write(content)
"""


def expand(path: str, given: str, most: int) -> bytes:
    """The URDF that the file expands to, at most so many bytes; `given` is the file's name in messages."""
    if importlib.util.find_spec("xacrodoc") is None:
        raise MissingExtraError.for_extra(f"{given}: reading xacro", "xacrodoc", "xacro")
    try:
        process = _start(path, most)
    except (OSError, ValueError) as error:
        raise FormatError(f"xacro could not be started ({error}).", place=Place(given)) from None
    try:
        output, complaint = process.communicate(timeout=SECONDS)
    except BaseException as error:
        _stop(process)
        if not isinstance(error, subprocess.TimeoutExpired):
            raise
        sentence = f"xacro was stopped after {SECONDS:g} s. Expand it first: xacro model.urdf.xacro > model.urdf"
        raise FormatError(sentence, place=Place(given)) from None
    if process.returncode != 0:
        raise FormatError(f"xacro could not be expanded ({_last_line(complaint)}).", place=Place(given))
    return output


def _start(path: str, most: int) -> subprocess.Popen[bytes]:
    folders = os.pathsep.join(folder or os.getcwd() for folder in sys.path)
    return subprocess.Popen(
        [sys.executable or "python3", "-c", _PROGRAM, path, str(most)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": folders},
        start_new_session=True,  # so that what the macros started is stopped with them
    )


def _stop(process: subprocess.Popen[bytes]) -> None:
    """End the process and all it started."""
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
    process.communicate()


def _last_line(complaint: bytes) -> str:
    lines = complaint.decode("utf-8", "replace").strip().splitlines()
    return cut(lines[-1], 500) if lines else "no reason given"
