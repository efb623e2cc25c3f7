"""Files of moving pictures: GIF by Pillow, MP4 by ffmpeg; complete, or not there at all."""

from __future__ import annotations

import importlib
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import DalembertError, MissingExtraError, ShapeError, UnknownNameError
from ..files import replace_file
from ..wording import listed

Picture = Any
"""Bytes of one picture, shape (height, width, 3)."""
_COLOURS = 128  # of a GIF: lines and marks have few, and files stay small
_PAPER = 8  # steps of 255 from the paper that nobody sees: Pillow looks colours up in steps of 4
_FASTEST = 50.0  # pictures a second of a GIF: programs show quicker ones slowly


def _gif(path: Path, pictures: Iterable[Picture], fps: float) -> None:
    image = _pillow()
    drawn = [image.fromarray(picture) for picture in pictures]
    colours = _palette(image, drawn)
    frames = [picture.quantize(palette=colours, dither=image.Dither.NONE) for picture in drawn]
    # Times in a GIF are in hundredths of a second: they are rounded so that errors do not add up.
    ends = np.round(100.0 * np.arange(len(frames) + 1) / fps)
    content = io.BytesIO()
    durations = [int(10 * d) for d in np.diff(ends)]
    frames[0].save(
        content, "GIF", save_all=True, append_images=frames[1:], duration=durations, loop=0, optimize=False, disposal=1
    )
    replace_file(path, content.getvalue())


def _palette(image: Any, drawn: list[Any]) -> Any:
    """The colours of all pictures, taken from a few of them; without a common palette files are twice as large.

    The paper keeps its colour, which the choice of few would mix with the edges of faint lines.
    """
    few = np.concatenate([np.asarray(drawn[k]) for k in sorted({0, len(drawn) // 3, 2 * len(drawn) // 3, len(drawn) - 1})])
    found = image.fromarray(few).quantize(_COLOURS, method=image.Quantize.MAXCOVERAGE, dither=image.Dither.NONE)
    colours, paper = np.array(found.getpalette()).reshape(-1, 3), few[0, 0].astype(int)
    away = np.abs(colours - paper).max(axis=1)
    colours[away <= max(_PAPER, away.min())] = paper
    found.putpalette(colours.ravel().tolist())
    return found


def _mp4(path: Path, pictures: Iterable[Picture], fps: float) -> None:
    program = _ffmpeg()
    with tempfile.TemporaryDirectory() as folder:
        draft = os.path.join(folder, "draft.mp4")
        process = None
        try:
            for whole in pictures:
                picture = whole[: len(whole) // 2 * 2, : whole.shape[1] // 2 * 2]  # colours are kept for squares of four dots
                process = process or _started(program, draft, picture.shape, fps)
                process.stdin.write(np.ascontiguousarray(picture).tobytes())
            assert process is not None
            words = process.communicate()[1].decode(errors="replace").strip().splitlines()
        except BrokenPipeError:  # ffmpeg has ended: what it said last tells why
            assert process is not None
            words = process.stderr.read().decode(errors="replace").strip().splitlines()
            process.wait()
        except BaseException:
            if process is not None:
                process.kill()
                process.communicate()
            raise
        if process.returncode:
            raise DalembertError(
                f"animate: ffmpeg failed: {words[-1] if words else 'no reason given'}. Name a .gif file instead."
            )
        replace_file(path, Path(draft).read_bytes())


def _started(program: str, draft: str, shape: tuple[int, ...], fps: float) -> Any:
    size = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{shape[1]}x{shape[0]}", "-r", f"{fps:g}", "-i", "-"]
    kind = ["-an", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-movflags", "+faststart", draft]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL}
    return subprocess.Popen([program, "-loglevel", "error", "-y", *size, *kind], **pipes)  # type: ignore[call-overload]


def _pillow() -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ImportError:
        raise MissingExtraError.for_extra("animate: a GIF", "Pillow", "plots") from None


def _ffmpeg() -> str:
    found = shutil.which("ffmpeg")
    if found is None:
        raise DalembertError(
            "animate: an .mp4 file needs the program ffmpeg, which was not found on the path. Install it, or name a .gif file."
        )
    return found


WRITERS: dict[str, tuple[Callable[[], Any], Callable[[Path, Iterable[Picture], float], None]]] = {
    ".gif": (_pillow, _gif),
    ".mp4": (_ffmpeg, _mp4),
}
"""By suffix: what has to be there, and what writes the file."""


def writer_of(subject: str, path: str | os.PathLike[str], fps: float) -> Callable[[Path, Iterable[Picture], float], None]:
    """What writes a file of this name; refused before anything is drawn where nothing can."""
    suffix = Path(path).suffix.lower()
    if suffix not in WRITERS:
        raise UnknownNameError(
            f"{subject}: {os.fspath(path)!r} ends in {suffix!r}, not a format of animations. Known: {listed(list(WRITERS))}."
        )
    if suffix == ".gif" and fps > _FASTEST:
        raise ShapeError(
            f"fps: {fps:g} found; a GIF shows at most {_FASTEST:g} pictures a second. Take less, or name an .mp4 file."
        )
    needed, write = WRITERS[suffix]
    needed()
    return write


__all__ = ["WRITERS", "writer_of"]
