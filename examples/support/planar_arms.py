"""Planar arms of two and three links, with which [Siciliano, §7.8, §7.9] are worked out."""

import dalembert as dal

LINKS = ((0.5, 4.0, 0.12), (0.4, 3.0, 0.06), (0.3, 2.0, 0.03))  # length, mass, inertia about the centre of each link
XY = ("x", "y")


def planar(count: int) -> dal.Robot:
    """Links in a vertical plane, their centres half way."""
    rows = [{"a": a, "mass": m, "com": (-a / 2, 0, 0), "inertia": (0, 0, inertia)} for a, m, inertia in LINKS[:count]]
    return dal.from_dh(rows, convention="standard", gravity=(0, -9.81, 0), name=f"planar arm, {count} links")
