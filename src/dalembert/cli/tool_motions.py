"""Motions of a tool for `dalembert trajectory`: along a line, along a circle, through the poses of a table."""

from __future__ import annotations

import warnings
from argparse import Namespace
from typing import Any

import numpy as np

from .. import trajectory
from ..checks import FloatArray
from ..dynamics import forward_kinematics
from ..errors import DalembertWarning, InfeasibleError
from ..formats.poses import rotation_from_rpy
from ..kinematics import inverse_kinematics
from ..trajectory import Motion, ToolPath
from .motion_options import duration_of, needed, start_of
from .opspace import names_of
from .pose_tables import read_path, three
from .systems import Loaded


def line(robot: Loaded, given: Namespace) -> Motion:
    """Straight to a point of the world, with the orientation kept, or turned to another."""
    start = start_of(robot, given)
    X = np.asarray(forward_kinematics(robot, start, given.link))
    there = X.copy()
    there[:3, 3] = three("--tool-to", needed(given, "tool-to", "x, y, z of the tool in the world [m]"))
    if given.tool_rpy:
        there[:3, :3] = rotation_from_rpy(_angles(given, three("--tool-rpy", given.tool_rpy)))
    return _followed(robot, given, trajectory.line(X, there, duration=duration_of(given)), start)


def circle(robot: Loaded, given: Namespace) -> Motion:
    """About an axis through a point of the world."""
    start = start_of(robot, given)
    X = np.asarray(forward_kinematics(robot, start, given.link))
    centre = three("--centre", needed(given, "centre", "x, y, z of a point of the axis [m]"))
    axis = three("--axis", needed(given, "axis", "the direction of the axis, such as 0 0 1"))
    angle = 2 * np.pi if given.angle is None else float(_angles(given, given.angle))
    path = trajectory.circle(X, centre, axis=axis, angle=angle, turning=given.turning, duration=duration_of(given))
    return _followed(robot, given, path, start)


def poses(robot: Loaded, given: Namespace) -> Motion:
    """The spline through the poses of a table at their times."""
    t, X = read_path(needed(given, "poses", "a table with t, x, y, z, roll, pitch, yaw"))
    path = trajectory.through_poses(X, t, ends=given.ends)
    return _followed(robot, given, path, start_of(robot, given) if given.start else _found(robot, given, X[0]))


def _found(robot: Loaded, given: Namespace, X: FloatArray) -> FloatArray:
    """Some position in which the tool is at the first pose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DalembertWarning)  # said below
        found = inverse_kinematics(robot, X, link=given.link, directions=names_of(given.directions))
    if not found.success:
        raise InfeasibleError(f"{given.poses}: the first pose: {found.message}")
    return found.q


def _angles(given: Namespace, values: Any) -> Any:
    return np.radians(values) if given.degrees else np.asarray(values)


def _followed(robot: Loaded, given: Namespace, path: ToolPath, start: FloatArray) -> Motion:
    options = {"directions": names_of(given.directions), "held": names_of(given.held)}
    return trajectory.follow(robot, path, start=start, link=given.link, **options)


__all__ = ["circle", "line", "poses"]
