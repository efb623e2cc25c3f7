"""The robot model: frozen structure and parameters, checked when built."""

from .parts import JOINT_TYPES, Body, Friction, Joint, Limits, Link, Mimic, Rotor
from .robot import Robot
from .robot_data import Parameters, Structure, Tool

__all__ = [
    "JOINT_TYPES",
    "Body",
    "Friction",
    "Joint",
    "Limits",
    "Link",
    "Mimic",
    "Parameters",
    "Robot",
    "Rotor",
    "Structure",
    "Tool",
]
