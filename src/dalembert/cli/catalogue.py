"""`dalembert list`: the catalogue."""

from __future__ import annotations

from . import terminal
from .sheets import print_sheets, sheet

# Joints (R turns, P slides) and a line about each robot, so that the list needs neither NumPy nor the robots themselves.
ROBOTS = {
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


def run(*, json: bool) -> None:
    """Print the catalogue."""
    if json:
        terminal.print_json([_entry(name, *about) for name, about in ROBOTS.items()])
        return
    rows = [(name, joints, len(joints), about) for name, (joints, about) in ROBOTS.items()]
    print_sheets(sheet("Catalogue", ["name", "joints", "n", "about"], rows, left=4))


def _entry(name: str, joints: str, about: str) -> dict[str, object]:
    return {"name": name, "joints": joints, "n": len(joints), "about": about}
