"""A system that is no robot, served by every function: a planar arm in absolute joint angles [Siciliano, Problem 7.6].

With the angle of each link against the x axis as its coordinate, u = (q₁, q₁ + q₂, ...), so q = φ(u) with q₁ = u₁ and
q_i = u_i − u_{i−1}. What the arm itself gives at q is mapped here by hand, with numbers: G = ∂φ/∂u is constant.
"""

from __future__ import annotations

import pickle
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import dalembert as dal
from dalembert.dynamics import engine
from dalembert.dynamics.quantities import QUANTITIES
from dalembert.dynamics.system import AS_IT_IS, Coordinate, Reading, Recipe, Request, System
from dalembert.dynamics.transferred import Transferred
from dalembert.formulations import FORMULATIONS
from dalembert.model import Friction, Rotor
from tests.unit.export import octave
from tests.unit.export.programs import COMPILER, Compiled

TOLERANCE = 1e-10
ARM = dal.robots.two_link_planar()
G = np.array([[1.0, 0.0], [-1.0, 1.0]])
WRENCH = {"tool": [1.0, -2.0, 0.5, 0.1, 0.2, 0.3]}


def positions(u: Any) -> list[Any]:
    """Joint angles of absolute ones."""
    return [u[0], *(b - a for a, b in pairwise(u))]


class AbsoluteAngles(Transferred):
    """A planar arm in the angles of its links."""

    def __init__(self, arm: dal.Robot) -> None:
        coordinates = [Coordinate(f"angle of link {k}") for k in range(1, arm.n + 1)]
        super().__init__(engine.tree_system(arm), coordinates, positions, "absolute")


@pytest.fixture(scope="module")
def arm() -> dal.Robot:
    """With smooth friction and rotors, so that these are mapped too."""
    joints = ARM.joint_names
    friction = {name: Friction(viscous=1.5, coulomb=0.7, width=0.1) for name in joints}
    rotors = {name: Rotor(ratio=50.0, inertia=0.01) for name in joints}
    return ARM.replace(name="arm", parameters=ARM.parameters.replace(friction=friction, rotors=rotors))


@pytest.fixture(scope="module")
def system(arm: dal.Robot) -> AbsoluteAngles:
    return AbsoluteAngles(arm)


@pytest.fixture
def u() -> np.ndarray:
    return np.random.default_rng(3).uniform(-1.0, 1.0, (3, 5, 2))  # u, u̇, ü of five states


def q_of(u: np.ndarray) -> np.ndarray:
    """Joint angles, or their rates, of absolute ones."""
    return u @ G.T


def assert_close(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found, expected, rtol=TOLERANCE, atol=TOLERANCE)


def test_it_is_a_system_and_no_robot(system: AbsoluteAngles) -> None:
    assert isinstance(system, System)
    assert not isinstance(system, dal.Robot)


@pytest.mark.slow
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_dynamics_in_absolute_angles(system: AbsoluteAngles, arm: dal.Robot, u: np.ndarray, formulation: str) -> None:
    given, (q, qd, qdd) = {"formulation": formulation}, q_of(u)
    tau = dal.inverse_dynamics(system, *u, **given)
    assert_close(tau, dal.inverse_dynamics(arm, q, qd, qdd) @ G)
    assert_close(dal.mass_matrix(system, u[0], **given), G.T @ dal.mass_matrix(arm, q) @ G)
    assert_close(dal.gravity_torque(system, u[0], **given), dal.gravity_torque(arm, q) @ G)
    assert_close(dal.bias(system, u[0], u[1], **given), dal.bias(arm, q, qd) @ G)
    assert_close(dal.forward_dynamics(system, u[0], u[1], tau, **given), u[2])
    products = np.einsum("...ij,...j->...i", dal.coriolis_matrix(system, u[0], u[1], **given), u[1])
    assert_close(products, (dal.bias(arm, q, qd) - dal.gravity_torque(arm, q)) @ G)
    assert_close(dal.christoffel(system, u[0], **given), np.einsum("...ijk,ia,jb,kc->...abc", dal.christoffel(arm, q), G, G, G))


def test_forces_from_around(system: AbsoluteAngles, arm: dal.Robot, u: np.ndarray) -> None:
    q, qd, qdd = q_of(u)
    base = {"base_velocity": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6], "base_acceleration": [0.6, 0.5, 0.4, 0.3, 0.2, 0.1]}
    for around in ({"wrenches": WRENCH}, base, {"parameters": 1.1 * dal.parameters(arm)}):
        tau = dal.inverse_dynamics(system, *u, **around)
        assert_close(tau, dal.inverse_dynamics(arm, q, qd, qdd, **around) @ G)
        assert_close(dal.forward_dynamics(system, u[0], u[1], tau, **around), u[2])
    assert_close(dal.friction_torque(system, u[1], q=u[0]), dal.friction_torque(arm, qd) @ G)
    spring = dal.Spring(200.0, between=("tool", ("world", (1.0, 0.0, 0.0))), rest=0.3)
    given = {"wrenches": WRENCH, "springs": [spring], "dampers": [dal.Damper(2.0, joint=arm.joint_names[1])], "gravity": True}
    assert_close(dal.applied_torque(system, u[0], u[1], **given), dal.applied_torque(arm, q, qd, **given) @ G)
    assert_close(dal.link_wrenches(system, *u), dal.link_wrenches(arm, q, qd, qdd))


@pytest.mark.slow
def test_kinematics(system: AbsoluteAngles, arm: dal.Robot, u: np.ndarray) -> None:
    q, qd, _ = q_of(u)
    assert_close(dal.forward_kinematics(system, u[0]), dal.forward_kinematics(arm, q))
    assert_close(dal.jacobian(system, u[0]), dal.jacobian(arm, q) @ G)
    assert_close(dal.jacobian(system, u[0], point=[0.1, 0.2, 0.3]), dal.jacobian(arm, q, point=[0.1, 0.2, 0.3]) @ G)
    assert_close(dal.jacobian_dot(system, u[0], u[1]), dal.jacobian_dot(arm, q, qd) @ G)
    assert_close(
        dal.analytical_jacobian(system, u[0], angles="quaternion"), dal.analytical_jacobian(arm, q, angles="quaternion") @ G
    )
    motions = (dal.link_motion(s, *x, qddd=x[2]) for s, x in ((system, u), (arm, q_of(u))))
    for found, expected in zip(*motions, strict=True):
        assert_close(found, expected)
    for kind in ("link", "point", "rotation"):
        found, expected = (dal.influence(s, x, order=3, kind=kind) for s, x in ((system, u[0]), (arm, q)))
        assert_close(found.G, expected.G @ G)
        assert_close(found.H, np.einsum("...rmn,ma,nb->...rab", expected.H, G, G))
        assert_close(found.D, np.einsum("...rlmn,la,mb,nc->...rabc", expected.D, G, G, G))


@pytest.mark.slow
def test_energies_and_derivatives(system: AbsoluteAngles, arm: dal.Robot, u: np.ndarray) -> None:
    q, qd, qdd = q_of(u)
    for found, expected in zip(dal.energy(system, u[0], u[1]), dal.energy(arm, q, qd), strict=True):
        assert_close(found, expected)
    for found, expected in zip(dal.energy_gradient(system, u[0], u[1]), dal.energy_gradient(arm, q, qd), strict=True):
        assert_close(found, expected @ G)
    tau = dal.inverse_dynamics(arm, q, qd, qdd)
    for found, expected in zip(dal.derivatives(system, *u), dal.derivatives(arm, q, qd, qdd), strict=True):
        assert_close(found, G.T @ expected @ G)
    back = np.linalg.inv(G)
    by_q, by_qd, by_tau = dal.derivatives(arm, q, qd, tau=tau)
    found = dal.derivatives(system, u[0], u[1], tau=tau @ G)
    assert_close(found.dqdd_dq, back @ by_q @ G)
    assert_close(found.dqdd_dqd, back @ by_qd @ G)
    assert_close(found.dqdd_dtau, back @ by_tau @ back.T)
    for found, expected in zip(dal.second_derivatives(system, *u), dal.second_derivatives(arm, q, qd, qdd), strict=True):
        assert_close(found, np.einsum("...ijk,ia,jb,kc->...abc", expected, G, G, G))


def test_regressor_and_parameters(system: AbsoluteAngles, arm: dal.Robot, u: np.ndarray) -> None:
    q, qd, qdd = q_of(u)
    assert_close(dal.regressor(system, *u), G.T @ dal.regressor(arm, q, qd, qdd))
    assert dal.parameter_names(system) == dal.parameter_names(arm)
    assert_close(dal.parameters(system, offset=True), dal.parameters(arm, offset=True))
    tau = dal.inverse_dynamics(arm, q, qd, qdd)
    expected = dal.parameter_derivatives(arm, q, qd, tau=tau)
    assert_close(dal.parameter_derivatives(system, u[0], u[1], tau=tau @ G), np.linalg.inv(G) @ expected)


@pytest.mark.slow
def test_parts_and_terms(system: AbsoluteAngles, arm: dal.Robot, u: np.ndarray) -> None:
    q, qd, qdd = q_of(u)
    found, expected = dal.contributions(system, *u, wrenches=WRENCH), dal.contributions(arm, q, qd, qdd, wrenches=WRENCH)
    tau = dal.inverse_dynamics(system, *u, wrenches=WRENCH)
    for parts in (found.by_cause, found.by_joint, found.by_nature, found.by_link):
        assert_close(sum(parts.values()), tau)
    assert_close(found.links, expected.links @ G)
    assert_close(found.inertia, dal.mass_matrix(system, u[0]) * u[2][..., None, :])
    assert found.coordinates == ("angle of link 1", "angle of link 2")
    assert_close(dal.recursion(system, *u).f, dal.recursion(arm, q, qd, qdd).f)
    for formulation, method in FORMULATIONS.items():
        if method.terms:
            mine, theirs = (dal.terms(s, *x, formulation=formulation) for s, x in ((system, u), (arm, (q, qd, qdd))))
            assert set(mine) == set(theirs)
            for name in mine:
                assert_close(mine[name], theirs[name])


def test_several_at_once(system: AbsoluteAngles, u: np.ndarray) -> None:
    found = dal.evaluate(system, ["M", "h", "tau", "J"], *u)
    assert_close(found["M"], dal.mass_matrix(system, u[0]))
    assert_close(found["tau"], dal.inverse_dynamics(system, *u))
    assert_close(dal.kernel(system, ["g"])(u[0]), dal.gravity_torque(system, u[0]))


@pytest.mark.slow
def test_simulations(system: AbsoluteAngles, arm: dal.Robot, u: np.ndarray) -> None:
    u0, ud0 = u[0, 0], u[1, 0]
    times = np.linspace(0.0, 0.5, 6)
    found = dal.simulate(system, u0, ud0, t_eval=times, rtol=1e-12, atol=1e-13)
    expected = dal.simulate(arm, q_of(u0), q_of(ud0), t_eval=times, rtol=1e-12, atol=1e-13)
    assert_close(q_of(found.q), expected.q)
    assert_close(q_of(found.qd), expected.qd)
    for method in ("semi_implicit_euler", "rk4", "symplectic"):
        mine = dal.rollout(system, u0, ud0, None, dt=1e-3, steps=50, method=method)
        theirs = dal.rollout(arm, q_of(u0), q_of(ud0), None, dt=1e-3, steps=50, method=method)
        assert_close(q_of(mine.q), theirs.q)
        assert_close(q_of(mine.qd), theirs.qd)


@pytest.mark.slow
def test_analysis(system: AbsoluteAngles, arm: dal.Robot, u: np.ndarray) -> None:
    found = dal.properties(system, samples=50)
    assert found.hold
    comparison = dal.compare(system, samples=5, time=True)
    assert comparison.largest_difference < TOLERANCE
    assert len(comparison.rows) == len(FORMULATIONS)
    assert dal.complexity(system)["newton_euler"].customised.flops > 0
    box = dal.Workspace.of(system)
    np.testing.assert_array_equal(box.upper, [np.pi, np.pi])
    model = dal.simplify_model(system, tolerance=0.02, samples=200)
    exact = dal.simplify_model(system, tolerance=1e-6, samples=200)
    assert_close(exact.inverse_dynamics(*u), dal.inverse_dynamics(system, *u))
    assert model.relative_error <= 0.02
    assert {piece.joint for piece in model.contributions} == set(system.joint_names)


def test_exports(system: AbsoluteAngles, u: np.ndarray) -> None:
    space: dict[str, Any] = {}
    exec(dal.export_code(system, ["inverse_dynamics", "mass_matrix"], language="python"), space)
    assert_close(space["absolute_inverse_dynamics"](*u), dal.inverse_dynamics(system, *u))
    text = dal.export_code(system, "mass_matrix", language="c", symbols="masses")
    assert "'angle of link 2'  turns, rad" in text
    for language in ("c_header", "matlab"):
        assert "absolute_mass_matrix" in dal.export_code(system, "mass_matrix", language=language)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler")
def test_exported_c_runs(system: AbsoluteAngles, u: np.ndarray, tmp_path: Path) -> None:
    program = engine.program(system, "inverse_dynamics", rolled=False)
    unit = Compiled(dal.export_code(system, "inverse_dynamics"), tmp_path)
    (found,) = unit.run("absolute_inverse_dynamics", program, list(u))
    assert_close(found, dal.inverse_dynamics(system, *u))


@pytest.mark.skipif(octave.OCTAVE is None, reason="Octave is not installed")
def test_exported_matlab_runs(system: AbsoluteAngles, u: np.ndarray, tmp_path: Path) -> None:
    name = "absolute_inverse_dynamics"
    text = dal.export_code(system, "inverse_dynamics", language="matlab")
    (found,) = octave.run(octave.call(name, list(u[:, 0])), {name: text}, tmp_path)
    assert_close(np.ravel(found), dal.inverse_dynamics(system, *u[:, 0]))


def test_jax(system: AbsoluteAngles, u: np.ndarray) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    assert_close(dal.to_jax(system, "inverse_dynamics")(*u), dal.inverse_dynamics(system, *u))


@pytest.mark.parametrize("form", ["closed", "program"])
def test_equations(system: AbsoluteAngles, u: np.ndarray, form: str) -> None:
    sympy = pytest.importorskip("sympy")
    found = dal.equations(system, ("M", "g", "T"), symbols=(), form=form)
    one = u[:, 0]
    values = {f"{stem}_{k}": x for stem, row in zip(("q", "qd"), one, strict=False) for k, x in enumerate(row, 1)}
    steps: dict[Any, float] = {}
    for symbol, expression in found.intermediates.items():
        steps[symbol] = float(expression.subs(steps).subs(values))
    M = np.array(sympy.Matrix(found.M).subs(steps).subs(values).evalf(), float)
    assert_close(M, dal.mass_matrix(system, one[0]))
    g = np.array(sympy.Matrix(found.g).subs(steps).subs(values).evalf(), float).ravel()
    assert_close(g, dal.gravity_torque(system, one[0]))
    assert_close(float(found.sympy["T"].subs(steps).subs(values)), dal.energy(system, one[0], one[1]).kinetic)


def test_equations_of_absolute_angles_are_those_of_the_textbook() -> None:
    """Weight and inertia of a link depend on its own angle, coupling on the angle between them [Siciliano, Problem 7.6]."""
    text = dal.equations(AbsoluteAngles(dal.robots.pelican()), ("M", "C", "g")).text().splitlines()
    assert "M₁₁ = I₁ + m₁ l₁² + m₂ a₁²" in text
    assert "C₁₂ = m₂ a₁ l₂ sin(q₁ − q₂) q̇₂" in text
    assert "g₂ = m₂ l₂ g c₂" in text


def test_friction_without_positions_is_refused_by_a_sentence(system: AbsoluteAngles, u: np.ndarray) -> None:
    with pytest.raises(dal.DalembertError, match="q"):
        dal.friction_torque(system, u[1])


def test_it_copies_without_its_kernels(system: AbsoluteAngles, u: np.ndarray) -> None:
    again = pickle.loads(pickle.dumps(system))
    assert not again.kernels
    assert_close(dal.mass_matrix(again, u[0]), dal.mass_matrix(system, u[0]))


@pytest.mark.slow
def test_coordinates_may_depend_on_each_other_in_any_way(u: np.ndarray) -> None:
    """A curved map: rates and their derivatives against differences of high precision are met through energy and power."""
    curved = Transferred(
        engine.tree_system(ARM),
        [Coordinate("a"), Coordinate("b")],
        lambda u: [u[0] + 0.2 * u[1] * u[1], u[1] * (1.0 + 0.1 * u[0])],
    )
    tau = dal.inverse_dynamics(curved, *u)
    assert_close(dal.forward_dynamics(curved, u[0], u[1], tau), u[2])
    by_q, momentum, by_potential = dal.energy_gradient(curved, u[0], u[1])
    power = np.sum((by_q + by_potential) * u[1] + momentum * u[2], axis=-1)
    assert_close(power, np.sum(tau * u[1], axis=-1))
    step = 1e-6
    later, earlier = (dal.link_motion(curved, u[0] + s * step * u[1], u[1] + s * step * u[2], u[2]) for s in (1, -1))
    found = dal.link_motion(curved, *u, qddd=np.zeros(2))
    np.testing.assert_allclose(found.acceleration, (later.velocity - earlier.velocity) / (2 * step), atol=1e-8)
    np.testing.assert_allclose(found.jerk, (later.acceleration - earlier.acceleration) / (2 * step), atol=1e-8)
    assert dal.properties(curved, samples=20).hold


def test_a_system_in_other_coordinates_can_be_wrapped_again(system: AbsoluteAngles, u: np.ndarray) -> None:
    back = Transferred(system, [Coordinate("a"), Coordinate("b")], lambda q: [q[0], q[0] + q[1]])
    q = q_of(u)
    assert_close(dal.inverse_dynamics(back, *q), dal.inverse_dynamics(system, *u) @ np.linalg.inv(G))


class Spring(NamedTuple):
    """A mass on a spring, which has no tree of links: m q̈ + k q = τ."""

    name: str
    coordinates: tuple[Coordinate, ...]
    kernels: dict[Any, Any]

    def recipe(self, request: Request, reading: Reading = AS_IT_IS) -> Recipe:
        mass, stiffness = 2.0, 50.0
        known = {
            "inverse_dynamics": Recipe(
                lambda q, qd, qdd: [mass * qdd[0] + stiffness * q[0]], dict.fromkeys(("q", "qd", "qdd"), (1,)), ["tau"]
            ),
            "mass_matrix": Recipe(lambda q: [[mass]], {"q": (1,)}, ["M"]),
        }
        if request.quantity in known:
            return known[request.quantity]
        derived = QUANTITIES[request.quantity].derived
        assert derived is not None
        return derived(self, *request.options, reading=reading)


def test_a_system_without_links_is_served_as_far_as_its_recipes_go() -> None:
    spring = Spring("spring", (Coordinate("x", turns=False),), {})
    assert_close(dal.forward_dynamics(spring, [0.1], [0.0], [0.0]), [-2.5])
    assert_close(dal.derivatives(spring, [0.1], [0.0], tau=[0.0]).dqdd_dq, [[-25.0]])
    motion = dal.simulate(spring, [0.1], [0.0], t_eval=[0.0, 1.0], rtol=1e-12, atol=1e-14)
    assert_close(motion.q[-1], [0.1 * np.cos(5.0)])
    with pytest.raises(dal.DalembertError, match=r"^system 'spring': it has no tree of links, on which this rests\. "):
        dal.parameter_names(spring)
    with pytest.raises(dal.DalembertError, match=r"^system 'spring': it has no links, of which contributions are made up\. "):
        dal.contributions(spring, [0.1], [0.0], [0.0])
