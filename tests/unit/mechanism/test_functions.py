"""Every function that takes a system takes a mechanism, or says in a sentence why not.

What the functions say is compared with each other, and with differences of order eight of what tests/mechanism_oracle.py checks.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.formulations import FORMULATIONS
from tests.mechanism_cases import CASES
from tests.unit.export import octave
from tests.unit.export.programs import COMPILER, Compiled

pytestmark = pytest.mark.slow

TOLERANCE = 1e-9
DIFFERENCES = 1e-8  # of order eight, steps of 1e-3: 1e-13 of rounding by the step, times derivatives of some tens
WEIGHTS = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
STEP = 1e-3
ONE = pytest.mark.parametrize("case", ["four_bar"], indirect=True)
WRENCH = [3.0, -2.0, 5.0, 0.4, -0.3, 0.2]


@pytest.fixture(scope="module", params=["four_bar", "five_bar_tool"])
def case(request: pytest.FixtureRequest) -> tuple[dal.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    """A mechanism and four states near where it is assembled."""
    mechanism = CASES[request.param]()
    rng = np.random.default_rng(5)
    q = mechanism.q0 + rng.uniform(-0.05, 0.05, (4, mechanism.n))
    return mechanism, q, *rng.uniform(-1.5, 1.5, (2, 4, mechanism.n))


def close(found: Any, expected: Any, tolerance: float = TOLERANCE) -> None:
    expected = np.asarray(expected)
    assert np.shape(found) == expected.shape
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max(initial=0.0)))


def difference(function: Callable[[Any], Any], at: np.ndarray) -> np.ndarray:
    """Derivatives by the last axis of `at`, as a last axis of the result."""
    columns = []
    for e in STEP * np.eye(at.shape[-1]):
        columns.append(sum(c * (function(at + k * e) - function(at - k * e)) for k, c in WEIGHTS.items()) / STEP)
    return np.stack(columns, axis=-1)


def along(function: Callable[[float], Any]) -> np.ndarray:
    """The derivative by time at zero."""
    return sum(c * (function(k * STEP) - function(-k * STEP)) for k, c in WEIGHTS.items()) / STEP


def test_dynamics_are_made_of_their_parts(case):
    mechanism, q, qd, qdd = case
    M, tau = dal.mass_matrix(mechanism, q), dal.inverse_dynamics(mechanism, q, qd, qdd)
    h, g, friction = dal.bias(mechanism, q, qd), dal.gravity_torque(mechanism, q), dal.friction_torque(mechanism, qd, q=q)
    close(np.einsum("...ij,...j->...i", M, qdd) + h + friction, tau)
    close(np.einsum("...ij,...j->...i", dal.coriolis_matrix(mechanism, q, qd), qd) + g, h)
    close(dal.forward_dynamics(mechanism, q, qd, tau), qdd)
    kinetic, potential = dal.energy(mechanism, q, qd)
    close(kinetic, np.einsum("...i,...ij,...j", qd, M, qd) / 2)
    close(difference(lambda q: dal.energy(mechanism, q, qd).potential, q), g, DIFFERENCES)
    by_q, momentum, by_potential = dal.energy_gradient(mechanism, q, qd)
    close(momentum, np.einsum("...ij,...j->...i", M, qd))
    power = np.sum((by_q + by_potential) * qd + momentum * qdd, axis=-1)
    close(power, np.sum((tau - friction) * qd, axis=-1))
    assert potential.shape == (4,)


def test_the_mass_matrix_and_its_rates(case):
    mechanism, q, qd, _ = case
    slopes = difference(lambda q: dal.mass_matrix(mechanism, q), q)
    C, c = dal.coriolis_matrix(mechanism, q, qd), dal.christoffel(mechanism, q)
    N = np.einsum("...ijk,...k->...ij", slopes, qd) - 2 * C
    close(N, -np.swapaxes(N, -1, -2), DIFFERENCES)
    close(c, np.swapaxes(c, -1, -2))
    close(c, (slopes + np.swapaxes(slopes, -1, -2) - np.einsum("...jki->...ijk", slopes)) / 2, DIFFERENCES)
    close(np.einsum("...ijk,...k->...ij", c, qd), C)


@pytest.mark.parametrize("formulation", [name for name in FORMULATIONS if name != "newton_euler"])
@ONE
def test_formulations_agree(case, formulation):
    mechanism, q, qd, qdd = case
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd)
    close(dal.inverse_dynamics(mechanism, q, qd, qdd, formulation=formulation), tau)
    close(dal.forward_dynamics(mechanism, q, qd, tau, formulation=formulation), qdd)
    close(dal.gravity_torque(mechanism, q, formulation=formulation), dal.gravity_torque(mechanism, q))
    if FORMULATIONS[formulation].terms:
        assert dal.terms(mechanism, q, qd, qdd, formulation=formulation)


def test_derivatives_of_the_dynamics(case):
    mechanism, q, qd, qdd = case
    found = dal.derivatives(mechanism, q, qd, qdd)
    close(found.dtau_dq, difference(lambda q: dal.inverse_dynamics(mechanism, q, qd, qdd), q), DIFFERENCES)
    close(found.dtau_dqd, difference(lambda qd: dal.inverse_dynamics(mechanism, q, qd, qdd), qd), DIFFERENCES)
    close(found.dtau_dqdd, dal.mass_matrix(mechanism, q))
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd)
    back = dal.derivatives(mechanism, q, qd, tau=tau)
    close(back.dqdd_dq, difference(lambda q: dal.forward_dynamics(mechanism, q, qd, tau), q), DIFFERENCES)
    close(back.dqdd_dqd, difference(lambda qd: dal.forward_dynamics(mechanism, q, qd, tau), qd), DIFFERENCES)
    close(back.dqdd_dtau, np.linalg.inv(dal.mass_matrix(mechanism, q)))


def test_second_derivatives(case):
    mechanism, q, qd, qdd = case
    found = dal.second_derivatives(mechanism, q, qd, qdd)
    close(found.d2tau_dqdq, difference(lambda q: dal.derivatives(mechanism, q, qd, qdd).dtau_dq, q), DIFFERENCES)
    mixed = difference(lambda q: dal.derivatives(mechanism, q, qd, qdd).dtau_dqd, q)
    close(found.d2tau_dqdqd, np.swapaxes(mixed, -1, -2), DIFFERENCES)
    close(found.d2tau_dqddqd, difference(lambda qd: dal.derivatives(mechanism, q, qd, qdd).dtau_dqd, qd), DIFFERENCES)
    close(found.dM_dq, difference(lambda q: dal.mass_matrix(mechanism, q), q), DIFFERENCES)


def test_kinematics_are_differences_of_poses(case):
    mechanism, q, qd, _ = case
    link = mechanism.link_names[-1]
    poses = dal.forward_kinematics(mechanism, q, list(mechanism.link_names))
    close(poses[:, -1], dal.forward_kinematics(mechanism, q, link))
    J = dal.jacobian(mechanism, q, link)
    close(J[:, :3], difference(lambda q: dal.forward_kinematics(mechanism, q, link)[..., :3, 3], q), DIFFERENCES)
    turning = difference(lambda q: dal.forward_kinematics(mechanism, q, link)[..., :3, :3], q)
    spin = np.einsum("sijn,skj->sikn", turning, dal.forward_kinematics(mechanism, q, link)[..., :3, :3])
    close(J[:, 3:], np.stack([spin[:, 2, 1], spin[:, 0, 2], spin[:, 1, 0]], axis=1), DIFFERENCES)
    for frame in ("world", "body"):
        rate = np.einsum("...ijk,...k->...ij", difference(lambda q: dal.jacobian(mechanism, q, link, frame=frame), q), qd)  # noqa: B023
        close(dal.jacobian_dot(mechanism, q, qd, link, frame=frame), rate, DIFFERENCES)
    assert dal.analytical_jacobian(mechanism, q, link, angles="quaternion").shape == (4, 7, mechanism.n)


def test_motions_of_links_up_to_the_jerk(case):
    mechanism, q, qd, qdd = case
    qddd, link = 0.5 * qdd, mechanism.link_names[-1]

    def moved(t: float) -> tuple[np.ndarray, ...]:
        return q + t * qd + t**2 / 2 * qdd + t**3 / 6 * qddd, qd + t * qdd + t**2 / 2 * qddd, qdd + t * qddd

    found = dal.link_motion(mechanism, q, qd, qdd, qddd=qddd, link=link)
    close(found.velocity[..., :3], along(lambda t: dal.forward_kinematics(mechanism, moved(t)[0], link)[..., :3, 3]), DIFFERENCES)
    close(found.acceleration, along(lambda t: dal.link_motion(mechanism, *moved(t), link=link).velocity), DIFFERENCES)
    close(found.jerk, along(lambda t: dal.link_motion(mechanism, *moved(t), link=link).acceleration), DIFFERENCES)


@pytest.mark.parametrize("kind", ["link", "point", "rotation"])
def test_influence_coefficients_of_three_orders(case, kind):
    mechanism, q, _, _ = case
    link = mechanism.link_names[-1]
    found = dal.influence(mechanism, q, link, order=3, kind=kind)
    close(found.H, difference(lambda q: dal.influence(mechanism, q, link, order=1, kind=kind).G, q), DIFFERENCES)
    close(found.D, difference(lambda q: dal.influence(mechanism, q, link, order=2, kind=kind).H, q), DIFFERENCES)


@ONE
def test_parameters(case):
    """Springs and dampers are no parameters; asymmetric friction has an offset."""
    mechanism, q, qd, qdd = case
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd)
    inside = dal.applied_torque(mechanism, q, qd, springs=mechanism.springs, dampers=mechanism.dampers)
    phi = dal.parameters(mechanism, offset=True)
    close(dal.regressor(mechanism, q, qd, qdd, offset=True) @ phi, tau + inside)
    assert len(dal.parameter_names(mechanism, offset=True)) == len(phi)
    phi = dal.parameters(mechanism)
    close(dal.inverse_dynamics(mechanism, q, qd, qdd, parameters=phi), tau)
    close(dal.forward_dynamics(mechanism, q, qd, tau, parameters=phi), qdd)
    Y = dal.parameter_derivatives(mechanism, q, qd, qdd)
    other = phi * np.random.default_rng(1).uniform(0.9, 1.1, len(phi))
    close(dal.inverse_dynamics(mechanism, q, qd, qdd, parameters=other), tau + Y @ (other - phi))
    M = dal.mass_matrix(mechanism, q)
    close(dal.parameter_derivatives(mechanism, q, qd, tau=tau), -np.linalg.solve(M, Y))


@ONE
def test_contributions_add_up(case):
    mechanism, q, qd, qdd = case
    wrenches = {mechanism.link_names[-1]: WRENCH}
    found = dal.contributions(mechanism, q, qd, qdd, wrenches=wrenches)
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd, wrenches=wrenches)
    for parts in (found.by_cause, found.by_joint, found.by_nature, found.by_link):
        close(sum(parts.values()), tau)


@ONE
def test_centroidal_momentum(case):
    """Its rate is weight and reaction; its linear part the mass times the rate of the centre of mass."""
    mechanism, q, qd, _ = case
    found = dal.centroidal_momentum(mechanism, q, qd)
    close(found.momentum, np.einsum("...ij,...j->...i", found.momentum_matrix, qd))
    rate = along(lambda t: dal.centroidal_momentum(mechanism, q + t * qd, qd).centre_of_mass)
    tree = dal.centroidal_momentum(mechanism.robot, mechanism.assemble(q).x, np.zeros(mechanism.robot.n))
    close(found.centre_of_mass, tree.centre_of_mass)
    masses = np.sum(found.momentum[:, :3] * rate, axis=-1) / np.sum(rate * rate, axis=-1)
    close(masses, np.full(4, masses[0]), 1e-7)  # a quotient of small numbers


@ONE
def test_several_at_once_and_in_single_precision(case):
    mechanism, q, qd, qdd = case
    tau = dal.inverse_dynamics(mechanism, q, qd, qdd)
    found = dal.evaluate(mechanism, ["M", "h", "tau", "g"], q, qd, qdd)
    close(found["tau"], tau)
    close(found["M"], dal.mass_matrix(mechanism, q))
    close(dal.kernel(mechanism, ["g"])(q), dal.gravity_torque(mechanism, q))
    single = dal.kernel(mechanism, ["tau"], dtype="float32")
    given = [x.astype(np.float32) for x in (q, qd, qdd)]
    assert single(*given).dtype == np.float32
    close(single(*given), tau, 2e-3)  # 1e-7, times the condition of some thousand


@ONE
def test_exported_code_runs(case, tmp_path: Path):
    mechanism, q, qd, qdd = case
    tau, name = dal.inverse_dynamics(mechanism, q, qd, qdd), f"{mechanism.name.replace('-', '_')}_inverse_dynamics"
    space: dict[str, Any] = {}
    exec(dal.export_code(mechanism, "inverse_dynamics", language="python"), space)
    close(space[name](q, qd, qdd), tau)
    if COMPILER is not None:
        program = engine.program(mechanism, "inverse_dynamics", rolled=False)
        (found,) = Compiled(dal.export_code(mechanism, "inverse_dynamics"), tmp_path).run(name, program, [q, qd, qdd])
        close(found, tau)
    if octave.OCTAVE is not None:
        text = dal.export_code(mechanism, "inverse_dynamics", language="matlab")
        (found,) = octave.run(octave.call(name, [q[0], qd[0], qdd[0]]), {name: text}, tmp_path)
        close(np.ravel(found), tau[0])


def test_positions_that_exported_code_does_not_find_are_nan():
    mechanism = CASES["four_bar"]()
    space: dict[str, Any] = {}
    exec(dal.export_code(mechanism, "gravity_torque", language="python"), space)
    assert np.isnan(space["four_bar_gravity_torque"](np.array([[1.2], [40.0]]))).ravel().tolist() == [False, True]


def test_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    mechanism = CASES["four_bar"]()
    q = mechanism.q0 + 0.1
    close(dal.to_jax(mechanism, "gravity_torque")(q), dal.gravity_torque(mechanism, q))


@ONE
def test_equations_are_a_program_that_computes_what_they_say(case):
    mechanism, q, _, _ = case
    found = dal.equations(mechanism, ("M", "g"), symbols=())
    assert "M" in found.text()
    assert found.latex()
    functions = {
        "sin": np.sin,
        "cos": np.cos,
        "sqrt": np.sqrt,
        "fabs": abs,
        "where": np.where,
        "lt": np.less,
        "le": np.less_equal,
    }
    space: dict[str, Any] = {**functions, **{f"q_{k}": value for k, value in enumerate(q[0], 1)}}
    exec(found.python(), space)
    n = mechanism.n
    close(
        [
            [
                space[f"M_{max(i, j)}_{min(i, j)}"] if f"M_{max(i, j)}_{min(i, j)}" in space else space[f"M_{i}_{j}"]
                for j in range(1, n + 1)
            ]
            for i in range(1, n + 1)
        ],
        dal.mass_matrix(mechanism, q[0]),
    )
    close([space[f"g_{k}"] for k in range(1, n + 1)], dal.gravity_torque(mechanism, q[0]))


def test_equations_of_iterated_positions_have_no_closed_form():
    with pytest.raises(dal.DalembertError, match=r"positions of 'four-bar' are found by iteration.* Try form='program'"):
        dal.equations(CASES["four_bar"](), form="closed")


@pytest.mark.parametrize("name", ["four_bar", "three_rrr", "geared"])
def test_properties_hold(name):
    assert dal.properties(CASES[name](), samples=8).hold


def test_properties_hold_far_from_the_seed():
    """A crank turns fully: positions are found there by steps on the way, which written out code does not take."""
    assert dal.properties(dal.mechanisms.crank_rocker(), samples=20).hold


def test_analysis():
    mechanism = CASES["four_bar"]()
    found = dal.compare(mechanism, samples=3, time=False)
    assert found.largest_difference < TOLERANCE
    assert len(found.rows) == len(FORMULATIONS)
    assert dal.complexity(mechanism)["newton_euler"].customised.flops > 0
    box = dal.Workspace.of(mechanism)
    assert mechanism.assemble([box.lower, box.upper]).found.all()
    with pytest.raises(dal.DalembertError, match=r"simplify_model: the positions of 'four-bar' are found by iteration"):
        dal.simplify_model(mechanism)


def test_what_is_for_robots_only_says_so():
    mechanism = CASES["four_bar"]()
    refused = {
        "progressive": lambda: dal.progressive(mechanism),
        "attach": lambda: dal.attach(mechanism, dal.Body("b", 1.0)),
        "detach": lambda: dal.detach(mechanism, "b"),
        "gather": lambda: dal.gather("all", {"a": mechanism}),
    }
    for call in refused.values():
        with pytest.raises(dal.DalembertError, match="Robot"):
            call()
    with pytest.raises(dal.DalembertError, match=r"constraint_forces: .* has no closures"):
        dal.constraint_forces(dal.robots.pendulum(), [0.1], [0.0], [0.0])
    with pytest.raises(dal.DalembertError, match="q"):
        dal.friction_torque(mechanism, [0.1])
    assert dal.recursion(mechanism, mechanism.q0, [0.1], [0.2]).f.shape[-1] == 3


def test_applied_torques(case):
    """A wrench does at the coordinates what the Jacobian says; a spring what the slope of its energy says."""
    mechanism, q, _, _ = case
    link = mechanism.link_names[-1]
    J = dal.jacobian(mechanism, q, link)
    close(dal.applied_torque(mechanism, q, wrenches={link: WRENCH}), np.einsum("sij,i->sj", J, WRENCH))
    spring = dal.Spring(30.0, joint=mechanism.robot.joint_names[1], rest=0.1)

    def energy(q: np.ndarray) -> np.ndarray:
        return 15.0 * (mechanism.assemble(q).x[..., 1] - 0.1) ** 2

    close(dal.applied_torque(mechanism, q, springs=[spring]), -difference(energy, q), DIFFERENCES)
