"""The arms and mechanisms of [Freeman] as robots of the library."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.model import Joint, Link, Robot, Tool
from dalembert.model.dh import from_dh
from tests.golden.freeman_tables import Chain
from tests.golden.reading import golden, robot_of

CASES: dict[str, dict[str, Any]] = golden("freeman")["cases"]


def arm_of(data: Mapping[str, Any]) -> Robot:
    """A robot in the golden files' words; links without mass are meant here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dal.DalembertWarning)
        return robot_of(data)


def random_arm(rng: np.random.Generator, types: str) -> Robot:
    """A serial arm of turning and sliding joints, with links that could be built."""
    rows = []
    for kind in types:
        shape = rng.normal(size=(3, 3)) * 0.2
        second = shape @ shape.T + 1e-2 * np.eye(3)
        inertia = np.trace(second) * np.eye(3) - second
        a, alpha, d, theta = rng.uniform(-1, 1, 4)
        com = rng.uniform(-0.3, 0.3, 3)
        rows.append({"type": kind, "a": a, "alpha": alpha, "d": d, "theta": theta, "mass": 2.0, "com": com, "inertia": inertia})
    return from_dh(rows, convention="modified", gravity=rng.normal(size=3))


def chain_of(robot: Robot, q: np.ndarray, types: str, j: int, point: np.ndarray) -> Chain:
    """Its axes and origins: in modified Denavit-Hartenberg frames z_n is S^n and the origin is R^n."""
    frames = [dal.forward_kinematics(robot, q, f"link{n + 1}") for n in range(len(types))]
    S, R = np.array([X[:3, 2] for X in frames]), np.array([X[:3, 3] for X in frames])
    return Chain(S, R, frames[j - 1][:3, :3] @ point + R[j - 1], j, types)


def wrist_partitioned(v: Mapping[str, float]) -> Robot:
    """Fig. B-1: the first three joints, with the wrist point as tool."""
    tool = np.eye(4)
    tool[0, 3] = v["a34"]
    rows = [{"d": v["s11"]}, {"alpha": np.pi / 2}, {"a": v["a23"]}]
    return from_dh([{"mass": 1.0, "inertia": (1, 1, 1), **row} for row in rows], convention="modified", tool=tool)


def five_bar() -> tuple[Robot, np.ndarray]:
    """Appendix C, opened at h: four joints, link 4 ends at h. In inches and pounds, as printed."""
    value = CASES["004.fivebar.mechanism"]["value"]
    tool = np.eye(4)
    tool[0, 3] = value["mechanism"]["coordinates"][1]["a"]["point"][0]
    return arm_of(value["mechanism"]["chains"][0] | {"tool": tool}), np.array(value["x0"])


def leg(r: int) -> Robot:
    """Leg r of Appendix E in its posture at q = 0: three joints about z, the base link alone has inertia."""
    geometry = CASES["004.appendixE.geometry"]["value"]
    origins = -np.array(geometry["vectors_P_minus_R"][r])
    steps = np.diff(np.vstack([np.zeros(2), origins, np.zeros(2)]), axis=0)
    moment = geometry["inertia_about_base_joint"][r]
    links = [Link("base"), Link("link1", 1.0, inertia=np.diag([moment] * 3)), Link("link2"), Link("link3")]
    joints = [Joint(f"joint{k}", "revolute", links[k - 1].name, links[k].name, origin=_shift(steps[k - 1])) for k in (1, 2, 3)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dal.DalembertWarning)
        return Robot.from_parts(f"leg{r + 1}", links, joints, gravity=(0, 0, 0), tool=Tool("link3", _shift(steps[3])))


def _shift(step: np.ndarray) -> np.ndarray:
    X = np.eye(4)
    X[:2, 3] = step
    return X


def planar(robot: Robot, q: np.ndarray) -> dal.Influence:
    """Coefficients of the tool's x, y and its angle about z."""
    return dal.transfer.rows(dal.influence(robot, q), [0, 1, 5])


def augmented(parameters: dal.Influence) -> dal.Influence:
    """The first joint put before dependent parameters [Freeman, Eq. 4-8, 4-11, 4-15]."""
    return dal.transfer.stack(dal.transfer.linear(np.eye(parameters.G.shape[-1])[:1]), parameters)
