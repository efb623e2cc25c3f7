"""One configuration per Python call, as in a control loop: the time in the interpreter counts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import dalembert as dal
from dalembert.model import Robot

from . import agreement, bindings
from .effort import Effort
from .subjects import FUNCTIONS, States, arguments, plain, states
from .tables import Column, Table
from .timing import side_by_side, timer_of

ROBOT = "panda"
COLUMNS = (
    Column("quantity", "quantity"),
    Column("us", "dalembert [µs]", ".2f"),
    Column("pinocchio_us", "Pinocchio [µs]", ".2f"),
    Column("pinocchio_ratio", "ratio", ".1f"),
    Column("pinocchio_median_ratio", "median ratio", ".1f"),
    Column("mujoco_us", "MuJoCo [µs]", ".2f"),
    Column("mujoco_ratio", "ratio", ".1f"),
    Column("mujoco_median_ratio", "median ratio", ".1f"),
)


def measure(effort: Effort) -> Table:
    """The table of all quantities."""
    note = (
        "Each library called from Python on NumPy arrays of one state. Pinocchio: rnea, aba, crba, computeGeneralizedGravity, "
        "computeFrameJacobian, computeCoriolisMatrix, computeJointTorqueRegressor, computeRNEADerivatives, "
        "computeABADerivatives. MuJoCo: the state is assigned, mj_inverse or mj_forward called, the result copied."
    )
    table = Table("call", f"One call from Python ({ROBOT})", note, COLUMNS)
    robot = plain(dal.load(ROBOT))
    given = States(*(array[0].copy() for array in states(robot, 1)))
    others = {name: getattr(bindings, name)(robot) for name in ("pinocchio", "mujoco") if bindings.has(name)}
    table.records.extend(_record(robot, given, quantity, others, effort) for quantity in FUNCTIONS)
    return table


def _record(robot: Robot, given: States, quantity: str, others: dict[str, bindings.Functions], effort: Effort) -> dict[str, Any]:
    function, inputs = FUNCTIONS[quantity], arguments(quantity, given)
    calls = {name: functions[quantity] for name, functions in others.items() if quantity in functions}
    everyone = [partial(function, robot, *inputs), *(partial(call, *inputs) for call in calls.values())]
    for name, call in calls.items():
        agreement.compare(robot, given, quantity, np.asarray(call(*inputs)), name)
    timings = side_by_side([timer_of(call, effort.calls) for call in everyone], effort.seconds)
    record: dict[str, Any] = {"quantity": quantity, "us": 1e6 * timings.best()}
    for number, name in enumerate(calls, start=1):
        record[f"{name}_us"] = 1e6 * timings.best(number)
        record[f"{name}_ratio"] = timings.best_ratio(number)
        record[f"{name}_median_ratio"] = timings.median_ratio(number)
    return record
