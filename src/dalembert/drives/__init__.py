"""Motors at work: currents and voltages of a motion, electrical simulation, state space, and which motor would do."""

from __future__ import annotations

from .electrical_motion import simulate_motors
from .motor_choice import MotorTable, motor_table
from .motor_linearization import linearize_motors
from .nominal_voltages import NominalVoltage, nominal_voltage

__all__ = [
    "MotorTable",
    "NominalVoltage",
    "linearize_motors",
    "motor_table",
    "nominal_voltage",
    "simulate_motors",
]
