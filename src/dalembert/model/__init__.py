"""The robot model: frozen structure and parameters, checked when built."""

from .drive_trains import DriveTrain
from .motors import Motor
from .parts import JOINT_TYPES, Body, Friction, Joint, Limits, Link, Mimic, Rotor
from .robot import Robot
from .robot_data import Parameters, Structure, Tool

__all__ = [
    "JOINT_TYPES",
    "Body",
    "DriveTrain",
    "Friction",
    "Joint",
    "Limits",
    "Link",
    "Mimic",
    "Motor",
    "Parameters",
    "Robot",
    "Rotor",
    "Structure",
    "Tool",
]
