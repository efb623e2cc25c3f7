"""`dalembert ik`: joint positions for a pose, or for a table of them."""

from __future__ import annotations

import warnings
from argparse import Namespace
from typing import Any

import numpy as np

from .. import plots
from ..checks import FloatArray
from ..errors import DalembertWarning, ShapeError
from ..kinematics import Branches, InverseKinematics, inverse_branches, inverse_kinematics
from ..loading import load
from ..wording import counted
from . import outputs, terminal
from .digits import aligned, number
from .dynamics import state_of
from .motion_files import state_columns
from .opspace import names_of
from .pose_tables import pose_columns, poses_of
from .sheets import Sheet, print_marked, print_sheets, print_title, sheet
from .state_files import target_of, write_rows
from .systems import Loaded, coordinates_of

_ROWS_SHOWN = 40


def run(given: Namespace) -> bool:
    """Print joint positions for poses, and what each lacks; False if any was not reached."""
    picture = outputs.picture("ik", given.plot, "--plot")
    target = target_of(given.output)
    robot = load(given.source)
    pose, turned = poses_of(given)
    if given.all:
        return _all_branches(robot, pose, turned, given, target, picture)
    directions = names_of(given.directions) or (None if turned else "position")
    start = state_of(robot, {"q": given.q0}, degrees=given.degrees, option="--q0").q if given.q0 else None
    options: dict[str, Any] = {"link": given.link, "frame": given.frame, "directions": directions, "q0": start}
    options |= {"limits": not given.no_limits, "continuous": given.continuous, "tolerance": given.tolerance}
    options |= {"secondary": given.secondary, "seeds": given.solutions}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)  # said below, row by row
        found = inverse_kinematics(robot, pose, attempts=given.attempts, rng=np.random.default_rng(given.seed), **options)
    if given.json:
        terminal.print_json(_record(robot, found))
    else:
        _print(robot, found)
    q = found.q.reshape(-1, found.q.shape[-1])
    write_rows(target, state_columns(robot, {"q": q}), _columns(found))
    _draw(robot, q[np.isfinite(q).all(axis=1)], picture)
    return bool(np.all(found.success))


def _print(robot: Loaded, found: InverseKinematics) -> None:
    total, reached = np.size(found.success), int(np.count_nonzero(found.success))
    print_title(f"{robot!r}, {reached} of {counted(total, 'pose')} reached")
    print_sheets(_table(robot, found))
    failed = [tuple(int(k) for k in row) for row in np.argwhere(~np.asarray(found.success))]
    marks = [(f"row {row[0] + 1}" if row else "pose", "red", found.row_message(*row)) for row in failed[:_ROWS_SHOWN]]
    print_marked(marks)


def _table(robot: Loaded, found: InverseKinematics) -> Sheet:
    """One line for each pose, or for the first of them."""
    q = found.q.reshape(-1, found.q.shape[-1])[:_ROWS_SHOWN]
    cells = aligned(q)
    flat = [np.ravel(x) for x in (found.success, found.position_error, found.rotation_error, found.turns)]
    rows = [
        (str(k + 1), "yes" if flat[0][k] else "no", *cells[k], number(flat[1][k], 2), number(flat[2][k], 2), str(flat[3][k]))
        for k in range(len(q))
    ]
    more = np.size(found.success) - len(q)
    names = [f"{c.name} [{'rad' if c.turns else 'm'}]" for c in coordinates_of(robot)]
    title = "Joint positions, and what is left of each pose" + (f"; {more} more rows by --output" if more else "")
    return sheet(title, ["row", "reached", *names, "left [m]", "left [rad]", "turns"], rows, left=2, keys=1)


def _columns(found: InverseKinematics) -> dict[str, Any]:
    columns: dict[str, Any] = {"reached": np.ravel(found.success).astype(int)}
    columns |= {"position_error [m]": np.ravel(found.position_error), "rotation_error [rad]": np.ravel(found.rotation_error)}
    return columns | pose_columns(found.pose.reshape(-1, 4, 4)) | {"turns": np.ravel(found.turns)}


def _record(robot: Loaded, found: InverseKinematics) -> dict[str, object]:
    names = ("q", "success", "pose", "position_error", "rotation_error", "turns", "attempts", "status")
    joints = [c.name for c in coordinates_of(robot)]
    return {"robot": robot.name, "joints": joints, **{k: getattr(found, k) for k in names}, "message": found.message}


def _all_branches(robot: Loaded, pose: FloatArray, turned: bool, given: Namespace, target: Any, picture: Any) -> bool:
    """Every solution of one pose, in closed form."""
    if pose.ndim > 2:
        raise ShapeError("--all: found together with --poses; all solutions are printed of one pose. Give --position and --rpy.")
    for name in ("directions", "continuous", "q0", "secondary"):
        if getattr(given, name):
            raise ShapeError(f"--{name}: found together with --all, where closed forms give all solutions. Leave one out.")
    found = inverse_branches(robot, pose, link=given.link, limits=not given.no_limits)
    if found.reaches == "pose" and not turned:
        raise ShapeError("--rpy: missing; all solutions of a whole pose are asked for. Give roll, pitch, yaw.")
    q = found.q[found.valid]
    if given.json:
        terminal.print_json({"robot": robot.name, "kind": found.kind, "reaches": found.reaches, "q": q})
    else:
        _print_branches(robot, found, q, limits=not given.no_limits)
    write_rows(target, state_columns(robot, {"q": q}), {})
    _draw(robot, q, picture)
    return len(q) > 0


def _print_branches(robot: Loaded, found: Branches, q: FloatArray, *, limits: bool) -> None:
    print_title(f"{robot!r}, {found.kind}: {counted(len(q), 'solution')}")
    if not len(q):
        remedy = "Try --no-limits, to see whether limits are why." if limits else "Without --all the nearest one is found."
        why = f"it is out of reach{', or beyond joint limits' * limits}"
        terminal.say(f"no joint positions lead to this {found.reaches}: {why}. {remedy}")
        return
    names = [f"{c.name} [{'rad' if c.turns else 'm'}]" for c in coordinates_of(robot)]
    rows = [(str(k + 1), *row) for k, row in enumerate(aligned(q))]
    print_sheets(sheet(f"All joint positions of the {found.reaches}", ["", *names], rows))


def _draw(robot: Loaded, q: FloatArray, picture: Any) -> None:
    if picture is not None:
        if not len(q):
            raise ShapeError("--plot: no position found that could be drawn.")
        outputs.save_figure(plots.skeleton(robot, q).figure, picture)
