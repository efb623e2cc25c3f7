"""Several tasks in the order of their priority; interpreted, but for a batch that is compiled."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from dalembert.errors import ModelError, ShapeError, SingularError
from tests.robots import fresh, relative_error

pytestmark = pytest.mark.usefixtures("interpreted")

Q, QD = np.array([0.1, 0.3, 0.2, -1.5, 0.1, 1.8, 0.4]), np.array([0.5, -0.3, 0.2, 0.8, -0.6, 0.4, 0.9])
HAND, ELBOW, TURN = {"directions": ("x", "y", "z")}, {"link": "link4", "directions": ("z",)}, {"directions": ("rx", "rz")}


@pytest.fixture(scope="module")
def panda():
    return fresh("panda")


def accelerations(robot, found, tau):
    qdd = np.linalg.solve(dal.mass_matrix(robot, Q), tau - dal.bias(robot, Q, QD))
    return [task.J @ qdd + task.Jdot_qd for task in found.tasks]


@pytest.mark.slow
def test_three_tasks_that_fit_are_all_served_whatever_is_done_in_what_they_leave_free(panda, rng):
    found = dal.prioritised_tasks(panda, Q, QD, tasks=[HAND, ELBOW, TURN])
    wanted = [[1.0, 2.0, 3.0], [4.0], [-1.0, 0.5]]
    tau = found.torque(wanted, tau0=rng.normal(size=7) * 5)
    for got, want in zip(accelerations(panda, found, tau), wanted, strict=True):
        assert got == pytest.approx(want, abs=1e-8)  # condition 100 of the last task, torques of a hundred N m


def test_what_later_tasks_want_does_not_disturb_earlier_ones(panda, rng):
    found = dal.prioritised_tasks(panda, Q, QD, tasks=[HAND, ELBOW])
    for _ in range(3):
        tau = found.torque([[1.0, 0.0, -1.0], rng.normal(size=1) * 100], tau0=rng.normal(size=7) * 100)
        assert accelerations(panda, found, tau)[0] == pytest.approx([1.0, 0.0, -1.0], abs=1e-8)


def test_the_first_task_is_that_of_operational_space(panda):
    found = dal.prioritised_tasks(panda, Q, QD, tasks=[HAND, ELBOW]).tasks[0]
    alone = dal.operational_space(panda, Q, QD, **HAND)
    for name in ("Lambda", "mu", "p", "J", "J_bar", "Jdot_qd"):
        assert relative_error(getattr(found, name), getattr(alone, name)) < 1e-12


def test_two_tasks_leave_free_what_both_together_leave_free(panda):
    """N of the stack does not depend on the order, as long as the tasks do not conflict."""
    one = dal.prioritised_tasks(panda, Q, tasks=[HAND, ELBOW])
    other = dal.prioritised_tasks(panda, Q, tasks=[ELBOW, HAND])
    assert np.abs(one.N - other.N).max() < 1e-10
    assert np.abs(np.vstack([task.J for task in one.tasks]) @ one.N).max() < 1e-10


def test_points_and_batches_are_served(rng, monkeypatch):
    monkeypatch.delenv("DALEMBERT_BACKEND")
    panda = fresh("panda")
    q = Q + rng.uniform(-0.1, 0.1, (4, 7))
    tasks = [HAND | {"point": [0.0, 0.1, 0.0]}, ELBOW | {"point": [0.1, 0.0, 0.0]}]
    found = dal.prioritised_tasks(panda, q, tasks=tasks)
    one = dal.prioritised_tasks(panda, q[2], tasks=tasks)
    assert relative_error(found.torque([[1, 2, 3], [4]])[2], one.torque([[1, 2, 3], [4]])) < 1e-11


@pytest.mark.slow
def test_inside_of_a_kernel_it_is_the_same(panda):
    model = dal.inside(panda)

    def function(q, qd, point, wanted):
        found = model.prioritised_tasks(q, qd, tasks=[HAND | {"point": point}, ELBOW])
        return found.torque([wanted, [4.0]], tau0=qd).tolist()

    run = dal.kernel(function, {"q": (7,), "qd": (7,), "point": (3,), "wanted": (3,)}, outputs=("tau",))
    outside = dal.prioritised_tasks(panda, Q, QD, tasks=[HAND | {"point": [0.0, 0.1, 0.0]}, ELBOW])
    expected = outside.torque([[1.0, 2.0, 3.0], [4.0]], tau0=QD)
    assert relative_error(run(Q, QD, [0.0, 0.1, 0.0], [1.0, 2.0, 3.0]), expected) < 1e-11


@pytest.mark.slow
def test_a_conflict_is_named_in_the_direction_that_is_taken_already(panda):
    again = {"directions": ("x",)}
    with pytest.raises(SingularError, match="no joint moves it along x while the task before is held"):
        dal.prioritised_tasks(panda, Q, tasks=[HAND, again])
    with pytest.warns(dal.DalembertWarning, match="2 of 2 rows are NaN.*while the task before is held"):
        assert np.isnan(dal.prioritised_tasks(panda, [Q, Q + 0.1], tasks=[HAND, again]).N).all()
    damped = dal.prioritised_tasks(panda, Q, tasks=[HAND, again], damping=0.01)
    assert damped.damped
    assert "damping=0.01" in repr(damped)


def test_what_is_no_list_of_tasks_is_refused(panda):
    for tasks in (HAND, [HAND], "xy"):
        with pytest.raises(ShapeError, match=r"two or more mappings expected\. For one task, try dal\.operational_space"):
            dal.prioritised_tasks(panda, Q, tasks=tasks)
    with pytest.raises(ShapeError, match="'x' found as number 1; a mapping expected"):
        dal.prioritised_tasks(panda, Q, tasks=[HAND, "x"])
    with pytest.raises(ModelError, match="'damping' found in number 1; known are link, point, frame, angles, directions"):
        dal.prioritised_tasks(panda, Q, tasks=[HAND, {"damping": 1}])
    with pytest.raises(ModelError, match="9 found .* has 7 coordinates"):
        dal.prioritised_tasks(panda, Q, tasks=[{}, HAND])
    with pytest.raises(ShapeError, match="accelerations: 1 found, 2 expected: one for each task"):
        dal.prioritised_tasks(panda, Q, tasks=[HAND, ELBOW]).torque([[1, 2, 3]])
