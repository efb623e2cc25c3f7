"""Identities of the dynamics in the directions of tasks, on random robots and on mechanisms [theory: operational_space]."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.dynamics.recipes_operational import OPERATIONAL
from dalembert.dynamics.system import Recipe
from dalembert.dynamics.task_directions import task_directions
from dalembert.expr.differentiate import jvp
from tests.robots import FRICTIONLESS, random_robot, relative_error

TOLERANCE = 1e-9  # of what conditions of up to 1e3 leave of 16 digits, in products of inverses
ROBOTS = range(8)
MECHANISMS = {
    "five_bar": ("link2", (0.2, 0.05, 0.0), ("x", "y")),
    "stewart": (None, None, None),
    "delta": (None, None, ("x", "y", "z")),
}


def task_of(rng, robot):
    """A link, a point in it and directions that the robot can serve there, at a state where the task is no worse than 1:300."""
    for _ in range(200):
        link = str(rng.choice(robot.link_names))
        names = rng.permutation(["x", "y", "z", "rx", "ry", "rz"])[: rng.integers(1, min(robot.n, 6) + 1)]
        q, qd = rng.uniform(-1, 1, robot.n), rng.normal(size=robot.n)
        options = {"link": link, "point": rng.uniform(-0.2, 0.2, 3), "directions": tuple(map(str, names))}
        rows = ["xyz".find(n) if len(n) == 1 else 3 + "xyz".find(n[1]) for n in names]
        J = dal.jacobian(robot, q, link, point=options["point"])[rows]
        values = np.linalg.svd(J, compute_uv=False)
        if values[-1] > values[0] / 300 and values[-1] > 1e-3:
            return q, qd, options
    raise AssertionError("no task was found")


@cache
def state_of(name):
    """System, state and options: of a random robot by its seed, of a mechanism by its name."""
    if isinstance(name, int):
        rng = np.random.default_rng(name)
        robot = random_robot(rng, int(rng.integers(3, 9)), FRICTIONLESS)
        return robot, *task_of(rng, robot)
    link, point, directions = MECHANISMS[name]
    mechanism = getattr(dal.mechanisms, name)()
    qd = np.random.default_rng(3).normal(size=mechanism.n)
    return mechanism, mechanism.q0, qd, {"link": link, "point": point, "directions": directions}


@pytest.fixture(params=[*ROBOTS, *MECHANISMS], ids=lambda name: f"robot {name}" if name in ROBOTS else name)
def state(request):
    return state_of(request.param)


@pytest.mark.usefixtures("interpreted")
class TestIdentities:
    """One kernel each, run by NumPy."""

    def test_inertia_is_the_inverse_of_the_mobility_and_the_inverse_jacobian_is_consistent(self, state):
        system, q, qd, options = state
        task, M = dal.operational_space(system, q, qd, **options), dal.mass_matrix(system, q)
        size = np.eye(len(task.directions))
        assert np.abs(task.Lambda @ task.J @ np.linalg.solve(M, task.J.T) - size).max() < TOLERANCE
        assert np.abs(task.J @ task.J_bar - size).max() < TOLERANCE
        assert np.abs(task.J @ task.N).max() < TOLERANCE * max(1.0, np.abs(task.J_bar).max())
        assert relative_error(task.N @ task.N, task.N) < TOLERANCE
        assert relative_error(np.linalg.solve(M, task.N.T), task.N @ np.linalg.inv(M)) < TOLERANCE

    def test_torques_give_the_task_its_acceleration_whatever_is_done_in_its_null_space(self, state):
        system, q, qd, options = state
        task, rng = dal.operational_space(system, q, qd, **options), np.random.default_rng(1)
        xdd, tau0 = rng.normal(size=len(task.directions)), rng.normal(size=len(q)) * 10
        for tau in (task.torque(xdd), task.torque(xdd, tau0=tau0)):
            qdd = np.linalg.solve(dal.mass_matrix(system, q), tau - dal.bias(system, q, qd))
            assert relative_error(task.J @ qdd + task.Jdot_qd, xdd) < TOLERANCE * 10  # q̈ is of the size of a hundred
            assert relative_error(task.acceleration(tau), xdd) < TOLERANCE

    def test_the_rate_of_inertia_less_twice_the_coriolis_matrix_is_skew_symmetric(self, state):
        """Λ̇ is taken from the traced graph of Λ, so that it is exact and knows nothing of C and J̇."""
        system, q, qd, options = state
        task = dal.operational_space(system, q, qd, coriolis=True, **options)
        rate = rate_of_inertia(system, q, qd, options)
        skew = rate - 2.0 * task.C
        assert np.abs(skew + skew.T).max() < TOLERANCE * np.abs(rate).max()

    def test_the_coriolis_matrix_gives_the_load_where_nothing_moves_in_the_null_space(self, state):
        system, q, qd, options = state
        along = dal.operational_space(system, q, **options)
        qd = along.J_bar @ (along.J @ qd)
        task = dal.operational_space(system, q, qd, coriolis=True, **options)
        assert relative_error(task.mu, task.C @ task.J @ qd) < TOLERANCE * 10


def rate_of_inertia(system, q, qd, options):
    """The derivative of Λ along q̇, by differentiating the graph of Λ, through the positions of a mechanism too."""
    given = {name: value for name, value in options.items() if name != "point"}
    task = task_directions(**given, with_point=options["point"] is not None)
    recipe = engine.system_of(system).recipe(engine.request_of(OPERATIONAL, ((task,), False)))

    def function(q, qd, *point):
        return [jvp(list(row), list(q), list(qd)) for row in recipe.function(q, *point)[0]]

    rate = Recipe(function, {"q": (len(q),), "qd": (len(q),), **recipe.inputs}, ["rate"])
    point = [] if options["point"] is None else [options["point"]]
    return engine.built(system, rate, "rate")(q, qd, *point)
