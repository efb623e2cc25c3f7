"""Tables 1 and 2 of [Milicevic] on an arm RRPRR: in the base frame and in link frames."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as dal
from tests.golden.newton_euler_tables import table_1, table_2
from tests.golden.reading import golden, robot_of
from tests.robots import relative_error

TOLERANCE = 1e-12  # relative: the same steps in another order
CASES = golden("milicevic_newton_euler")["cases"]
SAMPLE = CASES["003.sample"]["value"]
ROBOT = SAMPLE["case"]["robot"]
STATE = [np.array(SAMPLE["case"][key]) for key in ("q", "qd", "qdd")]
NAMES = {"omega": "omega", "domega": "domega", "vdot": "pdd", "abar": "pdd_C", "f": "f", "n": "mu"}  # theirs: ours


def test_the_sample_s_steps_in_link_frames_are_the_trace_s() -> None:
    """003.table2: what the oracle found, link by link."""
    assert CASES["003.table2"]["erratum"] == "E003-04"
    found = dal.terms(robot_of(ROBOT), *STATE, formulation="newton_euler")
    for theirs, ours in NAMES.items():
        expected = np.array([link[theirs] for link in SAMPLE["link_frame_recursion"]])
        assert relative_error(found[ours], expected) < CASES["003.sample"]["tol"], theirs


@pytest.mark.parametrize(("formulation", "table"), [("newton_euler_base", table_1), ("newton_euler", table_2)])
def test_a_table_transcribed_has_the_steps_of_the_trace(formulation: str, table) -> None:
    """003.table1 in base axes, 003.table2 in link axes."""
    found = dal.terms(robot_of(ROBOT), *STATE, formulation=formulation)
    for name, expected in table(ROBOT, *STATE).items():
        assert relative_error(found[name], expected) < TOLERANCE, name


@pytest.mark.parametrize("formulation", ["newton_euler", "newton_euler_base"])
def test_the_sample_s_torques_and_terms_are_the_oracle_s(formulation: str) -> None:
    robot, (q, qd, qdd) = robot_of(ROBOT), STATE
    tolerance = CASES["003.sample"]["tol"]
    c = dal.gravity_torque(robot, q, formulation=formulation)
    assert relative_error(dal.inverse_dynamics(robot, q, qd, qdd, formulation=formulation), np.array(SAMPLE["tau"])) < tolerance
    assert relative_error(dal.mass_matrix(robot, q, formulation=formulation), np.array(SAMPLE["D"])) < tolerance
    assert relative_error(dal.bias(robot, q, qd, formulation=formulation) - c, np.array(SAMPLE["h"])) < tolerance
    assert relative_error(c, np.array(SAMPLE["c"])) < tolerance
