"""`dalembert list`: the catalogue."""

from __future__ import annotations

from . import terminal
from .sheets import print_sheets, sheet

# Joints (R turns, P slides) and a line about each robot, so that the list needs neither NumPy nor the robots themselves.
ROBOTS = {
    "four_joint_planar": (
        "RRRR",
        "Four revolute joints in an upright plane, gravity along −y: one more than x, y and angle of the tip need",
    ),
    "panda": ("RRRRRRR", "Franka Emika Panda: seven revolute joints, modified DH, without hand; the tool frame is the flange"),
    "pelican": (
        "RR",
        "The Pelican of CICESE: two revolute joints in a vertical plane, gravity along −y, angles counted from the x axis",
    ),
    "pendulum": ("R", "A uniform rod of 1 kg and 1 m that hangs from a horizontal axis (y); q = 0 is hanging at rest, z is up"),
    "pr_arm": ("PR", "A slider along the horizontal x axis carrying a link that turns about z"),
    "puma560": ("RRRRRR", "Unimation PUMA 560: six revolute joints, standard DH, with reflected rotors and joint friction"),
    "scara": (
        "RRPR",
        "A SCARA: two revolute joints, a vertical quill and its rotation (RRPR), standard DH, prismatic joint pointing down",
    ),
    "stanford": (
        "RRPRRR",
        "The Stanford arm: two revolute joints, a prismatic one and a revolute wrist (RRPRRR), standard DH, drives reflected",
    ),
    "two_link_cartesian": ("PP", "Two prismatic joints, the first vertical, the second horizontal, with spinning rotors"),
    "two_link_planar": ("RR", "Two revolute joints in a vertical plane with spinning rotors"),
    "ur10": ("RRRRRR", "Universal Robots UR10: six revolute joints, standard DH; all numbers from the manufacturer"),
    "ur5": ("RRRRRR", "Universal Robots UR5: six revolute joints, standard DH"),
}
_SCREW_PRESS = (
    "A press: a motor drives a countershaft by a belt, this the spindle by gears, and the spindle a ram; coordinate: the motor"
)
# How many joints the tree has and how many coordinates the mechanism, and a line about each.
MECHANISMS = {
    "bricard": (5, 1, "Bricard's trihedral linkage of six equal bars, over-closed but mobile; coordinate: its first joint"),
    "crank_rocker": (
        3,
        1,
        "A four-bar linkage whose crank turns fully: bars of 0.2, 0.5, 0.4 m on pivots 0.5 m apart; coordinate: the crank",
    ),
    "delta": (
        12,
        3,
        "A delta robot of the FlexPicker's size, its rods as bodies; motors at angle 0 hold the arms level, positive is down",
    ),
    "delta_rods": (9, 3, "The same delta robot with six rods that only hold a distance; coordinates: the motors"),
    "five_bar": (4, 2, "The planar five-bar linkage of Tables C-1 to C-3, driven at any two of its joints"),
    "four_bar": (3, 1, "A planar four-bar linkage with friction, no bar of which turns fully; coordinate: the first bar's angle"),
    "hybrid": (
        12,
        6,
        "A platform on three legs in a level plane, with an arm of three joints on it; coordinates: ₁φ₁, ₂φ₁, ₃φ₁, φ₄, φ₅, φ₆",
    ),
    "parallelogram": (4, 2, "The parallelogram arm, cut open at its last joint; coordinates: the angles of both cranks"),
    "planar_3rrr": (7, 3, "The platform on three legs of Tables E-1 and E-2, in its base joints or in those of its platform"),
    "screw_press": (4, 1, _SCREW_PRESS),
    "six_freedom_planar": (
        12,
        6,
        "Three legs of four joints hold a platform in the plane; coordinates: the first joint of each leg, then the second",
    ),
    "slider_crank": (3, 1, "A slider-crank in the plane: crank of 0.05 m, rod of 0.15 m, a slider along x; the numbers are ours"),
    "spatial_slider_crank": (5, 2, "A slider-crank in space, whose coupler may spin about itself; coordinates: crank and spin"),
    "stewart": (
        24,
        6,
        "A Stewart platform (6-UPS): six legs that are driven along their length, on universal joints below, on balls above",
    ),
    "stewart_six_joint_legs": (
        36,
        6,
        "Six arms of six joints hold one platform; coordinates: the first joint of each arm, q = (₁φ₁ ... ₆φ₁)",
    ),
    "three_arms": (24, 6, "Three UR5 around a plate of 8 kg, each gripping it at its rim; coordinates: the pose of the plate"),
    "two_arms": (18, 6, "Two UR5 that face each other and hold a beam of 5 kg by both ends; coordinates: the pose of the beam"),
    "two_finger_hand": (7, 3, "Two fingers of two joints hold an object at two points; coordinates: x, y, yaw of the object"),
    "walking_machine": (7, 3, "A body on two legs whose feet stand still; coordinates: x, y, yaw of the body"),
}


def run(*, json: bool) -> None:
    """Print the catalogue."""
    if json:
        found = [_entry("robot", name, joints, len(joints), about) for name, (joints, about) in ROBOTS.items()]
        terminal.print_json(found + [_entry("mechanism", name, *about) for name, about in MECHANISMS.items()])
        return
    heads = ["name", "joints", "n", "about"]
    robots = [(name, joints, len(joints), about) for name, (joints, about) in ROBOTS.items()]
    mechanisms = [(name, *about) for name, about in MECHANISMS.items()]
    print_sheets(sheet("Robots", heads, robots, left=4), sheet("Mechanisms", heads, mechanisms, left=4))


def _entry(kind: str, name: str, joints: str | int, n: int, about: str) -> dict[str, object]:
    return {"name": name, "kind": kind, "joints": joints, "n": n, "about": about}
