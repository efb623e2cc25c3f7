"""`dalembert demo`: the PUMA 560 in a few seconds."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .. import dynamics as dyn
from .. import plots
from ..checks import FloatArray
from ..model import Robot
from ..robots import CATALOGUE
from . import dynamics, outputs, show, terminal
from .sheets import print_sheets

FIGURE = "dalembert-demo.png"
_START = np.radians([0.0, 90.0, -90.0, 0.0, 0.0, 0.0])
_END = np.radians([75.0, 20.0, -20.0, 60.0, 45.0, -90.0])
_DURATION, _REST = 1.2, 0.15  # [s]
_BATCH = 100_000


def run() -> None:
    """The arm, its dynamics at a pose, the speed of a batch, a figure."""
    picture = outputs.picture("demo", FIGURE)
    assert picture is not None
    robot = CATALOGUE["puma560"]()
    _heading("1. An arm of the catalogue: robot = dal.load('puma560')")
    print_sheets(*show.joint_tables(robot))
    _heading("2. Its torques in the middle of a motion: dal.inverse_dynamics(robot, q, qd, qdd)")
    t, states = motion()
    now = dynamics.GivenState(*(values[2 * len(t) // 5] for values in states))
    print_sheets(dynamics.state_table(robot, now), dynamics.torque_table(robot, now, dynamics.evaluate(robot, now)))
    _heading(f"3. The same call for {_BATCH:,} random configurations".replace(",", " "))
    best = batch_time(robot)
    terminal.say(f"  {best * 1e3:.1f} ms on all cores, best of five: {best / _BATCH * 1e9:.0f} ns per configuration")
    terminal.say()
    _heading("4. Joint torques along the motion, by cause")
    outputs.save_figure(draw(robot, t, states), picture)


def _heading(words: str) -> None:
    terminal.say((words, "bold green"))


def motion(samples: int = 301) -> tuple[FloatArray, dynamics.GivenState]:
    """A smooth motion between two rests: times, shape (k,), and q, q̇, q̈, each of shape (k, 6).

    q = q₀ + (q₁ − q₀) s(x) with s(x) = 10x³ − 15x⁴ + 6x⁵ and x from 0 to 1 while the arm moves; its velocity and
    acceleration vanish at both ends.
    """
    t = np.linspace(0.0, _DURATION + 2 * _REST, samples)
    x, way = np.clip((t - _REST) / _DURATION, 0.0, 1.0)[:, None], _END - _START
    s, sd, sdd = x**3 * (10 - 15 * x + 6 * x**2), 30 * (x * (1 - x)) ** 2, 60 * x * (1 - x) * (1 - 2 * x)
    return t, dynamics.GivenState(_START + way * s, way * sd / _DURATION, way * sdd / _DURATION**2)


def batch_time(robot: Robot) -> float:
    """Seconds of inverse dynamics of the whole batch, the best of five."""
    q, qd, qdd = np.random.default_rng(560).normal(size=(3, _BATCH, robot.n))
    out = np.empty_like(q)
    times = []
    for _ in range(5):
        start = time.perf_counter()
        dyn.inverse_dynamics(robot, q, qd, qdd, out=out)
        times.append(time.perf_counter() - start)
    return min(times)


def draw(robot: Robot, t: FloatArray, states: dynamics.GivenState) -> Any:
    """The figure: one panel per joint, each torque split by cause."""
    parts = dynamics.evaluate(robot, states).parts(states.qdd)
    figure = outputs.new_figure((9.6, 5.2), layout="constrained")
    axes = figure.subplots(2, 3, sharex=True)
    plots.contributions(t, parts, names=robot.joint_names, units=dynamics.torque_units(robot), axes=axes)
    return figure
