"""The arms of [Siciliano, ch. 7] built from the numbers of their symbols, named as in the golden files."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import dalembert as dal
from dalembert.model import Body, Friction, Joint, Link, Robot, Rotor, Tool
from dalembert.model.dh import from_dh
from dalembert.model.position_functions import JointSum

Values = Mapping[str, float]

# The closed parallelogram: rates of θ1', θ2', θ3', θ1'' by those of the actuated joints θ1', θ1''
LOOP = np.array([[1, 0], [-1, 1], [1, -1], [0, 1]])


def motor(v: Values, i: int, axis: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> Rotor:
    """Rotor i, a spinning body at the origin of the frame before [Siciliano, Eq. 7.23]."""
    return Rotor(v[f"Im{i}"], v[f"kr{i}"], "full", mass=v.get(f"mm{i}", 0.0), axis=np.array(axis))


def planar_link(v: Values, i: int, mass: str = "ml", moment: str = "Il") -> dict[str, object]:
    """A row of a planar arm: length a, centre of mass at l from the joint axis."""
    return {
        "a": v[f"a{i}"],
        "mass": v[f"{mass}{i}"],
        "com": (v[f"l{i}"] - v[f"a{i}"], 0, 0),
        "inertia": (0, 0, v[f"{moment}{i}"]),
        "rotor": motor(v, i),
    }


def pendulum(v: Values) -> Robot:
    """Example 7.1: q = 0 hangs down, the moment Ip is about the axis, friction of joint and motor is viscous."""
    about_com = v["Ip"] - v["m"] * v["l"] ** 2
    row = {
        "mass": v["m"],
        "com": (v["l"], 0, 0),
        "inertia": (0, 0, about_com),
        "rotor": Rotor(v["Im"], v["kr"]),
        "friction": Friction(v["F"] + v["Fm"] * v["kr"] ** 2),
    }
    return from_dh([row], convention="standard", gravity=(v["g"], 0, 0))


def cartesian(v: Values, angle: float) -> Robot:
    """§7.3.1 and Problem 7.1: a vertical slider, and one whose axis makes `angle` with the vertical."""
    rows = [
        {"type": "P", "theta": np.pi / 2, "alpha": angle, "mass": v["ml1"], "rotor": motor(v, 1)},
        {"type": "P", "mass": v["ml2"], "rotor": motor(v, 2)},
    ]
    return from_dh(rows, convention="standard", gravity=(0, 0, -v["g"]))


def planar(v: Values) -> Robot:
    """§7.3.2: two revolute joints in a vertical plane."""
    return from_dh([planar_link(v, 1), planar_link(v, 2)], convention="standard", gravity=(0, -v["g"], 0))


def scara(v: Values) -> Robot:
    """Problem 7.3: R-R-P-R with vertical axes, the last two links on their axis."""
    rows = [
        planar_link(v, 1, "m", "I"),
        planar_link(v, 2, "m", "I"),
        {"type": "P", "mass": v["m3"], "inertia": (0, 0, v["I3"]), "rotor": motor(v, 3)},
        {"mass": v["m4"], "inertia": (0, 0, v["I4"]), "rotor": motor(v, 4)},
    ]
    return from_dh(rows, convention="standard", gravity=(0, 0, -v["g"]))


def slider_and_arm(v: Values) -> Robot:
    """Problems 7.5, 7.8: a slider along x carrying a link that turns about z; gravity (gx, gy); payload mL at the tip."""
    tip = np.eye(4)
    tip[0, 3] = v["a2"]
    return Robot.from_parts(
        "slider and arm",
        [Link("base"), Link("slider", v["ml1"]), planar_body("arm", v["ml2"], v["l2"], v["Il2"])],
        [Joint("slide", "prismatic", "base", "slider", axis=np.array([1.0, 0, 0])), Joint("turn", "revolute", "slider", "arm")],
        rotors={"slide": motor(v, 1, (1.0, 0.0, 0.0)), "turn": motor(v, 2)},
        gravity=(v["gx"], v["gy"], 0),
        tool=Tool("arm", tip),
        payload=Body("payload", v["mL"]) if "mL" in v else None,
    )


def parallelogram_tree(v: Values) -> Robot:
    """§7.3.3: the loop cut open at joint 4, links 1', 2', 3' on one branch and 1'' on the other, without motors."""
    links = [planar_body(f"{i}p", v[f"m{i}p"], v[f"l{i}p"], v[f"I{i}p"]) for i in (1, 2, 3)]
    other = planar_body("1pp", v["m1pp"], v["l1pp"], v["I1pp"])
    joints = [
        turning("th1p", "base", "1p", 0.0),
        turning("th2p", "1p", "2p", v["a1p"]),
        turning("th3p", "2p", "3p", v["a2p"]),
        turning("th1pp", "base", "1pp", 0.0),
    ]
    return Robot.from_parts("parallelogram", [Link("base"), *links, other], joints, gravity=(0, -v["g"], 0))


def parallelogram(v: Values) -> dal.Mechanism:
    """The same, closed by θ2' = θ1'' − θ1' and θ3' = π − θ1'' + θ1', in the angles θ1' and θ1''."""
    turns = (JointSum({"th1p": 1.0, "th2p": 1.0, "th1pp": -1.0}), 0.0), (JointSum({"th2p": 1.0, "th3p": 1.0}), np.pi)
    loop = dal.Closure("loop", "function", functions=turns)
    return dal.Mechanism("parallelogram", parallelogram_tree(v), [loop], ["th1p", "th1pp"])


def planar_body(name: str, mass: float, l: float, moment: float) -> Link:
    """A link whose frame is at its joint axis, the centre of mass at l along x."""
    return Link(name, mass, np.array([l, 0, 0]), np.diag([0, 0, moment]))


def turning(name: str, parent: str, child: str, x: float) -> Joint:
    """A joint about z at x on its parent."""
    origin = np.eye(4)
    origin[0, 3] = x
    return Joint(name, "revolute", parent, child, origin=origin)
