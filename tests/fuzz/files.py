"""Mutated files of robots and mechanisms: each loads, computes and can be saved, or is refused soon, in a short sentence."""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dalembert as dal

from .campaign import HANG, SILENT, WRONG, Fault, answer, cut, pick, refused, require_equal
from .functions import numpy_back_end
from .mutations import MUTATIONS, no_number
from .texts import texts

QUICK = 300
FULL = 32_000
LIMIT = 60.0
_SECONDS = 2.0  # of the processor, for reading a small file
_MANY = 40  # coordinates from which a mass matrix takes long to write down
_MANY_CLOSED = 8  # joints of a mechanism from which it does
_STRICT = 0.2  # share of the cases whose one fault has to be found


class Case(NamedTuple):
    """A file to load."""

    name: str
    suffix: str
    history: tuple[str, ...]
    content: bytes
    never: bool  # whether it has to be refused
    seed: int

    def __str__(self) -> str:
        return f"{self.name}{self.suffix} of {len(self.content)} bytes; {', '.join(self.history)}"


def draw(rng: np.random.Generator, number: int) -> Case:
    """A file with one to three mutations; or with one number replaced by what is none."""
    text = pick(rng, texts())
    if text.ours and rng.random() < _STRICT:
        spoiled = no_number(rng, text.content)
        return Case(text.name, text.suffix, ("no number",), spoiled, spoiled != text.content, number)
    content, history = text.content, []
    for _ in range(int(rng.integers(1, 4))):
        mutation = pick(rng, MUTATIONS)
        content = mutation(rng, content)
        history.append(mutation.__name__)
    return Case(text.name, text.suffix, tuple(history), content, False, number)


def judge(case: Case) -> None:
    """Load it, compute, save, load again."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, "robot" + case.suffix)
        path.write_bytes(case.content)
        robot, warned = _loaded(path)
        if refused(robot):
            return
        if case.never:
            raise Fault(SILENT, f"loaded: {robot}")
        with numpy_back_end():
            _judge_robot(case, robot, warned, Path(place))


def _loaded(path: Path) -> tuple[Any, list[str]]:
    """The robot, or the refusal; and what it warned of."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("error")
        warnings.simplefilter("always", dal.DalembertWarning)
        began = time.process_time()
        robot = answer(lambda: dal.load(path))
        seconds = time.process_time() - began
    if seconds > _SECONDS:
        raise Fault(HANG, f"{seconds:.1f} s to load: {cut(str(robot))}")
    return robot, [str(warning.message) for warning in told]


def _judge_robot(case: Case, robot: Any, warned: list[str], place: Path) -> None:
    q = np.random.default_rng(case.seed).uniform(-1.0, 1.0, robot.n)
    if isinstance(robot, dal.Mechanism):
        q = robot.q0
        if not np.isfinite(robot.seed).all():
            raise Fault(SILENT, f"assembled at what is no number: {robot}")
    M = _mass_matrix(robot, q)
    if M is not None and not np.isfinite(M).all() and not warned:
        raise Fault(SILENT, f"loaded without a warning, and the mass matrix is not finite: {robot}")
    for suffix in (".toml", ".urdf"):
        saved = answer(lambda suffix=suffix: dal.save(robot, place / f"again{suffix}"))
        if refused(saved) and suffix == ".toml":
            raise Fault(WRONG, f"what was loaded cannot be saved as {suffix}: {cut(str(saved))}")
        if not refused(saved):
            _judge_copy(robot, _loaded(place / f"again{suffix}")[0], suffix, M, q)


def _judge_copy(robot: Any, again: Any, suffix: str, M: np.ndarray | None, q: np.ndarray) -> None:
    """TOML keeps everything; URDF keeps what it can express, to the rounding of angles."""
    if refused(again):
        raise Fault(WRONG, f"what was saved as {suffix} cannot be loaded: {cut(str(again))}")
    if suffix == ".toml":
        if again != robot:
            raise Fault(WRONG, f"another robot after saving and loading as {suffix}: {again}")
    elif again.joint_names != robot.joint_names:
        raise Fault(WRONG, f"other joints after saving and loading as {suffix}: {cut(str(again.joint_names))}")
    elif M is not None and np.isfinite(M).all() and not _tree(robot).parameters.rotors:
        require_equal(_mass_matrix(again, q), M, 1e-6)


def _tree(robot: Any) -> dal.Robot:
    return robot.robot if isinstance(robot, dal.Mechanism) else robot


def _mass_matrix(robot: Any, q: np.ndarray) -> np.ndarray | None:
    """By the interpreter; None for robots without joints or with very many."""
    if not 0 < robot.n <= _MANY or (isinstance(robot, dal.Mechanism) and robot.robot.n > _MANY_CLOSED):
        return None
    with np.errstate(all="ignore"):
        return dal.mass_matrix(robot, q)
