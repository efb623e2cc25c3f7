"""`dalembert kinematics`: where links are, and how joint rates move one of them."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy as np

from .. import plots
from ..checks import FloatArray
from ..dynamics import forward_kinematics, jacobian
from ..loading import load
from ..wording import counted
from . import outputs, terminal
from .digits import aligned, number
from .pose_tables import ANGLES, PLACES, place_and_angles, pose_columns
from .sheets import Sheet, print_sheets, print_title, sheet
from .state_files import StateRows, entries, extremes, rows_of, target_of, write_rows
from .systems import Loaded, coordinates_of, tree_of

ROWS = ("vx", "vy", "vz", "wx", "wy", "wz")


def run(given: Namespace) -> None:
    """Print poses of all links and the Jacobian of one; of many states, the extremes of its pose."""
    picture = outputs.picture("kinematics", given.plot, "--plot")
    target = target_of(given.output)
    robot = load(given.source)
    rows = rows_of(robot, given, "q", finite=True)
    pose = np.asarray(forward_kinematics(robot, rows.state.q, given.link))
    J = np.asarray(jacobian(robot, rows.state.q, given.link, frame=given.frame))
    if given.json:
        terminal.print_json(_record(robot, rows, pose, J, given))
    else:
        many = f", {counted(rows.size, 'state')}" if rows.many else ""
        print_title(f"{robot!r}, kinematics of {given.link or 'the tool'}{many}")
        print_sheets(*([_course_table(pose)] if rows.many else [_pose_table(robot, rows.state.q), _jacobian_table(robot, J)]))
    found = pose_columns(np.atleast_3d(pose).reshape(-1, 4, 4)) | entries("J", ROWS, _names(robot), _unit_of(robot), J)
    write_rows(target, rows.columns(robot, "q"), found)
    if picture is not None:
        outputs.save_figure(
            plots.skeleton(robot, rows.state.q, trace=_trace(robot, given) if rows.many else None).figure, picture
        )


def _names(robot: Loaded) -> list[str]:
    return [c.name for c in coordinates_of(robot)]


def _unit_of(robot: Loaded) -> Any:
    moves = ["rad" if c.turns else "m" for c in coordinates_of(robot)]
    return lambda i, j: f"{'m' if i < 3 else 'rad'} per {moves[j]}"


def _trace(robot: Loaded, given: Namespace) -> str:
    return given.link or "tool"


def _pose_table(robot: Loaded, q: FloatArray) -> Sheet:
    names = [link.name for link in tree_of(robot).parameters.links]
    poses = [np.asarray(forward_kinematics(robot, q, name)) for name in names]
    if tree_of(robot).structure.tool is not None:
        names, poses = [*names, "tool"], [*poses, np.asarray(forward_kinematics(robot, q))]
    values = place_and_angles(np.array(poses))
    cells = np.concatenate([aligned(values[:, :3]), aligned(values[:, 3:])], axis=1)
    rows = [(name, *row) for name, row in zip(names, cells, strict=True)]
    return sheet("Poses in the world: place [m], roll, pitch, yaw [rad]", ["", *PLACES, *ANGLES], rows)


def _jacobian_table(robot: Loaded, J: FloatArray) -> Sheet:
    cells = aligned(J)
    values = np.linalg.svd(J, compute_uv=False)
    least = values[min(J.shape) - 1]
    ratio = number(float(values[0] / least)) if least > 1e-12 * values[0] else "∞"
    rows = [(name, *cells[:, i]) for i, name in enumerate(_names(robot))]
    return sheet(f"Jacobian, joint by joint; largest singular value by the least: {ratio}", ["", *ROWS], rows)


def _course_table(pose: FloatArray) -> Sheet:
    return extremes("Place [m], roll, pitch, yaw [rad] over all states", pose_columns(pose))


def _record(robot: Loaded, rows: StateRows, pose: FloatArray, J: FloatArray, given: Namespace) -> dict[str, object]:
    return {
        "robot": robot.name,
        "link": given.link or "tool",
        "frame": given.frame,
        **({} if rows.t is None else {"t": rows.t}),
        "q": rows.state.q,
        "pose": pose,
        "rpy": place_and_angles(pose)[..., 3:],
        "J": J,
    }
