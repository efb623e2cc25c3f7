"""Motions of mechanisms by MuJoCo: loops closed by equality constraints that are as stiff as they can be.

MuJoCo's constraints are soft: with an impedance of 0.9999 and a time constant of half a millisecond closures stay within
nanometres, so that motions can be compared. Points that meet are `connect`, rods are tendons of constant length.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import mujoco
import numpy as np

import dalembert as dal
from dalembert.model import Robot
from tests.cross.mujoco_model import Writer, numbers

STIFF = 'solref="0.0005 1" solimp="0.9999 0.9999 0.001 0.5 2"'
MEETING = ("revolute", "spherical", "directions")
"""Types whose points meet; what a revolute joint or a plane holds beside that is taken to follow from the tree."""


class LoopWriter(Writer):
    """A mechanism as MJCF: sites at both ends of each closure, and what keeps them together."""

    def __init__(self, mechanism: dal.Mechanism) -> None:
        super().__init__(mechanism.robot)
        self.mechanism = mechanism
        self.sites: dict[str, list[tuple[str, np.ndarray]]] = defaultdict(list)
        for closure in mechanism.closures:
            for k, (link, X) in enumerate(closure.between):
                self.sites[self.robot.structure.root if link == "world" else link].append((f"{closure.name}{k}", X))

    def carried(self, link: str, X: np.ndarray) -> str:
        sites = (f'<site name="{name}" pos={numbers((X @ place)[:3, 3])}/>' for name, place in self.sites[link])
        return "".join(sites) + super().carried(link, X)

    def text(self) -> str:
        inner = self.carried(self.robot.structure.root, np.eye(4))
        tendons, held = [], []
        for closure in self.mechanism.closures:
            a, b = f"{closure.name}0", f"{closure.name}1"
            if closure.type == "distance":
                tendons.append(f'<spatial name="{closure.name}"><site site="{a}"/><site site="{b}"/></spatial>')
                held.append(f'<tendon tendon1="{closure.name}" {STIFF}/>')
            else:
                assert closure.type in MEETING, closure.type
                held.append(f'<connect site1="{a}" site2="{b}" {STIFF}/>')
        option = (
            f'<option gravity={numbers(self.robot.gravity)} integrator="RK4" tolerance="1e-14" iterations="200">'
            '<flag contact="disable" limit="disable"/></option>'
        )
        compiler = '<compiler angle="radian" inertiafromgeom="false" boundmass="1e-9" boundinertia="1e-12"/>'
        closing = f"<tendon>{''.join(tendons)}</tendon><equality>{''.join(held)}</equality>"
        return f"<mujoco>{compiler}{option}<worldbody>{inner}</worldbody>{closing}</mujoco>"


def motion(mechanism: dal.Mechanism, x: Any, xd: Any, tau: Any, times: np.ndarray, *, step: float) -> np.ndarray:
    """Positions of the tree, shape (K, N), at times that are multiples of the step, under constant joint torques."""
    model = mujoco.MjModel.from_xml_string(LoopWriter(mechanism).text())
    model.opt.timestep = step
    _set_lengths(mechanism, model)
    data = mujoco.MjData(model)
    home = np.array([joint.home for joint in mechanism.robot.structure.coordinates])
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = np.asarray(x) + home, xd, tau
    found = []
    for goal in np.rint(np.asarray(times) / step).astype(int):
        while round(data.time / step) < goal:
            mujoco.mj_step(model, data)
        found.append(data.qpos - home)
    return np.array(found)


def _set_lengths(mechanism: dal.Mechanism, model: Any) -> None:
    """A tendon keeps its length where all joints are zero, plus the first coefficient of its constraint."""
    for k, closure in enumerate(mechanism.closures):
        if closure.type == "distance":
            rod = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_TENDON, closure.name)
            model.eq_data[k, :5] = (closure.length - model.tendon_length0[rod], 0, 0, 0, 0)


def plain(robot: Robot) -> Robot:
    """With the viscous part of friction alone: MuJoCo treats dry friction as a constraint."""
    friction = {name: dal.Friction(law.viscous) for name, law in robot.parameters.friction.items()}
    return robot.replace(parameters=robot.parameters.replace(friction=friction))


__all__ = ["motion", "plain"]
